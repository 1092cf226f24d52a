//! Serialization of a partition with the displayed properties of its documents and chunks.

use std::io::{self, Read, Write};
use std::sync::atomic::AtomicI64;

use super::{ChunkInfo, DocumentInfo, PartitionIndex};
use crate::codec::{Reader, Writer, invalid_data};
use crate::search::Partition;

impl PartitionIndex {
    /// Writes the partition.
    pub(super) fn write(&self, out: &mut Writer<impl Write>) -> io::Result<()> {
        out.long(self.changes)?;
        self.partition.write(out)?;
        out.count(self.documents.len())?;
        for (id, known) in &self.documents {
            out.string(id)?;
            out.long(known.revision)?;
            out.long(known.indexed_at)?;
            out.string(&known.title)?;
            out.string(&known.filename)?;
            out.count(known.chunks.len())?;
            known.chunks.iter().try_for_each(|id| self.write_chunk(id, out))?;
        }
        Ok(())
    }

    fn write_chunk(&self, id: &str, out: &mut Writer<impl Write>) -> io::Result<()> {
        let shown = self.chunks.get(id).ok_or_else(invalid_data)?;
        out.string(id)?;
        out.option(shown.char_range, |out, (start, end)| {
            out.long(start)?;
            out.long(end)
        })?;
        out.option(shown.gap.as_deref(), Writer::string)?;
        out.option(shown.page, Writer::long)?;
        out.count(shown.tags.len())?;
        shown.tags.iter().try_for_each(|tag| out.string(tag))
    }

    /// Replaces the contents by a serialized partition and its change count. An error leaves the contents unchanged.
    pub(super) fn replace_from(&mut self, input: &mut Reader<impl Read>) -> io::Result<()> {
        let changes = input.long()?;
        let mut read =
            PartitionIndex { changes, ..PartitionIndex::empty(self.partition.dimensions(), self.subject.clone()) };
        read.partition = Partition::read(input)?;
        for _ in 0..input.count()? {
            read.read_document(input)?;
        }
        input.end()?;
        read.saved = AtomicI64::new(changes);
        *self = read;
        Ok(())
    }

    fn read_document(&mut self, input: &mut Reader<impl Read>) -> io::Result<()> {
        let id = input.string()?;
        let (revision, indexed_at) = (input.long()?, input.long()?);
        let (title, filename) = (input.string()?, input.string()?);
        let metadata = self.partition.metadata(&id).ok_or_else(invalid_data)?.clone();
        let chunks = (0..input.count()?).map(|_| self.read_chunk(input)).collect::<io::Result<_>>()?;
        self.documents.insert(id, DocumentInfo { revision, metadata, title, filename, indexed_at, chunks });
        Ok(())
    }

    fn read_chunk(&mut self, input: &mut Reader<impl Read>) -> io::Result<String> {
        let id = input.string()?;
        let char_range = input.option(|input| Ok((input.long()?, input.long()?)))?;
        let (gap, page) = (input.option(Reader::string)?, input.option(Reader::long)?);
        let tags = (0..input.count()?).map(|_| input.string()).collect::<io::Result<_>>()?;
        self.chunks.insert(id.clone(), ChunkInfo { char_range, gap, page, tags });
        Ok(id)
    }
}
