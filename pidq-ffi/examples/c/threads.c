/* Runs one query on one graph in eight threads: threads DRAWING. */
#include <pidq.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 8, RUNS = 200 };

static pidq_graph_t *graph;
static pidq_query_t *query;

static void *ask(void *answers) {
  int run;
  for (run = 0; run < RUNS; run++) {
    pidq_result_t *result = NULL;
    pidq_error_t *error = pidq_query_run(query, graph, NULL, &result);
    if (error == NULL && strcmp(pidq_result_json(result).data, "5") == 0) ++*(int *)answers;
    pidq_error_delete(error);
    pidq_result_delete(result);
  }
  return NULL;
}

int main(int argc, char **argv) {
  const char *text = ".pid_graph.nodes | filter(.node_type == \"loop\") | size()";
  pthread_t threads[THREADS];
  int answers[THREADS] = {0}, all = 0, i;
  if (argc != 2 || pidq_graph_open(argv[1], &graph) != NULL) return 1;
  if (pidq_query_parse(text, strlen(text), &query) != NULL) return 1;
  for (i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, ask, &answers[i]);
  for (i = 0; i < THREADS; i++) pthread_join(threads[i], NULL), all += answers[i];
  pidq_query_delete(query);
  pidq_graph_delete(graph);
  printf("%d correct results of %d\n", all, THREADS * RUNS);
  return all == THREADS * RUNS ? 0 : 1;
}
