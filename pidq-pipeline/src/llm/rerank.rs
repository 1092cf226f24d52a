//! How well each of some texts answers a question, by a server's `/rerank` as Jina and Cohere have it.

use std::time::Duration;

use hyper::Method;
use pidq_http::Bytes;
use serde_json::{Value, json};

use super::exchange::Question;
use super::{Client, Endpoint, LlmError};

impl Client {
    /// The texts by number with their relevance, best first. Servers may leave out all but the best.
    pub async fn rerank(
        &self,
        endpoint: &Endpoint,
        query: &str,
        texts: &[&str],
        total: Duration,
    ) -> Result<Vec<(usize, f64)>, LlmError> {
        let clock = self.clock(Some(total));
        let target = self.target(endpoint, &clock).await?;
        let body = json!({"model": endpoint.model, "query": query, "documents": texts, "top_n": texts.len()});
        let (body, clock, target) = (Bytes::from(body.to_string()), &clock, &target);
        self.retried(target, clock, || {
            let (method, path, accept) = (Method::POST, "/rerank", "application/json");
            let question = Question { method, path, endpoint, accept, body: body.clone(), head: total };
            async move {
                let whole = self.ask(target, &question, clock).await?.whole(clock, total).await?;
                ranking(&serde_json::from_slice(&whole).unwrap_or_default(), texts.len())
            }
        })
        .await
    }
}

fn ranking(answer: &Value, texts: usize) -> Result<Vec<(usize, f64)>, LlmError> {
    let rows = answer["results"].as_array().ok_or_else(|| LlmError::broken("it has no results"))?;
    let mut ranking: Vec<(usize, f64)> = Vec::with_capacity(rows.len());
    for row in rows {
        let number = row["index"].as_u64().map(|index| index as usize).filter(|index| *index < texts);
        let number = number.ok_or_else(|| LlmError::broken("a result is of no text"))?;
        let relevance = row["relevance_score"].as_f64().filter(|relevance| relevance.is_finite());
        let relevance = relevance.ok_or_else(|| LlmError::broken("a result has no relevance"))?;
        if ranking.iter().any(|(known, _)| *known == number) {
            return Err(LlmError::broken("two results are of one text"));
        }
        ranking.push((number, relevance));
    }
    if ranking.is_empty() && texts > 0 {
        return Err(LlmError::broken("it has no results"));
    }
    // Of equals the one that was better before.
    ranking.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    Ok(ranking)
}
