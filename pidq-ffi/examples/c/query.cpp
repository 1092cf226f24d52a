// Queries a drawing in C++17: query DRAWING.
//
//     c++ -std=c++17 query.cpp $(pkg-config --cflags --libs pidq) -o query
#include <cstdio>
#include <iostream>
#include <pidq.hpp>

int main(int argc, char **argv) try {
  if (argc != 2) return 2;
  const pidq::Graph graph = pidq::Graph::open(argv[1]);

  // Rows as values: a field that is missing, or has another type, has its default.
  const auto params = pidq::Params().set("unit", "m\u00B3/h").set("least", 1);
  const auto loops = pidq::Query::parse(
      ".pid_graph.nodes | filter(.node_type == \"loop\" and .unit == $unit and .set_point >= $least)", params);
  pidq::Limits limits;
  limits.fuel = 1'000'000;
  const pidq::Result result = loops.run(graph, limits);
  for (const pidq::Value loop : result)
    std::cout << loop["tag"].value_or<std::string_view>("?") << ' ' << loop["set_point"].value_or(0.0) << '\n';

  // Fields of an object.
  const auto counts = pidq::Query::parse("nodes() | groupBy(.node_type) | mapValues(size())").run(graph);
  for (const auto [name, count] : counts.value().fields())
    std::cout << name << ": " << count.as<int>().value_or(0) << '\n';

  // An error as a value instead of an exception.
  const auto mistaken = pidq::Query::try_parse("nodes() | fliter(true)");
  if (!mistaken && mistaken.error().code() == PIDQ_ERROR_UNKNOWN_FUNCTION)
    std::cout << mistaken.error().code_text() << ": " << mistaken.error().help() << '\n';
  return 0;
} catch (const pidq::Error &error) {
  std::cerr << error.what();
  return 1;
}
