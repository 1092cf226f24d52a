//! Layered layout for drawings without positions: layers from left to right, after Sugiyama, Tagawa and Toda (1981).
//!
//! Equipment and its nozzles form one block. Cycles are broken, blocks are assigned to layers by their longest path
//! from a source, long edges get a dummy vertex in every layer they cross, crossings are reduced by barycenters, and
//! heights follow the neighbors. Instruments are placed near the items they sense or actuate. A layout that would be
//! too wide is wrapped into bands, like lines of text.

use std::collections::VecDeque;

use crate::model::EdgeRole;
use crate::symbols::Placement;

use super::collision_grid::CollisionGrid;
use super::layers::{Layers, Link};
use super::routes;
use super::scene::{NodeSymbols, PlacedSymbol, Point, Route, Scene};
use super::signals::{self, Obstacles};

/// Gap between layers, and width of each pipe track in it.
const LAYER_GAP: f64 = 34.0;
const TRACK_WIDTH: f64 = 7.0;
/// Gap between neighbors in a layer.
const ROW_GAP: f64 = 34.0;
/// Spacing of nozzles on one side of a block.
const NOZZLE_SPACING: f64 = 18.0;
/// Gap between bands: space for instruments, and for the pipes from one band to the next.
const BAND_GAP: f64 = 96.0;
/// Target ratio of width to height.
const ASPECT_RATIO: f64 = 1.7;

/// Builds the scene with a layered layout.
pub fn scene(symbols: &NodeSymbols<'_, '_>) -> Scene {
    let blocks = Blocks::new(symbols);
    let layers = Layers::new(blocks.members.len(), &blocks.links);
    let mut layout = LayeredLayout::new(symbols, &blocks, &layers);
    layout.wrap_into_bands();
    layout.place_blocks();
    layout.place_nozzles();
    layout.route_pipes();
    let LayeredLayout { mut placed_symbols, mut routes, .. } = layout;
    routes::rotate_symbols(&mut placed_symbols, &mut routes, symbols);
    let stubs = routes::stubs(symbols, &placed_symbols);
    let mut scene = Scene { placed_symbols, routes, stubs, scale: 1.0 };
    add_instruments(symbols, &mut scene);
    scene
}

/// Blocks of nodes that are laid out as one, and the pipes between them.
struct Blocks {
    /// The nodes of each block: the main node, then its nozzles.
    members: Vec<Vec<usize>>,
    links: Vec<Link>,
    /// By node: the block to which its first pipe leads.
    neighbor_block: Vec<Option<usize>>,
}

impl Blocks {
    fn new(symbols: &NodeSymbols<'_, '_>) -> Blocks {
        let count = symbols.symbols.len();
        let mut flows = vec![false; count];
        let pipes: Vec<_> = symbols.drawn_edges().filter(|(_, role, ..)| *role == EdgeRole::Flow).collect();
        for (_, _, from, to) in &pipes {
            flows[*from] = true;
            flows[*to] = true;
        }
        let owner = |index: usize| symbols.visibility.owner[index].filter(|owner| symbols.is_drawable(*owner));
        let is_main_node = |index: &usize| {
            let is_instrument =
                symbols.symbols[*index].placement == Placement::Bubble || symbols.symbols[*index].name == "actuator";
            symbols.is_drawable(*index) && owner(*index).is_none() && (flows[*index] || !is_instrument)
        };
        let mut members: Vec<Vec<usize>> = (0..count).filter(is_main_node).map(|index| vec![index]).collect();
        let mut block_of_node = vec![None; count];
        for (block, nodes) in members.iter().enumerate() {
            block_of_node[nodes[0]] = Some(block);
        }
        for index in (0..count).filter(|index| symbols.is_drawable(*index)) {
            if let Some(block) = owner(index).and_then(|owner| block_of_node[owner]) {
                block_of_node[index] = Some(block);
                members[block].push(index);
            }
        }
        let link = |(edge, _, from, to): (usize, EdgeRole, usize, usize)| {
            Some(Link { edge, from: block_of_node[from]?, to: block_of_node[to]?, ends: [from, to] })
        };
        let links: Vec<Link> = pipes.into_iter().filter_map(link).filter(|link| link.from != link.to).collect();
        let mut neighbor_block = vec![None; count];
        for link in &links {
            neighbor_block[link.ends[0]].get_or_insert(link.to);
            neighbor_block[link.ends[1]].get_or_insert(link.from);
        }
        Blocks { members, links, neighbor_block }
    }
}

struct LayeredLayout<'c, 'm, 'a> {
    symbols: &'c NodeSymbols<'m, 'a>,
    blocks: &'c Blocks,
    layers: &'c Layers,
    placed_symbols: Vec<Option<PlacedSymbol>>,
    routes: Vec<Route>,
    /// Left and right edge of each layer.
    columns: Vec<(f64, f64)>,
    heights: Vec<f64>,
    /// Band of each layer, and bottom of each band.
    bands: Vec<usize>,
    bottoms: Vec<f64>,
}

impl<'c, 'm, 'a> LayeredLayout<'c, 'm, 'a> {
    fn new(symbols: &'c NodeSymbols<'m, 'a>, blocks: &'c Blocks, layers: &'c Layers) -> LayeredLayout<'c, 'm, 'a> {
        let half = |vertex: usize| blocks.members.get(vertex).map_or((2.0, 2.0), |members| half(symbols, members));
        let heights = layers.heights(|vertex| half(vertex).1 + ROW_GAP / 2.0);
        let mut columns = Vec::new();
        let mut left = 0.0;
        for (index, layer) in layers.order.iter().enumerate() {
            let width = layer.iter().map(|vertex| half(*vertex).0 * 2.0).fold(8.0, f64::max);
            columns.push((left, left + width));
            left += width + LAYER_GAP + TRACK_WIDTH * layers.link_count(index) as f64;
        }
        let bands = vec![0; columns.len()];
        let placed_symbols = vec![None; symbols.symbols.len()];
        LayeredLayout {
            symbols,
            blocks,
            layers,
            placed_symbols,
            routes: Vec::new(),
            columns,
            heights,
            bands,
            bottoms: Vec::new(),
        }
    }

    /// Wraps the layers into bands if a single one would be much wider than high.
    fn wrap_into_bands(&mut self) {
        let width = self.columns.last().map_or(0.0, |column| column.1);
        let (top, bottom) = self.extent(0..self.columns.len());
        let deviation = |count: f64| (width / count / (count * (bottom - top + BAND_GAP)) / ASPECT_RATIO).ln().abs();
        let count = (1..=12).min_by(|a, b| deviation(f64::from(*a)).total_cmp(&deviation(f64::from(*b)))).unwrap_or(1);
        let (mut start, mut next_top) = (0, 0.0);
        for band in 0..count as usize {
            let target_width = width * (band as f64 + 1.0) / f64::from(count);
            let is_last = band + 1 == count as usize;
            let end = if is_last {
                self.columns.len()
            } else {
                self.best_break(start, target_width, width / f64::from(count) / 5.0)
            };
            if start < end {
                next_top = self.place_band(start..end, next_top);
                start = end;
            }
        }
    }

    /// Returns the layer near a width before which the fewest pipes pass.
    fn best_break(&self, start: usize, target_width: f64, tolerance: f64) -> usize {
        let is_near = |layer: &usize| (self.columns[*layer].0 - target_width).abs() <= tolerance;
        let cost = |layer: &usize| {
            let distance = (self.columns[*layer].0 - target_width).abs() / tolerance;
            self.layers.link_count(layer - 1) as f64 + distance
        };
        let best = (start + 1..self.columns.len()).filter(is_near).min_by(|a, b| cost(a).total_cmp(&cost(b)));
        best.unwrap_or_else(|| self.columns.partition_point(|column| column.0 < target_width).max(start))
    }

    /// Places some layers as a band, below the existing ones. Returns the top of the next band.
    fn place_band(&mut self, layers: std::ops::Range<usize>, top_of_band: f64) -> f64 {
        let band = self.bottoms.len();
        let (top, bottom) = self.extent(layers.clone());
        // Pipes from the previous band enter on separate tracks.
        let entering = layers.start.checked_sub(1).map_or(0, |layer| self.layers.link_count(layer));
        let (left, margin) = (self.columns[layers.start].0, TRACK_WIDTH * entering as f64);
        for layer in layers {
            self.bands[layer] = band;
            let (from, to) = self.columns[layer];
            self.columns[layer] = (from - left + margin, to - left + margin);
            for vertex in &self.layers.order[layer] {
                self.heights[*vertex] += top_of_band - top;
            }
        }
        self.bottoms.push(top_of_band + bottom - top);
        top_of_band + bottom - top + BAND_GAP + margin
    }

    /// Returns the highest and the lowest position in some layers.
    fn extent(&self, layers: std::ops::Range<usize>) -> (f64, f64) {
        let heights = layers.flat_map(|layer| self.layers.order[layer].iter()).map(|vertex| self.heights[*vertex]);
        let (top, bottom) = heights.fold((f64::MAX, f64::MIN), |(top, bottom), y| (top.min(y), bottom.max(y)));
        if top <= bottom { (top, bottom) } else { (0.0, 0.0) }
    }

    fn center(&self, vertex: usize) -> Point {
        let (left, right) = self.columns[self.layers.layer[vertex]];
        ((left + right) / 2.0, self.heights[vertex])
    }

    fn place_blocks(&mut self) {
        for (block, members) in self.blocks.members.iter().enumerate() {
            let symbol = self.symbols.symbols[members[0]];
            let half = if members.len() > 1 { half(self.symbols, members) } else { symbol.half };
            self.placed_symbols[members[0]] = Some(PlacedSymbol { symbol, at: self.center(block), half, angle: 0 });
        }
    }

    /// Places each nozzle on the side of its neighbor; nozzles of one side are in the order of their neighbors.
    fn place_nozzles(&mut self) {
        for (block, members) in self.blocks.members.iter().enumerate().filter(|(_, members)| members.len() > 1) {
            let Some(owner) = self.placed_symbols[members[0]].clone() else { continue };
            let mut sides: [Vec<(f64, usize)>; 2] = [Vec::new(), Vec::new()];
            for nozzle in &members[1..] {
                let (is_right, height) = self.nozzle_target(block, *nozzle);
                sides[usize::from(is_right)].push((height, *nozzle));
            }
            for (side, mut nozzles) in sides.into_iter().enumerate() {
                nozzles.sort_by(|a, b| a.0.total_cmp(&b.0));
                let count = nozzles.len() as f64;
                let step = NOZZLE_SPACING.min(owner.half.1 * 2.0 / count.max(1.0));
                for (index, (_, nozzle)) in nozzles.into_iter().enumerate() {
                    let symbol = self.symbols.symbols[nozzle];
                    let distance = owner.half.0 + symbol.half.0;
                    let x = owner.at.0 + if side == 1 { distance } else { -distance };
                    let y = owner.at.1 + (index as f64 - (count - 1.0) / 2.0) * step;
                    self.placed_symbols[nozzle] =
                        Some(PlacedSymbol { symbol, at: (x, y), half: symbol.half, angle: 0 });
                }
            }
        }
    }

    /// Returns true if the first neighbor of a nozzle is to the right, and its height.
    fn nozzle_target(&self, block: usize, nozzle: usize) -> (bool, f64) {
        let neighbor_block = self.blocks.neighbor_block[nozzle];
        match neighbor_block {
            Some(other) => (self.layers.layer[other] > self.layers.layer[block], self.heights[other]),
            None => (false, f64::MAX),
        }
    }

    fn route_pipes(&mut self) {
        let mut tracks = vec![0_usize; self.columns.len()];
        let mut band_tracks = vec![0_usize; self.bottoms.len() + 1];
        for (link, chain) in self.blocks.links.iter().zip(&self.layers.chains) {
            let (Some(from), Some(to)) = (&self.placed_symbols[link.ends[0]], &self.placed_symbols[link.ends[1]])
            else {
                continue;
            };
            let is_back = self.layers.layer[link.from] > self.layers.layer[link.to];
            let (start, head) = connection_point(from, is_back, 1.0);
            let (end, mut tail) = connection_point(to, is_back, -1.0);
            let layer = |vertex: &usize| self.layers.layer[*vertex];
            let mut stops = vec![(layer(&link.from), start)];
            stops.extend(chain.iter().map(|vertex| (layer(vertex), self.center(*vertex))));
            stops.push((layer(&link.to), end));
            let mut points = head;
            points.push(start);
            for pair in stops.windows(2) {
                let [(from_layer, a), (to_layer, b)] = [pair[0], pair[1]];
                match self.bands[from_layer] == self.bands[to_layer] {
                    true => self.route_between_layers(from_layer.min(to_layer), a, b, &mut tracks, &mut points),
                    false => self.route_between_bands([from_layer, to_layer], a, b, &mut band_tracks, &mut points),
                }
            }
            tail.reverse();
            points.extend(tail);
            self.routes.push(Route { edge: link.edge, role: EdgeRole::Flow, points });
        }
    }

    /// Routes a pipe between layers, on a track of its own.
    fn route_between_layers(&self, column: usize, a: Point, b: Point, tracks: &mut [usize], points: &mut Vec<Point>) {
        if (a.1 - b.1).abs() > 1.0 {
            let right = self.columns[column].1;
            tracks[column] += 1;
            let available = self.columns.get(column + 1).map_or(LAYER_GAP, |next| next.0 - right) - 16.0;
            let x = right + 8.0 + (tracks[column] as f64 * TRACK_WIDTH) % available.max(TRACK_WIDTH);
            points.extend([(x, a.1), (x, b.1)]);
        }
        points.push(b);
    }

    /// Routes a pipe between bands: out on the right, below the upper band to the left, and in from there.
    fn route_between_bands(
        &self,
        layers: [usize; 2],
        a: Point,
        b: Point,
        band_tracks: &mut [usize],
        points: &mut Vec<Point>,
    ) {
        let is_down = layers[0] < layers[1];
        let ([upper, lower], from, to) = if is_down { (layers, a, b) } else { ([layers[1], layers[0]], b, a) };
        let band = self.bands[upper];
        band_tracks[band] += 1;
        let track = band_tracks[band] as f64 * TRACK_WIDTH;
        let (right, left) = (self.columns[upper].1 + 8.0 + track, self.columns[lower].0 - 10.0 - track);
        let turn_y = self.bottoms[band] + BAND_GAP / 2.0 + track;
        let mut corners = vec![(right, from.1), (right, turn_y), (left, turn_y), (left, to.1)];
        if !is_down {
            corners.reverse();
        }
        points.extend(corners);
        points.push(b);
    }
}

/// Returns the point where a pipe starts or ends, and the path around the symbol there: backward flow also leaves a
/// valve on its right, and turns below it.
fn connection_point(placed: &PlacedSymbol, is_back: bool, side: f64) -> (Point, Vec<Point>) {
    let (x, y) = placed.at;
    if !is_back || placed.symbol.placement != Placement::Inline || placed.symbol.name == "nozzle" {
        return (placed.at, Vec::new());
    }
    let turn_x = x + side * (placed.half.0 + 9.0);
    let turn_y = y + placed.half.1 + 12.0;
    ((turn_x, turn_y), vec![(x, y), (turn_x, y)])
}

/// Returns half the size of a block, with space for its nozzles on both sides.
fn half(symbols: &NodeSymbols<'_, '_>, members: &[usize]) -> (f64, f64) {
    let symbol_half = symbols.symbols[members[0]].half;
    let nozzles = members.len().saturating_sub(1) as f64;
    let is_fixed = matches!(symbols.symbols[members[0]].body, crate::symbols::Body::Fixed(_));
    let half_height = symbol_half.1.max((nozzles / 2.0).ceil() * NOZZLE_SPACING / 2.0 + 4.0);
    // Fixed symbols keep their size.
    if is_fixed { (symbol_half.0, symbol_half.1) } else { (symbol_half.0, half_height) }
}

/// Places instruments near the items they sense or actuate, and adds the lines between them.
fn add_instruments(symbols: &NodeSymbols<'_, '_>, scene: &mut Scene) {
    let mut grid = CollisionGrid::from_scene(scene);
    for (index, anchor) in anchors(symbols, scene) {
        let symbol = symbols.symbols[index];
        let at = match anchor.and_then(|anchor| scene.placed_symbols[anchor].clone()) {
            Some(placed) if symbol.name == "actuator" => (placed.at.0, placed.at.1 - placed.half.1 - symbol.half.1),
            Some(placed) => free_position_near(&grid, &placed, symbol.half),
            None => free_position_below(scene, &grid, symbol.half),
        };
        let instrument = PlacedSymbol { symbol, at, half: symbol.half, angle: 0 };
        grid.add(instrument.bounds());
        scene.placed_symbols[index] = Some(instrument);
    }
    let mut obstacles = Obstacles::new(&scene.routes, &scene.placed_symbols);
    for (edge, role, from, to) in symbols.drawn_edges().filter(|(_, role, ..)| *role != EdgeRole::Flow) {
        if let (Some(a), Some(b)) = (&scene.placed_symbols[from], &scene.placed_symbols[to]) {
            let points = match role {
                EdgeRole::Signal => signals::route(a, b, &mut obstacles),
                _ => vec![a.at, b.at],
            };
            scene.routes.push(Route { edge, role, points });
        }
    }
}

/// Returns the nodes without a position, nearest first, with the node next to which they are placed.
fn anchors(symbols: &NodeSymbols<'_, '_>, scene: &Scene) -> Vec<(usize, Option<usize>)> {
    let count = symbols.symbols.len();
    let mut neighbors: Vec<Vec<usize>> = vec![Vec::new(); count];
    for edge in symbols.model.edges.iter().filter(|edge| edge.role() != EdgeRole::Flow) {
        let ends = [edge.from.node, edge.to.node];
        let is_item = |node: &Option<usize>| node.is_some_and(|node| !symbols.model.nodes[node].is_group());
        if let ([Some(from), Some(to)], true) = (ends, ends.iter().all(is_item)) {
            neighbors[from].push(to);
            neighbors[to].push(from);
        }
    }
    let mut anchor: Vec<Option<usize>> =
        (0..count).map(|index| scene.placed_symbols[index].as_ref().map(|_| index)).collect();
    let mut queue: VecDeque<usize> = (0..count).filter(|index| anchor[*index].is_some()).collect();
    let mut anchored = Vec::new();
    while let Some(at) = queue.pop_front() {
        for next in neighbors[at].clone() {
            if anchor[next].is_none() {
                let is_drawn = symbols.is_drawable(next);
                if is_drawn {
                    anchored.push((next, anchor[at]));
                }
                anchor[next] = if is_drawn { Some(next) } else { anchor[at] };
                queue.push_back(next);
            }
        }
    }
    anchored.extend(
        (0..count).filter(|index| anchor[*index].is_none() && symbols.is_drawable(*index)).map(|index| (index, None)),
    );
    anchored
}

/// Returns the first free position around a symbol: above, below, then in growing rings.
fn free_position_near(grid: &CollisionGrid, placed: &PlacedSymbol, half: (f64, f64)) -> Point {
    const DIRECTIONS: [Point; 8] =
        [(0.0, -1.0), (0.0, 1.0), (0.7, -1.0), (-0.7, -1.0), (0.7, 1.0), (-0.7, 1.0), (1.0, 0.0), (-1.0, 0.0)];
    // The actuator of a valve.
    let above = placed.at.1 - placed.outline()[1];
    for ring in 0..12 {
        let distance = 16.0 + 22.0 * f64::from(ring);
        for (x, y) in DIRECTIONS {
            let side = if y < 0.0 { above } else { placed.half.1 };
            let at =
                (placed.at.0 + x * (placed.half.0 + half.0 + distance), placed.at.1 + y * (side + half.1 + distance));
            let bounds = [at.0 - half.0 - 4.0, at.1 - half.1 - 4.0, at.0 + half.0 + 4.0, at.1 + half.1 + 4.0];
            if grid.is_free(bounds) {
                return at;
            }
        }
    }
    (placed.at.0, placed.at.1 - placed.half.1 - half.1 - 16.0)
}

/// Returns the first free position in rows below everything.
fn free_position_below(scene: &Scene, grid: &CollisionGrid, half: (f64, f64)) -> Point {
    let [left, _, right, bottom] = scene.bounds();
    let columns = ((right - left) / 40.0).max(4.0) as usize;
    let at =
        |n: usize| (left + half.0 + 40.0 * (n % columns) as f64, bottom + 24.0 + half.1 + 40.0 * (n / columns) as f64);
    let bounds = |at: Point| [at.0 - half.0, at.1 - half.1, at.0 + half.0, at.1 + half.1];
    (0..10_000).map(at).find(|at| grid.is_free(bounds(*at))).unwrap_or((left, bottom))
}
