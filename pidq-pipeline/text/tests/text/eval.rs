//! Search quality on the plant corpus: lower bounds for the metrics.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use pidq_text::embedding::{self, CachingEmbedder, Calibration, Embedder, ModelSources};
use pidq_text::evaluation::{self, Dataset, Report, measure_calibration};
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

fn calibration() -> Calibration {
    embedding::find("hash-512").unwrap().calibration
}

fn report() -> Report {
    evaluation::evaluate_beir(&corpus_folder(), embedder(), calibration()).unwrap()
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
    let indexed = Dataset::read(&corpus_folder()).unwrap().index(embedder(), calibration()).unwrap();
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
        let report = evaluation::evaluate_beir(&corpus_folder(), &random, Calibration::unmeasured(weight)).unwrap();
        println!("weight {weight}\n{report}");
        let [hybrid, sparse] = ["hybrid", "sparse"].map(|mode| report.mean(mode, "nDCG@10").unwrap());
        assert!(hybrid >= sparse - 0.005, "weight {weight}\n{report}");
    }
}

/// Judged collections that are not part of the repository: the directories in `PIDQ_TEST_COLLECTIONS`.
fn other_collections() -> Vec<PathBuf> {
    match std::env::var_os("PIDQ_TEST_COLLECTIONS") {
        Some(folder) => folders(&PathBuf::from(folder)),
        None => {
            println!("SKIPPED: PIDQ_TEST_COLLECTIONS is not set");
            Vec::new()
        }
    }
}

fn folders(parent: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<_> = std::fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

/// Directory that `scripts/models.sh` wrote, if there is one.
fn model_dir() -> Option<PathBuf> {
    std::env::var_os("PIDQ_TEST_MODELS").map(PathBuf::from)
}

/// Names of the models in a directory. Transformers have a configuration; they need the feature `bert`.
fn model_names(models: &Path) -> Vec<String> {
    let name = |folder: PathBuf| {
        let kind = if folder.join("config.json").exists() { "transformer" } else { "static" };
        embedding::find(kind).map(|_| format!("{kind}:{}", folder.file_name().unwrap().to_string_lossy()))
    };
    folders(models).into_iter().filter_map(name).collect()
}

fn open(name: &str) -> (CachingEmbedder, Calibration) {
    let sources = ModelSources { model_dir: model_dir(), ..ModelSources::default() };
    let calibration = embedding::calibration(name, model_dir().as_deref()).unwrap();
    (CachingEmbedder::new(embedding::open(name, &sources).unwrap(), 10_000), calibration)
}

#[test]
fn hybrid_search_is_no_worse_than_sparse_search_on_other_collections() {
    let names = model_dir().map(|models| model_names(&models)).unwrap_or_default();
    for name in names.iter().map(String::as_str).chain(["hash-512"]) {
        let (embedder, calibration) = open(name);
        for collection in other_collections() {
            let report = evaluation::evaluate_beir(&collection, &embedder, calibration).unwrap();
            println!("{} {name} {calibration:?}\n{report}", collection.display());
            let [hybrid, sparse] = ["hybrid", "sparse"].map(|mode| report.mean(mode, "nDCG@10").unwrap());
            assert!(hybrid >= sparse - 0.005, "{} {name}\n{report}", collection.display());
        }
    }
}

/// Vectors alone accept no unrelated question, and refuse no more questions than terms alone.
#[test]
fn the_calibration_of_each_model_refuses_unrelated_questions() {
    let names = model_dir().map(|models| model_names(&models)).unwrap_or_default();
    for name in &names {
        let (embedder, calibration) = open(name);
        for collection in other_collections().into_iter().chain([corpus_folder()]) {
            let gate = |calibration| evaluation::evaluate_beir(&collection, &embedder, calibration).unwrap().gate;
            let (with, without) = (gate(calibration), gate(Calibration { weight: 0.0, ..calibration }));
            println!("{} {name} {calibration:?}: {with:?}, without vectors {without:?}", collection.display());
            assert!(with.false_accepts <= without.false_accepts + 0.015, "{} {name}: {with:?}", collection.display());
            assert!(with.false_refusals <= without.false_refusals, "{} {name}: {with:?}", collection.display());
        }
    }
}

/// The stored calibration of each model is the one that is measured on the collections and the plant corpus.
#[test]
fn the_calibration_of_each_model_is_the_measured_one() {
    let collections = other_collections();
    let Some(models) = model_dir().filter(|_| !collections.is_empty()) else { return };
    for name in model_names(&models) {
        let (embedder, calibration) = open(&name);
        let index = |folder: &PathBuf| Dataset::read(folder).unwrap().index(&embedder, calibration).unwrap();
        let mut datasets: Vec<_> = collections.iter().chain([&corpus_folder()]).map(index).collect();
        let measurement = measure_calibration(&mut datasets).unwrap();
        println!("{name}\n{measurement}");
        assert_eq!(measurement.calibration, calibration, "{name}");
    }
}
