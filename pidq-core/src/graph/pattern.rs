//! Graph patterns such as `(p:pump)-[r:piping {1,4}]->(v:control)`, and the search for their matches.
//!
//! A subset of GQL (ISO/IEC 39075): nodes with labels, edges with kinds and a bounded number of repetitions. Edges do
//! not repeat within a match; nodes of the same name must be the same node.

use hashbrown::{HashMap, HashSet};

use super::adjacency::{EdgeId, NONE, NodeId};
use super::config::Names;
use super::drawing::Drawing;
use super::snake_case::snake_case;
use super::topology::{Direction, EdgeFilter};
use crate::error::{Code, Error, Result};

/// A pattern: one more node than edges.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub nodes: Vec<NodePattern>,
    pub edges: Vec<EdgePattern>,
}

/// Node pattern: `(name:label|label)`.
#[derive(Debug, Default)]
pub(crate) struct NodePattern {
    pub name: Option<String>,
    labels: Vec<String>,
}

/// Edge pattern: `-[name:kind|kind {min,max}]->`.
#[derive(Debug)]
pub(crate) struct EdgePattern {
    pub name: Option<String>,
    kinds: Vec<String>,
    dir: Direction,
    min: usize,
    max: usize,
    /// Has repetitions, so it binds an array of edges.
    pub is_list: bool,
}

/// Limit of repetitions in a pattern.
const MAX_REPETITIONS: usize = 1000;

impl Pattern {
    /// Parses a pattern.
    pub fn parse(text: &str) -> Result<Pattern> {
        let mut reader = PatternParser { text, at: 0 };
        let mut pattern = Pattern { nodes: vec![reader.node()?], edges: Vec::new() };
        while !reader.is_at_end() {
            pattern.edges.push(reader.edge()?);
            pattern.nodes.push(reader.node()?);
        }
        pattern.check_names()?;
        Ok(pattern)
    }

    /// Checks that each edge has a name of its own: nodes of one name are the same node, but an edge is followed once.
    fn check_names(&self) -> Result<()> {
        let mut names_seen: HashSet<&String> = self.nodes.iter().filter_map(|node| node.name.as_ref()).collect();
        let mut names = self.edges.iter().filter_map(|edge| edge.name.as_ref());
        let Some(name) = names.find(|name| !names_seen.insert(name)) else { return Ok(()) };
        let error = Error::new(Code::PatternSyntax, format!("the name of the edge `{name}` is already in use"));
        Err(error.with_help("give each edge a unique name"))
    }

    /// Returns the edges of a match that were followed along or against the flow.
    pub fn directed<'m>(&'m self, found: &'m Match) -> impl Iterator<Item = EdgeId> + 'm {
        let parts = self.edges.iter().zip(&found.edges).filter(|(part, _)| part.dir != Direction::Both);
        parts.flat_map(|(_, edges)| edges.iter().copied())
    }
}

struct PatternParser<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> PatternParser<'t> {
    fn rest(&mut self) -> &'t str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    fn is_at_end(&mut self) -> bool {
        self.rest().is_empty()
    }

    fn accept(&mut self, token: &str) -> bool {
        let is_match = self.rest().starts_with(token);
        self.at += if is_match { token.len() } else { 0 };
        is_match
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        if self.accept(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    fn expected(&mut self, expected_syntax: &str) -> Error {
        let error = Error::new(
            Code::PatternSyntax,
            format!("{expected_syntax} expected in the pattern at position {}", self.at),
        );
        error.with_help("a pattern looks like `(a:pump)-[e:piping {1,4}]->(b:valve)`")
    }

    fn word(&mut self) -> Option<String> {
        let rest = self.rest();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
        let len = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        self.at += len;
        (len > 0).then(|| rest[..len].into())
    }

    /// Parses `:word|word`.
    fn words(&mut self) -> Result<Vec<String>> {
        let mut words = Vec::new();
        if !self.accept(":") {
            return Ok(words);
        }
        loop {
            let Some(word) = self.word() else { return Err(self.expected("a label")) };
            words.push(snake_case(&word));
            if !self.accept("|") {
                return Ok(words);
            }
        }
    }

    fn node(&mut self) -> Result<NodePattern> {
        self.expect("(")?;
        let name = self.word();
        let labels = self.words()?;
        self.expect(")")?;
        Ok(NodePattern { name, labels })
    }

    fn edge(&mut self) -> Result<EdgePattern> {
        let is_backward = self.accept("<-");
        if !is_backward {
            self.expect("-")?;
        }
        let mut edge =
            EdgePattern { name: None, kinds: Vec::new(), dir: Direction::Both, min: 1, max: 1, is_list: false };
        if self.accept("[") {
            edge.name = self.word();
            edge.kinds = self.words()?;
            self.repetitions(&mut edge)?;
            self.expect("]")?;
        }
        self.expect("-")?;
        edge.dir = match (is_backward, self.accept(">")) {
            (false, true) => Direction::Down,
            (true, false) => Direction::Up,
            _ => Direction::Both,
        };
        Ok(edge)
    }

    /// Parses `{min,max}` or `{exactly}`.
    fn repetitions(&mut self, edge: &mut EdgePattern) -> Result<()> {
        if !self.accept("{") {
            return Ok(());
        }
        let min = self.number()?;
        let max = if self.accept(",") { self.number()? } else { min };
        self.expect("}")?;
        if min > max || max > MAX_REPETITIONS {
            let message = format!("{{{min},{max}}} is not a range of repetitions up to {MAX_REPETITIONS}");
            return Err(Error::new(Code::PatternSyntax, message));
        }
        (edge.min, edge.max, edge.is_list) = (min, max, true);
        Ok(())
    }

    fn number(&mut self) -> Result<usize> {
        let digits = self.word().unwrap_or_default();
        digits.parse().map_err(|_| self.expected("a number (repetitions need an upper bound)"))
    }
}

/// A match of a pattern: its nodes, and the edges of each part.
#[derive(Debug)]
pub(crate) struct Match {
    pub nodes: Vec<NodeId>,
    pub edges: Vec<Vec<EdgeId>>,
}

/// Search for a pattern, match by match: from the first node on, edges in document order.
pub(crate) struct PatternSearch<'p, 'a> {
    pattern: &'p Pattern,
    drawing: &'p Drawing<'a>,
    next_start: NodeId,
    frames: Vec<Frame>,
    /// By part and kind: whether an edge of this kind matches.
    kinds: HashMap<(usize, &'a str), bool>,
}

/// A backtracking frame: the number of edges followed for a part, and the node they lead to.
struct Frame {
    part: usize,
    edges: usize,
    node: NodeId,
    via: EdgeId,
    /// 0: try to end the part here; above 0: the arc to try next.
    at: usize,
}

impl<'p, 'a> PatternSearch<'p, 'a> {
    pub fn new(pattern: &'p Pattern, drawing: &'p Drawing<'a>) -> Self {
        PatternSearch { pattern, drawing, next_start: 0, frames: Vec::new(), kinds: HashMap::new() }
    }

    /// Returns the next match.
    pub fn next(&mut self, charge: &mut dyn FnMut(u64) -> Result<()>) -> Result<Option<Match>> {
        loop {
            // Names and edges are compared with all current bindings.
            charge(1 + self.frames.len() as u64 / 16)?;
            if self.frames.is_empty() && !self.start() {
                return Ok(None);
            }
            let Some(frame) = self.frames.last_mut() else { continue };
            let (part, edges, node, at) = (frame.part, frame.edges, frame.node, frame.at);
            frame.at += 1;
            let Some(edge_pattern) = self.pattern.edges.get(part) else {
                let found = self.found();
                self.frames.pop();
                return Ok(Some(found));
            };
            if at == 0 {
                if edges >= edge_pattern.min && self.node_matches(part + 1, node) {
                    self.frames.push(Frame { part: part + 1, edges: 0, node, via: NONE, at: 0 });
                }
                continue;
            }
            let table = self.drawing.topology.table(EdgeFilter::All, edge_pattern.dir);
            let arc = table.arc(node, at - 1).filter(|_| edges < edge_pattern.max);
            match arc {
                None => drop(self.frames.pop()),
                Some((next, via)) if self.edge_matches(part, via) => {
                    self.frames.push(Frame { part, edges: edges + 1, node: next, via, at: 0 });
                }
                Some(_) => {}
            }
        }
    }

    /// Starts at the next node that matches the first part.
    fn start(&mut self) -> bool {
        let count = self.drawing.topology.node_count() as u32;
        while self.next_start < count {
            let node = self.next_start;
            self.next_start += 1;
            if self.node_matches(0, node) {
                self.frames.push(Frame { part: 0, edges: 0, node, via: NONE, at: 0 });
                return true;
            }
        }
        false
    }

    /// Returns whether a node has a label of a part and agrees with earlier bindings of its name.
    fn node_matches(&self, part: usize, node: NodeId) -> bool {
        let node_pattern = &self.pattern.nodes[part];
        let is_labeled = node_pattern.labels.is_empty()
            || node_pattern.labels.iter().any(|label| self.drawing.has_class(node, label));
        let is_consistent = || match &node_pattern.name {
            None => true,
            name => {
                let ends = self.frames.iter().filter(|frame| frame.edges == 0);
                let mut same = ends.filter(|frame| self.pattern.nodes[frame.part].name == *name);
                same.all(|frame| frame.node == node)
            }
        };
        is_labeled && is_consistent()
    }

    /// Returns whether an edge has a kind of a part and has not been followed yet.
    fn edge_matches(&mut self, part: usize, edge: EdgeId) -> bool {
        !self.frames.iter().any(|frame| frame.via == edge) && self.has_kind(part, edge)
    }

    fn has_kind(&mut self, part: usize, edge: EdgeId) -> bool {
        let kinds = &self.pattern.edges[part].kinds;
        if kinds.is_empty() {
            return true;
        }
        let words = [Names::EdgeKind, Names::EdgeClass];
        let words = words.map(|names| self.drawing.edge_field(edge, names).and_then(crate::value::Value::as_str));
        words.into_iter().flatten().any(|word| {
            *self.kinds.entry((part, word)).or_insert_with(|| {
                let kind = snake_case(word);
                let last = kind.rsplit('.').next().unwrap_or(&kind);
                kinds.iter().any(|expected| *expected == kind || expected == last)
            })
        })
    }

    fn found(&self) -> Match {
        let ends = self.frames.iter().filter(|frame| frame.edges == 0).map(|frame| frame.node);
        let mut found = Match { nodes: ends.collect(), edges: vec![Vec::new(); self.pattern.edges.len()] };
        for frame in self.frames.iter().filter(|frame| frame.edges > 0) {
            found.edges[frame.part].push(frame.via);
        }
        found
    }
}
