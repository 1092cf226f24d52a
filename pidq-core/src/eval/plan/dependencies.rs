//! Dependency analysis: the part of its input that a plan reads. A plan that reads a single field has equal results for
//! equal fields.
//!
//! Calls store their result, so that it is computed once.

use super::function::Body;
use super::{FunctionRef, Path, Plan};

/// Part of its input that a call reads.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DependencyKind {
    Nothing,
    OneField,
    More,
}

/// Part of its input that a plan reads.
#[derive(Clone, Copy)]
pub(crate) enum Dependency<'p> {
    Nothing,
    Field(&'p Path),
    More,
}

/// Returns the part of its input that a plan reads. Visits each part of the plan at most once.
pub(crate) fn dependency(plan: &Plan) -> Dependency<'_> {
    match plan {
        Plan::Get(path) if path.is_plain => Dependency::Field(path),
        Plan::Get(_) => Dependency::More,
        // Later stages read the result of the first one, so they must be deterministic.
        Plan::Pipe(stages) => match stages.split_first() {
            Some((first, rest)) if rest.iter().all(|stage| is_deterministic(&stage.plan)) => dependency(&first.plan),
            _ => Dependency::More,
        },
        Plan::Array(items) => merged_dependency(items.iter()),
        Plan::Object(fields) => merged_dependency(fields.values.iter()),
        Plan::Let(values, body) => merged_dependency(values.iter().chain([&**body])),
        Plan::Call(call) => match call.dependency {
            DependencyKind::Nothing => Dependency::Nothing,
            DependencyKind::OneField => first_field(&call.args),
            DependencyKind::More => Dependency::More,
        },
        Plan::Constant(_) | Plan::Variable(_) | Plan::Parameter(_) | Plan::GraphParameter(_) => Dependency::Nothing,
        Plan::Root | Plan::Pattern(_) => Dependency::Nothing,
    }
}

fn merged_dependency<'p>(plans: impl Iterator<Item = &'p Plan>) -> Dependency<'p> {
    let mut first: Option<&Path> = None;
    for plan in plans {
        match dependency(plan) {
            Dependency::Nothing => {}
            Dependency::Field(path) if first.is_none_or(|first| first.names().eq(path.names())) => first = Some(path),
            _ => return Dependency::More,
        }
    }
    first.map_or(Dependency::Nothing, Dependency::Field)
}

fn first_field(args: &[Plan]) -> Dependency<'_> {
    let mut sources = args.iter().map(dependency);
    sources.find(|source| matches!(source, Dependency::Field(_))).unwrap_or(Dependency::More)
}

/// Returns the field that a plan reads, if it reads one field and nothing else.
pub(crate) fn single_field(plan: &Plan) -> Option<&Path> {
    match dependency(plan) {
        Dependency::Field(path) => Some(path),
        _ => None,
    }
}

/// Returns true if a plan has the same result for every input.
pub(crate) fn is_fixed(plan: &Plan) -> bool {
    matches!(dependency(plan), Dependency::Nothing)
}

/// Returns the part of its input that a call reads.
pub(in crate::eval) fn call_dependency(function: &FunctionRef, args: &[Plan]) -> DependencyKind {
    match function.row().body {
        Body::Piped(_) | Body::Folded(..) | Body::Counted(..) | Body::Custom(_) | Body::SpecialForm => {
            DependencyKind::More
        }
        Body::Strict(_) | Body::Batched(..) | Body::Lazy(_) | Body::Search(_) => match merged_dependency(args.iter()) {
            Dependency::Nothing => DependencyKind::Nothing,
            Dependency::Field(_) => DependencyKind::OneField,
            Dependency::More => DependencyKind::More,
        },
    }
}

/// Returns true if a plan always has the same result for the same input; custom functions may not.
pub(crate) fn is_deterministic(plan: &Plan) -> bool {
    match plan {
        Plan::Pipe(stages) => stages.iter().all(|stage| is_deterministic(&stage.plan)),
        Plan::Array(items) => items.iter().all(is_deterministic),
        Plan::Object(fields) => fields.values.iter().all(is_deterministic),
        Plan::Let(values, body) => values.iter().all(is_deterministic) && is_deterministic(body),
        Plan::Call(call) => call.is_deterministic,
        _ => true,
    }
}

pub(in crate::eval) fn is_deterministic_call(function: &FunctionRef, args: &[Plan]) -> bool {
    !matches!(function, FunctionRef::Custom(_)) && args.iter().all(is_deterministic)
}
