//! `pidq_value_t`: values of a result, read without JSON text.
//!
//! A value is a small structure that borrows from its result, or from the run that calls a function of the program.

use std::ffi::{c_char, c_void};
use std::mem::{MaybeUninit, size_of};

use pidq_core::Value;

use crate::abi_error::AbiError;
use crate::arguments::{c_string, text, write_to};
use crate::buffer::{Buffer, write_buffer};
use crate::error_handle::ErrorHandle;
use crate::handle::borrow;
use crate::panic_guard::{guard_error, guard_or};
use crate::result::ResultHandle;
use crate::slice::Slice;

/// Type of a value.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(C)]
pub enum ValueType {
    /// No value: a field or an item that does not exist.
    PIDQ_TYPE_NONE = 0,
    /// Null.
    PIDQ_TYPE_NULL = 1,
    /// True or false.
    PIDQ_TYPE_BOOLEAN = 2,
    /// Number.
    PIDQ_TYPE_NUMBER = 3,
    /// String.
    PIDQ_TYPE_STRING = 4,
    /// List.
    PIDQ_TYPE_ARRAY = 5,
    /// Object.
    PIDQ_TYPE_OBJECT = 6,
}

/// Value of a result, passed as a structure. It is valid until its result is deleted, and is for one thread at a time, as
/// the result. All bytes zero is no value. The members are private.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ValueView {
    /// Private.
    kind: u64,
    /// Private.
    owner: *const c_void,
    /// Private.
    words: MaybeUninit<[u64; 3]>,
}

const _: () = assert!(size_of::<Value<'static>>() <= size_of::<[u64; 3]>());
const _: () = assert!(align_of::<Value<'static>>() <= align_of::<u64>());

/// Kinds of [`ValueView`]: what its value borrows from.
const NO_VALUE: u64 = 0;
const OF_RESULT: u64 = 1;
const OF_CALL: u64 = 2;

impl ValueView {
    /// No value.
    pub const NONE: ValueView = ValueView { kind: NO_VALUE, owner: std::ptr::null(), words: MaybeUninit::uninit() };

    /// Wraps a value of the call of a function, which is valid during the call.
    pub fn of_call(value: Value<'_>, call: *const c_void) -> ValueView {
        ValueView { kind: OF_CALL, owner: call, ..ValueView::NONE }.with(Some(value))
    }

    /// Returns true for a value of this call.
    pub fn is_of_call(&self, call: *const c_void) -> bool {
        self.kind == OF_CALL && self.owner == call
    }

    /// Returns another value of the same owner; no value if there is none.
    fn with(self, value: Option<Value<'_>>) -> ValueView {
        let Some(value) = value else { return ValueView::NONE };
        let mut words = MaybeUninit::<[u64; 3]>::uninit();
        // SAFETY: the words are large enough and aligned for a value.
        unsafe { words.as_mut_ptr().cast::<Value<'_>>().write(value) };
        ValueView { words, ..self }
    }

    /// Returns the value; `None` if there is none or its result was deleted.
    ///
    /// # Safety
    /// The structure came from this library, and what it borrows from is alive: its result, or the call of a function.
    pub unsafe fn value<'a>(&self) -> Option<Value<'a>> {
        match self.kind {
            // SAFETY: the caller promises a result that is not deleted meanwhile.
            OF_RESULT => drop(unsafe { borrow::<ResultHandle>(self.owner.cast()) }.ok()?),
            OF_CALL => {}
            _ => return None,
        }
        // SAFETY: `with` wrote a value for every kind except `NO_VALUE`.
        Some(unsafe { self.words.as_ptr().cast::<Value<'a>>().read() })
    }
}

/// Returns the value of the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_value(result: *const ResultHandle) -> ValueView {
    guard_or(ValueView::NONE, || {
        // SAFETY: the rules of the header.
        let value = unsafe { borrow(result) }?.value();
        Ok(ValueView { kind: OF_RESULT, owner: result.cast(), ..ValueView::NONE }.with(Some(value)))
    })
}

/// Returns the type of a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_value_type(value: ValueView) -> ValueType {
    // SAFETY: the rules of the header.
    guard_or(ValueType::PIDQ_TYPE_NONE, || Ok(unsafe { value.value() }.map_or(ValueType::PIDQ_TYPE_NONE, type_of)))
}

fn type_of(value: Value<'_>) -> ValueType {
    match value {
        Value::Undefined | Value::Null => ValueType::PIDQ_TYPE_NULL,
        Value::Bool(_) => ValueType::PIDQ_TYPE_BOOLEAN,
        Value::Number(_) => ValueType::PIDQ_TYPE_NUMBER,
        Value::String(_) => ValueType::PIDQ_TYPE_STRING,
        Value::Array(_) => ValueType::PIDQ_TYPE_ARRAY,
        Value::Object(_) => ValueType::PIDQ_TYPE_OBJECT,
    }
}

/// Returns the number of items of a list or of fields of an object; 0 for any other value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_value_count(value: ValueView) -> usize {
    // SAFETY: the rules of the header.
    guard_or(0, || Ok(unsafe { value.value() }.map_or(0, count)))
}

fn count(value: Value<'_>) -> usize {
    match value {
        Value::Array(list) => list.len(),
        Value::Object(object) => object.iter().filter(|(_, value)| !matches!(value, Value::Undefined)).count(),
        _ => 0,
    }
}

/// Returns the item of a list at an index, from 0; no value if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_value_item(list: ValueView, index: usize) -> ValueView {
    guard_or(ValueView::NONE, || {
        // SAFETY: the rules of the header.
        let items = unsafe { list.value() }.and_then(Value::as_array);
        Ok(list.with(items.and_then(|items| items.get(index))))
    })
}

/// Returns the field of an object by its name, which ends with NUL; no value if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_value_field(object: ValueView, name: *const c_char) -> ValueView {
    // SAFETY: the rules of the header.
    guard_or(ValueView::NONE, || Ok(field(object, unsafe { c_string(name, "name") }?)))
}

/// Returns the field of an object as `pidq_value_field` does, by a name of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_value_field_of_len(object: ValueView, name: *const c_char, len: usize) -> ValueView {
    // SAFETY: the rules of the header.
    guard_or(ValueView::NONE, || Ok(field(object, Some(unsafe { text(name, len, "name") }?))))
}

fn field(object: ValueView, name: Option<&str>) -> ValueView {
    // SAFETY: the rules of the header, which the callers pass on.
    let fields = unsafe { object.value() }.and_then(Value::as_object);
    let value = fields.zip(name).and_then(|(fields, name)| fields.get(name));
    object.with(value.filter(|value| !matches!(value, Value::Undefined)))
}

/// Reads the next field of an object or item of a list: `*position` is 0 before the first one. `key` may be NULL; it is
/// no text for an item, and does not end with NUL. Returns false, without writing, after the last one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_value_next(
    container: ValueView,
    position: *mut usize,
    key: *mut Slice,
    value: *mut ValueView,
) -> bool {
    guard_or(false, || {
        if position.is_null() {
            return Err(AbiError::null("position"));
        }
        // SAFETY: the rules of the header.
        let (container_value, start) = unsafe { (container.value(), *position) };
        let Some((next, name, item)) = container_value.and_then(|value| next(value, start)) else { return Ok(false) };
        // SAFETY: as above.
        unsafe {
            if !key.is_null() {
                key.write(name.map_or(Slice::NONE, borrowed_text));
            }
            write_to(value, container.with(Some(item)))?;
            position.write(next);
        }
        Ok(true)
    })
}

/// Returns the next field or item from a position on, with the position after it.
fn next(container: Value<'_>, start: usize) -> Option<(usize, Option<&str>, Value<'_>)> {
    match container {
        Value::Array(list) => list.get(start).map(|item| (start + 1, None, item)),
        Value::Object(object) => {
            let mut fields = (start..object.len()).filter_map(|index| Some((index, object.entry(index)?)));
            let (index, (key, value)) = fields.find(|(_, (_, value))| !matches!(value, Value::Undefined))?;
            Some((index + 1, Some(key), value))
        }
        _ => None,
    }
}

/// Reads true or false. Returns false, without writing, if the value has another type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_value_bool(value: ValueView, out: *mut bool) -> bool {
    // SAFETY: the rules of the header.
    read(out, || match unsafe { value.value() } {
        Some(Value::Bool(value)) => Some(value),
        _ => None,
    })
}

/// Reads a number. Returns false, without writing, if the value has another type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_value_number(value: ValueView, out: *mut f64) -> bool {
    // SAFETY: the rules of the header.
    read(out, || unsafe { value.value() }?.as_f64())
}

/// Reads an integer, exactly. Returns false, without writing, if the value is not a number, has a fraction, or does not
/// fit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_value_integer(value: ValueView, out: *mut i64) -> bool {
    // SAFETY: the rules of the header.
    read(out, || match unsafe { value.value() } {
        Some(Value::Number(number)) => integer(number.value(), number.lexeme()),
        _ => None,
    })
}

/// Returns a number as an integer: by its digits in the document, which are exact, if there are any.
fn integer(value: f64, lexeme: Option<&str>) -> Option<i64> {
    /// 2^63, the first double above all integers.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if let Some(digits) = lexeme.filter(|text| !text.contains(['.', 'e', 'E'])) {
        return digits.parse().ok();
    }
    (value.fract() == 0.0 && (-LIMIT..LIMIT).contains(&value)).then_some(value as i64)
}

/// Reads a string: UTF-8 that does not end with NUL, and may contain NUL. It is valid as long as the value. Returns
/// false, without writing, if the value has another type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_value_string(value: ValueView, out: *mut Slice) -> bool {
    // SAFETY: the rules of the header.
    read(out, || unsafe { value.value() }?.as_str().map(borrowed_text))
}

/// Writes the text of a string, or the JSON of any other value, to a buffer of `size` bytes, as `snprintf` does: it always
/// ends with NUL, is cut at a character boundary if the buffer is too small, and its whole length is returned. `buffer`
/// may be NULL if `size` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_value_copy(value: ValueView, buffer: *mut c_char, size: usize) -> usize {
    guard_or(0, || {
        if buffer.is_null() && size > 0 {
            return Err(AbiError::null("buffer"));
        }
        // SAFETY: the rules of the header.
        let value = unsafe { value.value() };
        let json;
        let text = match value {
            Some(Value::String(text)) => text,
            Some(value) => {
                json = json_of(value)?;
                &json
            }
            None => "",
        };
        if size > 0 {
            let len = cut_len(text, size - 1);
            // SAFETY: the caller promises `size` bytes, and `len` is less.
            unsafe {
                std::ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, len);
                buffer.add(len).write(0);
            }
        }
        Ok(text.len())
    })
}

/// Returns a value as JSON. On success, `*out` is a buffer that the caller deletes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_value_json(value: ValueView, out: *mut *mut Buffer) -> *mut ErrorHandle {
    let print = || {
        // SAFETY: the rules of the header.
        let value = unsafe { value.value() }.ok_or_else(|| AbiError::misuse("`value` is no value".into()))?;
        json_of(value)
    };
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { write_buffer(out, print) })
}

/// Returns the length of the longest part from the start of a text that fits and ends at a character boundary.
fn cut_len(text: &str, max_len: usize) -> usize {
    (0..=text.len().min(max_len)).rev().find(|len| text.is_char_boundary(*len)).unwrap_or(0)
}

/// Limit of the JSON of a value in bytes: that of a document.
const MAX_JSON: usize = u32::MAX as usize;

fn json_of(value: Value<'_>) -> Result<String, AbiError> {
    let mut json = String::new();
    value.write_json(MAX_JSON, &mut |chunk| {
        json.push_str(chunk);
        Ok(())
    })?;
    Ok(json)
}

/// Writes a value, if there is one, to an output pointer.
fn read<T>(out: *mut T, value: impl FnOnce() -> Option<T>) -> bool {
    guard_or(false, || {
        let Some(value) = value() else { return Ok(false) };
        // SAFETY: the rules of the header.
        unsafe { write_to(out, value) }?;
        Ok(true)
    })
}

fn borrowed_text(text: &str) -> Slice {
    Slice { data: text.as_ptr().cast(), len: text.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_exact_or_refused() {
        assert_eq!(integer(9_007_199_254_740_993.0, Some("9007199254740993")), Some(9_007_199_254_740_993));
        assert_eq!(integer(1e19, Some("10000000000000000000")), None);
        assert_eq!(integer(1e3, Some("1e3")), Some(1000));
        assert_eq!(integer(1.5, None), None);
        assert_eq!(integer(-9_223_372_036_854_775_808.0, None), Some(i64::MIN));
        assert_eq!(integer(9_223_372_036_854_775_808.0, None), None);
        assert_eq!(integer(f64::NAN, None), None);
    }
}
