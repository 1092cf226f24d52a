"""Measures queries on a fleet: pidq, Python's json with pandas, and DuckDB, on the same Parquet files in the same run.

    python3 integrations/fleet_bench.py --drawings 10000 --items 300 --catalog-rows 10000000 --folder DIRECTORY

Each engine runs in a process of its own with one thread. CPU seconds are those of the process; elapsed time also shows
the load of the machine. pidq and pandas run the functions that Spark calls in its executors (`mapInArrow` and
`mapInPandas`), without Spark. Needs pidq, pidq-spark, pandas, networkx and duckdb.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import generate_fleet

#: The question: control valves of DN 100 and more, with their lines.
_PIDQ = """
valveList() | filter(.role == "control" and .size >= 100)
  | map({tag: .tag, class: .class, line: .line, size: .size})
"""
#: The same by the class of the items alone, which DuckDB and Python can decide.
_PIDQ_FIELDS = """
.pid_graph.nodes
  | filter(.node_classification == "piping_component.control_valve" and .nominal_diameter >= 100)
  | map({tag: .tag, class: .node_classification, line: .line, size: .nominal_diameter})
"""
_DUCKDB = """
select drawing, node.tag, node.node_classification as class, node.line, node.nominal_diameter as size
from (
  select drawing, unnest(from_json(graph, '{"pid_graph": {"nodes": [{
    "tag": "VARCHAR", "node_classification": "VARCHAR", "line": "VARCHAR", "nominal_diameter": "BIGINT"
  }]}}').pid_graph.nodes) as node from read_parquet('FILES')
)
where node.node_classification = 'piping_component.control_valve' and node.nominal_diameter >= 100
"""
_PIDQ_REACH = """
let({ids: offPageList() | map(.id)}, $ids | map(let({from: get()},
  downstream(get(), {pass: "any"}) | filter(.id in $ids) | map({from: $from, to: .id}))) | flatten())
"""
_COLUMNS = ["tag", "class", "line", "size"]

#: Questions to the catalog.
_CATALOG = {
    "relief valves by unit": "select sheet[:3] as unit, count(*) from catalog where role = 'relief' group by unit",
    "control valves": "select drawing, tag, class, line from catalog where role = 'control' and size::int >= 100",
    "an item by its tag": "select drawing, item, x, y from catalog where tag = 'OPC-0101I'",
    "equipment above 60 bar": "select drawing, tag from catalog where kind = 'equipment' and design_pressure::int > 60",
    "items by class": "select class, count(*) from catalog group by class order by class",
}


def batches(folder: Path) -> Any:
    """Yields the drawings as Spark hands them to a function: record batches of some drawings."""
    import pyarrow.parquet as pq

    passes = int(os.environ.get(_PASSES, "1"))
    for path in passes * sorted(folder.glob("*.parquet")):
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(batch_size=100, columns=["drawing", "graph"])


def schema() -> Any:
    import pyarrow as pa

    return pa.schema([("tag", pa.string()), ("class", pa.string()), ("line", pa.string()), ("size", pa.int64())])


def run_pidq(folder: Path, query: str) -> int:
    from pidq_spark import DrawingQuery

    return sum(batch.num_rows for batch in DrawingQuery(query, schema())(batches(folder)))


def pandas_rows(frames: Any) -> Any:
    """The function of `mapInPandas`: the control valves of each drawing, by Python's json."""
    import pandas

    for frame in frames:
        rows = []
        for drawing, graph in zip(frame["drawing"], frame["graph"], strict=True):
            for node in json.loads(graph)["pid_graph"]["nodes"]:
                is_valve = node["node_classification"] == "piping_component.control_valve"
                if is_valve and node["nominal_diameter"] >= 100:
                    fields = (node["tag"], node["node_classification"], node["line"], node["nominal_diameter"])
                    rows.append((drawing, *fields))
        yield pandas.DataFrame(rows, columns=["drawing", *_COLUMNS])


def run_pandas(folder: Path) -> int:
    return sum(len(frame) for frame in pandas_rows(batch.to_pandas() for batch in batches(folder)))


def run_duckdb(folder: Path) -> int:
    return len(_connection().sql(_DUCKDB.replace("FILES", f"{folder}/*.parquet")).to_arrow_table())


def run_pidq_reach(folder: Path) -> int:
    """The connectors that the flow reaches from each connector of a drawing."""
    import pyarrow as pa

    from pidq_spark import DrawingQuery

    ends = pa.schema([("from", pa.string()), ("to", pa.string())])
    return sum(batch.num_rows for batch in DrawingQuery(_PIDQ_REACH, ends)(batches(folder)))


def run_networkx_reach(folder: Path) -> int:
    """The same by Python's json and NetworkX. Equipment joins its nozzles."""
    import networkx

    count = 0
    for batch in batches(folder):
        for graph in batch.column("graph").to_pylist():
            drawing = json.loads(graph)["pid_graph"]
            network = networkx.DiGraph()
            for edge in drawing["edges"]:
                if edge["edge_type"] == "physically_connected_to":
                    network.add_edge(edge["source"], edge["target"])
                elif edge["edge_type"] == "physically_has_a":
                    network.add_edge(edge["source"], edge["target"])
                    network.add_edge(edge["target"], edge["source"])
            kind = "reference.off_page_connector"
            connectors = {node["id"] for node in drawing["nodes"] if node["node_classification"] == kind}
            count += sum(len(connectors & networkx.descendants(network, one)) for one in connectors)
    return count


def run_read(folder: Path) -> int:
    """Reads the files and nothing else: the part of the time that all have in common."""
    return sum(batch.num_rows for batch in batches(folder))


def run_copy(folder: Path) -> int:
    """Copies each drawing once, and nothing else: what the memory allows."""
    return sum(len(graph.as_buffer().to_pybytes()) > 0 for batch in batches(folder) for graph in batch.column("graph"))


def run_boundary(folder: Path) -> int:
    """Map and stitch: the boundaries of all drawings, and the boundary graph."""
    from pidq_spark import DrawingQuery, Walk
    from pidq_spark.network import BOUNDARY_SCHEMA, stitch

    walk = Walk()
    started = time.process_time()
    mapped = [
        row
        for batch in DrawingQuery(walk.boundary_query(), BOUNDARY_SCHEMA)(batches(folder))
        for row in batch.to_pylist()
    ]
    after_map = time.process_time()
    network = stitch(((row["drawing"], row["connectors"], row["stub"]) for row in mapped), walk)
    after_stitch = time.process_time()
    bytes_ = sum(len(row["stub"]) for row in mapped)
    sizes = {"connectors": len(network.connectors), "pairs": len(network.pairs), "stub_bytes": bytes_}
    cpu = {"map": after_map - started, "stitch": after_stitch - after_map}
    print(json.dumps({"rows": len(mapped), "cpu": sum(cpu.values()), "parts": cpu | sizes}))
    return len(mapped)


def run_catalog_build(folder: Path) -> int:
    from pidq_spark.item_catalog import build

    with tempfile.TemporaryDirectory(dir=folder.parent) as output:
        path = f"{output}/catalog.parquet"
        count, _ = build(sorted(map(str, folder.glob("*.parquet"))), path, processes=1)
        print(json.dumps({"bytes_per_item": os.path.getsize(path) / count}))
    return count


RUNS = {
    "read": run_read,
    "copy": run_copy,
    "pidq": lambda folder: run_pidq(folder, _PIDQ_FIELDS),
    "pidq, valveList": lambda folder: run_pidq(folder, _PIDQ),
    "pandas": run_pandas,
    "duckdb": run_duckdb,
    "pidq, reach": run_pidq_reach,
    "networkx, reach": run_networkx_reach,
    "boundary": run_boundary,
    "catalog build": run_catalog_build,
}


#: Variable with the number of times that the drawings are read.
_PASSES = "PIDQ_FLEET_PASSES"

#: Runs of the same question.
_COMPARED = [("pidq", "pandas"), ("pidq", "duckdb"), ("pidq, reach", "networkx, reach")]


def _connection(threads: int = 1) -> Any:
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"set threads = {threads}")
    return connection


def measure(folder: Path, name: str, passes: int = 1) -> dict[str, Any]:
    """Runs one engine in a process of its own; returns its rows, CPU seconds, elapsed time and memory."""
    command = [sys.executable, __file__, "--only", name, "--folder", str(folder)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "ARROW_NUM_THREADS": "1", _PASSES: str(passes)}
    printed = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True).stdout
    result: dict[str, Any] = {}
    for line in printed.splitlines()[::-1]:
        result |= json.loads(line)
    return result


def measure_one(folder: Path, name: str) -> None:
    """Prints the figures of a run in this process, without the time that imports take."""
    import duckdb  # noqa: F401
    import networkx  # noqa: F401
    import pandas  # noqa: F401

    import pidq_spark  # noqa: F401

    started, before = time.perf_counter(), _cpu()
    rows = RUNS[name](folder)
    figures = {"rows": rows, "cpu": _cpu() - before, "elapsed": time.perf_counter() - started}
    figures["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    print(json.dumps(figures))


def _cpu() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def synthesize_catalog(folder: Path, path: Path, rows: int) -> None:
    """Writes a catalog of a number of items: that of the fleet, repeated under other drawing numbers."""
    from pidq_spark.item_catalog import build

    source = path.with_suffix(".source")
    count, _ = build(sorted(map(str, folder.glob("*.parquet")))[:2], str(source), processes=1)
    repeated = f"""copy (
        select (100 + copy)::varchar || '-' || drawing as drawing, * exclude (drawing)
        from read_parquet('{source}'), range({-(-rows // count)}) as copies(copy) order by copy, drawing limit {rows}
    ) to '{path}' (format parquet, compression zstd, row_group_size 131072)"""
    _connection(2).execute(repeated)
    source.unlink()


def measure_catalog(path: Path, threads: int) -> dict[str, tuple[float, float, int]]:
    """Returns CPU seconds, elapsed time and rows of each question to a catalog; the second run of two."""
    connection = _connection(threads)
    connection.execute(f"create view catalog as select * from read_parquet('{path}')")
    found = {}
    for name, question in _CATALOG.items():
        for _ in range(2):
            started, before = time.perf_counter(), _cpu()
            rows = len(connection.sql(question).fetchall())
            found[name] = (_cpu() - before, time.perf_counter() - started, rows)
    return found


def print_queries(folder: Path, size: int) -> None:
    print(f"{'':16} {'rows':>9} {'CPU s':>8} {'elapsed':>8} {'MB/s of CPU':>12} {'memory MB':>10}")
    results = {}
    for name in RUNS:
        result = results[name] = measure(folder, name)
        print_figures(name, result, size)
        for part in ("parts", "bytes_per_item"):
            if part in result:
                print(f"    {part}: {result[part]}")
    reading = results["read"]["cpu"]
    for name, other in _COMPARED:
        assert results[name]["rows"] == results[other]["rows"], f"{name} and {other} have different answers"
        one, two = results[name]["cpu"], results[other]["cpu"]
        without = (two - reading) / (one - reading)
        print(
            f"CPU seconds of {other} per CPU second of {name}: {two / one:.1f}, without reading the files {without:.1f}"
        )


def print_figures(name: str, result: dict[str, Any], size: int) -> None:
    rate, memory = size / 1e6 / result["cpu"], result["memory"] / 1e6
    cpu, elapsed = result["cpu"], result["elapsed"]
    print(f"{name:16} {result['rows']:9} {cpu:8.2f} {elapsed:8.2f} {rate:12.0f} {memory:10.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, help="directory of the fleet; generated if it is empty")
    parser.add_argument("--drawings", type=int, default=10_000)
    parser.add_argument("--items", type=int, default=300)
    parser.add_argument("--catalog-rows", type=int, default=10_000_000, help="0: no catalog")
    parser.add_argument("--passes", type=int, default=8, help="1: no long run (default: %(default)s)")
    parser.add_argument("--only", choices=RUNS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only:
        measure_one(given.folder, given.only)
        return
    folder = given.folder or Path(tempfile.mkdtemp(prefix="pidq-fleet-")) / "fleet"
    if not list(folder.glob("*.parquet")):
        generate_fleet.write(folder, given.drawings, given.items, seed=1, processes=2)
    size, drawings = _json_size(folder)
    disk = sum(path.stat().st_size for path in folder.glob("*.parquet"))
    load = os.getloadavg()[0]
    print(f"{drawings} drawings, {size / 1e6:.0f} MB of JSON, {disk / 1e6:.0f} MB of Parquet; load average {load:.1f}")
    print_queries(folder, size)
    if given.passes > 1:
        print(f"the same drawings {given.passes} times: {given.passes * size / 1e9:.1f} GB of JSON")
        for name in ("pidq", "pandas"):
            print_figures(name, measure(folder, name, given.passes), given.passes * size)
    if given.catalog_rows:
        print_catalog(folder, given.catalog_rows)
    print(f"the fleet is in {folder}")


def print_catalog(folder: Path, rows: int) -> None:
    path = folder.parent / f"catalog-{rows}.parquet"
    if not path.exists():
        synthesize_catalog(folder, path, rows)
    print(f"catalog: {rows} items, {path.stat().st_size / 1e6:.0f} MB")
    for name, (cpu, elapsed, found) in measure_catalog(path, threads=1).items():
        print(f"{name:24} {found:8} rows {cpu:7.3f} s CPU {elapsed:7.3f} s elapsed")


def _json_size(folder: Path) -> tuple[int, int]:
    """Returns the bytes of JSON and the number of drawings of a fleet."""
    files = f"read_parquet('{folder}/*.parquet')"
    return _connection().sql(f"select sum(strlen(graph))::bigint, count(*) from {files}").fetchall()[0]


if __name__ == "__main__":
    main()
