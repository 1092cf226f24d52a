/*
 * pidq: a query engine for P&ID graphs. The C ABI; docs/c.md is its manual.
 *
 * The rules, which hold for every function:
 *
 * - A function that can fail returns an error: NULL is success. What it makes it writes to its last argument; where it
 *   fails, that is NULL. Delete errors with pidq_error_delete.
 * - What a function gives you as a pointer to a handle is yours: delete it with the function of its kind. Deleting NULL
 *   is fine. Handles may be deleted in any order: a result keeps what it needs of its graph and its query.
 * - What a function lends you (pidq_slice_t, const char *) is not yours: it stays until its handle is deleted. Slices are
 *   UTF-8 and end with a NUL byte that is not counted, unless their function says otherwise.
 * - What you lend a function it uses during the call only. Texts with a length need no NUL byte at their end.
 * - Graphs, queries, errors and cancels do not change: any number of threads may use one at a time. Results, rows,
 *   buffers and parameters are for one thread at a time; hand them on as you like. Nobody may use what another thread
 *   deletes.
 * - Structures begin with `size`: begin with their PIDQ_..._INIT, so that they can grow without breaking your program.
 * - A handle that was deleted, a NULL where none may be, or a text that is not UTF-8 is the error PQ9002; functions
 *   without an error return NULL, 0 or false then. A file that cannot be read is PQ9003. A defect in the library is
 *   PQ9001; nothing is ever thrown into your program.
 */


#ifndef PIDQ_H
#define PIDQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Compare it with pidq_abi_version() once, at the start. */
#define PIDQ_ABI_VERSION 1

/* Where a structure that you fill in begins. */
#define PIDQ_LIMITS_INIT { sizeof(pidq_limits_t), 0, 0, 0, NULL, 0, 0, 0, 0, 0 }
#define PIDQ_DRAW_OPTIONS_INIT { sizeof(pidq_draw_options_t), NULL, NULL, NULL, 0 }
#define PIDQ_DIFF_OPTIONS_INIT { sizeof(pidq_diff_options_t), NULL, NULL, 0.0, NULL }

/* The Arrow C data interface, as https://arrow.apache.org/docs/format/CDataInterface.html defines it. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4
struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};
struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};
#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};
#endif


// A text, such as a drawing or a report. Delete it.
typedef struct pidq_buffer_t pidq_buffer_t;

// Stops the runs that were given it. Any thread may fire it. Delete it when no run looks at it any more.
typedef struct pidq_cancel_t pidq_cancel_t;

// What went wrong. Delete it.
typedef struct pidq_error_t pidq_error_t;

// The files of a format; one for most formats. Delete it.
typedef struct pidq_files_t pidq_files_t;

// A document. Does not change once it is made: any number of threads may use it. Delete it; results keep what they
// need of it.
typedef struct pidq_graph_t pidq_graph_t;

// Values for the `$names` of a query. One thread at a time. Delete it; a query that was compiled keeps what it needs.
typedef struct pidq_params_t pidq_params_t;

// A compiled query. Does not change once it is made: any number of threads may run it. Delete it; results keep what
// they need of it.
typedef struct pidq_query_t pidq_query_t;

// What a run gave. One thread at a time. Delete it; it keeps what it needs of graph and query, which may be deleted
// before.
typedef struct pidq_result_t pidq_result_t;

// Reads a result row by row, without making the JSON of all rows. One thread at a time, and the same as its result.
// Delete it.
typedef struct pidq_rows_t pidq_rows_t;

// Values of another language for the lists and objects of a graph: each is made once, and given again. One thread at a
// time, the one that holds the language's lock. Delete it before that language ends.
typedef struct pidq_shared_t pidq_shared_t;

// Bytes that belong to somebody else. What pidq lends is UTF-8 (files of binary formats aside), ends with a NUL byte
// that `len` does not count, and stays until the handle it came from is deleted. `data` is NULL where there is nothing.
typedef struct {
  // The first byte.
  const char *data;
  // How many bytes.
  size_t len;
} pidq_slice_t;

// How a graph is drawn. Begin with `PIDQ_DRAW_OPTIONS_INIT`.
typedef struct {
  // `sizeof(pidq_draw_options_t)`.
  size_t size;
  // What is marked: the result of a query with nodes, edges, ids, or anything that holds them. May be NULL.
  const pidq_result_t *highlight;
  // What is drawn, as `highlight`, with the edges between; all where it is NULL.
  const pidq_result_t *only;
  // What stands in the corner; the name of the drawing where it is NULL.
  const char *title;
  // Not 0: light lines on a dark ground.
  uint32_t dark;
} pidq_draw_options_t;

// What a run may cost. Begin with `PIDQ_LIMITS_INIT`; 0 is the default of a field, which stands behind it.
typedef struct {
  // `sizeof(pidq_limits_t)`: so the library knows which fields your program knows.
  size_t size;
  // Steps: 20 million.
  uint64_t fuel;
  // Bytes of working memory: 256 MiB.
  uint64_t memory;
  // Bytes of the printed result: 64 MiB.
  uint64_t output;
  // Stops the run from another thread. May be NULL.
  const pidq_cancel_t *cancel;
  // Bytes of one text that the query builds: 16 MiB.
  uint64_t string;
  // Backtracks of a regular expression: a million.
  uint64_t backtracks;
  // Rows of a walk or of a list about the graph: 100,000.
  uint64_t rows;
  // Paths, circuits and patterns that one function lists: 1,000.
  uint64_t paths;
  // Steps of a walk from its start: 10,000.
  uint64_t depth;
} pidq_limits_t;

// How two revisions are compared. Begin with `PIDQ_DIFF_OPTIONS_INIT`.
typedef struct {
  // `sizeof(pidq_diff_options_t)`.
  size_t size;
  // By what items are recognised: "persistent_id", "id" or "tag"; by the first that works where it is NULL.
  const char *identity;
  // Fields that are not compared, with commas between. May be NULL.
  const char *ignore;
  // Items that moved no further than this have not moved.
  double tolerance;
  // What the comparison may cost. May be NULL.
  const pidq_limits_t *limits;
} pidq_diff_options_t;

// Takes a piece of text; `user` is what was handed in. False stops the writing.
typedef bool (*pidq_write_t)(void *user, const char *data, size_t len);

// A value of another language.
typedef void *pidq_value_t;

// How values of another language are made. A function that gives NULL, or -1 where it gives a number, has failed: then
// the building ends, and the error stays where that language keeps it.
typedef struct {
  // `sizeof(pidq_builder_t)`.
  size_t size;
  // Null, true and false. They are lent: `retain` is called for each use.
  pidq_value_t null_value;
  // True.
  pidq_value_t true_value;
  // False.
  pidq_value_t false_value;
  // Makes a text of UTF-8.
  pidq_value_t (*make_text)(const char *data, ptrdiff_t len);
  // Makes a number with a fraction.
  pidq_value_t (*make_real)(double value);
  // Makes a whole number.
  pidq_value_t (*make_integer)(int64_t value);
  // Makes a whole number of its digits, which a NUL byte ends. `end` is NULL, `base` 10.
  pidq_value_t (*make_long)(const char *digits, char **end, int base);
  // Makes a list with so many places.
  pidq_value_t (*make_list)(ptrdiff_t len);
  // Fills a place of a list, which takes the item over.
  int (*set_item)(pidq_value_t list, ptrdiff_t index, pidq_value_t item);
  // Makes an object without keys.
  pidq_value_t (*make_object)(void);
  // Sets a key of an object, which holds on to both by itself.
  int (*set_field)(pidq_value_t object, pidq_value_t key, pidq_value_t value);
  // Copies an object, not its values.
  pidq_value_t (*copy_object)(pidq_value_t object);
  // Holds on to a value.
  void (*retain)(pidq_value_t value);
  // Lets a value go.
  void (*release)(pidq_value_t value);
} pidq_builder_t;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the ABI that the library has. Compare it once, at the start, with `PIDQ_ABI_VERSION`.
uint32_t pidq_abi_version(void);

// The version of the library, such as "0.1.0". It is never freed.
const char *pidq_version(void);

// Reads a document: JSON in UTF-8, which is copied. On success `*out` is a graph that you delete.
pidq_error_t *pidq_graph_parse(const char *json, size_t len, pidq_graph_t **out);

// As `pidq_graph_parse`, with other names for the fields of nodes and edges and other words for their classes: a JSON
// object, as docs/pid.md describes it.
pidq_error_t *pidq_graph_parse_with(const char *json,
                                    size_t len,
                                    const char *topology,
                                    size_t topology_len,
                                    pidq_graph_t **out);

// Reads the file at a path in UTF-8: JSON, or a drawing of another program that begins like one of the formats
// (Proteus XML, GraphML).
pidq_error_t *pidq_graph_open(const char *path, pidq_graph_t **out);

// Imports a drawing from the files of a format: "proteus", "graphml", "node-link" (one file) or "csv-graph" (nodes, then
// edges). What did not come through as it was stands in `pid_graph.metadata.diagnostics`.
pidq_error_t *pidq_graph_import(const char *format,
                                const pidq_slice_t *files,
                                size_t count,
                                pidq_graph_t **out);

// Writes the graph in a format: "json", "graphml", "node-link", "csv", "csv-graph", "xlsx", "dot", "mermaid", "neo4j",
// "cypher", "ndjson" or "svg". On success `*out` holds files that you delete.
pidq_error_t *pidq_graph_export(const pidq_graph_t *graph, const char *format, pidq_files_t **out);

// Bytes of memory that the graph takes, without the text of the document.
size_t pidq_graph_size(const pidq_graph_t *graph);

// Deletes a graph. NULL is fine.
void pidq_graph_delete(pidq_graph_t *graph);

// Draws a graph as SVG, at its own positions or laid out; `options` may be NULL. On success `*out` is a buffer that you
// delete.
pidq_error_t *pidq_graph_draw(const pidq_graph_t *graph, const pidq_draw_options_t *options, pidq_buffer_t **out);

// Compares two revisions of a drawing; `options` may be NULL. On success `*out` is a JSON object: `added`, `removed`,
// `changed`, `moved`, `retagged`, `rewired`, `edges_added`, `edges_removed` and `equal`.
pidq_error_t *pidq_graph_diff(const pidq_graph_t *old_graph,
                              const pidq_graph_t *new_graph,
                              const pidq_diff_options_t *options,
                              pidq_buffer_t **out);

// Joins sheets at their off-page connectors to one graph. What could not be matched stands in
// `pid_graph.metadata.joined`.
pidq_error_t *pidq_graph_join(const pidq_graph_t *const *sheets, size_t count, pidq_graph_t **out);

// As `pidq_graph_join`, with limits, which may be NULL.
pidq_error_t *pidq_graph_join_with(const pidq_graph_t *const *sheets,
                                   size_t count,
                                   const pidq_limits_t *limits,
                                   pidq_graph_t **out);

// A new set without values. NULL when there is no memory for it.
pidq_params_t *pidq_params_new(void);

// Sets a text; `value` is UTF-8, which a NUL byte need not end. A name that was set before gets the new value.
pidq_error_t *pidq_params_set_string(pidq_params_t *params, const char *name, const char *value, size_t len);

// Sets a number.
pidq_error_t *pidq_params_set_number(pidq_params_t *params, const char *name, double value);

// Sets true or false.
pidq_error_t *pidq_params_set_bool(pidq_params_t *params, const char *name, bool value);

// Sets any value of JSON.
pidq_error_t *pidq_params_set_json(pidq_params_t *params, const char *name, const char *json, size_t len);

// Deletes it. NULL is fine.
void pidq_params_delete(pidq_params_t *params);

// Compiles a query in the text format. On success `*out` is a query that you delete.
pidq_error_t *pidq_query_parse(const char *text, size_t len, pidq_query_t **out);

// Compiles a query in the text format with values for its `$names`; `params` may be NULL.
pidq_error_t *pidq_query_parse_with(const char *text, size_t len, const pidq_params_t *params, pidq_query_t **out);

// Compiles a query in the JSON format, such as `["size"]`; `params` may be NULL.
pidq_error_t *pidq_query_from_json(const char *json, size_t len, const pidq_params_t *params, pidq_query_t **out);

// Runs a query; `limits` may be NULL. On success `*out` is a result that you delete.
pidq_error_t *pidq_query_run(const pidq_query_t *query,
                             const pidq_graph_t *graph,
                             const pidq_limits_t *limits,
                             pidq_result_t **out);

// Runs a query and tells what its calls did: a JSON object with `fuel`, `rows`, `steps` and `warnings`.
pidq_error_t *pidq_query_explain(const pidq_query_t *query,
                                 const pidq_graph_t *graph,
                                 const pidq_limits_t *limits,
                                 pidq_buffer_t **out);

// Tells what looks like a mistake, without a run: a JSON list of warnings. With a graph also what only it can tell, such
// as fields that nothing has; `graph` may be NULL.
pidq_error_t *pidq_query_check(const pidq_query_t *query,
                               const pidq_graph_t *graph,
                               pidq_buffer_t **out);

// The query in the text format; compiling it again gives the same query. The query lends it.
pidq_slice_t pidq_query_text(const pidq_query_t *query);

// The query in the JSON format. The query lends it.
pidq_slice_t pidq_query_tree(const pidq_query_t *query);

// Deletes a query. NULL is fine.
void pidq_query_delete(pidq_query_t *query);

// A new one, not fired. NULL when there is no memory for it.
pidq_cancel_t *pidq_cancel_new(void);

// Stops the runs that look at it, also those that begin later; they end with PQ4008.
void pidq_cancel_fire(const pidq_cancel_t *cancel);

// As `pidq_cancel_fire`, because the time is over: the runs end with PQ4005.
void pidq_cancel_time_out(const pidq_cancel_t *cancel);

// Deletes it. NULL is fine.
void pidq_cancel_delete(pidq_cancel_t *cancel);

// The result as JSON. The result lends it; it is made when it is first asked for. `data` is NULL where it is longer than
// `limits.output`: `pidq_result_write` tells the error.
pidq_slice_t pidq_result_json(const pidq_result_t *result);

// Writes the result as JSON in pieces of about 64 KiB, without keeping it. The pieces end at characters, and no NUL byte
// follows them.
pidq_error_t *pidq_result_write(const pidq_result_t *result,
                                pidq_write_t write,
                                void *user);

// What the result is: "null", "boolean", "number", "string", "array" or "object". It is never freed.
const char *pidq_result_type(const pidq_result_t *result);

// How many items the result has; 1 where it is no list.
size_t pidq_result_count(const pidq_result_t *result);

// The steps that the run took.
uint64_t pidq_result_fuel(const pidq_result_t *result);

// What looks like a mistake in the query: a JSON list of objects with `code`, `message`, `span` and `help`. The result
// lends it.
pidq_slice_t pidq_result_warnings(const pidq_result_t *result);

// Writes the result in a format, as `pidq_graph_export`; "csv" and "xlsx" take lists of objects.
pidq_error_t *pidq_result_export(const pidq_result_t *result, const char *format, pidq_files_t **out);

// Deletes a result. NULL is fine.
void pidq_result_delete(pidq_result_t *result);

// Begins before the first row of a result: the items of a list; anything else is one row. On success `*out` is a reader
// that you delete; the result may be deleted before.
pidq_error_t *pidq_rows_new(const pidq_result_t *result, pidq_rows_t **out);

// Takes the next row: its JSON, which stays until the next call with the same reader. After the last row `row->data` is
// NULL.
pidq_error_t *pidq_rows_next(pidq_rows_t *rows, pidq_slice_t *row);

// Deletes a reader. NULL is fine.
void pidq_rows_delete(pidq_rows_t *rows);

// Gives a result as columns: a list of objects has a column for each key, an object is one row, anything else a column
// `value`. `*out` is a stream of one table; call its `release` when done. The columns stay after the result is deleted.
pidq_error_t *pidq_result_arrow(const pidq_result_t *result, struct ArrowArrayStream *out);

// Builds the result as a value of another language, which belongs to you. NULL where a function of the builder has failed
// or an argument is wrong. Languages with a lock (Python) have it held during the call.
pidq_value_t pidq_result_build(const pidq_result_t *result,
                               const pidq_builder_t *builder);

// A place for shared values of a graph. It holds on to what it made, up to everything that is in the graph; NULL where an
// argument is wrong.
pidq_shared_t *pidq_shared_new(const pidq_graph_t *graph,
                               const pidq_builder_t *builder);

// As `pidq_result_build`, with what `shared` has made before: lists and objects of the document are the same values each
// time, so nobody may change them. NULL also where the result is of another graph.
pidq_value_t pidq_result_build_shared(const pidq_result_t *result,
                                      pidq_shared_t *shared);

// Lets shared values go. NULL is fine.
void pidq_shared_delete(pidq_shared_t *shared);

// The text. The buffer lends it.
pidq_slice_t pidq_buffer_bytes(const pidq_buffer_t *buffer);

// Deletes it. NULL is fine.
void pidq_buffer_delete(pidq_buffer_t *buffer);

// How many files there are.
size_t pidq_files_count(const pidq_files_t *files);

// What a file is called, such as "nodes.csv"; NULL where there is no such file. The files lend it.
const char *pidq_files_name(const pidq_files_t *files, size_t index);

// What is in a file; `data` is NULL where there is no such file. A workbook is not text. The files lend it.
pidq_slice_t pidq_files_bytes(const pidq_files_t *files, size_t index);

// Deletes them. NULL is fine.
void pidq_files_delete(pidq_files_t *files);

// The code, such as "PQ1001": the part that never changes. It is never freed.
const char *pidq_error_code(const pidq_error_t *error);

// When it happened: "parse", "compile", "eval", "limit" or "input". It is never freed.
const char *pidq_error_stage(const pidq_error_t *error);

// What went wrong, in one line. The error lends it.
pidq_slice_t pidq_error_message(const pidq_error_t *error);

// What to do next; `data` is NULL where nothing is known. The error lends it.
pidq_slice_t pidq_error_help(const pidq_error_t *error);

// The bytes of the query text that it is about (of the input, for codes that begin with PQ5). False where it is about
// no place; then nothing is written.
bool pidq_error_span(const pidq_error_t *error, size_t *start, size_t *end);

// Line and column of the span, both from 1, the column in characters. False where they are not known.
bool pidq_error_location(const pidq_error_t *error, size_t *line, size_t *column);

// All of it as a JSON object: code, stage, message, span, help, suggestions, the path in the data. The error lends it.
pidq_slice_t pidq_error_json(const pidq_error_t *error);

// All of it for people, in several lines: the query with carets under the place, and what to do. The error lends it.
pidq_slice_t pidq_error_text(const pidq_error_t *error);

// Deletes an error. NULL is fine.
void pidq_error_delete(pidq_error_t *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* PIDQ_H */
