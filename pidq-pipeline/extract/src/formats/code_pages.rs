//! Code pages of Windows by number, as in RTF and Outlook messages.

use encoding_rs::Encoding;

/// Returns the encoding of a code page; none for unknown ones. US-ASCII is read as its superset Windows-1252.
pub fn encoding(number: i32) -> Option<&'static Encoding> {
    let name = match number {
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 | 51949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        10000 => "macintosh".to_owned(),
        20127 => "windows-1252".to_owned(),
        20866 => "koi8-r".to_owned(),
        21866 => "koi8-u".to_owned(),
        28591..=28606 => format!("iso-8859-{}", number - 28590),
        50220..=50222 => "iso-2022-jp".to_owned(),
        51932 => "euc-jp".to_owned(),
        54936 => "gb18030".to_owned(),
        65001 => "utf-8".to_owned(),
        number => format!("windows-{number}"),
    };
    Encoding::for_label(name.as_bytes())
}
