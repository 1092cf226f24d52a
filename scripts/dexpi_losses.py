"""Loss account of a DEXPI 2.0 import: counts of the source against the imported graph.

Usage: dexpi_losses.py MODEL.xml GRAPH.json

Reads the model with a plain XML parser, independently of pidq, and prints how many objects, values, references, texts and graphic
elements the graph has kept, with every one that it has not. Ends with status 1 if less than 99.5 % of a kind were kept.
"""

import json
import sys
import xml.etree.ElementTree as xml
from collections import Counter

from loss_account import Account, graphics_of

LEAVES = {"String", "Double", "Integer", "Boolean", "DateTime", "AnyURI", "UnsignedByte", "DataReference"}
PRIMITIVES = {"PolyLine", "Polygon", "ConnectorLine", "Ellipse", "EllipseArc"}
# Held by their owner, and not nodes of their own.
PARTS = {"PipingNode", "Pipe", "DirectPipingConnection", "MaterialPort", "PersistentIdentifier", "QualifiedValue",
         "MetaData", "PlantMetaData"}


def last(path):
    return path.replace("/", ".").rsplit(".", 1)[-1]


def class_of(element):
    return last(element.get("type", ""))


def is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False


def normal(value):
    """Returns a value as text; numbers in one form."""
    text = json.dumps(value) if isinstance(value, (int, float, bool)) else str(value)
    return repr(float(text)) if is_number(text) else text.strip()


def values_of_graph(value, found):
    """Collects every text and number outside of graphics, and the words of texts of several numbers."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key != "graphics":
                values_of_graph(item, found)
    elif isinstance(value, list):
        for item in value:
            values_of_graph(item, found)
    elif value is not None:
        found[normal(value)] += 1
        words = str(value).split()
        if len(words) > 1 and all(is_number(word) for word in words):
            found.update(normal(word) for word in words)


class DexpiAccount(Account):
    def __init__(self, model, graph):
        super().__init__()
        self.root = xml.parse(model).getroot()
        self.graph = json.load(open(graph))["pid_graph"]
        self.parents = {child: parent for parent in self.root.iter() for child in parent}
        self.ids = {object.get("id"): object for object in self.root.iter("Object") if object.get("id")}
        self.conceptual = [c for c in self.root.iter("Components") if c.get("property") == "ConceptualModel"]
        rows = self.graph["nodes"] + self.graph["edges"]
        self.rows = {row["id"]: row for row in rows}
        self.by_persistent_id = {row["persistent_id"]: row for row in rows if row.get("persistent_id")}
        self.neighbors = set()
        for edge in self.graph["edges"]:
            names = [edge["from"], edge["to"], edge["id"], edge.get("segment")]
            self.neighbors.update((a, b) for a in names for b in names)
        # An object without an id stands for its owner.
        owners = {row["id"]: row.get("parent_id") for row in rows}
        self.neighbors.update([(owners.get(a), b) for a, b in self.neighbors])

    def objects(self):
        return (object for part in self.conceptual for object in part.iter("Object"))

    def row(self, object):
        """Returns the id of the node or edge of an object, or of the nearest owner that has one."""
        while object is not None:
            if object.tag == "Object":
                identifier = object.find("Components[@property='PersistentIdentifiers']/Object/Data[@property='Value']/String")
                by_persistent = self.by_persistent_id.get(identifier.text) if identifier is not None else None
                row = self.rows.get(object.get("id")) or by_persistent
                if row is not None:
                    return row["id"]
            object = self.parents.get(object)
        return None

    def items(self):
        items = [o for o in self.objects() if o.get("id") and class_of(o) not in PARTS and not class_of(o).endswith("Port")]
        items = [item for item in items if class_of(item) not in {"PlantModel", "ProcessModel"}]
        self.report("objects with an id", len(items), [item.get("id") for item in items if item.get("id") not in self.rows])

    def tags(self):
        names = {"TagName", "ItemTag", "LineNumber", "SubTagName", "Identifier"}
        tags = [(data.find("String").text, self.row(data)) for part in self.conceptual for data in part.iter("Data")
                if last(data.get("property")) in names and data.find("String") is not None]
        is_lost = lambda tag, row: row is None or not any(tag in str(v) for k, v in self.rows[row].items() if k != "graphics")
        self.report("tags", len(tags), [tag for tag, row in tags if is_lost(tag, row)])

    def values(self):
        found = Counter()
        values_of_graph(self.graph, found)
        source = Counter()
        for part in self.conceptual:
            for leaf in part.iter():
                if leaf.tag in LEAVES:
                    source[normal(leaf.get("data") and last(leaf.get("data")) or leaf.text or "")] += 1
        self.report("values", source.total(), list((source - found).elements()))

    def references(self):
        lost, total = [], 0
        for part in self.conceptual:
            for references in part.iter("References"):
                for word in references.get("objects").split():
                    total += 1
                    owner, target = self.row(references), self.row(self.ids.get(word[1:]))
                    is_name = not word.startswith("#")
                    text = json.dumps(self.rows.get(owner, {}))
                    if not (word in text if is_name else owner == target or (owner, target) in self.neighbors):
                        lost.append(f"{references.get('property')} {word}")
        self.report("references", total, lost)

    def graphics(self):
        found = {kind: [] for kind in ["text", "polyline", "polygon", "circle", "ellipse", "arc", "use", "group"]}
        metadata = self.graph["metadata"].get("graphics", {})
        drawn = [row.get("graphics", []) for row in self.rows.values()] + [metadata.get("elements", [])]
        graphics_of(drawn + [shape["elements"] for shape in metadata.get("shapes", {}).values()], found)
        classes = Counter(class_of(object) for object in self.root.iter("Object"))
        texts = Counter(o.findtext("Data[@property='Text']/String") or "" for o in self.root.iter("Object") if class_of(o) == "Text")
        self.report("texts", texts.total(), list((texts - Counter(found["text"])).elements()))
        total = sum(classes[name] for name in PRIMITIVES)
        kept = sum(len(found[kind]) for kind in ["polyline", "polygon", "circle", "ellipse", "arc"])
        self.report("graphic primitives", total, ["a primitive"] * (total - kept))
        uses = classes["ShapeUsage"] + classes["SymbolUsage"]
        self.report("uses of shapes", uses, ["a use"] * (uses - len(found["use"])))


def main():
    account = DexpiAccount(*sys.argv[1:3])
    for count in [account.items, account.tags, account.values, account.references, account.graphics]:
        count()
    sys.exit(0 if account.is_complete else 1)


if __name__ == "__main__":
    main()
