//! Request fingerprint over method, target, content type and body.
//!
//! A multipart boundary differs between retries, so it is left out, with everything after the last one.

use data_encoding::HEXLOWER;
use memchr::memmem;
use mime::Mime;
use pidq_http::Head;
use sha2::{Digest, Sha256};

/// The fingerprint of a request whose body is still being read.
pub(super) struct Fingerprint {
    digest: Sha256,
    /// `--` and the boundary of a form.
    boundary: Option<Vec<u8>>,
    /// Bytes that may be the start of a boundary.
    pending: Vec<u8>,
    is_complete: bool,
}

impl Fingerprint {
    pub(super) fn new(head: &Head) -> Fingerprint {
        let media = head.media_type().unwrap_or_default();
        let content_encoding = head.header("content-encoding").unwrap_or_default();
        let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
        let mut digest = Sha256::new();
        for part in [head.method.as_str(), target, &media, content_encoding] {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        let boundary = head.header("content-type").filter(|_| media.starts_with("multipart/")).and_then(boundary);
        Fingerprint { digest, boundary, pending: Vec::new(), is_complete: false }
    }

    /// Adds bytes of the body.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let Some(boundary) = &self.boundary else { return self.digest.update(bytes) };
        self.pending.extend_from_slice(bytes);
        // The last boundary is followed by `--`.
        while let Some(start) = memmem::find(&self.pending, boundary).filter(|_| !self.is_complete) {
            let end = start + boundary.len();
            let Some(following) = self.pending.get(end..end + 2) else { return };
            self.is_complete = following == b"--";
            self.digest.update(&self.pending[..start]);
            // A separator distinguishes separate parts from joined ones.
            self.digest.update([0]);
            self.pending.drain(..end);
        }
        let ready = if self.is_complete { 0 } else { self.pending.len().saturating_sub(boundary.len() - 1) };
        self.digest.update(&self.pending[..ready]);
        self.pending.drain(..ready);
        if self.is_complete {
            self.pending.clear();
        }
    }

    /// Returns the fingerprint of the whole request.
    pub(super) fn finish(&self) -> String {
        HEXLOWER.encode(&self.digest.clone().chain_update(&self.pending).finalize())
    }
}

/// Returns `--` and the boundary parameter of a content type.
fn boundary(media: &str) -> Option<Vec<u8>> {
    let media: Mime = media.parse().ok()?;
    let boundary = media.get_param(mime::BOUNDARY)?.as_str();
    (!boundary.is_empty()).then(|| [b"--", boundary.as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(boundary: &str, text: &str) -> String {
        format!("--{boundary}\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n{text}\r\n--{boundary}--\r\n")
    }

    /// Returns the fingerprint of a body that arrives in chunks of a size.
    fn fingerprint_of(boundary: &str, body: &str, size: usize) -> String {
        let boundary = super::boundary(&format!("multipart/form-data; boundary=\"{boundary}\""));
        let mut fingerprint = Fingerprint { digest: Sha256::new(), boundary, pending: Vec::new(), is_complete: false };
        body.as_bytes().chunks(size).for_each(|chunk| fingerprint.add(chunk));
        fingerprint.finish()
    }

    #[test]
    fn the_fingerprint_of_a_form_ignores_its_boundary_and_chunks() {
        let first = fingerprint_of("x7x", &form("x7x", "a -- pump --x7"), 1000);
        for size in [1, 2, 3, 5, 7, 100] {
            assert_eq!(fingerprint_of("x7x", &form("x7x", "a -- pump --x7"), size), first, "{size}");
            assert_eq!(fingerprint_of("longer-1", &form("longer-1", "a -- pump --x7"), size), first, "{size}");
        }
        assert_eq!(
            fingerprint_of("x7x", &(form("x7x", "a -- pump --x7") + "epilogue"), 9),
            first,
            "the epilogue is ignored"
        );
        assert_ne!(fingerprint_of("x7x", &form("x7x", "a -- pumq --x7"), 1000), first);
    }
}
