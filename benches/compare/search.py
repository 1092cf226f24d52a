"""Vector search beside faiss and sqlite-vec, on one thread: top 10 of 100,000 x 384.

    python benches/compare/search.py FOLDER [COMMAND]

Writes vectors and questions into FOLDER, runs COMMAND FOLDER (the example bench_search of pidq-pipeline) between two
rounds of the peers, and prints milliseconds of CPU per question. Needs numpy; measures those of faiss-cpu and sqlite-vec
(with apsw) that are installed.
"""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np

COUNT, DIMENSIONS, QUESTIONS, LATENT, CLUSTERS = 100_000, 384, 200, 48, 300


def vectors() -> tuple[np.ndarray, np.ndarray]:
    """Vectors of length 1 around overlapping centres of few true dimensions, as those of texts are."""
    rng = np.random.default_rng(1)
    centres = rng.normal(size=(CLUSTERS, LATENT))
    spread = rng.normal(size=(LATENT, DIMENSIONS)) / np.sqrt(LATENT)
    total = COUNT + QUESTIONS
    latent = centres[rng.integers(CLUSTERS, size=total)] + rng.normal(size=(total, LATENT))
    rows = latent @ spread + 0.1 * rng.normal(size=(total, DIMENSIONS))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("<f4")
    return rows[:COUNT], rows[COUNT:]


def report(name: str, times: list[float]) -> None:
    print(f"{name}: mean {1e3 * np.mean(times):.2f} ms of CPU, least {1e3 * min(times):.2f} ms")


def timed(ask, questions: np.ndarray) -> list[float]:
    times = []
    for question in questions:
        started = time.thread_time()
        ask(question)
        times.append(time.thread_time() - started)
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


def peers(rows: np.ndarray, questions: np.ndarray) -> None:
    for peer in (faiss_flat, sqlite_vec):
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
