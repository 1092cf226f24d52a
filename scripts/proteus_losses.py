"""Loss account of a Proteus import: counts of the source against the imported graph.

Usage: proteus_losses.py DRAWING.xml GRAPH.json

Reads the drawing with a plain XML parser, independently of pidq, and prints how many items, tags, attributes, associations, texts and
graphic elements the graph has kept, with every one that it has not. Ends with status 1 if less than 99.5 % of a kind were kept.
"""

import json
import sys
import xml.etree.ElementTree as xml
from collections import Counter

from loss_account import Account, graphics_of

# Elements with an ID that describe the plant or annotate it.
ITEMS = {
    "Equipment", "Nozzle", "PipingComponent", "PipingNetworkSystem", "PipingNetworkSegment", "ProcessInstrument",
    "ProcessInstrumentationFunction", "InstrumentComponent", "InstrumentLoop", "InstrumentationLoopFunction", "ActuatingSystem",
    "ActuatingSystemComponent", "ActuatingFunction", "ActuatingElectricalFunction", "ProcessSignalGeneratingFunction",
    "ProcessSignalGeneratingSystem", "SignalLine", "InformationFlow", "PipeConnectorSymbol", "PipeOffPageConnector",
    "SignalOffPageConnector", "SignalConnectorSymbol", "PropertyBreak", "PlantStructureItem", "PipeSlopeSymbol", "PipeFlowArrow",
}
PRIMITIVES = {"Line", "PolyLine", "Circle", "Ellipse", "TrimmedCurve", "Shape", "CompositeCurve", "BsplineCurve", "CenterLine"}
LINES = {"Line", "PolyLine", "Shape", "CenterLine"}
DRAWN = ["polyline", "polygon", "circle", "ellipse", "arc", "path"]


def normal(value):
    """Returns a value as text; numbers in one form."""
    text = "" if value is None else str(value).strip()
    try:
        return repr(float(text))
    except ValueError:
        return " ".join(text.split())


def every_element(value):
    """Yields all graphic elements."""
    if isinstance(value, dict):
        yield value
        value = value.get("elements", [])
    if isinstance(value, list):
        for item in value:
            yield from every_element(item)


def values_of(value, found):
    """Collects all texts and numbers in one form, outside of graphics and of shapes."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in {"graphics", "elements", "shapes"}:
                values_of(item, found)
    elif isinstance(value, list):
        for item in value:
            values_of(item, found)
    else:
        found.add(normal(value))


class ProteusAccount(Account):
    def __init__(self, drawing, graph):
        super().__init__()
        self.root = xml.parse(drawing).getroot()
        self.graph = json.load(open(graph))["pid_graph"]
        self.parents = {child: parent for parent in self.root.iter() for child in parent}
        catalogue = {element for shapes in self.root.iter("ShapeCatalogue") for element in shapes.iter()}
        self.elements = [element for element in self.root.iter() if element not in catalogue]
        self.values = {}
        self.neighbors = set()
        for row in self.graph["nodes"] + self.graph["edges"]:
            found = self.values.setdefault(row["id"], set())
            values_of(row, found)
        for edge in self.graph["edges"]:
            names = [edge["from"], edge["to"], edge["id"], edge.get("segment")]
            self.neighbors.update((a, b) for a in names for b in names)
        # Ports and segments without a row of their own are held by a row that names their ID.
        self.holders = {}
        for row, found in self.values.items():
            for value in found:
                self.holders.setdefault(value, row)
        self.metadata = set()
        values_of(self.graph["metadata"], self.metadata)
        self.annotations()

    def annotations(self):
        """Adds the rows of drawn elements: labels and arrows, by their id, and lines without one."""
        rows = self.graph["nodes"] + self.graph["edges"]
        drawn = [row.get("graphics", []) for row in rows] + [self.graph["metadata"].get("graphics", {}).get("elements", [])]
        self.drawn_values = set()
        for element in every_element(drawn):
            found = self.values.setdefault(element["id"], set()) if "id" in element else set()
            values_of(element, found)
            self.drawn_values |= found if "attributes" in element else set()

    def rows(self, element):
        """Yields the values of the rows of an element and of its owners, the nearest first; those of the drawing last."""
        while element is not None:
            row = element.get("ID")
            row = row if row in self.values else self.holders.get(row)
            if row is not None:
                yield self.values[row]
            element = self.parents.get(element)
        yield self.metadata
        yield self.drawn_values

    def items(self):
        items = [element for element in self.elements if element.tag in ITEMS and element.get("ID")]
        lost = [item for item in items if item.get("ID") not in self.values and item.get("ID") not in self.holders]
        self.report("items", len(items), [f"{item.tag} {item.get('ID')}" for item in lost])

    def tags(self):
        tags = [element for element in self.elements if element.get("TagName") and element.tag in ITEMS]
        is_kept = lambda element: normal(element.get("TagName")) in next(self.rows(element))
        self.report("tags", len(tags), [element.get("TagName") for element in tags if not is_kept(element)])

    def attributes(self):
        attributes = [element for element in self.elements if element.tag == "GenericAttribute"]
        lost = [attribute for attribute in attributes if not self.has_attribute(attribute)]
        path = lambda element: f"{self.parents[self.parents[element]].tag} {element.get('Name')}={element.get('Value')}"
        self.report("attributes", len(attributes), [path(attribute) for attribute in lost])

    def has_attribute(self, attribute):
        name, value = normal(attribute.get("Name")), normal(attribute.get("Value"))
        return any(name in row and (not value or value in row) for row in self.rows(attribute))

    def associations(self):
        associations = [element for element in self.elements if element.tag == "Association"]
        lost = []
        for association in associations:
            owner, target = self.parents[association].get("ID"), association.get("ItemID") or association.get("TagName")
            row = next(self.rows(association))
            # Some systems name the target without the letters in front of its ID.
            related = target in row or any(a == owner and b and b.endswith(target) for a, b in self.neighbors)
            if owner != target and not related:
                lost.append(f"{owner} {association.get('Type')} {target}")
        self.report("associations", len(associations), lost)

    def graphics(self):
        found = {kind: [] for kind in DRAWN + ["text", "use", "group"]}
        metadata = self.graph["metadata"].get("graphics", {})
        drawn = [row.get("graphics", []) for row in self.graph["nodes"] + self.graph["edges"]]
        graphics_of(drawn + [metadata.get("elements", [])], found)
        graphics_of([shape["elements"] for shape in metadata.get("shapes", {}).values()], found)
        texts = Counter(normal(element.get("String")) for element in self.root.iter("Text") if element.get("String"))
        kept = Counter(normal(text) for text in found["text"])
        self.report("texts", texts.total(), list((texts - kept).elements()))
        primitives = [element for element in self.root.iter() if element.tag in PRIMITIVES and self.is_whole(element)]
        lost = len(primitives) - sum(len(found[kind]) for kind in DRAWN)
        self.report("graphic primitives", len(primitives), ["a primitive"] * max(lost, 0))

    def is_whole(self, element):
        """Returns whether a primitive is no part of another one, and is no line of fewer than two points."""
        parent = self.parents.get(element)
        is_drawn = element.tag not in LINES or len(element.findall("Coordinate")) > 1
        return parent is not None and parent.tag not in PRIMITIVES and is_drawn


def main():
    account = ProteusAccount(*sys.argv[1:3])
    for count in [account.items, account.tags, account.attributes, account.associations, account.graphics]:
        count()
    sys.exit(0 if account.is_complete else 1)


if __name__ == "__main__":
    main()
