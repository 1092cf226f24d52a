//! Removal of unfinished files when a signal ends the process.
//!
//! Destructors do not run then, and a copy of a database that is left behind is large, and not encrypted.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::{fs, thread};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::{emulate_default_handler, pipe};

/// Removes files and directories on SIGTERM and SIGINT; then the signal ends the process as without it. SIGHUP is left
/// alone, because `nohup` ignores it.
///
/// # Errors
/// Returns an error if a handler cannot be registered.
pub fn remove_on_signals(paths: &[&Path]) -> io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        let (mut receiver, sender) = UnixStream::pair()?;
        let paths: Vec<PathBuf> = paths.iter().map(|path| path.to_path_buf()).collect();
        // A thread removes the files: a signal handler must not.
        thread::Builder::new().name("signals".into()).spawn(move || {
            if receiver.read_exact(&mut [0]).is_ok() {
                paths.iter().for_each(|path| remove(path));
                drop(emulate_default_handler(signal));
            }
        })?;
        pipe::register(signal, sender)?;
    }
    Ok(())
}

/// Removes a file, or a directory with its files. What does not exist any more is finished.
fn remove(path: &Path) {
    drop(if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) });
}
