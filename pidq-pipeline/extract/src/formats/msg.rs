//! MSG reader: writes the headers and the text of a message saved by Outlook and of those that it forwards, and returns their
//! attachments, as for EML.

mod compressed_rtf;
mod properties;

use encoding_rs::{Encoding, WINDOWS_1252};
use mail_parser::DateTime;

use self::compressed_rtf::decompress;
pub use self::properties::PROPERTY_STREAM;
use self::properties::{Budget, Object, ObjectKind, damaged};
use super::{eml, html, rtf};
use crate::compound_file::{CompoundFile, Entry};
use crate::sniff::Confidence;
use crate::text_decoding;
use crate::text_sink::TextSink;
use crate::{ExtractError, Format, Source};

/// The `msg` format.
pub const MSG: Format = Format {
    name: "msg",
    media_types: &["application/vnd.ms-outlook"],
    extensions: &["msg"],
    summary: "Outlook message: headers and text, also of forwarded messages; attachments become documents of their own",
    sniff: |content| Confidence::certain_if(content.has_stream(PROPERTY_STREAM)),
    read,
};

/// Identifiers of properties (MS-OXPROPS).
mod id {
    pub const MESSAGE_CLASS: u16 = 0x001A;
    pub const SUBJECT: u16 = 0x0037;
    pub const CLIENT_SUBMIT_TIME: u16 = 0x0039;
    pub const SENT_REPRESENTING: [u16; 3] = [0x0042, 0x5D02, 0x0065];
    pub const SENDER: [u16; 3] = [0x0C1A, 0x5D01, 0x0C1F];
    pub const RECIPIENT_TYPE: u16 = 0x0C15;
    pub const DISPLAY_TO: u16 = 0x0E04;
    pub const DISPLAY_CC: u16 = 0x0E03;
    pub const MESSAGE_DELIVERY_TIME: u16 = 0x0E06;
    pub const BODY: u16 = 0x1000;
    pub const RTF_COMPRESSED: u16 = 0x1009;
    pub const HTML: u16 = 0x1013;
    /// Display name, SMTP address, address of any type.
    pub const RECIPIENT: [u16; 3] = [0x3001, 0x39FE, 0x3003];
    pub const ATTACHMENT_DATA: u16 = 0x3701;
    pub const ATTACHMENT_MEDIA_TYPE: u16 = 0x370E;
    pub const ATTACHMENT_FLAGS: u16 = 0x3714;
    pub const ATTACHMENT_HIDDEN: u16 = 0x7FFE;
    /// Long file name, short file name, display name.
    pub const ATTACHMENT_NAMES: [u16; 3] = [0x3707, 0x3704, 0x3001];
    pub const INTERNET_CODE_PAGE: u16 = 0x3FDE;
    pub const MESSAGE_CODE_PAGE: u16 = 0x3FFD;
}

const RECIPIENT_PREFIX: &str = "__recip_version1.0_#";
const ATTACHMENT_PREFIX: &str = "__attach_version1.0_#";
/// Values of [`id::RECIPIENT_TYPE`].
const TO: i32 = 1;
const CC: i32 = 2;
/// Flag of attachments that the text shows.
const SHOWN_IN_TEXT: i32 = 4;
/// Extensions of images, for attachments without a media type.
const IMAGE_EXTENSIONS: &[&str] = &["bmp", "emf", "gif", "jpeg", "jpg", "png", "svg", "tif", "tiff", "webp", "wmf"];

fn read(source: &Source<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    let bytes = source.content.bytes;
    let file = CompoundFile::open(bytes).map_err(|_| damaged())?;
    let budget = Budget::new(bytes.len(), source.options);
    let mut reader = Reader { file: &file, budget, sink, max_characters: source.options.max_characters };
    let message = reader.open(file.root(), ObjectKind::Message, WINDOWS_1252)?;
    let subject = reader.text(&message, id::SUBJECT)?;
    reader.sink.set_title(&subject);
    reader.message(&message, eml::MAX_FORWARDED)
}

struct Reader<'f, 's> {
    file: &'f CompoundFile<'f>,
    budget: Budget,
    sink: &'s mut TextSink,
    max_characters: usize,
}

/// A message, a recipient or an attachment, with the encoding of its texts that are not in Unicode.
struct Item<'f> {
    object: Object<'f>,
    encoding: &'static Encoding,
}

impl<'f> Reader<'f, '_> {
    /// Opens an item; the encoding applies if the item declares none.
    fn open(
        &mut self,
        storage: &Entry,
        kind: ObjectKind,
        encoding: &'static Encoding,
    ) -> Result<Item<'f>, ExtractError> {
        let object = Object::open(self.file, storage, kind, &mut self.budget)?;
        let declared = object.code_page(id::MESSAGE_CODE_PAGE).or_else(|| object.code_page(id::INTERNET_CODE_PAGE));
        Ok(Item { encoding: declared.unwrap_or(encoding), object })
    }

    /// Returns a text, or an empty one.
    fn text(&mut self, item: &Item<'_>, id: u16) -> Result<String, ExtractError> {
        Ok(item.object.text(id, item.encoding, &mut self.budget)?.unwrap_or_default())
    }

    /// Writes a message and the messages it forwards.
    fn message(&mut self, message: &Item<'_>, depth: usize) -> Result<(), ExtractError> {
        self.headers(message)?;
        let has_body = self.body(message)?;
        self.check_class(message, has_body)?;
        for storage in message.object.parts(ATTACHMENT_PREFIX) {
            let attachment = self.open(storage, ObjectKind::Part, message.encoding)?;
            self.attachment(&attachment, depth)?;
        }
        Ok(())
    }

    fn headers(&mut self, message: &Item<'_>) -> Result<(), ExtractError> {
        let (to, cc) = self.recipients(message)?;
        let sent = [id::CLIENT_SUBMIT_TIME, id::MESSAGE_DELIVERY_TIME];
        let date = sent.iter().find_map(|id| message.object.unix_seconds(*id));
        let mut from = self.person(message, id::SENT_REPRESENTING)?;
        let sender = self.person(message, id::SENDER)?;
        // Some programs write the address only for the sender.
        if sender.starts_with(&from) {
            from = sender;
        }
        let lines = [
            ("Subject", self.text(message, id::SUBJECT)?),
            ("From", from),
            ("To", to),
            ("Cc", cc),
            ("Date", date.map_or_else(String::new, |seconds| DateTime::from_timestamp(seconds).to_rfc3339())),
        ];
        eml::write_headers(lines, self.sink)
    }

    /// Returns the recipients of both kinds. Messages that were not sent may name them only as a text.
    fn recipients(&mut self, message: &Item<'_>) -> Result<(String, String), ExtractError> {
        let (mut to, mut cc) = (Vec::new(), Vec::new());
        for storage in message.object.parts(RECIPIENT_PREFIX) {
            let recipient = self.open(storage, ObjectKind::Part, message.encoding)?;
            let person = self.person(&recipient, id::RECIPIENT)?;
            match recipient.object.integer(id::RECIPIENT_TYPE) {
                Some(TO) => to.push(person),
                Some(CC) => cc.push(person),
                _ => {}
            }
        }
        let or_display_text = |people: Vec<String>, text: String| match people.is_empty() {
            true => text,
            false => people.join(", "),
        };
        let (to_text, cc_text) = (self.text(message, id::DISPLAY_TO)?, self.text(message, id::DISPLAY_CC)?);
        Ok((or_display_text(to, to_text), or_display_text(cc, cc_text)))
    }

    /// Returns name and address of a person. Addresses in the directory of an Exchange server are left out.
    fn person(&mut self, item: &Item<'_>, [name, smtp, address]: [u16; 3]) -> Result<String, ExtractError> {
        let name = self.text(item, name)?.trim().to_owned();
        let mut address_text = self.text(item, smtp)?;
        if address_text.trim().is_empty() {
            address_text = self.text(item, address)?;
        }
        let address = address_text.trim();
        Ok(match (name.as_str(), address) {
            (name, address) if !address.contains('@') || address == name => name.to_owned(),
            ("", address) => address.to_owned(),
            (name, address) => format!("{name} <{address}>"),
        })
    }

    /// Writes the first form of the text that is not blank: plain, HTML, RTF. Returns whether there is one.
    fn body(&mut self, message: &Item<'_>) -> Result<bool, ExtractError> {
        let start = self.sink.page_text().len();
        let plain = self.text(message, id::BODY)?;
        self.warn_about_characters(&plain);
        if !plain.trim().is_empty() {
            self.sink.push(&plain)?;
            return Ok(true);
        }
        if let Some(html) = self.html(message)? {
            html::text(&html, self.sink)?;
        }
        if self.sink.page_text()[start..].trim().is_empty()
            && let Some(compressed) = message.object.binary(id::RTF_COMPRESSED, &mut self.budget)?
        {
            self.rtf(&compressed)?;
        }
        Ok(!self.sink.page_text()[start..].trim().is_empty())
    }

    /// Returns the HTML text, which is stored as bytes or as a text.
    fn html(&mut self, message: &Item<'_>) -> Result<Option<String>, ExtractError> {
        let Some(bytes) = message.object.binary(id::HTML, &mut self.budget)? else {
            return message.object.text(id::HTML, message.encoding, &mut self.budget);
        };
        let html = match message.object.code_page(id::INTERNET_CODE_PAGE) {
            Some(encoding) => Some(encoding.decode(&bytes).0.into_owned()),
            None => text_decoding::decode(&bytes).map(|decoded| decoded.text),
        };
        self.warn_about_characters(html.as_deref().unwrap_or_default());
        Ok(html)
    }

    fn rtf(&mut self, compressed: &[u8]) -> Result<(), ExtractError> {
        // A character of RTF text takes up to 8 bytes, such as `\u1234?`, apart from control words.
        let decompressed = decompress(compressed, self.max_characters.saturating_mul(8))?;
        if !decompressed.is_complete {
            self.sink.warn("the RTF text of the message is damaged; part of it is missing");
        }
        rtf::text(&decompressed.rtf, self.sink)
    }

    fn warn_about_characters(&mut self, text: &str) {
        if text.contains('\u{FFFD}') {
            self.sink.warn(eml::UNDECODABLE);
        }
    }

    /// Names what is not read of items other than messages.
    fn check_class(&mut self, message: &Item<'_>, has_body: bool) -> Result<(), ExtractError> {
        let class = self.text(message, id::MESSAGE_CLASS)?;
        let upper = class.to_ascii_uppercase();
        if upper.starts_with("IPM.NOTE.SMIME") && !has_body {
            return Err(ExtractError::encrypted(
                "the message is encrypted or signed with S/MIME; save it without encryption and signature",
            ));
        }
        let is_message = upper.is_empty() || upper.starts_with("IPM.NOTE") || upper.starts_with("REPORT.");
        if !is_message {
            self.sink.warn(format!("the item has the class {class}: only its subject, people, date and text are read"));
        }
        Ok(())
    }

    fn attachment(&mut self, attachment: &Item<'_>, depth: usize) -> Result<(), ExtractError> {
        let message = attachment.object.message(id::ATTACHMENT_DATA);
        if let Some(storage) = message
            && depth > 0
        {
            let forwarded = self.open(storage, ObjectKind::EmbeddedMessage, attachment.encoding)?;
            self.sink.end_paragraph()?;
            return self.message(&forwarded, depth - 1);
        }
        let name = self.attachment_name(attachment)?;
        let media_type = self.text(attachment, id::ATTACHMENT_MEDIA_TYPE)?.trim().to_ascii_lowercase();
        let Some(size) = attachment.object.binary_size(id::ATTACHMENT_DATA) else {
            let reason = match attachment.object.has_storage(id::ATTACHMENT_DATA) {
                _ if message.is_some() => eml::TOO_DEEP,
                true => "it is an object of another program",
                false => "its content is not in the message",
            };
            self.sink.refuse_attachment(name.as_deref(), 0, reason);
            return Ok(());
        };
        if is_inline_image(&attachment.object, name.as_deref(), &media_type) {
            self.sink.add_inline_image();
            return Ok(());
        }
        let budget = &mut self.budget;
        let media_type = Some(media_type).filter(|media_type| !media_type.is_empty());
        self.sink.attach(name, media_type, size, || {
            Ok(attachment.object.binary(id::ATTACHMENT_DATA, budget)?.unwrap_or_default())
        })
    }

    fn attachment_name(&mut self, attachment: &Item<'_>) -> Result<Option<String>, ExtractError> {
        for id in id::ATTACHMENT_NAMES {
            let name = self.text(attachment, id)?;
            if !name.trim().is_empty() {
                return Ok(Some(name.trim().to_owned()));
            }
        }
        Ok(None)
    }
}

/// Returns whether an attachment is an image that the text shows.
fn is_inline_image(attachment: &Object<'_>, name: Option<&str>, media_type: &str) -> bool {
    let extension = name.and_then(|name| name.rsplit_once('.')).map(|(_, extension)| extension.to_ascii_lowercase());
    let is_image = match media_type {
        "" => extension.is_some_and(|extension| IMAGE_EXTENSIONS.contains(&extension.as_str())),
        media_type => media_type.starts_with("image/"),
    };
    let flags = attachment.integer(id::ATTACHMENT_FLAGS).unwrap_or_default();
    is_image && (flags & SHOWN_IN_TEXT != 0 || attachment.flag(id::ATTACHMENT_HIDDEN))
}
