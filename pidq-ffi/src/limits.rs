//! `pidq_limits_t`: the limits of a run, as an extensible structure.

use std::mem::{offset_of, size_of};
use std::sync::Arc;

use pidq_core::{Cancel, Limits};

use crate::abi_error::AbiError;
use crate::cancel::CancelHandle;
use crate::handle::borrow;

/// Limits of a run. Initialize with `PIDQ_LIMITS_INIT`; 0 means the default, given for each field.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct LimitsOptions {
    /// `sizeof(pidq_limits_t)`: the library reads only the fields within this size.
    pub size: usize,
    /// Fuel, the units of work: 20 million.
    pub fuel: u64,
    /// Bytes of working memory: 256 MiB.
    pub memory: u64,
    /// Bytes of the printed result: 64 MiB.
    pub output: u64,
    /// Cancellation flag. May be NULL.
    pub cancel: *const CancelHandle,
    /// Bytes of one string that the query builds: 16 MiB.
    pub string: u64,
    /// Backtracks of one search with a regular expression: a million.
    pub backtracks: u64,
    /// Rows of a traversal or of `findPattern`, not of a list such as `nodes()`: 100,000.
    pub rows: u64,
    /// Results of `cycles` without the option `limit`: 1,000. For `paths`, this limit or 100, whichever is lower.
    pub paths: u64,
    /// Depth of a traversal from its start: 10,000.
    pub depth: u64,
}

/// Limits of a run, with the cancellation flag that they own.
#[derive(Default)]
pub struct RunLimits {
    limits: Limits<'static>,
    cancel: Option<Arc<Cancel>>,
}

impl RunLimits {
    /// Returns the limits of a run.
    pub fn limits(&self) -> Limits<'_> {
        Limits { cancel: self.cancel.as_deref(), ..self.limits }
    }

    /// Reads a structure filled in by C; the defaults if it is null.
    ///
    /// # Safety
    /// `options` is null or points to a structure of the size in its first word.
    pub unsafe fn read(options: *const LimitsOptions) -> Result<RunLimits, AbiError> {
        if options.is_null() {
            return Ok(RunLimits::default());
        }
        // SAFETY: the caller promises a structure of the size in its first word.
        let options: LimitsOptions = unsafe { read_sized(options, offset_of!(LimitsOptions, fuel), NONE) }?;
        // SAFETY: a handle, by the rules of the header.
        let cancel = (!options.cancel.is_null()).then(|| unsafe { borrow(options.cancel) }).transpose()?;
        Ok(RunLimits { limits: options.limits(), cancel: cancel.cloned() })
    }
}

const NONE: LimitsOptions = LimitsOptions {
    size: size_of::<LimitsOptions>(),
    fuel: 0,
    memory: 0,
    output: 0,
    cancel: std::ptr::null(),
    string: 0,
    backtracks: 0,
    rows: 0,
    paths: 0,
    depth: 0,
};

impl LimitsOptions {
    fn limits(&self) -> Limits<'static> {
        let default = Limits::default();
        let size = |number: u64, default: usize| match number {
            0 => default,
            number => usize::try_from(number).unwrap_or(usize::MAX),
        };
        Limits {
            fuel: if self.fuel == 0 { default.fuel } else { self.fuel },
            memory: size(self.memory, default.memory),
            output: size(self.output, default.output),
            string: size(self.string, default.string),
            backtracks: size(self.backtracks, default.backtracks),
            rows: size(self.rows, default.rows),
            paths: size(self.paths, default.paths),
            depth: size(self.depth, default.depth),
            cancel: None,
        }
    }
}

/// Reads a structure that begins with its size. Fields that the caller does not have keep the default, and fields
/// unknown to the library are ignored.
///
/// # Safety
/// `from` points to a structure of the size in its first word, and `T` is `repr(C)`, begins with that word, and is
/// valid for any bit pattern.
pub unsafe fn read_sized<T: Copy>(from: *const T, min_size: usize, default: T) -> Result<T, AbiError> {
    // SAFETY: every structure of this kind begins with its size.
    let size = unsafe { from.cast::<usize>().read_unaligned() };
    if size < min_size || size > 1 << 16 {
        return Err(AbiError::misuse(format!(
            "the `size` of the structure is {size}: initialize it with PIDQ_..._INIT"
        )));
    }
    let mut value = default;
    let copied_len = size.min(size_of::<T>());
    // SAFETY: both have at least this size; the caller promises that `T` is valid for any bit pattern.
    unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), (&raw mut value).cast::<u8>(), copied_len) };
    Ok(value)
}
