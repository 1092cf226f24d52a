//! The headings that a text stands under.

/// Headings that are open, outermost first.
#[derive(Clone, Debug, Default)]
pub struct Open {
    open: Vec<Heading>,
    /// Names with their headings in the order in which they were set; setting one again keeps its place.
    named: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
struct Heading {
    level: usize,
    name: String,
}

impl Open {
    /// Opens a heading: those of its level and below end.
    pub fn open(&mut self, level: usize, name: &str, text: &str) {
        while let Some(last) = self.open.pop_if(|last| last.level >= level) {
            self.named.retain(|(name, _)| *name != last.name);
        }
        self.open.push(Heading { level, name: name.to_owned() });
        match self.named.iter_mut().find(|(known, _)| known == name) {
            Some((_, heading)) => *heading = text.to_owned(),
            None => self.named.push((name.to_owned(), text.to_owned())),
        }
    }

    /// The names and headings.
    pub fn named(&self) -> &[(String, String)] {
        &self.named
    }
}
