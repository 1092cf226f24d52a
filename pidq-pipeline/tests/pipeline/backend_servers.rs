//! Test helpers: Redis, NATS and PostgreSQL as child processes that a test can kill and restart at the same address.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use tempfile::TempDir;

/// A server on a free port with its own folder. It ends with this process at the latest.
pub struct Server {
    kind: ServerKind,
    port: u16,
    folder: TempDir,
    process: ShellProcess,
}

/// Kind of server: its name, required programs, one-time preparation, and start command.
struct ServerKind {
    name: &'static str,
    prepare: &'static str,
    start: &'static str,
    url: fn(u16) -> String,
}

const REDIS: ServerKind = ServerKind {
    name: "redis-server",
    prepare: "command -v redis-server",
    start: "redis-server --bind 127.0.0.1 --port $PORT --save '' --appendonly no",
    url: |port| format!("redis://127.0.0.1:{port}"),
};
const NATS: ServerKind = ServerKind {
    name: "nats-server",
    prepare: "command -v nats-server",
    start: "nats-server -a 127.0.0.1 -p $PORT",
    url: |port| format!("nats://127.0.0.1:{port}"),
};
const JETSTREAM: ServerKind = ServerKind { start: "nats-server -a 127.0.0.1 -p $PORT -js -sd streams", ..NATS };
const REDIS_OVER_TLS: ServerKind = ServerKind {
    start: "redis-server --bind 127.0.0.1 --port 0 --tls-port $PORT --tls-cert-file cert.pem --tls-key-file key.pem \
            --tls-ca-cert-file cert.pem --tls-auth-clients no --save '' --appendonly no",
    url: |port| format!("rediss://localhost:{port}"),
    ..REDIS
};
const NATS_OVER_TLS: ServerKind = ServerKind {
    start: "nats-server -a 127.0.0.1 -p $PORT --tls --tlscert cert.pem --tlskey key.pem",
    url: |port| format!("tls://localhost:{port}"),
    ..NATS
};
/// Retries the start: leftovers of a killed server may still exist for a moment.
const POSTGRES: ServerKind = ServerKind {
    name: "postgresql",
    prepare: "initdb -D data -A trust -U pidq --no-sync",
    start: "postgres -D data -k '' -c listen_addresses=127.0.0.1 -c port=$PORT -c fsync=off",
    url: |port| format!("postgres://pidq@127.0.0.1:{port}/postgres"),
};

/// A certificate and its key, PEM.
pub struct CertifiedKey {
    pub certificate: String,
    pub key: String,
}

/// A process under a shell that kills it when this process ends, which closes the pipe that the shell reads.
struct ShellProcess {
    shell: Child,
    id: u32,
}

const SHELL: &str = r#"
PATH=$PATH:/usr/sbin:/usr/local/sbin:$(echo /usr/lib/postgresql/*/bin | tr ' ' ':')
sh -c "$1" >/dev/null 2>&1 || exit 1
sh -c "exec $2" >log 2>&1 &
echo $!
while read -r _; do :; done
kill -9 $!
"#;

impl Server {
    /// Starts Redis; prints a notice and returns `None` if it is not installed.
    pub fn redis() -> Option<Server> {
        Server::start(REDIS)
    }

    /// Starts NATS without persistence.
    pub fn nats() -> Option<Server> {
        Server::start(NATS)
    }

    /// Starts NATS with JetStream.
    pub fn jetstream() -> Option<Server> {
        Server::start(JETSTREAM)
    }

    /// Starts Redis with TLS only.
    pub fn redis_over_tls(certified_key: &CertifiedKey) -> Option<Server> {
        Server::start_with(REDIS_OVER_TLS, Some(certified_key))
    }

    /// Starts NATS with TLS only.
    pub fn nats_over_tls(certified_key: &CertifiedKey) -> Option<Server> {
        Server::start_with(NATS_OVER_TLS, Some(certified_key))
    }

    /// Starts PostgreSQL, for tests that stop it. All others share the one of `databases`.
    pub fn postgres() -> Option<Server> {
        Server::start(POSTGRES)
    }

    fn start(kind: ServerKind) -> Option<Server> {
        Server::start_with(kind, None)
    }

    fn start_with(kind: ServerKind, certified_key: Option<&CertifiedKey>) -> Option<Server> {
        let folder = TempDir::new().unwrap();
        if let Some(CertifiedKey { certificate, key }) = certified_key {
            std::fs::write(folder.path().join("cert.pem"), certificate).unwrap();
            std::fs::write(folder.path().join("key.pem"), key).unwrap();
        }
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
        let port = free_port();
        let Some(process) = ShellProcess::start(&kind, kind.prepare, port, &folder) else {
            eprintln!("SKIPPED: {} is not installed", kind.name);
            return None;
        };
        let mut server = Server { kind, port, folder, process };
        server.wait();
        Some(server)
    }

    pub fn url(&self) -> String {
        (self.kind.url)(self.port)
    }

    /// Kills the server with SIGKILL.
    pub fn kill(&self) {
        self.signal("-KILL");
        while self.is_open() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Deletes the data of the server.
    pub fn delete_data(&self) {
        for entry in std::fs::read_dir(self.folder.path()).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
            std::fs::remove_dir_all(entry.path()).unwrap();
        }
    }

    /// Restarts the server at the same address.
    pub fn restart(&mut self) {
        self.spawn();
        self.wait();
    }

    /// Stops the server with SIGSTOP while its connections stay open, as in a network outage.
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    pub fn resume(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.process.id.to_string()]).status().unwrap().success());
    }

    fn spawn(&mut self) {
        self.process = ShellProcess::start(&self.kind, "true", self.port, &self.folder).unwrap();
    }

    fn wait(&mut self) {
        for round in 1..400 {
            if self.is_open() {
                return;
            }
            std::thread::sleep(Duration::from_millis(25));
            // Restart each second: the start may have failed because of leftovers of the killed server.
            if round % 40 == 0 && !std::path::Path::new(&format!("/proc/{}/exe", self.process.id)).exists() {
                self.spawn();
            }
        }
        panic!("{} does not start", self.kind.name);
    }

    fn is_open(&self) -> bool {
        TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok()
    }
}

impl ShellProcess {
    fn start(kind: &ServerKind, prepare: &str, port: u16, folder: &TempDir) -> Option<ShellProcess> {
        // PostgreSQL refuses to run as root.
        let mut command = Command::new(if kind.name == POSTGRES.name && is_root() { "runuser" } else { "sh" });
        if kind.name == POSTGRES.name && is_root() {
            command.args(["-u", "postgres", "--", "sh"]);
        }
        command.args(["-c", SHELL, "server", prepare, kind.start]).env("PORT", port.to_string());
        let mut shell = command.current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let mut id = String::new();
        BufReader::new(shell.stdout.take()?).read_line(&mut id).ok()?;
        Some(ShellProcess { id: id.trim().parse().ok()?, shell })
    }
}

impl Drop for ShellProcess {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

/// Returns the URLs of a Redis and a NATS shared by all tests.
pub fn shared() -> Option<(String, String)> {
    static SHARED: OnceLock<Option<(Server, Server)>> = OnceLock::new();
    let (redis, nats) = SHARED.get_or_init(|| Some((Server::redis()?, Server::nats()?))).as_ref()?;
    Some((redis.url(), nats.url()))
}

/// Returns a free port.
pub fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}
