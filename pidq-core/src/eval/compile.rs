//! Compiler from syntax tree to plan: binds names, checks arguments and compiles patterns.

use hashbrown::HashSet;

use super::PlanSizes;
use super::option_spec::OptionSpec;
use super::plan::common_subexpr;
use super::plan::function::{Body, Function, Param, ParamKind};
use super::plan::{Call, Constant, Fields, FunctionRef, Key, Parameter, Path, Pattern, Plan};
use super::text_template;
use crate::error::{Code, Error, Result, Span, Warning};
use crate::graph::pattern::Pattern as GraphPattern;
use crate::limits::{MAX_PARAMS, MAX_REGEX_TOTAL_SIZE};
use crate::suggest;
use crate::syntax::{self, Expr, Node, json};
use crate::value::{Value, convert, prototype};

/// Functions, parameters and dialect that a query is compiled with.
pub(crate) struct Environment<'n> {
    pub find: &'n dyn Fn(&str) -> Option<FunctionRef>,
    pub function_names: &'n dyn Fn() -> Vec<&'n str>,
    /// Names and values of the parameters.
    pub params: &'n [(&'n str, Value<'n>)],
    /// Makes every other name that is not bound a parameter, whose value is known when the query runs.
    pub is_prepared: bool,
    /// Names of the parameters that are graphs, which are known at run time.
    pub graph_params: &'n [&'n str],
    /// Allows a parameter as a key of a path. The reference implementation treats it as a plain string there.
    pub is_extended: bool,
}

impl Environment<'_> {
    /// Returns the names of all parameters.
    fn parameter_names(&self) -> impl Iterator<Item = &str> {
        self.params.iter().map(|(name, _)| *name).chain(self.graph_params.iter().copied())
    }
}

/// Compiled plan with its per-run slots and warnings.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub plan: Plan,
    pub sizes: PlanSizes,
    /// By call: name and span, for `explain` and messages.
    pub calls: Vec<(String, Span)>,
    /// By property: name and span, for warnings.
    pub properties: Vec<(Box<str>, Span)>,
    /// Properties that the query expects to be missing: those of `coalesce` and of comparisons with null.
    pub optional_properties: HashSet<usize>,
    /// Warnings about the query text itself.
    pub warnings: Vec<Warning>,
    /// Parameters of a prepared query.
    pub prepared: PreparedParameters,
}

/// Parameters of a prepared query, which get their values when it is bound.
#[derive(Debug, Default)]
pub(crate) struct PreparedParameters {
    /// The names, in the order of their first use.
    pub names: Vec<Box<str>>,
    /// True if a value is part of the plan: a regular expression, a key of a path, a constant argument. Then the plan is
    /// a placeholder that must not run; binding compiles one with the values.
    pub are_in_plan: bool,
    /// Checks of arguments that a function makes before it runs.
    checks: Vec<PendingCheck>,
}

/// Check of a parameter that is the argument of a function.
#[derive(Debug)]
struct PendingCheck {
    param: Param,
    slot: usize,
    span: Span,
}

impl PreparedParameters {
    /// Checks values that are arguments of functions, as the compiler does for constants.
    pub fn check<'v>(&self, values: impl Iterator<Item = Value<'v>> + Clone) -> Result<()> {
        for check in &self.checks {
            let value = values.clone().nth(check.slot).unwrap_or(Value::Null);
            check_value(&check.param, value).map_err(|error| error.with_span(check.span))?;
        }
        Ok(())
    }
}

/// Value of a parameter or another name where the compiler needs a constant.
enum StaticValue<'v> {
    Known(Value<'v>),
    /// Known when the prepared query is bound.
    Bound,
    /// Known only when the query runs.
    Computed,
}

/// Kind of a call.
enum Target {
    Variable,
    SpecialForm(&'static str),
    Function(FunctionRef),
}

/// Compiles a query. Recursive: the depth of a tree is at most `limits::MAX_QUERY_DEPTH`.
pub(crate) fn compile<'n>(expr: &Expr, environment: &'n Environment<'n>) -> Result<Compiled> {
    for name in environment.parameter_names() {
        check_name(name)?;
    }
    check_unique(environment)?;
    let mut compiler = Compiler {
        environment,
        scope: Vec::new(),
        calls: Vec::new(),
        properties: Vec::new(),
        optional_properties: HashSet::new(),
        records: 0,
        warnings: Vec::new(),
        patterns: Vec::new(),
        prepared: PreparedParameters::default(),
        depth: 0,
    };
    let plan = compiler.compile_query(expr)?;
    compile_patterns(&compiler.patterns)?;
    let Compiler { calls, properties, optional_properties, records, mut warnings, prepared, .. } = compiler;
    warnings.extend(unused_parameters(expr, environment));
    let sizes = PlanSizes { calls: calls.len(), properties: properties.len(), records };
    Ok(Compiled { plan, sizes, calls, properties, optional_properties, warnings, prepared })
}

/// Compiles the patterns of a query, which share one budget.
fn compile_patterns(patterns: &[PendingPattern]) -> Result<()> {
    let mut size: usize = 0;
    for pending in patterns {
        pending.compile()?;
        size = size.saturating_add(pending.plan.size());
        if size > MAX_REGEX_TOTAL_SIZE {
            let error = Error::new(Code::BadRegex, "The regular expressions of the query are too large in total");
            let error = error.with_span(pending.pattern_span);
            return Err(error.with_help("use smaller repetition counts, or fewer patterns"));
        }
    }
    Ok(())
}

struct Compiler<'n> {
    environment: &'n Environment<'n>,
    /// Names bound by the `let`s around, outermost first.
    scope: Vec<Binding>,
    calls: Vec<(String, Span)>,
    properties: Vec<(Box<str>, Span)>,
    optional_properties: HashSet<usize>,
    records: usize,
    warnings: Vec<Warning>,
    /// Patterns still to be compiled.
    patterns: Vec<PendingPattern>,
    prepared: PreparedParameters,
    /// Number of calls around the current one, and itself.
    depth: usize,
}

/// Name bound by `let`.
struct Binding {
    name: Box<str>,
    value: BindingValue,
}

/// Value of a name bound by `let`.
#[derive(Clone)]
enum BindingValue {
    Known(Constant),
    /// A parameter, known when the prepared query is bound.
    Bound,
    /// Known only when the query runs.
    Computed,
}

/// Pattern with its flags and their spans.
struct PendingPattern {
    plan: Pattern,
    pattern: String,
    flags: String,
    pattern_span: Span,
    flags_span: Span,
}

impl PendingPattern {
    fn compile(&self) -> Result<()> {
        self.plan.compile(&self.pattern, &self.flags).map_err(|error| {
            let is_flag = error.code() == Code::BadRegexFlag;
            error.with_span(if is_flag { self.flags_span } else { self.pattern_span })
        })
    }
}

impl<'n> Compiler<'n> {
    fn compile_query(&mut self, expr: &Expr) -> Result<Plan> {
        match &expr.node {
            Node::Array(items) => self.compile_call(expr, items),
            Node::Object(_) => Err(bare_object(expr)),
            _ => Ok(Plan::Constant(constant(&expr.node))),
        }
    }

    fn compile_queries(&mut self, exprs: &[Expr]) -> Result<Box<[Plan]>> {
        // A loop and not `collect`: its frames would be most of the stack of a deep query.
        let mut plans = Vec::with_capacity(exprs.len());
        for expr in exprs {
            plans.push(self.compile_query(expr)?);
        }
        Ok(plans.into())
    }

    /// Calls, arguments and queries recurse into each other; everything else is in functions of its own, so that deep
    /// queries fit on a small stack.
    fn compile_call(&mut self, expr: &Expr, items: &[Expr]) -> Result<Plan> {
        self.depth += 1;
        let plan = match self.target(expr, items)? {
            Target::Variable => self.compile_variable(&items[1..], expr.span),
            Target::SpecialForm(name) => self.compile_special_form(name, expr, &items[1..]),
            Target::Function(function) => self.compile_function(function, expr, &items[1..]),
        };
        self.depth -= 1;
        plan
    }

    fn target(&self, expr: &Expr, items: &[Expr]) -> Result<Target> {
        let Some(head) = items.first() else { return Err(self.unknown("undefined", expr.span)) };
        let name = match &head.node {
            Node::String(name) => name,
            other => return Err(self.unknown(&literal_text(other), head.span)),
        };
        if &**name == "$" {
            return Ok(Target::Variable);
        }
        let Some(function) = (self.environment.find)(name) else { return Err(self.unknown(name, head.span)) };
        match function.row().body {
            Body::SpecialForm => Ok(Target::SpecialForm(function.row().name)),
            _ => Ok(Target::Function(function)),
        }
    }

    /// Compiles a special form.
    fn compile_special_form(&mut self, name: &str, expr: &Expr, args: &[Expr]) -> Result<Plan> {
        match name {
            "get" => self.compile_path(args).map(Plan::Get),
            "pipe" => self.compile_pipe(args),
            "array" => Ok(Plan::Array(self.compile_queries(args)?)),
            "object" => self.compile_object(expr, args),
            "let" => self.compile_let(expr, args),
            _ => Err(self.unknown(name, expr.span)),
        }
    }

    fn compile_pipe(&mut self, stages: &[Expr]) -> Result<Plan> {
        if let [only] = stages {
            return self.compile_query(only);
        }
        self.check_stages(stages);
        Ok(Plan::pipe(self.compile_queries(stages)?))
    }

    #[inline(never)]
    fn check_stages(&mut self, stages: &[Expr]) {
        for stage in stages.iter().skip(1) {
            self.check_stage_input(stage);
            self.check_merged_input(stage);
        }
        for pair in stages.windows(2) {
            self.warnings.extend(field_of_number(&pair[0], &pair[1]));
            self.warnings.extend(self.field_of_operator(&pair[0], &pair[1]));
        }
    }

    /// PQW14: in `.a | split(",")`, the string that is split is the comma.
    fn check_stage_input(&mut self, stage: &Expr) {
        let Node::Array(items) = &stage.node else { return };
        let Some((_, args)) = items.split_first() else { return };
        let is_fixed = |arg: &Expr| !matches!(arg.node, Node::Array(_) | Node::Object(_));
        // Checked first, because finding a function by its name takes longer.
        if args.is_empty() || !args.iter().all(is_fixed) {
            return;
        }
        let Ok(Target::Function(function)) = self.target(stage, items) else { return };
        let row = function.row();
        if matches!(row.body, Body::Strict(_) | Body::Batched(..) | Body::Search(_)) {
            self.warnings.push(ignored_input(row, args, stage.span));
        }
    }

    /// PQW14: in `.a | merge({b: 1})`, only the argument is merged.
    fn check_merged_input(&mut self, stage: &Expr) {
        let Node::Array(items) = &stage.node else { return };
        let Some((_, args)) = items.split_first().filter(|_| stage.head() == Some("merge")) else { return };
        if args.iter().all(is_constant) && matches!(self.target(stage, items), Ok(Target::Function(_))) {
            let message = "`merge` ignores the value that comes through the pipe";
            let help = match args {
                [] => "the objects of a list are merged by `reduce({}, merge(.result, .item))`",
                _ => "pass that value as the first argument, as in `merge(get(), {a: 1})`",
            };
            self.warnings.push(Warning::new("PQW14", message).with_span(stage.span).with_help(help));
        }
    }

    /// PQW07: in `.a > f().b`, the path is read from the result of the comparison.
    fn field_of_operator(&self, value: &Expr, path: &Expr) -> Option<Warning> {
        let is_field = matches!(&path.node, Node::Array(keys) if path.head() == Some("get") && keys.len() > 1);
        let Node::Array(items) = &value.node else { return None };
        if !is_field {
            return None;
        }
        let Ok(Target::Function(FunctionRef::Standard(row))) = self.target(value, items) else { return None };
        if !SCALAR_OPERATORS.contains(&row.name) {
            return None;
        }
        let message = format!("the result of `{}` has no fields: the result is null", row.name);
        let help = "a path after a value is a pipe, and `|` has the lowest precedence: write `.a > (f() | .b)`";
        Some(Warning::new("PQW07", message).with_span(path.span).with_help(help))
    }

    fn compile_path(&mut self, keys: &[Expr]) -> Result<Path> {
        let first = self.properties.len();
        let keys = self.compile_keys(keys)?;
        self.properties.extend(keys.iter().map(|key| (key.name.clone(), key.span)));
        let is_plain = !keys.is_empty() && !keys.iter().any(|key| prototype::is_object_property(&key.name));
        Ok(Path { keys, first, is_plain })
    }

    fn compile_keys(&mut self, exprs: &[Expr]) -> Result<Box<[Key]>> {
        let mut keys = Vec::with_capacity(exprs.len());
        for expr in exprs {
            keys.push(self.compile_key(expr)?);
        }
        Ok(keys.into())
    }

    /// Compiles one key of a path. As in JavaScript, any JSON value is converted to its string.
    fn compile_key(&mut self, expr: &Expr) -> Result<Key> {
        let name = match &expr.node {
            Node::String(name) => name.clone(),
            Node::Array(items) if self.environment.is_extended && expr.head() == Some("$") => {
                self.parameter_key(&items[1..], expr.span)?.into()
            }
            node => {
                self.warnings.extend(uncomputed_key(expr));
                literal_text(node).into()
            }
        };
        Ok(Key { index: json::array_index(&name), name, span: expr.span })
    }

    /// Returns the key that a parameter stands for; empty if it is known when the query is bound.
    #[inline(never)]
    fn parameter_key(&mut self, items: &[Expr], span: Span) -> Result<String> {
        match self.parameter_at(items, span)? {
            StaticValue::Known(value) => match constant_of(value) {
                Some(constant) => Ok(convert::to_text(constant.value())),
                None => Err(key_expected(Some(value), span)),
            },
            StaticValue::Bound => Ok(String::new()),
            StaticValue::Computed => Err(key_expected(None, span)),
        }
    }

    fn compile_object(&mut self, expr: &Expr, args: &[Expr]) -> Result<Plan> {
        let [Expr { node: Node::Object(entries), .. }] = args else { return Err(object_call(expr, args)) };
        let entries = json::in_order(entries);
        let names = entries.iter().map(|(key, _)| key.name.clone()).collect();
        let mut values = Vec::with_capacity(entries.len());
        for (_, value) in &entries {
            values.push(self.compile_query(value)?);
        }
        Ok(Plan::Object(self.fields(names, &entries, values)))
    }

    #[inline(never)]
    fn fields(&mut self, names: Box<[Box<str>]>, entries: &[&(syntax::Key, Expr)], values: Vec<Plan>) -> Fields {
        let exprs: Vec<&Expr> = entries.iter().map(|(_, value)| value).collect();
        let common_prefixes = common_subexpr::common_prefixes(&exprs, &values);
        self.records += 1;
        Fields { names, values: values.into(), record: self.records - 1, common_prefixes }
    }

    /// `let({a: q}, body)`: later bindings and the body see the earlier ones.
    fn compile_let(&mut self, expr: &Expr, args: &[Expr]) -> Result<Plan> {
        let [bindings, body] = args else {
            return Err(count_error("let({name: query}, body)", "let", "2 arguments", expr, args, 2));
        };
        let outer = self.scope.len();
        let values = self.bindings(bindings)?;
        let body = self.compile_boxed(body)?;
        self.scope.truncate(outer);
        Ok(Plan::Let(values, body))
    }

    fn bindings(&mut self, bindings: &Expr) -> Result<Box<[Plan]>> {
        let entries = entries_of(bindings)?;
        let mut values = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            check_name(&key.name).map_err(|error| error.with_span(key.span))?;
            let value = self.compile_query(value)?;
            self.bind_name(&key.name, &value);
            values.push(value);
        }
        Ok(values.into())
    }

    #[inline(never)]
    fn bind_name(&mut self, name: &str, value: &Plan) {
        let value = self.known_value(value);
        self.scope.push(Binding { name: name.into(), value });
    }

    /// Returns the value of a plan as far as it is known before the run.
    fn known_value(&self, plan: &Plan) -> BindingValue {
        let known = |constant: Option<Constant>| constant.map_or(BindingValue::Computed, BindingValue::Known);
        match plan {
            Plan::Constant(constant) => BindingValue::Known(constant.clone()),
            Plan::Parameter(Parameter { type_name: None, .. }) => BindingValue::Bound,
            Plan::Parameter(parameter) => known(constant_of(self.environment.params[parameter.slot].1)),
            Plan::Variable(index) => self.scope.get(*index).map_or(BindingValue::Computed, |bound| bound.value.clone()),
            _ => BindingValue::Computed,
        }
    }

    fn compile_boxed(&mut self, expr: &Expr) -> Result<Box<Plan>> {
        self.compile_query(expr).map(Box::new)
    }

    /// `$name.a.b`.
    fn compile_variable(&mut self, args: &[Expr], span: Span) -> Result<Plan> {
        let (name, keys) = name_and_keys(args, span)?;
        let base = self.binding(name, span)?;
        if keys.is_empty() {
            return Ok(base);
        }
        let path = self.compile_path(keys)?;
        Ok(Plan::pipe([base, Plan::Get(path)]))
    }

    fn binding(&mut self, name: &str, span: Span) -> Result<Plan> {
        if let Some(index) = self.scope.iter().rposition(|bound| *bound.name == *name) {
            return Ok(Plan::Variable(index));
        }
        if let Some(slot) = self.environment.params.iter().position(|(known, _)| *known == name) {
            let type_name = Some(self.environment.params[slot].1.type_name());
            return Ok(Plan::Parameter(Parameter { slot, type_name }));
        }
        if let Some(index) = self.environment.graph_params.iter().position(|known| *known == name) {
            return Ok(Plan::GraphParameter(index));
        }
        match name {
            "root" => Ok(Plan::Root),
            _ if self.environment.is_prepared => self.prepared_parameter(name, span),
            _ => Err(self.unknown_variable(name, span)),
        }
    }

    /// Returns a parameter of a prepared query. Its first use declares it.
    fn prepared_parameter(&mut self, name: &str, span: Span) -> Result<Plan> {
        let names = &mut self.prepared.names;
        let slot = names.iter().position(|known| **known == *name).unwrap_or(names.len());
        if slot == names.len() {
            check_name(name).map_err(|error| error.with_span(span))?;
            if slot == MAX_PARAMS {
                let message = format!("There are more than {MAX_PARAMS} parameters");
                return Err(Error::new(Code::InputTooLarge, message).with_span(span));
            }
            names.push(name.into());
        }
        Ok(Plan::Parameter(Parameter { slot, type_name: None }))
    }

    fn unknown_variable(&self, name: &str, span: Span) -> Error {
        let bound = self.scope.iter().map(|bound| &*bound.name);
        let known: Vec<&str> = bound.chain(self.environment.parameter_names()).chain(["root"]).collect();
        let similar =
            suggest::nearest(name, known.iter().copied()).into_iter().map(|name| format!("${name}")).collect();
        let error = Error::new(Code::UnknownVariable, format!("Unknown variable '${name}'")).with_span(span);
        let error = error.with_label("no parameter or `let` has this name").with_suggestions(similar);
        match error.help() {
            None => error.with_help(format!("pass it as a parameter, or bind it: `let({{{name}: ...}}, ...)`")),
            Some(_) => error,
        }
    }

    fn compile_function(&mut self, function: FunctionRef, expr: &Expr, args: &[Expr]) -> Result<Plan> {
        let id = self.begin_call(&function, expr, args)?;
        let mut plans = Vec::with_capacity(args.len());
        for at in 0..args.len() {
            let Some(param) = self.param(&function, args, at) else { break };
            if !matches!(param.kind, ParamKind::Flags) {
                let plan = self.compile_argument(function.row(), param, args, at)?;
                check_custom_argument(function.row(), at, &plan, args[at].span)?;
                plans.push(plan);
            }
        }
        self.add_template_fields(&function, args, &mut plans);
        self.add_constant_keys(&function, args, &mut plans);
        self.note_optional_properties(&function, &plans);
        self.add_computed_flags(&function, args, &mut plans)?;
        Ok(call_plan(function, plans, id, expr.span))
    }

    /// Appends the flags of a pattern that the run computes. Those of any other pattern are a part of it.
    #[inline(never)]
    fn add_computed_flags(&mut self, function: &FunctionRef, args: &[Expr], plans: &mut Vec<Plan>) -> Result<()> {
        let row = function.row();
        let pattern = row.params.iter().position(|param| matches!(param.kind, ParamKind::Pattern));
        let pattern = pattern.and_then(|at| plans.get(at));
        if pattern.is_some_and(|pattern| !matches!(pattern, Plan::Pattern(_))) {
            let flags = self.pattern_flags(row, args)?.unwrap_or_default();
            plans.push(Plan::Constant(Constant::Text(flags.into())));
        }
        Ok(())
    }

    /// Appends the paths of the fields of a constant template, so that a field that no object has gives a warning.
    #[inline(never)]
    fn add_template_fields(&mut self, function: &FunctionRef, args: &[Expr], plans: &mut Vec<Plan>) {
        let (Some(param), Some(arg)) = (function.row().params.first(), args.first()) else { return };
        let (ParamKind::TextTemplate(_), Some(Plan::Constant(Constant::Text(template)))) = (param.kind, plans.first())
        else {
            return;
        };
        let template = template.clone();
        for path in text_template::field_paths(&template) {
            let first = self.properties.len();
            let key = |name: &str| Key { index: json::array_index(name), name: name.into(), span: arg.span };
            let keys: Box<[Key]> = text_template::keys(path).map(key).collect();
            self.properties.extend(keys.iter().map(|key| (key.name.clone(), key.span)));
            plans.push(Plan::Get(Path { keys, first, is_plain: false }));
        }
    }

    /// Notes the paths whose values the query expects to be missing: `coalesce(.a, 0)`, `.a == null`.
    #[inline(never)]
    fn note_optional_properties(&mut self, function: &FunctionRef, plans: &[Plan]) {
        let is_null = |plan: &Plan| matches!(plan, Plan::Constant(Constant::Null));
        let is_optional = match function.row().name {
            "coalesce" => true,
            "eq" | "ne" => plans.iter().any(is_null),
            _ => false,
        };
        for plan in plans.iter().filter(|_| is_optional) {
            if let Plan::Get(path) = plan {
                self.optional_properties.extend(path.first..path.first + path.keys.len());
            }
        }
    }

    /// Appends the path of a change at constant keys, so that a key that no value has gives a warning.
    #[inline(never)]
    fn add_constant_keys(&mut self, function: &FunctionRef, args: &[Expr], plans: &mut Vec<Plan>) {
        let is_change = matches!(function, FunctionRef::Extension(row) if ["deleteAt", "updateAt"].contains(&row.name));
        let (Some(Plan::Array(keys)), Some(Node::Array(exprs))) = (plans.first(), args.first().map(|arg| &arg.node))
        else {
            return;
        };
        let are_constant = keys.iter().all(|key| matches!(key, Plan::Constant(_)));
        if !is_change || !are_constant || keys.len() + 1 != exprs.len() {
            return;
        }
        let key = |expr: &Expr| {
            let name: Box<str> = literal_text(&expr.node).into();
            Key { index: json::array_index(&name), name, span: expr.span }
        };
        let (first, keys) = (self.properties.len(), exprs.iter().skip(1).map(key).collect::<Box<[Key]>>());
        self.properties.extend(keys.iter().map(|key| (key.name.clone(), key.span)));
        plans.push(Plan::Get(Path { keys, first, is_plain: false }));
    }

    /// Checks the number of arguments, records warnings and registers the call. Like everything that is not recursive, a
    /// function of its own, so that deep queries fit on a small stack.
    #[inline(never)]
    fn begin_call(&mut self, function: &FunctionRef, expr: &Expr, args: &[Expr]) -> Result<usize> {
        check_count(function, expr, args)?;
        self.warnings.extend(missing_argument(function, expr, args));
        self.warnings.extend(unknown_direction(function, args));
        self.warnings.extend(invalid_count(function, args));
        self.warnings.extend(constant_step(function, args));
        self.warnings.extend(negative_start(function, args));
        Ok(self.register_call(function, expr.span))
    }

    fn register_call(&mut self, function: &FunctionRef, span: Span) -> usize {
        self.calls.push((function.row().name().into(), span));
        self.calls.len() - 1
    }

    /// Returns the parameter that an argument belongs to. Functions of the piped value ignore surplus arguments without
    /// compiling them; the others compile and ignore them.
    fn param(&mut self, function: &FunctionRef, args: &[Expr], at: usize) -> Option<&'static Param> {
        const SURPLUS: &Param = &Param::query("surplus");
        let row = function.row();
        let required = row.params.iter().filter(|param| !param.is_optional).count();
        let is_options = at >= required && at + 1 == args.len() && args[at].head() == Some("object");
        let options = row.params.last().filter(|last| is_options && matches!(last.kind, ParamKind::Options(_)));
        if options.is_some() {
            return options;
        }
        let known = row.params.get(at).or_else(|| row.params.last().filter(|last| last.is_many));
        // The reference implementation does the same for these two operators only.
        let is_list = ["in", "not in"].contains(&row.name);
        if known.is_none()
            && (is_list
                || !matches!(row.body, Body::Strict(_) | Body::Batched(..) | Body::Custom(_) | Body::SpecialForm))
        {
            let message = format!("an argument is ignored: `{}`", row.signature());
            let warning = Warning::new("PQW03", message).with_span(args[at].span);
            self.warnings.push(warning.with_help(surplus_help(row, args)));
            return None;
        }
        known.or(Some(SURPLUS))
    }

    fn compile_argument(&mut self, function: &Function, param: &Param, args: &[Expr], at: usize) -> Result<Plan> {
        let arg = &args[at];
        match param.kind {
            ParamKind::Query => self.compile_query(arg),
            ParamKind::Pattern if self.is_computed_pattern(arg)? => self.compile_query(arg),
            ParamKind::Checked(_) | ParamKind::TextTemplate(_) | ParamKind::GraphPattern => {
                let plan = self.compile_query(arg)?;
                self.check_argument(param, &plan, arg)?;
                Ok(plan)
            }
            ParamKind::Options(known) => self.compile_options(function, known, arg),
            _ => self.compile_fixed_argument(function, param, args, at),
        }
    }

    /// Compiles an argument without queries in it.
    #[inline(never)]
    fn compile_fixed_argument(&mut self, function: &Function, param: &Param, args: &[Expr], at: usize) -> Result<Plan> {
        let arg = &args[at];
        match param.kind {
            ParamKind::Static(_) if self.is_computed_binding(arg) => self.compile_query(arg),
            ParamKind::Static(spec) => self.checked_constant(function, param, spec, arg).map(Plan::Constant),
            ParamKind::Path => self.path_argument(function, arg),
            ParamKind::Pattern => self.compile_pattern(function, param, args, at),
            // Flags are compiled with the pattern; the others by `compile_argument`.
            _ => Ok(Plan::Constant(Constant::Null)),
        }
    }

    /// Checks an argument that is a constant or a parameter, and the items of a list literal. A function of its own, so
    /// that deep queries fit on a small stack.
    #[inline(never)]
    fn check_argument(&mut self, param: &Param, plan: &Plan, arg: &Expr) -> Result<()> {
        let fits = match plan {
            Plan::Constant(constant) => check_value(param, constant.value()),
            Plan::Parameter(Parameter { slot, type_name: None }) => {
                self.prepared.checks.push(PendingCheck { param: *param, slot: *slot, span: arg.span });
                Ok(())
            }
            Plan::Parameter(parameter) => check_value(param, self.environment.params[parameter.slot].1),
            Plan::Array(items) => return check_items(param, items, arg),
            _ => Ok(()),
        };
        fits.map_err(|error| error.with_span(arg.span))
    }

    /// Compiles named options: queries, keywords or numbers. An unknown name is an error.
    fn compile_options(&mut self, function: &Function, known: &'static [OptionSpec], arg: &Expr) -> Result<Plan> {
        let entries = match &arg.node {
            Node::Array(items) if arg.head() == Some("object") => items.get(1).map(|item| &item.node),
            _ => None,
        };
        let Some(Node::Object(entries)) = entries else {
            let error = Error::new(Code::OptionsExpected, format!("options expected in `{}`", function.signature()));
            return Err(error.with_span(arg.span).with_help(options_help(known, &arg.node)));
        };
        for (key, value) in entries {
            let spec = known.iter().find(|spec| *spec.name == *key.name);
            self.check_option(function, spec.ok_or_else(|| unknown_option(&key.name, key.span, known))?, value)?;
        }
        self.compile_query(arg)
    }

    /// Checks the value of an option. Numbers, keywords and flags must be constants of the expected kind.
    fn check_option(&mut self, function: &Function, spec: &OptionSpec, value: &Expr) -> Result<()> {
        let not_fixed = || option_constant_expected(function, spec, value.span);
        let fits = match &value.node {
            _ if spec.is_query() => return Ok(()),
            Node::Array(items) if value.head() == Some("$") => match self.parameter_at(&items[1..], value.span)? {
                StaticValue::Known(value) => spec.check(value),
                StaticValue::Bound => Ok(()),
                StaticValue::Computed => return Err(not_fixed()),
            },
            Node::Array(items) if value.head() == Some("array") && spec.is_list() => {
                return items[1..].iter().try_for_each(|item| self.check_option(function, spec, item));
            }
            Node::Array(_) | Node::Object(_) => return Err(not_fixed()),
            node => spec.check(constant(node).value()),
        };
        fits.map_err(|error| error.with_span(value.span))
    }

    fn path_argument(&mut self, function: &Function, arg: &Expr) -> Result<Plan> {
        match &arg.node {
            Node::Array(items) if arg.head() == Some("get") && items.len() > 1 => {
                self.compile_path(&items[1..]).map(Plan::Get)
            }
            _ => {
                let error = Error::new(Code::ArgumentKind, format!("A path expected in `{}`", function.signature()));
                Err(error.with_span(arg.span).with_label("not a path").with_help(path_help(arg)))
            }
        }
    }

    /// Returns true for a name that `let` binds to a value of the run. Functions evaluate it and check it then.
    fn is_computed_binding(&self, arg: &Expr) -> bool {
        let Node::Array(items) = &arg.node else { return false };
        let name = items.get(1).filter(|_| arg.head() == Some("$"));
        let Some(Node::String(name)) = name.map(|name| &name.node) else { return false };
        let bound = self.scope.iter().rev().find(|bound| bound.name == *name);
        bound.is_some_and(|bound| matches!(bound.value, BindingValue::Computed))
    }

    /// Returns a constant argument; checked against the option specification if there is one. Null stands for a value
    /// that is known when the query is bound.
    fn checked_constant(
        &mut self,
        function: &Function,
        param: &Param,
        spec: Option<&OptionSpec>,
        arg: &Expr,
    ) -> Result<Constant> {
        let Some(constant) = self.static_value(function, param, arg)? else { return Ok(Constant::Null) };
        let fits = spec.map_or(Ok(()), |spec| spec.check(constant.value()));
        fits.map_err(|error| error.with_span(arg.span))?;
        Ok(constant)
    }

    /// Returns the value of a constant or of a parameter; `None` if it is known when the query is bound.
    fn static_value(&mut self, function: &Function, param: &Param, arg: &Expr) -> Result<Option<Constant>> {
        match &arg.node {
            Node::Array(items) if arg.head() == Some("$") => self.static_parameter(function, param, items, arg.span),
            Node::Array(_) | Node::Object(_) => Err(static_expected(function, param, arg.span)),
            node => Ok(Some(constant(node))),
        }
    }

    fn static_parameter(
        &mut self,
        function: &Function,
        param: &Param,
        items: &[Expr],
        span: Span,
    ) -> Result<Option<Constant>> {
        match self.parameter_at(&items[1..], span)? {
            StaticValue::Known(value) => match constant_of(value) {
                Some(constant) => Ok(Some(constant)),
                None => Err(scalar_expected(function, param, value, span)),
            },
            StaticValue::Bound => Ok(None),
            StaticValue::Computed => Err(static_expected(function, param, span)),
        }
    }

    /// Returns the value of a parameter, or of a name that `let` binds to a constant, at a path.
    fn parameter_at(&mut self, items: &[Expr], span: Span) -> Result<StaticValue<'_>> {
        let (name, keys) = name_and_keys(items, span)?;
        let plan = self.binding(name, span)?;
        if let BindingValue::Bound = self.known_value(&plan) {
            self.prepared.are_in_plan = true;
            return Ok(StaticValue::Bound);
        }
        let value = match plan {
            Plan::Parameter(parameter) => self.environment.params[parameter.slot].1,
            Plan::Variable(index) => match self.scope.get(index).map(|bound| &bound.value) {
                Some(BindingValue::Known(constant)) => constant.value(),
                _ => return Ok(StaticValue::Computed),
            },
            _ => return Ok(StaticValue::Computed),
        };
        Ok(StaticValue::Known(keys.iter().fold(value, |value, key| child_value(value, &literal_text(&key.node)))))
    }

    /// Returns true for a pattern that the run computes. The reference implementation knows constants only.
    #[inline(never)]
    fn is_computed_pattern(&mut self, arg: &Expr) -> Result<bool> {
        /// Calls around a computed pattern. Compiling it needs about as much stack as the other levels of a query.
        const MAX_DEPTH: usize = 24;
        let is_computed = match &arg.node {
            Node::Array(_) if !self.environment.is_extended => false,
            Node::Array(items) if arg.head() == Some("$") => {
                matches!(self.parameter_at(&items[1..], arg.span)?, StaticValue::Computed)
            }
            node => matches!(node, Node::Array(_)),
        };
        if is_computed && self.depth > MAX_DEPTH {
            let message = format!("A computed pattern is nested in more than {MAX_DEPTH} calls");
            let error = Error::new(Code::NestedTooDeep, message).with_span(arg.span);
            return Err(error.with_help("use a constant, or nest fewer calls around it"));
        }
        Ok(is_computed)
    }

    fn compile_pattern(&mut self, function: &Function, param: &Param, args: &[Expr], at: usize) -> Result<Plan> {
        let plan = Pattern::default();
        let pattern = self.static_value(function, param, &args[at])?;
        let flags = self.pattern_flags(function, args)?;
        let (Some(pattern), Some(flags)) = (pattern, flags) else { return Ok(Plan::Pattern(plan)) };
        self.warnings.extend(foreign_pattern(&convert::to_text(pattern.value()), args[at].span));
        self.patterns.push(PendingPattern {
            plan: plan.clone(),
            pattern: convert::to_text(pattern.value()),
            flags,
            pattern_span: args[at].span,
            flags_span: flags_argument(function, args).unwrap_or(&args[at]).span,
        });
        Ok(Plan::Pattern(plan))
    }

    /// Returns the flags of the pattern of a function; `None` if they are known when the query is bound.
    fn pattern_flags(&mut self, function: &Function, args: &[Expr]) -> Result<Option<String>> {
        const FLAGS: &Param = &Param::flags("flags");
        let written = match flags_argument(function, args) {
            Some(arg) => match self.static_value(function, FLAGS, arg)? {
                Some(flags) => Some(flags),
                None => return Ok(None),
            },
            None => None,
        };
        // `matchAll` appends its own flag. There null means no flags; elsewhere it is the string `null`.
        let is_all = function.name == "matchAll";
        let written = written.filter(|flags| !is_all || !matches!(flags, Constant::Null));
        let mut flags = written.map(|flags| convert::to_text(flags.value())).unwrap_or_default();
        if is_all {
            flags.push('g');
        }
        Ok(Some(flags))
    }

    fn unknown(&self, name: &str, span: Span) -> Error {
        if let Some(feature) = suggest::missing_feature(name) {
            let message = format!("The function '{name}' belongs to the feature `{feature}`, which was left out");
            let error = Error::new(Code::FeatureMissing, message).with_span(span).with_label("function of a feature");
            return error.with_help(format!("build pidq-core with the feature `{feature}`"));
        }
        let error = Error::new(Code::UnknownFunction, format!("Unknown function '{name}'"));
        let error = error.with_span(span).with_label("unknown function");
        let known = (self.environment.function_names)();
        let exists = |foreign: &&suggest::ForeignName| known.contains(&foreign.function);
        let with_hint = |error: Error, foreign: &suggest::ForeignName| {
            error.with_help(foreign.help()).with_suggestions(vec![foreign.function.to_owned()])
        };
        if let Some(foreign) = suggest::foreign_name(name).filter(exists) {
            return with_hint(error, foreign);
        }
        if let Some(help) = suggest::help_without_counterpart(name) {
            return error.with_help(help);
        }
        let similar = suggest::nearest(name, known.iter().copied());
        match (similar.is_empty(), suggest::nearest_foreign_name(name).filter(exists)) {
            (false, _) => error.with_suggestions(similar.into_iter().map(str::to_owned).collect()),
            (true, Some(foreign)) => with_hint(error, foreign),
            (true, None) => error.with_help("`pidq functions` lists all functions"),
        }
    }
}

/// Returns the argument with the flags of a pattern.
fn flags_argument<'e>(function: &Function, args: &'e [Expr]) -> Option<&'e Expr> {
    let at = function.params.iter().position(|param| matches!(param.kind, ParamKind::Flags))?;
    args.get(at)
}

#[inline(never)]
fn call_plan(function: FunctionRef, args: Vec<Plan>, id: usize, span: Span) -> Plan {
    Plan::Call(Box::new(Call::new(function, args.into(), id, span)))
}

fn constant(node: &Node) -> Constant {
    match node {
        Node::Bool(value) => Constant::Bool(*value),
        Node::Number(value) => Constant::Number(*value),
        Node::String(text) => Constant::Text(text.clone()),
        _ => Constant::Null,
    }
}

/// Checks the value of an argument.
fn check_value(param: &Param, value: Value<'_>) -> Result<()> {
    match param.kind {
        ParamKind::Checked(spec) | ParamKind::TextTemplate(spec) if value.is_null() && !param.is_optional => {
            Err(spec.invalid_value(value))
        }
        ParamKind::Checked(spec) | ParamKind::TextTemplate(spec) => spec.check(value),
        ParamKind::GraphPattern => check_pattern(value),
        _ => Ok(()),
    }
}

/// Checks the constant items of a list argument.
fn check_items(param: &Param, items: &[Plan], arg: &Expr) -> Result<()> {
    let (ParamKind::Checked(spec), Node::Array(written)) = (param.kind, &arg.node) else { return Ok(()) };
    for (item, written) in items.iter().zip(&written[1..]).filter(|_| spec.is_list()) {
        let Plan::Constant(item) = item else { continue };
        spec.check_item(item.value()).map_err(|error| error.with_span(written.span))?;
    }
    Ok(())
}

/// Checks that a value is a valid graph pattern.
fn check_pattern(value: Value<'_>) -> Result<()> {
    const PATTERN: OptionSpec = OptionSpec::string("pattern");
    PATTERN.check(value)?;
    value.as_str().map_or(Ok(()), |text| GraphPattern::parse(text).map(drop))
}

/// Splits the arguments of `$name.a.b` into name and keys.
fn name_and_keys(args: &[Expr], span: Span) -> Result<(&str, &[Expr])> {
    match args.split_first() {
        Some((Expr { node: Node::String(name), .. }, keys)) => Ok((name, keys)),
        _ => Err(Error::new(Code::UnknownVariable, "A variable needs a name").with_span(span)),
    }
}

/// Returns a field or an item of a parameter.
fn child_value<'p>(holder: Value<'p>, key: &str) -> Value<'p> {
    let found = match holder {
        Value::Object(object) => object.get(key),
        Value::Array(array) => json::array_index(key).and_then(|index| array.get(index as usize)),
        _ => None,
    };
    found.unwrap_or(Value::Null)
}

fn literal_text(node: &Node) -> String {
    match node {
        Node::Array(items) => {
            let items = items.iter().map(|item| match item.node {
                Node::Null => String::new(),
                _ => literal_text(&item.node),
            });
            items.collect::<Vec<_>>().join(",")
        }
        Node::Object(_) => "[object Object]".into(),
        _ => convert::to_text(constant(node).value()),
    }
}

/// PQW15: parameters that the query does not use, such as a mistyped option of a library call.
fn unused_parameters(expr: &Expr, environment: &Environment<'_>) -> Vec<Warning> {
    let mut unused: Vec<&str> = environment.parameter_names().collect();
    let mut rest = vec![expr];
    while let Some(expr) = rest.pop().filter(|_| !unused.is_empty()) {
        match &expr.node {
            Node::Array(items) => {
                let read = items.get(1).filter(|_| expr.head() == Some("$")).map(|name| literal_text(&name.node));
                unused.retain(|name| read.as_deref() != Some(name));
                rest.extend(items);
            }
            Node::Object(entries) => rest.extend(entries.iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    let warnings = unused.iter().map(|name| Warning::new("PQW15", format!("the parameter `${name}` is not read")));
    warnings.collect()
}

/// Converts a parameter to a constant; `None` for arrays and objects.
fn constant_of(value: Value<'_>) -> Option<Constant> {
    match value {
        Value::Array(_) | Value::Object(_) => None,
        Value::Bool(value) => Some(Constant::Bool(value)),
        Value::Number(number) => Some(Constant::Number(number.value())),
        Value::String(text) => Some(Constant::Text(text.into())),
        Value::Null | Value::Undefined => Some(Constant::Null),
    }
}

fn bare_object(expr: &Expr) -> Error {
    let mut shown = String::new();
    json::to_json(expr, &mut shown);
    let message = format!("Function notation [\"object\", {{...}}] expected but got {shown}");
    Error::new(Code::ObjectNotation, message).with_span(expr.span)
}

/// Error for `object(...)` written as a call. The reference implementation takes the parts of its argument as entries.
fn object_call(expr: &Expr, args: &[Expr]) -> Error {
    let error = match args.first().map(|arg| &arg.node) {
        Some(Node::Array(items)) => items.iter().find(|item| matches!(item.node, Node::Object(_))).map(bare_object),
        _ => None,
    };
    let error = error.unwrap_or_else(|| {
        Error::new(Code::ArgumentKind, "An object literal expected in `object`").with_span(expr.span)
    });
    error.with_help("write `{a: .x}` instead of `object(...)`")
}

/// Help for a call with too many arguments.
fn surplus_help(function: &Function, args: &[Expr]) -> String {
    let takes = function.params.iter().filter(|param| !param.is_optional).count();
    match (function.name, args) {
        ("filter", [.., last]) if last.head() != Some("get") && args.len() == 2 && args[0].head() != Some("get") => {
            "join conditions with `and`".into()
        }
        ("map", [_, ..]) if args.iter().all(|arg| arg.head() == Some("get")) => {
            "for several values, use an array or an object: `map([.a, .b])`, `pick(.a, .b)`".into()
        }
        ("groupBy" | "countBy" | "keyBy" | "uniqBy", [_, ..]) if args.iter().all(|arg| arg.head() == Some("get")) => {
            format!("several keys are one list: `{}([.a, .b])`", function.name)
        }
        ("sum" | "prod" | "min" | "max" | "average", [arg]) if arg.head() == Some("get") => {
            format!("the array comes through the pipe; for a field of each item, write `map(.a) | {}()`", function.name)
        }
        ("sum" | "prod" | "min" | "max" | "average", [_, _, ..]) => {
            format!("the numbers are the items of an array: `[1, 2] | {}()`", function.name)
        }
        _ if takes == 0 => format!("its input comes through the pipe: `.a | {}()`", function.name),
        _ => format!("its input comes through the pipe: `.a | {}(…)`", function.name),
    }
}

/// PQW04: a query inside `get` is not evaluated but converted to a string as in JavaScript.
fn uncomputed_key(key: &Expr) -> Option<Warning> {
    let Node::Array(_) = &key.node else { return None };
    let message = format!("a query inside `get` is not evaluated: it stands for the key `{}`", literal_text(&key.node));
    let warning = Warning::new("PQW04", message).with_span(key.span);
    Some(warning.with_help("to read a computed key, write `lookup(map, key)`"))
}

fn static_expected(function: &Function, param: &Param, span: Span) -> Error {
    let message = format!("A constant expected for `{}` in `{}`", param.name, function.signature());
    let error = Error::new(Code::StaticArgument, message).with_span(span).with_label("is a query");
    error.with_help(match (function.name, param.name) {
        ("sort", "direction") => {
            "several keys are one list: `sortBy([.a, .b])`; a direction is `\"desc\"` or a `$name`"
        }
        _ => "write a number or a string, or use a parameter or a name bound by `let`: `$name`",
    })
}

fn option_constant_expected(function: &Function, spec: &OptionSpec, span: Span) -> Error {
    let message = format!("A constant expected for `{}` in `{}`", spec.name, function.signature());
    let error = Error::new(Code::StaticArgument, message).with_span(span).with_label("is a query");
    error.with_help(format!("write {}, or use a parameter: `$name`", spec.expects()))
}

fn scalar_expected(function: &Function, param: &Param, found: Value<'_>, span: Span) -> Error {
    let message = format!("A number or a string expected for `{}` in `{}`", param.name, function.signature());
    let error = Error::new(Code::ArgumentKind, message).with_span(span);
    error.with_label(format!("is {}", container_name(found))).with_help("pass a number or a string as this parameter")
}

/// Error for a parameter that cannot be a key of `get`.
fn key_expected(found: Option<Value<'_>>, span: Span) -> Error {
    const HELP: &str = "use a number or a string; to read a computed key, write `lookup(map, key)`";
    let (code, label) = match found {
        Some(value) => (Code::ArgumentKind, format!("is {}", container_name(value))),
        None => (Code::StaticArgument, "is known only when the query runs".into()),
    };
    let error = Error::new(code, "A key of `get` must be a constant or a parameter that is a number or a string");
    error.with_span(span).with_label(label).with_help(HELP)
}

fn container_name(value: Value<'_>) -> &'static str {
    if let Value::Array(_) = value { "an array" } else { "an object" }
}

/// Returns the bindings of `let`: the entries of an object literal.
fn entries_of(bindings: &Expr) -> Result<&[(syntax::Key, Expr)]> {
    match &bindings.node {
        Node::Array(items) if bindings.head() == Some("object") => match items.get(1).map(|item| &item.node) {
            Some(Node::Object(entries)) => Ok(entries),
            _ => Err(bindings_expected(bindings.span)),
        },
        _ => Err(bindings_expected(bindings.span)),
    }
}

fn bindings_expected(span: Span) -> Error {
    let message = "An object literal expected as first argument of `let`";
    Error::new(Code::ArgumentKind, message).with_span(span).with_help("write `let({name: query}, body)`")
}

/// Checks the name of a binding or a parameter.
fn check_name(name: &str) -> Result<()> {
    if !name.starts_with('_') && name != "root" {
        return Ok(());
    }
    let error = Error::new(Code::UnknownVariable, format!("The name '{name}' is reserved"));
    Err(error.with_help("choose another name"))
}

/// Checks that no parameter is both a value and a graph.
fn check_unique(environment: &Environment<'_>) -> Result<()> {
    let is_value = |name: &&&str| environment.params.iter().any(|(known, _)| known == *name);
    match environment.graph_params.iter().find(is_value) {
        Some(name) => Err(Error::new(Code::UnknownVariable, format!("The parameter '${name}' is a value and a graph"))),
        None => Ok(()),
    }
}

/// Checks the number of arguments of pidq's own functions. JSON Query functions accept missing and surplus arguments.
fn check_count(function: &FunctionRef, expr: &Expr, args: &[Expr]) -> Result<()> {
    if let FunctionRef::Standard(_) = function {
        return Ok(());
    }
    let function = function.row();
    let (min_count, max_count) = argument_counts(function);
    if (min_count..=max_count).contains(&args.len()) {
        return Ok(());
    }
    let (signature, expected) = (function.signature(), counted(min_count, max_count));
    let error = count_error(&signature, function.name(), &expected, expr, args, max_count);
    if let Some(help) = suggest::other_meaning(function.name).filter(|_| args.len() < min_count) {
        return Err(error.with_help(help));
    }
    // `.date | dateFormat("%Y")` expects the function to read the piped value.
    let takes_arguments_only = matches!(function.body, Body::Strict(_) | Body::Batched(..) | Body::Lazy(_));
    Err(match takes_arguments_only && args.len() + 1 == min_count {
        true => error.with_help(format!("write `{signature}`; the value that comes through the pipe is `get()`")),
        false => error,
    })
}

/// Returns the smallest and the largest number of arguments of a function.
fn argument_counts(function: &Function) -> (usize, usize) {
    if let Body::Custom(function) = &function.body {
        return function.argument_counts();
    }
    let min_count = function.params.iter().filter(|param| !param.is_optional).count();
    let is_open = function.params.last().is_some_and(|param| param.is_many);
    (min_count, if is_open { usize::MAX } else { function.params.len() })
}

/// Checks the declared type of an argument of a custom function, if it is known before the run.
#[inline(never)]
fn check_custom_argument(function: &Function, at: usize, plan: &Plan, span: Span) -> Result<()> {
    let Body::Custom(function) = &function.body else { return Ok(()) };
    let type_name = match plan {
        Plan::Constant(constant) => constant.value().type_name(),
        Plan::Array(_) => "array",
        Plan::Object(_) => "object",
        Plan::Parameter(Parameter { type_name: Some(type_name), .. }) => type_name,
        _ => return Ok(()),
    };
    function.check_constant(at, type_name).map_err(|error| error.with_span(span))
}

/// PQW11: JSON Query runs a function even if a required argument is missing.
fn missing_argument(function: &FunctionRef, expr: &Expr, args: &[Expr]) -> Option<Warning> {
    let FunctionRef::Standard(row) = function else { return None };
    let missing = row.params.get(args.len()).filter(|param| !param.is_optional && !param.is_many)?;
    let message = format!("the argument `{}` is missing: `{}`", missing.name, row.signature());
    let warning = Warning::new("PQW11", message).with_span(expr.span);
    Some(match suggest::foreign_name(row.name) {
        Some(foreign) => warning.with_help(foreign.help()),
        None => warning,
    })
}

/// PQW17: as in the reference implementation, every direction but "desc" sorts ascending.
fn unknown_direction(function: &FunctionRef, args: &[Expr]) -> Option<Warning> {
    let FunctionRef::Standard(row) = function else { return None };
    let direction = args.get(1).filter(|_| row.name == "sort")?;
    let is_known = match &direction.node {
        Node::String(text) => ["asc", "desc"].contains(&&**text),
        Node::Array(_) => true,
        _ => false,
    };
    let warning = Warning::new("PQW17", "`sort` does not know this direction and sorts ascending");
    (!is_known).then(|| warning.with_span(direction.span).with_help("write \"asc\" or \"desc\""))
}

/// PQW18: as in the reference implementation, `limit` converts a text to a number, and truncates a fraction.
fn invalid_count(function: &FunctionRef, args: &[Expr]) -> Option<Warning> {
    let FunctionRef::Standard(row) = function else { return None };
    let count = args.first().filter(|_| row.name == "limit")?;
    let is_valid = match &count.node {
        Node::Number(number) => *number >= 0.0 && number.fract() == 0.0,
        Node::String(_) | Node::Bool(_) | Node::Null => false,
        _ => true,
    };
    let warning = Warning::new("PQW18", "`limit` expects a whole number, and converts other values");
    (!is_valid).then(|| warning.with_span(count.span).with_help("write the number of items, as in `limit(10)`"))
}

/// Parts of patterns in other languages, where JavaScript reads other things, and their counterparts.
const FOREIGN_PATTERNS: &[(&str, &str)] = &[
    ("[[:digit:]", "`[0-9]` or `\\\\d`"),
    ("[[:space:]", "`\\\\s`"),
    ("[[:alpha:]", "`[A-Za-z]`"),
    ("[[:alnum:]", "`[A-Za-z0-9]`"),
    ("[[:upper:]", "`[A-Z]`"),
    ("[[:lower:]", "`[a-z]`"),
    ("[[:", "a list of characters such as `[a-z]`"),
    ("\\A", "`^`"),
    ("\\Z", "`$`"),
    ("\\z", "`$`"),
    ("\\h", "`[ \\t]`"),
    ("\\R", "`\\r?\\n`"),
];

/// PQW28: `[[:digit:]]`, which is a class of the characters of that text.
fn foreign_pattern(pattern: &str, span: Span) -> Option<Warning> {
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let found = FOREIGN_PATTERNS.iter().find(|(part, _)| rest.starts_with(part));
        if let Some((part, counterpart)) = found {
            let message = format!("patterns are those of JavaScript, which has no `{part}`");
            return Some(Warning::new("PQW28", message).with_span(span).with_help(format!("write {counterpart}")));
        }
        let escaped = rest[c.len_utf8()..].chars().next().filter(|_| c == '\\').map_or(0, char::len_utf8);
        rest = &rest[c.len_utf8() + escaped..];
    }
    None
}

/// PQW27: as in the reference implementation, `substring` takes a negative start for 0.
fn negative_start(function: &FunctionRef, args: &[Expr]) -> Option<Warning> {
    let FunctionRef::Standard(row) = function else { return None };
    let start = args.get(1).filter(|_| row.name == "substring")?;
    let Node::Number(number) = start.node else { return None };
    let warning = Warning::new("PQW27", "`substring` takes a negative start for 0").with_span(start.span);
    let help = "the last three characters are `split(.a, \"\") | slice(-3) | join(\"\")`, the last items `slice(-3)`";
    (number < 0.0).then(|| warning.with_help(help))
}

/// Operators and functions of operators whose result is a number, a string or a Boolean.
const SCALAR_OPERATORS: [&str; 17] = [
    "eq", "ne", "gt", "gte", "lt", "lte", "in", "not in", "and", "or", "not", "add", "subtract", "multiply", "divide",
    "mod", "pow",
];

/// PQW20: `scan(.result + .item, 0)`, whose arguments are swapped.
fn constant_step(function: &FunctionRef, args: &[Expr]) -> Option<Warning> {
    let FunctionRef::Extension(row) = function else { return None };
    let next = args.get(1).filter(|_| ["reduce", "scan"].contains(&row.name))?;
    if matches!(next.node, Node::Array(_) | Node::Object(_)) {
        return None;
    }
    let message = format!("`{}` gives the same value for every item", row.name);
    let help = format!("the first value comes before the query on each item: `{}(0, .result + .item)`", row.name);
    Some(Warning::new("PQW20", message).with_span(next.span).with_help(help))
}

/// PQW07: `1.2.3` is a number and its field `3`.
fn field_of_number(value: &Expr, path: &Expr) -> Option<Warning> {
    let is_field = matches!(value.node, Node::Number(_)) && path.head() == Some("get");
    let warning = || Warning::new("PQW07", "a number has no fields: the result is null").with_span(path.span);
    is_field.then(|| warning().with_help("a version or date is a text in quotes: `\"1.2.3\"`"))
}

/// Returns whether an expression reads nothing from the input.
fn is_constant(expr: &Expr) -> bool {
    match &expr.node {
        Node::Array(items) => match expr.head() {
            Some("$") => true,
            Some("object" | "array") => items.iter().skip(1).all(is_constant),
            _ => false,
        },
        Node::Object(entries) => entries.iter().all(|(_, value)| is_constant(value)),
        _ => true,
    }
}

fn ignored_input(function: &Function, args: &[Expr], span: Span) -> Warning {
    let message = format!("`{}` ignores the value that comes through the pipe", function.name);
    let help = match function.params.len() > args.len() {
        true => format!("pass that value as the first argument, as in `{}(get(), …)`", function.name),
        false => "`get()` returns that value".into(),
    };
    Warning::new("PQW14", message).with_span(span).with_help(help)
}

/// `no arguments`, `1 argument`, `2 or 3 arguments`, `at least 1 argument`.
fn counted(min_count: usize, max_count: usize) -> String {
    match (min_count, max_count) {
        (0, 0) => "no arguments".into(),
        (1, 1) => "1 argument".into(),
        (_, usize::MAX) => format!("at least {min_count} argument{}", if min_count == 1 { "" } else { "s" }),
        _ if min_count == max_count => format!("{min_count} arguments"),
        _ if min_count + 1 == max_count => {
            format!("{min_count} or {max_count} argument{}", if max_count == 1 { "" } else { "s" })
        }
        _ => format!("{min_count} to {max_count} arguments"),
    }
}

/// Error that points to the surplus arguments, or to the call if some are missing.
fn count_error(signature: &str, name: &str, expected: &str, expr: &Expr, args: &[Expr], max_count: usize) -> Error {
    let message = format!("Function '{name}' takes {expected}, not {}", args.len());
    let help = match (name, args) {
        ("first", [_]) => "use `limit(…)` for the first items, `first()` for the first one".into(),
        _ => format!("write `{signature}`"),
    };
    let error = Error::new(Code::ArgumentCount, message).with_help(help);
    match (args.get(max_count), args.last()) {
        (Some(first), Some(last)) => error.with_span(first.span.to(last.span)).with_label("too many"),
        _ => error.with_span(expr.span).with_label("too few"),
    }
}

fn unknown_option(name: &str, span: Span, known: &[OptionSpec]) -> Error {
    let known: Vec<&'static str> = known.iter().map(|spec| spec.name).collect();
    let mut similar = suggest::nearest(name, known.iter().copied());
    if similar.is_empty() {
        similar.extend(suggest::option_of(name).filter(|option| known.contains(option)));
    }
    let guess = similar.first().map(|similar| format!("did you mean \"{similar}\"? ")).unwrap_or_default();
    let error = Error::new(Code::UnknownOption, format!("unknown option \"{name}\"")).with_span(span);
    let error = error.with_label("unknown option").with_help(format!("{guess}(known: {})", known.join(", ")));
    error.with_suggestions(similar.into_iter().map(str::to_owned).collect())
}

/// Returns the help for another value in place of options. A second item is where the walk is meant to end.
fn options_help(known: &[OptionSpec], found: &Node) -> &'static str {
    let is_walk = known.iter().any(|spec| spec.name == "until");
    match found {
        Node::String(_) if is_walk => {
            "a walk ends at an item with `{until: .tag == \"P-101\"}`; the items between two are `between(\"T-101\", \"P-101\")`"
        }
        _ => "write `{name: value}` as the last argument",
    }
}

fn path_help(arg: &Expr) -> String {
    match &arg.node {
        Node::String(name) => format!("write `.{name}`"),
        _ => "write a path such as `.tag` or `.attributes.size`".into(),
    }
}
