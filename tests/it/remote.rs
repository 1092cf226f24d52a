//! `pidq graph --url`: what the command makes of a service, and of what may stand in its place.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Output;
use std::thread::{self, JoinHandle};

use crate::service::{Service, folder, pidq};

const SECRET: &str = "pidq_cs_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";
const PASSWORD: &str = "correct-horse-battery-7531";
const CLIENT: [(&str, &str); 2] = [("PIDQ_CLIENT_ID", "pidq"), ("PIDQ_CLIENT_SECRET", SECRET)];
const USER: [(&str, &str); 2] = [("PIDQ_USERNAME", "admin"), ("PIDQ_PASSWORD", PASSWORD)];
const PLANT: &str = "examples/data/plant.json";
const TWO: &str = r#"{"pid_graph": {"nodes": [{"id": "a"}, {"id": "b"}], "edges": []}}"#;

/// A service with accounts, and what asks it.
struct Far {
    service: Service,
    place: std::path::PathBuf,
}

impl Far {
    fn start(name: &str) -> Far {
        let place = folder(name);
        let data = place.join("data").display().to_string();
        let environment = [CLIENT[1], ("PIDQ_ADMIN_PASSWORD", PASSWORD)];
        Far { service: Service::with(&environment, &["--data-dir", &data, "--drain-wait", "0s"]), place }
    }

    fn asked_as(&self, who: &[(&str, &str)], arguments: &[&str]) -> Output {
        ask(&format!("http://{}", self.service.address), who, arguments)
    }

    /// What it prints when all is well.
    fn says(&self, arguments: &[&str]) -> String {
        let output = self.asked_as(&CLIENT, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", told(&output));
        printed(&output)
    }

    /// How it ends, and what it says about it.
    fn refuses(&self, arguments: &[&str], code: i32) -> String {
        let output = self.asked_as(&CLIENT, arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", told(&output));
        told(&output)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.place.join(name);
        fs::write(&path, text).expect("it can be written");
        path.display().to_string()
    }
}

fn ask(url: &str, who: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = pidq();
    command.envs(who.iter().copied()).args(["graph", "--url", url]).args(arguments);
    command.output().expect("the command runs")
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn graphs_go_there_and_come_back_as_they_were() {
    let far = Far::start("remote-graphs");
    assert!(far.says(&["import", PLANT]).starts_with("plant-100 version 1 stored: 120 nodes"));
    assert!(far.says(&["import", PLANT]).contains("unchanged"));
    let two = far.file("two.json", TWO);
    assert_eq!(far.says(&["import", "--job", "plant-100", &two]), "plant-100 version 2 stored: 2 nodes, 0 edges\n");
    let first = far.says(&["export", "plant-100", "--version", "1"]);
    assert!(first.contains("\"design_pressure\": 0.1") && first.contains("\"change_version\": \"1\""));
    assert!(far.says(&["list"]).contains("plant-100  2 "));
    assert_eq!(far.says(&["list", "--prefix", "Z"]).lines().count(), 1);
    far.says(&["delete", "plant-100"]);
    let gone = far.refuses(&["export", "plant-100"], 2);
    assert!(gone.starts_with("error[graph-not-found]: No such graph.\n  = service: status 404, request "), "{gone}");
}

#[test]
fn a_write_can_name_what_it_replaces() {
    let far = Far::start("remote-conditions");
    let two = far.file("two.json", TWO);
    far.says(&["import", "--new", &two]);
    assert!(far.refuses(&["import", "--new", &two], 2).contains("error[precondition-failed]"));
    let list = far.says(&["list"]);
    let tag = list.lines().nth(1).and_then(|row| row.split_whitespace().nth(5)).expect("an ETag").to_owned();
    let three = far.file("three.json", &TWO.replace("\"b\"}", "\"b\"}, {\"id\": \"c\"}"));
    far.says(&["import", "--job", "two", "--if-match", &tag, &three]);
    let refused = far.refuses(&["import", "--job", "two", "--if-match", &tag, &two], 2);
    assert!(refused.contains("error[precondition-failed]") && refused.contains(&format!("--> {two}")), "{refused}");
    far.says(&["import", "--job", "two", "--if-match", "*", &two]);
}

#[test]
fn rows_of_one_job_and_lines_of_many() {
    let far = Far::start("remote-query");
    let two = far.file("two.json", TWO);
    far.says(&["import", PLANT, &two]);
    assert_eq!(far.says(&["query", ".pid_graph.nodes | size()", "plant-100"]), "120\n");
    assert_eq!(far.says(&["query", ".pid_graph.nodes | map(.id)", "two"]), "\"a\"\n\"b\"\n");
    let named = [".pid_graph.nodes | filter(.id == $id) | size()", "two", "--arg", "id", "b"];
    assert_eq!(far.says(&[&["query"], &named[..]].concat()), "1\n");
    let whole = far.says(&["query", "1", "two", "--format", "json"]);
    assert_eq!(whole, r#"{"query":"1","schema_version":"1","change_version":"1","result":[1]}"#);
    assert_eq!(far.says(&["query", ".pid_graph.nodes", "two", "--format", "csv"]), "id\na\nb\n");
    let line = |job: &str, size| format!("{{\"job_id\":\"{job}\",\"change_version\":\"1\",\"result\":[{size}]}}\n");
    let both = line("plant-100", 120) + &line("two", 2);
    assert_eq!(far.says(&["query", ".pid_graph.nodes | size()", "--prefix", ""]), both);
    assert_eq!(far.says(&["query", ".pid_graph.nodes | size()", "plant-100", "two"]), both);
    assert!(far.refuses(&["query", "1"], 2).contains("which jobs?"));
}

#[test]
fn errors_of_a_query_end_the_command_as_they_do_here() {
    let far = Far::start("remote-errors");
    let two = far.file("two.json", TWO);
    far.says(&["import", &two]);
    let unknown = far.refuses(&["query", ".pid_graph.nodes | siez()", "two"], 3);
    assert!(unknown.starts_with("error[unknown-function]: ") && unknown.contains("--> the query:1:20\n"), "{unknown}");
    assert!(unknown.contains("did you mean `size`?"), "{unknown}");
    assert!(far.refuses(&["query", ".a ==", "two"], 3).contains("error[query-syntax]"));
    assert!(far.refuses(&["query", "sort()", "two"], 5).contains("error[query-evaluation]"));
    let rows = far.asked_as(&CLIENT, &["query", "sort()", "two", "none"]);
    assert_eq!((rows.status.code(), printed(&rows).lines().count()), (Some(5), 2), "{}", told(&rows));
    let wrong = far.file("wrong.json", r#"{"pid_graph": {"nodes": [1], "edges": []}}"#);
    let refused = far.refuses(&["import", &wrong], 2);
    assert!(refused.contains("error[invalid-graph]") && refused.contains("= fault: /pid_graph/nodes/0: "), "{refused}");
}

#[test]
fn tokens_come_from_the_environment_or_a_file_and_are_never_shown() {
    let far = Far::start("remote-tokens");
    let with = |who: &[(&str, &str)], more: &[&str]| far.asked_as(who, &[more, &["list"]].concat());
    let nobody = with(&[], &[]);
    assert_eq!(nobody.status.code(), Some(2));
    assert!(told(&nobody).contains("error[unauthenticated]") && told(&nobody).contains("PIDQ_TOKEN"));
    let user = with(&[CLIENT, USER].concat(), &[]);
    assert!(user.status.success(), "{}", told(&user));
    let password = far.file("password", &format!("{PASSWORD}\n"));
    let by_file = [CLIENT[0], CLIENT[1], USER[0], ("PIDQ_PASSWORD_FILE", password.as_str())];
    assert!(with(&by_file, &[]).status.success());
    let wrong = with(&[CLIENT[0], CLIENT[1], USER[0], ("PIDQ_PASSWORD", "hush-hush-hush")], &[]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(told(&wrong).starts_with("error[invalid_grant]: Invalid credentials given."), "{}", told(&wrong));
    let half = with(&[CLIENT[0], USER[0]], &[]);
    assert!(told(&half).contains("`PIDQ_CLIENT_SECRET` is missing"), "{}", told(&half));
    let token = far.file("token", "pidq_at_secretsecretsecretsecretsecretsecretsecr\n");
    let bad = with(&[("PIDQ_TOKEN", "another")], &["--token-file", &token]);
    assert!(told(&bad).starts_with("error[invalid-token]"), "{}", told(&bad));
    for output in [&nobody, &wrong, &bad] {
        let all = printed(output) + &told(output);
        assert!(!all.contains("hush-hush") && !all.contains("secretsecret") && !all.contains(SECRET), "{all}");
    }
}

#[test]
fn what_is_for_a_store_is_no_request() {
    let url = "http://127.0.0.1:9";
    for (arguments, why) in [
        (&["verify"][..], "`verify` is for a store"),
        (&["list", "--tenant", "main"], "`--tenant` is for a store"),
        (&["list", "--data-dir", "data"], "`--data-dir` is for a store"),
        (&["list"], "cannot ask http://127.0.0.1:9"),
    ] {
        let output = ask(url, &[], arguments);
        assert!(output.status.code() == Some(2) && told(&output).contains(why), "{arguments:?}: {}", told(&output));
    }
    let plain = ask("http://pidq.example", &[("PIDQ_TOKEN", "t")], &["list"]);
    assert!(told(&plain).contains("plain HTTP"), "{}", told(&plain));
    let local = pidq().args(["graph", "query", "1", "two"]).output().expect("the command runs");
    assert!(told(&local).contains("name it with `--url`"));
}

/// Stands where a service should be, gives one answer after the other, and keeps the heads and forms it was sent.
fn stranger(answers: &[&'static str]) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a socket");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let answers = answers.to_vec();
    let heard = thread::spawn(move || answers.iter().map(|answer| give(&listener, answer)).collect());
    (url, heard)
}

fn give(listener: &TcpListener, answer: &str) -> String {
    let (stream, _) = listener.accept().expect("somebody asks");
    let request = request(&stream);
    (&stream).write_all(format!("HTTP/1.1 {answer}").as_bytes()).expect("it is heard");
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
const OVER: &str = "401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
const USED: &str = "400 Bad Request\r\nConnection: close\r\nContent-Length: 25\r\n\r\n{\"error\":\"invalid_grant\"}";
const EMPTY: &str = "200 OK\r\nConnection: close\r\nContent-Length: 25\r\n\r\n{\"graphs\":[],\"next\":null}";
const BUSY: &str = "503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n";

#[test]
fn a_token_that_is_over_is_renewed_once() {
    let (url, heard) = stranger(&[TOKEN, OVER, USED, TOKEN, EMPTY]);
    let output = ask(&url, &CLIENT, &["list"]);
    assert!(output.status.success(), "{}", told(&output));
    let heard = heard.join().expect("it was asked five times");
    assert!(heard[0].ends_with(&format!("grant_type=client_credentials&client_id=pidq&client_secret={SECRET}")));
    assert!(heard[1].contains("authorization: Bearer first\r\n"), "{}", heard[1]);
    assert!(heard[2].contains("grant_type=refresh_token&refresh_token=r&"), "the cheaper way first");
    assert!(heard[3].contains("grant_type=client_credentials"));
    let (url, heard) = stranger(&[TOKEN, OVER, TOKEN, OVER]);
    assert!(told(&ask(&url, &CLIENT, &["list"])).starts_with("error[http-401]"), "and then it is refused");
    assert_eq!(heard.join().map(|heard| heard.len()).ok(), Some(4));
}

#[test]
fn a_busy_service_is_asked_again_when_it_says() {
    let (url, heard) = stranger(&[BUSY, EMPTY]);
    assert!(ask(&url, &[("PIDQ_TOKEN", "t")], &["list"]).status.success());
    assert_eq!(heard.join().map(|heard| heard.len()).ok(), Some(2));
}

#[test]
fn an_answer_that_breaks_off_is_no_answer() {
    let cut = "200 OK\r\nConnection: close\r\nContent-Length: 100\r\n\r\n{\"pid_graph\"";
    let (url, heard) = stranger(&[cut]);
    let output = ask(&url, &[("PIDQ_TOKEN", "t")], &["export", "a"]);
    assert_eq!((output.status.code(), printed(&output).as_str()), (Some(2), "{\"pid_graph\""));
    assert!(told(&output).contains("broke off"), "{}", told(&output));
    drop(heard.join());
    let page = "502 Bad Gateway\r\nConnection: close\r\nContent-Length: 12\r\n\r\n<h1>Oh</h1>\n";
    let (url, heard) = stranger(&[page]);
    assert!(told(&ask(&url, &[], &["list"])).starts_with("error[http-502]: Bad Gateway\n"));
    drop(heard.join());
}
