//! Calls of graph functions: node arguments, options, and conversion of results to values.

use std::borrow::Cow;
use std::ops::Deref;

use hashbrown::{HashMap, HashSet};

use super::array::{collect, select};
use crate::error::{Code, Error, Result};
use crate::eval::EvalContext;
use crate::eval::option_spec::{OptionSpec, describe_value};
use crate::eval::plan::{Constant, Fields, Plan};
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::equipment_sides::is_unstated;
use crate::graph::roles::Role;
use crate::graph::topology::absences::Absences;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::walk::{EquipmentPolicy, Visitor, WalkOptions};
use crate::pid::isolate::parts::Parts;
use crate::pid::isolate::targets::items_of_line;
use crate::pid::valve_state::absences::absences;
use crate::pid::valve_state::pipes::{PipeState, pipe_state};
use crate::pid::valve_state::{installation, is_not_installed};
use crate::pid::{ChargeFn, Datum};
use crate::suggest;
use crate::value::{Keys, Value};

const DIR_WORDS: &[&str] = &["down", "up", "both", "out", "in"];
const DIRS: [Direction; 5] = [Direction::Down, Direction::Up, Direction::Both, Direction::Down, Direction::Up];

pub(super) const PASSES: [EquipmentPolicy; 3] = [EquipmentPolicy::None, EquipmentPolicy::Zone, EquipmentPolicy::Any];

const ABSENT_WORDS: &[&str] = &["pass", "avoid"];

// Options of several functions.
pub(super) const ABSENT: OptionSpec = OptionSpec::keyword("absent", ABSENT_WORDS)
    .means("items and pipes that are stated not to be there are passed, as by default, or not entered");
pub(super) const AVOID: OptionSpec = OptionSpec::condition("avoid").means("items for which it holds are not entered");
pub(super) const DEPTH: OptionSpec = OptionSpec::number("depth").means("maximum number of steps from the start");
pub(super) const DIR: OptionSpec = OptionSpec::keyword("dir", DIR_WORDS).means("with the flow, against it, or both");
pub(super) const EDGES: OptionSpec =
    OptionSpec::query("edges").means("edges for which it holds are followed, instead of pipes");
pub(super) const PASS: OptionSpec = OptionSpec::keyword("pass", &["none", "zone", "any"])
    .means("other equipment is passed never, on the same side, or always");
pub(super) const UNTIL: OptionSpec =
    OptionSpec::condition("until").means("a branch ends at items for which it holds, which are included");

/// Direction as a separate argument.
pub(super) const DIRECTION: OptionSpec = OptionSpec::keyword("direction", DIR_WORDS);

/// The nodes that a call refers to. Usually one, which needs no allocation.
#[derive(Debug)]
pub(super) enum NodeSelection {
    One(NodeId),
    Several(Vec<NodeId>),
}

impl Deref for NodeSelection {
    type Target = [NodeId];

    fn deref(&self) -> &[NodeId] {
        match self {
            NodeSelection::One(node) => std::slice::from_ref(node),
            NodeSelection::Several(nodes) => nodes,
        }
    }
}

/// A call of a function of the graph.
pub(super) struct GraphCall<'a> {
    pub drawing: Drawing<'a>,
    pub input: Value<'a>,
    args: &'a [Plan],
    options: Option<&'a Fields>,
}

impl<'a> GraphCall<'a> {
    /// Creates a call whose last argument may be options.
    pub fn new(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<GraphCall<'a>> {
        let drawing = cx.drawing()?;
        Ok(match args.split_last() {
            Some((Plan::Object(options), args)) => GraphCall { drawing, input, args, options: Some(options) },
            _ => GraphCall { drawing, input, args, options: None },
        })
    }

    /// Creates a call without options: an object as the last argument is an argument.
    pub fn without_options(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<GraphCall<'a>> {
        Ok(GraphCall { drawing: cx.drawing()?, input, args, options: None })
    }

    /// Creates a call that gets its graphs as arguments.
    pub fn without_graph(input: Value<'a>, args: &'a [Plan], max: usize) -> GraphCall<'a> {
        let drawing = Drawing::empty();
        match args.split_last() {
            Some((Plan::Object(options), rest)) if args.len() > max => {
                GraphCall { drawing, input, args: rest, options: Some(options) }
            }
            _ => GraphCall { drawing, input, args, options: None },
        }
    }

    /// Returns some nodes with the parts of equipment that are open to it, such as a boot: walks start at their nozzles too.
    pub fn with_open_parts<'n>(&self, cx: &mut EvalContext<'a>, nodes: &'n [NodeId]) -> Result<Cow<'n, [NodeId]>> {
        let topology = &self.drawing.topology;
        let is_equipment = |node: &NodeId| topology.roles[*node as usize] == Role::Equipment;
        if !topology.has_nested_equipment || !nodes.iter().any(is_equipment) {
            return Ok(Cow::Borrowed(nodes));
        }
        let charge: ChargeFn<'_> = &mut |units| cx.charge(units);
        let parts = Parts::collect(&self.drawing, charge)?;
        let mut seen: HashSet<NodeId> = nodes.iter().copied().collect();
        let mut all = nodes.to_vec();
        for node in nodes.iter().copied().filter(is_equipment) {
            let open = parts.open_parts(&self.drawing, node, charge)?;
            all.extend(open.into_iter().filter(|part| seen.insert(*part)));
        }
        Ok(Cow::Owned(all))
    }

    /// The number of arguments without the options.
    pub fn arg_count(&self) -> usize {
        self.args.len()
    }

    /// Returns an argument without evaluating it.
    pub fn arg_plan(&self, at: usize) -> Option<&'a Plan> {
        self.args.get(at)
    }

    /// Returns the value of an argument; undefined if it is missing.
    pub fn value(&self, cx: &mut EvalContext<'a>, at: usize) -> Result<Value<'a>> {
        match self.args.get(at) {
            Some(arg) => cx.eval(arg, self.input),
            None => Ok(Value::Undefined),
        }
    }

    /// Returns a direction as first argument, and the position of the argument after it.
    pub fn direction(&self, cx: &mut EvalContext<'a>) -> Result<(Direction, usize)> {
        let is_word = matches!(self.args.first(), Some(Plan::Constant(_) | Plan::Parameter(_)));
        if !is_word {
            return Ok((Direction::Both, 0));
        }
        let dir = DIRECTION.as_keyword(self.value(cx, 0)?)?;
        Ok((dir.map_or(Direction::Both, |at| DIRS[at]), 1))
    }

    /// Returns the query of an option.
    pub fn option(&self, name: &str) -> Option<&'a Plan> {
        let options = self.options?;
        options.names.iter().position(|known| **known == *name).map(|at| &options.values[at])
    }

    /// Returns the value of an option; undefined if it is missing.
    pub fn option_value(&self, cx: &mut EvalContext<'a>, name: &str) -> Result<Value<'a>> {
        self.option(name).map_or(Ok(Value::Undefined), |plan| cx.eval(plan, self.input))
    }

    /// Returns an option that is a count.
    pub fn number(&self, cx: &mut EvalContext<'a>, spec: &OptionSpec) -> Result<Option<usize>> {
        let value = self.option_value(cx, spec.name)?;
        Ok(spec.as_number(value)?.map(|number| number as usize))
    }

    /// Returns a Boolean option; `None` if it is missing.
    pub fn flag(&self, cx: &mut EvalContext<'a>, spec: &OptionSpec) -> Result<Option<bool>> {
        spec.as_flag(self.option_value(cx, spec.name)?)
    }

    /// Returns the index of an option with a fixed set of words.
    pub fn keyword(&self, cx: &mut EvalContext<'a>, spec: &OptionSpec) -> Result<Option<usize>> {
        spec.as_keyword(self.option_value(cx, spec.name)?)
    }

    /// Returns an option that is a string or an array of strings.
    pub fn strings(&self, cx: &mut EvalContext<'a>, spec: &OptionSpec) -> Result<Vec<&'a str>> {
        spec.as_strings(self.option_value(cx, spec.name)?)
    }

    /// Returns the nodes of an argument, or the piped ones if `at` is `None`.
    pub fn nodes(&self, cx: &mut EvalContext<'a>, at: Option<usize>) -> Result<NodeSelection> {
        let value = match at {
            Some(at) => self.value(cx, at)?,
            None => self.input,
        };
        nodes_of(cx, &self.drawing, value)
    }

    /// Returns the nodes of the first argument, or the piped ones.
    pub fn subject_nodes(&self, cx: &mut EvalContext<'a>) -> Result<NodeSelection> {
        self.nodes(cx, (self.arg_count() > 0).then_some(0))
    }

    /// Like [`GraphCall::nodes`], for a function that follows the flow: for an actuator, an actuating system or its
    /// function, the valve that it moves. With the option `edges`, the nodes themselves.
    pub fn flow_nodes(&self, cx: &mut EvalContext<'a>, at: Option<usize>) -> Result<NodeSelection> {
        let selection = self.nodes(cx, at)?;
        if self.option("edges").is_some() {
            return Ok(selection);
        }
        match selection {
            NodeSelection::One(node) => self.flow_node(cx, node).map(NodeSelection::One),
            NodeSelection::Several(nodes) => {
                let mut seen = HashSet::new();
                let mut items = Vec::with_capacity(nodes.len());
                for node in nodes {
                    let item = self.flow_node(cx, node)?;
                    if seen.insert(item) {
                        items.push(item);
                    }
                }
                Ok(NodeSelection::Several(items))
            }
        }
    }

    /// Like [`GraphCall::flow_nodes`], for a walk: for a line or a segment, its items.
    pub fn walk_nodes(&self, cx: &mut EvalContext<'a>, at: Option<usize>) -> Result<NodeSelection> {
        let selection = self.flow_nodes(cx, at)?;
        let topology = &self.drawing.topology;
        let may_be_line =
            |node: &NodeId| topology.roles[*node as usize] == Role::None && topology.flow_degree(*node) == 0;
        if self.option("edges").is_some() || !selection.iter().any(may_be_line) {
            return Ok(selection);
        }
        let mut items: Vec<NodeId> = Vec::with_capacity(selection.len());
        for node in selection.iter().copied() {
            let of_line = match may_be_line(&node) {
                true => items_of_line(&self.drawing, node, &mut |units| cx.charge(units))?,
                false => Vec::new(),
            };
            if of_line.is_empty() { items.push(node) } else { items.extend(of_line) }
        }
        let mut seen = HashSet::new();
        items.retain(|item| seen.insert(*item));
        Ok(NodeSelection::Several(items))
    }

    /// Returns the items from which a walk starts: the first argument, or the piped value.
    pub fn walk_starts(&self, cx: &mut EvalContext<'a>) -> Result<NodeSelection> {
        self.walk_nodes(cx, (self.arg_count() > 0).then_some(0))
    }

    /// Returns the item of a node that the flow passes.
    fn flow_node(&self, cx: &mut EvalContext<'a>, node: NodeId) -> Result<NodeId> {
        if !matches!(self.drawing.topology.roles[node as usize], Role::Instrument | Role::None) {
            return Ok(node);
        }
        if let Some(item) = self.drawing.topology.item_of_port(node) {
            return Ok(item);
        }
        Ok(self.drawing.moved_valve(node, &mut |units| cx.charge(units))?.unwrap_or(node))
    }

    /// Like [`GraphCall::subject_nodes`], for a function that follows the flow.
    pub fn flow_subject_nodes(&self, cx: &mut EvalContext<'a>) -> Result<NodeSelection> {
        self.flow_nodes(cx, (self.arg_count() > 0).then_some(0))
    }

    /// Returns the options of a walk: `dir`, `pass`, `depth` and `edges`.
    pub fn walk_options(&self, cx: &mut EvalContext<'a>, dir: Direction, pass: EquipmentPolicy) -> Result<WalkOptions> {
        let dir = self.keyword(cx, &DIR)?.map_or(dir, |at| DIRS[at]);
        let pass = self.keyword(cx, &PASS)?.map_or(pass, |at| PASSES[at]);
        // Steps are counted in 32 bits.
        let max_depth = cx.limits().depth.min(u32::MAX as usize);
        let depth = self.number(cx, &DEPTH)?.map_or(max_depth, |depth| depth.min(max_depth));
        let edges = if self.option("edges").is_some() { EdgeFilter::All } else { EdgeFilter::Flow };
        Ok(WalkOptions { edges, dir, pass, depth: depth as u32 })
    }

    /// Warns about edges of the result that were followed in an assumed direction. Must be called last in a function:
    /// see [`EvalContext::warn_assumed_directions`].
    pub fn warn_assumed(
        &self,
        cx: &mut EvalContext<'a>,
        walk_options: &WalkOptions,
        edges: impl IntoIterator<Item = EdgeId>,
    ) -> Result<()> {
        if !walk_options.may_assume_directions(&self.drawing.topology) {
            return Ok(());
        }
        let assumed = edges.into_iter().filter(|edge| self.drawing.topology.is_assumed(*edge));
        cx.warn_assumed_directions(assumed, |edge| self.drawing.edge_id(edge))
    }

    /// Warns about equipment that a walk by sides has entered, if the side of a port that it reached, or of one that it
    /// would leave by, is not stated. Must be called last in a function, like [`GraphCall::warn_assumed`].
    pub fn warn_unstated_sides(
        &self,
        cx: &mut EvalContext<'a>,
        walk_options: &WalkOptions,
        from: &[NodeId],
        nodes: &[NodeId],
    ) -> Result<()> {
        let topology = &self.drawing.topology;
        if walk_options.pass != EquipmentPolicy::Zone {
            return Ok(());
        }
        cx.charge(nodes.len() as u64)?;
        let reached: HashSet<NodeId> = nodes.iter().copied().collect();
        let has_pipes =
            |node: NodeId| topology.roles[node as usize] == Role::Equipment && topology.flow_degree(node) > 1;
        let is_entered = |node: &NodeId| {
            topology.owner(*node).is_none()
                && (topology.ports.degree(*node) > 0 || has_pipes(*node))
                && !from.contains(node)
        };
        let mut entered: Vec<NodeId> = nodes.iter().copied().filter(is_entered).collect();
        entered.sort_unstable();
        entered.dedup();
        let mut found = Vec::new();
        for equipment in entered {
            found.extend(self.unstated_ports(cx, walk_options, equipment, &reached)?);
        }
        cx.warn_unstated_sides(&found, |port| self.drawing.id(port))
    }

    /// Returns the items and pipes of the drawing that may not be there.
    pub fn absences(&self, cx: &EvalContext<'a>) -> Result<&Absences> {
        absences(&self.drawing, &|| cx.limits().check())
    }

    /// Warns about the nodes and edges of a result that may not be there. Must be called last in a function, like
    /// [`GraphCall::warn_assumed`].
    pub fn warn_absences(
        &self,
        cx: &mut EvalContext<'a>,
        nodes: impl IntoIterator<Item = NodeId>,
        edges: impl IntoIterator<Item = EdgeId>,
    ) -> Result<()> {
        let (drawing, absences) = (&self.drawing, self.absences(cx)?);
        if absences.is_empty() {
            return Ok(());
        }
        let (mut absent_nodes, mut absent_pipes, mut count) = (Vec::new(), Vec::new(), 0);
        for node in nodes {
            count += 1;
            absent_nodes.extend(absences.contains_node(node).then_some(node));
        }
        for edge in edges {
            count += 1;
            absent_pipes.extend(absences.contains_pipe(edge).then_some(edge));
        }
        cx.charge(count)?;
        let node_row = |node: NodeId| Some((node, drawing.id(node), installation(drawing, node).uncertainty()?));
        let pipe_row = |pipe: EdgeId| Some((pipe, drawing.edge_id(pipe), pipe_state(drawing, pipe).uncertainty()?));
        let nodes = absent_nodes.into_iter().filter_map(node_row);
        cx.warn_absences(nodes, absent_pipes.into_iter().filter_map(pipe_row))
    }

    /// Warns about the items in the piping and the pipes of the drawing that may not be there, any of which a report on
    /// the whole drawing may rest on.
    pub fn warn_absences_in_piping(&self, cx: &mut EvalContext<'a>) -> Result<()> {
        let topology = &self.drawing.topology;
        let piping = (0..topology.node_count() as u32).filter(|node| topology.flow_degree(*node) > 0);
        self.warn_absences(cx, piping, topology.edges_of(EdgeFlags::FLOW))
    }

    /// Returns the ports of equipment to which a walk may or may not lead from a port that it has reached; the equipment
    /// itself if its pipes have no nozzles.
    fn unstated_ports(
        &self,
        cx: &mut EvalContext<'a>,
        walk_options: &WalkOptions,
        equipment: NodeId,
        reached: &HashSet<NodeId>,
    ) -> Result<Vec<NodeId>> {
        let topology = &self.drawing.topology;
        let table = topology.table(walk_options.edges, walk_options.dir);
        let may_have_several = self.drawing.may_have_several_sides(equipment, &mut |units| cx.charge(units))?;
        let ports = topology.ports.nodes(equipment);
        cx.charge(2 * ports.len() as u64)?;
        if ports.is_empty() {
            let is_left = may_have_several && table.degree(equipment) > 0;
            return Ok(is_left.then_some(equipment).into_iter().collect());
        }
        let reached: Vec<NodeId> = ports.iter().copied().filter(|port| reached.contains(port)).collect();
        let named = reached.iter().copied().find(|port| topology.zone(*port) != NONE);
        let is_unnamed = |port: &&NodeId| topology.zone(**port) == NONE;
        let unnamed: Vec<NodeId> = reached.iter().filter(is_unnamed).take(2).copied().collect();
        let others =
            |port: NodeId| named.into_iter().chain(unnamed.iter().copied()).filter(move |other| *other != port);
        let sides = |port: NodeId, other: NodeId| [topology.zone(other), topology.zone(port)];
        let is_open = |port: &NodeId| {
            table.degree(*port) > 0 && others(*port).any(|other| is_unstated(sides(*port, other), may_have_several))
        };
        Ok(ports.iter().copied().filter(is_open).collect())
    }

    /// Returns the ports at which a path leaves equipment although it is not stated that they are on the side of the
    /// port at which it enters.
    pub fn unstated_exits(&self, cx: &mut EvalContext<'a>, path: &[NodeId]) -> Result<Vec<NodeId>> {
        let topology = &self.drawing.topology;
        let mut found = Vec::new();
        for at in 1..path.len().saturating_sub(1) {
            let [from, equipment, to] = [path[at - 1], path[at], path[at + 1]];
            cx.charge(1)?;
            if topology.ports.degree(equipment) == 0 && topology.roles[equipment as usize] != Role::Equipment {
                continue;
            }
            let side = |node: NodeId| if topology.owner(node) == Some(equipment) { topology.zone(node) } else { NONE };
            let may_have_several = self.drawing.may_have_several_sides(equipment, &mut |units| cx.charge(units))?;
            if is_unstated([side(from), side(to)], may_have_several) {
                let is_port = |node: &NodeId| topology.owner(*node) == Some(equipment);
                found.push([to, from].into_iter().find(is_port).unwrap_or(equipment));
            }
        }
        Ok(found)
    }

    /// Returns whether a walk must evaluate the options `edges`, `avoid`, `until` or `absent`.
    pub fn has_visitor_queries(&self) -> bool {
        self.edge_condition().is_some() || ["avoid", "until", "absent"].iter().any(|name| self.option(name).is_some())
    }

    /// Returns the option `edges`, unless it accepts all.
    fn edge_condition(&self) -> Option<&'a Plan> {
        self.option("edges").filter(|plan| !matches!(plan, Plan::Constant(Constant::Bool(true))))
    }

    /// Returns whether arguments and options are independent of the piped value.
    pub fn is_fixed(&self) -> bool {
        let options = self.options.into_iter().flat_map(|options| &options.values);
        self.args
            .iter()
            .chain(options)
            .all(|plan| matches!(plan, Plan::Constant(_) | Plan::Parameter(_) | Plan::GraphParameter(_)))
    }

    /// Returns a visitor that evaluates the options `edges`, `avoid`, `until` and `absent`.
    pub fn visitor<'c>(&'c self, cx: &'c mut EvalContext<'a>) -> Result<CallVisitor<'c, 'a>> {
        let [avoid, until] = ["avoid", "until"].map(|name| self.option(name));
        let edges = self.edge_condition();
        let avoids_absent = self.keyword(cx, &ABSENT)?.is_some_and(|word| ABSENT_WORDS[word] == "avoid");
        let absences = if avoids_absent { Some(self.absences(cx)?) } else { None };
        let absences = absences.filter(|absences| !absences.is_empty());
        Ok(CallVisitor { cx, drawing: &self.drawing, edges, avoid, until, absences, reserved: 0, unreserved: 0 })
    }
}

/// Visitor that evaluates the queries of a call.
pub(super) struct CallVisitor<'c, 'a> {
    pub cx: &'c mut EvalContext<'a>,
    drawing: &'c Drawing<'a>,
    edges: Option<&'a Plan>,
    avoid: Option<&'a Plan>,
    until: Option<&'a Plan>,
    /// The items and pipes among which those that are not there are avoided.
    absences: Option<&'c Absences>,
    /// Bytes reserved for the walk, and bytes not reserved yet.
    reserved: usize,
    unreserved: usize,
}

impl CallVisitor<'_, '_> {
    /// Returns whether a pipe is avoided because it is not there or closed. Nothing is known to be absent by a status
    /// that does not say so.
    fn avoids_pipe(&self, pipe: EdgeId) -> bool {
        self.absences.is_some_and(|absences| absences.contains_pipe(pipe))
            && matches!(pipe_state(self.drawing, pipe), PipeState::NotInstalled | PipeState::Closed)
    }

    /// Returns whether an item is avoided because it is not there.
    fn avoids_node(&self, node: NodeId) -> bool {
        self.absences.is_some_and(|absences| absences.contains_node(node)) && is_not_installed(self.drawing, node)
    }

    /// Reserves the memory of a walk, which grows with the edges it has followed.
    fn reserve(&mut self, bytes: usize) -> Result<()> {
        const CHUNK: usize = 64 << 10;
        self.unreserved += bytes;
        if self.unreserved > CHUNK {
            self.cx.reserve(self.unreserved)?;
            self.reserved += std::mem::take(&mut self.unreserved);
        }
        Ok(())
    }
}

impl Drop for CallVisitor<'_, '_> {
    fn drop(&mut self) {
        self.cx.release(self.reserved);
    }
}

impl Visitor for CallVisitor<'_, '_> {
    fn charge(&mut self, units: u64) -> Result<()> {
        self.reserve(units as usize * size_of::<crate::graph::walk::Step>())?;
        self.cx.charge(units)
    }

    fn follows(&mut self, edge: EdgeId) -> Result<bool> {
        if self.avoids_pipe(edge) {
            return Ok(false);
        }
        let Some(edges) = self.edges else { return Ok(true) };
        Ok(self.cx.eval(edges, self.drawing.edge(edge))?.is_truthy())
    }

    fn enters(&mut self, node: NodeId) -> Result<bool> {
        if self.avoids_node(node) {
            return Ok(false);
        }
        let Some(avoid) = self.avoid else { return Ok(true) };
        Ok(!AVOID.holds(self.cx.eval(avoid, self.drawing.node(node))?)?)
    }

    fn ends_at(&mut self, node: NodeId) -> Result<bool> {
        let Some(until) = self.until else { return Ok(false) };
        UNTIL.holds(self.cx.eval(until, self.drawing.node(node))?)
    }
}

/// Returns the nodes of a value: a node, an id, a tag, or an array of them. Each once, in the order given.
fn nodes_of<'a>(cx: &mut EvalContext<'a>, drawing: &Drawing<'a>, value: Value<'a>) -> Result<NodeSelection> {
    let Value::Array(items) = value else { return node_of(cx, drawing, value).map(NodeSelection::One) };
    let mut nodes = Vec::with_capacity(items.len());
    let mut seen = HashSet::new();
    for item in items.iter() {
        let node = node_of(cx, drawing, item)?;
        if seen.insert(node) {
            nodes.push(node);
        }
    }
    Ok(NodeSelection::Several(nodes))
}

/// Returns the node of a value.
pub(super) fn node_of<'a>(cx: &mut EvalContext<'a>, drawing: &Drawing<'a>, value: Value<'a>) -> Result<NodeId> {
    cx.charge(1)?;
    match value {
        Value::Null | Value::Undefined => {
            let error = Error::new(Code::NoStart, "there is no node to start from: the value is null");
            Err(error.with_help("check the path before it, or pass a tag: `downstream(\"P-101\")`"))
        }
        Value::Object(_) => drawing.resolve_object(value).ok_or_else(|| not_a_node(drawing, value)),
        Value::String(_) | Value::Number(_) => by_reference(cx, drawing, value),
        other => Err(not_a_node(drawing, other)),
    }
}

fn not_a_node<'a>(drawing: &Drawing<'a>, value: Value<'a>) -> Error {
    let error = Error::new(Code::NotANode, format!("{} is not a node of the graph", describe_value(value)));
    match drawing.edge_of(value) {
        Some(_) => error.with_help("the ends of an edge are `endpoints()`"),
        None => error.with_help(
            "pipe a node, an id, a tag, or an array of them, as in `\"P-101\" | downstream()` or `\"T-101\" | paths(\"P-101\")`",
        ),
    }
}

/// Limit of tags compared with an unknown one.
const MAX_SEARCHED_TAGS: usize = 50_000;

/// Limit in bytes of a misspelled tag. Longer strings get no suggestions.
const MAX_TAG_LENGTH: usize = 256;

/// Returns the node with an id, or else the only one with a tag.
fn by_reference<'a>(cx: &mut EvalContext<'a>, drawing: &Drawing<'a>, reference: Value<'a>) -> Result<NodeId> {
    if let Some(node) = drawing.by_reference(reference, |units| cx.charge(units))? {
        return Ok(node);
    }
    let length = reference.as_str().map_or(0, str::len).min(MAX_TAG_LENGTH);
    let searched = drawing.topology.node_count().max(drawing.topology.edge_count()).min(MAX_SEARCHED_TAGS);
    cx.charge(searched as u64 * (2 + length as u64 / 4))?;
    Err(unknown_node(drawing, reference))
}

/// Returns the error for an unknown tag with similar tags as suggestions: first those that differ only in separators.
fn unknown_node(drawing: &Drawing<'_>, reference: Value<'_>) -> Error {
    let error = Error::new(Code::UnknownNode, format!("no node with id or tag {}", describe_value(reference)));
    let Some(tag_text) = reference.as_str().filter(|tag_text| tag_text.len() <= MAX_TAG_LENGTH) else { return error };
    if let Some(help) = pipe_help(drawing, tag_text) {
        return error.with_help(help);
    }
    let alphanumeric =
        |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let tags = || {
        let tags =
            (0..drawing.topology.node_count().min(MAX_SEARCHED_TAGS) as u32).filter_map(|node| drawing.tag(node));
        tags.filter(|tag| tag.len() <= MAX_TAG_LENGTH)
    };
    let alphanumeric_tag = alphanumeric(tag_text);
    let mut similar: Vec<&str> = tags().filter(|tag| alphanumeric(tag) == alphanumeric_tag).collect();
    similar.extend(suggest::nearest(tag_text, tags()));
    if similar.is_empty() {
        let letters: Vec<(String, &str)> = tags().map(|tag| (alphanumeric(tag), tag)).collect();
        let found = suggest::nearest(&alphanumeric_tag, letters.iter().map(|(letters, _)| letters.as_str()));
        let tag_of = |text: &str| letters.iter().find(|(letters, _)| letters == text).map(|(_, tag)| *tag);
        similar.extend(found.into_iter().filter_map(tag_of));
    }
    if similar.is_empty() {
        similar = suggest::containing(tag_text, tags());
    }
    let mut seen = HashSet::new();
    similar.retain(|tag| seen.insert(*tag));
    similar.truncate(3);
    if similar.is_empty() {
        return error;
    }
    let quoted: Vec<String> = similar.iter().map(|tag| format!("\"{tag}\"")).collect();
    error
        .with_help(format!("did you mean {}?", quoted.join(", ")))
        .with_suggestions(similar.iter().map(|tag| String::from(*tag)).collect())
}

/// Returns the way out if a text names pipes: it is the id of one, or the line of some without a node of its own.
fn pipe_help(drawing: &Drawing<'_>, text: &str) -> Option<String> {
    let edges = || 0..drawing.topology.edge_count().min(MAX_SEARCHED_TAGS) as u32;
    let is_called =
        |edge: u32, names: Names| drawing.edge_field(edge, names).is_some_and(|value| value.as_str() == Some(text));
    let quoted = format!("{text:?}");
    if edges().any(|edge| is_called(edge, Names::EdgeId)) {
        return Some(format!("{quoted} is an edge: `edges(.id == {quoted}) | first() | endpoints()` returns its ends"));
    }
    let is_line = |edge: u32| [Names::Line, Names::Segment].iter().any(|names| is_called(edge, *names));
    edges().any(is_line).then(|| {
        format!("{quoted} is a line without a node: `edges(.line == {quoted}) | map(endpoints())` returns what its pipes connect")
    })
}

/// Returns the error for too many results. Options cannot raise the limit of the run.
pub(super) fn too_many(cx: &EvalContext<'_>, items: &str, limit: usize) -> Error {
    let error = Error::new(Code::TooManyRows, format!("there are more than {limit} {items}"));
    let error = error.with_limit("rows", limit as u64);
    match limit >= cx.limits().rows {
        true => error.with_help("narrow the query, or raise the `rows` limit of the run"),
        false => error.with_help("raise `limit`, or narrow the query"),
    }
}

/// Checks a number of results against an option and against the limits of the run.
pub(super) fn check_rows(cx: &EvalContext<'_>, count: usize, limit: Option<usize>) -> Result<()> {
    let max = limit.unwrap_or(usize::MAX).min(cx.limits().rows);
    if count > max { Err(too_many(cx, "nodes", max)) } else { Ok(()) }
}

/// Returns nodes as an array of objects of the document.
pub(super) fn node_list<'a>(cx: &mut EvalContext<'a>, drawing: &Drawing<'a>, nodes: &[NodeId]) -> Result<Value<'a>> {
    cx.charge(nodes.len() as u64)?;
    select(cx, drawing.nodes, nodes)
}

/// Returns edges as an array of objects of the document.
pub(super) fn edge_list<'a>(cx: &mut EvalContext<'a>, drawing: &Drawing<'a>, edges: &[EdgeId]) -> Result<Value<'a>> {
    cx.charge(edges.len() as u64)?;
    select(cx, drawing.edges, edges)
}

/// Converts a result without node or edge ids to a value.
pub(super) fn build<'a>(cx: &mut EvalContext<'a>, datum: Datum<'a>) -> Result<Value<'a>> {
    to_value(cx, &Drawing::empty(), datum)
}

/// Converts a result to a value. Recursion is bounded by the depth of results.
pub(super) fn to_value<'a>(cx: &mut EvalContext<'a>, drawing: &Drawing<'a>, datum: Datum<'a>) -> Result<Value<'a>> {
    DatumWriter { drawing, keys: HashMap::new() }.value(cx, datum)
}

struct DatumWriter<'p, 'a> {
    drawing: &'p Drawing<'a>,
    /// Records of the same type share their keys.
    keys: HashMap<(*const &'static str, usize), &'a Keys<'a>>,
}

impl<'a> DatumWriter<'_, 'a> {
    fn value(&mut self, cx: &mut EvalContext<'a>, datum: Datum<'a>) -> Result<Value<'a>> {
        cx.charge(1)?;
        match datum {
            Datum::Null => Ok(Value::Null),
            Datum::Bool(value) => Ok(Value::Bool(value)),
            Datum::Number(value) => Ok(Value::number(value)),
            Datum::Word(word) => Ok(Value::String(word)),
            Datum::String(text) => cx.build_text(|out| std::fmt::Write::write_str(out, &text)).map(Value::String),
            Datum::Value(value) => Ok(value),
            Datum::Node(NONE) | Datum::Edge(NONE) => Ok(Value::Null),
            Datum::Node(node) => Ok(self.drawing.node(node)),
            Datum::Edge(edge) => Ok(self.drawing.edge(edge)),
            Datum::Nodes(nodes) => node_list(cx, self.drawing, &nodes),
            Datum::Edges(edges) => edge_list(cx, self.drawing, &edges),
            Datum::Array(items) => {
                let base = cx.mark();
                for item in items {
                    let item = self.value(cx, item)?;
                    cx.push(item)?;
                }
                cx.collect_list(base)
            }
            Datum::Record(names, values) => self.record(cx, names, values),
            Datum::Table(names, rows) => {
                let base = cx.mark();
                for row in rows {
                    let row = self.record(cx, names, row)?;
                    cx.push(row)?;
                }
                cx.collect_list(base)
            }
            Datum::Map(entries) => self.map(cx, entries),
        }
    }

    fn record(
        &mut self,
        cx: &mut EvalContext<'a>,
        names: &'static [&'static str],
        values: Vec<Datum<'a>>,
    ) -> Result<Value<'a>> {
        let base = cx.mark();
        for value in values {
            let value = self.value(cx, value)?;
            cx.push(value)?;
        }
        let keys = match self.keys.get(&(names.as_ptr(), names.len())) {
            Some(keys) => keys,
            None => {
                let keys = cx.intern_keys(names)?;
                self.keys.insert((names.as_ptr(), names.len()), keys);
                keys
            }
        };
        cx.collect_object(keys, base)
    }

    /// Builds an object with keys of the document, in JavaScript's order; of equal keys the last one counts.
    fn map(&mut self, cx: &mut EvalContext<'a>, entries: Vec<(String, Datum<'a>)>) -> Result<Value<'a>> {
        let mut object = crate::eval::build::Entries::new();
        for (name, datum) in entries {
            let name = cx.build_text(|out| std::fmt::Write::write_str(out, &name))?;
            let value = self.value(cx, datum)?;
            *object.entry(cx, name, || value)? = value;
        }
        object.into_object(cx)
    }
}

/// Returns values as an array.
pub(super) fn values<'a>(cx: &mut EvalContext<'a>, values: impl Iterator<Item = Value<'a>>) -> Result<Value<'a>> {
    let base = cx.mark();
    collect(cx, values)?;
    cx.collect_list(base)
}
