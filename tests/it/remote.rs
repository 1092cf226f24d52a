//! `pidq graph --url`: the command as a client of a service, and of a broken or hostile server.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Output;
use std::thread::{self, JoinHandle};

use crate::service::{Service, pidq, test_dir};

const SECRET: &str = "pidq_cs_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";
const PASSWORD: &str = "correct-horse-battery-7531";
const CLIENT: [(&str, &str); 2] = [("PIDQ_CLIENT_ID", "pidq"), ("PIDQ_CLIENT_SECRET", SECRET)];
const USER: [(&str, &str); 2] = [("PIDQ_USERNAME", "admin"), ("PIDQ_PASSWORD", PASSWORD)];
const PLANT: &str = "examples/data/plant.json";
const TWO: &str = r#"{"pid_graph": {"nodes": [{"id": "a"}, {"id": "b"}], "edges": []}}"#;

/// A service with accounts, and its URL.
struct RemoteService {
    service: Service,
    directory: std::path::PathBuf,
}

impl RemoteService {
    fn start(name: &str) -> RemoteService {
        let directory = test_dir(name);
        let data = directory.join("data").display().to_string();
        let environment = [CLIENT[1], ("PIDQ_ADMIN_PASSWORD", PASSWORD)];
        RemoteService {
            service: Service::with(&environment, &["--data-dir", &data, "--shutdown-delay", "0s"]),
            directory,
        }
    }

    fn run_as(&self, credentials: &[(&str, &str)], arguments: &[&str]) -> Output {
        run(&format!("http://{}", self.service.address), credentials, arguments)
    }

    /// Returns the output of a command that must succeed.
    fn stdout(&self, arguments: &[&str]) -> String {
        let output = self.run_as(&CLIENT, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        printed(&output)
    }

    /// Returns the error output of a command that must fail with an exit code.
    fn stderr(&self, arguments: &[&str], code: i32) -> String {
        let output = self.run_as(&CLIENT, arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        stderr(&output)
    }

    fn write_file(&self, name: &str, text: &str) -> String {
        let path = self.directory.join(name);
        fs::write(&path, text).expect("it can be written");
        path.display().to_string()
    }
}

fn run(url: &str, credentials: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = pidq();
    command.envs(credentials.iter().copied()).args(["graph", "--url", url]).args(arguments);
    command.output().expect("the command runs")
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn graphs_are_uploaded_and_downloaded_unchanged() {
    let remote = RemoteService::start("remote-graphs");
    assert!(remote.stdout(&["import", PLANT]).starts_with("plant-100 version 1 stored: 120 nodes"));
    assert!(remote.stdout(&["import", PLANT]).contains("unchanged"));
    let two = remote.write_file("two.json", TWO);
    assert_eq!(
        remote.stdout(&["import", "--graph-id", "plant-100", &two]),
        "plant-100 version 2 stored: 2 nodes, 0 edges\n"
    );
    let first = remote.stdout(&["export", "plant-100", "--version", "1"]);
    assert!(first.contains("\"design_pressure\": 0.1") && first.contains("\"change_version\": \"1\""));
    assert!(remote.stdout(&["list"]).contains("plant-100  2 "));
    assert_eq!(remote.stdout(&["list", "--prefix", "Z"]).lines().count(), 1);
    remote.stdout(&["delete", "plant-100"]);
    let error = remote.stderr(&["export", "plant-100"], 2);
    assert!(
        error.starts_with("error[graph-not-found]: Graph not found.\n  = service: status 404, request "),
        "{error}"
    );
}

#[test]
fn a_write_can_be_conditional() {
    let remote = RemoteService::start("remote-conditions");
    let two = remote.write_file("two.json", TWO);
    remote.stdout(&["import", "--new", &two]);
    assert!(remote.stderr(&["import", "--new", &two], 2).contains("error[precondition-failed]"));
    let list = remote.stdout(&["list"]);
    let tag = list.lines().nth(1).and_then(|row| row.split_whitespace().nth(5)).expect("an ETag").to_owned();
    let three = remote.write_file("three.json", &TWO.replace("\"b\"}", "\"b\"}, {\"id\": \"c\"}"));
    remote.stdout(&["import", "--graph-id", "two", "--if-match", &tag, &three]);
    let error = remote.stderr(&["import", "--graph-id", "two", "--if-match", &tag, &two], 2);
    assert!(error.contains("error[precondition-failed]") && error.contains(&format!("--> {two}")), "{error}");
    remote.stdout(&["import", "--graph-id", "two", "--if-match", "*", &two]);
}

#[test]
fn a_remote_query_prints_rows_of_one_graph_or_a_line_per_graph() {
    let remote = RemoteService::start("remote-query");
    let two = remote.write_file("two.json", TWO);
    remote.stdout(&["import", PLANT, &two]);
    assert_eq!(remote.stdout(&["query", ".pid_graph.nodes | size()", "plant-100"]), "120\n");
    assert_eq!(remote.stdout(&["query", ".pid_graph.nodes | map(.id)", "two"]), "\"a\"\n\"b\"\n");
    let named = [".pid_graph.nodes | filter(.id == $id) | size()", "two", "--arg", "id", "b"];
    assert_eq!(remote.stdout(&[&["query"], &named[..]].concat()), "1\n");
    let rows = remote.stdout(&["query", "1", "two", "--format", "json"]);
    assert_eq!(rows, r#"{"query":"1","schema_version":"1","change_version":"1","result":[1]}"#);
    assert_eq!(remote.stdout(&["query", ".pid_graph.nodes", "two", "--format", "csv"]), "id\na\nb\n");
    let line = |job: &str, size| format!("{{\"job_id\":\"{job}\",\"change_version\":\"1\",\"result\":[{size}]}}\n");
    let both = line("plant-100", 120) + &line("two", 2);
    assert_eq!(remote.stdout(&["query", ".pid_graph.nodes | size()", "--prefix", ""]), both);
    assert_eq!(remote.stdout(&["query", ".pid_graph.nodes | size()", "plant-100", "two"]), both);
    assert!(remote.stderr(&["query", "1"], 2).contains("no graphs given"));
}

#[test]
fn a_remote_query_reads_other_graphs_and_versions_as_parameters() {
    let remote = RemoteService::start("remote-graph-params");
    let two = remote.write_file("two.json", TWO);
    let none = remote.write_file("none.json", r#"{"pid_graph": {"nodes": [], "edges": []}}"#);
    remote.stdout(&["import", PLANT, &two]);
    remote.stdout(&["import", "--graph-id", "two", &none]);
    let size = |graph: &str, reference: &str| {
        remote.stdout(&["query", "$other.pid_graph.nodes | size()", graph, "--graph-param", "other", reference])
    };
    assert_eq!(size("two", "@1"), "2\n", "a version of the queried graph");
    assert_eq!(size("plant-100", "two"), "0\n", "the latest version of another graph");
    assert_eq!(size("plant-100", "two@1"), "2\n");
    let query = |options: &[&str]| remote.stderr(&[&["query", "$other", "two"], options].concat(), 2);
    assert!(query(&["--graph-param", "other", "gone"]).contains("error[graph-not-found]"));
    assert!(query(&["plant-100", "--graph-param", "other", "two"]).contains("needs a single queried graph"));
    assert!(query(&["--graph-param", "$other", "two"]).contains("invalid parameter name `$other`"));
}

#[test]
fn drawings_in_other_formats_are_imported_with_their_findings() {
    let remote = RemoteService::start("remote-drawings");
    let output = remote.run_as(&CLIENT, &["import", "examples/data/skid.xml"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let json = remote.directory.join("skid.json").display().to_string();
    let local = pidq().args(["import", "--verbose", "examples/data/skid.xml", "-o", &json]).output();
    let local = local.expect("the command runs");
    assert!(printed(&output).starts_with("skid version 1 stored: "), "{}", printed(&output));
    let findings = stderr(&output);
    assert!(findings.contains("warning[I004]") && stderr(&local).contains(&findings), "{findings}{}", stderr(&local));
    let cut = remote.write_file("cut.xml", "<PlantModel><Equipment");
    assert!(remote.stderr(&["import", &cut], 2).contains("error[unreadable-drawing]"));
}

#[test]
fn query_errors_end_the_command_as_they_do_locally() {
    let remote = RemoteService::start("remote-errors");
    let two = remote.write_file("two.json", TWO);
    remote.stdout(&["import", &two]);
    let unknown = remote.stderr(&["query", ".pid_graph.nodes | siez()", "two"], 3);
    assert!(unknown.starts_with("error[unknown-function]: ") && unknown.contains("--> the query:1:20\n"), "{unknown}");
    assert!(unknown.contains("did you mean `size`?"), "{unknown}");
    assert!(remote.stderr(&["query", ".a ==", "two"], 3).contains("error[query-syntax]"));
    assert!(remote.stderr(&["query", "sort()", "two"], 5).contains("error[query-evaluation]"));
    let rows = remote.run_as(&CLIENT, &["query", "sort()", "two", "none"]);
    assert_eq!((rows.status.code(), printed(&rows).lines().count()), (Some(5), 2), "{}", stderr(&rows));
    let wrong = remote.write_file("wrong.json", r#"{"pid_graph": {"nodes": [1], "edges": []}}"#);
    let error = remote.stderr(&["import", &wrong], 2);
    assert!(error.contains("error[invalid-graph]") && error.contains("= finding: /pid_graph/nodes/0: "), "{error}");
}

#[test]
fn tokens_come_from_the_environment_or_a_file_and_are_never_shown() {
    let remote = RemoteService::start("remote-tokens");
    let list_as =
        |credentials: &[(&str, &str)], options: &[&str]| remote.run_as(credentials, &[options, &["list"]].concat());
    let anonymous = list_as(&[], &[]);
    assert_eq!(anonymous.status.code(), Some(2));
    assert!(stderr(&anonymous).contains("error[unauthenticated]") && stderr(&anonymous).contains("PIDQ_TOKEN"));
    let user = list_as(&[CLIENT, USER].concat(), &[]);
    assert!(user.status.success(), "{}", stderr(&user));
    let password = remote.write_file("password", &format!("{PASSWORD}\n"));
    let by_file = [CLIENT[0], CLIENT[1], USER[0], ("PIDQ_PASSWORD_FILE", password.as_str())];
    assert!(list_as(&by_file, &[]).status.success());
    let wrong = list_as(&[CLIENT[0], CLIENT[1], USER[0], ("PIDQ_PASSWORD", "hush-hush-hush")], &[]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).starts_with("error[invalid_grant]: Invalid credentials given."), "{}", stderr(&wrong));
    let incomplete = list_as(&[CLIENT[0], USER[0]], &[]);
    assert!(stderr(&incomplete).contains("`PIDQ_CLIENT_SECRET` is missing"), "{}", stderr(&incomplete));
    let token = remote.write_file("token", "pidq_at_secretsecretsecretsecretsecretsecretsecr\n");
    let invalid = list_as(&[("PIDQ_TOKEN", "another")], &["--token-file", &token]);
    assert!(stderr(&invalid).starts_with("error[invalid-token]"), "{}", stderr(&invalid));
    for output in [&anonymous, &wrong, &invalid] {
        let all = printed(output) + &stderr(output);
        assert!(!all.contains("hush-hush") && !all.contains("secretsecret") && !all.contains(SECRET), "{all}");
    }
}

#[test]
fn store_commands_send_no_request() {
    let url = "http://127.0.0.1:9";
    for (arguments, reason) in [
        (&["verify"][..], "`verify` cannot be used with `--url`"),
        (&["list", "--tenant", "main"], "`--tenant` cannot be used with `--url`"),
        (&["list", "--data-dir", "data"], "`--data-dir` cannot be used with `--url`"),
        (&["list"], "cannot reach http://127.0.0.1:9"),
    ] {
        let output = run(url, &[], arguments);
        assert!(
            output.status.code() == Some(2) && stderr(&output).contains(reason),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
    let plain = run("http://pidq.example", &[("PIDQ_TOKEN", "t")], &["list"]);
    assert!(stderr(&plain).contains("plain HTTP"), "{}", stderr(&plain));
    let local = pidq().args(["graph", "query", "1", "two"]).output().expect("the command runs");
    assert!(stderr(&local).contains("specify `--url`"));
}

/// Starts a server that sends the given responses in turn and records the requests.
fn fake_service(responses: &[&'static str]) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a socket");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let responses = responses.to_vec();
    let requests = thread::spawn(move || responses.iter().map(|response| respond(&listener, response)).collect());
    (url, requests)
}

fn respond(listener: &TcpListener, response: &str) -> String {
    let (stream, _) = listener.accept().expect("a client connects");
    let request = request(&stream);
    (&stream).write_all(format!("HTTP/1.1 {response}").as_bytes()).expect("the client reads");
    request
}

fn request(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    while !head.ends_with("\r\n\r\n") {
        let start = head.len();
        reader.read_line(&mut head).expect("a head");
        if let Some(value) = head[start..].to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a number");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    head + &String::from_utf8_lossy(&body)
}

const TOKEN: &str = "200 OK\r\nConnection: close\r\nContent-Length: 61\r\n\r\n\
    {\"access_token\":\"first\",\"refresh_token\":\"r\",\"expires_in\":600}";
const UNAUTHORIZED: &str = "401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
const INVALID_GRANT: &str =
    "400 Bad Request\r\nConnection: close\r\nContent-Length: 25\r\n\r\n{\"error\":\"invalid_grant\"}";
const EMPTY: &str = "200 OK\r\nConnection: close\r\nContent-Length: 25\r\n\r\n{\"graphs\":[],\"next\":null}";
const BUSY: &str = "503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n";

#[test]
fn an_expired_token_is_renewed_once() {
    let (url, requests) = fake_service(&[TOKEN, UNAUTHORIZED, INVALID_GRANT, TOKEN, EMPTY]);
    let output = run(&url, &CLIENT, &["list"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let requests = requests.join().expect("five requests were sent");
    assert!(requests[0].ends_with(&format!("grant_type=client_credentials&client_id=pidq&client_secret={SECRET}")));
    assert!(requests[1].contains("authorization: Bearer first\r\n"), "{}", requests[1]);
    assert!(requests[2].contains("grant_type=refresh_token&refresh_token=r&"), "the refresh token first");
    assert!(requests[3].contains("grant_type=client_credentials"));
    let (url, requests) = fake_service(&[TOKEN, UNAUTHORIZED, TOKEN, UNAUTHORIZED]);
    assert!(stderr(&run(&url, &CLIENT, &["list"])).starts_with("error[http-401]"), "a second 401 is an error");
    assert_eq!(requests.join().map(|requests| requests.len()).ok(), Some(4));
}

#[test]
fn a_busy_service_is_retried_after_retry_after() {
    let (url, requests) = fake_service(&[BUSY, EMPTY]);
    assert!(run(&url, &[("PIDQ_TOKEN", "t")], &["list"]).status.success());
    assert_eq!(requests.join().map(|requests| requests.len()).ok(), Some(2));
}

#[test]
fn a_truncated_response_is_an_error() {
    let truncated = "200 OK\r\nConnection: close\r\nContent-Length: 100\r\n\r\n{\"pid_graph\"";
    let (url, requests) = fake_service(&[truncated]);
    let output = run(&url, &[("PIDQ_TOKEN", "t")], &["export", "a"]);
    assert_eq!((output.status.code(), printed(&output).as_str()), (Some(2), "{\"pid_graph\""));
    assert!(stderr(&output).contains("truncated"), "{}", stderr(&output));
    drop(requests.join());
    let page = "502 Bad Gateway\r\nConnection: close\r\nContent-Length: 12\r\n\r\n<h1>Oh</h1>\n";
    let (url, requests) = fake_service(&[page]);
    assert!(stderr(&run(&url, &[], &["list"])).starts_with("error[http-502]: Bad Gateway\n"));
    drop(requests.join());
}
