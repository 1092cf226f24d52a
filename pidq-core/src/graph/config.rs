//! Field names and class words of a drawing: the configuration of the topology.
//!
//! The engine itself assumes no field and no class. The defaults are the tables below; a document, a program or a query
//! may override them.

pub(crate) mod name_filter;
mod names;
mod spellings;

use std::borrow::Cow;
use std::sync::{Arc, LazyLock, OnceLock};

use hashbrown::HashMap;

pub(crate) use names::Names;
use names::{NAMES, NamesRow};

use super::roles::{self, Passage, Role, Rule};
use super::snake_case::snake_case;
use super::vocabulary;
use crate::error::{Code, Error, Result};
use crate::limits::{MAX_REGEX_SIZE, MAX_TOPOLOGY_NAME_SIZE, MAX_TOPOLOGY_NAMES};
use crate::value::{Array, Object, Value};

/// Names of a graph's fields and words: the default, or one in which own lists, parsed from JSON, replace those of the default.
///
/// ```
/// use pidq_core::{Graph, Limits, Query, TopologyConfig};
///
/// let config = TopologyConfig::from_json(r#"{"paths": {"nodes": ["items"], "edges": ["pipes"]}, "endpoints": [["a", "b"]]}"#)?;
/// let graph = Graph::from_json(r#"{"items": [{"id": 1}, {"id": 2}], "pipes": [{"a": 1, "b": 2}]}"#)?.with_topology(config);
/// assert_eq!(Query::parse("downstream(1) | map(.id)")?.to_json(&graph, Limits::default())?, "[2]");
/// # Ok::<(), pidq_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TopologyConfig {
    /// By row of `NAMES`.
    names: Vec<Vec<String>>,
    /// The same in snake_case, for comparing words.
    words: Vec<Vec<String>>,
    /// By word in snake_case: the lists that contain it. Built on first use.
    lists_by_word: OnceLock<HashMap<String, u128>>,
    endpoints: Vec<[String; 2]>,
    /// Tried before the built-in rules.
    rules: Vec<Rule>,
}

impl Default for TopologyConfig {
    /// Returns the names that drawings commonly use.
    fn default() -> Self {
        let owned = |names: &[&str]| names.iter().map(|name| String::from(*name)).collect();
        let names: Vec<Vec<String>> = NAMES.iter().map(|(_, _, names)| owned(names)).collect();
        TopologyConfig {
            words: names.iter().map(|names| words(names)).collect(),
            names,
            lists_by_word: OnceLock::new(),
            endpoints: vocabulary::ENDPOINTS.iter().map(|pair| pair.map(String::from)).collect(),
            rules: Vec::new(),
        }
    }
}

/// Limit in bytes of all rules that a drawing defines. A server caches many drawings.
const MAX_RULES: usize = 2 * MAX_REGEX_SIZE;
/// Limit of a class in bytes. A longer string has no role, since every rule would be matched against it.
pub(crate) const MAX_CLASS: usize = 256;

impl TopologyConfig {
    /// Parses a JSON object on top of the defaults. Lists of names replace the defaults; roles are tried before the
    /// built-in ones.
    ///
    /// # Errors
    /// `PQ5001` not JSON, `PQ1012` an invalid entry.
    pub fn from_json(json: &str) -> Result<TopologyConfig> {
        let arena = crate::arena::load::load(json.into(), crate::limits::MAX_QUERY_DEPTH)?;
        let mut config = TopologyConfig::default();
        let problems = config.apply(Value::stored(&arena, arena.root()));
        match problems.first() {
            None => Ok(config),
            Some(problem) => Err(Error::new(Code::BadOption, format!("The topology has {problem}"))),
        }
    }

    /// Returns the names for a document: the defaults, overridden by its `metadata.topology`.
    pub fn from_document(document: Value<'_>) -> TopologyConfig {
        let default = TopologyConfig::shared_default();
        let metadata = default.names(Names::MetadataPath).iter().find_map(|path| at_path(document, path));
        let overrides = metadata.and_then(|metadata| metadata.as_object()?.get("topology"));
        let mut config = TopologyConfig::clone(default);
        if let Some(overrides) = overrides {
            // Invalid entries are reported by `validate`.
            drop(config.apply(overrides));
        }
        config
    }

    /// Returns the names of a list by its key in JSON: `config.list("node_id")`. Empty if there is no such list.
    pub fn list(&self, key: &str) -> &[String] {
        let row = NAMES.iter().position(|(_, known, _)| *known == key);
        row.map_or(&[], |row| &self.names[row])
    }

    /// Returns whether a list, by its key in JSON, contains a word. Both are compared in snake_case.
    pub fn contains_word(&self, key: &str, word: &str) -> bool {
        let row = NAMES.iter().find(|(_, known, _)| *known == key);
        row.is_some_and(|(list, _, _)| self.contains(*list, word))
    }

    /// Returns whether a name in snake_case is in any list, so that a rule reads what it states.
    pub(crate) fn is_known_name(&self, name: &str) -> bool {
        self.lists_with(name) != 0
    }

    /// Returns the lists that contain a word in snake_case: the bit of each list is its position.
    pub(crate) fn lists_with(&self, word: &str) -> u128 {
        let index = || {
            let mut lists: HashMap<String, u128> = HashMap::new();
            for (position, words) in self.words.iter().enumerate() {
                words.iter().for_each(|word| *lists.entry_ref(word.as_str()).or_default() |= 1 << position);
            }
            lists
        };
        self.lists_by_word.get_or_init(index).get(word).copied().unwrap_or_default()
    }

    /// Returns the first value at one of the paths of a list: `config.value_at("paths.nodes", document)`.
    pub fn value_at<'a>(&self, key: &str, document: Value<'a>) -> Option<Value<'a>> {
        self.list(key).iter().find_map(|path| at_path(document, path))
    }

    /// Returns the key pairs of edge ends. The first pair that an edge has completely applies.
    pub fn endpoints(&self) -> &[[String; 2]] {
        &self.endpoints
    }

    /// Returns the shared default.
    pub(crate) fn shared_default() -> &'static Arc<TopologyConfig> {
        static DEFAULT: LazyLock<Arc<TopologyConfig>> = LazyLock::new(Arc::default);
        &DEFAULT
    }

    /// Applies an object and returns the invalid entries.
    pub(crate) fn apply(&mut self, value: Value<'_>) -> Vec<String> {
        let Value::Object(object) = value else { return vec!["a value that is not an object".into()] };
        let mut problems = unknown_keys(object);
        problems.extend(self.apply_names(object));
        if let Some(pairs) = object.get("endpoints") {
            match endpoint_pairs(pairs) {
                Some(pairs) => self.endpoints = pairs,
                None => problems
                    .push(format!("a value at `endpoints` that is not an array of at most {MAX_TOPOLOGY_NAMES} pairs")),
            }
        }
        match object.get("roles").map(rules) {
            // Nested drawings add rules of their own.
            Some(Ok(rules)) if self.rules.len() + rules.len() > MAX_TOPOLOGY_NAMES => {
                problems.push(format!("more than {MAX_TOPOLOGY_NAMES} rules at `roles`"));
            }
            Some(Ok(rules)) => drop(self.rules.splice(0..0, rules)),
            Some(Err(problem)) => problems.push(problem),
            None => {}
        }
        problems
    }

    /// Like [`TopologyConfig::apply`], for the lists of names only.
    pub(crate) fn apply_names(&mut self, object: Object<'_>) -> Vec<String> {
        let mut problems = Vec::new();
        self.lists_by_word = OnceLock::new();
        for ((_, key, _), (names, words)) in NAMES.iter().zip(self.names.iter_mut().zip(&mut self.words)) {
            match at_path(Value::Object(object), key).map(string_list) {
                Some(Some(list)) => (*words, *names) = (self::words(&list), list),
                Some(None) => problems
                    .push(format!("a value at `{key}` that is not an array of at most {MAX_TOPOLOGY_NAMES} strings")),
                None => {}
            }
        }
        problems
    }

    /// Approximate memory in bytes.
    pub(crate) fn size(&self) -> usize {
        // The index of the words has each of them once more.
        let strings =
            self.names.iter().chain(&self.words).chain(&self.words).flatten().chain(self.endpoints.iter().flatten());
        let strings: usize = strings.map(|text| size_of::<String>() + text.len()).sum();
        // Each pattern is compiled for both directions.
        strings + self.rules.iter().map(|rule| 2 * rule.size).sum::<usize>()
    }

    /// Returns the names of a list.
    pub(crate) fn names(&self, list: Names) -> &[String] {
        &self.names[list as usize]
    }

    /// Returns the names of a list in snake_case.
    pub(crate) fn words_of(&self, list: Names) -> &[String] {
        &self.words[list as usize]
    }

    /// Returns whether a list contains a word; compared in snake_case.
    pub(crate) fn contains(&self, list: Names, word: &str) -> bool {
        let word = snake_case(word);
        self.words[list as usize].contains(&word)
    }

    /// Returns whether a key of an object is in one of the lists, exactly as written.
    pub(crate) fn is_key(&self, lists: &[Names], key: &str) -> bool {
        lists.iter().any(|list| self.names(*list).iter().any(|known| known == key))
    }

    /// Returns whether a key of an edge holds one of its ends.
    pub(crate) fn is_endpoint(&self, key: &str) -> bool {
        self.endpoints.iter().flatten().any(|known| known == key)
    }

    /// Returns the role of a class; `None` if no rule matches.
    pub(crate) fn role_of(&self, class: &str) -> Option<Role> {
        if class.len() > MAX_CLASS {
            return None;
        }
        let full_class = snake_case(class);
        let last = last_part(&full_class);
        let matches = |rule: &&Rule| rule.pattern.is_match(&full_class) || rule.pattern.is_match(last);
        self.rules.iter().find(matches).map(|rule| rule.role).or_else(|| roles::built_in_role(&full_class, last))
    }

    /// Returns whether a class is known: it is that of an item of a plant, or of a step of a process model.
    pub fn knows_class(&self, class: &str) -> bool {
        self.knows_item_class(class) || class.starts_with(vocabulary::PROCESS_STEP_PREFIX)
    }

    /// Returns whether a class is that of an item of a plant: it has a role, or pipes go on behind its items or end there.
    pub(crate) fn knows_item_class(&self, class: &str) -> bool {
        self.role_of(class).is_some() || self.passage_of(class).is_some()
    }

    /// Returns the role of a valve that a class without the word describes: `motor operated`, `on/off`.
    pub(crate) fn role_of_valve(&self, class: &str) -> Option<Role> {
        if class.len() > MAX_CLASS {
            return None;
        }
        let words = snake_case(class).replace('/', "_");
        if words.contains("valve") { None } else { self.role_of(&(words + "_valve")) }
    }

    /// Returns whether a class leaves the type of a piping item to another field: `valve`, `piping_component`.
    pub(super) fn is_general_class(&self, class: &str) -> bool {
        class.len() <= MAX_CLASS && roles::is_general(last_part(&snake_case(class)))
    }

    /// Returns the role that the type of an item of a general class states: `gate`, `check valve`.
    pub(super) fn role_of_type(&self, text: &str, is_valve: bool) -> Option<Role> {
        let of_valve = || if is_valve { self.role_of_valve(text) } else { None };
        self.role_of(text).or_else(of_valve)
    }

    /// Returns what is known about a class that has no role; `None` if nothing is. A rule of the drawing that gives it
    /// the role `none` declares that it is passed.
    pub(crate) fn passage_of(&self, class: &str) -> Option<Passage> {
        if class.len() > MAX_CLASS {
            return None;
        }
        let full_class = snake_case(class);
        let last = last_part(&full_class);
        let declared = || self.role_of(class).map(|_| Passage::Through);
        roles::passage(&full_class, last).or_else(declared)
    }

    /// Returns whether a class is a valve that joins three pipes or more.
    pub(crate) fn has_several_ways(&self, class: &str) -> bool {
        class.len() <= MAX_CLASS && roles::has_several_ways(&snake_case(class))
    }

    /// Returns whether a class is a valve that can be operated but whose type is not stated.
    pub(crate) fn is_unspecified_valve(&self, class: &str) -> bool {
        class.len() <= MAX_CLASS && roles::is_unspecified_valve(last_part(&snake_case(class)))
    }

    /// Returns whether a rule of the drawing or the program gives a class its role.
    pub(crate) fn is_declared(&self, class: &str) -> bool {
        if class.len() > MAX_CLASS || self.rules.is_empty() {
            return false;
        }
        let full_class = snake_case(class);
        let last = last_part(&full_class);
        self.rules.iter().any(|rule| rule.pattern.is_match(&full_class) || rule.pattern.is_match(last))
    }

    /// Returns the role rules, in the order in which they are tried: role and pattern.
    pub(crate) fn roles(&self) -> impl Iterator<Item = (&'static str, Cow<'_, str>)> {
        let own = self.rules.iter().map(|rule| (rule.role.name(), rule.pattern.as_str().into()));
        own.chain(roles::patterns().map(|(role, pattern)| (role.name(), pattern.into())))
    }

    /// Returns the config as lists of names, for reports.
    pub(crate) fn lists(&self) -> impl Iterator<Item = (&'static str, &[String])> {
        NAMES.iter().zip(&self.names).map(|((_, key, _), names)| (*key, names.as_slice()))
    }
}

/// Returns the part of a class after its last separator.
fn last_part(class: &str) -> &str {
    class.rsplit(['.', '/', '#', ':']).next().unwrap_or(class)
}

/// Returns the value at a dotted path.
pub(crate) fn at_path<'a>(value: Value<'a>, path: &str) -> Option<Value<'a>> {
    let mut value = value;
    for key in path.split('.') {
        value = value.as_object()?.get(key)?;
    }
    Some(value)
}

/// Returns the strings of an array, or a single string as an array of one.
fn string_list(value: Value<'_>) -> Option<Vec<String>> {
    match value {
        Value::String(_) => Some(vec![bounded_string(value)?.into()]),
        Value::Array(array) => bounded_items(array)?.map(|item| bounded_string(item).map(String::from)).collect(),
        _ => None,
    }
}

fn endpoint_pairs(value: Value<'_>) -> Option<Vec<[String; 2]>> {
    let pair = |pair: Array<'_>| Some([bounded_string(pair.get(0)?)?.into(), bounded_string(pair.get(1)?)?.into()]);
    bounded_items(value.as_array()?)?.map(|item| item.as_array().and_then(pair)).collect()
}

fn rules(value: Value<'_>) -> std::result::Result<Vec<Rule>, String> {
    let none = || format!("a value at `roles` that is not an array of at most {MAX_TOPOLOGY_NAMES} `{{role, match}}`");
    let rules = value.as_array().and_then(bounded_items).ok_or_else(none)?;
    let mut remaining = MAX_RULES;
    let compiled = rules.map(|item| {
        let (role, pattern) = role_and_pattern(item).ok_or_else(none)?;
        let rule = bounded_string(pattern).and_then(|pattern| Rule::new(role, pattern));
        let rule = rule.ok_or("a pattern at `roles` that is malformed or too large")?;
        remaining = remaining.checked_sub(rule.size).ok_or("patterns at `roles` that together are too large")?;
        Ok(rule)
    });
    compiled.collect()
}

fn role_and_pattern(item: Value<'_>) -> Option<(Role, Value<'_>)> {
    let item = item.as_object()?;
    let name = item.get("role")?.as_str()?;
    let role = Role::from_name(name)?;
    Some((role, item.get("match").filter(|pattern| pattern.as_str().is_some())?))
}

fn words(names: &[String]) -> Vec<String> {
    names.iter().map(|name| snake_case(name)).collect()
}

/// Returns the items of an array of at most `MAX_TOPOLOGY_NAMES` items.
fn bounded_items(list: Array<'_>) -> Option<impl Iterator<Item = Value<'_>>> {
    (list.len() <= MAX_TOPOLOGY_NAMES).then(|| list.iter())
}

/// Returns a string of at most `MAX_TOPOLOGY_NAME_SIZE` bytes.
fn bounded_string(value: Value<'_>) -> Option<&str> {
    value.as_str().filter(|text| text.len() <= MAX_TOPOLOGY_NAME_SIZE)
}

/// Returns unknown keys: most likely misspelled.
fn unknown_keys(object: Object<'_>) -> Vec<String> {
    let is_known = |key: &str| {
        let is_list = |row: &NamesRow| row.1 == key || row.1.split_once('.').is_some_and(|(head, _)| head == key);
        matches!(key, "endpoints" | "roles") || NAMES.iter().any(is_list)
    };
    let unknown = object.iter().filter(|(key, _)| !is_known(key));
    unknown.take(MAX_TOPOLOGY_NAMES).map(|(key, _)| format!("an unknown entry `{key}`")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_enum() {
        for (at, (list, _, _)) in NAMES.iter().enumerate() {
            assert_eq!(*list as usize, at);
        }
    }

    #[test]
    fn classes_of_many_exporters_have_their_role() {
        let config = TopologyConfig::default();
        let check = |class: &str, role: &str| {
            assert_eq!(config.role_of(class).unwrap_or_default().name(), role, "{class}");
        };
        check("piping_component.ball_valve", "barrier");
        check("GateValve", "barrier");
        check("gate", "barrier");
        check("piping_component.shut_off_valve", "barrier");
        check("spring_loaded_(angle_)globe_safety_valve", "relief");
        check("spring_loaded_globe_safety_valve", "relief");
        check("SwingCheckValve", "one_way");
        check("controlvalvesandregulators", "control");
        // Catalog classes in the namespace of instruments, as some systems write them.
        for class in ["reliefdevices", "relief_devices", "pressure_relief_devices", "rupturediscs", "safetyvalve"] {
            check(&format!("instrument.{class}"), "relief");
        }
        for (class, role) in [("controlvalvesandregulators", "control"), ("shutdownvalves", "control")] {
            check(&format!("instrument.{class}"), role);
        }
        for class in ["off_lineinstruments", "in_lineinstruments", "relief_device_switch", "safetyvalve_position"] {
            check(&format!("instrument.{class}"), "instrument");
        }
        check("control", "control");
        check("BlindFlange", "positive_barrier");
        check("PipeTee", "junction");
        check("equipment.process_column", "equipment");
        check("PlateHeatExchanger", "equipment");
        check("CentrifugalPump", "equipment");
        check("AirCooler", "equipment");
        check("equipment_component.nozzle", "port");
        check("equipment_component.chamber", "none");
        check("reference.flow_in_pipe_off_page_connector", "off_page");
        check("outlet", "off_page");
        check("reference.x8178", "off_page");
        check("reference.open_end", "open_end");
        check("reference.signal_end", "none");
        check("instrument.process_instrumentation_function", "instrument");
        check("instrumentation_loop.instrumentation_loop_function", "none");
        check("ProcessInstrumentationFunction", "instrument");
        check("PressureTransmitter", "instrument");
        check("Controller", "instrument");
        check("gauge_valve", "none");
        check("OperatedValve", "barrier");
        check("DiaphragmValve", "barrier");
        check("CustomSafetyValveOrFitting", "relief");
        check("RegulatingValve", "control");
        check("MotorOperatedValve", "control");
        check("SolenoidValve", "control");
        check("PressureReducingValve", "control");
        check("EmergencyShutdownValve", "control");
        check("ShutDownValve", "control");
        check("on-off valve", "control");
        check("self_actuated_valve", "control");
        check("DrainValve", "barrier");
        check("Valve_Gate", "barrier");
        check("Separator", "equipment");
        check("piping_component.cyclone_separator", "none");
        check("FootValve", "one_way");
        for (class, role) in [
            ("equipment.relief_drum", "equipment"),
            ("pressure_relief_tank", "equipment"),
            ("relief_header", "none"),
            ("relief_valve_silencer", "none"),
            ("rupture_disc_holder", "none"),
            ("burst_disc_detector", "none"),
            ("pressure_relief_valve", "relief"),
        ] {
            check(class, role);
        }
        check("BurstingDisc", "relief");
        check("piping_component.flow_nozzle", "none");
        check("FlowNozzle", "none");
        check("equipment_component.spray_nozzle", "none");
        check("InLineMixer", "none");
        check("piping_component.in_line_mixer", "none");
        check("equipment.mixer", "equipment");
        check("valve", "none");
        check("PLS401_DIN2429", "none");
        check("", "none");
    }

    #[test]
    fn no_word_makes_a_barrier_by_accident() {
        let config = TopologyConfig::default();
        let rows: &[(&str, &[&str])] = &[
            (
                "one_way",
                &[
                    "GlobeCheckValve",
                    "ball_check_valve",
                    "stop_check_valve",
                    "CheckValve",
                    "check_valve_with_ball_valve",
                    "SwingCheckValve",
                    "valve_check",
                    "NRV",
                    "non_return_gate_valve",
                    "BackflowPreventer",
                    "angle_check_valve",
                ],
            ),
            (
                "relief",
                &[
                    "SafetyValveOrFitting",
                    "SpringLoadedAngleGlobeSafetyValve",
                    "RuptureDisc",
                    "rupture_disk",
                    "BreatherValve",
                    "pressure_relief_valve",
                    "thermal_relief_ball_valve",
                    "PSV",
                    "pressure_vacuum_vent_valve",
                    "emergency_vent",
                ],
            ),
            (
                "blind",
                &[
                    "SpectacleBlind",
                    "LineBlind",
                    "PipeFlangeSpade",
                    "PipeFlangeSpacer",
                    "slip_blind",
                    "figure_8_blind",
                    "spectacle_blind_flange",
                    "blind",
                    "paddle_blank",
                    "RemovableSpool",
                    "hammer_blind",
                    "goggle_valve",
                ],
            ),
            ("positive_barrier", &["BlindFlange", "piping_component.blind_flange", "removed_spool"]),
            (
                "multi_way",
                &[
                    "ThreeWayValve",
                    "three_way_ball_valve",
                    "3-way valve",
                    "four_way_plug_valve",
                    "diverter_valve",
                    "transfer_valve",
                ],
            ),
            (
                "control",
                &[
                    "SDV",
                    "XV",
                    "MOV",
                    "ESDV",
                    "ESV",
                    "BDV",
                    "HV",
                    "piping_component.sdv",
                    "shutdown_valve",
                    "on_off_valve",
                    "motor_operated_ball_valve",
                    "pneumatic_gate_valve",
                    "EmergencyIsolationValve",
                    "emergency_block_valve",
                    "safety_shut_off_valve",
                    "automatic_ball_valve",
                    "air_operated_valve",
                    "diaphragm_actuated_valve",
                    "pressure_reducing_gate_valve",
                    "back_pressure_valve",
                    "pressure_regulator",
                    "three_way_control_valve",
                    "instrument.xv",
                    "instrument.sdv",
                    "instrument.esdv",
                    "instruments.control_valve",
                    "instruments.shutdown_valve",
                    "instruments.on_off_valve",
                ],
            ),
            (
                "barrier",
                &[
                    "GateValve",
                    "AngleGlobeValve",
                    "AnglePlugValve",
                    "AngleBallValve",
                    "StraightwayValve",
                    "NeedleValve",
                    "isolating_valve",
                    "knife_gate_valve",
                    "hand_operated_valve",
                    "double_block_and_bleed_valve",
                    "gate_valve_flanged",
                    "normally_closed_gate_valve",
                    "full_port_ball_valve",
                    "shutoff_valve",
                ],
            ),
            (
                "none",
                &[
                    "pipe_spool",
                    "spool_piece",
                    "Hose",
                    "Funnel",
                    "SteamTrap",
                    "FlameArrestor",
                    "Penetration",
                    "Strainer",
                    "PipeFitting",
                    "gate_valve_actuator",
                    "ball_joint",
                    "plug_fitting",
                    "pipe_plug",
                    "plug",
                    "needle",
                    "cap",
                    "sampling_valve",
                    "valve",
                    "automatic_air_vent_valve",
                    "excess_flow_valve",
                    "excess_flow_safety_valve",
                    "hex_plug",
                    "damper",
                    "blind_flange_gasket",
                    "Flange",
                    "SightGlass",
                    "RestrictionOrifice",
                    "Compensator",
                ],
            ),
            ("equipment", &["HydraulicPump", "pneumatic_pump", "emergency_cooler", "automatic_filter"]),
            ("junction", &["three_way_tee"]),
            (
                "instrument",
                &["valve_position_transmitter", "valve_position_indicator", "gas_detector", "FlameDetector"],
            ),
            (
                "control",
                &[
                    "control_globe_valve",
                    "pneumatic_ball_valve",
                    "ControlGlobeValve",
                    "temperature_control_globe_valve",
                    "electric_ball_valve",
                    "motor_driven_gate_valve",
                    "remote_isolation_valve",
                    "fail_closed_ball_valve",
                    "sdv_ball_valve",
                    "spring_return_ball_valve",
                    "self_acting_globe_valve",
                    "positioner_globe_valve",
                    "throttle_valve",
                    "float_ball_valve",
                    "throttle_butterfly_valve",
                ],
            ),
            ("one_way", &["check_ball_valve", "valve.check.ball", "one_way_ball_valve", "check_angle_valve"]),
            ("multi_way", &["l_port_ball_valve", "transfer_plug_valve", "mixing_ball_valve"]),
            (
                "none",
                &[
                    "removed_gate_valve",
                    "future_gate_valve",
                    "piston_operated_ball_valve",
                    "diaphragm_operated_globe_valve",
                    "safety_gate_valve",
                    "rotary_gate_valve",
                    "symbol.text_gate_valve",
                    "retaining_globe_valve",
                ],
            ),
            ("open_end", &["rain_cap", "vented_cap", "drilled_blind_flange"]),
            (
                "barrier",
                &[
                    "flanged_wedge_gate_valve",
                    "WedgeGateValve",
                    "full_bore_ball_valve",
                    "lever_ball_valve",
                    "gear_operated_gate_valve",
                    "hand_operated_ball_valve",
                ],
            ),
        ];
        for (role, classes) in rows {
            for class in *classes {
                assert_eq!(config.role_of(class).unwrap_or_default().name(), *role, "{class}");
            }
        }
    }

    #[test]
    fn items_that_are_passed_differ_from_unknown_ones() {
        let config = TopologyConfig::default();
        for class in [
            "pipe_spool",
            "piping_component.strainer",
            "Hose",
            "ClampedFlangeCoupling",
            "CustomInlinePrimaryElement",
            "MassFlowMeasuringElement",
        ] {
            assert_eq!(config.passage_of(class), Some(Passage::Through), "{class}");
        }
        for class in ["pipe_cap", "pipe_plug", "plug", "Sensorwell"] {
            assert_eq!(config.passage_of(class), Some(Passage::End), "{class}");
        }
        for class in ["valve", "damper", "sampling_valve", "PLS401_DIN2429", ""] {
            assert_eq!(config.passage_of(class), None, "{class}");
        }
        let declared =
            TopologyConfig::from_json(r#"{"roles": [{"role": "none", "match": "^damper$"}]}"#).expect("a topology");
        assert_eq!(declared.passage_of("damper"), Some(Passage::Through));
    }

    #[test]
    fn words_are_compared_in_snake_case() {
        assert_eq!(snake_case("PlateHeatExchanger"), "plate_heat_exchanger");
        assert_eq!(snake_case("shut-off valve"), "shut_off_valve");
        assert_eq!(snake_case("equipment.Pump"), "equipment.pump");
        assert!(TopologyConfig::default().contains(Names::Part, "hasTerminal"));
    }
}
