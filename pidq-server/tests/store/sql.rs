//! Tests of the PostgreSQL store on a real server, run as an unprivileged user.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pidq_server::store::sql::SqlStore;
use pidq_server::store::{
    Coding, CommitOutcome, Error, Options, Precondition, Store, StoreState, TenantQuota, VersionSelector,
};
use sqlx::{Connection, PgConnection};

use crate::conformance;
use crate::fixtures::{TempDir, draft, drawing, graph_id, last, tenant, wait};

/// Temporary database server on a socket in its directory.
struct Cluster {
    temp_dir: TempDir,
    server: Child,
}

impl Cluster {
    /// Starts a server. Prints a message and returns `None` without PostgreSQL.
    fn start() -> Option<Cluster> {
        let Some(programs) = programs() else {
            println!("skipped: there is no PostgreSQL in /usr/lib/postgresql");
            return None;
        };
        let temp_dir = TempDir::new();
        chown_to_postgres(temp_dir.path());
        let data = temp_dir.path().join("data");
        let output = unprivileged(&programs.join("initdb"))
            .args(["-U", "pidq", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "-D"])
            .arg(&data)
            .output();
        let output = output.expect("initdb runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut command = unprivileged(&programs.join("postgres"));
        let command = command.arg("-D").arg(&data).arg("-k").arg(temp_dir.path());
        let command = command.args(["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=40"]);
        let server = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("postgres runs");
        Some(Cluster { temp_dir, server })
    }

    fn url(&self) -> String {
        format!("postgres://pidq@localhost/postgres?host={}", self.temp_dir.path().display())
    }

    async fn open(&self, options: Options) -> SqlStore {
        let start = Instant::now();
        loop {
            match SqlStore::open(&self.url(), 8, options.clone()).await {
                Ok(sql) => return sql,
                Err(error) if start.elapsed() > Duration::from_secs(30) => panic!("{error}"),
                Err(_) => tokio::task::yield_now().await,
            }
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg("-INT").arg(self.server.id().to_string()).status();
        let _ = self.server.wait();
    }
}

fn programs() -> Option<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir("/usr/lib/postgresql").ok()?.flatten().map(|dir| dir.path().join("bin")).collect();
    found.retain(|bin| bin.join("postgres").exists());
    found.sort();
    found.pop()
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

/// Runs a program as an unprivileged user: PostgreSQL refuses to run as root.
fn unprivileged(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--init-groups", "--"]).arg(program);
    command
}

fn chown_to_postgres(path: &Path) {
    if is_root() {
        assert!(Command::new("chown").arg("postgres").arg(path).status().is_ok_and(|status| status.success()));
    }
}

#[test]
fn a_database_passes_the_conformance_suite() {
    let Some(cluster) = Cluster::start() else { return };
    wait(async {
        let options = Options { retention: last(3), ..Options::default() };
        let first = cluster.open(options.clone()).await;
        conformance::run(&first, "first.").await;
        let second = cluster.open(options).await;
        conformance::run(&second, "second.").await;
        assert_eq!(first.state().await, StoreState::Writable);
        replicas_see_each_other(&first, &second).await;
        replicas_share_the_version_counter(&first, &second).await;
        corruption_is_detected(&cluster, &first).await;
    });
    wait(async { conformance::all_versions_are_retained(&cluster.open(conformance::retain_all()).await).await });
    wait(quotas_are_enforced(&cluster));
    wait(an_outage_of_the_database_is_reported(cluster));
}

async fn replicas_see_each_other(first: &SqlStore, second: &SqlStore) {
    let (tenant, graph_id) = (tenant("replicas"), graph_id("J-1"));
    let put =
        first.commit(&tenant, &graph_id, draft(&graph_id, drawing(1)), &Precondition::None).await.expect("a commit");
    assert_eq!(second.head(&tenant, &graph_id, &VersionSelector::Latest).await, Ok(put.meta));
    let put =
        second.commit(&tenant, &graph_id, draft(&graph_id, drawing(2)), &Precondition::None).await.expect("a commit");
    let seen = first.get(&tenant, &graph_id, &VersionSelector::Latest, Coding::Identity).await.expect("a graph");
    assert_eq!(seen.meta, put.meta);
    assert_eq!(second.delete(&tenant, &graph_id, &Precondition::Is(vec![put.meta.etag()])).await, Ok(()));
    assert_eq!(first.head(&tenant, &graph_id, &VersionSelector::Latest).await, Err(Error::GraphNotFound));
    let put =
        first.commit(&tenant, &graph_id, draft(&graph_id, drawing(2)), &Precondition::Absent).await.expect("a commit");
    assert_eq!(put.meta.version.as_str(), "3");
}

async fn replicas_share_the_version_counter(first: &SqlStore, second: &SqlStore) {
    let (tenant, graph_id) = (tenant("together"), graph_id("J-1"));
    let mut numbers = Vec::new();
    for round in 0..10 {
        let puts = [first, second].map(|store| {
            let number = round * 2 + u64::from(std::ptr::eq(store, first));
            store.commit(&tenant, &graph_id, draft(&graph_id, drawing(number)), &Precondition::None)
        });
        let done = conformance::join_all(puts.into()).await;
        numbers.extend(done.into_iter().map(|put| put.expect("a commit").meta.version.as_number()));
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=20).map(Some).collect::<Vec<_>>());
}

async fn corruption_is_detected(cluster: &Cluster, store: &SqlStore) {
    let (tenant, graph_id) = (tenant("damage"), graph_id("J-1"));
    store.commit(&tenant, &graph_id, draft(&graph_id, drawing(1)), &Precondition::None).await.expect("a commit");
    let statement =
        "update graph_version set body = set_byte(body, 20, get_byte(body, 20) # 16) where tenant = 'damage'";
    let psql = Command::new("psql")
        .args(["-U", "pidq", "-d", "postgres", "-h"])
        .arg(cluster.temp_dir.path())
        .args(["-c", statement])
        .output();
    assert!(psql.is_ok_and(|output| output.status.success()), "psql runs");
    let found = store.get(&tenant, &graph_id, &VersionSelector::Latest, Coding::Zstd).await;
    assert_eq!(found.map(|graph| graph.meta).expect_err("damaged"), Error::GraphCorrupt);
    assert_eq!(store.verify().await.expect("verified").corrupt.len(), 1);
    let again =
        store.commit(&tenant, &graph_id, draft(&graph_id, drawing(1)), &Precondition::Exists).await.expect("a commit");
    assert_eq!((again.outcome, again.meta.version.as_str()), (CommitOutcome::Changed, "2"));
    assert!(store.get(&tenant, &graph_id, &VersionSelector::Latest, Coding::Zstd).await.is_ok());
    let again =
        store.commit(&tenant, &graph_id, draft(&graph_id, drawing(1)), &Precondition::None).await.expect("a commit");
    assert_eq!(again.outcome, CommitOutcome::Unchanged);
}

async fn quotas_are_enforced(cluster: &Cluster) {
    let options = Options { quota: TenantQuota { bytes: 4096, graphs: 2 }, ..Options::default() };
    let store = cluster.open(options).await;
    let tenant = tenant("shares");
    for (name, is_stored) in [("J-1", true), ("J-2", true), ("J-3", false), ("J-1", true)] {
        let graph_id = graph_id(name);
        let put = store
            .commit(&tenant, &graph_id, draft(&graph_id, drawing(u64::from(is_stored))), &Precondition::None)
            .await;
        assert_eq!(put.is_ok(), is_stored, "{put:?}");
        assert!(put.is_ok() || matches!(put, Err(Error::InsufficientStorage(_))));
    }
}

async fn an_outage_of_the_database_is_reported(cluster: Cluster) {
    let store = cluster.open(Options::default()).await;
    let (tenant, graph_id) = (tenant("t"), graph_id("J-1"));
    let other = lock_graphs(&cluster).await;
    let found =
        tokio::join!(store.head(&tenant, &graph_id, &VersionSelector::Latest), stop_during_a_statement(cluster, other))
            .0;
    assert_eq!(found.expect_err("unavailable").code(), "store-unavailable");
    // The next caller fails fast instead of waiting for the five-second connect timeout.
    let start = Instant::now();
    store.head(&tenant, &graph_id, &VersionSelector::Latest).await.expect_err("unavailable");
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    assert!(matches!(store.state().await, StoreState::Unavailable(_)));
    // Waiting for a connection takes five seconds; callers must fail fast once the outage is known.
    let many = async {
        for _ in 0..20 {
            store.list(&tenant, "", None, 1).await.expect_err("unavailable");
        }
    };
    tokio::time::timeout(Duration::from_secs(30), many).await.expect("callers fail fast");
}

/// Opens a connection that locks out readers.
async fn lock_graphs(cluster: &Cluster) -> PgConnection {
    let mut other = PgConnection::connect(&cluster.url()).await.expect("a connection");
    let lock = "begin; lock table graph in access exclusive mode";
    sqlx::raw_sql(lock).execute(&mut other).await.expect("a lock");
    other
}

/// Stops the server once a statement waits for a lock.
async fn stop_during_a_statement(cluster: Cluster, mut other: PgConnection) {
    let waiting = "select count(*) from pg_locks where relation = 'graph'::regclass and not granted";
    while sqlx::query_scalar::<_, i64>(waiting).fetch_one(&mut other).await.expect("a count") == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(cluster);
}
