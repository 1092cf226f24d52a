//! The corpora of the fuzz targets without a fuzzer, for tests.

use std::fs;
use std::path::Path;

/// What a target claims of an input.
pub type Claim = fn(&[u8]);

/// Fuzzers too pass over what is not UTF-8.
pub fn text(input: &[u8], check: fn(&str)) {
    if let Ok(input) = str::from_utf8(input) {
        check(input);
    }
}

/// Checks every input of the targets in the folder of all corpora.
pub fn replay(folder: &Path, claims: &[(&str, Claim)]) {
    for (name, _) in claims {
        let files: Vec<_> = fs::read_dir(folder.join(name)).expect("each target has a corpus").collect();
        assert!(files.len() > 10, "the corpus of `{name}` was found");
        for file in files {
            let path = file.expect("an entry").path();
            let input = fs::read(&path).expect("a file of the corpus");
            println!("{}", path.display());
            // An input for one target may be a finding for another.
            for (_, check) in claims {
                check(&input);
            }
        }
    }
}
