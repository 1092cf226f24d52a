/* Values, lengths and numbers of errors: every getter with every type, and misuse. */
#include <pidq.h>
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

/* Checks the number of an error and deletes it. */
static void expect_number(pidq_error_t *error, pidq_code_t number) {
  char text[16];
  EXPECT(error != NULL && pidq_error_number(error) == number);
  snprintf(text, sizeof text, "PQ%04d", (int)number);
  EXPECT(strcmp(pidq_error_code(error), text) == 0);
  pidq_error_delete(error);
}

static pidq_result_t *run(const char *json, const char *text) {
  pidq_graph_t *graph = NULL;
  pidq_query_t *query = NULL;
  pidq_result_t *result = NULL;
  EXPECT(pidq_graph_parse(json, PIDQ_NUL_TERMINATED, &graph) == NULL);
  EXPECT(pidq_query_parse(text, PIDQ_NUL_TERMINATED, &query) == NULL);
  EXPECT(pidq_query_run(query, graph, NULL, &result) == NULL);
  pidq_query_delete(query);
  pidq_graph_delete(graph);
  return result;
}

/* A getter writes exactly the values of its type. */
static void getters_check_types(void) {
  static const struct {
    const char *json;
    pidq_type_t type;
    bool is_bool, is_number, is_integer, is_string;
    size_t count;
  } cases[] = {
      {"null", PIDQ_TYPE_NULL, false, false, false, false, 0},
      {"true", PIDQ_TYPE_BOOLEAN, true, false, false, false, 0},
      {"7", PIDQ_TYPE_NUMBER, false, true, true, false, 0},
      {"7.5", PIDQ_TYPE_NUMBER, false, true, false, false, 0},
      {"7e2", PIDQ_TYPE_NUMBER, false, true, true, false, 0},
      {"9223372036854775807", PIDQ_TYPE_NUMBER, false, true, true, false, 0},
      {"9223372036854775808", PIDQ_TYPE_NUMBER, false, true, false, false, 0},
      {"\"7\"", PIDQ_TYPE_STRING, false, false, false, true, 0},
      {"[1, null]", PIDQ_TYPE_ARRAY, false, false, false, false, 2},
      {"{\"a\": 1, \"b\": null}", PIDQ_TYPE_OBJECT, false, false, false, false, 2},
  };
  size_t at;
  for (at = 0; at < sizeof cases / sizeof cases[0]; at++) {
    pidq_result_t *result = run(cases[at].json, "get()");
    pidq_value_t value = pidq_result_value(result);
    bool truth = false;
    double number = -1;
    int64_t integer = -1;
    pidq_slice_t text = {NULL, 0};
    EXPECT(pidq_value_type(value) == cases[at].type);
    EXPECT(pidq_value_bool(value, &truth) == cases[at].is_bool && truth == cases[at].is_bool);
    EXPECT(pidq_value_number(value, &number) == cases[at].is_number && (number != -1) == cases[at].is_number);
    EXPECT(pidq_value_integer(value, &integer) == cases[at].is_integer && (integer != -1) == cases[at].is_integer);
    EXPECT(pidq_value_string(value, &text) == cases[at].is_string && (text.len == 1) == cases[at].is_string);
    EXPECT(pidq_value_count(value) == cases[at].count);
    EXPECT(!pidq_value_bool(value, NULL) && !pidq_value_number(value, NULL) && !pidq_value_string(value, NULL));
    pidq_result_delete(result);
  }
}

static void integers_are_exact(void) {
  pidq_result_t *result = run("[9007199254740993, -9223372036854775808, 0.0, 1e400]", "get()");
  pidq_value_t list = pidq_result_value(result);
  int64_t integer = 0;
  EXPECT(pidq_value_integer(pidq_value_item(list, 0), &integer) && integer == INT64_C(9007199254740993));
  EXPECT(pidq_value_integer(pidq_value_item(list, 1), &integer) && integer == INT64_MIN);
  EXPECT(pidq_value_integer(pidq_value_item(list, 2), &integer) && integer == 0);
  EXPECT(!pidq_value_integer(pidq_value_item(list, 3), &integer) && integer == 0);
  pidq_result_delete(result);
}

/* Whatever does not exist is no value, of which any part is no value. */
static void missing_values_can_be_used(void) {
  pidq_result_t *result = run("{\"a\": {\"b\": [1, 2]}, \"\": 3}", "get()");
  pidq_value_t value = pidq_result_value(result), none, zero;
  double number = 0;
  pidq_buffer_t *buffer = NULL;
  memset(&zero, 0, sizeof zero);
  none = pidq_value_item(pidq_value_field(pidq_value_field(value, "x"), "y"), 7);
  EXPECT(pidq_value_type(none) == PIDQ_TYPE_NONE && pidq_value_type(zero) == PIDQ_TYPE_NONE);
  EXPECT(!pidq_value_number(none, &number) && pidq_value_count(none) == 0 && pidq_value_copy(none, NULL, 0) == 0);
  expect_number(pidq_value_json(none, &buffer), PIDQ_ERROR_MISUSE);
  EXPECT(buffer == NULL);
  EXPECT(pidq_value_type(pidq_value_item(value, 0)) == PIDQ_TYPE_NONE); /* an object has no items */
  EXPECT(pidq_value_type(pidq_value_field(value, NULL)) == PIDQ_TYPE_NONE);
  EXPECT(pidq_value_number(pidq_value_field(value, ""), &number) && number == 3);
  EXPECT(pidq_value_number(pidq_value_field_of_len(value, NULL, 0), &number) && number == 3);
  EXPECT(pidq_value_type(pidq_value_field_of_len(value, "ab", 1)) == PIDQ_TYPE_OBJECT);
  EXPECT(pidq_value_type(pidq_value_field_of_len(value, "\xFF", 1)) == PIDQ_TYPE_NONE);
  EXPECT(pidq_value_type(pidq_result_value(NULL)) == PIDQ_TYPE_NONE);
  pidq_result_delete(result);
  EXPECT(pidq_value_type(value) == PIDQ_TYPE_NONE); /* its result was deleted */
  EXPECT(pidq_value_type(pidq_value_field(value, "a")) == PIDQ_TYPE_NONE);
}

/* Computed objects have fields that JSON omits. */
static void fields_are_those_of_the_json(void) {
  pidq_result_t *result = run("[{\"b\": 1}, {\"a\": \"x\", \"b\": 2}]", "map({a: .a, c: .b}) | .0");
  pidq_value_t value = pidq_result_value(result), item;
  size_t position = 0, rows = 0;
  pidq_slice_t name;
  pidq_buffer_t *buffer = NULL;
  EXPECT(strcmp(pidq_result_json(result).data, "{\"c\":1}") == 0 || pidq_value_count(value) == 2);
  while (pidq_value_next(value, &position, &name, &item)) rows++;
  EXPECT(rows == pidq_value_count(value) && name.len == 1 && name.data[0] == 'c');
  position = 0;
  EXPECT(pidq_value_next(value, &position, NULL, &item));
  EXPECT(!pidq_value_next(value, NULL, &name, &item) && !pidq_value_next(value, &position, &name, NULL));
  EXPECT(pidq_value_json(item, &buffer) == NULL && pidq_buffer_bytes(buffer).len > 0);
  pidq_buffer_delete(buffer);
  pidq_result_delete(result);
  result = run("[5, 6]", "get()");
  for (position = 0, rows = 0; pidq_value_next(pidq_result_value(result), &position, &name, &item); rows++)
    EXPECT(name.data == NULL);
  EXPECT(rows == 2);
  pidq_result_delete(result);
}

/* A copy ends with NUL, and never has part of a character. */
static void copies_fit_their_buffer(void) {
  pidq_result_t *result = run("{\"text\": \"a\\u00e9\\u0000b\", \"list\": [1, \"x\"]}", "get()");
  pidq_value_t text = pidq_value_field(pidq_result_value(result), "text");
  char buffer[8];
  memset(buffer, 'z', sizeof buffer);
  EXPECT(pidq_value_copy(text, buffer, 2) == 5 && memcmp(buffer, "a\0z", 3) == 0);
  EXPECT(pidq_value_copy(text, buffer, 3) == 5 && memcmp(buffer, "a\0z", 3) == 0);
  EXPECT(pidq_value_copy(text, buffer, 4) == 5 && memcmp(buffer, "a\xC3\xA9\0z", 5) == 0);
  EXPECT(pidq_value_copy(text, buffer, sizeof buffer) == 5 && memcmp(buffer, "a\xC3\xA9\0b\0", 6) == 0);
  EXPECT(pidq_value_copy(text, NULL, 0) == 5 && pidq_value_copy(text, NULL, 9) == 0);
  EXPECT(pidq_value_copy(pidq_value_field(pidq_result_value(result), "list"), buffer, sizeof buffer) == 8);
  pidq_result_delete(result);
}

static void lone_surrogates_are_refused(void) {
  pidq_graph_t *graph = NULL;
  size_t start = 0, end = 0;
  pidq_error_t *error = pidq_graph_parse("[\"\\ud83d\\ude00\", \"x\\udc00\"]", PIDQ_NUL_TERMINATED, &graph);
  EXPECT(graph == NULL && pidq_error_span(error, &start, &end) && start == 19 && end == 25);
  expect_number(error, PIDQ_ERROR_NOT_UTF8);
  expect_number(pidq_graph_read("[\"\\ud800\"]", PIDQ_NUL_TERMINATED, &graph), PIDQ_ERROR_NOT_UTF8);
  EXPECT(pidq_graph_parse("[\"\\ud83d\\ude00\", \"\\\\ud800\"]", PIDQ_NUL_TERMINATED, &graph) == NULL);
  pidq_graph_delete(graph);
}

static void errors_have_stable_numbers(void) {
  pidq_graph_t *graph = NULL;
  pidq_query_t *query = NULL;
  EXPECT(pidq_error_number(NULL) == PIDQ_OK && PIDQ_OK == 0);
  expect_number(pidq_query_parse("nodse()", PIDQ_NUL_TERMINATED, &query), PIDQ_ERROR_UNKNOWN_FUNCTION);
  expect_number(pidq_graph_parse("{", 1, &graph), PIDQ_ERROR_NOT_JSON);
  expect_number(pidq_graph_read("<graphml", PIDQ_NUL_TERMINATED, &graph), PIDQ_FORMAT_ERROR_NOT_XML);
  expect_number(pidq_graph_open("no/such/file", &graph), PIDQ_ERROR_FILE);
  expect_number(pidq_graph_parse(NULL, PIDQ_NUL_TERMINATED, &graph), PIDQ_ERROR_MISUSE);
  EXPECT(PIDQ_ERROR_OUT_OF_FUEL == 4001 && PIDQ_ERROR_PANIC == 9001);
}

int main(void) {
  EXPECT(strcmp(pidq_version(), PIDQ_VERSION) == 0);
  EXPECT(PIDQ_VERSION_AT_LEAST(0, 1, 0) && !PIDQ_VERSION_AT_LEAST(PIDQ_VERSION_MAJOR, PIDQ_VERSION_MINOR + 1, 0));
  getters_check_types();
  integers_are_exact();
  missing_values_can_be_used();
  fields_are_those_of_the_json();
  copies_fit_their_buffer();
  lone_surrogates_are_refused();
  errors_have_stable_numbers();
  puts("ok");
  return 0;
}
