//! Writer of SFILES text, along depth-first searches from the sources.

use std::collections::HashMap;
use std::fmt::Write;

use super::flowsheet::{Flowsheet, Kind};

/// Writes a flowsheet, with its units in the order of their ranks.
pub fn write(flowsheet: &Flowsheet, ranks: &[usize]) -> String {
    let plan = Plan::new(flowsheet, ranks);
    let mut writer = TextWriter {
        flowsheet,
        plan: &plan,
        out: String::new(),
        recycles: HashMap::new(),
        signals: HashMap::new(),
        exchangers: HashMap::new(),
    };
    for (at, root) in plan.independent_roots.iter().enumerate() {
        if at > 0 {
            writer.out.push_str("n|");
        }
        writer.write_search(*root);
    }
    writer.out
}

/// Text after each unit. Connections are indices.
struct Plan {
    independent_roots: Vec<usize>,
    units: Vec<UnitPlan>,
}

#[derive(Clone, Default)]
struct UnitPlan {
    /// Streams to units that follow.
    branches: Vec<usize>,
    recycle_starts: Vec<usize>,
    recycle_ends: Vec<usize>,
    signal_starts: Vec<usize>,
    signal_ends: Vec<usize>,
    /// Stream by which its search enters an earlier one.
    enters: Option<usize>,
    /// Roots of the searches that enter here.
    entering_roots: Vec<usize>,
}

impl Plan {
    fn new(flowsheet: &Flowsheet, ranks: &[usize]) -> Plan {
        let count = flowsheet.units.len();
        let connections = &flowsheet.connections;
        let mut plan = Plan { independent_roots: Vec::new(), units: vec![UnitPlan::default(); count] };
        let mut in_order: Vec<usize> = (0..connections.len()).collect();
        in_order.sort_by_key(|at| {
            let connection = &connections[*at];
            (ranks[connection.from], ranks[connection.to], &connection.tags)
        });
        let (mut streams, mut has_source) = (vec![Vec::new(); count], vec![false; count]);
        for at in in_order {
            let connection = &connections[at];
            if connection.kind == Kind::Signal {
                plan.units[connection.from].signal_starts.push(at);
                plan.units[connection.to].signal_ends.push(at);
            } else {
                streams[connection.from].push(at);
                has_source[connection.to] = true;
            }
        }
        let mut by_rank: Vec<usize> = (0..count).collect();
        by_rank.sort_by_key(|unit| ranks[*unit]);
        let (mut sources, mut others): (Vec<usize>, Vec<usize>) =
            by_rank.into_iter().partition(|unit| !has_source[*unit]);
        // The streams come before control units that are connected by signals only.
        sources.sort_by_key(|unit| streams[*unit].is_empty());
        others.sort_by_key(|unit| streams[*unit].is_empty());
        let mut search_of = vec![None; count];
        // The rest has no source: it is a cycle, or behind one.
        for root in sources.into_iter().chain(others) {
            if search_of[root].is_none() {
                plan.search(root, flowsheet, &streams, &mut search_of);
            }
        }
        plan
    }

    /// Searches the units behind a root. The first stream to a unit of an earlier search enters that search.
    fn search(&mut self, root: usize, flowsheet: &Flowsheet, streams: &[Vec<usize>], search_of: &mut [Option<usize>]) {
        let mut entered = None;
        search_of[root] = Some(root);
        let mut stack = vec![(root, 0)];
        while let Some((unit, next)) = stack.last_mut() {
            let Some(stream) = streams[*unit].get(*next).copied() else {
                stack.pop();
                continue;
            };
            *next += 1;
            let (from, to) = (*unit, flowsheet.connections[stream].to);
            match search_of[to] {
                None => {
                    self.units[from].branches.push(stream);
                    search_of[to] = Some(root);
                    stack.push((to, 0));
                }
                Some(search) if search != root && entered.is_none() => {
                    self.units[from].enters = Some(stream);
                    entered = Some(to);
                }
                Some(_) => {
                    self.units[from].recycle_starts.push(stream);
                    self.units[to].recycle_ends.push(stream);
                }
            }
        }
        match entered {
            Some(unit) => self.units[unit].entering_roots.push(root),
            None => self.independent_roots.push(root),
        }
    }
}

/// Next part of the text.
enum Step {
    Unit(usize),
    Text(&'static str),
    Tags(usize),
}

struct TextWriter<'f> {
    flowsheet: &'f Flowsheet,
    plan: &'f Plan,
    out: String,
    /// Numbers by connection and by heat exchanger, in the order of the text.
    recycles: HashMap<usize, usize>,
    signals: HashMap<usize, usize>,
    exchangers: HashMap<usize, usize>,
}

impl TextWriter<'_> {
    /// Writes a search and those that enter it. Not recursive: a line may have thousands of units.
    fn write_search(&mut self, root: usize) {
        let mut steps = vec![Step::Unit(root)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Text(text) => self.out.push_str(text),
                Step::Tags(connection) => self.write_tags(connection),
                Step::Unit(unit) => {
                    self.write_unit(unit);
                    steps.extend(self.steps_after(unit).into_iter().rev());
                }
            }
        }
    }

    /// Returns what follows a unit: searches that enter it, branches, and the last branch as its continuation.
    fn steps_after(&self, unit: usize) -> Vec<Step> {
        let plan = &self.plan.units[unit];
        let mut steps = Vec::new();
        for root in &plan.entering_roots {
            steps.extend([Step::Text("<&|"), Step::Unit(*root), Step::Text("|")]);
        }
        for (at, stream) in plan.branches.iter().enumerate() {
            let is_last = at + 1 == plan.branches.len();
            let branch = [Step::Tags(*stream), Step::Unit(self.flowsheet.connections[*stream].to)];
            if is_last {
                steps.extend(branch);
            } else {
                steps.push(Step::Text("["));
                steps.extend(branch);
                steps.push(Step::Text("]"));
            }
        }
        steps
    }

    /// Writes a unit, and the ends of its recycles and signals. Those that start here come first, since a digit after
    /// `<1` would belong to that number.
    fn write_unit(&mut self, at: usize) {
        let (unit, plan) = (&self.flowsheet.units[at], &self.plan.units[at]);
        let _ = write!(self.out, "({})", unit.name);
        if let Some(exchanger) = unit.exchanger {
            let next = self.exchangers.len() + 1;
            let number = *self.exchangers.entry(exchanger).or_insert(next);
            let _ = write!(self.out, "{{{number}}}");
        }
        if let Some(letters) = &unit.letters {
            let _ = write!(self.out, "{{{letters}}}");
        }
        for (number, connection) in numbers(&mut self.recycles, &plan.recycle_starts) {
            self.write_tags(connection);
            let _ = write!(self.out, "{}{number}", if number > 9 { "%" } else { "" });
        }
        for (number, _) in numbers(&mut self.signals, &plan.signal_starts) {
            let _ = write!(self.out, "_{number}");
        }
        if let Some(stream) = plan.enters {
            self.write_tags(stream);
            self.out.push('&');
        }
        for (number, _) in numbers(&mut self.recycles, &plan.recycle_ends) {
            let _ = write!(self.out, "<{number}");
        }
        for (number, _) in numbers(&mut self.signals, &plan.signal_ends) {
            let _ = write!(self.out, "<_{number}");
        }
    }

    fn write_tags(&mut self, connection: usize) {
        for tag in &self.flowsheet.connections[connection].tags {
            let _ = write!(self.out, "{{{tag}}}");
        }
    }
}

/// Returns the numbers of connections in ascending order; new ones get the next number.
fn numbers(known: &mut HashMap<usize, usize>, connections: &[usize]) -> Vec<(usize, usize)> {
    let mut numbers: Vec<(usize, usize)> = Vec::with_capacity(connections.len());
    for connection in connections {
        let next = known.len() + 1;
        numbers.push((*known.entry(*connection).or_insert(next), *connection));
    }
    numbers.sort_unstable();
    numbers
}
