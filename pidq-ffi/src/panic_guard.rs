//! Panic guard: catches panics at the ABI boundary.

use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{AbiError, ErrorHandle};
use crate::handle::into_handle;

/// Version of this ABI. It changes with every incompatible change.
pub const ABI_VERSION: u32 = 1;

/// Runs the body of a function that can fail: NULL is success.
pub fn guard_error(body: impl FnOnce() -> Result<(), AbiError>) -> *mut ErrorHandle {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => std::ptr::null_mut(),
        Ok(Err(error)) => into_handle(error),
        Err(_) => into_handle(AbiError::panic()),
    }
}

/// Runs the body of a function that returns no error: on failure it returns `default`.
pub fn guard_or<T>(default: T, body: impl FnOnce() -> Result<T, AbiError>) -> T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => value,
        _ => default,
    }
}

/// Runs the body of a function that cannot fail.
pub fn guard(body: impl FnOnce()) {
    let finish = || {
        body();
        Ok(())
    };
    guard_or((), finish);
}

/// Returns the ABI version of the library. Compare it once, at startup, with `PIDQ_ABI_VERSION`.
#[unsafe(no_mangle)]
pub extern "C" fn pidq_abi_version() -> u32 {
    ABI_VERSION
}

/// Returns the version of the library, such as "0.1.0". The string is static.
#[unsafe(no_mangle)]
pub extern "C" fn pidq_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{pidq_error_code, pidq_error_delete};

    #[test]
    fn a_panic_becomes_an_error_with_a_code() {
        let error = guard_error(|| panic!("a defect"));
        // SAFETY: the error is alive until it is deleted.
        unsafe {
            assert_eq!(std::ffi::CStr::from_ptr(pidq_error_code(error)), c"PQ9001");
            pidq_error_delete(error);
        }
        assert_eq!(guard_or(7, || panic!("a defect")), 7);
    }
}
