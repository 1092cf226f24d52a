//! The models of a server: what a test of a connection asks for.

use hyper::Method;
use pidq_http::Bytes;
use serde_json::Value;

use super::exchange::Question;
use super::{Client, Endpoint, LlmError};

impl Client {
    /// The names of the models that a server has, for this key.
    pub async fn models(&self, endpoint: &Endpoint) -> Result<Vec<String>, LlmError> {
        let clock = self.clock(None);
        let target = self.target(endpoint, &clock).await?;
        let (method, path, accept) = (Method::GET, "/models", "application/json");
        let question = Question { method, path, endpoint, accept, body: Bytes::new(), head: self.patience.first_byte };
        let mut exchange = self.ask(&target, &question, &clock).await?;
        let whole = exchange.whole(&clock, self.patience.idle).await?;
        let answer: Value = serde_json::from_slice(&whole).map_err(|_| LlmError::broken("it is not JSON"))?;
        let models = answer["data"].as_array().ok_or_else(|| LlmError::broken("it is no list of models"))?;
        Ok(models.iter().filter_map(|model| model["id"].as_str().map(str::to_owned)).collect())
    }
}
