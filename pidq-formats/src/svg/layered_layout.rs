//! Layered layout for drawings without positions: layers from left to right, after Sugiyama, Tagawa and Toda (1981).
//!
//! Equipment and its nozzles form one block. Cycles are broken, blocks are assigned to layers by their longest path
//! from a source, long edges get a position in every layer they pass, crossings are reduced by barycenters, and heights
//! follow the neighbors. Instruments are placed near the items they sense or actuate. A layout that would be too wide
//! is wrapped into bands, like lines of text.

use std::collections::VecDeque;

use crate::model::EdgeRole;
use crate::symbols::Placement;

use super::collision_grid::CollisionGrid;
use super::layers::{Layers, Link};
use super::routes;
use super::scene::{NodeSymbols, PlacedSymbol, Point, Route, Scene};

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
    let LayeredLayout { mut places, routes, .. } = layout;
    routes::turn(&mut places, &routes, symbols);
    let mut scene = Scene { places, routes, scale: 1.0 };
    add_instruments(symbols, &mut scene);
    scene
}

/// Blocks of nodes that are laid out as one, and the pipes between them.
struct Blocks {
    /// The nodes of each block: the main node, then its nozzles.
    members: Vec<Vec<usize>>,
    links: Vec<Link>,
    /// By node: the block to which its first pipe leads.
    joined: Vec<Option<usize>>,
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
        let stands_alone = |index: &usize| {
            let is_instrument =
                symbols.symbols[*index].place == Placement::Bubble || symbols.symbols[*index].name == "actuator";
            symbols.is_drawable(*index) && owner(*index).is_none() && (flows[*index] || !is_instrument)
        };
        let mut members: Vec<Vec<usize>> = (0..count).filter(stands_alone).map(|index| vec![index]).collect();
        let mut of_node = vec![None; count];
        for (block, nodes) in members.iter().enumerate() {
            of_node[nodes[0]] = Some(block);
        }
        for index in (0..count).filter(|index| symbols.is_drawable(*index)) {
            if let Some(block) = owner(index).and_then(|owner| of_node[owner]) {
                of_node[index] = Some(block);
                members[block].push(index);
            }
        }
        let link = |(edge, _, from, to): (usize, EdgeRole, usize, usize)| {
            Some(Link { edge, from: of_node[from]?, to: of_node[to]?, ends: [from, to] })
        };
        let links: Vec<Link> = pipes.into_iter().filter_map(link).filter(|link| link.from != link.to).collect();
        let mut joined = vec![None; count];
        for link in &links {
            joined[link.ends[0]].get_or_insert(link.to);
            joined[link.ends[1]].get_or_insert(link.from);
        }
        Blocks { members, links, joined }
    }
}

struct LayeredLayout<'c, 'm, 'a> {
    symbols: &'c NodeSymbols<'m, 'a>,
    blocks: &'c Blocks,
    layers: &'c Layers,
    places: Vec<Option<PlacedSymbol>>,
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
            left += width + LAYER_GAP + TRACK_WIDTH * layers.links_passing(index) as f64;
        }
        let bands = vec![0; columns.len()];
        let places = vec![None; symbols.symbols.len()];
        LayeredLayout {
            symbols,
            blocks,
            layers,
            places,
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
        let off = |count: f64| (width / count / (count * (bottom - top + BAND_GAP)) / ASPECT_RATIO).ln().abs();
        let count = (1..=12).min_by(|a, b| off(f64::from(*a)).total_cmp(&off(f64::from(*b)))).unwrap_or(1);
        let (mut begin, mut low) = (0, 0.0);
        for band in 0..count as usize {
            let wanted = width * (band as f64 + 1.0) / f64::from(count);
            let is_last = band + 1 == count as usize;
            let end = if is_last {
                self.columns.len()
            } else {
                self.best_break(begin, wanted, width / f64::from(count) / 5.0)
            };
            if begin < end {
                low = self.place_band(begin..end, low);
                begin = end;
            }
        }
    }

    /// Returns the layer near a width before which the fewest pipes pass.
    fn best_break(&self, begin: usize, wanted: f64, reach: f64) -> usize {
        let is_near = |layer: &usize| (self.columns[*layer].0 - wanted).abs() <= reach;
        let cost = |layer: &usize| {
            let distance = (self.columns[*layer].0 - wanted).abs() / reach;
            self.layers.links_passing(layer - 1) as f64 + distance
        };
        let near = (begin + 1..self.columns.len()).filter(is_near).min_by(|a, b| cost(a).total_cmp(&cost(b)));
        near.unwrap_or_else(|| self.columns.partition_point(|column| column.0 < wanted).max(begin))
    }

    /// Places some layers as a band, below the existing ones. Returns the top of the next band.
    fn place_band(&mut self, layers: std::ops::Range<usize>, low: f64) -> f64 {
        let band = self.bottoms.len();
        let (top, bottom) = self.extent(layers.clone());
        // Pipes from the previous band enter on separate tracks.
        let before = layers.start.checked_sub(1).map_or(0, |layer| self.layers.links_passing(layer));
        let (left, margin) = (self.columns[layers.start].0, TRACK_WIDTH * before as f64);
        for layer in layers {
            self.bands[layer] = band;
            let (from, to) = self.columns[layer];
            self.columns[layer] = (from - left + margin, to - left + margin);
            for vertex in &self.layers.order[layer] {
                self.heights[*vertex] += low - top;
            }
        }
        self.bottoms.push(low + bottom - top);
        low + bottom - top + BAND_GAP + margin
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
            self.places[members[0]] = Some(PlacedSymbol { symbol, at: self.center(block), half, angle: 0 });
        }
    }

    /// Places each nozzle on the side of its neighbor; nozzles of one side are in the order of their neighbors.
    fn place_nozzles(&mut self) {
        for (block, members) in self.blocks.members.iter().enumerate().filter(|(_, members)| members.len() > 1) {
            let Some(owner) = self.places[members[0]].clone() else { continue };
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
                    let reach = owner.half.0 + symbol.half.0;
                    let x = owner.at.0 + if side == 1 { reach } else { -reach };
                    let y = owner.at.1 + (index as f64 - (count - 1.0) / 2.0) * step;
                    self.places[nozzle] = Some(PlacedSymbol { symbol, at: (x, y), half: symbol.half, angle: 0 });
                }
            }
        }
    }

    /// Returns true if the first neighbor of a nozzle is to the right, and its height.
    fn nozzle_target(&self, block: usize, nozzle: usize) -> (bool, f64) {
        let joined = self.blocks.joined[nozzle];
        match joined {
            Some(other) => (self.layers.layer[other] > self.layers.layer[block], self.heights[other]),
            None => (false, f64::MAX),
        }
    }

    fn route_pipes(&mut self) {
        let mut tracks = vec![0_usize; self.columns.len()];
        let mut seams = vec![0_usize; self.bottoms.len() + 1];
        for (link, chain) in self.blocks.links.iter().zip(&self.layers.chains) {
            let (Some(from), Some(to)) = (&self.places[link.ends[0]], &self.places[link.ends[1]]) else { continue };
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
                let [(before, a), (after, b)] = [pair[0], pair[1]];
                match self.bands[before] == self.bands[after] {
                    true => self.route_between_layers(before.min(after), a, b, &mut tracks, &mut points),
                    false => self.route_between_bands([before, after], a, b, &mut seams, &mut points),
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
        seams: &mut [usize],
        points: &mut Vec<Point>,
    ) {
        let is_down = layers[0] < layers[1];
        let ([upper, lower], from, to) = if is_down { (layers, a, b) } else { ([layers[1], layers[0]], b, a) };
        let band = self.bands[upper];
        seams[band] += 1;
        let track = seams[band] as f64 * TRACK_WIDTH;
        let (right, left) = (self.columns[upper].1 + 8.0 + track, self.columns[lower].0 - 10.0 - track);
        let below = self.bottoms[band] + BAND_GAP / 2.0 + track;
        let mut way = vec![(right, from.1), (right, below), (left, below), (left, to.1)];
        if !is_down {
            way.reverse();
        }
        points.extend(way);
        points.push(b);
    }
}

/// Returns the point where a pipe starts or ends, and the path around the symbol there: backward flow also leaves a
/// valve on its right, and turns below it.
fn connection_point(place: &PlacedSymbol, is_back: bool, side: f64) -> (Point, Vec<Point>) {
    let (x, y) = place.at;
    if !is_back || place.symbol.place != Placement::Inline || place.symbol.name == "nozzle" {
        return (place.at, Vec::new());
    }
    let reach = x + side * (place.half.0 + 9.0);
    let below = y + place.half.1 + 12.0;
    ((reach, below), vec![(x, y), (reach, y)])
}

/// Returns half the size of a block, with space for its nozzles on both sides.
fn half(symbols: &NodeSymbols<'_, '_>, members: &[usize]) -> (f64, f64) {
    let usual = symbols.symbols[members[0]].half;
    let nozzles = members.len().saturating_sub(1) as f64;
    let is_round = matches!(symbols.symbols[members[0]].body, crate::symbols::Body::Fixed(_));
    let wanted = usual.1.max((nozzles / 2.0).ceil() * NOZZLE_SPACING / 2.0 + 4.0);
    // Fixed symbols keep their size.
    if is_round { (usual.0, usual.1) } else { (usual.0, wanted) }
}

/// Places instruments near the items they sense or actuate, and adds the lines between them.
fn add_instruments(symbols: &NodeSymbols<'_, '_>, scene: &mut Scene) {
    let mut grid = CollisionGrid::from_scene(scene);
    for (index, anchor) in anchors(symbols, scene) {
        let symbol = symbols.symbols[index];
        let at = match anchor.and_then(|anchor| scene.places[anchor].clone()) {
            Some(place) if symbol.name == "actuator" => (place.at.0, place.at.1 - place.half.1 - symbol.half.1),
            Some(place) => free_position_near(&grid, &place, symbol.half),
            None => free_position_below(scene, &grid, symbol.half),
        };
        let placed = PlacedSymbol { symbol, at, half: symbol.half, angle: 0 };
        grid.add(placed.bounds());
        scene.places[index] = Some(placed);
    }
    for (edge, role, from, to) in symbols.drawn_edges().filter(|(_, role, ..)| *role != EdgeRole::Flow) {
        if let (Some(a), Some(b)) = (&scene.places[from], &scene.places[to]) {
            scene.routes.push(Route { edge, role, points: vec![a.at, b.at] });
        }
    }
}

/// Returns the nodes without a position, nearest first, with the node next to which they are placed.
fn anchors(symbols: &NodeSymbols<'_, '_>, scene: &Scene) -> Vec<(usize, Option<usize>)> {
    let count = symbols.symbols.len();
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); count];
    for edge in symbols.model.edges.iter().filter(|edge| edge.role() != EdgeRole::Flow) {
        let ends = [edge.from.node, edge.to.node];
        let is_thing = |node: &Option<usize>| node.is_some_and(|node| !symbols.model.nodes[node].is_group());
        if let ([Some(from), Some(to)], true) = (ends, ends.iter().all(is_thing)) {
            near[from].push(to);
            near[to].push(from);
        }
    }
    let mut anchor: Vec<Option<usize>> = (0..count).map(|index| scene.places[index].as_ref().map(|_| index)).collect();
    let mut queue: VecDeque<usize> = (0..count).filter(|index| anchor[*index].is_some()).collect();
    let mut list = Vec::new();
    while let Some(at) = queue.pop_front() {
        for next in near[at].clone() {
            if anchor[next].is_none() {
                let is_drawn = symbols.is_drawable(next);
                if is_drawn {
                    list.push((next, anchor[at]));
                }
                anchor[next] = if is_drawn { Some(next) } else { anchor[at] };
                queue.push_back(next);
            }
        }
    }
    list.extend(
        (0..count).filter(|index| anchor[*index].is_none() && symbols.is_drawable(*index)).map(|index| (index, None)),
    );
    list
}

/// Returns the first free position around a symbol: above, below, then in growing rings.
fn free_position_near(grid: &CollisionGrid, place: &PlacedSymbol, half: (f64, f64)) -> Point {
    const DIRECTIONS: [Point; 8] =
        [(0.0, -1.0), (0.0, 1.0), (0.7, -1.0), (-0.7, -1.0), (0.7, 1.0), (-0.7, 1.0), (1.0, 0.0), (-1.0, 0.0)];
    for ring in 0..12 {
        let reach = 16.0 + 22.0 * f64::from(ring);
        for (x, y) in DIRECTIONS {
            let at =
                (place.at.0 + x * (place.half.0 + half.0 + reach), place.at.1 + y * (place.half.1 + half.1 + reach));
            let bounds = [at.0 - half.0 - 4.0, at.1 - half.1 - 4.0, at.0 + half.0 + 4.0, at.1 + half.1 + 4.0];
            if grid.is_free(bounds) {
                return at;
            }
        }
    }
    (place.at.0, place.at.1 - place.half.1 - half.1 - 16.0)
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
