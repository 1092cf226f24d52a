//! Messages that lead from a first guess to the function or form that answers the question.

use pidq_core::{Dialect, Graph, Limits, Scratch};

/// Two items on a line, and a loop of another kind of node.
const DRAWING: &str = r#"{"nodes": [
    {"id": "n1", "tag": "P-101", "node_classification": "pump", "place": {"room": 7}},
    {"id": "n2", "tag": "100-PL-10103-B1B", "node_classification": "line", "place": {"room": 8}}
], "edges": []}"#;

/// Returns the help of the error of a query on the drawing.
fn help(query: &str) -> String {
    let graph = Graph::from_json(DRAWING).expect("JSON");
    let result = Dialect::standard().parse(query).and_then(|query| query.to_json(&graph, Limits::default()));
    result.expect_err(query).help().unwrap_or_default().to_owned()
}

/// Returns code and help of the warnings of a run and a check of a query on a document, each once.
fn warnings_for(query: &str, document: &str) -> Vec<(&'static str, String)> {
    let graph = Graph::from_json(document).expect("JSON");
    let query = Dialect::standard().parse(query).expect("a valid query");
    let scratch = Scratch::new();
    let mut found = query.run(&graph, &scratch, Limits::default()).expect("it runs").warnings;
    found.extend(query.check_against(&graph, Limits::default()));
    let mut found: Vec<_> = found.into_iter().map(|warning| (warning.code, warning.help.unwrap_or_default())).collect();
    found.dedup();
    found
}

fn warnings(query: &str) -> Vec<(&'static str, String)> {
    warnings_for(query, DRAWING)
}

#[test]
fn names_for_lists_of_a_drawing_lead_to_their_functions() {
    for (name, function) in [
        ("valves", "`valveList()`"),
        ("lines", "`lineList()`"),
        ("line", "`run(\"P-1001\")`"),
        ("equipment", "`equipmentList()`"),
        ("pumps", "`equipmentList()`"),
        ("instruments", "`instrumentIndex()`"),
        ("instrumentList", "`instrumentIndex()`"),
        ("nozzles", "`nozzleList()`"),
        ("owner", "`nozzleList()`"),
        ("reliefValves", "`reliefList()`"),
        ("connectors", "`offPageList()`"),
        ("controlLoops", "`loops()`"),
        ("compare", "`diff(.0, .1)`"),
        ("duplicateTags", "`nodes() | countBy(.tag) | pickBy(get() > 1)`"),
        ("path", "`paths(\"T-1\", \"P-1\")`"),
    ] {
        let help = help(&format!("{name}()"));
        assert!(help.contains(function), "{name}: {help}");
    }
}

#[test]
fn set_operations_lead_to_filter_and_flatten() {
    assert!(help("union([1], [2])").contains("`[.a, .b] | flatten() | uniq()`"));
    assert!(help("intersection([1], [2])").contains("`let({b: .b}, .a | filter(get() in $b))`"));
    assert!(help("minus([1], [2])").contains("`let({b: .b}, .a | filter(get() not in $b))`"));
}

#[test]
fn arithmetic_with_arrays_and_objects_warns() {
    let codes = |query: &str| warnings(query).into_iter().map(|(code, _)| code).collect::<Vec<_>>();
    for (query, function) in [
        ("[1, 2] + [3]", "flatten()"),
        ("[.nodes, .nodes] | .0 + .1", "flatten()"),
        ("{a: 1} + {b: 2}", "merge(.a, .b)"),
        (".nodes.0.place + .nodes.1.place", "merge(.a, .b)"),
        ("[1, 2] - [2]", "not in $b"),
        ("{a: 1} * {b: 2}", "mergeDeep(.a, .b)"),
    ] {
        let found = warnings(query);
        assert!(matches!(&*found, [("PQW21", help)] if help.contains(function)), "{query}: {found:?}");
    }
    // The text of an array may be meant if the other side is a string, and a field may be anything.
    assert!(codes("[1, 2] + \" items\"").is_empty());
    assert!(codes(".nodes.0.tag + .nodes.1.tag").is_empty());
    assert!(codes("1 + 2 - 3 * 4").is_empty());
}

#[test]
fn fields_one_level_down_and_longer_names_are_suggested() {
    // The run knows only that no object it reached has the field; the check knows where others have it.
    assert_eq!(warnings(".nodes | map(.room)").last(), Some(&("PQW01", "did you mean `.place.room`?".into())));
    assert_eq!(warnings(".nodes | map(.classification)"), [("PQW01", "did you mean `.node_classification`?".into())]);
    let barriers = warnings("isolate(\"P-101\").barriers | map(.tag)");
    assert_eq!(barriers, [("PQW01", "did you mean `.node.tag`?".into())]);
    assert_eq!(warnings(".nodes | map(.abc)"), [("PQW01", String::new())]);
}

#[test]
fn a_part_of_a_tag_is_completed() {
    assert_eq!(help("run(\"10103\")"), "did you mean \"100-PL-10103-B1B\"?");
    assert_eq!(help("node(\"99999\")"), "");
}

#[test]
fn several_keys_are_a_list() {
    assert!(help("sort(.a, .b)").contains("`sortBy([.a, .b])`"));
    let found = warnings_for("groupBy(.a, .b)", "[{\"a\": 1, \"b\": 2}]");
    assert_eq!(found, [("PQW03", "several keys are one list: `groupBy([.a, .b])`".into())]);
}

#[test]
fn an_item_in_place_of_options_is_where_the_walk_ends() {
    assert!(help("downstream(\"P-101\", \"V-101\")").contains("`{until: .tag == \"P-101\"}`"));
    assert_eq!(help("isolate(\"P-101\", \"V-101\")"), "write `{name: value}` as the last argument");
    assert!(help("paths(\"P-101\")").contains("`\"T-101\" | paths(\"P-101\")`"));
}

#[test]
fn other_names_of_options_lead_to_the_option() {
    for (option, help) in [
        ("stop: .tag == \"V-101\"", "did you mean \"until\"? "),
        ("exclude: .tag == \"V-101\"", "did you mean \"avoid\"? "),
        ("maxDepth: 2", "did you mean \"depth\"? "),
        ("untill: true", "did you mean \"until\"? "),
        ("color: true", "(known: "),
    ] {
        let found = help_of_options(option);
        assert!(found.starts_with(help), "{option}: {found}");
    }
    // Only options that the function has.
    assert!(help("components({stop: true})").starts_with("(known: "));
}

fn help_of_options(options: &str) -> String {
    help(&format!("downstream(\"P-101\", {{{options}}})"))
}

#[test]
fn objects_in_place_of_lists_name_their_functions() {
    let help = help("nodes() | countBy(.tag) | filter(.value > 1)");
    assert!(help.contains("`entries()`") && help.contains("`pickBy()`"), "{help}");
}
