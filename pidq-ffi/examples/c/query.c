/* Opens a drawing, queries it, and prints the result in four ways: query DRAWING.
 *
 *     cc query.c $(pkg-config --cflags --libs pidq) -o query
 */
#include <inttypes.h>
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

static bool to_stdout(void *file, const char *data, size_t len) {
  return fwrite(data, 1, len, (FILE *)file) == len;
}

/* Prints the result row by row; only one row is in memory as JSON at a time. */
static void print_rows(const pidq_result_t *result) {
  pidq_rows_t *rows = NULL;
  pidq_slice_t row = {NULL, 0};
  check(pidq_rows_new(result, &rows));
  for (;;) {
    check(pidq_rows_next(rows, &row));
    if (row.data == NULL) break;
    printf("row: %s\n", row.data);
  }
  pidq_rows_delete(rows);
}

/* Reads the numbers of a column in place. */
static void sum_column(const pidq_result_t *result) {
  struct ArrowArrayStream stream;
  struct ArrowSchema schema;
  struct ArrowArray table;
  int64_t column, row;
  check(pidq_result_arrow(result, &stream));
  if (stream.get_schema(&stream, &schema) != 0 || stream.get_next(&stream, &table) != 0) exit(1);
  for (column = 0; column < schema.n_children; column++) {
    const struct ArrowArray *values = table.children[column];
    if (strcmp(schema.children[column]->format, "g") == 0 || strcmp(schema.children[column]->format, "l") == 0) {
      double sum = 0;
      for (row = 0; row < values->length; row++)
        sum += schema.children[column]->format[0] == 'g' ? ((const double *)values->buffers[1])[row]
                                                         : (double)((const int64_t *)values->buffers[1])[row];
      printf("column %s: %" PRId64 " rows, sum %g\n", schema.children[column]->name, values->length, sum);
    } else {
      printf("column %s: %s\n", schema.children[column]->name, schema.children[column]->format);
    }
  }
  table.release(&table);
  schema.release(&schema);
  stream.release(&stream);
}

int main(int argc, char **argv) {
  const char *text =
      ".pid_graph.nodes | filter(.node_type == \"loop\" and .unit == $unit) | pick(.tag, .set_point, .unit)";
  pidq_limits_t limits = PIDQ_LIMITS_INIT;
  pidq_graph_t *graph = NULL;
  pidq_params_t *params = NULL;
  pidq_query_t *query = NULL;
  pidq_result_t *result = NULL;

  if (argc != 2 || pidq_abi_version() != PIDQ_ABI_VERSION) return 2;
  check(pidq_graph_open(argv[1], &graph));
  params = pidq_params_new();
  check(pidq_params_set_string(params, "unit", "m\302\263/h", strlen("m\302\263/h")));
  check(pidq_query_parse_with(text, strlen(text), params, &query));
  limits.fuel = 1000000;
  check(pidq_query_run(query, graph, &limits, &result));

  printf("json: %s\n", pidq_result_json(result).data);
  fputs("pieces: ", stdout);
  check(pidq_result_write(result, to_stdout, stdout));
  puts("");
  print_rows(result);
  sum_column(result);
  printf("fuel: %" PRIu64 "\n", pidq_result_fuel(result));

  pidq_result_delete(result);
  pidq_query_delete(query);
  pidq_params_delete(params);
  pidq_graph_delete(graph);
  return 0;
}
