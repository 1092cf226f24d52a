//! NATS as a process of its own, which a test can kill and start again at the same address.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// A server on a free port, with a folder of its own. It ends with the test.
pub struct Server {
    kind: Kind,
    pub port: u16,
    folder: TempDir,
    child: Child,
}

#[derive(Clone, Copy)]
enum Kind {
    Nats { streams: bool },
}

impl Server {
    /// NATS, that keeps nothing. None, said aloud: it is not installed.
    pub fn nats() -> Option<Server> {
        Server::start(Kind::Nats { streams: false })
    }

    /// NATS with JetStream.
    pub fn jetstream() -> Option<Server> {
        Server::start(Kind::Nats { streams: true })
    }

    fn start(kind: Kind) -> Option<Server> {
        let (folder, port) = (TempDir::new().unwrap(), free_port());
        let Some(child) = kind.run(port, folder.path()) else {
            eprintln!("SKIPPED: {} is not installed", kind.program());
            return None;
        };
        let server = Server { kind, port, folder, child };
        server.wait();
        Some(server)
    }

    pub fn url(&self) -> String {
        match self.kind {
            Kind::Nats { .. } => format!("nats://127.0.0.1:{}", self.port),
        }
    }

    /// Kills it as a loss of power would.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again where it was.
    pub fn restart(&mut self) {
        self.child = self.kind.run(self.port, self.folder.path()).unwrap();
        self.wait();
    }

    fn wait(&self) {
        for _ in 0..200 {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(25));
        }
        panic!("{} does not start", self.kind.program());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Kind {
    fn program(self) -> &'static str {
        match self {
            Kind::Nats { .. } => "nats-server",
        }
    }

    fn run(self, port: u16, folder: &Path) -> Option<Child> {
        // Debian has it where only the administrator looks.
        let path = format!("{}:/usr/sbin:/usr/local/sbin", std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new(self.program());
        command.env("PATH", path).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
        let port = port.to_string();
        match self {
            Kind::Nats { .. } => command.args(["-a", "127.0.0.1", "-p", &port]),
        };
        if let Kind::Nats { streams: true } = self {
            command.args(["-js", "-sd", "streams"]);
        }
        command.spawn().ok()
    }
}

/// A port that nobody has.
pub fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}
