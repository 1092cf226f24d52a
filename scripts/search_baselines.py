#!/usr/bin/env python3
"""Print nDCG@10 of bm25s and tantivy on directories in BEIR format, with 95 % confidence intervals.

    pip install bm25s PyStemmer tantivy
    python scripts/search_baselines.py DIR...

The figures belong beside those of `pidq pipeline eval --beir DIR`.
"""

import json
import math
import pathlib
import random
import re
import sys

import bm25s
import Stemmer
import tantivy

DEPTH = 10


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def judgments(folder):
    files = [folder / "qrels.tsv", folder / "qrels" / "test.tsv", *sorted((folder / "qrels").glob("*.tsv"))]
    path = next(path for path in files if path.exists())
    judged = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query, document, relevance, *_ = line.split("\t") + [""] * 2
        if re.fullmatch(r"-?\d+", relevance.strip()):
            judged.setdefault(query, {})[document] = int(relevance)
    return judged


def text(record):
    headings = record.get("metadata", {}).get("headings", [])
    return " ".join([record.get("title", ""), *headings, record["text"]])


def ndcg(ranking, judged):
    def gain(values):
        return sum(max(value, 0) / math.log2(rank + 2) for rank, value in enumerate(values[:DEPTH]))

    ideal = gain(sorted(judged.values(), reverse=True))
    return gain([judged.get(document, 0) for document in ranking]) / ideal if ideal else 0.0


def search_bm25s(documents, queries, **options):
    def tokens(texts):
        return bm25s.tokenize(texts, stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False)

    retriever = bm25s.BM25(**options)
    retriever.index(tokens([text(document) for document in documents]), show_progress=False)
    depth = min(DEPTH, len(documents))
    found, _ = retriever.retrieve(tokens([query["text"] for query in queries]), k=depth, show_progress=False)
    return [[documents[index]["_id"] for index in row] for row in found]


def search_tantivy(documents, queries):
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("text", tokenizer_name="en_stem")
    schema.add_unsigned_field("index", stored=True)
    index = tantivy.Index(schema.build())
    writer = index.writer(num_threads=1)
    for number, document in enumerate(documents):
        writer.add_document(tantivy.Document(text=text(document), index=number))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def found(query):
        words = " ".join(re.findall(r"\w+", query["text"].lower()))
        hits = searcher.search(index.parse_query(words, ["text"]), DEPTH).hits if words else []
        return [documents[searcher.doc(address)["index"][0]]["_id"] for _, address in hits]

    return [found(query) for query in queries]


def interval(values):
    source = random.Random(1)
    means = sorted(sum(source.choices(values, k=len(values))) / len(values) for _ in range(2000))
    return means[49], means[1949]


def main():
    systems = {
        "bm25s lucene, k1 1.5, b 0.75": search_bm25s,
        "bm25s lucene, k1 0.9, b 0.4": lambda *data: search_bm25s(*data, k1=0.9, b=0.4),
        "tantivy, en_stem": search_tantivy,
    }
    for folder in map(pathlib.Path, sys.argv[1:]):
        judged = judgments(folder)
        documents = lines(folder / "corpus.jsonl")
        queries = [query for query in lines(folder / "queries.jsonl") if query["_id"] in judged]
        print(f"{folder.name}: {len(documents)} documents, {len(queries)} queries")
        for name, search in systems.items():
            found = search(documents, queries)
            values = [ndcg(ranking, judged[query["_id"]]) for ranking, query in zip(found, queries)]
            low, high = interval(values)
            print(f"  {name:30}  {sum(values) / len(values):.4f} [{low:.4f}, {high:.4f}]", flush=True)


if __name__ == "__main__":
    main()
