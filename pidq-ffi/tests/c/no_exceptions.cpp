// The C++ interface without exceptions and type information: errors are values.
#include <cstdio>
#include <pidq.hpp>

int main() {
  auto mistaken = pidq::Query::try_parse("fliter(true)");
  auto query = pidq::Query::try_parse("size()");
  auto graph = pidq::Graph::try_parse("[1]");
  if (mistaken || !query || !graph) return 1;
  auto result = query->try_run(*graph);
  if (!result) return 1;
  std::printf("%s %d\n", mistaken.error().code_text(), result->value().value_or(0));
}
