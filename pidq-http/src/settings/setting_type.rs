//! Types of setting values: how a text is parsed, and what is expected.

use std::num::{IntErrorKind, NonZeroUsize, ParseIntError};
use std::path::PathBuf;
use std::time::Duration;

use super::formats;
use crate::secret::Secret;

/// Type of a setting. The implementation parses and validates, so that an invalid value stops the start and not a
/// request.
pub trait SettingType: 'static {
    /// Value that is read.
    type Value;

    /// True if the value is a secret, which is never shown.
    const IS_SECRET: bool = false;

    /// Returns the expected form of a value, such as "an integer".
    fn expected() -> String;

    /// Parses a text that is not empty.
    ///
    /// # Errors
    /// The reason why it is invalid, without the value of a secret.
    fn parse(text: &str) -> Result<Self::Value, String>;

    /// Returns the value of an unset setting. `None`: a value is required.
    fn unset() -> Option<Self::Value> {
        None
    }
}

/// Returns the reason for a text that has not the expected form of a type.
pub fn mismatch<T: SettingType>(text: &str) -> String {
    if T::IS_SECRET {
        format!("expected {}", T::expected())
    } else {
        format!("expected {}, found `{text}`", T::expected())
    }
}

/// Optional value: `None` if the setting is unset.
impl<T: SettingType> SettingType for Option<T> {
    type Value = Option<T::Value>;
    const IS_SECRET: bool = T::IS_SECRET;

    fn expected() -> String {
        T::expected()
    }

    fn parse(text: &str) -> Result<Self::Value, String> {
        T::parse(text).map(Some)
    }

    fn unset() -> Option<Self::Value> {
        Some(None)
    }
}

/// Comma-separated values; empty if the setting is unset.
impl<T: SettingType> SettingType for Vec<T> {
    type Value = Vec<T::Value>;
    const IS_SECRET: bool = T::IS_SECRET;

    fn expected() -> String {
        "comma-separated values".to_owned()
    }

    fn parse(text: &str) -> Result<Self::Value, String> {
        text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(T::parse).collect()
    }

    fn unset() -> Option<Self::Value> {
        Some(Vec::new())
    }
}

/// Any text.
impl SettingType for String {
    type Value = String;

    fn expected() -> String {
        "a string".to_owned()
    }

    fn parse(text: &str) -> Result<String, String> {
        Ok(text.to_owned())
    }
}

/// Any text that is a secret.
impl SettingType for Secret {
    type Value = Secret;
    const IS_SECRET: bool = true;

    fn expected() -> String {
        String::expected()
    }

    fn parse(text: &str) -> Result<Secret, String> {
        Ok(Secret::new(text))
    }
}

/// File system path.
impl SettingType for PathBuf {
    type Value = PathBuf;

    fn expected() -> String {
        "a path".to_owned()
    }

    fn parse(text: &str) -> Result<PathBuf, String> {
        Ok(PathBuf::from(text))
    }
}

/// Directory for the data of a service; `data` if the setting is empty.
pub struct DataDir;

impl SettingType for DataDir {
    type Value = PathBuf;

    fn expected() -> String {
        PathBuf::expected()
    }

    fn parse(text: &str) -> Result<PathBuf, String> {
        PathBuf::parse(text)
    }

    fn unset() -> Option<PathBuf> {
        Some(PathBuf::from("data"))
    }
}

/// Switch: `on` or `off`; also `true`, `yes`, `1` and their opposites.
impl SettingType for bool {
    type Value = bool;

    fn expected() -> String {
        "`on` or `off`".to_owned()
    }

    fn parse(text: &str) -> Result<bool, String> {
        formats::switch(text).ok_or_else(|| mismatch::<Self>(text))
    }
}

/// Duration: `500ms`, `10s`, `5m`, `24h`, `14d`; a number alone is seconds.
impl SettingType for Duration {
    type Value = Duration;

    fn expected() -> String {
        "a duration such as `500ms`, `10s` or `24h`".to_owned()
    }

    fn parse(text: &str) -> Result<Duration, String> {
        formats::duration(text).ok_or_else(|| mismatch::<Self>(text))
    }
}

/// Duration longer than 0.
pub struct NonZeroDuration;

impl SettingType for NonZeroDuration {
    type Value = Duration;

    fn expected() -> String {
        "a duration longer than 0, such as `500ms`, `10s` or `24h`".to_owned()
    }

    fn parse(text: &str) -> Result<Duration, String> {
        formats::duration(text).filter(|duration| !duration.is_zero()).ok_or_else(|| mismatch::<Self>(text))
    }
}

/// Size in bytes: `64KiB`, `2MiB`, `1GiB`; a number alone is bytes.
pub struct Size;

impl SettingType for Size {
    type Value = u64;

    fn expected() -> String {
        "a size such as `64KiB` or `2MiB`".to_owned()
    }

    fn parse(text: &str) -> Result<u64, String> {
        formats::size(text).ok_or_else(|| mismatch::<Self>(text))
    }
}

/// Size in bytes of something in memory: a size above the address space is the maximum.
pub struct MemorySize;

impl SettingType for MemorySize {
    type Value = usize;

    fn expected() -> String {
        Size::expected()
    }

    fn parse(text: &str) -> Result<usize, String> {
        Size::parse(text).map(|size| usize::try_from(size).unwrap_or(usize::MAX))
    }
}

macro_rules! numbers {
    ($($type:ty: $expected:literal;)*) => {
        $(
            impl SettingType for $type {
                type Value = $type;

                fn expected() -> String {
                    $expected.to_owned()
                }

                fn parse(text: &str) -> Result<$type, String> {
                    text.trim().parse().map_err(|error: ParseIntError| match error.kind() {
                        IntErrorKind::PosOverflow => format!("must be at most {}, found `{text}`", <$type>::MAX),
                        _ => mismatch::<Self>(text),
                    })
                }
            }
        )*
    };
}

numbers! {
    u32: "an integer";
    u64: "an integer";
    usize: "an integer";
    NonZeroUsize: "a positive integer";
}

/// Enumeration: each value has a word.
pub trait Choice: Copy + 'static {
    /// The words with their values.
    const CHOICES: &'static [(&'static str, Self)];
}

impl<T: Choice> SettingType for T {
    type Value = T;

    fn expected() -> String {
        let words: Vec<&str> = T::CHOICES.iter().map(|(word, _)| *word).collect();
        format!("one of `{}`", words.join("`, `"))
    }

    fn parse(text: &str) -> Result<T, String> {
        let choice = T::CHOICES.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        choice.ok_or_else(|| mismatch::<T>(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_was_found_and_expected() {
        assert_eq!(NonZeroUsize::parse("0"), Err("expected a positive integer, found `0`".into()));
        assert_eq!(u32::parse("9999999999"), Err("must be at most 4294967295, found `9999999999`".into()));
        assert_eq!(<Vec<u32>>::parse("1, 2,,x"), Err("expected an integer, found `x`".into()));
        assert_eq!(<Option<Size>>::parse("1KB"), Err("expected a size such as `64KiB` or `2MiB`, found `1KB`".into()));
        assert!(NonZeroDuration::parse("0s").is_err_and(|reason| reason.ends_with("found `0s`")));
    }

    #[test]
    fn only_optional_values_lists_and_the_data_directory_can_be_unset() {
        assert_eq!((u64::unset(), <Option<u64>>::unset(), <Vec<u64>>::unset()), (None, Some(None), Some(Vec::new())));
        assert_eq!(DataDir::unset(), Some("data".into()));
    }

    #[test]
    fn values_are_parsed() {
        assert_eq!(<Vec<u32>>::parse(" 1, ,3 "), Ok(vec![1, 3]));
        assert_eq!(MemorySize::parse("2KiB"), Ok(2048));
        assert_eq!(bool::parse("off"), Ok(false));
    }
}
