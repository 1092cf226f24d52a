"""Generates `plant_vendor.json`: the drawing of `plant.py` in the vocabulary of another system.

    python3 examples/data/plant_vendor.py > examples/data/plant_vendor.json

Ids are numbers, classes are in camel case, an edge contains complete copies of the items at its ends, and all fields have
other names than in `pid_graph`. `metadata.topology` maps the names.
"""

import json

import plant
from sheet import json_rows

# Fields of items.
FIELDS = {
    "id": "oid",
    "tag": "itemTag",
    "qualified_tag": "fullTag",
    "node_type": "objectType",
    "node_classification": "symbol",
    "orig_x": "posX",
    "orig_y": "posY",
    "nominal_diameter": "DN",
    "piping_class": "pipeSpec",
    "fluid_code": "medium",
    "line": "lineNo",
    "line_number": "serial",
    "normal_position": "usualState",
    "fail_action": "onAirFailure",
    "insulation": "lagging",
    "service": "duty",
}

# Kinds of edges, by classification or else by type.
KINDS = {
    "physically_connected_to": "Pipe",
    "physically_has_a": "HasNozzle",
    "has_a": "HasMember",
    "association.is_located_in": "LocatedAt",
    "signal_line.electrical": "ElectricSignal",
    "signal_line.pneumatic": "AirSignal",
}

TYPES = {"pid_component": "Item", "pipe_system": "PipeRun", "loop": "MeasuringPoint"}

TOPOLOGY = {
    "paths": {"nodes": ["model.items"], "edges": ["model.relations"]},
    "node_id": ["oid"],
    "tag": ["itemTag"],
    "qualified_tag": ["fullTag"],
    "node_type": ["objectType"],
    "class_fields": ["symbol"],
    "endpoints": [["begin", "finish"]],
    "endpoint_id": ["oid"],
    "edge_kind": ["relation"],
    "direction_field": ["sense"],
    "flow_kinds": ["Pipe"],
    "port_kinds": ["HasNozzle"],
    "member_kinds": ["HasMember"],
    "signal_kinds": ["LocatedAt", "ElectricSignal", "AirSignal"],
    "zone_edge": ["LocatedAt"],
    "line_types": ["PipeRun"],
    "loop_types": ["MeasuringPoint"],
    "size": ["DN"],
    "piping_class": ["pipeSpec"],
    "fluid": ["medium"],
    "line": ["lineNo"],
    "normal_position": ["usualState"],
    "fail_action": ["onAirFailure"],
    "insulation": ["lagging"],
    "roles": [
        {"role": "instrument", "match": "(transmitter|controller|indicator|gauge)$"},
        {"role": "equipment", "match": "(tank|pump|exchanger|separator)$"},
    ],
}


def camel_case(text):
    return "".join(word.capitalize() for word in text.split("_"))


def items(nodes):
    for number, node in enumerate(nodes, start=1001):
        item = {FIELDS.get(key, key): value for key, value in node.items()}
        item |= {"oid": number, "objectType": TYPES[node["node_type"]]}
        if "symbol" in item:
            item["symbol"] = camel_case(item["symbol"].partition(".")[2])
        yield item


def relations(edges, ends):
    for number, edge in enumerate(edges, start=5001):
        kind = edge.get("edge_classification", edge["edge_type"])
        relation = {"oid": number, "relation": KINDS[kind]}
        relation |= {"begin": ends[edge["source"]], "finish": ends[edge["target"]], "sense": "forward"}
        known = ("line", "nominal_diameter", "piping_class", "fluid_code")
        yield relation | {FIELDS[key]: edge[key] for key in known if key in edge}


if __name__ == "__main__":
    graph = plant.sheet().document()["pid_graph"]
    converted_items = list(items(graph["nodes"]))
    ends = {node["id"]: item for node, item in zip(graph["nodes"], converted_items)}
    metadata = json.dumps(graph["metadata"] | {"topology": TOPOLOGY}, ensure_ascii=False)
    print('{"model": {"items": [', json_rows(converted_items), '], "relations": [', json_rows(relations(graph["edges"], ends)), sep="\n")
    print(f']}}, "metadata": {metadata}}}')
