//! Build script: what shortens the start of the command on the system that builds it. GCC's unwinder is linked statically,
//! since loading the shared library takes a tenth of a millisecond, and relative relocations are packed.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if !is_native_gnu_linux() {
        return;
    }
    if let Some(directory) = unwinder_directory() {
        println!("cargo::rustc-link-search=native={}", directory.display());
        // `-bundle`: only for the linker, and not a part of the library.
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
    if loads_packed_relocations() {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Returns true if target and host are the same GNU/Linux, and the linker is the default one. Otherwise the program may
/// not be for this system, or for an older C library than that of this system.
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

/// Returns true if the C library of this system loads packed relative relocations (`DT_RELR`): glibc 2.36 or later. An older
/// one refuses to load the program, and names the version that it lacks.
fn loads_packed_relocations() -> bool {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let text = output.ok().and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    let version = text.trim().strip_prefix("glibc ").and_then(|version| version.split_once('.'));
    let parse = |number: &str| number.parse::<u32>().ok();
    version.and_then(|(major, minor)| Some((parse(major)?, parse(minor)?))) >= Some((2, 36))
}
