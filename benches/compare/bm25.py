"""Evaluates BM25 of bm25s on a test collection with trec_eval measures, for comparison with `pidq pipeline eval`.

    python benches/compare/bm25.py pidq-pipeline/text/tests/data/plant_corpus

Needs bm25s, pytrec_eval-terrier and PyStemmer.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

import bm25s
import pytrec_eval
import Stemmer

MEASURES = {"ndcg_cut_10": "nDCG@10", "recall_5": "recall@5", "recall_10": "recall@10", "recall_100": "recall@100", "recip_rank": "MRR"}


def read_json_lines(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def read_judgments(file: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for line in file.read_text().splitlines()[1:]:
        question, document, relevance = line.split("\t")
        found[question][document] = int(relevance)
    return dict(found)


def indexed_text(document: dict) -> str:
    """Returns the text that pidq indexes: title and headings, then the text."""
    headings = document.get("metadata", {}).get("headings", [])
    return " ".join([document.get("title", ""), *headings, document["text"]])


def run(documents: list[dict], questions: list[dict], **settings) -> dict[str, dict[str, float]]:
    def tokens(texts: list[str]):
        return bm25s.tokenize(texts, show_progress=False, **settings)

    retriever = bm25s.BM25(method="lucene", k1=0.9, b=0.4)
    retriever.index(tokens([indexed_text(document) for document in documents]), show_progress=False)
    found = {}
    for question in questions:
        ids, scores = retriever.retrieve(tokens([question["text"]]), k=min(100, len(documents)), show_progress=False)
        pairs = zip(ids[0], scores[0], strict=True)
        found[question["_id"]] = {documents[at]["_id"]: float(score) for at, score in pairs if score > 0}
    return found


def main(folder: Path) -> None:
    documents, relevant = read_json_lines(folder / "corpus.jsonl"), read_judgments(folder / "qrels" / "test.tsv")
    questions = [question for question in read_json_lines(folder / "queries.jsonl") if question["_id"] in relevant]
    evaluator = pytrec_eval.RelevanceEvaluator(relevant, {"ndcg_cut.10", "recall.5,10,100", "recip_rank"})
    print(f"{'bm25s':16}" + "".join(f"{name:>12}" for name in MEASURES.values()))
    stemmer = Stemmer.Stemmer("english")
    for name, settings in {
        "plain": {"stopwords": None},
        "stop words": {"stopwords": "en"},
        "and stems": {"stopwords": "en", "stemmer": stemmer},
    }.items():
        measured = evaluator.evaluate(run(documents, questions, **settings))
        means = (sum(row[measure] for row in measured.values()) / len(questions) for measure in MEASURES)
        print(f"{name:16}" + "".join(f"{mean:12.4f}" for mean in means))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
