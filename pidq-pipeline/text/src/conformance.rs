//! Conformance runner: reads a case of the splitter and ranking corpora per JSON line and prints a result line for each.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use serde_json::{Map, Value, json};

use crate::ranking::bm25::{Bm25Params, InvertedIndex};
use crate::ranking::{fusion, metrics};
use crate::splitter::{self, Chunk, SplitError};

/// Runs each line of `input` and writes the results to `output`, in order.
///
/// # Errors
/// Fails if reading or writing fails.
pub fn run_cases(input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    for line in input.lines() {
        let line = line?;
        if !line.trim().is_empty() {
            writeln!(output, "{}", run_case(&line))?;
            output.flush()?;
        }
    }
    Ok(())
}

/// Runs one case. Returns `{"id", "ok"}` or `{"id", "error"}`.
pub fn run_case(line: &str) -> Value {
    let case: Value = match serde_json::from_str(line) {
        Ok(case) => case,
        Err(error) => return json!({"id": null, "error": format!("invalid case: {error}")}),
    };
    let id = case.get("id").cloned().unwrap_or(Value::Null);
    match evaluate(&case) {
        Ok(fields) => json!({"id": id, "ok": fields}),
        Err(error) => json!({"id": id, "error": error}),
    }
}

fn evaluate(case: &Value) -> Result<Value, String> {
    match case.get("kind").and_then(Value::as_str) {
        Some("bm25") => bm25(case),
        Some("rrf") => rrf(case),
        Some("metrics") => eval_metrics(case),
        Some(kind) => Err(format!("unknown kind of case: {kind}")),
        None => split(case).map_err(|error| error.to_string()),
    }
}

fn split(case: &Value) -> Result<Value, SplitError> {
    let name = text(case, "splitter");
    let splitter =
        splitter::find(name).ok_or_else(|| SplitError::parameter("splitter", format!("unknown splitter {name}")))?;
    let none = Map::new();
    let parameters = case.get("params").and_then(Value::as_object).unwrap_or(&none);
    let text = text(case, "text");
    let vectors = |texts: &[String]| embeddings(case, texts);
    let chunks = splitter.build(parameters)?.split(text, &vectors)?;
    Ok(chunk_fields(name, parameters, text, &chunks))
}

/// Returns the fields that the corpus has for a splitter.
fn chunk_fields(splitter: &str, parameters: &Map<String, Value>, text: &str, chunks: &[Chunk<'_>]) -> Value {
    let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.text.as_ref()).collect();
    match splitter {
        "markdown_header" | "html_header" => json!({"documents": chunks.iter().map(document).collect::<Vec<_>>()}),
        "json" => {
            let values = texts.iter().map(|text| serde_json::from_str(text).unwrap_or(Value::Null));
            json!({"chunks_json": values.collect::<Vec<Value>>(), "chunks": texts})
        }
        "token" => {
            let encoding = parameters.get("encoding").and_then(Value::as_str).unwrap_or("cl100k_base");
            json!({"chunks": texts, "token_count": splitter::length(encoding, text)})
        }
        "character" | "semantic" => json!({"chunks": texts}),
        _ => json!({"chunks": texts, "starts": starts(text, chunks)}),
    }
}

fn document(chunk: &Chunk<'_>) -> Value {
    let headings: Map<_, _> = chunk.headings.iter().map(|(name, text)| (name.clone(), json!(text))).collect();
    json!({"content": chunk.text, "metadata": headings})
}

/// Returns the start of each chunk in code points; none for chunks that are not exact.
fn starts(text: &str, chunks: &[Chunk<'_>]) -> Vec<Option<usize>> {
    let start = |chunk: &Chunk<'_>| match &chunk.span {
        Some(span) if chunk.is_exact() => Some(text[..span.start].chars().count()),
        _ => None,
    };
    chunks.iter().map(start).collect()
}

/// Returns the vectors that a case provides for texts.
fn embeddings(case: &Value, texts: &[String]) -> Result<Vec<Vec<f64>>, SplitError> {
    let rows = list(case, "embeddings");
    let vector = |text: &String| {
        let row = rows.iter().find(|row| row.get("input").and_then(Value::as_str) == Some(text.as_str()));
        row.map(|row| numbers(row, "vector"))
            .ok_or_else(|| SplitError::text(format!("the case has no vector for {text:?}")))
    };
    texts.iter().map(vector).collect()
}

fn bm25(case: &Value) -> Result<Value, String> {
    let mut index = InvertedIndex::default();
    for document in list(case, "docs") {
        index.add(words(document));
    }
    let weights = Bm25Params { k1: number(case, "k1")?, b: number(case, "b")? };
    let query = case.get("query").unwrap_or(&Value::Null);
    Ok(json!({"scores": index.scores(words(query), weights).values}))
}

fn rrf(case: &Value) -> Result<Value, String> {
    let lists: Vec<Vec<&str>> = list(case, "lists").iter().map(words).collect();
    let weights = case.get("weights").map_or_else(|| vec![1.0; lists.len()], |_| numbers(case, "weights"));
    let rankings: Vec<(f64, &[&str])> = weights.into_iter().zip(lists.iter().map(Vec::as_slice)).collect();
    let fused = fusion::reciprocal_ranks(&rankings, number(case, "k")?);
    let scores: Map<_, _> = fused.iter().map(|(name, score)| ((*name).to_owned(), json!(score))).collect();
    Ok(json!({"scores": scores, "order_ties_by_id": fused.iter().map(|(name, _)| *name).collect::<Vec<_>>()}))
}

fn eval_metrics(case: &Value) -> Result<Value, String> {
    let judgments: BTreeMap<String, metrics::Judgments> = parse(case, "qrels")?;
    let runs: BTreeMap<String, BTreeMap<String, f64>> = parse(case, "run")?;
    let mut expected = Map::new();
    for (query, run) in runs {
        if let Some(judgments) = judgments.get(&query) {
            let run: Vec<_> = run.into_iter().collect();
            let measures = metrics::measure(&run, judgments).into_iter();
            expected.insert(query, measures.map(|(name, value)| (name.to_owned(), json!(value))).collect());
        }
    }
    Ok(json!({"expected": expected}))
}

fn parse<T: serde::de::DeserializeOwned>(case: &Value, field: &str) -> Result<T, String> {
    let value = case.get(field).cloned().unwrap_or(Value::Null);
    serde_json::from_value(value).map_err(|error| format!("{field}: {error}"))
}

fn text<'c>(case: &'c Value, field: &str) -> &'c str {
    case.get(field).and_then(Value::as_str).unwrap_or("")
}

fn number(case: &Value, field: &str) -> Result<f64, String> {
    case.get(field).and_then(Value::as_f64).ok_or_else(|| format!("{field} must be a number"))
}

fn numbers(value: &Value, field: &str) -> Vec<f64> {
    list(value, field).iter().filter_map(Value::as_f64).collect()
}

fn list<'c>(case: &'c Value, field: &str) -> &'c [Value] {
    case.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn words(value: &Value) -> Vec<&str> {
    value.as_array().map_or(&[][..], Vec::as_slice).iter().filter_map(Value::as_str).collect()
}
