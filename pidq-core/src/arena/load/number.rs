//! Number parser of the document loader.

/// The lexical parts of a number.
#[derive(Clone, Copy)]
pub(super) struct Number {
    is_negative: bool,
    /// All digits before the exponent as one integer; meaningless above 19 digits.
    mantissa: u64,
    digits: usize,
    /// Number of digits after the decimal point.
    scale: usize,
    has_exponent: bool,
    /// One past the last byte.
    pub end: usize,
}

/// Offset and description of an invalid number.
pub(super) type NumberError = (usize, &'static str);

impl Number {
    /// Parses the number whose sign or first digit is at `at`.
    #[inline(always)]
    pub fn parse(bytes: &[u8], at: usize) -> Result<Number, NumberError> {
        match Number::parse_short(bytes, at) {
            Some(number) => Ok(number),
            None => Number::parse_any_length(bytes, at),
        }
    }

    /// Parses a number of up to seven characters: reads eight bytes at once and avoids a loop, whose exit branch would
    /// be hard to predict.
    #[inline(always)]
    fn parse_short(bytes: &[u8], at: usize) -> Option<Number> {
        let is_negative = bytes[at] == b'-';
        let first = at + usize::from(is_negative);
        let word = u64::from_le_bytes(*bytes.get(first..)?.first_chunk()?);
        let values = word ^ (ONES * u64::from(b'0'));
        let leading = leading_digits(values);
        let (mut scale, mut fraction, mut len) = (0, 0, leading);
        if len < 8 && byte(word, len) == b'.' {
            // The shifted-in byte must not be a digit.
            fraction = !(!values >> (8 * leading) >> 8);
            scale = leading_digits(fraction);
            len += 1 + scale;
            if scale == 0 {
                return None;
            }
        }
        let is_plain =
            leading > 0 && len < 8 && byte(word, len) | 0x20 != b'e' && (leading == 1 || byte(values, 0) != 0);
        if !is_plain {
            return None;
        }
        let digits = leading + scale;
        let packed = low_bytes(values, leading) | low_bytes(fraction, scale) << (8 * leading);
        let mantissa = eight_digits(packed << (64 - 8 * digits));
        Some(Number { is_negative, mantissa, digits, scale, has_exponent: false, end: first + len })
    }

    #[inline(never)]
    fn parse_any_length(bytes: &[u8], at: usize) -> Result<Number, NumberError> {
        let is_negative = bytes[at] == b'-';
        let first = at + usize::from(is_negative);
        let mut number = Number { is_negative, mantissa: 0, digits: 0, scale: 0, has_exponent: false, end: first };
        number.take_digits(bytes)?;
        if number.digits > 1 && bytes[first] == b'0' {
            return Err((first, "a number cannot have leading zeros"));
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

    /// Consumes at least one digit.
    fn take_digits(&mut self, bytes: &[u8]) -> Result<(), NumberError> {
        let start = self.end;
        while let Some(digit @ b'0'..=b'9') = bytes.get(self.end) {
            self.mantissa = self.mantissa.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            self.end += 1;
        }
        self.digits += self.end - start;
        if self.end == start { Err((start, "expected a digit")) } else { Ok(()) }
    }

    /// Returns the value if mantissa and power of ten are exact as `f64`, so that one division rounds correctly
    /// (Clinger 1990).
    #[inline]
    pub fn exact(&self) -> Option<f64> {
        if self.has_exponent || self.digits > 15 {
            return None;
        }
        let value = self.mantissa as i64 as f64 / POWERS_OF_TEN[self.scale];
        Some(if self.is_negative { -value } else { value })
    }

    /// Returns true for an integer with so many digits that its double may be another one.
    #[inline]
    pub fn may_be_rounded(&self) -> bool {
        self.digits > 15 && self.scale == 0 && !self.has_exponent
    }

    /// Returns true if JavaScript prints the value with the same digits: at most 15 of them, no exponent, no trailing
    /// zero.
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

/// Returns the lowest `count` bytes of a word; fewer than eight.
fn low_bytes(word: u64, count: usize) -> u64 {
    word & ((1 << (8 * count)) - 1)
}

/// Counts the leading bytes with a value of 0 to 9, from the lowest on.
fn leading_digits(values: u64) -> usize {
    // Adding 0x76 sets the highest bit of 10 and more. A carry only affects bytes above the first such byte.
    let non_digits = (values.wrapping_add(ONES * 0x76) | values) & (ONES * 0x80);
    non_digits.trailing_zeros() as usize / 8
}

/// Returns the number with eight digits, the first in the lowest byte: combines adjacent digits to pairs, then fours,
/// then all.
fn eight_digits(digits: u64) -> u64 {
    let pairs = (digits * 10 + (digits >> 8)) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_FFFF_0000_FFFF;
    (fours * 10_000 + (fours >> 32)) & 0xFFFF_FFFF
}
