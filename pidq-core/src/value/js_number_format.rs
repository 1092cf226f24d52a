//! Formatting of numbers exactly as JavaScript does. Source: ECMA-262, `Number::toString`.

use std::fmt;

/// Returns the text of a number as JavaScript prints it.
pub(crate) fn number_text(value: f64) -> NumberText {
    NumberText(value)
}

/// Maximum length of the text of a number, such as `-1.2345678901234567e-300`, with some room.
pub(crate) const MAX_NUMBER_LEN: usize = 32;

/// Buffer for the text of a number.
pub(crate) struct NumberBuffer {
    short: ShortBuffer,
    long: ryu_js::Buffer,
}

impl NumberBuffer {
    pub fn new() -> NumberBuffer {
        NumberBuffer { short: [0; 2 * SHORT_LEN], long: ryu_js::Buffer::new() }
    }

    /// Formats a number as JavaScript does.
    pub fn text(&mut self, value: f64) -> &str {
        let short = short_decimal(value, &mut self.short).map(|start| &self.short[start..SHORT_LEN]);
        match short.and_then(|digits| str::from_utf8(digits).ok()) {
            Some(text) => text,
            None => self.long.format(value),
        }
    }

    /// Appends the text of a number.
    ///
    /// Hot: the buffer is twice as long as the text, so that a block of a fixed length is copied.
    pub fn append_to(&mut self, out: &mut Vec<u8>, value: f64) {
        let start = short_decimal(value, &mut self.short);
        match start.and_then(|start| Some((start, self.short[start..].first_chunk::<SHORT_LEN>()?))) {
            Some((start, block)) => {
                let end = out.len() + SHORT_LEN - start;
                out.extend_from_slice(block);
                out.truncate(end);
            }
            None => out.extend_from_slice(self.long.format(value).as_bytes()),
        }
    }
}

/// Buffer of a short decimal, which ends at [`SHORT_LEN`].
type ShortBuffer = [u8; 2 * SHORT_LEN];

/// Buffer size for a short decimal: a sign, fifteen digits and a point.
const SHORT_LEN: usize = 20;

/// Formats a number of at most fifteen digits, up to three of them after the point: the usual case in drawings. It is
/// the shortest text, since no two such texts are the same double. Returns its start.
fn short_decimal(value: f64, buffer: &mut ShortBuffer) -> Option<usize> {
    // Thousandths of a larger number have more than fifteen digits. Signed integers are converted by one instruction.
    const MAX: f64 = 1e15;
    const MAX_FRACTION: f64 = 1e12;
    let size = value.abs();
    if size.is_nan() || size >= MAX {
        return None;
    }
    let integer = size as i64;
    if integer as f64 == size {
        return Some(write_decimal(integer as u64, 0, value < 0.0, buffer));
    }
    if size >= MAX_FRACTION {
        return None;
    }
    // One digit after the point is by far the most frequent, and then there is no zero to remove.
    let tenths = (size * 10.0 + 0.5) as i64;
    if tenths as f64 / 10.0 == size {
        return Some(write_decimal(tenths as u64, 1, value < 0.0, buffer));
    }
    let thousandths = (size * 1000.0 + 0.5) as i64;
    if thousandths as f64 / 1000.0 != size {
        return None;
    }
    Some(match thousandths % 10 {
        0 => write_decimal(thousandths as u64 / 10, 2, value < 0.0, buffer),
        _ => write_decimal(thousandths as u64, 3, value < 0.0, buffer),
    })
}

/// Writes digits from the last to the first, with a decimal point before the last `decimals` digits. Returns the start.
fn write_decimal(digits: u64, decimals: usize, is_negative: bool, buffer: &mut ShortBuffer) -> usize {
    let (mut remaining, mut at) = (digits, SHORT_LEN);
    let mut write = |byte: u8| {
        at -= 1;
        buffer[at] = byte;
    };
    if decimals > 0 {
        for _ in 0..decimals {
            write(b'0' + (remaining % 10) as u8);
            remaining /= 10;
        }
        write(b'.');
    }
    // Two digits per division: the next one has to wait for its result.
    while remaining >= 100 {
        let [tens, ones] = DIGIT_PAIRS[(remaining % 100) as usize];
        write(ones);
        write(tens);
        remaining /= 100;
    }
    let [tens, ones] = DIGIT_PAIRS[remaining as usize];
    write(ones);
    if remaining >= 10 {
        write(tens);
    }
    if is_negative {
        write(b'-');
    }
    at
}

/// The digits of the numbers below 100.
static DIGIT_PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + number as u8 / 10, b'0' + number as u8 % 10];
        number += 1;
    }
    pairs
};

/// Prints a number as JavaScript does.
pub(crate) struct NumberText(f64);

impl fmt::Display for NumberText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NumberBuffer::new().text(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_decimals_are_printed_as_in_javascript() {
        let parts = [0.0, 1.0, 9.0, 10.0, 133.0, 2048.0, 99_999.0, 123_456_789.0, 1e12, 999_999_999_999.0, 1e15, 1e20];
        let fractions = [0.0, 0.5, 0.1, 0.9, 0.25, 0.01, 0.001, 0.049, 0.999, 0.0005, 1.0 / 3.0, 1e-7, 0.1 + 1e-12];
        for integer in parts {
            for fraction in fractions {
                for value in [integer + fraction, -(integer + fraction)] {
                    check(value, ryu_js::Buffer::new().format(value));
                }
            }
        }
        check(133.2, "133.2");
        check(-0.0, "0");
        check(999_999_999_999.75, "999999999999.75");
        check(1_000_000_000_000.5, "1000000000000.5");
        check(f64::NAN, "NaN");
        check(f64::INFINITY, "Infinity");
        assert!(short_decimal(133.2, &mut [0; 2 * SHORT_LEN]).is_some());
        assert!(short_decimal(f64::NAN, &mut [0; 2 * SHORT_LEN]).is_none());
    }

    fn check(value: f64, text: &str) {
        assert_eq!(NumberBuffer::new().text(value), text);
        let mut joined = b"a".to_vec();
        NumberBuffer::new().append_to(&mut joined, value);
        assert_eq!(joined, format!("a{text}").into_bytes());
        assert!(text.len() <= MAX_NUMBER_LEN);
    }
}
