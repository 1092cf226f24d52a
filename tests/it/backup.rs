//! `pidq backup` and `pidq restore` on running installations, with SQLite and with PostgreSQL.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;

#[path = "../../pidq-http/tests/identity/databases.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "shared with tests that open databases themselves")]
mod databases;

use crate::service::{Service, pidq, send, test_dir};

const JSON: &str = "content-type: application/json";
/// Settings of an installation without accounts, and the secret that encrypts its API keys.
const SETTINGS: [(&str, &str); 4] = [
    ("PIDQ_AUTH", "off"),
    ("PIDQ_APP_SECRET", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"),
    ("PIDQ_SHUTDOWN_DELAY", "0s"),
    ("PIDQ_DASHBOARD_LISTEN", ""),
];

/// Starts an installation; the additional settings name its databases.
fn start(data: &Path, databases: &[(&str, &str)]) -> Service {
    let environment = [&SETTINGS, databases].concat();
    Service::start_command("up", &environment, &["--rate-limit", "0", "--data-dir", path(data)])
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a UTF-8 path")
}

fn run(arguments: &[&str], databases: &[(&str, &str)]) -> Output {
    pidq().args(arguments).envs(databases.iter().copied()).output().expect("it runs")
}

/// Returns the messages of a command that must succeed.
fn succeed(arguments: &[&str], databases: &[(&str, &str)]) -> String {
    let output = run(arguments, databases);
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {messages}");
    messages
}

/// Returns the messages of a command that must fail as a usage error.
fn fail(arguments: &[&str], databases: &[(&str, &str)]) -> String {
    let output = run(arguments, databases);
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {messages}");
    messages
}

fn drawing(tag: usize) -> String {
    format!(r#"{{"pid_graph": {{"nodes": [{{"id": "P-{tag}"}}], "edges": []}}}}"#)
}

fn put_graph(address: &str, name: &str, tag: usize) {
    let (status, body) = send(address, &format!("PUT /graph/{name}"), &[JSON.into()], &drawing(tag));
    assert!(status == 200 || status == 201, "{status} {body}");
}

fn json(response: (u16, String)) -> Value {
    assert!(response.0 < 300, "{response:?}");
    serde_json::from_str(&response.1).expect("JSON")
}

/// Creates a pipeline with one document that is ready. Returns its id.
fn create_pipeline(address: &str) -> String {
    let body = r#"{"name": "Manuals", "embedding_model": "hash-512", "text_splitter": "recursive_character",
        "classifications": ["manual"]}"#;
    let pipeline = json(send(address, "POST /api/pipelines", &[JSON.into()], body));
    let id = pipeline["id"].as_str().expect("an id").to_owned();
    let part = |name: &str, text: &str| format!("--b\r\ncontent-disposition: form-data; {name}\r\n\r\n{text}\r\n");
    let file = part("name=\"file\"; filename=\"pump.txt\"", "The relief valve PSV-7 opens at 12 barg.");
    let form = format!("{file}{}--b--\r\n", part("name=\"classification\"", "manual"));
    let header = "content-type: multipart/form-data; boundary=b".to_owned();
    let document = json(send(address, &format!("POST /api/pipelines/{id}/documents?wait=60"), &[header], &form));
    assert_eq!(document["status"], "ready", "{document}");
    id
}

/// Returns the hits of a search, without times.
fn search(address: &str, pipeline: &str) -> Value {
    let body = r#"{"query": "When does PSV-7 open?", "classification": "manual"}"#;
    let result = json(send(address, &format!("POST /api/pipelines/{pipeline}/search"), &[JSON.into()], body));
    let hits = result["contexts"].clone();
    assert!(hits[0]["text"].as_str().is_some_and(|text| text.contains("12 barg")), "{result}");
    hits
}

/// Returns the tag in the current version of a graph.
fn stored_tag(address: &str, name: &str) -> usize {
    let graph = json(send(address, &format!("GET /graph/{name}"), &[], ""));
    let id = graph["pid_graph"]["nodes"][0]["id"].as_str().expect("an id");
    id.trim_start_matches("P-").parse().expect("a number")
}

/// Backs up an installation under load, restores it elsewhere, and compares the answers of both.
fn round_trip(name: &str, source: &[(&str, &str)], target: &[(&str, &str)], options: &[&str]) {
    let folder = test_dir(name);
    let service = start(&folder.join("a"), source);
    let pipeline = create_pipeline(&service.address);
    let (acknowledged, is_done) = (AtomicUsize::new(0), AtomicBool::new(false));
    let backup = folder.join("plant.backup");
    let before = thread::scope(|scope| {
        scope.spawn(|| {
            for tag in 1.. {
                put_graph(&service.address, "moving", tag);
                acknowledged.store(tag, Ordering::SeqCst);
                if is_done.load(Ordering::SeqCst) {
                    break;
                }
            }
        });
        while acknowledged.load(Ordering::SeqCst) < 3 {
            thread::sleep(Duration::from_millis(5));
        }
        let before = acknowledged.load(Ordering::SeqCst);
        succeed(&[&["backup", "--data-dir", path(&folder.join("a")), path(&backup)], options].concat(), source);
        is_done.store(true, Ordering::SeqCst);
        before
    });
    succeed(&[&["restore", "--check", path(&backup)], options].concat(), &[]);
    let restored = folder.join("b");
    succeed(&[&["restore", "--data-dir", path(&restored), path(&backup)], options].concat(), target);
    let copy = start(&restored, target);
    let tag = stored_tag(&copy.address, "moving");
    assert!(tag >= before && tag <= acknowledged.load(Ordering::SeqCst), "{tag}, {before} were acknowledged before");
    assert_eq!(search(&copy.address, &pipeline), search(&service.address, &pipeline));
    put_graph(&copy.address, "moving", 0);
}

#[test]
fn a_running_installation_is_backed_up_and_restored_elsewhere() {
    round_trip("backup-sqlite", &[], &[], &[]);
}

#[test]
fn a_backup_is_encrypted_with_a_key() {
    let key = test_dir("backup-key").join("key");
    fs::write(&key, "0123456789abcdef0123456789abcdef\n").expect("it can be written");
    round_trip("backup-encrypted", &[], &[], &["--key-file", path(&key)]);
}

#[test]
fn postgres_databases_are_backed_up_with_the_files() {
    let (Some(source), Some(graphs), Some(target)) =
        (databases::fresh_postgres(), databases::fresh_postgres(), databases::fresh_postgres())
    else {
        eprintln!("SKIPPED: no PostgreSQL server found under /usr/lib/postgresql");
        return;
    };
    let restored_graphs = databases::fresh_postgres().expect("another database");
    let restored = [("PIDQ_DATABASE_URL", target.as_str()), ("PIDQ_STORE_URL", restored_graphs.as_str())];
    round_trip("backup-postgres", &[("PIDQ_DATABASE_URL", &source), ("PIDQ_STORE_URL", &graphs)], &restored, &[]);
    // Both databases have tables now.
    let folder = test_dir("backup-postgres-full");
    let backup = folder.with_file_name("backup-postgres").join("plant.backup");
    let arguments = ["restore", "--data-dir", path(&folder), path(&backup)];
    assert!(fail(&arguments, &restored).contains("is not empty"));
    assert!(fail(&arguments, &[]).contains("PIDQ_DATABASE_URL"));
    assert_eq!(fs::read_dir(&folder).expect("a directory").count(), 0);
}

#[test]
fn a_database_elsewhere_is_backed_up_with_the_files() {
    let urls = ["a", "b"].map(|name| format!("sqlite:{}", path(&test_dir("backup-elsewhere-db").join(name))));
    let settings = |index: usize| [("PIDQ_DATABASE_URL", urls[index].as_str())];
    round_trip("backup-elsewhere", &settings(0), &settings(1), &[]);
}

#[test]
fn damaged_and_truncated_backups_are_rejected_and_nothing_is_left() {
    let folder = test_dir("backup-damaged");
    let (data, key) = (folder.join("data"), folder.join("key"));
    fs::create_dir(&data).expect("a directory");
    let noise: Vec<u8> = (0..20_000_u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    fs::write(data.join("file"), noise).expect("it can be written");
    fs::write(&key, "0123456789abcdef0123456789abcdef").expect("it can be written");
    for options in [&[][..], &["--key-file", path(&key)]] {
        let (backup, damaged, target) = (folder.join("backup"), folder.join("damaged"), folder.join("target"));
        drop(fs::remove_file(&backup));
        succeed(&[&["backup", "--data-dir", path(&data), path(&backup)], options].concat(), &[]);
        let bytes = fs::read(&backup).expect("a backup");
        let check = |bytes: &[u8]| {
            fs::write(&damaged, bytes).expect("it can be written");
            fail(&[&["restore", "--data-dir", path(&target), path(&damaged)], options].concat(), &[]);
            assert_eq!(fs::read_dir(&target).expect("a directory").count(), 0);
        };
        for part in 0..8 {
            let position = bytes.len() * part / 8 + 30;
            check(&bytes[..position]);
            let mut flipped = bytes.clone();
            flipped[position] ^= 0x10;
            check(&flipped);
        }
        check(&bytes[..bytes.len() - 1]);
        check(&[]);
    }
}

#[test]
fn a_backup_replaces_nothing() {
    let folder = test_dir("backup-replaces");
    let (data, backup) = (folder.join("data"), folder.join("backup"));
    fs::create_dir(&data).expect("a directory");
    fs::write(data.join("file"), "text").expect("it can be written");
    let messages = succeed(&["backup", "--data-dir", path(&data), path(&backup)], &[]);
    assert_eq!(messages, "1 file, 4 bytes before compression\n");
    assert!(fail(&["backup", "--data-dir", path(&data), path(&backup)], &[]).contains("exists"));
    assert!(fail(&["restore", "--data-dir", path(&data), path(&backup)], &[]).contains("not empty"));
    assert!(fail(&["backup", "--data-dir", path(&folder.join("none")), "-"], &[]).contains("no data directory"));
    let elsewhere = format!("sqlite:{}", path(&folder.join("elsewhere.db")));
    let messages =
        fail(&["backup", "--data-dir", path(&folder.join("none")), "-"], &[("PIDQ_DATABASE_URL", &elsewhere)]);
    assert!(messages.contains("no data directory"), "graphs would be missing: {messages}");
    assert!(fail(&["restore", "--check", path(&data.join("file"))], &[]).contains("not a backup"));
}

#[test]
fn another_key_is_named_as_the_cause() {
    let folder = test_dir("backup-other-key");
    let [data, key, other, backup] = ["data", "key", "other", "backup"].map(|name| folder.join(name));
    fs::create_dir(&data).expect("a directory");
    fs::write(data.join("file"), "text").expect("it can be written");
    fs::write(&key, "0123456789abcdef0123456789abcdef").expect("it can be written");
    fs::write(&other, "abcdef0123456789abcdef0123456789").expect("it can be written");
    succeed(&["backup", "--data-dir", path(&data), "--key-file", path(&key), path(&backup)], &[]);
    let messages = fail(&["restore", "--check", "--key-file", path(&other), path(&backup)], &[]);
    assert!(messages.contains("the key is another one"), "{messages}");
}

/// The copy of a database is not encrypted, whatever the backup is.
#[cfg(unix)]
#[test]
fn a_terminated_backup_leaves_no_files() {
    let folder = test_dir("backup-terminated");
    let [data, target] = ["data", "target"].map(|name| folder.join(name));
    fs::create_dir(&data).expect("a directory");
    fs::create_dir(&target).expect("a directory");
    // A file without blocks on disk takes no space, but too much time to be backed up before the signal.
    fs::File::create(data.join("file")).and_then(|file| file.set_len(1 << 38)).expect("a sparse file");
    let mut backup =
        pidq().args(["backup", "--data-dir", path(&data), path(&target.join("backup"))]).spawn().expect("it runs");
    while fs::read_dir(&target).expect("a directory").count() < 2 {
        thread::sleep(Duration::from_millis(5));
    }
    thread::sleep(Duration::from_millis(200));
    let pid = rustix::process::Pid::from_child(&backup);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
    let status = backup.wait().expect("it ends");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(15));
    assert_eq!(fs::read_dir(&target).expect("a directory").count(), 0);
}

#[cfg(unix)]
#[test]
fn a_database_below_the_data_directory_may_be_named_by_another_path() {
    let folder = test_dir("backup-paths");
    let [first, second, link] = ["first", "second", "link"].map(|name| folder.join(name));
    fs::create_dir(&second).expect("a directory");
    std::os::unix::fs::symlink(&second, &link).expect("a link");
    let database = |data: &Path| format!("sqlite:{}", path(&data.join("pidq.db")));
    succeed(&["migrate", "--data-dir", path(&first)], &[("PIDQ_DATABASE_URL", &database(&first))]);
    let backup = folder.join("backup");
    succeed(&["backup", "--data-dir", path(&first), path(&backup)], &[("PIDQ_DATABASE_URL", &database(&first))]);
    succeed(&["restore", "--data-dir", path(&link), path(&backup)], &[("PIDQ_DATABASE_URL", &database(&second))]);
    assert!(second.join("pidq.db").exists());
}
