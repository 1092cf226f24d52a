//! OpenAPI 3.1 document of the routes, and its HTML page.

mod page;

pub(crate) use page::{page, policy, prose, standalone_page};

use serde_json::{Map, Value, json};

use crate::message::request::Accepts;
use crate::problem::{OAuthErrorBody, ProblemBody};
use crate::routing::route::{Access, Parameter, ParameterLocation, Route};
use crate::schema::{SchemaCatalog, TypeSchema};

/// Returns the document.
///
/// # Panics
///
/// Panics if two types of bodies have the same name; every service has a test that builds its document.
pub(crate) fn document<S>(name: &str, version: &str, routes: &[&'static Route<S>]) -> Value {
    let mut schemas = SchemaCatalog::new();
    let problems = Problems {
        problem: schemas.response(TypeSchema::of::<ProblemBody>()),
        oauth: schemas.response(TypeSchema::of::<OAuthErrorBody>()),
    };
    let mut paths = Map::new();
    for route in routes {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.as_str().to_ascii_lowercase()] = operation(route, &mut schemas, &problems);
    }
    json!({
        "openapi": "3.1.0",
        "info": { "title": name, "version": version },
        "paths": paths,
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
            "schemas": schemas.definitions(),
        },
    })
}

/// Schemas of the two forms of errors.
struct Problems {
    problem: Value,
    oauth: Value,
}

/// Replaces default limits in schemas by the configured values. A schema names the setting in `$comment`.
pub(crate) fn apply_limits(schema: &mut Value, limits: &[(&'static str, u64)]) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| apply_limits(item, limits)),
        Value::Object(fields) => {
            let setting = fields.get("$comment").and_then(Value::as_str);
            let limit = limits.iter().find(|(name, _)| setting == Some(name)).map(|(_, limit)| *limit);
            for keyword in ["maxLength", "maxItems"] {
                if let (Some(limit), Some(value)) = (limit, fields.get_mut(keyword)) {
                    *value = limit.into();
                }
            }
            fields.values_mut().for_each(|field| apply_limits(field, limits));
        }
        _ => {}
    }
}

/// Merges the paths and schemas of a mounted service.
///
/// # Panics
///
/// Panics if both services have a schema of the same name with different content; a test mounts one into the other.
pub(crate) fn merge(document: &mut Value, other: &[u8], handles: impl Fn(&str) -> bool) {
    let Ok(mut other) = serde_json::from_slice::<Value>(other) else { return };
    for (path, item) in take_object(&mut other["paths"]).into_iter().filter(|(path, _)| handles(path)) {
        document["paths"][path] = item;
    }
    for (name, schema) in take_object(&mut other["components"]["schemas"]) {
        let known = &mut document["components"]["schemas"][&name];
        assert!(known.is_null() || *known == schema, "both services have a schema {name}: {known} and {schema}");
        *known = schema;
    }
}

fn take_object(value: &mut Value) -> Map<String, Value> {
    match value.take() {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

fn operation<S>(route: &Route<S>, schemas: &mut SchemaCatalog, problems: &Problems) -> Value {
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": route.summary,
        "parameters": parameters(route, schemas),
        "responses": responses(route, schemas, problems),
    });
    if let Some(accepts) = &route.body {
        operation["requestBody"] = body(accepts, schemas);
    }
    if route.access.needs_token() {
        let scopes: Vec<_> = route.access.scope().into_iter().collect();
        operation["security"] = json!([{ "bearer": scopes }]);
    }
    operation
}

/// Returns `get-graph-job_id` for `GET /graph/{job_id}`.
fn operation_id<S>(route: &Route<S>) -> String {
    let words = route.path.split(['/', '{', '}', '.', ':']).filter(|word| !word.is_empty());
    let method = route.method.as_str().to_ascii_lowercase();
    [method.as_str()].into_iter().chain(words).collect::<Vec<_>>().join("-")
}

fn parameters<S>(route: &Route<S>, schemas: &mut SchemaCatalog) -> Vec<Value> {
    let described =
        |name: &str| route.parameters.iter().any(|p| p.location == ParameterLocation::Path && p.name == name);
    let plain = path_names(route.path).filter(|name| !described(name)).map(plain_parameter);
    plain.chain(route.parameters.iter().map(|row| parameter(row, schemas))).collect()
}

/// Returns the names between braces.
fn path_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('{').skip(1).filter_map(|rest| rest.split('}').next())
}

fn plain_parameter(name: &str) -> Value {
    json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string", "minLength": 1 } })
}

fn parameter(parameter: &Parameter, schemas: &mut SchemaCatalog) -> Value {
    let (location, required) = match parameter.location {
        ParameterLocation::Path => ("path", true),
        ParameterLocation::Query => ("query", false),
        ParameterLocation::Header => ("header", false),
        ParameterLocation::RequiredHeader => ("header", true),
    };
    json!({
        "name": parameter.name, "in": location, "required": required,
        "description": parameter.summary, "schema": schemas.request(parameter.schema),
    })
}

fn body(accepts: &Accepts, schemas: &mut SchemaCatalog) -> Value {
    let schema = schemas.request(accepts.schema);
    let mut content: Map<String, Value> =
        accepts.media.iter().map(|&media| (media.to_owned(), json!({ "schema": schema }))).collect();
    for (media, schema) in accepts.files {
        content.insert((*media).to_owned(), json!({ "schema": schemas.request(*schema) }));
    }
    json!({ "required": true, "content": content })
}

fn responses<S>(route: &Route<S>, schemas: &mut SchemaCatalog, problems: &Problems) -> Value {
    let mut responses = Map::new();
    for reply in route.replies {
        let described =
            responses.entry(reply.status.to_string()).or_insert_with(|| json!({ "description": reply.summary }));
        // Several replies with the same status are content types of the same response.
        if let Some((media, schema)) = reply.body {
            described["content"][media] = json!({ "schema": schemas.response(schema) });
        }
    }
    let (media, schema) = match route.access {
        Access::Client => ("application/json", &problems.oauth),
        _ => ("application/problem+json", &problems.problem),
    };
    responses.insert("default".into(), json!({ "description": "Error.", "content": { media: { "schema": schema } } }));
    Value::Object(responses)
}
