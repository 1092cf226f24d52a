//! Characters of graph ids, tenants and versions.

/// Returns true if the text has only identifier characters.
pub(crate) fn has_name_characters(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._:@~-".contains(&byte))
}
