//! Limits: every function stops when a limit is reached, and hostile input returns an error.

use std::thread;

use pidq::{Cancel, Dialect, Graph, Limits, Query, Scratch};

use crate::allocator;

fn code(query: &str, input: &str, limits: Limits<'_>) -> Option<&'static str> {
    let graph = Graph::from_json(input).expect("the input is JSON");
    let result = Dialect::standard().parse(query).and_then(|query| query.to_json(&graph, limits));
    result.err().map(|error| error.code().as_str())
}

#[test]
fn every_example_stops_without_fuel() {
    let dialect = Dialect::standard();
    let graph = Graph::from_json(crate::functions::DRAWING).expect("the drawing is JSON");
    for function in dialect.functions() {
        let (text, _) = function.example().split_once(" => ").expect("an example is `query => result`");
        let query = dialect.parse(text).expect("an example compiles");
        let scratch = Scratch::new();
        let needed = query.run(&graph, &scratch, Limits::default()).expect("an example runs").fuel;
        // Every amount, or 300 of them if the example needs more.
        for fuel in (0..needed).step_by(1 + needed as usize / 300) {
            let limits = Limits { fuel, ..Limits::default() };
            let error = query.run(&graph, &scratch, limits).map(|outcome| outcome.fuel).expect_err(text);
            assert_eq!(error.code().as_str(), "PQ4001", "{text} with {fuel} of {needed}");
        }
        let limits = Limits { fuel: needed, ..Limits::default() };
        assert!(query.run(&graph, &scratch, limits).is_ok(), "{text} with {needed} of fuel");
    }
}

#[test]
fn bombs_end_within_their_limits() {
    let doubling = |step: &str, times: usize| format!("get(){}", format!(" | {step}").repeat(times));
    let limits = Limits::default();
    assert_eq!(code(&doubling("[get(), get()] | flatten()", 40), "[1]", limits), Some("PQ4007"));
    assert_eq!(code(&doubling("get() + get()", 60), r#""abcdefgh""#, limits), Some("PQ4007"));
    assert_eq!(code(&doubling("[get(), get()] | join()", 60), r#""abcdefgh""#, limits), Some("PQ4007"));
    assert_eq!(code(&doubling("map([get(), get()]) | flatten()", 40), "[1]", limits), Some("PQ4007"));
    let small = Limits { memory: 1 << 20, ..limits };
    assert_eq!(code(&doubling("map([get(), get()]) | flatten()", 18), "[1]", small), Some("PQ4007"));
    let short = Limits { output: 10, ..limits };
    assert_eq!(code("map(get())", "[1,2,3,4,5,6,7,8,9]", short), Some("PQ4003"));
}

#[test]
fn items_that_differ_late_or_deep_are_compared_quickly() {
    let limits = Limits { fuel: 1_000_000, ..Limits::default() };
    let late = |n: usize| format!("[{}{n}]", "0,".repeat(200));
    let deep = |n: usize| format!("{}{n}{}", r#"{"a":"#.repeat(50), "}".repeat(50));
    let wide = |n: usize| format!("{{{}\"z\":{n}}}", (0..50).map(|key| format!("\"k{key}\":0,")).collect::<String>());
    for item in [&late as &dyn Fn(usize) -> String, &deep, &wide] {
        let items: Vec<String> = (0..3_000).map(item).collect();
        assert_eq!(code("uniq() | size()", &format!("[{}]", items.join(",")), limits), None, "{}", items[0]);
    }
}

#[test]
fn the_call_that_spent_most_is_named() {
    let graph = Graph::from_json(format!("[{}0]", "0,".repeat(100_000))).expect("valid JSON");
    let spent_most = |text: &str, limits: Limits<'_>| {
        let query = Dialect::standard().parse(text).expect("valid query");
        query.to_json(&graph, limits).expect_err("a limit is met").spent_most().map(String::from)
    };
    let small = |memory: usize| Limits { memory: memory << 10, ..Limits::default() };
    // The memory limit is too small for the result array of the first step.
    assert_eq!(spent_most("map([get(), get()]) | size()", small(1)).as_deref(), Some("`map`"));
    let steps = spent_most("map([get(), get()]) | reverse()", small(5 << 10)).unwrap_or_default();
    assert!(steps.starts_with("`map` (") && steps.ends_with(" steps)"), "{steps}");
    let fuel = Limits { fuel: 100, ..Limits::default() };
    assert_eq!(
        spent_most("filter(get() > 1) | size()", fuel).map(|spent_most| spent_most.starts_with("`filter` (")),
        Some(true)
    );
}

#[test]
fn the_call_that_spent_most_is_named_if_the_result_is_too_large() {
    let graph = Graph::from_json(format!("[{}0]", "0,".repeat(1_000))).expect("valid JSON");
    let limits = || Limits { output: 100, ..Limits::default() };
    let spent_most = |text: &str| {
        let error = Query::parse(text).and_then(|query| query.to_json(&graph, limits())).expect_err("it is too large");
        assert_eq!(error.code().as_str(), "PQ4003");
        error.spent_most().map(String::from)
    };
    let steps = spent_most("map([get(), 1]) | reverse()").unwrap_or_default();
    assert!(steps.starts_with("`map` (") && steps.ends_with(" steps)"), "{steps}");
    assert_eq!(spent_most("get()"), None);
    let query = Query::parse("map([get(), 1])").expect("valid query");
    let scratch = Scratch::new();
    let outcome = query.run(&graph, &scratch, limits()).expect("it runs");
    let error = outcome.value.write_json(100, &mut |_| Ok(())).expect_err("it is too large");
    assert_eq!(error.spent_most(), None);
    assert!(outcome.explain_error(error).spent_most().is_some_and(|spent_most| spent_most.starts_with("`map` (")));
    let other = Query::parse("fliter(1)").expect_err("there is no such function");
    assert_eq!(outcome.explain_error(other).spent_most(), None);
}

#[test]
fn patterns_with_exponential_backtracking_are_linear_or_stopped() {
    let text = format!("\"{}\"", "a".repeat(20_000));
    assert_eq!(code(r#"regex(get(), "^(a+)+$")"#, &text, Limits::default()), None);
    assert_eq!(code(r#"regex(get(), "^(?=(a+)+b)")"#, &text, Limits::default()), Some("PQ4006"));
}

#[test]
fn backtracking_is_charged() {
    let rows = format!("[{}]", vec![r#"{"tag":"aaaaaaaaaab"}"#; 1_000].join(","));
    let limits = Limits { fuel: 1_000_000, ..Limits::default() };
    for query in [r#"filter(regex(.tag, "^((a+)+)\\2?(?!b)$"))"#, r#"map(match(.tag, "^((a+)+)\\2?(?!b)$"))"#] {
        assert_eq!(code(query, &rows, limits), Some("PQ4001"), "{query}");
    }
    // One search uses no more than the fuel that is left, whatever its own limit is.
    let search = r#"regex(get(), "^(?=(a+)+b)")"#;
    let text = format!("\"{}\"", "a".repeat(100));
    for fuel in [2_000, 20_000] {
        let limits = Limits { fuel, ..Limits::default() };
        assert_eq!(code(search, &text, limits), Some("PQ4001"), "{fuel}");
    }
    // Clearing the groups of each round is work too.
    let groups = format!(r#"regex(get(), "^(?:a|{})*(?=b)")"#, "()".repeat(1_300));
    let limits = Limits { fuel: 1 << 40, ..Limits::default() };
    assert_eq!(code(&groups, &format!("\"{}\"", "a".repeat(100_000)), limits), Some("PQ4006"));
}

#[test]
fn queries_on_a_whole_drawing_are_charged_for_long_strings() {
    let long = "Q".repeat(100_000);
    let node = |at: usize| format!(r#"{{"id":"n{at}","tag":"{long}","class":"{long}","x":1,"y":1}}"#);
    let nodes: Vec<String> = (0..10).map(node).collect();
    let input = format!(r#"{{"nodes":[{}],"edges":[{{"source":"n1","target":"n2"}}]}}"#, nodes.join(","));
    let limits = Limits { fuel: 200_000, ..Limits::default() };
    for query in [
        "validate()",
        "lineList()",
        "equipmentList()",
        "segmentList()",
        "componentCount()",
        "graphInfo()",
        "withGraph($root, [1])",
    ] {
        assert_eq!(code(query, &input, limits), None, "{query}");
        let repeated = format!("split(padStart(\"\", 100, \" \"), \" \") | map({query} | size()) | size()");
        assert_eq!(code(&repeated, &input, limits), Some("PQ4001"), "{query}");
    }
}

#[test]
fn searches_are_charged() {
    let input = format!(r#"{{"long":"{}","rows":[{}0]}}"#, "c".repeat(100_000), "0,".repeat(999));
    let limits = Limits { fuel: 1_000_000, ..Limits::default() };
    for query in [r#"split("a", $root.long)"#, r#"contains("a", $root.long)"#, r#"replace("a", $root.long, "b")"#] {
        assert_eq!(code(&format!(".rows | map({query}) | size()"), &input, limits), Some("PQ4001"), "{query}");
    }
}

#[test]
fn a_run_can_be_cancelled() {
    let cancel = Cancel::default();
    cancel.cancel();
    let limits = Limits { cancel: Some(&cancel), ..Limits::default() };
    let input = format!("[{}0]", "0,".repeat(10_000));
    assert_eq!(code("map(get() + 1)", &input, limits), Some("PQ4008"));
    let timed_out = Cancel::default();
    timed_out.time_out();
    assert_eq!(code("map(get() + 1)", &input, Limits { cancel: Some(&timed_out), ..limits }), Some("PQ4005"));
}

/// Runs nested queries of every depth on a stack of 256 KiB, also in debug builds.
#[test]
fn depth_is_limited_before_the_stack_overflows() {
    let constructs = [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("{a: ", "1", "}"),
        ("map(", "get()", ")"),
        ("filter(", "true", ")"),
        ("not(", "true", ")"),
        ("if(true, ", "1", ", 2)"),
        ("1 + (", "1", ")"),
        ("sort(", "get()", ")"),
        ("groupBy(", "get()", ")"),
        ("mapValues(", "get()", ")"),
        ("let({a: ", "1", "}, 2)"),
        ("let({a: 1}, ", "1", ")"),
        ("and(true, ", "1", ")"),
        ("1 in [", "1", "]"),
        ("uniqBy(", "1", ")"),
        ("abs(", "1", ")"),
    ];
    on_small_stack(move || {
        for (open, inner, close) in constructs {
            for depth in [1, 10, 60, 100, 120, 126, 127, 128, 129, 1_000, 10_000, 100_000, 1_000_000] {
                let text = format!("{}{inner}{}", open.repeat(depth), close.repeat(depth));
                run_ignoring_errors(&text, "[[[1]]]");
            }
        }
    });
}

/// Tests the same depths with the query printers and the parser of the JSON format.
#[test]
fn deep_queries_are_printed_on_a_small_stack() {
    let constructs = [
        ("[", "1", "]"),
        ("{a: ", "1", "}"),
        ("map(", "get()", ")"),
        ("add(1, ", "1", ")"),
        ("1 + (", "1", ")"),
        ("(", "1", ") + 1"),
        ("let({a: ", "1", "}, 2)"),
        ("get().a | (", ".b", ")"),
        ("f(", "1", ", 2)"),
    ];
    on_small_stack(move || {
        for (open, inner, close) in constructs {
            for depth in [1, 10, 60, 100, 120, 126, 127, 128, 129, 10_000] {
                print_ignoring_errors(&format!("{}{inner}{}", open.repeat(depth), close.repeat(depth)));
            }
        }
        for length in [126, 127, 128, 5_000] {
            print_ignoring_errors(&vec!["1"; length].join(" + "));
            print_ignoring_errors(&vec![".a"; length].join(" | "));
        }
    });
}

fn print_ignoring_errors(text: &str) {
    let dialect = Dialect::standard();
    drop(dialect.format(text));
    drop(dialect.parse(text).map(|query| (query.to_string(), query.tree(), query.check().is_ok())));
    let Ok(tree) = dialect.tree(text) else { return };
    for max_line_length in [0, 40] {
        let options = pidq::PrintOptions { max_line_length, ..Default::default() };
        drop(dialect.stringify(&tree, &options));
    }
    drop(dialect.compile_json(&tree).map(|query| query.to_string()));
    drop(dialect.compile_json(&format!(r#"["get",{tree}]"#)));
}

/// Tests deep patterns, and patterns inside deep queries.
#[test]
fn patterns_fit_on_a_small_stack() {
    let constructs =
        [("(", ")"), ("(?:", ")"), ("(b|", "|)*"), ("(?:b|", ")*?"), ("(?:[ab]", ")+"), ("(?=", ")"), ("(?<!b|", ")")];
    on_small_stack(move || {
        for (open, close) in constructs {
            for depth in [1, 2, 3, 4, 5, 6, 8, 10, 20, 36, 49, 50, 51, 500] {
                let pattern = format!("{}a{}", open.repeat(depth), close.repeat(depth));
                run_ignoring_errors(&format!("match(\"aab\", \"{pattern}\")"), "1");
            }
        }
        for depth in [60, 120, 126] {
            let search = r#"regex("ab", "^(?:a|b(c|d)*)+$")"#;
            run_ignoring_errors(&format!("{}{search}{}", "map(".repeat(depth), ")".repeat(depth)), "[[1]]");
            run_ignoring_errors(&format!("{}{search}{}", "[".repeat(depth), "]".repeat(depth)), "1");
        }
    });
}

#[test]
fn deep_documents_are_rejected_and_dropped_without_recursion() {
    on_small_stack(|| {
        for depth in [1, 128, 511, 512, 513, 10_000, 1_000_000] {
            for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
                let json = format!("{}1{}", open.repeat(depth), close.repeat(depth));
                let code = Graph::from_json(json).err().map(|error| error.code().as_str());
                assert_eq!(code, (depth > 512).then_some("PQ5003"), "{depth} times {open}");
            }
        }
    });
}

/// Runs a query; its result or error does not matter.
fn run_ignoring_errors(text: &str, input: &str) {
    let graph = Graph::from_json(input).expect("the input is JSON");
    if let Ok(query) = Dialect::standard().parse(text) {
        drop(query.to_json(&graph, Limits::default()));
        drop(query.explain(&graph, Limits { fuel: 10_000, ..Limits::default() }));
    }
}

fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(256 << 10).spawn(work).expect("a thread starts");
    thread.join().expect("the stack is large enough");
}

/// A ring of valves, each connected to the next two, so that there are many long cycles.
fn ring(valves: usize) -> String {
    let nodes: Vec<String> =
        (0..valves).map(|at| format!(r#"{{"id":"n{at}","class":"gate_valve","tag":"HV-{at}"}}"#)).collect();
    let edge = |at: usize, step: usize| {
        format!(r#"{{"source":"n{at}","target":"n{}","edge_type":"piping","dn":{step}}}"#, (at + step) % valves)
    };
    let edges: Vec<String> = (0..valves).flat_map(|at| [edge(at, 1), edge(at, 2)]).collect();
    format!(r#"{{"nodes":[{}],"edges":[{}]}}"#, nodes.join(","), edges.join(","))
}

/// Runs a query with a memory limit of 4 MiB. Returns its peak memory and its error code.
fn run_in_4_mib(query: &str, graph: &Graph) -> (usize, Option<&'static str>) {
    let limits = Limits { memory: 4 << 20, ..Limits::default() };
    let query = Dialect::standard().parse(query).expect("valid query");
    let (result, used) = allocator::measure(|| query.run(graph, &Scratch::new(), limits).map(|outcome| outcome.fuel));
    (used.peak, result.err().map(|error| error.code().as_str()))
}

#[test]
fn long_graph_results_are_charged_while_they_are_computed() {
    let graph = Graph::from_json(ring(400)).expect("valid JSON");
    let (_, none) = run_in_4_mib("nodes() | size()", &graph);
    assert_eq!(none, None, "building the network is not charged");
    let long = "x".repeat(2_000);
    let columns = (0..3_000).map(|at| format!("\"{at}\"")).collect::<Vec<_>>().join(",");
    for query in [
        "cycles({limit: 100000}) | size()",
        "cycles({limit: 100000, onLimit: \"truncate\"}) | size()",
        "paths(\"n0\", \"n398\", {limit: 100000, depth: 1000}) | size()",
        &format!("valveList(\"{long}\", \"{long}\", \"{long}\", \"{long}\", \"{long}\", \"{long}\") | size()"),
        &format!("valveList({columns}) | size()"),
    ] {
        let (peak, code) = run_in_4_mib(query, &graph);
        assert_eq!(code, Some("PQ4007"), "{query:.60}");
        assert!(10 * peak <= 11 * (4 << 20), "{peak} bytes at the peak: {query:.60}");
    }
}

#[test]
fn objects_are_charged_with_their_contents() {
    for count in (15_000..60_000).step_by(5_000) {
        let fields = (0..count).map(|at| format!("\"k{at}\":{at}")).collect::<Vec<_>>().join(",");
        let graph = Graph::from_json(format!(r#"{{"text": "{}", "object": {{{fields}}}}}"#, "ü".repeat(count)));
        let graph = graph.expect("valid JSON");
        for query in [".text | mapValues(size())", ".object | mapObject(get())", ".object | entries() | fromEntries()"]
        {
            let (peak, _) = run_in_4_mib(query, &graph);
            assert!(10 * peak <= 11 * (4 << 20), "{peak} bytes at the peak: {query} with {count}");
        }
    }
}

#[test]
fn an_unknown_reference_is_reported_briefly() {
    let graph = Graph::from_json(ring(3)).expect("valid JSON");
    let query = Dialect::standard().parse("node(padStart(\"P\", 1000000))").expect("valid query");
    let error = query.to_json(&graph, Limits::default()).expect_err("there is no such node");
    assert_eq!(error.code().as_str(), "PQ3002");
    assert!(error.message().len() < 200, "{} bytes", error.message().len());
}

#[test]
fn a_tag_scheme_is_compiled_once_or_charged() {
    let limits = Limits { fuel: 200_000, ..Limits::default() };
    let rows = format!("[{}]", (0..100).map(|row| row.to_string()).collect::<Vec<_>>().join(","));
    let same = r#"map(parseTag("P-1", "(?P<letters>[A-Z]+)-(?P<number>[0-9]+)").number) | uniq() | size() == 1"#;
    assert_eq!(code(same, &rows, limits), None);
    let other = r#"map(parseTag("P-1", "(?P<letters>[A-Z]+)-(?P<number>[0-9]+)|" + string(get())))"#;
    assert_eq!(code(other, &rows, limits), Some("PQ4001"));
    assert_eq!(code(r#"parseTag("P-1", padStart("", 5000, "a"))"#, "0", Limits::default()), Some("PQ1007"));
}

#[test]
fn comparing_long_strings_is_charged() {
    let text = "a".repeat(100_000);
    let input = format!(r#"{{"a":"{text}b","b":"{text}c","n":[{}0]}}"#, "0,".repeat(999));
    let limits = Limits { fuel: 1_000_000, ..Limits::default() };
    for query in ["$root.a < $root.b", "$root.a > $root.b", "$root.a <= $root.b", "$root.b >= $root.a"] {
        assert_eq!(code(&format!(".n | filter({query}) | size()"), &input, limits), Some("PQ4001"), "{query}");
    }
}

#[test]
fn sorting_long_strings_is_charged() {
    let texts: Vec<String> = (0..300).map(|at| format!("{}{at}", "a".repeat(5_000))).collect();
    let input = serde_json::to_string(&texts).expect("JSON");
    let limits = Limits { fuel: 20_000, ..Limits::default() };
    assert_eq!(code("size()", &input, limits), None);
    for query in ["sort() | size()", "sort(get()) | size()", "sort(get(), \"desc\") | size()"] {
        assert_eq!(code(query, &input, limits), Some("PQ4001"), "{query}");
    }
}

/// The cancel flag is checked at intervals; the limit of fuel is exact between them.
#[test]
fn the_limit_of_fuel_is_exact() {
    let graph = Graph::from_json(format!("[{}0]", "0,".repeat(4_999))).expect("valid JSON");
    for text in ["map(get() + 1) | size()", "filter(get() >= 0) | size()", "groupBy(get()) | keys()", "sort() | size()"]
    {
        let query = Dialect::standard().parse(text).expect("valid query");
        let run = |fuel| query.run(&graph, &Scratch::new(), Limits { fuel, ..Limits::default() }).map(|run| run.fuel);
        let needed = run(Limits::default().fuel).expect("within the limit");
        assert_eq!(run(needed).ok(), Some(needed), "{text}");
        assert_eq!(run(needed - 1).expect_err(text).code().as_str(), "PQ4001", "{text}");
    }
}
