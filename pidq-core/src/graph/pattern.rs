//! Patterns of a graph: `(p:pump)-[r:piping {1,4}]->(v:control)`, and the places where they fit.
//!
//! A subset of GQL (ISO/IEC 39075): nodes with labels, edges with kinds and a bounded number of repetitions. Edges do
//! not repeat within a match; nodes of the same name meet.

use hashbrown::{HashMap, HashSet};

use super::adjacency::{EdgeId, NONE, NodeId};
use super::config::{Names, snake_case};
use super::plant::Plant;
use super::topology::{Dir, Over};
use crate::error::{Code, Error, Result};

/// A pattern: one node more than edges.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub nodes: Vec<NodePattern>,
    pub edges: Vec<EdgePattern>,
}

/// `(name:label|label)`.
#[derive(Debug, Default)]
pub(crate) struct NodePattern {
    pub name: Option<String>,
    labels: Vec<String>,
}

/// `-[name:kind|kind {least,most}]->`.
#[derive(Debug)]
pub(crate) struct EdgePattern {
    pub name: Option<String>,
    kinds: Vec<String>,
    dir: Dir,
    least: usize,
    most: usize,
    /// Has a number of repetitions: stands for a list of edges.
    pub is_list: bool,
}

/// The longest repetition that a pattern may ask for.
const LONGEST: usize = 1000;

impl Pattern {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Pattern> {
        let mut reader = Reader { text, at: 0 };
        let mut pattern = Pattern { nodes: vec![reader.node()?], edges: Vec::new() };
        while !reader.is_at_end() {
            pattern.edges.push(reader.edge()?);
            pattern.nodes.push(reader.node()?);
        }
        pattern.check_names()?;
        Ok(pattern)
    }

    /// A name stands for one thing: nodes of one name meet, but an edge is followed once.
    fn check_names(&self) -> Result<()> {
        let mut taken: HashSet<&String> = self.nodes.iter().filter_map(|node| node.name.as_ref()).collect();
        let mut names = self.edges.iter().filter_map(|edge| edge.name.as_ref());
        let Some(name) = names.find(|name| !taken.insert(name)) else { return Ok(()) };
        let error = Error::new(Code::PatternSyntax, format!("the edge `{name}` has the name of something else"));
        Err(error.with_help("give each edge a name of its own"))
    }

    /// The edges of a place where it fits that were followed along the flow or against it.
    pub fn directed<'m>(&'m self, fit: &'m Match) -> impl Iterator<Item = EdgeId> + 'm {
        let parts = self.edges.iter().zip(&fit.edges).filter(|(part, _)| part.dir != Dir::Both);
        parts.flat_map(|(_, edges)| edges.iter().copied())
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&mut self) -> &'t str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    fn is_at_end(&mut self) -> bool {
        self.rest().is_empty()
    }

    fn takes(&mut self, token: &str) -> bool {
        let is_there = self.rest().starts_with(token);
        self.at += if is_there { token.len() } else { 0 };
        is_there
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        if self.takes(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    fn expected(&mut self, what: &str) -> Error {
        let error = Error::new(Code::PatternSyntax, format!("{what} expected in the pattern at position {}", self.at));
        error.with_help("a pattern looks like `(a:pump)-[e:piping {1,4}]->(b:valve)`")
    }

    fn word(&mut self) -> Option<String> {
        let rest = self.rest();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
        let len = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        self.at += len;
        (len > 0).then(|| rest[..len].into())
    }

    /// `:word|word`.
    fn words(&mut self) -> Result<Vec<String>> {
        let mut words = Vec::new();
        if !self.takes(":") {
            return Ok(words);
        }
        loop {
            let Some(word) = self.word() else { return Err(self.expected("a label")) };
            words.push(snake_case(&word));
            if !self.takes("|") {
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
        let is_backward = self.takes("<-");
        if !is_backward {
            self.expect("-")?;
        }
        let mut edge = EdgePattern { name: None, kinds: Vec::new(), dir: Dir::Both, least: 1, most: 1, is_list: false };
        if self.takes("[") {
            edge.name = self.word();
            edge.kinds = self.words()?;
            self.repetitions(&mut edge)?;
            self.expect("]")?;
        }
        self.expect("-")?;
        edge.dir = match (is_backward, self.takes(">")) {
            (false, true) => Dir::Down,
            (true, false) => Dir::Up,
            _ => Dir::Both,
        };
        Ok(edge)
    }

    /// `{least,most}` or `{exactly}`.
    fn repetitions(&mut self, edge: &mut EdgePattern) -> Result<()> {
        if !self.takes("{") {
            return Ok(());
        }
        let least = self.number()?;
        let most = if self.takes(",") { self.number()? } else { least };
        self.expect("}")?;
        if least > most || most > LONGEST {
            let message = format!("{{{least},{most}}} is no range of repetitions up to {LONGEST}");
            return Err(Error::new(Code::PatternSyntax, message));
        }
        (edge.least, edge.most, edge.is_list) = (least, most, true);
        Ok(())
    }

    fn number(&mut self) -> Result<usize> {
        let digits = self.word().unwrap_or_default();
        digits.parse().map_err(|_| self.expected("a number of repetitions, which needs an upper bound,"))
    }
}

/// A place where a pattern fits: its nodes, and the edges of each part.
#[derive(Debug)]
pub(crate) struct Match {
    pub nodes: Vec<NodeId>,
    pub edges: Vec<Vec<EdgeId>>,
}

/// Looks for a pattern, match by match: from the first node on, edges in the order of the document.
pub(crate) struct Search<'p, 'a> {
    pattern: &'p Pattern,
    plant: &'p Plant<'a>,
    next_start: NodeId,
    frames: Vec<Frame>,
    /// By part and kind: whether an edge of this kind fits.
    kinds: HashMap<(usize, &'a str), bool>,
}

/// A choice: so many edges of a part were followed and led to a node.
struct Frame {
    part: usize,
    edges: usize,
    node: NodeId,
    via: EdgeId,
    /// 0: try to end the part here; above: the arc to try next.
    at: usize,
}

impl<'p, 'a> Search<'p, 'a> {
    pub fn new(pattern: &'p Pattern, plant: &'p Plant<'a>) -> Self {
        Search { pattern, plant, next_start: 0, frames: Vec::new(), kinds: HashMap::new() }
    }

    /// The next match.
    pub fn next(&mut self, pay: &mut dyn FnMut(u64) -> Result<()>) -> Result<Option<Match>> {
        loop {
            // Names and edges are compared with all that is bound so far.
            pay(1 + self.frames.len() as u64 / 16)?;
            if self.frames.is_empty() && !self.start() {
                return Ok(None);
            }
            let Some(frame) = self.frames.last_mut() else { continue };
            let (part, edges, node, at) = (frame.part, frame.edges, frame.node, frame.at);
            frame.at += 1;
            let Some(wanted) = self.pattern.edges.get(part) else {
                let found = self.found();
                self.frames.pop();
                return Ok(Some(found));
            };
            if at == 0 {
                if edges >= wanted.least && self.fits(part + 1, node) {
                    self.frames.push(Frame { part: part + 1, edges: 0, node, via: NONE, at: 0 });
                }
                continue;
            }
            let table = self.plant.topology.table(Over::All, wanted.dir);
            let arc = table.arc(node, at - 1).filter(|_| edges < wanted.most);
            match arc {
                None => drop(self.frames.pop()),
                Some((next, via)) if self.follows(part, via) => {
                    self.frames.push(Frame { part, edges: edges + 1, node: next, via, at: 0 });
                }
                Some(_) => {}
            }
        }
    }

    /// Begins at the next node that fits the first part.
    fn start(&mut self) -> bool {
        let count = self.plant.topology.node_count() as u32;
        while self.next_start < count {
            let node = self.next_start;
            self.next_start += 1;
            if self.fits(0, node) {
                self.frames.push(Frame { part: 0, edges: 0, node, via: NONE, at: 0 });
                return true;
            }
        }
        false
    }

    /// Whether a node has a label of a part, and is the one that the name stands for already.
    fn fits(&self, part: usize, node: NodeId) -> bool {
        let wanted = &self.pattern.nodes[part];
        let is_labelled =
            wanted.labels.is_empty() || wanted.labels.iter().any(|label| self.plant.has_class(node, label));
        let meets = || match &wanted.name {
            None => true,
            name => {
                let ends = self.frames.iter().filter(|frame| frame.edges == 0);
                let mut same = ends.filter(|frame| self.pattern.nodes[frame.part].name == *name);
                same.all(|frame| frame.node == node)
            }
        };
        is_labelled && meets()
    }

    /// Whether an edge has a kind of a part, and was not followed yet.
    fn follows(&mut self, part: usize, edge: EdgeId) -> bool {
        !self.frames.iter().any(|frame| frame.via == edge) && self.has_kind(part, edge)
    }

    fn has_kind(&mut self, part: usize, edge: EdgeId) -> bool {
        let wanted = &self.pattern.edges[part].kinds;
        if wanted.is_empty() {
            return true;
        }
        let words = [Names::EdgeKind, Names::EdgeClass];
        let words = words.map(|names| self.plant.of_edge(edge, names).and_then(crate::value::Value::as_str));
        words.into_iter().flatten().any(|word| {
            *self.kinds.entry((part, word)).or_insert_with(|| {
                let kind = snake_case(word);
                let last = kind.rsplit('.').next().unwrap_or(&kind);
                wanted.iter().any(|wanted| *wanted == kind || wanted == last)
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
