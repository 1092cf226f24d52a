/* Compiles a query once and runs it with different parameters: parameters DRAWING.
 *
 *     cc parameters.c $(pkg-config --cflags --libs pidq) -o parameters
 */
#include <pidq.h>
#include <stdio.h>
#include <stdlib.h>

/* Exits with the message of an error, if there is one. */
static void check(pidq_error_t *error) {
  if (error == NULL) return;
  fputs(pidq_error_text(error).data, stderr);
  pidq_error_delete(error);
  exit(1);
}

int main(int argc, char **argv) {
  const char *text = ".pid_graph.nodes | filter(.node_type == \"loop\" and .tag == $tag and .set_point >= $least) | map(.set_point)";
  const char *tags[] = {"F-1101", "F-1102", "no such tag"};
  pidq_graph_t *graph = NULL;
  pidq_query_t *query = NULL;
  pidq_params_t *params = pidq_params_new();
  pidq_result_t *result = NULL;
  pidq_error_t *error;
  size_t at;

  if (argc != 2) return 2;
  check(pidq_graph_open(argv[1], &graph));
  check(pidq_query_prepare(text, PIDQ_NUL_TERMINATED, &query));
  check(pidq_params_set_number(params, "least", 10));
  for (at = 0; at < sizeof tags / sizeof tags[0]; at++) {
    check(pidq_params_set_string(params, "tag", tags[at], PIDQ_NUL_TERMINATED));
    check(pidq_query_run_with(query, graph, params, NULL, &result));
    printf("%s: %s\n", tags[at], pidq_result_json(result).data);
    pidq_result_delete(result);
  }
  error = pidq_query_run(query, graph, NULL, &result);
  if (pidq_error_number(error) == PIDQ_ERROR_MISSING_PARAMETER) puts(pidq_error_message(error).data);
  pidq_error_delete(error);
  pidq_params_delete(params);
  pidq_query_delete(query);
  pidq_graph_delete(graph);
  return 0;
}
