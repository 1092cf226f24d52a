//! The numbers of a document, from their digits to their value.

/// The parts of a number.
#[derive(Clone, Copy)]
pub(super) struct Number {
    is_negative: bool,
    /// All digits before the exponent as one integer; meaningless above 19 digits.
    mantissa: u64,
    digits: usize,
    /// How many of them stand after the point.
    scale: usize,
    has_exponent: bool,
    /// One past its last byte.
    pub end: usize,
}

/// Why and where a number is none.
pub(super) type Flaw = (usize, &'static str);

impl Number {
    /// Reads the number that begins at a place, with its sign or first digit.
    #[inline(always)]
    pub fn read(bytes: &[u8], at: usize) -> Result<Number, Flaw> {
        match Number::short(bytes, at) {
            Some(number) => Ok(number),
            None => Number::any(bytes, at),
        }
    }

    /// Reads a number of up to seven characters: eight bytes at once and no loop, whose end would be hard to foresee.
    #[inline(always)]
    fn short(bytes: &[u8], at: usize) -> Option<Number> {
        let is_negative = bytes[at] == b'-';
        let first = at + usize::from(is_negative);
        let word = u64::from_le_bytes(*bytes.get(first..)?.first_chunk()?);
        let values = word ^ (ONES * u64::from(b'0'));
        let whole = leading_digits(values);
        let (mut scale, mut fraction, mut len) = (0, 0, whole);
        if len < 8 && byte(word, len) == b'.' {
            // What is shifted in from above is no digit.
            fraction = !(!values >> (8 * whole) >> 8);
            scale = leading_digits(fraction);
            len += 1 + scale;
            if scale == 0 {
                return None;
            }
        }
        let is_plain = whole > 0 && len < 8 && byte(word, len) | 0x20 != b'e' && (whole == 1 || byte(values, 0) != 0);
        if !is_plain {
            return None;
        }
        let digits = whole + scale;
        let packed = lowest(values, whole) | lowest(fraction, scale) << (8 * whole);
        let mantissa = eight_digits(packed << (64 - 8 * digits));
        Some(Number { is_negative, mantissa, digits, scale, has_exponent: false, end: first + len })
    }

    #[inline(never)]
    fn any(bytes: &[u8], at: usize) -> Result<Number, Flaw> {
        let is_negative = bytes[at] == b'-';
        let first = at + usize::from(is_negative);
        let mut number = Number { is_negative, mantissa: 0, digits: 0, scale: 0, has_exponent: false, end: first };
        number.take_digits(bytes)?;
        if number.digits > 1 && bytes[first] == b'0' {
            return Err((first, "a number cannot begin with 0"));
        }
        if bytes.get(number.end) == Some(&b'.') {
            number.end += 1;
            let integer_digits = number.digits;
            number.take_digits(bytes)?;
            number.scale = number.digits - integer_digits;
        }
        if let Some(b'e' | b'E') = bytes.get(number.end) {
            number.has_exponent = true;
            number.end += 1 + usize::from(matches!(bytes.get(number.end + 1), Some(b'+' | b'-')));
            let mut exponent = number;
            exponent.take_digits(bytes)?;
            number.end = exponent.end;
        }
        Ok(number)
    }

    /// Reads at least one digit.
    fn take_digits(&mut self, bytes: &[u8]) -> Result<(), Flaw> {
        let start = self.end;
        while let Some(digit @ b'0'..=b'9') = bytes.get(self.end) {
            self.mantissa = self.mantissa.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            self.end += 1;
        }
        self.digits += self.end - start;
        if self.end == start { Err((start, "expected a digit")) } else { Ok(()) }
    }

    /// The value where mantissa and power of ten are exact as `f64`, so that one division rounds correctly (Clinger 1990).
    #[inline]
    pub fn exact(&self) -> Option<f64> {
        if self.has_exponent || self.digits > 15 {
            return None;
        }
        let value = self.mantissa as i64 as f64 / POWERS_OF_TEN[self.scale];
        Some(if self.is_negative { -value } else { value })
    }

    /// Whether JavaScript prints the value in the same digits: at most 15 of them, no exponent, no closing zero.
    #[inline]
    pub fn is_canonical(&self, value: f64) -> bool {
        !self.has_exponent
            && self.digits <= 15
            && (self.scale == 0 || (!self.mantissa.is_multiple_of(10) && value.abs() >= 1e-6))
            && !(self.is_negative && self.mantissa == 0)
    }
}

const POWERS_OF_TEN: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

const ONES: u64 = 0x0101_0101_0101_0101;

fn byte(word: u64, at: usize) -> u8 {
    (word >> (8 * at)) as u8
}

/// The lowest bytes of a word; fewer than eight.
fn lowest(word: u64, count: usize) -> u64 {
    word & ((1 << (8 * count)) - 1)
}

/// How many bytes are 0 to 9, from the lowest on.
fn leading_digits(values: u64) -> usize {
    // Adding 0x76 lifts 10 and more into the highest bit. A carry spoils only what is above the first such byte.
    let others = (values.wrapping_add(ONES * 0x76) | values) & (ONES * 0x80);
    others.trailing_zeros() as usize / 8
}

/// The number that eight digits make, the first in the lowest byte: neighbours join to pairs, fours and all.
fn eight_digits(digits: u64) -> u64 {
    let pairs = (digits * 10 + (digits >> 8)) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_FFFF_0000_FFFF;
    (fours * 10_000 + (fours >> 32)) & 0xFFFF_FFFF
}
