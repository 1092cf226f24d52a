//! Identifiers of elements: XML requires a name, so that other characters are escaped, as in `T_x0020_1`.

use std::collections::HashSet;
use std::fmt::Write;

/// Returns an id as an XML name. Different ids have different names.
pub fn xml_id(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    for (index, c) in id.char_indices() {
        let is_start = c.is_ascii_alphabetic() || c == '_';
        let is_name = is_start || index > 0 && (c.is_ascii_digit() || c == '-' || c == '.');
        // The beginning of an escape is escaped, too.
        if is_name && !id[index..].starts_with("_x") {
            out.push(c);
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(out, "_x{:04X}_", u32::from(c));
        }
    }
    if out.is_empty() { "_x_".into() } else { out }
}

/// Ids of elements other than nodes, different from all others.
pub struct NewIds {
    used: HashSet<String>,
    /// Ids of edges, which only their elements may have.
    edges: HashSet<String>,
    count: usize,
}

impl NewIds {
    pub fn new(nodes: &[String], edges: impl Iterator<Item = String>) -> NewIds {
        NewIds { used: nodes.iter().cloned().collect(), edges: edges.collect(), count: 0 }
    }

    /// Takes an id for a part of an item. Returns false if it is taken.
    pub fn take(&mut self, id: &str) -> bool {
        !self.edges.contains(id) && self.used.insert(id.to_owned())
    }

    /// Takes an id for an edge. Returns false if it is taken.
    pub fn take_edge(&mut self, id: &str) -> bool {
        self.used.insert(id.to_owned())
    }

    /// Returns the next id with a given beginning.
    pub fn next(&mut self, base: &str) -> String {
        loop {
            self.count += 1;
            let id = format!("{base}-{}", self.count);
            if self.take(&id) {
                return id;
            }
        }
    }
}

/// Converts `centrifugal_pump` to `CentrifugalPump`.
pub fn camel_case(words: &str) -> String {
    let words = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words
        .map(|word| {
            let mut chars = word.chars();
            chars.next().map(|first| first.to_uppercase().chain(chars).collect::<String>()).unwrap_or_default()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_different_xml_names() {
        for (id, name) in [
            ("", "_x_"),
            ("P-101", "P-101"),
            ("7", "_x0037_"),
            ("a b", "a_x0020_b"),
            ("a_x0020_b", "a_x005F_x0020_b"),
            ("_x_", "_x005F_x_"),
            ("ü", "_x00FC_"),
        ] {
            assert_eq!(xml_id(id), name);
        }
    }

    #[test]
    fn classes_are_written_in_camel_case() {
        assert_eq!(camel_case("shell_and_tube heat-exchanger"), "ShellAndTubeHeatExchanger");
        assert_eq!(camel_case(""), "");
    }
}
