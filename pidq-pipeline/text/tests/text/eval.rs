//! Search quality on the plant corpus: lower bounds for the metrics.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use pidq_text::embedding::{self, CachingEmbedder, Embedder, ModelSources};
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
        ("hybrid", "recall@10", 0.915),
        ("hybrid", "recall@100", 0.975),
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
    for measure in ["nDCG@10", "recall@10", "MRR"] {
        let mean = |mode| report.mean(mode, measure).unwrap();
        assert!(mean("hybrid") >= mean("sparse").max(mean("dense")), "{measure}\n{report}");
    }
}

#[test]
fn questions_without_an_answer_score_less() {
    let indexed = Dataset::read(&corpus_folder()).unwrap().index(embedder(), weight()).unwrap();
    for (mode, minimum) in [(Mode::Sparse, 0.82), (Mode::Hybrid, 0.82), (Mode::Dense, 0.78)] {
        let separation = indexed.separation(mode).unwrap();
        println!("{mode:?}: separation {separation:.4}");
        assert!(separation >= minimum, "{mode:?}: separation {separation}");
    }
}

#[test]
fn a_report_is_a_table() {
    let lines: Vec<String> = report().to_string().lines().map(str::to_owned).collect();
    assert_eq!(lines[0], "162 documents, 60 queries; means with 95 % confidence intervals");
    assert!(lines[1].starts_with("mode      nDCG@10"), "{}", lines[1]);
    assert!(lines[5].starts_with("relevance threshold 0.08:"), "{}", lines[5]);
    assert_eq!(lines.len(), 6);
}

#[test]
fn the_relevance_gate_refuses_unrelated_questions_and_few_others() {
    let report = report();
    println!("{report}");
    assert!(report.gate.false_refusals <= 0.07 && report.gate.false_accepts <= 0.02, "{report}");
}

/// A model whose vectors have nothing to do with the texts.
struct RandomModel;

impl Embedder for RandomModel {
    fn dimensions(&self) -> usize {
        64
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, embedding::Error> {
        Ok(texts.iter().map(|text| random_vector(text)).collect())
    }
}

fn random_vector(text: &str) -> Vec<f32> {
    let mut state =
        text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, b| (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    let next = |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / 16_777_216.0 - 0.5
    };
    (0..64).map(next).collect()
}

#[test]
fn vectors_without_meaning_do_not_make_hybrid_search_worse() {
    let random = CachingEmbedder::new(Arc::new(RandomModel), 1000);
    for weight in [0.3, 0.5] {
        let report = evaluation::evaluate_beir(&corpus_folder(), &random, weight).unwrap();
        println!("weight {weight}\n{report}");
        let [hybrid, sparse] = ["hybrid", "sparse"].map(|mode| report.mean(mode, "nDCG@10").unwrap());
        assert!(hybrid >= sparse - 0.005, "weight {weight}\n{report}");
    }
}

/// Judged collections that are not part of the repository: the directories in `PIDQ_TEST_COLLECTIONS`, with the static
/// models in `PIDQ_TEST_MODELS`.
#[test]
fn hybrid_search_is_no_worse_than_sparse_search_on_other_collections() {
    let Some(folder) = std::env::var_os("PIDQ_TEST_COLLECTIONS") else {
        println!("skipped: PIDQ_TEST_COLLECTIONS is not set");
        return;
    };
    let models = std::env::var_os("PIDQ_TEST_MODELS").map(PathBuf::from);
    let mut names = vec!["hash-512".to_owned()];
    for entry in models.iter().flat_map(|models| std::fs::read_dir(models).unwrap()) {
        names.push(format!("static:{}", entry.unwrap().file_name().to_string_lossy()));
    }
    for entry in std::fs::read_dir(folder).unwrap() {
        let collection = entry.unwrap().path();
        for name in &names {
            let sources = ModelSources { model_dir: models.clone(), ..ModelSources::default() };
            let embedder = CachingEmbedder::new(embedding::open(name, &sources).unwrap(), 1000);
            let weight = embedding::find(name).unwrap().weight;
            let report = evaluation::evaluate_beir(&collection, &embedder, weight).unwrap();
            println!("{} {name} {weight}\n{report}", collection.display());
            let [hybrid, sparse] = ["hybrid", "sparse"].map(|mode| report.mean(mode, "nDCG@10").unwrap());
            assert!(hybrid >= sparse - 0.005, "{} {name}\n{report}", collection.display());
        }
    }
}
