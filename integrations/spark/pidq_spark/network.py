"""Walks across drawings without joining them: which connectors of a drawing reach which, and how connectors pair.

The boundary graph has the off-page connectors of all drawings as nodes. It is a few percent of the drawings, so that it
fits in one process. Connectors are paired by `joinSheets`, on drawings that are reduced to their connectors.
"""

from __future__ import annotations

import dataclasses
import json
from collections import deque
from collections.abc import Iterable
from typing import Any, Optional

import pidq
import pyarrow as pa

#: Columns of a boundary: one row for each drawing.
BOUNDARY_SCHEMA = pa.schema(
    [
        pa.field(
            "connectors",
            pa.list_(
                pa.struct(
                    [
                        ("id", pa.string()),
                        ("tag", pa.string()),
                        ("direction", pa.string()),
                        ("reach", pa.list_(pa.string())),
                    ]
                )
            ),
        ),
        pa.field("stub", pa.string()),
    ]
)

#: Columns of the exits of a drawing.
EXITS_SCHEMA = pa.schema([("item", pa.string())])

#: Columns of a trace: one row for each item that is reached.
TRACE_SCHEMA = pa.schema([("item", pa.string()), ("tag", pa.string())])

#: Directions in which each function follows a pair of connectors.
_DIRECTIONS = {"downstream": (True, False), "upstream": (False, True), "connected": (True, True)}

#: Limits of pairing: the whole fleet is one document.
_STITCH_LIMITS = pidq.Limits(fuel=1 << 40, memory=1 << 36, output=1 << 36, rows=1 << 30)


@dataclasses.dataclass(frozen=True)
class Walk:
    """A walk along the flow: a function of the language and its options, as query text.

    `Walk("downstream", 'pass: "zone", avoid: .normal_position == "closed"')`
    """

    function: str = "downstream"
    options: str = 'pass: "zone"'

    def __post_init__(self) -> None:
        if self.function not in _DIRECTIONS:
            raise ValueError(f"function must be one of {', '.join(_DIRECTIONS)}, not {self.function!r}")
        pidq.Query(self.query("[]"))

    def query(self, start: str) -> str:
        return f"{self.function}({start}, {{{self.options}}})"

    def boundary_query(self) -> str:
        """Returns the query for the connectors of a drawing, with those that each reaches, and the reduced drawing."""
        return f"""let({{connectors: offPageList()}}, let({{ids: $connectors | map(.id)}}, {{
            connectors: $connectors | map({{
                id: string(.id), tag: .tag, direction: .direction,
                reach: {self.query("node(.id)")} | filter(.id in $ids) | map(string(.id))
            }}),
            stub: {{pid_graph: $ids | map(node(get())) | subgraph({{hops: 1}}) | {{
                nodes: .nodes, edges: .edges, metadata: graph().metadata | omit(.topology.paths)
            }}}}
        }}))"""

    def exits_query(self) -> str:
        """Returns the query for the connectors at which a walk from `$start` leaves its drawing."""
        return f"""let({{start: node($start), ids: offPageList() | map(.id)}},
            [[$start], {self.query("$start")}] | flatten() | filter(.id in $ids) | map({{item: string(.id)}}))"""

    def trace_query(self) -> str:
        """Returns the query for the items that are reached on a drawing from `$start` and the connectors `$entries`."""
        return f"""let({{
            starts: if($start == null, [], [node($start)]),
            entries: offPageList() | filter(string(.id) in $entries) | map(node(.id))
        }}, [$entries, {self.query("[$starts, $entries] | flatten()")}] | flatten()
            | filter(not(.id in ($starts | map(.id)))) | uniqBy(.id)
            | map({{item: string(.id), tag: .tag}}))"""


@dataclasses.dataclass
class Network:
    """The boundary graph: connectors by number, those that each reaches, and its partner on another drawing."""

    walk: Walk
    #: Drawing and id of each connector.
    connectors: list[tuple[Any, str]]
    #: Pairs of connectors, in the direction of the flow; in both directions if it is unknown.
    pairs: list[tuple[int, int]]
    #: Connectors on the same drawing that the walk reaches from each connector.
    reach: list[list[int]]
    #: Findings of `joinSheets`: connectors without a partner and with several.
    unmatched: list[dict[str, Any]]
    ambiguous: list[dict[str, Any]]
    #: Drawings that failed: walks end before them, although the flow may go on.
    failed: list[Any]

    def __post_init__(self) -> None:
        self._numbers = {connector: at for at, connector in enumerate(self.connectors)}
        self._next: dict[int, int] = {}
        down, up = _DIRECTIONS[self.walk.function]
        for source, target in self.pairs:
            if down:
                self._next[source] = target
            if up:
                self._next[target] = source

    def entries(self, exits: Iterable[tuple[Any, str]]) -> dict[Any, list[str]]:
        """Returns the connectors at which a walk enters each drawing, if it leaves others at some connectors."""
        waiting = deque(self._numbers[leaving] for leaving in exits if leaving in self._numbers)
        seen = set()
        found: dict[Any, list[str]] = {}
        while waiting:
            entry = self._next.get(waiting.popleft())
            if entry is None or entry in seen:
                continue
            seen.add(entry)
            drawing, identifier = self.connectors[entry]
            found.setdefault(drawing, []).append(identifier)
            waiting.extend(self.reach[entry])
        return found

    def to_arrow(self) -> pa.Table:
        """Returns the pairs as a table: `from_drawing`, `from_connector`, `to_drawing`, `to_connector`."""
        ends = [[*self.connectors[source], *self.connectors[target]] for source, target in self.pairs]
        names = ["from_drawing", "from_connector", "to_drawing", "to_connector"]
        return pa.table({name: [row[at] for row in ends] for at, name in enumerate(names)})


def stitch(drawings: Iterable[tuple[Any, Optional[list[dict[str, Any]]], Optional[str]]], walk: Walk) -> Network:
    """Returns the boundary graph of some drawings: their id, connectors and reduced drawing, as in a boundary.

    Drawings without connectors take no part. Those that failed have neither connectors nor a reduced drawing.
    """
    connectors: list[tuple[Any, str]] = []
    reach: list[list[int]] = []
    directions: list[str] = []
    stubs: list[str] = []
    failed: list[Any] = []
    for drawing, found, stub in drawings:
        if found is None or stub is None:
            failed.append(drawing)
            continue
        if not found:
            continue
        numbers = {connector["id"]: len(connectors) + at for at, connector in enumerate(found)}
        connectors += [(drawing, connector["id"]) for connector in found]
        directions += [connector["direction"] for connector in found]
        reach += [[numbers[identifier] for identifier in connector["reach"]] for connector in found]
        stubs.append(stub)
    joined = _join(stubs)
    if len(joined["ids"]) != len(connectors):
        raise ValueError(f"the reduced drawings have {len(joined['ids'])} connectors, not {len(connectors)}")
    number_of = {identifier: at for at, identifier in enumerate(joined["ids"])}
    pairs = []
    for pair in joined["pairs"]:
        source, target = number_of[pair["from"]], number_of[pair["to"]]
        pairs.append((source, target))
        if not any(directions[at] in ("in", "out") for at in (source, target)):
            pairs.append((target, source))
    return Network(walk, connectors, pairs, reach, joined["unmatched"], joined["ambiguous"], failed)


def _join(stubs: list[str]) -> dict[str, Any]:
    """Returns the ids of all connectors of some drawings, in their order, and how they pair."""
    document = f"[{','.join(stubs)}]".encode()
    result: dict[str, Any] = json.loads(pidq.Graph.from_json(document).run(_JOIN, limits=_STITCH_LIMITS).json_bytes())
    return result


_JOIN = """joinSheets(get()) | let({joined: .metadata.joined}, {
    ids: withGraph(get(), offPageList() | map(.id)),
    pairs: $joined.pairs, unmatched: $joined.unmatched, ambiguous: $joined.ambiguous
})"""
