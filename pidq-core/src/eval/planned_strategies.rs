//! Strategies of calls as far as the plan alone determines them.

use super::call_stats::Strategy;
use super::plan::fusion::Fusion;
use super::plan::{Plan, Stage};

/// Returns the strategy by call; plain if it depends on the document.
pub(crate) fn static_strategies(plan: &Plan, calls: usize) -> Vec<Strategy> {
    let mut strategies = vec![Strategy::Plain; calls];
    visit(plan, &mut strategies);
    strategies
}

/// Recursive: as deep as the query.
fn visit(plan: &Plan, strategies: &mut [Strategy]) {
    plan.for_each_child(|part| visit(part, strategies));
    match plan {
        Plan::Pipe(stages) => stages.windows(2).for_each(|pair| visit_pair(pair, strategies)),
        Plan::Object(fields) => fields.repeated_calls().for_each(|call| strategies[call] = Strategy::Shared),
        _ => {}
    }
}

/// Sets the strategies of two adjacent stages that may be fused.
fn visit_pair(pair: &[Stage], strategies: &mut [Strategy]) {
    let (of_first, of_second) = match pair[0].fusion {
        Some(Fusion::Count | Fusion::CountGroups) => (Strategy::Count, Strategy::Count),
        Some(Fusion::First(_)) => (Strategy::Top, Strategy::Plain),
        None => return,
    };
    for (stage, strategy) in pair.iter().zip([of_first, of_second]) {
        if let Plan::Call(call) = &stage.plan {
            strategies[call.id] = strategy;
        }
    }
}
