//! Binary codec for numbers, strings and JSON objects; numbers are little-endian.

use std::io::{self, Read, Write};

use serde_json::{Map, Value};

/// Encoder to an output stream.
pub struct Writer<W>(pub W);

impl<W: Write> Writer<W> {
    /// Writes bytes of a length that the reader knows.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    /// Writes a length or an index.
    pub fn count(&mut self, count: usize) -> io::Result<()> {
        let count = u32::try_from(count).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.bytes(&count.to_le_bytes())
    }

    /// Writes a signed 64-bit number.
    pub fn long(&mut self, long: i64) -> io::Result<()> {
        self.bytes(&long.to_le_bytes())
    }

    /// Writes a string with its length.
    pub fn string(&mut self, text: &str) -> io::Result<()> {
        self.count(text.len())?;
        self.bytes(text.as_bytes())
    }

    /// Writes an optional value.
    pub fn option<T>(
        &mut self,
        value: Option<T>,
        write: impl FnOnce(&mut Self, T) -> io::Result<()>,
    ) -> io::Result<()> {
        self.bytes(&[u8::from(value.is_some())])?;
        value.map_or(Ok(()), |value| write(self, value))
    }

    /// Writes a JSON object as text, which preserves every bit of a number, as in the database.
    pub fn object(&mut self, object: &Map<String, Value>) -> io::Result<()> {
        self.string(&serde_json::to_string(object)?)
    }
}

/// Decoder for the output of a [`Writer`]. Allocates no more than the input contains, whatever lengths it declares.
pub struct Reader<R>(pub R);

impl<R: Read> Reader<R> {
    /// Reads a number of bytes.
    pub fn bytes(&mut self, length: usize) -> io::Result<Vec<u8>> {
        // The declared length is untrusted: limit the initial allocation.
        let mut bytes = Vec::with_capacity(length.min(1 << 20));
        let read = (&mut self.0).take(length as u64).read_to_end(&mut bytes)?;
        if read == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.0.read_exact(&mut bytes).map(|()| bytes)
    }

    /// Reads a length or an index.
    pub fn count(&mut self) -> io::Result<usize> {
        self.array().map(|bytes| u32::from_le_bytes(bytes) as usize)
    }

    /// Reads a signed 64-bit number.
    pub fn long(&mut self) -> io::Result<i64> {
        self.array().map(i64::from_le_bytes)
    }

    /// Reads a string.
    pub fn string(&mut self) -> io::Result<String> {
        let length = self.count()?;
        String::from_utf8(self.bytes(length)?).map_err(|_| invalid_data())
    }

    /// Reads an optional value.
    pub fn option<T>(&mut self, read: impl FnOnce(&mut Self) -> io::Result<T>) -> io::Result<Option<T>> {
        match self.array()? {
            [0] => Ok(None),
            [1] => read(self).map(Some),
            _ => Err(invalid_data()),
        }
    }

    /// Reads a JSON object.
    pub fn object(&mut self) -> io::Result<Map<String, Value>> {
        Ok(serde_json::from_str(&self.string()?)?)
    }

    /// Checks that the input is at its end.
    pub fn end(&mut self) -> io::Result<()> {
        if self.0.read(&mut [0])? == 0 { Ok(()) } else { Err(invalid_data()) }
    }
}

/// Returns the error for invalid data.
pub fn invalid_data() -> io::Error {
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
                    .prop_map(|object| Value::Object(object.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_value_round_trips(value in values()) {
            let object: Map<String, Value> = [("it".to_owned(), value)].into_iter().collect();
            let mut writer = Writer(Vec::new());
            writer.object(&object).expect("writing to memory succeeds");
            let mut reader = Reader(&writer.0[..]);
            prop_assert_eq!(reader.object().expect("the object was written"), object);
            reader.end().expect("nothing follows");
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = Reader(&bytes[..]).object();
        }
    }

    #[test]
    fn truncated_input_is_an_error() {
        assert!(Reader(&[255, 255, 255, 255, 0][..]).string().is_err());
    }
}
