"""Forward pass of a BERT encoder in numpy, as in "BERT: Pre-training of Deep Bidirectional Transformers" (arXiv:1810.04805)."""

import json
import math
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from scipy.special import erf

EPSILON = 1e-12


class Encoder:
    """Encoder of a directory in the layout of sentence-transformers."""

    def __init__(self, directory: Path):
        config = json.loads((directory / "config.json").read_text())
        self.weights = load_file(directory / "model.safetensors")
        self.layers, self.heads = config["num_hidden_layers"], config["num_attention_heads"]

    def hidden(self, tokens: np.ndarray) -> np.ndarray:
        """Returns the vectors (batch, length, size) of token ids (batch, length). All texts of a batch have the same length."""
        table = self.weights
        values = (
            table["embeddings.word_embeddings.weight"][tokens]
            + table["embeddings.position_embeddings.weight"][: tokens.shape[1]]
            + table["embeddings.token_type_embeddings.weight"][0]
        )
        values = self.normalized(values, "embeddings.LayerNorm")
        for layer in range(self.layers):
            name = f"encoder.layer.{layer}"
            attended = self.linear(self.attention(values, name), f"{name}.attention.output.dense")
            values = self.normalized(values + attended, f"{name}.attention.output.LayerNorm")
            inner = self.linear(values, f"{name}.intermediate.dense")
            inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
            values = self.normalized(values + self.linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
        return values

    def attention(self, values: np.ndarray, layer: str) -> np.ndarray:
        batch, length, size = values.shape

        def heads(name: str) -> np.ndarray:
            projected = self.linear(values, f"{layer}.attention.self.{name}")
            return projected.reshape(batch, length, self.heads, size // self.heads).transpose(0, 2, 1, 3)

        scores = heads("query") @ heads("key").transpose(0, 1, 3, 2) / math.sqrt(size // self.heads)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        return (scores @ heads("value")).transpose(0, 2, 1, 3).reshape(batch, length, size)

    def linear(self, values: np.ndarray, name: str) -> np.ndarray:
        # One product of two matrices; a product of each text would take many times as long.
        rows = values.reshape(-1, values.shape[-1]) @ self.weights[f"{name}.weight"].T
        return rows.reshape(*values.shape[:-1], -1) + self.weights[f"{name}.bias"]

    def normalized(self, values: np.ndarray, name: str) -> np.ndarray:
        centered = values - values.mean(-1, keepdims=True)
        scaled = centered / np.sqrt((centered**2).mean(-1, keepdims=True) + EPSILON)
        return scaled * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]
