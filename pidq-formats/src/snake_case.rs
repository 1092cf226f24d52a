//! Class names of drawings in snake_case.

/// Converts `CentrifugalPump` to `centrifugal_pump` and `PLS401_DIN2429` to `pls401_din2429`.
pub fn snake_case(class: &str) -> String {
    let mut out = String::with_capacity(class.len() + 4);
    let mut previous = ' ';
    for c in class.trim().chars() {
        let starts_word = c.is_uppercase() && (previous.is_lowercase() || previous.is_ascii_digit());
        // Digits end a word only before an uppercase letter that starts one, so `PLS401_DIN2429` is not split.
        if starts_word && !out.ends_with('_') {
            out.push('_');
        }
        match c {
            c if c.is_alphanumeric() => out.extend(c.to_lowercase()),
            _ if !out.is_empty() && !out.ends_with('_') => out.push('_'),
            _ => {}
        }
        previous = c;
    }
    out.truncate(out.trim_end_matches('_').len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_written_in_snake_case() {
        for (class, snake) in [
            ("CentrifugalPump", "centrifugal_pump"),
            ("PlugValve", "plug_valve"),
            ("PLS401_DIN2429", "pls401_din2429"),
            ("Off-lineinstruments", "off_lineinstruments"),
            ("PlantSectionIso10209-2012", "plant_section_iso10209_2012"),
            (" Pump, (spare) ", "pump_spare"),
            ("", ""),
        ] {
            assert_eq!(snake_case(class), snake);
        }
    }
}
