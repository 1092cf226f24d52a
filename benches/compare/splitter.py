"""Benchmark of recursive_character against langchain-text-splitters: MB per CPU second on short and long paragraphs.

    python benches/compare/splitter.py FOLDER [COMMAND]

Writes short.txt and long.txt into FOLDER, runs COMMAND with them (the example bench_splitter of pidq-pipeline), and
measures the peer. Needs langchain-text-splitters.
"""

import random
import subprocess
import sys
import time
from pathlib import Path

from langchain_text_splitters import RecursiveCharacterTextSplitter

WORDS = "the valve is closed before pump P-101A starts and pressure of V-201 falls under 38.5 barg while level holds".split()
SIZE, ROUNDS = 5_000_000, 3


def text(sentences: int, rng: random.Random) -> str:
    """Generates paragraphs with a given number of sentences."""
    paragraphs, length = [], 0
    while length < SIZE:
        lines = (" ".join(rng.choices(WORDS, k=rng.randint(6, 20))).capitalize() + "." for _ in range(sentences))
        paragraphs.append(" ".join(lines))
        length += len(paragraphs[-1]) + 2
    return "\n\n".join(paragraphs)


def main(folder: Path, command: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(1)
    files = {folder / "short.txt": text(3, rng), folder / "long.txt": text(60, rng)}
    for file, content in files.items():
        file.write_text(content)
    if command:
        subprocess.run([*command, *map(str, files)], check=True)
    splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200)
    for file, content in files.items():
        start = time.thread_time()
        for _ in range(ROUNDS):
            chunks = splitter.split_text(content)
        speed = len(content) * ROUNDS / 1e6 / (time.thread_time() - start)
        print(f"langchain {file}: {len(chunks)} chunks, {speed:.1f} MB/s")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
