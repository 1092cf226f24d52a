//! Fresh test databases: a SQLite file, and a database of a private PostgreSQL server where one is installed.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use pidq_http::database::Database;
use tempfile::TempDir;

/// Runs a test once for each kind of database.
pub async fn on_each(test: impl AsyncFn(Database)) {
    let folder = TempDir::new().unwrap();
    test(open(&sqlite_url(&folder)).await).await;
    match fresh_postgres() {
        Some(url) => test(open(&url).await).await,
        None => eprintln!("SKIPPED on PostgreSQL: no server found under /usr/lib/postgresql"),
    }
}

/// Opens a database; the URL must be valid.
pub async fn open(url: &str) -> Database {
    Database::open(url).await.unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the URL of a database file that does not exist yet.
pub fn sqlite_url(folder: &TempDir) -> String {
    format!("sqlite:{}", folder.path().join("data/pidq.db").display())
}

/// Returns the URL of an empty database on the private server.
pub fn fresh_postgres() -> Option<String> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    fresh_on(SERVER.get_or_init(|| Server::start(installed()?)).as_ref()?)
}

/// Returns the URL of an empty database on a server whose binaries are in this directory, for example with pgvector.
#[allow(dead_code, reason = "not every test crate uses it")]
pub fn fresh_postgres_of(bin: &Path) -> Option<String> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    fresh_on(SERVER.get_or_init(|| Server::start(bin.to_owned())).as_ref()?)
}

fn fresh_on(server: &Server) -> Option<String> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
    server.create(&name);
    Some(format!("postgres://pidq@localhost/{name}?host={}", server.folder.display()))
}

/// Private server. It ends and its directory is removed when this process ends: that closes the pipe which the script
/// reads.
const SCRIPT: &str = r#"
bin=$1; folder=$(mktemp -d /tmp/pidq-postgres-XXXXXX)
"$bin/initdb" -D "$folder/data" -A trust -U pidq --no-sync >/dev/null 2>&1 || exit 1
"$bin/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= -c fsync=off -c max_connections=200 >"$folder/log" 2>&1 &
until "$bin/pg_isready" -q -h "$folder"; do kill -0 $! 2>/dev/null || exit 1; sleep 0.1; done
echo "$folder"
while read -r _; do :; done
kill -INT $!; wait; rm -rf "$folder"
"#;

struct Server {
    bin: PathBuf,
    folder: PathBuf,
    // Holds the pipe that keeps the server alive.
    _script: Child,
}

impl Server {
    fn start(bin: PathBuf) -> Option<Server> {
        let mut script = unprivileged(&bin).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let mut folder = String::new();
        BufReader::new(script.stdout.take()?).read_line(&mut folder).ok()?;
        let folder = PathBuf::from(folder.trim());
        folder.is_dir().then_some(Server { bin, folder, _script: script })
    }

    fn create(&self, name: &str) {
        let status = Command::new(self.bin.join("createdb"))
            .args(["-U", "pidq", "-h"])
            .arg(&self.folder)
            .arg(name)
            .status()
            .unwrap();
        assert!(status.success(), "cannot create the database {name}");
    }
}

fn installed() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    versions.flatten().map(|version| version.path().join("bin")).filter(|bin| bin.join("initdb").exists()).max()
}

/// PostgreSQL refuses to run as root.
fn unprivileged(bin: &Path) -> Command {
    let mut command = Command::new(if is_root() { "runuser" } else { "sh" });
    if is_root() {
        command.args(["-u", "postgres", "--", "sh"]);
    }
    command.args(["-c", SCRIPT, "postgres"]).arg(bin).current_dir("/tmp");
    command
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}
