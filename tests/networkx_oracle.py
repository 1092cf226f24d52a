"""Computes results about drawings with NetworkX, independently of pidq, for tests to compare.

    python3 tests/networkx_oracle.py examples/data/plant.json

Prints one line of JSON per query: `drawing`, `query`, `expected` (the result), and `sorted`: true if the result has no
defined order. The flow graph is built from the file without code of pidq. Exits with 77 if NetworkX is missing.
"""

import json
import sys
from pathlib import Path

try:
    import networkx as nx
except ImportError:
    print("the module networkx is not installed", file=sys.stderr)
    sys.exit(77)


def flow_graph(graph):
    """Returns the flow graph: all items, and an arc for each pipe."""
    network = nx.DiGraph()
    network.add_nodes_from(node["id"] for node in graph["nodes"])
    pipes = [edge for edge in graph["edges"] if edge["edge_type"] == "physically_connected_to"]
    network.add_edges_from((edge["source"], edge["target"]) for edge in pipes)
    return network


def flow_graph_with_equipment(graph, network):
    """Returns the flow graph with equipment: arcs from its inlet nozzles into it, and from it to its outlet nozzles.

    An exchanger becomes one node per side, so that no path leads from one side to the other.
    """
    plant = network.copy()
    sides = {
        edge["source"]: edge["target"]
        for edge in graph["edges"]
        if edge.get("edge_classification") == "association.is_located_in" and "-N" in edge["source"]
    }
    for edge in graph["edges"]:
        if edge["edge_type"] == "physically_has_a":
            equipment, nozzle = edge["source"], edge["target"]
            inside = f"inside {sides.get(nozzle, equipment)}"
            if network.in_degree(nozzle):
                plant.add_edge(nozzle, inside)
            if network.out_degree(nozzle):
                plant.add_edge(inside, nozzle)
    return plant


def json_text(value):
    return json.dumps(value)


def reachability(network, nodes):
    """Yields the nodes reachable along pipes only: a traversal ends at a nozzle, as no pipe continues from it."""
    distances = dict(nx.all_pairs_shortest_path_length(network))
    for node in nodes:
        found = sorted(json_text(other) for other in distances[node] if other != node)
        query = f"downstream({json_text(node)}, {FLOW}) | map(.id)"
        yield query, [json.loads(other) for other in found], True


def shortest_paths(network, nodes):
    """Yields the lengths of the shortest paths from every fourth item."""
    distances = dict(nx.all_pairs_shortest_path_length(network))
    for source in nodes[::4]:
        for target in nodes:
            if source != target:
                steps = distances[source].get(target)
                yield f"shortestPath({json_text(source)}, {json_text(target)}, {FLOW}) | .length", steps, False


FLOW = '{edges: .edge_type == "physically_connected_to", pass: "none"}'
PIPING = '{edges: .edge_type == "physically_connected_to", nodes: .node_type == "pid_component"}'


def components(graph, network):
    """Yields the connected components, each with its items in the order of the drawing."""
    order = [node["id"] for node in graph["nodes"] if node["node_type"] == "pid_component"]
    piping = network.subgraph(order).to_undirected()
    found = [[node for node in order if node in part] for part in nx.connected_components(piping)]
    yield f"components({PIPING}) | map(map(.id))", sorted(found, key=lambda part: order.index(part[0])), False


def reachability_through_equipment(graph, plant):
    """Yields the items reachable through equipment, without the equipment itself."""
    for node in graph["nodes"]:
        start = node["id"]
        if plant.has_node(start) and plant.out_degree(start) and not node["node_classification"].startswith("equipment."):
            found = {other for other in nx.descendants(plant, start) if not other.startswith("inside ")}
            items = sorted(json_text(other) for other in found if other != start)
            items_query = 'filter(not(startsWith(.node_classification, "equipment."))) | map(.id)'
            query = f"downstream({json_text(start)}, {{pass: \"zone\"}}) | {items_query}"
            yield query, [json.loads(item) for item in items], True


def cycles(plant):
    """Yields the lengths of the cycles."""
    found = []
    for cycle in nx.simple_cycles(plant):
        found.append(len(cycle))
    yield "cycles({pass: \"zone\", limit: 1000}) | map(.length) | sort()", sorted(found), False


def cut_points(graph, plant):
    """Yields the articulation points. Equipment with several sides is one item."""
    merged = nx.Graph()
    sides = {edge["target"]: edge["source"] for edge in graph["edges"] if edge["edge_type"] == "has_a"}
    for source, target in plant.edges:
        ends = [end.removeprefix("inside ") for end in (source, target)]
        merged.add_edge(*[sides.get(end, end) if end.endswith(("-TUBE", "-SHELL")) else end for end in ends])
    order = [node["id"] for node in graph["nodes"]]
    points = set(nx.articulation_points(merged))
    yield "cutPoints() | map(.id)", [node for node in order if node in points], False


def queries(graph):
    network = flow_graph(graph)
    plant = flow_graph_with_equipment(graph, network)
    nodes = [node for node in network if network.degree(node)]
    yield from reachability(network, nodes)
    yield from shortest_paths(network, nodes)
    yield from components(graph, network)
    yield from reachability_through_equipment(graph, plant)
    yield from cycles(plant)
    yield from cut_points(graph, plant)


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        graph = json.loads(path.read_text(encoding="utf-8"))["pid_graph"]
        for query, expected, is_unordered in queries(graph):
            print(json.dumps({"drawing": path.stem, "query": query, "expected": expected, "sorted": is_unordered}))
