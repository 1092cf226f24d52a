//! Catalogs of the embedding models and text splitters that a pipeline can use.

use std::collections::BTreeMap;

use pidq_http::{Problem, Response, codes};
use pidq_text::embedding::{self, MODELS};
use pidq_text::splitter::{Parameter, SPLITTERS};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::api::problems::unprocessable;
use crate::api::schema::List;
use crate::embedding_registry::ModelRegistry;

/// Returns the vector dimensions of a model; 422 if the model is unknown or unavailable.
pub(crate) async fn dimensions(models: &ModelRegistry, name: &str) -> Result<usize, Problem> {
    if embedding::find(name).is_none() {
        let names: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
        let problem = unprocessable(codes::UNKNOWN_EMBEDDING_MODEL, "/embedding_model", "Unknown embedding model.");
        return Err(problem.with("allowed", names));
    }
    let unavailable = |error: embedding::Error| {
        unprocessable(codes::EMBEDDING_UNAVAILABLE, "/embedding_model", &pidq_http::sentence(&error.to_string()))
    };
    models.dimensions(name).await.map_err(unavailable)
}

/// 422 for an unknown text splitter.
pub(crate) fn unknown_splitter() -> Problem {
    let names: Vec<&str> = SPLITTERS.iter().map(|splitter| splitter.name).collect();
    unprocessable(codes::UNKNOWN_TEXT_SPLITTER, "/text_splitter", "Unknown text splitter.").with("allowed", names)
}

/// Embedding model.
#[derive(JsonSchema, Serialize)]
pub(crate) struct EmbeddingModel {
    /// Name. For models in a directory or of a service, a colon and the name of a specific model may follow.
    name: &'static str,
    /// Dimensions of a vector. Null if they depend on the specific model.
    dimensions: Option<usize>,
    /// Description.
    summary: &'static str,
    /// `true` if the model is configured.
    available: bool,
    /// Weight of the vectors in hybrid mode, unless a specific model has a calibration of its own.
    weight: f64,
    /// Sufficient cosine of a passage, unless a specific model has a calibration of its own. Null without a weight.
    min_similarity: Option<f64>,
}

/// Text splitter.
#[derive(JsonSchema, Serialize)]
pub(crate) struct TextSplitter {
    /// Name.
    name: &'static str,
    /// Description.
    summary: &'static str,
    /// Parameters by name.
    #[schemars(with = "BTreeMap<String, SplitterParameter>")]
    parameters: IndexedParameters,
}

/// Parameters by name, in the order of the table.
struct IndexedParameters(&'static [Parameter]);

impl Serialize for IndexedParameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|parameter| (parameter.name, SplitterParameter::from(parameter))))
    }
}

/// Parameter of a text splitter.
#[derive(JsonSchema, Serialize)]
struct SplitterParameter {
    /// Default value.
    default: Value,
    /// Accepted values.
    kind: String,
    /// Description.
    summary: &'static str,
}

impl From<&Parameter> for SplitterParameter {
    fn from(parameter: &Parameter) -> SplitterParameter {
        SplitterParameter {
            default: serde_json::from_str(parameter.default).unwrap_or(Value::Null),
            kind: parameter.kind.description(),
            summary: parameter.summary,
        }
    }
}

/// `GET /api/embedding-models`.
pub(crate) fn models(models: &ModelRegistry) -> Result<Response, Problem> {
    let rows = MODELS.iter().map(|model| EmbeddingModel {
        name: model.name,
        dimensions: model.dimensions,
        summary: model.summary,
        available: models.is_configured(model),
        weight: model.calibration.weight,
        min_similarity: model.calibration.sufficient_similarity(),
    });
    Response::json(&List { data: rows.collect() })
}

/// `GET /api/text-splitters`.
pub(crate) fn splitters() -> Result<Response, Problem> {
    let rows = SPLITTERS.iter().map(|splitter| TextSplitter {
        name: splitter.name,
        summary: splitter.summary,
        parameters: IndexedParameters(splitter.parameters),
    });
    Response::json(&List { data: rows.collect() })
}
