//! Restart with a socket kept open by a service manager: no connection is refused.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use pidq_http::Listener;
use pidq_http::Shutdown;
use pidq_http::serve;
use rustix::process::{Pid, Signal, kill_process};

use crate::server::app;

/// Environment variable of the child process that gets the socket.
const CHILD_ENV: &str = "PIDQ_TEST_ACTIVATED";

#[test]
fn a_restart_refuses_no_connection() {
    if std::env::var_os(CHILD_ENV).is_some() {
        return serve_activated_sockets();
    }
    let socket = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = socket.local_addr().expect("it is bound");
    let first = start(&socket);
    assert!(get(&connect(address)).starts_with("HTTP/1.1 200"));
    terminate(first);
    let waiting = connect(address);
    let second = start(&socket);
    assert!(get(&waiting).starts_with("HTTP/1.1 200"), "a connection of the meantime is served");
    terminate(second);
}

/// The shell passes the socket under the descriptor number of service managers, and sets the process id.
fn start(socket: &TcpListener) -> Child {
    let own = std::env::current_exe().expect("a test binary");
    let script =
        "LISTEN_FDS=1 LISTEN_PID=$$ exec \"$0\" --exact restart::a_restart_refuses_no_connection 3<&0 0</dev/null";
    let socket = socket.try_clone().expect("a descriptor");
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(own).env(CHILD_ENV, "1").stdout(Stdio::null());
    command.stdin(Stdio::from(std::os::fd::OwnedFd::from(socket))).spawn().expect("it starts")
}

fn terminate(mut child: Child) {
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::TERM).expect("it runs");
    assert!(child.wait().is_ok_and(|status| status.success()), "it exits with 0");
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the socket is open");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("an option");
    stream
}

fn get(mut stream: &TcpStream) -> String {
    stream.write_all(b"GET /things/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").expect("it is open");
    let mut response = String::new();
    let _ = stream.read_to_string(&mut response);
    response
}

#[tokio::main]
async fn serve_activated_sockets() {
    let listeners = Listener::activated(None, false).expect("sockets");
    assert_eq!(listeners.len(), 1);
    let shutdown = Shutdown::on_signals().expect("signals");
    assert!(serve(app(), listeners, shutdown).await.is_ok());
}
