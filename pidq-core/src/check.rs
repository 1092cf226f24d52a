//! What can be told of a query before it runs: comparisons that never hold, filters that do not filter, and calls that
//! no value makes work.
//!
//! Types are pushed through the plan. Without a document the input may be anything; with one its `Guide` says what it
//! is. Whatever is not certain is not said: a warning that is wrong is worse than none.

mod guide;
mod shapes;
mod types;

use crate::error::{Code, Error, Span, Warning};
use crate::eval::function::Body;
use crate::eval::plan::{Call, Constant, Fields, Key, Path, Plan, Stage};
use crate::graph::Graph;
use crate::limits::Limits;
use crate::suggest::Search;
use crate::value::{compare, prototype};

use guide::Guide;
use types::{Kinds, Type, Types};

/// Warnings of one check: nobody reads more.
const MAX_WARNINGS: usize = 100;

/// What a check finds.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub warnings: Vec<Warning>,
    /// A call that fails whatever the document is.
    pub error: Option<Error>,
}

/// Checks a plan for any document.
pub(crate) fn check(plan: &Plan) -> Findings {
    run(plan, None)
}

/// Checks a plan for a document. Nothing if looking through the document takes more than the limits allow.
pub(crate) fn check_against(plan: &Plan, document: &Graph, limits: &Limits<'_>) -> Option<Findings> {
    Some(run(plan, Some(Guide::of(document, limits)?)))
}

fn run<'p>(plan: &'p Plan, guide: Option<Guide<'p>>) -> Findings {
    let types = Types::new(guide);
    let (root, lists) = (types.root(), types.lists());
    let (scope, findings, search) = (Vec::new(), Findings::default(), Search::new());
    let mut checker = Checker { types, root, lists, scope, is_certain: true, findings, search };
    checker.eval(plan, root);
    checker.findings
}

struct Checker<'p> {
    types: Types<'p>,
    root: Type,
    /// The lists of nodes and of edges of the graph that functions ask.
    lists: [Type; 2],
    /// The types of the bindings around, outermost first.
    scope: Vec<Type>,
    /// Whether what is looked at runs whenever the query does.
    is_certain: bool,
    findings: Findings,
    /// What looks for the names that may be meant.
    search: Search,
}

/// What a function does, as far as a check needs it.
struct Rule {
    names: &'static [&'static str],
    /// The kinds of input that it does not refuse.
    takes: Kinds,
    args: Args,
    gives: Gives,
}

/// What the arguments of a function are evaluated on.
#[derive(Clone, Copy)]
enum Args {
    /// On the current data, all of them.
    Input,
    /// On the current data, the first one always, the others perhaps.
    FirstOfInput,
    /// On the current data, perhaps.
    PerhapsInput,
    /// On the items of the current data; those after the first are on the current data.
    Items,
    /// On the nodes of the graph, or on its edges.
    Nodes,
    Edges,
    /// On the current data; options on nodes or on edges.
    Walk,
    /// The first one on the current data, the second one on what the pattern names.
    Bindings,
    /// On something else.
    Unknown,
    /// On something else, and functions ask another graph.
    OtherGraph,
}

/// What a function gives.
#[derive(Clone, Copy)]
enum Gives {
    Kinds(Kinds),
    Texts,
    /// Some of the items, in some order.
    SameItems,
    /// One of the items, or null.
    Item,
    /// A list of what its argument gives.
    ListOfArg,
    /// What its second argument gives.
    SecondArg,
    /// What one of its branches gives.
    Branch,
    /// Some nodes of the graph, or some of its edges.
    Nodes,
    Edges,
    /// A node of the graph, or its default.
    Node,
    /// What the table of shapes knows, or anything.
    Shape,
}

const PIPED: Rule = Rule { names: &[], takes: Kinds::ANY, args: Args::Unknown, gives: Gives::Shape };
const STRICT: Rule = Rule { args: Args::Input, ..PIPED };
const LIST_OR_TEXT: Kinds = Kinds::LIST.or(Kinds::TEXT);
const PRESENT: Kinds = Kinds::ANY.without(Kinds::MISSING);

const RULES: &[Rule] = &[
    Rule { names: &["filter"], takes: Kinds::LIST, args: Args::Items, gives: Gives::SameItems },
    Rule { names: &["sort"], takes: Kinds::LIST, args: Args::Items, gives: Gives::SameItems },
    Rule { names: &["reverse"], takes: Kinds::LIST, gives: Gives::SameItems, ..PIPED },
    Rule { names: &["uniq", "limit"], takes: LIST_OR_TEXT, gives: Gives::SameItems, ..PIPED },
    Rule { names: &["uniqBy"], takes: LIST_OR_TEXT, args: Args::Items, gives: Gives::SameItems },
    Rule { names: &["map"], takes: Kinds::LIST, args: Args::Items, gives: Gives::ListOfArg },
    Rule { names: &["flatten"], takes: Kinds::LIST, gives: Gives::Kinds(Kinds::LIST), ..PIPED },
    Rule { names: &["groupBy", "keyBy"], takes: LIST_OR_TEXT, args: Args::Items, gives: Gives::Kinds(Kinds::OBJECT) },
    Rule { names: &["size"], takes: PRESENT, ..PIPED },
    Rule { names: &["keys"], takes: PRESENT, gives: Gives::Texts, ..PIPED },
    Rule { names: &["values"], takes: PRESENT, gives: Gives::Kinds(Kinds::LIST), ..PIPED },
    Rule { names: &["mapKeys", "mapValues", "mapObject"], takes: PRESENT, gives: Gives::Kinds(Kinds::OBJECT), ..PIPED },
    Rule { names: &["sum", "prod", "min", "max", "average"], takes: Kinds::LIST, ..PIPED },
    Rule { names: &["join"], takes: Kinds::LIST, gives: Gives::Kinds(Kinds::TEXT), ..PIPED },
    Rule { names: &["and", "or"], args: Args::FirstOfInput, gives: Gives::Kinds(Kinds::BOOL), ..STRICT },
    Rule { names: &["if"], args: Args::FirstOfInput, gives: Gives::Branch, ..STRICT },
    Rule { names: &["tryOr", "coalesce"], args: Args::PerhapsInput, ..STRICT },
    Rule {
        names: &["eq", "ne", "gt", "gte", "lt", "lte", "in", "not in", "not"],
        gives: Gives::Kinds(Kinds::BOOL),
        ..STRICT
    },
    Rule { names: &["exists"], gives: Gives::Kinds(Kinds::BOOL), ..PIPED },
    Rule { names: &["regex"], args: Args::Input, gives: Gives::Kinds(Kinds::BOOL), ..PIPED },
    Rule { names: &["match"], args: Args::Input, gives: Gives::Kinds(Kinds::OBJECT.or(Kinds::NULL)), ..PIPED },
    Rule { names: &["matchAll"], args: Args::Input, gives: Gives::Kinds(Kinds::LIST), ..PIPED },
    Rule {
        names: &["subtract", "multiply", "divide", "mod", "pow", "abs", "round"],
        gives: Gives::Kinds(Kinds::NUMBER),
        ..STRICT
    },
    Rule { names: &["add"], gives: Gives::Kinds(Kinds::NUMBER.or(Kinds::TEXT)), ..STRICT },
    Rule { names: &["number", "toNumber"], gives: Gives::Kinds(Kinds::NUMBER.or(Kinds::NULL)), ..STRICT },
    Rule { names: &["string", "typeOf"], gives: Gives::Kinds(Kinds::TEXT), ..STRICT },
    Rule { names: &["split"], gives: Gives::Texts, ..STRICT },
    Rule { names: &["lower", "upper", "trim"], gives: Gives::Kinds(Kinds::TEXT.or(Kinds::NULL)), ..STRICT },
    Rule { names: &["any", "all"], args: Args::Items, gives: Gives::Kinds(Kinds::BOOL), ..PIPED },
    Rule { names: &["count"], args: Args::Items, gives: Gives::Kinds(Kinds::NUMBER), ..PIPED },
    Rule { names: &["first", "last", "minBy", "maxBy"], args: Args::Items, gives: Gives::Item, ..PIPED },
    Rule { names: &["nodes"], args: Args::Nodes, gives: Gives::Nodes, ..PIPED },
    Rule { names: &["edges"], args: Args::Edges, gives: Gives::Edges, ..PIPED },
    Rule { names: &["node"], args: Args::FirstOfInput, gives: Gives::Node, ..PIPED },
    Rule { names: &["neighbors"], args: Args::Edges, gives: Gives::Nodes, ..PIPED },
    Rule { names: &["outgoing", "incoming", "incident"], args: Args::Edges, gives: Gives::Edges, ..PIPED },
    Rule { names: &["degree"], args: Args::Edges, gives: Gives::Kinds(Kinds::NUMBER), ..PIPED },
    Rule {
        names: &["downstream", "upstream", "connected", "between", "expand", "run"],
        args: Args::Walk,
        gives: Gives::Nodes,
        ..PIPED
    },
    Rule { names: &["reachable"], args: Args::Walk, gives: Gives::Kinds(Kinds::BOOL), ..PIPED },
    Rule { names: &["trace", "paths", "cycles", "components", "shortestPath", "isolate"], args: Args::Walk, ..PIPED },
    Rule { names: &["findPattern"], args: Args::Bindings, ..PIPED },
    Rule { names: &["withGraph", "withTopology"], args: Args::OtherGraph, gives: Gives::SecondArg, ..PIPED },
    Rule { names: &["sumBy", "avgBy", "countBy", "flatMap"], args: Args::Items, ..PIPED },
];

impl<'p> Checker<'p> {
    /// The type of what a part of the query gives. Recursive, so what it needs is in functions of its own.
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
            Plan::Parameter(cell) => Type::of(guide::kinds_of(*cell)),
            Plan::Root => self.root,
            Plan::Pattern(_) => Type::ANY,
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
            if value.kinds.meets(Kinds::LIST) && value.kinds.is_only(Kinds::LIST | Kinds::MISSING) {
                self.warn_of_list(key, value);
            }
            self.look_for(key, value);
            value = self.types.property(value, key);
        }
        if path.keys.is_empty() { defined(value) } else { value }
    }

    fn call(&mut self, call: &'p Call, input: Type) -> Type {
        let rule = rule(call);
        let refused = input.kinds != Kinds::NONE && !input.kinds.meets(rule.takes);
        if refused {
            self.refuse(call, input);
            return Type::NONE;
        }
        let args = self.args(rule, call, input);
        self.look_at(call, input, &args);
        self.result(rule, call, input, &args)
    }

    fn args(&mut self, rule: &Rule, call: &'p Call, input: Type) -> Vec<Type> {
        let (outer, lists) = (self.is_certain, self.lists);
        let mut args = Vec::with_capacity(call.args.len());
        let mut data = input;
        if matches!(rule.args, Args::OtherGraph) {
            self.lists = [Type::of(Kinds::LIST); 2];
        }
        let bindings = if let Args::Bindings = rule.args { self.bindings(call) } else { Type::ANY };
        for (at, arg) in call.args.iter().enumerate() {
            let (on, is_certain) = self.data_of(rule, at, data);
            self.is_certain = outer && is_certain;
            args.push(match (rule.args, arg) {
                (Args::Walk, Plan::Object(options)) if at + 1 == call.args.len() => self.options(options, data),
                (Args::Bindings, arg) if at > 0 => self.eval(arg, bindings),
                _ => self.eval(arg, on),
            });
            // `and` ends at the first condition that does not hold.
            data = if call.function.standard_name() == Some("and") { self.narrow(arg, data) } else { data };
        }
        (self.is_certain, self.lists) = (outer, lists);
        args
    }

    /// The options of a walk: each is asked of nodes or of edges, or of neither.
    fn options(&mut self, options: &'p Fields, input: Type) -> Type {
        self.is_certain = false;
        for (name, value) in options.names.iter().zip(&options.values) {
            let [node, edge] = self.lists.map(|list| self.types.items(list));
            let on = match &**name {
                "until" | "avoid" | "nodes" | "barriers" => node,
                "edges" | "weight" => edge,
                _ => input,
            };
            self.eval(value, on);
        }
        Type::of(Kinds::OBJECT)
    }

    /// What an argument is evaluated on, and whether it certainly is.
    fn data_of(&self, rule: &Rule, at: usize, input: Type) -> (Type, bool) {
        match rule.args {
            Args::Input => (input, true),
            Args::FirstOfInput => (input, at == 0),
            Args::PerhapsInput => (input, false),
            Args::Items if at > 0 => (input, true),
            // What a function refuses has no items.
            Args::Items if input.kinds.and(rule.takes).is_only(Kinds::LIST) => (self.types.items(input), false),
            Args::Nodes => (self.types.items(self.lists[0]), false),
            Args::Edges => (self.types.items(self.lists[1]), false),
            Args::Walk => (input, true),
            Args::Bindings => (input, at == 0),
            Args::Items | Args::Unknown | Args::OtherGraph => (Type::ANY, false),
        }
    }

    /// The values that a condition holds for, as far as that tells more about them: `.node_type == "x"`.
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
        match rule.gives {
            Gives::Kinds(_) if is_alone(call) => args.first().copied().unwrap_or(Type::of(Kinds::NULL)),
            Gives::Kinds(kinds) => Type::of(kinds),
            Gives::Texts => self.types.list_of(Type::of(Kinds::TEXT)),
            Gives::SameItems if input.kinds.and(rule.takes).is_only(Kinds::LIST) => self.kept(call, input),
            Gives::SameItems => Type::of(input.kinds.and(LIST_OR_TEXT) | Kinds::LIST),
            Gives::Item if input.kinds.is_only(Kinds::LIST) => self.types.items(input).with(Kinds::NULL),
            Gives::ListOfArg => self.types.list_of(args.first().copied().unwrap_or(Type::of(Kinds::UNDEFINED))),
            Gives::SecondArg => args.get(1).copied().unwrap_or(Type::ANY),
            Gives::Branch => self.branches(args),
            Gives::Nodes => self.kept(call, self.lists[0]),
            Gives::Edges => self.kept(call, self.lists[1]),
            Gives::Node => {
                let node = self.types.items(self.lists[0]);
                args.get(1).map_or(node, |default| self.types.join(node, *default))
            }
            Gives::Shape => self.shaped(call, input),
            Gives::Item => Type::ANY,
        }
    }

    fn kept(&mut self, call: &'p Call, list: Type) -> Type {
        let list = list.only(Kinds::LIST);
        let (Some("filter" | "nodes" | "edges"), Some(condition)) = (call.function.standard_name(), call.args.first())
        else {
            return list;
        };
        let items = self.types.items(list);
        let kept = self.narrow(condition, items);
        if kept == items { list } else { self.types.list_of(kept) }
    }

    fn branches(&mut self, args: &[Type]) -> Type {
        let branch = |at: usize| args.get(at).copied().unwrap_or(Type::of(Kinds::UNDEFINED));
        self.types.join(branch(1), branch(2))
    }

    // What is said.

    fn warn(&mut self, code: &'static str, message: String, span: Span, help: Option<String>) {
        let warning = Warning::new(code, message).with_span(span);
        self.push(help.into_iter().fold(warning, Warning::with_help));
    }

    fn push(&mut self, warning: Warning) {
        if self.findings.warnings.len() < MAX_WARNINGS {
            self.findings.warnings.push(warning);
        }
    }

    /// The first call that fails is the one that is told.
    fn refuse(&mut self, call: &Call, input: Type) {
        if self.is_certain && self.findings.error.is_none() {
            self.findings.error = Some(refusal(call, input.kinds));
        }
    }

    fn look_at(&mut self, call: &'p Call, input: Type, args: &[Type]) {
        match (call.function.standard_name().unwrap_or_default(), args) {
            ("filter" | "nodes" | "edges", [condition]) => self.filter(call, *condition),
            (name, [_, ..]) if KEYED.contains(&name) => self.key(call, name),
            ("sum" | "average", []) => self.aggregate(call, input, Kinds::TEXT | Kinds::CONTAINERS),
            ("prod" | "min" | "max", []) => self.aggregate(call, input, Kinds::OBJECT),
            ("in", [value, list]) => self.membership(call, *value, *list),
            (name, [a, b]) if COMPARISONS.contains(&name) => self.comparison(call, name, *a, *b),
            _ => {}
        }
    }

    /// PQW01: no object that the path reaches has the field.
    fn look_for(&mut self, key: &Key, holder: Type) {
        let is_absent = holder.kinds.meets(Kinds::OBJECT) && self.types.lacks(holder, &key.name);
        if !is_absent {
            return;
        }
        let is_told = self.findings.warnings.iter().any(|told| told.code == "PQW01" && told.is_about(&key.name));
        if is_told || prototype::is_common(&key.name) {
            return;
        }
        let near = match self.search.is_over() {
            true => Vec::new(),
            false => self.search.nearest(&key.name, self.types.keys(holder).into_iter()),
        };
        let help = near.first().map(|near| format!("did you mean `.{near}`?"));
        self.warn("PQW01", format!("no object here has a field `{}`", key.name), key.span, help);
    }

    /// PQW07.
    fn warn_of_list(&mut self, key: &Key, list: Type) {
        // Names that lists have in JavaScript are an error when the query runs, which says more.
        if key.index.is_some() || prototype::is_of_lists(&key.name) {
            return;
        }
        let name = &key.name;
        let warning = match self.is_of_attributes(list) {
            true => field_of_list(name).with_help(format!("`attr(\"{name}\")` of the object reads its `attributes`")),
            false => field_of_list(name),
        };
        self.push(warning.with_span(key.span));
    }

    /// Whether the items of a list are `{name, value}`.
    fn is_of_attributes(&self, list: Type) -> bool {
        let keys = self.types.keys(self.types.items(list));
        ["name", "value"].iter().all(|key| keys.contains(key))
    }

    /// PQW06: only what holds for every document, since a field that all items have now may be missing tomorrow.
    fn filter(&mut self, call: &'p Call, condition: Type) {
        if self.types.guide.is_some() {
            return;
        }
        let Some(plan) = call.args.first() else { return };
        let always = condition.kinds.is_only(Kinds::TEXT | Kinds::CONTAINERS);
        let keeps = match self.decided(plan) {
            None if always => "all items: the condition is never false",
            None if condition.kinds.is_only(Kinds::NULL) && !self.is_told(plan) => {
                "no item: the condition is always null"
            }
            Some(true) => "all items: the condition is constant",
            Some(false) if matches!(plan, Plan::Constant(_)) => "no item: the condition is constant",
            _ => return,
        };
        let name = call.function.row().name;
        let help = match plan {
            Plan::Constant(constant) if name == "nodes" && constant.value().as_str().is_some() => {
                Some("the node of an id or a tag is `node(…)`".to_owned())
            }
            _ => always.then(|| format!("compare it with something, as in `{name}(.a == 1)`")),
        };
        self.warn("PQW06", format!("`{name}` keeps {keeps}"), call.span, help);
    }

    /// Whether a field of a path is said to be missing already.
    fn is_told(&self, plan: &Plan) -> bool {
        let Plan::Get(path) = plan else { return false };
        let is_missing = |key: &Key| self.findings.warnings.iter().any(|told| told.span == Some(key.span));
        path.keys.iter().any(is_missing)
    }

    /// PQW13: a text where a field was meant. All items have the same key then.
    fn key(&mut self, call: &'p Call, name: &str) {
        let Some(Plan::Constant(constant)) = call.args.first() else { return };
        let Some(text) = constant.value().as_str() else { return };
        let help = match text {
            "asc" | "desc" => format!("the direction is the second argument: `{name}(get(), \"{text}\")`"),
            field if field.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => format!("a field is `.{field}`"),
            _ => "a field is read by its path, as in `.tag`".into(),
        };
        self.warn("PQW13", format!("`{name}` has the same key for all items"), call.span, Some(help));
    }

    /// Whether a condition without fields holds.
    fn decided(&self, plan: &'p Plan) -> Option<bool> {
        match plan {
            Plan::Constant(constant) => Some(constant.value().is_truthy()),
            Plan::Call(call) => match (call.function.standard_name()?, &*call.args) {
                (name, [Plan::Constant(a), Plan::Constant(b)]) => compared(name, a, b),
                _ => None,
            },
            _ => None,
        }
    }

    /// PQW05.
    fn aggregate(&mut self, call: &Call, input: Type, wrong: Kinds) {
        let items = self.types.items(input).kinds;
        if !input.kinds.is_only(Kinds::LIST) || !items.meets(wrong) || !items.is_only(wrong | Kinds::MISSING) {
            return;
        }
        let name = call.function.row().name;
        let help = if items.meets(Kinds::OBJECT) {
            format!("take a field first: `map(.a) | {name}()`")
        } else {
            format!("make numbers first: `map(number(.)) | {name}()`")
        };
        self.warn("PQW05", format!("`{name}` of a list without numbers: each item is {items}"), call.span, Some(help));
    }

    // PQW02.

    fn comparison(&mut self, call: &'p Call, name: &str, a: Type, b: Type) {
        if let (Some(left), Some(right)) = (self.types.as_constant(a), self.types.as_constant(b)) {
            if compared(name, left, right) == Some(false) {
                self.never(call, "both sides are constant".into(), None);
            }
            return;
        }
        if name == "ne" || a.kinds == Kinds::NONE || b.kinds == Kinds::NONE || is_null_test(a, b) {
            return;
        }
        if !can_hold(name, a.kinds, b.kinds) {
            let help = self.other_kind(a, b).or_else(|| self.other_kind(b, a));
            self.never(call, format!("{} is compared with {}", a.kinds, b.kinds), help);
        } else if name == "eq" {
            self.unknown_word(call, a, b);
            self.unknown_word(call, b, a);
        }
    }

    fn membership(&mut self, call: &'p Call, value: Type, list: Type) {
        if list.kinds != Kinds::NONE && !list.kinds.meets(Kinds::LIST) {
            return self.refuse_list(call, list);
        }
        let items = self.types.items(list);
        if value.kinds == Kinds::NONE || items.kinds == Kinds::NONE || is_null_test(value, items) {
            return;
        }
        if !can_hold("eq", value.kinds, items.kinds) {
            self.never(
                call,
                format!("{} is looked for in a list where each item is {}", value.kinds, items.kinds),
                None,
            );
        }
    }

    fn refuse_list(&mut self, call: &Call, list: Type) {
        if self.is_certain && self.findings.error.is_none() {
            let message = format!("A list expected on the right of `in`, not {}", list.kinds);
            self.findings.error = Some(Error::new(Code::ListExpected, message).with_span(call.span));
        }
    }

    fn never(&mut self, call: &Call, why: String, help: Option<String>) {
        let here = if self.types.guide.is_some() { " in this document" } else { "" };
        self.warn("PQW02", format!("this is never true{here}: {why}"), call.span, help);
    }

    /// A constant that would be of the right kind with quotes, or without.
    fn other_kind(&self, constant: Type, other: Type) -> Option<String> {
        match self.types.as_constant(constant)? {
            Constant::Text(text) if other.kinds.meets(Kinds::NUMBER) => {
                let number: f64 = text.trim().parse().ok()?;
                number.is_finite().then(|| format!("a number stands without quotes: `{}`", text.trim()))
            }
            Constant::Number(number) if other.kinds.meets(Kinds::TEXT) => {
                Some(format!("a text stands in quotes: `\"{number}\"`"))
            }
            _ => None,
        }
    }

    /// A text that is nearly, but not quite, one of the few that a field has.
    fn unknown_word(&mut self, call: &'p Call, constant: Type, field: Type) {
        let Some(Constant::Text(text)) = self.types.as_constant(constant) else { return };
        if !matches!(&*call.args, [Plan::Get(_), Plan::Constant(_)] | [Plan::Constant(_), Plan::Get(_)]) {
            return;
        }
        let words = self.types.guide.as_ref().zip(field.place()).and_then(|(guide, place)| guide.words(place));
        let Some(words) = words.map(|words| words.collect::<Vec<&str>>()) else { return };
        if words.contains(&&**text) {
            return;
        }
        let near = self.search.nearest(text, words.into_iter());
        let Some(help) = near.first().map(|near| format!("did you mean \"{near}\"?")) else { return };
        self.never(call, format!("nothing there is \"{text}\""), Some(help));
    }
}

/// Functions whose first argument says by what.
const KEYED: &[&str] = &["sort", "groupBy", "keyBy", "uniqBy", "countBy", "minBy", "maxBy", "sumBy", "avgBy"];

const COMPARISONS: &[&str] = &["eq", "ne", "gt", "gte", "lt", "lte"];

/// PQW07, without its place.
pub(crate) fn field_of_list(name: &str) -> Warning {
    let help = format!("for every item of the list, write `map(.{name})`; for the first one, `.0.{name}`");
    Warning::new("PQW07", format!("a list has no field `{name}`: the result is null")).with_help(help)
}

fn rule(call: &Call) -> &'static Rule {
    let rule = call.function.standard_name().and_then(|name| RULES.iter().find(|rule| rule.names.contains(&name)));
    match (rule, &call.function.row().body) {
        (Some(rule), _) => rule,
        (None, Body::Piped(_) | Body::Counted(..)) => &PIPED,
        (None, _) => &STRICT,
    }
}

/// `and` and `or` with fewer than two conditions give what they are given.
fn is_alone(call: &Call) -> bool {
    matches!(call.function.standard_name(), Some("and" | "or")) && call.args.len() < 2
}

/// `get()` gives null where there is no value.
fn defined(value: Type) -> Type {
    if value.kinds.meets(Kinds::UNDEFINED) { value.with(Kinds::NULL) } else { value }
}

/// Whether one side can be nothing but null: asking for that is never a mistake.
fn is_null_test(a: Type, b: Type) -> bool {
    a.kinds.is_only(Kinds::MISSING) || b.kinds.is_only(Kinds::MISSING)
}

/// Whether there are values of these kinds that a comparison holds for.
fn can_hold(name: &str, a: Kinds, b: Kinds) -> bool {
    let same = a.and(b);
    match name {
        "gt" | "lt" => same.meets(Kinds::ORDERED),
        // A list may equal an object.
        _ => same != Kinds::NONE || (a.meets(Kinds::CONTAINERS) && b.meets(Kinds::CONTAINERS)),
    }
}

/// Whether a comparison of two constants holds.
fn compared(name: &str, a: &Constant, b: &Constant) -> Option<bool> {
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

/// The error that a run would end with.
fn refusal(call: &Call, found: Kinds) -> Error {
    let takes_objects = rule(call).takes.meets(Kinds::OBJECT);
    let (code, message) = match call.function.row().name {
        "size" => (Code::ArrayExpected, "Array expected".to_owned()),
        _ if takes_objects => (Code::ObjectExpected, format!("Object expected, not {found}")),
        _ => (Code::ArrayExpected, "Array expected".to_owned()),
    };
    let error = Error::new(code, message).with_span(call.span).with_label(format!("always gets {found}"));
    match found.is_only(Kinds::OBJECT) {
        true => error.with_help("the items of an object are `values()`"),
        false => error,
    }
}
