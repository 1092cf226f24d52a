//! The claims of the fuzz targets on their corpora, without a fuzzer. `make soak` lets the fuzzer grow them.

#[path = "../../fuzz/claims/eval.rs"]
mod eval;
#[path = "../../fuzz/claims/json_format.rs"]
mod json_format;
#[path = "../../fuzz/claims/load.rs"]
mod load;
#[path = "../../fuzz/claims/parse.rs"]
mod parse;

use std::fs;
use std::path::Path;
use std::str;

type Claim = fn(&[u8]);

/// The targets and what they claim.
const CLAIMS: [(&str, Claim); 4] = [
    ("eval", |input| text(input, eval::check)),
    ("json_format", |input| text(input, json_format::check)),
    ("load", load::check),
    ("parse", |input| text(input, parse::check)),
];

/// Fuzzers too pass over what is not UTF-8.
fn text(input: &[u8], check: fn(&str)) {
    if let Ok(input) = str::from_utf8(input) {
        check(input);
    }
}

#[test]
fn every_input_of_the_corpora_keeps_the_claims() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (name, _) in CLAIMS {
        let files: Vec<_> = fs::read_dir(folder.join(name)).expect("each target has a corpus").collect();
        assert!(files.len() > 10, "the corpus of `{name}` was found");
        for file in files {
            let path = file.expect("an entry").path();
            let input = fs::read(&path).expect("a file of the corpus");
            println!("{}", path.display());
            // An input for one target may be a finding for another.
            for (_, check) in CLAIMS {
                check(&input);
            }
        }
    }
}
