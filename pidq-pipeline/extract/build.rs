//! Sets `BUILD_ID`, a hash of the sources, so that a program of another build is recognized.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let mut files = BTreeSet::from([PathBuf::from("Cargo.toml")]);
    collect(Path::new("src"), &mut files)?;
    let mut hasher = DefaultHasher::new();
    let features = env::vars().filter(|(name, _)| name.starts_with("CARGO_FEATURE_")).collect::<BTreeSet<_>>();
    (env::var("CARGO_PKG_VERSION").ok(), features).hash(&mut hasher);
    for file in files {
        fs::read(&file)?.hash(&mut hasher);
        println!("cargo:rerun-if-changed={}", file.display());
    }
    println!("cargo:rustc-env=BUILD_ID={:016x}", hasher.finish());
    Ok(())
}

/// Collects the files below a directory.
fn collect(directory: &Path, files: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.insert(path);
        }
    }
    Ok(())
}
