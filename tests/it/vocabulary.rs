//! Names and comments keep to the vocabulary of `docs/glossary.md`.
//!
//! The glossary lists the retired words. They may not come back in identifiers, file names, settings, metrics or headings.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders without text of our own: build output, dependencies, and data that tests read.
const SKIPPED_FOLDERS: &[&str] = &["target", "node_modules", ".git", ".venv", "__pycache__", "corpus", "data"];

/// Identifiers that contain a retired word for a reason. At most 20.
const ALLOWED: &[(&str, &str)] = &[
    ("control_room_line", "the control room of a plant, where an instrument is located"),
    ("is_in_control_room", "the control room of a plant, where an instrument is located"),
];

/// Opening words that make a doc comment a noun clause.
const CLAUSE_WORDS: &[&str] = &[
    "How", "If", "Nobody", "Nothing", "That", "What", "Whatever", "When", "Where", "Whether", "Which", "Who",
    "Whoever", "Whose", "Why",
];

#[test]
fn retired_words_do_not_come_back() {
    let retired = retired_words();
    assert!(retired.len() > 50, "the glossary lists the retired words");
    let mut found = BTreeSet::new();
    for file in files() {
        let path = relative(&file);
        let mut names: Vec<String> = words_of_path(&path);
        // The log of changes names what was renamed.
        if path != "CHANGELOG.md"
            && let Ok(text) = fs::read_to_string(&file)
        {
            names.extend(prefixed_names(&text));
            match file.extension().and_then(|extension| extension.to_str()) {
                Some("rs") => names.extend(identifiers(&without_comments_and_strings(&text))),
                Some("md") if path != "docs/glossary.md" => names.extend(headings(&text)),
                _ => {}
            }
        }
        for name in names {
            let is_allowed = ALLOWED.iter().any(|(allowed, _)| *allowed == name);
            if let Some(word) = segments(&name).into_iter().find(|word| retired.contains(word))
                && !is_allowed
            {
                found.insert(format!("{path}: `{name}` contains `{word}`"));
            }
        }
    }
    assert!(found.is_empty(), "retired words (see docs/glossary.md):\n{}", Vec::from_iter(found).join("\n"));
}

#[test]
fn the_allow_list_is_short_and_explained() {
    assert!(ALLOWED.len() <= 20);
    assert!(ALLOWED.iter().all(|(_, reason)| reason.len() > 10));
}

#[test]
fn no_file_has_a_conflict_marker() {
    let markers = ['<', '>', '|'].map(|mark| format!("{} ", mark.to_string().repeat(7)));
    for file in files() {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let marked = text.lines().position(|line| markers.iter().any(|marker| line.starts_with(marker.as_str())));
        assert_eq!(marked.map(|line| line + 1), None, "{} has a conflict marker", relative(&file));
    }
}

#[test]
fn doc_comments_open_with_a_noun_or_a_verb() {
    let (mut comments, mut clauses) = (0, Vec::new());
    for file in files().into_iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs")) {
        let text = fs::read_to_string(&file).expect("a source file");
        let mut continues = false;
        for (number, line) in text.lines().enumerate() {
            let comment = ["/// ", "//! "].iter().find_map(|mark| line.trim_start().strip_prefix(mark));
            if let Some(comment) = comment
                && !continues
            {
                comments += 1;
                let first = comment.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                if CLAUSE_WORDS.contains(&first) {
                    clauses.push(format!("{}:{}: {comment}", relative(&file), number + 1));
                }
            }
            continues = line.trim_start().starts_with("//");
        }
    }
    assert!(comments > 3000, "{comments} doc comments were found");
    assert!(clauses.len() * 100 <= comments * 3, "{} of {comments}:\n{}", clauses.len(), clauses.join("\n"));
}

/// Reads the first column of the table below the heading `Retired words` of the glossary.
fn retired_words() -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("docs/glossary.md")).expect("docs/glossary.md");
    let section = text.split("## Retired words").nth(1).expect("a section about retired words");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.flat_map(|row| row.split('|').next().unwrap_or_default().split(','))
        .map(|word| word.trim().trim_matches('`').to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn relative(file: &Path) -> String {
    file.strip_prefix(root()).expect("a file of the workspace").display().to_string()
}

fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(root(), &mut files);
    assert!(files.len() > 500, "{} files were found", files.len());
    files
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let is_folder = entry.file_type().expect("a file type").is_dir();
        if !is_folder {
            files.push(entry.path());
        } else if !SKIPPED_FOLDERS.iter().any(|skipped| entry.file_name() == *skipped) {
            collect(&entry.path(), files);
        }
    }
}

fn words_of_path(path: &str) -> Vec<String> {
    path.split(['/', '.']).map(str::to_owned).collect()
}

/// Settings (`PIDQ_…`) and metrics (`pidq_…`), wherever they are named.
fn prefixed_names(text: &str) -> Vec<String> {
    let names = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    names.filter(|name| name.starts_with("PIDQ_") || name.starts_with("pidq_")).map(str::to_owned).collect()
}

fn identifiers(code: &str) -> Vec<String> {
    let names = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    names.filter(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_')).map(str::to_owned).collect()
}

fn headings(text: &str) -> Vec<String> {
    let mut is_code = false;
    let mut headings = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if !is_code && line.starts_with('#') {
            headings.extend(line.split_whitespace().map(str::to_owned));
        }
    }
    headings
}

/// `TokenCache`, `token_cache` and `TOKEN_CACHE` → `token`, `cache`.
fn segments(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in name.split(|c: char| !c.is_alphanumeric()) {
        let mut word = String::new();
        let mut after_lower = false;
        for letter in part.chars() {
            if letter.is_uppercase() && after_lower {
                words.push(std::mem::take(&mut word));
            }
            after_lower = letter.is_lowercase();
            word.extend(letter.to_lowercase());
        }
        words.push(word);
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Rust code with its comments, strings and characters blanked out.
fn without_comments_and_strings(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = comment(rest).or_else(|| raw_string(rest)).or_else(|| string(rest)).or_else(|| character(rest));
        match skipped {
            Some(_) => code.push(' '),
            None => code.push(first),
        }
        rest = &rest[skipped.unwrap_or(first.len_utf8())..];
    }
    code
}

fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    text.starts_with("/*").then(|| text.find("*/").map_or(text.len(), |end| end + 2))
}

fn raw_string(text: &str) -> Option<usize> {
    let body = text.strip_prefix('r').or_else(|| text.strip_prefix("br")).or_else(|| text.strip_prefix("cr"))?;
    let hashes = body.len() - body.trim_start_matches('#').len();
    let opened = body[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(text.len() - opened.len() + opened.find(&end).map_or(opened.len(), |at| at + end.len()))
}

fn string(text: &str) -> Option<usize> {
    let body = text.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = body.char_indices().find(|(_, c)| {
        let is_end = *c == '"' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        is_end
    });
    Some(1 + end.map_or(body.len(), |(at, _)| at + 1))
}

/// A character literal; a lifetime has no closing quote.
fn character(text: &str) -> Option<usize> {
    let body = text.strip_prefix('\'')?;
    match body.strip_prefix('\\') {
        Some(escape) => escape.char_indices().skip(1).find(|(_, c)| *c == '\'').map(|(at, _)| at + 3),
        None => {
            let letter = body.chars().next()?;
            body[letter.len_utf8()..].starts_with('\'').then(|| letter.len_utf8() + 2)
        }
    }
}

#[test]
fn names_are_split_into_words() {
    assert_eq!(segments("TokenCache"), ["token", "cache"]);
    assert_eq!(segments("PIDQ_TOKEN_CACHE_TTL"), ["pidq", "token", "cache", "ttl"]);
    assert_eq!(segments("from_json_2"), ["from", "json", "2"]);
}

#[test]
fn comments_strings_and_characters_are_no_code() {
    let text = "let a = \"b \\\" c\"; // d\nfn e<'f>(g: r#\"h\"#) -> 'i' { /* j */ '\\'' }";
    assert_eq!(identifiers(&without_comments_and_strings(text)), ["let", "a", "fn", "e", "f", "g"]);
}
