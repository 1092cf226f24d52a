//! EML reader: writes the headers and the text of an e-mail and of those that it forwards, and returns their attachments.

use std::collections::HashSet;

use mail_parser::{Address, Message, MessageParser, MessagePart, MimeHeaders, PartType};

use crate::formats::html;
use crate::sniff::{Confidence, Content};
use crate::text_sink::{TextSink, one_line};
use crate::{ExtractError, Format, Source};

/// The `eml` format.
pub const EML: Format = Format {
    name: "eml",
    media_types: &["message/rfc822"],
    extensions: &["eml"],
    summary: "e-mail: headers and text, also of forwarded e-mails; attachments become documents of their own",
    sniff,
    read,
};

/// Headers by which an e-mail is recognized.
const HEADERS: &[&str] = &[
    "received",
    "from",
    "to",
    "cc",
    "subject",
    "date",
    "message-id",
    "mime-version",
    "content-type",
    "return-path",
    "delivered-to",
    "dkim-signature",
    "x-mailer",
    "reply-to",
    "authentication-results",
    "arc-seal",
    "content-transfer-encoding",
    "sender",
    "in-reply-to",
    "references",
];

/// Maximum nesting depth of forwarded e-mails.
pub const MAX_FORWARDED: usize = 8;
/// Reason why a forwarded e-mail is not read.
pub const TOO_DEEP: &str = "forwarded e-mails are read to a depth of 8";
/// Warning about characters that could not be decoded.
pub const UNDECODABLE: &str = "some characters of the e-mail could not be decoded and were replaced by \u{FFFD}";

fn sniff(content: &Content<'_>) -> Confidence {
    let head = String::from_utf8_lossy(&content.bytes[..content.bytes.len().min(8192)]);
    let lines = head.trim_start_matches('\u{FEFF}').lines().take_while(|line| !line.is_empty());
    let names =
        lines.filter(|line| !line.starts_with([' ', '\t'])).map(|line| line.split_once(':').map(|(name, _)| name));
    let is_known = |name: &Option<&str>| name.is_some_and(|name| HEADERS.contains(&name.to_ascii_lowercase().as_str()));
    let names: Vec<_> = names.collect();
    match names.iter().filter(|name| is_known(name)).count() {
        0 if content.text().is_some() && names.iter().any(Option::is_some) => Confidence::Possible,
        0 => Confidence::No,
        count if count >= 2 && is_known(&names[0]) => Confidence::Certain,
        _ => Confidence::Possible,
    }
}

fn read(source: &Source<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    let message = MessageParser::default().parse(source.content.bytes);
    let message = message.ok_or_else(|| ExtractError::corrupt("the e-mail is malformed"))?;
    sink.set_title(message.subject().unwrap_or_default());
    write_message(&message, MAX_FORWARDED, sink)
}

/// Writes an e-mail and the e-mails it forwards, with their attachments.
fn write_message(message: &Message<'_>, depth: usize, sink: &mut TextSink) -> Result<(), ExtractError> {
    headers(message, sink)?;
    bodies(message, sink)?;
    let inline_images = message.html_bodies().filter_map(html_of).flat_map(content_ids).collect();
    for attachment in message.attachments() {
        match &attachment.body {
            PartType::Message(forwarded) if depth > 0 => {
                sink.end_paragraph()?;
                write_message(forwarded, depth - 1, sink)?;
            }
            PartType::Message(_) => {
                sink.refuse_attachment(attachment.attachment_name(), attachment.len() as u64, TOO_DEEP)
            }
            _ if is_inline_image(attachment, &inline_images) => sink.add_inline_image(),
            _ => attach(attachment, sink)?,
        }
    }
    Ok(())
}

fn html_of<'p>(part: &'p MessagePart<'_>) -> Option<&'p str> {
    match &part.body {
        PartType::Html(html) => Some(html),
        _ => None,
    }
}

/// Returns the content ids that a text in HTML refers to, such as `cid:logo@example.com`.
fn content_ids(html: &str) -> Vec<String> {
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | ')' | '&');
    let references = html.match_indices("cid:").map(|(at, _)| html[at + 4..].split(ends).next().unwrap_or_default());
    references.map(|id| percent_encoding::percent_decode_str(id).decode_utf8_lossy().into_owned()).collect()
}

/// Returns whether a part is an image that the text shows.
fn is_inline_image(part: &MessagePart<'_>, content_ids: &HashSet<String>) -> bool {
    let is_image = part.content_type().is_some_and(|kind| kind.ctype().eq_ignore_ascii_case("image"));
    is_image && part.content_id().is_some_and(|id| content_ids.contains(id.trim_matches(['<', '>'])))
}

fn attach(part: &MessagePart<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    let media_type =
        part.content_type().and_then(|kind| Some(format!("{}/{}", kind.ctype(), kind.subtype()?).to_ascii_lowercase()));
    let name = part.attachment_name().map(str::to_owned);
    sink.attach(name, media_type, part.len() as u64, || Ok(part.contents().to_vec()))
}

fn headers(message: &Message<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    let lines = [
        ("Subject", message.subject().map(str::to_owned)),
        ("From", message.from().map(format_addresses)),
        ("To", message.to().map(format_addresses)),
        ("Cc", message.cc().map(format_addresses)),
        ("Date", message.date().map(mail_parser::DateTime::to_rfc3339)),
    ];
    write_headers(lines.map(|(name, value)| (name, value.unwrap_or_default())), sink)
}

/// Writes the headers that are not blank.
pub fn write_headers(lines: [(&str, String); 5], sink: &mut TextSink) -> Result<(), ExtractError> {
    for (name, value) in lines {
        if !value.trim().is_empty() {
            sink.push(&format!("{name}: {}\n", one_line(&value)))?;
        }
    }
    sink.end_paragraph()
}

fn format_addresses(address: &Address<'_>) -> String {
    let person = |person: &mail_parser::Addr<'_>| match (person.name(), person.address()) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (name, address) => name.or(address).unwrap_or_default().to_owned(),
    };
    address.iter().map(person).collect::<Vec<_>>().join(", ")
}

/// Writes the plain-text parts, or the HTML parts if all plain-text parts are blank, as some senders leave them.
fn bodies(message: &Message<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    let is_blank = |part: &MessagePart<'_>| matches!(&part.body, PartType::Text(text) if text.trim().is_empty());
    let is_html_only = message.text_bodies().all(is_blank);
    let parts: Vec<_> = match is_html_only {
        true => message.html_bodies().collect(),
        false => message.text_bodies().collect(),
    };
    for part in parts {
        sink.end_paragraph()?;
        body(part, sink)?;
    }
    Ok(())
}

fn body(part: &MessagePart<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    let text = match &part.body {
        PartType::Text(text) | PartType::Html(text) => text,
        _ => return Ok(()),
    };
    if text.contains('\u{FFFD}') {
        sink.warn(UNDECODABLE);
    }
    match part.body {
        PartType::Html(_) => html::text(text, sink),
        _ => sink.push(text),
    }
}
