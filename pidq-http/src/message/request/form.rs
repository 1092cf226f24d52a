//! URL-encoded forms and query strings: `name=value&name=value`.

use std::fmt::Display;
use std::str::FromStr;

use crate::message::percent;
use crate::problem::{Problem, codes};

/// Name-value pairs of a form, in order. Names may repeat.
#[derive(Clone, Debug, Default)]
pub struct Form {
    pairs: Vec<(String, String)>,
}

/// Maximum number of pairs, against quadratic look-ups.
const PAIR_LIMIT: usize = 128;

impl Form {
    /// Parses a form. `None` if an escape is invalid, text is not UTF-8, or there are too many pairs.
    pub fn parse(text: &str) -> Option<Self> {
        if !percent::is_decodable(text) {
            return None;
        }
        let pairs: Vec<_> = form_urlencoded::parse(text.as_bytes()).into_owned().take(PAIR_LIMIT + 1).collect();
        (pairs.len() <= PAIR_LIMIT).then_some(Form { pairs })
    }

    /// Returns the value of a name. A repeated name is an error, because two parsers could pick different values.
    pub fn single(&self, name: &str) -> Result<Option<&str>, Problem> {
        let mut values = self.pairs.iter().filter(|(n, _)| n == name).map(|(_, value)| value.as_str());
        let value = values.next();
        match values.next() {
            None => Ok(value),
            Some(_) => Err(Problem::new(codes::INVALID_PARAMETER)
                .detail(format!("`{name}` is repeated."))
                .with("parameter", name)),
        }
    }

    /// Returns the value of a name, parsed.
    pub fn parsed<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, Problem> {
        let wrong = |error: T::Err| {
            Problem::new(codes::INVALID_PARAMETER)
                .detail(format!("`{name}` is invalid: {error}."))
                .with("parameter", name)
        };
        self.single(name)?.map(|value| value.parse().map_err(wrong)).transpose()
    }

    /// Returns all pairs in order.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Returns whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_decoded_and_keep_their_order() {
        let form = Form::parse("a=1&b=x+y%26&&c&a=2").expect("a form");
        assert_eq!(form.pairs().collect::<Vec<_>>(), [("a", "1"), ("b", "x y&"), ("c", ""), ("a", "2")]);
        assert_eq!(form.single("b").expect("once"), Some("x y&"));
        assert_eq!(form.single("z").expect("never"), None);
        assert!(form.single("a").is_err(), "twice the same name");
        assert!(form.parsed::<u32>("c").is_err(), "an empty text is no number");
    }

    #[test]
    fn invalid_escapes_and_too_many_pairs_are_rejected() {
        assert!(Form::parse("a=%").is_none());
        assert!(Form::parse("a=%ff").is_none());
        assert!(Form::parse(&"a=1&".repeat(129)).is_none());
        assert!(Form::parse(&"a=1&".repeat(128)).is_some());
    }
}
