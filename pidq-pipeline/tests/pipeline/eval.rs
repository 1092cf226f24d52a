//! How well questions about an imaginary plant are answered: floors under what was reached.

use std::path::PathBuf;
use std::sync::LazyLock;

use pidq_pipeline::embedding::{self, Encoder, Places};
use pidq_pipeline::eval::{self, Report, Set};
use pidq_pipeline::search::Mode;

fn plant() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/plant_corpus")
}

/// All tests ask for the same vectors.
fn encoder() -> &'static Encoder {
    static ENCODER: LazyLock<Encoder> =
        LazyLock::new(|| Encoder::new(embedding::open("hash-512", &Places::default()).unwrap(), 1000));
    &ENCODER
}

fn weight() -> f64 {
    embedding::find("hash-512").unwrap().weight
}

fn report() -> Report {
    eval::beir(&plant(), encoder(), weight()).unwrap()
}

#[test]
fn questions_about_the_plant_are_answered() {
    let report = report();
    println!("{report}");
    let floors = [
        ("sparse", "nDCG@10", 0.845),
        ("sparse", "MRR", 0.885),
        ("dense", "nDCG@10", 0.74),
        ("hybrid", "nDCG@10", 0.845),
        ("hybrid", "recall@10", 0.92),
        ("hybrid", "recall@100", 0.99),
        ("hybrid", "MRR", 0.885),
    ];
    for (mode, measure, floor) in floors {
        let mean = report.mean(mode, measure).unwrap();
        assert!(mean >= floor, "{mode} {measure} is {mean}, under {floor}\n{report}");
    }
}

#[test]
fn a_fusion_is_no_worse_than_its_parts() {
    let report = report();
    for measure in ["nDCG@10", "recall@10", "recall@100"] {
        let of = |mode| report.mean(mode, measure).unwrap();
        assert!(of("hybrid") >= of("sparse").max(of("dense")), "{measure}\n{report}");
    }
}

#[test]
fn questions_without_an_answer_score_less() {
    let indexed = Set::read(&plant()).unwrap().index(encoder(), weight()).unwrap();
    for (mode, floor) in [(Mode::Sparse, 0.87), (Mode::Hybrid, 0.87), (Mode::Dense, 0.78)] {
        let separation = indexed.separation(mode).unwrap();
        println!("{mode:?} tells {separation:.4}");
        assert!(separation >= floor, "{mode:?} tells {separation}");
    }
}

#[test]
fn a_report_is_a_table() {
    let lines: Vec<String> = report().to_string().lines().map(str::to_owned).collect();
    assert_eq!(lines[0], "162 documents, 60 questions");
    assert_eq!(lines[1], "mode         nDCG@10    recall@5   recall@10  recall@100         MRR");
    assert_eq!(lines.len(), 5);
}
