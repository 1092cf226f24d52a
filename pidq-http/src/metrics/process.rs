//! Metrics of the process: memory, file descriptors, and start time. Read when metrics are read.

use std::fmt;
use std::fs;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::gauge::ConstGauge;

use super::{PROCESS_DESCRIPTOR_LIMIT, PROCESS_DESCRIPTORS, PROCESS_MEMORY, PROCESS_START};

/// Collector of the metrics of this process. Those that the operating system does not report are missing.
#[derive(Debug)]
pub(super) struct ProcessCollector {
    started_at: i64,
}

impl ProcessCollector {
    /// The process starts with the first collector.
    pub fn new() -> ProcessCollector {
        static STARTED_AT: OnceLock<i64> = OnceLock::new();
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs() as i64);
        ProcessCollector { started_at: *STARTED_AT.get_or_init(now) }
    }
}

impl Collector for ProcessCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let values = [
            (&PROCESS_MEMORY, resident_memory()),
            (&PROCESS_DESCRIPTORS, open_descriptors()),
            (&PROCESS_DESCRIPTOR_LIMIT, descriptor_limit()),
            (&PROCESS_START, Some(self.started_at)),
        ];
        for (row, value) in values {
            if let Some(value) = value {
                ConstGauge::new(value).encode(row.encode(&mut encoder)?)?;
            }
        }
        Ok(())
    }
}

/// Returns the resident memory in bytes (Linux).
fn resident_memory() -> Option<i64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: i64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Returns the number of open file descriptors, without the one that reads them (Linux).
fn open_descriptors() -> Option<i64> {
    let count = fs::read_dir("/proc/self/fd").ok()?.count();
    i64::try_from(count).ok().map(|count| count - 1)
}

fn descriptor_limit() -> Option<i64> {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::Nofile).current.and_then(|limit| i64::try_from(limit).ok())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn opened_files_and_used_memory_are_counted() {
        let (files, memory) = (open_descriptors().expect("Linux"), resident_memory().expect("Linux"));
        let open: Vec<_> = (0..50).map(|_| fs::File::open("/dev/null").expect("a file")).collect();
        let mut used = vec![1_u8; 64 << 20];
        used.iter_mut().step_by(4096).for_each(|byte| *byte = 2);
        // Other tests open and close files at the same time.
        assert!(open_descriptors().is_some_and(|now| now >= files + 25), "{files}");
        assert!(resident_memory().is_some_and(|now| now >= memory + (32 << 20)), "{memory} {}", used[4096]);
        assert!(descriptor_limit().is_some_and(|limit| limit >= files));
        drop(open);
    }
}
