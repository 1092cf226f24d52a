"""Schema versions of the components: their migration files, and data that an installation of each version had.

`schemas/COMPONENT_N.json` has rows of every table of version N, recorded from a running service; the few tables that it leaves empty
have rows written by hand. `schemas/COMPONENT_N.sql` has the statements of the last program of version N, once N + 1 exists.
"""

import json
import re
import sqlite3
import subprocess
from dataclasses import dataclass
from pathlib import Path

from compose_stack import POSTGRES_BIN
from conftest import ROOT

DIRECTORY = Path(__file__).with_name("schemas")

# Component, directory of its migrations, and the table in which the program records them.
COMPONENTS = {
    "identity": ("pidq-http/migrations", "identity_migration"),
    "platform": ("pidq-pipeline/store/migrations", "platform_migration"),
    "graphs": ("pidq-server/migrations", "graph_migration"),
    # An index that can be rebuilt, and needs an extension: only its files are checked.
    "pgvector": ("pidq-pipeline/migrations", "pgvector_migration"),
}
# Graphs are files in an installation with SQLite.
TABLES_OF = {"sqlite": ["identity", "platform"], "postgres": ["identity", "platform", "graphs"]}


@dataclass(frozen=True)
class Step:
    """Migration file."""

    component: str
    version: int
    path: Path


def steps(component: str) -> list[Step]:
    """Returns the migrations of a component in their order."""
    directory = ROOT / COMPONENTS[component][0]
    found = [Step(component, int(path.stem.rsplit("_", 1)[1]), path) for path in directory.glob(f"{component}_*.sql")]
    return sorted(found, key=lambda step: step.version)


def read_data(step: Step) -> dict[str, dict]:
    """Returns the columns and rows of each table of a version."""
    return json.loads((DIRECTORY / f"{step.component}_{step.version}.json").read_text())


def tables(sql: str) -> list[str]:
    """Returns the tables that migrations create, in their order: a table refers to earlier ones only."""
    return re.findall(r"^create table (\w+)", sql, re.MULTILINE)


def literal(value, kind: str) -> str:
    """Returns a value as SQL. Bytes are recorded as `{"hex": …}`."""
    if value is None:
        return "null"
    if isinstance(value, dict):
        return f"x'{value['hex']}'" if kind == "sqlite" else f"'\\x{value['hex']}'"
    if isinstance(value, int):
        return str(value)
    return "'" + value.replace("'", "''") + "'"


class Sqlite:
    """SQLite database in a file."""

    kind = "sqlite"

    def __init__(self, path: Path):
        self.path, self.url = path, f"sqlite:{path}"

    def run(self, sql: str) -> None:
        connection = sqlite3.connect(self.path)
        connection.executescript(sql)
        connection.close()

    def rows(self, sql: str) -> list[list]:
        connection = sqlite3.connect(self.path)
        rows = connection.execute(sql).fetchall()
        connection.close()
        return [[{"hex": cell.hex()} if isinstance(cell, bytes) else cell for cell in row] for row in rows]

    def schema(self) -> str:
        """Returns the definitions of all tables and indexes."""
        rows = self.rows("select type, name, sql from sqlite_master where name not like 'sqlite_%' order by type, name")
        return "\n".join(f"{kind} {name}: {' '.join((sql or '').split())}" for kind, name, sql in rows)

    def definition(self, table: str) -> str:
        return self.rows(f"select sql from sqlite_master where name = '{table}'")[0][0]


class Postgres:
    """Database of a PostgreSQL server."""

    kind = "postgres"

    def __init__(self, server: str, name: str):
        self.server, self.name, self.url = server, name, f"postgres://pidq@{server}/{name}"
        subprocess.run([POSTGRES_BIN / "createdb", "-h", server, "-U", "pidq", name], check=True)

    def psql(self, sql: str, *options: str) -> str:
        command = [POSTGRES_BIN / "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", *options, self.url]
        run = subprocess.run(command, input=sql, capture_output=True, text=True)
        assert run.returncode == 0, f"{run.stderr}\n{sql[:2000]}"
        return run.stdout

    def run(self, sql: str) -> None:
        self.psql(sql)

    def rows(self, sql: str) -> list[list]:
        text = self.psql(f"select json_agg(json_build_array({self.columns(sql)})) from ({sql}) rows", "-A", "-t")
        return json.loads(text) if text.strip() else []

    def columns(self, sql: str) -> str:
        """Returns the columns of a query; bytes as they are recorded."""
        described = self.psql(f"select * from ({sql}) rows limit 0 \\gdesc", "-A", "-t").split()
        pairs = [line.split("|") for line in described]
        encoded = "case when {0} is null then null else json_build_object('hex', encode({0}, 'hex')) end"
        return ", ".join(encoded.format(name) if kind == "bytea" else name for name, kind in pairs)

    def schema(self) -> str:
        dump = [POSTGRES_BIN / "pg_dump", "--schema-only", "--no-owner", self.url]
        text = subprocess.run(dump, check=True, capture_output=True, text=True).stdout
        # Newer versions print a random word.
        return re.sub(r"^\\(un)?restrict .*$", "", text, flags=re.MULTILINE)

    def definition(self, table: str) -> str:
        dump = [POSTGRES_BIN / "pg_dump", "--schema-only", "--no-owner", f"--table={table}", self.url]
        text = subprocess.run(dump, check=True, capture_output=True, text=True).stdout
        return re.sub(r"^\\.*$", "", text, flags=re.MULTILINE)


def build(database, fresh, component: str, version: int) -> None:
    """Makes the database as it was at a version of a component, with data; the other components have their last version.

    `fresh` is a new database of the same kind: it has the records of the migrations, as the program writes them.
    """
    for name in TABLES_OF[database.kind]:
        past = [step for step in steps(name) if name != component or step.version <= version]
        table = COMPONENTS[name][1]
        sql = "\n".join(step.path.read_text() for step in past)
        data, inserts = read_data(past[-1]), []
        for step_table in tables(sql):
            if step_table in data:
                inserts.append(f"delete from {step_table};")
                inserts += insert(step_table, data[step_table], database.kind)
        columns = record_columns(fresh, table)
        records = fresh.rows(f"select {', '.join(columns)} from {table} where version <= {past[-1].version} order by version")
        inserts += insert(table, {"columns": columns, "rows": records}, database.kind)
        database.run(f"{sql}\n{fresh.definition(table)};")
        database.run("set search_path to public;\n" * (database.kind == "postgres") + "\n".join(inserts))


def record_columns(fresh, table: str) -> list[str]:
    # The times and durations have defaults.
    return ["version", "description", "success", "checksum", "execution_time"]


def insert(table: str, content: dict, kind: str) -> list[str]:
    columns = ", ".join(content["columns"])
    values = [", ".join(literal(value, kind) for value in row) for row in content["rows"]]
    return [f"insert into {table} ({columns}) values ({row});" for row in values]
