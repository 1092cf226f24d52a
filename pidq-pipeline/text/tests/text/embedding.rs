//! Embedding models: lookup by name, and equality with model2vec.

#[cfg(feature = "static")]
use pidq_text::embedding::Calibration;
use pidq_text::embedding::{self, Error, MODELS, ModelSources};
#[cfg(feature = "static")]
use serde_json::Value;

#[test]
fn every_model_is_found_by_its_name() {
    for model in MODELS {
        assert!(embedding::find(model.name).is_some_and(|found| found.name == model.name));
        assert!(embedding::find(&format!("{}:more", model.name)).is_some());
        assert!((0.0..=1.0).contains(&model.calibration.weight), "{}", model.name);
    }
    assert!(embedding::find("none").is_none());
}

#[test]
fn a_missing_model_is_unavailable() {
    for name in ["none", "openai:small"] {
        let error = embedding::open(name, &ModelSources::default()).map(|_| ()).unwrap_err();
        assert!(matches!(error, Error::Unavailable { .. }), "{name}: {error}");
    }
}

#[cfg(feature = "static")]
#[test]
fn a_model_has_the_calibration_in_its_directory() {
    let folder = tempfile::tempdir().unwrap();
    let measured = Calibration { weight: 0.4, min_similarity: 0.55 };
    for name in ["small", "BAAI--bge-m3"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        measured.write(&folder.path().join(name)).unwrap();
    }
    for (name, expected) in [
        ("static:small", measured),
        ("openai:small", measured),
        ("openai:BAAI/bge-m3", measured),
        ("static:other", Calibration::unmeasured(0.3)),
        ("static:../small", Calibration::unmeasured(0.3)),
        ("openai:..", Calibration::unmeasured(0.5)),
        ("openai", Calibration::unmeasured(0.5)),
        ("hash-512", Calibration::unmeasured(0.0)),
    ] {
        assert_eq!(embedding::calibration(name, Some(folder.path())), Ok(expected), "{name}");
    }
    assert_eq!(embedding::calibration("static:small", None), Ok(Calibration::unmeasured(0.3)));
    assert!(embedding::calibration("none", None).is_err());
}

#[cfg(feature = "static")]
#[test]
fn a_model_with_an_invalid_calibration_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("small")).unwrap();
    std::fs::write(folder.path().join("small/calibration.json"), "{}").unwrap();
    let sources = ModelSources { model_dir: Some(folder.path().into()), remote: None };
    let error = embedding::open("static:small", &sources).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("calibration.json"), "{error}");
}

/// The model was written by model2vec 0.10.0 with random weights; `expected.json` has its vectors.
#[cfg(feature = "static")]
#[test]
fn static_vectors_equal_model2vec() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    let sources = ModelSources { model_dir: Some(folder.into()), remote: None };
    let model = embedding::open("static:static_model", &sources).unwrap();
    let expected = std::fs::read_to_string(format!("{folder}/static_model/expected.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&expected).unwrap();
    let texts: Vec<String> = cases.iter().map(|case| case["text"].as_str().unwrap().to_owned()).collect();
    for (vector, case) in model.embed(&texts).unwrap().iter().zip(&cases) {
        let expected: Vec<f64> = case["vector"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
        let is_equal = vector.iter().zip(&expected).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-6);
        assert!(vector.len() == expected.len() && is_equal, "{}: {vector:?} is not {expected:?}", case["text"]);
    }
}

#[cfg(feature = "static")]
#[test]
fn a_folder_without_a_model_is_unavailable() {
    let sources = ModelSources { model_dir: Some("nowhere".into()), remote: None };
    for sources in [sources, ModelSources::default()] {
        let error = embedding::open("static:x", &sources).map(|_| ()).unwrap_err();
        assert!(matches!(error, Error::Unavailable { .. }), "{error}");
    }
}
