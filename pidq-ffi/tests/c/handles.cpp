// The C++ interface: ownership, conversions, iteration and errors.
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <pidq.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#define EXPECT(condition)                                                                                              \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                             \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)

using namespace std::literals;

template <typename T>
constexpr bool is_move_only = std::is_nothrow_move_constructible_v<T> && !std::is_copy_constructible_v<T>;
static_assert(is_move_only<pidq::Graph> && is_move_only<pidq::Query> && is_move_only<pidq::Result>);
static_assert(is_move_only<pidq::Params> && is_move_only<pidq::Cancel>);
static_assert(std::is_copy_constructible_v<pidq::Error> && std::is_trivially_copyable_v<pidq::Value>);

template <typename Object, typename Call> constexpr bool compiles(Call) { return std::is_invocable_v<Call, Object>; }

// A call that returns a part of an object compiles on an object with a name, and not on a temporary one.
#define BORROWS(type, call)                                                                                            \
  static_assert(compiles<pidq::type &>(CALL_OF(call)) && compiles<const pidq::type &>(CALL_OF(call)));                 \
  static_assert(!compiles<pidq::type>(CALL_OF(call)) && !compiles<const pidq::type>(CALL_OF(call)))
#define CALL_OF(call)                                                                                                  \
  [](auto &&object) -> decltype(std::forward<decltype(object)>(object).call) {                                         \
    return std::forward<decltype(object)>(object).call;                                                                \
  }

BORROWS(Result, value());
BORROWS(Result, begin());
BORROWS(Result, end());
BORROWS(Result, operator[](0));
BORROWS(Result, json());
BORROWS(Result, try_json());
BORROWS(Result, warnings());
BORROWS(Result, handle());
BORROWS(Query, text());
BORROWS(Query, tree());
BORROWS(Query, handle());
BORROWS(Error, message());
BORROWS(Error, help());
BORROWS(Error, json());
BORROWS(Error, handle());
BORROWS(Graph, handle());
BORROWS(Params, handle());
BORROWS(Dialect, handle());
BORROWS(Cancel, handle());
BORROWS(Expected<pidq::Result>, operator->());
// These return objects of their own.
static_assert(std::is_same_v<decltype(*std::declval<pidq::Expected<pidq::Result>>()), pidq::Result>);
static_assert(std::is_same_v<decltype(std::declval<pidq::Expected<pidq::Result>>().error()), pidq::Error>);
static_assert(std::is_same_v<decltype(pidq::Params().set("a", 1).set_json("b", "2")), pidq::Params>);

static std::string json(const pidq::Result &result) { return std::string(result.json()); }

static pidq::Result run(std::string_view json, std::string_view text) {
  // Graph and query are destroyed before the result.
  return pidq::Query::parse(text).run(pidq::Graph::parse(json));
}

static void conversions_check_type_and_range() {
  const auto result = run(R"([true, 7, 300, -1, 1.5, "text", null, 9223372036854775807])", "get()");
  const auto value = result.value();
  EXPECT(value.size() == 8 && result.size() == 8 && value.type() == PIDQ_TYPE_ARRAY);
  EXPECT(value[0].as<bool>() == true && !value[0].as<int>() && !value[1].as<bool>());
  EXPECT(value[1].as<int>() == 7 && value[1].as<double>() == 7.0 && value[1].as<unsigned char>() == 7);
  EXPECT(!value[2].as<unsigned char>() && value[2].as<short>() == 300);
  EXPECT(!value[3].as<unsigned>() && !value[3].as<std::uint64_t>() && value[3].as<signed char>() == -1);
  EXPECT(!value[4].as<int>() && value[4].as<float>() == 1.5f);
  EXPECT(value[5].as<std::string_view>() == "text" && value[5].as<std::string>() == "text" && !value[5].as<double>());
  EXPECT(value[6].is_null() && value[6].exists() && !value[8].exists() && !value[8]["a"][0].exists());
  EXPECT(value[7].as<std::int64_t>() == std::numeric_limits<std::int64_t>::max());
  EXPECT(value[7].as<std::uint64_t>() == 9223372036854775807u && !value[7].as<int>());
  EXPECT(value[8].value_or("none"s) == "none" && value[1].value_or(0) == 7);
  EXPECT(value[5].json() == "\"text\"" && value[8].json().empty() && result[1].json() == "7");
}

static void lists_and_objects_are_iterated() {
  const auto result = run(R"({"b": 1, "a": [2, 3], "": {}})", "get()");
  std::string names;
  for (const auto [name, value] : result.value().fields()) names += std::string(name) + "=" + value.json() + ";";
  EXPECT(names == "b=1;a=[2, 3];={};");
  int sum = 0;
  for (const auto item : result.value()["a"]) sum += item.value_or(0);
  EXPECT(sum == 5 && result.value()["a"sv].size() == 2 && result.value()[""].type() == PIDQ_TYPE_OBJECT);
  for (const auto item : result.value()["b"]) EXPECT(item.exists() && false);
  int rows = 0;
  for (const auto row : run("[1, 2, 3]", "get()")) rows += row.exists();
  for (const auto row : *pidq::Query::parse("get()").try_run(pidq::Graph::parse("[1, 2, 3]"))) rows += row.exists();
  EXPECT(rows == 6);
}

static void parameters_have_the_types_of_their_values() {
  const auto &params = pidq::Params().set("s", "a\"b").set("v", "view"sv).set("t", "string"s).set("i", -7).set("d", 0.5);
  pidq::Params more;
  more.set("big", std::numeric_limits<std::uint64_t>::max()).set("yes", true).set_json("list", "[1, 2.50]");
  const auto graph = pidq::Graph::parse("null");
  EXPECT(json(pidq::Query::parse("[$s, $v, $t, $i, $d]", params).run(graph)) == R"(["a\"b","view","string",-7,0.5])");
  EXPECT(json(pidq::Query::parse("[$big, $yes, $list]", more).run(graph)) == "[18446744073709551615,true,[1, 2.50]]");
  const auto prepared = pidq::Query::prepare("filter(get() > $least) | limit($count)");
  const auto numbers = pidq::Graph::parse("[1, 2, 3, 4]");
  for (int count = 1; count <= 2; count++) {
    const auto values = pidq::Params().set("least", 2).set("count", count);
    EXPECT(json(prepared.run(numbers, values)) == (count == 1 ? "[3]" : "[3,4]"));
    EXPECT(prepared.run(numbers, values, pidq::Limits()).size() == static_cast<std::size_t>(count));
  }
  EXPECT(prepared.try_run(numbers).error().code() == PIDQ_ERROR_MISSING_PARAMETER);
  EXPECT(json(pidq::Dialect().prepare("[$least]").run(numbers, pidq::Params().set("least", "x"))) == R"(["x"])");
  try {
    more.set("nan", std::numeric_limits<double>::quiet_NaN());
    EXPECT(false);
  } catch (const pidq::Error &error) {
    EXPECT(error.code() == PIDQ_ERROR_MISUSE);
  }
}

static void errors_are_exceptions_or_values() {
  try {
    pidq::Query::parse("nodes() | fliter(true)");
    EXPECT(false);
  } catch (const std::exception &caught) {
    const auto error = dynamic_cast<const pidq::Error &>(caught); // a copy, which outlives the exception
    EXPECT(error.code() == PIDQ_ERROR_UNKNOWN_FUNCTION && error.code_text() == "PQ1001"sv && error.stage() == "compile"sv);
    EXPECT(error.span()->first == 10 && error.location()->second == 11 && error.help() == "did you mean `filter`?");
    EXPECT(std::string_view(error.what()).find("fliter") != std::string_view::npos && error.json().front() == '{');
  }
  EXPECT(pidq::Graph::try_open("no/such/file").error().code() == PIDQ_ERROR_FILE);
  EXPECT(pidq::Graph::try_read("[1").error().code() == PIDQ_ERROR_NOT_JSON && pidq::Graph::read("[1]").size() > 0);
  pidq::Limits limits;
  limits.output = 3;
  const auto long_text = pidq::Query::parse("get()").run(pidq::Graph::parse("[1, 2, 3]"), limits);
  EXPECT(long_text.try_json().error().code() == PIDQ_ERROR_OUTPUT_TOO_LARGE);
  const pidq::Cancel cancel;
  cancel.fire();
  limits.cancel = cancel.handle();
  const auto text = "let({n: [1, 2, 3, 4, 5, 6, 7, 8, 9]}, $n | map($n | map($n | map($n | map($n)))))";
  const auto stopped = pidq::Query::parse(text).try_run(pidq::Graph::parse("1"), limits);
  const auto &failed = pidq::Query::try_parse("fliter(true)").error(); // lives as long as its name
  EXPECT(failed.help() == "did you mean `filter`?");
  EXPECT(!stopped && stopped.error().code() == PIDQ_ERROR_CANCELLED);
}

static void handles_move() {
  auto graph = pidq::Graph::parse("[1, 2]");
  auto moved = std::move(graph);
  EXPECT(graph.handle() == nullptr && moved.handle() != nullptr);
  auto query = pidq::Query::parse("size()");
  EXPECT(query.text() == "size()" && query.tree() == R"(["size"])");
  EXPECT(query.try_run(graph).error().code() == PIDQ_ERROR_MISUSE);
  auto result = query.run(moved);
  auto other = std::move(result);
  EXPECT(other.value().as<int>() == 2 && !result.value().exists() && other.fuel() > 0 && other.warnings() == "[]");
}

static void functions_return_values_and_throw() {
  auto counter = std::make_shared<int>(0);
  pidq::Dialect dialect;
  dialect.function("twice", [](const pidq::Call &call) { return call[0].value_or(0.0) * 2; });
  dialect.function("tag", [](const pidq::Call &call) { return call.input()["tag"].as<std::string_view>(); });
  dialect.function("first", [](const pidq::Call &call) { return call.input()[0]; });
  dialect.function("count", [counter](const pidq::Call &call) { return call.size() + ++*counter > 0; });
  dialect.function("list", [](const pidq::Call &call) { call.return_json("[1, {}]"); });
  dialect.function("refuse", [](const pidq::Call &) -> std::string { throw std::runtime_error("it is refused"); });
  const auto graph = pidq::Graph::parse(R"([{"tag": "P-1"}, 5])");
  const auto text = "[twice(4), .0 | tag(), .1 | tag(), first(), count(1), list()]";
  EXPECT(json(dialect.parse(text).run(graph)) == R"([8,"P-1",null,{"tag": "P-1"},true,[1,{}]])");
  const auto refused = dialect.parse("refuse()").try_run(graph);
  EXPECT(!refused && refused.error().code() == PIDQ_ERROR_FUNCTION_FAILED && refused.error().message() == "it is refused");
  EXPECT(dialect.try_parse("other()").error().code() == PIDQ_ERROR_UNKNOWN_FUNCTION);
  EXPECT(counter.use_count() == 2);
  dialect = pidq::Dialect();
  EXPECT(counter.use_count() == 1 && *counter == 1);
  try {
    dialect.function("a b", [](const pidq::Call &) { return true; });
    EXPECT(false);
  } catch (const pidq::Error &error) {
    EXPECT(error.code() == PIDQ_ERROR_MISUSE);
  }
}

static void parameters_may_be_lists_and_optional() {
  const auto graph = pidq::Graph::parse(R"({"a": [1, 53.0]})");
  const auto part = pidq::Query::parse(".a").run(graph);
  const auto query = pidq::Query::prepare("[$text, $set, $flags, $none, $nested, $part, $numbers]");
  const auto params = pidq::Params()
                          .set("text", std::vector<std::string>{"x\"\\\n", "\u00e4"})
                          .set("set", std::set<int>{3, 1})
                          .set("flags", std::vector<bool>{true, false})
                          .set("none", std::optional<std::string_view>())
                          .set("nested", std::vector<std::vector<std::optional<int>>>{{1, std::nullopt}, {}})
                          .set("part", part.value())
                          .set("numbers", std::vector<double>{0.1, 1e300, -2});
  const auto result = query.run(graph, params);
  EXPECT(result[0][0].as<std::string_view>() == "x\"\\\n" && result[0][1].as<std::string_view>() == "\u00e4");
  EXPECT(result[1].json() == "[1,3]" && result[2].json() == "[true,false]" && result[3].is_null());
  EXPECT(result[4].json() == "[[1,null],[]]" && result[5].json() == "[1, 53.0]" && result[6][0].as<double>() == 0.1);
  EXPECT(result[6].json() == "[0.1,1e+300,-2]");
  try {
    pidq::Params().set("a", std::vector<double>{std::numeric_limits<double>::infinity()});
    EXPECT(false);
  } catch (const pidq::Error &error) {
    EXPECT(error.code() == PIDQ_ERROR_NOT_JSON && error.message().find("the parameter `a`") == 0);
  }
}

static void graphs_and_results_are_written() {
  const auto old = pidq::Graph::parse(R"({"nodes": [{"id": "P-1", "tag": "P-1"}], "edges": []})");
  const auto newer = pidq::Graph::parse(R"({"nodes": [{"id": "P-2", "tag": "P-2"}], "edges": []})");
  EXPECT(old.draw().find("<svg") == 0);
  pidq_draw_options_t options = PIDQ_DRAW_OPTIONS_INIT;
  const auto none = pidq::Query::parse("nodes(false)").run(old);
  options.only = none.handle();
  EXPECT(old.draw(options).size() < old.draw().size());
  EXPECT(old.diff(newer).find("\"equal\":false") != std::string::npos);
  EXPECT(json(pidq::Query::parse("nodes() | size()").run(pidq::Graph::join({&old, &newer}))) == "2");
  const auto files = pidq::Query::parse("nodes()").run(old).export_to("csv");
  EXPECT(files.size() == 1 && files[0].name == "table.csv" && files[0].bytes.find("id,tag") == 0);
  EXPECT(old.export_to("graphml")[0].bytes.find("graphml") != std::string::npos);
  EXPECT(old.try_export_to("no format").error().code_text() == "PQ6009"sv);
  const auto query = pidq::Query::parse("nodes() | map(.tga)");
  EXPECT(query.check() == "[]" && query.check(old).find("`.tag`") != std::string::npos);
  EXPECT(query.explain(old).find("\"fuel\"") != std::string::npos);
}

int main() {
  functions_return_values_and_throw();
  parameters_may_be_lists_and_optional();
  graphs_and_results_are_written();
  conversions_check_type_and_range();
  lists_and_objects_are_iterated();
  parameters_have_the_types_of_their_values();
  errors_are_exceptions_or_values();
  handles_move();
  std::puts("ok");
}
