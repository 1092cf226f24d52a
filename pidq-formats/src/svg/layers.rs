//! Layering of a directed graph: cycle breaking, longest paths, crossing reduction, straight edges. Works on indexes
//! only.

use std::cmp::Reverse;
use std::collections::VecDeque;

/// Edge between two blocks, and the nodes that it connects.
#[derive(Clone, Debug)]
pub struct Link {
    pub edge: usize,
    pub from: usize,
    pub to: usize,
    pub ends: [usize; 2],
}

/// Rounds of sweeps for crossings and for heights.
const SWEEPS: usize = 12;
/// Longest part of a run that is straightened apart from the whole run.
const MAX_STRAIGHT: usize = 40;
/// Largest part of the space of two vertices, in pixels, that a straight run may take.
const MAX_OVERLAP: f64 = 4.0;
/// Maximum number of dummy vertices of one edge.
const MAX_DUMMIES_PER_EDGE: usize = 400;
/// Maximum number of blocks and dummy vertices together.
const MAX_VERTICES: usize = 200_000;

/// Vertices in layers: the blocks, followed by the dummy vertices of edges that span several layers.
#[derive(Debug)]
pub struct Layers {
    /// The layer of each vertex.
    pub layer: Vec<usize>,
    /// The vertices of each layer, from top to bottom.
    pub order: Vec<Vec<usize>>,
    /// The dummy vertices of each link, in its own direction.
    pub chains: Vec<Vec<usize>>,
    /// Number of vertices that are blocks; they come first.
    blocks: usize,
    /// Neighbors to the left and to the right of each vertex.
    left: Vec<Vec<usize>>,
    right: Vec<Vec<usize>>,
}

impl Layers {
    pub fn new(count: usize, links: &[Link]) -> Layers {
        let forward = break_cycles(count, links);
        let layer = longest_paths(count, &forward);
        let mut layers =
            Layers { layer, order: Vec::new(), chains: Vec::new(), blocks: count, left: Vec::new(), right: Vec::new() };
        layers.add_dummy_vertices(links);
        layers.initial_order();
        layers.reduce_crossings();
        layers
    }

    /// Returns the number of links from a layer to the next.
    pub fn link_count(&self, layer: usize) -> usize {
        let count: usize = self.order[layer].iter().map(|vertex| self.right[*vertex].len()).sum();
        count.min(24)
    }

    fn add_dummy_vertices(&mut self, links: &[Link]) {
        self.left = vec![Vec::new(); self.layer.len()];
        self.right = vec![Vec::new(); self.layer.len()];
        for link in links {
            let is_forward = self.layer[link.from] < self.layer[link.to];
            let (first, last) = if is_forward { (link.from, link.to) } else { (link.to, link.from) };
            let mut chain = Vec::new();
            let mut previous = first;
            let span = self.layer[first] + 1..self.layer[last];
            let has_space = span.len() <= MAX_DUMMIES_PER_EDGE && self.layer.len() < MAX_VERTICES;
            for layer in if has_space { span } else { 0..0 } {
                let vertex = self.layer.len();
                self.layer.push(layer);
                self.left.push(Vec::new());
                self.right.push(Vec::new());
                self.join(previous, vertex);
                chain.push(vertex);
                previous = vertex;
            }
            self.join(previous, last);
            if !is_forward {
                chain.reverse();
            }
            self.chains.push(chain);
        }
    }

    fn join(&mut self, left: usize, right: usize) {
        self.right[left].push(right);
        self.left[right].push(left);
    }

    /// Sets the initial order: vertices in the order of traversal, so that connected ones are close.
    fn initial_order(&mut self) {
        let depth = self.layer.iter().max().map_or(0, |layer| layer + 1);
        self.order = vec![Vec::new(); depth];
        let mut seen = vec![false; self.layer.len()];
        for start in 0..self.layer.len() {
            let mut queue = VecDeque::from([start]);
            while let Some(vertex) = queue.pop_front() {
                if std::mem::replace(&mut seen[vertex], true) {
                    continue;
                }
                self.order[self.layer[vertex]].push(vertex);
                queue.extend(self.right[vertex].iter().chain(&self.left[vertex]));
            }
        }
    }

    /// Sorts each layer by the mean position of the neighbors, in alternating directions, and keeps the best order.
    fn reduce_crossings(&mut self) {
        let mut best = (self.crossings(), self.order.clone());
        let mut positions = self.positions();
        for sweep in 0..SWEEPS {
            let to_right = sweep % 2 == 0;
            let depth = self.order.len();
            for step in 1..depth {
                let layer = if to_right { step } else { depth - 1 - step };
                self.sort_layer(layer, to_right, &mut positions);
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.order.clone());
            }
        }
        self.order = best.1;
    }

    fn sort_layer(&mut self, layer: usize, to_right: bool, positions: &mut [usize]) {
        let neighbors = if to_right { &self.left } else { &self.right };
        let mut keyed: Vec<(f64, usize)> = Vec::new();
        for (position, vertex) in self.order[layer].iter().enumerate() {
            let neighbor_list = &neighbors[*vertex];
            let sum: usize = neighbor_list.iter().map(|other| positions[*other]).sum();
            // Vertices without neighbors there keep their position.
            let key = if neighbor_list.is_empty() { position as f64 } else { sum as f64 / neighbor_list.len() as f64 };
            keyed.push((key, *vertex));
        }
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.order[layer] = keyed.into_iter().map(|(_, vertex)| vertex).collect();
        for (position, vertex) in self.order[layer].iter().enumerate() {
            positions[*vertex] = position;
        }
    }

    fn positions(&self) -> Vec<usize> {
        let mut positions = vec![0; self.layer.len()];
        for layer in &self.order {
            for (position, vertex) in layer.iter().enumerate() {
                positions[*vertex] = position;
            }
        }
        positions
    }

    fn crossings(&self) -> usize {
        let positions = self.positions();
        let crossings_of_layer = |layer: &Vec<usize>| {
            let mut ends: Vec<(usize, usize)> = Vec::new();
            for vertex in layer {
                ends.extend(self.right[*vertex].iter().map(|to| (positions[*vertex], positions[*to])));
            }
            ends.sort_unstable();
            inversions(&ends)
        };
        self.order.iter().map(crossings_of_layer).sum()
    }

    /// Returns the height of each vertex: near its neighbors, in order, with space for each.
    pub fn heights(&self, half: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut heights = vec![0.0; self.layer.len()];
        for layer in &self.order {
            let mut y = 0.0;
            for vertex in layer {
                heights[*vertex] = y + half(*vertex);
                y += 2.0 * half(*vertex);
            }
        }
        let runs = self.runs();
        let mut run_of = vec![None; self.layer.len()];
        for (run, vertices) in runs.iter().enumerate() {
            vertices.iter().for_each(|vertex| run_of[*vertex] = Some(run));
        }
        for sweep in 0..SWEEPS * 4 {
            // First every vertex moves to its neighbors; then sequences without branches are straightened.
            let is_rigid = sweep >= SWEEPS;
            let mean = |run: &Vec<usize>| run.iter().map(|vertex| heights[*vertex]).sum::<f64>() / run.len() as f64;
            let means: Vec<f64> = if is_rigid { runs.iter().map(mean).collect() } else { Vec::new() };
            for index in 0..self.order.len() {
                let layer = if sweep % 2 == 0 { index } else { self.order.len() - 1 - index };
                let straight = |vertex: usize| run_of[vertex].and_then(|run: usize| means.get(run).copied());
                self.align(&self.order[layer], &mut heights, &half, straight);
            }
        }
        self.straighten(&runs, &mut heights, &half);
        heights
    }

    /// Returns the main lines: sequences of vertices that continue, at a branch, with the longest way on.
    fn runs(&self) -> Vec<Vec<usize>> {
        let main_right = self.main_neighbors(&self.right, self.order.iter().rev());
        let main_left = self.main_neighbors(&self.left, self.order.iter());
        let after = |vertex: usize| main_right[vertex].filter(|next| main_left[*next] == Some(vertex));
        let starts_run = |vertex: &usize| main_left[*vertex].is_none_or(|previous| after(previous) != Some(*vertex));
        let run = |start: usize| std::iter::successors(Some(start), |vertex| after(*vertex)).collect::<Vec<usize>>();
        (0..self.layer.len()).filter(starts_run).map(run).filter(|run| run.len() > 1).collect()
    }

    /// Returns, for each vertex, the neighbor on one side from which the longest way leads on; the uppermost of several.
    /// The layers come from that side.
    fn main_neighbors<'l>(
        &self,
        neighbors: &[Vec<usize>],
        layers: impl Iterator<Item = &'l Vec<usize>>,
    ) -> Vec<Option<usize>> {
        let positions = self.positions();
        let mut length = vec![0_usize; self.layer.len()];
        let mut main = vec![None; self.layer.len()];
        for vertex in layers.flatten() {
            let rank = |other: &&usize| (length[**other], Reverse(positions[**other]));
            let longest = neighbors[*vertex].iter().max_by_key(rank).copied();
            main[*vertex] = longest;
            length[*vertex] = longest.map_or(0, |other| length[other] + 1);
        }
        main
    }

    /// Straightens the longest parts of each run that have enough space between their neighbors.
    fn straighten(&self, runs: &[Vec<usize>], heights: &mut [f64], half: &impl Fn(usize) -> f64) {
        let positions = self.positions();
        for run in runs {
            let mut start = 0;
            while start + 1 < run.len() {
                let last = run.len().min(start + MAX_STRAIGHT);
                let ends = std::iter::once(run.len()).chain((start + 2..=last).rev());
                let end =
                    ends.into_iter().find(|end| self.straighten_part(&run[start..*end], &positions, heights, half));
                start = end.unwrap_or(start + 1);
            }
        }
    }

    /// Moves the vertices of a part of a run to one height, the nearest to their mean at which their neighbors in the layers
    /// leave enough space. Returns false if there is none.
    fn straighten_part(
        &self,
        part: &[usize],
        positions: &[usize],
        heights: &mut [f64],
        half: &impl Fn(usize) -> f64,
    ) -> bool {
        let space = |vertex: usize| {
            let layer = &self.order[self.layer[vertex]];
            let position = positions[vertex];
            let above = position.checked_sub(1).and_then(|position| layer.get(position));
            let below = layer.get(position + 1);
            let distance = |other: &usize| half(vertex) + half(*other);
            let low = above.map_or(f64::NEG_INFINITY, |other| heights[*other] + distance(other));
            let high = below.map_or(f64::INFINITY, |other| heights[*other] - distance(other));
            (low, high)
        };
        let spaces = part.iter().map(|vertex| space(*vertex));
        let (low, high) = spaces.fold((f64::NEG_INFINITY, f64::INFINITY), |a, b| (a.0.max(b.0), a.1.min(b.1)));
        if low - high > MAX_OVERLAP {
            return false;
        }
        let mean = part.iter().map(|vertex| heights[*vertex]).sum::<f64>() / part.len() as f64;
        let height = if low <= high { mean.clamp(low, high) } else { (low + high) / 2.0 };
        part.iter().for_each(|vertex| heights[*vertex] = height);
        true
    }

    /// Computes the heights of a layer nearest to those of the neighbors under the order and spacing constraints: least
    /// squares by pooling adjacent violators.
    fn align(
        &self,
        layer: &[usize],
        heights: &mut [f64],
        half: &impl Fn(usize) -> f64,
        straight: impl Fn(usize) -> Option<f64>,
    ) {
        let mut offset = 0.0;
        let mut offsets = Vec::new();
        // Each pool: sum of preferred heights, their weight, number of vertices.
        let mut pools: Vec<(f64, f64, usize)> = Vec::new();
        for (index, vertex) in layer.iter().enumerate() {
            if index > 0 {
                offset += half(layer[index - 1]) + half(*vertex);
            }
            offsets.push(offset);
            let (preferred_height, weight) = match straight(*vertex) {
                Some(mean) => (mean, 20.0),
                None => self.preferred_height(*vertex, heights),
            };
            pools.push(((preferred_height - offset) * weight, weight, 1));
            while let [.., a, b] = pools.as_slice() {
                if a.0 / a.1 <= b.0 / b.1 {
                    break;
                }
                let merged = (a.0 + b.0, a.1 + b.1, a.2 + b.2);
                pools.truncate(pools.len() - 2);
                pools.push(merged);
            }
        }
        let means = pools.iter().flat_map(|(sum, weight, count)| std::iter::repeat_n(sum / weight, *count));
        for ((vertex, offset), mean) in layer.iter().zip(offsets).zip(means) {
            heights[*vertex] = mean + offset;
        }
    }

    /// Returns the preferred height of a vertex and its weight. Straight long edges have the highest weight.
    fn preferred_height(&self, vertex: usize, heights: &[f64]) -> (f64, f64) {
        let neighbors = || self.left[vertex].iter().chain(&self.right[vertex]);
        let count = neighbors().count();
        if count == 0 {
            return (heights[vertex], 0.1);
        }
        let is_dummy = vertex >= self.blocks;
        (neighbors().map(|other| heights[*other]).sum::<f64>() / count as f64, if is_dummy { 4.0 } else { 1.0 })
    }
}

/// Returns the edges, with those that close a cycle reversed.
fn break_cycles(count: usize, links: &[Link]) -> Vec<Vec<usize>> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut is_target = vec![false; count];
    for link in links {
        next[link.from].push(link.to);
        is_target[link.to] = true;
    }
    let mut forward: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut state = vec![0_u8; count];
    // Sources first: vertices without incoming edges start a sheet.
    let starts = (0..count).filter(|vertex| !is_target[*vertex]).chain(0..count);
    for start in starts.collect::<Vec<usize>>() {
        let mut stack = vec![(start, 0)];
        while let Some((vertex, at)) = stack.pop() {
            if at == 0 {
                if state[vertex] != 0 {
                    continue;
                }
                state[vertex] = 1;
            }
            let Some(to) = next[vertex].get(at).copied() else {
                state[vertex] = 2;
                continue;
            };
            stack.push((vertex, at + 1));
            match state[to] {
                1 => forward[to].push(vertex),
                2 => forward[vertex].push(to),
                _ => {
                    forward[vertex].push(to);
                    stack.push((to, 0));
                }
            }
        }
    }
    forward
}

/// Assigns layers by the longest path from a source. A source is placed right before its targets.
fn longest_paths(count: usize, forward: &[Vec<usize>]) -> Vec<usize> {
    let mut remaining_in_degree = vec![0_usize; count];
    for to in forward.iter().flatten() {
        remaining_in_degree[*to] += 1;
    }
    let in_degree = remaining_in_degree.clone();
    let mut layer = vec![0; count];
    let mut queue: VecDeque<usize> = (0..count).filter(|vertex| in_degree[*vertex] == 0).collect();
    while let Some(vertex) = queue.pop_front() {
        for to in &forward[vertex] {
            layer[*to] = layer[*to].max(layer[vertex] + 1);
            remaining_in_degree[*to] -= 1;
            if remaining_in_degree[*to] == 0 {
                queue.push_back(*to);
            }
        }
    }
    for source in (0..count).filter(|vertex| in_degree[*vertex] == 0) {
        pull_source(source, forward, &in_degree, &mut layer);
    }
    layer
}

/// Moves a source, and the vertices that follow it without a branch, next to their targets.
fn pull_source(source: usize, forward: &[Vec<usize>], in_degree: &[usize], layer: &mut [usize]) {
    let next = |vertex: &usize| match forward[*vertex].as_slice() {
        [next] if in_degree[*next] == 1 && !forward[*next].is_empty() => Some(*next),
        _ => None,
    };
    let chain: Vec<usize> = std::iter::successors(Some(source), next).collect();
    let last = chain.last().copied().unwrap_or(source);
    let Some(target_layer) = forward[last].iter().map(|to| layer[*to]).min() else { return };
    for (steps, vertex) in chain.iter().rev().enumerate() {
        layer[*vertex] = target_layer.saturating_sub(1 + steps);
    }
}

/// Counts the crossing pairs of edges, whose ends are sorted by their first positions.
fn inversions(ends: &[(usize, usize)]) -> usize {
    let size = ends.iter().map(|(_, to)| to + 2).max().unwrap_or(0);
    let mut tree = vec![0_usize; size];
    let mut crossings = 0;
    for (seen, (_, to)) in ends.iter().enumerate() {
        let mut below = 0;
        let mut at = to + 1;
        while at > 0 {
            below += tree[at];
            at &= at - 1;
        }
        crossings += seen - below;
        let mut at = to + 1;
        while at < size {
            tree[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    crossings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(count: usize, pairs: &[(usize, usize)]) -> Layers {
        let link =
            |(edge, (from, to)): (usize, &(usize, usize))| Link { edge, from: *from, to: *to, ends: [*from, *to] };
        Layers::new(count, &pairs.iter().enumerate().map(link).collect::<Vec<Link>>())
    }

    #[test]
    fn layers_follow_the_flow_direction() {
        let layers = layers(4, &[(0, 1), (1, 2), (0, 2), (3, 2)]);
        assert_eq!(layers.layer[..4], [0, 1, 2, 1]);
        assert_eq!(layers.chains[2].len(), 1, "the long edge passes one layer");
    }

    #[test]
    fn branches_start_next_to_their_targets() {
        let layers = layers(7, &[(0, 1), (1, 2), (2, 3), (3, 4), (5, 6), (6, 4)]);
        assert_eq!(layers.layer[..7], [0, 1, 2, 3, 4, 2, 3]);
    }

    #[test]
    fn one_edge_of_a_cycle_is_reversed() {
        let layers = layers(3, &[(0, 1), (1, 2), (2, 0)]);
        assert_eq!(layers.layer[..3], [0, 1, 2]);
    }

    #[test]
    fn avoidable_crossings_are_removed() {
        let layers = layers(4, &[(0, 3), (1, 2)]);
        assert_eq!(layers.crossings(), 0);
    }

    #[test]
    fn neighbors_in_a_layer_keep_their_distance() {
        let layers = layers(5, &[(0, 1), (0, 2), (0, 3), (0, 4)]);
        let heights = layers.heights(|_| 10.0);
        for pair in layers.order[1].windows(2) {
            assert!(heights[pair[1]] - heights[pair[0]] >= 19.99);
        }
        // One branch continues the line.
        assert!((1..5).any(|branch| (heights[branch] - heights[0]).abs() < 0.01), "{heights:?}");
    }

    #[test]
    fn a_main_line_with_a_bypass_and_a_branch_is_straight() {
        // 0 → 1 → 2 → 3 → 4 with a bypass 1 → 5 → 3, and a branch 2 → 6.
        let layers = layers(7, &[(0, 1), (1, 5), (1, 2), (2, 6), (2, 3), (5, 3), (3, 4)]);
        let heights = layers.heights(|_| 10.0);
        let is_straight = |line: [usize; 5]| line.iter().all(|vertex| heights[*vertex] == heights[0]);
        assert!(is_straight([0, 1, 2, 3, 4]) || is_straight([0, 1, 5, 3, 4]), "{heights:?}");
        for layer in &layers.order {
            for pair in layer.windows(2) {
                assert!(heights[pair[1]] - heights[pair[0]] >= 15.99, "{heights:?}");
            }
        }
    }

    #[test]
    fn empty_and_unconnected_graphs_are_layered() {
        assert!(layers(0, &[]).order.is_empty());
        assert_eq!(layers(3, &[]).order, [vec![0, 1, 2]]);
    }
}
