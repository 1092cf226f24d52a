//! Search quality on the plant corpus: lower bounds for the metrics.

use std::path::PathBuf;
use std::sync::LazyLock;

use pidq_text::embedding::{self, CachingEmbedder, ModelSources};
use pidq_text::evaluation::{self, Dataset, Report};
use pidq_text::search::Mode;

fn corpus_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/plant_corpus")
}

/// Shared by all tests, which embed the same texts.
fn embedder() -> &'static CachingEmbedder {
    static EMBEDDER: LazyLock<CachingEmbedder> =
        LazyLock::new(|| CachingEmbedder::new(embedding::open("hash-512", &ModelSources::default()).unwrap(), 1000));
    &EMBEDDER
}

fn weight() -> f64 {
    embedding::find("hash-512").unwrap().weight
}

fn report() -> Report {
    evaluation::evaluate_beir(&corpus_folder(), embedder(), weight()).unwrap()
}

#[test]
fn questions_about_the_plant_have_good_results() {
    let report = report();
    println!("{report}");
    let minimums = [
        ("sparse", "nDCG@10", 0.845),
        ("sparse", "MRR", 0.885),
        ("dense", "nDCG@10", 0.74),
        ("hybrid", "nDCG@10", 0.845),
        ("hybrid", "recall@10", 0.92),
        ("hybrid", "recall@100", 0.99),
        ("hybrid", "MRR", 0.885),
    ];
    for (mode, measure, minimum) in minimums {
        let mean = report.mean(mode, measure).unwrap();
        assert!(mean >= minimum, "{mode} {measure} is {mean}, below {minimum}\n{report}");
    }
}

#[test]
fn hybrid_search_is_no_worse_than_sparse_or_dense() {
    let report = report();
    for measure in ["nDCG@10", "recall@10", "recall@100"] {
        let mean = |mode| report.mean(mode, measure).unwrap();
        assert!(mean("hybrid") >= mean("sparse").max(mean("dense")), "{measure}\n{report}");
    }
}

#[test]
fn questions_without_an_answer_score_less() {
    let indexed = Dataset::read(&corpus_folder()).unwrap().index(embedder(), weight()).unwrap();
    for (mode, minimum) in [(Mode::Sparse, 0.87), (Mode::Hybrid, 0.87), (Mode::Dense, 0.78)] {
        let separation = indexed.separation(mode).unwrap();
        println!("{mode:?}: separation {separation:.4}");
        assert!(separation >= minimum, "{mode:?}: separation {separation}");
    }
}

#[test]
fn a_report_is_a_table() {
    let lines: Vec<String> = report().to_string().lines().map(str::to_owned).collect();
    assert_eq!(lines[0], "162 documents, 60 queries");
    assert_eq!(lines[1], "mode         nDCG@10    recall@5   recall@10  recall@100         MRR");
    assert_eq!(lines.len(), 5);
}
