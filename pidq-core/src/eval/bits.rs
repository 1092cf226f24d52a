//! Sets of rows, one bit a row.
//!
//! Hot: conditions on whole lists end here. The loops have no branches, so that they take a fraction of a nanosecond a
//! row.

/// Rows in a word.
const WORD: usize = 64;

/// A set of the rows of a list.
#[derive(Clone, Debug)]
pub(crate) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// All rows.
    pub fn all(rows: usize) -> Bits {
        let mut words = vec![u64::MAX; rows.div_ceil(WORD)];
        if let (Some(last), used @ 1..) = (words.last_mut(), rows % WORD) {
            *last = (1 << used) - 1;
        }
        Bits { words }
    }

    /// No row.
    pub fn none(rows: usize) -> Bits {
        Bits { words: vec![0; rows.div_ceil(WORD)] }
    }

    pub fn insert(&mut self, row: u32) {
        self.words[row as usize / WORD] |= 1 << (row as usize % WORD);
    }

    /// Takes a row off.
    pub fn take(&mut self, row: u32) {
        self.words[row as usize / WORD] &= !(1 << (row as usize % WORD));
    }

    pub fn contains(&self, row: u32) -> bool {
        self.words[row as usize / WORD] >> (row as usize % WORD) & 1 == 1
    }

    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// How many rows have each code. `totals` says how many have it in the whole list.
    pub fn counts(&self, codes: &[u8], totals: impl Iterator<Item = u32>) -> Box<[u32; 256]> {
        let mut counts = Box::new([0; 256]);
        match self.count() == codes.len() {
            true => counts.iter_mut().zip(totals).for_each(|(count, total)| *count = total),
            false => self.iter().for_each(|row| counts[codes[row as usize] as usize] += 1),
        }
        counts
    }

    pub fn add(&mut self, other: &Bits) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    pub fn remove(&mut self, other: &Bits) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
    }

    pub fn intersect(&mut self, other: &Bits) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
    }

    /// Keeps the rows whose items pass. Items of 64 rows that are gone already are not looked at.
    pub fn keep<T: Copy>(&mut self, items: &[T], passes: impl Fn(T) -> bool) {
        /// With fewer rows in a word it is faster to go from one to the next.
        const FEW: u32 = 16;
        for (word, items) in self.words.iter_mut().zip(items.chunks(WORD)) {
            let mut passed = 0;
            match word.count_ones() {
                ..FEW => Ones(*word).for_each(|bit| passed |= u64::from(passes(items[bit as usize])) << bit),
                _ => items.iter().enumerate().for_each(|(bit, item)| passed |= u64::from(passes(*item)) << bit),
            }
            *word &= passed;
        }
    }

    /// Keeps the rows that have this one byte: eight at a time.
    pub fn keep_byte(&mut self, bytes: &[u8], wanted: u8) {
        for (word, bytes) in self.words.iter_mut().zip(bytes.chunks(WORD)) {
            if *word != 0 {
                *word &= equal_bytes(bytes, wanted);
            }
        }
    }

    /// Writes the rows, ascending, into room for just as many: eight rows at a time, of which those are kept that are
    /// in the set. Where a tag or an id is looked up, nearly all words are empty.
    pub fn write(&self, out: &mut [u32]) {
        let mut kept = 0;
        for (word, start) in self.words.iter().zip((0..).step_by(WORD)).filter(|(word, _)| **word != 0) {
            for (byte, first) in word.to_le_bytes().into_iter().zip((start..).step_by(8)) {
                let ones = &PLACES[byte as usize];
                match out.get_mut(kept..kept + 8) {
                    Some(room) => room.iter_mut().zip(ones).for_each(|(row, place)| *row = first + place),
                    None => out.iter_mut().skip(kept).zip(ones).for_each(|(row, place)| *row = first + place),
                }
                kept += byte.count_ones() as usize;
            }
        }
    }

    /// The rows, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.words.iter().zip(0..).flat_map(|(word, at)| Ones(*word).map(move |bit| at * WORD as u32 + bit))
    }
}

/// By byte: the places of its bits, then whatever.
const PLACES: [[u32; 8]; 256] = {
    let mut places = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut found) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                places[byte][found] = bit;
                found += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    places
};

/// A bit for each byte that is the wanted one.
fn equal_bytes(bytes: &[u8], wanted: u8) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const LOWS: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    // Collects the lowest bit of each byte in the highest byte.
    const COLLECT: u64 = 0x0102_0408_1020_4080;
    let (chunks, rest) = bytes.as_chunks::<8>();
    let mut found = 0;
    for (chunk, at) in chunks.iter().zip(0..) {
        let word = u64::from_le_bytes(*chunk) ^ (ONES * u64::from(wanted));
        // The highest bit of a byte is set where the byte is zero: exact, since no carry leaves its byte.
        let zeros = !(((word & LOWS) + LOWS) | word | LOWS);
        found |= ((zeros >> 7).wrapping_mul(COLLECT) >> 56) << (at * 8);
    }
    rest.iter().zip(chunks.len() * 8..).fold(found, |found, (byte, bit)| found | u64::from(*byte == wanted) << bit)
}

/// The places of the bits of a word, ascending.
struct Ones(u64);

impl Iterator for Ones {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let bit = (self.0 != 0).then(|| self.0.trailing_zeros());
        self.0 &= self.0.wrapping_sub(1);
        bit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_rows_end_at_the_last() {
        for rows in [0, 1, 63, 64, 65, 128, 1000] {
            assert_eq!(Bits::all(rows).iter().collect::<Vec<_>>(), (0..rows as u32).collect::<Vec<_>>());
            assert_eq!(Bits::all(rows).count(), rows);
        }
    }

    #[test]
    fn bytes_are_compared_exactly() {
        let bytes: Vec<u8> = (0..1000).map(|at| (at * 7 % 256) as u8).collect();
        for wanted in [0, 1, 127, 128, 129, 255] {
            let mut bits = Bits::all(bytes.len());
            bits.keep_byte(&bytes, wanted);
            let rows: Vec<u32> = (0..bytes.len() as u32).filter(|row| bytes[*row as usize] == wanted).collect();
            assert_eq!(bits.iter().collect::<Vec<_>>(), rows);
        }
    }

    #[test]
    fn rows_are_written_into_just_enough_room() {
        for step in [1, 2, 3, 7, 8, 9, 64, 65, 200] {
            let mut bits = Bits::none(200);
            (0..200).step_by(step).for_each(|row| bits.insert(row));
            let mut rows = vec![0; bits.count()];
            bits.write(&mut rows);
            assert_eq!(rows, bits.iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn rows_that_are_gone_stay_away() {
        let items: Vec<u32> = (0..200).collect();
        let mut bits = Bits::none(200);
        bits.insert(7);
        bits.insert(130);
        bits.keep(&items, |item| item > 100);
        assert_eq!(bits.iter().collect::<Vec<_>>(), [130]);
    }
}
