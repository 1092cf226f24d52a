//! What settings there are, for people: the help of a command, and a table for the manual.

use super::{Kind, Setting, flag, rows};

/// One line per setting, for `--help`, under how the command is called.
pub fn help(command: &str, tables: &[&'static [Setting]]) -> String {
    let ways = "Settings, as flag (`--rate 60`), in the environment (`PIDQ_RATE=60`), or in the file of `--config`:";
    let mut text = format!("Usage: {command} [--SETTING VALUE]...\n\n{ways}\n");
    for row in rows(tables) {
        // A secret has no flag.
        let name = if row.secret { row.env.to_owned() } else { flag(row.env) };
        let default = row.default.filter(|d| !d.is_empty()).map(|d| format!(" [{d}]")).unwrap_or_default();
        text.push_str(&format!("  {name:<28} {}{default}\n", row.summary));
    }
    text
}

/// A Markdown table with a row per setting.
pub fn manual(tables: &[&'static [Setting]]) -> String {
    let mut text = String::from("| variable | chart | looks like | default | what it does |\n|---|---|---|---|---|\n");
    for row in rows(tables) {
        let default = row.default.filter(|d| !d.is_empty()).map(|d| format!("`{d}`")).unwrap_or_default();
        let env = if row.secret { format!("`{}`, `{}_FILE`", row.env, row.env) } else { format!("`{}`", row.env) };
        let looks = looks_like(row.kind);
        text.push_str(&format!("| {env} | `{}` | {looks} | {default} | {} |\n", row.chart, row.summary));
    }
    text
}

fn looks_like(kind: Kind) -> String {
    match kind {
        Kind::OneOf(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        other => other.expected().to_owned(),
    }
}
