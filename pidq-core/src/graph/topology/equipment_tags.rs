//! Equipment by its tag in any spelling: case, blanks and hyphens do not tell equipment apart.

use hashbrown::HashMap;

use crate::graph::adjacency::NodeId;
use crate::graph::config::MAX_CLASS;
use crate::graph::tag_spelling;

/// Equipment by the spelling of its tags.
#[derive(Debug, Default)]
pub(crate) struct EquipmentTags(HashMap<String, Vec<NodeId>>);

impl EquipmentTags {
    /// Collects equipment with its tags.
    pub fn new<'a>(equipment: impl Iterator<Item = (NodeId, &'a str)>) -> EquipmentTags {
        let mut found: HashMap<String, Vec<NodeId>> = HashMap::new();
        for (node, tag) in equipment {
            if let Some(tag) = spelling_of(tag) {
                found.entry(tag).or_default().push(node);
            }
        }
        EquipmentTags(found)
    }

    /// Returns the equipment with a tag, in the order of the drawing.
    pub fn equipment(&self, tag: &str) -> &[NodeId] {
        spelling_of(tag).and_then(|tag| self.0.get(&tag)).map_or(&[], Vec::as_slice)
    }

    /// Returns the equipment that the tag of a nozzle names, with or without its own number behind it: `V-1` for `V-1-N2`,
    /// `v1/N2`, `N2 (V-1)` and `N2 of V-1`.
    pub fn of_nozzle(&self, tag: &str) -> &[NodeId] {
        let is_separator = |c: char| matches!(c, '-' | '/' | '.' | ':' | '_' | ' ' | '@' | '(' | ')');
        let before = tag.trim_end_matches(is_separator).rfind(is_separator).map(|at| &tag[..at]);
        let after = tag.find(is_separator).map(|at| tag[at..].trim_matches(is_separator));
        let owner = tag.split_once(" of ").map(|(_, owner)| owner);
        let named = [before, after, owner].into_iter().flatten().map(|tag| tag.trim_matches(is_separator));
        named.map(|tag| self.equipment(tag)).find(|found| !found.is_empty()).unwrap_or_default()
    }
}

/// Words behind the tag of equipment that is drawn in several places.
const PLACES: &[&str] = &[
    "bottom",
    "cont",
    "contd",
    "cont'd",
    "continued",
    "lower",
    "middle",
    "of",
    "part",
    "ref",
    "section",
    "sh",
    "sheet",
    "sht",
    "top",
    "typ",
    "upper",
];

/// Returns a tag without what follows it in brackets, on a further line or in words for a part of the equipment, such as
/// `V-1 (CONT.)` and `V-1 BOTTOM SECTION`, in the spelling that all tags share which differ only in case, blanks, dots and
/// hyphens.
fn spelling_of(tag: &str) -> Option<String> {
    let tag = tag.trim().trim_start_matches('*');
    let tag = tag.split(['(', '[', '\n', '\r']).next().filter(|tag| tag.len() <= MAX_CLASS)?;
    let mut words: Vec<&str> = tag.split_whitespace().collect();
    let is_place = |word: &str| PLACES.contains(&&*word.trim_end_matches('.').to_lowercase());
    // A number belongs to the word before it: `SHT 2`.
    while words.len() > 1 {
        let last = words[words.len() - 1];
        let is_numbered = last.chars().all(|c| c.is_ascii_digit()) && is_place(words[words.len() - 2]);
        if !is_place(last) && !is_numbered {
            break;
        }
        words.pop();
    }
    Some(tag_spelling::normalized(&words.concat())).filter(|tag| !tag.is_empty())
}
