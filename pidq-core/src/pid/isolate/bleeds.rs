//! Drains, vents and bleeds at a barrier, and the isolation method that they make possible.

use super::hand_valves::{HandValve, hand_valve, separates};
use super::is_unknown;
use crate::error::Result;
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::{Passage, Role};
use crate::graph::snake_case::snake_case;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
pub(super) use crate::pid::dead_ends::neighbors;
use crate::pid::dead_ends::{
    has_sensor, is_cap, is_end_of_vent, names_bleed, names_other_purpose, names_supply, only_branch,
};
use crate::pid::valve_state::pipes::{PipeState, state_between};
use crate::pid::valve_state::unknown_edges::unknown_connections;
use crate::pid::valve_state::unread_texts::may_not_close;
use crate::pid::valve_state::{
    BlindPosition, Installation, Spool, blind_position, installation, is_stated_open, spool, texts,
};

/// Items behind a barrier, up to the second one in series.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Behind {
    pub second: Option<NodeId>,
    /// A bleed between the two, one on the sheet first.
    pub bleed: Option<(NodeId, BleedEnd)>,
    /// A valve that an actuator moves is between the two: it may be shut, and keep a leak of one from the bleed.
    pub passes_actuated: bool,
}

impl Behind {
    fn add_bleed(&mut self, valve: NodeId, end: BleedEnd) {
        let is_better = self.bleed.is_none_or(|(_, known)| known != BleedEnd::OnSheet && end == BleedEnd::OnSheet);
        self.bleed = if is_better { Some((valve, end)) } else { self.bleed };
    }
}

/// Search for the second barrier behind a barrier.
pub(super) struct BehindSearch<'s> {
    /// A valve that an actuator closes is a second barrier too.
    pub accepts_actuated: bool,
    /// Returns whether an item is another barrier that is closed together with the first one.
    pub is_closed_too: &'s dyn Fn(NodeId) -> bool,
}

/// Returns the second barrier in series, and the first bleed that branches off before it. What is not there or behind a
/// pipe that is not there or closed, a valve that may be none, and one behind an item of unknown class is no second barrier.
/// A valve that an actuator moves is passed: the second one closes whatever its position is.
pub(super) fn behind(
    drawing: &Drawing<'_>,
    [before, barrier]: [NodeId; 2],
    search: &BehindSearch<'_>,
    charge: ChargeFn<'_>,
) -> Result<Behind> {
    const MAX_STEPS: usize = 20;
    let topology = &drawing.topology;
    let (mut node, mut before) = (barrier, before);
    let mut found = Behind::default();
    for _ in 0..MAX_STEPS {
        let (rest, bleeds) = ways_on(drawing, [before, node], search, charge)?;
        bleeds.into_iter().for_each(|bleed| found.add_bleed(bleed.valve, bleed.end));
        let [only] = rest.as_slice() else { return Ok(found) };
        if topology.is_equipment(*only) || state_between(drawing, [node, *only], charge)? != PipeState::Open {
            return Ok(found);
        }
        match topology.roles[*only as usize] {
            _ if installation(drawing, *only) == Installation::NotInstalled => {}
            Role::Barrier | Role::PositiveBarrier | Role::Control | Role::Blind
                if separates(drawing, *only, search.accepts_actuated, charge)?
                    && !has_unknown_branch(drawing, *only, [node, barrier], charge)? =>
            {
                return Ok(Behind { second: Some(*only), ..found });
            }
            Role::Barrier | Role::Control
                if separates(drawing, *only, true, charge)?
                    && !has_unknown_branch(drawing, *only, [node, barrier], charge)? =>
            {
                found.passes_actuated = true;
            }
            Role::Barrier | Role::PositiveBarrier => return Ok(found),
            Role::None if is_closed_cap(drawing, *only) => return Ok(Behind { second: Some(*only), ..found }),
            Role::OffPage if !topology.is_sheet_end(*only) => {}
            // It may be a vent or lead to another source.
            Role::None if is_unknown(drawing, *only) => return Ok(found),
            _ if has_unknown_branch(drawing, *only, [node, barrier], charge)? => return Ok(found),
            Role::Control | Role::MultiWay | Role::OffPage | Role::OpenEnd | Role::Relief => return Ok(found),
            _ => {}
        }
        (before, node) = (node, *only);
    }
    Ok(found)
}

/// A bleed that branches off an item.
#[derive(Clone, Copy, Debug)]
struct BleedBranch {
    /// The item next to the one that the branch leaves: the valve, or a fitting before it.
    first: NodeId,
    /// The item before the valve.
    before: NodeId,
    valve: NodeId,
    end: BleedEnd,
}

/// Returns the ways on from an item behind a barrier, and the bleeds that branch off it. A way that ends at another closed
/// barrier is none.
fn ways_on(
    drawing: &Drawing<'_>,
    [before, node]: [NodeId; 2],
    search: &BehindSearch<'_>,
    charge: ChargeFn<'_>,
) -> Result<(Vec<NodeId>, Vec<BleedBranch>)> {
    let mut all = neighbors(drawing, node, charge)?;
    all.retain(|next| *next != before);
    // The second valve of a drain is in series, and none that branches off.
    if all.len() == 1 {
        return Ok((all, Vec::new()));
    }
    let (mut rest, mut bleeds, mut has_closed) = (Vec::new(), Vec::new(), false);
    for next in all {
        match bleed_of_branch(drawing, [node, next], search, charge)? {
            Some(bleed) if !is_stated_open(drawing, bleed.valve) || bleed.end.is_drawn() => bleeds.push(bleed),
            None if ends_at_closed(drawing, [node, next], ClosedEnds::TightOrBleed, search, charge)? => {
                has_closed = true;
            }
            _ => rest.push(next),
        }
    }
    match bleeds.as_slice() {
        // The common outlet of several ways, or the only way on beside those that are closed.
        [line] if is_only_outlet(drawing, node, line.first, charge)? || rest.is_empty() && has_closed => {
            rest.push(line.first);
            bleeds.clear();
        }
        _ if rest.is_empty() => rest.extend(take_line(drawing, &mut bleeds, charge)?),
        _ => {}
    }
    Ok((rest, bleeds))
}

/// Returns whether all pipes of a junction but that to one item state that they lead into it: what flows in by several ways
/// leaves by this one, which is then no branch for a bleed.
fn is_only_outlet(drawing: &Drawing<'_>, junction: NodeId, outlet: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    let around = neighbors(drawing, junction, charge)?;
    if around.len() < 3 {
        return Ok(false);
    }
    for next in around.into_iter().filter(|next| *next != outlet) {
        if !flows_out(drawing, [next, junction], charge)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Ends that close a way.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ClosedEnds {
    /// Another closed barrier, a blind flange, a cap, an instrument.
    Tight,
    /// Also a bleed before which no hand valve is.
    TightOrBleed,
}

/// Returns whether all branches of a way are closed at their ends. An edge of unknown kind may be a branch.
fn ends_at_closed(
    drawing: &Drawing<'_>,
    start: [NodeId; 2],
    ends: ClosedEnds,
    search: &BehindSearch<'_>,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    const MAX_ITEMS: usize = 16;
    let mut ways = vec![(start, ends == ClosedEnds::TightOrBleed)];
    for _ in 0..MAX_ITEMS {
        let Some(([before, node], may_be_bleed)) = ways.pop() else { return Ok(true) };
        if (search.is_closed_too)(node) || may_be_bleed && is_closed_bleed(drawing, node, before, charge)? {
            continue;
        }
        let may_leave = drawing.topology.is_equipment(node)
            || is_unknown(drawing, node)
            || matches!(
                drawing.topology.roles[node as usize],
                Role::Port | Role::OffPage | Role::OpenEnd | Role::Relief
            )
            || drawing.topology.has_dangling_pipe(node)
            || installation(drawing, node) != Installation::Installed;
        if may_leave {
            return Ok(false);
        }
        let around = neighbors(drawing, node, charge)?;
        let has_unknown = drawing.topology.all_flags.contains(EdgeFlags::UNKNOWN)
            && !unknown_connections(drawing, node, &around.iter().copied().collect(), charge)?.is_empty();
        let is_end = around.len() < 2;
        if has_unknown || is_end && !is_tight_end(drawing, node) {
            return Ok(false);
        }
        let may_be_bleed = may_be_bleed && drawing.topology.roles[node as usize] != Role::Barrier;
        ways.extend(around.into_iter().filter(|next| *next != before).map(|next| ([node, next], may_be_bleed)));
    }
    Ok(ways.is_empty())
}

/// Returns whether a valve is a bleed that the drawing does not show open to a system of others.
fn is_closed_bleed(drawing: &Drawing<'_>, valve: NodeId, before: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    let end = installed_bleed(drawing, valve, before, charge)?;
    Ok(end.is_some_and(|end| end.is_drawn() || !is_stated_open(drawing, valve)))
}

/// Returns whether nothing leaves a pipe at its last item: an instrument, a blind flange or a cap that is there.
fn is_tight_end(drawing: &Drawing<'_>, end: NodeId) -> bool {
    match drawing.topology.roles[end as usize] {
        Role::Instrument => true,
        Role::PositiveBarrier => installation(drawing, end) == Installation::Installed && !may_not_close(drawing, end),
        _ => is_closed_cap(drawing, end),
    }
}

/// Takes the branch of the line itself out of two that look like bleeds: beside a vent on the sheet, that which leads to a
/// flare or to another sheet; beside a bleed with a blind flange or a cap, the second valve of a drain that ends open; beside
/// a valve at the branch, that with fittings before its valve.
fn take_line(drawing: &Drawing<'_>, bleeds: &mut Vec<BleedBranch>, charge: ChargeFn<'_>) -> Result<Option<NodeId>> {
    let [first, second] = *bleeds.as_slice() else { return Ok(None) };
    let is_vent = |bleed: BleedBranch| bleed.end.is_drawn();
    let is_direct = |bleed: BleedBranch| bleed.first == bleed.valve;
    let at = if is_vent(first) == is_vent(second) {
        let mut is_plugged = |bleed: BleedBranch| ends_closed(drawing, [bleed.before, bleed.valve], charge);
        match [is_plugged(first)?, is_plugged(second)?] {
            [true, false] => 1,
            [false, true] => 0,
            _ if is_direct(first) != is_direct(second) => usize::from(is_direct(first)),
            _ => return Ok(None),
        }
    } else {
        usize::from(is_vent(first))
    };
    Ok(Some(bleeds.remove(at).first))
}

/// Returns the bleed of a branch: its valve is next to the item that the branch leaves, or behind fittings that never close,
/// of which a branch may end at an instrument. The fittings lead outwards, and no word at them names a supply.
fn bleed_of_branch(
    drawing: &Drawing<'_>,
    [from, first]: [NodeId; 2],
    search: &BehindSearch<'_>,
    charge: ChargeFn<'_>,
) -> Result<Option<BleedBranch>> {
    const MAX_FITTINGS: usize = 10;
    let (mut before, mut node) = (from, first);
    for _ in 0..=MAX_FITTINGS {
        if drawing.topology.roles[node as usize] == Role::Barrier {
            let end = installed_bleed(drawing, node, before, charge)?;
            return Ok(end.map(|end| BleedBranch { first, before, valve: node, end }));
        }
        let leads_out = !flows_out(drawing, [node, before], charge)?
            && state_between(drawing, [before, node], charge)? == PipeState::Open;
        if !leads_out || !is_open_fitting(drawing, node) {
            return Ok(None);
        }
        let mut ways = neighbors(drawing, node, charge)?;
        ways.retain(|next| *next != before);
        if ways.len() > 1 {
            ways = without_closed(drawing, node, ways, search, charge)?;
        }
        let [only] = ways.as_slice() else { return Ok(None) };
        if has_unknown_branch(drawing, node, [before, *only], charge)? {
            return Ok(None);
        }
        (before, node) = (node, *only);
    }
    Ok(None)
}

/// Returns the ways on from an item without those to an instrument or to another closed end. A valve with a cap behind it is a
/// bleed itself.
fn without_closed(
    drawing: &Drawing<'_>,
    node: NodeId,
    ways: Vec<NodeId>,
    search: &BehindSearch<'_>,
    charge: ChargeFn<'_>,
) -> Result<Vec<NodeId>> {
    let mut open = Vec::new();
    for next in ways {
        let is_closed = ends_at_closed(drawing, [node, next], ClosedEnds::Tight, search, charge)?
            && installed_bleed(drawing, next, node, charge)?.is_none();
        open.extend((!is_closed).then_some(next));
    }
    Ok(open)
}

/// Returns whether an item is a fitting that is there and never closes, such as a reducer, a tee or a flange.
fn is_open_fitting(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let is_fitting = match topology.roles[node as usize] {
        Role::SizeBreak | Role::Junction => true,
        Role::None => drawing.passage(node) == Some(Passage::Through) && !drawing.class_has(node, vocabulary::TRAPS),
        _ => false,
    };
    is_fitting
        && topology.owner(node).is_none()
        && !topology.has_dangling_pipe(node)
        && installation(drawing, node) == Installation::Installed
        && spool(drawing, node) == Spool::Installed
        && !names_supply(drawing, node)
        && !names_other_purpose(drawing, node)
}

/// Returns whether a branch ends in a blind flange or a cap.
fn ends_closed(drawing: &Drawing<'_>, start: [NodeId; 2], charge: ChargeFn<'_>) -> Result<bool> {
    let items = only_branch(drawing, start, |_| false, charge)?.unwrap_or_default();
    let is_flange = |end: NodeId| drawing.topology.roles[end as usize] == Role::PositiveBarrier;
    Ok(items.last().is_some_and(|end| is_flange(*end) || is_cap(drawing, *end)))
}

/// Returns whether an item is a cap that is there, and that no text calls open.
fn is_closed_cap(drawing: &Drawing<'_>, node: NodeId) -> bool {
    is_cap(drawing, node) && installation(drawing, node) == Installation::Installed && !may_not_close(drawing, node)
}

/// Returns whether an edge of unknown kind, which may be a pipe, leads from an item to others than two known ones.
pub(super) fn has_unknown_branch(
    drawing: &Drawing<'_>,
    node: NodeId,
    known: [NodeId; 2],
    charge: ChargeFn<'_>,
) -> Result<bool> {
    let has_unknown = drawing.topology.all_flags.contains(EdgeFlags::UNKNOWN);
    Ok(has_unknown && !unknown_connections(drawing, node, &known.into(), charge)?.is_empty())
}

/// Returns the first bleed on the sheet that branches off a junction, other than towards `others`.
pub(super) fn bleed_at(
    drawing: &Drawing<'_>,
    junction: NodeId,
    others: [NodeId; 2],
    charge: ChargeFn<'_>,
) -> Result<Option<NodeId>> {
    if drawing.topology.roles[junction as usize] != Role::Junction {
        return Ok(None);
    }
    let search = BehindSearch { accepts_actuated: false, is_closed_too: &|_| false };
    for next in neighbors(drawing, junction, charge)?.into_iter().filter(|next| !others.contains(next)) {
        let bleed = bleed_of_branch(drawing, [junction, next], &search, charge)?;
        if let Some(bleed) = bleed.filter(|bleed| bleed.end.is_drawn()) {
            return Ok(Some(bleed.valve));
        }
    }
    Ok(None)
}

/// End of the branch of a valve that drains or vents what is before it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum BleedEnd {
    OnSheet,
    /// An open end where words name a flare, a header or a closed drain: others discharge there too, and it may hold pressure.
    SharedSystem,
    /// A connector, where words state that the branch is a drain or a vent: the drawing does not show its end.
    OtherSheet,
    /// A flare, a sump or the like. Others discharge to it too, and it may hold pressure.
    Receiver,
}

impl BleedEnd {
    /// Returns whether the branch ends on the sheet, and at no equipment.
    pub fn is_drawn(self) -> bool {
        matches!(self, BleedEnd::OnSheet | BleedEnd::SharedSystem)
    }
}

/// Returns the end of the branch of a hand valve if it is a bleed: it leads to nothing or to another sheet, and lets
/// something out. One with a further valve, a closed blind or a trap behind it, or with a pipe or an item that is not there
/// for certain, proves nothing. The root valve of an instrument does not, nor does a branch whose pipes lead inwards or that
/// ends at a connection for a supply, such as a loading arm or a hose, unless words say that it drains or vents.
pub(super) fn bleed_end(
    drawing: &Drawing<'_>,
    valve: NodeId,
    before: NodeId,
    charge: ChargeFn<'_>,
) -> Result<Option<BleedEnd>> {
    let topology = &drawing.topology;
    let leaves_sheet = |node: NodeId| topology.is_sheet_end(node);
    // A blind or a flange of the volume is not opened under pressure.
    if topology.roles[valve as usize] != Role::Barrier || !can_be_opened(drawing, valve, charge)? {
        return Ok(None);
    }
    let is_receiver = |node: NodeId| {
        topology.is_equipment(node)
            && drawing.is_relief_end(topology.equipment_or_self(node))
            && !is_end_of_vent(drawing, node)
    };
    let ends_at = |node: NodeId| leaves_sheet(node) || is_receiver(node);
    let Some(items) = only_branch(drawing, [before, valve], ends_at, charge)? else { return Ok(None) };
    if may_be_shut_behind(drawing, &items) {
        return Ok(None);
    }
    let from_volume: Vec<NodeId> =
        std::iter::once(before).filter(|node| *node != NONE).chain(items.iter().copied()).collect();
    for pair in from_volume.windows(2) {
        let is_check_valve = topology.roles[pair[0] as usize] == Role::OneWay;
        let leads_in = flows_out(drawing, [pair[1], pair[0]], charge)?;
        let is_there = installation(drawing, pair[1]) == Installation::Installed
            && state_between(drawing, [pair[0], pair[1]], charge)? == PipeState::Open
            && !has_unknown_branch(drawing, pair[1], [pair[0], valve], charge)?;
        if !is_there || leads_in || is_check_valve && !flows_out(drawing, [pair[0], pair[1]], charge)? {
            return Ok(None);
        }
    }
    let [.., end] = items.as_slice() else { return Ok(None) };
    let drains = items.iter().any(|item| names_bleed(drawing, *item));
    let is_supply = |item: &NodeId| names_supply(drawing, *item) || !drains && names_other_purpose(drawing, *item);
    if items.iter().any(is_supply) {
        return Ok(None);
    }
    let before = items.iter().rev().nth(1).copied().unwrap_or(before);
    if leaves_sheet(*end) {
        let is_named = items.iter().any(|item| names_bleed(drawing, *item));
        return Ok((is_named && flows_out(drawing, [before, *end], charge)?).then_some(BleedEnd::OtherSheet));
    }
    if is_receiver(*end) {
        return Ok(flows_out(drawing, [before, *end], charge)?.then_some(BleedEnd::Receiver));
    }
    // A tie-in or a battery limit, behind which the pipe goes on.
    let may_go_on = is_unknown(drawing, *end) && !drains && !drawing.class_ends_with_word(*end, vocabulary::OUTLETS);
    let open_end = match leads_to_shared_system(drawing, *end) {
        true => BleedEnd::SharedSystem,
        false => BleedEnd::OnSheet,
    };
    Ok((before != NONE && !may_go_on && is_outlet(drawing, *end)).then_some(open_end))
}

/// Returns whether a text of an open end names a flare, a header or a closed drain.
fn leads_to_shared_system(drawing: &Drawing<'_>, end: NodeId) -> bool {
    if drawing.topology.roles[end as usize] != Role::OpenEnd {
        return false;
    }
    let names = [Names::Description, Names::Service, Names::Remarks];
    let mut texts = names.into_iter().flat_map(|names| texts(drawing, end, names)).map(snake_case);
    texts.any(|text| vocabulary::text_has_any(&text, vocabulary::SHARED_SYSTEMS) || text.contains("closed_drain"))
}

/// Returns whether a valve is opened by hand for certain: no actuator moves it, and no text says that it is stuck.
fn can_be_opened(drawing: &Drawing<'_>, valve: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    let is_moved_by_hand = !matches!(
        hand_valve(drawing, valve, charge)?,
        HandValve::Actuated | HandValve::ActuatedByTag | HandValve::SelfActingByTag | HandValve::ContradictoryClass
    );
    Ok(is_moved_by_hand && !may_not_close(drawing, valve))
}

/// Returns whether something behind the valve of a branch may keep what it lets out: a valve, a blind, a trap, an item of
/// unknown class before the end. A blind flange or a cap at the end is taken off.
fn may_be_shut_behind(drawing: &Drawing<'_>, items: &[NodeId]) -> bool {
    let [_, between @ .., end] = items else { return false };
    let may_be_shut = |node: NodeId| match drawing.topology.roles[node as usize] {
        Role::Blind => blind_position(drawing, node) != BlindPosition::Open,
        role => role.closes() || role == Role::Relief || drawing.class_has(node, vocabulary::TRAPS),
    };
    between.iter().any(|node| may_be_shut(*node) || is_unknown(drawing, *node))
        || drawing.topology.roles[*end as usize] != Role::PositiveBarrier && may_be_shut(*end)
}

/// Returns whether the last item of a branch can let something out. An instrument, a well or a welded cap cannot.
fn is_outlet(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let is_welded = is_cap(drawing, node) && drawing.class_has_word(node, &["weld", "welded"]);
    (!topology.is_equipment(node) || is_end_of_vent(drawing, node))
        && topology.roles[node as usize] != Role::OffPage
        && !has_sensor(drawing, node)
        && !is_welded
        && !drawing.class_has(node, vocabulary::WELLS)
}

/// Returns whether all pipes between two items state that they lead from the first to the second.
fn flows_out(drawing: &Drawing<'_>, [from, to]: [NodeId; 2], charge: ChargeFn<'_>) -> Result<bool> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    charge(table.degree(to) as u64)?;
    let mut pipes = table.arcs(to).filter(|(other, _)| *other == from).map(|(_, pipe)| pipe);
    Ok(pipes.all(|pipe| topology.flow_ends(pipe)[0] == from && !topology.is_assumed(pipe)))
}

/// Returns whether a valve is a bleed that is there, and where it ends: another one proves nothing.
fn installed_bleed(
    drawing: &Drawing<'_>,
    valve: NodeId,
    before: NodeId,
    charge: ChargeFn<'_>,
) -> Result<Option<BleedEnd>> {
    let is_there = drawing.topology.roles[valve as usize] == Role::Barrier
        && installation(drawing, valve) == Installation::Installed;
    if is_there { bleed_end(drawing, valve, before, charge) } else { Ok(None) }
}
