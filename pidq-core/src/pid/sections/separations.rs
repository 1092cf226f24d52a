//! Closed items that separate one part with an inventory from another, and the parts behind closed drains.
//!
//! A section is divided at its closed items. A part without equipment and without an end of the section holds nothing of its
//! own: what leads to it only is a drain, a vent or a spare connection.

use hashbrown::{HashMap, HashSet};

use crate::graph::adjacency::NodeId;

/// Closed items of a section and the parts between them, as a graph: each closed item is a part of its own.
#[derive(Default)]
pub(super) struct Separations {
    around: HashMap<u32, HashSet<u32>>,
    closed: Vec<(NodeId, u32)>,
}

impl Separations {
    /// Adds a closed item, its own part and those beside it.
    pub fn add(&mut self, item: NodeId, own: u32, beside: &[u32]) {
        self.closed.push((item, own));
        for side in beside.iter().copied().filter(|side| *side != own) {
            self.around.entry(own).or_default().insert(side);
            self.around.entry(side).or_default().insert(own);
        }
    }

    /// Returns the closed items on a way from one part with content to another one, in the order in which they were added.
    pub fn separating(mut self, has_content: impl Fn(u32) -> bool) -> Vec<NodeId> {
        self.remove_dead_ends(&has_content);
        let between = self.between_parts(&has_content);
        self.closed.iter().filter(|(_, own)| between.contains(own)).map(|(item, _)| *item).collect()
    }

    /// Removes what leads to nothing: parts without content that are beside one other part only.
    fn remove_dead_ends(&mut self, has_content: &impl Fn(u32) -> bool) {
        let mut queue: Vec<u32> = self.around.keys().copied().collect();
        while let Some(part) = queue.pop() {
            let is_end = self.around.get(&part).is_some_and(|around| around.len() < 2) && !has_content(part);
            let around = if is_end { self.around.remove(&part).unwrap_or_default() } else { HashSet::new() };
            for next in around {
                if let Some(others) = self.around.get_mut(&next) {
                    others.remove(&part);
                    queue.push(next);
                }
            }
        }
    }

    /// Returns the parts without content that are between two parts with it.
    fn between_parts(&self, has_content: &impl Fn(u32) -> bool) -> HashSet<u32> {
        let (mut seen, mut between) = (HashSet::new(), HashSet::new());
        for start in self.around.keys().copied().filter(|part| !has_content(*part)) {
            if !seen.insert(start) {
                continue;
            }
            let (mut group, mut reached, mut at) = (vec![start], HashSet::new(), 0);
            while let Some(part) = group.get(at).copied() {
                at += 1;
                for next in self.around.get(&part).into_iter().flatten().copied() {
                    if has_content(next) {
                        reached.insert(next);
                    } else if seen.insert(next) {
                        group.push(next);
                    }
                }
            }
            if reached.len() > 1 {
                between.extend(group);
            }
        }
        between
    }
}

#[cfg(test)]
mod tests {
    use super::Separations;

    /// Returns the items that separate the parts from 100 on, which have content. Each item is the part with its number.
    fn separating(items: &[(u32, &[u32])]) -> Vec<u32> {
        let mut separations = Separations::default();
        items.iter().for_each(|(item, beside)| separations.add(*item, *item, beside));
        separations.separating(|part| part >= 100)
    }

    #[test]
    fn an_item_between_two_parts_with_content_separates_them() {
        assert_eq!(separating(&[(1, &[100, 101])]), [1]);
        // Two in series, side by side or with a pipe between them.
        assert_eq!(separating(&[(1, &[100, 2]), (2, &[1, 101])]), [1, 2]);
        assert_eq!(separating(&[(1, &[100, 50]), (2, &[50, 101])]), [1, 2]);
    }

    #[test]
    fn a_drain_separates_nothing() {
        assert_eq!(separating(&[(1, &[100, 50])]), [0; 0]);
        assert_eq!(separating(&[(1, &[100])]), [0; 0]);
        // Beside an item that does, and between the two of it.
        assert_eq!(separating(&[(1, &[100, 101]), (2, &[100, 50])]), [1]);
        assert_eq!(separating(&[(1, &[100, 50]), (2, &[50, 101]), (3, &[50, 51])]), [1, 2]);
        // Two valves in series, and two drains of the same part to one pipe.
        assert_eq!(separating(&[(1, &[100, 50]), (2, &[50, 51])]), [0; 0]);
        assert_eq!(separating(&[(1, &[100, 50]), (2, &[100, 50])]), [0; 0]);
    }
}
