"""Queries and walks on a Spark cluster of real processes, one of which is killed: the answers are those of pidq."""

import os
import signal
import threading
import time

import pidq
import pytest
from cluster import Cluster
from conftest import Fleet, documented

import pidq_spark
from pidq_spark import Walk

pytest.importorskip("pyspark")

QUERY = "valveList() | map({tag: .tag, role: .role, size: .size}) | filter(.role == 'control')".replace("'", '"')
COLUMNS = ["drawing", "tag", "role", "size"]
WALK = Walk("downstream", 'pass: "zone", avoid: .normal_position == "closed"')

#: How often each drawing is queried while an executor is killed, and in how many tasks.
REPETITIONS = 40
PARTITIONS = 64


@pytest.fixture(scope="module")
def plants(tmp_path_factory):
    return Fleet(tmp_path_factory.mktemp("plants"), drawings=300, items=60)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    started = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        yield started
    finally:
        started.stop()


@pytest.fixture(scope="module")
def frame(cluster, plants):
    session = cluster.session()
    try:
        yield session.read.parquet(str(plants.folder))
    finally:
        session.stop()


@pytest.fixture(scope="module")
def boundaries(frame):
    return pidq_spark.boundary(frame, WALK).cache()


def rows(frame, *columns):
    return sorted((tuple(row[name] for name in columns) for row in frame.collect()), key=repr)


def expected_rows(plants):
    return sorted((tuple(row[name] for name in COLUMNS) for row in plants.answers(QUERY)), key=repr)


def traced(frame, network, drawing, start):
    found = pidq_spark.expand(frame, network, drawing, start).collect()
    assert not [row["error"] for row in found if row["error"]]
    return sorted((row["drawing"], row["item"]) for row in found)


def test_the_fleet_query_has_the_answer_of_one_process(frame, plants, cluster):
    expected = expected_rows(plants)
    assert len(expected) > 300
    stated = pidq_spark.query(frame, QUERY, "tag string, role string, size long")
    assert rows(stated, *COLUMNS) == expected
    assert len(cluster.executors()) == 2


def test_columns_are_inferred(frame, plants):
    inferred = pidq_spark.query(frame, QUERY)
    types = [(field.name, field.dataType.simpleString()) for field in inferred.schema]
    error = ("error", "struct<code:string,message:string>")
    assert types == [("drawing", "string"), ("tag", "string"), ("role", "string"), ("size", "bigint"), error]
    assert rows(inferred, *COLUMNS) == expected_rows(plants)


def test_a_walk_across_drawings_is_that_of_the_joined_drawings(frame, boundaries, plants):
    network = pidq_spark.stitch(boundaries, WALK)
    joined = plants.joined().query(".pid_graph.metadata.joined")
    assert sorted(network.unmatched, key=repr) == sorted(joined["unmatched"], key=repr)
    assert network.to_arrow().num_rows == len(joined["pairs"]) > 300
    sizes = []
    for drawing, start in plants.starts(3):
        found = traced(frame, network, drawing, start)
        assert found == plants.walk(WALK, drawing, start)
        sizes.append(len({name for name, _ in found}))
    assert sizes[0] > 10, "the flow of the compressor crosses the plant"


def test_a_failed_drawing_is_a_row_and_not_a_failed_job(frame):
    from pyspark.sql import functions

    is_broken = functions.col("drawing") == "103-PID-0004"
    broken = frame.withColumn("graph", functions.when(is_broken, "{").otherwise(functions.col("graph")))
    count = pidq_spark.query(broken, "{items: nodes() | size()}", "items long")
    assert [(row["drawing"], row["error"]["code"]) for row in count.where("error is not null").collect()] == [
        ("103-PID-0004", "PQ5001")
    ]
    assert count.count() == 300
    assert pidq_spark.query(broken, "{items: nodes() | size()}", "items long", errors="skip").count() == 299
    network = pidq_spark.stitch(pidq_spark.boundary(broken, WALK), WALK)
    assert network.failed == ["103-PID-0004"]
    small = pidq.Limits(fuel=100)
    limited = pidq_spark.query(frame, "{items: nodes() | map(.tag) | size()}", "items long", limits=small)
    assert {row["error"]["code"] for row in limited.collect()} == {"PQ4001"}


def test_the_catalog_has_every_item(frame, plants):
    catalog = pidq_spark.catalog(frame)
    assert catalog.where("error is not null").count() == 0
    assert rows(catalog, "drawing", "item") == sorted(
        (row["drawing"], row["id"]) for row in plants.answers("nodes() | map({id: .id})")
    )


def test_the_examples_of_the_manual_run(frame, plants, capsys):
    names = {"spark": frame.sparkSession, "path": str(plants.folder)}
    for block in documented("python"):
        exec(block, names)
    printed = capsys.readouterr().out
    assert names["valves"].where("error is not null").count() == 0
    assert names["reached"].select("drawing").distinct().count() > 1
    assert len(names["network"].unmatched) > 3
    assert "|" in printed


def test_answers_are_the_same_after_an_executor_was_killed(frame, boundaries, plants, cluster):
    from pyspark.sql import functions

    tracker = frame.sparkSession.sparkContext.statusTracker()
    copies = frame.crossJoin(frame.sparkSession.range(REPETITIONS).withColumnRenamed("id", "copy"))
    copies = copies.repartition(PARTITIONS).withColumn("drawing", functions.concat_ws("/", "drawing", "copy"))
    found = []
    job = threading.Thread(target=lambda: found.append(rows(pidq_spark.query(copies, QUERY), *COLUMNS)), daemon=True)
    before = cluster.executors()
    job.start()
    wait_for_tasks(tracker, job)
    killed = before[0]
    os.kill(killed, signal.SIGKILL)
    job.join(timeout=300)
    expected = [(f"{name}/{copy}", *row) for name, *row in expected_rows(plants) for copy in range(REPETITIONS)]
    assert found == [sorted(expected, key=repr)]
    assert killed not in cluster.executors()
    # The cache of the killed executor is lost: it is computed again.
    network = pidq_spark.stitch(boundaries, WALK)
    for drawing, start in plants.starts(1):
        assert traced(frame, network, drawing, start) == plants.walk(WALK, drawing, start)


def wait_for_tasks(tracker, job):
    """Waits until the stage of the query has finished some tasks and works on others."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and job.is_alive():
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        running = [stage for stage in stages if stage and stage.numTasks == PARTITIONS and stage.numActiveTasks]
        if any(stage.numCompletedTasks > 1 for stage in running):
            return
        time.sleep(0.01)
    raise AssertionError("the query ended before an executor was killed")
