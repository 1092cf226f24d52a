/* Adds functions to the language: functions DRAWING.
 *
 *     cc functions.c $(pkg-config --cflags --libs pidq) -o functions
 */
#include <pidq.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Exits with the message of an error, if there is one. */
static void check(pidq_error_t *error) {
  if (error == NULL) return;
  fputs(pidq_error_text(error).data, stderr);
  pidq_error_delete(error);
  exit(1);
}

/* barToPsi(number): a number of its argument, or an error. */
static void bar_to_psi(void *user, pidq_call_t *call) {
  double bar = 0;
  (void)user;
  if (pidq_value_number(pidq_call_argument(call, 0), &bar)) pidq_call_return_number(call, bar * 14.5037738);
  else pidq_call_fail(call, "barToPsi() takes one number", PIDQ_NUL_TERMINATED);
}

/* Prices by class: the data of price(). */
struct prices {
  const char *class_name;
  double price;
};

/* price(): a number for the piped object, by data of the program. Called from any thread, so it only reads them. */
static void price(void *user, pidq_call_t *call) {
  const struct prices *row;
  char class_name[32] = "";
  pidq_value_copy(pidq_value_field(pidq_call_input(call), "class"), class_name, sizeof class_name);
  for (row = user; row->class_name != NULL; row++)
    if (strcmp(row->class_name, class_name) == 0) {
      pidq_call_return_number(call, row->price);
      return;
    }
  /* Without a result, it is null. */
}

static void tell_freed(void *user) {
  free(user);
  puts("the prices are freed");
}

int main(int argc, char **argv) {
  const struct prices known[] = {{"pump", 4200}, {"valve", 150}, {NULL, 0}};
  const char *texts[] = {"barToPsi(10) | round(get(), 1)",
                         "[{class: \"pump\"}, {class: \"valve\"}, {class: \"tank\"}] | map(price())",
                         "barToPsi(\"ten\")"};
  struct prices *prices = malloc(sizeof known);
  pidq_dialect_t *dialect = pidq_dialect_new();
  pidq_graph_t *graph = NULL;
  size_t at;

  if (argc != 2 || prices == NULL) return 2;
  memcpy(prices, known, sizeof known);
  check(pidq_graph_open(argv[1], &graph));
  check(pidq_dialect_add_function(dialect, "barToPsi", bar_to_psi, NULL, NULL));
  check(pidq_dialect_add_function(dialect, "price", price, prices, tell_freed));
  for (at = 0; at < sizeof texts / sizeof texts[0]; at++) {
    pidq_query_t *query = NULL;
    pidq_result_t *result = NULL;
    pidq_error_t *error;
    check(pidq_dialect_parse(dialect, texts[at], PIDQ_NUL_TERMINATED, NULL, &query));
    error = pidq_query_run(query, graph, NULL, &result);
    if (error == NULL) puts(pidq_result_json(result).data);
    else fputs(pidq_error_text(error).data, stdout);
    pidq_error_delete(error);
    pidq_result_delete(result);
    pidq_query_delete(query);
  }
  pidq_dialect_delete(dialect);
  pidq_graph_delete(graph);
  return 0;
}
