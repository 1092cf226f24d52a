//! Attachments of mails: files that are documents of their own, within limits of number and size.

use serde::{Deserialize, Serialize};

/// An attachment of a mail.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Attachment {
    /// Name of the file as the mail has it, which may be anything.
    pub name: Option<String>,
    /// Media type that the mail declares, without parameters.
    pub media_type: Option<String>,
    /// Content of the file. A text is in UTF-8.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

/// Limits of the attachments that are returned.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct AttachmentLimits {
    /// Maximum number.
    pub count: usize,
    /// Maximum size of all together, in bytes.
    pub size: u64,
}

/// Media types of signatures, which belong to the mail.
const SIGNATURES: &[&str] =
    &["application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature"];

/// Attachments that are returned with a mail.
#[derive(Default)]
pub struct AttachmentSink {
    limits: Option<AttachmentLimits>,
    attachments: Vec<Attachment>,
    size: u64,
    /// Number of images that are part of the text of the mail.
    inline_images: usize,
}

impl AttachmentSink {
    pub fn new(limits: Option<AttachmentLimits>) -> Self {
        AttachmentSink { limits, ..AttachmentSink::default() }
    }

    /// Adds an attachment, or returns the warning that it is not read. The bytes are only taken if they are returned.
    pub fn add<E>(
        &mut self,
        name: Option<String>,
        media_type: Option<String>,
        size: u64,
        bytes: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Option<String>, E> {
        let name = name.filter(|name| !name.trim().is_empty());
        if let Some(reason) = self.refusal(media_type.as_deref(), size) {
            return Ok(Some(warning(name.as_deref(), size, &reason)));
        }
        let bytes = bytes()?;
        self.size += bytes.len() as u64;
        self.attachments.push(Attachment { name, media_type, bytes });
        Ok(None)
    }

    /// Returns why an attachment is not returned; an empty text if attachments are not asked for.
    fn refusal(&self, media_type: Option<&str>, size: u64) -> Option<String> {
        let limits = match self.limits {
            None => return Some(String::new()),
            Some(limits) => limits,
        };
        match () {
            () if media_type.is_some_and(|name| SIGNATURES.contains(&name)) => {
                Some("it is the signature of the mail".into())
            }
            () if size == 0 => Some("it is empty".into()),
            () if self.attachments.len() >= limits.count => Some(match limits.count {
                0 => "attachments of this mail do not become documents".into(),
                count => format!("only the first {count} attachments of this mail become documents"),
            }),
            () if size > limits.size.saturating_sub(self.size) => {
                Some(format!("the attachments of a mail may have {} bytes together", limits.size))
            }
            () => None,
        }
    }

    /// Counts an image that is part of the text of the mail.
    pub fn add_inline_image(&mut self) {
        self.inline_images += 1;
    }

    /// Returns the attachments, and the warning about inline images.
    pub fn finish(self) -> (Vec<Attachment>, Option<String>) {
        let inline_images = match self.inline_images {
            0 => None,
            1 => Some("an image in the text of the mail is not read".into()),
            count => Some(format!("{count} images in the text of the mail are not read")),
        };
        (self.attachments, inline_images)
    }
}

/// Returns the warning about an attachment that is not read.
pub fn warning(name: Option<&str>, size: u64, reason: &str) -> String {
    let colon = if reason.is_empty() { "" } else { ": " };
    format!("attachment not read: {} ({size} bytes){colon}{reason}", name.unwrap_or("without a name"))
}
