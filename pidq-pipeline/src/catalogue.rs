//! What can be chosen: embedding models and text splitters.

use pidq_http::{Problem, Response};
use serde_json::{Map, Value, json};

use crate::embedding::{self, MODELS};
use crate::models::Models;
use crate::problems::unprocessable;
use crate::splitter::{SPLITTERS, Splitter};

/// The length of the vectors of a model that can be opened.
pub(crate) async fn dimensions(models: &Models, name: &str) -> Result<usize, Problem> {
    if embedding::find(name).is_none() {
        let names: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
        let problem = unprocessable("unknown-embedding-model", "/embedding_model", "There is no such embedding model.");
        return Err(problem.with("allowed", names));
    }
    let unavailable = |error: embedding::Error| {
        unprocessable("embedding-unavailable", "/embedding_model", &pidq_http::sentence(&error.to_string()))
    };
    models.dimensions(name).await.map_err(unavailable)
}

/// 422 for a splitter that there is not.
pub(crate) fn unknown_splitter() -> Problem {
    let names: Vec<&str> = SPLITTERS.iter().map(|splitter| splitter.name).collect();
    unprocessable("unknown-text-splitter", "/text_splitter", "There is no such text splitter.").with("allowed", names)
}

/// `GET /api/embedding-models`.
pub(crate) fn models(models: &Models) -> Result<Response, Problem> {
    let shown = MODELS.iter().map(|model| {
        json!({
            "name": model.name, "dimensions": model.dimensions, "summary": model.summary,
            "available": models.offers(model),
        })
    });
    Response::json(&json!({"data": shown.collect::<Vec<_>>()}))
}

/// `GET /api/text-splitters`.
pub(crate) fn splitters() -> Result<Response, Problem> {
    Response::json(&json!({"data": SPLITTERS.iter().map(splitter).collect::<Vec<_>>()}))
}

fn splitter(splitter: &Splitter) -> Value {
    let parameters = splitter.parameters.iter().map(|parameter| {
        let default: Value = serde_json::from_str(parameter.default).unwrap_or(Value::Null);
        let about = json!({"default": default, "kind": parameter.kind.says(), "summary": parameter.summary});
        (parameter.name.to_owned(), about)
    });
    json!({"name": splitter.name, "summary": splitter.summary, "parameters": parameters.collect::<Map<_, _>>()})
}
