// C++17 interface of pidq, a query engine for P&ID graphs: owners of the handles of pidq.h, in one header. Manual: docs/c.md.
//
// - Graph, Query, Result, Params, Dialect and Cancel own a handle, can be moved and not copied, and delete it when they are
//   destroyed. They may be destroyed in any order.
// - A function throws pidq::Error. Functions that begin with `try_` return an Expected instead, which has a value or an
//   error; programs that are compiled without exceptions use these.
// - Value and std::string_view borrow from the result, the query or the error that returned them. Functions that return one
//   do not compile on a temporary object, such as `query.run(graph).value()`: give the object a name.
// - `handle()` returns the handle for the functions of pidq.h, and the constructor from a handle takes ownership of one.

#ifndef PIDQ_HPP
#define PIDQ_HPP

#include <pidq.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace pidq {

namespace detail {

template <auto Delete> struct Deleter {
  template <typename T> void operator()(T *handle) const noexcept { Delete(handle); }
};

inline std::string_view view(pidq_slice_t slice) noexcept {
  return slice.data == nullptr ? std::string_view() : std::string_view(slice.data, slice.len);
}

// Pointer to the text, never NULL.
inline const char *data(std::string_view text) noexcept { return text.data() == nullptr ? "" : text.data(); }

// Text owned by a buffer.
inline std::string take(pidq_buffer_t *buffer) {
  std::unique_ptr<pidq_buffer_t, Deleter<pidq_buffer_delete>> owner(buffer);
  return std::string(view(pidq_buffer_bytes(buffer)));
}

template <typename T> struct is_optional : std::false_type {};
template <typename T> struct is_optional<std::optional<T>> : std::true_type {};

// Types of characters, which would become numbers. `signed char` and `unsigned char` are integers.
template <typename T> struct is_character : std::false_type {};
template <> struct is_character<char> : std::true_type {};
template <> struct is_character<wchar_t> : std::true_type {};
template <> struct is_character<char16_t> : std::true_type {};
template <> struct is_character<char32_t> : std::true_type {};
#ifdef __cpp_char8_t
template <> struct is_character<char8_t> : std::true_type {};
#endif

// Shortest text of a number, with a decimal point whatever the locale of the program is.
inline std::string decimal(double value) {
  char text[32];
  for (int digits = 15; digits <= 17; digits++) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  for (char &c : text) {
    if (c == '\0') break;
    if (c == ',') c = '.';
  }
  return text;
}

inline void append_quoted(std::string &json, std::string_view text) {
  json += '"';
  for (const char c : text) {
    char escape[8];
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      json += escape;
    } else {
      json += c;
    }
  }
  json += '"';
}

} // namespace detail

// Error of a call: code, message, location and help. Copies share it.
class Error : public std::exception {
public:
  explicit Error(pidq_error_t *error) : error_(error, pidq_error_delete) {}

  // Text for display, in several lines.
  const char *what() const noexcept override {
    const pidq_slice_t text = pidq_error_text(handle());
    return text.data == nullptr ? "" : text.data;
  }
  pidq_code_t code() const noexcept { return pidq_error_number(handle()); }
  // Stable text of the code, such as "PQ1001".
  const char *code_text() const noexcept { return pidq_error_code(handle()); }
  const char *stage() const noexcept { return pidq_error_stage(handle()); }
  std::string_view message() const & noexcept { return detail::view(pidq_error_message(handle())); }
  std::string_view message() const && = delete;
  std::string_view help() const & noexcept { return detail::view(pidq_error_help(handle())); }
  std::string_view help() const && = delete;
  std::string_view json() const & noexcept { return detail::view(pidq_error_json(handle())); }
  std::string_view json() const && = delete;
  // First byte in the query, and one past the last one.
  std::optional<std::pair<std::size_t, std::size_t>> span() const noexcept {
    std::pair<std::size_t, std::size_t> range;
    if (!pidq_error_span(handle(), &range.first, &range.second)) return std::nullopt;
    return range;
  }
  // Line and column, from 1.
  std::optional<std::pair<std::size_t, std::size_t>> location() const noexcept {
    std::pair<std::size_t, std::size_t> place;
    if (!pidq_error_location(handle(), &place.first, &place.second)) return std::nullopt;
    return place;
  }
  const pidq_error_t *handle() const & noexcept { return error_.get(); }
  const pidq_error_t *handle() const && = delete;

private:
  std::shared_ptr<pidq_error_t> error_;
};

// Value of a call, or its error.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  Expected(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const noexcept { return content_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  const Error &error() const & { return *std::get_if<1>(&content_); }
  Error error() const && { return *std::get_if<1>(&content_); }
  T &operator*() & { return *std::get_if<0>(&content_); }
  const T &operator*() const & { return *std::get_if<0>(&content_); }
  T operator*() && { return std::move(*std::get_if<0>(&content_)); }
  T *operator->() & { return std::get_if<0>(&content_); }
  const T *operator->() const & { return std::get_if<0>(&content_); }
  const T *operator->() const && = delete;
  // Value; throws the error if there is none. Without exceptions, the program ends.
  T &value() & {
    if (!has_value()) fail();
    return **this;
  }
  const T &value() const & {
    if (!has_value()) fail();
    return **this;
  }
  T value() && {
    if (!has_value()) fail();
    return std::move(**this);
  }

private:
  [[noreturn]] void fail() const {
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
    throw error();
#else
    std::abort();
#endif
  }
  std::variant<T, Error> content_;
};

// File of an export.
struct File {
  std::string name;
  // Content; that of a workbook is binary.
  std::string bytes;
};

namespace detail {

// Files of an export.
inline std::vector<File> take(pidq_files_t *files) {
  std::unique_ptr<pidq_files_t, Deleter<pidq_files_delete>> owner(files);
  std::vector<File> content;
  for (std::size_t index = 0; index < pidq_files_count(files); index++) {
    content.push_back(File{pidq_files_name(files, index), std::string(view(pidq_files_bytes(files, index)))});
  }
  return content;
}

// Result of a call that creates files or a text.
template <typename Content, typename Handle> Expected<Content> taken(pidq_error_t *error, Handle *handle) {
  if (error != nullptr) return Error(error);
  return take(handle);
}

} // namespace detail

class Value;

// Field of an object.
struct Field;

// Value of a result: a scalar, a list or an object. Valid as long as its result. A field or item that does not exist is a
// value of type PIDQ_TYPE_NONE, which can be used like any other.
class Value {
public:
  Value() noexcept : value_() {}
  explicit Value(pidq_value_t value) noexcept : value_(value) {}

  pidq_type_t type() const noexcept { return pidq_value_type(value_); }
  bool exists() const noexcept { return type() != PIDQ_TYPE_NONE; }
  bool is_null() const noexcept { return type() == PIDQ_TYPE_NULL; }
  // Number of items of a list or of fields of an object.
  std::size_t size() const noexcept { return pidq_value_count(value_); }

  // Item of a list.
  Value operator[](std::size_t index) const noexcept { return Value(pidq_value_item(value_, index)); }
  Value operator[](int index) const noexcept { return (*this)[static_cast<std::size_t>(index)]; }
  // Field of an object.
  Value operator[](std::string_view name) const noexcept {
    return Value(pidq_value_field_of_len(value_, detail::data(name), name.size()));
  }
  Value operator[](const char *name) const noexcept { return Value(pidq_value_field(value_, name)); }

  // Value as a bool, an integer, a floating-point number, a std::string_view or a std::string, if it has that type and
  // fits.
  template <typename T> std::optional<T> as() const {
    static_assert(!detail::is_character<T>::value, "JSON has no characters: use std::string_view");
    if constexpr (std::is_same_v<T, bool>) {
      bool out = false;
      if (pidq_value_bool(value_, &out)) return out;
    } else if constexpr (std::is_integral_v<T>) {
      std::int64_t out = 0;
      if (pidq_value_integer(value_, &out) && fits<T>(out)) return static_cast<T>(out);
    } else if constexpr (std::is_floating_point_v<T>) {
      double out = 0;
      if (pidq_value_number(value_, &out)) return static_cast<T>(out);
    } else {
      static_assert(std::is_same_v<T, std::string_view> || std::is_same_v<T, std::string>, "not a type of JSON");
      pidq_slice_t out = {nullptr, 0};
      if (pidq_value_string(value_, &out)) return T(detail::view(out));
    }
    return std::nullopt;
  }
  template <typename T> T value_or(T other) const { return as<T>().value_or(std::move(other)); }

  // The value as JSON; empty if it does not exist.
  std::string json() const {
    pidq_buffer_t *buffer = nullptr;
    if (pidq_error_t *error = pidq_value_json(value_, &buffer)) {
      pidq_error_delete(error);
      return std::string();
    }
    return detail::take(buffer);
  }

  // Iterator over the items of a list or the fields of an object.
  template <typename Item> class Iterator {
  public:
    Iterator() noexcept = default;
    explicit Iterator(pidq_value_t container) noexcept : container_(container), more_(true) { ++*this; }
    Item operator*() const noexcept;
    Iterator &operator++() noexcept {
      more_ = pidq_value_next(container_, &position_, &key_, &item_);
      return *this;
    }
    bool operator!=(const Iterator &other) const noexcept { return more_ != other.more_; }
    bool operator==(const Iterator &other) const noexcept { return more_ == other.more_; }

  private:
    pidq_value_t container_ = {};
    pidq_value_t item_ = {};
    pidq_slice_t key_ = {nullptr, 0};
    std::size_t position_ = 0;
    bool more_ = false;
  };

  // Fields of an object: for (auto [name, value] : object.fields()).
  class Fields {
  public:
    explicit Fields(pidq_value_t object) noexcept : object_(object) {}
    Iterator<Field> begin() const noexcept { return Iterator<Field>(object_); }
    Iterator<Field> end() const noexcept { return Iterator<Field>(); }

  private:
    pidq_value_t object_;
  };

  // Items of a list, or values of an object.
  Iterator<Value> begin() const noexcept { return Iterator<Value>(value_); }
  Iterator<Value> end() const noexcept { return Iterator<Value>(); }
  Fields fields() const noexcept { return Fields(value_); }

  const pidq_value_t &raw() const noexcept { return value_; }

private:
  template <typename T> static bool fits(std::int64_t number) noexcept {
    if constexpr (std::is_unsigned_v<T>) return number >= 0 && static_cast<std::uint64_t>(number) <= static_cast<T>(-1);
    return static_cast<std::int64_t>(static_cast<T>(number)) == number;
  }
  pidq_value_t value_;
};

struct Field {
  std::string_view name;
  Value value;
};

template <> inline Value Value::Iterator<Value>::operator*() const noexcept { return Value(item_); }
template <> inline Field Value::Iterator<Field>::operator*() const noexcept {
  return Field{detail::view(key_), Value(item_)};
}

// Cancellation flag of runs.
class Cancel {
public:
  Cancel() : handle_(pidq_cancel_new()) {}
  void fire() const noexcept { pidq_cancel_fire(handle()); }
  void time_out() const noexcept { pidq_cancel_time_out(handle()); }
  pidq_cancel_t *handle() const & noexcept { return handle_.get(); }
  pidq_cancel_t *handle() const && = delete;

private:
  std::unique_ptr<pidq_cancel_t, detail::Deleter<pidq_cancel_delete>> handle_;
};

// Limits of a run: the fields of pidq_limits_t, each with its default if it is not set.
struct Limits : pidq_limits_t {
  Limits() : pidq_limits_t PIDQ_LIMITS_INIT {}
};

// Values of the `$names` of a query.
class Params {
public:
  Params() : handle_(pidq_params_new()) {}

  // Sets a string, a number, a bool, a Value of a result, an optional of these (null if it is empty), or a list of these,
  // such as a std::vector. Throws if the name or the value is not valid, such as an infinite number.
  template <typename T> Params &set(const std::string &name, const T &value) & {
    if (pidq_error_t *error = set_value(name.c_str(), value)) static_cast<void>(Expected<bool>(Error(error)).value());
    return *this;
  }
  template <typename T> Params set(const std::string &name, const T &value) && { return std::move(set(name, value)); }
  // Sets any value of JSON.
  Params &set_json(const std::string &name, std::string_view json) & {
    pidq_error_t *error = pidq_params_set_json(handle(), name.c_str(), detail::data(json), json.size());
    if (error != nullptr) static_cast<void>(Expected<bool>(Error(error)).value());
    return *this;
  }
  Params set_json(const std::string &name, std::string_view json) && { return std::move(set_json(name, json)); }
  pidq_params_t *handle() const & noexcept { return handle_.get(); }
  pidq_params_t *handle() const && = delete;

private:
  template <typename T> pidq_error_t *set_value(const char *name, const T &value) const {
    static_assert(!detail::is_character<T>::value, "JSON has no characters: pass a string");
    if constexpr (std::is_same_v<T, bool>) {
      return pidq_params_set_bool(handle(), name, value);
    } else if constexpr (std::is_integral_v<T>) {
      const std::string digits = std::to_string(value);
      return pidq_params_set_json(handle(), name, digits.data(), digits.size());
    } else if constexpr (std::is_floating_point_v<T>) {
      return pidq_params_set_number(handle(), name, static_cast<double>(value));
    } else if constexpr (std::is_convertible_v<const T &, std::string_view>) {
      const std::string_view text(value);
      return pidq_params_set_string(handle(), name, detail::data(text), text.size());
    } else {
      std::string json;
      append_json(json, value);
      return pidq_params_set_json(handle(), name, json.data(), json.size());
    }
  }

  // Appends a value as JSON. Of one that has none, such as an infinite number, the library refuses the text.
  template <typename T> static void append_json(std::string &json, const T &value) {
    static_assert(!detail::is_character<T>::value, "JSON has no characters: pass a string");
    if constexpr (std::is_same_v<T, Value>) {
      json += value.exists() ? value.json() : "null";
    } else if constexpr (detail::is_optional<T>::value) {
      if (value) append_json(json, *value);
      else json += "null";
    } else if constexpr (std::is_same_v<T, bool>) {
      json += value ? "true" : "false";
    } else if constexpr (std::is_integral_v<T>) {
      json += std::to_string(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      json += detail::decimal(static_cast<double>(value));
    } else if constexpr (std::is_convertible_v<const T &, std::string_view>) {
      detail::append_quoted(json, value);
    } else {
      char separator = '[';
      for (auto item = value.begin(); item != value.end(); ++item) {
        json += separator;
        separator = ',';
        // Not `*item` itself: that of std::vector<bool> is a proxy.
        append_json<typename T::value_type>(json, *item);
      }
      json += separator == '[' ? "[]" : "]";
    }
  }
  std::unique_ptr<pidq_params_t, detail::Deleter<pidq_params_delete>> handle_;
};

// Immutable document. Any number of threads may use it.
class Graph {
public:
  explicit Graph(pidq_graph_t *handle) noexcept : handle_(handle) {}

  // Parses JSON.
  static Graph parse(std::string_view json) { return try_parse(json).value(); }
  static Expected<Graph> try_parse(std::string_view json) {
    pidq_graph_t *graph = nullptr;
    pidq_error_t *error = pidq_graph_parse(detail::data(json), json.size(), &graph);
    return made(error, graph);
  }
  // Parses JSON or a drawing, in a format detected by its beginning.
  static Graph read(std::string_view data) { return try_read(data).value(); }
  static Expected<Graph> try_read(std::string_view data) {
    pidq_graph_t *graph = nullptr;
    pidq_error_t *error = pidq_graph_read(detail::data(data), data.size(), &graph);
    return made(error, graph);
  }
  // Opens a file, as `read` its content.
  static Graph open(const std::string &path) { return try_open(path).value(); }
  static Expected<Graph> try_open(const std::string &path) {
    pidq_graph_t *graph = nullptr;
    pidq_error_t *error = pidq_graph_open(path.c_str(), &graph);
    return made(error, graph);
  }

  // Joins sheets at their off-page connectors.
  static Graph join(const std::vector<const Graph *> &sheets) { return try_join(sheets).value(); }
  static Expected<Graph> try_join(const std::vector<const Graph *> &sheets) {
    std::vector<const pidq_graph_t *> handles;
    for (const Graph *sheet : sheets) handles.push_back(sheet->handle());
    pidq_graph_t *graph = nullptr;
    pidq_error_t *error = pidq_graph_join(handles.data(), handles.size(), &graph);
    return made(error, graph);
  }

  // Draws the graph as SVG; options as for pidq_graph_draw.
  std::string draw(const pidq_draw_options_t &options = PIDQ_DRAW_OPTIONS_INIT) const { return try_draw(options).value(); }
  Expected<std::string> try_draw(const pidq_draw_options_t &options = PIDQ_DRAW_OPTIONS_INIT) const {
    pidq_buffer_t *svg = nullptr;
    pidq_error_t *error = pidq_graph_draw(handle(), &options, &svg);
    return detail::taken<std::string>(error, svg);
  }
  // Returns the changes from this revision to a newer one: JSON, as that of pidq_graph_diff.
  std::string diff(const Graph &newer, const pidq_diff_options_t &options = PIDQ_DIFF_OPTIONS_INIT) const {
    return try_diff(newer, options).value();
  }
  Expected<std::string> try_diff(const Graph &newer, const pidq_diff_options_t &options = PIDQ_DIFF_OPTIONS_INIT) const {
    pidq_buffer_t *changes = nullptr;
    pidq_error_t *error = pidq_graph_diff(handle(), newer.handle(), &options, &changes);
    return detail::taken<std::string>(error, changes);
  }
  // Exports the graph in a format, such as "graphml".
  std::vector<File> export_to(const std::string &format) const { return try_export_to(format).value(); }
  Expected<std::vector<File>> try_export_to(const std::string &format) const {
    pidq_files_t *files = nullptr;
    pidq_error_t *error = pidq_graph_export(handle(), format.c_str(), &files);
    return detail::taken<std::vector<File>>(error, files);
  }

  std::size_t size() const noexcept { return pidq_graph_size(handle()); }
  const pidq_graph_t *handle() const & noexcept { return handle_.get(); }
  const pidq_graph_t *handle() const && = delete;

private:
  static Expected<Graph> made(pidq_error_t *error, pidq_graph_t *graph) {
    if (error != nullptr) return Error(error);
    return Graph(graph);
  }
  std::unique_ptr<pidq_graph_t, detail::Deleter<pidq_graph_delete>> handle_;
};

// Result of a run. For one thread at a time.
class Result {
public:
  explicit Result(pidq_result_t *handle) noexcept : handle_(handle) {}

  Value value() const & noexcept { return Value(pidq_result_value(handle())); }
  Value value() const && = delete;
  // Items of the result if it is a list.
  Value::Iterator<Value> begin() const & noexcept { return value().begin(); }
  Value::Iterator<Value> begin() const && = delete;
  Value::Iterator<Value> end() const & noexcept { return value().end(); }
  Value::Iterator<Value> end() const && = delete;
  Value operator[](std::size_t index) const & noexcept { return value()[index]; }
  Value operator[](std::size_t index) const && = delete;
  std::size_t size() const noexcept { return pidq_result_count(handle()); }

  // JSON; throws if it is longer than the limit of the run.
  std::string_view json() const & { return try_json().value(); }
  std::string_view json() const && = delete;
  Expected<std::string_view> try_json() const & {
    const pidq_slice_t text = pidq_result_json(handle());
    if (text.data != nullptr) return detail::view(text);
    const auto ignore = [](void *, const char *, std::size_t) { return true; };
    if (pidq_error_t *error = pidq_result_write(handle(), ignore, nullptr)) return Error(error);
    return std::string_view();
  }
  Expected<std::string_view> try_json() const && = delete;
  // Exports the result in a format, such as "csv" or "xlsx", which require a list of objects.
  std::vector<File> export_to(const std::string &format) const { return try_export_to(format).value(); }
  Expected<std::vector<File>> try_export_to(const std::string &format) const {
    pidq_files_t *files = nullptr;
    pidq_error_t *error = pidq_result_export(handle(), format.c_str(), &files);
    return detail::taken<std::vector<File>>(error, files);
  }
  std::uint64_t fuel() const noexcept { return pidq_result_fuel(handle()); }
  // Warnings about the query: JSON.
  std::string_view warnings() const & noexcept { return detail::view(pidq_result_warnings(handle())); }
  std::string_view warnings() const && = delete;
  const pidq_result_t *handle() const & noexcept { return handle_.get(); }
  const pidq_result_t *handle() const && = delete;

private:
  std::unique_ptr<pidq_result_t, detail::Deleter<pidq_result_delete>> handle_;
};

// Compiled query. Any number of threads may run it.
class Query {
public:
  explicit Query(pidq_query_t *handle) noexcept : handle_(handle) {}

  // Compiles a query, with the values of its `$names`.
  static Query parse(std::string_view text) { return try_parse(text).value(); }
  static Query parse(std::string_view text, const Params &params) { return try_parse(text, params).value(); }
  static Expected<Query> try_parse(std::string_view text) { return compile(text, nullptr); }
  static Expected<Query> try_parse(std::string_view text, const Params &params) {
    return compile(text, params.handle());
  }

  // Compiles a query for many runs with different values of its `$names`, which `run` takes.
  static Query prepare(std::string_view text) { return try_prepare(text).value(); }
  static Expected<Query> try_prepare(std::string_view text) {
    pidq_query_t *query = nullptr;
    if (pidq_error_t *error = pidq_query_prepare(detail::data(text), text.size(), &query)) return Error(error);
    return Query(query);
  }

  Result run(const Graph &graph) const { return try_run(graph).value(); }
  Result run(const Graph &graph, const Limits &limits) const { return try_run(graph, limits).value(); }
  Result run(const Graph &graph, const Params &params) const { return try_run(graph, params).value(); }
  Result run(const Graph &graph, const Params &params, const Limits &limits) const {
    return try_run(graph, params, limits).value();
  }
  Expected<Result> try_run(const Graph &graph) const { return run_with(graph, nullptr, nullptr); }
  Expected<Result> try_run(const Graph &graph, const Limits &limits) const { return run_with(graph, nullptr, &limits); }
  Expected<Result> try_run(const Graph &graph, const Params &params) const {
    return run_with(graph, params.handle(), nullptr);
  }
  Expected<Result> try_run(const Graph &graph, const Params &params, const Limits &limits) const {
    return run_with(graph, params.handle(), &limits);
  }

  // Returns warnings without running the query: JSON. With a graph, also about fields that do not exist in it.
  std::string check() const { return try_check(nullptr).value(); }
  std::string check(const Graph &graph) const { return try_check(&graph).value(); }
  Expected<std::string> try_check(const Graph *graph) const {
    pidq_buffer_t *warnings = nullptr;
    pidq_error_t *error = pidq_query_check(handle(), graph == nullptr ? nullptr : graph->handle(), &warnings);
    return detail::taken<std::string>(error, warnings);
  }
  // Runs the query and returns its profile: JSON.
  std::string explain(const Graph &graph) const { return try_explain(graph).value(); }
  Expected<std::string> try_explain(const Graph &graph) const {
    pidq_buffer_t *profile = nullptr;
    pidq_error_t *error = pidq_query_explain(handle(), graph.handle(), nullptr, &profile);
    return detail::taken<std::string>(error, profile);
  }

  // Query in the text format, and in the JSON format.
  std::string_view text() const & noexcept { return detail::view(pidq_query_text(handle())); }
  std::string_view text() const && = delete;
  std::string_view tree() const & noexcept { return detail::view(pidq_query_tree(handle())); }
  std::string_view tree() const && = delete;
  const pidq_query_t *handle() const & noexcept { return handle_.get(); }
  const pidq_query_t *handle() const && = delete;

private:
  static Expected<Query> compile(std::string_view text, const pidq_params_t *params) {
    pidq_query_t *query = nullptr;
    pidq_error_t *error = pidq_query_parse_with(detail::data(text), text.size(), params, &query);
    if (error != nullptr) return Error(error);
    return Query(query);
  }
  Expected<Result> run_with(const Graph &graph, const pidq_params_t *params, const pidq_limits_t *limits) const {
    pidq_result_t *result = nullptr;
    pidq_error_t *error = pidq_query_run_with(handle(), graph.handle(), params, limits, &result);
    if (error != nullptr) return Error(error);
    return Result(result);
  }
  std::unique_ptr<pidq_query_t, detail::Deleter<pidq_query_delete>> handle_;
};

// Call of a function of the program: its input and arguments, which are valid until the function returns.
class Call {
public:
  explicit Call(pidq_call_t *handle) noexcept : handle_(handle) {}
  // Value that is piped to the function.
  Value input() const noexcept { return Value(pidq_call_input(handle_)); }
  std::size_t size() const noexcept { return pidq_call_count(handle_); }
  // Argument; a value of type PIDQ_TYPE_NONE if there are fewer.
  Value operator[](std::size_t index) const noexcept { return Value(pidq_call_argument(handle_, index)); }
  // Sets a result that is JSON; the function returns nothing.
  void return_json(std::string_view json) const noexcept {
    pidq_call_return_json(handle_, detail::data(json), json.size());
  }
  // Ends the call with an error; the function returns nothing.
  void fail(std::string_view message) const noexcept {
    pidq_call_fail(handle_, detail::data(message), message.size());
  }
  pidq_call_t *handle() const noexcept { return handle_; }

private:
  pidq_call_t *handle_;
};

// Language of queries with functions of the program.
class Dialect {
public:
  Dialect() : handle_(pidq_dialect_new()) {}

  // Adds a function: a callable that takes a Call and returns a bool, a number, a string, a Value, an optional of these,
  // or nothing. The threads that run queries call it, possibly several at a time. It lives as long as the last query that
  // may call it. An exception that it throws is an error of the run, with its `what()`.
  template <typename Function> Dialect &function(const std::string &name, Function body) & {
    auto user = std::make_unique<Function>(std::move(body));
    pidq_error_t *error =
        pidq_dialect_add_function(handle(), name.c_str(), call<Function>, user.release(), destroy<Function>);
    if (error != nullptr) static_cast<void>(Expected<bool>(Error(error)).value());
    return *this;
  }

  Query parse(std::string_view text) const { return try_parse(text).value(); }
  Query parse(std::string_view text, const Params &params) const { return try_parse(text, params).value(); }
  Expected<Query> try_parse(std::string_view text) const { return compile(text, nullptr); }
  Expected<Query> try_parse(std::string_view text, const Params &params) const { return compile(text, params.handle()); }
  Query prepare(std::string_view text) const { return try_prepare(text).value(); }
  Expected<Query> try_prepare(std::string_view text) const {
    pidq_query_t *query = nullptr;
    pidq_error_t *error = pidq_dialect_prepare(handle(), detail::data(text), text.size(), &query);
    if (error != nullptr) return Error(error);
    return Query(query);
  }
  pidq_dialect_t *handle() const & noexcept { return handle_.get(); }
  pidq_dialect_t *handle() const && = delete;

private:
  Expected<Query> compile(std::string_view text, const pidq_params_t *params) const {
    pidq_query_t *query = nullptr;
    pidq_error_t *error = pidq_dialect_parse(handle(), detail::data(text), text.size(), params, &query);
    if (error != nullptr) return Error(error);
    return Query(query);
  }
  template <typename Function> static void call(void *user, pidq_call_t *handle) noexcept {
    const Call call(handle);
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
    try {
      invoke(*static_cast<Function *>(user), call);
    } catch (const std::exception &exception) {
      call.fail(exception.what());
    } catch (...) {
      call.fail("the function threw an exception");
    }
#else
    invoke(*static_cast<Function *>(user), call);
#endif
  }
  template <typename Function> static void invoke(Function &body, const Call &call) {
    if constexpr (std::is_void_v<std::invoke_result_t<Function &, const Call &>>) body(call);
    else set_result(call, body(call));
  }
  template <typename T> static void set_result(const Call &call, const T &value) {
    static_assert(!detail::is_character<T>::value, "JSON has no characters: return a string");
    if constexpr (std::is_same_v<T, Value>) pidq_call_return_value(call.handle(), value.raw());
    else if constexpr (std::is_same_v<T, bool>) pidq_call_return_bool(call.handle(), value);
    else if constexpr (std::is_arithmetic_v<T>) pidq_call_return_number(call.handle(), static_cast<double>(value));
    else {
      const std::string_view text(value);
      pidq_call_return_string(call.handle(), detail::data(text), text.size());
    }
  }
  // No value is null.
  template <typename T> static void set_result(const Call &call, const std::optional<T> &value) {
    if (value) set_result(call, *value);
  }
  template <typename Function> static void destroy(void *user) noexcept {
    std::unique_ptr<Function>(static_cast<Function *>(user));
  }
  std::unique_ptr<pidq_dialect_t, detail::Deleter<pidq_dialect_delete>> handle_;
};

} // namespace pidq

#endif // PIDQ_HPP
