//! Value of the header `traceparent` (W3C Trace Context, version 00).

use std::sync::Arc;

/// Valid `traceparent`: version, trace id, span id and flags, such as
/// `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct TraceParent(Arc<str>);

impl TraceParent {
    /// Parses a header value; `None` if it is invalid.
    pub fn parse(text: &str) -> Option<TraceParent> {
        let parts: Vec<&str> = text.splitn(5, '-').collect();
        let is_hex = |part: &str, length| {
            part.len() == length && part.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        };
        let is_zero = |part: &str| part.bytes().all(|b| b == b'0');
        let [version, trace, span, flags] = parts[..] else { return None };
        let is_valid = version == "00" && is_hex(trace, 32) && is_hex(span, 16) && is_hex(flags, 2);
        (is_valid && !is_zero(trace) && !is_zero(span)).then(|| TraceParent(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn trace_id(&self) -> &str {
        self.part(1)
    }

    /// Returns whether the caller records the trace.
    pub fn is_sampled(&self) -> bool {
        u8::from_str_radix(self.part(3), 16).is_ok_and(|flags| flags & 1 == 1)
    }

    #[cfg(feature = "otel")]
    pub fn span_id(&self) -> &str {
        self.part(2)
    }

    fn part(&self, index: usize) -> &str {
        self.0.split('-').nth(index).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_valid_traceparent_is_kept() {
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let parsed = TraceParent::parse(good).expect("it is valid");
        assert_eq!((parsed.as_str(), parsed.trace_id()), (good, "0af7651916cd43dd8448eb211c80319c"));
        for bad in [
            "",
            "00-0-0-0",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "ff-x",
        ] {
            assert_eq!(TraceParent::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn only_the_last_bit_of_the_flags_is_the_sampling_decision() {
        for (flags, is_sampled) in [("00", false), ("01", true), ("02", false), ("03", true), ("ff", true)] {
            let text = format!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-{flags}");
            assert_eq!(TraceParent::parse(&text).map(|parent| parent.is_sampled()), Some(is_sampled), "{flags}");
        }
    }
}
