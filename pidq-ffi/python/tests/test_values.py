"""Tests of sources, parameters and results as Python values: files, conversions, rows, closing. Needs only pidq."""

import dataclasses
import datetime
import enum
import functools
import io
import json
import sys
import tempfile
import threading
import uuid
import warnings
from decimal import Decimal
from pathlib import Path

import pidq

DATA = Path(__file__).parents[3] / "examples" / "data"
ROWS = [{"tag": f"P-{n}", "kw": n} for n in range(1_000)]


def raises(kind, work):
    try:
        work()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def test_open_files_are_read_from_where_they_are():
    text = (DATA / "plant.json").read_text(encoding="utf-8")
    counts = "nodes() | size()"
    expected = pidq.Graph.from_json(text).query(counts)
    with open(DATA / "plant.json", "rb") as binary, open(DATA / "plant.json", encoding="utf-8") as characters:
        assert pidq.Graph.from_json(binary).query(counts) == expected
        assert pidq.Graph.from_json(characters).query(counts) == expected
        assert raises(pidq.InputError, lambda: pidq.Graph.from_json(binary)).code == "PQ5001"  # at its end
    # `from_file` detects the format, whatever the file is called.
    with open(DATA / "skid.xml", "rb") as file:
        assert repr(pidq.Graph.from_file(file)) == repr(pidq.Graph.from_file(DATA / "skid.xml"))
    assert repr(pidq.Graph.from_file(io.StringIO(text))) == repr(pidq.Graph.from_file(DATA / "plant.json"))
    with open(DATA / "skid.xml", "rb") as file:
        assert repr(pidq.Graph.from_proteus(file)) == repr(pidq.Graph.from_proteus(DATA / "skid.xml"))


def test_exports_are_written_to_open_files():
    result = pidq.Query("get()").run(ROWS[:2])
    file = io.BytesIO()
    files = result.export("csv", file)
    assert [file.getvalue()] == list(files.values()) and file.getvalue().startswith(b"tag,kw")
    graph = pidq.Graph.from_json({"nodes": [{"id": "a"}], "edges": []})
    assert "directory" in str(raises(ValueError, lambda: graph.export("csv-graph", file)))
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "rows.csv"
        result.export("csv", path)
        assert path.read_bytes() == file.getvalue()


class Unit(enum.Enum):
    BAR = "bar"


@dataclasses.dataclass
class Pump:
    tag: str
    power: Decimal


def test_values_of_other_types_have_documented_conversions():
    utc = datetime.timezone.utc
    cases = [
        (datetime.date(2026, 3, 1), '"2026-03-01"'),
        (datetime.datetime(2026, 3, 1, 12, 30), '"2026-03-01T12:30:00"'),
        (datetime.datetime(2026, 3, 1, 12, 30, 0, 250, utc), '"2026-03-01T12:30:00.000250+00:00"'),
        (datetime.time(6, 15), '"06:15:00"'),
        (datetime.timedelta(minutes=90), '"PT5400S"'),
        (datetime.timedelta(days=-1, microseconds=1), '"-PT86399.999999S"'),
        (datetime.timedelta(0), '"PT0S"'),
        (Decimal("0.1000"), "0.1000"),
        (Decimal("-123456789012345678901234567890.123"), "-123456789012345678901234567890.123"),
        (Decimal("1E+3"), "1E+3"),
        (uuid.UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        (Unit.BAR, '"bar"'),
        (Pump("P-1", Decimal("7.50")), '{"tag": "P-1", "power": 7.50}'),
        ((1, 2), "[1, 2]"),
    ]
    for value, expected in cases:
        assert pidq.Query("$value", value=value).run(None).json() == expected, value
        assert pidq.Query(".value").run({"value": value}).json() == expected, value
        assert pidq.Query(".value").run(pidq.Graph.from_json({"value": value})).json() == expected, value
    # Decimals are compared as numbers, and a text that looks like the stand-in of a number remains a text.
    assert pidq.query([7.5, 8], "filter(get() > $limit)", limit=Decimal("7.50")) == [8]
    assert pidq.query([Decimal("1.50"), "number 0 1.5", '"'], "get()") == [1.5, "number 0 1.5", '"']
    for value in (Decimal("NaN"), Decimal("Infinity"), Decimal("sNaN")):
        raises(ValueError, lambda value=value: pidq.Query("$value", value=value))


def test_default_converts_the_rest():
    class Tag:
        def __init__(self, text):
            self.text = text

    data = {"tag": Tag("P-1"), "at": datetime.date(2026, 3, 1)}
    assert "Tag cannot be converted" in str(raises(TypeError, lambda: pidq.query(data, "get()")))
    expected = {"tag": "P-1", "at": "2026-03-01"}
    assert pidq.query(data, "get()", default=lambda value: value.text) == expected
    assert pidq.Graph.from_json(data, default=lambda value: value.text).query("get()") == expected
    assert pidq.Graph.from_json([Tag(Decimal("1.50"))], default=lambda value: value.text).json_bytes() == b"[1.50]"
    raises(ZeroDivisionError, lambda: pidq.query(data, "get()", default=lambda _: 1 // 0))
    # Also in parameters.
    options = {"default": lambda value: value.text}
    graph, prepared, tag = pidq.Graph.from_json(b"null"), pidq.Query.prepare("$tag"), Tag(Decimal("1.50"))
    calls = (
        lambda **given: pidq.query(None, "$tag", tag=tag, **given),
        lambda **given: graph.query("$tag", {"tag": tag}, **given),
        lambda **given: graph.run("$tag", tag=tag, **given).value(),
        lambda **given: graph.run(["get"], {"tag": tag}, **given).value() or 1.5,
        lambda **given: graph.query(prepared, tag=tag, **given),
        lambda **given: prepared.bind(tag=tag, **given)(graph),
        lambda **given: next(prepared.run_many(graph, [{"tag": tag}], **given)),
        lambda **given: pidq.Query("$tag", tag=tag, **given)(None),
        lambda **given: pidq.Query("get()").run_batch([tag], **given).count + 0.5,
    )
    for call in calls:
        assert call(**options) == 1.5
        assert "Tag cannot be converted" in str(raises(TypeError, call))
    assert graph.explain("$tag", tag=tag, **options)["fuel"] >= 0
    for call in (lambda: pidq.Query("$default", default=5), lambda: graph.query("$default", default=5)):
        assert "pass a parameter of that name in a mapping" in str(raises(TypeError, call))


def test_values_that_json_does_not_have_are_errors_with_their_path():
    nan, inf = float("nan"), float("inf")
    cases = [
        (nan, "NaN"),
        ([{"a": 1}, {"a": nan}], "NaN at [1].a"),
        ({"rows": [(0, -inf)]}, "-Infinity at .rows[0][1]"),
        ({"a b": {"é": inf}}, 'Infinity at ."a b"."é"'),
        ([Decimal("sNaN")], "sNaN at [0]"),
        (Pump("P-1", Decimal("Infinity")), "Infinity at .power"),
        ([datetime.date(2026, 3, 1), {"b": Decimal("NaN")}], "NaN at [1].b"),
        ([{nan: 1}], "the key NaN at [0]"),
    ]
    for value, found in cases:
        documents = (
            lambda value=value: pidq.query(value, "get()"),
            lambda value=value: pidq.Query("get()")(value),
            lambda value=value: pidq.Graph.from_json([value]),
            lambda value=value: pidq.Query("get()").run_batch([b"1", value]),
        )
        for read in documents:
            error = raises(pidq.InputError, read)
            assert error.code == "PQ5001" and "default=" in error.hint
            assert error.message.startswith("expected a value of JSON, found ")
        assert raises(pidq.InputError, documents[0]).message == f"expected a value of JSON, found {found}"
        error = raises(pidq.InputError, lambda value=value: pidq.query([], "$x", x=value))
        assert error.message == f"the parameter `x`: expected a value of JSON, found {found}"
        assert str(error) == f"error[PQ5001]: {error.message}\n  = help: {error.hint}"
    rows = [{"a": 1.5}, {"a": nan}, {"a": Decimal("NaN")}]
    nulls = [{"a": 1.5}, {"a": None}, {"a": None}]
    assert pidq.query(rows, "get()", default=lambda value: None) == nulls
    assert pidq.query([], "$rows", rows=rows, default=lambda value: None) == nulls
    assert pidq.Graph.from_json(rows, default=str).query("map(.a)") == [1.5, "nan", "NaN"]
    raises(pidq.InputError, lambda: pidq.query([nan], "get()", default=lambda value: inf))
    loop = []
    loop.append(loop)
    assert "Circular" in str(raises(ValueError, lambda: pidq.query(loop, "get()")))


def test_batches_take_documents_of_every_type():
    content = {"tag": "P-1"}
    text = json.dumps(content)
    graph = pidq.Graph.from_json(content)
    same = [
        text,
        text.encode(),
        bytearray(text.encode()),
        memoryview(text.encode()),
        content,
        graph,
        graph.run("get()"),
    ]
    batch = pidq.Query("if(.tag == $tag, size(.tag), null)", tag="P-1").run_batch(same)
    assert batch.count == len(same) and batch.failures == []
    assert pidq.Query("get()").run_batch(line for line in ("1", "2", "x")).failures[0]["document"] == 2
    query = pidq.Query("get()")
    for single in (text, text.encode(), content, graph):
        assert "list of documents" in str(raises(TypeError, lambda single=single: query.run_batch(single)))
    for other in (object(), {1, 2}, query):
        raises(TypeError, lambda other=other: query.run_batch([b"1", other]))


def test_parameters_may_have_any_name():
    params = {"limits": 1, "shared": 2, "default": 3, "params": 4}
    text = "[$limits, $shared, $default, $params, $more]"
    assert pidq.query(None, text, params, more=5) == [1, 2, 3, 4, 5]
    graph = pidq.Graph.from_json(b"null")
    assert graph.query(text, params, more=5, limits=pidq.Limits(fuel=1_000)) == [1, 2, 3, 4, 5]
    assert graph.run(text, params, more=5)[:] == [1, 2, 3, 4, 5]
    assert pidq.Query(text, params, more=5)(None) == [1, 2, 3, 4, 5]
    assert graph.explain("$limits", params)["fuel"] > 0
    assert "write `name=value`" in str(raises(TypeError, lambda: graph.query("$tag", "P-101")))
    assert "'shared' is given twice" in str(raises(TypeError, lambda: pidq.Query("$shared", params, shared=5)))


def test_a_query_is_compiled_once_for_all_values_of_its_parameters():
    from pidq._query import compiled

    text = "filter(.kw >= $least and .tag != $not) | map(.tag) | limit($count)"
    expected = {}
    for least in range(20):
        params = {"least": least, "not": f"P-{least}", "count": least % 3 + 1}
        expected[least] = pidq.Query(text, params)(ROWS[:40])
        assert pidq.query(ROWS[:40], text, params) == expected[least], least
        graph = pidq.Graph.from_json(ROWS[:40])
        assert graph.run(text, params).value() == expected[least]
        assert graph.query(text, params, limits=pidq.Limits(fuel=10_000, timeout=10)) == expected[least]
        assert graph.explain(text, params)["rows"] == len(expected[least])
    assert len({tuple(tags) for tags in expected.values()}) > 5
    before = compiled.cache_info().currsize
    assert [pidq.query([], "size() + $number", number=number) for number in range(50)] == list(range(50))
    assert compiled.cache_info().currsize <= before + 1


def test_parameters_of_prepared_queries_fail_and_warn_as_compiled_ones_do():
    for _ in range(3):
        # Parameters that a query does not use, other types than before, and values that do not fit.
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            assert pidq.query([1], "size()", unused=1) == 1
        assert "$unused" in str(found[0].message)
        matches = "map(regex(get(), $pattern))"
        assert pidq.query(["P-1"], matches, pattern="^P") == [True]
        for pattern, code in (("(", "PQ1007"), ("[", "PQ1007")):
            search = functools.partial(pidq.query, ["P"], matches, pattern=pattern)
            assert raises(pidq.Error, search).code == code
        assert raises(pidq.Error, lambda: pidq.query([1], "$a + $b", a=1)).code == "PQ1005"
        error = raises(pidq.LimitError, lambda: pidq.query(ROWS, "map($a)", a=1, limits=pidq.Limits(fuel=10)))
        assert error.code == "PQ4001"
        raises(ValueError, lambda: pidq.query([1], "$x", x=float("nan")))
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            assert pidq.query([{"kw": 1}], "filter(.kw > 0 and $x == 1) | size()", x="1") == 0
        assert [issubclass(warning.category, pidq.QueryWarning) for warning in found] == [True]


def test_lone_surrogates_are_refused_wherever_text_comes_in():
    documents = (
        b'{"tag": "\\ud800"}',
        '["\\udc00x"]',
        {"tag": "\ud83d"},
        {"\ud83d": 1},
        ['\udc00"'],
        ("a\\", "\ud800"),
    )
    for document in documents:
        error = raises(pidq.InputError, lambda document=document: pidq.Graph.from_json(document))
        assert error.code == "PQ5004" and "lone surrogate" in error.message, document
        assert isinstance(error, ValueError)
    raises(ValueError, lambda: pidq.Graph.from_json('["\ud800"]'))
    raises(ValueError, lambda: pidq.Graph.from_json(io.StringIO('["\ud800"]')))
    for read in (lambda: pidq.query([1], "$x", x="\ud800"), lambda: pidq.query([1], "$x", x={"\udfff": 1})):
        raises(ValueError, read)
    assert raises(pidq.Error, lambda: pidq.query([1], '"\ud800"')).code == "PQ9002"
    batch = pidq.Query(".tag").run_batch([b'{"tag": "\\ud800"}', b'{"tag": "\\ud83d\\ude00"}'])
    assert [failure["error"]["code"] for failure in batch.failures] == ["PQ5004"]
    # Pairs and characters outside the basic plane are kept.
    for document in (b'["\\ud83d\\ude00"]', ["\U0001f600"], '["\U0001f600"]', b'["\\\\ud800"]'):
        expected = json.loads(document) if isinstance(document, (bytes, str)) else document
        assert pidq.Graph.from_json(document).query("get()") == expected


def test_rows_are_read_by_index_and_by_slice():
    result = pidq.Query("get()").run(ROWS)
    assert len(result) == len(ROWS)
    for index in (0, 1, -1, 999, -1_000):
        assert result[index] == ROWS[index], index
    slices = (
        slice(None),
        slice(3),
        slice(-3, None),
        slice(10, 20, 3),
        slice(20, 10, -3),
        slice(None, None, -1),
        slice(0, 1_000, 100),
        slice(999, 0, -100),
        slice(5, 5),
        slice(-5, 5_000),
        slice(5_000, 6_000),
    )
    for part in slices:
        assert result[part] == ROWS[part], part
    assert list(result) == ROWS and list(reversed(result)) == ROWS[::-1] and ROWS[7] in result
    assert "1000 rows" in str(raises(IndexError, lambda: result[1_000]))
    assert "value()['tag']" in str(raises(TypeError, lambda: result["tag"]))
    raises(TypeError, lambda: result[1.5])
    raises(ValueError, lambda: result[::0])
    one = pidq.Query("size()").run(ROWS)
    assert (len(one), one[0], one[-1], one[:], list(one)) == (1, 1_000, 1_000, [1_000], [1_000])
    empty = pidq.Query("filter(false)").run(ROWS)
    assert not empty and list(empty) == [] == empty[:] and raises(IndexError, lambda: empty[0])
    nested = pidq.Query("map([get()])").run(ROWS[:2])
    assert nested[1] == [ROWS[1]] and nested[1] is not nested[1]


def test_blocks_free_their_memory_and_say_that_they_are_closed():
    with pidq.Graph.from_json({"nodes": [{"id": "P-1"}], "edges": []}) as graph:
        query = pidq.Query("nodes()")
        with query.run(graph) as result, query:
            value, rows = result.value(), iter(result)
            view = pidq.Query("$text", text="x" * 100_000).run(graph).json_view()
    assert (graph.closed, query.closed, result.closed) == (True, True, True)
    assert value == [{"id": "P-1"}] == list(rows) and bytes(view) == b'"' + b"x" * 100_000 + b'"'
    assert [repr(closed) for closed in (graph, query, result)] == ["Graph(closed)", "Query(closed)", "Result(closed)"]
    calls = (
        lambda: graph.query("get()"),
        lambda: graph.size,
        lambda: graph.export("json"),
        lambda: graph.__enter__(),
        lambda: pidq.join(graph),
        lambda: query([1]),
        lambda: str(query),
        lambda: len(result),
        lambda: result[0],
        lambda: list(result),
        lambda: result.json(),
        lambda: result.value(),
        lambda: result.to_arrow() if "pyarrow" in sys.modules else result.fuel,
    )
    for call in calls:
        assert "closed" in str(raises(ValueError, call))
    graph.close()  # once more has no effect
    with pidq.Query("get()").run_batch([b"1"]) as batch:
        assert batch.count == 1
    raises(ValueError, lambda: batch.count)


def test_closing_does_not_disturb_runs_in_other_threads():
    text = "let({n: [1, 2, 3, 4, 5, 6, 7, 8, 9]}, $n | map($n | map($n | map($n | map(1)))) | size())"
    found, started = [], threading.Semaphore(0)

    def run(graph, query):
        started.release()
        try:
            found.append(query(graph))
        except ValueError as error:  # closed before the run
            assert "closed" in str(error)

    for _ in range(20):
        graph, query = pidq.Graph.from_json(ROWS), pidq.Query(text)
        thread = threading.Thread(target=run, args=(graph, query))
        thread.start()
        started.acquire()
        graph.close()
        thread.join()
        query.close()
    assert found and set(found) == {9}


if __name__ == "__main__":
    # Runs without pytest, for interpreters without other packages.
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(name)
