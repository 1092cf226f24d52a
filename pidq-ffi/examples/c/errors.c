/* Errors: code, message, location and help. */
#include <pidq.h>
#include <stdio.h>
#include <string.h>

static void tell(pidq_error_t *error) {
  size_t start = 0, end = 0, line = 0, column = 0;
  printf("%s (%s): %s\n", pidq_error_code(error), pidq_error_stage(error), pidq_error_message(error).data);
  if (pidq_error_span(error, &start, &end)) printf("  bytes %zu to %zu\n", start, end);
  if (pidq_error_location(error, &line, &column)) printf("  line %zu, column %zu\n", line, column);
  if (pidq_error_help(error).data != NULL) printf("  help: %s\n", pidq_error_help(error).data);
  fputs(pidq_error_text(error).data, stdout);
  pidq_error_delete(error);
}

int main(void) {
  const char *document = "{\"nodes\": [{\"tag\": \"P-101\"}, {\"tag\": \"V-7\"}]}";
  const char *mistaken = ".nodes | fliter(.tag == \"V-7\")";
  const char *suspect = ".nodes | map(.tga)";
  const char *costly = "let({n: [1, 2, 3, 4, 5, 6, 7, 8, 9]}, $n | map($n | map($n | map(1))))";
  pidq_limits_t limits = PIDQ_LIMITS_INIT;
  pidq_graph_t *graph = NULL;
  pidq_query_t *query = NULL;
  pidq_result_t *result = NULL;

  tell(pidq_graph_parse("{\"nodes\": [", 11, &graph));
  tell(pidq_graph_open("no/such/file.json", &graph));
  tell(pidq_graph_parse(document, strlen(document), NULL));
  tell(pidq_query_parse(mistaken, strlen(mistaken), &query));

  /* A probable mistake is a warning: the query runs, and the result has the warning. */
  if (pidq_graph_parse(document, strlen(document), &graph) != NULL) return 1;
  if (pidq_query_parse(suspect, strlen(suspect), &query) != NULL) return 1;
  if (pidq_query_run(query, graph, NULL, &result) != NULL) return 1;
  printf("%s\n%s\n", pidq_result_json(result).data, pidq_result_warnings(result).data);
  pidq_result_delete(result);
  pidq_query_delete(query);

  /* A query that exceeds its limits. */
  limits.fuel = 1000;
  if (pidq_query_parse(costly, strlen(costly), &query) == NULL) tell(pidq_query_run(query, graph, &limits, &result));
  pidq_query_delete(query);
  pidq_graph_delete(graph);
  return 0;
}
