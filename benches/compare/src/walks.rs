//! Walks along the flow, compared with graph libraries and with a plain traversal of adjacency tables.
//!
//! All contestants have prepared networks and return numbers: results are counted, not written. Component searches
//! list their nodes, as `components()` does, and count the lists; only petgraph counts weak components without listing.
//! For routes, the plain traversal builds nodes and edges, as `shortestPath()` does, and petgraph the nodes. Walks and
//! routes follow edges of all kinds; components and cycles are those of the flow.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use petgraph::algo::{astar, connected_components, tarjan_scc};
use petgraph::graph::{DiGraph, NodeIndex, UnGraph};
use petgraph::visit::{Bfs, VisitMap, Visitable};

use crate::Result;
use crate::digest::Digest;
use crate::measure::{Contestant, contest, timed};
use crate::options::Options;
use crate::pidq::{self, Plan};
use crate::processes::{Worker, WorkerTask};
use crate::queries::Drawing;
use crate::result::{PIDQ, ReportData, TaskResult};

/// Class of the node at which walks start and routes end: the one from which most nodes are reachable.
const START_CLASS: &str = "Tank";
/// Number of nodes whose neighborhoods are counted, and the number of hops.
const NEIGHBORHOODS: usize = 1_000;
const HOPS: u32 = 3;
/// Number of routes searched.
const ROUTES: usize = 20;
/// Kinds of edges with flow.
const FLOW: [&str; 3] = ["piping", "recycle", "off_page"];

type Work = fn(&mut Networks) -> Vec<i64>;

/// The peers in Python.
const NETWORKX: &str = "networkx";
const RUSTWORKX: &str = "rustworkx";
const IGRAPH: &str = "igraph";
const SCIPY: &str = "scipy";
const PYTHON: [&str; 4] = [NETWORKX, RUSTWORKX, IGRAPH, SCIPY];

/// Task: its name, its query with `@` for the start node, its implementations, and its Python peers.
struct Walk {
    name: &'static str,
    query: &'static str,
    baseline: Option<Work>,
    petgraph: Option<Work>,
    python: &'static [&'static str],
}

const WALKS: [Walk; 7] = [
    Walk {
        name: "3 hops ×1000",
        query: "nodes() | limit(1000) | map(expand(3, {edges: true}) | size()) | sum()",
        baseline: Some(|networks| {
            let Networks { all: Network { both, .. }, state, .. } = networks;
            vec![
                (0..NEIGHBORHOODS.min(both.len()) as u32)
                    .map(|node| state.count_reachable(both, node, HOPS) as i64)
                    .sum(),
            ]
        }),
        petgraph: Some(|networks| {
            let graph = &networks.all.undirected;
            vec![(0..graph.node_count().min(NEIGHBORHOODS)).map(|node| hops(graph, NodeIndex::new(node))).sum()]
        }),
        python: &[NETWORKX, RUSTWORKX, IGRAPH],
    },
    Walk {
        name: "reach",
        query: r#"downstream("@", {edges: true, pass: "any"}) | size()"#,
        baseline: Some(|networks| {
            vec![networks.state.count_reachable(&networks.all.out, networks.start, u32::MAX) as i64 - 1]
        }),
        petgraph: Some(|networks| {
            let mut walk = Bfs::new(&networks.all.directed, NodeIndex::new(networks.start as usize));
            vec![std::iter::from_fn(|| walk.next(&networks.all.directed)).count() as i64 - 1]
        }),
        python: &PYTHON,
    },
    Walk {
        name: "BFS",
        query: r#"connected("@", {edges: true, pass: "any"}) | size()"#,
        baseline: Some(|networks| {
            vec![networks.state.count_reachable(&networks.all.both, networks.start, u32::MAX) as i64 - 1]
        }),
        petgraph: Some(|networks| {
            let mut walk = Bfs::new(&networks.all.undirected, NodeIndex::new(networks.start as usize));
            vec![std::iter::from_fn(|| walk.next(&networks.all.undirected)).count() as i64 - 1]
        }),
        python: &PYTHON,
    },
    Walk {
        name: "weak components",
        query: "components() | size()",
        baseline: Some(|networks| vec![networks.flow.weak_components().count_lists()]),
        petgraph: Some(|networks| vec![connected_components(&networks.flow.undirected) as i64]),
        python: &PYTHON,
    },
    Walk {
        name: "strong components",
        query: "components({strong: true}) | size()",
        baseline: Some(|networks| vec![strong_components(&networks.flow.out).count_lists()]),
        petgraph: Some(|networks| vec![tarjan_scc(&networks.flow.directed).len() as i64]),
        python: &PYTHON,
    },
    Walk {
        name: "routes ×20",
        query: r#"nodes() | limit(20) | map(shortestPath("@", {edges: true, dir: "both"}) | coalesce(.length, -1))"#,
        baseline: Some(|networks| {
            let Networks { all: Network { both, .. }, state, second_state, start, .. } = networks;
            let ends = 0..ROUTES.min(both.len()) as u32;
            let find_route = |from| std::hint::black_box(route(both, [&mut *state, &mut *second_state], from, *start));
            ends.map(find_route).map(|route| route.map_or(-1, |route| route.edges.len() as i64)).collect()
        }),
        petgraph: Some(|networks| {
            let graph = &networks.all.undirected;
            let ends = 0..graph.node_count().min(ROUTES);
            let to = NodeIndex::new(networks.start as usize);
            let length = |from| {
                let found = astar(graph, NodeIndex::new(from), |node| node == to, |_| 1_i64, |_| 0);
                found.map_or(-1, |(cost, _)| cost)
            };
            ends.map(length).collect()
        }),
        python: &[NETWORKX, RUSTWORKX, IGRAPH],
    },
    Walk {
        name: "cycles",
        query: r#"cycles({pass: "any", limit: 100000}) | size()"#,
        baseline: None,
        petgraph: None,
        python: &[NETWORKX, RUSTWORKX],
    },
];

pub fn walks(drawing: &Drawing, options: &Options) -> Result<ReportData> {
    let graph = pidq::load(drawing.text.clone())?;
    let networks = Rc::new(RefCell::new(Networks::new(&drawing.text)?));
    let workers: Vec<_> = PYTHON
        .into_iter()
        .filter_map(|name| match Worker::start(name, &drawing.path) {
            Ok(worker) => Some((name, Rc::new(RefCell::new(worker)))),
            Err(error) => {
                eprintln!("SKIPPED: {name} ({error})");
                None
            }
        })
        .collect();
    let mut data = ReportData::default();
    for walk in &WALKS {
        let query = walk.query.replace('@', &networks.borrow().start_id);
        let hand_written = |name, work| Box::new(HandWritten { name, work, networks: Rc::clone(&networks) });
        let mut contestants: Vec<Box<dyn Contestant + '_>> = vec![Box::new(PidqWalk(Plan::new(&graph, &query)?))];
        for (name, work) in [("baseline", walk.baseline), ("petgraph", walk.petgraph)] {
            contestants.extend(work.map(|work| hand_written(name, work) as Box<dyn Contestant>));
        }
        let start = networks.borrow().start;
        let peers = workers.iter().filter(|(name, _)| walk.python.contains(name));
        contestants.extend(peers.map(|(_, worker)| WorkerTask::walk(Rc::clone(worker), walk.name, start)));
        let scores = contest(contestants, options.rounds, options.sample);
        data.results.push(TaskResult { group: "walks", nodes: drawing.nodes, task: walk.name.to_string(), scores });
    }
    Ok(data)
}

/// Runs the query of pidq, from the compiled plan to the number.
struct PidqWalk<'g>(Plan<'g>);

impl Contestant for PidqWalk<'_> {
    fn name(&self) -> &str {
        PIDQ
    }

    fn digest(&mut self) -> Result<Digest> {
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

struct HandWritten {
    name: &'static str,
    work: Work,
    networks: Rc<RefCell<Networks>>,
}

impl Contestant for HandWritten {
    fn name(&self) -> &str {
        self.name
    }

    fn digest(&mut self) -> Result<Digest> {
        let numbers = (self.work)(&mut self.networks.borrow_mut());
        Digest::of(serde_json::to_string(&numbers)?.as_bytes())
    }

    fn run(&mut self, times: u32) -> Result<f64> {
        let networks = &mut self.networks.borrow_mut();
        let (sum, seconds) = timed(|| (0..times).map(|_| (self.work)(networks).iter().sum::<i64>()).sum::<i64>());
        std::hint::black_box(sum);
        Ok(seconds)
    }
}

/// Networks of a drawing, with the start node of walks.
struct Networks {
    all: Network,
    flow: Network,
    start: u32,
    start_id: String,
    state: SearchState,
    second_state: SearchState,
}

/// Network in the preferred representation of each library.
struct Network {
    out: Adjacency,
    both: Adjacency,
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

impl Networks {
    fn new(text: &[u8]) -> Result<Self> {
        let Lists { nodes, edges } = serde_json::from_slice::<Document<'_>>(text)?.pid_graph;
        let indices: HashMap<&str, u32> = nodes.iter().map(|node| node.id).zip(0..).collect();
        let network = |follows: fn(&Edge<'_>) -> bool| {
            Network::new(
                nodes.len(),
                edges.iter().filter(|edge| follows(edge)).flat_map(|edge| edge.arcs(&indices)).collect(),
            )
        };
        let (all, flow) = (network(|_| true), network(|edge| FLOW.contains(&edge.edge_type)));
        let [mut state, second_state] = [0, 1].map(|_| SearchState::new(nodes.len()));
        let candidates = (0..).zip(&nodes).filter(|(_, node)| node.class == START_CLASS).map(|(index, _)| index);
        let start = candidates
            .max_by_key(|index| state.count_reachable(&all.out, *index, u32::MAX))
            .ok_or("no tank in the drawing")?;
        let start_id = nodes[start as usize].id.to_string();
        Ok(Self { all, flow, start, start_id, state, second_state })
    }
}

impl Edge<'_> {
    /// Returns the arcs of an edge: both directions if its direction is unknown.
    fn arcs(&self, indices: &HashMap<&str, u32>) -> impl Iterator<Item = [u32; 2]> + use<> {
        let ends = [indices[self.source], indices[self.target]];
        let (along, against) = (self.direction != "backward", self.direction != "forward");
        [along.then_some(ends), against.then_some([ends[1], ends[0]])].into_iter().flatten()
    }
}

impl Network {
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
        let both_directions: Vec<[u32; 2]> = arcs.iter().flat_map(|[from, to]| [[*from, *to], [*to, *from]]).collect();
        let (out, both) = (Adjacency::new(nodes, &arcs), Adjacency::new(nodes, &both_directions));
        Self { out, both, arcs, directed, undirected }
    }

    fn weak_components(&self) -> Components {
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
        Components { component_of: parent, count: count as usize }
    }
}

/// Connected components of a network.
struct Components {
    /// By node: the index of its component.
    component_of: Vec<u32>,
    count: usize,
}

impl Components {
    /// Lists the nodes of each component, and counts the lists.
    fn count_lists(&self) -> i64 {
        let mut next = vec![0; self.count + 1];
        self.component_of.iter().for_each(|component| next[*component as usize + 1] += 1);
        for component in 0..self.count {
            next[component + 1] += next[component];
        }
        let mut members = vec![0; self.component_of.len()];
        for (node, component) in (0..).zip(&self.component_of) {
            members[next[*component as usize] as usize] = node;
            next[*component as usize] += 1;
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

/// Compressed adjacency lists: the neighbors of each node, and the edges to them.
struct Adjacency {
    first: Vec<u32>,
    targets: Vec<u32>,
    edges: Vec<u32>,
}

impl Adjacency {
    fn new(nodes: usize, arcs: &[[u32; 2]]) -> Self {
        let mut first = vec![0; nodes + 1];
        arcs.iter().for_each(|[from, _]| first[*from as usize + 1] += 1);
        for node in 0..nodes {
            first[node + 1] += first[node];
        }
        let mut next = first.clone();
        let (mut targets, mut edges) = (vec![0; arcs.len()], vec![0; arcs.len()]);
        for ([from, to], edge) in arcs.iter().zip(0..) {
            let place = next[*from as usize] as usize;
            (targets[place], edges[place]) = (*to, edge);
            next[*from as usize] += 1;
        }
        Self { first, targets, edges }
    }

    fn len(&self) -> usize {
        self.first.len() - 1
    }

    fn neighbors(&self, node: u32) -> &[u32] {
        &self.targets[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }

    /// Returns the first edge from a node to a neighbor.
    fn edge(&self, from: u32, to: u32) -> Option<u32> {
        let place = self.neighbors(from).iter().position(|target| *target == to)?;
        Some(self.edges[self.first[from as usize] as usize + place])
    }
}

/// State of a search. A new search invalidates the visited marks by its epoch instead of clearing them.
struct SearchState {
    stamps: Vec<u32>,
    epoch: u32,
    queue: Vec<u32>,
    /// By node: predecessor in a route search.
    predecessors: Vec<u32>,
}

impl SearchState {
    fn new(nodes: usize) -> Self {
        Self { stamps: vec![0; nodes], epoch: 0, queue: Vec::with_capacity(nodes), predecessors: vec![0; nodes] }
    }

    /// Starts a new search at a node.
    fn restart(&mut self, node: u32) {
        self.epoch += 1;
        self.queue.clear();
        self.visit(node);
    }

    fn visit(&mut self, node: u32) {
        if self.stamps[node as usize] != self.epoch {
            self.stamps[node as usize] = self.epoch;
            self.queue.push(node);
        }
    }

    fn visit_from(&mut self, node: u32, predecessor: u32) {
        if !self.is_visited(node) {
            self.predecessors[node as usize] = predecessor;
            self.visit(node);
        }
    }

    fn is_visited(&self, node: u32) -> bool {
        self.stamps[node as usize] == self.epoch
    }

    /// Returns the nodes from one back to the start of the search, which comes last.
    fn path_to_start(&self, node: u32) -> impl Iterator<Item = u32> {
        let predecessor = |node: &u32| (*node != self.queue[0]).then(|| self.predecessors[*node as usize]);
        std::iter::successors(Some(node), predecessor)
    }

    /// Counts the nodes within a number of steps, including the first one.
    fn count_reachable(&mut self, adjacency: &Adjacency, from: u32, steps: u32) -> usize {
        self.restart(from);
        let (mut at, mut step) = (0, 0);
        while at < self.queue.len() && step < steps {
            let end = self.queue.len();
            while at < end {
                adjacency.neighbors(self.queue[at]).iter().for_each(|next| self.visit(*next));
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
fn route(adjacency: &Adjacency, [start, end]: [&mut SearchState; 2], from: u32, to: u32) -> Option<Route> {
    start.restart(from);
    end.restart(to);
    let middle = if from == to { Some([from, from]) } else { find_meeting_edge(adjacency, [&mut *start, &mut *end]) };
    middle.map(|[node, neighbor]| {
        let (ahead, back) =
            if start.is_visited(node) && end.is_visited(neighbor) { (node, neighbor) } else { (neighbor, node) };
        let mut nodes: Vec<u32> = start.path_to_start(ahead).collect();
        nodes.reverse();
        nodes.extend(end.path_to_start(back).skip(usize::from(ahead == back)));
        let edges = nodes.windows(2).filter_map(|pair| adjacency.edge(pair[0], pair[1])).collect();
        Route { edges, _nodes: nodes }
    })
}

/// Returns two adjacent nodes, each reached from a different end.
fn find_meeting_edge(adjacency: &Adjacency, [mut near, mut far]: [&mut SearchState; 2]) -> Option<[u32; 2]> {
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
            for next in adjacency.neighbors(node) {
                if far.is_visited(*next) {
                    return Some([node, *next]);
                }
                near.visit_from(*next, node);
            }
            near_at += 1;
        }
    }
}

/// Strongly connected components by Tarjan (1972), without recursion.
fn strong_components(adjacency: &Adjacency) -> Components {
    let count = adjacency.len();
    let mut index = vec![0_u32; count];
    let mut low = vec![0_u32; count];
    let mut is_on_stack = vec![false; count];
    let mut component_of = vec![0_u32; count];
    let (mut stack, mut call_stack, mut next, mut components) = (Vec::new(), Vec::new(), 1, 0);
    for start in 0..count as u32 {
        if index[start as usize] != 0 {
            continue;
        }
        call_stack.push((start, 0));
        while let Some((node, at)) = call_stack.pop() {
            let i = node as usize;
            if at == 0 {
                index[i] = next;
                low[i] = next;
                next += 1;
                stack.push(node);
                is_on_stack[i] = true;
            }
            if let Some(target) = adjacency.neighbors(node).get(at) {
                call_stack.push((node, at + 1));
                if index[*target as usize] == 0 {
                    call_stack.push((*target, 0));
                } else if is_on_stack[*target as usize] {
                    low[i] = low[i].min(index[*target as usize]);
                }
                continue;
            }
            if low[i] == index[i] {
                components += 1;
                while let Some(member) = stack.pop() {
                    is_on_stack[member as usize] = false;
                    component_of[member as usize] = components - 1;
                    if member == node {
                        break;
                    }
                }
            }
            if let Some((parent, _)) = call_stack.last() {
                low[*parent as usize] = low[*parent as usize].min(low[i]);
            }
        }
    }
    Components { component_of, count: components as usize }
}

/// Counts the nodes within a few hops, including the first one.
fn hops(graph: &UnGraph<(), ()>, from: NodeIndex) -> i64 {
    let mut visited = graph.visit_map();
    visited.visit(from);
    let (mut level, mut count) = (vec![from], 1);
    for _ in 0..HOPS {
        level = level.iter().flat_map(|node| graph.neighbors(*node)).filter(|next| visited.visit(*next)).collect();
        count += level.len() as i64;
    }
    count
}
