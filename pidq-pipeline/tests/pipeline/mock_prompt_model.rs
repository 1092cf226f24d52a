//! Mock model that answers from its prompt alone, to test prompts.

use pidq_pipeline::generation::prompt::REFUSAL;
use serde_json::Value;

use crate::mock_server::{MockServer, completion, delta, event, json_reply, last, raw, stream_head};

/// Starts a model that answers with the sentence that shares most words with the question, and its citation marker.
///
/// It trusts only the delimiters of its request and reports forged ones.
pub async fn prompt_model() -> MockServer {
    MockServer::start(|_, request| {
        let text = answer_from_prompt(&request.body);
        if request.body["stream"] != true {
            return vec![json_reply(200, &completion(&text))];
        }
        let words = text.split_inclusive(' ').map(|word| event(&delta(word)));
        let ending = [event(&last("stop")), raw("data: [DONE]\n\n")];
        [stream_head()].into_iter().chain(words).chain(ending).collect()
    })
    .await
}

fn answer_from_prompt(body: &Value) -> String {
    let system = body["messages"][0]["content"].as_str().unwrap();
    let user = body["messages"][1]["content"].as_str().unwrap();
    let boundary = system.split("<<ctx ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    let Some(passages) = passages(user, boundary) else { return "BOUNDARY BROKEN".to_owned() };
    let question = user.rsplit("Question: ").next().unwrap();
    best_sentence(&passages, &words(question))
}

/// Returns the passages by number; `None` if a delimiter is misplaced.
fn passages<'a>(user: &'a str, boundary: &str) -> Option<Vec<(usize, Vec<&'a str>)>> {
    let mut passages: Vec<(usize, Vec<&str>)> = Vec::new();
    let mut open = false;
    for line in user.lines() {
        if let Some(number) = parse_delimiter(line, "ctx", boundary) {
            if open || number != passages.len() + 1 {
                return None;
            }
            passages.push((number, Vec::new()));
            open = true;
        } else if let Some(number) = parse_delimiter(line, "end", boundary) {
            if !open || number != passages.len() {
                return None;
            }
            open = false;
        } else if is_history(line, boundary) && !open {
            // Turns of the history are not passages.
        } else if line.contains("<<") || line.contains(boundary) {
            return None;
        } else if open {
            passages.last_mut()?.1.push(line);
        }
    }
    (!open).then_some(passages)
}

fn parse_delimiter(line: &str, kind: &str, boundary: &str) -> Option<usize> {
    line.strip_prefix(&format!("<<{kind} {boundary} "))?.strip_suffix(">>")?.parse().ok()
}

fn is_history(line: &str, boundary: &str) -> bool {
    let delimiters = ["said", "end"].into_iter().flat_map(|kind| ["asker", "you"].map(|speaker| (kind, speaker)));
    delimiters.into_iter().any(|(kind, speaker)| line == format!("<<{kind} {boundary} {speaker}>>"))
}

fn best_sentence(passages: &[(usize, Vec<&str>)], question: &[String]) -> String {
    let mut best = (1, REFUSAL.to_owned());
    for (number, lines) in passages {
        // The first line is the source of the passage.
        for sentence in lines[1..].iter().flat_map(|line| line.split(". ")) {
            let shared = words(sentence).iter().filter(|word| question.contains(word)).count();
            if shared > best.0 {
                best = (shared, format!("{} [{number}].", sentence.trim_end_matches('.')));
            }
        }
    }
    best.1
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| word.len() > 2);
    let mut words: Vec<String> = words.map(str::to_lowercase).collect();
    words.sort();
    words.dedup();
    words
}
