//! Extensions by an embedding program: custom functions, custom operators, printing options.

use pidq::error::Code;
use pidq::{CustomParam, Dialect, Function, Graph, Limits, Operator, Precedence, PrintOptions, Query, Value};

fn operator(name: &str, text: &str) -> Operator {
    let precedence = Precedence::At("in".into());
    Operator { name: name.into(), text: text.into(), precedence, vararg: false, left_associative: false }
}

fn evaluate(dialect: &Dialect, query: &str, input: &str, limits: Limits<'_>) -> Result<String, &'static str> {
    let graph = Graph::from_json(input).expect("the input is JSON");
    let result = dialect.parse(query).and_then(|query| query.to_json(&graph, limits));
    result.map_err(|error| error.code().as_str())
}

/// Returns a function that nests its input as many times as its argument says.
fn nest() -> Function {
    Function::new("nest", |cx, input, args| {
        let times = args.first().and_then(|times| times.as_f64()).unwrap_or(1.0) as usize;
        let mut value = input;
        for time in 0..times {
            let name = cx.make_string(&format!("level {time}"))?;
            let list = cx.make_array([value, name, Value::from(time as f64), Value::from(true)])?;
            value = cx.make_object([("old", value), ("list", list), ("old", Value::from("new"))])?;
        }
        Ok(value)
    })
}

#[test]
fn a_function_returns_strings_arrays_and_objects() {
    let dialect = Dialect::standard().with_function(nest());
    let result = evaluate(&dialect, "nest(2) | .list.0", "53.0", Limits::default());
    assert_eq!(result.as_deref(), Ok(r#"{"old":"new","list":[53.0,"level 0",0,true]}"#));
    let keys = Function::new("keys", |cx, _, _| cx.make_object([("b", Value::Null), ("1", Value::from(0.5))]));
    let result = evaluate(&dialect.with_function(keys), "keys() | entries() | map(.key)", "0", Limits::default());
    assert_eq!(result.as_deref(), Ok(r#"["1","b"]"#));
}

#[test]
fn an_optional_parameter_that_a_query_does_not_give_is_undefined() {
    let size = |params: Vec<CustomParam>| {
        let count = Function::new("count", |_, _, args| Ok(Value::from(args.len())));
        Dialect::standard().with_function(count.with_params(params))
    };
    let number = || CustomParam::number("n").optional();
    for (params, query, expected) in [
        (vec![number()], "count()", "1"),
        (vec![number(), number()], "count(1)", "2"),
        (vec![number(), CustomParam::any("rest").repeated()], "count()", "1"),
        (vec![number(), CustomParam::any("rest").repeated()], "count(1, 2, 3)", "3"),
    ] {
        assert_eq!(evaluate(&size(params), query, "0", Limits::default()).as_deref(), Ok(expected), "{query}");
    }
    let first = Function::new("first", |_, _, args| Ok(Value::from(args[0] == Value::Undefined)));
    let dialect = Dialect::standard().with_function(first.with_params([number()]));
    assert_eq!(evaluate(&dialect, "first()", "0", Limits::default()).as_deref(), Ok("true"));
}

#[test]
fn values_of_custom_functions_are_charged() {
    let dialect = Dialect::standard().with_function(nest());
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    assert_eq!(evaluate(&dialect, "nest(100000) | size()", "0", limits), Err("PQ4007"));
    let limits = Limits { fuel: 1_000, ..Limits::default() };
    assert_eq!(evaluate(&dialect, "nest(100000) | size()", "0", limits), Err("PQ4001"));
    let limits = Limits { string: 3, ..Limits::default() };
    assert_eq!(evaluate(&dialect, "nest(1)", "0", limits), Err("PQ4007"));
}

#[test]
fn operators_are_added_to_existing_ones() {
    let dialect = Dialect::standard().with_operators(&[operator("contains", "has")]).expect("an operator");
    let after = Operator { precedence: Precedence::At("has".into()), ..operator("startsWith", "begins") };
    let dialect = dialect.with_operators(&[after]).expect("it may refer to the first one");
    let tree = |text: &str| dialect.tree(text).map_err(|error| error.code());
    assert_eq!(tree(".a has .b").as_deref(), Ok(r#"["contains",["get","a"],["get","b"]]"#));
    assert_eq!(tree(".a begins .b").as_deref(), Ok(r#"["startsWith",["get","a"],["get","b"]]"#));
}

#[test]
fn a_query_without_text_format_prints_in_json_format() {
    let named = Function::new("not a name", |_, _, _| Ok(Value::Null));
    let dialect = Dialect::standard().with_function(named);
    for tree in [r#"["get",{}]"#, r#"["map",["not a name"]]"#] {
        let query = dialect.compile_json(tree).expect("valid query");
        let compiled = dialect.compile_json(&query.to_string()).expect("the printed query compiles");
        assert_eq!(compiled.tree(), tree, "{query}");
    }
    assert_eq!(Query::from_json(r#"["map",["get","a"]]"#).expect("valid query").to_string(), "map(.a)");
}

#[test]
fn a_line_may_be_of_any_length() {
    let options = PrintOptions { max_line_length: usize::MAX, ..PrintOptions::default() };
    let dialect = Dialect::json_query();
    let text = dialect.stringify(r#"["pipe",["get","a"],["map",["object",{}]]]"#, &options);
    assert_eq!(text.map_err(|error| error.code()), Ok::<_, Code>(".a | map({  })".into()));
}
