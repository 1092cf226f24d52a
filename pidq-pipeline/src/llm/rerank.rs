//! Reranking of texts by a server's `/rerank` endpoint, in the format of Jina and Cohere.

use std::time::Duration;

use hyper::Method;
use pidq_http::{Bytes, Trace};
use serde_json::{Value, json};

use super::call_span::{CallSpan, Operation};
use super::http::HttpRequest;
use super::{Client, Endpoint, LlmError};

impl Client {
    /// Returns the indexes of the texts with their relevance, best first. Servers may omit low-ranked texts.
    pub async fn rerank(
        &self,
        endpoint: &Endpoint,
        query: &str,
        texts: &[&str],
        total: Duration,
    ) -> Result<Vec<(usize, f64)>, LlmError> {
        let mut span = CallSpan::begin(Operation::Rerank, endpoint);
        let ranking = self.request_ranking(endpoint, query, texts, total, span.trace()).await;
        ranking.inspect_err(|error| span.fail(error))
    }

    async fn request_ranking(
        &self,
        endpoint: &Endpoint,
        query: &str,
        texts: &[&str],
        total: Duration,
        trace: &Trace,
    ) -> Result<Vec<(usize, f64)>, LlmError> {
        let deadline = self.deadline(Some(total));
        let target = self.target(endpoint, &deadline).await?;
        let body = json!({"model": endpoint.model, "query": query, "documents": texts, "top_n": texts.len()});
        let (body, deadline, target) = (Bytes::from(body.to_string()), &deadline, &target);
        self.with_retries(target, deadline, || {
            let (method, path, accept) = (Method::POST, "/rerank", "application/json");
            let (body, traceparent) = (body.clone(), trace.traceparent());
            let request = HttpRequest { method, path, endpoint, accept, body, head_timeout: total, traceparent };
            async move {
                let body = self.send(target, &request, deadline).await?.read_all(deadline, total).await?;
                parse_ranking(&serde_json::from_slice(&body).unwrap_or_default(), texts.len())
            }
        })
        .await
    }
}

fn parse_ranking(response: &Value, texts: usize) -> Result<Vec<(usize, f64)>, LlmError> {
    let rows = response["results"].as_array().ok_or_else(|| LlmError::bad_response("it has no results"))?;
    let mut ranking: Vec<(usize, f64)> = Vec::with_capacity(rows.len());
    for row in rows {
        let index = row["index"].as_u64().map(|index| index as usize).filter(|index| *index < texts);
        let index = index.ok_or_else(|| LlmError::bad_response("a result has an invalid index"))?;
        let relevance = row["relevance_score"].as_f64().filter(|relevance| relevance.is_finite());
        let relevance = relevance.ok_or_else(|| LlmError::bad_response("a result has no relevance"))?;
        if ranking.iter().any(|(other, _)| *other == index) {
            return Err(LlmError::bad_response("two results have the same index"));
        }
        ranking.push((index, relevance));
    }
    if ranking.is_empty() && texts > 0 {
        return Err(LlmError::bad_response("it has no results"));
    }
    // Ties keep the original order.
    ranking.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    Ok(ranking)
}
