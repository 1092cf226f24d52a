//! What calls note beside their results, for the warnings of a run: directions that nobody knows, lists that were cut.
//!
//! Only what led to the result is kept: notes of a part that failed are taken back with it. So a run that takes
//! shortcuts tells the same as one that takes none.

use hashbrown::HashSet;

use super::Cx;
use super::cost::Way;
use super::plan::Call;
use crate::error::{Result, Warning};
use crate::value::{Value, write};

/// Bytes that a note counts for, with its place among those that are known.
const SIZE: usize = 128;

/// Something that a call did.
#[derive(Clone, Copy)]
enum Note<'a> {
    /// An edge was followed whose direction nobody knows: its number, and its id where it may have to be shown.
    Assumed(u32, Value<'a>),
    /// A list was cut after so many of something.
    Cut(usize, &'static str),
}

impl Note<'_> {
    /// What tells it from others of the same call.
    fn key(&self) -> (bool, usize) {
        match self {
            Note::Assumed(edge, _) => (false, *edge as usize),
            Note::Cut(count, _) => (true, *count),
        }
    }
}

/// The notes of a run.
#[derive(Default)]
pub(super) struct Notes<'a> {
    /// Those of the running call, which is not known to the function that makes them.
    open: Vec<Note<'a>>,
    /// The number of the call, and what it did. Each once.
    made: Vec<(usize, Note<'a>)>,
    known: HashSet<(usize, (bool, usize))>,
}

impl Notes<'_> {
    pub fn len(&self) -> usize {
        self.made.len()
    }

    /// Forgets all but the first so many.
    pub fn truncate(&mut self, count: usize) {
        for (call, note) in self.made.drain(count.min(self.made.len())..) {
            self.known.remove(&(call, note.key()));
        }
    }
}

impl<'a> Cx<'a> {
    /// Notes for the running call the edges that it followed in a direction that the drawing does not say. The last thing
    /// that a function does before its result: a call inside it would take the notes for its own.
    ///
    /// Only the first one is looked up: the first of all is that of one of the calls, and nothing else is shown.
    pub(crate) fn assumed(&mut self, edges: impl Iterator<Item = u32>, id: impl Fn(u32) -> Value<'a>) -> Result<()> {
        let edges: Vec<u32> = edges.collect();
        let Some(first) = edges.iter().min() else { return Ok(()) };
        self.hold(edges.len() * SIZE)?;
        self.took(Way::Noted);
        let shown = |edge: u32| if edge == *first { id(edge) } else { Value::Undefined };
        self.notes.open.extend(edges.iter().map(|edge| Note::Assumed(*edge, shown(*edge))));
        Ok(())
    }

    /// Notes for the running call that its list ends before its end.
    pub(crate) fn cut(&mut self, count: usize, what: &'static str) -> Result<()> {
        self.note_open(Note::Cut(count, what))
    }

    fn note_open(&mut self, note: Note<'a>) -> Result<()> {
        self.hold(SIZE)?;
        self.notes.open.push(note);
        self.took(Way::Noted);
        Ok(())
    }

    /// The running call ends: what it noted is its own, if it came to a result.
    #[cold]
    pub(super) fn settle(&mut self, call: &Call, result: &Result<Value<'a>>) {
        let open = std::mem::take(&mut self.notes.open);
        self.notes.known.reserve(open.len());
        for note in open {
            if result.is_ok() && self.notes.known.insert((call.id, note.key())) {
                self.notes.made.push((call.id, note));
            } else {
                self.release(SIZE);
            }
        }
    }

    /// What was noted for a call, as warnings.
    pub(crate) fn noted(&self, call: usize) -> Vec<Warning> {
        let mut assumed: Option<(usize, u32, Value<'a>)> = None;
        let mut cut: Option<(usize, &'static str)> = None;
        for (_, note) in self.notes.made.iter().filter(|(of, _)| *of == call) {
            match *note {
                Note::Assumed(edge, id) => {
                    let (count, first, first_id) = assumed.unwrap_or((0, edge, id));
                    let example = if edge < first { (edge, id) } else { (first, first_id) };
                    assumed = Some((count + 1, example.0, example.1));
                }
                Note::Cut(count, what) => cut = cut.max(Some((count, what))),
            }
        }
        let assumed = assumed.map(|(count, _, id)| direction_assumed(count, id));
        assumed.into_iter().chain(cut.map(|(count, what)| list_cut(count, what))).collect()
    }

    /// Whether anything was noted.
    pub(crate) fn has_notes(&self) -> bool {
        self.notes.len() > 0
    }
}

fn direction_assumed(count: usize, id: Value<'_>) -> Warning {
    let name = write::to_string(id);
    let edges = if count == 1 { "an edge" } else { &format!("{count} edges") };
    let message = format!("this follows {edges} of unknown or dual direction, such as {name}");
    Warning::new("PQW08", message).with_help("`trace()` tells what was reached by them: `assumed`")
}

fn list_cut(count: usize, what: &str) -> Warning {
    Warning::new("PQW09", format!("there are more than {count} {what}: the list ends there"))
        .with_help("raise `limit`, or ask for less")
}
