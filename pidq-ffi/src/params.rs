//! `pidq_params_t`: values for the `$names` of a query.

use std::collections::BTreeMap;
use std::ffi::c_char;

use serde_json::Value as Json;

use crate::boundary::{boundary, quiet, quietly};
use crate::error::{ErrorHandle, Fault};
use crate::handle::{Slot, delete, give, handle, lend_mut};
use crate::slice::{text, word};

/// Values for the `$names` of a query. One thread at a time. Delete it; a query that was compiled keeps what it needs.
pub struct ParamsHandle(Slot<Values>);

handle!(ParamsHandle, Values, b"parm", "parameters");

/// By name: the text of the value in JSON, as it was given, so that numbers keep their digits and objects their order.
#[derive(Default)]
pub struct Values(BTreeMap<String, String>);

impl Values {
    /// All of them as a JSON object.
    pub fn json(&self) -> String {
        let member = |(name, value): (&String, &String)| format!("{}:{value}", Json::from(name.as_str()));
        format!("{{{}}}", self.0.iter().map(member).collect::<Vec<_>>().join(","))
    }
}

/// A new set without values. NULL when there is no memory for it.
#[unsafe(no_mangle)]
pub extern "C" fn pidq_params_new() -> *mut ParamsHandle {
    quiet(std::ptr::null_mut(), || Ok(give(Values::default())))
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
    boundary(|| unsafe { set(params, name, Json::from(text(value, len, "value")?).to_string()) })
}

/// Sets a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_params_set_number(
    params: *mut ParamsHandle,
    name: *const c_char,
    value: f64,
) -> *mut ErrorHandle {
    boundary(|| {
        if !value.is_finite() {
            return Err(Fault::misuse(format!("{value} is no number of JSON")));
        }
        // SAFETY: the rules of the header.
        unsafe { set(params, name, Json::from(value).to_string()) }
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
    boundary(|| unsafe { set(params, name, value.to_string()) })
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
        let (json, called) = unsafe { (text(json, len, "json")?, word(name, "name")?.unwrap_or_default()) };
        serde_json::from_str::<Json>(json)
            .map_err(|error| Fault::misuse(format!("the value of the parameter `{called}` is no JSON: {error}")))?;
        // SAFETY: the rules of the header.
        unsafe { set(params, name, json.to_owned()) }
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
unsafe fn set(params: *mut ParamsHandle, name: *const c_char, value: String) -> Result<(), Fault> {
    // SAFETY: the caller promises the same.
    let (params, name) = unsafe { (lend_mut(params)?, word(name, "name")?) };
    let name = name.ok_or_else(|| Fault::null("name"))?;
    params.0.insert(name.to_owned(), value);
    Ok(())
}
