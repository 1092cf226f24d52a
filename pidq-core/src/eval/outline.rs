//! How the calls of a plan may come to their results, as far as the plan itself says it.

use super::cost::Way;
use super::fuse::Fusion;
use super::plan::{Plan, Stage};

/// By call: the way that it may take; the plain one where only a document tells.
pub(crate) fn ways(plan: &Plan, calls: usize) -> Vec<Way> {
    let mut ways = vec![Way::Plain; calls];
    look_at(plan, &mut ways);
    ways
}

/// Recursive: as deep as the query.
fn look_at(plan: &Plan, ways: &mut [Way]) {
    match plan {
        Plan::Pipe(stages) => {
            stages.windows(2).for_each(|pair| look_at_pair(pair, ways));
            stages.iter().for_each(|stage| look_at(&stage.plan, ways));
        }
        Plan::Array(items) => items.iter().for_each(|item| look_at(item, ways)),
        Plan::Object(fields) => {
            fields.values.iter().for_each(|value| look_at(value, ways));
            fields.repeated().for_each(|call| ways[call] = Way::Shared);
        }
        Plan::Let(values, body) => values.iter().chain([&**body]).for_each(|value| look_at(value, ways)),
        Plan::Call(call) => call.args.iter().for_each(|arg| look_at(arg, ways)),
        _ => {}
    }
}

/// Two neighbours that may run as one.
fn look_at_pair(pair: &[Stage], ways: &mut [Way]) {
    let (of_first, of_second) = match pair[0].fusion {
        Some(Fusion::Count | Fusion::CountGroups) => (Way::Count, Way::Count),
        Some(Fusion::First(_)) => (Way::Top, Way::Plain),
        None => return,
    };
    for (stage, way) in pair.iter().zip([of_first, of_second]) {
        if let Plan::Call(call) = &stage.plan {
            ways[call.id] = way;
        }
    }
}
