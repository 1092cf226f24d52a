//! Static checks of a query: comparisons that are never true, filters that keep everything or nothing, and calls that
//! always fail.
//!
//! Types are propagated through the plan. Without a document the input may be anything; with one its `DataGuide` gives
//! the types. Only certain findings are reported: a wrong warning is worse than none.

mod data_guide;
mod kinds;
mod result_types;
mod types;

use crate::arena::path_step;
use crate::error::{Code, Error, Span, Warning};
use crate::eval::plan::custom_function::CustomBody;
use crate::eval::plan::function::Body;
use crate::eval::plan::{Call, Constant, Fields, Key, Path, Plan, Stage};
use crate::eval::run_warnings::{ARRAY_JOINED, ARRAYS_JOINED, JOINED_HELP, OBJECT_JOINED, OBJECTS_JOINED};
use crate::graph::Graph;
use crate::limits::Limits;
use crate::suggest::{self, BoundedSearch};
use crate::value::{compare, prototype, write};

use data_guide::DataGuide;
use kinds::Kinds;
use types::{Type, Types};

/// Limit of warnings per check.
const MAX_WARNINGS: usize = 100;

/// Findings of a check.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub warnings: Vec<Warning>,
    /// A call that fails on every document.
    pub error: Option<Error>,
}

/// Checks a plan for any document.
pub(crate) fn check(plan: &Plan) -> Findings {
    run(plan, None)
}

/// Checks a plan for a document. Returns `None` if examining the document exceeds the limits.
pub(crate) fn check_against(plan: &Plan, document: &Graph, limits: &Limits<'_>) -> Option<Findings> {
    Some(run(plan, Some(DataGuide::build(document, limits)?)))
}

/// Returns the kind of a type name.
fn named_kind(type_name: &str) -> Kinds {
    match type_name {
        "null" => Kinds::NULL,
        "boolean" => Kinds::BOOL,
        "number" => Kinds::NUMBER,
        "string" => Kinds::STRING,
        "array" => Kinds::ARRAY,
        _ => Kinds::OBJECT,
    }
}

fn run<'p>(plan: &'p Plan, guide: Option<DataGuide<'p>>) -> Findings {
    let types = Types::new(guide);
    let (root, lists) = (types.root(), types.lists());
    let (scope, findings, search) = (Vec::new(), Findings::default(), BoundedSearch::new());
    let mut checker = Checker { types, root, lists, scope, is_always_run: true, findings, search };
    checker.eval(plan, root);
    checker.findings
}

struct Checker<'p> {
    types: Types<'p>,
    root: Type,
    /// The lists of nodes and of edges of the graph that functions use.
    lists: [Type; 2],
    /// The types of the bindings in scope, outermost first.
    scope: Vec<Type>,
    /// True if the current node runs whenever the query does.
    is_always_run: bool,
    findings: Findings,
    /// Search for similar names.
    search: BoundedSearch,
}

/// Static semantics of a function.
struct Rule {
    names: &'static [&'static str],
    /// The kinds of input that it accepts.
    accepts: Kinds,
    args: Args,
    result: ResultRule,
}

/// Input of a function's arguments.
#[derive(Clone, Copy)]
enum Args {
    /// The current value, for all of them.
    Input,
    /// The current value; the first is always evaluated, the others conditionally.
    ShortCircuit,
    /// The current value, for arguments that may be skipped.
    Conditional,
    /// The items of the current value; arguments after the first get the current value.
    Items,
    /// The nodes of the graph, or its edges.
    Nodes,
    Edges,
    /// The current value; options get nodes or edges.
    Walk,
    /// The current value for the first, the names of the pattern for the second.
    Bindings,
    /// Another value.
    Unknown,
    /// Another value, and functions use another graph.
    OtherGraph,
}

/// Result type of a function.
#[derive(Clone, Copy)]
enum ResultRule {
    Kinds(Kinds),
    Strings,
    /// Some of the items, in some order.
    SameItems,
    /// One of the items, or null.
    Item,
    /// An array of the values of its argument.
    ListOfArg,
    /// The value of its second argument.
    SecondArg,
    /// The value of one of its branches.
    Branch,
    /// Some nodes of the graph, or some of its edges.
    Nodes,
    Edges,
    /// A node of the graph, or its default.
    Node,
    /// The type in the table of result types, or any type.
    Listed,
}

const PIPED: Rule = Rule { names: &[], accepts: Kinds::ANY, args: Args::Unknown, result: ResultRule::Listed };
const STRICT: Rule = Rule { args: Args::Input, ..PIPED };
const ARRAY_OR_STRING: Kinds = Kinds::ARRAY.or(Kinds::STRING);
const PRESENT: Kinds = Kinds::ANY.without(Kinds::MISSING);

const RULES: &[Rule] = &[
    Rule { names: &["filter"], accepts: Kinds::ARRAY, args: Args::Items, result: ResultRule::SameItems },
    Rule { names: &["sort"], accepts: Kinds::ARRAY, args: Args::Items, result: ResultRule::SameItems },
    Rule { names: &["reverse"], accepts: Kinds::ARRAY, result: ResultRule::SameItems, ..PIPED },
    Rule { names: &["uniq", "limit"], accepts: ARRAY_OR_STRING, result: ResultRule::SameItems, ..PIPED },
    Rule { names: &["uniqBy"], accepts: ARRAY_OR_STRING, args: Args::Items, result: ResultRule::SameItems },
    Rule { names: &["map"], accepts: Kinds::ARRAY, args: Args::Items, result: ResultRule::ListOfArg },
    Rule { names: &["flatten"], accepts: Kinds::ARRAY, result: ResultRule::Kinds(Kinds::ARRAY), ..PIPED },
    Rule {
        names: &["groupBy", "keyBy"],
        accepts: ARRAY_OR_STRING,
        args: Args::Items,
        result: ResultRule::Kinds(Kinds::OBJECT),
    },
    Rule { names: &["size"], accepts: PRESENT, ..PIPED },
    Rule { names: &["keys"], accepts: PRESENT, result: ResultRule::Strings, ..PIPED },
    Rule { names: &["values"], accepts: PRESENT, result: ResultRule::Kinds(Kinds::ARRAY), ..PIPED },
    Rule {
        names: &["mapKeys", "mapValues", "mapObject"],
        accepts: PRESENT,
        result: ResultRule::Kinds(Kinds::OBJECT),
        ..PIPED
    },
    Rule { names: &["sum", "prod", "min", "max", "average"], accepts: Kinds::ARRAY, ..PIPED },
    Rule { names: &["join"], accepts: Kinds::ARRAY, result: ResultRule::Kinds(Kinds::STRING), ..PIPED },
    Rule { names: &["and", "or"], args: Args::ShortCircuit, result: ResultRule::Kinds(Kinds::BOOL), ..STRICT },
    Rule { names: &["if"], args: Args::ShortCircuit, result: ResultRule::Branch, ..STRICT },
    Rule { names: &["tryOr", "coalesce"], args: Args::Conditional, ..STRICT },
    Rule {
        names: &["eq", "ne", "gt", "gte", "lt", "lte", "in", "not in", "not"],
        result: ResultRule::Kinds(Kinds::BOOL),
        ..STRICT
    },
    Rule { names: &["exists"], result: ResultRule::Kinds(Kinds::BOOL), ..PIPED },
    Rule { names: &["regex"], args: Args::Input, result: ResultRule::Kinds(Kinds::BOOL), ..PIPED },
    Rule { names: &["match"], args: Args::Input, result: ResultRule::Kinds(Kinds::OBJECT.or(Kinds::NULL)), ..PIPED },
    Rule { names: &["matchAll"], args: Args::Input, result: ResultRule::Kinds(Kinds::ARRAY), ..PIPED },
    Rule {
        names: &["subtract", "multiply", "divide", "mod", "pow", "abs", "round"],
        result: ResultRule::Kinds(Kinds::NUMBER),
        ..STRICT
    },
    Rule { names: &["add"], result: ResultRule::Kinds(Kinds::NUMBER.or(Kinds::STRING)), ..STRICT },
    Rule {
        names: &["number", "toNumber", "floor", "ceil"],
        result: ResultRule::Kinds(Kinds::NUMBER.or(Kinds::NULL)),
        ..STRICT
    },
    Rule { names: &["string", "typeOf"], result: ResultRule::Kinds(Kinds::STRING), ..STRICT },
    Rule { names: &["split"], result: ResultRule::Strings, ..STRICT },
    Rule { names: &["lower", "upper", "trim"], result: ResultRule::Kinds(Kinds::STRING.or(Kinds::NULL)), ..STRICT },
    Rule { names: &["any", "all"], args: Args::Items, result: ResultRule::Kinds(Kinds::BOOL), ..PIPED },
    Rule { names: &["count"], args: Args::Items, result: ResultRule::Kinds(Kinds::NUMBER), ..PIPED },
    Rule { names: &["first", "last", "minBy", "maxBy"], args: Args::Items, result: ResultRule::Item, ..PIPED },
    Rule { names: &["nodes"], args: Args::Nodes, result: ResultRule::Nodes, ..PIPED },
    Rule { names: &["edges"], args: Args::Edges, result: ResultRule::Edges, ..PIPED },
    Rule { names: &["node"], args: Args::ShortCircuit, result: ResultRule::Node, ..PIPED },
    Rule { names: &["neighbors"], args: Args::Edges, result: ResultRule::Nodes, ..PIPED },
    Rule { names: &["outgoing", "incoming", "incident"], args: Args::Edges, result: ResultRule::Edges, ..PIPED },
    Rule { names: &["degree"], args: Args::Edges, result: ResultRule::Kinds(Kinds::NUMBER), ..PIPED },
    Rule {
        names: &["downstream", "upstream", "connected", "between", "expand", "run"],
        args: Args::Walk,
        result: ResultRule::Nodes,
        ..PIPED
    },
    Rule { names: &["reachable"], args: Args::Walk, result: ResultRule::Kinds(Kinds::BOOL), ..PIPED },
    Rule { names: &["trace", "paths", "cycles", "components", "shortestPath"], args: Args::Walk, ..PIPED },
    Rule { names: &["isolate", "isolationPlan", "inventorySections"], args: Args::Walk, ..PIPED },
    Rule { names: &["findPattern"], args: Args::Bindings, ..PIPED },
    Rule { names: &["withGraph", "withTopology"], args: Args::OtherGraph, result: ResultRule::SecondArg, ..PIPED },
    Rule { names: &["sumBy", "avgBy", "countBy", "flatMap"], args: Args::Items, ..PIPED },
];

impl<'p> Checker<'p> {
    /// Returns the type of a node's value. Recursive, so its locals are in other functions.
    fn eval(&mut self, plan: &'p Plan, input: Type) -> Type {
        match plan {
            Plan::Constant(constant) => self.types.constant(constant),
            Plan::Get(path) => self.path(path, input),
            Plan::Call(call) => self.call(call, input),
            Plan::Pipe(stages) => self.pipe(stages, input),
            Plan::Array(items) => self.array(items, input),
            Plan::Object(fields) => self.object(fields, input),
            Plan::Let(values, body) => self.bind(values, body, input),
            Plan::Variable(index) => self.scope.get(*index).copied().unwrap_or(Type::ANY),
            Plan::Parameter(parameter) => {
                parameter.type_name.map_or(Type::ANY, |name| Type::from_kinds(named_kind(name)))
            }
            Plan::Root => self.root,
            Plan::GraphParameter(_) | Plan::Pattern(_) => Type::ANY,
        }
    }

    fn pipe(&mut self, stages: &'p [Stage], input: Type) -> Type {
        let mut value = input;
        for stage in stages {
            value = self.eval(&stage.plan, value);
        }
        value
    }

    fn array(&mut self, items: &'p [Plan], input: Type) -> Type {
        let mut all = Type::NONE;
        for item in items {
            let item = self.eval(item, input);
            all = if all.kinds == Kinds::NONE { item } else { self.types.join(all, item) };
        }
        self.types.list_of(all)
    }

    fn object(&mut self, fields: &'p Fields, input: Type) -> Type {
        let mut values = Vec::with_capacity(fields.values.len());
        for value in &fields.values {
            values.push(self.eval(value, input));
        }
        self.types.object(&fields.names, values)
    }

    fn bind(&mut self, values: &'p [Plan], body: &'p Plan, input: Type) -> Type {
        let outer = self.scope.len();
        for value in values {
            let value = self.eval(value, input);
            self.scope.push(value);
        }
        let result = self.eval(body, input);
        self.scope.truncate(outer);
        result
    }

    fn path(&mut self, path: &'p Path, input: Type) -> Type {
        let mut value = input;
        for key in &path.keys {
            if value.kinds.intersects(Kinds::ARRAY) && value.kinds.is_only(Kinds::ARRAY | Kinds::MISSING) {
                self.warn_field_of_array(key, value);
            }
            self.check_field(key, value);
            value = self.types.property(value, key);
        }
        if path.keys.is_empty() { defined(value) } else { value }
    }

    fn call(&mut self, call: &'p Call, input: Type) -> Type {
        let rule = rule(call);
        let is_rejected = input.kinds != Kinds::NONE && !input.kinds.intersects(rule.accepts);
        if is_rejected {
            self.report_failure(call, input);
            return Type::NONE;
        }
        let args = self.args(rule, call, input);
        self.check_call(call, input, &args);
        self.result(rule, call, input, &args)
    }

    fn args(&mut self, rule: &Rule, call: &'p Call, input: Type) -> Vec<Type> {
        let (outer, lists) = (self.is_always_run, self.lists);
        let mut args = Vec::with_capacity(call.args.len());
        let mut data = input;
        if matches!(rule.args, Args::OtherGraph) {
            self.lists = [Type::from_kinds(Kinds::ARRAY); 2];
        }
        let bindings = if let Args::Bindings = rule.args { self.bindings(call) } else { Type::ANY };
        for (at, arg) in call.args.iter().enumerate() {
            let (arg_input, is_always_evaluated) = self.argument_input(rule, at, data);
            self.is_always_run = outer && is_always_evaluated;
            args.push(match (rule.args, arg) {
                (Args::Walk, Plan::Object(options)) if at + 1 == call.args.len() => self.options(options, data),
                (Args::Bindings, arg) if at > 0 => self.eval(arg, bindings),
                _ => self.eval(arg, arg_input),
            });
            // `and` ends at the first condition that is not true.
            data = if call.function.standard_name() == Some("and") { self.narrow(arg, data) } else { data };
        }
        (self.is_always_run, self.lists) = (outer, lists);
        args
    }

    /// Checks the options of a traversal: each is evaluated on nodes, on edges, or on neither.
    fn options(&mut self, options: &'p Fields, input: Type) -> Type {
        self.is_always_run = false;
        for (name, value) in options.names.iter().zip(&options.values) {
            let [node, edge] = self.lists.map(|list| self.types.items(list));
            let option_input = match &**name {
                "until" | "avoid" | "nodes" | "barriers" | "cut" => node,
                "edges" | "weight" => edge,
                _ => input,
            };
            self.eval(value, option_input);
        }
        Type::from_kinds(Kinds::OBJECT)
    }

    /// Returns the input of an argument, and true if the argument is always evaluated.
    fn argument_input(&self, rule: &Rule, at: usize, input: Type) -> (Type, bool) {
        match rule.args {
            Args::Input => (input, true),
            Args::ShortCircuit => (input, at == 0),
            Args::Conditional => (input, false),
            Args::Items if at > 0 => (input, true),
            // A rejected input has no items.
            Args::Items if input.kinds.and(rule.accepts).is_only(Kinds::ARRAY) => (self.types.items(input), false),
            Args::Nodes => (self.types.items(self.lists[0]), false),
            Args::Edges => (self.types.items(self.lists[1]), false),
            Args::Walk => (input, true),
            Args::Bindings => (input, at == 0),
            Args::Items | Args::Unknown | Args::OtherGraph => (Type::ANY, false),
        }
    }

    /// Narrows a value to those for which a condition is true, as far as that is known: `.node_type == "x"`.
    fn narrow(&self, condition: &'p Plan, value: Type) -> Type {
        let Plan::Call(call) = condition else { return value };
        match (call.function.standard_name(), &*call.args) {
            (Some("and"), parts) => parts.iter().fold(value, |value, part| self.narrow(part, value)),
            (Some("eq"), [Plan::Get(path), Plan::Constant(Constant::Text(text))])
            | (Some("eq"), [Plan::Constant(Constant::Text(text)), Plan::Get(path)]) => match &*path.keys {
                [key] => self.types.narrowed(value, &key.name, text),
                _ => value,
            },
            _ => value,
        }
    }

    fn result(&mut self, rule: &Rule, call: &'p Call, input: Type, args: &[Type]) -> Type {
        match rule.result {
            ResultRule::Kinds(_) if is_single_condition(call) => {
                args.first().copied().unwrap_or(Type::from_kinds(Kinds::NULL))
            }
            ResultRule::Kinds(kinds) => Type::from_kinds(kinds),
            ResultRule::Strings => self.types.list_of(Type::from_kinds(Kinds::STRING)),
            ResultRule::SameItems if input.kinds.and(rule.accepts).is_only(Kinds::ARRAY) => self.filtered(call, input),
            ResultRule::SameItems => Type::from_kinds(input.kinds.and(ARRAY_OR_STRING) | Kinds::ARRAY),
            ResultRule::Item if input.kinds.is_only(Kinds::ARRAY) => self.types.items(input).with(Kinds::NULL),
            ResultRule::ListOfArg => {
                self.types.list_of(args.first().copied().unwrap_or(Type::from_kinds(Kinds::UNDEFINED)))
            }
            ResultRule::SecondArg => args.get(1).copied().unwrap_or(Type::ANY),
            ResultRule::Branch => self.branches(args),
            ResultRule::Nodes => self.filtered(call, self.lists[0]),
            ResultRule::Edges => self.filtered(call, self.lists[1]),
            ResultRule::Node => {
                let node = self.types.items(self.lists[0]);
                args.get(1).map_or(node, |default| self.types.join(node, *default))
            }
            ResultRule::Listed => self.listed_result_type(call, input),
            ResultRule::Item => Type::ANY,
        }
    }

    fn filtered(&mut self, call: &'p Call, list: Type) -> Type {
        let list = list.only(Kinds::ARRAY);
        let (Some("filter" | "nodes" | "edges"), Some(condition)) = (call.function.standard_name(), call.args.first())
        else {
            return list;
        };
        let items = self.types.items(list);
        let narrowed = self.narrow(condition, items);
        if narrowed == items { list } else { self.types.list_of(narrowed) }
    }

    fn branches(&mut self, args: &[Type]) -> Type {
        let branch = |at: usize| args.get(at).copied().unwrap_or(Type::from_kinds(Kinds::UNDEFINED));
        self.types.join(branch(1), branch(2))
    }

    // Warnings and errors.

    fn warn(&mut self, code: &'static str, message: String, span: Span, help: Option<String>) {
        let warning = Warning::new(code, message).with_span(span);
        self.push(help.into_iter().fold(warning, Warning::with_help));
    }

    fn push(&mut self, warning: Warning) {
        if self.findings.warnings.len() < MAX_WARNINGS {
            self.findings.warnings.push(warning);
        }
    }

    /// Reports the first call that fails.
    fn report_failure(&mut self, call: &Call, input: Type) {
        if self.is_always_run && self.findings.error.is_none() {
            self.findings.error = Some(failure(call, input.kinds));
        }
    }

    fn check_call(&mut self, call: &'p Call, input: Type, args: &[Type]) {
        match (call.function.standard_name().unwrap_or_default(), args) {
            ("filter" | "nodes" | "edges", [condition]) => self.check_filter(call, *condition),
            ("and" | "or", [_, _, ..]) => self.check_conditions(call),
            (name, [_, key, ..]) if SECOND_KEY_FUNCTIONS.contains(&name) => {
                self.check_key(call, name, 1);
                self.check_key_kinds(call, name, *key);
                self.check_join_key(call, name, *key);
            }
            (name, [key, ..]) if KEY_FUNCTIONS.contains(&name) => {
                self.check_key(call, name, 0);
                self.check_key_kinds(call, name, *key);
            }
            ("size", []) => self.check_size(call, input),
            ("pick", [_, _, ..]) => self.check_picked_names(call),
            ("sum" | "average", []) => self.check_aggregate(call, input, Kinds::STRING | Kinds::CONTAINERS),
            ("prod" | "min" | "max", []) => self.check_aggregate(call, input, Kinds::OBJECT),
            ("in", [value, list]) => self.check_membership(call, *value, *list),
            (name, [a, b]) if ARITHMETIC.contains(&name) => self.check_arithmetic(call, a.kinds, b.kinds),
            (name, [a, b]) if COMPARISONS.contains(&name) => self.check_comparison(call, name, *a, *b),
            _ => {}
        }
    }

    /// PQW01: no object that the path reaches has the field.
    fn check_field(&mut self, key: &Key, holder: Type) {
        let is_absent = holder.kinds.intersects(Kinds::OBJECT) && self.types.lacks(holder, &key.name);
        if !is_absent {
            return;
        }
        let is_reported =
            self.findings.warnings.iter().any(|warning| warning.code == "PQW01" && warning.names_field(&key.name));
        if is_reported || prototype::is_object_property(&key.name) {
            return;
        }
        let similar = match self.search.is_exhausted() || is_index(&key.name) {
            true => Vec::new(),
            false => self.search.nearest(&key.name, self.types.keys(holder).into_iter()),
        };
        let help = match similar.first() {
            None if is_index(&key.name) => Some(decimal_help(&key.name)),
            Some(similar) => Some(format!("did you mean `.{similar}`?")),
            None => self.other_fields(&key.name, holder).map(|fields| format!("did you mean {fields}?")),
        };
        self.warn("PQW01", format!("no object here has a field `{}`", key.name), key.span, help);
    }

    /// Returns the paths one level down that end in a field, such as `.node.tag` of a row, or the fields whose names
    /// contain its name, such as `.node_classification` for `.class`.
    fn other_fields(&mut self, name: &str, holder: Type) -> Option<String> {
        let below = self.types.fields_below(holder, name);
        let names = match below.is_empty() && !self.search.is_exhausted() {
            true => self.search.containing(name, self.types.keys(holder).into_iter()),
            false => Vec::new(),
        };
        let paths = below.into_iter().chain(names.into_iter().map(str::to_owned)).map(|path| format!("`.{path}`"));
        let paths: Vec<String> = paths.collect();
        (!paths.is_empty()).then(|| suggest::alternatives(&paths))
    }

    /// PQW07.
    fn warn_field_of_array(&mut self, key: &Key, list: Type) {
        // JavaScript's properties of arrays are an error at run time, with a better message.
        if key.index.is_some() || prototype::is_array_property(&key.name) {
            return;
        }
        let name = &key.name;
        let warning = match self.has_attribute_items(list) {
            true => field_of_array(name)
                .with_help(format!("to read an item of `attributes`, use `attr(\"{name}\")` on the object")),
            false => field_of_array(name),
        };
        self.push(warning.with_span(key.span));
    }

    /// Returns true if the items of an array are `{name, value}`.
    fn has_attribute_items(&self, list: Type) -> bool {
        let keys = self.types.keys(self.types.items(list));
        ["name", "value"].iter().all(|key| keys.contains(key))
    }

    /// PQW06: only if it is true for every document, since a field that all items have now may be missing later.
    fn check_filter(&mut self, call: &'p Call, condition: Type) {
        if self.types.guide.is_some() {
            return;
        }
        let Some(plan) = call.args.first() else { return };
        let is_never_false = condition.kinds.is_only(Kinds::STRING | Kinds::CONTAINERS);
        let kept_items = match self.constant_result(plan) {
            None if is_never_false => "all items: the condition is never false",
            None if condition.kinds.is_only(Kinds::NULL) && !self.is_reported_missing(plan) => {
                "no item: the condition is always null"
            }
            Some(true) => "all items: the condition is constant",
            Some(false) if matches!(plan, Plan::Constant(_)) => "no item: the condition is constant",
            _ => return,
        };
        let name = call.function.row().name();
        let help = match plan {
            Plan::Constant(constant) if name == "nodes" && constant.value().as_str().is_some() => {
                Some("`node(…)` finds a node by id or tag".to_owned())
            }
            _ => is_never_false.then(|| format!("compare it with something, as in `{name}(.a == 1)`")),
        };
        self.warn("PQW06", format!("`{name}` keeps {kept_items}"), call.span, help);
    }

    /// Returns true if a field of a path is already reported as missing.
    fn is_reported_missing(&self, plan: &Plan) -> bool {
        let Plan::Get(path) = plan else { return false };
        let is_missing = |key: &Key| self.findings.warnings.iter().any(|warning| warning.span == Some(key.span));
        path.keys.iter().any(is_missing)
    }

    /// PQW06: `.a == "x" or "y"`, where the text is a condition of its own.
    fn check_conditions(&mut self, call: &'p Call) {
        let is_text = |constant: &Constant| matches!(constant, Constant::Text(_) | Constant::Number(_));
        let constant = call.args.iter().find_map(|plan| match plan {
            Plan::Constant(constant) if is_text(constant) => Some(constant),
            _ => None,
        });
        let Some(constant) = constant.filter(|_| self.types.guide.is_none()) else { return };
        let (name, shown) = (call.function.row().name(), write::to_string(constant.value()));
        let is_true = constant.value().is_truthy_in_javascript();
        let message = format!("a condition of `{name}` is the constant {shown}, which is always {is_true}");
        let compared = call.args.iter().find_map(compared_constant);
        let help = match compared {
            Some((field, first)) if name == "or" => format!("compare with each value: `{field} in [{first}, {shown}]`"),
            _ => format!("compare it with something, as in `.a == {shown}`"),
        };
        self.warn("PQW06", message, call.span, Some(help));
    }

    /// PQW13: a string in place of a field. All items have the same key then.
    fn check_key(&mut self, call: &'p Call, name: &str, at: usize) {
        let Some(Plan::Constant(constant)) = call.args.get(at) else { return };
        let Some(text) = constant.value().as_str() else { return };
        let help = match text {
            "asc" | "desc" if at == 0 => format!("the direction is the second argument: `{name}(get(), \"{text}\")`"),
            field if field.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => format!("a field is `.{field}`"),
            _ => "a field is read by its path, as in `.tag`".into(),
        };
        self.warn("PQW13", format!("`{name}` has the same key for all items"), call.span, Some(help));
    }

    /// PQW13: a key that is a list or an object has no order, and an object as the key of a group is no text of its own.
    fn check_key_kinds(&mut self, call: &'p Call, name: &str, key: Type) {
        let is_order = ORDER_FUNCTIONS.contains(&name);
        let (message, help) = match () {
            () if is_order && key.kinds.is_only(Kinds::ARRAY) => (
                format!("`{name}` does not compare lists: all keys are equal"),
                "several keys are given to `sortBy`, as in `sortBy([.a, .b])`",
            ),
            () if is_order && key.kinds.is_only(Kinds::OBJECT) => (
                format!("`{name}` does not compare objects: all keys are equal"),
                "compare a field of them, as in `.a.b`",
            ),
            () if GROUP_FUNCTIONS.contains(&name) && key.kinds.is_only(Kinds::OBJECT) => (
                format!("`{name}` has the same key for all items, since the text of every object is the same"),
                "use a field as the key, as in `.a.b`, or several, as in `[.a, .b]`",
            ),
            () => return,
        };
        self.warn("PQW13", message, call.span, Some(help.into()));
    }

    /// PQW13: `leftJoin($b, .no == .id)`, where the result of the condition is the key of both sides.
    fn check_join_key(&mut self, call: &'p Call, name: &str, key: Type) {
        let is_condition = matches!(call.args.get(1), Some(Plan::Call(_))) && key.kinds == Kinds::BOOL;
        if name != "top" && is_condition {
            let message = format!("the key of `{name}` is a condition: all items with the same result are joined");
            let help = format!("write the key of each side: `{name}(.b, .left_id, .right_id)`");
            self.warn("PQW13", message, call.span, Some(help));
        }
    }

    /// PQW22: the size of an object, a number or a Boolean.
    fn check_size(&mut self, call: &Call, input: Type) {
        let help = match input.kinds {
            Kinds::OBJECT => "its number of properties is `keys() | size()`",
            Kinds::NUMBER | Kinds::BOOL => {
                "`|` has the lowest precedence: in a calculation, write parentheses, as in `.a / (.b | size())`"
            }
            _ => return,
        };
        self.warn("PQW22", format!("`size` of {} is null", input.kinds), call.span, Some(help.into()));
    }

    /// PQW23: of two paths such as `.a.id` and `.b.id`, the second one takes the place of the first.
    fn check_picked_names(&mut self, call: &'p Call) {
        let last_name = |plan: &'p Plan| match plan {
            Plan::Get(path) => path.keys.last().map(|key| &key.name),
            _ => None,
        };
        let names: Vec<_> = call.args.iter().filter_map(last_name).collect();
        let twice = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name));
        if let Some((_, name)) = twice {
            let message = format!("`pick` takes two properties with the name `{name}`, and keeps the last one");
            let help = "name them in an object, as in `{a: .a.id, b: .b.id}`".to_owned();
            self.warn("PQW23", message, call.span, Some(help));
        }
    }

    /// Returns the value of a condition without fields.
    fn constant_result(&self, plan: &'p Plan) -> Option<bool> {
        match plan {
            Plan::Constant(constant) => Some(constant.value().is_truthy()),
            Plan::Call(call) => match (call.function.standard_name()?, &*call.args) {
                (name, [Plan::Constant(a), Plan::Constant(b)]) => compare_constants(name, a, b),
                _ => None,
            },
            _ => None,
        }
    }

    /// PQW05.
    fn check_aggregate(&mut self, call: &Call, input: Type, invalid: Kinds) {
        let items = self.types.items(input).kinds;
        if !input.kinds.is_only(Kinds::ARRAY) || !items.intersects(invalid) || !items.is_only(invalid | Kinds::MISSING)
        {
            return;
        }
        let name = call.function.row().name();
        let help = if items.intersects(Kinds::OBJECT) {
            format!("take a field first: `map(.a) | {name}()`")
        } else {
            format!("convert to numbers first: `map(number(.)) | {name}()`")
        };
        self.warn(
            "PQW05",
            format!("`{name}` of an array without numbers: each item is {items}"),
            call.span,
            Some(help),
        );
    }

    /// PQW21: arithmetic with arrays or objects. In jq, some operators work on them; here, on their texts or on no number.
    fn check_arithmetic(&mut self, call: &Call, a: Kinds, b: Kinds) {
        // An item at an index may be missing.
        let is_one = |found: Kinds, kinds: Kinds| found.intersects(kinds) && found.is_only(kinds | Kinds::MISSING);
        let are_both = |kinds: Kinds| is_one(a, kinds) && is_one(b, kinds);
        let is_either = |kinds: Kinds| is_one(a, kinds) || is_one(b, kinds);
        let name = call.function.row().name();
        let (message, help) = match name {
            "add" if are_both(Kinds::ARRAY) => ARRAYS_JOINED,
            "add" if are_both(Kinds::OBJECT) => OBJECTS_JOINED,
            "subtract" if are_both(Kinds::ARRAY) => (
                "`-` subtracts numbers, not arrays",
                "the items that another array lacks are `let({b: .b}, .a | filter(get() not in $b))`",
            ),
            "multiply" if are_both(Kinds::OBJECT) => {
                ("`*` multiplies numbers, not objects", "the properties of both, at any depth, are `mergeDeep(.a, .b)`")
            }
            "add" if is_either(Kinds::OBJECT) => (OBJECT_JOINED, JOINED_HELP),
            "add" if is_either(Kinds::ARRAY) && is_either(Kinds::NUMBER) => (ARRAY_JOINED, JOINED_HELP),
            _ if name != "add" && is_either(Kinds::OBJECT) => {
                ("an object is no number: the result is null", "take a number of it, as in `.a.b`")
            }
            _ => return,
        };
        self.warn("PQW21", message.into(), call.span, Some(help.into()));
    }

    // PQW02.

    fn check_comparison(&mut self, call: &'p Call, name: &str, a: Type, b: Type) {
        if let (Some(left), Some(right)) = (self.types.as_constant(a), self.types.as_constant(b)) {
            if compare_constants(name, left, right) == Some(false) {
                self.warn_never_true(call, "both sides are constant".into(), None);
            }
            return;
        }
        if name == "ne" || a.kinds == Kinds::NONE || b.kinds == Kinds::NONE || is_null_test(a, b) {
            return;
        }
        if !can_be_true(name, a.kinds, b.kinds) {
            let help = self.quotes_hint(name, a, b).or_else(|| self.quotes_hint(name, b, a));
            let help = help.or_else(|| parameter_hint(call, a, b));
            self.warn_never_true(call, format!("{} is compared with {}", a.kinds, b.kinds), help);
        } else if name == "eq" {
            self.warn_unknown_string(call, a, b);
            self.warn_unknown_string(call, b, a);
        }
    }

    fn check_membership(&mut self, call: &'p Call, value: Type, list: Type) {
        if list.kinds != Kinds::NONE && !list.kinds.intersects(Kinds::ARRAY) {
            return self.report_not_an_array(call, list);
        }
        let items = self.types.items(list);
        if value.kinds == Kinds::NONE || items.kinds == Kinds::NONE || is_null_test(value, items) {
            return;
        }
        if !can_be_true("eq", value.kinds, items.kinds) {
            self.warn_never_true(
                call,
                format!("{} is searched in an array where each item is {}", value.kinds, items.kinds),
                None,
            );
        }
    }

    fn report_not_an_array(&mut self, call: &Call, list: Type) {
        if self.is_always_run && self.findings.error.is_none() {
            let message = format!("Array expected on the right of `in`, not {}", list.kinds);
            self.findings.error = Some(Error::new(Code::ListExpected, message).with_span(call.span));
        }
    }

    fn warn_never_true(&mut self, call: &Call, reason: String, help: Option<String>) {
        let scope_note = if self.types.guide.is_some() { " in this document" } else { "" };
        self.warn("PQW02", format!("this is never true{scope_note}: {reason}"), call.span, help);
    }

    /// Returns the help for a constant that has the right type with quotes, or without. Texts are ordered letter by letter:
    /// "100" is before "80".
    fn quotes_hint(&self, comparison: &str, constant: Type, other: Type) -> Option<String> {
        match self.types.as_constant(constant)? {
            Constant::Text(text) if other.kinds.intersects(Kinds::NUMBER) => {
                let number: f64 = text.trim().parse().ok()?;
                number.is_finite().then(|| format!("a number has no quotes: `{}`", text.trim()))
            }
            Constant::Number(number) if other.kinds.intersects(Kinds::STRING) => Some(match comparison {
                "eq" => format!("a string has quotes: `\"{number}\"`"),
                _ => format!(
                    "convert the text, as in `toNumber(.a) > {number}`; in order of texts, \"100\" is before \"80\""
                ),
            }),
            _ => None,
        }
    }

    /// Warns of a string that is similar, but not equal, to one of the few values of a field.
    fn warn_unknown_string(&mut self, call: &'p Call, constant: Type, field: Type) {
        let Some(Constant::Text(text)) = self.types.as_constant(constant) else { return };
        if !matches!(&*call.args, [Plan::Get(_), Plan::Constant(_)] | [Plan::Constant(_), Plan::Get(_)]) {
            return;
        }
        let strings =
            self.types.guide.as_ref().zip(field.guide_node()).and_then(|(guide, node)| guide.enumerated_strings(node));
        let Some(strings) = strings.map(|strings| strings.collect::<Vec<&str>>()) else { return };
        if strings.contains(&&**text) {
            return;
        }
        let similar = self.search.nearest(text, strings.into_iter());
        let Some(help) = similar.first().map(|similar| format!("did you mean \"{similar}\"?")) else { return };
        self.warn_never_true(call, format!("the field never has the value \"{text}\""), Some(help));
    }
}

/// Functions whose first argument is a key.
const KEY_FUNCTIONS: &[&str] = &["sort", "groupBy", "keyBy", "uniqBy", "countBy", "minBy", "maxBy", "sumBy", "avgBy"];

/// Functions whose second argument is a key.
const SECOND_KEY_FUNCTIONS: &[&str] = &["top", "innerJoin", "leftJoin", "semiJoin", "antiJoin"];

const ARITHMETIC: &[&str] = &["add", "subtract", "multiply", "divide", "mod", "pow"];

/// Functions that compare keys.
const ORDER_FUNCTIONS: &[&str] = &["sort", "minBy", "maxBy", "top"];

/// Functions whose keys are texts.
const GROUP_FUNCTIONS: &[&str] = &["groupBy", "keyBy", "uniqBy", "countBy"];

const COMPARISONS: &[&str] = &["eq", "ne", "gt", "gte", "lt", "lte"];

/// Returns true if a key may also be the index of an item.
pub(crate) fn is_index(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the help for an index that nothing has: `.5` may be meant as a number.
pub(crate) fn decimal_help(index: &str) -> String {
    format!("a decimal number begins with a digit: `0.{index}`; `.{index}` is an item")
}

/// PQW07, without its span.
pub(crate) fn field_of_array(name: &str) -> Warning {
    let help = format!("for every item of the array, write `map(.{name})`; for the first one, `.0.{name}`");
    Warning::new("PQW07", format!("an array has no field `{name}`: the result is null")).with_help(help)
}

fn rule(call: &Call) -> &'static Rule {
    let rule = call.function.standard_name().and_then(|name| RULES.iter().find(|rule| rule.names.contains(&name)));
    match (rule, &call.function.row().body) {
        (Some(rule), _) => rule,
        (None, Body::Piped(_) | Body::Folded(..) | Body::Counted(..)) => &PIPED,
        // It evaluates its arguments on values of its choice.
        (None, Body::Custom(function)) if matches!(function.body, CustomBody::Lazy(_)) => &PIPED,
        (None, _) => &STRICT,
    }
}

/// Returns the help for a text parameter that is compared with a number: `--arg` of the command passes texts.
fn parameter_hint(call: &Call, a: Type, b: Type) -> Option<String> {
    let is_text = |plan: &Plan| matches!(plan, Plan::Parameter(parameter) if parameter.type_name == Some("string"));
    let is_number = a.kinds.intersects(Kinds::NUMBER) || b.kinds.intersects(Kinds::NUMBER);
    (is_number && call.args.iter().any(is_text))
        .then(|| "the parameter is a text: `toNumber($n)` converts it, and `--argjson n 2` passes a number".into())
}

/// Returns the field and the constant, as a query, of a condition such as `.a == "x"`.
fn compared_constant(condition: &Plan) -> Option<(String, String)> {
    let Plan::Call(call) = condition else { return None };
    match (call.function.standard_name(), &*call.args) {
        (Some("eq"), [Plan::Get(path), Plan::Constant(constant)]) => {
            let steps = path.keys.iter().map(|key| path_step(&key.name));
            Some((steps.collect(), write::to_string(constant.value())))
        }
        _ => None,
    }
}

/// Returns true for `and` and `or` with fewer than two conditions, which return their argument.
fn is_single_condition(call: &Call) -> bool {
    matches!(call.function.standard_name(), Some("and" | "or")) && call.args.len() < 2
}

/// `get()` returns null for a missing value.
fn defined(value: Type) -> Type {
    if value.kinds.intersects(Kinds::UNDEFINED) { value.with(Kinds::NULL) } else { value }
}

/// Returns true if one side can only be null: such a test is never a mistake.
fn is_null_test(a: Type, b: Type) -> bool {
    a.kinds.is_only(Kinds::MISSING) || b.kinds.is_only(Kinds::MISSING)
}

/// Returns true if a comparison can be true for values of these kinds.
fn can_be_true(name: &str, a: Kinds, b: Kinds) -> bool {
    let same = a.and(b);
    match name {
        "gt" | "lt" => same.intersects(Kinds::ORDERED),
        // An array may equal an object.
        _ => same != Kinds::NONE || (a.intersects(Kinds::CONTAINERS) && b.intersects(Kinds::CONTAINERS)),
    }
}

/// Returns the result of a comparison of two constants.
fn compare_constants(name: &str, a: &Constant, b: &Constant) -> Option<bool> {
    let (a, b) = (a.value(), b.value());
    let order = compare::partial_order(a, b);
    let is_equal = compare::is_equal(a, b, |_| Ok(())).ok()?;
    Some(match name {
        "eq" => is_equal,
        "ne" => !is_equal,
        "gt" => order.is_some_and(std::cmp::Ordering::is_gt),
        "lt" => order.is_some_and(std::cmp::Ordering::is_lt),
        "gte" => is_equal || order.is_some_and(std::cmp::Ordering::is_gt),
        "lte" => is_equal || order.is_some_and(std::cmp::Ordering::is_lt),
        _ => return None,
    })
}

/// Returns the error of a call that fails for every value.
fn failure(call: &Call, found: Kinds) -> Error {
    let takes_objects = rule(call).accepts.intersects(Kinds::OBJECT);
    let (code, message) = match call.function.row().name() {
        "size" => (Code::ArrayExpected, "Array expected".to_owned()),
        _ if takes_objects => (Code::ObjectExpected, format!("Object expected, not {found}")),
        _ => (Code::ArrayExpected, "Array expected".to_owned()),
    };
    let error = Error::new(code, message).with_span(call.span).with_label(format!("always gets {found}"));
    match found.is_only(Kinds::OBJECT) {
        true => error
            .with_help("the values of an object are `values()`; with their keys, `entries()`; `pickBy()` keeps some"),
        false => error,
    }
}
