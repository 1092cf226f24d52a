//! System calls that the extractor and its programs may not make: those of networks, of other processes and of new files.

/// Denies the system calls for this process, its further threads, and the programs that they start. A converter such as
/// LibreOffice needs local sockets (`AF_UNIX`) and temporary files.
///
/// # Errors
/// If the system has no filters for system calls. No program may be started then.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub fn deny_system_calls(has_converter: bool) -> std::io::Result<()> {
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
    let deny_if = |argument, operator, value| {
        let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value);
        SeccompRule::new(vec![condition.map_err(Error::other)?]).map(|rule| vec![rule]).map_err(Error::other)
    };
    if has_converter {
        let local = u64::from(libc::AF_UNIX.unsigned_abs());
        rules.insert(libc::SYS_socket, deny_if(0, SeccompCmpOp::Ne, local)?);
    } else {
        // A write to a new file exceeds the limit of the size, whose signal would end the program: libraries that write a
        // cache, such as Fontconfig, go on if they cannot create it.
        let new = u64::from((libc::O_CREAT | libc::O_EXCL).unsigned_abs());
        rules.insert(libc::SYS_openat, deny_if(2, SeccompCmpOp::MaskedEq(new), new)?);
        #[cfg(target_arch = "x86_64")]
        rules.insert(libc::SYS_open, deny_if(1, SeccompCmpOp::MaskedEq(new), new)?);
    }
    let architecture = std::env::consts::ARCH.try_into().map_err(Error::other)?;
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, architecture).map_err(Error::other)?;
    let program: BpfProgram = filter.try_into().map_err(Error::other)?;
    apply_filter(&program).map_err(Error::other)
}

/// The filters exist for processors with 64 bits only.
#[cfg(all(target_os = "linux", not(target_pointer_width = "64")))]
pub fn deny_system_calls(_: bool) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// On other systems, only the timeouts apply.
#[cfg(not(target_os = "linux"))]
pub fn deny_system_calls(_: bool) -> std::io::Result<()> {
    Ok(())
}

#[cfg(all(test, target_os = "linux", target_pointer_width = "64"))]
mod tests {
    use std::fs::File;
    use std::io::{Error, ErrorKind};
    use std::net::UdpSocket;
    use std::os::unix::net::UnixDatagram;
    use std::thread;

    use super::deny_system_calls;

    /// Returns the errors of a network socket, of a local socket and of a new file on a thread with the filter, if they fail.
    fn errors(has_converter: bool) -> [Option<ErrorKind>; 3] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("new");
        let thread = thread::spawn(move || {
            deny_system_calls(has_converter).expect("the system has filters");
            let network = UdpSocket::bind("127.0.0.1:0").map(drop);
            let local = UnixDatagram::unbound().map(drop);
            let file = File::create_new(path).map(drop);
            [network, local, file].map(|result| result.err().as_ref().map(Error::kind))
        });
        thread.join().expect("no panic")
    }

    #[test]
    fn a_filter_denies_sockets_and_new_files() {
        let denied = Some(ErrorKind::PermissionDenied);
        assert_eq!(errors(false), [denied, denied, denied]);
        assert_eq!(errors(true), [denied, None, None]);
        assert!(UdpSocket::bind("127.0.0.1:0").is_ok(), "other threads have no filter");
    }
}
