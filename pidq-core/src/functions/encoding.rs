//! Encodings of strings: percent-encoding of URIs, base64, and character references of HTML.

use std::fmt::{self, Write};

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL_NOPAD, DecodeError, DecodeKind};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::helpers::string_args;
use crate::error::{Code, Error, Result};
use crate::eval::EvalContext;
use crate::eval::build::LimitedText;
use crate::eval::plan::function::{Body, Function, Param};
use crate::value::Value;

const TEXT: &[Param] = &[Param::query("text")];

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "base64Decode",
        params: TEXT,
        summary: "The text that a string contains in base64 (RFC 4648), in the standard or the URL alphabet, with or without padding and line breaks; null for null.",
        example: r#"base64Decode("UC0xMDE=") => "P-101""#,
        body: Body::Strict(base64_decode),
    },
    Function {
        name: "base64Encode",
        params: TEXT,
        summary: "The UTF-8 bytes of a string in base64 (RFC 4648), with padding; null for null.",
        example: r#"base64Encode("P-101") => "UC0xMDE=""#,
        body: Body::Strict(|cx, args| {
            encode(cx, args, |text, out| write!(out, "{}", BASE64.encode_display(text.as_bytes())))
        }),
    },
    Function {
        name: "htmlEncode",
        params: TEXT,
        summary: "The string with `&`, `<`, `>` and quotes as character references, for texts and attributes of HTML and XML; null for null.",
        example: r#"htmlEncode("6\" & <8\"") => "6&quot; &amp; &lt;8&quot;""#,
        body: Body::Strict(|cx, args| encode(cx, args, write_html)),
    },
    Function {
        name: "uriDecode",
        params: TEXT,
        summary: "The string with percent-encoded bytes (RFC 3986) replaced by their characters; `+` is no space; null for null.",
        example: r#"uriDecode("6%22-A%2FB") => "6\"-A/B""#,
        body: Body::Strict(uri_decode),
    },
    Function {
        name: "uriEncode",
        params: TEXT,
        summary: "The string as a part of a URI (RFC 3986): all but letters, digits and `-._~` percent-encoded; null for null.",
        example: r#"uriEncode("6\"-A/B") => "6%22-A%2FB""#,
        body: Body::Strict(|cx, args| {
            encode(cx, args, |text, out| write!(out, "{}", utf8_percent_encode(text, RESERVED)))
        }),
    },
];

/// All but the unreserved characters of RFC 3986, section 2.3.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn encode<'a>(
    cx: &mut EvalContext<'a>,
    args: &[Value<'a>],
    write: fn(&str, &mut LimitedText) -> fmt::Result,
) -> Result<Value<'a>> {
    let Some([text]) = string_args(cx, args)? else { return Ok(Value::Null) };
    cx.build_text(|out| write(text, out)).map(Value::String)
}

/// Writes piece by piece, so that the limit of strings applies during writing.
fn write_html(text: &str, out: &mut LimitedText) -> fmt::Result {
    for piece in text.split_inclusive(|c| html_reference(c).is_some()) {
        let last = piece.chars().next_back();
        match last.and_then(|c| Some((c, html_reference(c)?))) {
            Some((c, reference)) => {
                out.write_str(&piece[..piece.len() - c.len_utf8()])?;
                out.write_str(reference)?;
            }
            None => out.write_str(piece)?,
        }
    }
    Ok(())
}

fn html_reference(c: char) -> Option<&'static str> {
    match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        '\'' => Some("&#39;"),
        _ => None,
    }
}

fn uri_decode<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    let Some([text]) = string_args(cx, args)? else { return Ok(Value::Null) };
    if let Some(at) = incomplete_escape(text) {
        let end = text[at..].char_indices().nth(3).map_or(text.len(), |(length, _)| at + length);
        let reason = format!("`{}` is no `%` with two hexadecimal digits", &text[at..end]);
        return Err(not_encoded("percent-encoded", &reason, "uriDecode"));
    }
    cx.reserve(text.len())?;
    let decoded = percent_decode_str(text).decode_utf8();
    let decoded = decoded.map_err(|_| not_encoded("percent-encoded", "its bytes are no UTF-8", "uriDecode"))?;
    let decoded = cx.make_string(&decoded);
    cx.release(text.len());
    decoded
}

/// Returns the position of the first `%` that is not followed by two hexadecimal digits.
fn incomplete_escape(text: &str) -> Option<usize> {
    let is_escape =
        |at: usize| text.as_bytes().get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    text.match_indices('%').map(|(at, _)| at).find(|at| !is_escape(*at))
}

fn base64_decode<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    let Some([text]) = string_args(cx, args)? else { return Ok(Value::Null) };
    // The digits without white space, and the bytes.
    let bytes = 2 * text.len();
    cx.reserve(bytes)?;
    let decoded = decode_base64(text).map_err(|reason| not_encoded("base64", &reason, "base64Decode"))?;
    let decoded = cx.make_string(&decoded);
    cx.release(bytes);
    decoded
}

/// Returns the text that base64 contains, or the reason why it is none.
fn decode_base64(text: &str) -> std::result::Result<String, String> {
    let digits: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let digits = digits.trim_end_matches('=');
    let is_digit = |c: char| c.is_ascii_alphanumeric() || "+/-_".contains(c);
    if let Some(other) = digits.chars().find(|c| !is_digit(*c)) {
        return Err(format!("`{other}` is no base64 digit"));
    }
    let alphabet = if digits.contains(['-', '_']) { BASE64URL_NOPAD } else { BASE64_NOPAD };
    let bytes = alphabet.decode(digits.as_bytes()).map_err(|DecodeError { position, kind }| match kind {
        DecodeKind::Symbol => {
            let digit = digits.get(position..).and_then(|rest| rest.chars().next()).unwrap_or('=');
            format!("`{digit}` is of another alphabet than the other digits")
        }
        DecodeKind::Trailing => "its last digit has surplus bits".to_owned(),
        _ => "no bytes have a base64 text of its length".to_owned(),
    })?;
    String::from_utf8(bytes).map_err(|_| "its bytes are no UTF-8".to_owned())
}

fn not_encoded(encoding: &str, reason: &str, function: &str) -> Error {
    Error::new(Code::InvalidValue, format!("The string is not {encoding}: {reason}"))
        .with_help(format!("`tryOr({function}(.a), null)` replaces a string that is not {encoding}"))
}
