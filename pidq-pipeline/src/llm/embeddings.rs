//! Texts → vectors, by a server's `/embeddings`.

use hyper::Method;
use pidq_http::Bytes;
use serde_json::{Value, json};

use super::exchange::{Clock, Question};
use super::{Client, Endpoint, LlmError};
use crate::egress::Target;

/// How texts are sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Batches {
    /// How many texts go in one request.
    pub texts: usize,
    /// How long the vectors are to be, if the server is to choose among several lengths.
    pub dimensions: Option<usize>,
}

impl Default for Batches {
    fn default() -> Self {
        Batches { texts: 64, dimensions: None }
    }
}

impl Client {
    /// A vector for each text, in their order and all of one length.
    pub async fn embeddings(
        &self,
        endpoint: &Endpoint,
        texts: &[&str],
        batches: &Batches,
    ) -> Result<Vec<Vec<f32>>, LlmError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(batches.texts.max(1)) {
            // Each request has its own time: a document may have thousands of texts.
            let clock = self.clock(None);
            let target = self.target(endpoint, &clock).await?;
            let body = body(&endpoint.model, batch, batches.dimensions);
            let once = || self.batch(endpoint, &target, batch.len(), body.clone(), &clock);
            vectors.extend(self.retried(&target, &clock, once).await?);
        }
        let length = vectors.first().map_or(0, Vec::len);
        let equal = vectors.iter().all(|vector: &Vec<f32>| vector.len() == length);
        if equal { Ok(vectors) } else { Err(LlmError::broken("its vectors differ in length")) }
    }

    async fn batch(
        &self,
        endpoint: &Endpoint,
        target: &Target,
        count: usize,
        body: Bytes,
        clock: &Clock,
    ) -> Result<Vec<Vec<f32>>, LlmError> {
        let head = self.patience.first_byte;
        let (method, path, accept) = (Method::POST, "/embeddings", "application/json");
        let question = Question { method, path, endpoint, accept, body, head };
        let mut exchange = self.ask(target, &question, clock).await?;
        let whole = exchange.whole(clock, self.patience.idle).await?;
        let answer: Value = serde_json::from_slice(&whole).map_err(|_| LlmError::broken("it is not JSON"))?;
        if !answer["error"].is_null() {
            return Err(LlmError::of_event(&answer["error"], &endpoint.secrets()));
        }
        vectors(&answer, count)
    }
}

fn body(model: &str, texts: &[&str], dimensions: Option<usize>) -> Bytes {
    let mut body = json!({"model": model, "input": texts});
    if let Some(dimensions) = dimensions {
        body["dimensions"] = dimensions.into();
    }
    Bytes::from(body.to_string())
}

/// Servers number the vectors, and may give them in any order.
fn vectors(answer: &Value, count: usize) -> Result<Vec<Vec<f32>>, LlmError> {
    let rows = answer["data"].as_array().ok_or_else(|| LlmError::broken("it has no vectors"))?;
    let mut vectors = vec![Vec::new(); count];
    for (place, row) in rows.iter().enumerate() {
        let index = row["index"].as_u64().map_or(place, |index| index as usize);
        let slot = vectors.get_mut(index).ok_or_else(|| LlmError::broken("it has more vectors than texts"))?;
        *slot = vector(&row["embedding"]).ok_or_else(|| LlmError::broken("a vector is not one of numbers"))?;
    }
    if vectors.iter().any(Vec::is_empty) {
        return Err(LlmError::broken("it has fewer vectors than texts"));
    }
    Ok(vectors)
}

fn vector(value: &Value) -> Option<Vec<f32>> {
    let number = |number: &Value| Some(number.as_f64()? as f32).filter(|number| number.is_finite());
    value.as_array()?.iter().map(number).collect()
}
