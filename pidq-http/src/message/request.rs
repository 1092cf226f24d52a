//! Request as handlers see it: head, parameters, principal, and a size-limited body.

mod accepts;
mod body;
mod drain;
mod form;
mod incoming;
mod inflate;
mod multipart;

use std::sync::Arc;

use bytes::Bytes;
use hyper::header;
use hyper::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

pub use accepts::Accepts;
pub use body::BodyChunks;
pub(crate) use body::BodyReader;
pub(crate) use drain::{BodySource, UnreadBody};
pub use form::Form;
pub(crate) use incoming::Incoming;
pub use incoming::RequestBody;
pub use multipart::{Multipart, MultipartLimits, Part};

use crate::message::head::Head;
use crate::message::service_info::ServiceInfo;
use crate::principal::Principal;
use crate::problem::{Problem, codes};

/// Path parameters: names as in the route, values decoded. `None` for a value that is not UTF-8, so that
/// authorization is checked before it is reported.
pub(crate) type Params = Vec<(String, Option<String>)>;

/// Request passed to a handler.
pub struct Request {
    /// Head of the request.
    pub head: Arc<Head>,
    /// Path of the matched route.
    pub route: &'static str,
    pub(crate) params: Params,
    pub(crate) principal: Option<Arc<Principal>>,
    pub(crate) accepts: Option<Accepts>,
    pub(crate) body: BodyReader,
    pub(crate) info: Arc<ServiceInfo>,
}

impl Request {
    /// Returns a path parameter, decoded.
    pub fn path(&self, name: &str) -> Result<&str, Problem> {
        let Some((_, value)) = self.params.iter().find(|(param, _)| *param == name) else {
            tracing::error!(name, "a handler read an undeclared path parameter");
            return Err(Problem::internal());
        };
        let wrong = || Problem::new(codes::INVALID_PATH).detail("The decoded path is not UTF-8.");
        value.as_deref().ok_or_else(wrong)
    }

    /// Returns the query parameters.
    pub fn query(&self) -> Result<Form, Problem> {
        let malformed = || Problem::new(codes::INVALID_PARAMETER).detail("The query string is malformed.");
        self.head.uri.query().map_or_else(|| Ok(Form::default()), |text| Form::parse(text).ok_or_else(malformed))
    }

    /// Returns the authenticated principal. Public routes have none.
    pub fn principal(&self) -> Result<&Arc<Principal>, Problem> {
        self.principal.as_ref().ok_or_else(Problem::unauthenticated)
    }

    /// Reads the whole body, decompressed, within the limit of the route.
    pub async fn bytes(&mut self) -> Result<Bytes, Problem> {
        let accepts = self.accepted_body()?;
        self.body.read_all(&self.head.headers, accepts.limit).await
    }

    /// Returns the body size if it is known before reading. A compressed body has none.
    pub fn content_length(&self) -> Option<u64> {
        let plain = !self.head.headers.contains_key(header::CONTENT_ENCODING);
        self.body.content_length().filter(|_| plain)
    }

    /// Reads the whole body with a smaller limit than that of the route, for limits that come from a setting.
    pub async fn bytes_up_to(&mut self, limit: u64) -> Result<Bytes, Problem> {
        let accepts = self.accepted_body()?;
        self.body.read_all(&self.head.headers, accepts.limit.min(limit)).await
    }

    /// Returns the body in chunks, for bodies that may not fit in memory.
    pub fn chunks(&mut self, limit: u64) -> Result<BodyChunks, Problem> {
        let accepts = self.accepted_body()?;
        BodyChunks::new(self.body.take(), &self.head.headers, accepts.limit.min(limit))
    }

    /// Reads the whole body of any content type, for handlers that check the type themselves.
    pub async fn bytes_of_any_type(&mut self) -> Result<Bytes, Problem> {
        let limit = self.route_accepts()?.limit;
        self.body.read_all(&self.head.headers, limit).await
    }

    /// Parses the body as JSON.
    ///
    /// The message of a syntax error contains the position, never a part of the body.
    pub async fn json<T: DeserializeOwned>(&mut self) -> Result<T, Problem> {
        let bytes = self.bytes().await?;
        serde_json::from_slice(&bytes).map_err(malformed_json)
    }

    /// Parses the body as a JSON object. An array of the field values, which serde also accepts, is an error.
    pub async fn object<T: DeserializeOwned>(&mut self) -> Result<T, Problem> {
        Request::parse_object(&self.bytes().await?)
    }

    /// Parses a JSON object from bytes that were already read.
    pub fn parse_object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
        let value = serde_json::from_slice(bytes).map_err(malformed_json)?;
        match bytes.trim_ascii_start().first() {
            Some(b'{') => Ok(value),
            _ => Err(Problem::new(codes::INVALID_REQUEST).detail("The body must be a JSON object.")),
        }
    }

    /// Parses the body as a form.
    pub async fn form(&mut self) -> Result<Form, Problem> {
        let bytes = self.bytes().await?;
        let malformed = || Problem::new(codes::MALFORMED_FORM).detail("The body is not a valid form.");
        Form::parse(std::str::from_utf8(&bytes).map_err(|_| malformed())?).ok_or_else(malformed)
    }

    /// Takes out the body as it arrived, for forwarding to another server, which checks its size and type.
    pub fn raw_body(&mut self) -> RequestBody {
        RequestBody(self.body.take().into_raw())
    }

    /// Returns the parts of a multipart body in order of arrival.
    pub fn multipart(&mut self, limits: MultipartLimits) -> Result<Multipart, Problem> {
        let accepts = self.accepted_body()?;
        Multipart::new(&self.head.headers, self.body.take(), accepts.limit, limits)
    }

    /// Registers an observer of the body bytes as they arrive, before decompression.
    pub fn observe(&mut self, observer: impl FnMut(&[u8]) + Send + Sync + 'static) {
        self.body.observe(Box::new(observer));
    }

    /// Reads the body to its end and discards it. Does nothing on a route without a body.
    pub async fn skip_body(&mut self) -> Result<(), Problem> {
        match self.accepts {
            Some(accepts) => self.body.skip(accepts.limit).await,
            None => Ok(()),
        }
    }

    /// Returns the accepted body of the route if the content type matches.
    fn accepted_body(&self) -> Result<Accepts, Problem> {
        let accepts = self.route_accepts()?;
        // Hot: most clients send the content type exactly as the route has it.
        if self.head.header(CONTENT_TYPE).is_some_and(|media| accepts.media.contains(&media)) {
            return Ok(accepts);
        }
        let media = self.head.media_type().unwrap_or_default();
        let is_accepted = accepts.all_media().any(|m| m == media || m == "*/*");
        let refused = || Problem::unsupported_media_type(&accepts.all_media().collect::<Vec<_>>());
        if is_accepted { Ok(accepts) } else { Err(refused()) }
    }

    fn route_accepts(&self) -> Result<Accepts, Problem> {
        self.accepts.ok_or_else(|| {
            tracing::error!(path = self.head.uri.path(), "a handler read the body of a route without one");
            Problem::internal()
        })
    }
}

fn malformed_json(error: serde_json::Error) -> Problem {
    let position = format!("line {}, column {}", error.line(), error.column());
    let (code, what) = match error.classify() {
        Category::Data => (codes::INVALID_REQUEST, format!("The JSON body is invalid{}", expected(&error))),
        Category::Eof if error.column() == 0 => (codes::MALFORMED_JSON, "The body is empty; expected JSON".into()),
        _ => (codes::MALFORMED_JSON, "The body is not JSON".into()),
    };
    let problem = Problem::new(code).detail(format!("{what} (at {position})."));
    problem.with("line", error.line()).with("column", error.column())
}

/// Returns what serde expected. What it found is part of the body and stays out.
fn expected(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(&*text, |(before, _)| before);
    match (text.strip_prefix("missing field "), text.rsplit_once(", expected ")) {
        (Some(name), _) => format!(": the field {name} is missing"),
        (None, Some((_, expected))) => format!(": expected {}", json_type_name(expected)),
        (None, None) => String::new(),
    }
}

/// Translates an expectation of serde into JSON terms.
fn json_type_name(expected: &str) -> &str {
    match expected {
        "a map" => "an object",
        "a sequence" => "an array",
        "a boolean" => "`true` or `false`",
        "u8" | "u16" | "u32" | "u64" | "usize" => "an integer",
        named if named.starts_with("struct ") => "an object",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Occurrence;

    #[test]
    fn a_json_error_names_the_expectation_and_does_not_quote_the_body() {
        #[derive(Debug, serde::Deserialize)]
        struct Body {
            #[serde(rename = "query")]
            _query: String,
            #[serde(rename = "most", default)]
            _most: u8,
        }
        let detail = |body: &str| {
            let problem = malformed_json(serde_json::from_str::<Body>(body).expect_err(body));
            problem.to_body(&Occurrence { path: "/", request_id: "x", trace_id: None }).1["detail"]
                .as_str()
                .expect("a detail")
                .to_owned()
        };
        let wrong = "The JSON body is invalid";
        assert_eq!(detail("{}"), format!("{wrong}: the field `query` is missing (at line 1, column 2)."));
        assert_eq!(detail(r#"{"query": 5}"#), format!("{wrong}: expected a string (at line 1, column 11)."));
        let quoted = r#"{"query": "", "most": "s, expected z at line 7"}"#;
        assert_eq!(detail(quoted), format!("{wrong}: expected an integer (at line 1, column 47)."));
        assert_eq!(detail(""), "The body is empty; expected JSON (at line 1, column 0).");
        assert_eq!(detail("{"), "The body is not JSON (at line 1, column 1).");
    }
}
