//! Numbers in one spelling, and the units that stand behind them.

/// Units that are written without a blank after a number. What is not here stays one word with it, as `2015a` does.
const UNITS: &[&str] = &[
    "a", "bar", "bara", "barg", "c", "cm", "db", "dba", "dn", "f", "ft", "g", "gpm", "h", "hp", "hz", "in", "j", "k",
    "kg", "km", "kpa", "kv", "kva", "kw", "kwh", "l", "lb", "m", "m2", "m3", "ma", "mbar", "min", "ml", "mm", "mpa",
    "mv", "mw", "nm3", "pa", "ppm", "psi", "psia", "psig", "rpm", "s", "t", "v", "va", "vac", "vdc", "w",
];

/// Units of one letter are also the last letter of a tag (2015A): they count only after a decimal point.
pub fn unit_apart(word: &str) -> Option<(&str, &str)> {
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',')?;
    let (number, unit) = word.split_at(end);
    let sure = unit.len() > 1 || number.contains(['.', ',']);
    (end > 0 && sure && UNITS.contains(&unit)).then_some((number, unit))
}

/// Whether a word is a number: digits, with single points or commas between them.
pub fn is_number(word: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    word.split(['.', ',']).all(digits)
}

/// A number in its plainest spelling: `1,000` is `1000`, `38,50` is `38.5`; one with many points is left alone.
pub fn plain(number: &str) -> String {
    let thousands =
        number.contains(',') && number.split(',').skip(1).all(|part| part.split('.').next().map_or(0, str::len) == 3);
    let number = if thousands { number.replace(',', "") } else { number.replace(',', ".") };
    match number.split_once('.') {
        Some((whole, part)) if !part.contains('.') => decimal(whole, part.trim_end_matches('0')),
        _ => number,
    }
}

fn decimal(whole: &str, part: &str) -> String {
    if part.is_empty() { whole.to_owned() } else { format!("{whole}.{part}") }
}
