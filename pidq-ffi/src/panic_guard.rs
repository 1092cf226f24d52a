//! Panic guard: catches panics at the ABI boundary.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::abi_error::AbiError;
use crate::error_handle::ErrorHandle;
use crate::handle::into_handle;

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
