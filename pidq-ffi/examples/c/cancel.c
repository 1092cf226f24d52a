/* Stops a long query from another thread, and one after a timeout. */
#include <pidq.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void *fire_soon(void *cancel) {
  struct timespec soon = {0, 50000000};
  nanosleep(&soon, NULL);
  pidq_cancel_fire((pidq_cancel_t *)cancel);
  return NULL;
}

static void *clock_runs_out(void *cancel) {
  struct timespec soon = {0, 50000000};
  nanosleep(&soon, NULL);
  pidq_cancel_time_out((pidq_cancel_t *)cancel);
  return NULL;
}

static int stopped_by(void *(*stop)(void *), const pidq_query_t *query, const pidq_graph_t *graph) {
  pidq_limits_t limits = PIDQ_LIMITS_INIT;
  pidq_cancel_t *cancel = pidq_cancel_new();
  pidq_result_t *result = NULL;
  pidq_error_t *error;
  pthread_t thread;
  limits.fuel = UINT64_MAX;
  limits.cancel = cancel;
  pthread_create(&thread, NULL, stop, cancel);
  error = pidq_query_run(query, graph, &limits, &result);
  pthread_join(thread, NULL);
  printf("%s: %s\n", error ? pidq_error_code(error) : "it ended", error ? pidq_error_message(error).data : "");
  pidq_error_delete(error);
  pidq_result_delete(result);
  pidq_cancel_delete(cancel);
  return error != NULL;
}

int main(void) {
  /* Counts all 9-tuples of nine numbers, which takes minutes. */
  const char *text = "let({n: [1, 2, 3, 4, 5, 6, 7, 8, 9]}, $n | map($n | map($n | map($n | map($n | map($n |"
                     " map($n | map($n | map($n | map(1) | size()) | size()) | size()) | size()) | size()) | size())"
                     " | size()) | size()))";
  pidq_graph_t *graph = NULL;
  pidq_query_t *query = NULL;
  pidq_error_t *error = pidq_query_parse(text, strlen(text), &query);
  if (error != NULL) return fputs(pidq_error_text(error).data, stderr), 1;
  if (pidq_graph_parse("null", 4, &graph) != NULL) return 1;
  if (!stopped_by(fire_soon, query, graph) || !stopped_by(clock_runs_out, query, graph)) return 1;
  pidq_query_delete(query);
  pidq_graph_delete(graph);
  return 0;
}
