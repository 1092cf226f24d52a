//! Check of the types in the OpenAPI document of a service.

use std::collections::BTreeSet;

use serde_json::Value;

/// Checks that all types and their fields are described, that none is unused, and that no two have the same name.
pub fn check_types(document: &Value) {
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    for (name, schema) in schemas {
        assert!(!name.ends_with(|c: char| c.is_ascii_digit()), "two types have the name {name}");
        assert!(schema["description"].is_string(), "{name}: {schema}");
        for (field, schema) in schema["properties"].as_object().into_iter().flatten() {
            assert!(schema["description"].is_string(), "{name}.{field}: {schema}");
        }
    }
    let mut references = BTreeSet::new();
    collect_references(document, &mut references);
    let defined: BTreeSet<String> = schemas.keys().map(|name| format!("#/components/schemas/{name}")).collect();
    assert_eq!(references, defined);
}

fn collect_references(value: &Value, references: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, references)),
        Value::Object(fields) => {
            references.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|field| collect_references(field, references));
        }
        _ => {}
    }
}
