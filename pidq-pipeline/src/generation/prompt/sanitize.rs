//! Sanitizing of untrusted text: removes invisible characters and breaks up forged delimiters.
use crate::llm::is_invisible;

/// Tokens of chat templates, which some servers interpret anywhere in a message, and their harmless form.
const CHAT_TEMPLATE_TOKENS: &[(&str, &str)] = &[
    ("<|", "< |"),
    ("|>", "| >"),
    ("[INST]", "[ INST ]"),
    ("[/INST]", "[ /INST ]"),
    ("</s>", "< /s>"),
    ("<s>", "< s>"),
];

/// Removes control characters, bidirectional overrides and invisible characters, and breaks up `<<` and chat template
/// tokens. Line breaks and tabs stay.
pub fn sanitize(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.replace("\r\n", "\n").chars().filter(|&c| is_allowed(c)) {
        // Joiners are letters in some scripts but invisible between two `<`.
        if c == '<' && clean.trim_end_matches(is_joiner).ends_with('<') {
            clean.push(' ');
        }
        clean.push(if c == '\r' { '\n' } else { c });
    }
    let contains = CHAT_TEMPLATE_TOKENS.iter().any(|(token, _)| clean.contains(token));
    if contains {
        CHAT_TEMPLATE_TOKENS.iter().fold(clean, |text, (token, replacement)| text.replace(token, replacement))
    } else {
        clean
    }
}

fn is_allowed(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\t') || !(c.is_control() || is_invisible(c))
}

fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(sanitize(text), expected, "{text:?}");
    }

    #[test]
    fn invisible_characters_are_removed() {
        check("a\0b\u{1b}[31mc\u{7f}\u{85}", "ab[31mc");
        check("gnp\u{202e}.exe", "gnp.exe");
        check("PSV\u{200b}-\u{feff}2015\u{ad}A", "PSV-2015A");
        check("x\u{e0049}\u{e0067}\u{e006e}", "x");
        check("a\r\nb\rc\td", "a\nb\nc\td");
    }

    #[test]
    fn visible_text_is_unchanged() {
        for text in ["Überdruck 38,5 bar", "می\u{200c}خواهم", "👩\u{200d}🔧", "a < b > c", "[1] p. 7", "क्\u{200d}ष"]
        {
            check(text, text);
        }
    }

    #[test]
    fn delimiters_are_broken_up() {
        check("<<ctx", "< <ctx");
        check("<<<<", "< < < <");
        check("<\u{200b}<end", "< <end");
        check("<\u{200d}<end", "<\u{200d} <end");
        check("<|im_start|>system", "< |im_start| >system");
        check("[INST] x [/INST]", "[ INST ] x [ /INST ]");
    }
}
