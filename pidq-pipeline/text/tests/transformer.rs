//! Transformer models: vectors equal those of the references (numpy and Flax) on models with random weights.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::{Path, PathBuf};

use pidq_text::embedding::{self, Embedder, Error, ModelSources};
use serde_json::{Value, json};
use tempfile::TempDir;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/transformers")
}

fn open(folder: &Path, name: &str) -> Result<std::sync::Arc<dyn Embedder>, Error> {
    embedding::open(&format!("transformer:{name}"), &ModelSources { model_dir: Some(folder.to_owned()), remote: None })
}

/// Compares a model with the vectors in its `expected.json`.
fn check(folder: &Path, name: &str) {
    let model = open(folder, name).unwrap();
    let expected = fs::read_to_string(folder.join(name).join("expected.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&expected).unwrap();
    let texts: Vec<String> = cases.iter().map(|case| case["text"].as_str().unwrap().to_owned()).collect();
    let vectors = model.embed(&texts).unwrap();
    let mut max_deviation = 0.0f64;
    for (vector, case) in vectors.iter().zip(&cases) {
        let expected: Vec<f64> = case["vector"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
        assert_eq!((vector.len(), vector.len()), (expected.len(), model.dimensions()), "{name}");
        let deviation = vector.iter().zip(&expected).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max);
        assert!(deviation < 1e-5, "{name}: deviation {deviation} at {}", case["text"]);
        max_deviation = max_deviation.max(deviation);
    }
    println!("{name}: maximum deviation {max_deviation:.1e}");
    assert_eq!(model.embed(&texts[..1]).unwrap()[0], vectors[0], "a vector does not depend on the batch");
}

#[test]
fn vectors_equal_the_reference() {
    check(&data(), "mean");
    check(&data(), "cls");
}

/// Models of realistic size are not in the repository; `make.py --real FOLDER` generates them.
#[test]
fn vectors_of_realistic_models_equal_the_reference() {
    match std::env::var_os("PIDQ_TEST_TRANSFORMERS") {
        Some(folder) => ["minilm", "bge"].iter().for_each(|name| check(Path::new(&folder), name)),
        None => eprintln!("SKIPPED: PIDQ_TEST_TRANSFORMERS names no folder, see tests/data/transformers/make.py"),
    }
}

/// Directory that `scripts/models.sh` wrote, if there is one.
fn models() -> Option<PathBuf> {
    let folder = std::env::var_os("PIDQ_TEST_MODELS").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("SKIPPED: PIDQ_TEST_MODELS names no folder, see scripts/models.sh");
    }
    folder
}

fn similarity(left: &[f32], right: &[f32]) -> f64 {
    left.iter().zip(right).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

/// The figures are those of the documentation of sentence-transformers for this model.
#[test]
fn similarities_of_minilm_are_the_published_ones() {
    let Some(folder) = models() else { return };
    let texts =
        ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."].map(str::to_owned);
    let vectors = open(&folder, "all-MiniLM-L6-v2").unwrap().embed(&texts).unwrap();
    for (left, right, published) in [(0, 1, 0.6660), (0, 2, 0.1046), (1, 2, 0.1411)] {
        let found = similarity(&vectors[left], &vectors[right]);
        assert!((found - published).abs() < 1e-4, "{left} and {right}: {found}");
    }
}

#[test]
fn the_distilled_static_model_compares_meaning() {
    let Some(folder) = models() else { return };
    let sources = ModelSources { model_dir: Some(folder), remote: None };
    let model = embedding::open("static:minilm-static", &sources).unwrap();
    assert_eq!(model.dimensions(), 256);
    for (text, related, unrelated) in [
        ("pump", "compressor", "poem"),
        ("pressure relief valve", "safety device against overpressure", "holiday in the mountains"),
        ("The motor is too hot.", "overheated engine", "cold soup"),
    ] {
        let vectors = model.embed(&[text, related, unrelated].map(str::to_owned)).unwrap();
        let (near, far) = (similarity(&vectors[0], &vectors[1]), similarity(&vectors[0], &vectors[2]));
        assert!(near > far + 0.1, "{text}: {related} {near}, {unrelated} {far}");
    }
}

#[test]
fn unsupported_configurations_are_rejected() {
    let error_for = |file: &str, change: &dyn Fn(&mut Value)| {
        let folder = copy_model();
        let path = folder.path().join("mean").join(file);
        let mut config: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        change(&mut config);
        fs::write(&path, config.to_string()).unwrap();
        let error = open(folder.path(), "mean").map(|_| ()).unwrap_err();
        assert!(matches!(error, Error::Unavailable { .. }), "{error}");
        error.to_string()
    };
    let config_error = |field: &str, value: Value| error_for("config.json", &|config| config[field] = value.clone());
    assert!(config_error("model_type", json!("t5")).contains("`t5`"));
    assert!(config_error("hidden_act", json!("swish")).contains("`swish`"));
    assert!(config_error("position_embedding_type", json!("relative_key")).contains("absolute"));
    assert!(config_error("num_attention_heads", json!(5)).contains("5 heads"));
    assert!(config_error("num_hidden_layers", json!(9)).contains("model.safetensors"));
    assert!(
        error_for("1_Pooling/config.json", &|config| config["pooling_mode_max_tokens"] = true.into())
            .contains("max_tokens")
    );
    assert!(error_for("modules.json", &|config| config[2]["type"] = "a.Dense".into()).contains("`Dense`"));
}

#[test]
fn mean_pooling_is_the_default() {
    let folder = copy_model();
    let texts = ["PSV-2015A is set at 38.5 barg.".to_owned()];
    let mut expected = open(folder.path(), "mean").unwrap().embed(&texts).unwrap().remove(0);
    fs::remove_file(folder.path().join("mean/modules.json")).unwrap();
    let mut found = open(folder.path(), "mean").unwrap().embed(&texts).unwrap().remove(0);
    embedding::normalize(&mut found);
    embedding::normalize(&mut expected);
    assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-6));
}

#[test]
fn a_damaged_folder_is_unavailable() {
    for file in ["config.json", "tokenizer.json", "model.safetensors", "1_Pooling/config.json"] {
        let folder = copy_model();
        let path = folder.path().join("mean").join(file);
        fs::write(&path, &fs::read(&path).unwrap()[..20]).unwrap();
        assert!(matches!(open(folder.path(), "mean").map(|_| ()), Err(Error::Unavailable { .. })), "{file}");
        fs::remove_file(path).unwrap();
        assert!(matches!(open(folder.path(), "mean").map(|_| ()), Err(Error::Unavailable { .. })), "{file}");
    }
}

fn copy_model() -> TempDir {
    let folder = TempDir::new().unwrap();
    for part in ["", "1_Pooling"] {
        let (from, to) = (data().join("mean").join(part), folder.path().join("mean").join(part));
        fs::create_dir_all(&to).unwrap();
        for entry in fs::read_dir(from).unwrap().flatten().filter(|entry| entry.path().is_file()) {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
    folder
}
