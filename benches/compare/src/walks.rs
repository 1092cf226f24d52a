//! Graph traversals along the flow, compared with graph libraries and with a plain traversal over prepared tables.
//!
//! All contestants have the network prepared and return numbers: results are counted, not written. Component searches
//! list their nodes, as `components()` does, and count the lists; only petgraph counts weak components without listing.
//! For routes, the plain traversal builds nodes and edges, as `shortestPath()` does, and petgraph the nodes. Traversals
//! and routes follow edges of all kinds; components and cycles are those of the flow.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use petgraph::algo::{astar, connected_components, tarjan_scc};
use petgraph::graph::{DiGraph, NodeIndex, UnGraph};
use petgraph::visit::{Bfs, VisitMap, Visitable};

use crate::Result;
use crate::digest::Digest;
use crate::goals;
use crate::measure::{Contestant, contest, timed};
use crate::options::Options;
use crate::ours::{self, Plan};
use crate::processes::{Remote, Worker};
use crate::queries::Drawing;
use crate::table::{Event, Findings};

/// Class of the start node of traversals and the end node of routes: the node that is reachable from most others.
const BEGIN: &str = "Tank";
/// Nodes around which neighbors are counted, and number of hops.
const AROUND: usize = 1_000;
const HOPS: u32 = 3;
/// Number of routes searched.
const ROUTES: usize = 20;
/// Kinds of edges with flow.
const FLOW: [&str; 3] = ["piping", "recycle", "off_page"];

type Work = fn(&mut Network) -> Vec<i64>;

/// The peers in Python.
const NETWORKX: &str = "networkx";
const RUSTWORKX: &str = "rustworkx";
const IGRAPH: &str = "igraph";
const SCIPY: &str = "scipy";
const PYTHON: [&str; 4] = [NETWORKX, RUSTWORKX, IGRAPH, SCIPY];

/// Task: name, query in which `@` is the start node, plain traversal, petgraph, and Python peers.
struct Walk {
    name: &'static str,
    query: &'static str,
    limit: Option<Work>,
    petgraph: Option<Work>,
    python: &'static [&'static str],
}

const WALKS: [Walk; 7] = [
    Walk {
        name: "3 hops ×1000",
        query: "nodes() | limit(1000) | map(expand(3, {edges: true}) | size()) | sum()",
        limit: Some(|network| {
            let Network { all: Net { both, .. }, space, .. } = network;
            vec![(0..AROUND.min(both.len()) as u32).map(|node| space.walk(both, node, HOPS) as i64).sum()]
        }),
        petgraph: Some(|network| {
            let graph = &network.all.undirected;
            vec![(0..graph.node_count().min(AROUND)).map(|node| hops(graph, NodeIndex::new(node))).sum()]
        }),
        python: &[NETWORKX, RUSTWORKX, IGRAPH],
    },
    Walk {
        name: "reach",
        query: r#"downstream("@", {edges: true, pass: "any"}) | size()"#,
        limit: Some(|network| vec![network.space.walk(&network.all.out, network.begin, u32::MAX) as i64 - 1]),
        petgraph: Some(|network| {
            let mut walk = Bfs::new(&network.all.directed, NodeIndex::new(network.begin as usize));
            vec![std::iter::from_fn(|| walk.next(&network.all.directed)).count() as i64 - 1]
        }),
        python: &PYTHON,
    },
    Walk {
        name: "BFS",
        query: r#"connected("@", {edges: true, pass: "any"}) | size()"#,
        limit: Some(|network| vec![network.space.walk(&network.all.both, network.begin, u32::MAX) as i64 - 1]),
        petgraph: Some(|network| {
            let mut walk = Bfs::new(&network.all.undirected, NodeIndex::new(network.begin as usize));
            vec![std::iter::from_fn(|| walk.next(&network.all.undirected)).count() as i64 - 1]
        }),
        python: &PYTHON,
    },
    Walk {
        name: "weak parts",
        query: "components() | size()",
        limit: Some(|network| vec![network.flow.weak_parts().list()]),
        petgraph: Some(|network| vec![connected_components(&network.flow.undirected) as i64]),
        python: &PYTHON,
    },
    Walk {
        name: "strong parts",
        query: "components({strong: true}) | size()",
        limit: Some(|network| vec![strong_parts(&network.flow.out).list()]),
        petgraph: Some(|network| vec![tarjan_scc(&network.flow.directed).len() as i64]),
        python: &PYTHON,
    },
    Walk {
        name: "routes ×20",
        query: r#"nodes() | limit(20) | map(shortestPath("@", {edges: true, dir: "both"}) | coalesce(.length, -1))"#,
        limit: Some(|network| {
            let Network { all: Net { both, .. }, space, other, begin, .. } = network;
            let ends = 0..ROUTES.min(both.len()) as u32;
            let way = |from| std::hint::black_box(route(both, [&mut *space, &mut *other], from, *begin));
            ends.map(way).map(|way| way.map_or(-1, |way| way.edges.len() as i64)).collect()
        }),
        petgraph: Some(|network| {
            let graph = &network.all.undirected;
            let ends = 0..graph.node_count().min(ROUTES);
            let to = NodeIndex::new(network.begin as usize);
            let length = |from| {
                let found = astar(graph, NodeIndex::new(from), |node| node == to, |_| 1_i64, |_| 0);
                found.map_or(-1, |(cost, _)| cost)
            };
            ends.map(length).collect()
        }),
        python: &[NETWORKX, RUSTWORKX, IGRAPH],
    },
    Walk {
        name: "circuits",
        query: r#"cycles({pass: "any", limit: 100000}) | size()"#,
        limit: None,
        petgraph: None,
        python: &[NETWORKX, RUSTWORKX],
    },
];

pub fn walks(drawing: &Drawing, options: &Options) -> Result<Findings> {
    let graph = ours::load(drawing.text.clone())?;
    let network = Rc::new(RefCell::new(Network::new(&drawing.text)?));
    let workers: Vec<_> = PYTHON
        .into_iter()
        .filter_map(|name| match Worker::start(name, &drawing.path) {
            Ok(worker) => Some((name, Rc::new(RefCell::new(worker)))),
            Err(error) => {
                eprintln!("left out: {name} ({error})");
                None
            }
        })
        .collect();
    let mut findings = Findings::default();
    for walk in &WALKS {
        let query = walk.query.replace('@', &network.borrow().name);
        let by_hand = |name, work| Box::new(ByHand { name, work, network: Rc::clone(&network) });
        let mut contestants: Vec<Box<dyn Contestant + '_>> = vec![Box::new(Ours(Plan::new(&graph, &query)?))];
        for (name, work) in [("limit", walk.limit), ("petgraph", walk.petgraph)] {
            contestants.extend(work.map(|work| by_hand(name, work) as Box<dyn Contestant>));
        }
        let begin = network.borrow().begin;
        let peers = workers.iter().filter(|(name, _)| walk.python.contains(name));
        contestants.extend(peers.map(|(_, worker)| Remote::walk(Rc::clone(worker), walk.name, begin)));
        let scores = contest(contestants, options.rounds, options.sample);
        findings.events.push(Event { group: "walks", nodes: drawing.nodes, task: walk.name.to_string(), scores });
    }
    Ok(findings)
}

/// Runs the query of pidq, from the compiled plan to the number.
struct Ours<'g>(Plan<'g>);

impl Contestant for Ours<'_> {
    fn name(&self) -> &str {
        goals::OURS
    }

    fn answer(&mut self) -> Result<Digest> {
        let mut json = Vec::new();
        self.0.json(&mut json)?;
        match json.first() {
            Some(b'[') => Digest::of(&json),
            _ => Digest::of(&[b"[", json.as_slice(), b"]"].concat()),
        }
    }

    fn run(&mut self, times: u32) -> Result<f64> {
        let (result, seconds) = timed(|| (0..times).try_for_each(|_| self.0.rows().map(drop)));
        result.map(|()| seconds)
    }
}

struct ByHand {
    name: &'static str,
    work: Work,
    network: Rc<RefCell<Network>>,
}

impl Contestant for ByHand {
    fn name(&self) -> &str {
        self.name
    }

    fn answer(&mut self) -> Result<Digest> {
        let numbers = (self.work)(&mut self.network.borrow_mut());
        Digest::of(serde_json::to_string(&numbers)?.as_bytes())
    }

    fn run(&mut self, times: u32) -> Result<f64> {
        let network = &mut self.network.borrow_mut();
        let (sum, seconds) = timed(|| (0..times).map(|_| (self.work)(network).iter().sum::<i64>()).sum::<i64>());
        std::hint::black_box(sum);
        Ok(seconds)
    }
}

/// Drawing as networks, with the start node of traversals.
struct Network {
    all: Net,
    flow: Net,
    begin: u32,
    /// Id of the start node.
    name: String,
    space: Space,
    other: Space,
}

/// Network in the preferred representation of each library.
struct Net {
    out: Table,
    both: Table,
    arcs: Vec<[u32; 2]>,
    directed: DiGraph<(), ()>,
    undirected: UnGraph<(), ()>,
}

#[derive(serde::Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    pid_graph: Lists<'a>,
}

#[derive(serde::Deserialize)]
struct Lists<'a> {
    #[serde(borrow)]
    nodes: Vec<Node<'a>>,
    #[serde(borrow)]
    edges: Vec<Edge<'a>>,
}

#[derive(serde::Deserialize)]
struct Node<'a> {
    id: &'a str,
    class: &'a str,
}

#[derive(serde::Deserialize)]
struct Edge<'a> {
    source: &'a str,
    target: &'a str,
    edge_type: &'a str,
    direction: &'a str,
}

impl Network {
    fn new(text: &[u8]) -> Result<Self> {
        let Lists { nodes, edges } = serde_json::from_slice::<Document<'_>>(text)?.pid_graph;
        let places: HashMap<&str, u32> = nodes.iter().map(|node| node.id).zip(0..).collect();
        let net = |follows: fn(&Edge<'_>) -> bool| {
            Net::new(
                nodes.len(),
                edges.iter().filter(|edge| follows(edge)).flat_map(|edge| edge.arcs(&places)).collect(),
            )
        };
        let (all, flow) = (net(|_| true), net(|edge| FLOW.contains(&edge.edge_type)));
        let [mut space, other] = [0, 1].map(|_| Space::new(nodes.len()));
        let begins = (0..).zip(&nodes).filter(|(_, node)| node.class == BEGIN).map(|(place, _)| place);
        let begin =
            begins.max_by_key(|place| space.walk(&all.out, *place, u32::MAX)).ok_or("no tank in the drawing")?;
        let name = nodes[begin as usize].id.to_string();
        Ok(Self { all, flow, begin, name, space, other })
    }
}

impl Edge<'_> {
    /// Both directions if the direction is unknown.
    fn arcs(&self, places: &HashMap<&str, u32>) -> impl Iterator<Item = [u32; 2]> + use<> {
        let ends = [places[self.source], places[self.target]];
        let (along, against) = (self.direction != "backward", self.direction != "forward");
        [along.then_some(ends), against.then_some([ends[1], ends[0]])].into_iter().flatten()
    }
}

impl Net {
    fn new(nodes: usize, arcs: Vec<[u32; 2]>) -> Self {
        let pairs = || arcs.iter().map(|[from, to]| (*from, *to));
        let mut directed = DiGraph::from_edges(pairs());
        let mut undirected = UnGraph::from_edges(pairs());
        while directed.node_count() < nodes {
            directed.add_node(());
        }
        while undirected.node_count() < nodes {
            undirected.add_node(());
        }
        let twice: Vec<[u32; 2]> = arcs.iter().flat_map(|[from, to]| [[*from, *to], [*to, *from]]).collect();
        let (out, both) = (Table::new(nodes, &arcs), Table::new(nodes, &twice));
        Self { out, both, arcs, directed, undirected }
    }

    fn weak_parts(&self) -> Parts {
        let mut parent: Vec<u32> = (0..self.out.len() as u32).collect();
        for [from, to] in &self.arcs {
            let (a, b) = (root(&mut parent, *from), root(&mut parent, *to));
            parent[a.max(b) as usize] = a.min(b);
        }
        let mut count = 0;
        for node in 0..parent.len() {
            let up = parent[node] as usize;
            count += u32::from(up == node);
            parent[node] = if up == node { count - 1 } else { parent[up] };
        }
        Parts { of: parent, count: count as usize }
    }
}

/// By node: the index of its component.
struct Parts {
    of: Vec<u32>,
    count: usize,
}

impl Parts {
    /// Lists the nodes of each component, and counts the lists.
    fn list(&self) -> i64 {
        let mut next = vec![0; self.count + 1];
        self.of.iter().for_each(|part| next[*part as usize + 1] += 1);
        for part in 0..self.count {
            next[part + 1] += next[part];
        }
        let mut members = vec![0; self.of.len()];
        for (node, part) in (0..).zip(&self.of) {
            members[next[*part as usize] as usize] = node;
            next[*part as usize] += 1;
        }
        let mut start = 0;
        let lists: Vec<&[u32]> = next[..self.count]
            .iter()
            .map(|end| &members[std::mem::replace(&mut start, *end as usize)..*end as usize])
            .collect();
        std::hint::black_box(&lists).len() as i64
    }
}

/// Returns the representative of a node's component, with path halving.
fn root(parent: &mut [u32], mut node: u32) -> u32 {
    while parent[node as usize] != node {
        parent[node as usize] = parent[parent[node as usize] as usize];
        node = parent[node as usize];
    }
    node
}

/// Compressed adjacency: neighbors and the arcs that lead to them.
struct Table {
    first: Vec<u32>,
    heads: Vec<u32>,
    edges: Vec<u32>,
}

impl Table {
    fn new(nodes: usize, arcs: &[[u32; 2]]) -> Self {
        let mut first = vec![0; nodes + 1];
        arcs.iter().for_each(|[from, _]| first[*from as usize + 1] += 1);
        for node in 0..nodes {
            first[node + 1] += first[node];
        }
        let mut next = first.clone();
        let (mut heads, mut edges) = (vec![0; arcs.len()], vec![0; arcs.len()]);
        for ([from, to], edge) in arcs.iter().zip(0..) {
            let place = next[*from as usize] as usize;
            (heads[place], edges[place]) = (*to, edge);
            next[*from as usize] += 1;
        }
        Self { first, heads, edges }
    }

    fn len(&self) -> usize {
        self.first.len() - 1
    }

    fn of(&self, node: u32) -> &[u32] {
        &self.heads[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }

    /// Returns the first edge from a node to a neighbor.
    fn edge(&self, from: u32, to: u32) -> Option<u32> {
        let place = self.of(from).iter().position(|head| *head == to)?;
        Some(self.edges[self.first[from as usize] as usize + place])
    }
}

/// Visited marks of a traversal: outdated by a generation number instead of cleared.
struct Space {
    stamps: Vec<u32>,
    epoch: u32,
    queue: Vec<u32>,
    /// By node: predecessor in a route search.
    before: Vec<u32>,
}

impl Space {
    fn new(nodes: usize) -> Self {
        Self { stamps: vec![0; nodes], epoch: 0, queue: Vec::with_capacity(nodes), before: vec![0; nodes] }
    }

    fn begin(&mut self, node: u32) {
        self.epoch += 1;
        self.queue.clear();
        self.enter(node);
    }

    fn enter(&mut self, node: u32) {
        if self.stamps[node as usize] != self.epoch {
            self.stamps[node as usize] = self.epoch;
            self.queue.push(node);
        }
    }

    fn enter_from(&mut self, node: u32, before: u32) {
        if !self.has(node) {
            self.before[node as usize] = before;
            self.enter(node);
        }
    }

    fn has(&self, node: u32) -> bool {
        self.stamps[node as usize] == self.epoch
    }

    /// Returns the nodes from one back to the start of the search, which comes last.
    fn way_back(&self, node: u32) -> impl Iterator<Item = u32> {
        let before = |node: &u32| (*node != self.queue[0]).then(|| self.before[*node as usize]);
        std::iter::successors(Some(node), before)
    }

    /// Counts the nodes within a number of steps, including the first one.
    fn walk(&mut self, table: &Table, from: u32, steps: u32) -> usize {
        self.begin(from);
        let (mut at, mut step) = (0, 0);
        while at < self.queue.len() && step < steps {
            let end = self.queue.len();
            while at < end {
                table.of(self.queue[at]).iter().for_each(|next| self.enter(*next));
                at += 1;
            }
            step += 1;
        }
        self.queue.len()
    }
}

/// Route: its nodes, and the edges between them.
struct Route {
    edges: Vec<u32>,
    _nodes: Vec<u32>,
}

/// Finds a shortest route between two nodes by bidirectional search, smaller side first.
fn route(table: &Table, [start, end]: [&mut Space; 2], from: u32, to: u32) -> Option<Route> {
    start.begin(from);
    end.begin(to);
    let middle = if from == to { Some([from, from]) } else { meet(table, [&mut *start, &mut *end]) };
    middle.map(|[one, other]| {
        let (ahead, back) = if start.has(one) && end.has(other) { (one, other) } else { (other, one) };
        let mut nodes: Vec<u32> = start.way_back(ahead).collect();
        nodes.reverse();
        nodes.extend(end.way_back(back).skip(usize::from(ahead == back)));
        let edges = nodes.windows(2).filter_map(|pair| table.edge(pair[0], pair[1])).collect();
        Route { edges, _nodes: nodes }
    })
}

/// Two neighbors, each found from another end.
fn meet(table: &Table, [mut near, mut far]: [&mut Space; 2]) -> Option<[u32; 2]> {
    let (mut near_at, mut far_at) = (0, 0);
    loop {
        if near.queue.len() - near_at > far.queue.len() - far_at {
            std::mem::swap(&mut near, &mut far);
            std::mem::swap(&mut near_at, &mut far_at);
        }
        let end = near.queue.len();
        if near_at == end {
            return None;
        }
        while near_at < end {
            let node = near.queue[near_at];
            for next in table.of(node) {
                if far.has(*next) {
                    return Some([node, *next]);
                }
                near.enter_from(*next, node);
            }
            near_at += 1;
        }
    }
}

/// Strongly connected components by Tarjan (1972), without recursion.
fn strong_parts(table: &Table) -> Parts {
    let count = table.len();
    let mut index = vec![0_u32; count];
    let mut low = vec![0_u32; count];
    let mut is_open = vec![false; count];
    let mut of = vec![0_u32; count];
    let (mut open, mut way, mut next, mut parts) = (Vec::new(), Vec::new(), 1, 0);
    for start in 0..count as u32 {
        if index[start as usize] != 0 {
            continue;
        }
        way.push((start, 0));
        while let Some((node, at)) = way.pop() {
            let place = node as usize;
            if at == 0 {
                index[place] = next;
                low[place] = next;
                next += 1;
                open.push(node);
                is_open[place] = true;
            }
            if let Some(head) = table.of(node).get(at) {
                way.push((node, at + 1));
                if index[*head as usize] == 0 {
                    way.push((*head, 0));
                } else if is_open[*head as usize] {
                    low[place] = low[place].min(index[*head as usize]);
                }
                continue;
            }
            if low[place] == index[place] {
                parts += 1;
                while let Some(member) = open.pop() {
                    is_open[member as usize] = false;
                    of[member as usize] = parts - 1;
                    if member == node {
                        break;
                    }
                }
            }
            if let Some((before, _)) = way.last() {
                low[*before as usize] = low[*before as usize].min(low[place]);
            }
        }
    }
    Parts { of, count: parts as usize }
}

/// Counts the nodes within a few hops, including the first one.
fn hops(graph: &UnGraph<(), ()>, from: NodeIndex) -> i64 {
    let mut met = graph.visit_map();
    met.visit(from);
    let (mut level, mut count) = (vec![from], 1);
    for _ in 0..HOPS {
        level = level.iter().flat_map(|node| graph.neighbors(*node)).filter(|next| met.visit(*next)).collect();
        count += level.len() as i64;
    }
    count
}
