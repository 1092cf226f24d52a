/* Parameters bound at each run: the results of a query compiled with them, lifetimes, threads and misuse. */
#include <pidq.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                  \
  do {                                                                     \
    if (!(condition)) {                                                    \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);      \
      exit(1);                                                             \
    }                                                                      \
  } while (0)

static pidq_graph_t *numbers(void) {
  pidq_graph_t *graph = NULL;
  EXPECT(pidq_graph_parse("[1, 2, 3, 4]", PIDQ_NUL_TERMINATED, &graph) == NULL);
  return graph;
}

static pidq_query_t *prepared(const char *text) {
  pidq_query_t *query = NULL;
  EXPECT(pidq_query_prepare(text, PIDQ_NUL_TERMINATED, &query) == NULL);
  return query;
}

static pidq_params_t *params_of(const char *name, const char *json) {
  pidq_params_t *params = pidq_params_new();
  EXPECT(pidq_params_set_json(params, name, json, PIDQ_NUL_TERMINATED) == NULL);
  return params;
}

/* The result is the same as that of the query compiled with the value. */
static void results_match_those_of_compiled_queries(void) {
  static const char *texts[] = {"[$x]",           "filter(get() > $x)",         "map(get() + $x)",
                                "limit($x)",      "{a: $x, b: $x}",             "let({y: $x}, [$y, $x])",
                                "$x | size()",    "map([$x, get()]) | uniq()",  "filter(regex(\"a1\", $x))",
                                "if(true, 1, $x)"};
  static const char *values[] = {"2", "-1.50", "\"a.\"", "null", "true", "[1, {\"k\": 2.50}]", "{}", "12345678901234567890"};
  pidq_graph_t *graph = numbers();
  size_t text, value;
  for (text = 0; text < sizeof texts / sizeof texts[0]; text++) {
    pidq_query_t *query = prepared(texts[text]);
    for (value = 0; value < sizeof values / sizeof values[0]; value++) {
      pidq_params_t *params = params_of("x", values[value]);
      pidq_query_t *compiled = NULL;
      pidq_result_t *expected = NULL, *found = NULL;
      pidq_error_t *error = pidq_query_parse_with(texts[text], PIDQ_NUL_TERMINATED, params, &compiled);
      pidq_error_t *found_error = pidq_query_run_with(query, graph, params, NULL, &found);
      if (error == NULL) error = pidq_query_run(compiled, graph, NULL, &expected);
      if (pidq_error_number(error) != pidq_error_number(found_error))
        fprintf(stderr, "%s with %s: %d\n", texts[text], values[value], (int)pidq_error_number(found_error));
      EXPECT(pidq_error_number(error) == pidq_error_number(found_error));
      EXPECT((expected == NULL) == (found == NULL));
      if (found != NULL) EXPECT(strcmp(pidq_result_json(expected).data, pidq_result_json(found).data) == 0);
      pidq_error_delete(error);
      pidq_error_delete(found_error);
      pidq_result_delete(expected);
      pidq_result_delete(found);
      pidq_query_delete(compiled);
      pidq_params_delete(params);
    }
    pidq_query_delete(query);
  }
  pidq_graph_delete(graph);
}

/* A result keeps the values that it consists of. */
static void results_outlive_their_parameters(void) {
  pidq_graph_t *graph = numbers();
  pidq_query_t *query = prepared("[$x, $x | .k, limit($n)]");
  pidq_params_t *params = params_of("x", "{\"k\": \"a text of the parameters that is not short\"}");
  pidq_result_t *first = NULL, *second = NULL;
  EXPECT(pidq_params_set_number(params, "n", 1) == NULL);
  EXPECT(pidq_query_run_with(query, graph, params, NULL, &first) == NULL);
  EXPECT(pidq_params_set_json(params, "x", "{\"k\": 2}", PIDQ_NUL_TERMINATED) == NULL);
  EXPECT(pidq_query_run_with(query, graph, params, NULL, &second) == NULL);
  pidq_params_delete(params);
  pidq_query_delete(query);
  pidq_graph_delete(graph);
  EXPECT(strstr(pidq_result_json(first).data, "that is not short\",[1]]") != NULL);
  EXPECT(strcmp(pidq_result_json(second).data, "[{\"k\": 2},2,[1]]") == 0);
  pidq_result_delete(first);
  pidq_result_delete(second);
}

static void expect(pidq_error_t *error, pidq_code_t number) {
  if (pidq_error_number(error) != number) fputs(pidq_error_text(error).data, stderr);
  EXPECT(pidq_error_number(error) == number);
  pidq_error_delete(error);
}

static void values_and_names_must_match(void) {
  pidq_graph_t *graph = numbers();
  pidq_query_t *query = prepared("filter(get() > $least)"), *plain = NULL;
  pidq_params_t *params = pidq_params_new();
  pidq_result_t *result = (pidq_result_t *)&result;
  expect(pidq_query_run(query, graph, NULL, &result), PIDQ_ERROR_MISSING_PARAMETER);
  EXPECT(result == NULL);
  expect(pidq_query_run_with(query, graph, NULL, NULL, &result), PIDQ_ERROR_MISSING_PARAMETER);
  expect(pidq_query_run_with(query, graph, params, NULL, &result), PIDQ_ERROR_MISSING_PARAMETER);
  EXPECT(pidq_params_set_number(params, "least2", 1) == NULL);
  expect(pidq_query_run_with(query, graph, params, NULL, &result), PIDQ_ERROR_UNKNOWN_VARIABLE);
  EXPECT(pidq_query_parse("size()", PIDQ_NUL_TERMINATED, &plain) == NULL);
  expect(pidq_query_run_with(plain, graph, params, NULL, &result), PIDQ_ERROR_UNKNOWN_VARIABLE);
  EXPECT(pidq_query_run_with(plain, graph, NULL, NULL, &result) == NULL);
  pidq_result_delete(result);
  expect(pidq_query_run_with(NULL, graph, params, NULL, &result), PIDQ_ERROR_MISUSE);
  expect(pidq_query_run_with(query, graph, params, NULL, NULL), PIDQ_ERROR_MISUSE);
  expect(pidq_query_prepare("1", 1, NULL), PIDQ_ERROR_MISUSE);
  pidq_params_delete(params);
  expect(pidq_query_run_with(query, graph, params, NULL, &result), PIDQ_ERROR_MISUSE);
  pidq_query_delete(plain);
  pidq_query_delete(query);
  pidq_graph_delete(graph);
}

static const pidq_query_t *shared_query;
static const pidq_graph_t *shared_graph;

static void *run_often(void *argument) {
  const char *value = argument;
  char expected[32];
  int time;
  snprintf(expected, sizeof expected, "[%s,1]", value);
  for (time = 0; time < 100; time++) {
    pidq_params_t *params = params_of("x", value);
    pidq_result_t *result = NULL;
    EXPECT(pidq_query_run_with(shared_query, shared_graph, params, NULL, &result) == NULL);
    EXPECT(strcmp(pidq_result_json(result).data, expected) == 0);
    pidq_result_delete(result);
    pidq_params_delete(params);
  }
  return NULL;
}

static void threads_share_a_query(void) {
  static char values[4][8] = {"10", "\"b\"", "true", "[]"};
  pthread_t threads[4];
  pidq_graph_t *graph = numbers();
  pidq_query_t *query = prepared("[$x, .0]");
  size_t at;
  shared_query = query, shared_graph = graph;
  for (at = 0; at < 4; at++) EXPECT(pthread_create(&threads[at], NULL, run_often, values[at]) == 0);
  for (at = 0; at < 4; at++) pthread_join(threads[at], NULL);
  pidq_query_delete(query);
  pidq_graph_delete(graph);
}

int main(void) {
  results_match_those_of_compiled_queries();
  results_outlive_their_parameters();
  values_and_names_must_match();
  threads_share_a_query();
  puts("ok");
  return 0;
}
