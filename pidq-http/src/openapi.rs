//! The routes as OpenAPI 3.1, and as a page.

mod page;

pub(crate) use page::{page, policy};

use serde_json::{Map, Value, json};

use crate::route::{Accepts, Access, Parameter, Place, Reply, Route};

/// The document. Panics when a row has a schema that is not JSON: a test of every service makes one.
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

/// Puts figures that are settings in the place of their defaults: those of schemas whose `$comment` is the name of one.
pub(crate) fn configure(schema: &mut Value, figures: &[(&'static str, u64)]) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| configure(item, figures)),
        Value::Object(members) => {
            let setting = members.get("$comment").and_then(Value::as_str);
            let figure = figures.iter().find(|(name, _)| setting == Some(name)).map(|(_, figure)| *figure);
            for most in ["maxLength", "maxItems"] {
                if let (Some(figure), Some(most)) = (figure, members.get_mut(most)) {
                    *most = figure.into();
                }
            }
            members.values_mut().for_each(|member| configure(member, figures));
        }
        _ => {}
    }
}

/// Adds the paths of another service that it answers under a prefix.
pub(crate) fn add(document: &mut Value, other: &[u8], takes: impl Fn(&str) -> bool) {
    let Ok(Value::Object(mut other)) = serde_json::from_slice(other) else { return };
    let (Some(paths), Some(Value::Object(more))) = (document["paths"].as_object_mut(), other.remove("paths")) else {
        return;
    };
    paths.extend(more.into_iter().filter(|(path, _)| takes(path)));
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

/// `GET /graph/{job_id}` → `get-graph-job_id`.
fn operation_id<S>(route: &Route<S>) -> String {
    let words = route.path.split(['/', '{', '}', '.', ':']).filter(|word| !word.is_empty());
    let method = route.method.as_str().to_ascii_lowercase();
    [method.as_str()].into_iter().chain(words).collect::<Vec<_>>().join("-")
}

fn parameters<S>(route: &Route<S>) -> Vec<Value> {
    let told = |name: &str| route.parameters.iter().any(|p| p.place == Place::Path && p.name == name);
    let plain = path_names(route.path).filter(|name| !told(name)).map(plain_parameter);
    plain.chain(route.parameters.iter().map(parameter)).collect()
}

/// The names between braces.
fn path_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('{').skip(1).filter_map(|rest| rest.split('}').next())
}

fn plain_parameter(name: &str) -> Value {
    json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string", "minLength": 1 } })
}

fn parameter(parameter: &Parameter) -> Value {
    let place = match parameter.place {
        Place::Path => "path",
        Place::Query => "query",
        Place::Header | Place::NeededHeader => "header",
    };
    json!({
        "name": parameter.name, "in": place, "required": matches!(parameter.place, Place::Path | Place::NeededHeader),
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
        let told = responses.entry(reply.status.to_string()).or_insert_with(|| response(reply));
        // Of several with the same status, each is another content type of the same answer.
        if let Some(media) = reply.media {
            told["content"][media] = json!({ "schema": schema(reply.schema) });
        }
    }
    let media = if route.access == Access::Client { "application/json" } else { "application/problem+json" };
    let schema = match route.access {
        Access::Client => json!({ "type": "object", "required": ["error"] }),
        _ => json!({ "$ref": "#/components/schemas/Problem" }),
    };
    let problem = json!({ "description": "What went wrong.", "content": { media: { "schema": schema } } });
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
    serde_json::from_str(text).unwrap_or_else(|error| panic!("a row has a schema that is not JSON: {error}: {text}"))
}

fn problem() -> Value {
    json!({
        "type": "object",
        "required": ["type", "title", "status", "code", "request_id"],
        "properties": {
            "type": { "type": "string", "format": "uri" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string" },
            "instance": { "type": "string" },
            "code": { "type": "string" },
            "request_id": { "type": "string" },
        },
    })
}
