//! Settings reference: command help, and a Markdown table.

use super::{Setting, ValueKind, flag, merged_rows};

/// Returns the `--help` text: the usage, and one line per setting.
pub fn settings_help(command: &str, tables: &[&'static [Setting]]) -> String {
    let intro = "Settings, as flags (`--rate-limit 60`), environment variables (`PIDQ_RATE_LIMIT=60`), or in the file given with `--config`:";
    let mut text = format!("Usage: {command} [--SETTING VALUE]...\n\n{intro}\n");
    for row in merged_rows(tables) {
        // A secret has no flag.
        let name = if row.secret { row.env.to_owned() } else { flag(row.env) };
        let default = row.default.filter(|d| !d.is_empty()).map(|d| format!(" [{d}]")).unwrap_or_default();
        text.push_str(&format!("  {name:<28} {}{default}\n", row.summary));
    }
    text
}

/// Returns a Markdown table with a row per setting.
pub fn settings_table(tables: &[&'static [Setting]]) -> String {
    let mut text = String::from("| variable | config key | value | default | description |\n|---|---|---|---|---|\n");
    for row in merged_rows(tables) {
        let default = row.default.filter(|d| !d.is_empty()).map(|d| format!("`{d}`")).unwrap_or_default();
        let env = if row.secret { format!("`{}`, `{}_FILE`", row.env, row.env) } else { format!("`{}`", row.env) };
        let expected = expected_values(row.kind);
        text.push_str(&format!("| {env} | `{}` | {expected} | {default} | {} |\n", row.config_key, row.summary));
    }
    text
}

fn expected_values(kind: ValueKind) -> String {
    match kind {
        ValueKind::OneOf(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        other => other.expected().to_owned(),
    }
}
