//! Numbers, texts and JSON values as bytes and back, little-endian. Every bit of a number comes back.

use std::io::{self, Read, Write};

use serde_json::{Map, Number, Value};

/// How deep values may be; those that are read from JSON text are never as deep.
const DEPTH: usize = 256;

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const SIGNED: u8 = 3;
const UNSIGNED: u8 = 4;
const FLOAT: u8 = 5;
const TEXT: u8 = 6;
const ARRAY: u8 = 7;
const OBJECT: u8 = 8;

/// Writes.
pub(crate) struct Writer<W>(pub W);

impl<W: Write> Writer<W> {
    /// Bytes whose number the reader knows.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    /// A length, or a number among so many.
    pub fn count(&mut self, count: usize) -> io::Result<()> {
        let count = u32::try_from(count).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.bytes(&count.to_le_bytes())
    }

    pub fn long(&mut self, long: i64) -> io::Result<()> {
        self.bytes(&long.to_le_bytes())
    }

    pub fn text(&mut self, text: &str) -> io::Result<()> {
        self.count(text.len())?;
        self.bytes(text.as_bytes())
    }

    /// What may be missing.
    pub fn maybe<T>(&mut self, what: Option<T>, write: impl FnOnce(&mut Self, T) -> io::Result<()>) -> io::Result<()> {
        self.bytes(&[u8::from(what.is_some())])?;
        what.map_or(Ok(()), |what| write(self, what))
    }

    /// The members of a value.
    pub fn members(&mut self, members: &Map<String, Value>) -> io::Result<()> {
        self.count(members.len())?;
        members.iter().try_for_each(|(name, value)| self.text(name).and_then(|()| self.value(value)))
    }

    fn value(&mut self, value: &Value) -> io::Result<()> {
        match value {
            Value::Null => self.bytes(&[NULL]),
            Value::Bool(false) => self.bytes(&[FALSE]),
            Value::Bool(true) => self.bytes(&[TRUE]),
            Value::Number(number) => self.number(number),
            Value::String(text) => self.bytes(&[TEXT]).and_then(|()| self.text(text)),
            Value::Array(items) => {
                self.bytes(&[ARRAY])?;
                self.count(items.len())?;
                items.iter().try_for_each(|item| self.value(item))
            }
            Value::Object(members) => self.bytes(&[OBJECT]).and_then(|()| self.members(members)),
        }
    }

    fn number(&mut self, number: &Number) -> io::Result<()> {
        let (kind, bits) = match (number.as_i64(), number.as_u64()) {
            (Some(signed), _) => (SIGNED, signed.to_le_bytes()),
            (None, Some(unsigned)) => (UNSIGNED, unsigned.to_le_bytes()),
            (None, None) => (FLOAT, number.as_f64().unwrap_or(f64::NAN).to_le_bytes()),
        };
        self.bytes(&[kind])?;
        self.bytes(&bits)
    }
}

/// Reads what a [`Writer`] wrote. Whatever the bytes are, no more is kept of them than there is.
pub(crate) struct Reader<R>(pub R);

impl<R: Read> Reader<R> {
    /// So many bytes.
    pub fn bytes(&mut self, length: usize) -> io::Result<Vec<u8>> {
        // Not what a broken file says is made room for, but what it has.
        let mut bytes = Vec::with_capacity(length.min(1 << 20));
        let read = (&mut self.0).take(length as u64).read_to_end(&mut bytes)?;
        if read == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.0.read_exact(&mut bytes).map(|()| bytes)
    }

    pub fn count(&mut self) -> io::Result<usize> {
        self.array().map(|bytes| u32::from_le_bytes(bytes) as usize)
    }

    pub fn long(&mut self) -> io::Result<i64> {
        self.array().map(i64::from_le_bytes)
    }

    pub fn text(&mut self) -> io::Result<String> {
        let length = self.count()?;
        String::from_utf8(self.bytes(length)?).map_err(|_| wrong())
    }

    pub fn maybe<T>(&mut self, read: impl FnOnce(&mut Self) -> io::Result<T>) -> io::Result<Option<T>> {
        match self.array()? {
            [0] => Ok(None),
            [1] => read(self).map(Some),
            _ => Err(wrong()),
        }
    }

    pub fn members(&mut self) -> io::Result<Map<String, Value>> {
        self.members_at(DEPTH)
    }

    fn members_at(&mut self, depth: usize) -> io::Result<Map<String, Value>> {
        let depth = depth.checked_sub(1).ok_or_else(wrong)?;
        (0..self.count()?).map(|_| Ok((self.text()?, self.value(depth)?))).collect()
    }

    fn value(&mut self, depth: usize) -> io::Result<Value> {
        let [kind] = self.array()?;
        Ok(match kind {
            NULL => Value::Null,
            FALSE => Value::Bool(false),
            TRUE => Value::Bool(true),
            SIGNED => i64::from_le_bytes(self.array()?).into(),
            UNSIGNED => u64::from_le_bytes(self.array()?).into(),
            FLOAT => Number::from_f64(f64::from_le_bytes(self.array()?)).ok_or_else(wrong)?.into(),
            TEXT => Value::String(self.text()?),
            ARRAY => {
                let depth = depth.checked_sub(1).ok_or_else(wrong)?;
                (0..self.count()?).map(|_| self.value(depth)).collect::<io::Result<_>>()?
            }
            OBJECT => Value::Object(self.members_at(depth)?),
            _ => return Err(wrong()),
        })
    }

    /// Nothing is left.
    pub fn end(&mut self) -> io::Result<()> {
        if self.0.read(&mut [0])? == 0 { Ok(()) } else { Err(wrong()) }
    }
}

/// Bytes that no writer wrote.
pub(crate) fn wrong() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn values() -> impl Strategy<Value = Value> {
        let leaves = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        leaves.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(".{0,4}", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_value_comes_back(value in values()) {
            let members: Map<String, Value> = [("it".to_owned(), value)].into_iter().collect();
            let mut written = Writer(Vec::new());
            written.members(&members).expect("memory takes it");
            let mut reader = Reader(&written.0[..]);
            prop_assert_eq!(reader.members().expect("it was written"), members);
            reader.end().expect("nothing more was written");
        }

        #[test]
        fn other_bytes_are_refused_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = Reader(&bytes[..]).members();
        }
    }

    #[test]
    fn what_is_too_deep_or_cut_short_is_refused() {
        let mut deep = json!(1);
        (0..DEPTH).for_each(|_| deep = json!([deep]));
        let members: Map<String, Value> = [("it".to_owned(), deep)].into_iter().collect();
        let mut written = Writer(Vec::new());
        written.members(&members).expect("memory takes it");
        assert!(Reader(&written.0[..]).members().is_err());
        assert!(Reader(&[255, 255, 255, 255, 0][..]).text().is_err());
    }
}
