//! JSON Schemas of Rust types: a row of a route table names a type, and OpenAPI describes the type.

use std::borrow::Cow;

use schemars::generate::{Contract, SchemaGenerator, SchemaSettings};
use schemars::transform::{RecursiveTransform, ReplaceBoolSchemas, Transform};
use schemars::{JsonSchema, Schema, json_schema};
use serde_json::{Map, Value};

/// Location of the definitions in an OpenAPI document (OpenAPI 3.1, components object).
const DEFINITIONS: &str = "/components/schemas";

/// Schema of a body or a parameter. It can only be created from a Rust type, so that it cannot differ from what a
/// handler reads or writes.
#[derive(Clone, Copy, Debug)]
pub struct TypeSchema(fn(&mut SchemaGenerator) -> Schema);

impl TypeSchema {
    /// Returns the schema of a type.
    pub const fn of<T: JsonSchema>() -> TypeSchema {
        TypeSchema(|generator| generator.subschema_for::<T>())
    }
}

/// Generators of the schemas of one OpenAPI document. Every type is defined once, and bodies refer to it.
pub(crate) struct SchemaCatalog {
    requests: SchemaGenerator,
    responses: SchemaGenerator,
}

impl SchemaCatalog {
    pub fn new() -> SchemaCatalog {
        SchemaCatalog { requests: generator(Contract::Deserialize), responses: generator(Contract::Serialize) }
    }

    /// Returns the schema of what a handler reads: fields with a default are optional.
    pub fn request(&mut self, schema: TypeSchema) -> Value {
        simplified((schema.0)(&mut self.requests))
    }

    /// Returns the schema of what a handler writes: fields that are always present are required.
    pub fn response(&mut self, schema: TypeSchema) -> Value {
        simplified((schema.0)(&mut self.responses))
    }

    /// Returns the definitions of all types, by name.
    ///
    /// # Panics
    ///
    /// Panics if two types have the same name. Every service has a test that builds its document.
    pub fn definitions(mut self) -> Map<String, Value> {
        let mut definitions = self.responses.take_definitions(false);
        for (name, schema) in self.requests.take_definitions(false) {
            match definitions.get(&name) {
                Some(other) => assert!(*other == schema, "two schemas have the name {name}: {other} and {schema}"),
                None => drop(definitions.insert(name, schema)),
            }
        }
        definitions.sort_keys();
        let simplify = |schema: Value| Schema::try_from(schema).map_or_else(|error| panic!("{error}"), simplified);
        definitions.into_iter().map(|(name, schema)| (name, simplify(schema))).collect()
    }
}

fn generator(contract: Contract) -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = DEFINITIONS.into();
        settings.meta_schema = None;
        settings.contract = contract;
    });
    settings.into_generator()
}

/// Returns a schema in the form that most tools read.
fn simplified(mut schema: Schema) -> Value {
    // `{}` instead of `true`; `additionalProperties` stays a boolean.
    let mut replace_bools = ReplaceBoolSchemas::default();
    replace_bools.skip_additional_properties = true;
    replace_bools.transform(&mut schema);
    RecursiveTransform(join_lines).transform(&mut schema);
    RecursiveTransform(register_format).transform(&mut schema);
    RecursiveTransform(remove_null_default).transform(&mut schema);
    schema.to_value()
}

/// Joins the lines of a paragraph, which are those of the source file.
fn join_lines(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        let paragraphs: Vec<String> = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
        *text = paragraphs.join("\n\n");
    }
}

/// Replaces the format of `usize`, which the OpenAPI format registry does not have.
fn register_format(schema: &mut Schema) {
    if schema.get("format").is_some_and(|format| format == "uint") {
        schema.insert("format".to_owned(), "uint64".into());
    }
}

/// Removes a default of `null`: an optional field without a value.
fn remove_null_default(schema: &mut Schema) {
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
}

/// Any bytes, such as the content of a file.
pub struct Binary;

impl JsonSchema for Binary {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Binary".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "binary" })
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    use super::*;

    /// A pump
    /// of a unit.
    #[derive(Deserialize, JsonSchema, Serialize)]
    #[serde(deny_unknown_fields)]
    struct Pump {
        /// Tag, such as `P-1`.
        tag: String,
        data: Option<Value>,
    }

    #[test]
    fn a_type_is_defined_once() {
        let mut catalog = SchemaCatalog::new();
        let list = catalog.response(TypeSchema::of::<Vec<Pump>>());
        assert_eq!(list, json!({"type": "array", "items": {"$ref": "#/components/schemas/Pump"}}));
        assert_eq!(catalog.response(TypeSchema::of::<Pump>()), json!({"$ref": "#/components/schemas/Pump"}));
        let expected = json!({
            "type": "object", "description": "A pump of a unit.", "required": ["tag", "data"], "additionalProperties": false,
            "properties": {"tag": {"type": "string", "description": "Tag, such as `P-1`."}, "data": {}},
        });
        assert_eq!(Value::Object(catalog.definitions()), json!({ "Pump": expected }));
    }

    #[test]
    #[should_panic(expected = "two schemas have the name Pump")]
    fn a_name_has_one_meaning() {
        let mut catalog = SchemaCatalog::new();
        catalog.response(TypeSchema::of::<Pump>());
        catalog.request(TypeSchema::of::<Pump>());
        catalog.definitions();
    }
}
