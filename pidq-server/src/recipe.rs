//! A result by its places in the document, so that it is written while it is sent and never stands anywhere as a whole.

use std::sync::Arc;

use bytes::Bytes;
use pidq_core::{Graph, Outcome, Written};
use pidq_http::{Filling, Gathering};

use crate::buffers::Buffers;
use crate::memory::Held;

/// Texts of the document that are shorter are copied at once: a place takes as much.
const SHORT: usize = 32;
/// What brings as many bytes a step, on average, is sent from where it lies: for less it costs more to tell the kernel of
/// each place than to copy.
const LONG: usize = 512;

/// What is to be written: texts of the document, and texts that were made between them.
pub(crate) struct Recipe {
    graph: Arc<Graph>,
    made: Vec<u8>,
    steps: Vec<Step>,
    len: usize,
}

/// What was made, up to a place in it, and then a part of the document.
#[derive(Clone, Copy)]
struct Step {
    made_to: usize,
    from: usize,
    to: usize,
}

impl Recipe {
    /// One that begins with a text.
    pub fn new(graph: Arc<Graph>, head: Vec<u8>) -> Recipe {
        Recipe { graph, len: head.len(), made: head, steps: Vec::new() }
    }

    /// Adds a text.
    pub fn add(&mut self, text: &[u8]) {
        self.len += text.len();
        self.made.extend_from_slice(text);
    }

    /// Adds a result as JSON.
    pub fn add_result(&mut self, outcome: &Outcome<'_>) -> pidq_core::Result<()> {
        let graph = self.graph.clone();
        outcome.write_parts(&graph, &mut |written| match written {
            Written::Source(place) if place.len() < SHORT => self.add(graph.source()[place].as_bytes()),
            Written::Source(place) => {
                self.len += place.len();
                self.steps.push(Step { made_to: self.made.len(), from: place.start, to: place.end });
            }
            Written::Text(text) => self.add(text.as_bytes()),
        })
    }

    /// Bytes of all of it.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes that it takes itself, beside the document.
    pub fn size(&self) -> usize {
        self.made.capacity() + self.steps.capacity() * size_of::<Step>()
    }

    /// Whether it is better sent from where it lies than copied.
    pub fn is_coarse(&self) -> bool {
        self.len / (self.steps.len() + 1) >= LONG
    }

    /// All of it at once.
    pub fn whole(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len);
        (0..).map_while(|number| self.part(number)).for_each(|part| bytes.extend_from_slice(part));
        bytes
    }

    /// All of it, buffer by buffer, in memory that was made room for.
    pub fn served(self, buffers: &Arc<Buffers>, room: Held) -> Served {
        Served { left: self.len, recipe: self, number: 0, offset: 0, buffers: buffers.clone(), _room: room }
    }

    /// All of it where it lies, in memory that was made room for.
    pub fn in_parts(self, room: Held) -> InParts {
        InParts { recipe: self, _room: room }
    }

    /// What was made before a step, which may be nothing, and then the step.
    fn part(&self, number: usize) -> Option<&[u8]> {
        let (at, is_source) = (number / 2, number % 2 == 1);
        let step = self.steps.get(at);
        if is_source {
            return step.map(|step| &self.graph.source().as_bytes()[step.from..step.to]);
        }
        let from = at.checked_sub(1).map_or(Some(0), |before| Some(self.steps.get(before)?.made_to))?;
        Some(&self.made[from..step.map_or(self.made.len(), |step| step.made_to)])
    }
}

/// A recipe that is followed as its reader takes the answer.
pub(crate) struct Served {
    recipe: Recipe,
    /// The part that comes next, and how much of it was written.
    number: usize,
    offset: usize,
    left: usize,
    buffers: Arc<Buffers>,
    _room: Held,
}

impl Filling for Served {
    fn left(&self) -> u64 {
        self.left as u64
    }

    fn next(&mut self, most: usize) -> Bytes {
        let Served { recipe, number, offset, .. } = self;
        let bytes = self.buffers.fill(most.min(self.left), |into, until| {
            while let Some(part) = recipe.part(*number).filter(|_| into.len() < until) {
                let text = &part[*offset..];
                let fits = text.len().min(until - into.len());
                into.extend_from_slice(&text[..fits]);
                (*number, *offset) = if fits == text.len() { (*number + 1, 0) } else { (*number, *offset + fits) };
            }
        });
        self.left -= bytes.len();
        bytes
    }
}

/// A recipe that is sent from where it lies.
pub(crate) struct InParts {
    recipe: Recipe,
    _room: Held,
}

impl Gathering for InParts {
    fn size(&self) -> usize {
        self.recipe.len
    }

    fn part(&self, number: usize) -> Option<&[u8]> {
        self.recipe.part(number)
    }
}

#[cfg(test)]
mod tests {
    use pidq_core::{Limits, Query, Scratch};

    use super::*;
    use crate::buffers::LARGE;
    use crate::memory::Memory;

    /// A document of which every other node is kept.
    fn recipe(text: &str) -> (Recipe, Vec<u8>) {
        let node = |n: usize| format!(r#"{{"id": "N-{n}", "kind": {}, "text": "{}"}}"#, n % 2, "x".repeat(n % 97));
        let nodes: Vec<String> = (0..3000).map(node).collect();
        let graph = Arc::new(Graph::from_json(format!("[{}]", nodes.join(", "))).expect("a document"));
        let (query, scratch) = (Query::parse(text).expect(text), Scratch::new());
        let outcome = query.run(&graph, &scratch, Limits::default()).expect(text);
        let mut expected = b"head ".to_vec();
        outcome.write_json(&mut expected).expect(text);
        expected.extend(b" tail");
        let mut recipe = Recipe::new(graph.clone(), b"head ".to_vec());
        recipe.add_result(&outcome).expect(text);
        recipe.add(b" tail");
        assert_eq!(recipe.len(), expected.len(), "{text}");
        (recipe, expected)
    }

    const QUERIES: [&str; 5] = ["get()", "filter(.kind == 1)", "map(.id)", "pick(.id, .text)", "size()"];

    #[test]
    fn a_recipe_gives_the_result() {
        for text in QUERIES {
            let (recipe, expected) = recipe(text);
            assert_eq!(recipe.whole(), expected, "{text}");
        }
    }

    #[test]
    fn a_recipe_gives_the_result_buffer_by_buffer() {
        for (text, most) in QUERIES.into_iter().flat_map(|text| [(text, 1000), (text, usize::MAX)]) {
            let (recipe, expected) = recipe(text);
            let memory = Arc::new(Memory::new(1 << 20));
            let room = memory.hold(&"ann".into(), recipe.size()).expect("room");
            let mut served = recipe.served(&Arc::new(Buffers::default()), room);
            let mut found = Vec::new();
            while served.left() > 0 {
                let bytes = served.next(most);
                assert!(bytes.len() == most.min(LARGE) || served.left() == 0, "{text}");
                found.extend(bytes);
            }
            assert!(found == expected, "{text}");
        }
    }

    #[test]
    fn a_recipe_gives_the_result_in_parts() {
        for (text, is_coarse) in QUERIES.into_iter().zip([true, false, true, false, false]) {
            let (recipe, expected) = recipe(text);
            assert_eq!(recipe.is_coarse(), is_coarse, "{text}");
            let room = Arc::new(Memory::new(1 << 20)).hold(&"ann".into(), recipe.size()).expect("room");
            let parts = recipe.in_parts(room);
            let found: Vec<u8> = (0..).map_while(|number| parts.part(number)).flatten().copied().collect();
            assert!(found == expected && parts.size() == expected.len(), "{text}");
        }
    }

    #[test]
    fn what_is_passed_through_is_not_copied() {
        let (recipe, expected) = recipe("filter(.kind == 1)");
        assert!(expected.len() > 100_000);
        assert!(recipe.made.len() < 5_000, "{}", recipe.made.len());
    }
}
