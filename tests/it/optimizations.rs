//! Optimizations under attack: a query on an array that is read from columns costs no more than without columns, and
//! stops no later.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use pidq::{Cancel, Dialect, Function, Graph, Limits, Scratch, Value};

use crate::allocator;

/// Returns an array of objects that is read from columns.
fn column_array(items: usize) -> Graph {
    let items: Vec<String> = (0..items).map(|at| format!(r#"{{"a": 1, "b": {at}, "t": "T{at}"}}"#)).collect();
    Graph::from_json(format!("[{}]", items.join(","))).expect("valid JSON")
}

/// A filter that fails for all items at once is retried per item: once, not on every level.
#[test]
fn an_error_in_nested_filters_is_found_with_little_fuel() {
    let graph = column_array(40);
    let nested = |condition: &str| {
        (0..16).fold("null | size()".to_owned(), |inner, _| format!("$root | filter({condition} and ({inner}))"))
    };
    for condition in [".a == 1", ".b < 50", "not(.t == \"x\")"] {
        let query = Dialect::standard().parse(&nested(condition)).expect("valid query");
        let scratch = Scratch::new();
        let (outcome, used) = allocator::measure(|| query.run(&graph, &scratch, Limits::default()).map(|_| ()));
        assert_eq!(outcome.map_err(|error| error.code().as_str()), Err("PQ2001"));
        assert!(used.calls < 5_000, "{} allocations with {condition}", used.calls);
    }
}

/// Refunded fuel does not delay the next check of the cancellation flag.
#[test]
fn a_run_ends_soon_after_its_cancellation_despite_retries() {
    let cancel = Arc::new(Cancel::default());
    let shared = cancel.clone();
    let stop = Function::new("stop", move |_, _, _| {
        shared.cancel();
        Ok(Value::Null)
    });
    let text = "{a: tryOr(filter(.b >= 0 and (null | size())), 0), b: stop(), c: [1] | map($root | map(string(.t)))}";
    let query = Dialect::standard().with_function(stop).parse(text).expect("valid query");
    let (graph, limits) = (column_array(20_000), Limits { cancel: Some(&cancel), ..Limits::default() });
    let code = query.to_json(&graph, limits).map_err(|error| error.code().as_str());
    assert_eq!(code, Err("PQ4008"));
}

/// A custom function may return a different value for each call.
#[test]
fn custom_functions_are_called_for_every_item_in_order() {
    for text in [
        "map(.a | tick())",
        "filter(.a == 1) | map(tick(.a))",
        "map({n: .a | tick()}.n)",
        "map(if(.a == tick(), 1, 2))",
        "[any(not(tick())), map(tick())]",
        "[all(if(tick(), true, true)), map(tick())]",
        "[count(tick()), map(tick())]",
        "[countBy(tick()), sumBy(if(tick(), 1, 2)), map(tick())]",
    ] {
        let run = |plain: bool| {
            let calls = AtomicUsize::new(0);
            let tick = Function::new("tick", move |_, _, _| {
                let count = calls.fetch_add(1, Ordering::Relaxed);
                Ok(Value::Bool(count.is_multiple_of(3)))
            });
            let query = Dialect::standard().with_function(tick).parse(text).expect("valid query");
            let query = if plain { query.without_optimizations() } else { query };
            query.to_json(&column_array(40), Limits::default()).expect("it runs")
        };
        assert_eq!(run(false), run(true), "{text}");
    }
}

/// Nested calls of every depth on an array that is read from columns, on a stack of 256 KiB.
#[test]
fn deep_queries_on_long_lists_fit_on_a_small_stack() {
    let work = move || {
        let graph = column_array(40);
        for (open, inner, close) in nestings() {
            for depth in [1, 20, 61, 62, 124] {
                let value = format!("{}{inner}{}", open.repeat(depth), close.repeat(depth));
                for text in [format!("filter({value})"), format!("map({value})"), format!("groupBy({value})"), value] {
                    let limits = Limits { fuel: 50_000, ..Limits::default() };
                    drop(Dialect::standard().parse(&text).map(|query| query.to_json(&graph, limits)));
                }
            }
        }
    };
    let thread = thread::Builder::new().stack_size(256 << 10).spawn(work).expect("a thread starts");
    thread.join().expect("the stack is large enough");
}

/// Returns the opening of a level, the innermost text, and the closing of a level.
fn nestings() -> Vec<(String, &'static str, &'static str)> {
    let constructs = [
        ("1 + (", ".b", ")"),
        (".a == 1 and (", ".b > 1", ")"),
        (".a == 2 or (", ".b > 1", ")"),
        ("if(.a == 1, ", ".b", ", 2)"),
        ("[", ".b", "]"),
        ("{c: ", ".b", "}"),
        ("$root | filter(.a == 1 and (", ".b > 1", "))"),
        ("$root | groupBy(.t | string(", ".b", "))"),
    ];
    let constructs = constructs.map(|(open, inner, close)| (open.to_owned(), inner, close));
    let dialect = Dialect::standard();
    let functions = dialect.functions().filter(|function| function.params().len() <= 2);
    let calls = functions.flat_map(|function| ["", "$root | "].map(|start| format!("{start}{}(", function.name())));
    constructs.into_iter().chain(calls.map(|open| (open, ".b", ")"))).collect()
}
