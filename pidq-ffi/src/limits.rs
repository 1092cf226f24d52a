//! `pidq_limits_t`: what a run may cost. A structure that can grow.

use std::mem::{offset_of, size_of};
use std::sync::Arc;

use pidq_core::{Cancel, Limits};

use crate::cancel::CancelHandle;
use crate::error::Fault;
use crate::handle::lend;

/// What a run may cost. Begin with `PIDQ_LIMITS_INIT`; 0 is the default of a field, which stands behind it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct LimitsOptions {
    /// `sizeof(pidq_limits_t)`: so the library knows which fields your program knows.
    pub size: usize,
    /// Steps: 20 million.
    pub fuel: u64,
    /// Bytes of working memory: 256 MiB.
    pub memory: u64,
    /// Bytes of the printed result: 64 MiB.
    pub output: u64,
    /// Stops the run from another thread. May be NULL.
    pub cancel: *const CancelHandle,
    /// Bytes of one text that the query builds: 16 MiB.
    pub string: u64,
    /// Backtracks of a regular expression: a million.
    pub backtracks: u64,
    /// Rows of a walk or of a list about the graph: 100,000.
    pub rows: u64,
    /// Paths, circuits and patterns that one function lists: 1,000.
    pub paths: u64,
    /// Steps of a walk from its start: 10,000.
    pub depth: u64,
}

/// The limits of a run, with the cancel that they hold on to.
#[derive(Default)]
pub struct Budget {
    limits: Limits<'static>,
    cancel: Option<Arc<Cancel>>,
}

impl Budget {
    /// The limits of a run.
    pub fn limits(&self) -> Limits<'_> {
        Limits { cancel: self.cancel.as_deref(), ..self.limits }
    }

    /// Reads what C filled in; the defaults where it is null.
    ///
    /// # Safety
    /// `options` is null or points to a structure of as many bytes as it says.
    pub unsafe fn read(options: *const LimitsOptions) -> Result<Budget, Fault> {
        if options.is_null() {
            return Ok(Budget::default());
        }
        // SAFETY: the caller promises a structure of as many bytes as it says.
        let options: LimitsOptions = unsafe { read_sized(options, offset_of!(LimitsOptions, fuel), NONE) }?;
        // SAFETY: a handle, by the rules of the header.
        let cancel = (!options.cancel.is_null()).then(|| unsafe { lend(options.cancel) }).transpose()?;
        Ok(Budget { limits: options.limits(), cancel: cancel.cloned() })
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
        let usual = Limits::default();
        let size = |number: u64, usual: usize| match number {
            0 => usual,
            number => usize::try_from(number).unwrap_or(usize::MAX),
        };
        Limits {
            fuel: if self.fuel == 0 { usual.fuel } else { self.fuel },
            memory: size(self.memory, usual.memory),
            output: size(self.output, usual.output),
            string: size(self.string, usual.string),
            backtracks: size(self.backtracks, usual.backtracks),
            rows: size(self.rows, usual.rows),
            paths: size(self.paths, usual.paths),
            depth: size(self.depth, usual.depth),
            cancel: None,
        }
    }
}

/// Reads a structure that begins with its size: fields that the caller does not know stay as they are in `usual`, and
/// fields that we do not know are left alone.
///
/// # Safety
/// `from` points to as many bytes as its first word says, and `T` is `repr(C)`, begins with that word, and may have any
/// bits that a caller writes into it.
pub unsafe fn read_sized<T: Copy>(from: *const T, least: usize, usual: T) -> Result<T, Fault> {
    // SAFETY: every structure of this kind begins with its size.
    let size = unsafe { from.cast::<usize>().read_unaligned() };
    if size < least || size > 1 << 16 {
        return Err(Fault::misuse(format!("the `size` of the structure is {size}: begin with its PIDQ_..._INIT")));
    }
    let mut value = usual;
    let known = size.min(size_of::<T>());
    // SAFETY: both sides have so many bytes; the caller promises that any bits are a `T`.
    unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), (&raw mut value).cast::<u8>(), known) };
    Ok(value)
}
