"""Computes answers about drawings with NetworkX, by a way of its own, for tests to compare.

    python3 tests/truth.py examples/data/plant.json

A line of JSON for each question: `drawing`, `query`, `answer`, and whether the order of the answer says something. The flow
graph is built here from the words of the file, without any code of pidq. Exits with 77 where NetworkX is missing.
"""

import json
import sys
from pathlib import Path

try:
    import networkx as nx
except ImportError:
    print("there is no module networkx", file=sys.stderr)
    sys.exit(77)


def flow(graph):
    """Items and pipes: every item that is no group, an arc from each source to each target."""
    network = nx.DiGraph()
    network.add_nodes_from(node["id"] for node in graph["nodes"])
    pipes = [edge for edge in graph["edges"] if edge["edge_type"] == "physically_connected_to"]
    network.add_edges_from((edge["source"], edge["target"]) for edge in pipes)
    return network


def plant_of(graph, network):
    """The flow graph with equipment: into equipment by the nozzles that something flows into, out by the others.

    An exchanger becomes one node a side, so that what is on one side never gets to the other.
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


def text(value):
    return json.dumps(value)


def reach(network, nodes):
    """What can be reached along the pipes alone: a nozzle ends a walk, as no pipe goes on from it."""
    distances = dict(nx.all_pairs_shortest_path_length(network))
    for node in nodes:
        found = sorted(text(other) for other in distances[node] if other != node)
        query = f"downstream({text(node)}, {FLOW}) | map(.id)"
        yield query, [json.loads(other) for other in found], True


def routes(network, nodes):
    """How many steps there are between items, from every fourth."""
    distances = dict(nx.all_pairs_shortest_path_length(network))
    for source in nodes[::4]:
        for target in nodes:
            if source != target:
                steps = distances[source].get(target)
                yield f"shortestPath({text(source)}, {text(target)}, {FLOW}) | .length", steps, False


FLOW = '{edges: .edge_type == "physically_connected_to", pass: "none"}'
PIPING = '{edges: .edge_type == "physically_connected_to", nodes: .node_type == "pid_component"}'


def parts(graph, network):
    """Connected parts among components, each with its members in the order of the drawing."""
    order = [node["id"] for node in graph["nodes"] if node["node_type"] == "pid_component"]
    piping = network.subgraph(order).to_undirected()
    found = [[node for node in order if node in part] for part in nx.connected_components(piping)]
    yield f"components({PIPING}) | map(map(.id))", sorted(found, key=lambda part: order.index(part[0])), False


def through_equipment(graph, plant):
    """What the flow gets to through equipment, by the nozzles and items that are really drawn."""
    for node in graph["nodes"]:
        start = node["id"]
        if plant.has_node(start) and plant.out_degree(start) and not node["node_classification"].startswith("equipment."):
            found = {other for other in nx.descendants(plant, start) if not other.startswith("inside ")}
            items = sorted(text(other) for other in found if other != start)
            shown = 'filter(not(startsWith(.node_classification, "equipment."))) | map(.id)'
            query = f"downstream({text(start)}, {{pass: \"zone\"}}) | {shown}"
            yield query, [json.loads(item) for item in items], True


def circuits(plant):
    """Circuits, as sets of the items on them."""
    found = []
    for circuit in nx.simple_cycles(plant):
        found.append(len(circuit))
    yield "cycles({pass: \"zone\", limit: 1000}) | map(.length) | sort()", sorted(found), False


def cuts(graph, plant):
    """Items without which a connected part falls apart; equipment counts as one item with all its sides."""
    whole = nx.Graph()
    sides = {edge["target"]: edge["source"] for edge in graph["edges"] if edge["edge_type"] == "has_a"}
    for source, target in plant.edges:
        ends = [end.removeprefix("inside ") for end in (source, target)]
        whole.add_edge(*[sides.get(end, end) if end.endswith(("-TUBE", "-SHELL")) else end for end in ends])
    order = [node["id"] for node in graph["nodes"]]
    points = set(nx.articulation_points(whole))
    yield "cutPoints() | map(.id)", [node for node in order if node in points], False


def questions(graph):
    network = flow(graph)
    plant = plant_of(graph, network)
    nodes = [node for node in network if network.degree(node)]
    yield from reach(network, nodes)
    yield from routes(network, nodes)
    yield from parts(graph, network)
    yield from through_equipment(graph, plant)
    yield from circuits(plant)
    yield from cuts(graph, plant)


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        graph = json.loads(path.read_text(encoding="utf-8"))["pid_graph"]
        for query, answer, is_sorted in questions(graph):
            print(json.dumps({"drawing": path.stem, "query": query, "answer": answer, "sorted": is_sorted}))
