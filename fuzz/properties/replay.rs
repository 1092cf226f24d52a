//! Replay of the fuzz corpora in tests, without a fuzzer.

use std::fs;
use std::path::Path;

/// Property of a target: a check that panics if the property is violated.
pub type Property = fn(&[u8]);

/// Checks an input as text. Skips invalid UTF-8, as the fuzzers do.
pub fn text(input: &[u8], check: fn(&str)) {
    if let Ok(input) = str::from_utf8(input) {
        check(input);
    }
}

/// Checks all inputs of the corpora against all targets.
pub fn replay(folder: &Path, properties: &[(&str, Property)]) {
    for (name, _) in properties {
        let files: Vec<_> = fs::read_dir(folder.join(name)).expect("each target has a corpus").collect();
        assert!(files.len() > 10, "the corpus of `{name}` was found");
        for file in files {
            let path = file.expect("an entry").path();
            let input = fs::read(&path).expect("a file of the corpus");
            println!("{}", path.display());
            // An input of one target may violate the property of another.
            for (_, check) in properties {
                check(&input);
            }
        }
    }
}
