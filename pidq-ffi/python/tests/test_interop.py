"""Tests with pandas, Polars, pyarrow, NetworkX and other packages."""

import json
import math
from pathlib import Path

import networkx
import numpy
import pandas
import polars
import pyarrow

import pidq

DATA = Path(__file__).parents[3] / "examples" / "data"
LOOPS = '.pid_graph.nodes | filter(.node_type == "loop") | pick(.tag, .set_point, .unit)'


def raises(kind, work):
    try:
        work()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def plant():
    return pidq.Graph.from_json(DATA / "plant.json")


def test_columns_have_the_types_of_their_values():
    rows = [
        {"b": True, "i": 1, "f": 1.5, "s": "é", "n": None, "m": 1, "l": [1]},
        {"b": False, "i": 2, "f": 2, "s": None, "n": None, "m": "x", "l": []},
        {"i": -3, "s": "", "late": 7},
    ]
    table = pidq.Query("get()").run(rows).to_arrow()
    types = {
        "b": "bool",
        "i": "int64",
        "f": "double",
        "s": "string",
        "n": "null",
        "m": "string",
        "l": "string",
        "late": "int64",
    }
    assert {field.name: str(field.type) for field in table.schema} == types
    assert table.to_pydict() == {
        "b": [True, False, None],
        "i": [1, 2, -3],
        "f": [1.5, 2.0, None],
        "s": ["é", None, ""],
        "n": [None, None, None],
        "m": ["1", '"x"', None],
        "l": ["[1]", "[]", None],
        "late": [None, None, 7],
    }


def test_names_of_columns_are_those_of_the_table():
    for data, text, columns in (
        ([{"a": 1, "b": 2}, {"c": 3}], "get()", ["a", "b", "c"]),
        ([{"a": 1, "b": 2}, {"a": 3, "b": 4}], "map({b: .b, x: 1})", ["b", "x"]),
        ([{"a": 1}, 2], "get()", ["value"]),
        ([], "get()", []),
        ({"k": 1}, "get()", ["k"]),
        (5, "get()", ["value"]),
    ):
        assert pidq.Query(text).run(data).columns == columns, (data, text)
        assert list(pyarrow.table(pidq.Query(text).run(data)).column_names) == columns, (data, text)


def test_columns_of_any_length_are_complete():
    for count in (0, 1, 7, 8, 9, 63, 64, 65, 1_000):
        rows = [{"b": n % 3 == 0, "t": None if n % 5 == 0 else str(n), "x": n / 2 + 0.25} for n in range(count)]
        table = pidq.Query("get()").run(rows).to_arrow()
        table.validate(full=True)
        assert table.num_rows == count and table.to_pylist() == rows


def test_other_values_are_a_column_or_a_row():
    assert pidq.Query("get()").run([1, 2.5, None]).to_arrow().to_pydict() == {"value": [1.0, 2.5, None]}
    assert pidq.Query("get()").run([1, "a", {"b": 2}]).to_arrow().to_pydict() == {"value": ["1", '"a"', '{"b": 2}']}
    assert pidq.Query("size()").run([1, 2]).to_arrow().to_pydict() == {"value": [2]}
    assert pidq.Query("{a: size()}").run([1, 2]).to_arrow().to_pydict() == {"a": [2]}


def test_numbers_are_not_copied():
    result = pidq.Query("get()").run([{"x": n + 0.5} for n in range(1_000)])
    column = result.to_arrow()["x"].chunk(0)
    del result
    address = column.buffers()[1].address
    view = column.to_numpy(zero_copy_only=True)
    assert view.__array_interface__["data"][0] == address and view[999] == 999.5


def test_an_unread_stream_is_released():
    result = plant().run(LOOPS)
    for _ in range(1_000):
        result.__arrow_c_stream__()
    from pidq import _ffi

    assert not _ffi._streams


def test_pandas_and_polars_data_frames():
    frame = plant().to_dataframe(LOOPS)
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == ["tag", "set_point", "unit"]
    assert frame["set_point"].sum() == 233.0
    same = plant().to_dataframe(LOOPS, library="polars")
    assert isinstance(same, polars.DataFrame) and same["set_point"].sum() == 233.0
    assert plant().to_dataframe("edges").shape[0] == plant().query("edges() | size()")
    assert math.isnan(plant().to_dataframe()["set_point"].iloc[0])
    assert isinstance(plant().to_arrow(), pyarrow.Table)


def test_networkx_graphs_round_trip():
    graph = plant()
    other = graph.to_networkx()
    assert isinstance(other, networkx.MultiDiGraph)
    assert len(other) == graph.query("nodes() | size()")
    assert other.number_of_edges() == graph.query("edges() | size()")
    back = pidq.Graph.from_networkx(other)
    assert back.query(".pid_graph.nodes | map(.tag) | sort()") == graph.query(".pid_graph.nodes | map(.tag) | sort()")
    assert pidq.Graph.from_networkx(networkx.path_graph(4)).query("edges() | size()") == 3


def test_any_names_are_exported_to_networkx():
    edge = {"source": "a", "target": "b", "u_for_edge": 1, "v_for_edge": 2, "self": 3}
    metadata = {"self": 1, "incoming_graph_data": "x"}
    document = {"pid_graph": {"nodes": [{"id": "a"}, {"id": "b", "self": 1}], "edges": [edge], "metadata": metadata}}
    other = pidq.Graph.from_json(document).to_networkx()
    assert list(other.edges(data=True)) == [("a", "b", {"u_for_edge": 1, "v_for_edge": 2, "self": 3})]


def test_named_edges_of_networkx_keep_their_names():
    graph = networkx.MultiDiGraph()
    graph.add_edge("a", "b", key="P-1")
    graph.add_edge("a", "b")
    assert pidq.Graph.from_networkx(graph).query(".pid_graph.edges | map(.key)") == ["P-1", None]


def test_numpy_numbers_are_numbers():
    values = {"i": numpy.int64(3), "f": numpy.float32(1.5), "b": numpy.bool_(True), "l": numpy.array([[1, 2], [3, 4]])}
    plain = {"i": 3, "f": 1.5, "b": True, "l": [[1, 2], [3, 4]]}
    assert pidq.query(values, "get()") == pidq.query(None, "$v", v=values) == plain
    graph = networkx.DiGraph()
    graph.add_node("a", kw=numpy.int64(15))
    assert pidq.Graph.from_networkx(graph).query(".pid_graph.nodes | map(.kw)") == [15]


def test_missing_values_of_pandas_and_numpy_are_errors_or_null():
    frame = pandas.DataFrame({"a": [1.5, None], "at": pandas.to_datetime(["2026-03-01", None])})
    moments = numpy.array(["2026-03-01T12:30:00.000001", "NaT"], dtype="datetime64[ns]")
    cases = [
        (frame.to_dict("records"), "NaN at [1].a"),
        (frame["at"], "NaT at [1]"),
        ([pandas.NaT], "NaT at [0]"),
        ({"a": pandas.NA}, "<NA> at .a"),
        (pandas.array([1, None], dtype="Int64"), "<NA> at [1]"),
        (numpy.array([[1.0, numpy.nan]]), "NaN at [0][1]"),
        (moments, "NaT at [1]"),
        (moments[1], "NaT"),
        (numpy.timedelta64("NaT"), "NaT"),
    ]
    for value, found in cases:
        error = raises(pidq.InputError, lambda value=value: pidq.query(value, "get()"))
        assert error.message == f"expected a value of JSON, found {found}"
        assert "the parameter `x`: " in str(raises(pidq.InputError, lambda value=value: pidq.query([], "$x", x=value)))
    nulls = pidq.query(frame.to_dict("records"), "get()", default=lambda value: None)
    assert nulls == [{"a": 1.5, "at": "2026-03-01T00:00:00"}, {"a": None, "at": None}]
    assert pidq.query(moments, "get()", default=lambda value: None) == ["2026-03-01T12:30:00.000001", None]
    durations = numpy.array([1_500_000_000, 0], dtype="timedelta64[ns]")
    assert pidq.query([durations, moments[0]], "get()") == [["PT1.5S", "PT0S"], "2026-03-01T12:30:00.000001"]


def test_data_frames_of_queries_have_parameters():
    text = "nodes() | filter(.role == $role) | map({tag: .tag}) | limit($count)"
    query = pidq.Query.prepare("nodes() | map({tag: .tag}) | limit($count)")
    assert len(plant().to_dataframe(text, role="none", count=2)) == 0
    assert len(plant().to_dataframe(query, {"count": 2})) == 2
    assert len(plant().to_dataframe(query, {"count": object()}, default=lambda value: 1)) == 1
    assert plant().to_dataframe(query, count=3, library="polars").height == 3
    assert plant().to_arrow(query, count=1).num_rows == plant().to_arrow(pidq.Query("nodes() | limit(1)")).num_rows == 1
    assert raises(pidq.LimitError, lambda: plant().to_arrow(LOOPS, limits=pidq.Limits(fuel=1))).code == "PQ4001"


def test_columns_of_long_lists_match_their_rows():
    """Columns of long documents are copied as a whole, with the same types and values."""
    kinds = {
        "code": lambda n: ("pump", "valve", "heat exchanger of some length", "")[n % 4],
        "maybe": lambda n: None if n % 3 else "é",
        "tag": lambda n: f"P-{n * 7919 % 1000}",
        "long": lambda n: "x" * (n % 80) + str(n),
        "whole": lambda n: n * 31 % 977,
        "real": lambda n: n / 8,
        "gaps": lambda n: None if n % 5 == 0 else n + 0.5,
        "few": lambda n: (1, 2.5, None)[n % 3],
        "flag": lambda n: n % 7 == 0,
        "mixed": lambda n: (n, "x")[n % 2],
        "mostly": lambda n: n if n != 700 else "seven hundred",
        "nested": lambda n: {"n": n},
        "none": lambda n: None,
    }
    rows = [{name: value(n) for name, value in kinds.items() if name != "maybe" or n % 2} for n in range(1000)]
    graph = pidq.Graph.from_json({"rows": rows, "x": 53.0})
    fields = ", ".join(f"{name}: .{name}" for name in kinds)
    chosen = [
        "",
        " | filter(.whole > 300)",
        " | sort(.tag)",
        ' | sort(.tag, "desc") | filter(.code == "pump")',
        " | filter(.tag == .tag) | filter(.whole < 40)",
        " | filter(.flag)",
    ]
    for rest in chosen:
        for objects in ("", f" | map({{{fields}}})", " | pick(.tag, .real, .gaps, .nested.n)"):
            text = ".rows" + rest + objects
            expected = graph.query(text)
            table = graph.run(text).to_arrow()
            assert table.num_rows == len(expected), text
            table.validate(full=True)
            for name in table.column_names:
                values = [row.get(name) for row in expected]
                if name in ("mixed", "mostly", "nested"):
                    is_json = not all(isinstance(value, str) for value in values)
                    is_json = is_json and not all(isinstance(value, int) for value in values)
                    values = [json.dumps(value) for value in values] if is_json else values
                assert table[name].to_pylist() == values, (text, name)
    whole = graph.run(".rows | map({whole: .whole})").to_arrow()
    assert str(whole.schema.field("whole").type) == "int64"
    lexemes = pidq.Graph.from_json("[" + ",".join(f'{{"a": {n}.0}}' for n in range(500)) + "]")
    assert str(lexemes.run("get()").to_arrow().schema.field("a").type) == "double"


def test_columns_that_are_too_large_are_errors():
    rows = [{"text": "x" * 50 + str(n)} for n in range(1000)]
    for objects in ("get()", "map({text: .text})", "map({text: .text}) | limit(900)"):
        result = pidq.Query(objects).run(rows, limits=pidq.Limits(output=1000))
        try:
            result.to_arrow()
        except pidq.LimitError as error:
            assert error.code == "PQ4003"
        else:
            raise AssertionError(objects)
