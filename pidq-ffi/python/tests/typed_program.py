"""Program with types, which checkers read in their strict modes; its tests also run it."""

from __future__ import annotations

import datetime
import io
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Optional

import pidq


def documents(path: Path) -> Iterator[pidq.Graph]:
    yield pidq.Graph.from_json(path)
    yield pidq.Graph.from_json(path.read_bytes())
    yield pidq.Graph.from_file(str(path))
    yield pidq.Graph.open(path)
    with path.open("rb") as binary:
        yield pidq.Graph.from_json(binary)
    with path.open(encoding="utf-8") as characters:
        yield pidq.Graph.from_file(characters)
    yield pidq.Graph.from_json({"nodes": [{"id": "P-1"}], "edges": []}, default=str)
    yield pidq.Graph.from_json([1, 2], topology={"node_id": ["key"]})


def results(graph: pidq.Graph) -> None:
    params: Mapping[str, object] = {"since": datetime.date(2026, 3, 1)}
    query: pidq.Query = pidq.Query("if($least > 5, $since, null)", params, least=Decimal("7.5"))
    limits = pidq.Limits(fuel=1_000_000, timeout=2.5, cancel=pidq.Cancel())
    with query.run(graph, limits=limits) as result:
        row: Any = result[0]
        rows: list[Any] = result[1:]
        size: int = len(result)
        fuel: int = result.fuel
        text: str = result.json()
        data: bytes = result.json_bytes()
        view: memoryview = result.json_view()
        found: list[dict[str, Any]] = result.warnings
        files: dict[str, bytes] = result.export("json", io.BytesIO())
        columns: list[str] = result.columns
        assert (row, rows, size, text, data) == ("2026-03-01", [], 1, '"2026-03-01"', b'"2026-03-01"')
        assert fuel >= 0 and view == data and not found and files and columns == ["value"]
        assert [str(value) for value in result] == [result.value()]
    prepared: pidq.PreparedQuery = pidq.Query.prepare("[$a, $b]")
    names: list[str] = prepared.parameters
    bound: pidq.Query = prepared.bind({"a": 1}, b=datetime.date(2026, 3, 1))
    many: Iterator[Any] = prepared.run_many(graph, [{"a": 1, "b": 2}], limits=limits)
    assert names == ["a", "b"] and bound(graph) == [1, "2026-03-01"] and list(many) == [[1, 2]]
    profile: pidq.RunProfile = graph.explain("get()")
    checked: list[dict[str, Any]] = query.check(graph)
    tree: list[Any] = query.to_list()
    batch: pidq.Batch = pidq.Query("get()").run_batch([b"1", "2", {"a": 3}, graph], default=str)
    count: int = batch.count
    assert profile["fuel"] > 0 and not checked and tree and count == 4
    converted: Any = graph.query("$path", path=Path("a"), default=str)
    assert converted == "a" and len({bound, prepared.bind(a=1, b="2026-03-01")}) == 1
    pidq.Cancel().cancel()
    drawing: pidq.Drawing = graph.draw(highlight="nodes()", title="A title")
    changes: dict[str, Any] = graph.diff(graph, ignore=["revision"])
    assert drawing.startswith("<svg") and changes["equal"]


def failures() -> Optional[tuple[str, Optional[tuple[int, int]], Optional[str]]]:
    try:
        pidq.query([], "fliter(true)")
    except pidq.Error as error:
        return error.code, error.span, error.hint
    return None


def main() -> None:
    path = Path(__file__).parents[3] / "examples" / "data" / "plant.json"
    graphs = list(documents(path))
    assert len(graphs) == 8
    results(graphs[0])
    assert failures() == ("PQ1001", (0, 6), "did you mean `filter`?")


if __name__ == "__main__":
    main()
