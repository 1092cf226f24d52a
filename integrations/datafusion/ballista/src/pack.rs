//! Command `pack`: a directory of drawings as Parquet files that executors read in parts.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use datafusion::arrow::array::{ArrayRef, LargeStringArray, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;

use crate::Result;
use crate::size::Size;

/// Options of `pack`.
#[derive(Args)]
pub(crate) struct Options {
    /// Size of the drawings of a row group: what a task reads, and holds in memory, at a time
    #[arg(long, default_value = "32M")]
    row_group: Size,
    /// Size of the drawings of a file
    #[arg(long, default_value = "512M")]
    file: Size,
    /// Directory of `*.json` drawings, searched with its subdirectories
    from: PathBuf,
    /// New directory for the files, with the columns `drawing` (path without `.json`) and `graph`
    to: PathBuf,
}

/// Writes the files.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut drawings = Vec::new();
    find(&options.from, &mut drawings)?;
    drawings.sort();
    std::fs::create_dir(&options.to).map_err(|error| format!("{}: {error}", options.to.display()))?;
    let mut files = Files { options, count: 0, open: None };
    let mut group = Group::default();
    for path in &drawings {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.strip_prefix(&options.from)?.with_extension("");
        group.size += text.len();
        group.graphs.push(text);
        group.names.push(name.to_str().ok_or("a file name is not UTF-8")?.to_owned());
        if group.size >= options.row_group.0 {
            files.write(std::mem::take(&mut group))?;
        }
    }
    files.write(group)?;
    files.close()?;
    println!("{} drawings in {} files", drawings.len(), files.count);
    Ok(())
}

/// Drawings of a row group.
#[derive(Default)]
struct Group {
    names: Vec<String>,
    graphs: Vec<String>,
    size: usize,
}

/// The files, of which one is open.
struct Files<'o> {
    options: &'o Options,
    count: usize,
    open: Option<(ArrowWriter<File>, usize)>,
}

impl Files<'_> {
    fn write(&mut self, group: Group) -> Result<()> {
        if group.names.is_empty() {
            return Ok(());
        }
        let (mut writer, size) = match self.open.take() {
            Some(open) => open,
            None => (self.create()?, 0),
        };
        let size = size + group.size;
        let names: ArrayRef = Arc::new(StringArray::from(group.names));
        let graphs: ArrayRef = Arc::new(LargeStringArray::from(group.graphs));
        writer.write(&RecordBatch::try_new(schema(), vec![names, graphs])?)?;
        writer.flush()?;
        match size >= self.options.file.0 {
            true => writer.close().map(drop)?,
            false => self.open = Some((writer, size)),
        }
        Ok(())
    }

    fn create(&mut self) -> Result<ArrowWriter<File>> {
        self.count += 1;
        let file = File::create_new(self.options.to.join(format!("drawings-{:05}.parquet", self.count)))?;
        let compression = Compression::ZSTD(ZstdLevel::try_new(3)?);
        // Texts of whole drawings neither repeat nor have a useful minimum.
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_column_dictionary_enabled("graph".into(), false)
            .set_column_statistics_enabled(
                "graph".into(),
                datafusion::parquet::file::properties::EnabledStatistics::None,
            )
            .build();
        Ok(ArrowWriter::try_new(file, schema(), Some(properties))?)
    }

    fn close(&mut self) -> Result<()> {
        self.open.take().map_or(Ok(()), |(writer, _)| Ok(writer.close().map(drop)?))
    }
}

fn schema() -> SchemaRef {
    let fields = [Field::new("drawing", DataType::Utf8, false), Field::new("graph", DataType::LargeUtf8, false)];
    Arc::new(Schema::new(fields.to_vec()))
}

fn find(directory: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))? {
        let entry = entry?;
        match entry.file_type()? {
            kind if kind.is_dir() => find(&entry.path(), found)?,
            _ if entry.path().extension().is_some_and(|extension| extension == "json") => found.push(entry.path()),
            _ => {}
        }
    }
    Ok(())
}
