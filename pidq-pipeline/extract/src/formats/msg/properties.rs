//! Properties of the objects in an Outlook message (MS-OXMSG): fixed-size values in one stream, the others in a stream each.

use std::collections::{BTreeMap, HashMap};

use encoding_rs::{Encoding, UTF_16LE};

use crate::compound_file::{CompoundFile, Entry};
use crate::formats::code_pages;
use crate::{ExtractError, Options};

/// Stream of the fixed-size values of an object.
pub const PROPERTY_STREAM: &str = "__properties_version1.0";
/// Prefix of the names of the other values; their identifier and type follow in hexadecimal digits.
const VALUE_PREFIX: &str = "__substg1.0_";
/// Size of an entry of the property stream: type, identifier, flags, value.
const ENTRY_SIZE: usize = 16;

/// Types of values.
const STRING: u16 = 0x001E;
const UNICODE: u16 = 0x001F;
const TIME: u16 = 0x0040;
const BINARY: u16 = 0x0102;
const OBJECT: u16 = 0x000D;

/// Objects that are still allowed to be read. Counts the bytes that are read, because streams of a malformed file may share
/// their content.
pub struct Budget {
    bytes: u64,
    objects: usize,
    max_objects: usize,
}

impl Budget {
    /// Creates a budget for a message of some size.
    pub fn new(size: usize, options: &Options) -> Budget {
        Budget { bytes: size as u64, objects: options.max_entries, max_objects: options.max_entries }
    }

    fn charge_object(&mut self) -> Result<(), ExtractError> {
        let error = || {
            let limit = self.max_objects;
            ExtractError::too_large(format!("the message has more than {limit} recipients and attachments"))
        };
        self.objects = self.objects.checked_sub(1).ok_or_else(error)?;
        Ok(())
    }

    fn charge_bytes(&mut self, size: u64) -> Result<(), ExtractError> {
        let error = || ExtractError::corrupt("the message is damaged: its streams are larger than the file");
        self.bytes = self.bytes.checked_sub(size).ok_or_else(error)?;
        Ok(())
    }
}

/// Kind of an object, which determines the size of the header of its property stream.
#[derive(Clone, Copy)]
pub enum ObjectKind {
    Message,
    EmbeddedMessage,
    /// A recipient or an attachment.
    Part,
}

impl ObjectKind {
    /// Returns the size of the header of a property stream of some size.
    fn header_size(self, stream_size: usize) -> usize {
        match self {
            ObjectKind::Message => 32,
            // Some programs write the header of a message at the top level. The entries fill the rest of the stream.
            ObjectKind::EmbeddedMessage if stream_size.is_multiple_of(ENTRY_SIZE) => 32,
            ObjectKind::EmbeddedMessage => 24,
            ObjectKind::Part => 8,
        }
    }
}

/// The properties of a message, a recipient or an attachment.
pub struct Object<'f> {
    file: &'f CompoundFile<'f>,
    /// Values of the property stream by type and identifier.
    fixed: HashMap<(u16, u16), [u8; 8]>,
    entries: BTreeMap<&'f str, &'f Entry>,
}

impl<'f> Object<'f> {
    /// Reads the properties of the object in a storage.
    pub fn open(
        file: &'f CompoundFile<'f>,
        storage: &Entry,
        kind: ObjectKind,
        budget: &mut Budget,
    ) -> Result<Self, ExtractError> {
        budget.charge_object()?;
        let entries = file.children(storage).map_err(|_| damaged())?;
        let entries = entries.into_iter().map(|entry| (entry.name.as_str(), entry)).collect();
        let mut object = Object { file, fixed: HashMap::new(), entries };
        let values = object.stream(PROPERTY_STREAM, budget)?.ok_or_else(damaged)?;
        let (values, _) = values.get(kind.header_size(values.len())..).ok_or_else(damaged)?.as_chunks::<ENTRY_SIZE>();
        for [kind_low, kind_high, id_low, id_high, _, _, _, _, value @ ..] in values {
            let key = (u16::from_le_bytes([*kind_low, *kind_high]), u16::from_le_bytes([*id_low, *id_high]));
            object.fixed.insert(key, *value);
        }
        Ok(object)
    }

    /// Returns a text; invalid characters are replaced by U+FFFD. Texts of old messages are in a code page.
    pub fn text(
        &self,
        id: u16,
        code_page: &'static Encoding,
        budget: &mut Budget,
    ) -> Result<Option<String>, ExtractError> {
        for (kind, encoding) in [(UNICODE, UTF_16LE), (STRING, code_page)] {
            if let Some(bytes) = self.stream(&value_name(id, kind), budget)? {
                let text = encoding.decode_without_bom_handling(&bytes).0;
                return Ok(Some(text.trim_end_matches('\0').to_owned()));
            }
        }
        Ok(None)
    }

    /// Returns a binary value.
    pub fn binary(&self, id: u16, budget: &mut Budget) -> Result<Option<Vec<u8>>, ExtractError> {
        self.stream(&value_name(id, BINARY), budget)
    }

    /// Returns the size of a binary value without reading it.
    pub fn binary_size(&self, id: u16) -> Option<u64> {
        self.entries.get(value_name(id, BINARY).as_str()).filter(|entry| entry.is_stream()).map(|entry| entry.size)
    }

    /// Returns the storages of the parts with a prefix, in their order.
    pub fn parts(&self, prefix: &str) -> Vec<&'f Entry> {
        let storages = self.entries.iter().filter(|(name, entry)| name.starts_with(prefix) && entry.is_storage());
        storages.map(|(_, entry)| *entry).collect()
    }

    /// Returns the storage of a message that is the value of a property, and not an object of another program.
    pub fn message(&self, id: u16) -> Option<&'f Entry> {
        let storage = *self.entries.get(value_name(id, OBJECT).as_str()).filter(|entry| entry.is_storage())?;
        let entries = self.file.children(storage).ok()?;
        entries.iter().any(|entry| entry.name == PROPERTY_STREAM).then_some(storage)
    }

    /// Returns whether the value of a property is a storage.
    pub fn has_storage(&self, id: u16) -> bool {
        self.entries.get(value_name(id, OBJECT).as_str()).is_some_and(|entry| entry.is_storage())
    }

    fn stream(&self, name: &str, budget: &mut Budget) -> Result<Option<Vec<u8>>, ExtractError> {
        let Some(entry) = self.entries.get(name).filter(|entry| entry.is_stream()) else {
            return Ok(None);
        };
        budget.charge_bytes(entry.size)?;
        self.file.read(entry).map(Some).map_err(|_| damaged())
    }

    pub fn integer(&self, id: u16) -> Option<i32> {
        const INTEGER: u16 = 0x0003;
        self.fixed.get(&(INTEGER, id)).map(|[a, b, c, d, ..]| i32::from_le_bytes([*a, *b, *c, *d]))
    }

    /// Returns whether a flag is set.
    pub fn flag(&self, id: u16) -> bool {
        const BOOLEAN: u16 = 0x000B;
        self.fixed.get(&(BOOLEAN, id)).is_some_and(|value| value[0] != 0)
    }

    /// Returns a time in seconds since 1970. It is stored in units of 100 ns since 1601.
    pub fn unix_seconds(&self, id: u16) -> Option<i64> {
        const UNITS: i64 = 10_000_000;
        const SECONDS_FROM_1601_TO_1970: i64 = 11_644_473_600;
        let units = i64::from_le_bytes(*self.fixed.get(&(TIME, id))?);
        (units > 0).then_some(units / UNITS - SECONDS_FROM_1601_TO_1970)
    }

    /// Returns the encoding of a code page property.
    pub fn code_page(&self, id: u16) -> Option<&'static Encoding> {
        self.integer(id).and_then(code_pages::encoding)
    }
}

fn value_name(id: u16, kind: u16) -> String {
    format!("{VALUE_PREFIX}{id:04X}{kind:04X}")
}

pub fn damaged() -> ExtractError {
    ExtractError::corrupt("the message is damaged or truncated")
}
