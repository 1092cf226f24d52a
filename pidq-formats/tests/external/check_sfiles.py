"""Compares flowsheets with those that the reference implementation of SFILES 2.0 reads from the same text.

Input: a JSON array of {text, graph}, where the graph is a pid_graph, or null to have the text written by the reference
implementation. Prints one line per difference, and a line with the number of compared texts.
"""

import json
import random
import sys

import networkx as nx
from Flowsheet_Class.flowsheet import Flowsheet


def of_reference(text):
    flowsheet = Flowsheet()
    flowsheet.create_from_sfiles(text, merge_HI_nodes=False)
    graph = nx.MultiDiGraph()
    for name in flowsheet.state.nodes:
        unit, _, rest = name.partition("-")
        letters = rest.partition("/")[2] if unit == "C" else ""
        graph.add_node(name, label=f"{unit} {letters}")
    for source, target, data in flowsheet.state.edges(data=True):
        tags = data.get("tags", {})
        kind = "signal" if tags.get("signal") else "flow"
        graph.add_edge(source, target, kind=kind, tags=sorted(tags.get("he", []) + tags.get("col", [])))
    return graph


def of_import(pid_graph):
    graph = nx.MultiDiGraph()
    edges = [edge for edge in pid_graph["edges"] if edge["edge_type"] != "physically_has_a"]
    owners = {edge["from"] for edge in pid_graph["edges"] if edge["edge_type"] == "physically_has_a"}
    for node in pid_graph["nodes"]:
        if node["id"] not in owners:
            unit = node["id"].split("-")[0]
            graph.add_node(node["id"], label=f"{unit} {node.get('label', '')}")
    # The reference implementation does not look for the end of a signal at the first unit of a text.
    first = next((node for node in graph.nodes), None)
    flows = {edge["from"] for edge in edges if edge["edge_type"] == "flow"}
    for edge in edges:
        is_measurement = edge["to"][:2] == "C-" != edge["from"][:2] and edge["to"] not in flows
        if edge["edge_type"] == "signal" and edge["to"] == first and not is_measurement:
            continue
        graph.add_edge(edge["from"], edge["to"], kind=edge["edge_type"], tags=sorted(edge.get("stream_tags", [])))
    return graph


def labeled(graph):
    """Marks what a control unit outside of the flow measures as a signal, and joins kinds and tags to labels."""
    flows = {source for source, _, data in graph.edges(data=True) if data["kind"] == "flow"}
    for source, target, data in graph.edges(data=True):
        is_control = [graph.nodes[end]["label"].startswith("C ") for end in (source, target)]
        is_measured = data["kind"] == "flow" and is_control == [False, True] and target not in flows
        data["label"] = f"{'signal' if is_measured else data['kind']} {data['tags']}"
    return graph


def is_equal(one, other):
    node_match = nx.algorithms.isomorphism.categorical_node_match("label", "")
    edge_match = nx.algorithms.isomorphism.categorical_multiedge_match("label", "")
    return nx.is_isomorphic(labeled(one), labeled(other), node_match, edge_match)


def random_text(seed):
    """Returns text that the reference implementation writes for a random flowsheet and reads back."""
    source = random.Random(seed)
    graph = nx.MultiDiGraph()
    units = [f"{source.choice(['pp', 'v', 'tank', 'r', 'mix'])}-{at}" for at in range(source.randint(2, 9))]
    graph.add_nodes_from(units)
    for at, unit in enumerate(units[1:], 1):
        graph.add_edge(source.choice(units[:at]), unit)
    for _ in range(source.randint(0, 3)):
        ends = source.sample(units, 2)
        if not graph.has_edge(*ends):
            graph.add_edge(*ends)
    flowsheet = Flowsheet()
    flowsheet.create_from_nx(graph)
    flowsheet.convert_to_sfiles(version="v2")
    text = flowsheet.sfiles
    expected = nx.MultiDiGraph()
    for unit in graph.nodes:
        expected.add_node(unit, label=f"{unit.split('-')[0]} ")
    expected.add_edges_from((one, other, {"kind": "flow", "tags": []}) for one, other in graph.edges())
    return text if is_equal(expected, of_reference(text)) else None


def main():
    if sys.argv[1] == "write":
        texts = []
        for seed in range(int(sys.argv[2])):
            try:
                texts.append(random_text(seed))
            except Exception:  # The reference implementation fails for some flowsheets.
                continue
        print(json.dumps([text for text in texts if text]))
        return
    with open(sys.argv[1], encoding="utf-8") as file:
        cases = json.load(file)
    for case in cases:
        try:
            expected = of_reference(case["text"])
        except Exception as error:
            print(f"{case['text']}: not read: {error!r}")
            continue
        if not is_equal(expected, of_import(case["graph"])):
            print(f"{case['text']}: another flowsheet: {list(expected.edges())}")
    print(f"compared {len(cases)}")


main()
