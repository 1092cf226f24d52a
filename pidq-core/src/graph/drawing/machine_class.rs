//! Machines by the noun of their class: a compressor is one, the cooler behind a compressor is none.
//!
//! In a class of English words, the last noun says what the item is. Words that are no noun of a list are skipped, so
//! that `pump_centrifugal` is a pump too: taking an item for a machine claims less than taking it for none.

use super::Drawing;
use crate::graph::adjacency::NodeId;
use crate::graph::vocabulary;

impl Drawing<'_> {
    /// Returns whether equipment raises the pressure: its outlet is not at the pressure of its inlet.
    pub fn raises_pressure(&self, node: NodeId) -> bool {
        self.is_called(node, &[vocabulary::PRESSURE_RAISING])
    }

    /// Returns whether equipment is a machine, through which a fluid may not pass when it stands still.
    pub fn is_machine(&self, node: NodeId) -> bool {
        self.is_called(node, &[vocabulary::PRESSURE_RAISING, vocabulary::MACHINES])
    }

    /// Returns whether equipment is a machine or is fired: the pressures on its sides may differ.
    pub fn holds_back_pressure(&self, node: NodeId) -> bool {
        self.is_called(node, DRIVEN)
    }

    /// Returns whether equipment has a drive or a burner, which a signal can stop. A fan that only cools is one too.
    pub fn has_drive(&self, node: NodeId) -> bool {
        self.holds_back_pressure(node) || self.class_has(node, vocabulary::FAN_COOLED)
    }

    fn is_called(&self, node: NodeId, nouns: &[&[&str]]) -> bool {
        self.classes(node).any(|class| is_called(&class, nouns))
    }
}

const DRIVEN: &[&[&str]] = &[vocabulary::PRESSURE_RAISING, vocabulary::MACHINES, vocabulary::DRIVEN_EQUIPMENT];

/// Returns whether the last noun of a class in snake_case is one of some lists.
fn is_called(class: &str, nouns: &[&[&str]]) -> bool {
    let words: Vec<&str> = class.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let longest = |lists: &[&[&str]], words: &[&str]| {
        lists.iter().copied().flatten().filter_map(|noun| length_at_end(words, noun)).max()
    };
    let meaning = |end: usize| {
        let is_attribute = words.get(end).is_some_and(|next| vocabulary::ATTRIBUTIVE_ENDINGS.contains(next));
        let found = (!is_attribute).then(|| longest(nouns, &words[..end])).flatten();
        let other = (!is_attribute).then(|| longest(&[vocabulary::NO_MACHINES], &words[..end])).flatten();
        (found.is_some() || other.is_some()).then_some(found >= other)
    };
    (1..=words.len()).rev().find_map(meaning).unwrap_or(false)
}

/// Returns the number of letters of a noun at the end of some words: as words, in the plural, or at the end of a
/// compound such as `turbocompressor`.
fn length_at_end(words: &[&str], noun: &str) -> Option<usize> {
    let parts = noun.split('_').count();
    let at = words.len().checked_sub(parts)?;
    let (first, last) = (&words[at..words.len() - 1], words.last()?.trim_end_matches(|c: char| c.is_ascii_digit()));
    let (before, noun_end) = noun.rsplit_once('_').map_or(("", noun), |(before, end)| (before, end));
    let singular = last.strip_suffix('s').filter(|_| !noun_end.ends_with('s')).unwrap_or(last);
    let is_compound = parts == 1 && (noun.len() > 4 || noun == "pump") && singular.ends_with(noun);
    let is_noun = is_compound || (last == noun_end || singular == noun_end) && first.join("_") == before;
    is_noun.then_some(noun.len())
}

#[cfg(test)]
mod tests {
    use super::{DRIVEN, is_called};
    use crate::graph::vocabulary::{MACHINES, PRESSURE_RAISING};

    /// Returns for a class: `raises` the pressure, is another `machine`, is `fired` or driven otherwise, or `none`.
    fn meaning(class: &str) -> &'static str {
        let class = crate::graph::snake_case::snake_case(class);
        match () {
            () if is_called(&class, &[PRESSURE_RAISING]) => "raises",
            () if is_called(&class, &[PRESSURE_RAISING, MACHINES]) => "machine",
            () if is_called(&class, DRIVEN) => "driven",
            () => "none",
        }
    }

    #[test]
    fn the_last_noun_of_a_class_says_what_equipment_is() {
        for (expected, classes) in [
            (
                "raises",
                "pump CentrifugalPump equipment.reciprocating_pump pump_centrifugal equipment.pump.rotary pumps P1Pump",
            ),
            (
                "raises",
                "motorpump turbopump vacuum_pump JetPump EjectorPump heat_pump pump_set pump_package PumpUnit pump2",
            ),
            ("raises", "boiler_feed_pump condenser_vacuum_pump seal_pot_pump tank_mounted_pump drum_pump sump_pump"),
            ("raises", "pump_motor_driven pump_steam_turbine_driven pump_tank_mounted compressor_water_cooled"),
            (
                "raises",
                "compressor ReciprocatingCompressor turbocompressor compressor_train compressor_stage_2 thermocompressor",
            ),
            ("raises", "blower AxialBlower fan RadialFan induced_draft_fan cooling_tower_fan cooler_fan fans booster"),
            ("raises", "steam_ejector eductor turbocharger supercharger exhauster"),
            ("machine", "SteamTurbine turbo_expander centrifuge agitator AgitatorMixer mixer stirrer kneader"),
            ("driven", "boiler fired_heater furnace electric_heater conveyor electric_motor incinerator"),
            (
                "none",
                "fin_fan_cooler FinFanAirCooler compressor_aftercooler compressor_intercooler pump_cooler fan_coil_heater",
            ),
            (
                "none",
                "compressor_suction_drum CompressorKnockOutDrum pump_suction_strainer pump_seal_pot blower_silencer",
            ),
            (
                "none",
                "compressor_pulsation_bottle pump_pulsation_dampener compressor_suction_scrubber turbine_exhaust_condenser",
            ),
            (
                "none",
                "kettle_reboiler Reboiler boiler_drum boiler_feed_water_heater waste_heat_exchanger turbine_meter",
            ),
            (
                "none",
                "static_mixer inline_mixer InLineMixer jet_mixer mixer_settler mixing_tank pump_tank pump_sump fan_filter",
            ),
            ("none", "tank vessel column heat_exchanger infant motorway strippers equipment.x"),
        ] {
            for class in classes.split(' ') {
                assert_eq!(meaning(class), expected, "{class}");
            }
        }
    }
}
