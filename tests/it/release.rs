//! Release scripts: versions of all crates, and release notes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use toml::{Table, Value};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Creates a directory with the manifests and lock files of the repository, and its release scripts.
fn copy_of_manifests(name: &str) -> (PathBuf, Vec<PathBuf>) {
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(fs::remove_dir_all(&copy));
    let mut found = Vec::new();
    for folder in folders() {
        for name in ["Cargo.toml", "Cargo.lock"].map(|name| folder.join(name)) {
            if Path::new(ROOT).join(&name).exists() {
                copy_file(&name, &copy);
                found.push(copy.join(name));
            }
        }
    }
    for file in
        ["scripts/set_version.sh", "scripts/release_notes.sh", "pidq-ffi/header.toml", "pidq-ffi/include/pidq.h"]
    {
        copy_file(Path::new(file), &copy);
    }
    (copy, found)
}

fn copy_file(name: &Path, to: &Path) {
    let target = to.join(name);
    fs::create_dir_all(target.parent().expect("a folder")).expect("it can be created");
    fs::copy(Path::new(ROOT).join(name), target).expect("a file");
}

/// Returns the folders that may contain a crate.
fn folders() -> Vec<PathBuf> {
    let inside = |folder: &str| {
        let entries = fs::read_dir(Path::new(ROOT).join(folder)).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        names.map(|name| Path::new(folder).join(name)).collect::<Vec<_>>()
    };
    [vec![PathBuf::new()], inside(""), inside("pidq-pipeline"), inside("benches")].concat()
}

/// Returns every version in a manifest or a lock file that belongs to pidq.
fn versions(file: &Table) -> Vec<&str> {
    let locked = file.get("package").and_then(Value::as_array).into_iter().flatten();
    let locked = locked.filter(|row| row["name"].as_str().is_some_and(|name| name.starts_with("pidq")));
    let workspace = file.get("workspace").and_then(|workspace| workspace.get("package"));
    let packages = file.get("package").into_iter().chain(workspace).chain(locked);
    let tables = ["dependencies", "dev-dependencies"].into_iter().filter_map(|name| file.get(name)?.as_table());
    let used = tables.flatten().filter(|(name, _)| name.starts_with("pidq")).map(|(_, used)| used);
    packages.chain(used).filter_map(|owner| owner.get("version")?.as_str()).collect()
}

#[test]
fn a_new_version_is_set_in_every_manifest_and_lock_file() {
    let (copy, files) = copy_of_manifests("set_version");
    let set = Command::new(copy.join("scripts/set_version.sh")).arg("98.7.6-rc.1").output().expect("it runs");
    assert!(set.status.success(), "{}", String::from_utf8_lossy(&set.stderr));
    let mut count = 0;
    for file in &files {
        let before = Path::new(ROOT).join(file.strip_prefix(&copy).expect("a path in the copy"));
        let [before, after] = [&before, file].map(|path| fs::read_to_string(path).expect("a file"));
        let [before, after] = [before, after].map(|text| text.parse::<Table>().expect("TOML"));
        assert!(versions(&after).iter().all(|version| *version == "98.7.6-rc.1"), "{}", file.display());
        assert_eq!(versions(&after).len(), versions(&before).len(), "{}", file.display());
        count += versions(&after).len();
    }
    assert!(count > 20, "the versions were found: {count}");
    for header in ["pidq-ffi/header.toml", "pidq-ffi/include/pidq.h"] {
        let text = fs::read_to_string(copy.join(header)).expect("a file");
        for line in
            ["PIDQ_VERSION \"98.7.6-rc.1\"", "PIDQ_VERSION_MAJOR 98", "PIDQ_VERSION_MINOR 7", "PIDQ_VERSION_PATCH 6"]
        {
            assert!(text.contains(&format!("#define {line}\n")), "{header}: {line}");
        }
    }
}

#[test]
fn a_version_that_is_not_semantic_is_rejected() {
    let (copy, files) = copy_of_manifests("wrong_version");
    for version in ["1.0", "v1.0.0", "1.0.0/x", ""] {
        let set = Command::new(copy.join("scripts/set_version.sh")).arg(version).output().expect("it runs");
        assert!(!set.status.success(), "{version}");
    }
    let unchanged =
        fs::read(&files[0]).expect("a file") == fs::read(Path::new(ROOT).join("Cargo.toml")).expect("a file");
    assert!(unchanged);
}

#[test]
fn the_release_notes_are_the_section_of_the_version() {
    let (copy, _) = copy_of_manifests("release_notes");
    let changelog = "# Changelog\n\n## Unreleased\n\n- new\n\n## 0.2.0 - 2026-01-02\n\n### Added\n\n- second\n\n## 0.1.0\n\n- first\n";
    fs::write(copy.join("CHANGELOG.md"), changelog).expect("it can be written");
    let notes = |version: &str| {
        let output = Command::new(copy.join("scripts/release_notes.sh")).arg(version).output().expect("it runs");
        output.status.success().then(|| String::from_utf8(output.stdout).expect("text"))
    };
    assert_eq!(notes("0.2.0").as_deref(), Some("### Added\n\n- second\n"));
    assert_eq!(notes("0.1.0").as_deref(), Some("- first\n"));
    assert_eq!(notes("0.3.0"), None);
}
