//! Memory that is freed goes back to the system.
//!
//! When glibc sees a large block being freed, it takes the next one of that size from its own heap, up to 32 MiB each,
//! and keeps what is freed there: after some hundred large queries a service held 170 MiB, of which it used 25. A fixed
//! size from which blocks come from the system, and go back to it, ends that. It can be set by a call, which would be
//! `unsafe`, or in the environment, which glibc reads when a program begins. So the program begins once more.
//!
//! The heaps themselves are many when glibc may choose: eight for each processor. What is free in one of them is of no use
//! to threads that take from another, so that each grows, in time, to what all of them need.

use std::thread::available_parallelism;

/// What glibc is told: blocks of a MiB come from the system, no heap keeps more than two at its end, and there are as many
/// heaps as processors, or two.
fn told() -> [(&'static str, String); 3] {
    let heaps = available_parallelism().map_or(2, |processors| processors.get().max(2));
    [
        ("MALLOC_MMAP_THRESHOLD_", "1048576".to_owned()),
        ("MALLOC_TRIM_THRESHOLD_", "2097152".to_owned()),
        ("MALLOC_ARENA_MAX", heaps.to_string()),
    ]
}

/// Where an administrator may have said something else.
const TUNABLES: &str = "GLIBC_TUNABLES";

/// Sees to it that memory which is freed goes back to the system: for the first line of a program that serves, since the
/// program begins once more where that is needed, with the same arguments and under the same number. Where it cannot, or
/// where the environment says something of this already, it goes on as it is.
pub fn give_memory_back() {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    if cfg!(all(target_os = "linux", target_env = "gnu"))
        && !told().iter().any(|(name, _)| is_set(name))
        && !is_set(TUNABLES)
    {
        begin_again();
    }
}

#[cfg(unix)]
fn begin_again() {
    use std::os::unix::process::CommandExt;

    let mut arguments = std::env::args_os();
    let (Ok(program), Some(name)) = (std::env::current_exe(), arguments.next()) else { return };
    if is_loader(&program) {
        return;
    }
    // It returns only if it failed, and then nothing has changed.
    let _ = std::process::Command::new(program).arg0(name).args(arguments).envs(told()).exec();
}

/// Whether the program was handed to a loader by name, `ld-linux-x86-64.so.2 ./pidq serve`, which takes other arguments.
#[cfg(unix)]
fn is_loader(program: &std::path::Path) -> bool {
    program.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"ld-"))
}

#[cfg(not(unix))]
fn begin_again() {}
