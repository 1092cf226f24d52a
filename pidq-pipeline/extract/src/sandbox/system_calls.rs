//! System calls that the extractor and its programs may not make: those of networks and of other processes.

/// Denies the system calls for this process, its further threads, and the programs that they start. LibreOffice needs local
/// sockets (`AF_UNIX`).
///
/// # Errors
/// If the system has no filters for system calls. No program may be started then.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub fn deny_network_and_processes(may_use_local_sockets: bool) -> std::io::Result<()> {
    use std::collections::BTreeMap;
    use std::io::Error;

    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
        apply_filter,
    };

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
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = denied.into_iter().map(|call| (call, Vec::new())).collect();
    if may_use_local_sockets {
        let local = u64::from(libc::AF_UNIX.unsigned_abs());
        let is_other = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, local);
        let is_other = SeccompRule::new(vec![is_other.map_err(Error::other)?]).map_err(Error::other)?;
        rules.insert(libc::SYS_socket, vec![is_other]);
    }
    let architecture = std::env::consts::ARCH.try_into().map_err(Error::other)?;
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, architecture).map_err(Error::other)?;
    let program: BpfProgram = filter.try_into().map_err(Error::other)?;
    apply_filter(&program).map_err(Error::other)
}

/// The filters exist for processors with 64 bits only.
#[cfg(all(target_os = "linux", not(target_pointer_width = "64")))]
pub fn deny_network_and_processes(_: bool) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// On other systems, only the timeouts apply.
#[cfg(not(target_os = "linux"))]
pub fn deny_network_and_processes(_: bool) -> std::io::Result<()> {
    Ok(())
}

#[cfg(all(test, target_os = "linux", target_pointer_width = "64"))]
mod tests {
    use std::io::{Error, ErrorKind};
    use std::net::UdpSocket;
    use std::os::unix::net::UnixDatagram;
    use std::thread;

    use super::deny_network_and_processes;

    /// Returns the errors of a network socket and of a local socket on a thread with the filter, if they fail.
    fn errors(may_use_local_sockets: bool) -> [Option<ErrorKind>; 2] {
        let thread = thread::spawn(move || {
            deny_network_and_processes(may_use_local_sockets).expect("the system has filters");
            let network = UdpSocket::bind("127.0.0.1:0").map(drop);
            let local = UnixDatagram::unbound().map(drop);
            [network, local].map(|result| result.err().as_ref().map(Error::kind))
        });
        thread.join().expect("no panic")
    }

    #[test]
    fn a_filter_denies_sockets() {
        let denied = Some(ErrorKind::PermissionDenied);
        assert_eq!(errors(false), [denied, denied]);
        assert_eq!(errors(true), [denied, None]);
        assert!(UdpSocket::bind("127.0.0.1:0").is_ok(), "other threads have no filter");
    }
}
