//! Documents that are packed: `.json.gz` and `.json.zst`, as a served directory has them.

use std::path::Path;

use super::failure::{Failure, Result};

/// Whether a file is a document by its name, packed or not.
pub fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json") || is_packed(path)
}

/// Whether a file is a packed document by its name.
fn is_packed(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.ends_with(".json.gz") || name.ends_with(".json.zst")
}

/// The document in the bytes of a file: unpacked, if its name says that it is packed.
pub fn opened(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>> {
    if is_packed(path) { unpacked(path, bytes) } else { Ok(bytes) }
}

/// Bounded as in the service: a few bytes can stand for very many.
#[cfg(feature = "server")]
fn unpacked(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>> {
    use pidq_server::store::Error;
    use pidq_server::store::packing::{ENDINGS, Growth, Packing, unpack};

    let name = path.to_string_lossy();
    let packing =
        ENDINGS.iter().find(|(ending, _)| name.ends_with(ending)).map_or(Packing::None, |(_, packing)| *packing);
    let opened = unpack(&bytes.into(), packing, Growth::TRUSTED);
    opened.map(Vec::from).map_err(|error| {
        let why = match error {
            Error::MalformedJson { detail, .. } => detail,
            Error::GraphTooLarge { what, limit } => format!("it has more than {limit} {what} then"),
            error => error.to_string(),
        };
        Failure::Usage(format!("cannot unpack `{name}`: {why}"))
    })
}

/// Without the service there is nothing here that unpacks.
#[cfg(not(feature = "server"))]
fn unpacked(path: &Path, _: Vec<u8>) -> Result<Vec<u8>> {
    let name = path.display();
    Err(Failure::Usage(format!(
        "`{name}` is packed, and this `pidq` was built without the feature `server`, which unpacks: unpack it first"
    )))
}
