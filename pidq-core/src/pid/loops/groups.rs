//! Groups of instruments with tags, which form a loop or a part of one.

use crate::graph::adjacency::NodeId;
use crate::pid::tag::{Protection, Tag};

/// Key that groups instruments: measured variable, number, and protection.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Key {
    pub variable: String,
    pub is_protective: bool,
}

impl Key {
    pub fn new(tag: &Tag, stated: Option<Protection>) -> Key {
        Key { variable: tag.variable_id(), is_protective: stated.is_some() }
    }
}

/// An instrument with a tag.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub node: NodeId,
    pub tag: Tag,
    pub protection: Option<Protection>,
}

/// Instruments that form a loop.
#[derive(Debug)]
pub(super) struct Group {
    pub key: Key,
    /// Suffix of the train; empty if the suffix does not distinguish loops.
    pub suffix: String,
    pub items: Vec<Item>,
}

impl Group {
    /// Returns the loop in the tag of the first item that states the most about protection: of the letters of a safety
    /// instrumented function, one may have the modifier in its tag, as in `PZT-1` and `PSHH-1`. Where a difference and
    /// its variable are united, the controller decides, or else the difference.
    pub fn name(&self) -> String {
        let is_difference = |item: &&Item| item.tag.measures_difference();
        let is_mixed =
            self.items.iter().any(|item| is_difference(&item)) && !self.items.iter().all(|item| is_difference(&item));
        let rank = |item: &Item| {
            let controls = is_mixed && item.tag.split().1.contains(&'C');
            (item.protection, controls, is_mixed && is_difference(&item))
        };
        let mut best: Option<&Item> = None;
        for item in &self.items {
            if best.is_none_or(|known| rank(item) > rank(known)) {
                best = Some(item);
            }
        }
        format!("{}{}", best.map(|item| item.tag.loop_id()).unwrap_or_default(), self.suffix)
    }

    pub fn protection(&self) -> Option<Protection> {
        self.items.iter().filter_map(|item| item.protection).max()
    }
}

/// A loop of one or more groups, and the groups that it consists of.
#[derive(Debug)]
pub(super) struct United {
    pub name: String,
    pub protection: Option<Protection>,
    pub members: Vec<NodeId>,
    pub parts: Vec<(Key, String)>,
}
