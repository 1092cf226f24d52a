//! Formatting of list numbers: `3`, `c`, `III`.

/// Number style of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NumberStyle {
    Decimal,
    /// `01`, `02`.
    Padded,
    LowerLetter,
    UpperLetter,
    LowerRoman,
    UpperRoman,
}

/// Roman numerals, largest first.
const ROMAN: &[(u32, &str)] = &[
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
];

impl NumberStyle {
    /// Formats a number.
    pub fn format(self, number: u32) -> String {
        match self {
            NumberStyle::Decimal => number.to_string(),
            NumberStyle::Padded => format!("{number:02}"),
            NumberStyle::LowerLetter => letters(number),
            NumberStyle::UpperLetter => letters(number).to_uppercase(),
            NumberStyle::LowerRoman => roman(number),
            NumberStyle::UpperRoman => roman(number).to_uppercase(),
        }
    }
}

/// Formats a number as letters: `a` to `z`, then `aa`, `bb`, as Word does.
fn letters(number: u32) -> String {
    let Some(index) = number.checked_sub(1).filter(|index| *index < 26 * 26) else { return number.to_string() };
    let letters = char::from(b'a' + (index % 26) as u8);
    letters.to_string().repeat(index as usize / 26 + 1)
}

fn roman(number: u32) -> String {
    if !(1..4000).contains(&number) {
        return number.to_string();
    }
    let mut remaining = number;
    let mut numeral = String::new();
    for (value, digits) in ROMAN {
        while remaining >= *value {
            numeral.push_str(digits);
            remaining -= value;
        }
    }
    numeral
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_list_numbers() {
        let formatted =
            |style: NumberStyle, numbers: &[u32]| numbers.iter().map(|&n| style.format(n)).collect::<Vec<_>>();
        assert_eq!(formatted(NumberStyle::LowerLetter, &[1, 26, 27, 0, 9999]), ["a", "z", "aa", "0", "9999"]);
        assert_eq!(formatted(NumberStyle::UpperRoman, &[4, 1994, 0, 4000]), ["IV", "MCMXCIV", "0", "4000"]);
        assert_eq!(formatted(NumberStyle::Padded, &[7, 12]), ["07", "12"]);
    }
}
