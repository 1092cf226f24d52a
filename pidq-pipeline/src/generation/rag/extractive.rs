//! Extractive answers, without a language model: the sentences of the contexts that answer the question, as quotes.

use std::time::Instant;

use pidq_text::quotes::best_quotes;
use tokio::sync::mpsc::Sender;

use super::support::Check;
use super::{Answer, Citation, Question, Reason, StreamEvent, unanswered};
use crate::generation::citations::CitedPassage;

/// Name in the place of a model: the label of extractive answers.
pub const EXTRACTIVE: &str = "extractive";

/// Maximum number of quotes.
const QUOTE_LIMIT: usize = 3;

/// Quotes the contexts.
pub fn answer(mut question: Question) -> Answer {
    let started = Instant::now();
    question.retain_relevant();
    if question.contexts.is_empty() {
        return unanswered(EXTRACTIVE.to_owned(), question.missing_contexts());
    }
    let texts: Vec<&str> = question.contexts.iter().map(|context| context.text.as_str()).collect();
    let quotes = best_quotes(&question.text, &texts, QUOTE_LIMIT);
    if quotes.is_empty() {
        return Answer { contexts: question.contexts, ..unanswered(EXTRACTIVE.to_owned(), Reason::NotInContext) };
    }
    let mut text = QuoteText::default();
    for quote in quotes {
        text.add(&texts[quote.passage][quote.span], quote.passage + 1);
    }
    let QuoteText { text, cited, .. } = text;
    let check = Check::new(&question.asked(), &text, &question.contexts, &cited);
    Answer {
        answered: true,
        reason: None,
        citations: cited
            .iter()
            .map(|cited| Citation::new(&question.contexts, cited).with_quotes(&check.quotes))
            .collect(),
        answer: text,
        sentences: check.sentences,
        contexts: question.contexts,
        duration: started.elapsed(),
        ..unanswered(EXTRACTIVE.to_owned(), Reason::NotInContext)
    }
}

/// Sends the events of an extractive answer: the contexts, the text, the citations, and the complete answer.
pub async fn stream(question: Question, events: Sender<StreamEvent>) {
    let answer = answer(question);
    let mut list = vec![StreamEvent::Retrieval { contexts: answer.contexts.clone(), contexts_dropped: 0 }];
    if answer.answered {
        list.push(StreamEvent::Delta { text: answer.answer.clone() });
        list.extend(answer.citations.iter().cloned().map(|citation| StreamEvent::Citation(Box::new(citation))));
    }
    list.push(StreamEvent::Done(Box::new(answer)));
    for event in list {
        // Without a receiver, the client has disconnected.
        if events.send(event).await.is_err() {
            return;
        }
    }
}

/// Text of quotes, one a line, with the spans of their markers.
#[derive(Default)]
struct QuoteText {
    text: String,
    /// Length of the text in code points.
    length: usize,
    cited: Vec<CitedPassage>,
}

impl QuoteText {
    /// Adds a quote with the marker of its context. Line breaks become spaces.
    fn add(&mut self, quote: &str, marker: usize) {
        let quote = quote.split_whitespace().collect::<Vec<_>>().join(" ");
        let separator = if self.text.is_empty() { "" } else { "\n" };
        let (before, marked) = (format!("{separator}“{quote}” "), format!("[{marker}]"));
        let start = self.length + before.chars().count();
        self.length = start + marked.chars().count();
        self.text.push_str(&before);
        self.text.push_str(&marked);
        let span = [start, self.length];
        match self.cited.iter_mut().find(|cited| cited.marker == marker) {
            Some(cited) => cited.spans.push(span),
            None => self.cited.push(CitedPassage { marker, spans: vec![span] }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::rag::Context;

    fn question(text: &str, passages: &[&str]) -> Question {
        let context = |text: &&str| Context { text: (*text).to_owned(), score: 1.0, ..Context::default() };
        Question {
            text: text.to_owned(),
            contexts: passages.iter().map(context).collect(),
            has_documents: true,
            ..Question::default()
        }
    }

    #[test]
    fn quotes_are_marked_with_their_contexts() {
        let answer = answer(question(
            "What is the set pressure of PSV-1?",
            &["Other.", "€ PSV-1 has a set\npressure of 12 bar."],
        ));
        assert_eq!(answer.answer, "“€ PSV-1 has a set pressure of 12 bar.” [2]");
        assert_eq!((answer.answered, answer.model.as_str(), answer.usage), (true, "extractive", None));
        let [citation] = &answer.citations[..] else { panic!("one citation") };
        assert_eq!((citation.marker, &citation.answer_spans), (2, &vec![[40, 43]]));
        let marker: String = answer.answer.chars().skip(40).take(3).collect();
        assert_eq!(marker, "[2]");
    }

    #[test]
    fn a_question_about_a_tag_is_answered_by_the_sentences_about_it() {
        let passages = ["# Pump P-1\n\nIt runs at 7 bar.", "P-2 is a spare pump.", "V-2 feeds P-1."];
        let known = answer(question("What do the documents say about p-1?", &passages));
        assert_eq!(known.answer, "“It runs at 7 bar.” [1]\n“V-2 feeds P-1.” [3]");
        assert_eq!((known.answered, known.citations.len()), (true, 2));
        let unknown = answer(question("What do the documents say about P-3?", &passages));
        assert_eq!((unknown.answered, unknown.reason), (false, Some(Reason::NotInContext)));
    }

    #[test]
    fn a_question_without_an_answer_says_why() {
        for (passages, score, reason) in [
            (&[][..], None, Reason::NoRelevantContext),
            (&["PSV-1 is set at 12 bar."], Some(2.0), Reason::NoRelevantContext),
            (&["PSV-1 is set at 12 bar."], None, Reason::NotInContext),
        ] {
            let answer = answer(Question { min_score: score, ..question("Who won the football match?", passages) });
            assert_eq!((answer.answered, answer.reason, answer.citations.len()), (false, Some(reason), 0));
        }
        let without = Question { has_documents: false, ..question("x", &[]) };
        assert_eq!(answer(without).reason, Some(Reason::NoDocuments));
    }

    #[tokio::test]
    async fn a_stream_has_the_events_of_an_answer() {
        let (sender, mut receiver) = tokio::sync::mpsc::channel(16);
        stream(question("set pressure of PSV-1", &["PSV-1 has a set pressure of 12 bar."]), sender).await;
        let mut names = Vec::new();
        while let Some(event) = receiver.recv().await {
            names.push(event.name());
        }
        assert_eq!(names, ["retrieval", "delta", "citation", "done"]);
    }
}
