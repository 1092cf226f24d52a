//! Machines, spools and throttling valves by the noun of their class: a compressor is a machine, the cooler behind a
//! compressor is none.
//!
//! In a class of English words, the last noun says what the item is. Words that are no noun of a list are skipped, so
//! that `pump_centrifugal` is a pump too: taking an item for a machine claims less than taking it for none.

use super::Drawing;
use crate::graph::adjacency::NodeId;
use crate::graph::node_memo::Property;
use crate::graph::roles::EQUIPMENT_IN_OTHER_LANGUAGES;
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

    /// Returns whether equipment burns what is relieved or is open to the air: a flare, a stack, a basin. A package is a
    /// unit of several items, of which the drawing shows none.
    pub fn is_relief_end(&self, node: NodeId) -> bool {
        let is_end = self.class_has_word(node, vocabulary::RELIEF_ENDS)
            && !self.class_has_word(node, vocabulary::CLOSED_EQUIPMENT)
            || self.class_has_word(node, vocabulary::OPEN_TANKS);
        is_end && !self.class_has_word(node, vocabulary::ASSEMBLIES) && !self.is_machine(node)
    }

    /// Returns whether a class names the kind of equipment: a vessel, a machine. Of other equipment, it is not known whether
    /// a fluid passes from one of its ports to another one.
    pub fn has_known_kind(&self, node: NodeId) -> bool {
        let known = [
            vocabulary::BODIES,
            vocabulary::NO_MACHINES,
            vocabulary::PRESSURE_RAISING,
            vocabulary::MACHINES,
            EQUIPMENT_IN_OTHER_LANGUAGES,
        ];
        self.classes(node).any(|class| is_called(&class, &known, &[]))
    }

    /// Returns whether equipment is a machine or is fired: the pressures on its sides may differ.
    pub fn holds_back_pressure(&self, node: NodeId) -> bool {
        self.is_called(node, DRIVEN)
    }

    /// Returns whether equipment has a drive or a burner, which a signal can stop. A fan that only cools is one too.
    pub fn has_drive(&self, node: NodeId) -> bool {
        self.holds_back_pressure(node) || self.class_has(node, vocabulary::FAN_COOLED)
    }

    /// Returns whether an item is a pipe spool: a spool piece is one, a spool valve is none.
    pub fn is_spool(&self, node: NodeId) -> bool {
        let read = || self.classes(node).any(|class| is_spool(&class));
        self.topology.memos.is_or_compute(Property::IsSpool, node, read)
    }

    /// Returns whether a valve throttles a flow and is not made to be switched, by its classes.
    pub fn only_throttles(&self, node: NodeId) -> bool {
        self.classes(node).any(|class| is_throttling(&class))
            && !self.class_has_word(node, vocabulary::SWITCHED_VALVE_WORDS)
    }

    fn is_called(&self, node: NodeId, nouns: &[&[&str]]) -> bool {
        self.classes(node).any(|class| is_called(&class, nouns, vocabulary::NO_MACHINES))
    }
}

fn is_spool(class: &str) -> bool {
    is_called(class, &[vocabulary::SPOOLS], vocabulary::NO_SPOOLS)
}

/// Returns whether the noun of a class is that of a throttling valve, whatever its type: a `control_ball_valve`.
fn is_throttling(class: &str) -> bool {
    let words = class.split(|c: char| !c.is_alphanumeric());
    let named: Vec<&str> = words.filter(|word| !vocabulary::VALVE_TYPES.contains(word)).collect();
    is_called(&named.join("_"), &[vocabulary::THROTTLING_VALVES], &["valve"])
}

const DRIVEN: &[&[&str]] = &[vocabulary::PRESSURE_RAISING, vocabulary::MACHINES, vocabulary::DRIVEN_EQUIPMENT];

/// Returns whether the last noun of a class in snake_case is one of some lists, and not one of `others`.
fn is_called(class: &str, nouns: &[&[&str]], others: &[&str]) -> bool {
    let words: Vec<&str> = class.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let longest = |lists: &[&[&str]], words: &[&str]| {
        lists.iter().copied().flatten().filter_map(|noun| length_at_end(words, noun)).max()
    };
    let meaning = |end: usize| {
        let is_attribute = words.get(end).is_some_and(|next| vocabulary::ATTRIBUTIVE_ENDINGS.contains(next));
        let found = (!is_attribute).then(|| longest(nouns, &words[..end])).flatten();
        let other = (!is_attribute).then(|| longest(&[others], &words[..end])).flatten();
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
    use super::{DRIVEN, is_called, is_spool, is_throttling};
    use crate::graph::snake_case::snake_case;
    use crate::graph::vocabulary::{MACHINES, NO_MACHINES, PRESSURE_RAISING};

    /// Returns for a class: `raises` the pressure, is another `machine`, is `fired` or driven otherwise, or `none`.
    fn meaning(class: &str) -> &'static str {
        let class = snake_case(class);
        let is_called = |nouns: &[&[&str]]| is_called(&class, nouns, NO_MACHINES);
        match () {
            () if is_called(&[PRESSURE_RAISING]) => "raises",
            () if is_called(&[PRESSURE_RAISING, MACHINES]) => "machine",
            () if is_called(DRIVEN) => "driven",
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

    #[test]
    fn a_spool_is_a_piece_of_pipe() {
        for (expected, classes) in [
            (true, "spool pipe_spool PipeSpool spool_piece SpoolPiece removable_spool spool_removable spools"),
            (
                true,
                "removed_spool_piece flanged_spool piping_component.pipe_spool pipespool spool_flanged DropOutSpool",
            ),
            (false, "spool_valve SpoolValve solenoid_spool_valve spool_support hose_spool spool_hanger spool_gasket"),
            (false, "spooling_unit pipe gate_valve cable_spool"),
        ] {
            for class in classes.split(' ') {
                assert_eq!(is_spool(&snake_case(class)), expected, "{class}");
            }
        }
    }

    #[test]
    fn a_throttling_valve_is_named_after_what_it_controls() {
        for (expected, classes) in [
            (true, "control_valve ControlValve valve.control control piping_component.control_valve controlvalve"),
            (
                true,
                "control_ball_valve ControlGlobeValve angle_control_valve control_valve_globe three_way_control_valve",
            ),
            (
                true,
                "ControlValvesAndRegulators controlvalvesandregulators pressure_regulator SelfActingRegulator pcv FCV",
            ),
            (true, "self_acting_valve regulating_globe_valve modulating_valve pressure_reducing_valve throttle_valve"),
            (false, "remote_controlled_ball_valve ControlledValve controlled_ball_valve control_oil_valve ball_valve"),
            (false, "motor_operated_valve shutdown_valve control_room_operated_valve regulated_line_valve mov"),
        ] {
            for class in classes.split(' ') {
                assert_eq!(is_throttling(&snake_case(class)), expected, "{class}");
            }
        }
    }
}
