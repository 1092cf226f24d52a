//! What functions of the graph share: who is asked about, with which options, and how an answer becomes a value.

use std::ops::Deref;

use hashbrown::HashMap;

use super::array::{collect, select};
use crate::error::{Code, Error, Result};
use crate::eval::Cx;
use crate::eval::plan::{Constant, Fields, Plan};
use crate::eval::setting::{Setting, shown};
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::plant::Plant;
use crate::graph::topology::{Dir, Over};
use crate::graph::walk::{Guide, Pass, Rules};
use crate::pid::Datum;
use crate::suggest;
use crate::value::{Keys, Value};

const DIR_WORDS: &[&str] = &["down", "up", "both", "out", "in"];
const DIRS: [Dir; 5] = [Dir::Down, Dir::Up, Dir::Both, Dir::Down, Dir::Up];

pub(super) const PASSES: [Pass; 3] = [Pass::None, Pass::Zone, Pass::Any];

// Options of several functions.
pub(super) const AVOID: Setting = Setting::query("avoid");
pub(super) const DEPTH: Setting = Setting::number("depth");
pub(super) const DIR: Setting = Setting::word("dir", DIR_WORDS);
pub(super) const EDGES: Setting = Setting::query("edges");
pub(super) const PASS: Setting = Setting::word("pass", &["none", "zone", "any"]);
pub(super) const UNTIL: Setting = Setting::query("until");

/// A direction that is an argument of its own.
pub(super) const DIRECTION: Setting = Setting::word("direction", DIR_WORDS);

/// The nodes that a call names. Mostly it is one, which needs no list.
#[derive(Debug)]
pub(super) enum Named {
    One(NodeId),
    Several(Vec<NodeId>),
}

impl Deref for Named {
    type Target = [NodeId];

    fn deref(&self) -> &[NodeId] {
        match self {
            Named::One(node) => std::slice::from_ref(node),
            Named::Several(nodes) => nodes,
        }
    }
}

/// A call of a function of the graph.
pub(super) struct Ask<'a> {
    pub plant: Plant<'a>,
    pub input: Value<'a>,
    args: &'a [Plan],
    options: Option<&'a Fields>,
}

impl<'a> Ask<'a> {
    /// A call whose last argument may be options.
    pub fn new(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Ask<'a>> {
        let plant = cx.plant()?;
        Ok(match args.split_last() {
            Some((Plan::Object(options), args)) => Ask { plant, input, args, options: Some(options) },
            _ => Ask { plant, input, args, options: None },
        })
    }

    /// A call without options: an object as last argument is an argument.
    pub fn plain(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Ask<'a>> {
        Ok(Ask { plant: cx.plant()?, input, args, options: None })
    }

    /// A call that brings the graphs that it is about.
    pub fn anywhere(input: Value<'a>, args: &'a [Plan], most: usize) -> Ask<'a> {
        let plant = Plant::nothing();
        match args.split_last() {
            Some((Plan::Object(options), rest)) if args.len() > most => {
                Ask { plant, input, args: rest, options: Some(options) }
            }
            _ => Ask { plant, input, args, options: None },
        }
    }

    /// How many arguments there are beside the options.
    pub fn count(&self) -> usize {
        self.args.len()
    }

    /// An argument that is not evaluated yet.
    pub fn plan(&self, at: usize) -> Option<&'a Plan> {
        self.args.get(at)
    }

    /// The value of an argument; no value where it is missing.
    pub fn value(&self, cx: &mut Cx<'a>, at: usize) -> Result<Value<'a>> {
        match self.args.get(at) {
            Some(arg) => cx.eval(arg, self.input),
            None => Ok(Value::Undefined),
        }
    }

    /// A direction as first argument, and the place of the argument after it.
    pub fn direction(&self, cx: &mut Cx<'a>) -> Result<(Dir, usize)> {
        let is_word = matches!(self.args.first(), Some(Plan::Constant(_) | Plan::Parameter(_)));
        if !is_word {
            return Ok((Dir::Both, 0));
        }
        let dir = DIRECTION.as_word(self.value(cx, 0)?)?;
        Ok((dir.map_or(Dir::Both, |at| DIRS[at]), 1))
    }

    /// The query of an option.
    pub fn option(&self, name: &str) -> Option<&'a Plan> {
        let options = self.options?;
        options.names.iter().position(|known| **known == *name).map(|at| &options.values[at])
    }

    /// The value of an option; no value where it is missing.
    pub fn option_value(&self, cx: &mut Cx<'a>, name: &str) -> Result<Value<'a>> {
        self.option(name).map_or(Ok(Value::Undefined), |plan| cx.eval(plan, self.input))
    }

    /// An option that is a number of things.
    pub fn number(&self, cx: &mut Cx<'a>, setting: &Setting) -> Result<Option<usize>> {
        let value = self.option_value(cx, setting.name)?;
        Ok(setting.as_number(value)?.map(|number| number as usize))
    }

    /// An option that is true or false; nothing where it is missing.
    pub fn flag(&self, cx: &mut Cx<'a>, setting: &Setting) -> Result<Option<bool>> {
        setting.as_flag(self.option_value(cx, setting.name)?)
    }

    /// An option that is one of some words: its place among them.
    pub fn word(&self, cx: &mut Cx<'a>, setting: &Setting) -> Result<Option<usize>> {
        setting.as_word(self.option_value(cx, setting.name)?)
    }

    /// An option that is a text or a list of texts.
    pub fn texts(&self, cx: &mut Cx<'a>, setting: &Setting) -> Result<Vec<&'a str>> {
        setting.as_texts(self.option_value(cx, setting.name)?)
    }

    /// The nodes that an argument names, or the piped ones where `at` is nothing.
    pub fn nodes(&self, cx: &mut Cx<'a>, at: Option<usize>) -> Result<Named> {
        let value = match at {
            Some(at) => self.value(cx, at)?,
            None => self.input,
        };
        nodes_of(cx, &self.plant, value)
    }

    /// The nodes that the first argument names, or the piped ones.
    pub fn subject(&self, cx: &mut Cx<'a>) -> Result<Named> {
        self.nodes(cx, (self.count() > 0).then_some(0))
    }

    /// How a walk goes, by the options `dir`, `pass`, `depth` and `edges`.
    pub fn rules(&self, cx: &mut Cx<'a>, dir: Dir, pass: Pass) -> Result<Rules> {
        let dir = self.word(cx, &DIR)?.map_or(dir, |at| DIRS[at]);
        let pass = self.word(cx, &PASS)?.map_or(pass, |at| PASSES[at]);
        // Steps are counted in 32 bits.
        let deepest = cx.limits().depth.min(u32::MAX as usize);
        let depth = self.number(cx, &DEPTH)?.map_or(deepest, |depth| depth.min(deepest));
        let over = if self.option("edges").is_some() { Over::All } else { Over::Flow };
        Ok(Rules { over, dir, pass, depth: depth as u32 })
    }

    /// Tells which of the edges that led to an answer were followed in a direction that the drawing does not say. Comes
    /// last in a function: see [`Cx::assumed`].
    pub fn tell_assumed(&self, cx: &mut Cx<'a>, rules: &Rules, edges: impl IntoIterator<Item = EdgeId>) -> Result<()> {
        if !rules.assumes(&self.plant.topology) {
            return Ok(());
        }
        let assumed = edges.into_iter().filter(|edge| self.plant.topology.is_assumed(*edge));
        cx.assumed(assumed, |edge| self.plant.edge_id(edge))
    }

    /// Whether a walk has to ask the options `edges`, `avoid` or `until`.
    pub fn asks(&self) -> bool {
        self.which_edges().is_some() || ["avoid", "until"].iter().any(|name| self.option(name).is_some())
    }

    /// The option `edges`, where it does not take all.
    fn which_edges(&self) -> Option<&'a Plan> {
        self.option("edges").filter(|plan| !matches!(plan, Plan::Constant(Constant::Bool(true))))
    }

    /// Whether arguments and options are the same whatever is piped.
    pub fn is_fixed(&self) -> bool {
        let options = self.options.into_iter().flat_map(|options| &options.values);
        self.args.iter().chain(options).all(|plan| matches!(plan, Plan::Constant(_) | Plan::Parameter(_)))
    }

    /// A guide that asks the options `edges`, `avoid` and `until`.
    pub fn guide<'c>(&'c self, cx: &'c mut Cx<'a>) -> Asker<'c, 'a> {
        let [avoid, until] = ["avoid", "until"].map(|name| self.option(name));
        let edges = self.which_edges();
        Asker { cx, plant: &self.plant, edges, avoid, until, held: 0, owed: 0 }
    }
}

/// Asks the queries of a call what to follow.
pub(super) struct Asker<'c, 'a> {
    pub cx: &'c mut Cx<'a>,
    plant: &'c Plant<'a>,
    edges: Option<&'a Plan>,
    avoid: Option<&'a Plan>,
    until: Option<&'a Plan>,
    /// Bytes that the walk is counted for, and those that it has yet to be.
    held: usize,
    owed: usize,
}

impl Asker<'_, '_> {
    /// Counts the memory of a walk, which grows with what it has followed.
    fn hold(&mut self, bytes: usize) -> Result<()> {
        const CHUNK: usize = 64 << 10;
        self.owed += bytes;
        if self.owed > CHUNK {
            self.cx.hold(self.owed)?;
            self.held += std::mem::take(&mut self.owed);
        }
        Ok(())
    }
}

impl Drop for Asker<'_, '_> {
    fn drop(&mut self) {
        self.cx.release(self.held);
    }
}

impl Guide for Asker<'_, '_> {
    fn pay(&mut self, units: u64) -> Result<()> {
        self.hold(units as usize * size_of::<crate::graph::walk::Step>())?;
        self.cx.spend(units)
    }

    fn follows(&mut self, edge: EdgeId) -> Result<bool> {
        let Some(edges) = self.edges else { return Ok(true) };
        Ok(self.cx.eval(edges, self.plant.edge(edge))?.is_truthy())
    }

    fn enters(&mut self, node: NodeId) -> Result<bool> {
        let Some(avoid) = self.avoid else { return Ok(true) };
        Ok(!self.cx.eval(avoid, self.plant.node(node))?.is_truthy())
    }

    fn ends_at(&mut self, node: NodeId) -> Result<bool> {
        let Some(until) = self.until else { return Ok(false) };
        Ok(self.cx.eval(until, self.plant.node(node))?.is_truthy())
    }
}

/// The nodes that a value names: a node, an id, a tag, or a list of them. Each once, in the order given.
fn nodes_of<'a>(cx: &mut Cx<'a>, plant: &Plant<'a>, value: Value<'a>) -> Result<Named> {
    let Value::Array(items) = value else { return node_of(cx, plant, value).map(Named::One) };
    let mut nodes = Vec::with_capacity(items.len());
    let mut seen = hashbrown::HashSet::new();
    for item in items.iter() {
        let node = node_of(cx, plant, item)?;
        if seen.insert(node) {
            nodes.push(node);
        }
    }
    Ok(Named::Several(nodes))
}

/// The node that a value names.
pub(super) fn node_of<'a>(cx: &mut Cx<'a>, plant: &Plant<'a>, value: Value<'a>) -> Result<NodeId> {
    cx.spend(1)?;
    match value {
        Value::Null | Value::Undefined => {
            let error = Error::new(Code::NoStart, "there is no node to start from: the value is null");
            Err(error.with_help("check the path before it, or give a tag: `downstream(\"P-101\")`"))
        }
        Value::Object(_) => plant.named_by(value).ok_or_else(|| not_a_node(plant, value)),
        Value::String(_) | Value::Number(_) => by_reference(cx, plant, value),
        other => Err(not_a_node(plant, other)),
    }
}

fn not_a_node<'a>(plant: &Plant<'a>, value: Value<'a>) -> Error {
    let error = Error::new(Code::NotANode, format!("{} is not a node of the graph", shown(value)));
    match plant.edge_of(value) {
        Some(_) => error.with_help("the ends of an edge are `endpoints()`"),
        None => error.with_help("pipe a node, an id, a tag, or a list of them"),
    }
}

/// Nodes whose tags are compared with an unknown one.
const SEARCHED: usize = 50_000;

/// Bytes of a tag that may be misspelt. What is longer is something else.
const LONGEST_TAG: usize = 256;

/// The node with an id, or else the only one with a tag.
fn by_reference<'a>(cx: &mut Cx<'a>, plant: &Plant<'a>, reference: Value<'a>) -> Result<NodeId> {
    if let Some(node) = plant.by_reference(reference, |units| cx.spend(units))? {
        return Ok(node);
    }
    let length = reference.as_str().map_or(0, str::len).min(LONGEST_TAG);
    cx.spend(SEARCHED.min(plant.topology.node_count()) as u64 * (1 + length as u64 / 4))?;
    Err(unknown_node(plant, reference))
}

/// Tags near to one that no node has: those that differ in separators only first.
fn unknown_node(plant: &Plant<'_>, reference: Value<'_>) -> Error {
    let error = Error::new(Code::UnknownNode, format!("no node with id or tag {}", shown(reference)));
    let Some(wanted) = reference.as_str().filter(|wanted| wanted.len() <= LONGEST_TAG) else { return error };
    let bare =
        |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let tags = || {
        let tags = (0..plant.topology.node_count().min(SEARCHED) as u32).filter_map(|node| plant.tag(node));
        tags.filter(|tag| tag.len() <= LONGEST_TAG)
    };
    let wanted_bare = bare(wanted);
    let mut near: Vec<&str> = tags().filter(|tag| bare(tag) == wanted_bare).collect();
    near.extend(suggest::nearest(wanted, tags()));
    let mut seen = hashbrown::HashSet::new();
    near.retain(|tag| seen.insert(*tag));
    near.truncate(3);
    if near.is_empty() {
        return error;
    }
    let quoted: Vec<String> = near.iter().map(|tag| format!("\"{tag}\"")).collect();
    error
        .with_help(format!("did you mean {}?", quoted.join(", ")))
        .with_suggestions(near.iter().map(|tag| String::from(*tag)).collect())
}

/// A list longer than allowed. What the run allows is no business of an option.
pub(super) fn too_many(cx: &Cx<'_>, what: &str, limit: usize) -> Error {
    let error = Error::new(Code::TooManyRows, format!("there are more than {limit} {what}"));
    let error = error.with_limit("rows", limit as u64);
    match limit >= cx.limits().rows {
        true => error.with_help("ask for less, or let the run have more `rows`"),
        false => error.with_help("raise `limit`, or ask for less"),
    }
}

/// Checks a list against an option and against the limits of the run.
pub(super) fn check_rows(cx: &Cx<'_>, count: usize, limit: Option<usize>) -> Result<()> {
    let most = limit.unwrap_or(usize::MAX).min(cx.limits().rows);
    if count > most { Err(too_many(cx, "nodes", most)) } else { Ok(()) }
}

/// Some nodes as a list of the document's objects.
pub(super) fn node_list<'a>(cx: &mut Cx<'a>, plant: &Plant<'a>, nodes: &[NodeId]) -> Result<Value<'a>> {
    cx.spend(nodes.len() as u64)?;
    select(cx, plant.nodes, nodes)
}

/// Some edges as a list of the document's objects.
pub(super) fn edge_list<'a>(cx: &mut Cx<'a>, plant: &Plant<'a>, edges: &[EdgeId]) -> Result<Value<'a>> {
    cx.spend(edges.len() as u64)?;
    select(cx, plant.edges, edges)
}

/// An answer that names no nodes and edges by number as a value.
pub(super) fn build<'a>(cx: &mut Cx<'a>, datum: Datum<'a>) -> Result<Value<'a>> {
    answer(cx, &Plant::nothing(), datum)
}

/// An answer as a value. As deep as answers are made.
pub(super) fn answer<'a>(cx: &mut Cx<'a>, plant: &Plant<'a>, datum: Datum<'a>) -> Result<Value<'a>> {
    Writer { plant, keys: HashMap::new() }.value(cx, datum)
}

struct Writer<'p, 'a> {
    plant: &'p Plant<'a>,
    /// Records of the same kind share their keys.
    keys: HashMap<(*const &'static str, usize), &'a Keys<'a>>,
}

impl<'a> Writer<'_, 'a> {
    fn value(&mut self, cx: &mut Cx<'a>, datum: Datum<'a>) -> Result<Value<'a>> {
        cx.spend(1)?;
        match datum {
            Datum::Null => Ok(Value::Null),
            Datum::Bool(value) => Ok(Value::Bool(value)),
            Datum::Number(value) => Ok(Value::number(value)),
            Datum::Word(word) => Ok(Value::String(word)),
            Datum::Text(text) => cx.text(|out| std::fmt::Write::write_str(out, &text)).map(Value::String),
            Datum::Value(value) => Ok(value),
            Datum::Node(NONE) | Datum::Edge(NONE) => Ok(Value::Null),
            Datum::Node(node) => Ok(self.plant.node(node)),
            Datum::Edge(edge) => Ok(self.plant.edge(edge)),
            Datum::Nodes(nodes) => node_list(cx, self.plant, &nodes),
            Datum::Edges(edges) => edge_list(cx, self.plant, &edges),
            Datum::List(items) => {
                let base = cx.mark();
                for item in items {
                    let item = self.value(cx, item)?;
                    cx.push(item)?;
                }
                cx.list(base)
            }
            Datum::Record(names, values) => self.record(cx, names, values),
            Datum::Table(names, rows) => {
                let base = cx.mark();
                for row in rows {
                    let row = self.record(cx, names, row)?;
                    cx.push(row)?;
                }
                cx.list(base)
            }
            Datum::Map(entries) => self.map(cx, entries),
        }
    }

    fn record(&mut self, cx: &mut Cx<'a>, names: &'static [&'static str], values: Vec<Datum<'a>>) -> Result<Value<'a>> {
        let base = cx.mark();
        for value in values {
            let value = self.value(cx, value)?;
            cx.push(value)?;
        }
        let keys = match self.keys.get(&(names.as_ptr(), names.len())) {
            Some(keys) => keys,
            None => {
                let keys = cx.keys(names)?;
                self.keys.insert((names.as_ptr(), names.len()), keys);
                keys
            }
        };
        cx.record(keys, base)
    }

    /// Keys of the document, in JavaScript's order; of equal keys the last one counts.
    fn map(&mut self, cx: &mut Cx<'a>, entries: Vec<(String, Datum<'a>)>) -> Result<Value<'a>> {
        let mut object = crate::eval::build::Entries::new();
        for (name, datum) in entries {
            let name = cx.text(|out| std::fmt::Write::write_str(out, &name))?;
            let value = self.value(cx, datum)?;
            *object.entry(cx, name, || value)? = value;
        }
        object.into_object(cx)
    }
}

/// Values as a list.
pub(super) fn values<'a>(cx: &mut Cx<'a>, values: impl Iterator<Item = Value<'a>>) -> Result<Value<'a>> {
    let base = cx.mark();
    collect(cx, values)?;
    cx.list(base)
}
