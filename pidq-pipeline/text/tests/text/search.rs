//! Search in a partition.

use pidq_text::embedding::{self, Calibration, Error, ModelSources, from_blob, normalize, to_blob};
use pidq_text::search::{Chunk, Document, Filter, Hit, MIN_RELEVANCE, Mode, Partition, SearchQuery, chunk_header};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// A document with one chunk per text, without vectors.
fn document(id: &str, texts: &[&str]) -> Document {
    let mut end = 0;
    let chunk = |(index, text): (u32, &&str)| {
        let start = end;
        end += text.len() + 1;
        let span = Some(start..start + text.len());
        let (id, text) = (format!("{id}.{index}"), (*text).to_owned());
        Chunk { id, index, span, header: String::new(), text, vector: Vec::new() }
    };
    Document { id: id.to_owned(), metadata: Map::new(), chunks: (0..).zip(texts).map(chunk).collect() }
}

fn embedded(mut document: Document) -> Document {
    for chunk in &mut document.chunks {
        chunk.vector = vector(&chunk.indexed_text());
    }
    document
}

fn vector(text: &str) -> Vec<f32> {
    embedding::open("hash-512", &ModelSources::default()).unwrap().embed(&[text.to_owned()]).unwrap().remove(0)
}

fn partition(documents: impl IntoIterator<Item = Document>) -> Partition {
    let mut partition = Partition::new(0);
    documents.into_iter().for_each(|document| partition.put(document).unwrap());
    partition
}

fn question(text: &str) -> SearchQuery<'_> {
    SearchQuery {
        text,
        vector: None,
        mode: Mode::Hybrid,
        calibration: Calibration::unmeasured(0.3),
        top: 8,
        min_score: 0.0,
        filter: None,
    }
}

fn ids<'h>(hits: &'h [Hit<'_>]) -> Vec<&'h str> {
    hits.iter().map(|hit| hit.best.id.as_str()).collect()
}

/// Returns the ids and texts of the hits of a query, and the bits of their scores.
fn hits_with_scores(partition: &Partition, text: &str, mode: Mode) -> Vec<(String, String, [u64; 3])> {
    let vector = vector(text);
    let hits = partition.search(&SearchQuery { vector: Some(&vector), mode, top: 5, ..question(text) });
    let bits = |hit: &Hit<'_>| [hit.score, hit.sparse, hit.dense].map(f64::to_bits);
    hits.iter().map(|hit| (hit.best.id.clone(), hit.text(), bits(hit))).collect()
}

#[test]
fn an_empty_partition_has_no_hits() {
    assert!(Partition::new(512).search(&question("valve")).is_empty());
    assert!(partition([document("a", &[])]).search(&question("valve")).is_empty());
    assert!(partition([document("a", &["valve"])]).search(&question("")).is_empty());
    assert!(partition([document("a", &["valve"])]).search(&SearchQuery { top: 0, ..question("valve") }).is_empty());
}

#[test]
fn the_limit_may_exceed_the_number_of_hits() {
    let mut partition = Partition::new(512);
    partition.put(embedded(document("a", &["valve"]))).unwrap();
    let vector = vector("valve");
    for mode in [Mode::Sparse, Mode::Dense, Mode::Hybrid] {
        let question = SearchQuery { top: usize::MAX, vector: Some(&vector), mode, ..question("valve") };
        assert_eq!(partition.search(&question).len(), 1, "{mode:?}");
    }
}

#[test]
fn a_tag_is_found_in_every_notation() {
    let partition = partition([
        document("a", &["PSV-2015A is set at 38.5 barg"]),
        document("b", &["PSV-2015B is set at 40.4 barg"]),
        document("c", &["PSV-2021 is set at 42 barg"]),
    ]);
    for text in ["psv-2015b", "PSV2015B", "PSV 2015 B", "psv 2015b", "PSV-2015-B", "40,40 barg"] {
        assert_eq!(ids(&partition.search(&question(text)))[0], "b.0", "{text}");
    }
}

#[test]
fn an_exact_tag_ranks_before_longer_tags() {
    let pump = "P-101A is a centrifugal pump (equipment.centrifugal_pump). P-101A has the parts P-101A N1, P-101A N2. \
                P-101A is fed from HV-1011 through its parts. P-101A flows to CV-1013 through its parts.";
    let nozzle = |number: u32| {
        format!(
            "P-101A N{number} is a nozzle (equipment_component.nozzle). P-101A N{number} is part of P-101A. \
             P-101A N{number} is connected to and flows to HV-101{number}."
        )
    };
    let other_pump = "P-101B is a centrifugal pump. P-101B is fed from HV-1021. It is the spare of P-101A.";
    let (one, two) = (nozzle(1), nozzle(2));
    let partition = partition([
        document("a", &[&one]),
        document("b", &[&two]),
        document("c", &[pump]),
        document("d", &[other_pump]),
    ]);
    for text in ["P-101A", "P 101A", "p101a", "What is P-101A?"] {
        assert_eq!(ids(&partition.search(&question(text)))[0], "c.0", "{text}");
    }
    for text in ["P-101A N2", "nozzle N2 of P-101A"] {
        assert_eq!(ids(&partition.search(&question(text)))[0], "b.0", "{text}");
    }
}

#[test]
fn chunks_with_the_tag_of_a_question_come_first() {
    let partition = partition([
        document("a", &["What level does the level controller LIC-28 hold? It holds the level of the level drum."]),
        document("b", &["LIC-27 holds 900 mm."]),
        document("c", &["P-101 is a pump."]),
        document("d", &["The spare of the pump P-102 is P-103. What pump is a spare pump? The pump P-102."]),
    ]);
    for text in ["What level does LIC-27 hold?", "What level does LIC 27 hold?", "what level does lic27 hold"] {
        assert_eq!(ids(&partition.search(&question(text)))[0], "b.0", "{text}");
    }
    for text in
        ["What is the spare pump of P-101?", "What is the spare pump of P 101?", "what is the spare pump of p101"]
    {
        assert_eq!(ids(&partition.search(&question(text)))[0], "c.0", "{text}");
    }
    // Both tags before one of them, and a tag that no document has is ignored.
    assert_eq!(ids(&partition.search(&question("spare of P-102 and P-103")))[0], "d.0");
    assert_eq!(ids(&partition.search(&question("level drum of LIC-99")))[0], "a.0");
}

#[test]
fn vectors_do_not_rank_other_chunks_before_those_with_the_tag() {
    let mut partition = Partition::new(2);
    for (id, text, vector) in [("a", "P-101 pump", [1.0, 0.0]), ("b", "P-102 pump", [0.0, 1.0])] {
        let mut document = document(id, &[text]);
        document.chunks[0].vector = vector.to_vec();
        partition.put(document).unwrap();
    }
    for weight in [0.0, 0.5, 1.0] {
        let query = SearchQuery {
            vector: Some(&[0.0, 1.0]),
            calibration: Calibration::unmeasured(weight),
            ..question("pump P-101")
        };
        assert_eq!(ids(&partition.search(&query))[0], "a.0", "{weight}");
    }
}

#[test]
fn hybrid_search_has_no_hits_with_score_zero() {
    let texts = ["relief valve", "pump", "drain", "flare stack", "glycol", "motor"];
    let mut partition = Partition::new(512);
    for (id, text) in ["a", "b", "c", "d", "e", "f"].iter().zip(texts) {
        partition.put(embedded(document(id, &[text]))).unwrap();
    }
    for (text, weight) in [("relief valve", 0.3), ("relief valve", 0.0), ("zebra", 0.0)] {
        let vector = vector(text);
        let hits = partition.search(&SearchQuery {
            vector: Some(&vector),
            calibration: Calibration::unmeasured(weight),
            ..question(text)
        });
        assert!(hits.iter().all(|hit| hit.score > 0.0), "{text} {weight}: {hits:?}");
        assert_eq!(hits.is_empty(), text == "zebra");
    }
}

#[test]
fn a_manual_about_the_subject_comes_before_other_manuals() {
    let manual = |id: &str, name: &str, interval: &str| {
        let first = format!("Operating manual of the compressor {name}");
        let second = format!("The oil of the machine is changed every {interval} hours");
        document(id, &[&first, "Check the vibration of the machine daily", &second])
    };
    let partition =
        partition([manual("a", "Kestrel", "2000"), manual("b", "Merlin", "4000"), manual("c", "Osprey", "800")]);
    for (name, expected) in [("Kestrel", "2000"), ("Merlin", "4000"), ("Osprey", "800")] {
        let text = format!("After how many hours is the oil of the {name} machine changed?");
        let hits = partition.search(&question(&text));
        assert!(hits[0].text().contains(expected), "{name}: {}", hits[0].text());
    }
}

#[test]
fn a_question_about_something_else_has_little_relevance() {
    let partition = partition([
        document("a", &["The relief valve is set at 38.5 barg"]),
        document("b", &["Start the pump P-101 on minimum flow"]),
    ]);
    let relevance = |text| {
        let query = question(text);
        partition.relevance(&query, &partition.search(&query))
    };
    for text in ["relief valve", "How is P-101 started?", "At what pressure is the relief valve set?"] {
        assert!(relevance(text) > MIN_RELEVANCE, "{text}: {}", relevance(text));
    }
    for text in ["zebra", "Who won the football match after the start?"] {
        assert!(relevance(text) < MIN_RELEVANCE, "{text}: {}", relevance(text));
    }
}

#[test]
fn only_the_cosine_of_the_calibration_is_relevance_without_common_words() {
    for (cosine, min_similarity, is_relevant) in
        [(0.6_f32, 0.65, false), (0.7, 0.65, true), (0.7, 0.75, false), (0.4, 0.35, true), (0.3, 0.35, false)]
    {
        let mut text = document("a", &["relief valve"]);
        text.chunks[0].vector = vec![1.0, 0.0];
        let mut partition = Partition::new(2);
        partition.put(text).unwrap();
        let vector = [cosine, (1.0 - cosine * cosine).sqrt()];
        for (weight, expected) in [(0.3, is_relevant), (0.0, false)] {
            let calibration = Calibration { weight, min_similarity };
            let query = SearchQuery { vector: Some(&vector), calibration, ..question("football") };
            let relevance = partition.relevance(&query, &partition.search(&query));
            assert_eq!(relevance >= MIN_RELEVANCE, expected, "cosine {cosine}, {calibration:?}: {relevance}");
        }
    }
}

/// A partition in which every everyday word occurs somewhere, as in a broad collection.
#[test]
fn one_shared_word_is_no_evidence_in_a_broad_collection() {
    let words = "price coffee train museum garden holiday doctor winter concert village bridge teacher window farmer island market";
    let everyday = words.split(' ').enumerate().map(|(number, word)| {
        document(&format!("e{number}"), &[format!("the {word} of survey number {number} in the appendix").as_str()])
    });
    let relief = document("relief", &["The relief valve of the boiler is tested every winter"]);
    let partition = partition(everyday.chain([relief]));
    let relevance = |text| {
        let query = question(text);
        partition.relevance(&query, &partition.search(&query))
    };
    for text in ["price of a coffee in the museum garden", "which train goes from the village to the island market"] {
        assert!(relevance(text) < MIN_RELEVANCE, "{text}: {}", relevance(text));
    }
    for text in ["valve", "winter", "when is the relief valve tested", "price survey"] {
        assert!(relevance(text) > MIN_RELEVANCE, "{text}: {}", relevance(text));
    }
}

#[test]
fn headings_are_indexed_but_not_displayed() {
    let mut document = document("a", &["set at 38.5 barg"]);
    document.chunks[0].header = chunk_header("V-201 datasheet", ["Relief", " "]);
    let partition = partition([document]);
    let hits = partition.search(&question("relief of V-201"));
    assert_eq!(
        (hits[0].text().as_str(), hits[0].best.header.as_str()),
        ("set at 38.5 barg", "V-201 datasheet › Relief")
    );
}

#[test]
fn adjacent_chunks_are_one_passage() {
    let partition = partition([document("a", &["valve one", "valve two", "pump", "valve four"])]);
    let hits = partition.search(&question("valve"));
    let passages: Vec<_> = hits.iter().map(|hit| (hit.text(), hit.span())).collect();
    assert_eq!(passages, [("valve one\nvalve two".to_owned(), Some(0..19)), ("valve four".to_owned(), Some(25..35))]);
}

#[test]
fn overlaps_of_chunks_appear_once() {
    let mut document = document("a", &["open the valve", "the valve slowly"]);
    document.chunks[1].span = Some(5..21);
    let partition = partition([document]);
    let hits = partition.search(&question("valve"));
    assert_eq!((hits[0].text().as_str(), hits[0].span()), ("open the valve slowly", Some(0..21)));
}

#[test]
fn duplicate_texts_appear_once_unless_tags_differ() {
    let text = "The valve must lift within three percent of its set pressure and close again at ninety percent";
    let mut partition = Partition::new(512);
    for (id, tag) in [("a", "PSV-2015A"), ("b", "PSV-2015A"), ("c", "PSV-2015B")] {
        partition.put(embedded(document(id, &[&format!("{text}: {tag}. {text}. {text}")]))).unwrap();
    }
    assert_eq!(ids(&partition.search(&question("set pressure"))), ["a.0", "c.0"]);
}

#[test]
fn equal_scores_are_ordered_by_id() {
    let texts = ["valve", "x1", "x2", "x3", "x4", "valve"];
    let partition = partition(["c", "a", "b"].map(|id| document(id, &texts)));
    assert_eq!(ids(&partition.search(&question("valve"))), ["a.0", "a.5", "b.0", "b.5", "c.0", "c.5"]);
}

#[test]
fn filters_apply_before_the_ranking() {
    let documents = (0..200).map(|number| {
        let metadata = json!({"unit": number % 100}).as_object().unwrap().clone();
        embedded(Document { metadata, ..document(&format!("{number:03}"), &["isolate the valve"]) })
    });
    let mut partition = Partition::new(512);
    documents.for_each(|document| partition.put(document).unwrap());
    let filter = Filter::parse(&json!({"unit": {"in": [99]}})).unwrap();
    for mode in [Mode::Sparse, Mode::Dense, Mode::Hybrid] {
        let vector = vector("valve");
        let question = SearchQuery { filter: Some(&filter), vector: Some(&vector), mode, ..question("valve") };
        let found: Vec<_> =
            partition.rank(&question, 10).iter().map(|ranked| partition.chunk_position(ranked).0.to_owned()).collect();
        assert_eq!(found, ["099", "199"], "{mode:?}");
    }
}

#[test]
fn scores_are_normalized_and_can_be_limited() {
    let partition = partition([document("a", &["relief valve"]), document("b", &["valve"]), document("c", &["pump"])]);
    let hits = partition.search(&question("relief valve"));
    assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
    assert!(hits.iter().all(|hit| hit.score > 0.0 && hit.score <= 1.0));
    let minimum = hits[0].score;
    assert_eq!(ids(&partition.search(&SearchQuery { min_score: minimum, ..question("relief valve") })), ["a.0"]);
    assert!(partition.search(&SearchQuery { min_score: 1.0, ..question("relief valve") }).is_empty());
}

#[test]
fn without_vectors_the_search_is_sparse() {
    let partition = partition([document("a", &["valve"])]);
    assert_eq!(ids(&partition.search(&question("valve"))), ["a.0"]);
    assert!(partition.search(&SearchQuery { mode: Mode::Dense, ..question("valve") }).is_empty());
}

#[test]
fn a_vector_of_wrong_length_is_rejected_without_effect() {
    let mut partition = Partition::new(512);
    partition.put(embedded(document("a", &["valve"]))).unwrap();
    let result = partition.put(document("a", &["pump"]));
    assert_eq!(result, Err(Error::Dimensions { expected: 512, found: 0 }));
    assert_eq!(ids(&partition.search(&question("valve"))), ["a.0"]);
}

#[test]
fn a_document_can_be_removed_and_added_again() {
    let expected = embedded(document("a", &["open valve", "close valve"]));
    let mut partition = Partition::new(512);
    partition.put(expected.clone()).unwrap();
    assert_eq!(partition.remove("a"), Some(expected));
    assert_eq!((partition.remove("a"), partition.len()), (None, 0));
    assert!(partition.search(&question("valve")).is_empty());
}

#[test]
fn metadata_can_change() {
    let mut partition = partition([document("a", &["valve"])]);
    let filter = Filter::parse(&json!({"unit": 20})).unwrap();
    let query = SearchQuery { filter: Some(&filter), ..question("valve") };
    assert!(partition.search(&query).is_empty());
    assert!(partition.set_metadata("a", json!({"unit": 20}).as_object().unwrap().clone()));
    assert_eq!(partition.search(&query).len(), 1);
    assert!(!partition.set_metadata("b", Map::new()));
}

const WORDS: &[&str] =
    &["valve", "pump", "PSV-2015A", "PSV-2015B", "set", "38.5 barg", "isolate", "isolation", "drain", "V-201", "open"];

fn texts() -> impl Strategy<Value = Vec<String>> {
    let text = prop::collection::vec(prop::sample::select(WORDS), 0..6).prop_map(|words| words.join(" "));
    prop::collection::vec(text, 1..4)
}

/// Generates documents with unique ids.
fn documents() -> impl Strategy<Value = Vec<Document>> {
    let with_id = |(number, texts): (usize, Vec<String>)| {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        embedded(document(&format!("d{number:02}"), &texts))
    };
    prop::collection::vec(texts(), 1..6).prop_map(move |all| all.into_iter().enumerate().map(with_id).collect())
}

fn query_text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(WORDS), 1..4).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn results_depend_only_on_the_current_documents(
        current in documents(),
        others in documents(),
        text in query_text(),
        order in any::<u64>(),
    ) {
        let mut fresh = Partition::new(512);
        current.iter().cloned().for_each(|document| fresh.put(document).unwrap());
        // The same documents in another order, after others were added and removed, with one document added twice.
        let mut rebuilt = Partition::new(512);
        for document in &others {
            rebuilt.put(Document { id: format!("x{}", document.id), ..document.clone() }).unwrap();
        }
        let mut ordered: Vec<_> = current.iter().enumerate().collect();
        ordered.sort_by_key(|(number, _)| (*number as u64 + 1).wrapping_mul(order | 1));
        ordered.iter().for_each(|(_, document)| rebuilt.put((*document).clone()).unwrap());
        others.iter().for_each(|document| drop(rebuilt.remove(&format!("x{}", document.id))));
        rebuilt.put(current[0].clone()).unwrap();
        for mode in [Mode::Sparse, Mode::Dense, Mode::Hybrid] {
            prop_assert_eq!(hits_with_scores(&fresh, &text, mode), hits_with_scores(&rebuilt, &text, mode));
        }
        prop_assert_eq!(fresh.to_bytes(), rebuilt.to_bytes());
    }

    #[test]
    fn a_snapshot_equals_its_partition(current in documents(), text in query_text()) {
        let mut partition = Partition::new(512);
        current.into_iter().for_each(|document| partition.put(document).unwrap());
        let bytes = partition.to_bytes();
        let decoded = Partition::from_bytes(&bytes).unwrap();
        for mode in [Mode::Sparse, Mode::Dense, Mode::Hybrid] {
            prop_assert_eq!(hits_with_scores(&partition, &text, mode), hits_with_scores(&decoded, &text, mode));
        }
        prop_assert_eq!(decoded.to_bytes(), bytes);
    }

    #[test]
    fn a_truncated_snapshot_is_rejected(texts in texts(), position in any::<prop::sample::Index>(), flip in 1..=255u8) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut bytes = partition([document("a", &texts)]).to_bytes();
        prop_assert!(Partition::from_bytes(&bytes[..position.index(bytes.len())]).is_none());
        // Modified bytes are detected by the caller; they must not panic.
        let position = position.index(bytes.len());
        bytes[position] ^= flip;
        let _ = Partition::from_bytes(&bytes);
    }

    #[test]
    fn blobs_preserve_every_bit(vector in prop::collection::vec(-1e6f32..1e6, 0..20)) {
        prop_assert_eq!(from_blob(&to_blob(&vector)), Some(vector));
    }
}

#[test]
fn invalid_vector_blobs_are_rejected() {
    assert_eq!(from_blob(&[0, 0, 0]), None);
    assert_eq!(from_blob(&to_blob(&[f32::NAN])), None);
}

/// Deterministic pseudo-random numbers.
fn random_number(state: &mut u64) -> f32 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
}

/// Vectors around a few centers, like those of texts.
fn clustered_vectors(count: usize, dimensions: usize, state: &mut u64) -> Vec<Vec<f32>> {
    let centers: Vec<Vec<f32>> = (0..30).map(|_| (0..dimensions).map(|_| random_number(state)).collect()).collect();
    let vector_near_center = |number: usize| {
        let mut vector: Vec<f32> = centers[number % 30].iter().map(|x| x + 0.6 * random_number(state)).collect();
        normalize(&mut vector);
        vector
    };
    (0..count).map(vector_near_center).collect()
}

#[test]
fn quantization_loses_no_results() {
    let mut state = 7;
    let vectors = clustered_vectors(3100, 96, &mut state);
    let (queries, indexed) = vectors.split_at(100);
    let mut partition = Partition::new(96);
    for (number, vector) in indexed.iter().enumerate() {
        let mut document = document(&format!("{number:04}"), &["x"]);
        document.chunks[0].vector.clone_from(vector);
        partition.put(document).unwrap();
    }
    let mut hits = 0;
    for vector in queries {
        let question = SearchQuery { vector: Some(vector), mode: Mode::Dense, ..question("") };
        let found: Vec<_> =
            partition.rank(&question, 10).iter().map(|r| partition.chunk_position(r).0.parse().unwrap()).collect();
        hits += exact_neighbors(indexed, vector, 10).iter().filter(|number| found.contains(*number)).count();
    }
    assert!(hits >= 995, "{hits} of 1000");
}

fn exact_neighbors(indexed: &[Vec<f32>], vector: &[f32], limit: usize) -> Vec<usize> {
    let dot =
        |number: usize| indexed[number].iter().zip(vector).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    let mut all: Vec<usize> = (0..indexed.len()).collect();
    all.sort_by(|a, b| dot(*b).total_cmp(&dot(*a)));
    all.truncate(limit);
    all
}

#[test]
fn many_removals_leave_the_other_documents_intact() {
    let mut partition = Partition::new(0);
    (0..3000)
        .for_each(|number| partition.put(document(&format!("{number}"), &[&format!("valve number{number}")])).unwrap());
    (0..2900).for_each(|number| drop(partition.remove(&format!("{number}"))));
    assert_eq!(partition.len(), 100);
    assert_eq!(ids(&partition.search(&question("number2950")))[0], "2950.0");
    assert!(partition.search(&question("7")).is_empty());
}

#[test]
fn unused_metadata_does_not_change_results() {
    let metadata: Map<String, Value> = json!({"a": {"b": [1, null]}}).as_object().unwrap().clone();
    let partition = partition([Document { metadata: metadata.clone(), ..document("a", &["valve"]) }]);
    let decoded = Partition::from_bytes(&partition.to_bytes()).unwrap();
    assert_eq!(decoded.search(&question("valve"))[0].metadata, &metadata);
}
