//! List of the models of a server, used to test a connection.

use hyper::Method;
use pidq_http::{Bytes, Trace};
use serde_json::Value;

use super::http::HttpRequest;
use super::{Client, Endpoint, LlmError};

impl Client {
    /// Returns the names of the models that the key can use.
    pub async fn models(&self, endpoint: &Endpoint) -> Result<Vec<String>, LlmError> {
        let (deadline, trace) = (self.deadline(None), Trace::current());
        let target = self.target(endpoint, &deadline).await?;
        let (method, path, accept) = (Method::GET, "/models", "application/json");
        let request = HttpRequest {
            method,
            path,
            endpoint,
            accept,
            body: Bytes::new(),
            head_timeout: self.options.first_byte_timeout,
            traceparent: trace.traceparent(),
        };
        let mut exchange = self.send(&target, &request, &deadline).await?;
        let body = exchange.read_all(&deadline, self.options.idle_timeout).await?;
        let response: Value = serde_json::from_slice(&body).map_err(|_| LlmError::bad_response("it is not JSON"))?;
        let models = response["data"].as_array().ok_or_else(|| LlmError::bad_response("it is not a list of models"))?;
        Ok(models.iter().filter_map(|model| model["id"].as_str().map(str::to_owned)).collect())
    }
}
