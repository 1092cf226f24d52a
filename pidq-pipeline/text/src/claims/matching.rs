//! Support of a claim: a fact of the cited passages that states the same, of the same tag and as the same quantity.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};

use super::Evidence;
use super::facts::{Content, Fact, Facts, Value};
use super::number::Reading;
use super::plain::Plain;
use super::qualifiers;
use super::units::Measure;
use crate::analyzer;

/// Support of a claim by the passages.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Support {
    /// They state it.
    Stated,
    /// They state it in another unit or less rounded.
    Derived,
}

/// Reason why a claim is unsupported.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Defect {
    /// The passages state it as another quantity, such as the operating instead of the design pressure.
    OtherQuantity,
    /// The passages state it of other equipment only.
    OtherEquipment,
    /// The passages state the number with other units only.
    OtherUnit,
    /// The passages do not contain it.
    NotInPassage,
}

/// Support of a claim, and the places that give it.
pub struct Found {
    pub support: Support,
    pub evidence: Vec<Evidence>,
}

/// Result for a claim.
pub type Result = std::result::Result<Found, Defect>;

/// Facts of a cited passage, or of the question.
pub struct Cited {
    text: String,
    plain: Plain,
    facts: Facts,
    terms: OnceCell<HashSet<String>>,
}

impl Cited {
    pub fn passage(text: &str, source: &str) -> Cited {
        let (plain, mut facts) = Facts::of_passage(text);
        let (_, source_facts) = Facts::of_passage(source);
        facts.tags.extend(source_facts.tags);
        facts.identifiers.extend(source_facts.identifiers);
        Cited { text: format!("{text}\n{source}"), plain, facts, terms: OnceCell::new() }
    }

    pub fn question(text: &str, plain: Plain, facts: Facts) -> Cited {
        Cited { text: text.to_owned(), plain, facts, terms: OnceCell::new() }
    }

    /// Returns the index terms of the text and the source.
    pub fn terms(&self) -> &HashSet<String> {
        self.terms.get_or_init(|| analyzer::terms(&self.text).into_iter().collect())
    }

    /// Returns whether the words of the text begin with these letters, in order.
    pub fn has_initials(&self, letters: &str) -> bool {
        self.facts.initials.contains(letters)
    }

    /// Returns whether the text has a word, or several joined, in upper case.
    pub fn has_identifier(&self, identifier: &str) -> bool {
        self.facts.identifiers.contains(identifier)
    }

    fn has_tag(&self, name: &str) -> bool {
        let tags = &self.facts.tags;
        let suffix = format!("-{name}");
        tags.contains(name)
            || tags.iter().any(|tag| tag.ends_with(&suffix))
            || is_group(name, tags)
            || self.has_identifier(&joined(name))
    }
}

/// Returns whether a name such as P-101 stands for several tags: P-101A and P-101B.
fn is_group(name: &str, tags: &BTreeSet<String>) -> bool {
    let is_member = |tag: &&String| {
        tag.strip_prefix(name).is_some_and(|letter| letter.len() == 1 && letter.chars().all(|c| c.is_ascii_uppercase()))
    };
    name.ends_with(|c: char| c.is_ascii_digit()) && tags.iter().filter(is_member).count() > 1
}

fn joined(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_uppercase).collect()
}

/// Returns the letters of a tag that say what it is: `PSV` of `20-PSV-2015A`.
fn kind(tag: &str) -> String {
    tag.chars().skip_while(|c| !c.is_alphabetic()).take_while(|c| c.is_alphabetic()).collect()
}

/// The passages that a claim cites.
pub struct Within<'a> {
    pub passages: &'a [usize],
    pub cited: &'a [Option<Cited>],
    pub question: &'a Cited,
    /// Number of tags in the sentence.
    pub tags: usize,
}

impl Within<'_> {
    fn cited(&self) -> impl Iterator<Item = (usize, &Cited)> {
        self.passages.iter().filter_map(|&index| Some((index, self.cited.get(index)?.as_ref()?)))
    }

    /// Returns the support of a claim by the passages, or else by the question.
    pub fn support(&self, fact: &Fact) -> Result {
        match &fact.content {
            Content::Value(value) => self.value(value),
            Content::Tag(name) => self.tag(name),
            Content::Date(dates) => self.same(|content| match content {
                Content::Date(stated) => dates.iter().any(|date| stated.iter().any(|other| date.is_stated_by(*other))),
                _ => false,
            }),
            Content::Literal(text) => {
                self.same(|content| matches!(content, Content::Literal(stated) if stated == text))
            }
            Content::Identifier(name) => self.identifier(name),
        }
    }

    fn tag(&self, name: &str) -> Result {
        let evidence: Vec<Evidence> = self
            .cited()
            .flat_map(|(index, cited)| {
                let facts = cited.facts.list.iter();
                let named = facts.filter(|fact| matches!(&fact.content, Content::Tag(tag) if tag == name)).take(1);
                named.map(move |fact| evidence(index, cited, fact))
            })
            .collect();
        if !evidence.is_empty() || self.cited().any(|(_, cited)| cited.has_tag(name)) {
            return Ok(Found { support: Support::Stated, evidence });
        }
        // The passage may speak of the equipment of the question without its name, unless it names another one of the kind.
        let kind = kind(name);
        let names_other = self.cited().any(|(_, cited)| cited.facts.tags.iter().any(|tag| self::kind(tag) == kind));
        match self.question.has_tag(name) && !names_other {
            true => Ok(Found { support: Support::Stated, evidence }),
            false => Err(Defect::NotInPassage),
        }
    }

    fn identifier(&self, name: &str) -> Result {
        let is_known = self.cited().any(|(_, cited)| cited.has_identifier(name)) || self.question.has_identifier(name);
        match is_known {
            true => Ok(Found { support: Support::Stated, evidence: Vec::new() }),
            false => Err(Defect::NotInPassage),
        }
    }

    /// Looks for a fact with the same content in the passages and in the question.
    fn same(&self, is_same: impl Fn(&Content) -> bool) -> Result {
        for (index, cited) in self.cited() {
            if let Some(fact) = cited.facts.list.iter().find(|fact| is_same(&fact.content)) {
                return Ok(Found { support: Support::Stated, evidence: vec![evidence(index, cited, fact)] });
            }
        }
        match self.question.facts.list.iter().any(|fact| is_same(&fact.content)) {
            true => Ok(Found { support: Support::Stated, evidence: Vec::new() }),
            false => Err(Defect::NotInPassage),
        }
    }

    fn value(&self, claim: &Value) -> Result {
        let mut best: Option<Found> = None;
        let mut defect = Defect::NotInPassage;
        for (index, cited) in self.cited() {
            for fact in &cited.facts.list {
                let Content::Value(stated) = &fact.content else { continue };
                match compare(claim, stated, &cited.facts.units) {
                    Ok(support) if best.as_ref().is_none_or(|best| support < best.support) => {
                        best = Some(Found { support, evidence: vec![evidence(index, cited, fact)] });
                    }
                    Ok(_) => {}
                    Err(found) => defect = defect.min(found),
                }
                if best.as_ref().is_some_and(|best| best.support == Support::Stated) {
                    return best.ok_or(defect);
                }
            }
        }
        best.or_else(|| self.count(claim)).ok_or(defect)
    }

    /// Returns the support of a number that counts the tags of the sentence or those of one kind in a passage.
    fn count(&self, claim: &Value) -> Option<Found> {
        let [Reading { value, .. }] = claim.readings[..] else { return None };
        if claim.unit.is_some() || !(2.0..=50.0).contains(&value) {
            return None;
        }
        let is_count = |count: usize| (count as f64 - value).abs() < f64::EPSILON;
        let counts_kind = self.cited().any(|(_, cited)| {
            let kinds: BTreeSet<String> = cited.facts.tags.iter().map(|tag| kind(tag)).collect();
            kinds.iter().any(|kind| is_count(cited.facts.tags.iter().filter(|tag| self::kind(tag) == *kind).count()))
        });
        let is_known = is_count(self.tags) || counts_kind;
        is_known.then_some(Found { support: Support::Derived, evidence: Vec::new() })
    }

    /// Returns whether the question contains a value.
    pub fn is_asked(&self, claim: &Value) -> bool {
        let values = self.question.facts.list.iter().filter_map(|fact| match &fact.content {
            Content::Value(value) => Some(value),
            _ => None,
        });
        values.into_iter().any(|value| compare_numbers(claim, value, &[]).is_ok())
    }
}

fn evidence(passage: usize, cited: &Cited, fact: &Fact) -> Evidence {
    let statements = &cited.facts.statements;
    let position = statements.partition_point(|statement| statement.end <= fact.range.start);
    let range = statements.get(position).unwrap_or(&fact.range);
    Evidence { passage, span: cited.plain.span(range) }
}

/// Compares a claim with a value of a passage. `units` are those that stand in the passage without a number.
fn compare(claim: &Value, stated: &Value, units: &[Measure]) -> std::result::Result<Support, Defect> {
    let support = compare_numbers(claim, stated, units)?;
    if is_of_other_tag(&claim.tags, &stated.tags) {
        return Err(Defect::OtherEquipment);
    }
    if qualifiers::exclude(&claim.qualifiers, &stated.qualifiers) {
        return Err(Defect::OtherQuantity);
    }
    Ok(support)
}

/// Returns whether two values are said of different tags of one kind.
fn is_of_other_tag(claim: &BTreeSet<String>, stated: &BTreeSet<String>) -> bool {
    claim.iter().any(|tag| {
        let kind = kind(tag);
        let of_kind = |tags: &BTreeSet<String>| -> BTreeSet<String> {
            tags.iter().filter(|tag| self::kind(tag) == kind).cloned().collect()
        };
        let (own, others) = (of_kind(claim), of_kind(stated));
        let is_same = |tag: &String| {
            others
                .iter()
                .any(|other| other == tag || other.ends_with(&format!("-{tag}")) || tag.ends_with(&format!("-{other}")))
                || is_group(tag, &others)
                || others.iter().any(|other| {
                    is_group(other, &own) || tag.strip_prefix(other.as_str()).is_some_and(|rest| rest.len() == 1)
                })
        };
        !others.is_empty() && !own.iter().any(is_same)
    })
}

fn compare_numbers(claim: &Value, stated: &Value, units: &[Measure]) -> std::result::Result<Support, Defect> {
    let Some(unit) = claim.unit else {
        return match is_equal(claim, stated) {
            true => Ok(Support::Stated),
            false => Err(Defect::NotInPassage),
        };
    };
    let candidates: &[Measure] = match (&stated.unit, &stated.table_units[..]) {
        (Some(unit), _) => std::slice::from_ref(unit),
        (None, []) => units,
        (None, row) => row,
    };
    let comparisons = candidates.iter().map(|candidate| compare_in_unit(claim, unit, stated, *candidate));
    let best = comparisons.min_by_key(|result| match result {
        Ok(support) => (0, *support as usize),
        Err(defect) => (1, *defect as usize),
    });
    best.unwrap_or(match is_equal(claim, stated) {
        true => Err(Defect::OtherUnit),
        false => Err(Defect::NotInPassage),
    })
}

fn compare_in_unit(
    claim: &Value,
    unit: Measure,
    stated: &Value,
    other: Measure,
) -> std::result::Result<Support, Defect> {
    if unit.is_same(other) {
        return match is_equal(claim, stated) {
            true => Ok(Support::Stated),
            false if claim.is_rounded && is_rounding(claim, &stated.readings, Some) => Ok(Support::Derived),
            false => Err(Defect::NotInPassage),
        };
    }
    match is_rounding(claim, &stated.readings, |value| other.convert(value, unit)) {
        true => Ok(Support::Derived),
        false if is_equal(claim, stated) => Err(Defect::OtherUnit),
        false => Err(Defect::NotInPassage),
    }
}

fn is_equal(claim: &Value, stated: &Value) -> bool {
    let equal = |one: f64, other: f64| (one - other).abs() <= 1e-9 * one.abs().max(other.abs());
    pairs(&claim.readings, &stated.readings).any(|(one, other)| equal(one.value, other.value))
}

/// Returns the readings that may mean the same. Of two ambiguous spellings, the readings of one kind: 5,000 and 5,000 are
/// not 5000 and 5.
fn pairs<'a>(claim: &'a [Reading], stated: &'a [Reading]) -> impl Iterator<Item = (&'a Reading, &'a Reading)> {
    let are_ambiguous = claim.len() > 1 && stated.len() > 1;
    let all = claim
        .iter()
        .enumerate()
        .flat_map(|(index, one)| stated.iter().enumerate().map(move |other| (index, one, other)));
    all.filter(move |(index, _, (other, _))| !are_ambiguous || index == other).map(|(_, one, (_, other))| (one, other))
}

/// Relative error of a conversion with a short factor.
const CONVERSION_ERROR: f64 = 1e-3;
/// Largest relative error of a rounded value.
const ROUNDING_ERROR: f64 = 0.02;
/// Largest relative error of a value that is said to be rounded.
const STATED_ROUNDING_ERROR: f64 = 0.05;

/// Returns whether a claim is a stated value, converted and rounded to the places of the claim.
fn is_rounding(claim: &Value, stated: &[Reading], convert: impl Fn(f64) -> Option<f64>) -> bool {
    let largest = if claim.is_rounded { STATED_ROUNDING_ERROR } else { ROUNDING_ERROR };
    pairs(&claim.readings, stated).any(|(reading, stated)| {
        convert(stated.value).is_some_and(|exact| {
            let tolerance = (reading.half_place * (1.0 + 1e-9)).min(largest * exact.abs());
            (reading.value - exact).abs() <= tolerance.max(CONVERSION_ERROR * exact.abs())
        })
    })
}
