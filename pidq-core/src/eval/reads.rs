//! What a part of a query reads of its input: where it is one field, its result is the same for equal fields.

use super::function::Body;
use super::plan::{Path, Plan};

/// What a part of a query reads of its input.
#[derive(Clone, Copy)]
pub(crate) enum Reads<'p> {
    Nothing,
    Field(&'p Path),
    More,
}

/// What a plan reads of its input. Recursive: plans are as deep as queries.
pub(crate) fn reads(plan: &Plan) -> Reads<'_> {
    match plan {
        Plan::Get(path) if path.is_plain => Reads::Field(path),
        Plan::Get(_) => Reads::More,
        // Later stages read what the first one gives.
        Plan::Pipe(stages) => stages.first().map_or(Reads::More, |stage| reads(&stage.plan)),
        Plan::Array(items) => reads_all(items),
        Plan::Object(fields) => reads_all(&fields.values),
        Plan::Let(values, body) => reads_all(values).and(reads(body)),
        Plan::Call(call) => match call.function.row().body {
            Body::Strict(_) | Body::Lazy(_) | Body::Search(_) => reads_all(&call.args),
            Body::Piped(_) | Body::Custom(_) | Body::Form => Reads::More,
        },
        Plan::Constant(_) | Plan::Variable(_) | Plan::Parameter(_) | Plan::Root | Plan::Pattern(_) => Reads::Nothing,
    }
}

fn reads_all(plans: &[Plan]) -> Reads<'_> {
    plans.iter().map(reads).fold(Reads::Nothing, Reads::and)
}

impl Reads<'_> {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Reads::Nothing, reads) | (reads, Reads::Nothing) => reads,
            (Reads::Field(a), Reads::Field(b)) if a.names().eq(b.names()) => self,
            _ => Reads::More,
        }
    }
}
