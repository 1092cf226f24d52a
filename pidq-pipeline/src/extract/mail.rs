//! EML: who wrote what to whom about what, then what they wrote. Attachments are named, not read.

use mail_parser::{Address, Message, MessageParser, MessagePart, MimeHeaders, PartType};

use super::gather::Gather;
use super::look::{Fit, Look};
use super::{Failure, Format, Source, hypertext};

/// The row.
pub const EML: Format = Format {
    name: "eml",
    media_types: &["message/rfc822"],
    extensions: &["eml"],
    summary: "e-mail: its headers and its text; attachments are named in the warnings",
    sniff,
    read,
};

/// Headers of which a mail has some among its first lines.
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

/// Mails in mails that are read.
const MAX_FORWARDED: usize = 8;

fn sniff(look: &Look<'_>) -> Fit {
    let head = String::from_utf8_lossy(&look.bytes[..look.bytes.len().min(8192)]);
    let lines = head.trim_start_matches('\u{FEFF}').lines().take_while(|line| !line.is_empty());
    let names =
        lines.filter(|line| !line.starts_with([' ', '\t'])).map(|line| line.split_once(':').map(|(name, _)| name));
    let known = |name: &Option<&str>| name.is_some_and(|name| HEADERS.contains(&name.to_ascii_lowercase().as_str()));
    let names: Vec<_> = names.collect();
    match names.iter().filter(|name| known(name)).count() {
        0 if look.text().is_some() && names.iter().any(Option::is_some) => Fit::Possible,
        0 => Fit::No,
        count if count >= 2 && known(&names[0]) => Fit::Certain,
        _ => Fit::Possible,
    }
}

fn read(source: &Source<'_>, gather: &mut Gather) -> Result<(), Failure> {
    let message = MessageParser::default().parse(source.look.bytes);
    let message = message.ok_or_else(|| Failure::corrupt("the mail is broken"))?;
    gather.title(message.subject().unwrap_or_default());
    whole(&message, MAX_FORWARDED, gather)
}

/// A mail, and the mails that it forwards.
fn whole(message: &Message<'_>, depth: usize, gather: &mut Gather) -> Result<(), Failure> {
    headers(message, gather)?;
    bodies(message, gather)?;
    for attachment in message.attachments() {
        match &attachment.body {
            PartType::Message(forwarded) if depth > 0 => {
                gather.paragraph()?;
                whole(forwarded, depth - 1, gather)?;
            }
            _ => {
                let name = attachment.attachment_name().unwrap_or("without a name");
                gather.warn(format!("attachment not read: {name} ({} bytes)", attachment.len()));
            }
        }
    }
    Ok(())
}

fn headers(message: &Message<'_>, gather: &mut Gather) -> Result<(), Failure> {
    let lines = [
        ("Subject", message.subject().map(str::to_owned)),
        ("From", message.from().map(people)),
        ("To", message.to().map(people)),
        ("Cc", message.cc().map(people)),
        ("Date", message.date().map(mail_parser::DateTime::to_rfc3339)),
    ];
    for (name, value) in lines {
        if let Some(value) = value.filter(|value| !value.trim().is_empty()) {
            gather.push(&format!("{name}: {}\n", super::spreadsheet::one_line(&value)))?;
        }
    }
    gather.paragraph()
}

fn people(address: &Address<'_>) -> String {
    let person = |person: &mail_parser::Addr<'_>| match (person.name(), person.address()) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (name, address) => name.or(address).unwrap_or_default().to_owned(),
    };
    address.iter().map(person).collect::<Vec<_>>().join(", ")
}

/// Each part as plain text if it was sent as such, else the text of its HTML. Some senders leave the plain text empty.
fn bodies(message: &Message<'_>, gather: &mut Gather) -> Result<(), Failure> {
    let is_blank = |part: &MessagePart<'_>| matches!(&part.body, PartType::Text(text) if text.trim().is_empty());
    let is_html_alone = message.text_bodies().all(is_blank);
    let parts: Vec<_> = match is_html_alone {
        true => message.html_bodies().collect(),
        false => message.text_bodies().collect(),
    };
    for part in parts {
        gather.paragraph()?;
        body(part, gather)?;
    }
    Ok(())
}

fn body(part: &MessagePart<'_>, gather: &mut Gather) -> Result<(), Failure> {
    let text = match &part.body {
        PartType::Text(text) | PartType::Html(text) => text,
        _ => return Ok(()),
    };
    if text.contains('\u{FFFD}') {
        gather.warn("some letters of the mail could not be read and became \u{FFFD}");
    }
    match part.body {
        PartType::Html(_) => hypertext::text(text, gather),
        _ => gather.push(text),
    }
}
