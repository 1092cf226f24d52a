//! Exhausted file descriptors: the server survives, and serves again when some are free.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::server::{Server, app};

/// Environment variable of the child process with few descriptors.
const CHILD_ENV: &str = "PIDQ_TEST_FEW_DESCRIPTORS";

#[test]
fn running_out_of_descriptors_is_survived() {
    if std::env::var_os(CHILD_ENV).is_some() {
        return serve_with_few_descriptors();
    }
    let mut child = start();
    // Its output is read to the end, so that it can write.
    let mut output = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    let found = output.find_map(|line| line.rsplit("listens on ").next()?.parse().ok());
    let address = found.expect("the child prints its address");
    let connections: Vec<_> = (0..1000).filter_map(|_| TcpStream::connect(address).ok()).collect();
    std::thread::sleep(Duration::from_millis(300));
    assert!(connections.len() > 500, "the kernel accepts them: {}", connections.len());
    drop(connections);
    let started = Instant::now();
    assert!(get(address).starts_with("HTTP/1.1 200"), "it serves again");
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    // The child ends when its input is closed.
    drop(child.stdin.take());
    output.for_each(drop);
    assert!(child.wait().is_ok_and(|status| status.success()));
}

fn start() -> Child {
    let own = std::env::current_exe().expect("a test binary");
    let arguments = ["--exact", "descriptors::running_out_of_descriptors_is_survived", "--nocapture"];
    let mut command = Command::new(own);
    command.args(arguments).env(CHILD_ENV, "1").stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().expect("it starts")
}

fn get(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("an option");
    stream.write_all(b"GET /things/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").expect("it is open");
    let mut response = String::new();
    let _ = stream.read_to_string(&mut response);
    response
}

fn serve_with_few_descriptors() {
    setrlimit(Resource::Nofile, Rlimit { current: Some(256), maximum: Some(256) }).expect("a limit may be lowered");
    // Other files are open, so that the server has fewer descriptors than it expects.
    let others: Vec<_> = (0..120).filter_map(|_| File::open("/dev/null").ok()).collect();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let server = Server::start(app());
        println!("listens on {}", server.address);
        let end = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
        assert!(end.await.is_ok());
    });
    drop(others);
}
