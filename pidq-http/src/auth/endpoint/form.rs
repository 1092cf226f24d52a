//! Strict parser of OAuth forms: each parameter once, all of them in the body.

use zeroize::Zeroizing;

use super::reply::OAuthError;
use super::{MAX_BODY_SIZE, OAuthRequest};
use crate::message::percent::decode_secret;

const PARAMETER_LIMIT: usize = 32;

/// Parameters of a request with their values.
pub(super) struct OAuthForm {
    parameters: Vec<(String, Zeroizing<String>)>,
}

impl OAuthForm {
    pub(super) fn parse(request: &OAuthRequest<'_>) -> Result<OAuthForm, OAuthError> {
        if request.body.len() > MAX_BODY_SIZE {
            return Err(OAuthError::TooLarge);
        }
        if !is_form(request.content_type) {
            return Err(invalid_request("The content type must be application/x-www-form-urlencoded."));
        }
        if request.query.is_some_and(|query| !query.is_empty()) {
            return Err(invalid_request("Send the parameters in the body, not in the URL."));
        }
        parse_body(request.body)
    }

    /// Returns a parameter. An empty value counts as omitted (RFC 6749, 3.2).
    pub(super) fn optional(&self, name: &str) -> Option<&str> {
        self.value(name).map(|value| value.as_str())
    }

    pub(super) fn required(&self, name: &'static str) -> Result<&str, OAuthError> {
        self.optional(name).ok_or_else(|| invalid_request(&format!("Parameter {name} is missing or empty.")))
    }

    pub(super) fn required_secret(&self, name: &'static str) -> Result<Zeroizing<String>, OAuthError> {
        self.required(name)?;
        self.value(name).cloned().ok_or_else(|| invalid_request(name))
    }

    fn value(&self, name: &str) -> Option<&Zeroizing<String>> {
        self.parameters.iter().find(|(other, value)| other == name && !value.is_empty()).map(|(_, value)| value)
    }
}

fn invalid_request(what: &str) -> OAuthError {
    OAuthError::Request(what.to_owned())
}

fn is_form(content_type: Option<&str>) -> bool {
    let mut parts = content_type.unwrap_or("").split(';').map(str::trim);
    let is_form = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("application/x-www-form-urlencoded"));
    is_form && parts.all(is_utf8)
}

fn is_utf8(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else { return parameter.is_empty() };
    name.eq_ignore_ascii_case("charset") && value.trim_matches('"').eq_ignore_ascii_case("utf-8")
}

fn parse_body(body: &[u8]) -> Result<OAuthForm, OAuthError> {
    let mut parameters: Vec<(String, Zeroizing<String>)> = Vec::new();
    for pair in body.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
        let (name, value) = split(pair);
        let name = decode_secret(name).ok_or_else(malformed)?.to_string();
        if parameters.iter().any(|(other, _)| *other == name) {
            return Err(invalid_request(&format!("Parameter {} is repeated.", printable(&name))));
        }
        if parameters.len() == PARAMETER_LIMIT {
            return Err(invalid_request("There are more than 32 parameters."));
        }
        parameters.push((name, decode_secret(value).ok_or_else(malformed)?));
    }
    Ok(OAuthForm { parameters })
}

fn malformed() -> OAuthError {
    invalid_request("The body is not a valid UTF-8 form.")
}

fn split(pair: &[u8]) -> (&[u8], &[u8]) {
    match pair.iter().position(|byte| *byte == b'=') {
        Some(at) => (&pair[..at], &pair[at + 1..]),
        None => (pair, &[]),
    }
}

/// Returns a parameter name if it is safe for an error description (RFC 6749). A malformed body may begin with a
/// secret, so only plausible names are shown.
fn printable(name: &str) -> &str {
    let is_name = name.len() <= 40 && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    if is_name { name } else { "(name not shown)" }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::basic_auth::parse_basic_auth;
    use super::*;

    fn encode(text: &str) -> String {
        let plain = |byte: u8| byte.is_ascii_alphanumeric();
        text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02x}") }).collect()
    }

    proptest! {
        #[test]
        fn encoded_forms_round_trip(
            pairs in proptest::collection::btree_map("\\PC{1,8}", "\\PC{1,8}", 0..8),
        ) {
            let body: Vec<String> =
                pairs.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
            let form = parse_body(body.join("&").as_bytes()).expect("a form");
            for (name, value) in &pairs {
                prop_assert_eq!(form.optional(name), Some(value.as_str()));
            }
        }

        #[test]
        fn arbitrary_bytes_are_parsed_or_rejected(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Err(error) = parse_body(&body) {
                prop_assert_eq!(error.reply().status, 400);
            }
        }

        #[test]
        fn form_like_bodies_are_parsed_or_rejected(body in "[a-c=&%+0-9A-F]{0,40}") {
            if let Ok(form) = parse_body(body.as_bytes()) {
                prop_assert!(form.parameters.len() <= PARAMETER_LIMIT);
            }
        }

        #[test]
        fn arbitrary_headers_are_parsed_or_rejected(header in "(?i:basic )?\\PC{0,60}") {
            prop_assert!(parse_basic_auth(&header).is_none_or(|candidates| (1..=2).contains(&candidates.len())));
        }
    }
}
