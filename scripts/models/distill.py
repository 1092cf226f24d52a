"""Distills a static embedding model in the format of model2vec from a sentence transformer: distill.py FROM TO

The vector of a token is the mean of the transformer's output for the token alone, reduced by principal components and
multiplied by its weight, a / (a + p) with the probability p of the token ("A Simple but Tough-to-Beat Baseline for Sentence
Embeddings", Arora et al., 2017). A vocabulary of WordPiece is ordered by frequency, so that p follows from the rank (Zipf).
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
from bert import Encoder
from safetensors.numpy import save_file

DIMENSIONS = 256
SIF = 1e-4
BATCH = 512


def token_vectors(encoder: Encoder, vocabulary: dict[str, int]) -> np.ndarray:
    first, last = vocabulary["[CLS]"], vocabulary["[SEP]"]
    texts = np.array([[first, token, last] for token in range(len(vocabulary))])
    batches = range(0, len(texts), BATCH)
    return np.concatenate([encoder.hidden(texts[start : start + BATCH]).mean(1) for start in batches])


def principal_components(vectors: np.ndarray) -> np.ndarray:
    centered = vectors - vectors.mean(0)
    _, axes = np.linalg.eigh(np.cov(centered.T))
    return centered @ axes[:, ::-1][:, :DIMENSIONS]


def weights(count: int) -> np.ndarray:
    inverse_ranks = 1 / np.arange(1, count + 1)
    return SIF / (SIF + inverse_ranks / inverse_ranks.sum())


def main() -> None:
    source, target = map(Path, sys.argv[1:])
    vocabulary = json.loads((source / "tokenizer.json").read_text())["model"]["vocab"]
    vectors = principal_components(token_vectors(Encoder(source), vocabulary))
    # Tokens of no word, such as `[CLS]` and `[unused1]`, have no meaning.
    special = [token for text, token in vocabulary.items() if text.startswith("[") and text.endswith("]")]
    vectors[special] = 0
    vectors *= weights(len(vectors))[:, None]
    target.mkdir(parents=True, exist_ok=True)
    file = target / "model.safetensors"
    save_file({"embeddings": vectors.astype(np.float16)}, file)
    # The file is written for its owner alone; the programs of an image run as another user.
    file.chmod(0o644)
    shutil.copy(source / "tokenizer.json", target)


if __name__ == "__main__":
    main()
