//! Completion and validation of the lines of the prompt.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use pidq::{Dialect, Graph, TopologyConfig, Value};
use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};

use super::prompt_line::COMMANDS;
use crate::cli::sorted_json;

/// Completion and validation of the current line.
pub struct LineCompleter {
    /// Function names, sorted.
    functions: Vec<String>,
    /// Keys of the document that are valid after a dot, sorted.
    fields: Vec<String>,
    /// Tags and ids of nodes, escaped as in a string literal, sorted.
    names: Vec<String>,
    graph: Rc<Graph>,
    /// Query with open brackets.
    pub unfinished: RefCell<String>,
}

impl LineCompleter {
    pub fn new(dialect: &Dialect, graph: &Rc<Graph>) -> LineCompleter {
        let mut functions: Vec<String> = dialect.functions().map(|function| function.name().into()).collect();
        let mut fields: Vec<String> = graph.keys().filter(|key| key.chars().all(is_word)).map(String::from).collect();
        functions.sort();
        fields.sort();
        let (names, graph) = (node_names(graph), graph.clone());
        LineCompleter { functions, fields, names, graph, unfinished: RefCell::default() }
    }

    /// Returns the start of the word before the cursor and its completions.
    fn candidates(&self, before: &str) -> (usize, Vec<String>) {
        if let Some(prefix) = before.strip_prefix(':').filter(|prefix| prefix.chars().all(is_word)) {
            let names = COMMANDS.iter().map(|command| command.names[0]).filter(|name| name.starts_with(prefix));
            return (1, names.map(|name| format!("{name} ")).collect());
        }
        if let Some(start) = open_brackets(before).1 {
            return (start, self.complete_string(&before[..start - 1], &before[start..]));
        }
        let start =
            before.rfind(|c| !is_word(c)).map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let word = &before[start..];
        let is_field = before[..start].ends_with('.');
        let has_prefix = |name: &&String| name.starts_with(word);
        let found = match is_field {
            true => self.fields.iter().filter(has_prefix).cloned().collect(),
            false if word.is_empty() => Vec::new(),
            false => self.functions.iter().filter(has_prefix).map(|name| format!("{name}(")).collect(),
        };
        (start, found)
    }

    /// Completes a string literal by the comparison before it.
    fn complete_string(&self, before: &str, prefix: &str) -> Vec<String> {
        let values = compared_field(before).map(|field| field_values(&self.graph, field, prefix));
        values.filter(|values| !values.is_empty()).unwrap_or_else(|| self.complete_name(prefix))
    }

    /// Completes a name by binary search, since a drawing may have many.
    fn complete_name(&self, prefix: &str) -> Vec<String> {
        let first = self.names.partition_point(|name| name.as_str() < prefix);
        let found = self.names[first..].iter().take_while(|name| name.starts_with(prefix));
        found.take(COMPLETION_LIMIT).cloned().collect()
    }
}

/// Maximum number of completions.
const COMPLETION_LIMIT: usize = 100;

/// Maximum number of values visited for a completion, to keep it fast.
const VISIT_LIMIT: usize = 1_000_000;

/// Returns the field that a string is compared with: `.node_type == "`, `.node_type in ["a", "`.
fn compared_field(before: &str) -> Option<&str> {
    let before = before.trim_end();
    let compared =
        before.strip_suffix("==").or_else(|| before.strip_suffix("!=")).or_else(|| in_list_operand(before))?;
    let compared = compared.trim_end();
    let path = compared.trim_end_matches(is_word);
    path.ends_with('.').then(|| &compared[path.len()..]).filter(|field| !field.is_empty())
}

/// Returns the left operand of `in` or `not in` before an open array.
fn in_list_operand(before: &str) -> Option<&str> {
    let (outer, items) = before.rsplit_once('[')?;
    let value = outer.trim_end().strip_suffix("in").filter(|value| value.ends_with(char::is_whitespace))?;
    let value = value.trim_end();
    (!items.contains(']')).then(|| value.strip_suffix("not").unwrap_or(value))
}

/// Returns the first string values of a field in the document with this prefix, escaped as in a string literal.
fn field_values(graph: &Graph, field: &str, prefix: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    let (mut stack, mut visits) = (vec![graph.root()], 0);
    while let Some(value) = stack.pop().filter(|_| visits < VISIT_LIMIT) {
        match value {
            Value::Object(object) => {
                for (key, value) in object.iter() {
                    visits += 1;
                    match value {
                        Value::String(text) if key == field => insert_candidate(&mut found, text, prefix),
                        Value::Array(_) | Value::Object(_) => stack.push(value),
                        _ => {}
                    }
                }
            }
            Value::Array(items) => {
                visits += items.len();
                stack.extend(items.iter().filter(|item| matches!(item, Value::Array(_) | Value::Object(_))));
            }
            _ => {}
        }
    }
    found.into_iter().collect()
}

/// Inserts a candidate, keeping only the first ones in order.
fn insert_candidate(found: &mut BTreeSet<String>, text: &str, prefix: &str) {
    if text.is_empty() || text.len() > MAX_VALUE_LENGTH {
        return;
    }
    let text = escape_in_quotes(text);
    if text.starts_with(prefix) && found.insert(text) && found.len() > COMPLETION_LIMIT {
        found.pop_last();
    }
}

/// Maximum length in bytes of a completed value.
const MAX_VALUE_LENGTH: usize = 200;

/// Returns the names of nodes in queries, escaped as in a string literal, sorted and unique.
fn node_names(graph: &Graph) -> Vec<String> {
    let config = TopologyConfig::from_document(graph.root());
    let nodes = config.value_at("paths.nodes", graph.root()).and_then(Value::as_array);
    let lists = ["tag", "qualified_tag", "node_id"].map(|list| config.list(list));
    let mut names = Vec::new();
    for node in nodes.iter().flat_map(|nodes| nodes.iter()).filter_map(Value::as_object) {
        let named =
            |list: &&[String]| list.iter().find_map(|key| node.get(key)?.as_str().filter(|name| !name.is_empty()));
        names.extend(lists.iter().filter_map(named).map(escape_in_quotes));
    }
    names.sort_unstable();
    names.dedup();
    names
}

fn escape_in_quotes(name: &str) -> String {
    let quoted = sorted_json::json(Value::String(name));
    quoted[1..quoted.len() - 1].into()
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$')
}

/// Returns true if a bracket is open.
fn is_open(text: &str) -> bool {
    open_brackets(text).0 > 0
}

/// Returns the number of open brackets at the end of a query, and the offset of an open string literal.
fn open_brackets(query: &str) -> (i64, Option<usize>) {
    let (mut depth, mut literal) = (0i64, None);
    let mut chars = query.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if literal.is_some() => drop(chars.next()),
            '"' => literal = if literal.is_none() { Some(at + 1) } else { None },
            '(' | '[' | '{' if literal.is_none() => depth += 1,
            ')' | ']' | '}' if literal.is_none() => depth -= 1,
            _ => {}
        }
    }
    (depth, literal)
}

impl Completer for LineCompleter {
    type Candidate = String;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.candidates(&line[..pos]))
    }
}

impl Validator for LineCompleter {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let text = context.input();
        let is_unfinished = !text.trim_start().starts_with(':') && is_open(text);
        self.unfinished.replace(if is_unfinished { text.into() } else { String::new() });
        Ok(if is_unfinished { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Hinter for LineCompleter {
    type Hint = String;
}

impl Highlighter for LineCompleter {}

impl Helper for LineCompleter {}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_candidates(before: &str, expected: &[&str]) {
        let graph = Graph::from_json(r#"{"nodes": [{"node_type": 1, "tag": 2, "two words": 3}]}"#);
        let graph = Rc::new(graph.expect("the case is JSON"));
        assert_eq!(LineCompleter::new(&Dialect::standard(), &graph).candidates(before).1, expected, "{before}");
    }

    #[test]
    fn after_a_dot_fields_are_offered() {
        check_candidates(".no", &["node_type", "nodes"]);
        check_candidates(".nodes | map(.", &["node_type", "nodes", "tag"]);
    }

    #[test]
    fn after_a_letter_functions_are_offered() {
        check_candidates(".nodes | groupB", &["groupBy("]);
        check_candidates("ü groupB", &["groupBy("]);
        check_candidates("", &[]);
    }

    #[test]
    fn after_a_colon_commands_are_offered() {
        check_candidates(":fu", &["functions "]);
        check_candidates(":", &["help ", "functions ", "explain ", "load ", "set ", "quit "]);
        check_candidates(":explain size", &["size("]);
    }

    #[track_caller]
    fn check_names(document: &str, before: &str, expected: (usize, &[&str])) {
        let graph = Rc::new(Graph::from_json(document).expect("the case is JSON"));
        let (start, found) = LineCompleter::new(&Dialect::standard(), &graph).candidates(before);
        assert_eq!(
            (start, found.iter().map(String::as_str).collect::<Vec<_>>()),
            (expected.0, expected.1.to_vec()),
            "{before}"
        );
    }

    #[test]
    fn in_a_string_tags_and_ids_are_offered() {
        let drawing = r#"{"pid_graph": {"nodes": [
            {"id": "n2", "tag": "P-101B"}, {"id": "n1", "tag": "P-101A"}, {"id": "n3", "tag": "P-101A"}, {"id": 4},
            {"id": "n5", "tag": "2\" valve"}, {"id": "n6", "tag": "Überlauf"}, {"id": "n7", "tag": ""}, null]}}"#;
        let check = |before: &str, expected: (usize, &[&str])| check_names(drawing, before, expected);
        check(r#"node("P-101"#, (6, &["P-101A", "P-101B"]));
        check(r#"filter(.tag == "P-101B"#, (16, &["P-101B"]));
        check(r#"["n1", "n"#, (8, &["n1", "n2", "n3", "n5", "n6", "n7"]));
        check(r#"node("2\""#, (6, &[r#"2\" valve"#]));
        check(r#"node("Ü"#, (6, &["Überlauf"]));
        check(r#"node("p"#, (6, &[]));
        check(r#"node("P-101A") | .ta"#, (18, &["tag"]));
        check(r#"node("P-101A") | si"#, (17, &["size("]));
        check_names(r#"[{"tag": "P-101A"}]"#, r#"node("P"#, (6, &[]));
    }

    #[test]
    fn after_a_comparison_the_values_of_the_field_are_offered() {
        let drawing = r#"{"pid_graph": {"nodes": [
            {"id": "pi", "tag": "pi-1", "node_type": "pid_component", "a": {"node_type": "pipe \"x\""}},
            {"id": "n2", "tag": "P-1", "node_type": "loop"}, {"id": "n3", "node_type": "pid_component"}, {"node_type": 5},
            {"id": "n4", "node_type": ""}], "edges": [{"edge_type": "piping"}, {"edge_type": "signal"}]}}"#;
        let check = |before: &str, expected: &[&str]| {
            let start = open_brackets(before).1.expect("a string literal is open");
            check_names(drawing, before, (start, expected));
        };
        check(r#"nodes(.node_type == "pi"#, &["pid_component", r#"pipe \"x\""#]);
        check(r#"nodes(.node_type != ""#, &["loop", "pid_component", r#"pipe \"x\""#]);
        check(r#"edges(.edge_type in ["piping", "s"#, &["signal"]);
        check(r#"edges(.edge_type not in ["p"#, &["piping"]);
        check(r#"nodes(.tag == "P"#, &["P-1"]);
        // No value of that field has the prefix, or there is no comparison.
        check(r#"nodes(.node_type == "P"#, &["P-1"]);
        check(r#"nodes(.edge_type > "pi"#, &["pi", "pi-1"]);
        check(r#"[.edge_type, "pi"#, &["pi", "pi-1"]);
        check(r#"nodes(node_type == "pi"#, &["pi", "pi-1"]);
    }

    #[test]
    fn the_number_of_offered_values_is_limited() {
        let items: Vec<String> = (0..1000).map(|at| format!(r#"{{"kind": "k-{:03}"}}"#, at * 7 % 1000)).collect();
        let graph = Graph::from_json(format!("[{}]", items.join(","))).expect("the case is JSON");
        let found = field_values(&graph, "kind", "k-");
        assert_eq!((found.len(), found[0].as_str(), found[99].as_str()), (100, "k-000", "k-099"));
        assert_eq!(field_values(&graph, "kind", "k-99").len(), 10);
    }

    #[test]
    fn tags_are_found_by_the_topology_config_of_the_document() {
        let topology = r#""topology": {"paths": {"nodes": ["items"]}, "tag": ["name"]}"#;
        let drawing = format!(r#"{{"metadata": {{{topology}}}, "items": [{{"id": 1, "name": "V-7", "tag": "V-8"}}]}}"#);
        check_names(&drawing, r#"node("V"#, (6, &["V-7"]));
    }

    #[test]
    fn the_number_of_offered_tags_is_limited() {
        let nodes: Vec<String> = (0..1000).rev().map(|at| format!(r#"{{"tag": "V-{at:03}"}}"#)).collect();
        let graph = Graph::from_json(format!(r#"{{"nodes": [{}]}}"#, nodes.join(",")));
        let graph = Rc::new(graph.expect("the case is JSON"));
        let completer = LineCompleter::new(&Dialect::standard(), &graph);
        let (_, found) = completer.candidates(r#"node("V-"#);
        assert_eq!((found.len(), found[0].as_str(), found[99].as_str()), (100, "V-000", "V-099"));
        assert_eq!(completer.candidates(r#"node("V-99"#).1.len(), 10);
    }

    #[test]
    fn a_query_with_an_open_bracket_is_incomplete() {
        assert!(is_open("map({a: .b"));
        assert!(!is_open("map(.a)"));
        assert!(!is_open(r#"filter(.a == "(\"(")"#));
        assert!(!is_open("size())"));
    }
}
