"""Drawing sheets as tables: one table per kind of item, one string per pipe run.

A `Sheet` has the tables of a drawing and converts them to a `pid_graph` document. `plant.py` documents the columns.
"""

import json
from dataclasses import dataclass, field
from itertools import pairwise


class Pipe:
    """A pipe section between two neighbors of a run."""

    def __init__(self, line, source, target, size):
        self.line = line_tag(line)
        self.source, self.target, self.size = source, target, size
        _, _, self.fluid, self.piping_class, *_ = line

    def fields(self):
        return {
            "line": self.line,
            "nominal_diameter": self.size,
            "piping_class": self.piping_class,
            "fluid_code": self.fluid,
        }


@dataclass
class Sheet:
    """The tables of a drawing."""

    metadata: dict
    equipment: list = field(default_factory=list)
    chambers: list = field(default_factory=list)
    nozzles: list = field(default_factory=list)
    piping: list = field(default_factory=list)
    connectors: list = field(default_factory=list)
    open_ends: list = field(default_factory=list)
    lines: list = field(default_factory=list)
    instruments: list = field(default_factory=list)
    loops: list = field(default_factory=list)

    def document(self):
        self.first_pipe = self.first_pipes()
        return {
            "pid_graph": {
                "nodes": list(self.nodes()),
                "edges": list(with_ids(self.edges())),
                "metadata": self.metadata,
            }
        }

    def pipes(self):
        for line in self.lines:
            for run in line[-1]:
                items, _, size = run.partition(" @ ")
                items = items.split(" > ")
                for source, target in pairwise(items):
                    yield Pipe(line, source, target, int(size or line[1]))

    def first_pipes(self):
        """Returns for each item its first pipe, which defines its line and size."""
        first = {}
        for pipe in self.pipes():
            first.setdefault(pipe.source, pipe)
            first.setdefault(pipe.target, pipe)
        return first

    def nodes(self):
        yield from self.equipment_nodes()
        yield from self.chamber_nodes()
        yield from self.nozzle_nodes()
        yield from self.piping_nodes()
        yield from self.end_nodes()
        yield from self.instrument_nodes()
        yield from self.group_nodes()

    def equipment_nodes(self):
        for tag, kind, x, y, service, pressure, temperature, attributes in self.equipment:
            fields = {"service": service} | (design(pressure, temperature) if pressure else {})
            yield component(tag, f"equipment.{kind}", x, y, fields | {"attributes": attribute_records(attributes)})

    def chamber_nodes(self):
        positions = {tag: (x, y) for tag, _, x, y, *_ in self.equipment}
        for tag, exchanger, pressure, temperature, _ in self.chambers:
            yield component(tag, "equipment_component.chamber", *positions[exchanger], design(pressure, temperature))

    def nozzle_nodes(self):
        for name, x, y, service, size in self.nozzles:
            diameter = size or self.first_pipe[name].size
            fields = {"qualified_tag": name, "service": service, "nominal_diameter": diameter}
            nozzle = component(name, "equipment_component.nozzle", x, y, fields)
            yield nozzle | {"tag": name.rpartition("-")[2]}

    def piping_nodes(self):
        for tag, kind, x, y, fields in self.piping:
            yield component(tag, f"piping_component.{kind}", x, y, self.first_pipe[tag].fields() | fields)

    def end_nodes(self):
        for tag, x, y, flow, service, drawing in self.connectors:
            line = self.first_pipe[tag].fields()
            link = {"drawing_name": drawing, "link_label": line["line"]}
            fields = line | {"flow": flow, "service": service, "cross_page": link}
            yield component(tag, "reference.off_page_connector", x, y, fields)
        for tag, x, y, service in self.open_ends:
            fields = self.first_pipe[tag].fields() | {"service": service}
            yield component(tag, "reference.open_end", x, y, fields)

    def instrument_nodes(self):
        for tag, kind, _, location, x, y in self.instruments:
            yield component(tag, f"instrument.{kind}", x, y, {"location": location})

    def group_nodes(self):
        for line in self.lines:
            number, size, fluid, piping_class, insulation, pressure, temperature, _ = line
            fields = {"line_number": number, "nominal_diameter": size, "fluid_code": fluid, "piping_class": piping_class}
            system = {"id": line_tag(line), "node_type": "pipe_system", "tag": line_tag(line)}
            yield system | fields | design(pressure, temperature) | {"insulation": insulation}
        for tag, kind, set_point, unit, action, *_ in self.loops:
            fields = {"loop_kind": kind, "set_point": set_point, "unit": unit, "controller_action": action}
            yield {"id": tag, "node_type": "loop", "tag": tag} | fields

    def edges(self):
        for pipe in self.pipes():
            yield edge("physically_connected_to", pipe.source, pipe.target, **pipe.fields())
        yield from self.ownership()
        yield from self.signals()

    def ownership(self):
        """Yields the edges from equipment to nozzles and sides, from nozzles to their side, and from lines to components."""
        for name, *_ in self.nozzles:
            yield edge("physically_has_a", name.rpartition("-")[0], name)
        for tag, exchanger, *_, sides in self.chambers:
            yield edge("has_a", exchanger, tag)
            for name in sides:
                yield association(name, tag, "association.is_located_in")
        owned = {name for name, *_ in self.nozzles}
        for item, pipe in self.first_pipe.items():
            if item not in owned:
                yield edge("has_a", pipe.line, item)

    def signals(self):
        for tag, _, point, *_ in self.instruments:
            if point:
                yield association(tag, point, "association.is_located_in")
        for loop, *_, transmitter, controller, valve in self.loops:
            for member in filter(None, (transmitter, controller, valve)):
                yield edge("has_a", loop, member)
            yield association(transmitter, controller, "signal_line.electrical")
            if valve:
                yield association(controller, valve, "signal_line.pneumatic")


def line_tag(line):
    number, size, fluid, piping_class, *_ = line
    return f"{size}-{fluid}-{number}-{piping_class}"


def component(tag, classification, x, y, fields):
    node = {"id": tag, "node_type": "pid_component", "tag": tag, "node_classification": classification}
    return node | fields | {"orig_x": x, "orig_y": y}


def design(pressure, temperature):
    return {"design_pressure": pressure, "design_temperature": temperature}


def attribute_records(values):
    """Converts attributes to the records of a drawing."""
    return [{"name": name, "value": value} | ({"unit": unit} if unit else {}) for name, (value, unit) in values.items()]


def edge(kind, source, target, **fields):
    return {"edge_type": kind, "source": source, "target": target, "direction": "forward"} | fields


def association(source, target, classification):
    return edge("associated_with", source, target, edge_classification=classification)


def with_ids(items):
    for number, item in enumerate(items, start=1):
        yield {"id": f"e{number}"} | item


def json_rows(items):
    return ",\n".join(json.dumps(item, ensure_ascii=False) for item in items)


def print_document(document):
    """Prints a document with one line per node and edge."""
    graph = document["pid_graph"]
    metadata = json.dumps(graph["metadata"], ensure_ascii=False)
    print('{"pid_graph": {"nodes": [', json_rows(graph["nodes"]), '], "edges": [', json_rows(graph["edges"]), sep="\n")
    print(f'], "metadata": {metadata}}}}}')
