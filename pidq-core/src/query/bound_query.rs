//! A prepared query with values of its parameters.

use serde::de::DeserializeOwned;

use super::{ProjectedDocument, Query, RunProfile, RunResult};
use crate::arena::load;
use crate::error::{Code, Error, Result};
use crate::eval::{BoundValue, Parameters, Scratch};
use crate::graph::Graph;
use crate::limits::{Limits, MAX_DOCUMENT_DEPTH, MAX_PARAMS};
use crate::suggest;
use crate::value::{Value, write};

/// A prepared query with values of its parameters, created by [`Query::bind`]. It runs as a query does, any number of
/// times.
#[derive(Debug)]
pub struct BoundQuery<'q> {
    query: &'q Query,
    /// The query compiled with the values, if they are part of its plan.
    specialized: Option<Box<Query>>,
    /// In the order of the query's parameters.
    values: Box<[BoundValue<'q>]>,
}

impl Query {
    /// Returns the names of the parameters that [`Query::bind`] sets, in the order of their first use. Empty for a query
    /// that was not prepared.
    pub fn parameters(&self) -> impl ExactSizeIterator<Item = &str> {
        self.compiled.prepared.names.iter().map(|name| &**name)
    }

    /// Sets the parameters of a prepared query, all of them: names and values, each at most once.
    ///
    /// Values are numbers, strings, booleans, or any [`Value`]: of a graph, a result or an
    /// [`OwnedValue`](crate::OwnedValue). For values of different types, write `Value::from(…)` around each. Lists and
    /// objects that are not in a document are copied; to bind a large one often, bind a value of
    /// [`Graph::from_value`](crate::Graph::from_value).
    ///
    /// A bound query has the results and errors of a query that was compiled with the same values by
    /// [`Query::with_params`]; only warnings that depend on their types are missing. Binding does not compile the query
    /// again, except where the language requires a constant, such as a regular expression, the count of `limit` or a key
    /// of a path: then it compiles the parsed query, which takes some microseconds.
    ///
    /// ```
    /// use pidq_core::{Graph, Limits, Query, Value};
    ///
    /// let graph = Graph::from_json(r#"[{"tag": "P-101", "kw": 15}, {"tag": "P-102", "kw": 7.5}]"#)?;
    /// let query = Query::prepare("filter(.tag == $tag and .kw > $min) | map(.kw)")?;
    /// for (tag, expected) in [("P-101", "[15]"), ("P-102", "[]")] {
    ///     let bound = query.bind([("tag", Value::from(tag)), ("min", Value::from(10))])?;
    ///     assert_eq!(bound.to_json(&graph, Limits::default())?, expected);
    /// }
    /// assert_eq!(query.bind([("tga", "P-101")]).unwrap_err().code().as_str(), "PQ1005");
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `PQ1013` if a parameter is missing, `PQ1005` if the query has none of that name or it is given twice, the errors
    /// of [`Query::with_params`] for a value that does not fit, and those of [`Graph::from_value`] for one that is copied.
    pub fn bind<'q, N: AsRef<str>, V: Into<Value<'q>>>(
        &'q self,
        params: impl IntoIterator<Item = (N, V)>,
    ) -> Result<BoundQuery<'q>> {
        let names = &self.compiled.prepared.names;
        let mut values: Vec<Option<Value<'q>>> = vec![None; names.len()];
        for (name, value) in params.into_iter().take(MAX_PARAMS + 1) {
            let name = name.as_ref();
            let slot = names.iter().position(|known| **known == *name).ok_or_else(|| self.unknown_parameter(name))?;
            if values[slot].replace(value.into()).is_some() {
                return Err(Error::new(Code::UnknownVariable, format!("The parameter '${name}' is given twice")));
            }
        }
        let missing = || self.missing_parameters(|slot| values[slot].is_none());
        let values: Vec<Value<'q>> = values.iter().copied().collect::<Option<_>>().ok_or_else(missing)?;
        let values: Box<[_]> =
            names.iter().zip(values).map(|(name, value)| bound_value(name, value)).collect::<Result<_>>()?;
        let specialized = match self.compiled.prepared.are_in_plan {
            true => Some(Box::new(self.specialize(&values)?)),
            false => {
                self.compiled
                    .prepared
                    .check(values.iter().map(BoundValue::value))
                    .map_err(|error| self.source.locate(error))?;
                None
            }
        };
        Ok(BoundQuery { query: self, specialized, values })
    }

    /// Compiles the parsed query with the values of its parameters.
    fn specialize(&self, values: &[BoundValue<'_>]) -> Result<Query> {
        let params: Vec<_> = self.parameters().zip(values.iter().map(BoundValue::value)).collect();
        let compiled = self.dialect.compile_tree(&self.source, &params, &self.graph_params, false)?;
        Ok(Query {
            is_optimized: self.is_optimized,
            ..self.dialect.query(compiled, self.source.clone(), &self.graph_params)
        })
    }

    fn unknown_parameter(&self, name: &str) -> Error {
        let error = Error::new(Code::UnknownVariable, format!("The query has no parameter '${name}'"));
        let similar: Vec<String> = suggest::nearest(name, self.parameters()).into_iter().map(str::to_owned).collect();
        if similar.is_empty() && self.parameters().len() > 0 {
            let known: Vec<String> = self.parameters().map(|name| format!("`{name}`")).collect();
            return error.with_help(format!("it has {}", known.join(", ")));
        }
        if similar.is_empty() {
            return error.with_help("`Query::prepare` makes the names that a query does not bind parameters");
        }
        error.with_suggestions(similar)
    }

    /// Error for parameters without a value.
    pub(super) fn missing_parameters(&self, is_missing: impl Fn(usize) -> bool) -> Error {
        let missing = self.parameters().enumerate().filter(|(slot, _)| is_missing(*slot));
        let names: Vec<String> = missing.map(|(_, name)| format!("'${name}'")).collect();
        let message = match names.len() {
            1 => format!("The parameter {} has no value", names[0]),
            _ => format!("The parameters {} have no values", names.join(", ")),
        };
        Error::new(Code::MissingParameter, message).with_help("set every parameter when the query is bound or run")
    }
}

/// Returns the value of a parameter. A list or an object that is not in a document is copied into one, so that it costs
/// the same fuel as one that the query is compiled with.
fn bound_value<'q>(name: &str, value: Value<'q>) -> Result<BoundValue<'q>> {
    if !matches!(value, Value::Array(_) | Value::Object(_)) || value.container().is_some() {
        return Ok(BoundValue::Borrowed(value));
    }
    let mut json = format!("{{\"{name}\":").into_bytes();
    write::append_json(value, Limits::default().output, &mut json)?;
    json.push(b'}');
    // One level more than a document: that of the object around the value.
    Ok(BoundValue::Copied(Box::new(load::load(json, MAX_DOCUMENT_DEPTH + 1)?)))
}

impl BoundQuery<'_> {
    /// Loads a document for this query and these values alone, as [`Query::load`].
    ///
    /// # Errors
    /// As [`Query::load`].
    pub fn load(&self, json: impl Into<Vec<u8>>) -> Result<ProjectedDocument<'_>> {
        self.query().load_for(Some(self.parameters()), json.into())
    }

    /// Runs the query, as [`Query::run`].
    ///
    /// # Errors
    /// As [`Query::run`].
    pub fn run<'a>(&'a self, graph: &'a Graph, scratch: &'a Scratch, limits: Limits<'a>) -> Result<RunResult<'a>> {
        self.run_with_graphs(graph, &[], scratch, limits)
    }

    /// Runs the query with its graph parameters, as [`Query::run_with_graphs`].
    ///
    /// # Errors
    /// As [`Query::run_with_graphs`].
    pub fn run_with_graphs<'a>(
        &'a self,
        graph: &'a Graph,
        graph_params: &'a [&'a Graph],
        scratch: &'a Scratch,
        limits: Limits<'a>,
    ) -> Result<RunResult<'a>> {
        self.query().run_with_parameters(graph, graph_params, self.parameters(), scratch, limits)
    }

    /// Runs the query and converts its result, as [`Query::run_as`].
    ///
    /// # Errors
    /// As [`Query::run_as`].
    pub fn run_as<T: DeserializeOwned>(&self, graph: &Graph, limits: Limits<'_>) -> Result<T> {
        let scratch = Scratch::new();
        self.run(graph, &scratch, limits)?.deserialize()
    }

    /// Runs the query and prints the result as JSON, as [`Query::to_json`].
    ///
    /// # Errors
    /// As [`Query::to_json`].
    pub fn to_json(&self, graph: &Graph, limits: Limits<'_>) -> Result<String> {
        let scratch = Scratch::new();
        self.run(graph, &scratch, limits)?.to_json()
    }

    /// Runs the query and returns its profile, as [`Query::explain`].
    ///
    /// # Errors
    /// As [`Query::explain`].
    pub fn explain(&self, graph: &Graph, limits: Limits<'_>) -> Result<RunProfile> {
        self.query().explain_with_parameters(graph, &[], self.parameters(), limits)
    }

    fn query(&self) -> &Query {
        self.specialized.as_deref().unwrap_or(self.query)
    }

    fn parameters(&self) -> Parameters<'_> {
        Parameters::Bound(&self.values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OwnedValue;
    use crate::graph::bidirectional::random::Rng;

    const DRAWING: &str = r#"{"pid_graph": {"nodes": [
        {"id": "T-1", "tag": "T-1", "node_classification": "equipment.tank", "kw": null, "n": 3},
        {"id": "V-1", "tag": "V-1", "node_classification": "piping_component.gate_valve", "kw": 2, "n": 1},
        {"id": "P-1", "tag": "P-1", "node_classification": "equipment.pump", "kw": 7.50, "n": 2}
    ], "edges": [{"source": "T-1", "target": "V-1"}, {"source": "V-1", "target": "P-1"}]}}"#;

    /// Result and fuel, or the code of the error.
    type Outcome = std::result::Result<(String, u64), &'static str>;

    fn outcome(result: Result<RunResult<'_>>) -> Outcome {
        let result = result.and_then(|result| Ok((result.to_json()?, result.fuel)));
        result.map_err(|error| error.code().as_str())
    }

    fn bound(query: &Query, graph: &Graph, params: &Graph) -> Outcome {
        let scratch = Scratch::new();
        let params = params.root().entries();
        let bound = query.bind(params.filter(|(name, _)| query.parameters().any(|known| known == *name)));
        bound.map_or_else(
            |error| Err(error.code().as_str()),
            |bound| outcome(bound.run(graph, &scratch, Limits::default())),
        )
    }

    fn compiled(text: &str, graph: &Graph, params: &Graph) -> Outcome {
        let scratch = Scratch::new();
        Query::with_params(text, params.source()).map_or_else(
            |error| Err(error.code().as_str()),
            |query| outcome(query.run(graph, &scratch, Limits::default())),
        )
    }

    /// Values of the parameters `a`, `b` and `c`, of all types.
    fn params(rng: &mut Rng) -> Graph {
        const VALUES: [&str; 12] = [
            "1",
            "2",
            "0",
            "-1.5",
            "null",
            "true",
            r#""P-1""#,
            r#""kw""#,
            r#""^P""#,
            r#"["V-1", "P-1"]"#,
            "[]",
            r#"{"x": 2}"#,
        ];
        let mut value = || VALUES[rng.index(VALUES.len())];
        let json = format!(r#"{{"a": {}, "b": {}, "c": {}}}"#, value(), value(), value());
        Graph::from_json(json).expect("JSON")
    }

    /// Stages with `@` for a parameter: in values, where functions check constants, and in parts of the plan.
    const STAGES: [&str; 26] = [
        "filter(.kw == @)",
        "filter(.tag == @ or .n > @)",
        "filter(.tag in @)",
        "map(.n + @)",
        "map({tag: .tag, value: @})",
        "map([@, .tag])",
        "limit(@)",
        "sort(.n, @)",
        "filter(regex(.tag, @))",
        "map(.@)",
        "map(get(@))",
        "downstream(@) | map(.tag)",
        "downstream(@, {depth: @}) | map(.tag)",
        "isolate(@).complete",
        "[@.x, @]",
        "skip(@)",
        "groupBy(.@)",
        "map(replace(.tag, @, \"x\"))",
        "map(if(.n > @, @, null))",
        "let({z: @}, map([.n, $z]))",
        "let({a: 1}, [$a, @])",
        "let({z: @}, limit($z))",
        "let({y: @, z: $y}, filter(regex(.tag, $z)))",
        "@",
        "chunks(@)",
        "map(round(.n / 3, @))",
    ];

    fn random_query(rng: &mut Rng) -> String {
        let count = 1 + rng.index(3);
        let stages = (0..count).map(|_| STAGES[rng.index(STAGES.len())]);
        let template = stages.fold(String::from("nodes()"), |text, stage| format!("{text} | {stage}"));
        let mut text = String::new();
        for (at, part) in template.split('@').enumerate() {
            let name = if at == 0 { "" } else { ["$a", "$b", "$c"][rng.index(3)] };
            // A key of a path is a parameter in the function notation only.
            text.push_str(if text.ends_with('.') { name.trim_start_matches('$') } else { name });
            text.push_str(part);
        }
        text
    }

    /// The oracle is the query that is compiled with the same values.
    #[test]
    fn a_bound_query_is_the_query_compiled_with_the_values() {
        let graph = Graph::from_json(DRAWING).expect("a drawing");
        let mut rng = Rng(0x5EED);
        let (mut results, mut in_plan) = (0, 0);
        for _ in 0..1_500 {
            let text = random_query(&mut rng);
            let Ok(query) = Query::prepare(&text) else {
                let params = params(&mut rng);
                assert!(compiled(&text, &graph, &params).is_err(), "{text}");
                continue;
            };
            in_plan += usize::from(query.compiled.prepared.are_in_plan);
            // One prepared query, with several values in turn: nothing of a run is left for the next one.
            let sets: Vec<Graph> = (0..4).map(|_| params(&mut rng)).collect();
            for values in sets.iter().chain(&sets) {
                let expected = compiled(&text, &graph, values);
                results += usize::from(expected.is_ok());
                assert_eq!(bound(&query, &graph, values), expected, "{text} with {}", values.source());
            }
        }
        assert!(results > 2_000 && in_plan > 200, "{results} results, {in_plan} with values in the plan");
    }

    /// Stages that read a parameter as a list of rows.
    const LIST_STAGES: [&str; 14] = [
        "filter(.n > 20)",
        "filter(.k == $limit)",
        "sort(.n)",
        "sort(.id, \"desc\")",
        "groupBy(.k)",
        "uniqBy(.k)",
        "map(.n) | sum()",
        "skip(5)",
        "top(3, .n)",
        "filter(.id in [\"P-1\", \"P-2\"]) | size()",
        "filter(regex(.id, \"^P-1\"))",
        "limit($limit)",
        "map(.missing.field)",
        "flatMap(.k)",
    ];

    /// Values of a graph, of a result and of the program: the fuel of a run must not show where a list comes from.
    #[test]
    fn a_list_costs_the_same_wherever_it_comes_from() {
        let row = |at: usize| format!(r#"{{"id":"P-{at}","n":{}.50,"k":"{}"}}"#, at * 31 % 97, at % 5);
        let list = format!("[{}]", (0..200).map(row).collect::<Vec<_>>().join(","));
        let params = Graph::from_json(format!(r#"{{"list": {list}, "limit": 3}}"#)).expect("JSON");
        let (graph, scratch) = (Graph::from_json("null").expect("JSON"), Scratch::new());
        let stored = params.root().get("list").expect("the list");
        let owned = stored.into_owned().expect("a copy");
        let selection = Query::parse(".list | filter(true)").expect("a query");
        let selected = selection.run(&params, &scratch, Limits::default()).expect("it runs").value;
        for stage in LIST_STAGES {
            let text = format!("$list | {stage}");
            let query = Query::prepare(&text).expect("a query");
            let mut names: Vec<(&str, Value<'_>)> = vec![("list", stored), ("limit", Value::from(3))];
            names.truncate(query.parameters().len());
            let run = |value: Value<'_>| {
                let others = names.iter().skip(1).copied();
                let bound = query.bind([("list", value)].into_iter().chain(others)).expect("bound");
                let run_scratch = Scratch::new();
                outcome(bound.run(&graph, &run_scratch, Limits::default()))
            };
            let expected = compiled(&text, &graph, &params_of(&names));
            assert_eq!(run(stored), expected, "{stage}");
            assert_eq!(run(owned.as_value()), expected, "owned: {stage}");
            assert_eq!(run(selected), expected, "a result: {stage}");
        }
    }

    fn params_of(values: &[(&str, Value<'_>)]) -> Graph {
        let object: crate::OwnedObject =
            values.iter().map(|(name, value)| (*name, value.into_owned().expect("a copy"))).collect();
        Graph::from_value(&OwnedValue::Object(object)).expect("JSON")
    }

    #[test]
    fn an_error_says_where_in_a_bound_list_the_value_is() {
        let query = Query::prepare("map($list | map(upper(.tags)))").expect("a query");
        let row = crate::OwnedObject::from_iter([("tags", OwnedValue::from_iter(["P-1"]))]);
        let list = OwnedValue::from_iter([row]);
        let (bound, graph) = (query.bind([("list", &list)]).expect("bound"), Graph::from_json("[1]").expect("JSON"));
        let error = bound.to_json(&graph, Limits::default()).expect_err("not a string");
        assert!(error.to_string().contains("at .list[0];"), "{error}");
    }

    /// The oracle is the same bound query on the complete document.
    #[test]
    fn a_document_can_be_loaded_for_a_bound_query() {
        let query =
            Query::prepare(".pid_graph.nodes | filter(.tag == $tag) | map(.n) | limit($count)").expect("a query");
        let complete = Graph::from_json(DRAWING).expect("a drawing");
        for (tag, expected) in [("P-1", "[2]"), ("V-1", "[1]"), ("X", "[]")] {
            let bound = query.bind([("tag", Value::from(tag)), ("count", Value::from(1))]).expect("bound");
            let (document, scratch) = (bound.load(DRAWING).expect("a drawing"), Scratch::new());
            let result = document.run(&scratch, Limits::default()).expect("it runs");
            let full_scratch = Scratch::new();
            let full = bound.run(&complete, &full_scratch, Limits::default()).expect("it runs");
            assert_eq!((result.to_json().expect("JSON"), result.fuel), (expected.into(), full.fuel));
            assert!(document.graph().size() < complete.size());
        }
        let unbound = query.load(DRAWING).expect("a drawing");
        let scratch = Scratch::new();
        assert_eq!(
            unbound.run(&scratch, Limits::default()).map(drop).expect_err("not bound").code().as_str(),
            "PQ1013"
        );
    }

    #[test]
    fn what_borrows_from_a_query_and_its_run_can_be_used_in_another_thread() {
        fn is_send<T: Send>() {}
        fn is_sync<T: Sync>() {}
        is_send::<BoundQuery<'_>>();
        is_sync::<BoundQuery<'_>>();
        is_send::<Value<'_>>();
        is_sync::<Value<'_>>();
        is_send::<RunResult<'_>>();
        is_send::<ProjectedDocument<'_>>();
        let (query, graph) = (Query::prepare("limit($n)").expect("a query"), Graph::from_json("[1,2]").expect("JSON"));
        let bound = query.bind([("n", 1_usize)]).expect("bound");
        let run = || bound.to_json(&graph, Limits::default()).expect("it runs");
        assert_eq!(std::thread::scope(|scope| scope.spawn(run).join()).expect("a thread"), "[1]");
    }

    #[test]
    fn missing_and_unknown_parameters_are_errors() {
        let query = Query::prepare("filter(.tag == $tag) | limit($count)").expect("a query");
        assert_eq!(query.parameters().collect::<Vec<_>>(), ["tag", "count"]);
        let error =
            |params: &[(&str, Value<'static>)]| query.bind(params.iter().copied()).expect_err("not bound").to_string();
        let (tag, count) = (("tag", Value::from("P-1")), ("count", Value::from(1)));
        assert_eq!(
            error(&[tag]),
            "PQ1013: The parameter '$count' has no value; set every parameter when the query is bound or run"
        );
        assert_eq!(
            error(&[tag, count, ("cuont", Value::Null)]),
            "PQ1005: The query has no parameter '$cuont'; did you mean `count`?"
        );
        assert_eq!(error(&[tag, tag, count]), "PQ1005: The parameter '$tag' is given twice");
        let unbound = query.to_json(&Graph::from_json("[]").expect("JSON"), Limits::default()).expect_err("not bound");
        assert_eq!(
            unbound.to_string(),
            "PQ1013: The parameters '$tag', '$count' have no values; set every parameter when the query is bound or run"
        );
        let plain = Query::parse("size()").expect("a query").bind([("a", 1)]).map(drop).expect_err("no parameters");
        assert_eq!(plain.code(), Code::UnknownVariable);
    }

    #[test]
    fn a_query_without_parameters_runs_with_and_without_binding() {
        let (query, graph) = (Query::prepare("size()").expect("a query"), Graph::from_json("[1]").expect("JSON"));
        let none: [(&str, Value<'_>); 0] = [];
        let bound = query.bind(none).expect("nothing to bind");
        assert_eq!(bound.to_json(&graph, Limits::default()).expect("it runs"), "1");
        assert_eq!(query.to_json(&graph, Limits::default()).expect("it runs"), "1");
    }

    #[test]
    fn preparing_finds_the_mistakes_that_need_no_value() {
        let code = |text: &str| Query::prepare(text).err().map(|error| error.code().as_str());
        assert_eq!(code("fliter($a)"), Some("PQ1001"));
        assert_eq!(code("let($a)"), Some("PQ1003"));
        assert_eq!(code("limit(.a)"), Some("PQ1006"));
        assert_eq!(code("$_a"), Some("PQ1005"));
        assert_eq!(code("$root | filter(.a == $a)"), None);
        let many: Vec<String> = (0..=MAX_PARAMS).map(|at| format!("$p{at}")).collect();
        assert_eq!(code(&format!("[{}]", many.join(", "))), Some("PQ5002"));
    }

    #[test]
    fn an_error_of_a_value_has_its_place_in_the_query() {
        let text = "map(regex(.tag, $pattern))";
        let query = Query::prepare(text).expect("a query");
        let error = query.bind([("pattern", "(")]).map(drop).expect_err("a bad pattern");
        assert_eq!(error.code(), Code::BadRegex);
        assert_eq!(error.span().map(|span| &text[span.range(text)]), Some("$pattern"));
    }

    #[test]
    fn values_of_other_documents_are_parameters() {
        let [old, new] = [DRAWING, r#"{"pid_graph": {"nodes": [{"id": "P-1", "kw": 8}], "edges": []}}"#]
            .map(|json| Graph::from_json(json).expect("a drawing"));
        let query = Query::prepare("[$old.pid_graph.nodes | size(), diff($old, get()).removed | size(), $list]")
            .expect("a query");
        let list = OwnedValue::from(vec![1, 2]);
        let params = [("old", old.root()), ("list", list.as_value())];
        let result = query.bind(params).and_then(|bound| bound.to_json(&new, Limits::default()));
        assert_eq!(result.expect("it runs"), "[3,2,[1,2]]");
    }
}
