//! The claims of the fuzz targets about what strangers send, on their corpora and without a fuzzer.

#[path = "../../../fuzz/claims/form.rs"]
mod form;
#[path = "../../../fuzz/claims/parts.rs"]
mod parts;
#[path = "../../../fuzz/claims/token.rs"]
mod token;

use std::fs;
use std::path::Path;

type Claim = fn(&[u8]);

/// The targets and what they claim.
const CLAIMS: [(&str, Claim); 3] = [("form", form::check), ("parts", parts::check), ("token", text)];

/// Fuzzers too pass over what is not UTF-8.
fn text(input: &[u8]) {
    if let Ok(input) = str::from_utf8(input) {
        token::check(input);
    }
}

#[test]
fn every_input_of_the_corpora_keeps_the_claims() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
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
