//! Canonical order of the units of a flowsheet: the same for all orders in which a drawing lists them.
//!
//! Units are ordered by name and neighbors until the order is stable (color refinement). If equal units remain, one of
//! them comes first, and the order is refined again; the choice with the least connections wins. Units whose choices
//! give equal connections are exchanged by a symmetry, so that one of them is tried. (McKay and Piperno, "Practical
//! graph isomorphism, II", 2014.)

use std::collections::{BTreeMap, BTreeSet};

use super::flowsheet::Flowsheet;

/// Ranks of the units, from 0.
pub struct Canonical {
    pub ranks: Vec<usize>,
    /// False if the flowsheet has too many equal parts to prove that the ranks do not depend on its order.
    pub is_verified: bool,
}

/// Maximum number of neighbors compared. Then equal units are in the order of the drawing.
const MAX_WORK: usize = 20_000_000;

/// Maximum number of nested choices between units that no symmetry exchanges.
const MAX_CHOICES: usize = 32;

/// Returns the canonical ranks.
pub fn ranks(flowsheet: &Flowsheet) -> Canonical {
    let graph = ColoredGraph::new(flowsheet);
    let mut coloring = Coloring::new(&graph.labels);
    let mut search = Search { graph: &graph, work: 0, is_verified: true };
    let all = coloring.cell_of.iter().copied().enumerate().map(|(vertex, cell)| (cell, vertex)).collect();
    coloring.refine(&graph, all, &mut search.work);
    let mut ranks = search.best(coloring, 0).order;
    ranks.truncate(flowsheet.units.len());
    Canonical { ranks, is_verified: search.is_verified }
}

/// Graph of units, and of heat exchangers with their passes.
struct ColoredGraph {
    /// By vertex: the number of its name. Heat exchangers come after the units.
    labels: Vec<usize>,
    /// By vertex: the kind of connection and the neighbor.
    neighbors: Vec<Vec<(usize, usize)>>,
}

impl ColoredGraph {
    fn new(flowsheet: &Flowsheet) -> ColoredGraph {
        let units = &flowsheet.units;
        let names: BTreeSet<_> = units.iter().map(|unit| (&unit.name, &unit.letters)).collect();
        let names: BTreeMap<_, usize> = names.into_iter().enumerate().map(|(at, name)| (name, at)).collect();
        let mut labels: Vec<usize> = units.iter().map(|unit| names[&(&unit.name, &unit.letters)]).collect();
        let exchangers: BTreeSet<usize> = units.iter().filter_map(|unit| unit.exchanger).collect();
        let exchangers: BTreeMap<usize, usize> =
            exchangers.into_iter().enumerate().map(|(at, exchanger)| (exchanger, units.len() + at)).collect();
        labels.extend(exchangers.values().map(|_| names.len()));
        let mut neighbors = vec![Vec::new(); labels.len()];
        let kinds: BTreeSet<_> = flowsheet.connections.iter().map(|one| (one.kind, &one.tags)).collect();
        let kinds: BTreeMap<_, usize> = kinds.into_iter().enumerate().map(|(at, kind)| (kind, 2 * at + 2)).collect();
        for connection in &flowsheet.connections {
            let kind = kinds[&(connection.kind, &connection.tags)];
            neighbors[connection.from].push((kind, connection.to));
            neighbors[connection.to].push((kind + 1, connection.from));
        }
        for (at, unit) in units.iter().enumerate() {
            if let Some(exchanger) = unit.exchanger {
                neighbors[at].push((0, exchangers[&exchanger]));
                neighbors[exchangers[&exchanger]].push((1, at));
            }
        }
        ColoredGraph { labels, neighbors }
    }

    /// Returns the connections between ranks, which are equal for two orders that a symmetry exchanges.
    fn connections(&self, ranks: &[usize]) -> Vec<(usize, usize, usize)> {
        let edges = self.neighbors.iter().enumerate().flat_map(|(from, list)| {
            list.iter().filter(|(kind, _)| kind % 2 == 0).map(move |(kind, to)| (ranks[from], *kind, ranks[*to]))
        });
        let mut edges: Vec<_> = edges.collect();
        edges.sort_unstable();
        edges
    }
}

/// Vertices in cells of equal ones. The color of a cell is the position of its first vertex.
#[derive(Clone)]
struct Coloring {
    vertices: Vec<usize>,
    /// By vertex: its index in `vertices`.
    positions: Vec<usize>,
    /// By vertex: the color.
    cell_of: Vec<usize>,
    /// By color: the number of vertices.
    sizes: Vec<usize>,
    /// Colors of cells with several vertices.
    open_cells: BTreeSet<usize>,
}

/// Kinds of connections of a vertex, and the colors at their other ends.
type Surroundings = Vec<(usize, usize)>;

impl Coloring {
    /// Puts the vertices with the same label into one cell.
    fn new(labels: &[usize]) -> Coloring {
        let mut vertices: Vec<usize> = (0..labels.len()).collect();
        vertices.sort_by_key(|vertex| labels[*vertex]);
        let mut coloring = Coloring {
            positions: vec![0; labels.len()],
            cell_of: vec![0; labels.len()],
            sizes: vec![0; labels.len()],
            open_cells: BTreeSet::new(),
            vertices,
        };
        let mut cell = 0;
        for at in 0..labels.len() {
            let vertex = coloring.vertices[at];
            if labels[vertex] != labels[coloring.vertices[cell]] {
                cell = at;
            }
            coloring.positions[vertex] = at;
            coloring.cell_of[vertex] = cell;
            coloring.sizes[cell] += 1;
            if coloring.sizes[cell] == 2 {
                coloring.open_cells.insert(cell);
            }
        }
        coloring
    }

    fn members(&self, cell: usize) -> &[usize] {
        &self.vertices[cell..cell + self.sizes[cell]]
    }

    /// Moves vertices of a cell, but not all, to cells of their own behind it, in groups of equal keys.
    fn move_behind<K: Eq>(&mut self, cell: usize, moved: &[(K, usize)]) {
        let end = cell + self.sizes[cell];
        let first = end - moved.len();
        for (at, (_, vertex)) in (first..end).zip(moved).rev() {
            let (from, other) = (self.positions[*vertex], self.vertices[at]);
            self.vertices.swap(from, at);
            self.positions[other] = from;
            self.positions[*vertex] = at;
        }
        self.resize(cell, first - cell);
        let mut start = first;
        for (at, (key, vertex)) in (first..end).zip(moved) {
            if at > first && *key != moved[at - first - 1].0 {
                self.resize(start, at - start);
                start = at;
            }
            self.cell_of[*vertex] = start;
        }
        if first < end {
            self.resize(start, end - start);
        }
    }

    fn resize(&mut self, cell: usize, size: usize) {
        self.sizes[cell] = size;
        if size > 1 {
            self.open_cells.insert(cell);
        } else {
            self.open_cells.remove(&cell);
        }
    }

    fn surroundings(&self, graph: &ColoredGraph, vertex: usize) -> Surroundings {
        let colors = graph.neighbors[vertex].iter().map(|(kind, neighbor)| (*kind, self.cell_of[*neighbor]));
        let mut colors: Surroundings = colors.collect();
        colors.sort_unstable();
        colors
    }

    /// Splits cells until the vertices of each have the same surroundings. Only those of the given vertices, by color,
    /// may differ from the others of their cell; these stay in front, so that a split takes the time of what changes.
    fn refine(&mut self, graph: &ColoredGraph, mut affected: BTreeSet<(usize, usize)>, work: &mut usize) {
        while let Some((cell, _)) = affected.first().copied() {
            let rest = affected.split_off(&(cell + 1, 0));
            let vertices = std::mem::replace(&mut affected, rest);
            if self.sizes[cell] < 2 {
                continue;
            }
            let mut moved: Vec<(Surroundings, usize)> =
                vertices.iter().map(|(_, vertex)| (self.surroundings(graph, *vertex), *vertex)).collect();
            *work += moved.iter().map(|(colors, _)| 1 + colors.len()).sum::<usize>();
            moved.sort_by(|a, b| a.0.cmp(&b.0));
            let unaffected = self.members(cell).iter().find(|vertex| !vertices.contains(&(cell, **vertex)));
            let in_front = match unaffected {
                Some(vertex) => self.surroundings(graph, *vertex),
                None => most_frequent(&moved),
            };
            moved.retain(|(colors, _)| *colors != in_front);
            self.move_behind(cell, &moved);
            for (_, vertex) in &moved {
                *work += graph.neighbors[*vertex].len();
                self.add_neighbors(graph, *vertex, &mut affected);
            }
        }
    }

    fn add_neighbors(&self, graph: &ColoredGraph, vertex: usize, affected: &mut BTreeSet<(usize, usize)>) {
        affected.extend(graph.neighbors[vertex].iter().map(|(_, neighbor)| (self.cell_of[*neighbor], *neighbor)));
    }

    /// Moves a vertex of a cell behind its other vertices, and refines the cells.
    fn choose(&mut self, graph: &ColoredGraph, chosen: usize, work: &mut usize) {
        self.move_behind(self.cell_of[chosen], &[((), chosen)]);
        let mut affected = BTreeSet::new();
        self.add_neighbors(graph, chosen, &mut affected);
        self.refine(graph, affected, work);
    }
}

/// Returns the most frequent surroundings of a sorted list, the least of several: most vertices keep their color.
fn most_frequent(sorted: &[(Surroundings, usize)]) -> Surroundings {
    let groups = sorted.chunk_by(|a, b| a.0 == b.0);
    let largest = groups.reduce(|a, b| if b.len() > a.len() { b } else { a });
    largest.and_then(|group| group.first()).map(|(colors, _)| colors.clone()).unwrap_or_default()
}

/// Complete order, and the connections in it.
struct Leaf {
    connections: Vec<(usize, usize, usize)>,
    order: Vec<usize>,
}

struct Search<'g> {
    graph: &'g ColoredGraph,
    work: usize,
    is_verified: bool,
}

impl Search<'_> {
    /// Returns the order with the least connections that refines a coloring.
    fn best(&mut self, mut coloring: Coloring, depth: usize) -> Leaf {
        while let Some(cell) = coloring.open_cells.first().copied() {
            let choices = self.choices(&coloring, cell);
            match choices.as_slice() {
                [only] => coloring.choose(self.graph, *only, &mut self.work),
                several if depth < MAX_CHOICES => {
                    let leaves = several.iter().map(|choice| {
                        let mut chosen = coloring.clone();
                        chosen.choose(self.graph, *choice, &mut self.work);
                        self.best(chosen, depth + 1)
                    });
                    let least = leaves.reduce(|a, b| if b.connections < a.connections { b } else { a });
                    return least.unwrap_or_else(|| self.leaf(coloring));
                }
                several => {
                    self.is_verified = false;
                    coloring.choose(self.graph, several[0], &mut self.work);
                }
            }
        }
        self.leaf(coloring)
    }

    /// Returns vertices of a cell of which no two are exchanged by a known symmetry.
    fn choices(&mut self, coloring: &Coloring, cell: usize) -> Vec<usize> {
        let members = coloring.members(cell);
        let neighbors = |vertex: usize| {
            let mut neighbors = self.graph.neighbors[vertex].clone();
            neighbors.sort_unstable();
            neighbors
        };
        let first = neighbors(members[0]);
        self.work += members.len() * (1 + first.len());
        if members[1..].iter().all(|member| neighbors(*member) == first) {
            return vec![members[0]];
        }
        let mut choices: BTreeMap<Vec<(usize, usize, usize)>, usize> = BTreeMap::new();
        for member in members {
            if self.work > MAX_WORK {
                self.is_verified = false;
                return vec![members[0]];
            }
            let leaf = self.any_leaf(coloring.clone(), *member);
            choices.entry(leaf.connections).or_insert(*member);
        }
        choices.into_values().collect()
    }

    /// Returns the order that chooses a vertex, and then the first one of every cell.
    fn any_leaf(&mut self, mut coloring: Coloring, chosen: usize) -> Leaf {
        self.work += coloring.vertices.len();
        coloring.choose(self.graph, chosen, &mut self.work);
        while let Some(cell) = coloring.open_cells.first().copied() {
            let first = coloring.vertices[cell];
            coloring.choose(self.graph, first, &mut self.work);
        }
        self.leaf(coloring)
    }

    fn leaf(&self, coloring: Coloring) -> Leaf {
        // Every cell has one vertex, so that its color is its rank.
        Leaf { connections: self.graph.connections(&coloring.cell_of), order: coloring.cell_of }
    }
}
