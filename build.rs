//! Links the unwinder of GCC into the command: the shared library of it takes a tenth of a millisecond at every start.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Some(folder) = is_for_this_gnu_linux().then(folder_of_unwinder).flatten() {
        println!("cargo::rustc-link-search=native={}", folder.display());
        // `-bundle`: for the linker alone, and not a part of the library.
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}

/// The compiler of another system would name the library of this one.
fn is_for_this_gnu_linux() -> bool {
    let is_linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux");
    let is_gnu = env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|library| library == "gnu");
    is_linux && is_gnu && env::var("HOST") == env::var("TARGET")
}

/// Nothing where there is no such library: then the shared one is used, as in any other program.
fn folder_of_unwinder() -> Option<PathBuf> {
    let told = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output().ok()?;
    let file = PathBuf::from(String::from_utf8(told.stdout).ok()?.trim());
    // A compiler that does not know the file gives its name back.
    let is_there = file.is_absolute() && file.exists();
    is_there.then(|| file.parent().map(PathBuf::from)).flatten()
}
