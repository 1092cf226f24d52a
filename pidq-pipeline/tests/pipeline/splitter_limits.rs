//! Limits of text splitters: the total size of chunks is bounded, and splitting takes no quadratic time.

use std::time::{Duration, Instant};

use pidq_text::splitter::{Chunk, SplitError, find};
use serde_json::{Value, json};

use crate::platform::TestPlatform;

/// Returns the texts of the chunks.
fn split(name: &str, parameters: &Value, text: &str) -> Result<Vec<String>, SplitError> {
    let splitter = find(name).unwrap().build(parameters.as_object().unwrap()).unwrap();
    let embed = |texts: &[String]| Ok(texts.iter().map(|_| vec![1.0]).collect());
    let text_of = |chunk: &Chunk<'_>| chunk.text.clone().into_owned();
    Ok(splitter.split(text, &embed)?.iter().map(text_of).collect())
}

#[test]
fn overlapping_chunks_are_limited() {
    let words = format!("{} ", "a".repeat(49)).repeat(4_000);
    let with_heading =
        |marker: &str, section: &str| format!("{marker}{}{}", "h".repeat(200_000), section.repeat(1_000));
    let fields: String = (0..1_000).map(|number| format!(r#""{number}":"{}","#, "v".repeat(60))).collect();
    let json = format!(r#"{{"{}":{{{}"z":1}}}}"#, "k".repeat(200_000), fields);
    let nested = "<div>a".repeat(5_000) + &"b</div>".repeat(5_000);
    for (name, parameters, text) in [
        ("recursive_character", json!({"chunk_size": 50_000, "chunk_overlap": 49_999}), words.clone()),
        ("character", json!({"separator": " ", "chunk_size": 50_000, "chunk_overlap": 49_999}), words.clone()),
        (
            "sentence",
            json!({"chunk_size": 50_000, "chunk_overlap": 49_999}),
            format!("A{}. ", "a".repeat(47)).repeat(4_000),
        ),
        ("tag_aware", json!({"chunk_size": 50_000, "chunk_overlap": 49_999}), words),
        ("markdown_header", json!({}), with_heading("# ", "\n## x\ny\n## z\ny")),
        ("html_header", json!({}), with_heading("<h1>", "</h1><h2>x</h2><p>y</p>")),
        ("html_header", json!({"return_each_element": true}), nested),
        ("json", json!({"max_chunk_size": 100}), json),
        ("semantic", json!({"buffer_size": 1_000_000}), "Some words. ".repeat(4_000)),
    ] {
        let error = split(name, &parameters, &text).map(|chunks| chunks.len()).expect_err(name);
        assert!(error.is_too_large, "{name}: {error}");
    }
}

#[test]
fn ordinary_overlaps_and_headings_are_within_the_limit() {
    let words = "word ".repeat(40_000);
    assert!(split("recursive_character", &json!({"chunk_size": 1_000, "chunk_overlap": 950}), &words).is_ok());
    let sections = "# A heading of some length\n".to_owned() + &"## Another\n\nx\n\ny\n\n".repeat(20_000);
    let chunks = split("markdown_header", &json!({}), &sections).unwrap();
    assert_eq!(chunks, ["x  \ny".to_owned() + &"  \nx  \ny".repeat(19_999)]);
}

#[test]
fn long_words_and_deep_nesting_take_linear_time() {
    let started = Instant::now();
    let word = "a".repeat(400_000);
    assert_eq!(split("tag_aware", &json!({}), &word).unwrap(), [word.as_str()]);
    let unclosed = "<div>".repeat(50_000) + "text" + &"</p>".repeat(50_000);
    assert_eq!(split("html_header", &json!({}), &unclosed).unwrap(), ["text"]);
    let fields: String = (0..30_000).map(|number| format!(r#""{number}":1,"#)).collect();
    let parts = split("json", &json!({"max_chunk_size": 10_000_000}), &format!("{{{fields}\"z\":1}}")).unwrap();
    assert_eq!(parts.len(), 1);
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn a_million_spaces_are_split_by_tokens() {
    let text = " ".repeat(1_100_000) + "a";
    let chunks = split("token", &json!({"chunk_size": 20_000, "chunk_overlap": 0}), &text).unwrap();
    assert_eq!(chunks.concat(), text);
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_chunks_are_a_specific_error() {
    let platform = TestPlatform::sqlite(&[]).await;
    let pipeline = json!({
        "name": "Unit", "embedding_model": "hash-512", "text_splitter": "recursive_character", "classifications": ["a"],
    });
    let id = platform.post("/api/pipelines", &pipeline).await.json()["id"].as_str().unwrap().to_owned();
    let splitter = json!({"name": "recursive_character", "chunk_size": 50_000, "chunk_overlap": 49_999});
    let body = json!({"text": format!("{} ", "a".repeat(49)).repeat(4_000), "text_splitter": splitter});
    let rejected = platform.post(&format!("/api/pipelines/{id}/preview"), &body).await;
    assert_eq!((rejected.status, &rejected.json()["code"]), (422, &json!("too-many-chunks")), "{}", rejected.json());
}
