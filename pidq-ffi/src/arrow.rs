//! Results as columns: the Arrow C data interface, which pandas, Polars, DuckDB and Arrow's own libraries read without
//! copying.
//!
//! A list of objects is a table with a column for each key. A column is truth values, whole numbers, numbers or texts
//! where all its rows are; anything else in it makes it a column of JSON texts. What is missing is null.

use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_void};

use pidq_core::error::Code;
use pidq_core::{Number, Value};

use crate::boundary::{boundary, quiet};
use crate::error::{ErrorHandle, Fault};
use crate::handle::lend;
use crate::result::{Answer, ResultHandle};
use crate::slice::{Text, write_to};

/// What a column is, as Arrow defines it.
#[derive(Debug)]
#[repr(C)]
pub struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

/// What is in a column, as Arrow defines it.
#[derive(Debug)]
#[repr(C)]
pub struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

/// Tables one after the other, as Arrow defines it. Ours has one.
#[derive(Debug)]
#[repr(C)]
pub struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

/// A field may be null.
const NULLABLE: i64 = 2;
/// What a stream returns for a call that makes no sense; errno's EINVAL.
const INVALID: c_int = 22;

/// Gives a result as columns: a list of objects has a column for each key, an object is one row, anything else a column
/// `value`. `*out` is a stream of one table; call its `release` when done. The columns stay after the result is deleted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_arrow(
    result: *const ResultHandle,
    out: *mut ArrowArrayStream,
) -> *mut ErrorHandle {
    boundary(|| {
        // SAFETY: the rules of the header.
        let answer = unsafe { lend(result) }?;
        if out.is_null() {
            return Err(Fault::null("out"));
        }
        let table = Table::of(answer)?;
        // SAFETY: the rules of the header.
        unsafe { write_to(out, stream(table)) }
    })
}

/// Columns of the same length.
struct Table {
    columns: Vec<Column>,
    rows: usize,
}

/// The values of a key, row by row.
struct Column {
    name: String,
    data: Data,
    /// Whether a row has a value. None where all have one.
    valid: Option<Vec<bool>>,
    len: usize,
    nulls: usize,
}

enum Data {
    /// Only nulls so far.
    Nothing,
    Bools(Vec<bool>),
    Integers(Vec<i64>),
    Reals(Vec<f64>),
    Texts(Texts),
}

/// Texts one after the other, and where each begins; then the end of the last.
struct Texts {
    offsets: Vec<i32>,
    bytes: Vec<u8>,
    /// What does not fit is left out, and told at the end.
    limit: usize,
    is_full: bool,
}

impl Table {
    fn of(answer: &Answer) -> Result<Table, Fault> {
        let value = answer.value();
        let rows: Vec<Value<'_>> = value.as_array().map_or_else(|| vec![value], |list| list.iter().collect());
        let is_table = !rows.is_empty() && rows.iter().all(|row| matches!(row, Value::Object(_)));
        let columns = match is_table {
            true => fields(&rows, answer)?,
            false if rows.is_empty() => Vec::new(),
            false => vec![values(&rows, answer)?],
        };
        Ok(Table { columns, rows: rows.len() })
    }
}

/// The column of what are no objects.
fn values(rows: &[Value<'_>], answer: &Answer) -> Result<Column, Fault> {
    let mut column = Column::new("value");
    let is_of_one_kind = rows.iter().enumerate().all(|(row, value)| column.push(row, *value, answer.output));
    if !is_of_one_kind {
        column = Column::new("value");
        rows.iter().enumerate().try_for_each(|(row, value)| column.push_json(row, *value, answer))?;
    }
    column.finish(rows.len())
}

/// The columns of objects. Hot: objects of one kind have their keys in the same places of memory, so a column is found
/// by comparing pointers.
fn fields<'a>(rows: &[Value<'a>], answer: &Answer) -> Result<Vec<Column>, Fault> {
    let mut columns: Vec<Column> = Vec::new();
    let mut places: HashMap<&'a str, usize> = HashMap::new();
    // By slot: the key that was there in the row before, and its column.
    let mut guesses: Vec<(&'a str, usize)> = Vec::new();
    let mut mixed: Vec<bool> = Vec::new();
    for (row, value) in rows.iter().enumerate() {
        let Value::Object(object) = value else { continue };
        for (slot, (key, value)) in object.iter().enumerate() {
            let place = match guesses.get(slot) {
                Some((known, place)) if std::ptr::eq(*known, key) => *place,
                _ => {
                    let place = *places.entry(key).or_insert(columns.len());
                    if place == columns.len() {
                        columns.push(Column::new(key));
                        mixed.push(false);
                    }
                    guesses.resize(guesses.len().max(slot + 1), ("", 0));
                    guesses[slot] = (key, place);
                    place
                }
            };
            mixed[place] = mixed[place] || !columns[place].push(row, value, answer.output);
        }
    }
    let columns = columns.into_iter().zip(mixed);
    let finished = columns.map(|(column, is_mixed)| match is_mixed {
        true => json_column(column.name, rows, answer),
        false => column.finish(rows.len()),
    });
    finished.collect()
}

/// A column whose values are of several kinds.
fn json_column(key: String, rows: &[Value<'_>], answer: &Answer) -> Result<Column, Fault> {
    let mut column = Column::new(&key);
    for (row, value) in rows.iter().enumerate() {
        let value = value.as_object().and_then(|object| object.get(&key)).unwrap_or(Value::Null);
        column.push_json(row, value, answer)?;
    }
    column.finish(rows.len())
}

impl Column {
    fn new(name: &str) -> Column {
        Column { name: name.into(), data: Data::Nothing, valid: None, len: 0, nulls: 0 }
    }

    /// Adds the value of a row; false where the values are of several kinds.
    #[inline]
    fn push(&mut self, row: usize, value: Value<'_>, limit: usize) -> bool {
        if value.is_null() {
            return true;
        }
        if self.len < row {
            self.pad(row);
        }
        if matches!(self.data, Data::Nothing) {
            self.data = Data::begin(value, self.len, limit);
        }
        let fits = self.data.push(value);
        if fits {
            self.has_value();
        }
        fits
    }

    fn push_json(&mut self, row: usize, value: Value<'_>, answer: &Answer) -> Result<(), Fault> {
        if value.is_null() {
            return Ok(());
        }
        self.pad(row);
        if matches!(self.data, Data::Nothing) {
            self.data = Data::Texts(Texts::new(self.len, answer.output));
        }
        let Data::Texts(texts) = &mut self.data else { return Ok(()) };
        texts.push_json(value).map_err(|error| answer.fault(&error))?;
        self.has_value();
        Ok(())
    }

    fn has_value(&mut self) {
        if let Some(valid) = &mut self.valid {
            valid.push(true);
        }
        self.len += 1;
    }

    /// Rows without a value, up to a row.
    fn pad(&mut self, row: usize) {
        let (len, missing) = (self.len, row.saturating_sub(self.len));
        if missing > 0 {
            self.valid.get_or_insert_with(|| vec![true; len]).resize(row, false);
            self.data.pad(row);
            self.nulls += missing;
            self.len = row;
        }
    }

    fn finish(mut self, rows: usize) -> Result<Column, Fault> {
        self.pad(rows);
        match &self.data {
            Data::Texts(texts) if texts.is_full => {
                let message = format!("The column `{}` is larger than the output may be", self.name);
                Err(pidq_core::Error::new(Code::OutputTooLarge, message).into())
            }
            _ => Ok(self),
        }
    }
}

impl Data {
    /// The kind of the first value is the kind of the column. Lists and objects begin none.
    fn begin(value: Value<'_>, before: usize, limit: usize) -> Data {
        match value {
            Value::Bool(_) => Data::Bools(vec![false; before]),
            Value::Number(number) if integer(number).is_some() => Data::Integers(vec![0; before]),
            Value::Number(_) => Data::Reals(vec![0.0; before]),
            Value::String(_) => Data::Texts(Texts::new(before, limit)),
            _ => Data::Nothing,
        }
    }

    #[inline]
    fn push(&mut self, value: Value<'_>) -> bool {
        match (&mut *self, value) {
            (Data::Texts(texts), Value::String(text)) => texts.push(text),
            (Data::Reals(values), Value::Number(number)) => values.push(number.value()),
            (Data::Bools(values), Value::Bool(value)) => values.push(value),
            (Data::Integers(values), Value::Number(number)) => match integer(number) {
                Some(integer) => values.push(integer),
                None => {
                    let reals = values.iter().map(|value| *value as f64).chain([number.value()]);
                    *self = Data::Reals(reals.collect());
                }
            },
            _ => return false,
        }
        true
    }

    fn pad(&mut self, rows: usize) {
        match self {
            Data::Nothing => {}
            Data::Bools(values) => values.resize(rows, false),
            Data::Integers(values) => values.resize(rows, 0),
            Data::Reals(values) => values.resize(rows, 0.0),
            Data::Texts(texts) => texts.offsets.resize(rows + 1, texts.bytes.len() as i32),
        }
    }

    /// The letter that Arrow has for it.
    fn format(&self) -> &'static str {
        match self {
            Data::Nothing => "n",
            Data::Bools(_) => "b",
            Data::Integers(_) => "l",
            Data::Reals(_) => "g",
            Data::Texts(_) => "u",
        }
    }
}

impl Texts {
    fn new(before: usize, limit: usize) -> Texts {
        Texts { offsets: vec![0; before + 1], bytes: Vec::new(), limit: limit.min(i32::MAX as usize), is_full: false }
    }

    #[inline]
    fn push(&mut self, text: &str) {
        match self.bytes.len() + text.len() > self.limit {
            true => self.is_full = true,
            false => self.bytes.extend_from_slice(text.as_bytes()),
        }
        self.offsets.push(self.bytes.len() as i32);
    }

    fn push_json(&mut self, value: Value<'_>) -> pidq_core::Result<()> {
        let bytes = &mut self.bytes;
        value.write_json(self.limit - bytes.len(), &mut |piece| {
            bytes.extend_from_slice(piece.as_bytes());
            Ok(())
        })?;
        self.offsets.push(self.bytes.len() as i32);
        Ok(())
    }
}

/// The whole number that a number is: one without point and exponent in its text.
#[inline]
fn integer(number: Number<'_>) -> Option<i64> {
    /// Numbers up to here are whole as doubles, too.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let value = number.value();
    match number.lexeme() {
        Some(text) => text.parse().ok(),
        None => (value.fract() == 0.0 && value.abs() <= EXACT).then_some(value as i64),
    }
}

/// What an array of Arrow holds on to.
struct Held {
    _buffers: Vec<Vec<u8>>,
    _numbers: Option<Data>,
    pointers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
}

/// Truth values, eight a byte.
fn bits(values: &[bool]) -> Vec<u8> {
    let byte = |chunk: &[bool]| chunk.iter().enumerate().fold(0, |byte, (at, value)| byte | u8::from(*value) << at);
    values.chunks(8).map(byte).collect()
}

/// A column as an array. Numbers and texts stay where they are.
fn column_array(column: Column) -> ArrowArray {
    let Column { data, valid, len, nulls, .. } = column;
    let mut buffers = Vec::new();
    let mut pointers: Vec<*const c_void> = Vec::new();
    let pointer = |bytes: &Vec<u8>| bytes.as_ptr().cast::<c_void>();
    if !matches!(data, Data::Nothing) {
        let valid = valid.filter(|_| nulls > 0).map(|valid| bits(&valid));
        pointers.push(valid.as_ref().map_or(std::ptr::null(), pointer));
        buffers.extend(valid);
    }
    match &data {
        Data::Nothing => {}
        Data::Bools(values) => {
            let packed = bits(values);
            pointers.push(pointer(&packed));
            buffers.push(packed);
        }
        Data::Integers(values) => pointers.push(values.as_ptr().cast()),
        Data::Reals(values) => pointers.push(values.as_ptr().cast()),
        Data::Texts(texts) => pointers.extend([texts.offsets.as_ptr().cast(), pointer(&texts.bytes)]),
    }
    let held = Held { _buffers: buffers, _numbers: Some(data), pointers, children: Vec::new() };
    array(len, nulls, held)
}

fn array(len: usize, nulls: usize, held: Held) -> ArrowArray {
    let mut held = Box::new(held);
    ArrowArray {
        length: len as i64,
        null_count: nulls as i64,
        offset: 0,
        n_buffers: held.pointers.len() as i64,
        n_children: held.children.len() as i64,
        buffers: held.pointers.as_mut_ptr(),
        children: held.children.as_mut_ptr(),
        dictionary: std::ptr::null_mut(),
        release: Some(release_array),
        private_data: Box::into_raw(held).cast(),
    }
}

/// Lets an array go, and those of its columns that nobody has taken out.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    quiet((), || {
        // SAFETY: Arrow calls this once, with an array of ours.
        let (array, held) = unsafe { (&mut *array, Box::from_raw((*array).private_data.cast::<Held>())) };
        for child in &held.children {
            // SAFETY: each was boxed in `table_array`; its owner took it out if there is no release.
            let mut child = unsafe { Box::from_raw(*child) };
            if let Some(release) = child.release {
                // SAFETY: it is ours, and was not released yet.
                unsafe { release(&raw mut *child) };
            }
        }
        array.release = None;
        Ok(())
    });
}

/// A table as an array of structures.
fn table_array(table: Table) -> ArrowArray {
    let children = table.columns.into_iter().map(|column| Box::into_raw(Box::new(column_array(column)))).collect();
    let held = Held { _buffers: Vec::new(), _numbers: None, pointers: vec![std::ptr::null()], children };
    array(table.rows, 0, held)
}

/// What a schema of Arrow holds on to.
struct Named {
    format: Text,
    name: Text,
    children: Vec<*mut ArrowSchema>,
}

fn schema(format: &str, name: &str, children: Vec<*mut ArrowSchema>) -> ArrowSchema {
    let mut named = Box::new(Named { format: Text::new(format), name: Text::new(name), children });
    ArrowSchema {
        format: named.format.slice().data,
        name: named.name.slice().data,
        metadata: std::ptr::null(),
        flags: if format == "+s" { 0 } else { NULLABLE },
        n_children: named.children.len() as i64,
        children: named.children.as_mut_ptr(),
        dictionary: std::ptr::null_mut(),
        release: Some(release_schema),
        private_data: Box::into_raw(named).cast(),
    }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    quiet((), || {
        // SAFETY: Arrow calls this once, with a schema of ours.
        let (schema, named) = unsafe { (&mut *schema, Box::from_raw((*schema).private_data.cast::<Named>())) };
        for child in &named.children {
            // SAFETY: each was boxed in `get_schema`; its owner took it out if there is no release.
            let mut child = unsafe { Box::from_raw(*child) };
            if let Some(release) = child.release {
                // SAFETY: it is ours, and was not released yet.
                unsafe { release(&raw mut *child) };
            }
        }
        schema.release = None;
        Ok(())
    });
}

/// What a stream holds on to.
struct Source {
    fields: Vec<(String, &'static str)>,
    table: Option<Table>,
}

fn stream(table: Table) -> ArrowArrayStream {
    let fields = table.columns.iter().map(|column| (column.name.clone(), column.data.format())).collect();
    ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private_data: Box::into_raw(Box::new(Source { fields, table: Some(table) })).cast(),
    }
}

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    quiet(INVALID, || {
        // SAFETY: Arrow calls this with a stream of ours that was not released.
        let source = unsafe { &*(*stream).private_data.cast::<Source>() };
        let field = |(name, format): &(String, &'static str)| Box::into_raw(Box::new(schema(format, name, Vec::new())));
        // SAFETY: Arrow gives a place for the schema.
        unsafe { write_to(out, schema("+s", "", source.fields.iter().map(field).collect())) }?;
        Ok(0)
    })
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    quiet(INVALID, || {
        // SAFETY: Arrow calls this with a stream of ours that was not released, one thread at a time.
        let source = unsafe { &mut *(*stream).private_data.cast::<Source>() };
        let next = source.table.take().map_or_else(ArrowArray::end, table_array);
        // SAFETY: Arrow gives a place for the array.
        unsafe { write_to(out, next) }?;
        Ok(0)
    })
}

impl ArrowArray {
    /// What comes after the last table.
    fn end() -> ArrowArray {
        ArrowArray {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: std::ptr::null_mut(),
            children: std::ptr::null_mut(),
            dictionary: std::ptr::null_mut(),
            release: None,
            private_data: std::ptr::null_mut(),
        }
    }
}

unsafe extern "C" fn get_last_error(_: *mut ArrowArrayStream) -> *const c_char {
    c"the place for the answer is NULL".as_ptr()
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    quiet((), || {
        // SAFETY: Arrow calls this once, with a stream of ours.
        unsafe {
            drop(Box::from_raw((*stream).private_data.cast::<Source>()));
            (*stream).release = None;
        }
        Ok(())
    });
}
