/* Misuse of the API: every case must give an error with a code, without crash or leak.
 * Runs under sanitizers and valgrind: misuse CYCLES DRAWING. */
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

/* Checks the code of an error and deletes it. */
static void expect_code(pidq_error_t *error, const char *code) {
  EXPECT(error != NULL);
  if (strcmp(pidq_error_code(error), code) != 0) fprintf(stderr, "not %s: %s", code, pidq_error_text(error).data);
  EXPECT(strcmp(pidq_error_code(error), code) == 0);
  EXPECT(pidq_error_message(error).len > 0 && pidq_error_json(error).data[0] == '{');
  pidq_error_delete(error);
}

static pidq_graph_t *graph_of(const char *json) {
  pidq_graph_t *graph = NULL;
  EXPECT(pidq_graph_parse(json, strlen(json), &graph) == NULL && graph != NULL);
  return graph;
}

static pidq_query_t *query_of(const char *text) {
  pidq_query_t *query = NULL;
  EXPECT(pidq_query_parse(text, strlen(text), &query) == NULL && query != NULL);
  return query;
}

static pidq_result_t *result_of(const pidq_query_t *query, const pidq_graph_t *graph) {
  pidq_result_t *result = NULL;
  EXPECT(pidq_query_run(query, graph, NULL, &result) == NULL && result != NULL);
  return result;
}

static void nulls_are_errors(void) {
  pidq_graph_t *graph = (pidq_graph_t *)&graph;
  pidq_query_t *query = NULL;
  pidq_result_t *result = NULL;
  pidq_buffer_t *buffer = NULL;
  pidq_files_t *files = NULL;
  pidq_rows_t *rows = NULL;
  pidq_batch_t *batch = NULL;
  expect_code(pidq_graph_parse(NULL, 4, &graph), "PQ9002");
  EXPECT(graph == NULL); /* The output pointer is reset. */
  expect_code(pidq_graph_parse(NULL, 0, &graph), "PQ5001");
  expect_code(pidq_graph_parse("1", 1, NULL), "PQ9002");
  expect_code(pidq_graph_parse_with("1", 1, NULL, 1, &graph), "PQ9002");
  expect_code(pidq_graph_open(NULL, &graph), "PQ9002");
  expect_code(pidq_graph_import("proteus", NULL, 1, &graph), "PQ9002");
  expect_code(pidq_graph_import("proteus", NULL, 0, &graph), "PQ6010");
  expect_code(pidq_graph_join(NULL, 1, &graph), "PQ9002");
  expect_code(pidq_graph_join(NULL, 0, &graph), "PQ3006");
  expect_code(pidq_graph_export(NULL, "svg", &files), "PQ9002");
  expect_code(pidq_graph_draw(NULL, NULL, &buffer), "PQ9002");
  expect_code(pidq_graph_diff(NULL, NULL, NULL, &buffer), "PQ9002");
  expect_code(pidq_graph_join(NULL, 1, &graph), "PQ9002");
  expect_code(pidq_query_parse(NULL, 1, &query), "PQ9002");
  expect_code(pidq_query_parse("size()", 6, NULL), "PQ9002");
  expect_code(pidq_query_run(NULL, NULL, NULL, &result), "PQ9002");
  expect_code(pidq_query_explain(NULL, NULL, NULL, &buffer), "PQ9002");
  expect_code(pidq_query_check(NULL, NULL, &buffer), "PQ9002");
  expect_code(pidq_params_set_string(NULL, "a", "b", 1), "PQ9002");
  expect_code(pidq_result_write(NULL, NULL, NULL), "PQ9002");
  expect_code(pidq_result_arrow(NULL, NULL), "PQ9002");
  EXPECT(pidq_result_build(NULL, NULL) == NULL);
  expect_code(pidq_result_export(NULL, "csv", &files), "PQ9002");
  expect_code(pidq_rows_new(NULL, &rows), "PQ9002");
  expect_code(pidq_rows_next(NULL, NULL), "PQ9002");
  expect_code(pidq_query_run_batch(NULL, NULL, 0, NULL, &batch), "PQ9002");
  expect_code(pidq_batch_arrow(NULL, NULL), "PQ9002");
  EXPECT(batch == NULL && pidq_batch_count(NULL) == 0 && pidq_batch_failures(NULL).data == NULL);
  EXPECT(pidq_result_json(NULL).data == NULL && pidq_result_warnings(NULL).len == 0);
  EXPECT(pidq_result_count(NULL) == 0 && pidq_result_fuel(NULL) == 0 && pidq_result_type(NULL) == NULL);
  EXPECT(pidq_query_text(NULL).data == NULL && pidq_query_tree(NULL).data == NULL && pidq_graph_size(NULL) == 0);
  EXPECT(pidq_error_code(NULL) == NULL && pidq_error_text(NULL).data == NULL && !pidq_error_span(NULL, NULL, NULL));
  EXPECT(pidq_files_count(NULL) == 0 && pidq_files_name(NULL, 0) == NULL && pidq_buffer_bytes(NULL).data == NULL);
  pidq_cancel_fire(NULL);
  pidq_cancel_time_out(NULL);
  pidq_graph_delete(NULL);
  pidq_query_delete(NULL);
  pidq_params_delete(NULL);
  pidq_result_delete(NULL);
  pidq_rows_delete(NULL);
  pidq_cancel_delete(NULL);
  pidq_error_delete(NULL);
  pidq_buffer_delete(NULL);
  pidq_files_delete(NULL);
  pidq_batch_delete(NULL);
}

static void invalid_texts_are_errors(void) {
  pidq_graph_t *graph = NULL;
  pidq_query_t *query = NULL;
  pidq_params_t *params = pidq_params_new();
  size_t start = 7, end = 7;
  pidq_error_t *error;
  expect_code(pidq_graph_parse("\"\xFF\"", 3, &graph), "PQ5004");
  expect_code(pidq_query_parse(".a\xFF", 3, &query), "PQ9002");
  expect_code(pidq_query_parse("", 0, &query), "PQ0001");
  expect_code(pidq_graph_open("no such file", &graph), "PQ9003");
  expect_code(pidq_graph_open(".", &graph), "PQ9003");
  expect_code(pidq_graph_parse_with("1", 1, "[]", 2, &graph), "PQ1012");
  expect_code(pidq_params_set_json(params, "a", "{", 1), "PQ5001");
  expect_code(pidq_params_set_json(params, "a", "\"\\ud800\"", 8), "PQ5004");
  expect_code(pidq_params_set_json(params, "a", "\"\xFF\"", 3), "PQ5004");
  expect_code(pidq_params_set_json(params, "a", NULL, 1), "PQ9002");
  expect_code(pidq_params_set_json(params, NULL, "1", 1), "PQ9002");
  expect_code(pidq_params_set_number(params, "a", 1.0 / (double)(params == NULL)), "PQ9002");
  expect_code(pidq_params_set_bool(params, NULL, true), "PQ9002");
  error = pidq_query_parse(".a | nothing()", 14, &query);
  EXPECT(pidq_error_span(error, &start, NULL) && start == 5 && pidq_error_span(error, NULL, &end) && end > 5);
  expect_code(error, "PQ1001");
  pidq_params_delete(params);
}

static void handles_may_be_deleted_twice_and_in_any_order(void) {
  pidq_graph_t *graph = graph_of("{\"a\": [{\"b\": 1.50}, {\"b\": 2}]}");
  pidq_query_t *query = query_of(".a | filter(.b > 0)");
  pidq_result_t *result = result_of(query, graph), *other = NULL;
  pidq_rows_t *rows = NULL;
  pidq_slice_t row;
  struct ArrowArrayStream stream;
  struct ArrowArray table, column;
  EXPECT(pidq_rows_new(result, &rows) == NULL && pidq_result_arrow(result, &stream) == NULL);
  pidq_graph_delete(graph);
  pidq_graph_delete(graph);
  pidq_query_delete(query);
  pidq_query_delete(query);
  expect_code(pidq_query_run(query, graph, NULL, &other), "PQ9002");
  EXPECT(pidq_graph_size(graph) == 0 && pidq_query_text(query).data == NULL);
  EXPECT(strcmp(pidq_result_json(result).data, "[{\"b\": 1.50},{\"b\": 2}]") == 0);
  pidq_result_delete(result);
  pidq_result_delete(result);
  EXPECT(pidq_result_json(result).data == NULL);
  EXPECT(pidq_rows_next(rows, &row) == NULL && strcmp(row.data, "{\"b\": 1.50}") == 0);
  EXPECT(pidq_rows_next(rows, &row) == NULL && row.data[6] == '2');
  EXPECT(pidq_rows_next(rows, &row) == NULL && row.data == NULL);
  EXPECT(pidq_rows_next(rows, &row) == NULL && row.data == NULL);
  pidq_rows_delete(rows);
  pidq_rows_delete(rows);
  expect_code(pidq_rows_next(rows, &row), "PQ9002");
  /* A column moved out of its table outlives it. */
  EXPECT(stream.get_next(&stream, &table) == 0 && table.n_children == 1);
  column = *table.children[0];
  table.children[0]->release = NULL;
  table.release(&table);
  stream.release(&stream);
  EXPECT(((const double *)column.buffers[1])[0] == 1.5 && column.length == 2);
  column.release(&column);
}

static void columns_of_a_batch_are_exported_once_and_outlive_it(void) {
  pidq_query_t *query = query_of("map({a: .a})");
  pidq_slice_t documents[4] = {{"[{\"a\": 1}]", 10}, {"[", 1}, {NULL, 1}, {"[{\"a\": \"b\"}]", 12}};
  pidq_batch_t *batch = NULL;
  struct ArrowArrayStream stream, again;
  struct ArrowArray table;
  expect_code(pidq_query_run_batch(query, documents, 4, NULL, &batch), "PQ9002"); /* A document is NULL. */
  documents[2] = documents[3];
  EXPECT(pidq_query_run_batch(query, documents, 4, NULL, &batch) == NULL);
  pidq_query_delete(query);
  EXPECT(pidq_batch_count(batch) == 2 && pidq_batch_failures(batch).len > 2); /* The third has another type. */
  EXPECT(pidq_batch_arrow(batch, &stream) == NULL);
  expect_code(pidq_batch_arrow(batch, &again), "PQ9002");
  EXPECT(again.release == NULL);
  pidq_batch_delete(batch);
  pidq_batch_delete(batch);
  expect_code(pidq_batch_arrow(batch, &again), "PQ9002");
  EXPECT(stream.get_next(&stream, &table) == 0 && table.n_children == 2 && table.length == 2);
  EXPECT(((const int64_t *)table.children[0]->buffers[1])[1] == 1); /* The document that failed. */
  EXPECT(((const int64_t *)table.children[1]->buffers[1])[0] == 1 && table.children[1]->null_count == 1);
  table.release(&table);
  stream.release(&stream);
}

static void structures_may_be_older_or_newer_than_the_library(void) {
  struct newer { pidq_limits_t known; uint64_t more[4]; } newer;
  pidq_graph_t *graph = graph_of("[1,2,3]");
  pidq_query_t *query = query_of("map(get() * 2)");
  pidq_result_t *result = NULL;
  pidq_limits_t limits = PIDQ_LIMITS_INIT;
  memset(&newer, 0xEE, sizeof newer);
  newer.known = limits;
  newer.known.size = sizeof newer;
  EXPECT(pidq_query_run(query, graph, &newer.known, &result) == NULL);
  pidq_result_delete(result);
  /* A structure with fuel only: the library does not read beyond it. */
  memset(&limits, 0xEE, sizeof limits);
  limits.size = 2 * sizeof(size_t);
  limits.fuel = 2;
  expect_code(pidq_query_run(query, graph, &limits, &result), "PQ4001");
  EXPECT(result == NULL);
  limits.size = 0;
  expect_code(pidq_query_run(query, graph, &limits, &result), "PQ9002");
  pidq_query_delete(query);
  pidq_graph_delete(graph);
}

static void excessive_lengths_are_errors(void) {
  pidq_graph_t *graph = graph_of("[{\"a\": \"0123456789\"}, {\"a\": \"0123456789\"}]");
  pidq_query_t *query = query_of("get()");
  pidq_limits_t limits = PIDQ_LIMITS_INIT;
  pidq_result_t *result = NULL;
  pidq_rows_t *rows = NULL;
  pidq_slice_t row;
  struct ArrowArrayStream stream;
  limits.output = 12;
  EXPECT(pidq_query_run(query, graph, &limits, &result) == NULL);
  EXPECT(pidq_result_json(result).data == NULL && pidq_rows_new(result, &rows) == NULL);
  expect_code(pidq_rows_next(rows, &row), "PQ4003");
  expect_code(pidq_result_arrow(result, &stream), "PQ4003");
  pidq_rows_delete(rows);
  pidq_result_delete(result);
  pidq_query_delete(query);
  pidq_graph_delete(graph);
}

/* A builder of reference-counted values that can be made to fail. */
static long live_count, created_count, fails_at;

static pidq_foreign_t make(void) {
  long *value;
  if (fails_at != 0 && ++created_count >= fails_at) return NULL;
  value = malloc(sizeof *value);
  EXPECT(value != NULL);
  *value = 1;
  live_count++;
  return value;
}

static void retain(pidq_foreign_t value) { ++*(long *)value, live_count++; }

static void release(pidq_foreign_t value) {
  live_count--;
  if (--*(long *)value == 0) free(value);
}

/* Lists and objects of this builder release their items at once, so only the root stays alive. */
static pidq_foreign_t make_text(const char *data, ptrdiff_t len) { return data != NULL && len >= 0 ? make() : NULL; }
static pidq_foreign_t make_real(double value) { return value == value ? make() : NULL; }
static pidq_foreign_t make_integer(int64_t value) { return value != 7 ? make() : NULL; }
static pidq_foreign_t make_long(const char *digits, char **end, int base) {
  return strlen(digits) > 0 && end == NULL && base == 10 ? make() : NULL;
}
static pidq_foreign_t make_list(ptrdiff_t len) { return len >= 0 ? make() : NULL; }
static int set_item(pidq_foreign_t list, ptrdiff_t at, pidq_foreign_t item) {
  EXPECT(list != NULL && at >= 0);
  release(item);
  return 0;
}
static int set_field(pidq_foreign_t object, pidq_foreign_t key, pidq_foreign_t value) {
  return object != NULL && key != NULL && value != NULL ? 0 : -1;
}
static pidq_foreign_t copy_object(pidq_foreign_t object) { return object != NULL ? make() : NULL; }

static void builders_may_fail_anywhere(void) {
  pidq_graph_t *graph = graph_of("[1, 2.5, \"a\", null, true, false, 123456789012345678901, \"b\"]");
  pidq_query_t *query = query_of("get()");
  pidq_result_t *result = result_of(query, graph);
  pidq_builder_t builder;
  long none = 1, at;
  memset(&builder, 0, sizeof builder);
  EXPECT(pidq_result_build(result, &builder) == NULL);
  builder.size = sizeof builder;
  EXPECT(pidq_result_build(result, &builder) == NULL);
  builder.null_value = builder.true_value = builder.false_value = &none;
  EXPECT(pidq_result_build(result, &builder) == NULL && pidq_shared_new(graph, &builder) == NULL);
  builder.make_text = make_text, builder.make_real = make_real, builder.make_integer = make_integer;
  builder.make_long = make_long, builder.make_list = make_list, builder.set_item = set_item;
  builder.make_object = make, builder.set_field = set_field, builder.copy_object = copy_object;
  builder.retain = retain, builder.release = release;
  for (at = 0; at < 9; at++) {
    pidq_foreign_t value;
    fails_at = at, created_count = 0;
    value = pidq_result_build(result, &builder);
    EXPECT((value != NULL) == (at == 0 || at > 6));
    if (value != NULL) release(value);
    EXPECT(live_count == 0 && none == 1);
  }
  EXPECT(pidq_result_build_items(result, NULL, 0, 1) == NULL && pidq_result_build_items(NULL, &builder, 0, 1) == NULL);
  EXPECT(pidq_shared_new(NULL, &builder) == NULL && pidq_result_build_shared(result, NULL) == NULL);
  pidq_shared_delete(NULL);
  pidq_result_delete(result);
  pidq_query_delete(query);
  pidq_graph_delete(graph);
}

/* Objects with and without templates, nested, with keys too long for the cache. */
static void builders_of_objects_may_fail_anywhere(void) {
  pidq_graph_t *graph = graph_of(
      "[{\"a\": 1, \"b\": [\"x\", {\"c\": null}]}, {\"a\": 2, \"b\": {}}, {\"a key that is longer than all of the strings that "
      "are cached by the builder\": \"x\"}, {\"b\": 3}]");
  pidq_query_t *query = query_of("get()");
  pidq_result_t *result = result_of(query, graph);
  pidq_builder_t builder;
  long none = 1, at, failures = 0;
  memset(&builder, 0, sizeof builder);
  builder.size = sizeof builder;
  builder.null_value = builder.true_value = builder.false_value = &none;
  builder.make_text = make_text, builder.make_real = make_real, builder.make_integer = make_integer;
  builder.make_long = make_long, builder.make_list = make_list, builder.set_item = set_item;
  builder.make_object = make, builder.set_field = set_field, builder.copy_object = copy_object;
  builder.retain = retain, builder.release = release;
  for (at = 0; at < 40; at++) {
    pidq_foreign_t value;
    fails_at = at, created_count = 0;
    value = at % 2 == 0 ? pidq_result_build(result, &builder) : pidq_result_build_items(result, &builder, 0, 9);
    if (value != NULL) release(value);
    failures += value == NULL;
    EXPECT(live_count == 0 && none == 1);
  }
  EXPECT(failures > 20 && failures < 39);
  fails_at = 0;
  pidq_result_delete(result);
  pidq_query_delete(query);
  pidq_graph_delete(graph);
}

static void parameters_keep_their_digits_and_their_order(void) {
  const char *json = "{\"b\": 1.0, \"a\": 12345678901234567890123}";
  pidq_graph_t *graph = graph_of("[]");
  pidq_query_t *query = NULL;
  pidq_params_t *params = pidq_params_new();
  pidq_result_t *result;
  EXPECT(pidq_params_set_json(params, "j", json, strlen(json)) == NULL);
  EXPECT(pidq_params_set_string(params, "s\"", "a\0\"", 3) == NULL);
  EXPECT(pidq_params_set_number(params, "n", 3) == NULL && pidq_params_set_bool(params, "y", true) == NULL);
  EXPECT(pidq_query_parse_with("[$j, $n, $y]", 12, params, &query) == NULL);
  pidq_params_delete(params);
  result = result_of(query, graph);
  EXPECT(strcmp(pidq_result_json(result).data, "[{\"b\": 1.0, \"a\": 12345678901234567890123},3.0,true]") == 0);
  pidq_result_delete(result);
  pidq_query_delete(query);
  pidq_graph_delete(graph);
}

/* Through `void *`, so that the compiler does not reject it. */
static void handles_of_another_type_are_errors(void) {
  pidq_graph_t *graph = graph_of("[1]");
  pidq_query_t *query = query_of("get()");
  pidq_params_t *params = pidq_params_new();
  pidq_cancel_t *cancel = pidq_cancel_new();
  pidq_result_t *result = NULL;
  expect_code(pidq_query_run((void *)graph, graph, NULL, &result), "PQ9002");
  expect_code(pidq_query_run(query, (void *)query, NULL, &result), "PQ9002");
  expect_code(pidq_query_run((void *)cancel, (void *)params, NULL, &result), "PQ9002");
  expect_code(pidq_query_run(query, (void *)cancel, NULL, &result), "PQ9002");
  EXPECT(pidq_result_json((void *)cancel).data == NULL && pidq_error_code((void *)graph) == NULL);
  pidq_query_delete((void *)cancel);
  pidq_params_delete((void *)query);
  pidq_cancel_delete(cancel);
  pidq_params_delete(params);
  pidq_query_delete(query);
  pidq_graph_delete(graph);
}

static bool refuse(void *user, const char *data, size_t len) {
  (void)data, (void)len;
  ++*(int *)user;
  return false;
}

static void a_writer_may_stop(void) {
  pidq_graph_t *graph = graph_of("[1]");
  pidq_query_t *query = query_of("get()");
  pidq_result_t *result = result_of(query, graph);
  int calls = 0;
  EXPECT(pidq_result_write(result, refuse, &calls) == NULL && calls == 1);
  expect_code(pidq_result_write(result, NULL, NULL), "PQ9002");
  pidq_result_delete(result);
  pidq_query_delete(query);
  pidq_graph_delete(graph);
}

/* A failed call resets its output pointer, so that it may be passed to `_delete`. */
static void a_failed_function_writes_null(void) {
  static char junk;
  void *old = &junk;
  pidq_graph_t *graph = old;
  pidq_query_t *query = old;
  pidq_result_t *result = old;
  pidq_rows_t *rows = old;
  pidq_buffer_t *buffer = old;
  pidq_files_t *files = old;
  pidq_slice_t row = {&junk, 1};
  struct ArrowArrayStream stream;
  stream.release = (void (*)(struct ArrowArrayStream *))(size_t)old;
  expect_code(pidq_graph_parse("{", 1, &graph), "PQ5001");
  EXPECT(graph == NULL);
  graph = old;
  expect_code(pidq_graph_join_with(NULL, 1, NULL, &graph), "PQ9002");
  EXPECT(graph == NULL);
  expect_code(pidq_query_parse(NULL, 1, &query), "PQ9002");
  EXPECT(query == NULL);
  expect_code(pidq_query_run(NULL, NULL, NULL, &result), "PQ9002");
  EXPECT(result == NULL);
  expect_code(pidq_rows_new(NULL, &rows), "PQ9002");
  EXPECT(rows == NULL);
  expect_code(pidq_rows_next(NULL, &row), "PQ9002");
  EXPECT(row.data == NULL);
  expect_code(pidq_graph_diff(NULL, NULL, NULL, &buffer), "PQ9002");
  EXPECT(buffer == NULL);
  buffer = old;
  expect_code(pidq_query_explain(NULL, NULL, NULL, &buffer), "PQ9002");
  EXPECT(buffer == NULL);
  expect_code(pidq_result_export(NULL, "csv", &files), "PQ9002");
  EXPECT(files == NULL);
  expect_code(pidq_result_arrow(NULL, &stream), "PQ9002");
  EXPECT(stream.release == NULL);
}

static void drawings_are_drawn_compared_joined_and_written(const char *path) {
  pidq_draw_options_t draw = PIDQ_DRAW_OPTIONS_INIT;
  pidq_diff_options_t diff = PIDQ_DIFF_OPTIONS_INIT;
  pidq_limits_t limits = PIDQ_LIMITS_INIT;
  pidq_graph_t *graph = NULL, *joined = NULL;
  const pidq_graph_t *sheets[2];
  pidq_query_t *query = query_of(".pid_graph.nodes | filter(.node_type == \"loop\")");
  pidq_buffer_t *buffer = NULL;
  pidq_files_t *files = NULL;
  pidq_slice_t file;
  EXPECT(pidq_graph_open(path, &graph) == NULL);
  draw.highlight = result_of(query, graph);
  draw.title = "A title";
  draw.dark = 1;
  EXPECT(pidq_graph_draw(graph, &draw, &buffer) == NULL && strstr(pidq_buffer_bytes(buffer).data, "A title") != NULL);
  pidq_buffer_delete(buffer);
  diff.ignore = "revision,checked_by";
  diff.tolerance = 5;
  EXPECT(pidq_graph_diff(graph, graph, &diff, &buffer) == NULL);
  EXPECT(strstr(pidq_buffer_bytes(buffer).data, "\"equal\":true") != NULL);
  pidq_buffer_delete(buffer);
  sheets[0] = sheets[1] = graph;
  limits.fuel = 1;
  diff.limits = &limits;
  expect_code(pidq_graph_diff(graph, graph, &diff, &buffer), "PQ4001");
  expect_code(pidq_graph_join_with(sheets, 2, &limits, &joined), "PQ4001");
  EXPECT(joined == NULL);
  limits.size = 3;
  expect_code(pidq_graph_diff(graph, graph, &diff, &buffer), "PQ9002");
  expect_code(pidq_graph_join_with(sheets, 2, &limits, &joined), "PQ9002");
  diff.limits = NULL;
  diff.tolerance = -1;
  expect_code(pidq_graph_diff(graph, graph, &diff, &buffer), "PQ9002");
  diff.tolerance = 0;
  diff.identity = "color";
  expect_code(pidq_graph_diff(graph, graph, &diff, &buffer), "PQ1012");
  EXPECT(pidq_graph_join(sheets, 2, &joined) == NULL);
  sheets[1] = NULL;
  pidq_graph_delete(joined);
  expect_code(pidq_graph_join(sheets, 2, &joined), "PQ9002");
  EXPECT(pidq_graph_export(graph, "csv-graph", &files) == NULL && pidq_files_count(files) == 2);
  EXPECT(strcmp(pidq_files_name(files, 1), "edges.csv") == 0 && pidq_files_name(files, 2) == NULL);
  EXPECT(pidq_files_bytes(files, 0).len > 100 && pidq_files_bytes(files, 9).data == NULL);
  pidq_files_delete(files);
  expect_code(pidq_graph_export(graph, "dwg", &files), "PQ6009");
  EXPECT(pidq_result_export(draw.highlight, "csv", &files) == NULL);
  pidq_files_delete(files);
  file.data = "<PlantModel/>";
  file.len = strlen(file.data);
  EXPECT(pidq_graph_import("proteus", &file, 1, &joined) == NULL);
  pidq_graph_delete(joined);
  expect_code(pidq_graph_import("csv-graph", &file, 1, &joined), "PQ6010");
  EXPECT(pidq_query_explain(query, graph, NULL, &buffer) == NULL);
  pidq_buffer_delete(buffer);
  EXPECT(pidq_query_check(query, graph, &buffer) == NULL && strcmp(pidq_buffer_bytes(buffer).data, "[]") == 0);
  pidq_buffer_delete(buffer);
  pidq_result_delete((pidq_result_t *)draw.highlight);
  pidq_query_delete(query);
  pidq_graph_delete(graph);
}

static void *use_both(void *pair) {
  void **both = pair;
  int run;
  for (run = 0; run < 50; run++) {
    pidq_result_t *result = result_of(both[1], both[0]);
    EXPECT(strcmp(pidq_result_json(result).data, "[2]") == 0);
    EXPECT(strstr(pidq_query_text(both[1]).data, "filter(. > 1)") != NULL);
    pidq_result_delete(result);
  }
  return NULL;
}

static void threads_share_graphs_and_queries(void) {
  void *both[2];
  pthread_t threads[8];
  int i;
  both[0] = graph_of("[1,2]");
  both[1] = query_of("filter(get() > 1)");
  for (i = 0; i < 8; i++) EXPECT(pthread_create(&threads[i], NULL, use_both, both) == 0);
  for (i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  pidq_graph_delete(both[0]);
  pidq_query_delete(both[1]);
}

/* Kilobytes of memory in use. */
static long resident(void) {
  long pages = 0, kept = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  EXPECT(file != NULL && fscanf(file, "%ld %ld", &pages, &kept) == 2);
  fclose(file);
  return kept * 4;
}

static void cycle(long times) {
  while (times-- > 0) {
    pidq_graph_t *graph = NULL;
    pidq_query_t *query = query_of(".a");
    pidq_result_t *result = NULL;
    EXPECT(pidq_graph_parse("{\"a\":1}", 7, &graph) == NULL);
    EXPECT(pidq_query_run(query, graph, NULL, &result) == NULL && pidq_result_json(result).len == 1);
    pidq_result_delete(result);
    pidq_query_delete(query);
    pidq_graph_delete(graph);
    expect_code(pidq_graph_parse("", 0, &graph), "PQ5001");
  }
}

static void creating_and_deleting_does_not_grow(long cycles) {
  long before;
  cycle(cycles / 10 + 200);
  before = resident();
  cycle(cycles);
  printf("%ld cycles: %ld KiB more\n", cycles, resident() - before);
  /* Memory checkers grow themselves; they detect leaks on their own. */
  if (cycles >= 10000) EXPECT(resident() - before < 1024);
}

int main(int argc, char **argv) {
  EXPECT(argc == 3 && pidq_abi_version() == PIDQ_ABI_VERSION && pidq_version() != NULL);
  nulls_are_errors();
  invalid_texts_are_errors();
  handles_may_be_deleted_twice_and_in_any_order();
  columns_of_a_batch_are_exported_once_and_outlive_it();
  structures_may_be_older_or_newer_than_the_library();
  excessive_lengths_are_errors();
  a_writer_may_stop();
  parameters_keep_their_digits_and_their_order();
  handles_of_another_type_are_errors();
  builders_may_fail_anywhere();
  builders_of_objects_may_fail_anywhere();
  a_failed_function_writes_null();
  drawings_are_drawn_compared_joined_and_written(argv[2]);
  threads_share_graphs_and_queries();
  creating_and_deleting_does_not_grow(atol(argv[1]));
  puts("all is well");
  return 0;
}
