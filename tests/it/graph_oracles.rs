//! Tests of traversals, routes and components on random graphs, against simple reference algorithms.

use pidq::Graph;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::graph;
use crate::properties::cases;

/// Returns a document with numbered nodes and edges as pairs of numbers.
fn document(count: usize, edges: &[(usize, usize)]) -> String {
    let nodes: Vec<Value> = (0..count).map(|id| json!({ "id": id })).collect();
    let edges: Vec<Value> =
        edges.iter().enumerate().map(|(id, (from, to))| json!({"id": id, "from": from, "to": to})).collect();
    json!({ "nodes": nodes, "edges": edges }).to_string()
}

fn evaluate(graph: &Graph, query: &str) -> Value {
    graph::evaluate(graph, query, "{}").unwrap_or_else(|error| panic!("{query}: {error}"))
}

/// Returns for each node the reachable nodes, including itself.
fn reachable(count: usize, edges: &[(usize, usize)]) -> Vec<Vec<bool>> {
    let mut reached: Vec<Vec<bool>> = (0..count).map(|a| (0..count).map(|b| a == b).collect()).collect();
    for _ in 0..count {
        for (from, to) in edges {
            for row in &mut reached {
                row[*to] |= row[*from];
            }
        }
    }
    reached
}

/// Returns for each pair of nodes the length of the shortest path (Floyd-Warshall).
fn distances(count: usize, edges: &[(usize, usize)]) -> Vec<Vec<Option<usize>>> {
    let mut distance: Vec<Vec<Option<usize>>> = vec![vec![None; count]; count];
    edges.iter().for_each(|(from, to)| distance[*from][*to] = Some(1));
    (0..count).for_each(|node| distance[node][node] = Some(0));
    for middle in 0..count {
        for from in 0..count {
            for to in 0..count {
                let through = distance[from][middle].zip(distance[middle][to]).map(|(a, b)| a + b);
                distance[from][to] = [distance[from][to], through].into_iter().flatten().min();
            }
        }
    }
    distance
}

/// Returns the classes of an equivalence relation, each ascending, in the order of their first nodes.
fn equivalence_classes(count: usize, same: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut classes: Vec<Vec<usize>> = Vec::new();
    for node in 0..count {
        match classes.iter_mut().find(|class| same(class[0], node)) {
            Some(class) => class.push(node),
            None => classes.push(vec![node]),
        }
    }
    classes
}

fn both_ways(edges: &[(usize, usize)]) -> Vec<(usize, usize)> {
    edges.iter().flat_map(|(from, to)| [(*from, *to), (*to, *from)]).collect()
}

/// Returns the number of connected components, optionally without one node.
fn components_without(count: usize, edges: &[(usize, usize)], removed: Option<usize>) -> usize {
    let remaining: Vec<(usize, usize)> =
        edges.iter().copied().filter(|(from, to)| ![Some(*from), Some(*to)].contains(&removed)).collect();
    let reached = reachable(count, &both_ways(&remaining));
    let all = equivalence_classes(count, |a, b| reached[a][b]).len();
    all - usize::from(removed.is_some())
}

/// Returns all simple paths as lists of edges: shortest first, then by their edges.
fn simple_paths(edges: &[(usize, usize)], from: usize, to: usize) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let mut stack = vec![(vec![from], Vec::new())];
    while let Some((nodes, path)) = stack.pop() {
        let last = *nodes.last().expect("a start");
        if last == to {
            found.push(path);
            continue;
        }
        for (id, (_, next)) in edges.iter().enumerate().filter(|(_, (from, _))| *from == last) {
            if !nodes.contains(next) {
                stack.push(([nodes.as_slice(), &[*next]].concat(), [path.as_slice(), &[id]].concat()));
            }
        }
    }
    found.sort_by_key(|path: &Vec<usize>| (path.len(), path.clone()));
    found
}

/// Returns the simple cycles, each by its nodes from the smallest on; parallel edges count as one.
fn simple_cycles(count: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut found = std::collections::BTreeSet::new();
    for start in 0..count {
        let mut stack = vec![vec![start]];
        while let Some(nodes) = stack.pop() {
            let last = *nodes.last().expect("a start");
            for (_, next) in edges.iter().filter(|(from, _)| *from == last) {
                if *next == start {
                    found.insert(nodes.clone());
                } else if *next > start && !nodes.contains(next) {
                    stack.push([nodes.as_slice(), &[*next]].concat());
                }
            }
        }
    }
    found.into_iter().collect()
}

fn any_graph() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
    (1usize..9).prop_flat_map(|count| (Just(count), prop::collection::vec((0..count, 0..count), 0..16)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(150), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn traversals_find_the_reachable_nodes((count, edges) in any_graph()) {
        let graph = Graph::from_json(document(count, &edges)).expect("JSON");
        let reached = reachable(count, &edges);
        let distance = distances(count, &edges);
        for from in 0..count {
            let trace = evaluate(&graph, &format!("trace({from}) | map([.node.id, .depth])"));
            let mut found: Vec<(u64, u64)> = serde_json::from_value(trace).expect("pairs");
            prop_assert!(found.windows(2).all(|pair| pair[0].1 <= pair[1].1), "breadth first");
            found.sort_unstable();
            let expected: Vec<(u64, u64)> = (0..count).filter(|to| reached[from][*to])
                .map(|to| (to as u64, distance[from][to].expect("reached") as u64)).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn components_are_those_of_mutual_reachability((count, edges) in any_graph()) {
        let graph = Graph::from_json(document(count, &edges)).expect("JSON");
        let weak = reachable(count, &both_ways(&edges));
        let strong = reachable(count, &edges);
        let weak_parts = equivalence_classes(count, |a, b| weak[a][b]);
        let strong_parts = equivalence_classes(count, |a, b| strong[a][b] && strong[b][a]);
        prop_assert_eq!(evaluate(&graph, "components() | map(map(.id))"), json!(weak_parts));
        prop_assert_eq!(evaluate(&graph, "components({edges: true}) | map(map(.id))"), json!(weak_parts));
        prop_assert_eq!(evaluate(&graph, "components({strong: true}) | map(map(.id))"), json!(strong_parts));
        prop_assert_eq!(evaluate(&graph, "components({strong: true, edges: true}) | map(map(.id))"), json!(strong_parts));
    }

    #[test]
    fn a_cut_point_increases_the_number_of_components((count, edges) in any_graph()) {
        let graph = Graph::from_json(document(count, &edges)).expect("JSON");
        let all_components = components_without(count, &edges, None);
        let is_alone = |node: usize| edges.iter().all(|(from, to)| (*from != node && *to != node) || from == to);
        let cuts: Vec<usize> = (0..count)
            .filter(|node| components_without(count, &edges, Some(*node)) > all_components - usize::from(is_alone(*node))).collect();
        prop_assert_eq!(evaluate(&graph, "cutPoints() | map(.id)"), json!(cuts));
    }

    #[test]
    fn all_routes_are_found_in_order((count, edges) in any_graph()) {
        let graph = Graph::from_json(document(count, &edges)).expect("JSON");
        let to = count - 1;
        let all = simple_paths(&edges, 0, to);
        let found = evaluate(&graph, &format!("paths(0, {to}, {{limit: 100000}}) | map(.edges | map(.id))"));
        prop_assert_eq!(&found, &json!(all));
        let shortest = evaluate(&graph, &format!("shortestPath(0, {to}) | if(. == null, null, .edges | map(.id))"));
        prop_assert_eq!(&shortest, &all.first().map_or(Value::Null, |path| json!(path)));
        let cheapest = evaluate(&graph, &format!("shortestPath(0, {to}, {{weight: .id + 1}}) | if(. == null, null, .cost)"));
        let costs = all.iter().map(|path| path.iter().map(|id| id + 1).sum::<usize>());
        prop_assert_eq!(cheapest.as_f64(), costs.min().map(|cost| cost as f64));
        prop_assert_eq!(evaluate(&graph, &format!("reachable(0, {to})")), json!(!all.is_empty()));
    }

    #[test]
    fn all_cycles_are_found_once((count, edges) in any_graph()) {
        let graph = Graph::from_json(document(count, &edges)).expect("JSON");
        let found = evaluate(&graph, "cycles({limit: 100000}) | map(.nodes | map(.id))");
        let mut found: Vec<Vec<usize>> = serde_json::from_value(found).expect("lists");
        found.sort_unstable();
        prop_assert_eq!(found, simple_cycles(count, &edges));
    }

    #[test]
    fn nodes_between_are_on_a_simple_path((count, edges) in any_graph()) {
        let graph = Graph::from_json(document(count, &edges)).expect("JSON");
        let to = count - 1;
        // Without edges into the start or out of the target.
        let inner: Vec<(usize, usize)> = edges.iter().copied().filter(|(from, end)| *end != 0 && *from != to).collect();
        let reached = reachable(count, &inner);
        let mut expected: Vec<usize> = (0..count).filter(|node| reached[0][*node] && reached[*node][to]).collect();
        if to == 0 { expected = vec![0]; }
        let found = evaluate(&graph, &format!("between(0, {to}) | map(.id)"));
        let mut found: Vec<usize> = serde_json::from_value(found).expect("a list");
        found.sort_unstable();
        prop_assert_eq!(found, expected);
    }

    /// A walk that leaves out what is not there is a walk on the rest of the graph, whatever its start is.
    #[test]
    fn walks_leave_out_what_is_absent((count, edges) in any_graph(), states in prop::collection::vec(0..4usize, 24)) {
        let node_states = ["existing", "removed", "phase 2", "future"];
        let edge_states = ["existing", "blanked", "phase 2", "demolished"];
        let is_absent = |state: usize| state % 2 == 1;
        let mut document: Value = serde_json::from_str(&document(count, &edges)).expect("JSON");
        for (at, node) in document["nodes"].as_array_mut().expect("a list").iter_mut().enumerate() {
            node["status"] = json!(node_states[states[at]]);
        }
        for (at, edge) in document["edges"].as_array_mut().expect("a list").iter_mut().enumerate() {
            edge["status"] = json!(edge_states[states[8 + at]]);
        }
        let graph = Graph::from_json(document.to_string()).expect("JSON");
        for from in 0..count {
            let is_left_out = |node: usize| node != from && is_absent(states[node]);
            let rest: Vec<(usize, usize)> = edges.iter().enumerate()
                .filter(|(at, (a, b))| !is_absent(states[8 + at]) && !is_left_out(*a) && !is_left_out(*b))
                .map(|(_, edge)| *edge).collect();
            let (reached, distance) = (reachable(count, &rest), distances(count, &rest));
            let trace = evaluate(&graph, &format!(r#"trace({from}, {{absent: "avoid"}}) | map([.node.id, .depth])"#));
            let mut found: Vec<(u64, u64)> = serde_json::from_value(trace).expect("pairs");
            found.sort_unstable();
            let expected: Vec<(u64, u64)> = (0..count).filter(|to| reached[from][*to])
                .map(|to| (to as u64, distance[from][to].expect("reached") as u64)).collect();
            prop_assert_eq!(found, expected);
            for to in (0..count).filter(|to| !is_left_out(*to)) {
                let options = r#"{absent: "avoid", limit: 100000}"#;
                let all = simple_paths(&rest, from, to);
                prop_assert_eq!(evaluate(&graph, &format!("paths({from}, {to}, {options}) | size()")), json!(all.len()));
                let reachable = evaluate(&graph, &format!(r#"reachable({from}, {to}, {{absent: "avoid"}})"#));
                prop_assert_eq!(reachable, json!(!all.is_empty()));
            }
        }
    }

    /// A traversal with a predicate returns the same nodes and warnings as the fast one without.
    #[test]
    fn fast_traversals_equal_filtered_ones((count, edges) in any_graph(), assumed in prop::collection::vec(0..4u8, 16)) {
        let direction = |at: usize| ["forward", "backward", "both", "unknown"][assumed[at] as usize];
        let mut document: Value = serde_json::from_str(&document(count, &edges)).expect("JSON");
        for (at, edge) in document["edges"].as_array_mut().expect("a list").iter_mut().enumerate() {
            edge["direction"] = json!(direction(at));
        }
        let graph = Graph::from_json(document.to_string()).expect("JSON");
        for from in 0..count {
            for walk in ["downstream", "upstream", "connected"] {
                let [plain, filtered] = ["", ", {until: false}"].map(|options| evaluate_with_warnings(&graph, &format!("{walk}({from}{options})")));
                prop_assert_eq!(plain, filtered);
            }
            let traced = evaluate(&graph, &format!("trace({from}) | filter(.assumed) | size()"));
            let (_, warnings) = evaluate_with_warnings(&graph, &format!("downstream({from})"));
            prop_assert_eq!(warnings.is_empty(), traced == 0);
        }
    }
}

/// Returns a result and its warnings about assumed directions.
fn evaluate_with_warnings(graph: &Graph, query: &str) -> (Vec<u8>, Vec<String>) {
    let query = pidq::Query::parse(query).expect("valid query");
    let scratch = pidq::Scratch::new();
    let outcome = query.run(graph, &scratch, pidq::Limits::default()).expect("it runs");
    let mut json = Vec::new();
    outcome.write_json(&mut json).expect("it fits");
    let warnings = outcome.warnings.into_iter().filter(|warning| warning.code == "PQW08");
    (json, warnings.map(|warning| warning.message).collect())
}
