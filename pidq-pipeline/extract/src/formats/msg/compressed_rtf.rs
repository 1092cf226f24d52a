//! Decompressor of the RTF text of Outlook messages (MS-OXRTFCP).

use crate::ExtractError;

/// Initial content of the dictionary.
const DICTIONARY: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \
\\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";
/// Size of the dictionary, a ring buffer.
const DICTIONARY_SIZE: usize = 4096;
/// Size of the header: compressed size, uncompressed size, kind, checksum.
const HEADER_SIZE: usize = 16;

/// The text, and whether it has the declared size.
#[derive(Debug)]
pub struct Decompressed {
    pub rtf: Vec<u8>,
    pub is_complete: bool,
}

/// Decompresses a text of at most `limit` bytes.
///
/// # Errors
/// Returns an error if the data has no valid header, or if the text is longer than the limit.
pub fn decompress(bytes: &[u8], limit: usize) -> Result<Decompressed, ExtractError> {
    let damaged = || ExtractError::corrupt("the RTF text of the message is damaged");
    let (header, content) = bytes.split_at_checked(HEADER_SIZE).ok_or_else(damaged)?;
    let size = u32::from_le_bytes([header[4], header[5], header[6], header[7]]) as usize;
    if size > limit {
        return Err(ExtractError::too_large(format!("the RTF text of the message has more than {limit} bytes")));
    }
    let rtf = match &header[8..12] {
        b"MELA" => content[..content.len().min(size)].to_vec(),
        b"LZFu" => expand(content, size),
        _ => return Err(damaged()),
    };
    Ok(Decompressed { is_complete: rtf.len() == size, rtf })
}

/// Expands literals and references into the dictionary, until the end mark, the size or the end of the data.
fn expand(content: &[u8], size: usize) -> Vec<u8> {
    let mut dictionary = [b' '; DICTIONARY_SIZE];
    dictionary[..DICTIONARY.len()].copy_from_slice(DICTIONARY);
    let (mut position, mut bytes, mut rtf) = (DICTIONARY.len(), content.iter().copied(), Vec::new());
    while let Some(control) = bytes.next() {
        for bit in 0..8 {
            let Some(first) = bytes.next() else { return rtf };
            let (mut source, length) = match control >> bit & 1 {
                0 => (position, 0),
                _ => match bytes.next() {
                    Some(second) => (usize::from(first) << 4 | usize::from(second) >> 4, usize::from(second & 15) + 2),
                    None => return rtf,
                },
            };
            // A reference to the position of the next byte is the end mark.
            if length > 0 && source == position {
                return rtf;
            }
            for _ in 0..length.max(1) {
                if rtf.len() == size {
                    return rtf;
                }
                let byte = if length == 0 { first } else { dictionary[source] };
                source = (source + 1) % DICTIONARY_SIZE;
                dictionary[position] = byte;
                position = (position + 1) % DICTIONARY_SIZE;
                rtf.push(byte);
            }
        }
    }
    rtf
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;

    /// Written by the Python package `compressed_rtf`; the second text has a reference that overlaps itself.
    #[test]
    fn texts_are_expanded() {
        let simple =
            b"*\0\0\0/\0\0\0LZFu\x86\x83\xfde\x83\0\n\x0b\x02 Pump\r\xf0\xc0-101A:\x0eE\x0eE\x0c.}\n\x80\x0f\xe0";
        let decompressed = decompress(simple, 100).unwrap();
        assert_eq!(String::from_utf8_lossy(&decompressed.rtf), "{\\rtf1\\ansi\\pard Pump P-101A: P-101A P-101A.}\r\n");
        assert!(decompressed.is_complete);
        let overlapping = b"\x18\0\0\0$\0\0\0LZFu\xb1%\xa4+Y\0\x04 -\ro\rh}\x0f0";
        let text = format!("{{\\rtf1 {}}}", "-".repeat(28));
        assert_eq!(String::from_utf8_lossy(&decompress(overlapping, 100).unwrap().rtf), text);
    }

    #[test]
    fn stored_texts_are_copied() {
        let decompressed = decompress(b"\x10\0\0\0\x04\0\0\0MELA\0\0\0\0textX", 100).unwrap();
        assert_eq!(decompressed.rtf, b"text");
    }

    #[test]
    fn damaged_and_large_texts_are_reported() {
        let text =
            b"*\0\0\0/\0\0\0LZFu\x86\x83\xfde\x83\0\n\x0b\x02 Pump\r\xf0\xc0-101A:\x0eE\x0eE\x0c.}\n\x80\x0f\xe0";
        assert!(!decompress(&text[..40], 100).unwrap().is_complete);
        assert_eq!(decompress(text, 10).unwrap_err().code, crate::ErrorCode::TooLargeText);
        assert_eq!(decompress(&text[..10], 100).unwrap_err().code, crate::ErrorCode::CorruptDocument);
    }
}
