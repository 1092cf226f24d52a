//! Value builder: creates results as native values of another language by calling its constructors, without JSON.
//!
//! The functions have the signatures of those of CPython, so that those can be used directly. Hot: called once per
//! field of each row. Objects with the same keys are copied from a template, and repeated strings are created once.

use std::ffi::{c_char, c_int, c_void};
use std::mem::size_of;
use std::sync::Arc;

use pidq_core::{Graph, Number, Object, Value};

use crate::abi_error::AbiError;
use crate::graph::GraphHandle;
use crate::handle::{Slot, borrow, borrow_mut, delete, handle, into_handle};
use crate::limits::read_sized;
use crate::panic_guard::{guard, guard_or};
use crate::result::ResultHandle;

/// A value of another language.
pub type ForeignValue = *mut c_void;

/// Functions that create values of another language. A function that returns NULL, or -1 if it returns a number, has
/// failed: building stops, and the error remains set in that language.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Builder {
    /// `sizeof(pidq_builder_t)`.
    pub size: usize,
    /// Null. `retain` is called for each use of these three values.
    pub null_value: ForeignValue,
    /// True.
    pub true_value: ForeignValue,
    /// False.
    pub false_value: ForeignValue,
    /// Creates a string from UTF-8.
    pub make_text: Option<unsafe extern "C" fn(data: *const c_char, len: isize) -> ForeignValue>,
    /// Creates a floating-point number.
    pub make_real: Option<unsafe extern "C" fn(value: f64) -> ForeignValue>,
    /// Creates an integer.
    pub make_integer: Option<unsafe extern "C" fn(value: i64) -> ForeignValue>,
    /// Creates an integer from its digits, terminated by a NUL byte. `end` is NULL, `base` is 10.
    pub make_long:
        Option<unsafe extern "C" fn(digits: *const c_char, end: *mut *mut c_char, base: c_int) -> ForeignValue>,
    /// Creates a list of `len` empty slots.
    pub make_list: Option<unsafe extern "C" fn(len: isize) -> ForeignValue>,
    /// Sets an item of a list, which takes ownership of it.
    pub set_item: Option<unsafe extern "C" fn(list: ForeignValue, index: isize, item: ForeignValue) -> c_int>,
    /// Creates an object without keys.
    pub make_object: Option<unsafe extern "C" fn() -> ForeignValue>,
    /// Sets a field of an object, which retains key and value itself.
    pub set_field: Option<unsafe extern "C" fn(object: ForeignValue, key: ForeignValue, value: ForeignValue) -> c_int>,
    /// Creates a shallow copy of an object.
    pub copy_object: Option<unsafe extern "C" fn(object: ForeignValue) -> ForeignValue>,
    /// Increments the reference count of a value.
    pub retain: Option<unsafe extern "C" fn(value: ForeignValue)>,
    /// Decrements the reference count of a value.
    pub release: Option<unsafe extern "C" fn(value: ForeignValue)>,
}

/// The functions of a builder, all present.
#[derive(Clone, Copy)]
struct BuilderFns {
    null_value: ForeignValue,
    true_value: ForeignValue,
    false_value: ForeignValue,
    make_text: unsafe extern "C" fn(*const c_char, isize) -> ForeignValue,
    make_real: unsafe extern "C" fn(f64) -> ForeignValue,
    make_integer: unsafe extern "C" fn(i64) -> ForeignValue,
    make_long: unsafe extern "C" fn(*const c_char, *mut *mut c_char, c_int) -> ForeignValue,
    make_list: unsafe extern "C" fn(isize) -> ForeignValue,
    set_item: unsafe extern "C" fn(ForeignValue, isize, ForeignValue) -> c_int,
    make_object: unsafe extern "C" fn() -> ForeignValue,
    set_field: unsafe extern "C" fn(ForeignValue, ForeignValue, ForeignValue) -> c_int,
    copy_object: unsafe extern "C" fn(ForeignValue) -> ForeignValue,
    retain: unsafe extern "C" fn(ForeignValue),
    release: unsafe extern "C" fn(ForeignValue),
}

/// Builds the result as a value of another language, which the caller owns. Returns NULL if a function of the builder
/// fails or an argument is invalid. If the language has a global lock (Python), it must be held during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_build(result: *const ResultHandle, builder: *const Builder) -> ForeignValue {
    guard_or(std::ptr::null_mut(), || {
        // SAFETY: the rules of the header.
        let (result_data, fns) = unsafe { (borrow(result)?, BuilderFns::read(builder)?) };
        ValueBuilder::new(fns, None)
            .build(result_data.value())
            .ok_or_else(|| AbiError::misuse("a callback of the builder failed".into()))
    })
}

/// Cache of values of another language for the lists and objects of a graph: each is created once and reused. For one
/// thread at a time, the one that holds the language's lock. Delete it before the runtime of that language shuts down.
pub struct SharedHandle(Slot<Shared>);

handle!(SharedHandle, Shared, b"shrd", "shared values");

/// Cached values by the index of the list or object.
pub struct Shared {
    graph: Arc<Graph>,
    fns: BuilderFns,
    cache: Vec<ForeignValue>,
}

impl Shared {
    fn clear(&mut self) {
        for foreign_value in
            std::mem::take(&mut self.cache).into_iter().filter(|foreign_value| !foreign_value.is_null())
        {
            // SAFETY: the builder created each value, and this struct owns a reference to it.
            unsafe { (self.fns.release)(foreign_value) };
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Creates a cache of shared values of a graph. It retains the values it created, up to all values of the graph.
/// Returns NULL if an argument is invalid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_shared_new(graph: *const GraphHandle, builder: *const Builder) -> *mut SharedHandle {
    guard_or(std::ptr::null_mut(), || {
        // SAFETY: the rules of the header.
        let (graph, fns) = unsafe { (borrow(graph)?.clone(), BuilderFns::read(builder)?) };
        Ok(into_handle(Shared { graph, fns, cache: Vec::new() }))
    })
}

/// Builds the result as `pidq_result_build` does, reusing values in `shared`: lists and objects of the document are the
/// same values each time and must not be modified. Also returns NULL if the result belongs to another graph.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_build_shared(
    result: *const ResultHandle,
    shared: *mut SharedHandle,
) -> ForeignValue {
    guard_or(std::ptr::null_mut(), || {
        // SAFETY: the rules of the header.
        let (result_data, shared) = unsafe { (borrow(result)?, borrow_mut(shared)?) };
        if !Arc::ptr_eq(result_data.graph(), &shared.graph) {
            return Err(AbiError::misuse("the result belongs to another graph".into()));
        }
        let foreign_value = ValueBuilder::new(shared.fns, Some(shared)).build(result_data.value());
        foreign_value.ok_or_else(|| AbiError::misuse("a callback of the builder failed".into()))
    })
}

/// Deletes a cache of shared values. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_shared_delete(shared: *mut SharedHandle) {
    // SAFETY: the rules of the header.
    guard(|| unsafe { delete(shared) });
}

const EMPTY_BUILDER: Builder = Builder {
    size: size_of::<Builder>(),
    null_value: std::ptr::null_mut(),
    true_value: std::ptr::null_mut(),
    false_value: std::ptr::null_mut(),
    make_text: None,
    make_real: None,
    make_integer: None,
    make_long: None,
    make_list: None,
    set_item: None,
    make_object: None,
    set_field: None,
    copy_object: None,
    retain: None,
    release: None,
};

impl BuilderFns {
    /// # Safety
    /// The rules of the header.
    unsafe fn read(builder: *const Builder) -> Result<BuilderFns, AbiError> {
        if builder.is_null() {
            return Err(AbiError::null("builder"));
        }
        // SAFETY: the caller promises a structure of the size in its first word.
        let builder_struct: Builder = unsafe { read_sized(builder, size_of::<Builder>(), EMPTY_BUILDER) }?;
        let values = [builder_struct.null_value, builder_struct.true_value, builder_struct.false_value];
        if values.iter().any(|value| value.is_null()) {
            return Err(AbiError::null("builder->null_value, true_value or false_value"));
        }
        builder_struct.fns().ok_or_else(|| AbiError::null("a function of the builder"))
    }
}

impl Builder {
    fn fns(self) -> Option<BuilderFns> {
        Some(BuilderFns {
            null_value: self.null_value,
            true_value: self.true_value,
            false_value: self.false_value,
            make_text: self.make_text?,
            make_real: self.make_real?,
            make_integer: self.make_integer?,
            make_long: self.make_long?,
            make_list: self.make_list?,
            set_item: self.set_item?,
            make_object: self.make_object?,
            set_field: self.set_field?,
            copy_object: self.copy_object?,
            retain: self.retain?,
            release: self.release?,
        })
    }
}

/// Maximum depth of recursion; deeper values are deferred.
const MAX_RECURSION: usize = 64;
/// Maximum number of templates.
const MAX_TEMPLATES: usize = 32;
/// Maximum number of keys of a template.
const MAX_TEMPLATE_KEYS: usize = 64;
/// Entries of the string cache.
const STRING_CACHE_SIZE: usize = 1 << 10;
/// Largest integer that a double represents exactly.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;
/// Maximum length of a cached string; longer ones hardly repeat.
const MAX_CACHED_STRING: usize = 64;

/// Builder of a value. Every value is attached to the root before it is filled, so that one release frees everything.
struct ValueBuilder<'a> {
    fns: BuilderFns,
    /// Cache of lists and objects of the document.
    shared: Option<&'a mut Shared>,
    templates: Vec<Template>,
    /// By level: the last used template.
    last_template: [usize; MAX_RECURSION],
    texts: Vec<(*const u8, usize, ForeignValue)>,
    deferred: Vec<(ForeignValue, Value<'a>)>,
    /// Reusable buffers of fields.
    field_buffers: Vec<Vec<(&'a str, Value<'a>)>>,
}

/// Template object with certain keys.
struct Template {
    keys: Vec<(*const u8, usize, ForeignValue)>,
    object: ForeignValue,
}

impl Drop for ValueBuilder<'_> {
    fn drop(&mut self) {
        let keys = self.templates.iter().flat_map(|template| template.keys.iter().map(|(_, _, key)| *key));
        let texts = self.texts.iter().map(|(_, _, text)| *text).filter(|text| !text.is_null());
        let objects = self.templates.iter().map(|template| template.object);
        for foreign_value in keys.chain(texts).chain(objects) {
            // SAFETY: the builder created each value, and this struct owns a reference to it.
            unsafe { (self.fns.release)(foreign_value) };
        }
    }
}

impl<'a> ValueBuilder<'a> {
    fn new(fns: BuilderFns, shared: Option<&'a mut Shared>) -> ValueBuilder<'a> {
        ValueBuilder {
            fns,
            shared,
            templates: Vec::new(),
            last_template: [0; MAX_RECURSION],
            texts: Vec::new(),
            deferred: Vec::new(),
            field_buffers: Vec::new(),
        }
    }

    fn build(&mut self, value: Value<'a>) -> Option<ForeignValue> {
        if let Some(cached) = self.cached(value) {
            return Some(cached);
        }
        let root = self.start(value, 0)?;
        let filled = self.fill(root, value, 0).and_then(|()| {
            while let Some((foreign_value, value)) = self.deferred.pop() {
                self.fill(foreign_value, value, 0)?;
            }
            Some(())
        });
        if filled.is_none() {
            // SAFETY: the root was created here and has no other owner.
            unsafe { (self.fns.release)(root) };
            // Cached values may not be filled.
            self.shared.as_deref_mut().into_iter().for_each(Shared::clear);
        }
        filled.map(|()| root)
    }

    /// Returns the cached value of a list or an object of the document, retained.
    ///
    /// Hot: the only work for a cached row.
    #[inline]
    fn cached(&self, value: Value<'a>) -> Option<ForeignValue> {
        let shared = self.shared.as_deref()?;
        let cached = *shared.cache.get(shared.graph.container_index(value)?)?;
        (!cached.is_null()).then(|| retained(self.fns, cached))
    }

    /// Caches the value of an item of a list, including nested values.
    fn cache_value(&mut self, value: Value<'a>, foreign_value: ForeignValue) {
        let Some(shared) = self.shared.as_deref_mut() else { return };
        let Some(index) = shared.graph.container_index(value) else { return };
        if shared.cache.len() <= index {
            shared.cache.resize(index + 1, std::ptr::null_mut());
        }
        if shared.cache[index].is_null() {
            shared.cache[index] = retained(self.fns, foreign_value);
        }
    }

    /// Creates a scalar, a list of empty slots, or an object without values.
    fn start(&mut self, value: Value<'a>, level: usize) -> Option<ForeignValue> {
        let fns = self.fns;
        // SAFETY: the caller provides these functions and values for this purpose.
        let foreign_value = unsafe {
            match value {
                Value::Undefined | Value::Null => retained(fns, fns.null_value),
                Value::Bool(true) => retained(fns, fns.true_value),
                Value::Bool(false) => retained(fns, fns.false_value),
                Value::Number(number) => self.number(number),
                Value::String(text) => self.text(text),
                Value::Array(list) => (fns.make_list)(list.len() as isize),
                Value::Object(object) => self.object(object, level)?,
            }
        };
        (!foreign_value.is_null()).then_some(foreign_value)
    }

    /// Fills a list or an object recursively.
    fn fill(&mut self, foreign_value: ForeignValue, value: Value<'a>, level: usize) -> Option<()> {
        match value {
            Value::Array(list) => {
                for (index, item) in list.iter().enumerate() {
                    let cached = self.cached(item);
                    let item_value = cached.map_or_else(|| self.start(item, level + 1), Some)?;
                    // SAFETY: the list has this slot, and takes ownership of the item.
                    let set = unsafe { (self.fns.set_item)(foreign_value, index as isize, item_value) };
                    (set == 0).then_some(())?;
                    if cached.is_none() {
                        self.fill_or_defer(item_value, item, level + 1)?;
                        self.cache_value(item, item_value);
                    }
                }
                Some(())
            }
            Value::Object(object) => {
                let mut fields = self.field_buffers.pop().unwrap_or_default();
                fields.extend(object.iter().filter(|(_, value)| !matches!(value, Value::Undefined)));
                let filled = self.fields(foreign_value, &fields, level);
                fields.clear();
                self.field_buffers.push(fields);
                filled
            }
            _ => Some(()),
        }
    }

    fn fill_or_defer(&mut self, foreign_value: ForeignValue, value: Value<'a>, level: usize) -> Option<()> {
        match value {
            Value::Array(_) | Value::Object(_) if level + 1 < MAX_RECURSION => self.fill(foreign_value, value, level),
            Value::Array(_) | Value::Object(_) => {
                self.deferred.push((foreign_value, value));
                Some(())
            }
            _ => Some(()),
        }
    }

    fn fields(&mut self, foreign_value: ForeignValue, fields: &[(&'a str, Value<'a>)], level: usize) -> Option<()> {
        let template = self.template(fields, level);
        for (index, (key, value)) in fields.iter().enumerate() {
            let field_value = self.start(*value, level + 1)?;
            let (key, is_key_owned) = match template {
                Some(template) => (self.templates[template].keys[index].2, false),
                None => (self.text(key), true),
            };
            // SAFETY: the object retains both itself; the references created here are released.
            let set = unsafe {
                let set = if key.is_null() { -1 } else { (self.fns.set_field)(foreign_value, key, field_value) };
                (self.fns.release)(field_value);
                if is_key_owned && !key.is_null() {
                    (self.fns.release)(key);
                }
                set
            };
            (set == 0).then_some(())?;
            self.fill_or_defer(field_value, *value, level + 1)?;
        }
        Some(())
    }

    /// Returns an object with its keys set, unless there are too many templates.
    fn object(&mut self, object: Object<'a>, level: usize) -> Option<ForeignValue> {
        let mut fields = self.field_buffers.pop().unwrap_or_default();
        fields.extend(object.iter().filter(|(_, value)| !matches!(value, Value::Undefined)));
        let template = match self.template(&fields, level) {
            None if self.templates.len() < MAX_TEMPLATES && fields.len() <= MAX_TEMPLATE_KEYS => {
                Some(self.add_template(&fields, level)?)
            }
            cached => cached,
        };
        fields.clear();
        self.field_buffers.push(fields);
        // SAFETY: the caller provides these functions for this purpose.
        let foreign_value = unsafe {
            match template {
                Some(template) => (self.fns.copy_object)(self.templates[template].object),
                None => (self.fns.make_object)(),
            }
        };
        (!foreign_value.is_null()).then_some(foreign_value)
    }

    /// Returns the template with exactly these keys, usually the last one of the level.
    fn template(&mut self, fields: &[(&'a str, Value<'a>)], level: usize) -> Option<usize> {
        let last_template = self.last_template[level % MAX_RECURSION];
        if self.templates.get(last_template).is_some_and(|template| template.matches(fields)) {
            return Some(last_template);
        }
        let found = self.templates.iter().position(|template| template.matches(fields))?;
        self.last_template[level % MAX_RECURSION] = found;
        Some(found)
    }

    /// Creates a template; `None` if the builder fails.
    fn add_template(&mut self, fields: &[(&'a str, Value<'a>)], level: usize) -> Option<usize> {
        // SAFETY: the caller provides this function for this purpose.
        let object = unsafe { (self.fns.make_object)() };
        (!object.is_null()).then_some(())?;
        let index = self.templates.len();
        self.templates.push(Template { keys: Vec::new(), object });
        self.last_template[level % MAX_RECURSION] = index;
        for (key, _) in fields {
            let foreign_value = self.text(key);
            (!foreign_value.is_null()).then_some(())?;
            self.templates[index].keys.push((key.as_ptr(), key.len(), foreign_value));
            // SAFETY: the object retains both itself.
            let set = unsafe { (self.fns.set_field)(object, foreign_value, self.fns.null_value) };
            (set == 0).then_some(())?;
        }
        Some(index)
    }

    /// Returns a string value; reuses the cached one for a string at the same address.
    fn text(&mut self, text: &'a str) -> ForeignValue {
        // SAFETY: the caller provides these functions for this purpose.
        let make = || unsafe { (self.fns.make_text)(text.as_ptr().cast(), text.len() as isize) };
        if text.len() > MAX_CACHED_STRING {
            return make();
        }
        if self.texts.is_empty() {
            self.texts.resize(STRING_CACHE_SIZE, (std::ptr::null(), 0, std::ptr::null_mut()));
        }
        let slot =
            (text.as_ptr() as usize).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (usize::BITS - STRING_CACHE_SIZE.ilog2());
        let cached = &mut self.texts[slot];
        if cached.0 != text.as_ptr() || cached.1 != text.len() || cached.2.is_null() {
            let new_value = make();
            if new_value.is_null() {
                return new_value;
            }
            if !cached.2.is_null() {
                // SAFETY: the builder created it, and this struct owns a reference to it.
                unsafe { (self.fns.release)(cached.2) };
            }
            *cached = (text.as_ptr(), text.len(), new_value);
        }
        retained(self.fns, cached.2)
    }

    /// Returns a number as Python's `json` reads it: an integer if its text has neither point nor exponent.
    fn number(&self, number: Number<'a>) -> ForeignValue {
        let value = number.value();
        // SAFETY: the caller provides these functions for this purpose.
        unsafe {
            match number.lexeme() {
                Some(text) if text.contains(['.', 'e', 'E']) => (self.fns.make_real)(value),
                Some(text) => self.long(text),
                None if !value.is_finite() => retained(self.fns, self.fns.null_value),
                None if value.fract() == 0.0 && value.abs() <= MAX_EXACT_INTEGER => {
                    (self.fns.make_integer)(value as i64)
                }
                // As in JavaScript: the shortest digits that identify this number.
                None if value.fract() == 0.0 && value.abs() < 1e21 => self.long(&value.to_string()),
                None => (self.fns.make_real)(value),
            }
        }
    }

    fn long(&self, digits: &str) -> ForeignValue {
        let mut text = Vec::from(digits);
        text.push(0);
        // SAFETY: the digits end with NUL.
        unsafe { (self.fns.make_long)(text.as_ptr().cast(), std::ptr::null_mut(), 10) }
    }
}

impl Template {
    fn matches(&self, fields: &[(&str, Value<'_>)]) -> bool {
        let is_same = |(cached, field): (&(*const u8, usize, ForeignValue), &(&str, Value<'_>))| {
            cached.0 == field.0.as_ptr() && cached.1 == field.0.len()
        };
        self.keys.len() == fields.len() && self.keys.iter().zip(fields).all(is_same)
    }
}

/// Retains a value and returns it.
fn retained(fns: BuilderFns, foreign_value: ForeignValue) -> ForeignValue {
    // SAFETY: the caller provides this function for this purpose.
    unsafe { (fns.retain)(foreign_value) };
    foreign_value
}
