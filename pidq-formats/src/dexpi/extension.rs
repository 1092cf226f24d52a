//! Extension of DEXPI 2.0 for what its information model cannot say: the ids and members of the graph.
//!
//! A file that imports the model [`SOURCE`] under the prefix [`PREFIX`] may have, on any object, `Data` with a property
//! `Pidq/NAME`: the member `NAME` of the node, edge, metadata or graphical element, as JSON text, or `Undefined` if it
//! has none. Ids and names are encoded, since those of DEXPI consist of letters, digits and `_`.

use std::fmt::Write;

use crate::xml::{Element, Tree};

/// Prefix of the extension.
pub const PREFIX: &str = "Pidq";
/// Address of the extension, by which it is recognized.
pub const SOURCE: &str = "https://github.com/pidq/pidq/dexpi-extension/1";
/// Start of an id of an object that has none in the graph. No encoded id starts with it.
pub const GENERATED: &str = "_x_";
/// Property of the plant with nodes that are not items, or differ from those that are read, as JSON text.
pub const NODES: &str = "pidq_nodes";
/// Property of the plant with edges that are not pipes, signals or associations, or differ from those, as JSON text.
pub const EDGES: &str = "pidq_edges";
/// Property of the plant with the ids of nodes that are read although the graph does not have them, as JSON text.
pub const ABSENT_NODES: &str = "pidq_absent_nodes";
/// Property of the plant with the kinds and ends of edges that are read although the graph does not have them.
pub const ABSENT_EDGES: &str = "pidq_absent_edges";
/// Members of an attribute in a list of attributes: its place among those that are read, and what it does not have.
pub const PLACE: &str = "pidq_place";
pub const WITHOUT: &str = "pidq_without";
/// Property with the name of the Proteus element of an object.
pub const ELEMENT: &str = "pidq_element";
/// Property with the graphical groups that enclose an element inside the group that is drawn.
pub const GROUPS: &str = "pidq_groups";
/// Maximum nesting of graphical groups.
pub const MAX_GROUPS: usize = 16;
/// Attribute of an object in memory: its id as written.
const WRITTEN_ID: &str = "written id";

/// Encodes a text as a name: other characters than letters and digits become `_x` with their number and `_`.
pub fn encode(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let is_plain = match c {
            '_' => characters.peek() != Some(&'x'),
            c if name.is_empty() => c.is_ascii_alphabetic(),
            c => c.is_ascii_alphanumeric(),
        };
        match is_plain {
            true => name.push(c),
            // Writing to a `String` cannot fail.
            false => drop(write!(name, "_x{:X}_", c as u32)),
        }
    }
    if name.is_empty() {
        name.push_str("_x0_");
    }
    name
}

/// Decodes a name that [`encode`] returned. Other names stay as they are.
pub fn decode(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find("_x") {
        text.push_str(&rest[..at]);
        let code = &rest[at + 2..];
        let end = code.find('_').filter(|end| (1..=6).contains(end));
        let character =
            end.and_then(|end| u32::from_str_radix(&code[..end], 16).ok().and_then(char::from_u32).map(|c| (c, end)));
        match character {
            Some((c, end)) => {
                text.extend((c != '\0').then_some(c));
                rest = &code[end + 1..];
            }
            None => {
                text.push_str("_x");
                rest = code;
            }
        }
    }
    text.push_str(rest);
    text
}

/// Returns true if a file uses the extension.
pub fn is_used(tree: &Tree) -> bool {
    if tree.elements.is_empty() {
        return false;
    }
    let mut imports = tree.named(0, "Import");
    imports.any(|(_, import)| import.get("prefix") == Some(PREFIX) && import.get("source") == Some(SOURCE))
}

/// Decodes the ids of the objects of a file that uses the extension, and keeps those that are written.
pub fn decode_ids(tree: &mut Tree) {
    if !is_used(tree) {
        return;
    }
    for element in tree.elements.iter_mut().filter(|element| element.name == "Object") {
        let Some((_, id)) = element.attributes.iter_mut().find(|(name, _)| name == "id") else { continue };
        if !id.starts_with(GENERATED) {
            let written = std::mem::take(id);
            *id = decode(&written);
            element.attributes.push((WRITTEN_ID.to_owned(), written));
        }
    }
}

/// Returns the id of an object as it was written, if it was decoded.
pub fn written_id(element: &Element) -> Option<&str> {
    element.get(WRITTEN_ID)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_has_a_name_of_its_own_that_decodes_to_it() {
        let texts = [
            "A",
            "",
            "a-b",
            "a#2",
            "1",
            "_",
            "_x",
            "__x2D_",
            "_x2D_",
            "x2D_",
            "-x2D_",
            "P 101/A",
            "ü\u{1F600}",
            "a_b",
            "_x_1",
            "\n\t",
            "-",
            "--",
            "a_-",
            "_xZZ_",
            "_x110000_",
            "_x0_",
        ];
        let names: Vec<String> = texts.iter().map(|text| encode(text)).collect();
        for (text, name) in texts.iter().zip(&names) {
            assert_eq!(decode(name), *text, "{name}");
            let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            assert!(is_name && !name.starts_with(|c: char| c.is_ascii_digit()), "{name}");
            assert!(!name.starts_with(GENERATED), "{name}");
            assert_eq!(names.iter().filter(|other| *other == name).count(), 1, "{name}");
        }
        assert_eq!(encode("V-101"), "V_x2D_101");
    }
}
