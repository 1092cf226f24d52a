//! Sizes in options: `64K`, `32M`, `1G`.

use std::str::FromStr;

/// A size in bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Size(pub(crate) usize);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let (digits, shift) = match text.char_indices().last() {
            Some((at, 'K' | 'k')) => (&text[..at], 10),
            Some((at, 'M' | 'm')) => (&text[..at], 20),
            Some((at, 'G' | 'g')) => (&text[..at], 30),
            _ => (text, 0),
        };
        let number = digits.parse::<usize>().ok().filter(|number| *number > 0);
        let size = number.and_then(|number| number.checked_mul(1 << shift));
        size.map(Size).ok_or_else(|| format!("`{text}` is no size such as 512K, 32M or 1G"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_binary_suffix() {
        for (text, expected) in [("1", Some(1)), ("64K", Some(65_536)), ("32m", Some(32 << 20)), ("1G", Some(1 << 30))]
        {
            assert_eq!(text.parse().ok(), expected.map(Size), "{text}");
        }
        for text in ["", "K", "0", "-1M", "1.5M", "99999999999G", "1T"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
