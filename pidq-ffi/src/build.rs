//! Results as values of another language, made by its own functions without JSON in between.
//!
//! The functions have the shapes of those of CPython, so that its own can be put in. Hot: called once per field of each
//! row. Objects with the same keys are copies of one that has them all, and texts that repeat are made once.

use std::ffi::{c_char, c_int, c_void};
use std::mem::size_of;
use std::sync::Arc;

use pidq_core::{Graph, Number, Object, Value};

use crate::boundary::{quiet, quietly};
use crate::error::Fault;
use crate::graph::GraphHandle;
use crate::handle::{Slot, delete, give, handle, lend, lend_mut};
use crate::limits::read_sized;
use crate::result::ResultHandle;

/// A value of another language.
pub type Thing = *mut c_void;

/// How values of another language are made. A function that gives NULL, or -1 where it gives a number, has failed: then
/// the building ends, and the error stays where that language keeps it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Builder {
    /// `sizeof(pidq_builder_t)`.
    pub size: usize,
    /// Null, true and false. They are lent: `retain` is called for each use.
    pub null_value: Thing,
    /// True.
    pub true_value: Thing,
    /// False.
    pub false_value: Thing,
    /// Makes a text of UTF-8.
    pub make_text: Option<unsafe extern "C" fn(data: *const c_char, len: isize) -> Thing>,
    /// Makes a number with a fraction.
    pub make_real: Option<unsafe extern "C" fn(value: f64) -> Thing>,
    /// Makes a whole number.
    pub make_integer: Option<unsafe extern "C" fn(value: i64) -> Thing>,
    /// Makes a whole number of its digits, which a NUL byte ends. `end` is NULL, `base` 10.
    pub make_long: Option<unsafe extern "C" fn(digits: *const c_char, end: *mut *mut c_char, base: c_int) -> Thing>,
    /// Makes a list with so many places.
    pub make_list: Option<unsafe extern "C" fn(len: isize) -> Thing>,
    /// Fills a place of a list, which takes the item over.
    pub set_item: Option<unsafe extern "C" fn(list: Thing, index: isize, item: Thing) -> c_int>,
    /// Makes an object without keys.
    pub make_object: Option<unsafe extern "C" fn() -> Thing>,
    /// Sets a key of an object, which holds on to both by itself.
    pub set_field: Option<unsafe extern "C" fn(object: Thing, key: Thing, value: Thing) -> c_int>,
    /// Copies an object, not its values.
    pub copy_object: Option<unsafe extern "C" fn(object: Thing) -> Thing>,
    /// Holds on to a value.
    pub retain: Option<unsafe extern "C" fn(value: Thing)>,
    /// Lets a value go.
    pub release: Option<unsafe extern "C" fn(value: Thing)>,
}

/// The functions, all there.
#[derive(Clone, Copy)]
struct Tools {
    null_value: Thing,
    true_value: Thing,
    false_value: Thing,
    make_text: unsafe extern "C" fn(*const c_char, isize) -> Thing,
    make_real: unsafe extern "C" fn(f64) -> Thing,
    make_integer: unsafe extern "C" fn(i64) -> Thing,
    make_long: unsafe extern "C" fn(*const c_char, *mut *mut c_char, c_int) -> Thing,
    make_list: unsafe extern "C" fn(isize) -> Thing,
    set_item: unsafe extern "C" fn(Thing, isize, Thing) -> c_int,
    make_object: unsafe extern "C" fn() -> Thing,
    set_field: unsafe extern "C" fn(Thing, Thing, Thing) -> c_int,
    copy_object: unsafe extern "C" fn(Thing) -> Thing,
    retain: unsafe extern "C" fn(Thing),
    release: unsafe extern "C" fn(Thing),
}

/// Builds the result as a value of another language, which belongs to you. NULL where a function of the builder has failed
/// or an argument is wrong. Languages with a lock (Python) have it held during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_build(result: *const ResultHandle, builder: *const Builder) -> Thing {
    quiet(std::ptr::null_mut(), || {
        // SAFETY: the rules of the header.
        let (answer, tools) = unsafe { (lend(result)?, Tools::read(builder)?) };
        Building::new(tools, None).whole(answer.value()).ok_or_else(|| Fault::misuse("a builder failed".into()))
    })
}

/// Values of another language for the lists and objects of a graph: each is made once, and given again. One thread at a
/// time, the one that holds the language's lock. Delete it before that language ends.
pub struct SharedHandle(Slot<Shared>);

handle!(SharedHandle, Shared, b"shrd", "shared values");

/// By number of the list or object: what was made of it.
pub struct Shared {
    graph: Arc<Graph>,
    tools: Tools,
    made: Vec<Thing>,
}

impl Shared {
    fn clear(&mut self) {
        for thing in std::mem::take(&mut self.made).into_iter().filter(|thing| !thing.is_null()) {
            // SAFETY: each was made by the builder and is held here.
            unsafe { (self.tools.release)(thing) };
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.clear();
    }
}

/// A place for shared values of a graph. It holds on to what it made, up to everything that is in the graph; NULL where an
/// argument is wrong.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_shared_new(graph: *const GraphHandle, builder: *const Builder) -> *mut SharedHandle {
    quiet(std::ptr::null_mut(), || {
        // SAFETY: the rules of the header.
        let (graph, tools) = unsafe { (lend(graph)?.clone(), Tools::read(builder)?) };
        Ok(give(Shared { graph, tools, made: Vec::new() }))
    })
}

/// As `pidq_result_build`, with what `shared` has made before: lists and objects of the document are the same values each
/// time, so nobody may change them. NULL also where the result is of another graph.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_build_shared(result: *const ResultHandle, shared: *mut SharedHandle) -> Thing {
    quiet(std::ptr::null_mut(), || {
        // SAFETY: the rules of the header.
        let (answer, shared) = unsafe { (lend(result)?, lend_mut(shared)?) };
        if !Arc::ptr_eq(answer.graph(), &shared.graph) {
            return Err(Fault::misuse("the result is of another graph".into()));
        }
        let made = Building::new(shared.tools, Some(shared)).whole(answer.value());
        made.ok_or_else(|| Fault::misuse("a builder failed".into()))
    })
}

/// Lets shared values go. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_shared_delete(shared: *mut SharedHandle) {
    // SAFETY: the rules of the header.
    quietly(|| unsafe { delete(shared) });
}

const NO_BUILDER: Builder = Builder {
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

impl Tools {
    /// # Safety
    /// The rules of the header.
    unsafe fn read(builder: *const Builder) -> Result<Tools, Fault> {
        if builder.is_null() {
            return Err(Fault::null("builder"));
        }
        // SAFETY: the caller promises a structure of as many bytes as it says.
        let given: Builder = unsafe { read_sized(builder, size_of::<Builder>(), NO_BUILDER) }?;
        let values = [given.null_value, given.true_value, given.false_value];
        if values.iter().any(|value| value.is_null()) {
            return Err(Fault::null("builder->null_value, true_value or false_value"));
        }
        given.tools().ok_or_else(|| Fault::null("a function of the builder"))
    }
}

impl Builder {
    fn tools(self) -> Option<Tools> {
        Some(Tools {
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

/// So many levels are built by recursion; what is deeper waits in a list.
const LEVELS: usize = 64;
/// Lists of keys that are remembered.
const TEMPLATES: usize = 32;
/// The most keys of a template.
const WIDEST: usize = 64;
/// Places for texts that may come again.
const TEXTS: usize = 1 << 10;
/// Whole numbers up to here are printed with all their digits.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// Longer texts hardly repeat.
const LONGEST: usize = 64;

/// A value that is being built. Everything hangs on the root before it is filled, so that one release lets all go.
struct Building<'a> {
    tools: Tools,
    /// What was made of lists and objects of the document before.
    shared: Option<&'a mut Shared>,
    templates: Vec<Template>,
    /// By level: the template that was used last.
    usual: [usize; LEVELS],
    texts: Vec<(*const u8, usize, Thing)>,
    waiting: Vec<(Thing, Value<'a>)>,
    /// Lists of fields to be used again.
    spare: Vec<Vec<(&'a str, Value<'a>)>>,
}

/// An object with certain keys.
struct Template {
    keys: Vec<(*const u8, usize, Thing)>,
    object: Thing,
}

impl Drop for Building<'_> {
    fn drop(&mut self) {
        let keys = self.templates.iter().flat_map(|template| template.keys.iter().map(|(_, _, key)| *key));
        let texts = self.texts.iter().map(|(_, _, text)| *text).filter(|text| !text.is_null());
        let objects = self.templates.iter().map(|template| template.object);
        for thing in keys.chain(texts).chain(objects) {
            // SAFETY: each was made by the builder and is held here.
            unsafe { (self.tools.release)(thing) };
        }
    }
}

impl<'a> Building<'a> {
    fn new(tools: Tools, shared: Option<&'a mut Shared>) -> Building<'a> {
        Building {
            tools,
            shared,
            templates: Vec::new(),
            usual: [0; LEVELS],
            texts: Vec::new(),
            waiting: Vec::new(),
            spare: Vec::new(),
        }
    }

    fn whole(&mut self, value: Value<'a>) -> Option<Thing> {
        if let Some(known) = self.known(value) {
            return Some(known);
        }
        let root = self.start(value, 0)?;
        let filled = self.fill(root, value, 0).and_then(|()| {
            while let Some((thing, value)) = self.waiting.pop() {
                self.fill(thing, value, 0)?;
            }
            Some(())
        });
        if filled.is_none() {
            // SAFETY: the root was made here and nobody else has it.
            unsafe { (self.tools.release)(root) };
            // What was kept may not be filled.
            self.shared.as_deref_mut().into_iter().for_each(Shared::clear);
        }
        filled.map(|()| root)
    }

    /// What was made of a list or an object of the document before, held once more.
    ///
    /// Hot: all that there is to do for a row that was given before.
    #[inline]
    fn known(&self, value: Value<'a>) -> Option<Thing> {
        let shared = self.shared.as_deref()?;
        let known = *shared.made.get(shared.graph.number_of(value)?)?;
        (!known.is_null()).then(|| held(self.tools, known))
    }

    /// Keeps what was made of an item of a list. What is deeper in it is kept with it.
    fn keep(&mut self, value: Value<'a>, thing: Thing) {
        let Some(shared) = self.shared.as_deref_mut() else { return };
        let Some(number) = shared.graph.number_of(value) else { return };
        if shared.made.len() <= number {
            shared.made.resize(number + 1, std::ptr::null_mut());
        }
        if shared.made[number].is_null() {
            shared.made[number] = held(self.tools, thing);
        }
    }

    /// A value, a list with empty places, or an object without values.
    fn start(&mut self, value: Value<'a>, level: usize) -> Option<Thing> {
        let tools = self.tools;
        // SAFETY: the caller gave these functions and values for this.
        let thing = unsafe {
            match value {
                Value::Undefined | Value::Null => held(tools, tools.null_value),
                Value::Bool(true) => held(tools, tools.true_value),
                Value::Bool(false) => held(tools, tools.false_value),
                Value::Number(number) => self.number(number),
                Value::String(text) => self.text(text),
                Value::Array(list) => (tools.make_list)(list.len() as isize),
                Value::Object(object) => self.object(object, level)?,
            }
        };
        (!thing.is_null()).then_some(thing)
    }

    /// Fills a list or an object, and what is in it.
    fn fill(&mut self, thing: Thing, value: Value<'a>, level: usize) -> Option<()> {
        match value {
            Value::Array(list) => {
                for (index, item) in list.iter().enumerate() {
                    let known = self.known(item);
                    let made = known.map_or_else(|| self.start(item, level + 1), Some)?;
                    // SAFETY: the list has this place, and takes the item over.
                    let set = unsafe { (self.tools.set_item)(thing, index as isize, made) };
                    (set == 0).then_some(())?;
                    if known.is_none() {
                        self.fill_later(made, item, level + 1)?;
                        self.keep(item, made);
                    }
                }
                Some(())
            }
            Value::Object(object) => {
                let mut fields = self.spare.pop().unwrap_or_default();
                fields.extend(object.iter().filter(|(_, value)| !matches!(value, Value::Undefined)));
                let filled = self.fields(thing, &fields, level);
                fields.clear();
                self.spare.push(fields);
                filled
            }
            _ => Some(()),
        }
    }

    fn fill_later(&mut self, thing: Thing, value: Value<'a>, level: usize) -> Option<()> {
        match value {
            Value::Array(_) | Value::Object(_) if level + 1 < LEVELS => self.fill(thing, value, level),
            Value::Array(_) | Value::Object(_) => {
                self.waiting.push((thing, value));
                Some(())
            }
            _ => Some(()),
        }
    }

    fn fields(&mut self, thing: Thing, fields: &[(&'a str, Value<'a>)], level: usize) -> Option<()> {
        let template = self.template(fields, level);
        for (index, (key, value)) in fields.iter().enumerate() {
            let made = self.start(*value, level + 1)?;
            let (key, is_ours) = match template {
                Some(template) => (self.templates[template].keys[index].2, false),
                None => (self.text(key), true),
            };
            // SAFETY: the object holds on to both by itself; what was made for it is let go.
            let set = unsafe {
                let set = if key.is_null() { -1 } else { (self.tools.set_field)(thing, key, made) };
                (self.tools.release)(made);
                if is_ours && !key.is_null() {
                    (self.tools.release)(key);
                }
                set
            };
            (set == 0).then_some(())?;
            self.fill_later(made, *value, level + 1)?;
        }
        Some(())
    }

    /// An object that has its keys already, unless objects are of too many kinds.
    fn object(&mut self, object: Object<'a>, level: usize) -> Option<Thing> {
        let mut fields = self.spare.pop().unwrap_or_default();
        fields.extend(object.iter().filter(|(_, value)| !matches!(value, Value::Undefined)));
        let template = match self.template(&fields, level) {
            None if self.templates.len() < TEMPLATES && fields.len() <= WIDEST => Some(self.learn(&fields, level)?),
            known => known,
        };
        fields.clear();
        self.spare.push(fields);
        // SAFETY: the caller gave these functions for this.
        let thing = unsafe {
            match template {
                Some(template) => (self.tools.copy_object)(self.templates[template].object),
                None => (self.tools.make_object)(),
            }
        };
        (!thing.is_null()).then_some(thing)
    }

    /// The template with exactly these keys: the last one of the level in most cases.
    fn template(&mut self, fields: &[(&'a str, Value<'a>)], level: usize) -> Option<usize> {
        let usual = self.usual[level % LEVELS];
        if self.templates.get(usual).is_some_and(|template| template.fits(fields)) {
            return Some(usual);
        }
        let found = self.templates.iter().position(|template| template.fits(fields))?;
        self.usual[level % LEVELS] = found;
        Some(found)
    }

    /// Makes a template; nothing where the builder fails.
    fn learn(&mut self, fields: &[(&'a str, Value<'a>)], level: usize) -> Option<usize> {
        // SAFETY: the caller gave this function for this.
        let object = unsafe { (self.tools.make_object)() };
        (!object.is_null()).then_some(())?;
        let place = self.templates.len();
        self.templates.push(Template { keys: Vec::new(), object });
        self.usual[level % LEVELS] = place;
        for (key, _) in fields {
            let thing = self.text(key);
            (!thing.is_null()).then_some(())?;
            self.templates[place].keys.push((key.as_ptr(), key.len(), thing));
            // SAFETY: the object holds on to both by itself.
            let set = unsafe { (self.tools.set_field)(object, thing, self.tools.null_value) };
            (set == 0).then_some(())?;
        }
        Some(place)
    }

    /// A text; one that stands in the same place of memory as one before is that one.
    fn text(&mut self, text: &'a str) -> Thing {
        // SAFETY: the caller gave these functions for this.
        let make = || unsafe { (self.tools.make_text)(text.as_ptr().cast(), text.len() as isize) };
        if text.len() > LONGEST {
            return make();
        }
        if self.texts.is_empty() {
            self.texts.resize(TEXTS, (std::ptr::null(), 0, std::ptr::null_mut()));
        }
        let place = (text.as_ptr() as usize).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (usize::BITS - TEXTS.ilog2());
        let known = &mut self.texts[place];
        if known.0 != text.as_ptr() || known.1 != text.len() || known.2.is_null() {
            let made = make();
            if made.is_null() {
                return made;
            }
            if !known.2.is_null() {
                // SAFETY: it was made by the builder and is held here.
                unsafe { (self.tools.release)(known.2) };
            }
            *known = (text.as_ptr(), text.len(), made);
        }
        held(self.tools, known.2)
    }

    /// A number as Python's `json` reads it: whole where its text has neither point nor exponent.
    fn number(&self, number: Number<'a>) -> Thing {
        let value = number.value();
        // SAFETY: the caller gave these functions for this.
        unsafe {
            match number.lexeme() {
                Some(text) if text.contains(['.', 'e', 'E']) => (self.tools.make_real)(value),
                Some(text) => self.long(text),
                None if !value.is_finite() => held(self.tools, self.tools.null_value),
                None if value.fract() == 0.0 && value.abs() <= EXACT => (self.tools.make_integer)(value as i64),
                // As JavaScript prints it: the shortest digits that mean this number.
                None if value.fract() == 0.0 && value.abs() < 1e21 => self.long(&value.to_string()),
                None => (self.tools.make_real)(value),
            }
        }
    }

    fn long(&self, digits: &str) -> Thing {
        let mut text = Vec::from(digits);
        text.push(0);
        // SAFETY: the digits end with NUL.
        unsafe { (self.tools.make_long)(text.as_ptr().cast(), std::ptr::null_mut(), 10) }
    }
}

impl Template {
    fn fits(&self, fields: &[(&str, Value<'_>)]) -> bool {
        let is_same = |(known, field): (&(*const u8, usize, Thing), &(&str, Value<'_>))| {
            known.0 == field.0.as_ptr() && known.1 == field.0.len()
        };
        self.keys.len() == fields.len() && self.keys.iter().zip(fields).all(is_same)
    }
}

/// A value that somebody holds, held once more.
fn held(tools: Tools, thing: Thing) -> Thing {
    // SAFETY: the caller gave this function for this.
    unsafe { (tools.retain)(thing) };
    thing
}
