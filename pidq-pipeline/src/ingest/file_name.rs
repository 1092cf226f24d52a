//! Names of files from uploads and mails, which may be anything.

use crate::llm::is_invisible;

/// Maximum length of a file name in characters.
const MAX_LENGTH: usize = 255;
/// Maximum length of a suffix that a shortened name keeps, with its dot.
const MAX_SUFFIX_LENGTH: usize = 16;

/// Returns the last path component of a file name without control characters, and without those that change how it is
/// shown: reversed, `fdp.exe` would look like another format. Returns none if nothing is left.
pub(crate) fn normalize(name: &str) -> Option<String> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = name.chars().filter(|&c| !c.is_control() && !is_invisible(c)).collect();
    Some(shortened(name.trim())).filter(|name| !matches!(name.as_str(), "" | "." | ".."))
}

/// Shortens a file name, but keeps its suffix: the format of a text depends on it.
fn shortened(name: &str) -> String {
    let length = name.chars().count();
    if length <= MAX_LENGTH {
        return name.to_owned();
    }
    let suffix = name.rfind('.').map_or("", |dot| &name[dot..]);
    let suffix = if suffix.chars().count() > MAX_SUFFIX_LENGTH { "" } else { suffix };
    let stem = name.chars().take(MAX_LENGTH - suffix.chars().count());
    stem.chain(suffix.chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_normalized() {
        let long = "x".repeat(4000);
        for (name, normalized) in [
            ("../../etc/passwd", Some("passwd")),
            (r"C:\drawings\a.txt", Some("a.txt")),
            ("a\u{1}\u{7f}\nb.txt", Some("ab.txt")),
            ("a\u{202e}fdp.exe", Some("afdp.exe")),
            ("\u{2028}.txt", Some(".txt")),
            ("..", None),
            ("a/", None),
            ("\u{200b} ", None),
            (&format!("{long}.csv"), Some(&*format!("{}.csv", &long[..251]))),
            (&format!("{}.tar.zst", "é".repeat(300)), Some(&*format!("{}.zst", "é".repeat(251)))),
            (&format!("{long}.{long}"), Some(&long[..255])),
        ] {
            assert_eq!(normalize(name).as_deref(), normalized);
        }
    }
}
