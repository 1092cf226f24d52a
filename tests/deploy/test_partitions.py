"""Test of the partition key: each statement of the platform reads and writes the rows of one pipeline, or is a declared exception.

The tables that grow with documents are partitioned by pipeline, 16 ways, in a copy of the schema; PostgreSQL then says for every
statement which partitions it touches. What touches one partition is sent to one node by an engine that shards by this key (Citus).
"""

import json
import re
import sqlite3
from pathlib import Path

import pytest

from partition_exceptions import EXCEPTIONS, KEY_NOT_IN_PRIMARY_KEY, PARTITIONED, REFERENCE
from replicas import postgres_server
from schema_versions import Postgres, steps
from statements import Statement, statements
from test_migrations import migrate

KEY = "pipeline_id"
PARTITIONS = 16


@pytest.fixture(scope="module")
def database(namespace, pidq: Path, work: Path, tmp_path_factory):
    """Database with the schema in `public`, and its partitioned copy in `sharded`."""
    with postgres_server(work, "partitions", "127.0.0.6"):
        database = Postgres("127.0.0.6", "partitions")
        migrate(pidq, database, tmp_path_factory.mktemp("partitions"))
        tables = [*REFERENCE, *PARTITIONED]
        database.run("create schema sharded;" + "\n".join(copy(database, table) for table in tables))
        yield database


def copy(database: Postgres, table: str) -> str:
    """Returns the SQL that copies a table; one that is partitioned has the key in front of its primary key."""
    if table in REFERENCE:
        return f"create table sharded.{table} (like public.{table} including all);"
    key = ", ".join(dict.fromkeys([KEY, *primary_key(database, table)]))
    sql = [f"create table sharded.{table} (like public.{table} including defaults, primary key ({key})) partition by hash ({KEY});"]
    for n in range(PARTITIONS):
        part = f"for values with (modulus {PARTITIONS}, remainder {n})"
        sql.append(f"create table sharded.{table}_{n} partition of sharded.{table} {part};")
    indexes = database.rows(
        f"select indexdef from pg_indexes where schemaname = 'public' and tablename = '{table}' and indexname not like '%\\_pkey'"
    )
    # A unique index of a partitioned table must contain the key: PostgreSQL refuses any other.
    sql += [definition.replace(" ON public.", " ON sharded.") + ";" for [definition] in indexes]
    return "\n".join(sql)


def primary_key(database: Postgres, table: str) -> list[str]:
    sql = f"""select a.attname as name from pg_index i, unnest(i.indkey) with ordinality k (number, position), pg_attribute a
      where i.indrelid = 'public.{table}'::regclass and i.indisprimary and a.attrelid = i.indrelid and a.attnum = k.number
      order by k.position"""
    return [name for [name] in database.rows(sql)]


def test_every_table_is_partitioned_or_a_declared_reference_table(database: Postgres):
    names = {name for [name] in database.rows("select tablename from pg_tables where schemaname = 'public'")}
    platform = {name for name in names if name not in OTHER_COMPONENTS and not name.endswith("_migration")}
    assert platform == set(REFERENCE) | set(PARTITIONED) and not set(REFERENCE) & set(PARTITIONED)
    for table in PARTITIONED:
        columns = [name for [name] in database.rows(f"select column_name from information_schema.columns where table_name = '{table}'")]
        assert KEY in columns, table
    without_key = {table for table in PARTITIONED if KEY not in primary_key(database, table)}
    assert without_key == set(KEY_NOT_IN_PRIMARY_KEY)


# Accounts and graphs have tables of their own, with other keys: tenant, and tenant and graph.
OTHER_COMPONENTS = {
    *("users", "clients", "grants", "graph_creators", "token_families", "access_tokens", "refresh_tokens"),
    *("known_networks", "shared_keys", "graph", "graph_version"),
}


def test_each_statement_touches_one_partition_or_is_a_declared_exception(database: Postgres):
    several = {}
    for statement in statements("platform"):
        if statement.database in ("", "postgres"):
            found = touched(database, statement)
            if found:
                several[f"{statement.file}.{statement.name}"] = f"{found}: {statement.sql}"
    declared = {name for names, _ in EXCEPTIONS for name in names}
    new, gone = sorted(set(several) - declared), sorted(declared - set(several))
    assert not new, "these touch several partitions:\n" + "\n".join(f"{name}: {several[name]}" for name in new)
    assert not gone, f"no longer exceptions: {gone}"


def test_sqlite_finds_a_row_by_its_id_and_not_all_rows_of_its_pipeline():
    """The key must not cost anything in SQLite: without statistics, it may prefer an index by pipeline to one by id."""
    database = sqlite3.connect(":memory:")
    for step in steps("platform"):
        database.executescript(step.path.read_text())
    # These read all rows of a pipeline, and its own row by id.
    of_all_rows = {"reindexes.NEXT_GENERATION", "reindexes.SWEEP"}
    checked = set()
    for statement in statements("platform"):
        if statement.database == "postgres" or not re.search(r"\b(document_)?id (= \$|in \()", statement.sql):
            continue
        count = max(map(int, re.findall(r"\$(\d+)", statement.sql)), default=0)
        sql = re.sub(r"\$(\d+)", r"?\1", statement.sql)
        plan = [row[3] for row in database.execute(f"explain query plan {sql}", [None] * count)]
        name = f"{statement.file}.{statement.name}"
        by_pipeline = [line for line in plan if re.search(r"_by_(pipeline|partition) \(pipeline_id=\?(?! AND id=)", line)]
        assert not by_pipeline or name in of_all_rows, f"{name}: {plan}"
        checked.add(name)
    assert of_all_rows < checked and len(checked) > 50


def touched(database: Postgres, statement: Statement) -> str:
    """Returns why a statement does not touch one partition only, or an empty text."""
    target = re.match(r"insert into (\w+) \(([^)]*)\)", statement.sql)
    if target and target[1] in PARTITIONED and KEY not in target[2].split(", "):
        return "inserts without the key"
    try:
        plan = explain(database, statement.sql)
    except AssertionError as error:
        return f"not possible: {str(error).splitlines()[0]}"
    relations = set(re.findall(r'"Relation Name": "(\w+)"', json.dumps(plan)))
    partitions = {}
    for relation in relations:
        found = re.fullmatch(r"(\w+)_(\d+)", relation)
        if found and found[1] in PARTITIONED:
            partitions.setdefault(found[1], set()).add(found[2])
    named = [table for table in PARTITIONED if re.search(rf"\b(from|join|update) {table}\b", statement.sql)]
    if set(named) - set(partitions):
        return f"not in the plan: {sorted(set(named) - set(partitions))}"
    # Rows of one pipeline have the same number in all tables.
    numbers = set().union(*partitions.values())
    return ", ".join(f"{len(parts)} of {table}" for table, parts in sorted(partitions.items())) if len(numbers) > 1 else ""


def explain(database: Postgres, sql: str):
    """Returns the plan of a statement for one value of each parameter."""
    prepare = f"set search_path to sharded; set plan_cache_mode to force_custom_plan; prepare s as {sql};"
    types = database.psql(f"{prepare} select unnest(parameter_types)::text from pg_prepared_statements", "-A", "-t").split()
    # Numbers differ, so that no condition is false at the outset.
    samples = [{"text": "'p'", "bigint": str(n), "bytea": "'\\x00'"}.get(kind, "null") for n, kind in enumerate(types)]
    values = ", ".join(samples)
    arguments = f"({values})" if types else ""
    return json.loads(database.psql(f"{prepare} explain (format json, costs off) execute s{arguments}", "-A", "-t"))
