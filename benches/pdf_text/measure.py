#!/usr/bin/env python3
"""Recall of word bigrams of PDF text extractors.

    python3 measure.py CORPUS [--pidq PROGRAM] [--only NAME,NAME]

CORPUS is a folder written by `corpus.py`. PROGRAM is the example `document_text` of pidq-extract. Prints a Markdown table:
for each kind of document, the part of the bigrams of the expected flows that are in the extracted text, as multisets. Other
extractors are measured if they are installed: `pdftotext` (with and without `-layout`), and the Python packages pypdfium2,
pdf_oxide and markitdown.

    python3 measure.py FOLDER --agree [--pidq PROGRAM]

For PDF files without expected text: the mean recall of each extractor against each other one.
"""

import argparse
import collections
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata
from pathlib import Path

TOKEN = re.compile(r"[^\W_]+(?:[.,\-/'][^\W_]+)*")


def tokens(text):
    """Words without punctuation, in compatibility form (ligatures are letters), lower case."""
    return TOKEN.findall(unicodedata.normalize("NFKC", text).replace("\u00ad", "").lower())


def bigrams(words):
    return collections.Counter(zip(words, words[1:]))


def recall(expected, found):
    total = sum(expected.values())
    return sum((expected & found).values()) / total if total else 1.0


def pidq(program):
    def texts(files):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([program, folder, *map(str, files)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return [Path(folder, f"{file.name}.txt").read_text() for file in files]
    return texts


def each(read):
    def texts(files):
        found = []
        for file in files:
            try:
                found.append(read(file))
            except Exception as error:  # another extractor's failure is a result
                print(f"{file.name}: {type(error).__name__}", file=sys.stderr)
                found.append("")
        return found
    return texts


def pdftotext(*options):
    def read(file):
        command = ["pdftotext", *options, "-enc", "UTF-8", str(file), "-"]
        return subprocess.run(command, capture_output=True, timeout=120).stdout.decode("utf-8", "replace")
    return each(read)


def pypdfium2_reader():
    import pypdfium2

    def read(file):
        document = pypdfium2.PdfDocument(file)
        return "\f".join(document[index].get_textpage().get_text_range() for index in range(len(document)))
    return each(read)


def pdf_oxide_reader():
    import pdf_oxide

    def read(file):
        document = pdf_oxide.PdfDocument(str(file))
        return "\f".join(document.extract_text(index) for index in range(document.page_count()))
    return each(read)


def markitdown_reader():
    import markitdown
    converter = markitdown.MarkItDown()
    return each(lambda file: converter.convert(str(file)).text_content)


def extractors(program, only):
    readers = {}
    for index, path in enumerate(program or []):
        readers[f"pidq{index or ''}"] = lambda path=path: pidq(path)
    if shutil.which("pdftotext"):
        readers["pdftotext -layout"] = lambda: pdftotext("-layout")
        readers["pdftotext"] = lambda: pdftotext()
    readers |= {"pypdfium2": pypdfium2_reader, "pdf_oxide": pdf_oxide_reader, "markitdown": markitdown_reader}
    loaded = {}
    for name, load in readers.items():
        if only and name not in only:
            continue
        try:
            loaded[name] = load()
        except ImportError:
            print(f"left out: {name} is not installed", file=sys.stderr)
    return loaded


def measure(folder, readers):
    files = sorted(folder.glob("*.pdf"))
    expected = {}
    for file in files:
        flows = json.loads(file.with_suffix(".json").read_text())
        expected[file] = sum((bigrams(tokens(" ".join(flow))) for flow in flows), collections.Counter())
    kinds = sorted({file.stem.rsplit("-", 1)[0] for file in files})
    table, seconds = {}, {}
    for name, read in readers.items():
        started = time.monotonic()
        found = dict(zip(files, read(files)))
        seconds[name] = time.monotonic() - started
        table[name] = {file: recall(expected[file], bigrams(tokens(found[file]))) for file in files}
    print("| kind |", " | ".join(readers), "|")
    print("|---" * (len(readers) + 1) + "|")
    for kind in [*kinds, "mean"]:
        of_kind = [file for file in files if kind in ("mean", file.stem.rsplit("-", 1)[0])]
        means = [sum(table[name][file] for file in of_kind) / len(of_kind) for name in readers]
        print(f"| {kind} |", " | ".join(f"{mean:.3f}" for mean in means), "|")
    print("| seconds |", " | ".join(f"{seconds[name]:.1f}" for name in readers), "|")


def agree(folder, readers):
    files = sorted(folder.glob("**/*.pdf"))
    found = {name: [bigrams(tokens(text)) for text in read(files)] for name, read in readers.items()}
    print("| recall of ↓ by → |", " | ".join(readers), "|")
    print("|---" * (len(readers) + 1) + "|")
    for truth in readers:
        pairs = [[recall(a, b) for a, b in zip(found[truth], found[name]) if a] for name in readers]
        print(f"| {truth} |", " | ".join(f"{sum(values) / max(len(values), 1):.3f}" for values in pairs), "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pidq", action="append", help="program document_text; may be given twice to compare two builds")
    parser.add_argument("--only", type=lambda names: names.split(","))
    parser.add_argument("--agree", action="store_true")
    arguments = parser.parse_args()
    readers = extractors(arguments.pidq, arguments.only)
    (agree if arguments.agree else measure)(arguments.folder, readers)


if __name__ == "__main__":
    main()
