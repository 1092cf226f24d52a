//! Subjects of sentences: the equipment with whose tag a paragraph begins.

use crate::analyzer::{Tag, tags};

/// Words that may stand before the tag of a subject, in lower case: `Data sheet V-101`, `The pump P-101A`.
const WORDS_BEFORE: &str =
    "the a data datasheet sheet item equipment tag alarm trip loop line pump vessel tank drum column
    separator compressor exchanger heater cooler filter valve transmitter instrument nozzle motor
    der die das pumpe behälter ventil armatur verdichter kolonne";

/// Words that refer to what was named before, which may be another subject.
const PRONOUNS: &str = "it its this these they their that er sie es dieser diese dieses ihr sein";

/// The subject of a paragraph so far.
#[derive(Default)]
pub(super) struct Subject<'t> {
    /// Text of its tag; empty if the sentences have none.
    tag: &'t str,
    /// True if the previous sentence names other equipment too.
    is_ambiguous: bool,
    /// Tags of the headings above the paragraph.
    headings: Vec<Tag>,
}

impl<'t> Subject<'t> {
    /// Begins a paragraph below headings.
    pub(super) fn below(headings: &str) -> Self {
        Subject { headings: tags(headings), ..Subject::default() }
    }

    /// Returns the tag of the equipment that the next sentence of the paragraph is about; empty if it is not known.
    pub(super) fn of_next(&mut self, sentence: &'t str) -> &'t str {
        let tags = tags(sentence);
        if let Some(tag) = tags.first().filter(|tag| begins_with(sentence, tag)) {
            let rest = &sentence[tag.span.start..];
            // With the names of a group, as in P-101A/B.
            let end = rest.find(|c: char| c.is_whitespace()).unwrap_or(rest.len()).max(tag.span.len());
            self.tag = &rest[..end];
        } else if !self.is_of_headings()
            || self.is_ambiguous && words(sentence).next().is_some_and(|word| is_in(word, PRONOUNS))
        {
            self.tag = "";
        }
        self.is_ambiguous = tags.iter().any(|tag| !self.tag.contains(&sentence[tag.span.clone()]));
        self.tag
    }

    /// Returns whether the headings are about the subject, or about no equipment.
    fn is_of_headings(&self) -> bool {
        let names = tags(self.tag);
        self.headings.is_empty() || self.headings.iter().any(|tag| names.iter().any(|name| name.name == tag.name))
    }
}

/// Returns whether only words such as `The pump` are before a tag.
fn begins_with(sentence: &str, tag: &Tag) -> bool {
    words(&sentence[..tag.span.start]).all(|word| is_in(word, WORDS_BEFORE))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn is_in(word: &str, words: &str) -> bool {
    let word = word.to_lowercase();
    words.split_whitespace().any(|listed| listed == word)
}

#[cfg(test)]
mod tests {
    use super::Subject;

    fn subjects<'t>(sentences: &[&'t str]) -> Vec<&'t str> {
        subjects_below("", sentences)
    }

    fn subjects_below<'t>(headings: &str, sentences: &[&'t str]) -> Vec<&'t str> {
        let mut subject = Subject::below(headings);
        sentences.iter().map(|sentence| subject.of_next(sentence)).collect()
    }

    #[test]
    fn a_paragraph_that_begins_with_a_tag_is_about_it() {
        assert_eq!(subjects(&["PSV-4011 protects V-401.", "Set pressure 38 barg."]), ["PSV-4011", "PSV-4011"]);
        assert_eq!(subjects(&["The pump P-101A is red.", "It is old."]), ["P-101A", "P-101A"]);
        assert_eq!(subjects(&["P-701A/B: fire water pumps.", "Rated flow 900 m3/h."]), ["P-701A/B:", "P-701A/B:"]);
        assert_eq!(subjects(&["Data sheet V-1201", "Volume 3 m³."]), ["V-1201", "V-1201"]);
        assert_eq!(subjects(&["V-101 is red.", "V-102 is blue.", "Volume 3 m³."]), ["V-101", "V-102", "V-102"]);
    }

    #[test]
    fn a_subject_that_may_be_another_one_is_not_known() {
        assert_eq!(subjects(&["P-101A feeds V-201.", "It holds 3 m³.", "Steel."]), ["P-101A", "", ""]);
        assert_eq!(subjects(&["The oil enters V-201.", "It is warm."]), ["", ""]);
        assert_eq!(subjects(&["Open HV-101 first.", "Pressure 3 bar."]), ["", ""]);
        assert_eq!(subjects(&["", "1."]), ["", ""]);
        let sentences = ["PSV-1106 is set at 15.2 bar.", "The design pressure is 16 bar."];
        assert_eq!(subjects_below("# V-101", &sentences), ["PSV-1106", ""]);
        assert_eq!(subjects_below("# Relief valve PSV-1106", &sentences), ["PSV-1106", "PSV-1106"]);
    }
}
