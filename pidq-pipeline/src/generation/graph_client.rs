//! Client of the graph query service, for questions with a graph query.

use http_body_util::{BodyExt, Full, Limited};
use hyper::Request;
use hyper::header::HOST;
use pidq_http::{BaseUrl, Bytes, Fut, HttpsClient, SettingError, Settings, StatusCode, https_client, settings};

use crate::net::egress::LLM_CA;

settings! {
    /// Settings of the graph query service.
    pub SETTINGS {
        GRAPH_URL: Option<BaseUrl> = ("PIDQ_GRAPH_URL", "config.graph.url", "URL of the graph query service for questions with `graph`, such as `https://graphs.plant.example`. The caller's token must also be valid there.");
    }
}

/// Idle connections that are reused.
const MAX_IDLE_CONNECTIONS: usize = 4;

/// A graph query service. The request carries the caller's token; the service checks the access.
pub trait GraphService: Send + Sync {
    /// Sends a request; `max_size` is the maximum size of the response body in bytes.
    fn call(&self, request: Request<Bytes>, max_size: usize) -> Fut<'_, Result<GraphResponse, GraphCallError>>;
}

/// Response of the service.
#[derive(Clone, Debug)]
pub struct GraphResponse {
    /// HTTP status.
    pub status: StatusCode,
    /// Version of the graph.
    pub version: Option<String>,
    /// Body.
    pub body: Bytes,
}

/// Error of a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GraphCallError {
    /// The service is unreachable, or the connection was closed early.
    Unreachable,
    /// The response exceeds the maximum size.
    TooLarge,
}

impl GraphResponse {
    /// Reads a response.
    ///
    /// # Errors
    /// If the body ends early or exceeds `max_size`.
    pub async fn from_response<B>(
        response: hyper::Response<B>,
        max_size: usize,
    ) -> Result<GraphResponse, GraphCallError>
    where
        B: hyper::body::Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (head, body) = response.into_parts();
        let version = head.headers.get("x-change-version").and_then(|version| version.to_str().ok());
        let version = version.map(str::to_owned);
        match Limited::new(body, max_size).collect().await {
            Ok(body) => Ok(GraphResponse { status: head.status, version, body: body.to_bytes() }),
            Err(error) if error.is::<http_body_util::LengthLimitError>() => Err(GraphCallError::TooLarge),
            Err(_) => Err(GraphCallError::Unreachable),
        }
    }
}

/// A graph query service over HTTP.
pub struct RemoteGraphService {
    client: HttpsClient<Full<Bytes>>,
    base: String,
}

impl RemoteGraphService {
    /// Creates the client from the settings, if configured. The CA certificates `root_certificates` (PEM) are trusted in
    /// addition to the public ones.
    ///
    /// # Errors
    /// If a setting is invalid.
    pub fn from_settings(
        settings: &Settings,
        root_certificates: Option<&str>,
    ) -> Result<Option<RemoteGraphService>, SettingError> {
        let Some(base) = settings.get(&GRAPH_URL)? else { return Ok(None) };
        let client = https_client(root_certificates, MAX_IDLE_CONNECTIONS)
            .map_err(|reason| settings.invalid(&LLM_CA, &reason))?;
        Ok(Some(RemoteGraphService { client, base }))
    }

    async fn send(&self, request: Request<Bytes>, max_size: usize) -> Result<GraphResponse, GraphCallError> {
        let (mut head, body) = request.into_parts();
        head.uri = format!("{}{}", self.base, head.uri).parse().map_err(|_| GraphCallError::Unreachable)?;
        head.headers.remove(HOST);
        let response = self.client.request(Request::from_parts(head, Full::new(body))).await;
        GraphResponse::from_response(response.map_err(|_| GraphCallError::Unreachable)?, max_size).await
    }
}

impl GraphService for RemoteGraphService {
    fn call(&self, request: Request<Bytes>, max_size: usize) -> Fut<'_, Result<GraphResponse, GraphCallError>> {
        Box::pin(self.send(request, max_size))
    }
}
