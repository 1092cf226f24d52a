//! Check of an answer against the passages that it cites: the values, tags, dates and names of each sentence must occur
//! in a passage of its citations.
//!
//! The check compares what is written, tolerant of spelling: 1,000 and 1 000, 10.5 barg and 10,5 bar(g), P-101A and
//! P 101 A. A value in another unit is converted, and a rounded one compared within its rounding; both are `derived`. A
//! value that the passage states of another tag only, or as another quantity (the operating instead of the design
//! pressure), is unsupported too. What a sentence means is not understood: negation, comparison and arithmetic are not
//! checked, so that "is not set at 12 bar" has the same claims as "is set at 12 bar".
//!
//! ```
//! use pidq_text::claims::{Marker, Passage, Status, check};
//!
//! let passages = [Passage { text: "PSV-2015A is set at 38.5 barg.", source: "V-201.pdf" }];
//! let answer = "PSV-2015A is set at 3.85 MPa [1]. It protects V-202 [1].";
//! let markers = [Marker { span: [29, 32], passage: 0 }, Marker { span: [51, 54], passage: 0 }];
//! let sentences = check("At what is it set?", answer, &passages, &markers);
//! assert_eq!(sentences.iter().map(|sentence| sentence.status).collect::<Vec<_>>(), [Status::Derived, Status::Unsupported]);
//! assert_eq!(sentences[1].unsupported[0].text, "V-202");
//! ```

mod date;
mod facts;
mod matching;
mod names;
mod number;
mod plain;
mod qualifiers;
mod sentences;
mod table;
mod units;

use std::ops::Range;

use facts::{Content, Fact, Facts, Role};
use matching::{Cited, Support};
use plain::Plain;

pub use matching::Defect;

/// A passage of the prompt.
#[derive(Clone, Copy, Debug)]
pub struct Passage<'a> {
    /// Text.
    pub text: &'a str,
    /// Name of the source, which may name the equipment: `P-101A.pdf`.
    pub source: &'a str,
}

/// A citation in an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Marker {
    /// Span in the answer, in code points.
    pub span: [usize; 2],
    /// Index of the passage.
    pub passage: usize,
}

/// Result for a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    /// Span in the answer, in code points.
    pub span: [usize; 2],
    /// Indexes of the passages against which it was checked, in order.
    pub passages: Vec<usize>,
    /// Status.
    pub status: Status,
    /// Claims that no passage supports.
    pub unsupported: Vec<Claim>,
    /// Places in the passages that support its claims, in order.
    pub evidence: Vec<Evidence>,
}

/// Status of a sentence.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Status {
    /// The passages contain all of its claims.
    Supported,
    /// They contain them in other units, or less rounded.
    Derived,
    /// It has no claim that can be checked.
    Unchecked,
    /// It has claims, and neither it nor its paragraph has a citation.
    Uncited,
    /// The passages do not contain one of its claims.
    Unsupported,
}

/// A claim that no passage supports.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Claim {
    /// The claim as written.
    pub text: String,
    /// Span in the answer, in code points.
    pub span: [usize; 2],
    /// Reason why it is unsupported.
    pub defect: Defect,
}

/// A place in a passage that supports a claim.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Evidence {
    /// Index of the passage.
    pub passage: usize,
    /// Span of its sentence or row in the passage, in bytes.
    pub span: Range<usize>,
}

/// Maximum number of claims that are checked; further ones are unsupported.
const MAX_CLAIMS: usize = 500;

/// Checks an answer, sentence by sentence. Markers of passages that do not exist are ignored.
pub fn check(question: &str, answer: &str, passages: &[Passage<'_>], markers: &[Marker]) -> Vec<Sentence> {
    let answer = Answer::new(answer, markers, passages.len());
    let (question_plain, question_facts) = Facts::of_passage(question);
    let question = Cited::question(question, question_plain, question_facts);
    let mut cited: Vec<Option<Cited>> = passages.iter().map(|_| None).collect();
    for index in answer.groups.iter().flat_map(|group| &group.passages) {
        let passage = passages[*index];
        cited[*index].get_or_insert_with(|| Cited::passage(passage.text, passage.source));
    }
    let mut claims_left = MAX_CLAIMS;
    let sources = answer.sources();
    let sentences = answer.sentences.iter().zip(sources);
    sentences
        .map(|(range, source)| answer.check_sentence(range, &source, &question, &cited, &mut claims_left))
        .collect()
}

/// An answer with its sentences and citations.
struct Answer {
    plain: Plain,
    /// Number of code points before each plain character, and of all.
    code_points: Vec<usize>,
    sentences: Vec<Range<usize>>,
    groups: Vec<Group>,
    facts: Facts,
    names: Vec<names::Name>,
}

/// Adjacent markers, as in `[1][2]`.
struct Group {
    /// Range of characters.
    range: Range<usize>,
    passages: Vec<usize>,
}

/// Citations of a sentence.
struct Source {
    /// Groups in the sentence.
    own: Vec<usize>,
    /// Passages of the neighboring sentence, for a sentence without groups.
    inherited: Vec<usize>,
}

impl Answer {
    fn new(text: &str, markers: &[Marker], passages: usize) -> Answer {
        let mut plain = Plain::new(text);
        let bytes: Vec<usize> = text.char_indices().map(|(start, _)| start).chain([text.len()]).collect();
        let index = |code_point: usize| plain.index(bytes.get(code_point).copied().unwrap_or(text.len()));
        let mut ranges: Vec<(Range<usize>, usize)> = markers
            .iter()
            .filter(|marker| marker.passage < passages && marker.span[0] < marker.span[1])
            .map(|marker| (index(marker.span[0])..index(marker.span[1]), marker.passage))
            .collect();
        ranges.sort_by_key(|(range, passage)| (range.start, range.end, *passage));
        let spans: Vec<Range<usize>> = ranges.iter().map(|(range, _)| range.clone()).collect();
        let sentences = sentences::split(&plain, &spans);
        for range in &spans {
            plain.chars[range.clone()].fill(' ');
        }
        let facts = Facts::read(&without(text, markers), &plain, sentences.clone(), Role::Answer);
        let names = names::read(&plain, &sentences, &facts);
        let code_points = code_points(&plain, &bytes);
        Answer { groups: groups(&plain, ranges), plain, code_points, sentences, facts, names }
    }

    /// Returns the citations of each sentence. One without a citation has those of the next sentence of its paragraph
    /// that has one, else those of the previous one.
    fn sources(&self) -> Vec<Source> {
        let own: Vec<Vec<usize>> = self.sentences.iter().map(|range| self.groups_in(range)).collect();
        let passages = |groups: &Vec<usize>| -> Vec<usize> {
            let mut passages: Vec<usize> =
                groups.iter().flat_map(|&group| &self.groups[group].passages).copied().collect();
            passages.sort_unstable();
            passages.dedup();
            passages
        };
        let breaks: Vec<bool> = (0..self.sentences.len()).map(|index| self.begins_paragraph(index)).collect();
        let mut following: Vec<Vec<usize>> = vec![Vec::new(); own.len()];
        for index in (0..own.len()).rev() {
            following[index] = match own[index].is_empty() {
                false => passages(&own[index]),
                true if index + 1 < own.len() && !breaks[index + 1] => following[index + 1].clone(),
                true => Vec::new(),
            };
        }
        let mut previous: Vec<usize> = Vec::new();
        let mut sources = Vec::with_capacity(own.len());
        for (index, own) in own.into_iter().enumerate() {
            if breaks[index] {
                previous.clear();
            }
            if !own.is_empty() {
                previous = passages(&own);
            }
            let next = std::mem::take(&mut following[index]);
            sources.push(Source { own, inherited: if next.is_empty() { previous.clone() } else { next } });
        }
        sources
    }

    fn groups_in(&self, range: &Range<usize>) -> Vec<usize> {
        let first = self.groups.partition_point(|group| group.range.start < range.start);
        (first..self.groups.len()).take_while(|&group| self.groups[group].range.start < range.end).collect()
    }

    /// Returns whether an empty line is before a sentence.
    fn begins_paragraph(&self, index: usize) -> bool {
        let Some(previous) = index.checked_sub(1).map(|index| self.sentences[index].end) else { return true };
        let gap = &self.plain.chars[previous..self.sentences[index].start];
        gap.iter().filter(|c| **c == '\n').count() > 1
    }

    fn check_sentence(
        &self,
        range: &Range<usize>,
        source: &Source,
        question: &Cited,
        cited: &[Option<Cited>],
        claims_left: &mut usize,
    ) -> Sentence {
        let mut checked = Checked::default();
        let mut asked = Vec::new();
        let tags = self.tags_in(range);
        for fact in self.facts_in(range) {
            let passages = self.passages_of(fact, source, range);
            let within = matching::Within { passages: &passages, cited, question, tags };
            let result = claims_left.checked_sub(1).map(|_| within.support(fact));
            *claims_left = claims_left.saturating_sub(1);
            match (&fact.content, result) {
                (Content::Value(value), Some(Err(defect))) if within.is_asked(value) => asked.push((fact, defect)),
                (_, result) => checked.add(fact, result),
            }
            checked.passages.extend(passages);
        }
        // A value of the question may be repeated beside one of the passages: it is not 40 barg, but 38.5 barg.
        if !checked.has_value {
            asked.into_iter().for_each(|(fact, defect)| checked.add(fact, Some(Err(defect))));
        }
        let all = if source.own.is_empty() { source.inherited.clone() } else { self.passages_of_groups(&source.own) };
        let passages: Vec<&Cited> = all.iter().filter_map(|&index| cited[index].as_ref()).collect();
        let first = self.names.partition_point(|name| name.range.start < range.start);
        for name in self.names[first..].iter().take_while(|name| name.range.start < range.end) {
            let is_supported = *claims_left > 0 && name.is_supported(&passages, question);
            *claims_left = claims_left.saturating_sub(1);
            checked.add_name(name.range.clone(), is_supported);
        }
        checked.passages.extend(&all);
        self.sentence(range, checked)
    }

    fn facts_in(&self, range: &Range<usize>) -> &[Fact] {
        let facts = &self.facts.list;
        let first = facts.partition_point(|fact| fact.range.start < range.start);
        let last = facts.partition_point(|fact| fact.range.start < range.end);
        &facts[first..last.max(first)]
    }

    /// Returns the number of tags in a sentence, each once.
    fn tags_in(&self, range: &Range<usize>) -> usize {
        let tags = self.facts_in(range).iter().filter_map(|fact| match &fact.content {
            Content::Tag(name) => Some(name),
            _ => None,
        });
        tags.collect::<std::collections::BTreeSet<_>>().len()
    }

    /// Returns the passages that a fact cites: those of the first group after it. What follows the last group cites all
    /// of the sentence, and a group without any fact before it adds its passages to the next one.
    fn passages_of(&self, fact: &Fact, source: &Source, sentence: &Range<usize>) -> Vec<usize> {
        if source.own.is_empty() {
            return source.inherited.clone();
        }
        let position = source.own.partition_point(|&group| self.groups[group].range.start < fact.range.end);
        if position == source.own.len() {
            return self.passages_of_groups(&source.own);
        }
        let ends = |position: usize| self.groups[source.own[position]].range.clone();
        let has_facts = |position: usize| {
            let start = position.checked_sub(1).map_or(sentence.start, |previous| ends(previous).end);
            !self.facts_in(&(start..ends(position).start)).is_empty()
        };
        let first = (0..position).rev().take_while(|&position| !has_facts(position)).last().unwrap_or(position);
        self.passages_of_groups(&source.own[first..=position])
    }

    fn passages_of_groups(&self, groups: &[usize]) -> Vec<usize> {
        let mut passages: Vec<usize> = groups.iter().flat_map(|&group| &self.groups[group].passages).copied().collect();
        passages.sort_unstable();
        passages.dedup();
        passages
    }

    fn sentence(&self, range: &Range<usize>, checked: Checked) -> Sentence {
        let claim = |(range, defect): (Range<usize>, Defect)| Claim {
            text: self.plain.text(range.clone()),
            span: self.code_point_span(&range),
            defect,
        };
        let mut passages = checked.passages;
        passages.sort_unstable();
        passages.dedup();
        let unsupported: Vec<Claim> = checked.unsupported.into_iter().map(claim).collect();
        let status = match checked.support {
            _ if !unsupported.is_empty() && passages.is_empty() => Status::Uncited,
            _ if !unsupported.is_empty() => Status::Unsupported,
            Some(_) if passages.is_empty() => Status::Uncited,
            Some(Support::Stated) => Status::Supported,
            Some(Support::Derived) => Status::Derived,
            None => Status::Unchecked,
        };
        let mut evidence = checked.evidence;
        evidence.sort_by_key(|place: &Evidence| (place.passage, place.span.start));
        evidence.dedup();
        let unsupported = if status == Status::Uncited { Vec::new() } else { unsupported };
        Sentence { span: self.code_point_span(range), passages, status, unsupported, evidence }
    }

    fn code_point_span(&self, range: &Range<usize>) -> [usize; 2] {
        [self.code_points[range.start], self.code_points[range.end]]
    }
}

/// Claims of a sentence that have been checked.
#[derive(Default)]
struct Checked {
    passages: Vec<usize>,
    unsupported: Vec<(Range<usize>, Defect)>,
    /// The weakest support of a claim.
    support: Option<Support>,
    /// `true` if a passage supports a value.
    has_value: bool,
    evidence: Vec<Evidence>,
}

impl Checked {
    /// Adds a claim; without a result, it has not been checked.
    fn add(&mut self, fact: &Fact, result: Option<matching::Result>) {
        match result {
            Some(Ok(found)) => {
                self.support = self.support.max(Some(found.support));
                self.has_value |= matches!(fact.content, Content::Value(_));
                self.evidence.extend(found.evidence);
            }
            Some(Err(defect)) => self.unsupported.push((fact.range.clone(), defect)),
            None => self.unsupported.push((fact.range.clone(), Defect::NotInPassage)),
        }
    }

    fn add_name(&mut self, range: Range<usize>, is_supported: bool) {
        match is_supported {
            true => self.support = self.support.max(Some(Support::Stated)),
            false => self.unsupported.push((range, Defect::NotInPassage)),
        }
    }
}

/// Replaces markers by spaces, byte for byte, so that offsets remain.
fn without(text: &str, markers: &[Marker]) -> String {
    let mut is_marker = vec![false; text.chars().count()];
    for marker in markers {
        let end = marker.span[1].min(is_marker.len());
        is_marker.get_mut(marker.span[0]..end).into_iter().flatten().for_each(|flag| *flag = true);
    }
    let mut plain = String::with_capacity(text.len());
    for (c, is_marker) in text.chars().zip(is_marker) {
        match is_marker {
            true => plain.extend(std::iter::repeat_n(' ', c.len_utf8())),
            false => plain.push(c),
        }
    }
    plain
}

/// Returns the number of code points before each plain character.
fn code_points(plain: &Plain, bytes: &[usize]) -> Vec<usize> {
    (0..=plain.chars.len())
        .map(|index| bytes.partition_point(|byte| *byte < plain.span(&(index..index)).start))
        .collect()
}

/// Joins adjacent markers.
fn groups(plain: &Plain, ranges: Vec<(Range<usize>, usize)>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (range, passage) in ranges {
        match groups.last_mut() {
            Some(group) if is_adjacent(plain, group.range.end, range.start) => {
                group.range.end = group.range.end.max(range.end);
                if !group.passages.contains(&passage) {
                    group.passages.push(passage);
                }
            }
            _ => groups.push(Group { range, passages: vec![passage] }),
        }
    }
    groups
}

fn is_adjacent(plain: &Plain, end: usize, start: usize) -> bool {
    start <= end || plain.chars[end..start].iter().all(|c| matches!(c, ' ' | ',' | ';' | '.'))
}

#[cfg(test)]
mod tests;
