/* Reads a result by its values, without JSON text: values DRAWING.
 *
 *     cc values.c $(pkg-config --cflags --libs pidq) -o values
 */
#include <inttypes.h>
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

/* Prints the rows of a list of objects: a field that is missing, or has another type, has its default. */
static void print_loops(pidq_value_t loops) {
  size_t row;
  for (row = 0; row < pidq_value_count(loops); row++) {
    pidq_value_t loop = pidq_value_item(loops, row);
    char tag[32] = "", unit[16] = "";
    double set_point = 0;
    bool has_set_point = pidq_value_number(pidq_value_field(loop, "set_point"), &set_point);
    pidq_value_copy(pidq_value_field(loop, "tag"), tag, sizeof tag);
    pidq_value_copy(pidq_value_field(loop, "unit"), unit, sizeof unit);
    if (has_set_point) printf("%-8s %8.1f %s\n", tag, set_point, unit);
    else printf("%-8s no set point\n", tag);
  }
}

/* Prints the fields of an object; names and strings do not end with NUL. */
static void print_fields(pidq_value_t object) {
  size_t position = 0;
  int64_t number = 0;
  pidq_slice_t name, text;
  pidq_value_t value;
  while (pidq_value_next(object, &position, &name, &value)) {
    printf("%.*s: ", (int)name.len, name.data);
    switch (pidq_value_type(value)) {
    case PIDQ_TYPE_STRING:
      if (pidq_value_string(value, &text)) printf("text of %zu bytes\n", text.len);
      break;
    case PIDQ_TYPE_NUMBER:
      if (pidq_value_integer(value, &number)) printf("%" PRId64 "\n", number);
      break;
    case PIDQ_TYPE_ARRAY:
      printf("list of %zu items\n", pidq_value_count(value));
      break;
    default:
      puts("another type");
    }
  }
}

int main(int argc, char **argv) {
  const char *loops = ".pid_graph.nodes | filter(.node_type == \"loop\") | sort(.tag)";
  const char *summary = "{nodes: nodes() | size(), first: nodes() | map(.id) | .0, classes: nodes() | map(.class) | uniq()}";
  pidq_graph_t *graph = NULL;
  pidq_query_t *query = NULL;
  pidq_result_t *result = NULL;

  if (argc != 2) return 2;
  check(pidq_graph_open(argv[1], &graph));

  check(pidq_query_parse(loops, PIDQ_NUL_TERMINATED, &query));
  check(pidq_query_run(query, graph, NULL, &result));
  print_loops(pidq_result_value(result));
  pidq_result_delete(result);
  pidq_query_delete(query);

  check(pidq_query_parse(summary, PIDQ_NUL_TERMINATED, &query));
  check(pidq_query_run(query, graph, NULL, &result));
  print_fields(pidq_result_value(result));
  pidq_result_delete(result);
  pidq_query_delete(query);
  pidq_graph_delete(graph);
  return 0;
}
