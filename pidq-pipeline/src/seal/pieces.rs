//! Much, locked piece by piece on its way into a file and opened on its way out, so that it is never in memory as a whole.
//!
//! Each file has a key of its own, made of the one that is given, of random bytes at its beginning and of what the file
//! is (HKDF-SHA-256). The pieces are locked with AES-256-GCM under their numbers, the last one as the last: what is cut
//! off, changed, exchanged, or of something else does not open.

use std::io::{self, Read, Write};

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};

use crate::wire::wrong;

/// Bytes of a piece before it is locked.
const PIECE: usize = 256 << 10;
/// What locking adds to it.
const TAG: usize = 16;
/// Random bytes at the beginning.
const SALT: usize = 32;

/// Takes bytes, and gives them on locked.
pub(crate) struct Sealing<W> {
    out: W,
    key: LessSafeKey,
    piece: Vec<u8>,
    number: u64,
}

/// Gives what was locked. Nothing is given that was not as it was written.
pub(crate) struct Opening<R> {
    input: R,
    key: LessSafeKey,
    piece: Vec<u8>,
    /// How much of the piece was given.
    given: usize,
    number: u64,
    /// The next piece, still locked: one that none follows is the last.
    next: Vec<u8>,
}

/// Whether another piece follows.
#[derive(Clone, Copy)]
enum Follows {
    Another,
    Nothing,
}

impl<W: Write> Sealing<W> {
    /// Locks with a key what is said to be something.
    pub fn new(mut out: W, key: &[u8], what: &[u8]) -> io::Result<Self> {
        let mut salt = [0; SALT];
        getrandom::fill(&mut salt).map_err(io::Error::other)?;
        out.write_all(&salt)?;
        Ok(Sealing { out, key: key_of(key, &salt, what)?, piece: Vec::with_capacity(PIECE + TAG), number: 0 })
    }

    /// All is written. What is not finished does not open.
    pub fn finish(mut self) -> io::Result<W> {
        self.seal(Follows::Nothing)?;
        Ok(self.out)
    }

    fn seal(&mut self, follows: Follows) -> io::Result<()> {
        let nonce = nonce(self.number, follows);
        self.key.seal_in_place_append_tag(nonce, Aad::empty(), &mut self.piece).map_err(|_| wrong())?;
        self.out.write_all(&self.piece)?;
        self.number += 1;
        self.piece.clear();
        Ok(())
    }
}

impl<W: Write> Write for Sealing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.piece.len() == PIECE {
            self.seal(Follows::Another)?;
        }
        let taken = bytes.len().min(PIECE - self.piece.len());
        self.piece.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<R: Read> Opening<R> {
    /// Opens with the key what should be something.
    pub fn new(mut input: R, key: &[u8], what: &[u8]) -> io::Result<Self> {
        let mut salt = [0; SALT];
        input.read_exact(&mut salt)?;
        let key = key_of(key, &salt, what)?;
        let next = locked(&mut input, Vec::new())?;
        Ok(Opening { input, key, piece: Vec::new(), given: 0, number: 0, next })
    }

    fn open(&mut self) -> io::Result<()> {
        let spare = std::mem::replace(&mut self.piece, std::mem::take(&mut self.next));
        self.next = locked(&mut self.input, spare)?;
        let follows = if self.next.is_empty() { Follows::Nothing } else { Follows::Another };
        let nonce = nonce(self.number, follows);
        let opened = self.key.open_in_place(nonce, Aad::empty(), &mut self.piece).map_err(|_| wrong())?.len();
        self.piece.truncate(opened);
        (self.given, self.number) = (0, self.number + 1);
        Ok(())
    }
}

impl<R: Read> Read for Opening<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // One without any bytes is the only one that is empty, and it is opened too: nothing at all is no file.
        if self.given == self.piece.len() && (self.number == 0 || !self.next.is_empty()) {
            self.open()?;
        }
        let given = into.len().min(self.piece.len() - self.given);
        into[..given].copy_from_slice(&self.piece[self.given..self.given + given]);
        self.given += given;
        Ok(given)
    }
}

/// The next piece as it stands in the file; empty at its end.
fn locked(input: &mut impl Read, mut spare: Vec<u8>) -> io::Result<Vec<u8>> {
    spare.clear();
    input.take((PIECE + TAG) as u64).read_to_end(&mut spare)?;
    Ok(spare)
}

fn key_of(key: &[u8], salt: &[u8], what: &[u8]) -> io::Result<LessSafeKey> {
    let root = Salt::new(HKDF_SHA256, salt).extract(key);
    let what = [what];
    let key = root.expand(&what, &AES_256_GCM).map_err(|_| wrong())?;
    Ok(LessSafeKey::new(UnboundKey::from(key)))
}

/// Each number is used once with a key, since each file has its own.
fn nonce(number: u64, follows: Follows) -> Nonce {
    let mut nonce = [0; NONCE_LEN];
    nonce[..8].copy_from_slice(&number.to_le_bytes());
    nonce[8] = match follows {
        Follows::Another => 0,
        Follows::Nothing => 1,
    };
    Nonce::assume_unique_for_key(nonce)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &[u8] = &[7; 32];

    fn sealed(bytes: &[u8]) -> Vec<u8> {
        let mut sealing = Sealing::new(Vec::new(), KEY, b"it").expect("randomness");
        sealing.write_all(bytes).and_then(|()| sealing.finish()).expect("memory takes it")
    }

    fn opened(sealed: &[u8], key: &[u8], what: &[u8]) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        Opening::new(sealed, key, what)?.read_to_end(&mut bytes).map(|_| bytes)
    }

    #[test]
    fn what_goes_in_comes_out_and_does_not_show() {
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 3 * PIECE + 5] {
            let bytes: Vec<u8> = b"valve ".iter().copied().cycle().take(length).collect();
            let sealed = sealed(&bytes);
            assert!(opened(&sealed, KEY, b"it").expect("it is whole") == bytes, "{length}");
            assert!(!sealed.windows(5).any(|window| window == b"valve"), "{length}");
        }
    }

    #[test]
    fn what_is_cut_changed_longer_or_of_something_else_does_not_open() {
        let whole = sealed(&vec![1; 2 * PIECE + 10]);
        let borders = [0, 1, SALT, SALT + 1, SALT + PIECE + TAG, SALT + 2 * (PIECE + TAG), whole.len() - 1];
        for at in borders {
            assert!(opened(&whole[..at], KEY, b"it").is_err(), "cut at {at}");
            let mut changed = whole.clone();
            changed[at] ^= 1;
            assert!(opened(&changed, KEY, b"it").is_err(), "changed at {at}");
        }
        let mut exchanged = whole.clone();
        exchanged[SALT..].rotate_left(PIECE + TAG);
        let longer = [&whole[..], &[0]].concat();
        assert!(opened(&exchanged, KEY, b"it").is_err() && opened(&longer, KEY, b"it").is_err());
        assert!(opened(&whole, &[8; 32], b"it").is_err() && opened(&whole, KEY, b"other").is_err());
    }
}
