//! Runs of pipes: the edges of each segment, and segments for the pipes that are in none.

use std::collections::{BTreeMap, HashMap};

use crate::model::{Edge, EdgeRole, Model};

use super::roles;

/// Run of pipes between two ends.
#[derive(Debug, Default)]
pub struct Run {
    /// The node of the segment; `None` if the graph has none.
    pub segment: Option<usize>,
    /// The line, for a run without a segment.
    pub line: String,
    /// Pipes in the order of the run.
    pub edges: Vec<usize>,
    /// Items of a run without a segment.
    pub items: Vec<usize>,
}

impl Run {
    /// Returns true if each pipe starts where the one before it ends.
    pub fn is_chain(&self, model: &Model<'_>) -> bool {
        self.edges.windows(2).all(|pair| model.edges[pair[0]].to.name == model.edges[pair[1]].from.name)
    }
}

/// Returns the runs of a graph. `is_free` says for each node whether it may be an item of a new run.
pub fn runs(model: &Model<'_>, elements: &[&str], is_free: &[bool]) -> Vec<Run> {
    let segments: HashMap<&str, usize> = (0..elements.len())
        .filter(|node| elements[*node] == "PipingNetworkSegment")
        .map(|node| (model.nodes[node].name.as_str(), node))
        .collect();
    let mut by_segment: BTreeMap<usize, Run> = BTreeMap::new();
    let mut others: Vec<usize> = Vec::new();
    for (index, edge) in model.edges.iter().enumerate().filter(|(_, edge)| edge.role() == EdgeRole::Flow) {
        let segment = edge.fields.get("segment").and_then(|segment| segments.get(segment.as_str()?));
        match segment {
            Some(segment) => {
                let run = by_segment.entry(*segment).or_default();
                run.segment = Some(*segment);
                run.edges.push(index);
            }
            None => others.push(index),
        }
    }
    let mut runs: Vec<Run> = by_segment.into_values().collect();
    runs.extend(Chains::new(model, elements, is_free, &others).runs(&others));
    runs
}

/// Pipes without a segment, by the nodes they connect.
struct Chains<'m, 'a> {
    model: &'m Model<'a>,
    /// By node: the pipes that leave it, and the number of those that enter it.
    leaving: Vec<Vec<usize>>,
    entering: Vec<usize>,
    /// By node: true for a piping component that is in no run yet.
    is_free: Vec<bool>,
}

impl<'m, 'a> Chains<'m, 'a> {
    fn new(model: &'m Model<'a>, elements: &[&str], is_free: &[bool], edges: &[usize]) -> Chains<'m, 'a> {
        let mut leaving = vec![Vec::new(); elements.len()];
        let mut entering = vec![0; elements.len()];
        for edge in edges {
            let Edge { from, to, .. } = &model.edges[*edge];
            if let Some(node) = from.node {
                leaving[node].push(*edge);
            }
            if let Some(node) = to.node {
                entering[node] += 1;
            }
        }
        let is_free = elements.iter().zip(is_free).map(|(element, is_free)| *is_free && roles::is_in_run(element));
        Chains { model, leaving, entering, is_free: is_free.collect() }
    }

    /// Returns the only pipe that continues another one through a piping component of the same line.
    fn next(&self, edge: usize) -> Option<usize> {
        let node = self.model.edges[edge].to.node?;
        let is_inline = self.is_free[node] && self.entering[node] == 1 && self.leaving[node].len() == 1;
        let next = *self.leaving[node].first().filter(|_| is_inline)?;
        (self.line(next) == self.line(edge)).then_some(next)
    }

    fn line(&self, edge: usize) -> &str {
        let edge = &self.model.edges[edge];
        let of_node = |node: Option<usize>| self.model.nodes[node?].line();
        let line = edge.line().or_else(|| of_node(edge.from.node)).or_else(|| of_node(edge.to.node));
        line.map_or("", |line| self.model.resolve_line(line))
    }

    fn runs(mut self, edges: &[usize]) -> Vec<Run> {
        let mut is_continued = vec![false; self.model.edges.len()];
        for next in edges.iter().filter_map(|edge| self.next(*edge)) {
            is_continued[next] = true;
        }
        let mut is_done = vec![false; self.model.edges.len()];
        let starts = edges.iter().filter(|edge| !is_continued[**edge]);
        let mut chains = Vec::new();
        // Pipes that are left are in a circle, which may start anywhere.
        for start in starts.chain(edges) {
            let mut chain = Vec::new();
            let mut at = Some(*start).filter(|start| !is_done[*start]);
            while let Some(edge) = at {
                is_done[edge] = true;
                chain.push(edge);
                at = self.next(edge).filter(|next| !is_done[*next]);
            }
            if !chain.is_empty() {
                chains.push(chain);
            }
        }
        let mut runs: Vec<Run> = chains.into_iter().map(|edges| self.run(edges)).collect();
        let alone = (0..self.is_free.len()).filter(|node| self.is_free[*node]);
        runs.extend(alone.map(|node| Run {
            line: self.model.nodes[node].line().map_or("", |line| self.model.resolve_line(line)).to_owned(),
            items: vec![node],
            ..Run::default()
        }));
        runs
    }

    /// Returns a run of pipes. A piping component between runs is an item of the first one.
    fn run(&mut self, edges: Vec<usize>) -> Run {
        let mut run = Run { line: edges.first().map_or("", |edge| self.line(*edge)).to_owned(), ..Run::default() };
        for end in edges.iter().flat_map(|edge| [&self.model.edges[*edge].from, &self.model.edges[*edge].to]) {
            if let Some(node) = end.node.filter(|node| self.is_free[*node]) {
                self.is_free[node] = false;
                run.items.push(node);
            }
        }
        run.edges = edges;
        run
    }
}
