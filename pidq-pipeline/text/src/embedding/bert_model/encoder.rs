//! BERT encoder: computes one vector per token with layers of self-attention.

use candle_core::{D, DType, Device, Result, Tensor};
use candle_nn::ops::softmax_last_dim;
use candle_nn::{Embedding, LayerNorm, Linear, Module, VarBuilder, embedding, layer_norm, linear};
use serde::Deserialize;

/// The used part of `config.json`.
#[derive(Debug, Deserialize)]
pub struct Config {
    model_type: String,
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    hidden_act: String,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    #[serde(default = "default_epsilon")]
    layer_norm_eps: f64,
    position_embedding_type: Option<String>,
}

fn default_epsilon() -> f64 {
    1e-12
}

/// Activation function of the feed-forward network.
type Activation = fn(&Tensor) -> Result<Tensor>;

/// Activation functions by their names in a configuration.
const ACTIVATIONS: &[(&str, Activation)] = &[
    ("gelu", Tensor::gelu_erf),
    ("gelu_new", Tensor::gelu),
    ("gelu_pytorch_tanh", Tensor::gelu),
    ("relu", Tensor::relu),
];

impl Config {
    /// Checks that the configuration is supported.
    pub fn check(&self) -> std::result::Result<(), String> {
        let heads = self.num_attention_heads;
        if self.model_type != "bert" {
            return Err(format!("model type `{}` is not supported, only `bert`", self.model_type));
        }
        if self.activation().is_none() {
            return Err(format!("activation `{}` is not supported", self.hidden_act));
        }
        if self.position_embedding_type.as_deref().is_some_and(|kind| kind != "absolute") {
            return Err("only absolute position embeddings are supported".into());
        }
        if heads == 0 || self.hidden_size == 0 || !self.hidden_size.is_multiple_of(heads) {
            return Err(format!("hidden size {} is not divisible by {heads} heads", self.hidden_size));
        }
        Ok(())
    }

    fn activation(&self) -> Option<Activation> {
        ACTIVATIONS.iter().find(|(name, _)| *name == self.hidden_act).map(|(_, activation)| *activation)
    }

    /// Returns the maximum number of tokens.
    pub fn positions(&self) -> usize {
        self.max_position_embeddings
    }
}

/// The encoder with its weights.
pub struct BertEncoder {
    words: Embedding,
    positions: Embedding,
    /// Embedding of the first token type, which all tokens of a single text have.
    token_type: Tensor,
    norm: LayerNorm,
    layers: Vec<Layer>,
    width: usize,
}

impl BertEncoder {
    /// Loads the weights, in half or full precision, with or without the prefix `bert.` in their names.
    pub fn load(bytes: Vec<u8>, config: &Config) -> Result<BertEncoder> {
        let weights = VarBuilder::from_buffered_safetensors(bytes, DType::F32, &Device::Cpu)?;
        let weights =
            if weights.contains_tensor("bert.embeddings.LayerNorm.weight") { weights.pp("bert") } else { weights };
        let (tables, width) = (weights.pp("embeddings"), config.hidden_size);
        let layers =
            (0..config.num_hidden_layers).map(|index| Layer::load(&weights.pp("encoder.layer").pp(index), config));
        Ok(BertEncoder {
            words: embedding(config.vocab_size, width, tables.pp("word_embeddings"))?,
            positions: embedding(config.max_position_embeddings, width, tables.pp("position_embeddings"))?,
            token_type: embedding(config.type_vocab_size, width, tables.pp("token_type_embeddings"))?
                .embeddings()
                .get(0)?,
            norm: layer_norm(width, config.layer_norm_eps, tables.pp("LayerNorm"))?,
            layers: layers.collect::<Result<_>>()?,
            width,
        })
    }

    /// Returns the hidden size.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns one row per token.
    pub fn run(&self, tokens: &[u32]) -> Result<Tensor> {
        let positions = Tensor::arange(0, tokens.len() as u32, &Device::Cpu)?;
        let tokens = Tensor::new(tokens, &Device::Cpu)?;
        let rows =
            (self.words.forward(&tokens)? + self.positions.forward(&positions)?)?.broadcast_add(&self.token_type)?;
        self.layers.iter().try_fold(self.norm.forward(&rows)?, |rows, layer| layer.run(&rows))
    }
}

struct Layer {
    heads: usize,
    query: Linear,
    key: Linear,
    value: Linear,
    attention_output: Linear,
    attention_norm: LayerNorm,
    inner: Linear,
    activation: Activation,
    outer: Linear,
    outer_norm: LayerNorm,
}

impl Layer {
    fn load(weights: &VarBuilder<'_>, config: &Config) -> Result<Layer> {
        let (width, inner, epsilon) = (config.hidden_size, config.intermediate_size, config.layer_norm_eps);
        let attention = weights.pp("attention");
        let self_attention = |name| linear(width, width, attention.pp("self").pp(name));
        Ok(Layer {
            heads: config.num_attention_heads,
            query: self_attention("query")?,
            key: self_attention("key")?,
            value: self_attention("value")?,
            attention_output: linear(width, width, attention.pp("output.dense"))?,
            attention_norm: layer_norm(width, epsilon, attention.pp("output.LayerNorm"))?,
            inner: linear(width, inner, weights.pp("intermediate.dense"))?,
            activation: config.activation().unwrap_or(Tensor::gelu_erf),
            outer: linear(inner, width, weights.pp("output.dense"))?,
            outer_norm: layer_norm(width, epsilon, weights.pp("output.LayerNorm"))?,
        })
    }

    fn run(&self, rows: &Tensor) -> Result<Tensor> {
        let mixed = self.attention_output.forward(&self.attention(rows)?)?;
        let rows = self.attention_norm.forward(&(rows + mixed)?)?;
        let outer = self.outer.forward(&(self.activation)(&self.inner.forward(&rows)?)?)?;
        self.outer_norm.forward(&(rows + outer)?)
    }

    /// Computes multi-head self-attention.
    fn attention(&self, rows: &Tensor) -> Result<Tensor> {
        let (tokens, width) = rows.dims2()?;
        let size = width / self.heads;
        let by_heads =
            |linear: &Linear| linear.forward(rows)?.reshape((tokens, self.heads, size))?.transpose(0, 1)?.contiguous();
        let keys = by_heads(&self.key)?.transpose(D::Minus1, D::Minus2)?.contiguous()?;
        let scores = (by_heads(&self.query)?.matmul(&keys)? / (size as f64).sqrt())?;
        let mixed = softmax_last_dim(&scores)?.matmul(&by_heads(&self.value)?)?;
        mixed.transpose(0, 1)?.contiguous()?.reshape((tokens, width))
    }
}
