//! System calls that the extractor and its programs may not make: those of networks and of other processes.

/// Denies the system calls for this process, its further threads, and the programs that they start.
///
/// # Errors
/// If the system has no filters for system calls. Nothing may be read then.
#[cfg(target_os = "linux")]
pub fn deny_network_and_processes() -> std::io::Result<()> {
    use std::collections::BTreeMap;
    use std::io::Error;

    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

    let denied = [
        libc::SYS_socket,
        // It makes system calls that a filter does not see.
        libc::SYS_io_uring_setup,
        // They reach the memory and the files of other processes of the same user, such as those of the service.
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_pidfd_getfd,
    ];
    // A system call without conditions on its arguments is denied always.
    let rules: BTreeMap<i64, _> = denied.into_iter().map(|call| (i64::from(call), Vec::new())).collect();
    let architecture = std::env::consts::ARCH.try_into().map_err(Error::other)?;
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, architecture).map_err(Error::other)?;
    let program: BpfProgram = filter.try_into().map_err(Error::other)?;
    apply_filter(&program).map_err(Error::other)
}

/// On other systems, only the timeouts apply.
#[cfg(not(target_os = "linux"))]
pub fn deny_network_and_processes() -> std::io::Result<()> {
    Ok(())
}
