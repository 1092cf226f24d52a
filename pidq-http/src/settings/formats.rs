//! Formats of durations, sizes and switches in settings.

use std::time::Duration;

/// Parses `500ms`, `10s`, `5m`, `24h`, `14d`; a number alone is seconds.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = split(text)?;
    let millis = match unit {
        "ms" => 1,
        "" | "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.checked_mul(millis).map(Duration::from_millis)
}

/// Parses `64KiB`, `2MiB`, `1GiB`; a number alone is bytes.
pub(super) fn size(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let bytes = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(bytes)
}

pub(super) fn switch(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "on" | "true" | "yes" | "1" => Some(true),
        "off" | "false" | "no" | "0" => Some(false),
        _ => None,
    }
}

fn split(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..digits].parse().ok()?, text[digits..].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_have_units() {
        let seconds = |text| duration(text).map(|time| time.as_secs_f64());
        assert_eq!(
            ["500ms", "10", "10s", "2 m", "1h", "14d"].map(seconds),
            [0.5, 10.0, 10.0, 120.0, 3600.0, 1_209_600.0].map(Some)
        );
        assert_eq!(["", "s", "1w", "-1s", "1.5s", "99999999999999999999d"].map(seconds), [None; 6]);
        assert_eq!(["7", "7B", "64KiB", "2 MiB", "1GiB"].map(size), [7, 7, 65536, 2 << 20, 1 << 30].map(Some));
        assert_eq!(["", "1KB", "18446744073709551615KiB"].map(size), [None; 3]);
    }
}
