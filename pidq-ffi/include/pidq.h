/*
 * C ABI of pidq, a query engine for P&ID graphs. Manual: docs/c.md.
 *
 * Rules for all functions:
 *
 * - A function that can fail returns an error: NULL is success. It writes its result to its last argument, and NULL on
 *   failure. Delete errors with pidq_error_delete.
 * - The caller owns every handle that a function returns: delete it with the function of its type. Deleting NULL is
 *   allowed. Handles may be deleted in any order: a result keeps what it needs of its graph and its query.
 * - The caller does not own returned slices (pidq_slice_t) and strings (const char *): they are valid until their handle
 *   is deleted. Slices are UTF-8 and end with a NUL byte that is not counted, unless documented otherwise.
 * - Arguments are used during the call only. Texts with a length need no terminating NUL byte; of one that has it, pass
 *   PIDQ_NUL_TERMINATED as length.
 * - The compiler warns if an error is ignored (PIDQ_NODISCARD).
 * - Graphs, queries, errors and cancellation flags are immutable: any number of threads may use them concurrently.
 *   Results and their values, batches, rows, buffers and parameters are for one thread at a time, but may move between threads. A handle must
 *   not be used while another thread deletes it.
 * - Structures begin with `size`: initialize them with PIDQ_..._INIT, so that later versions can add fields.
 * - A deleted handle, an unexpected NULL, or a text that is not UTF-8 is error PQ9002; functions without an error return
 *   NULL, 0 or false. A file that cannot be read is PQ9003. A defect in the library is PQ9001; no panic or exception
 *   crosses the ABI.
 */


#ifndef PIDQ_H
#define PIDQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Compare it with pidq_abi_version() once, at startup. */
#define PIDQ_ABI_VERSION 1

/* Version of this header. pidq_version() is that of the library. */
#define PIDQ_VERSION "0.1.0"
#define PIDQ_VERSION_MAJOR 0
#define PIDQ_VERSION_MINOR 1
#define PIDQ_VERSION_PATCH 0
#define PIDQ_VERSION_AT_LEAST(major, minor, patch) \
  (PIDQ_VERSION_MAJOR > (major) || \
   (PIDQ_VERSION_MAJOR == (major) && \
    (PIDQ_VERSION_MINOR > (minor) || (PIDQ_VERSION_MINOR == (minor) && PIDQ_VERSION_PATCH >= (patch)))))

/* Functions of the library. Define PIDQ_STATIC if the program contains the library. */
#ifndef PIDQ_API
#if defined(_WIN32) && !defined(PIDQ_STATIC)
#define PIDQ_API __declspec(dllimport)
#elif defined(__GNUC__) && !defined(PIDQ_STATIC)
#define PIDQ_API __attribute__((visibility("default")))
#else
#define PIDQ_API
#endif
#endif

/* Functions whose error must not be ignored. To ignore one, delete it: pidq_error_delete(...). */
#ifndef PIDQ_NODISCARD
#if defined(__GNUC__)
#define PIDQ_NODISCARD __attribute__((warn_unused_result))
#elif defined(_MSC_VER)
#define PIDQ_NODISCARD _Check_return_
#else
#define PIDQ_NODISCARD
#endif
#endif

/* Length of any text or document that ends with NUL: the library finds the end. */
#define PIDQ_NUL_TERMINATED SIZE_MAX

/* Initializers of the structures. */
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


// Type of a value.
typedef enum {
  // No value: a field or an item that does not exist.
  PIDQ_TYPE_NONE = 0,
  // Null.
  PIDQ_TYPE_NULL = 1,
  // True or false.
  PIDQ_TYPE_BOOLEAN = 2,
  // Number.
  PIDQ_TYPE_NUMBER = 3,
  // String.
  PIDQ_TYPE_STRING = 4,
  // List.
  PIDQ_TYPE_ARRAY = 5,
  // Object.
  PIDQ_TYPE_OBJECT = 6,
} pidq_type_t;

// Error code as a number: the digits of the stable code, such as 1001 of "PQ1001". A later version of the library may
// return numbers that this list does not have.
typedef enum {
  // No error.
  PIDQ_OK = 0,
  // PQ0001. A value was expected here.
  PIDQ_ERROR_VALUE_EXPECTED = 1,
  // PQ0002. A property name was expected after the dot.
  PIDQ_ERROR_PROPERTY_EXPECTED = 2,
  // PQ0003. A key of an object was expected.
  PIDQ_ERROR_KEY_EXPECTED = 3,
  // PQ0004. A specific character was expected.
  PIDQ_ERROR_CHARACTER_EXPECTED = 4,
  // PQ0005. There is text after a complete query.
  PIDQ_ERROR_TRAILING_TEXT = 5,
  // PQ0006. A string has an unknown escape or a raw control character.
  PIDQ_ERROR_BAD_STRING = 6,
  // PQ0007. A number is malformed.
  PIDQ_ERROR_BAD_NUMBER = 7,
  // PQ0008. The query is nested too deeply or has too many parts.
  PIDQ_ERROR_NESTED_TOO_DEEP = 8,
  // PQ0009. The query text is too long.
  PIDQ_ERROR_QUERY_TOO_LONG = 9,
  // PQ1001. No function has this name.
  PIDQ_ERROR_UNKNOWN_FUNCTION = 1001,
  // PQ1002. In the JSON format, a bare object is used where a query is expected.
  PIDQ_ERROR_OBJECT_NOTATION = 1002,
  // PQ1003. A function got too few or too many arguments.
  PIDQ_ERROR_ARGUMENT_COUNT = 1003,
  // PQ1004. A function got an argument of the wrong kind.
  PIDQ_ERROR_ARGUMENT_KIND = 1004,
  // PQ1005. No parameter or binding has this name.
  PIDQ_ERROR_UNKNOWN_VARIABLE = 1005,
  // PQ1006. An argument must be a constant or a parameter, not a query.
  PIDQ_ERROR_STATIC_ARGUMENT = 1006,
  // PQ1007. A regular expression is malformed or too large.
  PIDQ_ERROR_BAD_REGEX = 1007,
  // PQ1008. A flag of a regular expression is unknown or given twice.
  PIDQ_ERROR_BAD_REGEX_FLAG = 1008,
  // PQ1009. A custom operator is invalid.
  PIDQ_ERROR_OPERATOR_DEFINITION = 1009,
  // PQ1010. Options must be an object literal.
  PIDQ_ERROR_OPTIONS_EXPECTED = 1010,
  // PQ1011. No option has this name.
  PIDQ_ERROR_UNKNOWN_OPTION = 1011,
  // PQ1012. An option has an invalid value.
  PIDQ_ERROR_BAD_OPTION = 1012,
  // PQ1013. A parameter of a prepared query has no value.
  PIDQ_ERROR_MISSING_PARAMETER = 1013,
  // PQ1014. A function belongs to a feature that the program was built without.
  PIDQ_ERROR_FEATURE_MISSING = 1014,
  // PQ1020. A graph pattern is malformed.
  PIDQ_ERROR_PATTERN_SYNTAX = 1020,
  // PQ2001. An array was expected.
  PIDQ_ERROR_ARRAY_EXPECTED = 2001,
  // PQ2002. A string was expected.
  PIDQ_ERROR_STRING_EXPECTED = 2002,
  // PQ2003. An object was expected.
  PIDQ_ERROR_OBJECT_EXPECTED = 2003,
  // PQ2004. A property cannot be read from a value of this type.
  PIDQ_ERROR_UNSUPPORTED_PROPERTY = 2004,
  // PQ2005. The right side of `in` must be an array.
  PIDQ_ERROR_LIST_EXPECTED = 2005,
  // PQ2006. An entry `{key, value}` was expected.
  PIDQ_ERROR_ENTRY_EXPECTED = 2006,
  // PQ2007. A number was expected.
  PIDQ_ERROR_NUMBER_EXPECTED = 2007,
  // PQ2008. A value has the right type, but is malformed or out of range.
  PIDQ_ERROR_INVALID_VALUE = 2008,
  // PQ2009. A result does not fit the type that the program asked for.
  PIDQ_ERROR_RESULT_TYPE = 2009,
  // PQ2010. A function of the embedding program failed.
  PIDQ_ERROR_FUNCTION_FAILED = 2010,
  // PQ3001. The value is not a node of the graph.
  PIDQ_ERROR_NOT_A_NODE = 3001,
  // PQ3002. No node has this id or tag.
  PIDQ_ERROR_UNKNOWN_NODE = 3002,
  // PQ3003. There is no node to start from.
  PIDQ_ERROR_NO_START = 3003,
  // PQ3004. Several nodes have this tag.
  PIDQ_ERROR_AMBIGUOUS_NODE = 3004,
  // PQ3005. A weight must be a number of at least zero.
  PIDQ_ERROR_BAD_WEIGHT = 3005,
  // PQ3006. The document has no graph.
  PIDQ_ERROR_NO_GRAPH = 3006,
  // PQ3007. An edge has an end that names no node.
  PIDQ_ERROR_EDGE_END_MISSING = 3007,
  // PQ4001. The query used more fuel than allowed.
  PIDQ_ERROR_OUT_OF_FUEL = 4001,
  // PQ4002. A walk or a value went deeper than allowed.
  PIDQ_ERROR_TOO_DEEP = 4002,
  // PQ4003. The result is larger than allowed.
  PIDQ_ERROR_OUTPUT_TOO_LARGE = 4003,
  // PQ4004. The query produces more rows or paths than allowed.
  PIDQ_ERROR_TOO_MANY_ROWS = 4004,
  // PQ4005. The query took longer than allowed.
  PIDQ_ERROR_OUT_OF_TIME = 4005,
  // PQ4006. A regular expression backtracked too often.
  PIDQ_ERROR_REGEX_BACKTRACKING = 4006,
  // PQ4007. The query needs more memory than allowed.
  PIDQ_ERROR_OUT_OF_MEMORY = 4007,
  // PQ4008. The query was cancelled.
  PIDQ_ERROR_CANCELLED = 4008,
  // PQ5001. The input is not JSON.
  PIDQ_ERROR_NOT_JSON = 5001,
  // PQ5002. The input is larger than allowed.
  PIDQ_ERROR_INPUT_TOO_LARGE = 5002,
  // PQ5003. The input is nested deeper than allowed.
  PIDQ_ERROR_INPUT_TOO_DEEP = 5003,
  // PQ5004. The input is not UTF-8, or has the escape of a lone surrogate.
  PIDQ_ERROR_NOT_UTF8 = 5004,
  // PQ5005. The input could not be read.
  PIDQ_ERROR_INPUT_UNREADABLE = 5005,
  // PQ6001. The input is not well-formed XML.
  PIDQ_FORMAT_ERROR_NOT_XML = 6001,
  // PQ6002. The XML is not a Proteus plant model.
  PIDQ_FORMAT_ERROR_NOT_PROTEUS = 6002,
  // PQ6003. The input is not a graph in this format.
  PIDQ_FORMAT_ERROR_NOT_GRAPH = 6003,
  // PQ6004. The value is not an array of objects, or the text is not a table.
  PIDQ_FORMAT_ERROR_NOT_TABLE = 6004,
  // PQ6005. The bytes are not valid in the declared encoding.
  PIDQ_FORMAT_ERROR_BAD_ENCODING = 6005,
  // PQ6006. The XML declares or uses a custom entity.
  PIDQ_FORMAT_ERROR_ENTITY = 6006,
  // PQ6007. The input or the output is larger than allowed.
  PIDQ_FORMAT_ERROR_TOO_LARGE = 6007,
  // PQ6008. The input is nested deeper than allowed.
  PIDQ_FORMAT_ERROR_TOO_DEEP = 6008,
  // PQ6009. Unknown format, or an operation that the format does not support.
  PIDQ_FORMAT_ERROR_UNKNOWN_FORMAT = 6009,
  // PQ6010. Wrong number of files for the format.
  PIDQ_FORMAT_ERROR_WRONG_PARTS = 6010,
  // PQ6011. The input is not JSON.
  PIDQ_FORMAT_ERROR_NOT_JSON = 6011,
  // PQ6012. The XML is not a DEXPI 2.0 model of a plant or a process.
  PIDQ_FORMAT_ERROR_NOT_DEXPI = 6012,
  // PQ9001. A defect in the engine; please report it.
  PIDQ_ERROR_PANIC = 9001,
  // PQ9002. A call violates the rules of the header: a deleted handle, an unexpected NULL, or text that is not UTF-8.
  PIDQ_ERROR_MISUSE = 9002,
  // PQ9003. A file cannot be read.
  PIDQ_ERROR_FILE = 9003,
} pidq_code_t;

// Results of a query on several documents. For one thread at a time. Delete it with `pidq_batch_delete`; query and
// documents may be deleted before it.
typedef struct pidq_batch_t pidq_batch_t;

// Text, such as a drawing or a report. Delete it with `pidq_buffer_delete`.
typedef struct pidq_buffer_t pidq_buffer_t;

// Call of a function of the program. It is valid until the function returns, in its thread.
typedef struct pidq_call_t pidq_call_t;

// Cancellation flag of runs. Any thread may fire it. Delete it when no run uses it anymore.
typedef struct pidq_cancel_t pidq_cancel_t;

// Language of queries with functions of the program. Add the functions in one thread; then any number of threads may
// compile queries with it. Delete it with `pidq_dialect_delete`; compiled queries keep their functions.
typedef struct pidq_dialect_t pidq_dialect_t;

// Error. Delete it with `pidq_error_delete`.
typedef struct pidq_error_t pidq_error_t;

// Files of an export; most formats have one. Delete them with `pidq_files_delete`.
typedef struct pidq_files_t pidq_files_t;

// Document. It is immutable: any number of threads may use it. Delete it with `pidq_graph_delete`; results keep what
// they need.
typedef struct pidq_graph_t pidq_graph_t;

// Values of the `$names` of a query. For one thread at a time. Delete it with `pidq_params_delete`; compiled queries and
// results keep what they need.
typedef struct pidq_params_t pidq_params_t;

// Compiled query. It is immutable: any number of threads may run it. Delete it with `pidq_query_delete`; results keep
// what they need.
typedef struct pidq_query_t pidq_query_t;

// Result of a run. For one thread at a time. Delete it with `pidq_result_delete`; graph and query may be deleted
// before it.
typedef struct pidq_result_t pidq_result_t;

// Reader of a result, row by row, without the JSON of all rows. A reader and its result are for one thread at a time:
// the two must not be used concurrently. Delete it with `pidq_rows_delete`.
typedef struct pidq_rows_t pidq_rows_t;

// Cache of values of another language for the lists and objects of a graph: each is created once and reused. For one
// thread at a time, the one that holds the language's lock. Delete it before the runtime of that language shuts down.
typedef struct pidq_shared_t pidq_shared_t;

// Borrowed bytes. Slices returned by pidq are UTF-8 (except files of binary formats), end with a NUL byte that `len`
// does not count, and stay valid until the handle they came from is deleted. `data` is NULL if there is no value.
typedef struct {
  // The first byte.
  const char *data;
  // Number of bytes.
  size_t len;
} pidq_slice_t;

// Options for drawing a graph. Initialize with `PIDQ_DRAW_OPTIONS_INIT`.
typedef struct {
  // `sizeof(pidq_draw_options_t)`.
  size_t size;
  // Nodes and edges to highlight: the result of a query with nodes, edges or ids, nested in any way. May be NULL.
  const pidq_result_t *highlight;
  // Nodes to draw, as in `highlight`, with the edges between them; all if NULL.
  const pidq_result_t *only;
  // Title in the corner; the name of the drawing if NULL.
  const char *title;
  // Dark color scheme if not 0.
  uint32_t dark;
} pidq_draw_options_t;

// Limits of a run. Initialize with `PIDQ_LIMITS_INIT`; 0 means the default, given for each field.
typedef struct {
  // `sizeof(pidq_limits_t)`: the library reads only the fields within this size.
  size_t size;
  // Fuel, the units of work: 20 million.
  uint64_t fuel;
  // Bytes of working memory: 256 MiB.
  uint64_t memory;
  // Bytes of the printed result: 64 MiB.
  uint64_t output;
  // Cancellation flag. May be NULL.
  const pidq_cancel_t *cancel;
  // Bytes of one string that the query builds: 16 MiB.
  uint64_t string;
  // Backtracks of one search with a regular expression: a million.
  uint64_t backtracks;
  // Rows of a traversal or of `findPattern`, not of a list such as `nodes()`: 100,000.
  uint64_t rows;
  // Results of `cycles` without the option `limit`: 1,000. For `paths`, this limit or 100, whichever is lower.
  uint64_t paths;
  // Depth of a traversal from its start: 10,000.
  uint64_t depth;
} pidq_limits_t;

// Options for comparing two revisions. Initialize with `PIDQ_DIFF_OPTIONS_INIT`.
typedef struct {
  // `sizeof(pidq_diff_options_t)`.
  size_t size;
  // Field that identifies items: "persistent_id", "id" or "tag"; the first usable one if NULL.
  const char *identity;
  // Fields that are not compared, separated by commas. May be NULL.
  const char *ignore;
  // Movements up to this distance are ignored.
  double tolerance;
  // Limits of the comparison. May be NULL.
  const pidq_limits_t *limits;
} pidq_diff_options_t;

// Function of the program. It reads the call, and sets its result or an error with one of the functions that begin with
// `pidq_call_`; without one, the result is null. The threads that run queries call it, possibly several at a time. It may
// call any function of the library, also to run other queries, but must not throw an exception or jump out.
typedef void (*pidq_function_t)(void *user, pidq_call_t *call);

// Destructor of the pointer of a function, called once: when the dialect and all queries compiled with it are deleted,
// also in another thread.
typedef void (*pidq_destroy_t)(void *user);

// Value of a result, passed as a structure. It is valid until its result is deleted, and is for one thread at a time, as
// the result. All bytes zero is no value. The members are private.
typedef struct {
  // Private.
  uint64_t kind;
  // Private.
  const void *owner;
  // Private.
  uint64_t words[3];
} pidq_value_t;

// Callback that receives a chunk of text; `user` is the pointer passed in. Returning false stops the writing.
typedef bool (*pidq_write_t)(void *user, const char *data, size_t len);

// A value of another language.
typedef void *pidq_foreign_t;

// Functions that create values of another language. A function that returns NULL, or -1 if it returns a number, has
// failed: building stops, and the error remains set in that language.
typedef struct {
  // `sizeof(pidq_builder_t)`.
  size_t size;
  // Null. `retain` is called for each use of these three values.
  pidq_foreign_t null_value;
  // True.
  pidq_foreign_t true_value;
  // False.
  pidq_foreign_t false_value;
  // Creates a string from UTF-8.
  pidq_foreign_t (*make_text)(const char *data, ptrdiff_t len);
  // Creates a floating-point number.
  pidq_foreign_t (*make_real)(double value);
  // Creates an integer.
  pidq_foreign_t (*make_integer)(int64_t value);
  // Creates an integer from its digits, terminated by a NUL byte. `end` is NULL, `base` is 10.
  pidq_foreign_t (*make_long)(const char *digits, char **end, int base);
  // Creates a list of `len` empty slots.
  pidq_foreign_t (*make_list)(ptrdiff_t len);
  // Sets an item of a list, which takes ownership of it.
  int (*set_item)(pidq_foreign_t list, ptrdiff_t index, pidq_foreign_t item);
  // Creates an object without keys.
  pidq_foreign_t (*make_object)(void);
  // Sets a field of an object, which retains key and value itself.
  int (*set_field)(pidq_foreign_t object, pidq_foreign_t key, pidq_foreign_t value);
  // Creates a shallow copy of an object.
  pidq_foreign_t (*copy_object)(pidq_foreign_t object);
  // Increments the reference count of a value.
  void (*retain)(pidq_foreign_t value);
  // Decrements the reference count of a value.
  void (*release)(pidq_foreign_t value);
} pidq_builder_t;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the ABI version of the library. Compare it once, at startup, with `PIDQ_ABI_VERSION`.
PIDQ_API uint32_t pidq_abi_version(void);

// Returns the version of the library, such as "0.1.0". The string is static.
PIDQ_API const char *pidq_version(void);

// Parses a document: JSON in UTF-8, which is copied. On success, `*out` is a graph that the caller deletes.
PIDQ_API PIDQ_NODISCARD pidq_error_t *pidq_graph_parse(const char *json, size_t len, pidq_graph_t **out);

// Parses a document as `pidq_graph_parse` does, with a topology configuration: a JSON object that maps field names and
// classes of nodes and edges, described in docs/pid.md.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_graph_parse_with(const char *json,
                                    size_t len,
                                    const char *topology,
                                    size_t topology_len,
                                    pidq_graph_t **out);

// Parses a document as `pidq_graph_open` reads a file: JSON, or a drawing in a format detected by its beginning.
PIDQ_API PIDQ_NODISCARD pidq_error_t *pidq_graph_read(const char *data, size_t len, pidq_graph_t **out);

// Opens the file at a path in UTF-8: JSON, or a drawing in a format detected by its beginning (Proteus XML, DEXPI 2.0 XML, GraphML).
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_graph_open(const char *path,
                              pidq_graph_t **out);

// Imports a drawing from the files of a format: "proteus", "node-link", "graphml" or "sfiles" (one file), "dexpi" (one
// file, then any profiles), "csv-graph", "neo4j" or "ndjson" (nodes, then edges). Findings are in
// `pid_graph.metadata.diagnostics`. `PQ6009` names the formats that can be read, `PQ6010` the files of the format.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_graph_import(const char *format,
                                const pidq_slice_t *files,
                                size_t count,
                                pidq_graph_t **out);

// Exports the graph in a format: "proteus", "dexpi", "json", "node-link", "graphml", "csv-graph", "csv", "xlsx", "dot",
// "mermaid", "neo4j", "cypher", "ndjson", "sfiles" or "svg". On success, `*out` holds files that the caller deletes.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_graph_export(const pidq_graph_t *graph,
                                const char *format,
                                pidq_files_t **out);

// Returns the memory size of the graph in bytes, without the text of the document.
PIDQ_API size_t pidq_graph_size(const pidq_graph_t *graph);

// Deletes a graph. NULL is allowed.
PIDQ_API void pidq_graph_delete(pidq_graph_t *graph);

// Draws a graph as SVG, at its own positions or with automatic layout; `options` may be NULL. On success, `*out` is a
// buffer that the caller deletes.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_graph_draw(const pidq_graph_t *graph,
                              const pidq_draw_options_t *options,
                              pidq_buffer_t **out);

// Compares two revisions of a drawing; `options` may be NULL. On success, `*out` is a JSON object: `added`, `removed`,
// `changed`, `moved`, `retagged`, `rewired`, `edges_added`, `edges_removed` and `equal`.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_graph_diff(const pidq_graph_t *old_graph,
                              const pidq_graph_t *new_graph,
                              const pidq_diff_options_t *options,
                              pidq_buffer_t **out);

// Joins sheets at their off-page connectors into one graph. Unmatched connectors are listed in
// `pid_graph.metadata.joined`.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_graph_join(const pidq_graph_t *const *sheets,
                              size_t count,
                              pidq_graph_t **out);

// Joins sheets as `pidq_graph_join` does, with limits, which may be NULL.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_graph_join_with(const pidq_graph_t *const *sheets,
                                   size_t count,
                                   const pidq_limits_t *limits,
                                   pidq_graph_t **out);

// Creates an empty set of parameters. Returns NULL if out of memory.
PIDQ_API pidq_params_t *pidq_params_new(void);

// Sets a string; `value` is UTF-8, with or without a terminating NUL byte. Replaces an earlier value of the name.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_params_set_string(pidq_params_t *params,
                                     const char *name,
                                     const char *value,
                                     size_t len);

// Sets a number.
PIDQ_API PIDQ_NODISCARD pidq_error_t *pidq_params_set_number(pidq_params_t *params, const char *name, double value);

// Sets true or false.
PIDQ_API PIDQ_NODISCARD pidq_error_t *pidq_params_set_bool(pidq_params_t *params, const char *name, bool value);

// Sets any value of JSON. `PQ5001` if it is not JSON, as for a document, and the other codes of documents.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_params_set_json(pidq_params_t *params,
                                   const char *name,
                                   const char *json,
                                   size_t len);

// Deletes parameters. NULL is allowed.
PIDQ_API void pidq_params_delete(pidq_params_t *params);

// Compiles a query in the text format. On success, `*out` is a query that the caller deletes.
PIDQ_API PIDQ_NODISCARD pidq_error_t *pidq_query_parse(const char *text, size_t len, pidq_query_t **out);

// Compiles a query in the text format with values for its `$names`; `params` may be NULL.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_query_parse_with(const char *text,
                                    size_t len,
                                    const pidq_params_t *params,
                                    pidq_query_t **out);

// Compiles a query in the text format for many runs with different values: `pidq_query_run_with` sets every `$name` that
// the query itself does not bind. On success, `*out` is a query that the caller deletes.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_query_prepare(const char *text,
                                 size_t len,
                                 pidq_query_t **out);

// Compiles a query in the JSON format, such as `["size"]`; `params` may be NULL.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_query_from_json(const char *json,
                                   size_t len,
                                   const pidq_params_t *params,
                                   pidq_query_t **out);

// Runs a query; `limits` may be NULL. On success, `*out` is a result that the caller deletes.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_query_run(const pidq_query_t *query,
                             const pidq_graph_t *graph,
                             const pidq_limits_t *limits,
                             pidq_result_t **out);

// Runs a prepared query with values for its `$names`: all of them, and no others. `limits` may be NULL, and `params` if
// the query has no parameters. On success, `*out` is a result that the caller deletes.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_query_run_with(const pidq_query_t *query,
                                  const pidq_graph_t *graph,
                                  const pidq_params_t *params,
                                  const pidq_limits_t *limits,
                                  pidq_result_t **out);

// Runs a query and returns its profile: a JSON object with `fuel`, `rows`, `steps` and `warnings`.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_query_explain(const pidq_query_t *query,
                                 const pidq_graph_t *graph,
                                 const pidq_limits_t *limits,
                                 pidq_buffer_t **out);

// Checks a query without running it: a JSON array of warnings. With a graph, also checks against its data, such as
// fields that do not exist; `graph` may be NULL.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_query_check(const pidq_query_t *query,
                               const pidq_graph_t *graph,
                               pidq_buffer_t **out);

// Returns the query in the text format; compiling it again gives the same query. The query owns it.
PIDQ_API pidq_slice_t pidq_query_text(const pidq_query_t *query);

// Returns the query in the JSON format. The query owns it.
PIDQ_API pidq_slice_t pidq_query_tree(const pidq_query_t *query);

// Returns the names of the parameters of a prepared query, in the order of their first use: a JSON array. The query owns
// it.
PIDQ_API
pidq_slice_t pidq_query_parameters(const pidq_query_t *query);

// Deletes a query. NULL is allowed.
PIDQ_API void pidq_query_delete(pidq_query_t *query);

// Creates the standard language. Returns NULL if out of memory.
PIDQ_API pidq_dialect_t *pidq_dialect_new(void);

// Adds a function, which replaces one of the same name. `user` is passed to each call; `destroy` may be NULL. If the
// function cannot be added, `user` is destroyed at once.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_dialect_add_function(pidq_dialect_t *dialect,
                                        const char *name,
                                        pidq_function_t function,
                                        void *user,
                                        pidq_destroy_t destroy);

// Compiles a query in the text format with the functions of a dialect; `params` may be NULL.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_dialect_parse(const pidq_dialect_t *dialect,
                                 const char *text,
                                 size_t len,
                                 const pidq_params_t *params,
                                 pidq_query_t **out);

// Compiles a query in the text format with the functions of a dialect, for many runs with different values, as
// `pidq_query_prepare` does.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_dialect_prepare(const pidq_dialect_t *dialect,
                                   const char *text,
                                   size_t len,
                                   pidq_query_t **out);

// Deletes a dialect. NULL is allowed.
PIDQ_API void pidq_dialect_delete(pidq_dialect_t *dialect);

// Returns the value that is piped to the function. It is valid until the function returns, as are its parts.
PIDQ_API pidq_value_t pidq_call_input(const pidq_call_t *call);

// Returns the number of arguments.
PIDQ_API size_t pidq_call_count(const pidq_call_t *call);

// Returns an argument, from 0; no value if there are fewer. It is valid until the function returns, as are its parts.
PIDQ_API pidq_value_t pidq_call_argument(const pidq_call_t *call, size_t index);

// Sets the result to true or false.
PIDQ_API void pidq_call_return_bool(pidq_call_t *call, bool value);

// Sets the result to a number; null if it is not finite.
PIDQ_API void pidq_call_return_number(pidq_call_t *call, double value);

// Sets the result to a string, which is copied.
PIDQ_API void pidq_call_return_string(pidq_call_t *call, const char *data, size_t len);

// Sets the result to a value of JSON, which is copied. Numbers are doubles.
PIDQ_API void pidq_call_return_json(pidq_call_t *call, const char *json, size_t len);

// Sets the result to a value: the input, an argument or a part of one, or a value of a result, which is copied. No value
// is null.
PIDQ_API
void pidq_call_return_value(pidq_call_t *call,
                            pidq_value_t value);

// Ends the call with an error, `PQ2010`, which has this message and the place of the call in the query.
PIDQ_API void pidq_call_fail(pidq_call_t *call, const char *message, size_t len);

// Creates a cancellation flag. Returns NULL if out of memory.
PIDQ_API pidq_cancel_t *pidq_cancel_new(void);

// Stops the runs that use it, including later ones, with PQ4008.
PIDQ_API void pidq_cancel_fire(const pidq_cancel_t *cancel);

// Stops the runs as `pidq_cancel_fire` does, because of a timeout: with PQ4005.
PIDQ_API void pidq_cancel_time_out(const pidq_cancel_t *cancel);

// Deletes a cancellation flag. NULL is allowed.
PIDQ_API void pidq_cancel_delete(pidq_cancel_t *cancel);

// Returns the result as JSON. The result owns it; it is created on the first call. `data` is NULL if it is longer than
// `limits.output`: `pidq_result_write` returns the error.
PIDQ_API pidq_slice_t pidq_result_json(const pidq_result_t *result);

// Writes the result as JSON in chunks of about 64 KiB, without keeping it. Chunks end at character boundaries, without
// a NUL byte.
PIDQ_API PIDQ_NODISCARD pidq_error_t *pidq_result_write(const pidq_result_t *result, pidq_write_t write, void *user);

// Returns the type of the result: "null", "boolean", "number", "string", "array" or "object". The string is static.
PIDQ_API const char *pidq_result_type(const pidq_result_t *result);

// Returns the number of items of the result; 1 if it is not a list.
PIDQ_API size_t pidq_result_count(const pidq_result_t *result);

// Returns the fuel that the run used.
PIDQ_API uint64_t pidq_result_fuel(const pidq_result_t *result);

// Returns the warnings: a JSON array of objects with `code`, `message`, `span` and `help`. The result owns it.
PIDQ_API pidq_slice_t pidq_result_warnings(const pidq_result_t *result);

// Exports the result in a format, as `pidq_graph_export` does; "csv" and "xlsx" require a list of objects.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_result_export(const pidq_result_t *result,
                                 const char *format,
                                 pidq_files_t **out);

// Deletes a result. NULL is allowed.
PIDQ_API void pidq_result_delete(pidq_result_t *result);

// Creates a reader before the first row of a result. The rows are the items of a list; any other value is one row. On
// success, `*out` is a reader that the caller deletes; the result may be deleted before it.
PIDQ_API PIDQ_NODISCARD pidq_error_t *pidq_rows_new(const pidq_result_t *result, pidq_rows_t **out);

// Reads the next row as JSON, which stays valid until the next call with the same reader. After the last row,
// `row->data` is NULL.
PIDQ_API PIDQ_NODISCARD pidq_error_t *pidq_rows_next(pidq_rows_t *rows, pidq_slice_t *row);

// Deletes a reader. NULL is allowed.
PIDQ_API void pidq_rows_delete(pidq_rows_t *rows);

// Returns the value of the result.
PIDQ_API pidq_value_t pidq_result_value(const pidq_result_t *result);

// Returns the type of a value.
PIDQ_API pidq_type_t pidq_value_type(pidq_value_t value);

// Returns the number of items of a list or of fields of an object; 0 for any other value.
PIDQ_API size_t pidq_value_count(pidq_value_t value);

// Returns the item of a list at an index, from 0; no value if there is none.
PIDQ_API pidq_value_t pidq_value_item(pidq_value_t list, size_t index);

// Returns the field of an object by its name, which ends with NUL; no value if there is none.
PIDQ_API pidq_value_t pidq_value_field(pidq_value_t object, const char *name);

// Returns the field of an object as `pidq_value_field` does, by a name of `len` bytes.
PIDQ_API pidq_value_t pidq_value_field_of_len(pidq_value_t object, const char *name, size_t len);

// Reads the next field of an object or item of a list: `*position` is 0 before the first one. `key` may be NULL; it is
// no text for an item, and does not end with NUL. Returns false, without writing, after the last one.
PIDQ_API bool pidq_value_next(pidq_value_t container, size_t *position, pidq_slice_t *key, pidq_value_t *value);

// Reads true or false. Returns false, without writing, if the value has another type.
PIDQ_API bool pidq_value_bool(pidq_value_t value, bool *out);

// Reads a number. Returns false, without writing, if the value has another type.
PIDQ_API bool pidq_value_number(pidq_value_t value, double *out);

// Reads an integer, exactly. Returns false, without writing, if the value is not a number, has a fraction, or does not
// fit.
PIDQ_API bool pidq_value_integer(pidq_value_t value, int64_t *out);

// Reads a string: UTF-8 that does not end with NUL, and may contain NUL. It is valid as long as the value. Returns
// false, without writing, if the value has another type.
PIDQ_API bool pidq_value_string(pidq_value_t value, pidq_slice_t *out);

// Writes the text of a string, or the JSON of any other value, to a buffer of `size` bytes, as `snprintf` does: it always
// ends with NUL, is cut at a character boundary if the buffer is too small, and its whole length is returned. `buffer`
// may be NULL if `size` is 0.
PIDQ_API
size_t pidq_value_copy(pidq_value_t value,
                       char *buffer,
                       size_t size);

// Returns a value as JSON. On success, `*out` is a buffer that the caller deletes.
PIDQ_API PIDQ_NODISCARD pidq_error_t *pidq_value_json(pidq_value_t value, pidq_buffer_t **out);

// Exports a result as columns: a list of objects has one column per key, an object is one row, and any other value is
// a column `value`. `*out` is a stream of one table; call its `release` when done. The columns stay valid after the
// result is deleted.
PIDQ_API PIDQ_NODISCARD pidq_error_t *pidq_result_arrow(const pidq_result_t *result, struct ArrowArrayStream *out);

// Returns the names of the columns of a result, as `pidq_result_arrow` exports them: a JSON array. On success, `*out` is a
// buffer that the caller deletes.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_result_columns(const pidq_result_t *result,
                                  pidq_buffer_t **out);

// Runs a query on several documents, each JSON in UTF-8, from the first on. Only the values that the query can read are
// loaded. `limits` apply to each document and may be NULL. On success, `*out` is a batch that the caller deletes: the
// results of the first `pidq_batch_count` documents. It ends before a document in which a column has another type than
// before, and after many rows or bytes; call again with the rest.
PIDQ_API
PIDQ_NODISCARD
pidq_error_t *pidq_query_run_batch(const pidq_query_t *query,
                                   const pidq_slice_t *documents,
                                   size_t count,
                                   const pidq_limits_t *limits,
                                   pidq_batch_t **out);

// Returns the number of documents of the batch.
PIDQ_API size_t pidq_batch_count(const pidq_batch_t *batch);

// Returns the documents that failed: a JSON array of objects with `document`, its number from 0, and `error`, as
// `pidq_error_json` returns it. The batch owns it.
PIDQ_API pidq_slice_t pidq_batch_failures(const pidq_batch_t *batch);

// Exports the results as columns, as `pidq_result_arrow` does for one; once per batch. The first column, `document`, is
// the number of the document of each row. A document that failed has one row, in which all other columns are null.
PIDQ_API PIDQ_NODISCARD pidq_error_t *pidq_batch_arrow(const pidq_batch_t *batch, struct ArrowArrayStream *out);

// Deletes a batch. NULL is allowed.
PIDQ_API void pidq_batch_delete(pidq_batch_t *batch);

// Builds the result as a value of another language, which the caller owns. Returns NULL if a function of the builder
// fails or an argument is invalid. If the language has a global lock (Python), it must be held during the call.
PIDQ_API pidq_foreign_t pidq_result_build(const pidq_result_t *result, const pidq_builder_t *builder);

// Builds a list of up to `count` rows of the result from a row on, as `pidq_result_build` builds a value. The rows are the
// items of a list; any other value is one row.
PIDQ_API
pidq_foreign_t pidq_result_build_items(const pidq_result_t *result,
                                       const pidq_builder_t *builder,
                                       size_t start,
                                       size_t count);

// Creates a cache of shared values of a graph. It retains the values it created, up to all values of the graph.
// Returns NULL if an argument is invalid.
PIDQ_API pidq_shared_t *pidq_shared_new(const pidq_graph_t *graph, const pidq_builder_t *builder);

// Builds the result as `pidq_result_build` does, reusing values in `shared`: lists and objects of the document are the
// same values each time and must not be modified. Also returns NULL if the result belongs to another graph.
PIDQ_API pidq_foreign_t pidq_result_build_shared(const pidq_result_t *result, pidq_shared_t *shared);

// Deletes a cache of shared values. NULL is allowed.
PIDQ_API void pidq_shared_delete(pidq_shared_t *shared);

// Returns the text. The buffer owns it.
PIDQ_API pidq_slice_t pidq_buffer_bytes(const pidq_buffer_t *buffer);

// Deletes a buffer. NULL is allowed.
PIDQ_API void pidq_buffer_delete(pidq_buffer_t *buffer);

// Returns the number of files.
PIDQ_API size_t pidq_files_count(const pidq_files_t *files);

// Returns the name of a file, such as "nodes.csv"; NULL if there is no such file. The files own it.
PIDQ_API const char *pidq_files_name(const pidq_files_t *files, size_t index);

// Returns the content of a file; `data` is NULL if there is no such file. A workbook is binary. The files own it.
PIDQ_API pidq_slice_t pidq_files_bytes(const pidq_files_t *files, size_t index);

// Deletes files. NULL is allowed.
PIDQ_API void pidq_files_delete(pidq_files_t *files);

// Returns the stable code, such as "PQ1001". The string is static.
PIDQ_API const char *pidq_error_code(const pidq_error_t *error);

// Returns the code as a number, such as `PIDQ_ERROR_UNKNOWN_FUNCTION`; `PIDQ_OK` for NULL.
PIDQ_API pidq_code_t pidq_error_number(const pidq_error_t *error);

// Returns the stage: "parse", "compile", "eval", "limit" or "input". The string is static.
PIDQ_API const char *pidq_error_stage(const pidq_error_t *error);

// Returns the message, in one line. The error owns it.
PIDQ_API pidq_slice_t pidq_error_message(const pidq_error_t *error);

// Returns the help; `data` is NULL if there is none. The error owns it.
PIDQ_API pidq_slice_t pidq_error_help(const pidq_error_t *error);

// Writes the byte range in the query text (in the input, for codes that begin with PQ5). Returns false, without
// writing, if there is none.
PIDQ_API bool pidq_error_span(const pidq_error_t *error, size_t *start, size_t *end);

// Writes line and column of the span, both from 1, the column in characters. Returns false if they are not known.
PIDQ_API bool pidq_error_location(const pidq_error_t *error, size_t *line, size_t *column);

// Returns the whole error as a JSON object: code, stage, message, span, help, suggestions, path in the data. The error
// owns it.
PIDQ_API pidq_slice_t pidq_error_json(const pidq_error_t *error);

// Returns the whole error as text for display, in one or more lines, each with a newline at its end: with the query, in
// which the span is underlined, and the help. The error owns it.
PIDQ_API pidq_slice_t pidq_error_text(const pidq_error_t *error);

// Deletes an error. NULL is allowed.
PIDQ_API void pidq_error_delete(pidq_error_t *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* PIDQ_H */
