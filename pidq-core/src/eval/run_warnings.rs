//! Warnings of a run: edges of unknown direction that were followed, sides of equipment that are not stated, truncated
//! lists, items and operands that are no numbers, null searched as a text, and integers that are compared as doubles.
//!
//! Only warnings that contributed to the result are kept: those of a failed part are rolled back with it. So an
//! optimized run gives the same warnings as an unoptimized one.

use hashbrown::HashSet;

use super::EvalContext;
use super::call_stats::Strategy;
use super::plan::Call;
use crate::error::{Result, Warning};
use crate::value::{Value, write};

/// Bytes that a warning counts for, including its entry in the set of known ones.
const WARNING_SIZE: usize = 128;

/// Warning recorded by a call.
#[derive(Clone, Copy)]
enum PendingWarning<'a> {
    /// An edge of unknown direction was followed: its index, and its id if it may have to be shown.
    AssumedDirection(u32, Value<'a>),
    /// A walk kept to a side of equipment, and the side of a port is not stated: the port, and its id if it may have to
    /// be shown.
    UnstatedSide(u32, Value<'a>),
    /// A result rests on an item that may not be there: its index, its id and its state.
    AbsentNode(u32, Value<'a>, &'static str),
    /// The same for a pipe.
    AbsentPipe(u32, Value<'a>, &'static str),
    /// A list was truncated after a number of items.
    TruncatedList(usize, &'static str),
    /// An item of an aggregate is no number.
    NonNumericItem(NonNumericItem),
    /// A pattern matches the text of null.
    NullMatched,
    /// An operand of arithmetic is no number.
    NonNumericOperand(NonNumericOperand),
    /// A number is written with an exponent, which `round` does not read.
    RoundedExponent(Value<'a>),
    /// Integers that differ are equal as doubles: one of them.
    RoundedInteger(Value<'a>),
}

/// Kind of an operand that is converted, so that the result may not be the one that was meant.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum NonNumericOperand {
    /// Null counts as 0.
    Null,
    /// A text that is no number makes the result null.
    Text,
    /// An object makes the result null.
    Object,
    /// `+` joins an object as a text.
    JoinedObject,
    /// `+` joins an array and a number as texts.
    JoinedArray,
    /// `+` joins two arrays as texts.
    JoinedArrays,
    /// `+` joins two objects as texts.
    JoinedObjects,
}

/// Kind of an item that an aggregate such as `max` converts to a number, so that its result may not be the one that was
/// meant. In ascending order of severity.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum NonNumericItem {
    /// Null counts as 0.
    Null,
    /// A text that is no number makes the result null.
    Text,
    /// A text turns the sum into a text.
    JoinedText,
    /// An array or an object is converted to a text first.
    Container,
}

impl PendingWarning<'_> {
    /// Key that identifies it among the warnings of the same call.
    fn key(&self) -> (u8, usize) {
        match self {
            PendingWarning::AssumedDirection(edge, _) => (0, *edge as usize),
            PendingWarning::TruncatedList(count, _) => (1, *count),
            PendingWarning::UnstatedSide(port, _) => (2, *port as usize),
            PendingWarning::AbsentNode(node, ..) => (3, *node as usize),
            PendingWarning::AbsentPipe(pipe, ..) => (4, *pipe as usize),
            PendingWarning::NonNumericItem(kind) => (5, *kind as usize),
            PendingWarning::NullMatched => (6, 0),
            PendingWarning::NonNumericOperand(kind) => (7, *kind as usize),
            PendingWarning::RoundedExponent(_) => (8, 0),
            PendingWarning::RoundedInteger(_) => (9, 0),
        }
    }
}

/// The warnings of a run.
#[derive(Default)]
pub(super) struct RunWarnings<'a> {
    /// Warnings of the running call; its id is not known yet.
    pending: Vec<PendingWarning<'a>>,
    /// Call id and warning, without duplicates.
    recorded: Vec<(usize, PendingWarning<'a>)>,
    known: HashSet<(usize, (u8, usize))>,
}

impl RunWarnings<'_> {
    pub fn len(&self) -> usize {
        self.recorded.len()
    }

    /// Drops all but the first `count` warnings.
    pub fn truncate(&mut self, count: usize) {
        for (call, warning) in self.recorded.drain(count.min(self.recorded.len())..) {
            self.known.remove(&(call, warning.key()));
        }
    }
}

impl<'a> EvalContext<'a> {
    /// Records the edges that the running call followed in a direction that the drawing does not define. Must be the
    /// last thing a function does before it returns: a nested call would take these warnings as its own.
    ///
    /// Looks up the id of the first edge only, since no other one is shown.
    pub(crate) fn warn_assumed_directions(
        &mut self,
        edges: impl Iterator<Item = u32>,
        id: impl Fn(u32) -> Value<'a>,
    ) -> Result<()> {
        let edges: Vec<u32> = edges.collect();
        let Some(first) = edges.iter().min() else { return Ok(()) };
        self.reserve(edges.len() * WARNING_SIZE)?;
        self.set_strategy(Strategy::Warned);
        let shown = |edge: u32| if edge == *first { id(edge) } else { Value::Undefined };
        self.run_warnings
            .pending
            .extend(edges.iter().map(|edge| PendingWarning::AssumedDirection(*edge, shown(*edge))));
        Ok(())
    }

    /// Records the ports of equipment that the running call passed or did not pass although their side is not stated.
    /// Must be called last, like [`EvalContext::warn_assumed_directions`].
    pub(crate) fn warn_unstated_sides(&mut self, ports: &[u32], id: impl Fn(u32) -> Value<'a>) -> Result<()> {
        let Some(first) = ports.iter().min().copied() else { return Ok(()) };
        self.reserve(ports.len() * WARNING_SIZE)?;
        self.set_strategy(Strategy::Warned);
        let shown = |port: u32| if port == first { id(port) } else { Value::Undefined };
        self.run_warnings.pending.extend(ports.iter().map(|port| PendingWarning::UnstatedSide(*port, shown(*port))));
        Ok(())
    }

    /// Records the items and pipes that the result rests on and that may not be there, with their ids and states. Must be
    /// called last, like [`EvalContext::warn_assumed_directions`].
    pub(crate) fn warn_absences(
        &mut self,
        nodes: impl IntoIterator<Item = (u32, Value<'a>, &'static str)>,
        pipes: impl IntoIterator<Item = (u32, Value<'a>, &'static str)>,
    ) -> Result<()> {
        for (node, id, state) in nodes {
            self.push_pending(PendingWarning::AbsentNode(node, id, state))?;
        }
        for (pipe, id, state) in pipes {
            self.push_pending(PendingWarning::AbsentPipe(pipe, id, state))?;
        }
        Ok(())
    }

    /// Records that the running call truncated its list.
    pub(crate) fn warn_truncated(&mut self, count: usize, items: &'static str) -> Result<()> {
        self.push_pending(PendingWarning::TruncatedList(count, items))
    }

    /// Records that the running call, an aggregate, converted an item that is no number.
    pub(crate) fn warn_non_numeric(&mut self, kind: NonNumericItem) -> Result<()> {
        self.push_pending(PendingWarning::NonNumericItem(kind))
    }

    /// Records that the running call, a search, matched the text of null.
    pub(crate) fn warn_null_matched(&mut self) -> Result<()> {
        self.push_pending(PendingWarning::NullMatched)
    }

    /// Records that the running call, an operator, converted an operand that is no number.
    pub(crate) fn warn_operand(&mut self, kind: NonNumericOperand) -> Result<()> {
        self.push_pending(PendingWarning::NonNumericOperand(kind))
    }

    /// Records that `round` gave null for a number.
    pub(crate) fn warn_rounded_exponent(&mut self, number: Value<'a>) -> Result<()> {
        self.push_pending(PendingWarning::RoundedExponent(number))
    }

    /// Records that the running call took an integer for another one with the same double. Must be called last, like
    /// [`EvalContext::warn_assumed_directions`].
    pub(crate) fn warn_rounded(&mut self, integer: Value<'a>) -> Result<()> {
        self.push_pending(PendingWarning::RoundedInteger(integer))
    }

    /// Records a key of the running call that is an integer whose double is another one.
    pub(crate) fn warn_rounded_key(&mut self, key: Option<Value<'a>>) -> Result<()> {
        key.map_or(Ok(()), |key| self.warn_rounded(key))
    }

    #[cold]
    fn push_pending(&mut self, warning: PendingWarning<'a>) -> Result<()> {
        self.reserve(WARNING_SIZE)?;
        self.run_warnings.pending.push(warning);
        self.set_strategy(Strategy::Warned);
        Ok(())
    }

    /// Returns whether the running call recorded a warning.
    #[inline]
    pub(super) fn has_pending_warnings(&self) -> bool {
        !self.run_warnings.pending.is_empty()
    }

    /// Drops the warnings of the running call: what recorded them is evaluated again.
    pub(super) fn drop_pending_warnings(&mut self) {
        if self.has_pending_warnings() {
            self.release(WARNING_SIZE * self.run_warnings.pending.len());
            self.run_warnings.pending.clear();
        }
    }

    /// Assigns the pending warnings to the call that ends, if it succeeded.
    #[cold]
    pub(super) fn attach_warnings(&mut self, call: &Call, result: &Result<Value<'a>>) {
        let pending = std::mem::take(&mut self.run_warnings.pending);
        self.run_warnings.known.reserve(pending.len());
        for warning in pending {
            if result.is_ok() && self.run_warnings.known.insert((call.id, warning.key())) {
                self.run_warnings.recorded.push((call.id, warning));
            } else {
                self.release(WARNING_SIZE);
            }
        }
    }

    /// Returns the warnings of a call of a function.
    pub(crate) fn warnings_of_call(&self, call: usize, function: &str) -> Vec<Warning> {
        let mut assumed: Option<(usize, u32, Value<'a>)> = None;
        let mut unstated: Option<(usize, u32, Value<'a>)> = None;
        let add = |known: Option<(usize, u32, Value<'a>)>, at: u32, id: Value<'a>| {
            let (count, first, first_id) = known.unwrap_or((0, at, id));
            let (first, first_id) = if at < first { (at, id) } else { (first, first_id) };
            Some((count + 1, first, first_id))
        };
        let mut absent: Option<Absent<'a>> = None;
        let mut truncated: Option<(usize, &'static str)> = None;
        let mut non_numeric: Option<NonNumericItem> = None;
        let mut is_null_matched = false;
        let mut operands: Vec<NonNumericOperand> = Vec::new();
        let mut numbers: Vec<Warning> = Vec::new();
        for (_, warning) in self.run_warnings.recorded.iter().filter(|(of, _)| *of == call) {
            match *warning {
                PendingWarning::AssumedDirection(edge, id) => assumed = add(assumed, edge, id),
                PendingWarning::UnstatedSide(port, id) => unstated = add(unstated, port, id),
                PendingWarning::AbsentNode(node, id, state) => Absent::add(&mut absent, (1, node), id, state),
                PendingWarning::AbsentPipe(pipe, id, state) => Absent::add(&mut absent, (0, pipe), id, state),
                PendingWarning::TruncatedList(count, items) => truncated = truncated.max(Some((count, items))),
                PendingWarning::NonNumericItem(kind) => non_numeric = non_numeric.max(Some(kind)),
                PendingWarning::NullMatched => is_null_matched = true,
                PendingWarning::NonNumericOperand(kind) => operands.push(kind),
                PendingWarning::RoundedExponent(number) => numbers.push(exponent_not_rounded(number)),
                PendingWarning::RoundedInteger(integer) => numbers.push(rounded_integer(integer, function)),
            }
        }
        let assumed = assumed.map(|(count, _, id)| direction_assumed(count, id));
        let unstated = unstated.map(|(count, _, id)| side_unstated(count, id));
        assumed
            .into_iter()
            .chain(unstated)
            .chain(absent.map(Absent::warning))
            .chain(truncated.map(|(count, items)| list_truncated(count, items)))
            .chain(non_numeric.map(|kind| item_not_numeric(kind, function)))
            .chain(is_null_matched.then(|| null_matched(function)))
            .chain(operands.into_iter().max().map(|kind| operand_not_numeric(kind, function)))
            .chain(numbers)
            .collect()
    }

    /// Returns true if any warning was recorded.
    pub(crate) fn has_run_warnings(&self) -> bool {
        self.run_warnings.len() > 0
    }
}

fn direction_assumed(count: usize, id: Value<'_>) -> Warning {
    let name = write::to_string(id);
    let edges = if count == 1 { "an edge" } else { &format!("{count} edges") };
    let message = format!("this follows {edges} of unknown or dual direction, such as {name}");
    Warning::new("PQW08", message).with_help("`trace()` marks the nodes reached through them with `assumed`")
}

/// Items and pipes of a call that may not be there: their number, and the one to show, a pipe if there is one.
struct Absent<'a> {
    count: usize,
    first: (u8, u32),
    id: Value<'a>,
    state: &'static str,
}

impl<'a> Absent<'a> {
    fn add(known: &mut Option<Absent<'a>>, at: (u8, u32), id: Value<'a>, state: &'static str) {
        let absent = known.get_or_insert(Absent { count: 0, first: at, id, state });
        absent.count += 1;
        if at < absent.first {
            (absent.first, absent.id, absent.state) = (at, id, state);
        }
    }

    fn warning(self) -> Warning {
        let name = match self.first.0 {
            _ if self.id.is_null() => "one without an id".into(),
            0 => format!("the pipe {}", write::to_string(self.id)),
            _ => write::to_string(self.id),
        };
        let state = self.state;
        let message = match self.count {
            1 => format!("this passes {name}, which may not carry flow: `{state}`"),
            count => format!("this passes {count} items and pipes that may not carry flow, such as {name}: `{state}`"),
        };
        Warning::new("PQW19", message).with_help("walks leave out what is not there with `{absent: \"avoid\"}`")
    }
}

fn side_unstated(count: usize, id: Value<'_>) -> Warning {
    let name = write::to_string(id);
    let message = match count {
        1 => format!("the drawing does not state on which side of its equipment {name} is"),
        _ => format!("the drawing does not state on which side of their equipment {count} nozzles are, such as {name}"),
    };
    Warning::new("PQW16", message).with_help("state its chamber, or pass equipment on all sides: `{pass: \"any\"}`")
}

fn list_truncated(count: usize, items: &str) -> Warning {
    Warning::new("PQW09", format!("there are more than {count} {items}: the result is truncated"))
        .with_help("raise `limit`, or narrow the query")
}

fn null_matched(function: &str) -> Warning {
    Warning::new("PQW24", format!("`{function}` searches null as the text `null`, and the pattern matches it"))
        .with_help("leave out what is null: `.a != null and regex(.a, \"x\")`")
}

fn item_not_numeric(kind: NonNumericItem, function: &str) -> Warning {
    let (message, help) = match kind {
        NonNumericItem::Null => (
            format!("`{function}` counts an item that is null as 0"),
            format!("leave such items out: `filter(get() != null) | {function}()`"),
        ),
        NonNumericItem::Text if ["min", "max"].contains(&function) => {
            let end = if function == "min" { "first" } else { "last" };
            (
                format!("`{function}` compares numbers, and an item is none: the result is null"),
                format!("of strings, such as dates, take the {end} one: `sort() | {end}()`"),
            )
        }
        NonNumericItem::Text => (
            format!("`{function}` takes numbers, and an item is none"),
            format!("take those that are numbers: `map(toNumber(get())) | filter(get() != null) | {function}()`"),
        ),
        NonNumericItem::JoinedText => (
            format!("`{function}` joins its items as texts, since one is no number"),
            format!("convert them to numbers: `map(toNumber(get())) | {function}()`"),
        ),
        NonNumericItem::Container => (
            format!("`{function}` takes numbers, and an item is an array or an object"),
            format!("take a number of each item, as in `map(.a) | {function}()`"),
        ),
    };
    Warning::new("PQW05", message).with_help(help)
}

/// Message and help of PQW21 for `+` of two arrays, and of two objects.
pub(crate) const ARRAYS_JOINED: (&str, &str) =
    ("`+` joins two arrays as texts", "the items of both are `[.a, .b] | flatten()`");
pub(crate) const OBJECTS_JOINED: (&str, &str) =
    ("`+` joins two objects as texts", "the properties of both are `merge(.a, .b)`");

/// Message and help of PQW21 for `+`.
pub(crate) const OBJECT_JOINED: &str = "`+` joins an object as the text `[object Object]`";
pub(crate) const ARRAY_JOINED: &str = "`+` joins an array and a number as texts";
pub(crate) const JOINED_HELP: &str = "take a value of it, as in `.a.b`; as JSON, it is `toJson(.a)`";

/// Operators by the names of their functions.
const OPERATORS: &[(&str, &str)] = &[
    ("add", "+"),
    ("subtract", "-"),
    ("multiply", "*"),
    ("divide", "/"),
    ("mod", "%"),
    ("pow", "^"),
    ("eq", "=="),
    ("ne", "!="),
    ("gt", ">"),
    ("gte", ">="),
    ("lt", "<"),
    ("lte", "<="),
];

/// Returns the operator of a function, or else its name.
fn operator(function: &str) -> &str {
    OPERATORS.iter().find(|(name, _)| *name == function).map_or(function, |(_, operator)| operator)
}

fn operand_not_numeric(kind: NonNumericOperand, function: &str) -> Warning {
    let operator = operator(function);
    let (code, message, help) = match kind {
        NonNumericOperand::Null => (
            "PQW05",
            format!("`{operator}` counts null as 0"),
            "leave null out, as in `filter(.a != null)`, or give it a value: `coalesce(.a, 0)`",
        ),
        NonNumericOperand::Text => (
            "PQW05",
            format!("`{operator}` takes numbers, and a text is none: the result is null"),
            "the time between two dates is `dateDiff(.a, .b, \"days\")`; a decimal comma is replaced: `toNumber(replace(.a, \",\", \".\"))`",
        ),
        NonNumericOperand::Object => (
            "PQW21",
            format!("`{operator}` takes numbers, and an object is none: the result is null"),
            "take a number of it, as in `.a.b`",
        ),
        NonNumericOperand::JoinedObject => ("PQW21", OBJECT_JOINED.into(), JOINED_HELP),
        NonNumericOperand::JoinedArray => ("PQW21", ARRAY_JOINED.into(), JOINED_HELP),
        NonNumericOperand::JoinedArrays => ("PQW21", ARRAYS_JOINED.0.into(), ARRAYS_JOINED.1),
        NonNumericOperand::JoinedObjects => ("PQW21", OBJECTS_JOINED.0.into(), OBJECTS_JOINED.1),
    };
    Warning::new(code, message).with_help(help)
}

fn exponent_not_rounded(number: Value<'_>) -> Warning {
    let text = write::to_string(number);
    let message = format!("`round` gives null for a number that is written with an exponent, such as {text}");
    Warning::new("PQW27", message).with_help("such a number is rounded by `toNumber(formatNumber(.a, 8))`")
}

fn rounded_integer(integer: Value<'_>, function: &str) -> Warning {
    let (digits, double) = (write::to_string(integer), integer.as_f64().unwrap_or(f64::NAN));
    let message =
        format!("`{}` takes {digits} for {double:.0}: numbers are doubles, exact up to 2^53", operator(function));
    Warning::new("PQW26", message)
        .with_help("compare the digits, as texts: `toJson(.id) == \"123\"`, `groupBy(toJson(.id))`")
}
