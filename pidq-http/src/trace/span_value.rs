//! Role of a span, and values of its attributes.

use std::borrow::Cow;

/// Role of a span.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SpanKind {
    /// A request that is served.
    Server,
    /// A call of another service.
    Client,
    /// A job from a queue.
    Consumer,
    /// A part of another span.
    Internal,
}

/// Value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum SpanValue {
    /// A switch.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A text.
    Text(Cow<'static, str>),
    /// Several texts.
    Texts(Vec<String>),
}

macro_rules! convertible {
    ($($type:ty => $variant:ident),*) => {
        $(impl From<$type> for SpanValue {
            fn from(value: $type) -> SpanValue {
                SpanValue::$variant(value.into())
            }
        })*
    };
}

convertible!(bool => Bool, i64 => Integer, u16 => Integer, u32 => Integer, f64 => Number, &'static str => Text,
    String => Text, Vec<String> => Texts);

impl From<u64> for SpanValue {
    fn from(value: u64) -> SpanValue {
        SpanValue::Integer(i64::try_from(value).unwrap_or(i64::MAX))
    }
}
