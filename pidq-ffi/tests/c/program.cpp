// Use of the header in C++: a query with RAII resources.
#include <pidq.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

template <auto Delete> struct Deleter {
  template <typename T> void operator()(T *handle) const { Delete(handle); }
};
using Graph = std::unique_ptr<pidq_graph_t, Deleter<pidq_graph_delete>>;
using Query = std::unique_ptr<pidq_query_t, Deleter<pidq_query_delete>>;
using Result = std::unique_ptr<pidq_result_t, Deleter<pidq_result_delete>>;
using Error = std::unique_ptr<pidq_error_t, Deleter<pidq_error_delete>>;

static void check(pidq_error_t *error) {
  if (error != nullptr) throw std::runtime_error(pidq_error_text(Error(error).get()).data);
}

int main() {
  std::string_view json = R"([{"tag": "P-101"}, {"tag": "V-7"}])", text = R"(filter(.tag == "V-7") | size())";
  pidq_graph_t *graph = nullptr;
  pidq_query_t *query = nullptr;
  pidq_result_t *result = nullptr;
  pidq_limits_t limits = PIDQ_LIMITS_INIT;
  check(pidq_graph_parse(json.data(), json.size(), &graph));
  Graph graph_owner(graph);
  check(pidq_query_parse(text.data(), text.size(), &query));
  Query query_owner(query);
  check(pidq_query_run(query, graph, &limits, &result));
  Result result_owner(result);
  std::puts(pidq_result_json(result).data);
}
