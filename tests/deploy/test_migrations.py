"""Tests of migrations: from every earlier schema, with data, to the one of today."""

import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

import schema_versions
from conftest import ROOT
from load import Connection, upload
from replicas import DASHBOARD_PASSWORD, MASTER_KEY, MASTER_SECRET, Process, postgres_server, wait_until
from schema_versions import COMPONENTS, DIRECTORY, TABLES_OF, Postgres, Sqlite, build, read_data, steps, tables
from statements import read_list, statements

STEPS = [step for component in COMPONENTS for step in steps(component)]
WITH_DATA = [step for step in STEPS if step.component in TABLES_OF["postgres"]]
# Ports of the service that runs on the migrated database.
ADDRESS = "127.0.4.1:8000"
SETTINGS = {
    "PIDQ_LISTEN": ADDRESS,
    "PIDQ_ADMIN_LISTEN": "",
    "PIDQ_DASHBOARD_LISTEN": "",
    # The recorded jobs stay as they are.
    "PIDQ_WORKERS": "0",
    "PIDQ_APP_SECRET": "the-secret-of-the-recorded-installations-0123456789",
    "PIDQ_APP_MASTER_KEY": MASTER_KEY,
    "PIDQ_APP_MASTER_SECRET": MASTER_SECRET,
    "PIDQ_ADMIN_LOGIN": "admin",
    "PIDQ_ADMIN_PASSWORD": DASHBOARD_PASSWORD,
    "PIDQ_CLIENT_ID": "pidq",
    "PIDQ_CLIENT_SECRET": "secret-of-the-dashboard-client-0123456789",
}
TEXT = "The relief valve PSV-2015A is set at 38.5 barg."


@pytest.fixture(scope="module")
def server(namespace, work: Path):
    """Address of a PostgreSQL server."""
    with postgres_server(work, "migrations", "127.0.0.5"):
        yield "127.0.0.5"


def migrate(pidq: Path, database, data: Path) -> None:
    settings = {"PIDQ_DATABASE_URL": database.url, "PIDQ_DATA_DIR": str(data), "PIDQ_ADMIN_LISTEN": ""}
    if database.kind == "postgres":
        settings["PIDQ_STORE_URL"] = database.url
    run = subprocess.run([pidq, "migrate"], env=settings, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_a_migration_never_changes_once_it_is_in_the_repository():
    """An installation that has applied it would not start. Add a migration instead, and its line to `schemas/checksums`."""
    lines = (DIRECTORY / "checksums").read_text().splitlines()
    recorded = {name: checksum for checksum, name in (line.split() for line in lines)}
    actual = {str(step.path.relative_to(ROOT)): hashlib.sha256(step.path.read_bytes()).hexdigest() for step in STEPS}
    assert actual == recorded


@pytest.mark.parametrize("component", COMPONENTS)
def test_versions_of_a_component_have_no_gaps(component: str):
    assert [step.version for step in steps(component)] == list(range(1, len(steps(component)) + 1))


@pytest.mark.parametrize("step", WITH_DATA, ids=lambda step: step.path.stem)
def test_the_data_of_a_version_have_rows_of_every_table(step: schema_versions.Step):
    past = [other for other in steps(step.component) if other.version <= step.version]
    names = tables("\n".join(other.path.read_text() for other in past))
    data = read_data(step)
    assert sorted(data) == sorted(names), "record the data of a new version: PIDQ_TEST_RECORD=yes scripts/deploy_test.sh -k record"
    assert all(content["rows"] for content in data.values()), [name for name, content in data.items() if not content["rows"]]


def check(pidq: Path, database, fresh, step: schema_versions.Step, data: Path) -> None:
    """Migrates a database from a version, and compares its data and its schema."""
    build(database, fresh, step.component, step.version)
    migrate(pidq, database, data)
    for table, content in read_data(step).items():
        # A row has the values that it had; a later migration may add columns.
        columns = ", ".join(content["columns"])
        order = ", ".join(str(n + 1) for n in range(len(content["columns"])))
        migrated = sorted(map(json.dumps, database.rows(f"select {columns} from {table} order by {order}")))
        assert migrated == sorted(map(json.dumps, content["rows"])), table
    assert database.schema() == fresh.schema(), "the migrated schema is that of a new installation"


@pytest.mark.parametrize("step", [s for s in WITH_DATA if s.component in TABLES_OF["sqlite"]], ids=lambda step: step.path.stem)
def test_a_version_in_sqlite_is_migrated_and_serves_its_data(namespace, pidq: Path, tmp_path: Path, step: schema_versions.Step):
    fresh, database = Sqlite(tmp_path / "fresh.db"), Sqlite(tmp_path / "old.db")
    migrate(pidq, fresh, tmp_path)
    check(pidq, database, fresh, step, tmp_path)
    serve(pidq, database, tmp_path, has_graphs=False)


@pytest.mark.parametrize("step", WITH_DATA, ids=lambda step: step.path.stem)
def test_a_version_in_postgresql_is_migrated_and_serves_its_data(server: str, pidq: Path, tmp_path: Path, step: schema_versions.Step):
    fresh, database = Postgres(server, f"fresh_{step.path.stem}"), Postgres(server, f"old_{step.path.stem}")
    migrate(pidq, fresh, tmp_path)
    check(pidq, database, fresh, step, tmp_path)
    serve(pidq, database, tmp_path, has_graphs=True)


@pytest.mark.parametrize("step", WITH_DATA, ids=lambda step: step.path.stem)
def test_old_replicas_work_on_during_an_upgrade(server: str, pidq: Path, tmp_path: Path, step: schema_versions.Step):
    """The statements of the program before a migration are valid after it: replicas of both run side by side.

    A column or table is added by one release (expand), and removed by a later one (contract), whose file of statements then goes too.
    """
    is_last = step == steps(step.component)[-1]
    recorded = DIRECTORY / f"{step.path.stem}.sql"
    assert is_last or recorded.exists(), f"record them: python tests/deploy/statements.py {step.component} >{recorded}"
    # Those of today are valid at any rate.
    all_statements = statements(step.component) + (read_list(recorded) if recorded.exists() else [])
    for database in [Sqlite(tmp_path / "new.db")] * (step.component in TABLES_OF["sqlite"]) + [
        Postgres(server, f"statements_{step.path.stem}")
    ]:
        migrate(pidq, database, tmp_path)
        valid = [statement.sql for statement in all_statements if statement.database in ("", database.kind)]
        assert len(valid) >= 10
        if database.kind == "postgres":
            database.run("\n".join(f"prepare s{n} as {sql};" for n, sql in enumerate(valid)))
        else:
            database.run("\n".join(f"explain {as_sqlite(sql)};" for sql in valid))


def as_sqlite(sql: str) -> str:
    # `$1` is the name of a parameter there; a script has none.
    return re.sub(r"\$\d+", "null", sql)


def serve(pidq: Path, database, data: Path, has_graphs: bool) -> None:
    """Starts the services on a migrated database, and reads what was stored."""
    service = start(pidq, database, data)
    try:
        connection = Connection("", Path(), address=ADDRESS)
        connection.token = sign_in(connection)
        pipeline = connection.json("GET", "/api/pipelines")["data"][0]
        documents = connection.json("GET", f"/api/pipelines/{pipeline['id']}/documents?filename=V-201.txt")["data"]
        path = f"/api/pipelines/{pipeline['id']}/documents/{documents[0]['id']}"
        assert connection.send("GET", f"{path}/content")[1].decode() == TEXT
        answer = connection.json("POST", f"/api/pipelines/{pipeline['id']}/search", {"query": "PSV-2015A", "classification": "manual"})
        assert "38.5 barg" in json.dumps(answer)
        assert connection.json("GET", "/api/webhooks")["data"] and connection.json("GET", "/api/llm-connections")["data"]
        if has_graphs:
            assert connection.json("GET", "/graph/unit-20/versions")["latest_version"] == "2"
            assert connection.json("GET", "/graph/unit-20")["note"] == "revision 2"
        # What is new is stored beside it.
        added = upload(connection, pipeline["id"], "new.txt", "A new document.")
        assert connection.json("DELETE", f"/api/pipelines/{pipeline['id']}/documents/{added}") is None
    finally:
        service.kill()


def start(pidq: Path, database, data: Path) -> Process:
    settings = {**SETTINGS, "PIDQ_DATABASE_URL": database.url, "PIDQ_DATA_DIR": str(data)}
    if database.kind == "postgres":
        settings["PIDQ_STORE_URL"] = database.url
    service = Process("service", [str(pidq), "up"], data, settings)
    service.start()
    health = [pidq, "health", f"http://{ADDRESS}/readyz"]
    wait_until(lambda: subprocess.run(health, capture_output=True).returncode == 0, "the service is ready", 30)
    return service


def sign_in(connection: Connection) -> str:
    form = f"grant_type=client_credentials&client_id={MASTER_KEY}&client_secret={MASTER_SECRET}"
    headers = {"content-type": "application/x-www-form-urlencoded"}
    status, answer = connection.send("POST", "/o/token/", form.encode(), headers)
    assert status == 200, answer
    return json.loads(answer)["access_token"]


# Rows of tables that are empty in a service that has nothing to do: work in progress, failures, large files.
BY_HAND = """
insert into content_blocks (document_id, revision, number, block) select document_id, 1, 0, '\\x00ff' from document_contents limit 1;
insert into page_words (pipeline_id, document_id, revision, generation, page, start_char, end_char, text_hash, words)
  select pipeline_id, id, 1, 1, 1, 0, 47, '\\x00ff', '\\x00ff' from documents limit 1;
insert into jobs (id, kind, pipeline_id, document_id, revision, attempts, run_at, lease_owner, lease_until, created_at)
  select 'job-1', 'ingest', pipeline_id, id, revision, 1, 32503680000000, 'worker-1', 1700000000000, 1700000000000 from documents limit 1;
insert into daily_counters (day, kind, used) values (20000, 'questions', 7) on conflict do nothing;
insert into operations (id, kind, pipeline_id, status, progress, generation, created_at, updated_at)
  select 'operation-1', 'reindex', id, 'running', '{}', 2, 1700000000000, 1700000000000 from pipelines limit 1;
insert into reindexes (pipeline_id, operation_id, generation, embedding_model, embedding_dimensions, text_splitter, splitter_parameters)
  select id, 'operation-1', 2, embedding_model, embedding_dimensions, text_splitter, splitter_parameters from pipelines limit 1;
insert into reindex_documents (document_id, pipeline_id, generation, revision, content_type, extracted, pages, title, progress)
  select id, pipeline_id, 2, revision, content_type, 'text', '[]', null, '{}' from documents limit 1;
insert into model_outages (model, since, detail) values ('remote-1', 1700000000000, 'connection refused');
insert into deliveries (webhook_id, event_id, position, state, attempts, run_at)
  select w.id, e.id, e.position, 'waiting', 0, 1700000000000 from webhooks w, (select * from events where position is not null limit 1) e
  on conflict do nothing;
insert into access_tokens (hash, family_id, scope, issued_at, expires_at)
  select 'hash-1', id, 'read', 1700000000000, 1700000001000 from token_families limit 1;
insert into refresh_tokens (hash, family_id, previous, issued_at, expires_at, used_at, next_pair)
  select 'hash-2', id, null, 1700000000000, 1700000001000, null, null from token_families limit 1;
insert into grants (tenant, pattern, is_glob, subject, access, created_at) values ('main', 'unit-*', 1, 'group:process', 'read', 1700000000000);
insert into known_networks (account, network, seen_at) values ('admin', '192.0.2.0/24', 1700000000000) on conflict do nothing;
insert into graph_creators (tenant, graph_id, subject, created_at) values ('main', 'unit-99', 'client:x', 1700000000000) on conflict do nothing;
insert into account_limits (account, pipelines, updated_at)
  select 'user:recorded', '{"' || id || '":{"classifications":["manual"],"verbs":["read"]}}', 1700000000000 from pipelines limit 1;
insert into shared_keys (name, value) values ('recorded', 'value') on conflict do nothing;
insert into counters (name, value) values ('recorded', 1) on conflict do nothing;
insert into documents (id, pipeline_id, classification, filename, content_type, size, sha256, metadata, revision, status, attempts, progress,
  created_at, updated_at, parent_id) select 'attachment-1', pipeline_id, classification, 'notes.txt', content_type, size, repeat('ab', 32),
  metadata, 1, 'failed', 5, '{}', created_at, updated_at, id from documents limit 1;
"""


@pytest.mark.skipif(not os.environ.get("PIDQ_TEST_RECORD"), reason="records the data of a new schema version")
def test_record_the_data_of_the_last_versions(server: str, pidq: Path, tmp_path: Path):
    """Writes `schemas/COMPONENT_N.json` for the versions that have none."""
    database = Postgres(server, "recorded")
    process = start(pidq, database, tmp_path)
    # Ingests the documents.
    worker = Process("worker", [str(pidq), "pipeline", "worker"], tmp_path, {**process.environment, "PIDQ_WORKERS": "1"})
    worker.start()
    try:
        populate(Connection("", Path(), address=ADDRESS))
    finally:
        worker.kill()
        process.kill()
    database.run(BY_HAND)
    for component in TABLES_OF["postgres"]:
        last = steps(component)[-1]
        path = DIRECTORY / f"{last.path.stem}.json"
        if path.exists():
            continue
        content = {}
        for table in tables("\n".join(step.path.read_text() for step in steps(component))):
            named = database.psql(f"select * from {table} limit 0 \\gdesc", "-A", "-t").split()
            columns = [line.split("|")[0] for line in named]
            content[table] = {"columns": columns, "rows": database.rows(f"select * from {table}")}
        rows = [
            f"  {json.dumps(name)}: {{\n    \"columns\": {json.dumps(table['columns'])},\n    \"rows\": [\n      "
            + ",\n      ".join(map(json.dumps, table["rows"]))
            + "\n    ]\n  }"
            for name, table in content.items()
        ]
        path.write_text("{\n" + ",\n".join(rows) + "\n}\n")


def populate(connection: Connection) -> None:
    connection.token = sign_in(connection)
    fields = {"name": "Unit 20", "embedding_model": "hash-512", "text_splitter": "recursive_character", "classifications": ["manual"]}
    pipeline = connection.json("POST", "/api/pipelines", fields)["id"]
    connection.json("POST", "/api/webhooks", {"url": "https://hooks.plant.example/pidq", "types": ["document.ready"]})
    connection.json("POST", "/api/keys", {"name": "reader", "scopes": ["documents:read"]})
    connection_fields = {"name": "local", "provider": "openai", "model": "m", "base_url": "https://llm.plant.example/v1", "api_key": "k"}
    connection.json("POST", "/api/llm-connections", connection_fields)
    document = upload(connection, pipeline, "V-201.txt", TEXT)
    path = f"/api/pipelines/{pipeline}/documents/{document}"
    wait_until(lambda: connection.json("GET", path)["status"] == "ready", "the document is ready", 30)
    question = {"query": "What is PSV-2015A set at?", "classification": "manual"}
    headers = {"idempotency-key": "recorded-1"}
    assert connection.json("POST", f"/api/pipelines/{pipeline}/query", question, headers)["answered"]
    for note in ("revision 1", "revision 2"):
        drawing = {"pid_graph": {"nodes": [{"id": "P-101A", "tag": "P-101A"}], "edges": []}, "note": note}
        connection.json("PUT", "/graph/unit-20", drawing)
