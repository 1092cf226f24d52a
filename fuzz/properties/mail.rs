//! Fuzz property of `mail`: an e-mail is extracted or rejected; its attachments are within the limits and do not change
//! its text; and each attachment is a document of any kind.

use pidq_extract::{AttachmentLimits, Options};

use super::extraction::{extract, options};

const LIMITS: AttachmentLimits = AttachmentLimits { count: 5, size: 64 << 10 };
/// Start of a compound file, the format of Outlook messages.
const COMPOUND_FILE: &[u8] = b"\xD0\xCF\x11\xE0";

/// Panics if the property is violated.
pub fn check(input: &[u8]) {
    let name = Some(if input.starts_with(COMPOUND_FILE) { "a.msg" } else { "a.eml" });
    let without = extract(input, name, &options());
    let with = extract(input, name, &Options { attachments: Some(LIMITS), ..options() });
    let text = |result: &Result<pidq_extract::Extracted, _>| result.as_ref().ok().map(|mail| mail.text.clone());
    assert_eq!(text(&with), text(&without), "attachments are no part of the text");
    let Ok(mail) = with else { return };
    assert!(mail.attachments.len() <= LIMITS.count, "{} attachments", mail.attachments.len());
    let size: usize = mail.attachments.iter().map(|attachment| attachment.bytes.len()).sum();
    assert!(size as u64 <= LIMITS.size, "{size} bytes");
    for attachment in &mail.attachments {
        assert!(attachment.name.as_ref().is_none_or(|name| !name.trim().is_empty()), "a name is not blank");
        let _ = extract(&attachment.bytes, attachment.name.as_deref(), &options());
    }
}
