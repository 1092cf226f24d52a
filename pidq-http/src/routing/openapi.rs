//! OpenAPI 3.1 document of the routes, and its HTML page.

mod page;

pub(crate) use page::{page, policy, prose, standalone_page};

use serde_json::{Map, Value, json};

use crate::message::request::Accepts;
use crate::problem::codes;
use crate::routing::route::{Access, Parameter, ParameterLocation, Reply, Route};

/// Returns the document. Panics if a schema is not JSON; every service has a test that builds it.
pub(crate) fn document<S>(name: &str, version: &str, routes: &[&'static Route<S>]) -> Value {
    let mut paths = Map::new();
    for route in routes {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.as_str().to_ascii_lowercase()] = operation(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": { "title": name, "version": version },
        "paths": paths,
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
            "schemas": { "Problem": problem() },
        },
    })
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

/// Merges the paths of a mounted service.
pub(crate) fn merge(document: &mut Value, other: &[u8], handles: impl Fn(&str) -> bool) {
    let Ok(Value::Object(mut other)) = serde_json::from_slice(other) else { return };
    let (Some(paths), Some(Value::Object(more))) = (document["paths"].as_object_mut(), other.remove("paths")) else {
        return;
    };
    paths.extend(more.into_iter().filter(|(path, _)| handles(path)));
}

fn operation<S>(route: &Route<S>) -> Value {
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": route.summary,
        "parameters": parameters(route),
        "responses": responses(route),
    });
    if let Some(accepts) = &route.body {
        operation["requestBody"] = body(accepts);
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

fn parameters<S>(route: &Route<S>) -> Vec<Value> {
    let described =
        |name: &str| route.parameters.iter().any(|p| p.location == ParameterLocation::Path && p.name == name);
    let plain = path_names(route.path).filter(|name| !described(name)).map(plain_parameter);
    plain.chain(route.parameters.iter().map(parameter)).collect()
}

/// Returns the names between braces.
fn path_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('{').skip(1).filter_map(|rest| rest.split('}').next())
}

fn plain_parameter(name: &str) -> Value {
    json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string", "minLength": 1 } })
}

fn parameter(parameter: &Parameter) -> Value {
    let location = match parameter.location {
        ParameterLocation::Path => "path",
        ParameterLocation::Query => "query",
        ParameterLocation::Header | ParameterLocation::RequiredHeader => "header",
    };
    json!({
        "name": parameter.name, "in": location, "required": matches!(parameter.location, ParameterLocation::Path | ParameterLocation::RequiredHeader),
        "description": parameter.summary, "schema": schema(parameter.schema),
    })
}

fn body(accepts: &Accepts) -> Value {
    let content: Map<String, Value> =
        accepts.media.iter().map(|&media| (media.to_owned(), json!({ "schema": schema(accepts.schema) }))).collect();
    json!({ "required": true, "content": content })
}

fn responses<S>(route: &Route<S>) -> Value {
    let mut responses = Map::new();
    for reply in route.replies {
        let described = responses.entry(reply.status.to_string()).or_insert_with(|| response(reply));
        // Several replies with the same status are content types of the same response.
        if let Some(media) = reply.media {
            described["content"][media] = json!({ "schema": schema(reply.schema) });
        }
    }
    let media = if route.access == Access::Client { "application/json" } else { "application/problem+json" };
    let schema = match route.access {
        Access::Client => json!({ "type": "object", "required": ["error"] }),
        _ => json!({ "$ref": "#/components/schemas/Problem" }),
    };
    let problem = json!({ "description": "Error.", "content": { media: { "schema": schema } } });
    responses.insert("default".into(), problem);
    Value::Object(responses)
}

fn response(reply: &Reply) -> Value {
    let mut response = json!({ "description": reply.summary });
    if let Some(media) = reply.media {
        response["content"] = json!({ media: { "schema": schema(reply.schema) } });
    }
    response
}

fn schema(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("a route has an invalid JSON schema: {error}: {text}"))
}

fn problem() -> Value {
    json!({
        "type": "object",
        "required": ["type", "title", "status", "code", "request_id"],
        "properties": {
            "type": { "type": "string", "format": "uri-reference" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string" },
            "instance": { "type": "string" },
            "code": { "type": "string", "enum": codes::ALL.iter().map(|code| code.name).collect::<Vec<_>>() },
            "request_id": { "type": "string" },
        },
    })
}
