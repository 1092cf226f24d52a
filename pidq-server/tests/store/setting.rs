//! What tests stand on: places to write, drawings, answers without a server.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use pidq_server::door::{self, Draft, Rules};
use pidq_server::store::{Event, Events, JobId, Keep, Tenant};

/// A directory that is gone when this is.
pub struct Place(PathBuf);

impl Place {
    pub fn new() -> Place {
        Place::under(&std::env::temp_dir())
    }

    /// In memory, where there is such a place: what a killed process has written stays there as well, and a second
    /// of test is more writes.
    pub fn in_memory() -> Place {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() { Place::under(memory) } else { Place::new() }
    }

    fn under(dir: &Path) -> Place {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = dir.join(format!("pidq-store-{}-{count}", std::process::id()));
        fs::create_dir_all(&path).expect("a place to write");
        Place(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn job(name: &str) -> JobId {
    JobId::parse(name).expect("a job id")
}

/// The last so many versions.
pub fn last(versions: usize) -> Keep {
    Keep::Last(versions.try_into().expect("at least one version is kept"))
}

pub fn tenant(name: &str) -> Tenant {
    Tenant::parse(name).expect("a tenant")
}

/// A drawing that differs by its number.
pub fn drawing(number: u64) -> String {
    format!(
        r#"{{"pid_graph":{{"nodes":[{{"id":"P-{number}","node_type":"pid_component"}}],"edges":[],"metadata":{{"drawing_name":"D {number}"}}}}}}"#
    )
}

pub fn draft(job: &JobId, json: impl Into<Bytes>) -> Draft {
    door::admit(job, json.into(), &Rules::default()).expect("a drawing")
}

/// Runs one future, and what it starts.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(future)
}

/// Events, and a list that they end up in.
pub fn heard() -> (Events, Arc<Mutex<Vec<Event>>>) {
    let list = Arc::new(Mutex::new(Vec::new()));
    let kept = list.clone();
    (Arc::new(move |event: &Event| kept.lock().expect("no panic").push(event.clone())), list)
}

/// Numbers by a seed: the same in every run.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides.max(1)
    }
}

/// A number from the environment, for longer runs.
pub fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}
