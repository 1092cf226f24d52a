//! Unicode mappings of symbol fonts: Symbol, ZapfDingbats and Wingdings.

/// Characters of Symbol from 0x20 to 0x7E.
const LOW: &str =
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_\u{203E}αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";
/// Characters of Symbol from 0xA0 to 0xFE. Parts of tall brackets map to the bracket.
const HIGH: &str = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|—↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑(((\
     [[[{{{|\u{FFFD}〉∫⌠|⌡)))]]]}}}";

/// Dingbats outside the regular position in Unicode's Dingbats block.
const IRREGULAR_DINGBATS: &[(u8, char)] = &[
    (0x20, ' '),
    (0x25, '☎'),
    (0x2A, '☛'),
    (0x2B, '☞'),
    (0x48, '★'),
    (0x6C, '●'),
    (0x6E, '■'),
    (0x73, '▲'),
    (0x74, '▼'),
    (0x75, '◆'),
    (0x77, '◗'),
    (0xA8, '♣'),
    (0xA9, '♦'),
    (0xAA, '♥'),
    (0xAB, '♠'),
    (0xD5, '→'),
    (0xD6, '↔'),
    (0xD7, '↕'),
];

/// Characters of Wingdings that documents use: boxes, check marks, bullets and arrows.
const WINGDINGS: &[(u8, char)] = &[
    (0x6C, '●'),
    (0x6E, '■'),
    (0x6F, '□'),
    (0x71, '❑'),
    (0x75, '◆'),
    (0x76, '❖'),
    (0x77, '◆'),
    (0x9F, '•'),
    (0xA1, '○'),
    (0xA7, '▪'),
    (0xA8, '◻'),
    (0xB7, '•'),
    (0xD8, '➢'),
    (0xDF, '←'),
    (0xE0, '→'),
    (0xE1, '↑'),
    (0xE2, '↓'),
    (0xE8, '➔'),
    (0xFB, '✗'),
    (0xFC, '✓'),
    (0xFD, '☒'),
    (0xFE, '☑'),
];

/// Returns the character of a code in a symbol font; none for other fonts and unknown codes.
pub fn decode(font: &str, code: u8) -> Option<char> {
    match font {
        "Symbol" => symbol(code),
        "ZapfDingbats" => dingbat(code),
        "Wingdings" => lookup(WINGDINGS, code),
        _ => None,
    }
}

fn symbol(code: u8) -> Option<char> {
    let found = match code {
        0x20..=0x7E => LOW.chars().nth(usize::from(code - 0x20)),
        0xA0..=0xFE => HIGH.chars().nth(usize::from(code - 0xA0)),
        _ => None,
    };
    found.filter(|c| *c != '\u{FFFD}')
}

fn dingbat(code: u8) -> Option<char> {
    let regular = || match code {
        0x21..=0x7E => char::from_u32(0x2700 + u32::from(code) - 0x20),
        0xAC..=0xB5 => char::from_u32(0x2460 + u32::from(code) - 0xAC),
        0xA1..=0xFE => char::from_u32(0x2700 + u32::from(code) - 0x40),
        _ => None,
    };
    lookup(IRREGULAR_DINGBATS, code).or_else(regular)
}

fn lookup(list: &[(u8, char)], code: u8) -> Option<char> {
    list.iter().find(|(key, _)| *key == code).map(|(_, c)| *c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_symbol_codes_to_unicode() {
        let decoded =
            |font: &str, codes: &[u8]| codes.iter().filter_map(|&code| decode(font, code)).collect::<String>();
        assert_eq!(decoded("Symbol", b"abcDW"), "αβχΔΩ");
        assert_eq!(decoded("Symbol", &[0xA0, 0xA3, 0xB0, 0xB1, 0xD5, 0xE5, 0xF0, 0xF1, 0xFE]), "€≤°±∏∑〉}");
        assert_eq!(decoded("ZapfDingbats", &[0x21, 0x25, 0x34, 0x6E, 0xAC, 0xD4, 0xD5]), "✁☎✔■①➔→");
        assert_eq!(decoded("Wingdings", &[0xFC, 0x41]), "✓");
        assert_eq!(decoded("Helvetica", b"abc"), "");
    }
}
