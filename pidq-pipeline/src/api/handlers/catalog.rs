//! Catalogs of the embedding models and text splitters that a pipeline can use.

use pidq_http::{Problem, Response, codes};
use pidq_text::embedding::{self, MODELS};
use pidq_text::splitter::{SPLITTERS, Splitter};
use serde_json::{Map, Value, json};

use crate::api::problems::unprocessable;
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

/// `GET /api/embedding-models`.
pub(crate) fn models(models: &ModelRegistry) -> Result<Response, Problem> {
    let rows = MODELS.iter().map(|model| {
        json!({
            "name": model.name, "dimensions": model.dimensions, "summary": model.summary,
            "available": models.is_configured(model),
        })
    });
    Response::json(&json!({"data": rows.collect::<Vec<_>>()}))
}

/// `GET /api/text-splitters`.
pub(crate) fn splitters() -> Result<Response, Problem> {
    Response::json(&json!({"data": SPLITTERS.iter().map(splitter_json).collect::<Vec<_>>()}))
}

fn splitter_json(splitter: &Splitter) -> Value {
    let parameters = splitter.parameters.iter().map(|parameter| {
        let default: Value = serde_json::from_str(parameter.default).unwrap_or(Value::Null);
        let value = json!({"default": default, "kind": parameter.kind.description(), "summary": parameter.summary});
        (parameter.name.to_owned(), value)
    });
    json!({"name": splitter.name, "summary": splitter.summary, "parameters": parameters.collect::<Map<_, _>>()})
}
