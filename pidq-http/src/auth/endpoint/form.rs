//! Forms, read strictly: each parameter once, all of them in the body.

use zeroize::Zeroizing;

use super::reply::Refusal;
use super::{LARGEST_BODY, OAuthRequest};
use crate::percent::hex;

const MOST_PARAMETERS: usize = 32;

/// The parameters of a request that have a value.
pub(super) struct Form {
    parameters: Vec<(String, Zeroizing<String>)>,
}

impl Form {
    pub(super) fn read(request: &OAuthRequest<'_>) -> Result<Form, Refusal> {
        if request.body.len() > LARGEST_BODY {
            return Err(Refusal::TooLarge);
        }
        if !is_form(request.content_type) {
            return Err(refused("The content type must be application/x-www-form-urlencoded."));
        }
        if request.query.is_some_and(|query| !query.is_empty()) {
            return Err(refused("Parameters belong in the body, not in the URL."));
        }
        parse(request.body)
    }

    /// A parameter. One without a value counts as left out (RFC 6749, 3.2).
    pub(super) fn optional(&self, name: &str) -> Option<&str> {
        self.value(name).map(|value| value.as_str())
    }

    pub(super) fn required(&self, name: &'static str) -> Result<&str, Refusal> {
        self.optional(name).ok_or_else(|| refused(&format!("Parameter {name} is missing or empty.")))
    }

    pub(super) fn required_secret(&self, name: &'static str) -> Result<Zeroizing<String>, Refusal> {
        self.required(name)?;
        self.value(name).cloned().ok_or_else(|| refused(name))
    }

    fn value(&self, name: &str) -> Option<&Zeroizing<String>> {
        self.parameters.iter().find(|(other, value)| other == name && !value.is_empty()).map(|(_, value)| value)
    }
}

fn refused(what: &str) -> Refusal {
    Refusal::Request(what.to_owned())
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

fn parse(body: &[u8]) -> Result<Form, Refusal> {
    let mut parameters: Vec<(String, Zeroizing<String>)> = Vec::new();
    for pair in body.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
        let (name, value) = split(pair);
        let name = decode(name).ok_or_else(malformed)?.to_string();
        if parameters.iter().any(|(other, _)| *other == name) {
            return Err(refused(&format!("Parameter {} is repeated.", printable(&name))));
        }
        if parameters.len() == MOST_PARAMETERS {
            return Err(refused("There are more than 32 parameters."));
        }
        parameters.push((name, decode(value).ok_or_else(malformed)?));
    }
    Ok(Form { parameters })
}

fn malformed() -> Refusal {
    refused("The body is not a form in UTF-8.")
}

fn split(pair: &[u8]) -> (&[u8], &[u8]) {
    match pair.iter().position(|byte| *byte == b'=') {
        Some(at) => (&pair[..at], &pair[at + 1..]),
        None => (pair, &[]),
    }
}

/// Decodes `+` and `%2B`. `None` where the escapes are wrong or the text is no UTF-8.
pub(super) fn decode(text: &[u8]) -> Option<Zeroizing<String>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(text.len()));
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => hex(*rest.next()?)? << 4 | hex(*rest.next()?)?,
            other => *other,
        });
    }
    std::str::from_utf8(&bytes).ok().map(|text| Zeroizing::new(text.to_owned()))
}

/// What RFC 6749 allows in a description, and no more of it than a name needs. A body that is no form may begin with
/// anything, so only names that could be meant are shown.
fn printable(name: &str) -> &str {
    let is_name = name.len() <= 40 && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    if is_name { name } else { "of another name" }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::authorization::basic;
    use super::*;

    fn encode(text: &str) -> String {
        let plain = |byte: u8| byte.is_ascii_alphanumeric();
        text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02x}") }).collect()
    }

    proptest! {
        #[test]
        fn what_was_encoded_is_read_back(
            pairs in proptest::collection::btree_map("\\PC{1,8}", "\\PC{1,8}", 0..8),
        ) {
            let body: Vec<String> =
                pairs.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
            let form = parse(body.join("&").as_bytes()).expect("a form");
            for (name, value) in &pairs {
                prop_assert_eq!(form.optional(name), Some(value.as_str()));
            }
        }

        #[test]
        fn any_bytes_are_a_form_or_refused(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Err(refusal) = parse(&body) {
                prop_assert_eq!(refusal.reply().status, 400);
            }
        }

        #[test]
        fn nearly_forms_are_a_form_or_refused(body in "[a-c=&%+0-9A-F]{0,40}") {
            if let Ok(form) = parse(body.as_bytes()) {
                prop_assert!(form.parameters.len() <= MOST_PARAMETERS);
            }
        }

        #[test]
        fn any_header_is_credentials_or_none(header in "(?i:basic )?\\PC{0,60}") {
            prop_assert!(basic(&header).is_none_or(|readings| (1..=2).contains(&readings.len())));
        }
    }
}
