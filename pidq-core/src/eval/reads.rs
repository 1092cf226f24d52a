//! What a part of a query reads of its input: where it is one field, its result is the same for equal fields.
//!
//! Calls know it of themselves, so that nobody has to look into them again and again.

use super::function::Body;
use super::plan::{FunctionRef, Path, Plan};

/// What a call reads of its input.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Reads {
    Nothing,
    OneField,
    More,
}

/// What a part of a query reads of its input.
#[derive(Clone, Copy)]
pub(crate) enum Source<'p> {
    Nothing,
    Field(&'p Path),
    More,
}

/// What a plan reads of its input. Each part of it is looked at once at most.
pub(crate) fn source(plan: &Plan) -> Source<'_> {
    match plan {
        Plan::Get(path) if path.is_plain => Source::Field(path),
        Plan::Get(_) => Source::More,
        // Later stages read what the first one gives. What they make of it has to be the same each time.
        Plan::Pipe(stages) => match stages.split_first() {
            Some((first, rest)) if rest.iter().all(|stage| is_pure(&stage.plan)) => source(&first.plan),
            _ => Source::More,
        },
        Plan::Array(items) => of_all(items.iter()),
        Plan::Object(fields) => of_all(fields.values.iter()),
        Plan::Let(values, body) => of_all(values.iter().chain([&**body])),
        Plan::Call(call) => match call.reads {
            Reads::Nothing => Source::Nothing,
            Reads::OneField => first_field(&call.args),
            Reads::More => Source::More,
        },
        Plan::Constant(_) | Plan::Variable(_) | Plan::Parameter(_) | Plan::Root | Plan::Pattern(_) => Source::Nothing,
    }
}

fn of_all<'p>(plans: impl Iterator<Item = &'p Plan>) -> Source<'p> {
    let mut first: Option<&Path> = None;
    for plan in plans {
        match source(plan) {
            Source::Nothing => {}
            Source::Field(path) if first.is_none_or(|first| first.names().eq(path.names())) => first = Some(path),
            _ => return Source::More,
        }
    }
    first.map_or(Source::Nothing, Source::Field)
}

fn first_field(args: &[Plan]) -> Source<'_> {
    let mut sources = args.iter().map(source);
    sources.find(|source| matches!(source, Source::Field(_))).unwrap_or(Source::More)
}

/// The field that a plan reads, if it reads one and nothing else.
pub(crate) fn field(plan: &Plan) -> Option<&Path> {
    match source(plan) {
        Source::Field(path) => Some(path),
        _ => None,
    }
}

/// Whether a plan has the same result for every input.
pub(crate) fn is_fixed(plan: &Plan) -> bool {
    matches!(source(plan), Source::Nothing)
}

/// What a call reads of its input.
pub(super) fn of_call(function: &FunctionRef, args: &[Plan]) -> Reads {
    match function.row().body {
        Body::Piped(_) | Body::Counted(..) | Body::Custom(_) | Body::Form => Reads::More,
        Body::Strict(_) | Body::Lazy(_) | Body::Search(_) => match of_all(args.iter()) {
            Source::Nothing => Reads::Nothing,
            Source::Field(_) => Reads::OneField,
            Source::More => Reads::More,
        },
    }
}

/// Whether a plan gives the same each time: functions of the embedding program may not.
pub(crate) fn is_pure(plan: &Plan) -> bool {
    match plan {
        Plan::Pipe(stages) => stages.iter().all(|stage| is_pure(&stage.plan)),
        Plan::Array(items) => items.iter().all(is_pure),
        Plan::Object(fields) => fields.values.iter().all(is_pure),
        Plan::Let(values, body) => values.iter().all(is_pure) && is_pure(body),
        Plan::Call(call) => call.is_pure,
        _ => true,
    }
}

pub(super) fn is_pure_call(function: &FunctionRef, args: &[Plan]) -> bool {
    !matches!(function, FunctionRef::Custom(_)) && args.iter().all(is_pure)
}
