"""Walks across drawings by map, stitch and expand: the oracle is the walk on all drawings joined in one process."""

import json
from pathlib import Path

import pidq
import pyarrow as pa
import pytest

from pidq_spark import DrawingQuery, Walk
from pidq_spark.network import BOUNDARY_SCHEMA, EXITS_SCHEMA, TRACE_SCHEMA, stitch

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
WALKS = [
    Walk(),
    Walk("downstream", ""),
    Walk("upstream", 'pass: "any"'),
    Walk("connected", 'pass: "zone", avoid: .normal_position == "closed"'),
]


def boundaries(texts, walk):
    batch = pa.record_batch({"drawing": list(texts), "graph": list(texts.values())})
    rows = [
        row for output in DrawingQuery(walk.boundary_query(), BOUNDARY_SCHEMA)([batch]) for row in output.to_pylist()
    ]
    assert not [row["error"] for row in rows if row["error"]]
    return [(row["drawing"], row["connectors"], row["stub"]) for row in rows]


def expanded(texts, network, drawing, start):
    """Returns the items that a walk reaches, as `expand` does it in Spark."""
    walk = network.walk

    def rows(query, schema, params):
        graphs = [texts[name] for name in params]
        encoded = [json.dumps(values) for values in params.values()]
        batch = pa.record_batch({"drawing": list(params), "graph": graphs, "params": encoded})
        job = DrawingQuery(query, schema, params="params", errors="fail")
        return [row for output in job([batch]) for row in output.to_pylist()]

    exits = rows(walk.exits_query(), EXITS_SCHEMA, {drawing: {"start": start}})
    entries = {drawing: []} | network.entries((drawing, row["item"]) for row in exits)
    params = {name: {"start": start if name == drawing else None, "entries": found} for name, found in entries.items()}
    return sorted((row["drawing"], row["item"]) for row in rows(walk.trace_query(), TRACE_SCHEMA, params))


def sheets(*names):
    texts = [(EXAMPLES / name).read_text(encoding="utf-8") for name in names]
    return {json.loads(text)["pid_graph"]["metadata"]["drawing_number"]: text for text in texts}


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: f"{walk.function}-{walk.options}")
@pytest.mark.parametrize(
    "names",
    [
        ["tutorial/pumps.json", "tutorial/cooler.json", "tutorial/filter.json"],
        ["data/plant_b.json", "data/storage.json"],
    ],
    ids=["tutorial", "plant"],
)
def test_walks_are_those_of_the_joined_drawings(names, walk):
    texts = sheets(*names)
    network = stitch(boundaries(texts, walk), walk)
    joined = pidq.join(*map(pidq.Graph.from_json, texts.values()))
    assert network.to_arrow().num_rows >= 2
    for drawing, text in texts.items():
        for start in [node["id"] for node in json.loads(text)["pid_graph"]["nodes"]][::9]:
            reached = joined.query(f"{walk.query('$start')} | map(.id)", start=f"{drawing}#{start}")
            assert expanded(texts, network, drawing, start) == sorted(tuple(one.split("#")) for one in reached), start


def test_connectors_of_a_generated_fleet_pair_as_in_the_joined_drawing(fleet):
    walk = Walk()
    network = stitch(boundaries(fleet.texts, walk), walk)
    joined = fleet.joined().query(".pid_graph.metadata.joined")
    pairs = [list(row.values()) for row in network.to_arrow().to_pylist()]
    expected = [(pair["from"], pair["to"]) for pair in joined["pairs"]]
    assert [("#".join(row[:2]), "#".join(row[2:])) for row in pairs] == expected
    assert (network.unmatched, network.ambiguous) == (joined["unmatched"], joined["ambiguous"])
    for drawing, start in fleet.starts(5):
        assert expanded(fleet.texts, network, drawing, start) == fleet.walk(walk, drawing, start)


def sheet(number, *connectors, **fields):
    """Returns a drawing whose connectors all lead to one valve; each is an id and the fields of the connector."""
    valve = {"id": 7, "tag": "HV", "node_classification": "piping_component.gate_valve"}
    kind = {"node_classification": "reference.off_page_connector"}
    nodes = [{"id": identifier, **kind, **values} for identifier, values in connectors]
    edges = [{"source": one["id"], "target": 7, "edge_type": "piping", **fields} for one in nodes]
    return json.dumps({"pid_graph": {"nodes": [valve, *nodes], "edges": edges, "metadata": {"drawing_number": number}}})


def link(drawing, label):
    return {"cross_page": {"drawing_name": drawing, "link_label": label}}


def test_pairs_without_a_direction_are_followed_both_ways():
    one, other = (sheet(own, (1, link(to, "x")), direction="both") for own, to in (("A", "B"), ("B", "A")))
    texts = {"a": one, "b": other}
    network = stitch(boundaries(texts, Walk()), Walk())
    assert network.pairs == [(0, 1), (1, 0)]
    assert expanded(texts, network, "b", "HV") == [("a", "1"), ("a", "7"), ("b", "1")]


def test_drawings_of_the_same_name_keep_their_ids():
    texts = {"a1": sheet("A", (1, link("B", "x"))), "a2": sheet("A", (2, link("B", "y"))), "b": sheet("B")}
    network = stitch(boundaries(texts, Walk()), Walk())
    assert network.connectors == [("a1", "1"), ("a2", "2")]
    assert len(network.unmatched) == 2 and not network.pairs


def test_fleets_without_connectors_have_no_pairs():
    network = stitch([("a", None, None), ("b", [], "{}")], Walk())
    assert (network.connectors, network.pairs, network.to_arrow().num_rows) == ([], [], 0)
    assert network.failed == ["a"]
    assert network.entries([("a", "1")]) == {}


def test_a_walk_that_does_not_compile_is_rejected():
    with pytest.raises(pidq.SyntaxError):
        Walk("downstream", "pass:")
    with pytest.raises(ValueError, match="function"):
        Walk("isolate")
