//! Streaming authenticated encryption: data is processed block by block and never held in memory as a whole.
//!
//! Each stream has its own key, derived with HKDF-SHA-256 from the given key, a random salt at the start of the stream,
//! and a string that identifies the content. Blocks are encrypted with AES-256-GCM; the nonce contains the block number
//! and marks the last block. Truncated, extended, modified or reordered streams, and streams of other content, fail to
//! decrypt.

use std::io::{self, Read, Write};

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};

/// Plaintext size of a block in bytes.
const BLOCK_SIZE: usize = 256 << 10;
/// Size of the authentication tag in bytes.
const TAG_SIZE: usize = 16;
/// Size of the salt in bytes.
const SALT_SIZE: usize = 32;

/// Writer that encrypts a stream.
pub struct EncryptingWriter<W> {
    out: W,
    key: LessSafeKey,
    block: Vec<u8>,
    number: u64,
}

/// Reader that decrypts a stream. Returns only authenticated bytes.
pub struct DecryptingReader<R> {
    input: R,
    key: LessSafeKey,
    block: Vec<u8>,
    /// Number of bytes of the block that have been returned.
    consumed: usize,
    number: u64,
    /// The next encrypted block; empty if the current block is the last.
    next: Vec<u8>,
}

/// Position of a block in the stream.
#[derive(Clone, Copy)]
enum BlockPosition {
    NotLast,
    Last,
}

impl<W: Write> EncryptingWriter<W> {
    /// Starts a stream with a key and a string that identifies its content.
    pub fn new(mut out: W, key: &[u8], content_id: &[u8]) -> io::Result<Self> {
        let mut salt = [0; SALT_SIZE];
        getrandom::fill(&mut salt).map_err(io::Error::other)?;
        out.write_all(&salt)?;
        Ok(EncryptingWriter {
            out,
            key: derive_key(key, &salt, content_id)?,
            block: Vec::with_capacity(BLOCK_SIZE + TAG_SIZE),
            number: 0,
        })
    }

    /// Writes the last block. An unfinished stream cannot be decrypted.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_block(BlockPosition::Last)?;
        Ok(self.out)
    }

    fn write_block(&mut self, block_position: BlockPosition) -> io::Result<()> {
        let nonce = nonce(self.number, block_position);
        self.key.seal_in_place_append_tag(nonce, Aad::empty(), &mut self.block).map_err(|_| invalid_data())?;
        self.out.write_all(&self.block)?;
        self.number += 1;
        self.block.clear();
        Ok(())
    }
}

impl<W: Write> Write for EncryptingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.block.len() == BLOCK_SIZE {
            self.write_block(BlockPosition::NotLast)?;
        }
        let count = bytes.len().min(BLOCK_SIZE - self.block.len());
        self.block.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<R: Read> DecryptingReader<R> {
    /// Opens a stream with its key and the string that identifies its content.
    pub fn new(mut input: R, key: &[u8], content_id: &[u8]) -> io::Result<Self> {
        let mut salt = [0; SALT_SIZE];
        input.read_exact(&mut salt)?;
        let key = derive_key(key, &salt, content_id)?;
        let next = read_block(&mut input, Vec::new())?;
        Ok(DecryptingReader { input, key, block: Vec::new(), consumed: 0, number: 0, next })
    }

    fn decrypt_block(&mut self) -> io::Result<()> {
        let buffer = std::mem::replace(&mut self.block, std::mem::take(&mut self.next));
        self.next = read_block(&mut self.input, buffer)?;
        let block_position = if self.next.is_empty() { BlockPosition::Last } else { BlockPosition::NotLast };
        let nonce = nonce(self.number, block_position);
        let length = self.key.open_in_place(nonce, Aad::empty(), &mut self.block).map_err(|_| invalid_data())?.len();
        self.block.truncate(length);
        (self.consumed, self.number) = (0, self.number + 1);
        Ok(())
    }
}

impl<R: Read> Read for DecryptingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // The first block is decrypted even if it is empty: an empty stream has one empty block, and a stream without
        // any block is invalid.
        if self.consumed == self.block.len() && (self.number == 0 || !self.next.is_empty()) {
            self.decrypt_block()?;
        }
        let count = buffer.len().min(self.block.len() - self.consumed);
        buffer[..count].copy_from_slice(&self.block[self.consumed..self.consumed + count]);
        self.consumed += count;
        Ok(count)
    }
}

/// Reads the next encrypted block; empty at the end.
fn read_block(input: &mut impl Read, mut buffer: Vec<u8>) -> io::Result<Vec<u8>> {
    buffer.clear();
    input.take((BLOCK_SIZE + TAG_SIZE) as u64).read_to_end(&mut buffer)?;
    Ok(buffer)
}

fn derive_key(key: &[u8], salt: &[u8], content_id: &[u8]) -> io::Result<LessSafeKey> {
    let root = Salt::new(HKDF_SHA256, salt).extract(key);
    let content_id = [content_id];
    let key = root.expand(&content_id, &AES_256_GCM).map_err(|_| invalid_data())?;
    Ok(LessSafeKey::new(UnboundKey::from(key)))
}

/// Each number is used once per key, since each stream has its own key.
fn nonce(number: u64, block_position: BlockPosition) -> Nonce {
    let mut nonce = [0; NONCE_LEN];
    nonce[..8].copy_from_slice(&number.to_le_bytes());
    nonce[8] = match block_position {
        BlockPosition::NotLast => 0,
        BlockPosition::Last => 1,
    };
    Nonce::assume_unique_for_key(nonce)
}

/// Returns the error for bytes that were modified or truncated.
fn invalid_data() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &[u8] = &[7; 32];

    fn encrypted(bytes: &[u8]) -> Vec<u8> {
        let mut writer = EncryptingWriter::new(Vec::new(), KEY, b"it").expect("randomness");
        writer.write_all(bytes).and_then(|()| writer.finish()).expect("writing to memory")
    }

    fn decrypted(encrypted: &[u8], key: &[u8], content_id: &[u8]) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        DecryptingReader::new(encrypted, key, content_id)?.read_to_end(&mut bytes).map(|_| bytes)
    }

    #[test]
    fn a_stream_decrypts_to_its_plaintext_and_does_not_contain_it() {
        for length in [0, 1, BLOCK_SIZE - 1, BLOCK_SIZE, BLOCK_SIZE + 1, 2 * BLOCK_SIZE, 3 * BLOCK_SIZE + 5] {
            let bytes: Vec<u8> = b"valve ".iter().copied().cycle().take(length).collect();
            let encrypted = encrypted(&bytes);
            assert!(decrypted(&encrypted, KEY, b"it").expect("the stream is complete") == bytes, "{length}");
            assert!(!encrypted.windows(5).any(|window| window == b"valve"), "{length}");
        }
    }

    #[test]
    fn a_modified_stream_or_another_key_or_content_fails_to_decrypt() {
        let whole = encrypted(&vec![1; 2 * BLOCK_SIZE + 10]);
        let offsets = [
            0,
            1,
            SALT_SIZE,
            SALT_SIZE + 1,
            SALT_SIZE + BLOCK_SIZE + TAG_SIZE,
            SALT_SIZE + 2 * (BLOCK_SIZE + TAG_SIZE),
            whole.len() - 1,
        ];
        for offset in offsets {
            assert!(decrypted(&whole[..offset], KEY, b"it").is_err(), "cut at {offset}");
            let mut changed = whole.clone();
            changed[offset] ^= 1;
            assert!(decrypted(&changed, KEY, b"it").is_err(), "changed at {offset}");
        }
        let mut reordered = whole.clone();
        reordered[SALT_SIZE..].rotate_left(BLOCK_SIZE + TAG_SIZE);
        let longer = [&whole[..], &[0]].concat();
        assert!(decrypted(&reordered, KEY, b"it").is_err() && decrypted(&longer, KEY, b"it").is_err());
        assert!(decrypted(&whole, &[8; 32], b"it").is_err() && decrypted(&whole, KEY, b"other").is_err());
    }
}
