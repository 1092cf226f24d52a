//! Projection of a document: the tree of keys that a query reads.
//!
//! The tree does not distinguish arrays from their items: a node is a value, or each item of an array in its place.

/// Id of a node of the projection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ProjectionId(u32);

impl ProjectionId {
    /// The document.
    pub const ROOT: ProjectionId = ProjectionId(0);
    /// Any node that is included with all values below it.
    pub const ALL_VALUES: ProjectionId = ProjectionId(u32::MAX);
    /// Any node that is not included.
    pub const NO_VALUES: ProjectionId = ProjectionId(u32::MAX - 1);
}

/// The values of a document that a query reads. Objects on an included node keep all keys, but the values of keys that
/// are not nodes themselves are omitted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Projection {
    nodes: Vec<ProjectionNode>,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct ProjectionNode {
    includes_all: bool,
    keys: Vec<(Box<str>, ProjectionId)>,
}

/// Limit of nodes: a larger projection includes the whole document, since it would omit hardly anything.
const MAX_NODES: usize = 64;

impl Projection {
    /// The whole document.
    pub const ALL: Projection = Projection { nodes: Vec::new() };

    /// The outermost keys only.
    pub fn empty() -> Projection {
        Projection { nodes: vec![ProjectionNode::default()] }
    }

    /// Adds the node of a key and returns its id.
    pub fn add_key(&mut self, node: ProjectionId, key: &str) -> ProjectionId {
        if self.includes_all(node) {
            return ProjectionId::ALL_VALUES;
        }
        if let Some(cached) = self.find(node, key) {
            return cached;
        }
        if self.nodes.len() == MAX_NODES {
            self.include_all(node);
            return ProjectionId::ALL_VALUES;
        }
        let new = ProjectionId(self.nodes.len() as u32);
        self.nodes.push(ProjectionNode::default());
        self.nodes[node.0 as usize].keys.push((key.into(), new));
        new
    }

    /// Includes all values below a node.
    pub fn include_all(&mut self, node: ProjectionId) {
        if let Some(node) = self.nodes.get_mut(node.0 as usize) {
            *node = ProjectionNode { includes_all: true, keys: Vec::new() };
        }
    }

    /// Returns true if all values below a node are included.
    pub fn includes_all(&self, node: ProjectionId) -> bool {
        self.nodes.get(node.0 as usize).is_none_or(|node| node.includes_all)
    }

    /// Returns the node of a key, if it is included.
    pub fn find(&self, node: ProjectionId, key: &str) -> Option<ProjectionId> {
        let Some(ProjectionNode { includes_all: false, keys }) = self.nodes.get(node.0 as usize) else {
            return Some(ProjectionId::ALL_VALUES);
        };
        let (_, found) = keys.iter().find(|(cached, _)| **cached == *key)?;
        Some(if self.includes_all(*found) { ProjectionId::ALL_VALUES } else { *found })
    }
}

#[cfg(test)]
impl Projection {
    /// Returns the paths of the leaf nodes, marked with `*` if all values below are included.
    pub fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect_paths(ProjectionId::ROOT, "", &mut paths);
        paths
    }

    fn collect_paths(&self, node: ProjectionId, path: &str, paths: &mut Vec<String>) {
        let ProjectionNode { includes_all: is_whole, keys } = &self.nodes[node.0 as usize];
        if keys.is_empty() {
            paths.push(format!("{path}{}", if *is_whole { "*" } else { "" }));
        }
        for (key, inside) in keys {
            self.collect_paths(*inside, &format!("{path}.{key}"), paths);
        }
    }
}

/// Looks up projection nodes by the key transitions of a loader.
#[derive(Debug)]
pub(super) struct ProjectionMatcher<'w> {
    projection: &'w Projection,
    /// Results by transition and node.
    memo: Vec<Option<ProjectionId>>,
}

/// Limit of memoized results. Frequent keys occur early; a document with a million keys is looked up each time.
const MAX_MEMO: usize = 1 << 16;

impl<'w> ProjectionMatcher<'w> {
    pub fn new(projection: &'w Projection) -> ProjectionMatcher<'w> {
        ProjectionMatcher { projection, memo: Vec::new() }
    }

    /// Returns the node of the document.
    pub fn root(&self) -> ProjectionId {
        if self.projection.includes_all(ProjectionId::ROOT) { ProjectionId::ALL_VALUES } else { ProjectionId::ROOT }
    }

    /// Returns the node of the key of a transition.
    ///
    /// Hot: once per key.
    #[inline(always)]
    pub fn child<'k>(&mut self, node: ProjectionId, transition: u32, key: impl FnOnce() -> &'k str) -> ProjectionId {
        if node == ProjectionId::ALL_VALUES || node == ProjectionId::NO_VALUES {
            return node;
        }
        let index = transition as usize * self.projection.nodes.len() + node.0 as usize;
        match self.memo.get(index) {
            Some(Some(cached)) => *cached,
            _ => self.find_and_memoize(node, index, key()),
        }
    }

    #[inline(never)]
    fn find_and_memoize(&mut self, node: ProjectionId, index: usize, key: &str) -> ProjectionId {
        let found = self.projection.find(node, key).unwrap_or(ProjectionId::NO_VALUES);
        if index >= self.memo.len() && index < MAX_MEMO {
            self.memo.resize(index + 1, None);
        }
        if let Some(cached) = self.memo.get_mut(index) {
            *cached = Some(found);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_has_keys_or_includes_everything() {
        let mut projection = Projection::empty();
        let nodes = projection.add_key(ProjectionId::ROOT, "nodes");
        let tag = projection.add_key(nodes, "tag");
        assert_eq!(projection.add_key(nodes, "tag"), tag);
        assert_eq!(projection.find(nodes, "tag"), Some(tag));
        assert_eq!(projection.find(nodes, "id"), None);

        projection.include_all(nodes);
        assert_eq!(projection.find(ProjectionId::ROOT, "nodes"), Some(ProjectionId::ALL_VALUES));
        assert_eq!(projection.add_key(nodes, "id"), ProjectionId::ALL_VALUES);
    }

    #[test]
    fn a_projection_with_too_many_nodes_includes_everything() {
        let mut projection = Projection::empty();
        let last = (0..100).map(|at| projection.add_key(ProjectionId::ROOT, &at.to_string())).last();
        assert_eq!(last, Some(ProjectionId::ALL_VALUES));
        assert!(projection.includes_all(ProjectionId::ROOT));
    }
}
