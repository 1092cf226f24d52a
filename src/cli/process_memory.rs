//! Memory that the operating system grants to the process.

/// Returns the memory that the process may use, in bytes, if it is limited: the smaller of its address space limit
/// (`ulimit -v`) and the limits of its control groups (`memory.max`, as set for containers).
#[cfg(target_os = "linux")]
pub fn granted() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};

    getrlimit(Resource::As).current.into_iter().chain(control_groups::memory_limit()).min()
}

/// Returns the memory that the process may use, in bytes, if it is limited: the address space limit (`ulimit -v`).
#[cfg(all(unix, not(target_os = "linux")))]
pub fn granted() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

/// Returns `None`: the limit is unknown.
#[cfg(not(unix))]
pub fn granted() -> Option<u64> {
    None
}

#[cfg(target_os = "linux")]
mod control_groups {
    use std::fs;
    use std::path::Path;

    /// Mount point of version 2 of the control groups.
    const ROOT: &str = "/sys/fs/cgroup";

    /// Returns the smallest limit of the control group of the process and of the groups around it.
    pub fn memory_limit() -> Option<u64> {
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
        let limits = Path::new(ROOT).join(group);
        let limits = limits.ancestors().take_while(|path| path.starts_with(ROOT));
        limits.filter_map(|path| limit_in(&fs::read_to_string(path.join("memory.max")).ok()?)).min()
    }

    /// Parses the contents of `memory.max`: bytes, or `max` for none.
    fn limit_in(text: &str) -> Option<u64> {
        text.trim().parse().ok()
    }

    #[cfg(test)]
    mod tests {
        use super::limit_in;

        #[test]
        fn a_group_may_have_no_limit() {
            assert_eq!(limit_in("1073741824\n"), Some(1 << 30));
            assert_eq!(limit_in("max\n"), None);
        }
    }
}
