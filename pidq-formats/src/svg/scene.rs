//! Scene: positions of symbols, and routes of pipes and signals between them. In pixels, y downwards.

use std::collections::{HashMap, VecDeque};

use crate::model::{EdgeRole, Model};
use crate::symbols::{self, Placement, Symbol};
use crate::visibility::Visibility;

pub type Point = (f64, f64);

/// Positioned content of a sheet.
pub struct Scene {
    /// Placed symbols by node; `None` for nodes that are not drawn.
    pub placed_symbols: Vec<Option<PlacedSymbol>>,
    pub routes: Vec<Route>,
    /// Lines from nozzles to their equipment, which covers the ends inside of it.
    pub stubs: Vec<[Point; 2]>,
    /// Scale of symbols and text, 1 if there is enough space.
    pub scale: f64,
}

/// Symbol with its position, size and rotation.
#[derive(Clone, Debug)]
pub struct PlacedSymbol {
    pub symbol: &'static Symbol,
    pub at: Point,
    pub half: (f64, f64),
    /// Clockwise rotation, in degrees.
    pub angle: i32,
}

/// Route of an edge.
#[derive(Clone, Debug)]
pub struct Route {
    pub edge: usize,
    pub role: EdgeRole,
    pub points: Vec<Point>,
}

/// Symbols and roles of the nodes, before layout.
pub struct NodeSymbols<'m, 'a> {
    pub model: &'m Model<'a>,
    pub visibility: Visibility,
    pub symbols: Vec<&'static Symbol>,
    /// True for a function or a reference, which is not drawn.
    pub is_abstract: Vec<bool>,
    /// For an abstract node, the item that it represents.
    pub represents: Vec<Option<usize>>,
    /// The ports and parts of each node.
    pub parts: Vec<Vec<usize>>,
    /// By name: extent of equipment of which not all nozzles are drawn.
    pub nozzle_extents: HashMap<String, Point>,
}

/// Classes of functions and references.
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

impl<'m, 'a> NodeSymbols<'m, 'a> {
    pub fn new(model: &'m Model<'a>) -> NodeSymbols<'m, 'a> {
        let visibility = Visibility::new(model);
        let classes: Vec<String> = model.nodes.iter().map(|node| node.class()).collect();
        let symbols = classes.iter().map(|class| symbols::find(class)).collect();
        let is_abstract = |class: &String| {
            ABSTRACT.iter().any(|word| class.contains(word)) && !class.contains("actuating_system_component")
        };
        let is_abstract: Vec<bool> = classes.iter().map(is_abstract).collect();
        let is_instrument: Vec<bool> = classes.iter().map(|class| class.starts_with("instrument.")).collect();
        let represents = represented_nodes(model, &is_abstract, &is_instrument);
        let mut parts = vec![Vec::new(); model.nodes.len()];
        for (part, owner) in visibility.owner.iter().enumerate() {
            owner.iter().for_each(|owner| parts[*owner].push(part));
        }
        NodeSymbols { model, visibility, symbols, is_abstract, represents, parts, nozzle_extents: HashMap::new() }
    }

    /// Returns true if a node is drawn. Chambers and impellers are inside their equipment.
    pub fn is_drawable(&self, index: usize) -> bool {
        self.visibility.is_node_visible(index) && !self.is_abstract[index] && self.symbols[index].name != "part"
    }

    /// Returns the node at which an end of an edge is drawn.
    pub fn drawn_end(&self, node: Option<usize>) -> Option<usize> {
        let node = node?;
        let drawn = if self.is_abstract[node] { self.represents[node]? } else { node };
        // Parts of a chamber are drawn at the equipment.
        if self.symbols[drawn].name == "part" { self.visibility.owner[drawn] } else { Some(drawn) }
    }

    /// Returns the drawn edges with the nodes between which they are drawn.
    pub fn drawn_edges(&self) -> impl Iterator<Item = (usize, EdgeRole, usize, usize)> + '_ {
        self.model.edges.iter().enumerate().filter_map(|(index, edge)| {
            let role = edge.role();
            let is_shown = match role {
                EdgeRole::Flow | EdgeRole::Signal => true,
                // The sensing point of an instrument.
                EdgeRole::Other => edge.kind() == "associated_with" && !self.is_part(edge.from.node),
                EdgeRole::Part | EdgeRole::Member => false,
            };
            let from = self.drawn_end(edge.from.node).filter(|node| self.is_drawable(*node))?;
            let to = self.drawn_end(edge.to.node).filter(|node| self.is_drawable(*node))?;
            (is_shown && from != to).then_some((index, role, from, to))
        })
    }

    /// Returns true for nodes whose associations are not drawn: the chamber of a nozzle, the location of a function.
    fn is_part(&self, node: Option<usize>) -> bool {
        node.is_none_or(|node| self.is_abstract[node] || self.symbols[node].placement != Placement::Bubble)
    }

    /// Returns node indexes by name, for fields that refer to other nodes.
    pub fn by_name(&self) -> HashMap<&str, usize> {
        self.model.nodes.iter().enumerate().map(|(index, node)| (node.name.as_str(), index)).collect()
    }
}

/// Finds for each abstract node the nearest concrete item, through abstract nodes only.
fn represented_nodes(model: &Model<'_>, is_abstract: &[bool], is_instrument: &[bool]) -> Vec<Option<usize>> {
    let mut neighbors: Vec<Vec<usize>> = vec![Vec::new(); model.nodes.len()];
    for edge in model.edges.iter().filter(|edge| !matches!(edge.role(), EdgeRole::Flow | EdgeRole::Signal)) {
        if let (Some(from), Some(to)) = (edge.from.node, edge.to.node) {
            neighbors[from].push(to);
            neighbors[to].push(from);
        }
    }
    let search = |start: usize| {
        let mut seen = vec![start];
        let mut queue = VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            for next in &neighbors[at] {
                if seen.contains(next) || seen.len() > 32 {
                    continue;
                }
                if !is_abstract[*next] && !is_instrument[*next] && !model.nodes[*next].is_group() {
                    return Some(*next);
                }
                seen.push(*next);
                if is_abstract[*next] {
                    queue.push_back(*next);
                }
            }
        }
        None
    };
    (0..model.nodes.len()).map(|index| is_abstract[index].then(|| search(index)).flatten()).collect()
}

impl PlacedSymbol {
    /// Returns the bounding box of the symbol with its spring, stem or actuator: left, top, right, bottom.
    pub fn outline(&self) -> [f64; 4] {
        let [left, top, right, bottom] = self.bounds();
        let scale = self.half.0 / self.symbol.half.0;
        let (height, length) = symbols::stem(self.symbol);
        let (up, along) = ((height * scale - self.half.1).max(0.0), (length * scale - self.half.0).max(0.0));
        match self.angle {
            90 => [left, top, right + up, bottom + along],
            // Symbols in a pipe that runs to the left are mirrored.
            180 => [left - along, top - up, right, bottom],
            270 => [left - up, top - along, right, bottom],
            _ => [left, top - up, right + along, bottom],
        }
    }

    /// Returns the bounding box of the symbol: left, top, right, bottom.
    pub fn bounds(&self) -> [f64; 4] {
        let (w, h) = if self.angle % 180 == 0 { self.half } else { (self.half.1, self.half.0) };
        [self.at.0 - w, self.at.1 - h, self.at.0 + w, self.at.1 + h]
    }
}

impl Scene {
    /// Returns the bounding box of everything.
    pub fn bounds(&self) -> [f64; 4] {
        let boxes = self.placed_symbols.iter().flatten().map(PlacedSymbol::bounds);
        let points = self.routes.iter().flat_map(|route| route.points.iter().map(|(x, y)| [*x, *y, *x, *y]));
        let all = boxes.chain(points).reduce(|a, b| [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])]);
        all.unwrap_or([0.0, 0.0, 200.0, 100.0])
    }
}
