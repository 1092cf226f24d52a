//! `pidq_call_t`: the call of a function of the program.

use std::ffi::c_char;

use pidq_core::error::Code;
use pidq_core::{Error, EvalContext, Graph, Result, Value};

use crate::abi_error::AbiError;
use crate::arguments::{bytes, text};
use crate::panic_guard::{guard, guard_or};
use crate::value::ValueView;

/// Call of a function of the program. It is valid until the function returns, in its thread.
pub struct CallHandle {
    _private: (),
}

/// Input, arguments and outcome of a call.
pub struct Call<'c, 'a> {
    cx: &'c mut EvalContext<'a>,
    input: Value<'a>,
    arguments: &'c [Value<'a>],
    outcome: Result<Value<'a>>,
}

/// Maximum depth of a value that is copied to the memory of the run.
const MAX_DEPTH: usize = 128;

impl<'a> Call<'_, 'a> {
    /// Calls a function, and returns what it set.
    pub fn run(
        cx: &mut EvalContext<'a>,
        input: Value<'a>,
        arguments: &[Value<'a>],
        function: impl FnOnce(*mut CallHandle),
    ) -> Result<Value<'a>> {
        let mut call = Call { cx, input, arguments, outcome: Ok(Value::Null) };
        function((&raw mut call).cast());
        call.outcome
    }

    fn handle(&self) -> *const CallHandle {
        std::ptr::from_ref(self).cast()
    }
}

/// Returns the call behind a pointer.
///
/// # Safety
/// The pointer is null or was passed to a function of the program that has not returned.
unsafe fn borrow_call<'x>(call: *const CallHandle) -> std::result::Result<&'x mut Call<'static, 'static>, AbiError> {
    // SAFETY: the caller promises it, and the library does not use the call meanwhile. Its lifetimes end with the call.
    unsafe { call.cast::<Call<'static, 'static>>().cast_mut().as_mut() }.ok_or_else(|| AbiError::null("call"))
}

/// Returns the value that is piped to the function. It is valid until the function returns, as are its parts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_call_input(call: *const CallHandle) -> ValueView {
    guard_or(ValueView::NONE, || {
        // SAFETY: the rules of the header.
        let call = unsafe { borrow_call(call) }?;
        Ok(ValueView::of_call(call.input, call.handle().cast()))
    })
}

/// Returns the number of arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_call_count(call: *const CallHandle) -> usize {
    // SAFETY: the rules of the header.
    guard_or(0, || Ok(unsafe { borrow_call(call) }?.arguments.len()))
}

/// Returns an argument, from 0; no value if there are fewer. It is valid until the function returns, as are its parts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_call_argument(call: *const CallHandle, index: usize) -> ValueView {
    guard_or(ValueView::NONE, || {
        // SAFETY: the rules of the header.
        let call = unsafe { borrow_call(call) }?;
        let argument = call.arguments.get(index);
        Ok(argument.map_or(ValueView::NONE, |argument| ValueView::of_call(*argument, call.handle().cast())))
    })
}

/// Sets the result to true or false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_call_return_bool(call: *mut CallHandle, value: bool) {
    // SAFETY: the rules of the header.
    unsafe { set(call, |_| Ok(Value::from(value))) };
}

/// Sets the result to a number; null if it is not finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_call_return_number(call: *mut CallHandle, value: f64) {
    // SAFETY: the rules of the header.
    unsafe { set(call, |_| Ok(if value.is_finite() { Value::from(value) } else { Value::Null })) };
}

/// Sets the result to a string, which is copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_call_return_string(call: *mut CallHandle, data: *const c_char, len: usize) {
    // SAFETY: the rules of the header.
    unsafe { set(call, |call| call.cx.make_string(text(data, len, "data").map_err(failure)?)) };
}

/// Sets the result to a value of JSON, which is copied. Numbers are doubles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_call_return_json(call: *mut CallHandle, json: *const c_char, len: usize) {
    let parse = |call: &mut Call<'static, 'static>| {
        // SAFETY: the rules of the header.
        let json = unsafe { bytes(json, len, "json") }.map_err(failure)?;
        let document = Graph::from_json_with_max_depth(json, MAX_DEPTH)
            .map_err(|error| failed(format!("the result of the function: {}", error.message())))?;
        copy(call.cx, document.root(), 0)
    };
    // SAFETY: the rules of the header.
    unsafe { set(call, parse) };
}

/// Sets the result to a value: the input, an argument or a part of one, or a value of a result, which is copied. No value
/// is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_call_return_value(call: *mut CallHandle, value: ValueView) {
    let take = |call: &mut Call<'static, 'static>| {
        // SAFETY: the rules of the header.
        match unsafe { value.value() } {
            None => Ok(Value::Null),
            Some(own) if value.is_of_call(call.handle().cast()) => Ok(own),
            Some(other) => copy(call.cx, other, 0),
        }
    };
    // SAFETY: the rules of the header.
    unsafe { set(call, take) };
}

/// Ends the call with an error, `PQ2010`, which has this message and the place of the call in the query.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_call_fail(call: *mut CallHandle, message: *const c_char, len: usize) {
    // SAFETY: the rules of the header.
    unsafe { set(call, |_| Err(failed(text(message, len, "message").map_err(failure)?))) };
}

/// Sets the outcome of a call.
///
/// # Safety
/// As [`borrow_call`].
unsafe fn set(call: *mut CallHandle, outcome: impl FnOnce(&mut Call<'static, 'static>) -> Result<Value<'static>>) {
    guard(|| {
        // SAFETY: the caller promises the same.
        if let Ok(call) = unsafe { borrow_call(call) } {
            call.outcome = outcome(call);
        }
    });
}

/// Copies a value to the memory of a run.
fn copy<'a>(cx: &mut EvalContext<'a>, value: Value<'_>, depth: usize) -> Result<Value<'a>> {
    if depth > MAX_DEPTH {
        return Err(failed("the result of the function is nested too deeply"));
    }
    match value {
        Value::Undefined | Value::Null => Ok(Value::Null),
        Value::Bool(value) => Ok(Value::from(value)),
        Value::Number(number) => Ok(Value::from(number.value())),
        Value::String(text) => cx.make_string(text),
        Value::Array(list) => {
            let items: Result<Vec<_>> = list.iter().map(|item| copy(cx, item, depth + 1)).collect();
            cx.make_array(items?)
        }
        Value::Object(object) => {
            let fields = object.iter().filter(|(_, value)| !matches!(value, Value::Undefined));
            let fields: Result<Vec<_>> = fields.map(|(key, value)| Ok((key, copy(cx, value, depth + 1)?))).collect();
            cx.make_object(fields?)
        }
    }
}

fn failed(message: impl Into<String>) -> Error {
    Error::new(Code::FunctionFailed, message.into())
}

/// Error of a call for an argument that breaks the rules of the header.
fn failure(error: AbiError) -> Error {
    failed(String::from_utf8_lossy(error.0.message.as_bytes()))
}
