//! Compressed documents: `.json.gz` and `.json.zst`.

use std::path::Path;

use super::failure::{Failure, Result};

/// Returns true if the file name is that of a document, compressed or not.
pub fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json") || is_compressed(path)
}

/// Returns true if the file name is that of a compressed document.
fn is_compressed(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.ends_with(".json.gz") || name.ends_with(".json.zst")
}

/// Returns the document in the bytes of a file, decompressed if its name says so.
pub fn decompress_if_needed(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>> {
    if is_compressed(path) { decompress_file(path, bytes) } else { Ok(bytes) }
}

/// Decompresses a file with the limits of the service, as protection against decompression bombs.
#[cfg(feature = "server")]
fn decompress_file(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>> {
    use pidq_server::store::Error;
    use pidq_server::store::compression::{Compression, DecompressionLimits, EXTENSIONS, decompress};

    let name = path.to_string_lossy();
    let compression = EXTENSIONS
        .iter()
        .find(|(ending, _)| name.ends_with(ending))
        .map_or(Compression::None, |(_, compression)| *compression);
    let decompressed = decompress(&bytes.into(), compression, DecompressionLimits::TRUSTED);
    decompressed.map(Vec::from).map_err(|error| {
        let reason = match error {
            Error::MalformedJson { detail, .. } => detail,
            Error::GraphTooLarge { what, limit } => format!("it decompresses to more than {limit} {what}"),
            error => error.to_string(),
        };
        Failure::Usage(format!("cannot decompress `{name}`: {reason}"))
    })
}

/// Fails: decompression needs the `server` feature.
#[cfg(not(feature = "server"))]
fn decompress_file(path: &Path, _: Vec<u8>) -> Result<Vec<u8>> {
    let name = path.display();
    Err(Failure::Usage(format!(
        "`{name}` is compressed, and this `pidq` was built without the `server` feature, which reads compressed files; decompress it first"
    )))
}
