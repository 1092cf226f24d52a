//! The line that no panic crosses.

use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{ErrorHandle, Fault};
use crate::handle::give;

/// The version of this ABI. It changes when a program that was built for an older one would go wrong.
pub const ABI_VERSION: u32 = 1;

/// Runs the body of a function that can fail: NULL is success.
pub fn boundary(work: impl FnOnce() -> Result<(), Fault>) -> *mut ErrorHandle {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => std::ptr::null_mut(),
        Ok(Err(fault)) => give(fault),
        Err(_) => give(Fault::panic()),
    }
}

/// Runs the body of a function that cannot say why it failed: then it gives `otherwise`.
pub fn quiet<T>(otherwise: T, work: impl FnOnce() -> Result<T, Fault>) -> T {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => value,
        _ => otherwise,
    }
}

/// Runs the body of a function that cannot fail.
pub fn quietly(work: impl FnOnce()) {
    let finish = || {
        work();
        Ok(())
    };
    quiet((), finish);
}

/// The version of the ABI that the library has. Compare it once, at the start, with `PIDQ_ABI_VERSION`.
#[unsafe(no_mangle)]
pub extern "C" fn pidq_abi_version() -> u32 {
    ABI_VERSION
}

/// The version of the library, such as "0.1.0". It is never freed.
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
        let error = boundary(|| panic!("a defect"));
        // SAFETY: the error is alive until it is deleted.
        unsafe {
            assert_eq!(std::ffi::CStr::from_ptr(pidq_error_code(error)), c"PQ9001");
            pidq_error_delete(error);
        }
        assert_eq!(quiet(7, || panic!("a defect")), 7);
    }
}
