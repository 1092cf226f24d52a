//! Build script: links GCC's unwinder statically into the command, since loading the shared library takes a tenth of a
//! millisecond at every start.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Some(directory) = is_native_gnu_linux().then(unwinder_directory).flatten() {
        println!("cargo::rustc-link-search=native={}", directory.display());
        // `-bundle`: only for the linker, and not a part of the library.
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}

/// Returns true if target and host are the same GNU/Linux, and the linker is the default one. Otherwise the unwinder of
/// this system may not fit: it would be for another system, or for a newer C library than that of the linker.
fn is_native_gnu_linux() -> bool {
    let is_linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux");
    let is_gnu = env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|library| library == "gnu");
    let has_default_linker = env::var_os("RUSTC_LINKER").is_none();
    is_linux && is_gnu && has_default_linker && env::var("HOST") == env::var("TARGET")
}

/// Returns the directory of the static library; `None` if there is none: then the shared one is used, as in any other
/// program.
fn unwinder_directory() -> Option<PathBuf> {
    let output = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output().ok()?;
    let file = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    // A compiler that does not know the file returns its name.
    let exists = file.is_absolute() && file.exists();
    exists.then(|| file.parent().map(PathBuf::from)).flatten()
}
