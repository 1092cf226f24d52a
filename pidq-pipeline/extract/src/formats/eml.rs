//! EML reader: writes the headers and the text of an e-mail. Attachments are listed as warnings and not extracted.

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
    summary: "e-mail: headers and text; attachments are listed in the warnings",
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

/// Writes an e-mail and the e-mails it forwards.
fn write_message(message: &Message<'_>, depth: usize, sink: &mut TextSink) -> Result<(), ExtractError> {
    headers(message, sink)?;
    bodies(message, sink)?;
    for attachment in message.attachments() {
        match &attachment.body {
            PartType::Message(forwarded) if depth > 0 => {
                sink.end_paragraph()?;
                write_message(forwarded, depth - 1, sink)?;
            }
            _ => {
                sink.warn(attachment_warning(attachment.attachment_name(), attachment.len() as u64));
            }
        }
    }
    Ok(())
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

/// Returns the warning about an attachment that is not extracted.
pub fn attachment_warning(name: Option<&str>, size: u64) -> String {
    format!("attachment not read: {} ({size} bytes)", name.unwrap_or("without a name"))
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
