//! Fuzz property of `office`: an archive with one file replaced by the input, with valid checksums, is extracted or
//! rejected. The first byte selects the archive and the file.

use std::io::{Cursor, Read, Write};
use std::sync::LazyLock;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::extraction::{extract, options};

/// Documents by other programs.
const SAMPLES: &[&[u8]] = &[
    include_bytes!("../../pidq-pipeline/extract/tests/data/documents/manual.docx"),
    include_bytes!("../../pidq-pipeline/extract/tests/data/documents/lists.xlsx"),
    include_bytes!("../../pidq-pipeline/extract/tests/data/documents/talk.pptx"),
    include_bytes!("../../pidq-pipeline/extract/tests/data/documents/manual.odt"),
    include_bytes!("../../pidq-pipeline/extract/tests/data/documents/lists.ods"),
    include_bytes!("../../pidq-pipeline/extract/tests/data/documents/manual.epub"),
];
/// Files that no reader opens.
const UNREAD: &[&str] = &[".jpeg", ".png", "theme1.xml", "mimetype", "printerSettings1.bin", "app.xml"];

/// Names and contents of the files of an archive.
type Files = Vec<(String, Vec<u8>)>;

static ARCHIVES: LazyLock<Vec<Files>> = LazyLock::new(|| SAMPLES.iter().map(|sample| files(sample)).collect());
/// Indexes of the archive and of the file, of each file that may be replaced.
static TARGETS: LazyLock<Vec<(usize, usize)>> = LazyLock::new(|| {
    let files = ARCHIVES
        .iter()
        .enumerate()
        .flat_map(|(archive, files)| files.iter().enumerate().map(move |file| (archive, file)));
    let is_read = |name: &str| !UNREAD.iter().any(|end| name.ends_with(end)) && !name.contains("slideLayout");
    files.filter(|(_, (_, (name, _)))| is_read(name)).map(|(archive, (index, _))| (archive, index)).collect()
});

fn files(archive: &[u8]) -> Files {
    let mut zip = ZipArchive::new(Cursor::new(archive)).expect("a sample is an archive");
    let mut files = Files::new();
    for index in 0..zip.len() {
        let mut file = zip.by_index(index).expect("a file of the sample");
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).expect("a file of the sample can be read");
        files.push((file.name().expect("a name").into_owned(), bytes));
    }
    files
}

/// Panics if the property is violated.
pub fn check(input: &[u8]) {
    let Some((selector, content)) = input.split_first() else { return };
    let (archive, replaced) = TARGETS[usize::from(*selector) % TARGETS.len()];
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (index, (name, bytes)) in ARCHIVES[archive].iter().enumerate() {
        let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        zip.start_file(name.as_str(), stored).expect("a file starts");
        zip.write_all(if index == replaced { content } else { bytes }).expect("a file is written");
    }
    let bytes = zip.finish().expect("an archive").into_inner();
    let _ = extract(&bytes, None, &options());
}
