//! Parsers of setting values: durations, sizes, switches, and the flattening of a settings file.

use std::time::Duration;

use toml::Value;

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

/// Returns all values of a file by their dotted path. Arrays become comma-separated strings.
pub(super) fn flatten(table: toml::Table) -> Vec<(String, String)> {
    let mut pending: Vec<(String, Value)> = table.into_iter().collect();
    let mut leaves = Vec::new();
    // toml limits the nesting depth of a document.
    while let Some((path, value)) = pending.pop() {
        match value {
            Value::Table(table) => {
                pending.extend(table.into_iter().map(|(key, value)| (format!("{path}.{key}"), value)))
            }
            value => leaves.push((path, join_items(value))),
        }
    }
    leaves.sort();
    leaves
}

fn join_items(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Array(items) => items.into_iter().map(join_items).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// Returns the Levenshtein distance of two strings, in bytes.
pub(super) fn levenshtein(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.bytes().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, b) in other.bytes().enumerate() {
            let change = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
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

    #[test]
    fn files_are_flattened() {
        let table = "a = 1\n[b]\nc = ['x', 'y']\nd = true\n".parse().expect("TOML");
        let found: Vec<String> = flatten(table).into_iter().map(|(path, value)| format!("{path}={value}")).collect();
        assert_eq!(found, ["a=1", "b.c=x,y", "b.d=true"]);
    }

    #[test]
    fn distance_counts_letters() {
        assert_eq!(levenshtein("", "abc"), 3);
        assert_eq!(levenshtein("listen", "lisen"), 1);
        assert_eq!(levenshtein("same", "same"), 0);
    }
}
