//! Stack of open headings.

/// Open headings, outermost first.
#[derive(Clone, Debug, Default)]
pub struct HeadingStack {
    open: Vec<Heading>,
    /// Level names with their headings in insertion order; replacing a heading keeps its position.
    named: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
struct Heading {
    level: usize,
    name: String,
}

impl HeadingStack {
    /// Pushes a heading, closing those of its level and below.
    pub fn push(&mut self, level: usize, name: &str, text: &str) {
        while let Some(last) = self.open.pop_if(|last| last.level >= level) {
            self.named.retain(|(name, _)| *name != last.name);
        }
        self.open.push(Heading { level, name: name.to_owned() });
        match self.named.iter_mut().find(|(level_name, _)| level_name == name) {
            Some((_, heading)) => *heading = text.to_owned(),
            None => self.named.push((name.to_owned(), text.to_owned())),
        }
    }

    /// Returns the level names and headings.
    pub fn named(&self) -> &[(String, String)] {
        &self.named
    }
}
