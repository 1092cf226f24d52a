//! The service as the command starts it, and the commands that manage its accounts and graphs.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

pub fn pidq() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pidq"));
    command.current_dir(ROOT).env_clear().env("PATH", env!("PATH"));
    command
}

/// Creates an empty directory for a test.
pub fn test_dir(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// A service that runs until it is dropped.
pub struct Service {
    pub child: Child,
    pub address: String,
}

impl Service {
    fn start(arguments: &[&str]) -> Service {
        Service::with(&[], arguments)
    }

    /// Starts the service with secrets in environment variables.
    pub fn with(environment: &[(&str, &str)], arguments: &[&str]) -> Service {
        Service::start_command("serve", environment, arguments)
    }

    /// Starts the service with one of the serving commands.
    pub fn start_command(name: &str, environment: &[(&str, &str)], arguments: &[&str]) -> Service {
        let mut command = pidq();
        command
            .envs(environment.iter().copied())
            .args(name.split(' '))
            .args(["--listen", "127.0.0.1:0", "--admin-listen", ""])
            .args(arguments);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
        let address = address(&mut child);
        Service { child, address }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the address from the service's log. The rest of the log is drained: a full pipe would block the service.
fn address(child: &mut Child) -> String {
    let mut lines = BufReader::new(child.stderr.take().expect("its log")).lines().map_while(Result::ok);
    let address_line = lines.find_map(|line| {
        let line: serde_json::Value = serde_json::from_str(&line).ok()?;
        Some(line.get("address")?.as_str()?.to_owned())
    });
    thread::spawn(move || lines.for_each(drop));
    address_line.expect("the log has the address")
}

/// Sends a request with a request line such as `GET /path`. Returns the status and the body of the response.
pub fn send(address: &str, line: &str, headers: &[String], body: &str) -> (u16, String) {
    let (head, body) = exchange(address, line, headers, body);
    (head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status"), body)
}

/// Sends a request. Returns the head and the body of the response.
pub fn exchange(address: &str, line: &str, headers: &[String], body: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let length = body.len();
    let request = format!("{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n");
    write!(stream, "{request}{headers}\r\n{body}").expect("it reads");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("it responds");
    let (head, body) = response.split_once("\r\n\r\n").expect("a head and a body");
    (head.to_owned(), body.to_owned())
}

fn shell(line: &str) -> String {
    let output =
        Command::new("bash").args(["-c", line]).current_dir(test_dir("service-shell")).output().expect("bash runs");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it is UTF-8")
}

#[test]
fn the_service_of_the_readme_responds() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("SKIPPED: curl is not installed");
        return;
    }
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).expect("there is a README");
    let line = readme.lines().find(|line| line.starts_with("pidq serve")).expect("it says how");
    let arguments: Vec<&str> = line.split(' ').skip(2).collect();
    let service = Service::start(&arguments);
    let calls = readme.lines().filter(|line| line.starts_with("curl"));
    let responses: Vec<String> = calls.map(|line| shell(&line.replace("127.0.0.1:8080", &service.address))).collect();
    let [size, _, batch] = &responses[..] else { panic!("three calls: {responses:?}") };
    assert!(size.ends_with(r#""result":[120]}"#), "{size}");
    assert!(batch.lines().count() == 3 && batch.contains(r#"{"job_id":"plant","change_version":"1","result":[186]}"#));
}

#[test]
fn sighup_reloads_the_directory_and_keeps_requests_running() {
    let graphs = test_dir("service-hangup");
    let service = Service::start(&["--graph-dir", graphs.to_str().expect("a path"), "--auth", "off"]);
    let hangup = Command::new("kill").args(["-HUP", &service.child.id().to_string()]).status().expect("kill runs");
    assert!(hangup.success());
    let is_listening = || TcpStream::connect(&service.address).is_ok();
    thread::sleep(Duration::from_millis(200));
    assert!(is_listening(), "it still serves");
}

fn run(data: &Path, arguments: &[&str], input: &str) -> Output {
    let mut command = pidq();
    command.args(arguments).arg("--data-dir").arg(data);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // A command that reads no input may have exited already.
    drop(child.stdin.take().expect("its input").write_all(input.as_bytes()));
    child.wait_with_output().expect("it ends")
}

fn stdout_of(data: &Path, arguments: &[&str], input: &str) -> String {
    let output = run(data, arguments, input);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it is UTF-8")
}

fn stderr_of(data: &Path, arguments: &[&str], input: &str) -> String {
    let output = run(data, arguments, input);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).expect("it is UTF-8")
}

#[test]
fn graphs_are_added_listed_and_removed() {
    let data = test_dir("service-graphs");
    let plant = "examples/data/plant.json";
    assert!(stdout_of(&data, &["graph", "import", plant], "").starts_with("plant-100 version 1 stored: 120 nodes"));
    assert!(stdout_of(&data, &["graph", "import", plant], "").contains("unchanged"));
    assert!(stdout_of(&data, &["graph", "import", "examples/data/plant_b.json"], "").contains("version 2 stored"));
    assert!(stdout_of(&data, &["graph", "list"], "").contains("plant-100  2 "));
    let first = stdout_of(&data, &["graph", "export", "plant-100", "--version", "1"], "");
    assert!(first.contains("\"design_pressure\": 0.1") && first.contains("\"change_version\": \"1\""));
    assert_eq!(stdout_of(&data, &["graph", "verify"], ""), "2 versions verified, 0 corrupt\n");
    assert_eq!(stderr_of(&data, &["graph", "export", "nope"], ""), "error: graph not found\n");
    stdout_of(&data, &["graph", "delete", "plant-100"], "");
    assert!(
        stdout_of(&data, &["graph", "import", plant], "").contains("version 3 stored"),
        "numbers are not used again"
    );
}

#[test]
fn a_lost_account_database_is_not_taken_for_a_first_start() {
    let data = test_dir("service-accounts-lost");
    // Graphs that were imported before the first start have no accounts yet.
    stdout_of(&data, &["graph", "import", "examples/data/plant.json"], "");
    let path = data.to_str().expect("a path");
    let serve = || drop(Service::start(&["--data-dir", path]));
    serve();
    serve();
    let refusal = || stderr_of(&data, &["serve", "--listen", "127.0.0.1:0", "--admin-listen", ""], "");
    for file in ["pidq.db", "pidq.db-wal", "pidq.db-shm"] {
        drop(fs::remove_file(data.join(file)));
    }
    assert!(refusal().contains("the accounts are lost") && refusal().contains("`pidq users add`"), "{}", refusal());
    fs::write(data.join("pidq.db"), "").expect("it can be written");
    assert!(refusal().contains("restore the database from a backup"));
    stdout_of(&data, &["users", "add", "maria@plant.example", "--role", "admin"], "one-two-three-horse\n");
    serve();
    assert!(stdout_of(&data, &["users", "list"], "").contains("maria@plant.example"));
    assert!(!stdout_of(&data, &["users", "list"], "").contains("admin@"), "no administrator was created");
}

#[test]
fn read_commands_create_no_data_directory() {
    let data = test_dir("service-nowhere").join("mistyped");
    for arguments in [&["users", "list"][..], &["users", "grants"], &["clients", "list"], &["graph", "list"]] {
        assert!(stderr_of(&data, arguments, "").contains("no data directory"), "{arguments:?}");
    }
    assert!(!data.exists());
}

#[test]
fn users_and_clients_are_managed() {
    let data = test_dir("service-users");
    let add = ["users", "add", "maria@plant.example", "--role", "editor", "--group", "process"];
    stdout_of(&data, &add, "one-two-three-horse\n");
    let users = stdout_of(&data, &["users", "list"], "");
    assert!(users.contains("maria@plant.example  editor  main    process  active"), "{users}");
    assert!(stderr_of(&data, &add, "one-two-three-horse\n").contains("already exists"));
    assert!(stderr_of(&data, &["users", "passwd", "maria@plant.example"], "short\n").contains("at least 8 characters"));
    assert!(stderr_of(&data, &["users", "passwd", "maria@plant.example"], "").contains("first line"));
    stdout_of(&data, &["users", "disable", "maria@plant.example"], "");
    assert!(stdout_of(&data, &["users", "list"], "").contains("process  disabled"));
    stdout_of(&data, &["users", "enable", "maria@plant.example"], "");
    assert!(stdout_of(&data, &["users", "list"], "").contains("process  active"));
    stdout_of(&data, &["users", "grant", "200-*", "group:process", "write"], "");
    assert!(stdout_of(&data, &["users", "grants"], "").contains("200-*   group:process  write"));
    let client = stdout_of(&data, &["clients", "add", "historian", "--grant", "client_credentials"], "");
    assert!(client.contains("client_secret: pidq_cs_"), "{client}");
    assert!(!stdout_of(&data, &["clients", "list"], "").contains("pidq_cs_"), "a secret is shown once");
    assert!(
        stderr_of(&data, &["clients", "add", "x", "--grant", "implicit"], "").contains("unknown grant type `implicit`")
    );
}

#[cfg(feature = "server")]
#[test]
fn the_help_names_every_scope_of_a_client() {
    let help = pidq().args(["clients", "add", "--help"]).output().expect("it runs");
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let scopes = help.split("--scope").nth(1).and_then(|rest| rest.split("--").next()).expect("an option");
    for scope in pidq_http::auth::SCOPES {
        assert!(scopes.contains(scope), "{scope}: {scopes}");
    }
}

#[test]
fn grants_need_an_existing_account() {
    let data = test_dir("service-rights");
    stdout_of(&data, &["users", "add", "maria@plant.example"], "one-two-three-horse\n");
    stdout_of(&data, &["clients", "add", "historian"], "");
    let id = stdout_of(&data, &["users", "list"], "")
        .lines()
        .nth(1)
        .and_then(|line| line.split(' ').next())
        .map(str::to_owned);
    let id = id.expect("a user");
    for subject in
        ["user:Maria@plant.example", &format!("user:{id}"), "client:historian", "sso:https://idp#1", "everyone"]
    {
        stdout_of(&data, &["users", "grant", "200-*", subject, "write"], "");
    }
    let grants = stdout_of(&data, &["users", "grants"], "");
    assert_eq!(grants.matches(&format!("user:{id}")).count(), 1, "{grants}");
    for unknown in ["user:nobody", "client:nobody", "maria", "group:"] {
        stderr_of(&data, &["users", "grant", "200-*", unknown, "write"], "");
    }
    let other_tenant = ["users", "grant", "200-*", "user:maria@plant.example", "write", "--tenant", "other"];
    assert!(stderr_of(&data, &other_tenant, "").contains("does not exist"));
    stdout_of(&data, &["users", "revoke", "200-*", "user:maria@plant.example"], "");
    assert!(!stdout_of(&data, &["users", "grants"], "").contains("user:"));
}

#[test]
fn invalid_settings_are_rejected_at_once() {
    let data = test_dir("service-invalid");
    stdout_of(&data, &["users", "add", "ann@plant.example", "--sso-only"], "");
    let passwd = ["users", "passwd", "ann@plant.example"];
    assert!(stderr_of(&data, &passwd, "one-two-three-horse\n").contains("single sign-on"));
    for tenant in ["\u{e4}", "a b", "../x", ".."] {
        let add = ["users", "add", "x", "--tenant", tenant];
        assert!(stderr_of(&data, &add, "one-two-three-horse\n").contains("a tenant must have"), "{tenant}");
    }
    assert!(stderr_of(&data, &["clients", "add", "x", "--title", "a\u{1b}[31m\nb"], "").contains("a title"));
    let twice =
        ["clients", "add", "y", "--scope", "read", "--scope", "read", "--grant", "password", "--grant", "password"];
    stdout_of(&data, &twice, "");
    let clients = stdout_of(&data, &["clients", "list"], "");
    assert!(clients.contains("main    password  read    active"), "{clients}");
}

#[cfg(unix)]
#[test]
fn variables_of_other_programs_may_be_anything() {
    use std::os::unix::ffi::OsStrExt;
    let (data, invalid) = (test_dir("service-variables"), std::ffi::OsStr::from_bytes(b"\xff"));
    let list = |name: &str| {
        let mut command = pidq();
        command.env(name, invalid).args(["users", "list", "--data-dir"]).arg(&data).output().expect("it ends")
    };
    assert!(list("LS_COLORS").status.success());
    let output = list("PIDQ_LISTEN");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("`PIDQ_LISTEN`"));
}

#[test]
fn an_unknown_setting_ends_the_start() {
    let output = pidq().args(["serve", "--lisen", "127.0.0.1:0"]).output().expect("it ends");
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).expect("it is UTF-8");
    assert!(stderr.contains("did you mean `--listen`?"), "{stderr}");
}
