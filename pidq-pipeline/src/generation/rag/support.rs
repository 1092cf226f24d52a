//! Support of the sentences of an answer by the passages that they cite.

use pidq_text::claims::{self, Defect, Marker, Passage, Status};
use schemars::JsonSchema;
use serde::Serialize;

use super::context::QuoteSpan;
use super::{Context, Reason};
use crate::generation::citations::CitedPassage;

/// A sentence of an answer, checked against the passages that it cites.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "AnswerSentence")]
pub struct CheckedSentence {
    /// Span in the answer, in code points.
    pub span: [usize; 2],
    /// Numbers of the passages that it cites, or that its paragraph cites for it.
    pub citations: Vec<usize>,
    /// Result of the check.
    pub status: SentenceStatus,
    /// Values, tags, dates and names that the passages do not contain.
    pub unsupported: Vec<UnsupportedClaim>,
}

/// Result of the check of a sentence. Negation, comparison and arithmetic are not checked.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SentenceStatus {
    /// The cited passages contain its values, tags, dates and names.
    Supported,
    /// They contain them, with a value in another unit or less rounded.
    Derived,
    /// They do not contain one of them, or of other equipment or another quantity only.
    Unsupported,
    /// It has values, tags, dates or names, and no citation.
    Uncited,
    /// It has none that could be checked.
    Unchecked,
}

/// A claim that the cited passages do not contain.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
pub struct UnsupportedClaim {
    /// The claim, as written.
    pub text: String,
    /// Span in the answer, in code points.
    pub span: [usize; 2],
    /// Reason why it is unsupported.
    pub reason: ClaimDefect,
}

/// Reason why a claim is unsupported.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimDefect {
    /// The passages do not contain it.
    NotInPassage,
    /// They contain the number with other units only.
    OtherUnit,
    /// They state it of other equipment only.
    OtherEquipment,
    /// They state it as another quantity, such as the operating instead of the design pressure.
    OtherQuantity,
}

/// Support that an answer of a model needs to count as answered.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum RequiredSupport {
    /// No sentence is unsupported or uncited.
    Supported,
    /// A citation, and a sentence that its passages do not contradict.
    #[default]
    Cited,
    /// Nothing.
    Nothing,
}

/// Check of an answer.
#[derive(Debug, Default)]
pub struct Check {
    /// The sentences.
    pub sentences: Vec<CheckedSentence>,
    /// The quotes, by context and place.
    pub quotes: Vec<QuoteSpan>,
}

impl Check {
    /// Checks an answer. History counts as part of the question: what it names may be repeated.
    pub fn new(question: &str, answer: &str, contexts: &[Context], cited: &[CitedPassage]) -> Check {
        let passages: Vec<Passage<'_>> =
            contexts.iter().map(|context| Passage { text: &context.text, source: &context.filename }).collect();
        let markers: Vec<Marker> = cited
            .iter()
            .flat_map(|cited| cited.spans.iter().map(|&span| Marker { span, passage: cited.marker - 1 }))
            .collect();
        let mut check = Check::default();
        for sentence in claims::check(question, answer, &passages, &markers) {
            let quote = |place: claims::Evidence| QuoteSpan { context: place.passage, span: place.span };
            check.quotes.extend(sentence.evidence.iter().cloned().map(quote));
            check.sentences.push(CheckedSentence::from(sentence));
        }
        check.quotes.sort_by_key(|quote| (quote.context, quote.span.start));
        check.quotes.dedup();
        check
    }

    /// Returns the defect of a cited answer: of its sentences, unsupported ones weigh more.
    pub fn defect(&self) -> Option<Reason> {
        if self.has(SentenceStatus::Unsupported) {
            return Some(Reason::Unsupported);
        }
        self.has(SentenceStatus::Uncited).then_some(Reason::Uncited)
    }

    /// Returns whether the citations of a sentence hold: of one that they support, or that has nothing to check.
    pub fn has_valid_citation(&self) -> bool {
        let holds = |status| !matches!(status, SentenceStatus::Unsupported | SentenceStatus::Uncited);
        self.sentences.iter().any(|sentence| holds(sentence.status) && !sentence.citations.is_empty())
    }

    fn has(&self, status: SentenceStatus) -> bool {
        self.sentences.iter().any(|sentence| sentence.status == status)
    }
}

impl RequiredSupport {
    /// Returns whether an answer with this defect is answered.
    pub fn is_met(self, reason: Option<Reason>, has_valid_citation: bool) -> bool {
        match (self, reason) {
            (_, Some(Reason::NotInContext | Reason::NoDocuments | Reason::NoRelevantContext)) => false,
            (RequiredSupport::Nothing, _) | (_, None) => true,
            (RequiredSupport::Cited, Some(Reason::Unsupported | Reason::Uncited)) => has_valid_citation,
            (RequiredSupport::Supported, Some(Reason::Unsupported | Reason::Uncited)) => false,
        }
    }
}

impl From<claims::Sentence> for CheckedSentence {
    fn from(sentence: claims::Sentence) -> CheckedSentence {
        let status = match sentence.status {
            Status::Supported => SentenceStatus::Supported,
            Status::Derived => SentenceStatus::Derived,
            Status::Unsupported => SentenceStatus::Unsupported,
            Status::Uncited => SentenceStatus::Uncited,
            Status::Unchecked => SentenceStatus::Unchecked,
        };
        let claim = |claim: claims::Claim| UnsupportedClaim {
            text: claim.text,
            span: claim.span,
            reason: match claim.defect {
                Defect::NotInPassage => ClaimDefect::NotInPassage,
                Defect::OtherUnit => ClaimDefect::OtherUnit,
                Defect::OtherEquipment => ClaimDefect::OtherEquipment,
                Defect::OtherQuantity => ClaimDefect::OtherQuantity,
            },
        };
        CheckedSentence {
            span: sentence.span,
            citations: sentence.passages.into_iter().map(|passage| passage + 1).collect(),
            status,
            unsupported: sentence.unsupported.into_iter().map(claim).collect(),
        }
    }
}
