//! Units of SFILES: one row per abbreviation, with the classes of drawings that it stands for.

/// Unit: abbreviation, class of an imported node, and words of classes in lower case.
pub struct Unit {
    pub name: &'static str,
    pub class: &'static str,
    /// A class that contains one of these words is this unit.
    words: &'static [&'static str],
}

/// Unit of an item without a row.
pub const OTHER: &str = "X";

/// Control unit: an instrument.
pub const CONTROL: &str = "C";

/// Heat exchanger, which may have several passes.
pub const HEAT_EXCHANGER: &str = "hex";

/// Source and sink: the ends of lines at which nothing enters or leaves the drawing otherwise.
pub const SOURCE: &str = "raw";
pub const SINK: &str = "prod";

/// Every unit. The first row with a word of the class applies, so that special ones precede general ones.
pub const UNITS: &[Unit] = &[
    Unit { name: SOURCE, class: "off_page_connector.inlet", words: &["raw_material"] },
    Unit { name: SINK, class: "off_page_connector.outlet", words: &["output_product"] },
    Unit {
        name: CONTROL,
        class: "instrument",
        words: &["instrument", "transmitter", "indicator", "controller", "sensor", "signal_generating", "actuating_f"],
    },
    Unit { name: "v", class: "valve", words: &["valve"] },
    Unit { name: "pp", class: "pump", words: &["pump", "ejector"] },
    Unit { name: "comp", class: "compressor", words: &["compressor"] },
    Unit { name: "blwr", class: "blower", words: &["blower", "equipment.fan", "_fan", "ventilator"] },
    Unit { name: "turb", class: "turbine", words: &["turbine", "expander_machine"] },
    Unit { name: "reb", class: "reboiler", words: &["reboiler"] },
    Unit { name: "cond", class: "condenser", words: &["condenser"] },
    Unit {
        name: HEAT_EXCHANGER,
        class: "heat_exchanger",
        words: &["exchanger", "heater", "cooler", "furnace", "boiler"],
    },
    Unit { name: "orif", class: "orifice_plate", words: &["orifice"] },
    Unit { name: "rect", class: "column.rectification", words: &["rectif"] },
    Unit { name: "strip", class: "column.stripper", words: &["stripp"] },
    Unit { name: "abs", class: "column.absorber", words: &["absor"] },
    Unit { name: "scrub", class: "scrubber", words: &["scrubber"] },
    Unit { name: "extr", class: "extractor", words: &["extract"] },
    Unit { name: "dist", class: "column.distillation", words: &["distill", "column"] },
    Unit { name: "flash", class: "flash_drum", words: &["flash"] },
    Unit { name: "r", class: "reactor", words: &["reactor"] },
    Unit { name: "hcycl", class: "hydrocyclone", words: &["hydrocyclone"] },
    Unit { name: "cycl", class: "cyclone", words: &["cyclone"] },
    Unit { name: "centr", class: "centrifuge", words: &["centrifug"] },
    Unit { name: "egclean", class: "electrostatic_precipitator", words: &["precipitator"] },
    Unit { name: "gfil", class: "gas_filter", words: &["gas_filter"] },
    Unit { name: "lfil", class: "filter", words: &["filter", "strainer"] },
    Unit { name: "sep", class: "separator", words: &["separator"] },
    Unit { name: "tank", class: "tank", words: &["tank", "vessel", "drum", "silo"] },
    Unit { name: "mix", class: "mixer", words: &["mixer"] },
    Unit { name: "splt", class: "splitter", words: &["splitter"] },
    Unit { name: "pipe", class: "pipe", words: &["reducer", "flange", "pipe", "spool", "hose"] },
];

/// Words of the classes of junctions: a mixing unit if several streams enter, a splitting unit if several leave.
pub const JUNCTION_WORDS: &[&str] = &["tee", "junction", "cross", "branch"];

/// Words of the classes of items at which a stream enters or leaves the drawing.
pub const BOUNDARY_WORDS: &[&str] = &["off_page", "offpage", "open_end"];

/// Words of the classes of ports, which are their owner, and of chambers, which are passes of their owner.
pub const PORT_WORDS: &[&str] = &["nozzle", "port", "terminal"];
pub const CHAMBER_WORDS: &[&str] = &["chamber", "tube_bundle", "jacket", "coil", "shell"];

/// Finds the unit of a class in lower case.
pub fn of_class(class: &str) -> Option<&'static Unit> {
    UNITS.iter().find(|unit| contains(class, unit.words))
}

/// Finds a unit by its abbreviation.
pub fn find(name: &str) -> Option<&'static Unit> {
    UNITS.iter().find(|unit| unit.name == name)
}

/// Returns true if a class contains one of some words.
pub fn contains(class: &str, words: &[&str]) -> bool {
    words.iter().any(|word| class.contains(word))
}
