//! Piping network segments: the order of their items along their pipes.

use std::collections::HashMap;

use super::objects::Objects;

/// Ends of a pipe or of a segment: items and nodes by id.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ends<'t> {
    pub source: Option<&'t str>,
    pub source_node: Option<&'t str>,
    pub target: Option<&'t str>,
    pub target_node: Option<&'t str>,
}

impl<'t> Ends<'t> {
    pub fn of(objects: &Objects<'t>, object: usize) -> Ends<'t> {
        Ends {
            source: objects.reference(object, "SourceItem"),
            source_node: objects.reference(object, "SourceNode"),
            target: objects.reference(object, "TargetItem"),
            target_node: objects.reference(object, "TargetNode"),
        }
    }
}

/// Pipes of a segment as one run.
#[derive(Debug, PartialEq)]
pub struct Run {
    /// Indices of the pipes in flow order.
    pub pipes: Vec<usize>,
    /// Indices of the items in flow order.
    pub items: Vec<usize>,
}

/// Orders the pipes and items of a segment along the flow; `None` if the pipes are not a single run through all items.
pub fn run<'t>(pipes: &[Ends<'t>], items: &[Option<&'t str>]) -> Option<Run> {
    let mut by_source: HashMap<&str, usize> = HashMap::new();
    let mut targets: HashMap<&str, usize> = HashMap::new();
    for (index, pipe) in pipes.iter().enumerate() {
        let is_new = pipe.source.is_none_or(|source| by_source.insert(source, index).is_none())
            && pipe.target.is_none_or(|target| targets.insert(target, index).is_none());
        if !is_new {
            return None;
        }
    }
    let is_first = |pipe: &&Ends<'_>| pipe.source.is_none_or(|source| !targets.contains_key(source));
    let mut firsts = pipes.iter().filter(is_first);
    let (first, None) = (firsts.next()?, firsts.next()) else { return None };
    let item_indices: HashMap<&str, usize> =
        items.iter().enumerate().filter_map(|(index, id)| id.map(|id| (id, index))).collect();
    let mut run = Run { pipes: Vec::new(), items: Vec::new() };
    run.items.extend(first.source.and_then(|source| item_indices.get(source)));
    let mut next = pipes.iter().position(|pipe| pipe == first);
    while let Some(index) = next.filter(|_| run.pipes.len() < pipes.len()) {
        run.pipes.push(index);
        let target = pipes[index].target;
        run.items.extend(target.and_then(|target| item_indices.get(target)));
        next = target.and_then(|target| by_source.get(target)).copied();
    }
    (run.pipes.len() == pipes.len() && run.items.len() == items.len()).then_some(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipe<'t>(source: &'t str, target: &'t str) -> Ends<'t> {
        let some = |id: &'t str| Some(id).filter(|id| !id.is_empty());
        Ends { source: some(source), target: some(target), ..Ends::default() }
    }

    #[track_caller]
    fn check(pipes: &[(&str, &str)], items: &[&str], expected: Option<&[usize]>) {
        let pipes: Vec<Ends<'_>> = pipes.iter().map(|(source, target)| pipe(source, target)).collect();
        let items: Vec<Option<&str>> = items.iter().copied().map(Some).collect();
        assert_eq!(run(&pipes, &items).map(|run| run.items), expected.map(<[usize]>::to_vec));
    }

    #[test]
    fn items_are_in_the_order_of_the_pipes() {
        check(&[("T", "B"), ("B", "A"), ("A", "P")], &["A", "B"], Some(&[1, 0]));
        check(&[("A", "P"), ("B", "A"), ("T", "B")], &["A", "B"], Some(&[1, 0]));
        check(&[("A", "B")], &["A", "B"], Some(&[0, 1]));
        check(&[("", "A"), ("A", "")], &["A"], Some(&[0]));
        check(&[("T", "P")], &[], Some(&[]));
    }

    #[test]
    fn branches_cycles_and_items_without_pipes_are_no_single_run() {
        check(&[("T", "A"), ("A", "P"), ("A", "Q")], &["A"], None);
        check(&[("A", "B"), ("B", "A")], &["A", "B"], None);
        check(&[("T", "A"), ("B", "P")], &["A", "B"], None);
        check(&[("T", "A")], &["A", "B"], None);
        check(&[("A", "A")], &["A"], None);
        check(&[], &["A"], None);
    }
}
