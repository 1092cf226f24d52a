//! BERT: tokens → a row of numbers for each, by layers of attention.

use candle_core::{D, DType, Device, Result, Tensor};
use candle_nn::ops::softmax_last_dim;
use candle_nn::{Embedding, LayerNorm, Linear, Module, VarBuilder, embedding, layer_norm, linear};
use serde::Deserialize;

/// `config.json`, as far as it matters here.
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
    #[serde(default = "usual_epsilon")]
    layer_norm_eps: f64,
    position_embedding_type: Option<String>,
}

fn usual_epsilon() -> f64 {
    1e-12
}

/// What a layer does between its two products.
type Activation = fn(&Tensor) -> Result<Tensor>;

/// The activations by their names in a configuration.
const ACTIVATIONS: &[(&str, Activation)] = &[
    ("gelu", Tensor::gelu_erf),
    ("gelu_new", Tensor::gelu),
    ("gelu_pytorch_tanh", Tensor::gelu),
    ("relu", Tensor::relu),
];

impl Config {
    /// Whether this is a BERT as it is computed here.
    pub fn check(&self) -> std::result::Result<(), String> {
        let heads = self.num_attention_heads;
        if self.model_type != "bert" {
            return Err(format!("models of the type `{}` are not run, only `bert`", self.model_type));
        }
        if self.activation().is_none() {
            return Err(format!("the activation `{}` is not known", self.hidden_act));
        }
        if self.position_embedding_type.as_deref().is_some_and(|kind| kind != "absolute") {
            return Err("positions that are not absolute are not known".into());
        }
        if heads == 0 || self.hidden_size == 0 || !self.hidden_size.is_multiple_of(heads) {
            return Err(format!("{} numbers cannot be shared by {heads} heads", self.hidden_size));
        }
        Ok(())
    }

    fn activation(&self) -> Option<Activation> {
        ACTIVATIONS.iter().find(|(name, _)| *name == self.hidden_act).map(|(_, activation)| *activation)
    }

    /// How many tokens have a place.
    pub fn positions(&self) -> usize {
        self.max_position_embeddings
    }
}

/// The model with its weights.
pub struct Bert {
    words: Embedding,
    positions: Embedding,
    /// The row that is added to every token: a sentence is all of the first type.
    kind: Tensor,
    norm: LayerNorm,
    layers: Vec<Layer>,
    width: usize,
}

impl Bert {
    /// Reads the weights, half or full precision, with or without `bert.` before their names.
    pub fn load(bytes: Vec<u8>, config: &Config) -> Result<Bert> {
        let weights = VarBuilder::from_buffered_safetensors(bytes, DType::F32, &Device::Cpu)?;
        let weights =
            if weights.contains_tensor("bert.embeddings.LayerNorm.weight") { weights.pp("bert") } else { weights };
        let (tables, width) = (weights.pp("embeddings"), config.hidden_size);
        let layers = (0..config.num_hidden_layers).map(|at| Layer::load(&weights.pp("encoder.layer").pp(at), config));
        Ok(Bert {
            words: embedding(config.vocab_size, width, tables.pp("word_embeddings"))?,
            positions: embedding(config.max_position_embeddings, width, tables.pp("position_embeddings"))?,
            kind: embedding(config.type_vocab_size, width, tables.pp("token_type_embeddings"))?.embeddings().get(0)?,
            norm: layer_norm(width, config.layer_norm_eps, tables.pp("LayerNorm"))?,
            layers: layers.collect::<Result<_>>()?,
            width,
        })
    }

    /// How many numbers a token has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// A row for each token.
    pub fn run(&self, tokens: &[u32]) -> Result<Tensor> {
        let places = Tensor::arange(0, tokens.len() as u32, &Device::Cpu)?;
        let tokens = Tensor::new(tokens, &Device::Cpu)?;
        let rows = (self.words.forward(&tokens)? + self.positions.forward(&places)?)?.broadcast_add(&self.kind)?;
        self.layers.iter().try_fold(self.norm.forward(&rows)?, |rows, layer| layer.run(&rows))
    }
}

struct Layer {
    heads: usize,
    query: Linear,
    key: Linear,
    value: Linear,
    mixed: Linear,
    mixed_norm: LayerNorm,
    inner: Linear,
    activation: Activation,
    outer: Linear,
    outer_norm: LayerNorm,
}

impl Layer {
    fn load(weights: &VarBuilder<'_>, config: &Config) -> Result<Layer> {
        let (width, inner, epsilon) = (config.hidden_size, config.intermediate_size, config.layer_norm_eps);
        let attention = weights.pp("attention");
        let of_self = |name| linear(width, width, attention.pp("self").pp(name));
        Ok(Layer {
            heads: config.num_attention_heads,
            query: of_self("query")?,
            key: of_self("key")?,
            value: of_self("value")?,
            mixed: linear(width, width, attention.pp("output.dense"))?,
            mixed_norm: layer_norm(width, epsilon, attention.pp("output.LayerNorm"))?,
            inner: linear(width, inner, weights.pp("intermediate.dense"))?,
            activation: config.activation().unwrap_or(Tensor::gelu_erf),
            outer: linear(inner, width, weights.pp("output.dense"))?,
            outer_norm: layer_norm(width, epsilon, weights.pp("output.LayerNorm"))?,
        })
    }

    fn run(&self, rows: &Tensor) -> Result<Tensor> {
        let mixed = self.mixed.forward(&self.attention(rows)?)?;
        let rows = self.mixed_norm.forward(&(rows + mixed)?)?;
        let outer = self.outer.forward(&(self.activation)(&self.inner.forward(&rows)?)?)?;
        self.outer_norm.forward(&(rows + outer)?)
    }

    /// Every token looks at every token, once a head.
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
