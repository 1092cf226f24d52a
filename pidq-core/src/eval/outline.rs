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
    plan.each_part(|part| look_at(part, ways));
    match plan {
        Plan::Pipe(stages) => stages.windows(2).for_each(|pair| look_at_pair(pair, ways)),
        Plan::Object(fields) => fields.repeated().for_each(|call| ways[call] = Way::Shared),
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
