//! Serialization of a partition with the displayed properties of its documents and chunks.

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::sync::atomic::AtomicI64;

use pidq_text::codec::{Reader, Writer, invalid_data};
use pidq_text::search::Partition;
use serde::{Deserialize, Serialize};

use super::{ChunkInfo, DocumentInfo, PartitionIndex};

/// First record. The partition follows, then the documents.
#[derive(Deserialize, Serialize)]
struct HeaderRecord {
    change_count: i64,
    documents: usize,
}

/// Properties of a document that the partition does not contain.
#[derive(Deserialize, Serialize)]
struct DocumentRecord<'a> {
    id: &'a str,
    revision: i64,
    indexed_at: i64,
    title: &'a str,
    filename: &'a str,
    /// Ids of the chunks, in order, with their properties.
    chunks: Vec<(&'a str, Cow<'a, ChunkInfo>)>,
}

impl PartitionIndex {
    /// Writes the partition.
    pub(super) fn write(&self, out: &mut Writer<impl Write>) -> io::Result<()> {
        out.record(&HeaderRecord { change_count: self.change_count, documents: self.documents.len() })?;
        self.partition.write(out)?;
        self.documents.iter().try_for_each(|(id, document)| out.record(&self.document_record(id, document)?))
    }

    fn document_record<'a>(&'a self, id: &'a str, document: &'a DocumentInfo) -> io::Result<DocumentRecord<'a>> {
        let chunk = |id: &'a String| Some((id.as_str(), Cow::Borrowed(self.chunks.get(id)?)));
        Ok(DocumentRecord {
            id,
            revision: document.revision,
            indexed_at: document.indexed_at,
            title: &document.title,
            filename: &document.filename,
            chunks: document.chunks.iter().map(chunk).collect::<Option<_>>().ok_or_else(invalid_data)?,
        })
    }

    /// Replaces the contents by a serialized partition and its change count. An error leaves the contents unchanged.
    pub(super) fn replace_from(&mut self, input: &mut Reader<impl Read>) -> io::Result<()> {
        let HeaderRecord { change_count, documents } = input.record()?;
        let mut loaded = PartitionIndex {
            change_count,
            ..PartitionIndex::empty(self.partition.dimensions(), self.snapshot_id.clone())
        };
        loaded.partition = Partition::read(input)?;
        for _ in 0..documents {
            loaded.insert_document(input.record()?)?;
        }
        input.end()?;
        loaded.saved_change_count = AtomicI64::new(change_count);
        *self = loaded;
        Ok(())
    }

    fn insert_document(&mut self, record: DocumentRecord<'_>) -> io::Result<()> {
        let DocumentRecord { id, revision, indexed_at, title, filename, chunks } = record;
        let (title, filename) = (title.to_owned(), filename.to_owned());
        let metadata = self.partition.metadata(id).ok_or_else(invalid_data)?.clone();
        let ids = chunks.iter().map(|(id, _)| (*id).to_owned()).collect();
        self.chunks.extend(chunks.into_iter().map(|(id, chunk)| (id.to_owned(), chunk.into_owned())));
        self.documents
            .insert(id.to_owned(), DocumentInfo { revision, metadata, title, filename, indexed_at, chunks: ids });
        Ok(())
    }
}
