//! Embeddings: vectors of texts from a server's `/embeddings` endpoint.

use hyper::Method;
use pidq_http::{Bytes, Trace};
use serde_json::{Value, json};

use super::call_span::{CallSpan, Operation};
use super::deadline::Deadline;
use super::http::HttpRequest;
use super::{Client, Endpoint, LlmError};
use crate::net::egress::Target;

/// Options of an embeddings call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BatchOptions {
    /// Maximum number of texts per request.
    pub batch_size: usize,
    /// Requested vector dimensions, for models that support several.
    pub dimensions: Option<usize>,
}

impl Default for BatchOptions {
    fn default() -> Self {
        BatchOptions { batch_size: 64, dimensions: None }
    }
}

impl Client {
    /// Returns a vector for each text, in order and all of the same length.
    pub async fn embeddings(
        &self,
        endpoint: &Endpoint,
        texts: &[&str],
        options: &BatchOptions,
    ) -> Result<Vec<Vec<f32>>, LlmError> {
        let mut span = CallSpan::begin(Operation::Embeddings, endpoint);
        match self.embed_batches(endpoint, texts, options, span.trace()).await {
            Ok((vectors, tokens)) => {
                span.record_vectors(&vectors, tokens);
                Ok(vectors)
            }
            Err(error) => {
                span.fail(&error);
                Err(error)
            }
        }
    }

    /// Returns the vectors, and the number of tokens if the server reports it.
    async fn embed_batches(
        &self,
        endpoint: &Endpoint,
        texts: &[&str],
        options: &BatchOptions,
        trace: &Trace,
    ) -> Result<(Vec<Vec<f32>>, Option<u64>), LlmError> {
        let mut vectors = Vec::with_capacity(texts.len());
        let mut tokens: Option<u64> = None;
        for batch in texts.chunks(options.batch_size.max(1)) {
            // Each request has its own deadline: a document may have thousands of texts.
            let deadline = self.deadline(None);
            let target = self.target(endpoint, &deadline).await?;
            let body = body(&endpoint.model, batch, options.dimensions);
            let attempt = || self.embed_batch(endpoint, &target, batch.len(), body.clone(), &deadline, trace);
            let (batch_vectors, batch_tokens) = self.with_retries(&target, &deadline, attempt).await?;
            vectors.extend(batch_vectors);
            tokens = batch_tokens.map(|count| tokens.unwrap_or(0).saturating_add(count)).or(tokens);
        }
        let length = vectors.first().map_or(0, Vec::len);
        let are_equal = vectors.iter().all(|vector: &Vec<f32>| vector.len() == length);
        if are_equal { Ok((vectors, tokens)) } else { Err(LlmError::bad_response("its vectors differ in length")) }
    }

    async fn embed_batch(
        &self,
        endpoint: &Endpoint,
        target: &Target,
        count: usize,
        body: Bytes,
        deadline: &Deadline,
        trace: &Trace,
    ) -> Result<(Vec<Vec<f32>>, Option<u64>), LlmError> {
        let head_timeout = self.options.first_byte_timeout;
        let (method, path, accept) = (Method::POST, "/embeddings", "application/json");
        let traceparent = trace.traceparent();
        let request = HttpRequest { method, path, endpoint, accept, body, head_timeout, traceparent };
        let mut exchange = self.send(target, &request, deadline).await?;
        let body = exchange.read_all(deadline, self.options.idle_timeout).await?;
        let response: Value = serde_json::from_slice(&body).map_err(|_| LlmError::bad_response("it is not JSON"))?;
        if !response["error"].is_null() {
            return Err(LlmError::from_event(&response["error"], &endpoint.secrets()));
        }
        Ok((vectors(&response, count)?, response["usage"]["prompt_tokens"].as_u64()))
    }
}

fn body(model: &str, texts: &[&str], dimensions: Option<usize>) -> Bytes {
    let mut body = json!({"model": model, "input": texts});
    if let Some(dimensions) = dimensions {
        body["dimensions"] = dimensions.into();
    }
    Bytes::from(body.to_string())
}

/// Parses the vectors. Servers number them and may send them in any order.
fn vectors(response: &Value, count: usize) -> Result<Vec<Vec<f32>>, LlmError> {
    let rows = response["data"].as_array().ok_or_else(|| LlmError::bad_response("it has no vectors"))?;
    let mut vectors = vec![Vec::new(); count];
    for (position, row) in rows.iter().enumerate() {
        let index = row["index"].as_u64().map_or(position, |index| index as usize);
        let slot = vectors.get_mut(index).ok_or_else(|| LlmError::bad_response("it has more vectors than texts"))?;
        *slot = vector(&row["embedding"])
            .ok_or_else(|| LlmError::bad_response("a vector contains something other than numbers"))?;
    }
    if vectors.iter().any(Vec::is_empty) {
        return Err(LlmError::bad_response("it has fewer vectors than texts"));
    }
    Ok(vectors)
}

fn vector(value: &Value) -> Option<Vec<f32>> {
    let number = |number: &Value| Some(number.as_f64()? as f32).filter(|number| number.is_finite());
    value.as_array()?.iter().map(number).collect()
}
