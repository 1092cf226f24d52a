"""Sentence transformers with random weights, and the reference vectors of Flax and numpy for some texts.

    python make.py                     writes `mean` and `cls` beside this file: small ones, which the tests read
    python make.py --real FOLDER       writes `minilm` and `bge` there, of the shapes of all-MiniLM-L6-v2 and bge-small-en

Needs transformers==4.48.3, flax==0.10.2 and jax==0.4.38 (the last ones with BERT in Flax), numpy and safetensors.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

TEXTS = [
    "PSV-2015A is set at 38.5 barg.",
    "valve",
    "",
    "The pump P-101A takes water from tank TK-701, and is stopped by the low level trip.",
    "Überdruck 38,5 bar 圧力",
    "a long text that goes on and on about pumps and valves and tanks and levels " * 40,
]
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-.,üäö圧力"
WORDS = "the a is set at barg pump valve tank level water from and of trip low takes long text that goes on about by stop".split()


@dataclass
class Shape:
    name: str
    vocabulary: int
    width: int
    layers: int
    heads: int
    inner: int
    positions: int
    tokens: int
    pooling: str
    prefix: str = ""
    half: bool = False


SMALL = [
    Shape("mean", 128, 32, 2, 4, 64, 48, 40, "mean", half=True),
    Shape("cls", 128, 24, 1, 3, 48, 64, 64, "cls", prefix="bert.", half=True),
]
REAL = [
    Shape("minilm", 30522, 384, 6, 12, 1536, 512, 256, "mean"),
    Shape("bge", 30522, 384, 12, 12, 1536, 512, 512, "cls"),
]


def vocabulary(size: int) -> list[str]:
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *LETTERS, *(f"##{letter}" for letter in LETTERS), *WORDS]
    assert size >= len(words), len(words)
    return words + [f"[unused{at}]" for at in range(size - len(words))]


def tokenizer(words: list[str]) -> dict:
    ids = {word: at for at, word in enumerate(words)}
    special = [{"id": ids[word], "content": word, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True} for word in words[:4]]
    piece = lambda name: {"SpecialToken": {"id": name, "type_id": 0}}
    of_text = {"Sequence": {"id": "A", "type_id": 0}}
    return {
        "version": "1.0",
        # Real folders have both, and sentence-transformers ignores them.
        "truncation": {"direction": "Right", "max_length": 16, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 16}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
        "added_tokens": special,
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [piece("[CLS]"), of_text, piece("[SEP]")],
            "pair": [piece("[CLS]"), of_text, piece("[SEP]"), {"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
            "special_tokens": {word: {"id": word, "ids": [ids[word]], "tokens": [word]} for word in ("[CLS]", "[SEP]")},
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": ids},
    }


def weights(shape: Shape) -> dict[str, np.ndarray]:
    """Returns weights larger than those of a new BERT, so that attention is not uniform."""
    rng = np.random.default_rng(7)
    made = {}

    def table(name: str, *size: int, spread: float) -> None:
        kind = np.float16 if shape.half else np.float32
        made[shape.prefix + name] = rng.normal(scale=spread, size=size).astype(kind)

    def linear(name: str, out: int, into: int) -> None:
        table(f"{name}.weight", out, into, spread=1.5 / np.sqrt(into))
        table(f"{name}.bias", out, spread=0.2)

    def norm(name: str) -> None:
        table(f"{name}.weight", shape.width, spread=0.3)
        made[f"{shape.prefix}{name}.weight"] += 1
        table(f"{name}.bias", shape.width, spread=0.2)

    for name, rows in {"word": shape.vocabulary, "position": shape.positions, "token_type": 2}.items():
        table(f"embeddings.{name}_embeddings.weight", rows, shape.width, spread=0.8)
    norm("embeddings.LayerNorm")
    for at in range(shape.layers):
        layer = f"encoder.layer.{at}"
        for part in ("query", "key", "value"):
            linear(f"{layer}.attention.self.{part}", shape.width, shape.width)
        linear(f"{layer}.attention.output.dense", shape.width, shape.width)
        norm(f"{layer}.attention.output.LayerNorm")
        linear(f"{layer}.intermediate.dense", shape.inner, shape.width)
        linear(f"{layer}.output.dense", shape.width, shape.inner)
        norm(f"{layer}.output.LayerNorm")
    # Additional tensors of real files that sentence vectors do not need.
    linear("pooler.dense", shape.width, shape.width)
    return made


def config(shape: Shape) -> dict:
    return {
        "architectures": ["BertModel"], "model_type": "bert", "vocab_size": shape.vocabulary, "hidden_size": shape.width,
        "num_hidden_layers": shape.layers, "num_attention_heads": shape.heads, "intermediate_size": shape.inner,
        "hidden_act": "gelu", "max_position_embeddings": shape.positions, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
        "pad_token_id": 0, "position_embedding_type": "absolute",
    }


def write(folder: Path, shape: Shape) -> dict[str, np.ndarray]:
    made = weights(shape)
    dump = lambda name, value: (folder / name).write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")
    for part in ("", "1_Pooling", "2_Normalize"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    save_file(made, folder / "model.safetensors", metadata={"format": "pt"})
    dump("config.json", config(shape))
    dump("tokenizer.json", tokenizer(vocabulary(shape.vocabulary)))
    dump("sentence_bert_config.json", {"max_seq_length": shape.tokens, "do_lower_case": False})
    dump("modules.json", [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
    ])
    dump("1_Pooling/config.json", {
        "word_embedding_dimension": shape.width, "pooling_mode_cls_token": shape.pooling == "cls",
        "pooling_mode_mean_tokens": shape.pooling == "mean", "pooling_mode_max_tokens": False,
        "pooling_mode_mean_sqrt_len_tokens": False,
    })
    return {name.removeprefix(shape.prefix): value.astype(np.float64) for name, value in made.items()}


def pooled(hidden: np.ndarray, shape: Shape) -> np.ndarray:
    vector = hidden[0] if shape.pooling == "cls" else hidden.mean(axis=0)
    return vector / np.linalg.norm(vector)


def by_numpy(ids: list[int], w: dict[str, np.ndarray], shape: Shape) -> np.ndarray:
    from math import erf

    gelu = np.vectorize(lambda x: 0.5 * x * (1 + erf(x / np.sqrt(2))))

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return x * w[f"{name}.weight"] + w[f"{name}.bias"]

    table = lambda name: w[f"embeddings.{name}_embeddings.weight"]
    x = norm(table("word")[ids] + table("position")[: len(ids)] + table("token_type")[0], "embeddings.LayerNorm")
    split = lambda y: y.reshape(len(ids), shape.heads, -1).transpose(1, 0, 2)
    for at in range(shape.layers):
        layer = f"encoder.layer.{at}"
        q, k, v = (split(linear(x, f"{layer}.attention.self.{part}")) for part in ("query", "key", "value"))
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True)) @ v
        mixed = mixed.transpose(1, 0, 2).reshape(len(ids), shape.width)
        x = norm(x + linear(mixed, f"{layer}.attention.output.dense"), f"{layer}.attention.output.LayerNorm")
        inner = gelu(linear(x, f"{layer}.intermediate.dense"))
        x = norm(x + linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    return pooled(x, shape)


def flax_model(w: dict[str, np.ndarray], shape: Shape):
    from flax.traverse_util import unflatten_dict
    from transformers import BertConfig, FlaxBertModel

    parameters = {}
    for name, value in w.items():
        path = name.split(".")
        if path[-1] == "weight":
            kind = "embedding" if path[-2].endswith("_embeddings") else "scale" if path[-2] == "LayerNorm" else "kernel"
            value = value.T if kind == "kernel" else value
            path[-1] = kind
        parameters[tuple(path)] = value.astype(np.float32)
    model = FlaxBertModel(BertConfig(**config(shape)), _do_init=True)
    return model, unflatten_dict(parameters)


def make(folder: Path, shape: Shape) -> None:
    from tokenizers import Tokenizer

    w = write(folder, shape)
    reader = Tokenizer.from_file(str(folder / "tokenizer.json"))
    reader.no_padding()
    reader.enable_truncation(shape.tokens)
    model, parameters = flax_model(w, shape)
    cases, worst = [], 0.0
    for text in TEXTS:
        ids = reader.encode(text).ids
        by_flax = np.asarray(model(np.array([ids]), params=parameters).last_hidden_state[0], dtype=np.float64)
        vector = by_numpy(ids, w, shape)
        worst = max(worst, float(np.abs(vector - pooled(by_flax, shape)).max()))
        cases.append({"text": text, "tokens": len(ids), "vector": [round(float(x), 7) for x in vector]})
    assert worst < 2e-5, worst
    lines = (json.dumps(case, ensure_ascii=False) for case in cases)
    (folder / "expected.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"{shape.name}: numpy and Flax differ by {worst:.1e} at most")


if __name__ == "__main__":
    real = len(sys.argv) > 1
    root = Path(sys.argv[2]) if real else Path(__file__).parent
    for shape in REAL if real else SMALL:
        make(root / shape.name, shape)
