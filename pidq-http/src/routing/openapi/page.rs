//! HTML page of the OpenAPI document, without scripts or external resources.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Style sheet of the page.
const STYLE: &str = include_str!("page.css");

/// Content security policy: the inline style, allowed by its hash, and the icon.
pub(crate) fn policy() -> &'static str {
    static POLICY: LazyLock<String> = LazyLock::new(|| {
        let hash = STANDARD.encode(Sha256::digest(STYLE));
        format!(
            "default-src 'none'; style-src 'sha256-{hash}'; img-src data:; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'none'; require-trusted-types-for 'script'"
        )
    });
    &POLICY
}

/// Content type of OAuth requests, in which the client authenticates itself.
const FORM: &str = "application/x-www-form-urlencoded";
const CLIENT: &str = "The client authenticates with its id and secret, in the body or by Basic authentication.";
/// Group of single routes.
const ABOUT: &str = "About the service";

/// Returns the page.
pub(crate) fn page(document: &Value) -> String {
    let title = escape(text(&document["info"]["title"]));
    let version = escape(text(&document["info"]["version"]));
    let (mut index, mut articles) = (String::new(), String::new());
    for (group, operations) in groups(document) {
        let group = if group == ABOUT { group.to_owned() } else { format!("/{}", escape(group)) };
        index.push_str(&format!(
            "<h2>{group}</h2><ul>{}</ul>",
            operations.iter().map(Operation::link).collect::<String>()
        ));
        articles
            .push_str(&format!("<h2>{group}</h2>{}", operations.iter().map(Operation::article).collect::<String>()));
    }
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <link rel=\"icon\" href=\"data:,\"><style>{STYLE}</style></head><body>\
         <header><h1>{title}<small>{version}</small></h1><p>Endpoints of this service. Machine-readable: \
         <a href=\"openapi.json\">openapi.json</a>. Errors are problem details (RFC 9457) with a stable \
         <code>code</code>.</p></header>\
         <div class=\"page\"><nav aria-label=\"Endpoints\">{index}</nav><main>{articles}{}</main></div></body></html>",
        types(document)
    )
}

/// Returns the section of the types, which bodies link to.
fn types(document: &Value) -> String {
    let articles: String =
        entries(&document["components"]["schemas"]).map(|(name, schema)| type_article(name, schema)).collect();
    if articles.is_empty() { articles } else { format!("<h2>Types</h2>{articles}") }
}

fn type_article(name: &str, schema: &Value) -> String {
    let (id, summary) = (escape(name), prose(text(&schema["description"])));
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().map(text).collect();
    let fields: String =
        entries(&schema["properties"]).map(|(name, field)| field_row(name, field, required.contains(&name))).collect();
    let fields =
        if fields.is_empty() { format!("<p>{}</p>", type_summary(schema)) } else { format!("<table>{fields}</table>") };
    format!("<article id=\"type-{id}\"><h3><code>{id}</code></h3><p>{summary}</p>{fields}{}</article>", details(schema))
}

fn field_row(name: &str, field: &Value, required: bool) -> String {
    let required = if required { "" } else { "<br><span class=\"soft\">optional</span>" };
    let (type_summary, summary) = (type_summary(field), prose(text(&field["description"])));
    format!("<tr><td>{}{required}</td><td>{type_summary}</td><td>{summary}</td></tr>", code(name))
}

/// Returns a page with one article, in the same style.
pub(crate) fn standalone_page(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <link rel=\"icon\" href=\"data:,\"><style>{STYLE}</style></head><body>\
         <header><h1>{title}</h1></header><main><article>{body}</article></main></body></html>"
    )
}

/// Operation of the document.
struct Operation<'a> {
    path: &'a str,
    method: String,
    spec: &'a Value,
}

/// Returns the operations grouped by the first path segment.
fn groups(document: &Value) -> Vec<(&str, Vec<Operation<'_>>)> {
    let mut groups: Vec<(&str, Vec<Operation<'_>>)> = Vec::new();
    for (path, methods) in entries(&document["paths"]) {
        let first = path.split('/').nth(1).unwrap_or_default();
        let at = groups.iter().position(|(name, _)| *name == first).unwrap_or_else(|| {
            groups.push((first, Vec::new()));
            groups.len() - 1
        });
        let operations = entries(methods).map(|(method, spec)| Operation { path, method: method.to_uppercase(), spec });
        groups[at].1.extend(operations);
    }
    merge_single_groups(groups)
}

/// Merges groups with a single operation into one group at the end.
fn merge_single_groups<'a>(groups: Vec<(&'a str, Vec<Operation<'a>>)>) -> Vec<(&'a str, Vec<Operation<'a>>)> {
    let (single, mut groups): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(_, operations)| operations.len() == 1);
    let single: Vec<_> = single.into_iter().flat_map(|(_, operations)| operations).collect();
    if !single.is_empty() {
        groups.push((ABOUT, single));
    }
    groups
}

impl Operation<'_> {
    fn id(&self) -> String {
        escape(text(&self.spec["operationId"]))
    }

    fn method(&self) -> String {
        format!("<span class=\"method {}\">{}</span>", escape(&self.method.to_lowercase()), escape(&self.method))
    }

    fn link(&self) -> String {
        format!("<li><a href=\"#{}\">{}<code>{}</code></a></li>", self.id(), self.method(), escape(self.path))
    }

    fn article(&self) -> String {
        let (id, method, path) = (self.id(), self.method(), escape(self.path));
        let (summary, access) = (prose(text(&self.spec["summary"])), self.access());
        let parts = [self.parameters(), self.body(), self.responses()].concat();
        format!(
            "<article id=\"{id}\"><h3>{method}<code>{path}</code></h3><p>{summary}</p>\
             <p class=\"access\">{access}</p>{parts}</article>"
        )
    }

    fn access(&self) -> String {
        let scopes = self.spec["security"][0]["bearer"].as_array();
        match scopes.map(|scopes| scopes.first().and_then(Value::as_str)) {
            None if self.spec["requestBody"]["content"].get(FORM).is_some() => CLIENT.to_owned(),
            None => "No token required.".to_owned(),
            Some(None) => "Requires a valid token.".to_owned(),
            Some(Some(scope)) => format!("Requires a token with the scope <code>{}</code>.", escape(scope)),
        }
    }

    fn parameters(&self) -> String {
        let rows: String = self.spec["parameters"].as_array().into_iter().flatten().map(parameter).collect();
        if rows.is_empty() { rows } else { format!("<h4>Parameters</h4><table>{rows}</table>") }
    }

    fn body(&self) -> String {
        let content = &self.spec["requestBody"]["content"];
        let Some((_, first)) = entries(content).next() else { return String::new() };
        let media: Vec<String> = entries(content).map(|(media, _)| code(media)).collect();
        format!("<h4>Body</h4><p>{}</p>{}", media.join(" or "), schema(&first["schema"]))
    }

    fn responses(&self) -> String {
        let rows: String =
            entries(&self.spec["responses"]).map(|(status, response)| response_row(status, response)).collect();
        format!("<h4>Responses</h4><table>{rows}</table>")
    }
}

fn parameter(parameter: &Value) -> String {
    let (name, location) = (code(text(&parameter["name"])), escape(text(&parameter["in"])));
    let (type_summary, summary) = (type_summary(&parameter["schema"]), prose(text(&parameter["description"])));
    format!(
        "<tr><td>{name}<br><span class=\"soft\">{location}</span></td><td>{type_summary}</td><td>{summary}</td></tr>"
    )
}

/// Returns a short description of a schema's type and limits, with links to other types.
fn type_summary(schema: &Value) -> String {
    let mut words = vec![type_name(schema)];
    if let Some(values) = values(schema) {
        words = values.into_iter().map(|value| code(value.as_str().unwrap_or(&value.to_string()))).collect();
    }
    for (name, what) in LIMITS {
        match &schema[name] {
            Value::Null => {}
            Value::String(text) => words.push(format!("{what}{}", code(text))),
            other => words.push(format!("{what}{}", code(&other.to_string()))),
        }
    }
    words.retain(|word| !word.is_empty());
    words.join(", ")
}

/// Returns the values of an enumeration; described ones are alternatives with one value each.
fn values(schema: &Value) -> Option<Vec<&Value>> {
    if let Some(values) = schema["enum"].as_array() {
        return Some(values.iter().collect());
    }
    schema["oneOf"].as_array()?.iter().map(|alternative| alternative.get("const")).collect()
}

/// Keywords of a schema that the summary of a type shows, and their words.
const LIMITS: [(&str, &str); 9] = [
    ("format", "format "),
    ("pattern", "pattern "),
    ("minimum", "from "),
    ("maximum", "to "),
    ("minLength", "characters from "),
    ("maxLength", "characters to "),
    ("minItems", "items from "),
    ("maxItems", "items to "),
    ("default", "default "),
];

/// Returns the name of a type: that of the definition, or of JSON.
fn type_name(schema: &Value) -> String {
    if let Some(name) = definition(schema) {
        return format!("<a href=\"#type-{0}\"><code>{0}</code></a>", escape(name));
    }
    if let Some(parts) = ["anyOf", "oneOf"].iter().find_map(|keyword| schema[keyword].as_array()) {
        return parts.iter().map(type_name).collect::<Vec<_>>().join(" or ");
    }
    match (&schema["type"], schema.get("items")) {
        (Value::String(name), Some(items)) if name == "array" => format!("array of {}", type_name(items)),
        (Value::Array(names), _) => names.iter().map(|name| escape(text(name))).collect::<Vec<_>>().join(" or "),
        (name, _) => escape(text(name)),
    }
}

/// Returns the name of the definition that a schema refers to.
fn definition(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

fn response_row(status: &str, response: &Value) -> String {
    let media: Vec<String> = entries(&response["content"]).map(|(media, _)| code(media)).collect();
    let first = entries(&response["content"]).next().map(|(_, first)| schema(&first["schema"])).unwrap_or_default();
    let status = if status == "default" { "4xx, 5xx".to_owned() } else { escape(status) };
    let summary = prose(text(&response["description"]));
    format!("<tr><td>{status}</td><td>{}</td><td>{summary}{first}</td></tr>", media.join("<br>"))
}

/// Returns a link to the type of a body, or its schema in a collapsed element.
fn schema(schema: &Value) -> String {
    if definition(schema).or_else(|| definition(schema.get("items")?)).is_some() {
        return format!("<p>{}</p>", type_name(schema));
    }
    let is_trivial = schema.as_object().is_none_or(|entries| entries.keys().all(|name| name == "type"));
    if is_trivial { String::new() } else { details(schema) }
}

/// Returns a schema in a collapsed element.
fn details(schema: &Value) -> String {
    let text = serde_json::to_string_pretty(schema).unwrap_or_default();
    format!("<details><summary>Schema</summary><pre>{}</pre></details>", escape(&text))
}

fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
    value.as_object().unwrap_or(&NONE).iter().map(|(name, value)| (name.as_str(), value))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Formats text in which backticks mark code.
pub(crate) fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(number, part)| if number % 2 == 1 { code(part) } else { escape(part) }).collect()
}

fn code(text: &str) -> String {
    format!("<code>{}</code>", escape(text))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(operation: Value) -> Value {
        json!({"info": {"title": "T", "version": "1"}, "paths": {"/a/{id}": {"get": operation}}})
    }

    #[test]
    fn every_operation_is_documented_completely() {
        let page = page(&document(json!({
            "operationId": "get-a", "summary": "Gives an `a` & more.", "security": [{"bearer": ["read"]}],
            "parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "default": 7}}],
            "requestBody": {"content": {"application/json": {"schema": {"required": ["x"]}}}},
            "responses": {"200": {"description": "The a.", "content": {"text/csv": {"schema": {}}}}},
        })));
        for part in [
            "<a href=\"#get-a\"><span class=\"method get\">GET</span><code>/a/{id}</code>",
            "<article id=\"get-a\">",
            "<p>Gives an <code>a</code> &amp; more.</p>",
            "scope <code>read</code>",
            "integer, from <code>1</code>, default <code>7</code>",
            "<code>application/json</code>",
            "&quot;required&quot;",
            "<td>200</td><td><code>text/csv</code></td><td>The a.</td>",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }

    #[test]
    fn bodies_link_to_their_types() {
        let mut document = document(json!({
            "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pump"}}}}},
        }));
        document["components"]["schemas"]["Pump"] = json!({
            "description": "A pump.", "required": ["tag"],
            "properties": {
                "tag": {"type": "string", "maxLength": 9, "description": "Its tag."},
                "state": {"oneOf": [{"const": "on", "description": "It runs."}, {"const": "off"}]},
                "spares": {"type": "array", "items": {"$ref": "#/components/schemas/Pump"}},
            },
        });
        let page = page(&document);
        for part in [
            "<p><a href=\"#type-Pump\"><code>Pump</code></a></p>",
            "<article id=\"type-Pump\"><h3><code>Pump</code></h3><p>A pump.</p>",
            "<td><code>tag</code></td><td>string, characters to <code>9</code></td><td>Its tag.</td>",
            "<td><code>on</code>, <code>off</code></td>",
            "optional</span></td><td>array of <a href=\"#type-Pump\">",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }

    #[test]
    fn text_of_a_table_is_escaped() {
        let evil = "<script>\"&";
        let page = page(&document(json!({
            "operationId": evil, "summary": evil, "parameters": [{"name": evil, "description": evil}],
            "responses": {evil: {"description": evil}},
        })));
        assert!(!page.contains("<script>"));
        assert!(policy().contains("default-src 'none'; style-src 'sha256-") && !policy().contains("unsafe"));
    }
}
