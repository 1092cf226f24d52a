//! Properties of all queries and documents, tested on random ones.

use pidq::{Dialect, Graph, Limits, Query, Scratch};
use proptest::prelude::*;

/// Documents of a few levels, with corner cases of JSON.
fn json() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        prop_oneof![Just("0"), Just("-0"), Just("53.0"), Just("1e3"), Just("12345678901234567890"), Just("-1.5")]
            .prop_map(str::to_owned),
        "[a-c\\\\\"\\n😀é]{0,4}".prop_map(|text| serde_json::Value::String(text).to_string()),
    ];
    scalar.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(("[ab01]{1,2}", inner), 0..4).prop_map(|fields| {
                let fields: Vec<String> = fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
}

/// Queries of a few steps on such documents.
fn query() -> impl Strategy<Value = String> {
    let step = prop::sample::select(vec![
        ".a",
        ".b.0",
        "get()",
        "filter(.a == 53)",
        "filter(.a.b >= \"a\" and .b != 0)",
        "filter(.b < 2)",
        "filter(.toString == 1)",
        "size()",
        "keys()",
        "values()",
        "map(.a)",
        "filter(.a > 0)",
        "filter(.a)",
        "sort()",
        "sort(.a, \"desc\")",
        "uniq()",
        "uniqBy(.a)",
        "groupBy(.a)",
        "keyBy(.a)",
        "flatten()",
        "reverse()",
        "limit(2)",
        "pick(.a, .b)",
        "mapValues([get()])",
        "sum()",
        "average()",
        "max()",
        "join(\",\")",
        "string(get())",
        "{a: .a, b: [get()]}",
        "[get(), .a == .b]",
        "tryFail()",
    ]);
    prop::collection::vec(step, 1..5).prop_map(|steps| steps.join(" | ").replace("tryFail()", "not(get())"))
}

/// Returns `PROPTEST_CASES`, or a number for daily use.
pub fn cases(daily: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(daily)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(512), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn unchanged_values_are_returned_byte_by_byte(json in json()) {
        let graph = Graph::from_json(json.clone()).expect("valid JSON");
        let same = Dialect::standard().parse("get()").and_then(|query| query.to_json(&graph, Limits::default()));
        prop_assert_eq!(same.expect("get() cannot fail"), json);
    }

    #[test]
    fn a_rebuilt_document_equals_itself(json in json()) {
        let graph = Graph::from_json(json).expect("valid JSON");
        let query = Dialect::standard().parse("[get()] | map(get()) | [.0] == [$root]").expect("valid query");
        prop_assert_eq!(query.to_json(&graph, Limits::default()).expect("it runs"), "true");
    }

    #[test]
    fn printing_and_reading_a_query_gives_the_same_query(text in query()) {
        let dialect = Dialect::standard();
        let query = dialect.parse(&text).expect("valid query");
        prop_assert_eq!(dialect.parse(&query.to_string()).expect("what was printed compiles").tree(), query.tree());
        prop_assert_eq!(dialect.compile_json(&query.tree()).expect("the JSON format compiles").tree(), query.tree());
    }

    #[test]
    fn more_fuel_never_changes_a_result(text in query(), json in json()) {
        let graph = Graph::from_json(json).expect("valid JSON");
        let query = Dialect::standard().parse(&text).expect("valid query");
        let scratch = Scratch::new();
        if let Ok(outcome) = query.run(&graph, &scratch, Limits::default()) {
            let exact = Limits { fuel: outcome.fuel, ..Limits::default() };
            prop_assert_eq!(format!("{:?}", outcome.value), format!("{:?}", query.run(&graph, &scratch, exact).expect("the same").value));
        }
    }

    #[test]
    fn optimizations_do_not_change_results(text in query(), json in json()) {
        let graph = Graph::from_json(format!("[{json},{json},{{\"a\":{json},\"b\":1}}]")).expect("valid JSON");
        let run = |query: Query| query.to_json(&graph, Limits::default()).map_err(|error| error.code());
        let query = || Dialect::standard().parse(&text).expect("valid query");
        prop_assert_eq!(run(query()), run(query().without_optimizations()));
    }
}
