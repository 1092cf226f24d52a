"""Warm Python peers: loads a drawing, then handles requests with a line protocol.

    python peers.py jsonquerylang|duckdb|polars|networkx|rustworkx|igraph|scipy DRAWING

Every peer gets its preferred representation: jsonquerylang the parsed drawing, duckdb and polars a table with the fields
that the queries read and the JSON text of each node. Each has one thread; times are CPU times of the process.
"""

import gc
import json
import math
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

os.environ["POLARS_MAX_THREADS"] = "1"

import orjson


def cpu_seconds(work, times):
    start = time.process_time()
    for _ in range(times):
        work()
    return time.process_time() - start


def resident_bytes():
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def rows(drawing):
    """Returns nodes as flat rows: the fields that the queries read, and the node itself as JSON text."""
    for node in drawing["pid_graph"]["nodes"]:
        yield {
            "id": node["id"],
            "tag": node["tag"],
            "class": node["class"],
            "node_type": node["node_type"],
            "design_pressure": node["attributes"].get("design_pressure"),
            "json": orjson.dumps(node).decode(),
        }


class JsonQuery:
    """Compiles each query once."""

    def __init__(self, drawing):
        from jsonquerylang import compile as compile_plan
        from jsonquerylang import parse

        self.drawing = drawing
        self.compile = lambda query: compile_plan(parse(query))
        self.plans = {}

    def work(self, request):
        query = request["query"]
        if query not in self.plans:
            self.plans[query] = self.compile(query)
        plan = self.plans[query]
        if request.get("json"):
            return lambda: orjson.dumps(plan(self.drawing))
        return lambda: plan(self.drawing)


class Polars:
    """A data frame with repeated strings as categories."""

    def __init__(self, drawing):
        import polars

        frame = polars.DataFrame(list(rows(drawing)), infer_schema_length=None)
        kinds = {"class": polars.Categorical, "node_type": polars.Categorical}
        self.nodes = frame.cast(kinds)
        self.column = polars.col
        self.length = polars.len
        self.where = polars.arg_where

    def work(self, request):
        components = self.column("node_type") == "pid_component"
        high = (self.column("class") == "GateValve") & (self.column("design_pressure") > 40)
        text = self.column("json").str.join(",")
        return {
            "q1 ids": lambda: self.nodes.select(self.where(components)).to_series(),
            "q1": lambda: "[" + self.nodes.filter(components).select(text).item() + "]",
            "q2": lambda: (
                self.nodes.filter(components).sort("tag", maintain_order=True).select("id", "tag", "class").write_json()
            ),
            "q3": lambda: dict(self.nodes.group_by("class", maintain_order=True).agg(self.length()).iter_rows()),
            "q4": lambda: self.nodes.select(high.sum()).item(),
        }[request["task"]]


SQL = {
    "q1 ids": "select rowid from nodes where node_type = 'pid_component'",
    "q1": "select '[' || string_agg(json, ',') || ']' from nodes where node_type = 'pid_component'",
    "q2": "select to_json(list(struct_pack(id, tag, class) order by tag, rowid)) from nodes where node_type = 'pid_component'",
    "q3": "select class, count(*) from nodes group by class",
    "q4": "select count(*) from nodes where class = 'GateValve' and design_pressure > 40",
}


class DuckDb:
    """An in-memory table; the result is built inside the database."""

    def __init__(self, drawing):
        import duckdb

        self.database = duckdb.connect(config={"threads": 1})
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "nodes.ndjson"
            path.write_bytes(b"\n".join(orjson.dumps(row) for row in rows(drawing)))
            columns = (
                "{id: 'varchar', tag: 'varchar', class: 'varchar', node_type: 'varchar',"
                " design_pressure: 'double', json: 'varchar'}"
            )
            self.database.execute(f"create table nodes as from read_json('{path}', columns = {columns})")

    def work(self, request):
        task = request["task"]
        query = SQL[task]
        if task == "q1 ids":
            return lambda: self.database.execute(query).fetchnumpy()["rowid"]
        if task == "q3":
            return lambda: dict(self.database.execute(query).fetchall())
        return lambda: self.database.execute(query).fetchone()[0]


FLOW = {"piping", "recycle", "off_page"}
NEIGHBORHOODS, HOPS, ROUTES = 1000, 3, 20


def network(drawing, kinds=None):
    """Returns the number of nodes, and the arcs between them by index: of all edges, or of some kinds."""
    nodes = drawing["pid_graph"]["nodes"]
    indices = {node["id"]: index for index, node in enumerate(nodes)}
    arcs = []
    for edge in drawing["pid_graph"]["edges"]:
        if kinds is None or edge["edge_type"] in kinds:
            ends = indices[edge["source"]], indices[edge["target"]]
            if edge["direction"] != "backward":
                arcs.append(ends)
            if edge["direction"] != "forward":
                arcs.append(ends[::-1])
    return len(nodes), arcs


def multi_edge_pairs(drawing, kinds):
    """Returns pairs of nodes with more than one edge between them: a bidirectional edge alone is not a cycle."""
    indices = {node["id"]: index for index, node in enumerate(drawing["pid_graph"]["nodes"])}
    single, multiple = set(), set()
    for edge in drawing["pid_graph"]["edges"]:
        if edge["edge_type"] in kinds:
            pair = frozenset((indices[edge["source"]], indices[edge["target"]]))
            (multiple if pair in single else single).add(pair)
    return multiple


def count_cycles(found, multi_edges):
    return sum(1 for cycle in found if len(cycle) != 2 or frozenset(cycle) in multi_edges)


class NetworkX:
    def __init__(self, drawing):
        import networkx

        self.nx = networkx
        self.multi_edges = multi_edge_pairs(drawing, FLOW)
        self.directed, self.flow = self.graph(*network(drawing)), self.graph(*network(drawing, FLOW))
        self.undirected = self.directed.to_undirected()

    def graph(self, count, arcs):
        graph = self.nx.DiGraph()
        graph.add_nodes_from(range(count))
        graph.add_edges_from(arcs)
        return graph

    def route(self, node, end):
        try:
            return self.nx.shortest_path_length(self.undirected, node, end)
        except self.nx.NetworkXNoPath:
            return -1

    def work(self, request):
        nx, directed, undirected, start = self.nx, self.directed, self.undirected, request["start"]
        starts = range(min(NEIGHBORHOODS, len(directed)))

        def hops(node):
            return 1 + sum(1 for _ in nx.bfs_edges(undirected, node, depth_limit=HOPS))

        return {
            "3 hops ×1000": lambda: [sum(hops(node) for node in starts)],
            "reach": lambda: [len(nx.descendants(directed, start))],
            "BFS": lambda: [len(nx.descendants(undirected, start))],
            "weak components": lambda: [nx.number_weakly_connected_components(self.flow)],
            "strong components": lambda: [nx.number_strongly_connected_components(self.flow)],
            "routes ×20": lambda: [self.route(node, start) for node in range(min(ROUTES, len(directed)))],
            "cycles": lambda: [count_cycles(nx.simple_cycles(self.flow), self.multi_edges)],
        }[request["task"]]


class RustworkX:
    def __init__(self, drawing):
        import rustworkx

        self.rx = rustworkx
        self.multi_edges = multi_edge_pairs(drawing, FLOW)
        self.directed, self.flow = self.graph(*network(drawing)), self.graph(*network(drawing, FLOW))
        self.undirected = self.directed.to_undirected()

    def graph(self, count, arcs):
        graph = self.rx.PyDiGraph(multigraph=False)
        graph.add_nodes_from(range(count))
        graph.add_edges_from_no_data(arcs)
        return graph

    def route(self, node, end):
        if node == end:
            return 0
        found = self.rx.graph_dijkstra_shortest_path_lengths(self.undirected, node, lambda _: 1.0, goal=end)
        return int(found[end]) if end in found else -1

    def work(self, request):
        rx, directed, undirected, start = self.rx, self.directed, self.undirected, request["start"]
        starts = range(min(NEIGHBORHOODS, directed.num_nodes()))

        def hops(node):
            visited, level = {node}, [node]
            for _ in range(HOPS):
                level = [
                    other
                    for current in level
                    for other in undirected.neighbors(current)
                    if other not in visited and not visited.add(other)
                ]
            return len(visited)

        return {
            "3 hops ×1000": lambda: [sum(hops(node) for node in starts)],
            "reach": lambda: [len(rx.descendants(directed, start))],
            "BFS": lambda: [len(rx.node_connected_component(undirected, start)) - 1],
            "weak components": lambda: [rx.number_weakly_connected_components(self.flow)],
            "strong components": lambda: [rx.number_strongly_connected_components(self.flow)],
            "routes ×20": lambda: [self.route(node, start) for node in range(min(ROUTES, directed.num_nodes()))],
            "cycles": lambda: [count_cycles(rx.simple_cycles(self.flow), self.multi_edges)],
        }[request["task"]]


class IGraph:
    """Misses some cycles: six of the 411 in the drawing with 10,000 nodes, in version 1.0.0."""

    def __init__(self, drawing):
        import igraph

        self.all, self.flow = [
            igraph.Graph(count, sorted(set(arcs)), directed=True)
            for count, arcs in (network(drawing), network(drawing, FLOW))
        ]

    def routes(self, end):
        ends = range(min(ROUTES, self.all.vcount()))
        found = self.all.distances(ends, [end], mode="all")
        return [-1 if math.isinf(length) else int(length) for [length] in found]

    def work(self, request):
        graph, flow, start = self.all, self.flow, request["start"]
        starts = range(min(NEIGHBORHOODS, graph.vcount()))
        return {
            "3 hops ×1000": lambda: [sum(graph.neighborhood_size(starts, order=HOPS, mode="all"))],
            "reach": lambda: [len(graph.subcomponent(start, mode="out")) - 1],
            "BFS": lambda: [len(graph.subcomponent(start, mode="all")) - 1],
            "weak components": lambda: [len(flow.connected_components(mode="weak"))],
            "strong components": lambda: [len(flow.connected_components(mode="strong"))],
            "routes ×20": lambda: self.routes(start),
        }[request["task"]]


class SciPy:
    """Sparse matrices, without functions for routes and hops from a single node."""

    def __init__(self, drawing):
        from scipy.sparse import csgraph

        self.csgraph = csgraph
        self.directed, self.flow = self.matrix(*network(drawing)), self.matrix(*network(drawing, FLOW))
        self.undirected = (self.directed + self.directed.T).tocsr()

    def matrix(self, count, arcs):
        from numpy import ones
        from scipy.sparse import csr_array

        arcs = sorted(set(arcs))
        return csr_array((ones(len(arcs)), tuple(zip(*arcs))), shape=(count, count))

    def count_reachable(self, matrix, start):
        return [len(self.csgraph.breadth_first_order(matrix, start, return_predecessors=False)) - 1]

    def count_components(self, kind):
        return [int(self.csgraph.connected_components(self.flow, connection=kind)[0])]

    def work(self, request):
        start = request["start"]
        return {
            "reach": lambda: self.count_reachable(self.directed, start),
            "BFS": lambda: self.count_reachable(self.undirected, start),
            "weak components": lambda: self.count_components("weak"),
            "strong components": lambda: self.count_components("strong"),
        }[request["task"]]


PEERS = {
    "jsonquerylang": JsonQuery,
    "polars": Polars,
    "duckdb": DuckDb,
    "networkx": NetworkX,
    "rustworkx": RustworkX,
    "igraph": IGraph,
    "scipy": SciPy,
}


class Worker:
    def __init__(self, peer, path):
        self.text = Path(path).read_bytes()
        self.peer = PEERS[peer](orjson.loads(self.text))

    def load(self, request):
        before = resident_bytes()
        value = orjson.loads(self.text)
        retained = resident_bytes() - before
        del value
        return {"seconds": cpu_seconds(lambda: orjson.loads(self.text), request.get("times", 1)), "bytes": retained}

    def compile(self, request):
        return {"seconds": cpu_seconds(lambda: self.peer.compile(request["query"]), request["times"])}

    def run(self, request):
        return {"seconds": cpu_seconds(self.peer.work(request), request["times"])}

    def count(self, request):
        return {"result": len(self.peer.work(request)())}

    def result(self, request):
        value = self.peer.work(request)()
        return {"result": json.loads(value) if isinstance(value, (bytes, str)) else value}


def main():
    worker = Worker(*sys.argv[1:])
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = getattr(worker, request["action"])(request)
        except Exception as error:  # noqa: BLE001
            reply = {"error": repr(error)}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
