//! Stream of records: each is a length (four bytes, little-endian) and a value in the postcard format.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

/// Writer of records.
pub struct Writer<W>(pub W);

impl<W: Write> Writer<W> {
    /// Writes a record.
    ///
    /// # Errors
    /// Returns the errors of the output.
    pub fn record(&mut self, record: &impl Serialize) -> io::Result<()> {
        let bytes = postcard::to_stdvec(record).map_err(io::Error::other)?;
        let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.0.write_all(&length.to_le_bytes())?;
        self.0.write_all(&bytes)
    }
}

/// Reader of the output of a [`Writer`]. Allocates no more than the input contains, whatever lengths it declares.
pub struct Reader<R> {
    input: R,
    /// Bytes of the current record.
    bytes: Vec<u8>,
}

impl<R: Read> Reader<R> {
    /// Creates a reader.
    pub fn new(input: R) -> Reader<R> {
        Reader { input, bytes: Vec::new() }
    }

    /// Reads a record, which may borrow from the reader.
    ///
    /// # Errors
    /// Fails if the input ends early, or contains no record of this type.
    pub fn record<'a, T: Deserialize<'a>>(&'a mut self) -> io::Result<T> {
        let mut length = [0; 4];
        self.input.read_exact(&mut length)?;
        let length = u64::from(u32::from_le_bytes(length));
        self.bytes.clear();
        if (&mut self.input).take(length).read_to_end(&mut self.bytes)? as u64 != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match postcard::take_from_bytes(&self.bytes) {
            Ok((record, [])) => Ok(record),
            _ => Err(invalid_data()),
        }
    }

    /// Checks that the input is at its end.
    pub fn end(&mut self) -> io::Result<()> {
        if self.input.read(&mut [0])? == 0 { Ok(()) } else { Err(invalid_data()) }
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

    type Record<'a> = (i64, Option<&'a str>, Vec<String>, Vec<f32>);

    proptest! {
        #[test]
        fn every_record_round_trips(
            records in prop::collection::vec(
                (any::<i64>(), prop::option::of(".{0,8}"), prop::collection::vec(".{0,8}", 0..4), prop::collection::vec(-1f32..1.0, 0..4)),
                0..4,
            ),
        ) {
            let mut writer = Writer(Vec::new());
            for record in &records {
                writer.record(record).expect("writing to memory succeeds");
            }
            let mut reader = Reader::new(&writer.0[..]);
            for (number, text, texts, vector) in records {
                prop_assert_eq!(reader.record::<Record>().expect("it was written"), (number, text.as_deref(), texts, vector));
            }
            reader.end().expect("nothing follows");
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = Reader::new(&bytes[..]).record::<Record>();
            let framed = [&(bytes.len() as u32).to_le_bytes()[..], &bytes].concat();
            let _ = Reader::new(&framed[..]).record::<Record>();
        }
    }

    #[test]
    fn truncated_input_and_incomplete_records_are_errors() {
        assert!(Reader::new(&[255, 255, 255, 255, 0][..]).record::<String>().is_err(), "the input ends early");
        assert!(Reader::new(&[1, 0, 0, 0, 9][..]).record::<String>().is_err(), "the text ends early");
        assert!(Reader::new(&[2, 0, 0, 0, 0, 0][..]).record::<String>().is_err(), "the record is longer than the text");
    }
}
