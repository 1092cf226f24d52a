//! Files of the front end: embedded at build time, or read from a directory at the start.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pidq_http::header::CACHE_CONTROL;
use pidq_http::{Bytes, Head, Response};
use ring::digest::{SHA256, digest};

/// Files of the build, by path. The build script generates the table.
const EMBEDDED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/front_end_files.rs"));

/// Page of every client-side route.
const INDEX: &str = "/index.html";

/// Directory of the files whose names contain a hash of their content.
const HASHED: &str = "/assets/";

/// Content codings with the suffixes of the compressed files next to the original, the smallest first.
const CODINGS: &[(&str, &str)] = &[("br", ".br"), ("gzip", ".gz")];

/// Content types by file name extension. Other files are sent as bytes.
const MEDIA_TYPES: &[(&str, &str)] = &[
    ("css", "text/css"),
    ("html", "text/html"),
    ("ico", "image/x-icon"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("mjs", "text/javascript"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain"),
    ("wasm", "application/wasm"),
    ("webmanifest", "application/manifest+json"),
    ("webp", "image/webp"),
    ("woff2", "font/woff2"),
];

/// Files of the front end, by path.
pub struct Assets(BTreeMap<String, Asset>);

/// File of the front end.
struct Asset {
    media: &'static str,
    bytes: Bytes,
    etag: String,
    /// The file in the codings that the front end was built with, in the order of [`CODINGS`].
    encoded: Vec<(&'static str, Bytes)>,
    is_immutable: bool,
}

impl Assets {
    /// Returns the files of this build; `None` if it was built without the front end.
    pub fn embedded() -> Option<Assets> {
        let files = EMBEDDED.iter().map(|(path, bytes)| ((*path).to_owned(), Bytes::from_static(bytes)));
        Assets::from_files(files)
    }

    /// Reads the files of a directory, which the build of the front end has written.
    ///
    /// # Errors
    /// Fails if a file cannot be read or there is no `index.html`.
    pub fn read(dir: &Path) -> io::Result<Assets> {
        let mut files = Vec::new();
        read_files(dir, "", &mut files)?;
        Assets::from_files(files)
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no file `index.html`"))
    }

    /// Returns `None` without a start page.
    fn from_files(files: impl IntoIterator<Item = (String, Bytes)>) -> Option<Assets> {
        let all: BTreeMap<String, Bytes> = files.into_iter().collect();
        let is_original = |path: &str| {
            let originals = CODINGS.iter().filter_map(|(_, suffix)| path.strip_suffix(suffix));
            !originals.into_iter().any(|original| all.contains_key(original))
        };
        let encoded = |path: &str, coding: &'static str, suffix: &str| {
            Some((coding, all.get(&format!("{path}{suffix}"))?.clone()))
        };
        let asset = |path: &str, bytes: &Bytes| Asset {
            media: media_type(path),
            etag: URL_SAFE_NO_PAD.encode(&digest(&SHA256, bytes).as_ref()[..12]),
            bytes: bytes.clone(),
            encoded: CODINGS.iter().filter_map(|(coding, suffix)| encoded(path, coding, suffix)).collect(),
            is_immutable: path.starts_with(HASHED),
        };
        let originals = all.iter().filter(|(path, _)| is_original(path));
        let assets: BTreeMap<_, _> = originals.map(|(path, bytes)| (path.clone(), asset(path, bytes))).collect();
        assets.contains_key(INDEX).then_some(Assets(assets))
    }

    /// Returns the file at a path, or the start page if the path is that of a client-side route.
    pub fn response(&self, head: &Head) -> Option<Response> {
        let path = head.uri.path();
        let asset = match self.0.get(path) {
            Some(asset) => asset,
            None if is_client_route(path, head.header("accept")) => self.0.get(INDEX)?,
            None => return None,
        };
        let cache = if asset.is_immutable { "public, max-age=31536000, immutable" } else { "no-cache" };
        let response = match asset.preferred(head) {
            Some((coding, bytes)) => Response::ok(asset.media, bytes.clone()).encoded(coding),
            None => Response::ok(asset.media, asset.bytes.clone()),
        };
        Some(response.etag(&asset.etag).header(CACHE_CONTROL, cache))
    }
}

impl Asset {
    /// Returns the coding that the browser prefers of those that the file has, with the encoded file.
    fn preferred(&self, head: &Head) -> Option<&(&'static str, Bytes)> {
        let coding = head.preferred_encoding(self.encoded.iter().map(|(coding, _)| *coding))?;
        self.encoded.iter().find(|(known, _)| *known == coding)
    }
}

/// Returns whether the front end may have a page at this path. A name with a dot, such as that of a graph, is a page if
/// a browser opens it.
fn is_client_route(path: &str, accept: Option<&str>) -> bool {
    let has_extension = path.rsplit('/').next().unwrap_or_default().contains('.');
    !has_extension || !path.starts_with(HASHED) && accept.is_some_and(|media| media.contains("text/html"))
}

fn media_type(path: &str) -> &'static str {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let known = MEDIA_TYPES.iter().find(|(name, _)| name.eq_ignore_ascii_case(extension));
    known.map_or("application/octet-stream", |(_, media)| media)
}

fn read_files(dir: &Path, prefix: &str, files: &mut Vec<(String, Bytes)>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = format!("{prefix}/{}", entry.file_name().display());
        if entry.file_type()?.is_dir() {
            read_files(&entry.path(), &path, files)?;
        } else {
            files.push((path, fs::read(entry.path())?.into()));
        }
    }
    Ok(())
}
