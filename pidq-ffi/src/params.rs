//! `pidq_params_t`: values for the `$names` of a query.

use std::ffi::c_char;

use serde_json::{Map, Number, Value as Json};

use crate::boundary::{boundary, quiet, quietly};
use crate::error::{ErrorHandle, Fault};
use crate::handle::{Slot, delete, give, handle, lend_mut};
use crate::slice::{text, word};

/// Values for the `$names` of a query. One thread at a time. Delete it; a query that was compiled keeps what it needs.
pub struct ParamsHandle(Slot<Map<String, Json>>);

handle!(ParamsHandle, Map<String, Json>, b"parm", "parameters");

/// A new set without values. NULL when there is no memory for it.
#[unsafe(no_mangle)]
pub extern "C" fn pidq_params_new() -> *mut ParamsHandle {
    quiet(std::ptr::null_mut(), || Ok(give(Map::new())))
}

/// Sets a text; `value` is UTF-8, which a NUL byte need not end. A name that was set before gets the new value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_params_set_string(
    params: *mut ParamsHandle,
    name: *const c_char,
    value: *const c_char,
    len: usize,
) -> *mut ErrorHandle {
    // SAFETY: the rules of the header.
    boundary(|| unsafe { set(params, name, Json::from(text(value, len, "value")?)) })
}

/// Sets a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_params_set_number(
    params: *mut ParamsHandle,
    name: *const c_char,
    value: f64,
) -> *mut ErrorHandle {
    boundary(|| {
        let number = Number::from_f64(value).ok_or_else(|| Fault::misuse(format!("{value} is no number of JSON")))?;
        // SAFETY: the rules of the header.
        unsafe { set(params, name, Json::Number(number)) }
    })
}

/// Sets true or false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_params_set_bool(
    params: *mut ParamsHandle,
    name: *const c_char,
    value: bool,
) -> *mut ErrorHandle {
    // SAFETY: the rules of the header.
    boundary(|| unsafe { set(params, name, Json::Bool(value)) })
}

/// Sets any value of JSON.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_params_set_json(
    params: *mut ParamsHandle,
    name: *const c_char,
    json: *const c_char,
    len: usize,
) -> *mut ErrorHandle {
    boundary(|| {
        // SAFETY: the rules of the header.
        let json = unsafe { text(json, len, "json") }?;
        let value = serde_json::from_str(json)
            .map_err(|error| Fault::misuse(format!("the value of a parameter is no JSON: {error}")))?;
        // SAFETY: the rules of the header.
        unsafe { set(params, name, value) }
    })
}

/// Deletes it. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_params_delete(params: *mut ParamsHandle) {
    // SAFETY: the rules of the header.
    quietly(|| unsafe { delete(params) });
}

/// # Safety
/// The rules of the header.
unsafe fn set(params: *mut ParamsHandle, name: *const c_char, value: Json) -> Result<(), Fault> {
    // SAFETY: the caller promises the same.
    let (params, name) = unsafe { (lend_mut(params)?, word(name, "name")?) };
    let name = name.ok_or_else(|| Fault::null("name"))?;
    params.insert(name.to_owned(), value);
    Ok(())
}
