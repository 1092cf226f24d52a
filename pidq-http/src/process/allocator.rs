//! Allocator of the services, and settings of glibc for the C libraries in them.
//!
//! A service replaces graphs of many sizes all the time while caches, tokens and compiled queries stay. The heaps of
//! glibc fragment under this load: the process grew much faster than the blocks in use. jemalloc
//! keeps blocks of a size together and returns unused pages, also between blocks in use.
//!
//! The C libraries (SQLite, zstd) still use glibc. Freeing a large block makes it raise the threshold up to which blocks
//! come from its own heap, up to 32 MiB, and keep freed memory there. A fixed threshold prevents that. It can be set by
//! a call, which would be `unsafe`, or in the environment, which glibc reads at program start. So the program
//! re-executes itself. By default glibc creates eight heaps per processor. Free memory of one heap is useless to threads
//! that use another, so each heap grows to the total need over time.

/// Allocator of Rust code, for `#[global_allocator]` of a program that runs a service.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub use tikv_jemallocator::Jemalloc as ServiceAllocator;

/// Allocator of Rust code, for `#[global_allocator]` of a program that runs a service.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub use std::alloc::System as ServiceAllocator;

use std::thread::available_parallelism;

/// Environment for glibc: blocks of 1 MiB and more come from the system, a heap keeps at most 2 MiB free at its end,
/// and there are as many heaps as processors, at least two.
fn malloc_settings() -> [(&'static str, String); 3] {
    let heaps = available_parallelism().map_or(2, |processors| processors.get().max(2));
    [
        ("MALLOC_MMAP_THRESHOLD_", "1048576".to_owned()),
        ("MALLOC_TRIM_THRESHOLD_", "2097152".to_owned()),
        ("MALLOC_ARENA_MAX", heaps.to_string()),
    ]
}

/// Variable with which an administrator can set the same options.
const TUNABLES: &str = "GLIBC_TUNABLES";

/// Makes the allocator return freed memory to the system. Call it first in the main function of a server, since the
/// program re-executes itself with the same arguments and process id. If that fails, or the environment already
/// configures the allocator, it continues unchanged.
pub fn configure_malloc() {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    if cfg!(all(target_os = "linux", target_env = "gnu"))
        && !malloc_settings().iter().any(|(name, _)| is_set(name))
        && !is_set(TUNABLES)
    {
        re_exec();
    }
}

#[cfg(unix)]
fn re_exec() {
    use std::os::unix::process::CommandExt;

    let mut arguments = std::env::args_os();
    let (Ok(program), Some(name)) = (std::env::current_exe(), arguments.next()) else { return };
    if is_loader(&program) {
        return;
    }
    // It returns only on failure, and then nothing has changed.
    let _ = std::process::Command::new(program).arg0(name).args(arguments).envs(malloc_settings()).exec();
}

/// Returns whether the program was started through a loader, `ld-linux-x86-64.so.2 ./pidq serve`, which takes other
/// arguments.
#[cfg(unix)]
fn is_loader(program: &std::path::Path) -> bool {
    program.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"ld-"))
}

#[cfg(not(unix))]
fn re_exec() {}
