"""Queries on record batches: what the executors do, without Spark."""

import gzip
import json

import pidq
import pyarrow as pa
import pytest

from pidq_spark import DrawingQuery
from pidq_spark.batches import DrawingError, infer_schema

TAGS = pa.schema([("tag", pa.string())])
DRAWING = '{"nodes": [{"tag": "P-1", "kw": 5, "at": [1, 2]}, {"tag": "P-2", "kw": 7.5}], "edges": []}'


def run(query, *graphs, **columns):
    batch = pa.record_batch({"drawing": [f"D{at}" for at in range(len(graphs))], "graph": list(graphs), **columns})
    rows = []
    for output in query([batch]):
        output.validate(full=True)
        rows += output.to_pylist()
    return rows


def test_rows_have_the_drawing_the_columns_and_no_error():
    assert run(DrawingQuery(".nodes | map({tag: .tag})", TAGS), DRAWING) == [
        {"drawing": "D0", "tag": "P-1", "error": None},
        {"drawing": "D0", "tag": "P-2", "error": None},
    ]


def test_columns_have_the_types_of_the_schema():
    schema = pa.schema([("kw", pa.string()), ("at", pa.list_(pa.float64())), ("missing", pa.int64())])
    rows = run(DrawingQuery(".nodes", schema), DRAWING)
    assert [(row["kw"], row["at"], row["missing"]) for row in rows] == [("5", [1, 2], None), ("7.5", None, None)]


def zstd_stream(data):
    """Compresses without the size in the header, as programs that write a stream do."""
    with pa.BufferOutputStream() as sink:
        with pa.CompressedOutputStream(sink, "zstd") as stream:
            stream.write(data)
        return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("compress", [bytes, gzip.compress, pa.Codec("zstd").compress, zstd_stream])
def test_drawings_are_text_or_bytes_and_may_be_compressed(compress):
    compressed = compress(DRAWING.encode())
    assert len(run(DrawingQuery(".nodes", TAGS), DRAWING, DRAWING)) == 4
    assert len(run(DrawingQuery(".nodes", TAGS), pa.py_buffer(compressed).to_pybytes())) == 2


def test_a_query_on_no_drawings_has_no_rows():
    assert run(DrawingQuery(".nodes", TAGS)) == []
    assert list(DrawingQuery(".nodes", TAGS)([])) == []


def test_a_result_that_is_no_table_is_one_column():
    assert run(DrawingQuery(".nodes | size()", pa.schema([("value", pa.int64())])), DRAWING)[0]["value"] == 2


@pytest.mark.parametrize(
    ("graph", "query", "code"),
    [
        (None, ".nodes", "no_drawing"),
        ("", ".nodes", "PQ5001"),
        ("{", ".nodes", "PQ5001"),
        (b"\x1f\x8b\x00broken", ".nodes", "decompression_failed"),
        (gzip.compress(b" " * 5_000_000), ".nodes", "drawing_too_large"),
        ("[" + " " * 2_000_000 + "]", ".nodes", "drawing_too_large"),
        (DRAWING, ".nodes | size() | map(.tag)", "PQ"),
        (DRAWING, 'node("X")', "PQ"),
    ],
)
def test_a_drawing_that_fails_is_a_row_with_the_error(graph, query, code):
    rows = run(DrawingQuery(query, TAGS, max_bytes=1_000_000), graph, None if graph is None else DRAWING.encode())
    failed = rows[0]
    assert (failed["drawing"], failed["tag"]) == ("D0", None)
    assert failed["error"]["code"].startswith(code)
    assert failed["error"]["message"]


def test_a_value_that_does_not_fit_its_column_is_an_error_of_the_drawing():
    rows = run(DrawingQuery(".nodes", pa.schema([("tag", pa.int64())])), DRAWING, '{"nodes": [{"tag": 7}]}')
    assert [(row["drawing"], row["tag"], row["error"] and row["error"]["code"]) for row in rows] == [
        ("D0", None, "column_type"),
        ("D1", 7, None),
    ]


def test_failed_drawings_can_be_left_out_or_raise():
    assert [row["drawing"] for row in run(DrawingQuery(".nodes", TAGS, errors="skip"), "{", DRAWING)] == ["D1", "D1"]
    for graphs in (["{"], [DRAWING, "{", None]):
        with pytest.raises(pidq.InputError):
            run(DrawingQuery(".nodes", TAGS, errors="fail"), *graphs)
    with pytest.raises(DrawingError, match="no_drawing"):
        run(DrawingQuery(".nodes", TAGS, errors="fail"), DRAWING, None, "{")
    with pytest.raises(ValueError, match="errors"):
        DrawingQuery(".nodes", TAGS, errors="ignore")


def test_limits_apply_to_each_drawing():
    query = DrawingQuery(".nodes | map({tag: .tag})", TAGS, limits=pidq.Limits(fuel=60))
    large = json.dumps({"nodes": [{"tag": f"P-{at}"} for at in range(100)], "edges": []})
    assert [row["error"] and row["error"]["code"] for row in run(query, DRAWING, large, DRAWING)] == [
        None,
        None,
        "PQ4001",
        None,
        None,
    ]


def test_parameters_are_those_of_the_drawing():
    query = DrawingQuery(".nodes | filter(.tag == $tag)", TAGS, params="params")
    rows = run(query, DRAWING, DRAWING, params=['{"tag": "P-1"}', '{"tag": "P-2"}'])
    assert [(row["drawing"], row["tag"]) for row in rows] == [("D0", "P-1"), ("D1", "P-2")]


def test_parameters_that_are_no_object_are_an_error_of_the_drawing():
    query = DrawingQuery(".nodes | filter(.tag == $tag)", TAGS, params="params")
    rows = run(query, DRAWING, DRAWING, DRAWING, DRAWING, params=["{", "[1]", None, '{"tag": "P-1"}'])
    assert [row["error"] and row["error"]["code"] for row in rows[:2]] == ["params_invalid"] * 2
    assert rows[2]["error"]["code"].startswith("PQ") and rows[3]["error"] is None


def test_a_mistake_is_reported_before_any_drawing_is_read():
    with pytest.raises(pidq.SyntaxError):
        DrawingQuery(".nodes | fliter(.tag)", TAGS)
    with pytest.raises(ValueError, match="'drawing' exists twice"):
        DrawingQuery("offPageList()", pa.schema([("drawing", pa.string())]))


def test_columns_are_inferred_from_all_drawings_that_have_rows():
    numbers = '{"nodes": [{"tag": "P-3", "kw": 1}]}'
    batch = pa.record_batch({"drawing": list("abcd"), "graph": ["{", '{"nodes": []}', numbers, DRAWING]})
    schema = infer_schema(DrawingQuery(".nodes", pa.schema([])), [batch])
    assert {field.name: field.type for field in schema} == {"tag": pa.string(), "kw": pa.float64(), "at": pa.string()}
    with pytest.raises(ValueError, match="no rows"):
        infer_schema(DrawingQuery(".nodes", pa.schema([])), [batch.slice(0, 2)])


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view()])
def test_drawings_are_read_from_any_column_of_text(kind):
    texts = ['{"nodes": [{"tag": "A"}]}', None, "", '{"nodes": [{"tag": "B"}]}', '{"nodes": [{"tag": "C"}]}']
    whole = pa.record_batch({"drawing": list("abcde"), "graph": pa.array(texts, kind)})
    query = DrawingQuery(".nodes", TAGS, errors="skip")
    for start in range(6):
        for count in range(6 - start):
            found = [row["tag"] for output in query([whole.slice(start, count)]) for row in output.to_pylist()]
            assert found == [tag for tag in ["A", None, None, "B", "C"][start : start + count] if tag]
    empty = pa.record_batch({"drawing": ["a"], "graph": pa.array([""], kind)})
    assert [row["error"]["code"] for output in DrawingQuery(".nodes", TAGS)([empty]) for row in output.to_pylist()] == [
        "PQ5001"
    ]


#: Drawings of which neighbors have columns of other types, other columns, no rows, or an error.
VARIED = [
    DRAWING,
    '{"nodes": [{"tag": "P-3", "kw": 1}, {"kw": 2, "more": true}]}',
    "{",
    '{"nodes": []}',
    '{"nodes": [{"tag": null, "kw": null}, {}]}',
    '{"nodes": [{"tag": 7, "kw": "7"}]}',
    None,
    '{"nodes": {"tag": "P-4"}}',
    '{"nodes": [{"tag": "\\u00e4", "at": [3]}, {"tag": "P-5", "at": {"x": 1}}]}',
    '{"nodes": [{"tag": "P-6", "at": "[4, 5]", "kw": 1e3}]}',
    '{"nodes": 5}',
    '{"edges": []}',
]
SCHEMAS = [
    TAGS,
    pa.schema([("kw", pa.float64()), ("tag", pa.string())]),
    pa.schema([("kw", pa.int64()), ("missing", pa.bool_())]),
    pa.schema([("at", pa.list_(pa.float64())), ("more", pa.bool_()), ("kw", pa.string())]),
    pa.schema([("value", pa.int64())]),
]
QUERIES = [
    ".nodes",
    ".nodes | map({tag: .tag, kw: .kw, at: .at})",
    ".nodes | filter(.kw > 1) | map({kw: .kw})",
    ".nodes | size()",
    ".tga",
]


@pytest.mark.parametrize("errors", ["column", "skip"])
@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: ",".join(schema.names))
@pytest.mark.parametrize("query", QUERIES)
def test_drawings_that_are_queried_together_have_the_rows_of_each_by_itself(query, schema, errors):
    graphs = [graph for at in range(len(VARIED)) for graph in (VARIED[at], DRAWING, VARIED[at - 1])]
    together = run(DrawingQuery(query, schema, errors=errors), *graphs)
    timeout = pidq.Limits(timeout=60)
    assert together == run(DrawingQuery(query, schema, errors=errors, limits=timeout), *graphs)


def test_output_batches_are_bounded():
    many = json.dumps({"nodes": [{"tag": f"P-{at}"} for at in range(50_000)]})
    batch = pa.record_batch({"drawing": list("abc"), "graph": [many] * 3})
    sizes = [output.num_rows for output in DrawingQuery(".nodes", TAGS)([batch])]
    assert sum(sizes) == 150_000 and max(sizes) <= 65_536
