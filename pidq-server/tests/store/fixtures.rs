//! Fixtures: temporary directories, drawings, and a runtime.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use pidq_server::store::validation::{self, GraphDraft, ValidationRules};
use pidq_server::store::{Event, EventHandler, GraphId, Tenant, VersionRetention};

/// Temporary directory, removed on drop.
pub struct TempDir(PathBuf);

impl TempDir {
    pub fn new() -> TempDir {
        TempDir::under(&std::env::temp_dir())
    }

    /// Creates the directory in memory if possible: it outlives a killed process, and writes are faster.
    pub fn in_memory() -> TempDir {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() { TempDir::under(memory) } else { TempDir::new() }
    }

    fn under(dir: &Path) -> TempDir {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = dir.join(format!("pidq-store-{}-{count}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        TempDir(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn graph_id(name: &str) -> GraphId {
    GraphId::parse(name).expect("a graph id")
}

/// Returns a retention of the given number of versions.
pub fn last(versions: usize) -> VersionRetention {
    VersionRetention::Last(versions.try_into().expect("at least one version is kept"))
}

pub fn tenant(name: &str) -> Tenant {
    Tenant::parse(name).expect("a tenant")
}

/// Returns a drawing with a number as its content.
pub fn drawing(number: u64) -> String {
    format!(
        r#"{{"pid_graph":{{"nodes":[{{"id":"P-{number}","node_type":"pid_component"}}],"edges":[],"metadata":{{"drawing_name":"D {number}"}}}}}}"#
    )
}

pub fn draft(graph_id: &GraphId, json: impl Into<Bytes>) -> GraphDraft {
    validation::validate(graph_id, json.into(), &ValidationRules::default()).expect("a drawing")
}

/// Runs a future on a new runtime.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(future)
}

/// Returns an event handler, and the list it records to.
pub fn recorded_events() -> (EventHandler, Arc<Mutex<Vec<Event>>>) {
    let list = Arc::new(Mutex::new(Vec::new()));
    let recorded = list.clone();
    (Arc::new(move |event: &Event| recorded.lock().expect("no panic").push(event.clone())), list)
}

/// Random number generator with a seed.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound.max(1)
    }
}

/// Returns a number from the environment, for longer runs.
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
