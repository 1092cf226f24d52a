//! `pidq_dialect_t`: the language with functions of the program.

pub mod call;

use std::ffi::{c_char, c_void};

use pidq_core::{Dialect, EvalContext, Function, Result as CoreResult, Value};

use crate::abi_error::AbiError;
use crate::arguments::c_string;
use crate::error_handle::ErrorHandle;
use crate::handle::{Slot, borrow, borrow_mut, delete, handle, into_handle};
use crate::panic_guard::{guard, guard_error, guard_or};
use crate::params::ParamsHandle;
use crate::query::{QueryHandle, compile};
use call::{Call, CallHandle};

/// Language of queries with functions of the program. Add the functions in one thread; then any number of threads may
/// compile queries with it. Delete it with `pidq_dialect_delete`; compiled queries keep their functions.
pub struct DialectHandle(Slot<Dialect>);

handle!(DialectHandle, Dialect, b"dial", "dialect");

/// Function of the program. It reads the call, and sets its result or an error with one of the functions that begin with
/// `pidq_call_`; without one, the result is null. The threads that run queries call it, possibly several at a time. It may
/// call any function of the library, also to run other queries, but must not throw an exception or jump out.
pub type FunctionBody = Option<unsafe extern "C" fn(user: *mut c_void, call: *mut CallHandle)>;

/// Destructor of the pointer of a function, called once: when the dialect and all queries compiled with it are deleted,
/// also in another thread.
pub type Destroy = Option<unsafe extern "C" fn(user: *mut c_void)>;

/// Creates the standard language. Returns NULL if out of memory.
#[unsafe(no_mangle)]
pub extern "C" fn pidq_dialect_new() -> *mut DialectHandle {
    guard_or(std::ptr::null_mut(), || Ok(into_handle(Dialect::standard())))
}

/// Adds a function, which replaces one of the same name. `user` is passed to each call; `destroy` may be NULL. If the
/// function cannot be added, `user` is destroyed at once.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_dialect_add_function(
    dialect: *mut DialectHandle,
    name: *const c_char,
    function: FunctionBody,
    user: *mut c_void,
    destroy: Destroy,
) -> *mut ErrorHandle {
    let user = UserPointer { user, destroy };
    guard_error(move || {
        // SAFETY: the rules of the header.
        let (dialect, name) = unsafe { (borrow_mut(dialect)?, c_string(name, "name")?) };
        let name = name.ok_or_else(|| AbiError::null("name"))?;
        check_name(name)?;
        let body = CallbackBody { body: function.ok_or_else(|| AbiError::null("function"))?, user };
        let function = Function::new(name, move |cx, input, arguments| body.call(cx, input, arguments));
        *dialect = dialect.clone().with_function(function);
        Ok(())
    })
}

/// Compiles a query in the text format with the functions of a dialect; `params` may be NULL.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_dialect_parse(
    dialect: *const DialectHandle,
    text: *const c_char,
    len: usize,
    params: *const ParamsHandle,
    out: *mut *mut QueryHandle,
) -> *mut ErrorHandle {
    guard_error(|| {
        // SAFETY: the rules of the header.
        let dialect = unsafe { borrow(dialect) };
        // SAFETY: as above. Also for a dialect that is not valid: it sets `out` to NULL.
        unsafe { compile(text, len, params, out, |text, params| Ok(dialect?.parse_with(text, params))) }
    })
}

/// Compiles a query in the text format with the functions of a dialect, for many runs with different values, as
/// `pidq_query_prepare` does.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_dialect_prepare(
    dialect: *const DialectHandle,
    text: *const c_char,
    len: usize,
    out: *mut *mut QueryHandle,
) -> *mut ErrorHandle {
    guard_error(|| {
        // SAFETY: the rules of the header.
        let dialect = unsafe { borrow(dialect) };
        // SAFETY: as above. Also for a dialect that is not valid: it sets `out` to NULL.
        unsafe { compile(text, len, std::ptr::null(), out, |text, _| Ok(dialect?.prepare(text))) }
    })
}

/// Deletes a dialect. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_dialect_delete(dialect: *mut DialectHandle) {
    // SAFETY: the rules of the header.
    guard(|| unsafe { delete(dialect) });
}

/// Pointer of the program that belongs to a function.
struct UserPointer {
    user: *mut c_void,
    destroy: Destroy,
}

// SAFETY: the program allows calls from any thread, several at a time, by the rules of the header.
unsafe impl Send for UserPointer {}
// SAFETY: as above.
unsafe impl Sync for UserPointer {}

impl Drop for UserPointer {
    fn drop(&mut self) {
        if let Some(destroy) = self.destroy {
            // SAFETY: the caller provides the function for this purpose; it is called once.
            unsafe { destroy(self.user) };
        }
    }
}

/// Function of the program with its pointer.
struct CallbackBody {
    body: unsafe extern "C" fn(user: *mut c_void, call: *mut CallHandle),
    user: UserPointer,
}

impl CallbackBody {
    fn call<'a>(&self, cx: &mut EvalContext<'a>, input: Value<'a>, arguments: &[Value<'a>]) -> CoreResult<Value<'a>> {
        cx.charge(1)?;
        Call::run(cx, input, arguments, |call| {
            // SAFETY: the caller provides the function for this purpose; the call is valid meanwhile.
            unsafe { (self.body)(self.user.user, call) }
        })
    }
}

/// Returns an error for a name that queries cannot call.
fn check_name(name: &str) -> Result<(), AbiError> {
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_name = name.starts_with(is_start) && name.chars().all(|c| is_start(c) || c.is_ascii_digit() || c == '$');
    match is_name {
        true => Ok(()),
        false => Err(AbiError::misuse(format!("`{name}` cannot be the name of a function"))),
    }
}
