//! Settings reference: command help, and a Markdown table.

use super::setting::{AnySetting, SettingTable, merged_rows};

/// Returns the `--help` text: the usage, and one line per setting.
pub fn settings_help(command: &str, tables: &[SettingTable]) -> String {
    settings_help_where(command, tables, |_| true)
}

/// As [`settings_help`], with some of the settings only: a command may accept settings that have no effect on it.
pub fn settings_help_where(
    command: &str,
    tables: &[SettingTable],
    has_effect: impl Fn(&dyn AnySetting) -> bool,
) -> String {
    let intro = "Settings, as flags (`--rate-limit 60`), environment variables (`PIDQ_RATE_LIMIT=60`), or in the file given with `--config`:";
    let mut text = format!("Usage: {command} [--SETTING VALUE]...\n\n{intro}\n");
    for row in merged_rows(tables).into_iter().filter(|row| has_effect(*row)) {
        // A secret has no flag.
        let name = if row.is_secret() { row.env().to_owned() } else { row.flag() };
        let default = shown_default(row).map(|default| format!(" [{default}]")).unwrap_or_default();
        text.push_str(&format!("  {name:<28} {}{default}\n", row.summary()));
    }
    text
}

/// Returns a Markdown table with a row per setting.
pub fn settings_table(tables: &[SettingTable]) -> String {
    let mut text = String::from("| variable | config key | value | default | description |\n|---|---|---|---|---|\n");
    for row in merged_rows(tables) {
        let env = row.env();
        let variables = if row.is_secret() { format!("`{env}`, `{env}_FILE`") } else { format!("`{env}`") };
        let expected = row.expected();
        // The column lists the values of an enumeration.
        let values = expected.strip_prefix("one of ").unwrap_or(&expected);
        let default = shown_default(row).map(|default| format!("`{default}`")).unwrap_or_default();
        let (key, summary) = (row.config_key(), row.summary());
        text.push_str(&format!("| {variables} | `{key}` | {values} | {default} | {summary} |\n"));
    }
    text
}

/// Returns the default in a form for readers; `None` if there is none.
fn shown_default(row: &dyn AnySetting) -> Option<&'static str> {
    row.default().filter(|default| !default.is_empty())
}

/// Returns the default value of a setting.
pub fn default_value(tables: &[SettingTable], name: &str) -> Option<&'static str> {
    merged_rows(tables).into_iter().find(|row| row.env() == name)?.default()
}
