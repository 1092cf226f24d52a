"""The catalog of items, queried by DuckDB and pyarrow: the oracle is a query on each drawing."""

import json

import pyarrow.parquet as pq
import pytest
from conftest import documented

from pidq_spark.__main__ import main
from pidq_spark.item_catalog import build

duckdb = pytest.importorskip("duckdb")


@pytest.fixture(scope="module")
def catalog(fleet, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("catalog") / "catalog.parquet")
    assert build(fleet.files(), path, processes=1) == (len(fleet.answers("nodes() | map({id: .id})")), [])
    return path


def answers(path, query):
    return duckdb.sql(query.replace("catalog", f"'{path}'")).fetchall()


def test_items_have_the_drawing_the_revision_and_their_place(catalog, fleet):
    place = """let({m: graph().metadata}, nodes() | map({
        sheet: $m.drawing_number, revision: $m.revision, item: .id, x: .orig_x, y: .orig_y
    }))"""
    expected = [tuple(row.values()) for row in fleet.answers(place)]
    assert answers(catalog, "select drawing, sheet, revision, item, x, y from catalog") == expected


@pytest.mark.parametrize(
    ("kind", "columns", "query"),
    [
        ("equipment", "tag, class, line", "equipmentList() | map({tag: .tag, class: .class, line: .lines})"),
        ("valve", "tag, role, line", "valveList() | map({tag: .tag, role: .role, line: .line})"),
        ("instrument", "tag, role", "instrumentIndex() | map({tag: .tag, role: .variable})"),
        ("connector", "item, role, line", "offPageList() | map({id: .id, role: .direction, line: .line})"),
        ("nozzle", "item", "nozzleList() | map({id: .id})"),
    ],
)
def test_items_of_a_kind_are_those_of_its_list(catalog, fleet, kind, columns, query):
    expected = sorted(tuple(row.values()) for row in fleet.answers(query))
    assert expected
    found = answers(catalog, f"select drawing, {columns} from catalog where kind = '{kind}'")
    assert sorted(found) == expected


def test_attributes_of_items_are_columns(catalog, fleet):
    expected = fleet.answers('equipmentList("material", "design_pressure") | filter(.design_pressure > 60)')
    assert expected
    query = "select drawing, tag, material from catalog where kind = 'equipment' and design_pressure::double > 60"
    assert sorted(answers(catalog, query)) == sorted((row["drawing"], row["tag"], row["material"]) for row in expected)


def test_questions_in_the_manual_have_answers(catalog):
    questions = [one for block in documented("sql") for one in block.split(";") if one.strip()]
    assert len(questions) >= 4
    for question in questions:
        assert duckdb.sql(question.replace("'catalog.parquet'", f"'{catalog}'")).fetchall(), question


def test_pyarrow_reads_only_what_a_question_needs(catalog):
    table = pq.read_table(catalog, columns=["drawing", "tag"], filters=[("role", "=", "relief")])
    assert table.column_names == ["drawing", "tag"] and table.num_rows > 0
    assert all(tag.startswith("PSV") for tag in table.column("tag").to_pylist())


def test_processes_do_not_change_the_catalog(catalog, fleet, tmp_path):
    path = str(tmp_path / "catalog.parquet")
    build(fleet.files(), path, processes=2)
    assert pq.read_table(path).equals(pq.read_table(catalog))


def test_the_command_reads_files_and_reports_those_that_fail(tmp_path, capsys):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps({"nodes": [{"id": 1, "tag": "P-1", "position": {"x": 3, "y": 4}}], "edges": []}))
    bad.write_text("{")
    output = tmp_path / "catalog.parquet"
    assert main(["build", str(good), str(bad), "-o", str(output), "--processes", "1"]) == 1
    printed = capsys.readouterr()
    assert printed.out == f"{output}: 1 items, 1 drawings failed\n" and printed.err.startswith(f"{bad}: PQ5001: ")
    assert [(row["drawing"], row["item"], row["x"]) for row in pq.read_table(output).to_pylist()] == [
        (str(good), "1", 3.0)
    ]


def test_a_catalog_is_not_replaced_by_one_that_is_not_complete(tmp_path):
    output = tmp_path / "catalog.parquet"
    output.write_bytes(b"the earlier one")
    with pytest.raises(FileNotFoundError):
        build([str(tmp_path / "missing.json")], str(output), processes=1)
    assert [path.name for path in tmp_path.iterdir()] == ["catalog.parquet"]
    assert output.read_bytes() == b"the earlier one"
