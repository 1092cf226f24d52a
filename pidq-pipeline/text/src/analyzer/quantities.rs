//! Normalization of numbers, and recognition of the units that follow them.

/// Units that may follow a number without a space. Other letters stay part of the word, as in `2015a`.
const UNITS: &[&str] = &[
    "a", "bar", "bara", "barg", "c", "cm", "db", "dba", "dn", "f", "ft", "g", "gpm", "h", "hp", "hz", "in", "j", "k",
    "kg", "km", "kpa", "kv", "kva", "kw", "kwh", "l", "lb", "m", "m2", "m3", "ma", "mbar", "min", "ml", "mm", "mpa",
    "mv", "mw", "nm3", "pa", "ppm", "psi", "psia", "psig", "rpm", "s", "t", "v", "va", "vac", "vdc", "w",
];

/// Splits a word such as `38.5barg` into number and unit.
///
/// A unit of one letter may also be the last letter of a tag (2015A): it counts only if the number has a decimal point.
pub fn split_unit(word: &str) -> Option<(&str, &str)> {
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',')?;
    let (number, unit) = word.split_at(end);
    let is_unambiguous = unit.len() > 1 || number.contains(['.', ',']);
    (end > 0 && is_unambiguous && UNITS.contains(&unit)).then_some((number, unit))
}

/// Returns whether a word is a number: digits, with single points or commas between them.
pub fn is_number(word: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    word.split(['.', ',']).all(digits)
}

/// Returns the normalized form of a number: `1,000` becomes `1000`, `38,50` becomes `38.5`. A number with several
/// points is unchanged.
pub fn normalize_number(number: &str) -> String {
    let has_thousands_separators =
        number.contains(',') && number.split(',').skip(1).all(|part| part.split('.').next().map_or(0, str::len) == 3);
    let number = if has_thousands_separators { number.replace(',', "") } else { number.replace(',', ".") };
    match number.split_once('.') {
        Some((integer, fraction)) if !fraction.contains('.') => decimal(integer, fraction.trim_end_matches('0')),
        _ => number,
    }
}

fn decimal(integer: &str, fraction: &str) -> String {
    if fraction.is_empty() { integer.to_owned() } else { format!("{integer}.{fraction}") }
}
