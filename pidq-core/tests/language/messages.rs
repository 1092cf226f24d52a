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
fn arithmetic_with_other_values_than_numbers_warns() {
    for (query, document, expected) in [
        (".a + .b", r#"{"a": {"x": 1}, "b": 2}"#, &["PQW21"][..]),
        ("map(.a + \"x\")", r#"[{"a": {}}]"#, &["PQW21"]),
        (".a + .b", r#"{"a": [1], "b": 2}"#, &["PQW21"]),
        (".a * 2", r#"{"a": {"x": 1}}"#, &["PQW21"]),
        ("map(.e - .s)", r#"[{"s": "2026-01-01", "e": "2026-01-02"}]"#, &["PQW05"]),
        ("map(.t * 2)", r#"[{"t": "21,5"}]"#, &["PQW05"]),
        ("map(update(.s, get() * 1.1))", r#"[{"s": 1}, {"s": null}]"#, &["PQW05"]),
        (".a + .b", r#"{"a": "x", "b": [1]}"#, &[]),
        (".a + .b", r#"{"a": null, "b": 1}"#, &[]),
        (".a * .b", r#"{"a": "2", "b": true}"#, &[]),
        ("round(.a, 8)", r#"{"a": 3.3e-7}"#, &["PQW27"]),
        ("round(.a)", r#"{"a": 1e21}"#, &["PQW27"]),
        ("[round(.a, 2), round(.b), round(.c)]", r#"{"a": 3.37, "b": null, "c": "x"}"#, &[]),
    ] {
        check_codes(query, document, expected);
    }
    let table: Vec<String> =
        (0..100).map(|at| format!(r#"{{"a": {}, "b": {at}}}"#, if at == 7 { "null" } else { "1" })).collect();
    check_codes("map(.a * .b)", &format!("[{}]", table.join(",")), &["PQW05"]);
}

/// Checks the codes of the warnings of a run and a check, each once, which do not depend on optimizations.
fn check_codes(query: &str, document: &str, expected: &[&str]) {
    let graph = Graph::from_json(document).expect("JSON");
    let parsed = Dialect::standard().parse(query).expect("a valid query");
    let (scratch, plain_scratch) = (Scratch::new(), Scratch::new());
    let messages = |query: &pidq_core::Query, scratch: &Scratch| -> Vec<String> {
        let warnings = query
            .run(&graph, scratch, Limits::default())
            .unwrap_or_else(|error| panic!("{}: {error:?}", query.source()))
            .warnings;
        warnings.iter().map(ToString::to_string).collect()
    };
    let found = messages(&parsed, &scratch);
    assert_eq!(messages(&parsed.without_optimizations(), &plain_scratch), found, "{query} without optimizations");
    let mut codes: Vec<&str> = warnings_for(query, document).into_iter().map(|(code, _)| code).collect();
    codes.dedup();
    assert_eq!(codes, expected, "{query} on {document}: {found:?}");
}

#[test]
fn integers_that_are_equal_only_as_doubles_are_reported() {
    let ids =
        r#"[{"id": 9007199254740993, "v": 1}, {"id": 9007199254740992, "v": 2}, {"id": 9007199254740993, "v": 3}]"#;
    for query in [
        "filter(.id == 9007199254740992)",
        "filter(.id != 9007199254740992)",
        "filter(.id in [9007199254740992])",
        "filter(.id > 9007199254740992)",
        "filter(.id <= 9007199254740992)",
        "map(.id) | uniq()",
        "map(pick(.id)) | uniq()",
        "groupBy(.id)",
        "countBy(.id)",
        "keyBy(.id)",
        "uniqBy(.id)",
    ] {
        check_codes(query, ids, &["PQW26"]);
        let many: Vec<String> =
            (0..50).map(|at| format!(r#"{{"id": {}, "v": {at}}}"#, 9_007_199_254_740_992_u64 + at)).collect();
        check_codes(query, &format!("[{}]", many.join(",")), &["PQW26"]);
    }
    for query in [
        "filter(.v == 2)",
        "map(.id)",
        "filter(toJson(.id) == \"9007199254740993\")",
        "groupBy(toJson(.id))",
        "innerJoin(get(), .id)",
        "filter(.id == 1)",
        "map(.id == .id)",
    ] {
        check_codes(query, ids, &[]);
    }
    check_codes("map(.id) | contains(get(), 9007199254740992)", ids, &["PQW26"]);
    check_codes("filter(.id == 9007199254740993)", "[]", &["PQW26"]);
    check_codes("filter(.id == 9007199254740992)", r#"[{"id": 9007199254740992}]"#, &[]);
    check_codes(
        "uniq()",
        "[1e400, 1e500, 9007199254740993.0, 9007199254740992.0, 123456789012345678901234567890]",
        &[],
    );
}

#[test]
fn changes_at_a_path_that_nothing_has_are_reported() {
    let document = r#"{"app": {"db": {"port": 1, "password": "x"}}, "n": [3, 1, 2]}"#;
    for (query, field, help) in [
        ("update(.app.db.prot, 6543)", "prot", "did you mean `.port`?"),
        ("omit(.app.db.pasword)", "pasword", "did you mean `.password`?"),
        ("omit(.n, .app.db.pasword)", "pasword", "did you mean `.password`?"),
        ("updateAt([\"app\", \"bd\"], 2)", "bd", "did you mean `.db`?"),
        ("deleteAt([\"ap\"])", "ap", "did you mean `.app`?"),
        ("update(.n.7, 1)", "7", "a decimal number begins with a digit: `0.7`; `.7` is an item"),
    ] {
        let graph = Graph::from_json(document).expect("JSON");
        let (parsed, scratch) = (Dialect::standard().parse(query).expect("a valid query"), Scratch::new());
        let result = parsed.run(&graph, &scratch, Limits::default()).expect("it runs");
        let [warning] = &result.warnings[..] else { panic!("{query}: {:?}", result.warnings) };
        assert_eq!(warning.code, "PQW01", "{query}");
        assert!(warning.message.ends_with(&format!("`{field}`")), "{query}: {}", warning.message);
        assert_eq!(warning.help.as_deref(), Some(help), "{query}");
    }
    for query in [
        "update(.app.db.port, 2)",
        "omit(.app.db.password, .n.0)",
        "set(.app.db.new, 1)",
        "updateAt([\"n\", -1], 2)",
        "deleteAt([\"n\", 0])",
        "[{a: 1}, {b: 2}] | map(update(.a, 2))",
        "let({k: \"x\"}, deleteAt([$k]))",
    ] {
        check_codes(query, document, &[]);
    }
}

#[test]
fn a_fraction_without_a_digit_before_the_point_is_reported() {
    check_codes("filter(get() > .5)", "[3, 1, 2]", &["PQW07"]);
    check_codes("filter(.a > .5)", r#"[{"a": 1}]"#, &["PQW01"]);
    let help = "a decimal number begins with a digit: `0.5`; `.5` is an item";
    assert_eq!(warnings_for("filter(.a > .5)", r#"[{"a": 1}]"#).first(), Some(&("PQW01", help.into())));
    assert_eq!(warnings_for("filter(get() > .5)", "[3, 1, 2]").first(), Some(&("PQW07", help.into())));
    for (query, document) in
        [("map(.0)", "[[1], 2]"), ("map(.1 - .0)", "[[1, 2]]"), (".0 > .5", "[1]"), (".5", "{\"5\": 1}")]
    {
        check_codes(query, document, &[]);
    }
}

#[test]
fn a_field_that_is_expected_to_be_missing_is_reported_only_as_a_typing_mistake() {
    for query in ["coalesce(.err, 0)", "if(.note == null, 1, 2)", "[.err != null, null == .note]"] {
        let graph = Graph::from_json(r#"{"tag": 1}"#).expect("JSON");
        let (parsed, scratch) = (Dialect::standard().parse(query).expect("a valid query"), Scratch::new());
        assert_eq!(parsed.run(&graph, &scratch, Limits::default()).expect("it runs").warnings.len(), 0, "{query}");
    }
    assert_eq!(warnings_for("coalesce(.tga, 0)", r#"{"tag": 1}"#), [("PQW01", "did you mean `.tag`?".into())]);
}

#[test]
fn patterns_of_other_languages_are_reported() {
    for (pattern, counterpart) in
        [("[[:digit:]]", "`[0-9]`"), ("5\\\\Z", "`$`"), ("\\\\h+", "`[ "), ("[[:blank:]]", "a list of characters")]
    {
        let found = warnings_for(&format!("regex(.a, \"{pattern}\")"), r#"{"a": "x"}"#);
        assert!(matches!(&*found, [("PQW28", help)] if help.contains(counterpart)), "{pattern}: {found:?}");
    }
    for pattern in ["[a-z[]:", "\\\\\\\\Z", "^\\\\d$"] {
        check_codes(&format!("regex(.a, \"{pattern}\")"), r#"{"a": "x"}"#, &[]);
    }
    assert!(help("regex(.a, \"(\")").contains("`\\\\(` in the string"));
    assert!(help("regex(.a, \"\\d\")").contains("as in `\\\\d`"));
    assert!(help(".a[0:2]").contains("`substring(.a, 0, 2)`"));
}

#[test]
fn a_condition_is_no_key_of_a_join() {
    let found = warnings_for(".a | leftJoin([{k: 1}], .no == .k)", r#"{"a": [{"no": 1}]}"#);
    assert!(found.iter().any(|(code, help)| *code == "PQW13" && help.contains("`leftJoin(.b, .left_id")), "{found:?}");
    let graph = Graph::from_json("[{\"id\": 1}]").expect("JSON");
    let query = Dialect::standard().parse_with("filter(.id > $n)", r#"{"n": "0"}"#).expect("a valid query");
    let help = query.check_against(&graph, Limits::default()).remove(0).help;
    assert!(help.is_some_and(|help| help.contains("--argjson n 2")));
}

#[test]
fn signs_and_words_of_other_languages_are_explained() {
    for (query, expected) in [
        (".n.-1", "`nth(-1)`"),
        ("max(1, 2)", "`[1, 2] | max()`"),
        (".a = 2", "`set(.a, 2)`"),
        ("group by .tag", "`groupBy(.tag)`"),
        ("order by .tag", "`sort(.tag)`"),
        ("filter(.id ≥ 2)", "write `>=`"),
        ("filter(.id ≠ 2)", "inequality is `!=`"),
        ("2 × 3", "multiplication is `*`"),
    ] {
        let help = help(query);
        assert!(help.contains(expected), "{query}: {help}");
    }
}

#[test]
fn an_order_of_a_text_and_a_number_is_that_of_numbers_after_a_conversion() {
    let found = warnings_for("filter(.d > 80)", r#"[{"d": "100"}]"#);
    assert!(matches!(&*found, [("PQW02", help)] if help.contains("`toNumber(.a) > 80`")), "{found:?}");
    assert_eq!(
        warnings_for("filter(.d == 80)", r#"[{"d": "80"}]"#),
        [("PQW02", "a string has quotes: `\"80\"`".into())]
    );
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
