//! What is on the sheet: places of symbols, and the ways of pipes and signals between them. All in pixels, y downwards.

use std::collections::{HashMap, VecDeque};

use crate::model::{Model, Purpose};
use crate::outline::Outline;
use crate::symbols::{self, Place, Symbol};

pub type Point = (f64, f64);

/// The sheet.
pub struct Scene {
    /// Where the nodes are; nothing for what is not drawn.
    pub places: Vec<Option<Placed>>,
    pub routes: Vec<Route>,
    /// How large symbols and letters are, 1 where there is room.
    pub scale: f64,
}

/// A symbol on the sheet.
#[derive(Clone, Debug)]
pub struct Placed {
    pub symbol: &'static Symbol,
    pub at: Point,
    pub half: (f64, f64),
    /// Turned clockwise, in degrees.
    pub angle: i32,
}

/// The way of an edge.
#[derive(Clone, Debug)]
pub struct Route {
    pub edge: usize,
    pub purpose: Purpose,
    pub points: Vec<Point>,
}

/// What the nodes are, before anyone knows where.
pub struct Cast<'m, 'a> {
    pub model: &'m Model<'a>,
    pub outline: Outline,
    pub symbols: Vec<&'static Symbol>,
    /// Whether a node stands for a function or a reference, and is not drawn.
    pub abstracts: Vec<bool>,
    /// For an abstract node, the thing that it is about.
    pub stands_for: Vec<Option<usize>>,
    /// The ports and parts of each node.
    pub parts: Vec<Vec<usize>>,
    /// How far equipment reaches of which not all nozzles are drawn, by name.
    pub reaches: HashMap<String, Point>,
}

/// Classes that stand for functions and references.
const ABSTRACT: &[&str] = &[
    "actuating_function",
    "actuating_electrical_function",
    "signal_generating_function",
    "signal_generating_system",
    "actuating_system",
    "actuating_electrical_system",
    "valve_reference",
    "element_reference",
];

impl<'m, 'a> Cast<'m, 'a> {
    pub fn of(model: &'m Model<'a>) -> Cast<'m, 'a> {
        let outline = Outline::of(model);
        let classes: Vec<String> = model.nodes.iter().map(|node| node.class()).collect();
        let symbols = classes.iter().map(|class| symbols::find(class)).collect();
        let is_abstract = |class: &String| {
            ABSTRACT.iter().any(|word| class.contains(word)) && !class.contains("actuating_system_component")
        };
        let abstracts: Vec<bool> = classes.iter().map(is_abstract).collect();
        let is_instrument: Vec<bool> = classes.iter().map(|class| class.starts_with("instrument.")).collect();
        let stands_for = stand_ins(model, &abstracts, &is_instrument);
        let mut parts = vec![Vec::new(); model.nodes.len()];
        for (part, owner) in outline.owner.iter().enumerate() {
            owner.iter().for_each(|owner| parts[*owner].push(part));
        }
        Cast { model, outline, symbols, abstracts, stands_for, parts, reaches: HashMap::new() }
    }

    /// Whether a node can be drawn at all. Chambers and impellers are inside of what is drawn.
    pub fn is_drawable(&self, index: usize) -> bool {
        self.outline.shows_node(index) && !self.abstracts[index] && self.symbols[index].name != "part"
    }

    /// The node that an end of an edge is drawn at.
    pub fn drawn_end(&self, node: Option<usize>) -> Option<usize> {
        let node = node?;
        let drawn = if self.abstracts[node] { self.stands_for[node]? } else { node };
        // What belongs to a chamber is drawn at the equipment.
        if self.symbols[drawn].name == "part" { self.outline.owner[drawn] } else { Some(drawn) }
    }

    /// Edges that are drawn, with the nodes that they are drawn between.
    pub fn drawn_edges(&self) -> impl Iterator<Item = (usize, Purpose, usize, usize)> + '_ {
        self.model.edges.iter().enumerate().filter_map(|(index, edge)| {
            let purpose = edge.purpose();
            let wanted = match purpose {
                Purpose::Flow | Purpose::Signal => true,
                // Where an instrument senses.
                Purpose::Other => edge.kind() == "associated_with" && !self.is_part(edge.from.node),
                Purpose::Part | Purpose::Member => false,
            };
            let from = self.drawn_end(edge.from.node).filter(|node| self.is_drawable(*node))?;
            let to = self.drawn_end(edge.to.node).filter(|node| self.is_drawable(*node))?;
            (wanted && from != to).then_some((index, purpose, from, to))
        })
    }

    /// A nozzle is located in a chamber, and a function where it senses; neither is a line on a drawing.
    fn is_part(&self, node: Option<usize>) -> bool {
        node.is_none_or(|node| self.abstracts[node] || self.symbols[node].place != Place::Bubble)
    }

    /// The node by name, for fields that name others.
    pub fn by_name(&self) -> HashMap<&str, usize> {
        self.model.nodes.iter().enumerate().map(|(index, node)| (node.name.as_str(), index)).collect()
    }
}

/// The nearest thing that is no function, over functions only.
fn stand_ins(model: &Model<'_>, abstracts: &[bool], is_instrument: &[bool]) -> Vec<Option<usize>> {
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); model.nodes.len()];
    for edge in model.edges.iter().filter(|edge| !matches!(edge.purpose(), Purpose::Flow | Purpose::Signal)) {
        if let (Some(from), Some(to)) = (edge.from.node, edge.to.node) {
            near[from].push(to);
            near[to].push(from);
        }
    }
    let search = |start: usize| {
        let mut seen = vec![start];
        let mut queue = VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            for next in &near[at] {
                if seen.contains(next) || seen.len() > 32 {
                    continue;
                }
                if !abstracts[*next] && !is_instrument[*next] && !model.nodes[*next].is_group() {
                    return Some(*next);
                }
                seen.push(*next);
                if abstracts[*next] {
                    queue.push_back(*next);
                }
            }
        }
        None
    };
    (0..model.nodes.len()).map(|index| abstracts[index].then(|| search(index)).flatten()).collect()
}

impl Placed {
    /// The box around the symbol: left, top, right, bottom.
    pub fn bounds(&self) -> [f64; 4] {
        let (w, h) = if self.angle % 180 == 0 { self.half } else { (self.half.1, self.half.0) };
        [self.at.0 - w, self.at.1 - h, self.at.0 + w, self.at.1 + h]
    }
}

impl Scene {
    /// The box around everything.
    pub fn bounds(&self) -> [f64; 4] {
        let boxes = self.places.iter().flatten().map(Placed::bounds);
        let points = self.routes.iter().flat_map(|route| route.points.iter().map(|(x, y)| [*x, *y, *x, *y]));
        let all = boxes.chain(points).reduce(|a, b| [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])]);
        all.unwrap_or([0.0, 0.0, 200.0, 100.0])
    }
}
