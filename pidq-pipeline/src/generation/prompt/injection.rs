//! Detection of prompt injection: passages with instruction-like text get a warning. They are never removed, since a
//! manual may well say "ignore the alarm".

use super::{Passage, Warning, sanitize};

/// Phrases and their descriptions, compared in lower case with single spaces.
const PHRASES: &[(&str, &str)] = &[
    ("ignore all previous", IGNORE),
    ("ignore previous instructions", IGNORE),
    ("ignore the previous", IGNORE),
    ("ignore the above", IGNORE),
    ("ignore your instructions", IGNORE),
    ("ignore these rules", IGNORE),
    ("disregard all previous", IGNORE),
    ("disregard previous", IGNORE),
    ("disregard the above", IGNORE),
    ("forget all previous", IGNORE),
    ("forget everything above", IGNORE),
    ("forget your instructions", IGNORE),
    ("override your instructions", IGNORE),
    ("ignoriere alle", IGNORE),
    ("ignoriere die vorherigen", IGNORE),
    ("vergiss alle", IGNORE),
    ("ignorez les instructions", IGNORE),
    ("ignora las instrucciones", IGNORE),
    ("игнорируй", IGNORE),
    ("忽略之前", IGNORE),
    ("忽略以上", IGNORE),
    ("new instructions:", NEW),
    ("updated instructions:", NEW),
    ("system override", NEW),
    ("developer mode", NEW),
    ("you are now", NEW),
    ("from now on you", NEW),
    ("from now on, you", NEW),
    ("pretend to be", NEW),
    ("do anything now", NEW),
    ("system prompt", TELL),
    ("reveal your instructions", TELL),
    ("repeat the words above", TELL),
    ("print your instructions", TELL),
    ("api key", TELL),
    ("respond only with", ANSWER),
    ("reply only with", ANSWER),
    ("answer only with", ANSWER),
    ("do not cite", ANSWER),
    ("do not mention this", ANSWER),
    ("do not tell the user", ANSWER),
    ("tell the user", ANSWER),
    ("instead, say", ANSWER),
    ("< |", TEMPLATE),
    ("[ inst ]", TEMPLATE),
    ("< <sys", TEMPLATE),
    ("### instruction", TEMPLATE),
    ("### system", TEMPLATE),
    ("< <ctx", DELIMITERS),
    ("< <end", DELIMITERS),
    ("![", IMAGE),
    ("<img", IMAGE),
];

const IGNORE: &str = "it tells the model to ignore its rules";
const NEW: &str = "it gives the model other rules";
const TELL: &str = "it asks the model for information that is not in the documents";
const ANSWER: &str = "it tells the model what to answer";
const TEMPLATE: &str = "it contains chat template tokens";
const DELIMITERS: &str = "it contains passage delimiters";
const IMAGE: &str = "it contains an image that an answer could load from another server";

/// Returns one warning per passage and description.
pub(super) fn warnings(passages: &[Passage<'_>]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (index, passage) in passages.iter().enumerate() {
        let text = normalize(passage.text);
        for (_, detail) in PHRASES.iter().filter(|(phrase, _)| text.contains(phrase)) {
            let warning = Warning { code: "instruction-like-text", marker: index + 1, detail };
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
    }
    warnings
}

fn normalize(text: &str) -> String {
    sanitize(text).to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}
