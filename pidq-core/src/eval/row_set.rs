//! Row set: a bitmap with one bit per row.
//!
//! Hot: vectorized conditions end here. The loops are branch-free and take a fraction of a nanosecond per row.

/// Rows per word.
const WORD: usize = 64;

/// Set of rows of a list.
#[derive(Clone, Debug)]
pub(crate) struct RowSet {
    words: Vec<u64>,
}

impl RowSet {
    /// Returns the set of all rows.
    pub fn all(rows: usize) -> RowSet {
        let mut words = vec![u64::MAX; rows.div_ceil(WORD)];
        if let (Some(last), used @ 1..) = (words.last_mut(), rows % WORD) {
            *last = (1 << used) - 1;
        }
        RowSet { words }
    }

    /// Returns the empty set.
    pub fn empty(rows: usize) -> RowSet {
        RowSet { words: vec![0; rows.div_ceil(WORD)] }
    }

    pub fn insert(&mut self, row: u32) {
        self.words[row as usize / WORD] |= 1 << (row as usize % WORD);
    }

    /// Removes a row.
    pub fn remove_row(&mut self, row: u32) {
        self.words[row as usize / WORD] &= !(1 << (row as usize % WORD));
    }

    pub fn contains(&self, row: u32) -> bool {
        self.words[row as usize / WORD] >> (row as usize % WORD) & 1 == 1
    }

    /// Returns the number of rows in the set.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Counts the rows per code. `totals` are the counts over the whole list.
    pub fn count_by_code(&self, codes: &[u8], totals: impl Iterator<Item = u32>) -> Box<[u32; 256]> {
        let mut counts = Box::new([0; 256]);
        match self.count() == codes.len() {
            true => counts.iter_mut().zip(totals).for_each(|(count, total)| *count = total),
            false => self.iter().for_each(|row| counts[codes[row as usize] as usize] += 1),
        }
        counts
    }

    pub fn union(&mut self, other: &RowSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    pub fn subtract(&mut self, other: &RowSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
    }

    pub fn intersect(&mut self, other: &RowSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
    }

    /// Keeps the rows whose items pass. Skips words of 64 rows that are already empty.
    pub fn retain<T: Copy>(&mut self, items: &[T], passes: impl Fn(T) -> bool) {
        /// With fewer rows in a word, iterating over the set bits is faster.
        const FEW: u32 = 16;
        for (word, items) in self.words.iter_mut().zip(items.chunks(WORD)) {
            let mut passed = 0;
            match word.count_ones() {
                ..FEW => BitPositions(*word).for_each(|bit| passed |= u64::from(passes(items[bit as usize])) << bit),
                _ => items.iter().enumerate().for_each(|(bit, item)| passed |= u64::from(passes(*item)) << bit),
            }
            *word &= passed;
        }
    }

    /// Keeps the rows that pass.
    ///
    /// # Errors
    /// The first of `passes`.
    pub fn try_retain_rows<E>(&mut self, mut passes: impl FnMut(u32) -> Result<bool, E>) -> Result<(), E> {
        for (word, first) in self.words.iter_mut().zip((0..).step_by(WORD)) {
            let mut passed = 0;
            for bit in BitPositions(*word) {
                passed |= u64::from(passes(first + bit)?) << bit;
            }
            *word = passed;
        }
        Ok(())
    }

    /// Keeps the rows whose byte equals `target`; compares eight rows at a time.
    pub fn retain_byte(&mut self, bytes: &[u8], target: u8) {
        for (word, bytes) in self.words.iter_mut().zip(bytes.chunks(WORD)) {
            if *word != 0 {
                *word &= equal_bytes(bytes, target);
            }
        }
    }

    /// Writes the rows, ascending, into a slice of exactly as many: eight rows at a time, keeping those that are in the
    /// set. When a tag or an id is looked up, nearly all words are empty.
    pub fn write_rows(&self, out: &mut [u32]) {
        let mut written = 0;
        for (word, start) in self.words.iter().zip((0..).step_by(WORD)).filter(|(word, _)| **word != 0) {
            for (byte, first) in word.to_le_bytes().into_iter().zip((start..).step_by(8)) {
                let ones = &BIT_POSITIONS[byte as usize];
                match out.get_mut(written..written + 8) {
                    Some(slots) => slots.iter_mut().zip(ones).for_each(|(row, position)| *row = first + position),
                    None => out.iter_mut().skip(written).zip(ones).for_each(|(row, position)| *row = first + position),
                }
                written += byte.count_ones() as usize;
            }
        }
    }

    /// Returns the rows, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.words.iter().zip(0..).flat_map(|(word, at)| BitPositions(*word).map(move |bit| at * WORD as u32 + bit))
    }
}

/// By byte: the positions of its set bits; the remaining entries are unused.
const BIT_POSITIONS: [[u32; 8]; 256] = {
    let mut positions = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut found) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                positions[byte][found] = bit;
                found += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    positions
};

/// Returns one bit per byte, set if the byte equals `target`.
fn equal_bytes(bytes: &[u8], target: u8) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const LOWS: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    // Collects the lowest bit of each byte in the highest byte.
    const COLLECT: u64 = 0x0102_0408_1020_4080;
    let (chunks, rest) = bytes.as_chunks::<8>();
    let mut found = 0;
    for (chunk, at) in chunks.iter().zip(0..) {
        let word = u64::from_le_bytes(*chunk) ^ (ONES * u64::from(target));
        // The highest bit of a byte is set where the byte is zero: exact, since no carry leaves its byte.
        let zeros = !(((word & LOWS) + LOWS) | word | LOWS);
        found |= ((zeros >> 7).wrapping_mul(COLLECT) >> 56) << (at * 8);
    }
    rest.iter().zip(chunks.len() * 8..).fold(found, |found, (byte, bit)| found | u64::from(*byte == target) << bit)
}

/// Iterator over the positions of the set bits of a word, ascending.
struct BitPositions(u64);

impl Iterator for BitPositions {
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
    fn the_full_set_contains_every_row() {
        for rows in [0, 1, 63, 64, 65, 128, 1000] {
            assert_eq!(RowSet::all(rows).iter().collect::<Vec<_>>(), (0..rows as u32).collect::<Vec<_>>());
            assert_eq!(RowSet::all(rows).count(), rows);
        }
    }

    #[test]
    fn bytes_are_compared_exactly() {
        let bytes: Vec<u8> = (0..1000).map(|at| (at * 7 % 256) as u8).collect();
        for target in [0, 1, 127, 128, 129, 255] {
            let mut bits = RowSet::all(bytes.len());
            bits.retain_byte(&bytes, target);
            let rows: Vec<u32> = (0..bytes.len() as u32).filter(|row| bytes[*row as usize] == target).collect();
            assert_eq!(bits.iter().collect::<Vec<_>>(), rows);
        }
    }

    #[test]
    fn rows_are_written_without_reallocation() {
        for step in [1, 2, 3, 7, 8, 9, 64, 65, 200] {
            let mut bits = RowSet::empty(200);
            (0..200).step_by(step).for_each(|row| bits.insert(row));
            let mut rows = vec![0; bits.count()];
            bits.write_rows(&mut rows);
            assert_eq!(rows, bits.iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn retaining_adds_no_rows() {
        let items: Vec<u32> = (0..200).collect();
        let mut bits = RowSet::empty(200);
        bits.insert(7);
        bits.insert(130);
        bits.retain(&items, |item| item > 100);
        assert_eq!(bits.iter().collect::<Vec<_>>(), [130]);
        let passes = |row: u32| if row < 150 { Ok(row > 100) } else { Err(row) };
        assert_eq!(bits.try_retain_rows(passes), Ok(()));
        assert_eq!(bits.iter().collect::<Vec<_>>(), [130]);
        assert_eq!(RowSet::all(200).try_retain_rows(passes), Err(150));
    }
}
