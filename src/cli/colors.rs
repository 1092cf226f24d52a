//! Colors of JSON output. The environment variable `JQ_COLORS` sets them, as for jq.

use std::sync::OnceLock;

/// End of a color.
pub const RESET: &str = "\x1b[0m";

/// Part of JSON text that has a color of its own, in the order of `JQ_COLORS`.
#[derive(Clone, Copy)]
pub enum Part {
    Null,
    False,
    True,
    Number,
    String,
    Array,
    Object,
    Key,
}

/// Number of parts.
const COUNT: usize = Part::Key as usize + 1;

/// Colors of the parts, as parameters of SGR (ECMA-48, 8.3.117).
const DEFAULT: [&str; COUNT] = ["1;30", "0;39", "0;39", "0;39", "0;32", "1;39", "1;39", "34;1"];

/// Returns the escape sequence that begins the color of a part.
pub fn color(part: Part) -> &'static str {
    static SEQUENCES: OnceLock<[String; COUNT]> = OnceLock::new();
    let sequences = SEQUENCES.get_or_init(|| sequences(&std::env::var("JQ_COLORS").unwrap_or_default()));
    &sequences[part as usize]
}

/// Returns the escape sequences for a value of `JQ_COLORS`: colors between colons, the first ones only if there are less.
/// The defaults apply if it is malformed.
fn sequences(setting: &str) -> [String; COUNT] {
    let colors: Vec<&str> = setting.split(':').collect();
    let is_color = |color: &&str| color.bytes().all(|byte| byte.is_ascii_digit() || byte == b';');
    let is_valid = !setting.is_empty() && colors.iter().all(is_color);
    let set = |at: usize| colors.get(at).copied().filter(|_| is_valid);
    std::array::from_fn(|at| format!("\x1b[{}m", set(at).unwrap_or(DEFAULT[at])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_set_by_position() {
        let set = sequences("0;31:4");
        assert_eq!(set[Part::Null as usize], "\x1b[0;31m");
        assert_eq!(set[Part::False as usize], "\x1b[4m");
        assert_eq!(set[Part::Key as usize], "\x1b[34;1m");
    }

    #[test]
    fn a_malformed_setting_changes_nothing() {
        for setting in ["", "red", "0;31:\x1b", "1,2"] {
            assert_eq!(sequences(setting), sequences(""), "{setting}");
        }
        assert_eq!(sequences("")[0], "\x1b[1;30m");
    }
}
