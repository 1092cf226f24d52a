//! Numbers, texts and JSON values as bytes and back; numbers are little-endian.

use std::io::{self, Read, Write};

use serde_json::{Map, Value};

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

    /// The members of a value, as JSON text: it brings back every bit of a number, and is what the database keeps.
    pub fn members(&mut self, members: &Map<String, Value>) -> io::Result<()> {
        self.text(&serde_json::to_string(members)?)
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
        Ok(serde_json::from_str(&self.text()?)?)
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
    fn what_is_cut_short_is_refused() {
        assert!(Reader(&[255, 255, 255, 255, 0][..]).text().is_err());
    }
}
