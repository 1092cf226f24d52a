//! Keys and values of a settings file (TOML).

use toml::Value;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_flattened() {
        let table = "a = 1\n[b]\nc = ['x', 'y']\nd = true\n".parse().expect("TOML");
        let found: Vec<String> = flatten(table).into_iter().map(|(path, value)| format!("{path}={value}")).collect();
        assert_eq!(found, ["a=1", "b.c=x,y", "b.d=true"]);
    }
}
