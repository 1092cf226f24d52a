"""Benchmark of pidq in Python against its peers, warm: Python objects and columns.

    python python_bindings.py DRAWING [ROUNDS]

Every peer has the drawing in its preferred representation: jsonquerylang and jq the parsed drawing, DuckDB and Polars a table of
the fields that the queries read and of each node's JSON text. Peers take turns; values are medians of CPU times, one
thread. Results are compared before the measurement. Freeing is not measured.
"""

import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["POLARS_MAX_THREADS"] = "1"

import peers

import pidq

QUERIES = {
    "q1": '.pid_graph.nodes | filter(.node_type == "pid_component")',
    "q2": '.pid_graph.nodes | filter(.node_type == "pid_component") | sort(.tag) | pick(.id, .tag, .class)',
    "q3": ".pid_graph.nodes | groupBy(.class) | mapValues(size())",
    "q4": '.pid_graph.nodes | filter(.class == "GateValve" and .attributes.design_pressure > 40) | size()',
}
JQ = {
    "q1": '.pid_graph.nodes | map(select(.node_type == "pid_component"))',
    "q2": '[.pid_graph.nodes[] | select(.node_type == "pid_component")] | sort_by(.tag) | map({id, tag, class})',
    "q3": "reduce .pid_graph.nodes[] as $n ({}; .[$n.class] += 1)",
    "q4": '[.pid_graph.nodes[] | select(.class == "GateValve" and .attributes.design_pressure > 40)] | length',
}
#: Query for columns: the fields of the table that the other peers have.
FIELDS = "id, tag, class, node_type, design_pressure"
COLUMNS = {
    "q1": QUERIES["q1"]
    + " | map({id: .id, tag: .tag, class: .class, node_type: .node_type, design_pressure: .attributes.design_pressure})",
    "q2": QUERIES["q2"],
    "q3": QUERIES["q3"],
    "q4": QUERIES["q4"],
}


def pidq_objects(drawing):
    graph = pidq.Graph.from_json(drawing)
    queries = {name: pidq.Query(text) for name, text in QUERIES.items()}
    return lambda name: queries[name](graph)


def pidq_shared(drawing):
    """Shared mode, as in jsonquerylang: rows are the objects of the document, created seconds_per_result."""
    graph = pidq.Graph.from_json(drawing)
    queries = {name: pidq.Query(text) for name, text in QUERIES.items()}
    return lambda name: queries[name](graph, shared=True)


def pidq_arrow(drawing):
    import pyarrow

    evaluate = pidq_results(drawing)
    return lambda name: pyarrow.table(evaluate(name))


def pidq_frame(drawing):
    evaluate = pidq_results(drawing)
    return lambda name: evaluate(name).to_polars()


def pidq_results(drawing):
    graph = pidq.Graph.from_json(drawing)
    queries = {name: pidq.Query(text) for name, text in COLUMNS.items()}
    return lambda name: queries[name].run(graph)


def pidq_json(drawing):
    graph = pidq.Graph.from_json(drawing)
    queries = {name: pidq.Query(text) for name, text in QUERIES.items()}
    return lambda name: queries[name].run(graph).json_view()


class Rust:
    """Rust baseline in a separate process that reuses its memory; timed by the operating system."""

    def __init__(self, drawing):
        program = os.environ.get("PIDQ_QUERY_BASELINE")
        if program is None or not Path("/proc/self/schedstat").exists():
            raise ImportError("needs Linux, and PIDQ_QUERY_BASELINE, the path of the example `query_baseline`")
        self.file = tempfile.NamedTemporaryFile(suffix=".json")
        self.file.write(drawing)
        self.file.flush()
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
        self.process = subprocess.Popen([program, self.file.name], **pipes)
        self("q1")

    def __call__(self, name, times=1):
        self.process.stdin.write(f"{times} {QUERIES[name]}\n")
        return int(self.process.stdout.readline())

    def seconds(self, name, times):
        before = self.cpu_seconds()
        self(name, times)
        return self.cpu_seconds() - before

    def cpu_seconds(self):
        return int(Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[0]) / 1e9


def rust(drawing):
    return Rust(drawing)


def jsonquerylang(drawing):
    peer = peers.JsonQuery(json.loads(drawing))
    return lambda name: peer.work({"query": QUERIES[name]})()


def jq(drawing):
    import jq as library

    data = json.loads(drawing)
    programs = {name: library.compile(text) for name, text in JQ.items()}
    return lambda name: programs[name].input_value(data).first()


def polars(drawing):
    peer = peers.Polars(json.loads(drawing))
    components = peer.column("node_type") == "pid_component"
    high = (peer.column("class") == "GateValve") & (peer.column("design_pressure") > 40)
    work = {
        "q1": lambda: peer.nodes.filter(components).select(FIELDS.split(", ")),
        "q2": lambda: peer.nodes.filter(components).sort("tag", maintain_order=True).select("id", "tag", "class"),
        "q3": lambda: peer.nodes.group_by("class", maintain_order=True).agg(peer.length()),
        "q4": lambda: peer.nodes.select(high.sum()),
    }
    return lambda name: work[name]()


def polars_arrow(drawing):
    evaluate = polars(drawing)
    return lambda name: evaluate(name).to_arrow()


def duckdb(drawing):
    database = peers.DuckDb(json.loads(drawing)).database
    components = "from nodes where node_type = 'pid_component'"
    sql = {
        "q1": f"select {FIELDS} {components}",
        "q2": f"select id, tag, class {components} order by tag, rowid",
        "q3": "select class, count(*) from nodes group by class",
        "q4": peers.SQL["q4"],
    }
    return lambda name: to_arrow(database.execute(sql[name]))


def to_arrow(result):
    """Returns the whole result as an Arrow table, for any version of DuckDB."""
    for name in ("to_arrow_table", "fetch_arrow_table", "arrow"):
        if hasattr(result, name):
            return getattr(result, name)()
    raise ImportError("DuckDB with Arrow tables")


CONTESTS = {
    "as Python objects": [pidq_shared, pidq_objects, jsonquerylang, jq],
    "as Arrow tables": [pidq_arrow, polars_arrow, duckdb],
    "as frames of Polars": [pidq_frame, polars],
    "as JSON bytes": [rust, pidq_json],
}


def seconds_per_result(work, name, times):
    """Returns the CPU seconds per result."""
    if hasattr(work, "seconds"):
        return work.seconds(name, times) / times
    return timed(lambda: [work(name) for _ in range(times)][0:0]) / times


def timed(work):
    gc.collect()
    start = time.process_time()
    result = work()
    cpu_seconds = time.process_time() - start
    del result
    return cpu_seconds


def format_seconds(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def count(result):
    """Returns a value that all forms of a result have: its number of rows, or its single number."""
    if hasattr(result, "read_all"):
        result = result.read_all()
    for rows in ("num_rows", "height"):
        if hasattr(result, rows):
            return getattr(result, rows)
    return len(result) if isinstance(result, (list, dict, memoryview)) else result


def contest(title, makers, drawing, rounds):
    works = {}
    for maker in makers:
        try:
            works[maker.__name__] = maker(drawing)
        except ImportError as error:
            print(f"SKIPPED: {maker.__name__} ({error})", file=sys.stderr)
    for name in ("q1", "q2"):
        counts = {peer: count(work(name)) for peer, work in works.items()}
        if len(set(counts.values())) > 1:
            sys.exit(f"{name}: the results differ: {counts}")
    print(f"\n|  {title} | " + " | ".join(QUERIES) + " |\n|---|" + "---|" * len(QUERIES))
    times = {peer: {name: [] for name in QUERIES} for peer in works}
    for _ in range(rounds):
        for name in QUERIES:
            for peer, work in works.items():
                # Short work is repeated for a measurable time.
                first = seconds_per_result(work, name, 1)
                repeats = min(200, int(0.002 / max(first, 1e-6)) + 1)
                times[peer][name].append(seconds_per_result(work, name, repeats))
    first = next(iter(times))
    for peer, by_query in times.items():
        cells = []
        for name, cpu_seconds in by_query.items():
            median, pidq_median = statistics.median(cpu_seconds), statistics.median(times[first][name])
            cells.append(format_seconds(median) + (f" ({median / pidq_median:.3g}×)" if peer != first else ""))
        print(f"| {peer.replace('_', ', ')} | " + " | ".join(cells) + " |")


def call():
    """Measures the cost of one trivial call."""
    graph, query, times = pidq.Graph.from_json(b'{"a": [1, 2, 3]}'), pidq.Query(".a | size()"), 100_000
    cpu_seconds = []
    for _ in range(5):
        start = time.process_time()
        for _ in range(times):
            query(graph)
        cpu_seconds.append((time.process_time() - start) / times)
    print(f"\none call from Python: {format_seconds(statistics.median(cpu_seconds))}")


def main():
    path, rounds = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 7
    drawing = path.read_bytes()
    print(f"\n### pidq {pidq.__version__} in Python {sys.version.split()[0]}, {path.stem}")
    for title, makers in CONTESTS.items():
        contest(title, makers, drawing, rounds)
    call()


if __name__ == "__main__":
    main()
