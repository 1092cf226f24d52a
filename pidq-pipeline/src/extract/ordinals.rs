//! Numbers of lists as they are shown: `3`, `c`, `III`.

/// How a list counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Count {
    Decimal,
    /// `01`, `02`.
    Padded,
    LowerLetter,
    UpperLetter,
    LowerRoman,
    UpperRoman,
}

/// Values of the digits of Rome, the largest first.
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

impl Count {
    /// The number as a list shows it.
    pub fn show(self, number: u32) -> String {
        match self {
            Count::Decimal => number.to_string(),
            Count::Padded => format!("{number:02}"),
            Count::LowerLetter => letter(number),
            Count::UpperLetter => letter(number).to_uppercase(),
            Count::LowerRoman => roman(number),
            Count::UpperRoman => roman(number).to_uppercase(),
        }
    }
}

/// `a` to `z`, then `aa`, `bb`, as Word counts.
fn letter(number: u32) -> String {
    let Some(before) = number.checked_sub(1).filter(|before| *before < 26 * 26) else { return number.to_string() };
    let letter = char::from(b'a' + (before % 26) as u8);
    letter.to_string().repeat(before as usize / 26 + 1)
}

fn roman(number: u32) -> String {
    if !(1..4000).contains(&number) {
        return number.to_string();
    }
    let mut rest = number;
    let mut shown = String::new();
    for (value, digits) in ROMAN {
        while rest >= *value {
            shown.push_str(digits);
            rest -= value;
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_lists_show_them() {
        let shown = |count: Count, numbers: &[u32]| numbers.iter().map(|&n| count.show(n)).collect::<Vec<_>>();
        assert_eq!(shown(Count::LowerLetter, &[1, 26, 27, 0, 9999]), ["a", "z", "aa", "0", "9999"]);
        assert_eq!(shown(Count::UpperRoman, &[4, 1994, 0, 4000]), ["IV", "MCMXCIV", "0", "4000"]);
        assert_eq!(shown(Count::Padded, &[7, 12]), ["07", "12"]);
    }
}
