//! `pidq_params_t`: parameters of a query.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::c_char;
use std::sync::Arc;

use pidq_core::Graph;
use pidq_core::limits::MAX_DOCUMENT_DEPTH;
use serde_json::Value as Json;

use crate::abi_error::AbiError;
use crate::arguments::{bytes, c_string, text};
use crate::error_handle::ErrorHandle;
use crate::handle::{Slot, borrow_mut, delete, handle, into_handle};
use crate::panic_guard::{guard, guard_error, guard_or};

/// Values of the `$names` of a query. For one thread at a time. Delete it with `pidq_params_delete`; compiled queries and
/// results keep what they need.
pub struct ParamsHandle(Slot<Values>);

handle!(ParamsHandle, Values, b"parm", "parameters");

/// Values by name, as JSON text, so that numbers keep their digits and objects their order.
#[derive(Default)]
pub struct Values {
    texts: BTreeMap<String, String>,
    /// All values as a document, once a run has used them.
    document: OnceCell<Arc<Graph>>,
}

impl Values {
    /// Returns all values as a JSON object.
    pub fn json(&self) -> String {
        let field = |(name, value): (&String, &String)| format!("{}:{value}", Json::from(name.as_str()));
        format!("{{{}}}", self.texts.iter().map(field).collect::<Vec<_>>().join(","))
    }

    /// Returns all values as a document with one object.
    pub fn document(&self) -> Result<&Arc<Graph>, AbiError> {
        if self.document.get().is_none() {
            let document = Graph::from_json(self.json())?;
            self.document.get_or_init(|| Arc::new(document));
        }
        self.document.get().ok_or_else(|| AbiError::misuse("the parameters are used by two threads".into()))
    }
}

/// Creates an empty set of parameters. Returns NULL if out of memory.
#[unsafe(no_mangle)]
pub extern "C" fn pidq_params_new() -> *mut ParamsHandle {
    guard_or(std::ptr::null_mut(), || Ok(into_handle(Values::default())))
}

/// Sets a string; `value` is UTF-8, with or without a terminating NUL byte. Replaces an earlier value of the name.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_params_set_string(
    params: *mut ParamsHandle,
    name: *const c_char,
    value: *const c_char,
    len: usize,
) -> *mut ErrorHandle {
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { set(params, name, Json::from(text(value, len, "value")?).to_string()) })
}

/// Sets a number.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_params_set_number(
    params: *mut ParamsHandle,
    name: *const c_char,
    value: f64,
) -> *mut ErrorHandle {
    guard_error(|| {
        if !value.is_finite() {
            return Err(AbiError::misuse(format!("{value} is not a JSON number")));
        }
        // SAFETY: the rules of the header.
        unsafe { set(params, name, Json::from(value).to_string()) }
    })
}

/// Sets true or false.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_params_set_bool(
    params: *mut ParamsHandle,
    name: *const c_char,
    value: bool,
) -> *mut ErrorHandle {
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { set(params, name, value.to_string()) })
}

/// Sets any value of JSON. `PQ5001` if it is not JSON, as for a document, and the other codes of documents.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_params_set_json(
    params: *mut ParamsHandle,
    name: *const c_char,
    json: *const c_char,
    len: usize,
) -> *mut ErrorHandle {
    guard_error(|| {
        // SAFETY: the rules of the header.
        let (json, name_text) = unsafe { (bytes(json, len, "json")?, c_string(name, "name")?.unwrap_or_default()) };
        // Read as a document is, with the same codes. All values together are one object.
        let value = Graph::from_json_with_max_depth(json, MAX_DOCUMENT_DEPTH - 1)
            .map_err(|error| AbiError::of_argument(&error, &format!("the parameter `{name_text}`")))?;
        // SAFETY: the rules of the header.
        unsafe { set(params, name, value.source().to_owned()) }
    })
}

/// Deletes parameters. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_params_delete(params: *mut ParamsHandle) {
    // SAFETY: the rules of the header.
    guard(|| unsafe { delete(params) });
}

/// # Safety
/// The rules of the header.
unsafe fn set(params: *mut ParamsHandle, name: *const c_char, value: String) -> Result<(), AbiError> {
    // SAFETY: the caller promises the same.
    let (params, name) = unsafe { (borrow_mut(params)?, c_string(name, "name")?) };
    let name = name.ok_or_else(|| AbiError::null("name"))?;
    params.texts.insert(name.to_owned(), value);
    params.document = OnceCell::new();
    Ok(())
}
