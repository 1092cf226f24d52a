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
        ValueBuilder::new(fns, None, result_data.len())
            .build(result_data.value())
            .ok_or_else(|| AbiError::misuse("a callback of the builder failed".into()))
    })
}

/// Builds a list of up to `count` rows of the result from a row on, as `pidq_result_build` builds a value. The rows are the
/// items of a list; any other value is one row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_build_items(
    result: *const ResultHandle,
    builder: *const Builder,
    start: usize,
    count: usize,
) -> ForeignValue {
    guard_or(std::ptr::null_mut(), || {
        // SAFETY: the rules of the header.
        let (result_data, fns) = unsafe { (borrow(result)?, BuilderFns::read(builder)?) };
        ValueBuilder::new(fns, None, count.min(result_data.len()))
            .build_items(result_data.value(), start, count)
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
        let mut builder = ValueBuilder::new(shared.fns, Some(shared), result_data.len());
        let foreign_value = builder.build(result_data.value());
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
/// Bits of the number of entries of the string cache: for results with fewer rows than the first number.
const STRING_CACHE_BITS: [(usize, u32); 3] = [(64, 6), (1024, 10), (usize::MAX, 12)];
/// Maximum length of a cached string; longer ones hardly repeat.
const MAX_CACHED_STRING: usize = 64;

/// Builder of a value, from the inside out. Whatever fails releases what it created.
struct ValueBuilder<'a> {
    fns: BuilderFns,
    /// Cache of lists and objects of the document.
    shared: Option<&'a mut Shared>,
    templates: Vec<Template>,
    /// By level: the last used template.
    last_template: [usize; MAX_RECURSION],
    texts: Vec<(*const u8, usize, ForeignValue)>,
    /// Bits of the number of cached texts.
    text_bits: u32,
    deferred: Vec<(ForeignValue, Value<'a>)>,
    /// Reusable buffers of fields.
    field_buffers: Vec<Vec<(&'a str, Value<'a>)>>,
}

/// Template object with certain keys.
struct Template {
    /// Identifier of these keys in the objects of the result, if all of them have a value.
    keys_id: Option<usize>,
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
    /// Creates the builder of a value with a number of rows.
    fn new(fns: BuilderFns, shared: Option<&'a mut Shared>, rows: usize) -> ValueBuilder<'a> {
        let bits = STRING_CACHE_BITS.iter().find(|(limit, _)| rows < *limit);
        ValueBuilder {
            fns,
            shared,
            templates: Vec::new(),
            last_template: [0; MAX_RECURSION],
            texts: Vec::new(),
            text_bits: bits.map_or(6, |(_, bits)| *bits),
            deferred: Vec::new(),
            field_buffers: Vec::new(),
        }
    }

    /// Builds a value, and the parts of it that were deferred.
    fn build(&mut self, value: Value<'a>) -> Option<ForeignValue> {
        let root = self.root(value);
        if root.is_none() {
            // Cached values may not be filled.
            self.shared.as_deref_mut().into_iter().for_each(Shared::clear);
        }
        root
    }

    fn root(&mut self, value: Value<'a>) -> Option<ForeignValue> {
        if let Some(cached) = self.cached(value) {
            return Some(cached);
        }
        let root = self.make(value, 0)?;
        self.fill_deferred(root)
    }

    /// Builds a list of some rows of a list; any other value is one row.
    fn build_items(&mut self, value: Value<'a>, start: usize, count: usize) -> Option<ForeignValue> {
        let rows = value.as_array().map_or(1, |rows| rows.len());
        let start = start.min(rows);
        let count = count.min(rows - start);
        // SAFETY: the caller provides this function for this purpose.
        let list = not_null(unsafe { (self.fns.make_list)(count as isize) })?;
        for slot in 0..count {
            let row = value.as_array().map_or(Some(value), |rows| rows.get(start + slot)).unwrap_or(Value::Null);
            if self.add_item(list, slot, row, 0).is_none() {
                return self.abandon(list);
            }
        }
        self.fill_deferred(list)
    }

    /// Fills what was deferred; returns the root, which contains all of it.
    fn fill_deferred(&mut self, root: ForeignValue) -> Option<ForeignValue> {
        while let Some((foreign_value, value)) = self.deferred.pop() {
            if self.fill(foreign_value, value, 0).is_none() {
                return self.abandon(root);
            }
        }
        Some(root)
    }

    /// Releases a value that could not be filled.
    fn abandon(&mut self, foreign_value: ForeignValue) -> Option<ForeignValue> {
        // SAFETY: the value was created here and has no other owner.
        unsafe { (self.fns.release)(foreign_value) };
        None
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

    /// Creates a value that the caller owns. Lists and objects are filled, or deferred if they are nested too deeply.
    fn make(&mut self, value: Value<'a>, level: usize) -> Option<ForeignValue> {
        let foreign_value = match value {
            Value::Array(list) => {
                // SAFETY: the caller provides this function for this purpose.
                not_null(unsafe { (self.fns.make_list)(list.len() as isize) })?
            }
            Value::Object(object) => return self.make_object(object, level),
            scalar => {
                let (scalar, is_owned) = self.scalar(scalar)?;
                return Some(if is_owned { scalar } else { retained(self.fns, scalar) });
            }
        };
        self.fill_or_defer(foreign_value, value, level)
    }

    /// Fills a list or an object of a level, or defers it; returns it.
    fn fill_or_defer(&mut self, foreign_value: ForeignValue, value: Value<'a>, level: usize) -> Option<ForeignValue> {
        if level + 1 >= MAX_RECURSION {
            self.deferred.push((foreign_value, value));
            return Some(foreign_value);
        }
        match self.fill(foreign_value, value, level) {
            Some(()) => Some(foreign_value),
            None => self.abandon(foreign_value),
        }
    }

    /// Fills a list of empty slots, or an object.
    fn fill(&mut self, foreign_value: ForeignValue, value: Value<'a>, level: usize) -> Option<()> {
        match value {
            Value::Array(list) => {
                list.iter().enumerate().try_for_each(|(slot, item)| self.add_item(foreign_value, slot, item, level))
            }
            Value::Object(object) => {
                let fields = self.fields_of(object);
                let template = self.template(&fields, level);
                let filled = self.fill_fields(foreign_value, &fields, template, level);
                self.recycle(fields);
                filled
            }
            _ => Some(()),
        }
    }

    /// Sets a slot of a list.
    fn add_item(&mut self, list: ForeignValue, slot: usize, item: Value<'a>, level: usize) -> Option<()> {
        let cached = self.cached(item);
        let item_value = cached.map_or_else(|| self.make(item, level + 1), Some)?;
        if cached.is_none() {
            self.cache_value(item, item_value);
        }
        // SAFETY: the list has this slot, and takes ownership of the item.
        (unsafe { (self.fns.set_item)(list, slot as isize, item_value) } == 0).then_some(())
    }

    /// Creates an object: a copy of its template, unless there are too many templates.
    fn make_object(&mut self, object: Object<'a>, level: usize) -> Option<ForeignValue> {
        match self.known_template(object, level) {
            Some(template) if level + 1 < MAX_RECURSION => self.make_from_template(object, template, level),
            _ => self.make_by_fields(object, level),
        }
    }

    /// Creates an object with the keys of a template.
    ///
    /// Hot: once per row.
    fn make_from_template(&mut self, object: Object<'a>, template: usize, level: usize) -> Option<ForeignValue> {
        // SAFETY: the caller provides this function for this purpose.
        let foreign_value = not_null(unsafe { (self.fns.copy_object)(self.templates[template].object) })?;
        for (index, value) in object.values().enumerate() {
            if self.set_field_of_template(foreign_value, (template, index), value, level).is_none() {
                return self.abandon(foreign_value);
            }
        }
        Some(foreign_value)
    }

    /// Sets a field of a copy of a template, in which all fields are null.
    ///
    /// Hot: once per field of each row.
    fn set_field_of_template(
        &mut self,
        object: ForeignValue,
        (template, index): (usize, usize),
        value: Value<'a>,
        level: usize,
    ) -> Option<()> {
        let (field_value, is_owned) = match value {
            Value::Null | Value::Undefined => return Some(()),
            Value::Array(_) | Value::Object(_) => (self.make(value, level + 1)?, true),
            scalar => self.scalar(scalar)?,
        };
        let key = self.templates[template].keys[index].2;
        // SAFETY: the object retains both itself; a reference created here is released.
        let set = unsafe {
            let set = (self.fns.set_field)(object, key, field_value);
            if is_owned {
                (self.fns.release)(field_value);
            }
            set
        };
        (set == 0).then_some(())
    }

    /// Creates an object by the texts of its keys.
    fn make_by_fields(&mut self, object: Object<'a>, level: usize) -> Option<ForeignValue> {
        let fields = self.fields_of(object);
        let template = match self.template(&fields, level) {
            None if self.templates.len() < MAX_TEMPLATES && fields.len() <= MAX_TEMPLATE_KEYS => {
                Some(self.add_template(&fields, level)?)
            }
            known => known,
        };
        if let Some(template) = template {
            self.templates[template].keys_id = object.keys_id();
        }
        // SAFETY: the caller provides these functions for this purpose.
        let foreign_value = not_null(unsafe {
            match template {
                Some(template) => (self.fns.copy_object)(self.templates[template].object),
                None => (self.fns.make_object)(),
            }
        })?;
        if level + 1 >= MAX_RECURSION {
            self.recycle(fields);
            self.deferred.push((foreign_value, Value::Object(object)));
            return Some(foreign_value);
        }
        let filled = self.fill_fields(foreign_value, &fields, template, level);
        self.recycle(fields);
        match filled {
            Some(()) => Some(foreign_value),
            None => self.abandon(foreign_value),
        }
    }

    /// Sets all fields of an object.
    fn fill_fields(
        &mut self,
        foreign_value: ForeignValue,
        fields: &[(&'a str, Value<'a>)],
        template: Option<usize>,
        level: usize,
    ) -> Option<()> {
        for (index, (key, value)) in fields.iter().enumerate() {
            if let Some(template) = template {
                self.set_field_of_template(foreign_value, (template, index), *value, level)?;
                continue;
            }
            // Owned, since the key is another string, which may replace a cached one.
            let field_value = self.make(*value, level + 1)?;
            let (key, is_key_owned) = self.text(key);
            // SAFETY: the object retains both itself; references of this function are released.
            let set = unsafe {
                let set = if key.is_null() { -1 } else { (self.fns.set_field)(foreign_value, key, field_value) };
                (self.fns.release)(field_value);
                if is_key_owned && !key.is_null() {
                    (self.fns.release)(key);
                }
                set
            };
            (set == 0).then_some(())?;
        }
        Some(())
    }

    /// Returns the fields of an object, in a reused buffer.
    fn fields_of(&mut self, object: Object<'a>) -> Vec<(&'a str, Value<'a>)> {
        let mut fields = self.field_buffers.pop().unwrap_or_default();
        fields.extend(object.iter().filter(|(_, value)| !matches!(value, Value::Undefined)));
        fields
    }

    fn recycle(&mut self, mut fields: Vec<(&'a str, Value<'a>)>) {
        fields.clear();
        self.field_buffers.push(fields);
    }

    /// Returns a scalar, and whether the caller owns it; otherwise it is valid until the next string is created.
    fn scalar(&mut self, value: Value<'a>) -> Option<(ForeignValue, bool)> {
        let fns = self.fns;
        let (foreign_value, is_owned) = match value {
            Value::Bool(true) => (fns.true_value, false),
            Value::Bool(false) => (fns.false_value, false),
            Value::Number(number) => self.number(number),
            Value::String(text) => self.text(text),
            _ => (fns.null_value, false),
        };
        Some((not_null(foreign_value)?, is_owned))
    }

    /// Returns the template of objects with the keys of this one, usually the last one of the level.
    fn known_template(&mut self, object: Object<'a>, level: usize) -> Option<usize> {
        let (keys_id, len) = (Some(object.keys_id()?), object.len());
        let is_same = |template: &Template| template.keys_id == keys_id && template.keys.len() == len;
        let last_template = &mut self.last_template[level % MAX_RECURSION];
        if !self.templates.get(*last_template).is_some_and(is_same) {
            *last_template = self.templates.iter().position(is_same)?;
        }
        Some(*last_template)
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
        self.templates.push(Template { keys_id: None, keys: Vec::new(), object });
        self.last_template[level % MAX_RECURSION] = index;
        for (key, _) in fields {
            let (key_value, is_owned) = self.text(key);
            let foreign_value = not_null(key_value)?;
            if !is_owned {
                retained(self.fns, foreign_value);
            }
            self.templates[index].keys.push((key.as_ptr(), key.len(), foreign_value));
            // SAFETY: the object retains both itself.
            let set = unsafe { (self.fns.set_field)(object, foreign_value, self.fns.null_value) };
            (set == 0).then_some(())?;
        }
        Some(index)
    }

    /// Returns a string value, and whether the caller owns it; reuses the cached one for a string at the same address,
    /// which is valid until the next string is created.
    fn text(&mut self, text: &'a str) -> (ForeignValue, bool) {
        // SAFETY: the caller provides these functions for this purpose.
        let make = || unsafe { (self.fns.make_text)(text.as_ptr().cast(), text.len() as isize) };
        if text.len() > MAX_CACHED_STRING {
            return (make(), true);
        }
        if self.texts.is_empty() {
            self.texts.resize(1 << self.text_bits, (std::ptr::null(), 0, std::ptr::null_mut()));
        }
        let hash = (text.as_ptr() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let slot = (hash >> (u64::BITS - self.text_bits)) as usize;
        let cached = &mut self.texts[slot];
        if cached.0 != text.as_ptr() || cached.1 != text.len() || cached.2.is_null() {
            let new_value = make();
            if new_value.is_null() {
                return (new_value, false);
            }
            if !cached.2.is_null() {
                // SAFETY: the builder created it, and this struct owns a reference to it.
                unsafe { (self.fns.release)(cached.2) };
            }
            *cached = (text.as_ptr(), text.len(), new_value);
        }
        (cached.2, false)
    }

    /// Returns a number as Python's `json` reads it, an integer if its text has neither point nor exponent, and whether
    /// the caller owns it.
    fn number(&self, number: Number<'a>) -> (ForeignValue, bool) {
        let fns = self.fns;
        if let Some(text) = number.lexeme() {
            let foreign_value = match Digits::parse(text) {
                // SAFETY: the caller provides this function for this purpose.
                Digits::Integer(value) => unsafe { (fns.make_integer)(value) },
                Digits::Long => self.long(text),
                // SAFETY: as above.
                Digits::Real => unsafe { (fns.make_real)(number.value()) },
            };
            return (foreign_value, true);
        }
        let value = number.value();
        if !value.is_finite() {
            return (fns.null_value, false);
        }
        // SAFETY: as above.
        let foreign_value = unsafe {
            match value.fract() == 0.0 {
                true if value.abs() <= Number::MAX_EXACT_INTEGER => (fns.make_integer)(value as i64),
                // As in JavaScript: the shortest digits that identify this number.
                true if value.abs() < 1e21 => self.long(&value.to_string()),
                _ => (fns.make_real)(value),
            }
        };
        (foreign_value, true)
    }

    fn long(&self, digits: &str) -> ForeignValue {
        let mut text = Vec::from(digits);
        text.push(0);
        // SAFETY: the digits end with NUL.
        unsafe { (self.fns.make_long)(text.as_ptr().cast(), std::ptr::null_mut(), 10) }
    }
}

/// Kind of the text of a number.
enum Digits {
    /// Integer of at most 18 digits.
    Integer(i64),
    /// Longer integer.
    Long,
    /// Number with a point or an exponent.
    Real,
}

impl Digits {
    /// Longest integer that is read here.
    const MAX_LEN: usize = 18;

    fn parse(text: &str) -> Digits {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let mut value = 0_i64;
        for digit in digits.bytes() {
            if !digit.is_ascii_digit() {
                return Digits::Real;
            }
            value = value.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
        }
        match digits.len() <= Digits::MAX_LEN {
            true => Digits::Integer(if digits.len() < text.len() { -value } else { value }),
            false => Digits::Long,
        }
    }
}

/// Returns a value unless it is NULL: the builder failed.
fn not_null(foreign_value: ForeignValue) -> Option<ForeignValue> {
    (!foreign_value.is_null()).then_some(foreign_value)
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
