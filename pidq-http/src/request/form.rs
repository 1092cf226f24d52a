//! `name=value&name=value`: forms, and the part of a URL behind the question mark.

use std::fmt::Display;
use std::str::FromStr;

use crate::percent;
use crate::problem::Problem;

/// The pairs of a form, in their order. Names may repeat; what that means is the reader's decision.
#[derive(Clone, Debug, Default)]
pub struct Form {
    pairs: Vec<(String, String)>,
}

/// More pairs than this are no form, but an attack on whoever looks at each of them.
const PAIRS: usize = 128;

impl Form {
    /// None when an escape is broken, text is not UTF-8, or there are too many pairs.
    pub fn parse(text: &str) -> Option<Self> {
        let parts = text.split('&').filter(|part| !part.is_empty());
        let pair = |part: &str| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            Some((percent::decode_form(name)?, percent::decode_form(value)?))
        };
        let pairs = parts.take(PAIRS + 1).map(pair).collect::<Option<Vec<_>>>()?;
        (pairs.len() <= PAIRS).then_some(Form { pairs })
    }

    /// The value of a name. Twice the same name is a mistake, because two readers might each take another.
    pub fn one(&self, name: &str) -> Result<Option<&str>, Problem> {
        let mut values = self.pairs.iter().filter(|(n, _)| n == name).map(|(_, value)| value.as_str());
        let value = values.next();
        match values.next() {
            None => Ok(value),
            Some(_) => Err(Problem::bad_request("invalid-parameter", format!("`{name}` is there more than once."))
                .with("parameter", name)),
        }
    }

    /// The value of a name as something that can be parsed, for example a number.
    pub fn parsed<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, Problem> {
        let wrong = |error: T::Err| {
            Problem::bad_request("invalid-parameter", format!("`{name}` is not what it should be: {error}."))
                .with("parameter", name)
        };
        self.one(name)?.map(|value| value.parse().map_err(wrong)).transpose()
    }

    /// All pairs, in their order.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there is no pair.
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
        assert_eq!(form.one("b").expect("once"), Some("x y&"));
        assert_eq!(form.one("z").expect("never"), None);
        assert!(form.one("a").is_err(), "twice the same name");
        assert!(form.parsed::<u32>("c").is_err(), "an empty text is no number");
    }

    #[test]
    fn broken_escapes_and_too_many_pairs_are_no_form() {
        assert!(Form::parse("a=%").is_none());
        assert!(Form::parse("a=%ff").is_none());
        assert!(Form::parse(&"a=1&".repeat(129)).is_none());
        assert!(Form::parse(&"a=1&".repeat(128)).is_some());
    }
}
