//! Commands for operators: health checks, migrations, and the health of a worker.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::service::{Service, pidq, test_dir};

fn health(arguments: &[&str]) -> (Option<i32>, String) {
    let output = pidq().arg("health").args(arguments).output().expect("the command runs");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn health_tells_whether_a_service_is_ready() {
    let data = test_dir("health");
    let service = Service::start_command("serve", &[], &["--data-dir", data.to_str().expect("a path")]);
    let url = |path: &str| format!("http://{}{path}", service.address);
    for path in ["/readyz", "/livez"] {
        let (code, text) = health(&[&url(path)]);
        assert!(code == Some(0) && text.starts_with("200 "), "{path}: {code:?} {text}");
    }
    let (code, text) = health(&[&url("/nowhere")]);
    assert!(code == Some(1) && text.starts_with("404 ") && text.lines().count() == 1, "{code:?} {text}");
    let unreachable = url("/readyz");
    drop(service);
    let (code, text) = health(&[&unreachable]);
    assert!(code == Some(1) && text.contains("cannot be reached"), "{code:?} {text}");
}

#[test]
fn health_does_not_wait_for_a_service_that_hangs() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/readyz", silent.local_addr().expect("an address"));
    let started = Instant::now();
    assert_eq!(health(&[&url, "--timeout", "1"]), (Some(1), "no answer within 1 s\n".to_owned()));
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn an_invalid_url_is_a_usage_error() {
    for url in ["127.0.0.1:8000", "ftp://127.0.0.1/", "http://", ""] {
        assert_eq!(health(&[url]).0, Some(2), "{url:?}");
    }
    assert_eq!(health(&["http://127.0.0.1:1/", "--timeout", "0"]).0, Some(2));
}

fn migrate(data: &str, environment: &[(&str, &str)]) -> Output {
    let mut command = pidq();
    command.envs(environment.iter().copied()).args(["migrate", "--data-dir", data]);
    command.output().expect("the command runs")
}

#[test]
fn migrate_creates_the_tables_of_the_services_and_may_be_repeated() {
    let folder = test_dir("migrate");
    let data = folder.to_str().expect("a path");
    let database = format!("sqlite:{data}/pidq.db");
    let installation = || {
        let mut command = pidq();
        command.args(["pipeline", "license", "id"]).env("PIDQ_DATABASE_URL", &database);
        String::from_utf8(command.output().expect("the command runs").stdout).expect("a text")
    };
    let mut ids = Vec::new();
    for _ in 0..2 {
        let output = migrate(data, &[]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stdout), "the tables are up to date\n");
        ids.push(installation());
    }
    assert!(ids[0].starts_with("PIDQ-") && ids[0] == ids[1], "one installation: {ids:?}");
    let service = Service::start_command("up", &[("PIDQ_DASHBOARD_LISTEN", "")], &["--data-dir", data]);
    assert_eq!(health(&[&format!("http://{}/readyz", service.address)]).0, Some(0));
}

#[test]
fn migrate_fails_without_its_database() {
    let folder = test_dir("migrate-fails");
    let url = ("PIDQ_DATABASE_URL", "postgres://pidq@127.0.0.1:1/pidq");
    let output = migrate(folder.to_str().expect("a path"), &[url]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn a_worker_has_health_endpoints_if_configured() {
    let folder = test_dir("worker-health");
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port");
    let url = |path: &str| format!("http://{free}{path}");
    let mut command = pidq();
    command.args(["pipeline", "worker", "--data-dir", folder.to_str().expect("a path")]);
    command.args(["--admin-listen", &free.to_string(), "--shutdown-delay", "0s"]);
    let mut worker = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let log = BufReader::new(worker.stderr.take().expect("its log"));
    let mut lines = log.lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("worker started")), "the worker starts");
    thread::spawn(move || lines.for_each(drop));
    let mut answer = health(&[&url("/readyz")]);
    for _ in 0..50 {
        if answer.0 == Some(0) {
            break;
        }
        thread::sleep(Duration::from_millis(100));
        answer = health(&[&url("/readyz")]);
    }
    assert_eq!(answer.0, Some(0), "{}", answer.1);
    assert_eq!(health(&[&url("/api/pipelines")]).0, Some(1), "the API is elsewhere");
    let stopped = Command::new("kill").arg(worker.id().to_string()).status().expect("kill runs");
    assert!(stopped.success() && worker.wait().expect("it ends").success());
}
