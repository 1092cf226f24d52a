//! Formatting of numbers exactly as JavaScript does. Source: ECMA-262, `Number::toString`.

use std::fmt;

/// Returns the text of a number as JavaScript prints it.
pub(crate) fn number_text(value: f64) -> NumberText {
    NumberText(value)
}

/// Buffer for the text of a number.
pub(crate) struct NumberBuffer {
    short: [u8; SHORT_LEN],
    long: ryu_js::Buffer,
}

impl NumberBuffer {
    pub fn new() -> NumberBuffer {
        NumberBuffer { short: [0; SHORT_LEN], long: ryu_js::Buffer::new() }
    }

    /// Formats a number as JavaScript does.
    pub fn text(&mut self, value: f64) -> &str {
        match short_decimal(value, &mut self.short) {
            Some(text) => text,
            None => self.long.format(value),
        }
    }
}

/// Buffer size for a short decimal: a sign, fifteen digits and a point.
const SHORT_LEN: usize = 20;

/// Formats a number of at most fifteen digits, up to three of them after the point: the usual case in drawings. It is
/// the shortest text, since no two such texts are the same double.
fn short_decimal(value: f64, buffer: &mut [u8; SHORT_LEN]) -> Option<&str> {
    const MAX: f64 = 1e15;
    let size = value.abs();
    let integer = size as u64;
    if integer as f64 == size {
        return if size < MAX { write_decimal(integer, 0, value < 0.0, buffer) } else { None };
    }
    // One digit after the point is by far the most frequent, and then there is no zero to remove.
    let tenths = (size * 10.0 + 0.5) as u64;
    if (tenths as f64) < MAX && tenths as f64 / 10.0 == size {
        return write_decimal(tenths, 1, value < 0.0, buffer);
    }
    let thousandths = (size * 1000.0 + 0.5) as u64;
    if thousandths as f64 >= MAX || thousandths as f64 / 1000.0 != size {
        return None;
    }
    match thousandths.is_multiple_of(10) {
        true => write_decimal(thousandths / 10, 2, value < 0.0, buffer),
        false => write_decimal(thousandths, 3, value < 0.0, buffer),
    }
}

/// Writes digits from the last to the first, with a decimal point before the last `decimals` digits.
fn write_decimal(digits: u64, decimals: usize, is_negative: bool, buffer: &mut [u8; SHORT_LEN]) -> Option<&str> {
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
    std::str::from_utf8(&buffer[at..]).ok()
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
                    if let Some(text) = short_decimal(value, &mut [0; SHORT_LEN]) {
                        assert_eq!(text, ryu_js::Buffer::new().format(value));
                    }
                }
            }
        }
        assert_eq!(short_decimal(133.2, &mut [0; SHORT_LEN]), Some("133.2"));
        assert_eq!(short_decimal(-0.0, &mut [0; SHORT_LEN]), Some("0"));
        assert_eq!(short_decimal(f64::NAN, &mut [0; SHORT_LEN]), None);
        assert_eq!(short_decimal(f64::INFINITY, &mut [0; SHORT_LEN]), None);
    }
}
