//! Settings as values of the Helm chart: the schema of the values, the variables of each process, and a table for readers.

use std::fmt::Write as _;

use pidq_http::{AnySetting, COMMON, SettingTable};
use serde_json::{Map, Value as Json, json};

use crate::cli::commands::up;

/// Schema of the values that are no settings.
const OTHER_VALUES: &str = include_str!("chart_values.json");

/// Settings that the chart itself sets, such as addresses and paths in the container.
const SET_BY_THE_CHART: &[&str] = &[
    "config.admin.listen",
    "config.dashboard.apiCa",
    "config.dashboard.apiUrl",
    "config.dashboard.dir",
    "config.dashboard.listen",
    "config.dataDir",
    "config.extractor",
    "config.file",
    "config.graphs.dir",
    "config.insecure",
    "config.listen",
    "config.log.format",
    "config.modelDir",
    "config.snapshotDir",
    "config.tls.cert",
    "config.tls.key",
    "config.tls.min",
    "config.uploadDir",
];

/// Setting with the processes of the chart that read it.
struct ChartSetting {
    row: &'static dyn AnySetting,
    components: Vec<&'static str>,
}

/// Returns the settings that are values of the chart, in the order of the tables.
fn settings() -> Vec<ChartSetting> {
    let components: [(&str, Vec<SettingTable>); 3] = [
        ("api", up::setting_tables()),
        ("worker", pidq_pipeline::TABLES.to_vec()),
        ("dashboard", vec![COMMON, pidq_dashboard::SETTINGS, pidq_dashboard::REMOTE_SETTINGS]),
    ];
    let mut settings: Vec<ChartSetting> = Vec::new();
    for (component, tables) in components {
        let rows = tables.iter().flat_map(|table| table.iter());
        for row in rows.filter(|row| !SET_BY_THE_CHART.contains(&row.config_key())) {
            match settings.iter_mut().find(|known| known.row.env() == row.env()) {
                Some(known) if known.components.contains(&component) => {}
                Some(known) => known.components.push(component),
                None => settings.push(ChartSetting { row: *row, components: vec![component] }),
            }
        }
    }
    settings
}

/// Returns the file from which the templates read the variables of each process, one line per setting.
pub fn variables() -> String {
    let line = |setting: &ChartSetting| {
        let path: Vec<&str> = setting.row.config_key().split('.').collect();
        let (env, secret) = (setting.row.env(), setting.row.is_secret());
        json!({"env": env, "for": setting.components, "path": path, "secret": secret}).to_string()
    };
    let lines: Vec<String> = settings().iter().map(line).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

/// Returns the JSON Schema of the values.
pub fn values_schema() -> String {
    // The template is part of this program, and a test compares the result with the file.
    let mut schema: Json = serde_json::from_str(OTHER_VALUES).unwrap_or_default();
    for setting in settings() {
        let mut object = &mut schema;
        for name in setting.row.config_key().split('.') {
            object = property(object, name);
        }
        *object = value_schema(setting.row);
    }
    format!("{schema:#}\n")
}

/// Returns the schema of a property, which is added if it is missing. Unknown properties are mistakes.
fn property<'a>(object: &'a mut Json, name: &str) -> &'a mut Json {
    if !object.is_object() {
        *object = json!({"type": "object", "additionalProperties": false, "properties": {}});
    }
    let properties = &mut object["properties"];
    if properties[name].is_null() {
        properties[name] = Json::Null;
    }
    &mut properties[name]
}

/// Returns the schema of a value. An empty text is a setting that is not set.
fn value_schema(row: &dyn AnySetting) -> Json {
    let expected = row.expected();
    let mut schema = Map::new();
    let words: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    if expected == "`on` or `off`" {
        schema.insert("enum".into(), json!([true, false, "on", "off", ""]));
    } else if expected.starts_with("one of ") {
        schema.insert("enum".into(), words.iter().copied().chain([""]).collect());
    } else if let Some((types, pattern)) = text_form(&expected) {
        schema.insert("type".into(), types);
        schema.insert("pattern".into(), format!("^({pattern})?$").into());
    } else if expected == "comma-separated values" {
        schema.insert("type".into(), json!(["string", "array"]));
        schema.insert("items".into(), json!({"type": "string"}));
    } else {
        schema.insert("type".into(), "string".into());
    }
    schema.insert("description".into(), row.summary().into());
    if let Some(default) = row.default().filter(|default| !default.is_empty()) {
        schema.insert("default".into(), default.into());
    }
    schema.into()
}

/// Returns the types and the pattern of a number with a unit.
fn text_form(expected: &str) -> Option<(Json, &'static str)> {
    let pattern = match expected {
        text if text.starts_with("a duration") => "[0-9]+ *(ms|s|m|h|d)?",
        text if text.starts_with("a size") => "[0-9]+ *(B|KiB|MiB|GiB)?",
        "an integer" | "a positive integer" => "[0-9]+",
        "a positive integer, or `all`" => "[0-9]+|all",
        "a number from 0 to 1" => return Some((json!(["number", "string"]), "0?\\.[0-9]+|[01](\\.0*)?")),
        _ => return None,
    };
    Some((json!(["integer", "string"]), pattern))
}

/// Returns a Markdown table with a row per value.
pub fn table() -> String {
    let mut text = String::from("| value | variable | processes | default |\n|---|---|---|---|\n");
    for ChartSetting { row, components } in settings() {
        let default = row.default().filter(|default| !default.is_empty());
        let default = default.map(|default| format!("`{default}`")).unwrap_or_default();
        let (key, env, processes) = (row.config_key(), row.env(), components.join(", "));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| `{key}` | `{env}` | {processes} | {default} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_is_inside_another() {
        let settings = settings();
        let keys: Vec<&str> = settings.iter().map(|setting| setting.row.config_key()).collect();
        for key in &keys {
            let inside = keys.iter().find(|other| other.starts_with(&format!("{key}.")));
            assert_eq!(inside, None, "{key}");
        }
    }

    #[test]
    fn what_the_chart_sets_is_a_setting() {
        let all = [up::setting_tables(), vec![pidq_dashboard::REMOTE_SETTINGS]].concat();
        for key in SET_BY_THE_CHART {
            assert!(all.iter().flat_map(|table| table.iter()).any(|row| row.config_key() == *key), "{key}");
        }
    }

    #[test]
    fn defaults_have_the_form_of_the_schema() {
        for setting in settings() {
            let (schema, default) = (value_schema(setting.row), setting.row.default().unwrap_or_default());
            let matches = match (&schema["enum"], schema["pattern"].as_str()) {
                (Json::Array(words), _) => words.contains(&default.into()),
                (_, Some(pattern)) => pidq_matches(pattern, default),
                _ => true,
            };
            assert!(matches, "{}: {default:?} {schema}", setting.row.env());
        }
    }

    /// Matches with the engine's own regular expressions.
    fn pidq_matches(pattern: &str, text: &str) -> bool {
        let graph = pidq::Graph::from_json(json!({"text": text}).to_string()).expect("a document");
        let query = pidq::Query::parse(&format!(".text | regex(., {})", json!(pattern))).expect("a query");
        query.to_json(&graph, pidq::Limits::default()).expect("a result") == "true"
    }
}
