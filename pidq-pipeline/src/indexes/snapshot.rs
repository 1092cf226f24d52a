//! An open partition as bytes and back: what is searched, and what is known and shown of it.

use std::io::{self, Read, Write};
use std::sync::atomic::AtomicI64;

use super::{Index, Known, Shown};
use crate::search::Partition;
use crate::wire::{Reader, Writer, wrong};

impl Index {
    /// Writes it down.
    pub(super) fn write(&self, out: &mut Writer<impl Write>) -> io::Result<()> {
        out.long(self.changes)?;
        self.partition.write(out)?;
        out.count(self.documents.len())?;
        for (id, known) in &self.documents {
            out.text(id)?;
            out.long(known.revision)?;
            out.long(known.indexed_at)?;
            out.text(&known.title)?;
            out.text(&known.filename)?;
            out.count(known.chunks.len())?;
            known.chunks.iter().try_for_each(|id| self.write_shown(id, out))?;
        }
        Ok(())
    }

    fn write_shown(&self, id: &str, out: &mut Writer<impl Write>) -> io::Result<()> {
        let shown = self.chunks.get(id).ok_or_else(wrong)?;
        out.text(id)?;
        out.maybe(shown.place, |out, (start, end)| {
            out.long(start)?;
            out.long(end)
        })?;
        out.maybe(shown.gap.as_deref(), Writer::text)?;
        out.maybe(shown.page, Writer::long)?;
        out.count(shown.tags.len())?;
        shown.tags.iter().try_for_each(|tag| out.text(tag))
    }

    /// Takes in what was written, with the count of changes that it is as of. After an error it is as it was.
    pub(super) fn take_in(&mut self, input: &mut Reader<impl Read>) -> io::Result<()> {
        let changes = input.long()?;
        let mut read = Index { changes, ..Index::empty(self.partition.dimensions(), self.subject.clone()) };
        read.partition = Partition::read(input)?;
        for _ in 0..input.count()? {
            read.read_known(input)?;
        }
        input.end()?;
        read.saved = AtomicI64::new(changes);
        *self = read;
        Ok(())
    }

    fn read_known(&mut self, input: &mut Reader<impl Read>) -> io::Result<()> {
        let id = input.text()?;
        let (revision, indexed_at) = (input.long()?, input.long()?);
        let (title, filename) = (input.text()?, input.text()?);
        let metadata = self.partition.metadata(&id).ok_or_else(wrong)?.clone();
        let chunks = (0..input.count()?).map(|_| self.read_shown(input)).collect::<io::Result<_>>()?;
        self.documents.insert(id, Known { revision, metadata, title, filename, indexed_at, chunks });
        Ok(())
    }

    fn read_shown(&mut self, input: &mut Reader<impl Read>) -> io::Result<String> {
        let id = input.text()?;
        let place = input.maybe(|input| Ok((input.long()?, input.long()?)))?;
        let (gap, page) = (input.maybe(Reader::text)?, input.maybe(Reader::long)?);
        let tags = (0..input.count()?).map(|_| input.text()).collect::<io::Result<_>>()?;
        self.chunks.insert(id.clone(), Shown { place, gap, page, tags });
        Ok(id)
    }
}
