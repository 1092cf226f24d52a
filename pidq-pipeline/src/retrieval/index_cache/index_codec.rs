//! Serialization of a partition with the displayed properties of its documents and chunks.

use std::io::{self, Read, Write};
use std::sync::atomic::AtomicI64;

use pidq_text::codec::{Reader, Writer, invalid_data};
use pidq_text::search::Partition;

use super::{ChunkInfo, DocumentInfo, PartitionIndex};

impl PartitionIndex {
    /// Writes the partition.
    pub(super) fn write(&self, out: &mut Writer<impl Write>) -> io::Result<()> {
        out.long(self.change_count)?;
        self.partition.write(out)?;
        out.count(self.documents.len())?;
        for (id, document) in &self.documents {
            out.string(id)?;
            out.long(document.revision)?;
            out.long(document.indexed_at)?;
            out.string(&document.title)?;
            out.string(&document.filename)?;
            out.count(document.chunks.len())?;
            document.chunks.iter().try_for_each(|id| self.write_chunk(id, out))?;
        }
        Ok(())
    }

    fn write_chunk(&self, id: &str, out: &mut Writer<impl Write>) -> io::Result<()> {
        let chunk = self.chunks.get(id).ok_or_else(invalid_data)?;
        out.string(id)?;
        out.option(chunk.char_range, |out, (start, end)| {
            out.long(start)?;
            out.long(end)
        })?;
        out.option(chunk.gap.as_deref(), Writer::string)?;
        out.option(chunk.page, Writer::long)?;
        out.count(chunk.tags.len())?;
        chunk.tags.iter().try_for_each(|tag| out.string(tag))
    }

    /// Replaces the contents by a serialized partition and its change count. An error leaves the contents unchanged.
    pub(super) fn replace_from(&mut self, input: &mut Reader<impl Read>) -> io::Result<()> {
        let change_count = input.long()?;
        let mut loaded = PartitionIndex {
            change_count,
            ..PartitionIndex::empty(self.partition.dimensions(), self.snapshot_id.clone())
        };
        loaded.partition = Partition::read(input)?;
        for _ in 0..input.count()? {
            loaded.read_document(input)?;
        }
        input.end()?;
        loaded.saved_change_count = AtomicI64::new(change_count);
        *self = loaded;
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
