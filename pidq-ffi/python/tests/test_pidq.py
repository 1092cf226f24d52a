"""Tests of the public API. Tests that need other packages are in test_interop.py."""

import copy
import dataclasses
import decimal
import errno
import functools
import gc
import inspect
import json
import os
import pickle
import re
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pidq

DATA = Path(__file__).parents[3] / "examples" / "data"
PLANT = DATA / "plant.json"
LOOPS = '.pid_graph.nodes | filter(.node_type == "loop")'


def raises(kind, work):
    try:
        work()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def plant():
    return pidq.Graph.from_json(PLANT)


def test_documents_are_read_from_all_sources():
    text = PLANT.read_bytes()
    for source in (text, text.decode(), bytearray(text), memoryview(text), PLANT, str(PLANT), json.loads(text)):
        assert pidq.Graph.from_json(source).query(LOOPS + " | size()") == 5
    assert pidq.Graph.from_file(DATA / "skid.xml").query("nodes() | size()") > 10
    xml = (DATA / "skid.xml").read_bytes()
    assert repr(pidq.Graph.from_proteus(xml)) == repr(pidq.Graph.from_proteus(DATA / "skid.xml"))


def test_values_match_the_json_module():
    texts = [
        "null",
        "true",
        "false",
        "0",
        "-0",
        "-0.0",
        "1",
        "1.0",
        "53.0",
        "1.5",
        "1e3",
        "1E400",
        "12345678901234567890",
        "-9223372036854775808",
        "0.1",
        "123456789012345678901234567890.5",
        '""',
        '"a"',
        '"\\u00e9\\ud83d\\ude00\\n"',
        "[]",
        "{}",
        "[[[]], {}]",
        '{"a": {"b": [1, {"c": null}]}}',
        '{"a": 1, "a": 2}',
        '{"": 0}',
        '[{"a": 1, "b": "x"}, {"a": 2, "b": "x"}, {"b": 1}, {"a": {"a": 1, "b": 2}}]',
    ]
    warnings.simplefilter("ignore", pidq.QueryWarning)
    for text in texts:
        query = pidq.Query("get()")
        value = query(pidq.Graph.from_json(text.encode()))
        assert repr(value) == repr(json.loads(query.run(pidq.Graph.from_json(text.encode())).json())), text
        assert value == json.loads(text) and type(value) is type(json.loads(text)), text


def test_computed_numbers_match_the_json_module():
    for text in ("1 + 1", "1 / 4", "2 ^ 60", "10 ^ 20", "10 ^ 21", "10 ^ 22 + 0.5", "0 - 7", "0 * -1", "1 / 0"):
        query = pidq.Query(text)
        graph = pidq.Graph.from_json(b"null")
        assert repr(query(graph)) == repr(json.loads(query.run(graph).json())), text


def test_deep_and_wide_values_are_built():
    deep = "[" * 400 + "]" * 400
    assert pidq.query(json.loads(deep), "get()") == json.loads(deep)
    wide = [{f"key_{n % 97}_{at}": at for at in range(n % 100)} for n in range(2_000)]
    assert pidq.query(wide, "get()") == wide


def test_built_values_are_independent_of_the_graph():
    graph = plant()
    first = graph.query(LOOPS)
    first[0]["tag"] = "changed"
    first[0]["attributes"] = None
    assert graph.query(LOOPS)[0]["tag"] == "F-1101"


def test_shared_objects_are_created_once():
    graph = plant()
    first, again = graph.query(LOOPS, shared=True), graph.query("nodes()", shared=True)
    assert first == graph.query(LOOPS) and first is not graph.query(LOOPS, shared=True)
    assert all(any(row is other for other in again) for row in first)
    assert graph.query("{a: nodes()}", shared=True)["a"] == again
    assert pidq.query([1], "get()") == pidq.Query("get()")([1], shared=True)
    rows = graph.query(LOOPS, shared=True)
    del graph, again
    gc.collect()
    assert rows == first


def test_json_view_does_not_copy():
    result = plant().run(LOOPS)
    view = result.json_view()
    text = result.json_bytes()
    del result
    gc.collect()
    plant().run("get()").json_bytes()
    assert view.readonly and bytes(view) == text


def test_building_leaks_nothing():
    graph, key = plant(), "a key of its own"
    query = pidq.Query('map({"a key of its own": .tag})')
    nodes = graph.query(".pid_graph.nodes")
    for _ in range(3):
        query(nodes)
    gc.collect()
    before = len(gc.get_objects()), sys.getrefcount(None)
    for _ in range(50):
        assert query(nodes)[0][key]
    gc.collect()
    after = len(gc.get_objects()), sys.getrefcount(None)
    assert abs(after[0] - before[0]) < 50 and abs(after[1] - before[1]) < 50, (before, after)
    assert gc.isenabled()


def test_errors_have_code_span_hint_and_carets():
    error = raises(pidq.SyntaxError, lambda: pidq.Query(".nodes | fliter(.a)"))
    assert (error.code, error.span, error.stage) == ("PQ1001", (9, 15), "compile")
    assert error.hint == "did you mean `filter`?"
    assert "  | .nodes | fliter(.a)\n  |          ^^^^^^" in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert raises(pidq.QueryError, lambda: pidq.query(3, "map(1)")).code == "PQ2001"
    assert raises(pidq.InputError, lambda: pidq.Graph.from_json(b"{")).code == "PQ5001"
    assert raises(ValueError, lambda: pidq.Graph.from_json(b"{")).code == "PQ5001"
    assert raises(OSError, lambda: pidq.Graph.from_file("no such file")).code == "PQ9003"
    assert raises(pidq.Error, lambda: plant().export("dwg")).code == "PQ6009"
    assert raises(pidq.Error, lambda: pidq.Query(".a\udcff")).code == "PQ9002"


def test_parameters_are_values_of_python():
    graph = plant()
    assert graph.query("{a: $text, b: $list, c: $none}", text="m³/h", list=[1, 2.5], none=None) == {
        "a": "m³/h",
        "b": [1, 2.5],
        "c": None,
    }
    assert raises(pidq.SyntaxError, lambda: graph.query("$missing")).code == "PQ1005"
    assert raises(TypeError, lambda: graph.query(pidq.Query("get()"), a=1))


def test_prepared_queries_run_with_many_values():
    graph = pidq.Graph.from_json([{"tag": "P-1", "kw": 15}, {"tag": "P-2", "kw": 7.5}, {"tag": "V-1"}])
    query = pidq.Query.prepare("filter(.kw > $least) | map(.tag) | limit($count)")
    assert query.parameters == ["least", "count"]
    assert query.bind(least=1, count=2)(graph) == ["P-1", "P-2"]
    assert query.bind({"least": 10}, count=2).run(graph).columns == ["value"]
    assert list(query.run_many(graph, [{"least": 1, "count": 1}, {"least": 99, "count": 1}])) == [["P-1"], []]
    assert graph.query(query, least=1, count=1) == ["P-1"]
    assert graph.run(query, {"least": 1, "count": 1}).value() == ["P-1"]
    assert graph.explain(query, least=1, count=1)["fuel"] > 0
    assert query.bind(least=decimal.Decimal("7.5"), count=9)(graph) == ["P-1"]
    for values, code in (({"least": 1}, "PQ1013"), ({"least": 1, "count": 1, "extra": 2}, "PQ1005"), ({}, "PQ1013")):
        assert raises(pidq.SyntaxError, lambda values=values: query.bind(values)).code == code
    assert raises(pidq.SyntaxError, lambda: graph.query(query)).code == "PQ1013"
    assert raises(pidq.SyntaxError, lambda: pidq.Query.prepare("skip($n)").bind(n="x")(graph)).code == "PQ1012"
    assert raises(pidq.SyntaxError, lambda: pidq.Query.prepare("fliter(true)")).code == "PQ1001"
    raises(TypeError, lambda: pidq.Query.prepare(["size"]))
    raises(TypeError, lambda: query.bind([1]))
    other = pickle.loads(pickle.dumps(query))
    assert other.parameters == query.parameters and other.bind(least=1, count=1)(graph) == ["P-1"]
    assert pickle.loads(pickle.dumps(query.bind(least=1, count=1)))(graph) == ["P-1"]
    with pidq.Query.prepare("$a") as closed:
        assert closed.bind(a=1)(graph) == 1
    raises(ValueError, lambda: closed.bind(a=1))


def test_bound_queries_are_values_as_compiled_ones_are():
    text = "filter(get() > $least) | limit($count)"
    prepared = pidq.Query.prepare(text)
    first, same = prepared.bind(least=1, count=2), prepared.bind({"count": 2, "least": 1})
    compiled = pidq.Query(text, least=1, count=2)
    assert repr(first) == repr(compiled) == f"Query({str(first)!r})" and not first.closed
    assert first == prepared.bind(least=1, count=2) == compiled and hash(first) == hash(compiled)
    assert same([1, 2, 3, 4]) == first([1, 2, 3, 4]) == [2, 3]
    for other in (
        prepared.bind(least=2, count=2),
        prepared,
        pidq.Query("$a", a=1),
        prepared.bind(least="1", count=2),
        1,
    ):
        assert first != other
    assert len({first, prepared.bind(least=1, count=2), compiled, prepared.bind(least=2, count=2)}) == 2
    cached = functools.lru_cache(lambda query: query([1, 2, 3]))
    assert cached(first) == cached(prepared.bind(least=1, count=2)) == [2, 3] and cached.cache_info().hits == 1
    assert pickle.loads(pickle.dumps(first)) == first
    # It has the values of the moment at which it was bound.
    values = [1]
    member = pidq.Query.prepare("filter(get() in $values)").bind(values=values)
    code, values[0] = hash(member), 2
    assert member([1, 2]) == [1] and hash(member) == code
    with member:
        pass
    assert member.closed and repr(member) == "Query(closed)"
    for call in (lambda: member([1]), lambda: str(member), lambda: member.run([1]), lambda: hash(member)):
        assert str(raises(ValueError, call)) == "the Query is closed"


def test_decimals_keep_their_digits_wherever_they_are_kept():
    value = decimal.Decimal("1.500000000000000000001")
    query = pidq.Query("$value", value=value)
    bound = pidq.Query.prepare("$value").bind(value=value)
    graph = pidq.Graph.from_json(b"null")
    for run in (query, bound, pickle.loads(pickle.dumps(query)), pickle.loads(pickle.dumps(bound))):
        assert run.run(graph).json() == str(value)
    assert graph.run("$value", value=value).json() == str(value)


def test_a_file_is_opened_by_its_path():
    for path in (PLANT, str(PLANT)):
        assert pidq.Graph.open(path).query("nodes() | size()") == plant().query("nodes() | size()")
    assert pidq.Graph.open(DATA / "skid.xml").query("nodes() | size()") > 10
    assert raises(pidq.FileError, lambda: pidq.Graph.open(DATA / "none.json")).code == "PQ9003"
    with open(PLANT, "rb") as file:
        raises(TypeError, lambda: pidq.Graph.open(file))


def test_a_file_that_cannot_be_read_is_one_exception_for_every_reader():
    missing, folder = str(DATA / "none.json"), str(DATA)
    readers = (
        pidq.Graph.open,
        pidq.Graph.from_file,
        pidq.Graph.from_json,
        pidq.Graph.from_proteus,
        lambda path: pidq.Graph.from_format("graphml", path),
    )
    for read in readers:
        for path, kind, number in (
            (missing, FileNotFoundError, errno.ENOENT),
            (folder, IsADirectoryError, errno.EISDIR),
        ):
            for given in (path, Path(path)):
                error = raises(kind, lambda read=read, given=given: read(given))
                assert isinstance(error, pidq.FileError) and isinstance(error, pidq.InputError)
                assert (error.errno, str(error.filename), error.code) == (number, path, "PQ9003")
                assert f"cannot read `{path}`: {error.strerror}" == error.message and error.message in str(error)
                assert type(error).__name__ == "FileError" and error.__suppress_context__
                other = pickle.loads(pickle.dumps(error))
                assert isinstance(other, kind) and (str(other), other.errno) == (str(error), number)


def test_parameters_keep_their_digits_and_their_order():
    for value in (2**53 + 1, 2**64, -(2**70), 10**30, 1.0, -0.0, 1e22, {"b": 1, "a": [2**64, {"z": 0, "y": 1}]}):
        assert repr(pidq.query(None, "$value", value=value)) == repr(value)
    for value in (float("nan"), float("inf"), "\ud800"):
        assert "the parameter `value`: " in str(
            raises(pidq.InputError, lambda value=value: pidq.query(None, "$value", value=value))
        )
    for value in ({1, 2}, b"x", object(), {(1, 2): 3}):
        raises(TypeError, lambda value=value: pidq.query(None, "$value", value=value))


def test_invalid_queries_and_documents_are_errors():
    assert pidq.query([1], ["size"]) == 1
    for text in (None, b"size()", 3):
        assert "a query must be a str" in str(raises(TypeError, lambda text=text: pidq.query([1], text)))
    for call in (lambda: pidq.Graph("plant.json"), lambda: pidq.Graph(12345), pidq.Graph):
        assert "Graph.from_json" in str(raises(TypeError, call))
    assert "Query.run" in str(raises(TypeError, lambda: pidq.Result(12345)))
    raises(TypeError, lambda: pidq.join(plant(), {"nodes": []}))
    raises(TypeError, lambda: plant().diff(pidq.Query("size()")))
    assert "byte order mark" in str(raises(pidq.InputError, lambda: pidq.Graph.from_json("\ufeff[1]")))


def test_large_parameters_are_not_cached():
    from pidq._query import compiled

    before = compiled.cache_info().currsize
    assert pidq.query([7], "filter(get() in $ids)", ids=list(range(10_000))) == [7]
    assert compiled.cache_info().currsize == before


def test_a_number_is_not_a_path():
    file = os.open(PLANT, os.O_RDONLY)
    raises(TypeError, lambda: pidq.Graph.from_json(file))
    raises(TypeError, lambda: pidq.Graph.from_format("proteus", file))
    os.close(file)


def test_nul_characters_are_errors():
    graph = plant()
    for call in (
        lambda: pidq.Graph.from_file(f"{PLANT}\0.png"),
        lambda: pidq.Query("$a", **{"a\0b": 1}),
        lambda: graph.export("csv\0"),
        lambda: graph.run("nodes()").export("csv\0"),
        lambda: graph.draw(title="a\0b"),
        lambda: graph.diff(graph, ignore=["a\0b"]),
    ):
        assert "NUL" in str(raises(ValueError, call))


def test_handles_are_not_copied():
    for made in (plant(), plant().run("nodes()"), pidq.Cancel(), pidq.Query("get()")):
        for other in (copy.copy(made), copy.deepcopy(made), copy.deepcopy([made])[0]):
            assert other is made
    for made in (plant().run("nodes()"), pidq.Cancel(), pidq.Limits(cancel=pidq.Cancel())):
        assert "cannot be pickled" in str(raises(TypeError, lambda made=made: pickle.dumps(made)))


def test_graphs_can_be_pickled():
    text = b'{"things": [{"key": "a", "n": 1.0, "m": 12345678901234567890123}, {"key": "b"}]}'
    graph = pidq.Graph.from_json(text, topology={"paths": {"nodes": ["things"]}, "node_id": ["key"]})
    other = pickle.loads(pickle.dumps(graph))
    assert other.json_bytes() == graph.json_bytes() == text
    assert other.query("nodes() | size()") == graph.query("nodes() | size()") == 2
    program = "import pickle, sys, pidq; print(pickle.load(sys.stdin.buffer).query('nodes() | size()'))"
    completed = subprocess.run([sys.executable, "-c", program], input=pickle.dumps(graph), stdout=subprocess.PIPE)
    assert completed.stdout.strip() == b"2"


def test_queries_have_a_text_form_and_can_be_pickled():
    query = pidq.Query('.a|filter(.b=="x")')
    assert str(query) == '.a | filter(.b == "x")'
    assert query.to_list() == ["pipe", ["get", "a"], ["filter", ["eq", ["get", "b"], "x"]]]
    assert pidq.Query(query.to_list()) == query == pickle.loads(pickle.dumps(query))
    assert len({query, pidq.Query(str(query))}) == 1
    least = pidq.Query("filter(get() > $least)", least=2)
    assert pickle.loads(pickle.dumps(least))([1, 2, 3]) == least([1, 2, 3]) == [3]
    assert least == pidq.Query("filter(get() > $least)", least=2) != pidq.Query("filter(get() > $least)", least=1)


def tuples(length):
    """Returns a query that builds all tuples of nine numbers; each element multiplies its time by nine."""
    return "let({n: [1, 2, 3, 4, 5, 6, 7, 8, 9]}, " + "$n | map(" * length + "1" + ")" * length + " | size())"


def test_limits_stop_queries():
    def code(length, **limits):
        return raises(pidq.LimitError, lambda: pidq.query(None, tuples(length), limits=pidq.Limits(**limits))).code

    cancel = pidq.Cancel()
    threading.Timer(0.05, cancel.cancel).start()
    endless = {"fuel": 1 << 60, "memory": 1 << 40}
    assert code(5, fuel=1_000) == "PQ4001"
    assert code(7, memory=100_000) == "PQ4007"
    assert code(9, timeout=0.05, **endless) == "PQ4005"
    assert code(9, cancel=cancel, **endless) == "PQ4008"
    assert raises(ValueError, lambda: pidq.Limits(fuel=-1))
    assert raises(TypeError, lambda: pidq.Limits(fuel=2.5))
    assert "timeout must be a number of seconds, not str" in str(raises(TypeError, lambda: pidq.Limits(timeout="2")))
    for long in (1e12, float("inf")):
        assert pidq.query([1], "size()", limits=pidq.Limits(timeout=long)) == 1
    assert raises(pidq.LimitError, lambda: plant().run("get()", limits=pidq.Limits(output=10)).json()).code == "PQ4003"


def test_the_gil_is_released_while_a_query_runs():
    cancel, counted = pidq.Cancel(), []

    def count():
        counted.extend(range(1_000))
        cancel.fire()

    threading.Timer(0.02, count).start()
    limits = pidq.Limits(fuel=1 << 60, memory=1 << 40, cancel=cancel)
    assert raises(pidq.LimitError, lambda: pidq.query(None, tuples(9), limits=limits)).code == "PQ4008"
    assert len(counted) == 1_000


def test_threads_share_a_graph_and_a_query():
    graph, query, answers = plant(), pidq.Query(LOOPS + " | map(.tag)"), []
    threads = [threading.Thread(target=lambda: answers.extend(query(graph) for _ in range(50))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 400 and all(answer == answers[0] for answer in answers)


def test_threads_share_a_result():
    """Several threads at a time read values that are created lazily."""
    for _ in range(10):
        result, answers = pidq.Query("map({n: get(), s: $s})", s="x" * 50).run(list(range(2_000))), []
        ways = [
            result.json_bytes,
            result.value,
            lambda result=result: list(result),
            lambda result=result: result.warnings,
        ]
        threads = [threading.Thread(target=lambda way=way, answers=answers: answers.append(way())) for way in ways * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(answers) == 8
        for answer in answers:
            assert answer == [] or (json.loads(answer) if isinstance(answer, bytes) else answer) == result.value()


def test_a_result_is_read_in_several_ways():
    result = plant().run(LOOPS + " | pick(.tag, .set_point)")
    assert len(result) == 5 and result.fuel > 0 and result.warnings == []
    assert list(result) == result.value() == json.loads(result.json()) == json.loads(result.json_bytes())
    assert '"set_point":40.0' in result.json()
    assert result.export("csv")["table.csv"].startswith(b"tag,set_point")
    assert "<td>F-1101</td>" in result._repr_html_()
    assert "Result(5 rows" in repr(result)


def test_probable_mistakes_are_warnings():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plant().query(".pid_graph.nodes | map(.tga)")
    assert [str(one.message) for one in caught] == ["PQW01: no object had a field `tga`; did you mean `.tag`?"]
    assert caught[0].filename == __file__
    assert plant().run(".pid_graph.nodes | map(.tga)").warnings[0]["help"] == "did you mean `.tag`?"


def test_drawings_are_drawn_compared_joined_and_written(tmp_path=None):
    graph, other = plant(), pidq.Graph.from_json(DATA / "plant_b.json")
    drawing = graph.draw(highlight=LOOPS, dark=True, title="A title")
    assert drawing.startswith("<svg ") and "A title" in drawing and drawing._repr_svg_() is not None
    assert len(graph.draw(select='.pid_graph.nodes | filter(.fluid_code == "PL")')) < len(drawing)
    assert graph.diff(graph)["equal"] and not graph.diff(other, ignore=["revision"], tolerance=5)["equal"]
    both = pidq.join(graph, pidq.Graph.from_json(DATA / "storage.json"))
    assert both.query("nodes() | size()") > graph.query("nodes() | size()")
    assert set(graph.export("csv-graph")) == {"nodes.csv", "edges.csv"}
    assert graph.explain(LOOPS)["rows"] == 5 and "filter" in str(graph.explain(LOOPS))
    bundle = graph._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "image/svg+xml"} and bundle["text/plain"] == repr(graph)
    assert set(pidq.Graph.from_json(b"[1]")._repr_mimebundle_()) == {"text/plain"}


def test_the_manual_names_every_method_with_its_options():
    manual = (Path(__file__).parents[3] / "docs" / "python.md").read_text(encoding="utf-8")
    _, reference = manual.split("## Functions and methods\n")
    for kind in (pidq.Graph, pidq.Query, pidq.PreparedQuery, pidq.Result, pidq.Batch, pidq.Cancel):
        names = {name for base in kind.__mro__[:-1] for name in vars(base) if not name.startswith("_")}
        for name in names:
            assert re.search(rf"\b{name}\b", reference), f"{kind.__name__}.{name}"
    functions = [("query", pidq.query), ("join", pidq.join), ("Query", pidq.Query)]
    functions += [
        (name, getattr(pidq.Graph, name)) for name in "from_json run explain to_dataframe to_arrow draw diff".split()
    ]
    functions += [(name, getattr(pidq.Query, name)) for name in ("run_batch", "check")]
    for name, function in functions:
        listed = re.findall(rf"`(?:Graph\.)?{name}\(([^`]*)\)`", reference)
        options = [
            key for key, option in inspect.signature(function).parameters.items() if option.kind == option.KEYWORD_ONLY
        ]
        assert any(all(option in found for option in options) for found in listed), (name, options, listed)
    assert re.search(r"Limits\((.*?)\)", reference).group(1).split(", ") == [
        field.name for field in dataclasses.fields(pidq.Limits)
    ]


def test_a_topology_configures_field_names():
    document = {"things": [{"key": "a"}, {"key": "b"}], "pipes": [{"start": "a", "stop": "b"}]}
    names = {"paths": {"nodes": ["things"], "edges": ["pipes"]}, "node_id": ["key"], "endpoints": [["start", "stop"]]}
    graph = pidq.Graph.from_json(document, topology=names)
    assert graph.query("nodes() | size()") == 2
    assert raises(pidq.Error, lambda: pidq.Graph.from_json(document, topology={"color": []})).code == "PQ1012"


if __name__ == "__main__":
    # Runs without pytest, for interpreters without other packages.
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(name)
