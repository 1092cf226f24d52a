/* Functions of the program: arguments, results, errors, lifetimes, threads and misuse. */
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

static pidq_graph_t *graph_of(const char *json) {
  pidq_graph_t *graph = NULL;
  EXPECT(pidq_graph_parse(json, PIDQ_NUL_TERMINATED, &graph) == NULL);
  return graph;
}

/* Runs a query on `{"a": [1, "x"], "b": null}` and compares the JSON of its result, or the code of its error. */
static void expect(const pidq_dialect_t *dialect, const char *text, const char *expected) {
  pidq_graph_t *graph = graph_of("{\"a\": [1, \"x\"], \"b\": null}");
  pidq_query_t *query = NULL;
  pidq_result_t *result = NULL;
  pidq_error_t *error = pidq_dialect_parse(dialect, text, PIDQ_NUL_TERMINATED, NULL, &query);
  const char *found;
  if (error == NULL) error = pidq_query_run(query, graph, NULL, &result);
  /* A result outlives the query and its functions. */
  pidq_query_delete(query);
  pidq_graph_delete(graph);
  found = error == NULL ? pidq_result_json(result).data : pidq_error_code(error);
  if (strcmp(found, expected) != 0) fprintf(stderr, "%s: %s, not %s\n", text, found, expected);
  EXPECT(strcmp(found, expected) == 0);
  pidq_error_delete(error);
  pidq_result_delete(result);
}

/* Does what its first argument says. */
static void act(void *user, pidq_call_t *call) {
  char what[16];
  pidq_value_t first = pidq_call_argument(call, 1);
  pidq_slice_t text;
  (void)user;
  pidq_value_copy(pidq_call_argument(call, 0), what, sizeof what);
  if (strcmp(what, "bool") == 0) pidq_call_return_bool(call, true);
  if (strcmp(what, "number") == 0) pidq_call_return_number(call, 2.5);
  if (strcmp(what, "infinite") == 0) pidq_call_return_number(call, 1e308 * 10);
  if (strcmp(what, "text") == 0) pidq_call_return_string(call, "a\0\"\xC3\xA9 and more", 5);
  if (strcmp(what, "bad text") == 0) pidq_call_return_string(call, "\xFF", 1);
  if (strcmp(what, "json") == 0)
    pidq_call_return_json(call, "{\"z\": [1, {\"y\": \"\\u00e9\"}], \"a\": true, \"n\": null}", PIDQ_NUL_TERMINATED);
  if (strcmp(what, "bad json") == 0) pidq_call_return_json(call, "{", 1);
  if (strcmp(what, "surrogate") == 0) pidq_call_return_json(call, "\"\\ud800\"", PIDQ_NUL_TERMINATED);
  if (strcmp(what, "deep") == 0) {
    char json[600];
    memset(json, '[', 300), memset(json + 300, ']', 300);
    pidq_call_return_json(call, json, sizeof json);
  }
  if (strcmp(what, "input") == 0) pidq_call_return_value(call, pidq_call_input(call));
  if (strcmp(what, "part") == 0)
    pidq_call_return_value(call, pidq_value_item(pidq_value_field(pidq_call_input(call), "a"), 1));
  if (strcmp(what, "argument") == 0) pidq_call_return_value(call, first);
  if (strcmp(what, "count") == 0) pidq_call_return_number(call, (double)pidq_call_count(call));
  if (strcmp(what, "fail") == 0) pidq_call_fail(call, "it is refused", PIDQ_NUL_TERMINATED);
  if (strcmp(what, "twice") == 0) pidq_call_fail(call, "x", 1), pidq_call_return_bool(call, false);
  if (strcmp(what, "length") == 0 && pidq_value_string(first, &text)) pidq_call_return_number(call, (double)text.len);
  if (strcmp(what, "none") == 0) pidq_call_return_value(call, pidq_call_argument(call, 99));
  if (strcmp(what, "query") == 0) { /* a query within the query, whose result is copied */
    pidq_graph_t *graph = graph_of("{\"inner\": [1, {\"k\": 2.5}]}");
    pidq_query_t *query = NULL;
    pidq_result_t *result = NULL;
    EXPECT(pidq_query_parse(".inner", PIDQ_NUL_TERMINATED, &query) == NULL);
    EXPECT(pidq_query_run(query, graph, NULL, &result) == NULL);
    pidq_call_return_value(call, pidq_result_value(result));
    pidq_result_delete(result);
    pidq_query_delete(query);
    pidq_graph_delete(graph);
  }
}

static void results_and_errors(void) {
  static const struct {
    const char *text, *expected;
  } cases[] = {
      {"act(\"bool\")", "true"},
      {"act(\"number\")", "2.5"},
      {"act(\"infinite\")", "null"},
      {"act(\"text\")", "\"a\\u0000\\\"\xC3\xA9\""},
      {"act(\"bad text\")", "PQ2010"},
      {"act(\"json\")", "{\"z\":[1,{\"y\":\"\xC3\xA9\"}],\"a\":true,\"n\":null}"},
      {"act(\"bad json\")", "PQ2010"},
      {"act(\"surrogate\")", "PQ2010"},
      {"act(\"deep\")", "PQ2010"},
      {"act(\"input\")", "{\"a\": [1, \"x\"], \"b\": null}"},
      {"act(\"part\")", "\"x\""},
      {"act(\"argument\", .a)", "[1, \"x\"]"},
      {".a | map(act(\"argument\", [get(), get()]))", "[[1,1],[\"x\",\"x\"]]"},
      {"act(\"count\", 1, 2, 3)", "4"},
      {"act(\"length\", \"text\")", "4"},
      {"act(\"nothing\")", "null"},
      {"act(\"none\")", "null"},
      {"act(\"query\")", "[1,{\"k\":2.5}]"},
      {"act(\"fail\")", "PQ2010"},
      {"act(\"twice\")", "false"},
      {"tryOr(act(\"fail\"), \"other\")", "\"other\""},
      {"unknown()", "PQ1001"},
  };
  pidq_dialect_t *dialect = pidq_dialect_new();
  pidq_error_t *error;
  pidq_query_t *query = NULL;
  pidq_result_t *result = NULL;
  pidq_graph_t *graph = graph_of("[1]");
  size_t at, start = 0, end = 0;
  EXPECT(pidq_dialect_add_function(dialect, "act", act, NULL, NULL) == NULL);
  for (at = 0; at < sizeof cases / sizeof cases[0]; at++) expect(dialect, cases[at].text, cases[at].expected);
  /* An error has the message, and the place of the call. */
  EXPECT(pidq_dialect_parse(dialect, "1 + act(\"fail\")", PIDQ_NUL_TERMINATED, NULL, &query) == NULL);
  error = pidq_query_run(query, graph, NULL, &result);
  EXPECT(pidq_error_number(error) == PIDQ_ERROR_FUNCTION_FAILED && pidq_error_span(error, &start, &end) && start == 4);
  EXPECT(strcmp(pidq_error_message(error).data, "it is refused") == 0);
  pidq_error_delete(error);
  pidq_query_delete(query);
  pidq_graph_delete(graph);
  pidq_dialect_delete(dialect);
}

/* Results of functions count to the limits of the run. */
static void limits_hold(void) {
  pidq_dialect_t *dialect = pidq_dialect_new();
  pidq_graph_t *graph = graph_of("[1, 2, 3]");
  pidq_query_t *query = NULL;
  pidq_result_t *result = NULL;
  pidq_limits_t limits = PIDQ_LIMITS_INIT;
  pidq_error_t *error;
  EXPECT(pidq_dialect_add_function(dialect, "act", act, NULL, NULL) == NULL);
  EXPECT(pidq_dialect_parse(dialect, "map(act(\"json\"))", PIDQ_NUL_TERMINATED, NULL, &query) == NULL);
  limits.fuel = 5;
  error = pidq_query_run(query, graph, &limits, &result);
  EXPECT(pidq_error_number(error) == PIDQ_ERROR_OUT_OF_FUEL);
  pidq_error_delete(error);
  pidq_query_delete(query);
  pidq_graph_delete(graph);
  pidq_dialect_delete(dialect);
}

static int destroyed;

static void destroy(void *user) { destroyed += *(int *)user; }

/* The pointer lives as long as the last query that may use it. */
static void pointers_are_destroyed_once(void) {
  int one = 1, ten = 10;
  pidq_dialect_t *dialect = pidq_dialect_new();
  pidq_query_t *query = NULL;
  pidq_error_t *error;
  size_t at;
  const char *bad_names[] = {"", "a b", "1a", "$a", "a-b", "\xC3\xA9", "\xFF"};
  EXPECT(pidq_dialect_add_function(dialect, "act", act, &one, destroy) == NULL);
  EXPECT(pidq_dialect_parse(dialect, "act(\"bool\")", PIDQ_NUL_TERMINATED, NULL, &query) == NULL);
  pidq_dialect_delete(dialect);
  EXPECT(destroyed == 0);
  pidq_query_delete(query);
  EXPECT(destroyed == 1);
  dialect = pidq_dialect_new();
  for (at = 0; at < sizeof bad_names / sizeof bad_names[0]; at++) {
    error = pidq_dialect_add_function(dialect, bad_names[at], act, &ten, destroy);
    EXPECT(pidq_error_number(error) == PIDQ_ERROR_MISUSE && destroyed == 1 + 10 * ((int)at + 1));
    pidq_error_delete(error);
  }
  destroyed = 0;
  error = pidq_dialect_add_function(dialect, "act", NULL, &one, destroy);
  EXPECT(pidq_error_number(error) == PIDQ_ERROR_MISUSE && destroyed == 1);
  pidq_error_delete(error);
  error = pidq_dialect_add_function(NULL, "act", act, &one, destroy);
  EXPECT(pidq_error_number(error) == PIDQ_ERROR_MISUSE && destroyed == 2);
  pidq_error_delete(error);
  /* The second function of a name replaces the first one. */
  EXPECT(pidq_dialect_add_function(dialect, "size", act, &one, destroy) == NULL);
  expect(dialect, "size(\"number\")", "2.5");
  pidq_dialect_delete(dialect);
  EXPECT(destroyed == 3);
  query = (pidq_query_t *)&query;
  error = pidq_dialect_parse(dialect, "1", 1, NULL, &query);
  EXPECT(pidq_error_number(error) == PIDQ_ERROR_MISUSE && query == NULL);
  pidq_error_delete(error);
  EXPECT(pidq_call_count(NULL) == 0 && pidq_value_type(pidq_call_input(NULL)) == PIDQ_TYPE_NONE);
  pidq_call_return_bool(NULL, true);
  pidq_dialect_delete(NULL);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void count_calls(void *user, pidq_call_t *call) {
  pthread_mutex_lock(&mutex);
  ++*(long *)user;
  pthread_mutex_unlock(&mutex);
  pidq_call_return_value(call, pidq_call_input(call));
}

struct work {
  const pidq_query_t *query;
  const pidq_graph_t *graph;
};

static void *run_often(void *argument) {
  const struct work *work = argument;
  int time;
  for (time = 0; time < 50; time++) {
    pidq_result_t *result = NULL;
    EXPECT(pidq_query_run(work->query, work->graph, NULL, &result) == NULL);
    EXPECT(strcmp(pidq_result_json(result).data, "[1,2,3,4]") == 0);
    pidq_result_delete(result);
  }
  return NULL;
}

static void threads_call_a_function_at_the_same_time(void) {
  long calls = 0;
  pidq_dialect_t *dialect = pidq_dialect_new();
  pidq_query_t *query = NULL;
  pthread_t threads[4];
  struct work work;
  size_t at;
  pidq_graph_t *graph = graph_of("[1,2,3,4]");
  EXPECT(pidq_dialect_add_function(dialect, "countCalls", count_calls, &calls, NULL) == NULL);
  EXPECT(pidq_dialect_parse(dialect, "map(countCalls())", PIDQ_NUL_TERMINATED, NULL, &query) == NULL);
  pidq_dialect_delete(dialect);
  work.query = query, work.graph = graph;
  for (at = 0; at < 4; at++) EXPECT(pthread_create(&threads[at], NULL, run_often, &work) == 0);
  for (at = 0; at < 4; at++) pthread_join(threads[at], NULL);
  EXPECT(calls == 4 * 50 * 4);
  pidq_query_delete(query);
  pidq_graph_delete(graph);
}

int main(void) {
  results_and_errors();
  limits_hold();
  pointers_are_destroyed_once();
  threads_call_a_function_at_the_same_time();
  puts("ok");
  return 0;
}
