//! Headings of tables: the names of their columns as the graph has them.
//!
//! Lists of engineers have headings such as `Tag No.`, `Line Number` or `Nennweite`, and units in brackets.

use std::collections::HashSet;
use std::sync::LazyLock;

use pidq_core::TopologyConfig;

use crate::snake_case::snake_case;

/// Usual headings of tables of nodes and of edges in snake_case, by the field that they stand for.
const HEADINGS: &[(&str, &[&str])] = &[
    ("line_number", &["pipeline", "pipeline_number", "pipe_number", "leitung", "leitungsnummer", "leitungs_number"]),
    ("line_number", &["rohrleitung", "rohrleitungsnummer", "rohrleitungs_number", "rohrleitungs"]),
    ("nominal_diameter", &["nennweite", "nenndurchmesser", "nominal_bore", "line_size", "pipe_size", "valve_size"]),
    ("piping_class", &["pipe_class", "piping_spec", "piping_specification", "pipe_specification", "line_class"]),
    ("piping_class", &["rohrklasse", "rohrleitungsklasse"]),
    ("fluid", &["medium", "fluid_service", "process_fluid", "fluide", "fluido"]),
    ("line_number", &["tuyauterie", "conduite", "línea", "linea", "tubería", "tuberia", "leiding", "leidingnummer"]),
    ("nominal_diameter", &["diamètre_nominal", "diametre_nominal", "diámetro_nominal", "diametro_nominal"]),
    ("nominal_diameter", &["nominale_diameter", "nominale_doorlaat"]),
    (
        "piping_class",
        &["classe_de_tuyauterie", "classe_tuyauterie", "clase_de_tubería", "clase_de_tuberia", "leidingklasse"],
    ),
];

/// Usual headings of tables of nodes.
const NODE_HEADINGS: &[(&str, &[&str])] = &[
    ("id", &["item_id", "object_id", "element_id", "component_id", "unique_id", "guid", "global_id"]),
    ("tag", &["item_tag", "equipment_tag", "valve_tag", "instrument_tag", "component_tag", "device_tag"]),
    ("tag", &["equipment_number", "valve_number", "instrument_number", "equipment_name", "valve_name"]),
    ("tag", &["kennzeichen", "kennzeichnung", "anlagenkennzeichen", "armaturenkennzeichen", "kks", "aks"]),
    ("tag", &["messstelle", "plt_stelle", "emsr_stelle", "armaturen_number"]),
    ("tag", &["repère", "repere", "etiqueta", "tag_equipo", "tagnummer", "apparaatnummer", "afsluiternummer"]),
    ("component_class", &["item_type", "component_type", "equipment_type", "valve_type", "instrument_type"]),
    (
        "component_class",
        &["object_type", "item_class", "equipment_class", "object_class", "class_name", "type_of_item"],
    ),
    (
        "component_class",
        &["typ", "klasse", "art", "komponententyp", "armaturentyp", "bauteil", "geraetetyp", "gerätetyp"],
    ),
    (
        "component_class",
        &["tipo", "clase", "type_d_équipement", "type_d_equipement", "type_de_vanne", "tipo_de_válvula"],
    ),
    ("component_class", &["tipo_de_valvula", "tipo_de_equipo", "soort", "afsluitertype", "type_afsluiter"]),
    ("description", &["benennung", "bezeichnung", "beschreibung", "service_description"]),
    (
        "description",
        &["désignation", "designation", "libellé", "libelle", "descripción", "descripcion", "omschrijving"],
    ),
];

/// Usual headings of tables of edges.
const EDGE_HEADINGS: &[(&str, &[&str])] = &[
    ("from", &["from_item", "from_tag", "from_component", "from_equipment", "source_item", "source_tag"]),
    ("from", &["von", "quelle", "startpunkt", "anfang", "de", "depuis", "origine", "desde", "origen", "van"]),
    ("to", &["to_item", "to_tag", "to_component", "to_equipment", "target_item", "target_tag"]),
    ("to", &["nach", "ziel", "endpunkt", "ende", "vers", "hasta", "hacia", "destino", "naar"]),
    ("edge_type", &["connection_type", "link_type", "relation_type", "relationship_type", "relationship", "relation"]),
    ("edge_type", &["art", "typ", "verbindungsart", "verbindungstyp", "verbindung", "beziehung", "kind"]),
];

/// Last words of a heading that say that its values are numbers of something.
const NUMBER_WORDS: &[&str] = &["no", "nr", "num", "number", "nummer"];

/// Returns the field for the heading of a table of nodes or of edges, if it is one of those that go by another name.
pub fn field_of(heading: &str, is_of_nodes: bool) -> Option<String> {
    let (words, unit) = without_unit(heading);
    let words = snake_case(words);
    let of_table = if is_of_nodes { NODE_HEADINGS } else { EDGE_HEADINGS };
    let listed = |words: &str| {
        let mut rows = HEADINGS.iter().chain(of_table);
        rows.find(|(_, known)| known.contains(&words)).map(|(field, _)| (*field).to_owned())
    };
    let known = |words: &str| listed(words).or_else(|| Some(words.to_owned()).filter(|words| FIELDS.contains(words)));
    let without_number = words.rsplit_once('_').filter(|(_, last)| NUMBER_WORDS.contains(last)).map(|(rest, _)| rest);
    let with_number = without_number.map(|rest| format!("{rest}_number"));
    let field =
        known(&words).or_else(|| with_number.as_deref().and_then(known)).or_else(|| without_number.and_then(known));
    if field.is_some() {
        return field;
    }
    // A quantity in any spelling; its unit follows its name.
    let quantity = unit.map(|unit| format!("{words}_{unit}"))?;
    CONFIG.reads_field(&quantity).then_some(quantity)
}

/// Returns a heading without the text in brackets at its end, and that text: `Set pressure [bar(g)]`.
fn without_unit(heading: &str) -> (&str, Option<&str>) {
    let heading = heading.trim().trim_end_matches(['.', ':']);
    for (open, close) in [('[', ']'), ('(', ')')] {
        let parts = heading.strip_suffix(close).and_then(|body| body.split_once(open));
        let parts = parts.map(|(words, unit)| (words.trim(), unit.trim()));
        if let Some((words, unit)) = parts.filter(|(words, unit)| !words.is_empty() && !unit.contains(' ')) {
            return (words, Some(unit).filter(|unit| !unit.is_empty()));
        }
    }
    (heading, None)
}

static CONFIG: LazyLock<TopologyConfig> = LazyLock::new(TopologyConfig::default);

/// Names of fields that are read as they are spelled. Those of attributes are read in any spelling.
pub static FIELDS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    const LISTS: [&str; 15] = [
        "tag",
        "qualified_tag",
        "node_type",
        "parent",
        "zone",
        "class_fields",
        "edge_kind",
        "edge_class",
        "direction_field",
        "line",
        "segment",
        "size",
        "piping_class",
        "fluid",
        "service",
    ];
    // Gephi writes the names of nodes as `Label`.
    LISTS.iter().flat_map(|list| CONFIG.list(list)).filter(|name| *name != "label").cloned().collect()
});

/// Names of columns that are read for drawings and by other programs, or that pidq writes.
const OTHER_COLUMNS: &[&str] = &[
    "x",
    "y",
    "width",
    "height",
    "rotation",
    "bbox",
    "graphics",
    "attributes",
    "synthetic",
    "confidence",
    "source",
    "weight",
    "timeset",
    "interval",
    "label",
];

/// Returns whether something reads a column of this name.
pub fn is_read(name: &str) -> bool {
    name.starts_with("orig_") || OTHER_COLUMNS.contains(&name) || CONFIG.reads_field(name)
}

#[cfg(test)]
mod tests {
    use super::field_of;

    #[test]
    fn headings_of_lists_have_their_field() {
        for (heading, field) in [
            ("Tag No.", Some("tag_number")),
            ("Tag Nr", Some("tag_number")),
            ("TAG NUMBER", Some("tag_number")),
            ("Item Type", Some("component_class")),
            ("Line No.", Some("line_number")),
            ("Equipment No.", Some("tag")),
            ("Size (DN)", Some("size")),
            ("Kennzeichen", Some("tag")),
            ("Typ", Some("component_class")),
            ("Rohrleitungs-Nr.", Some("line_number")),
            ("Nennweite", Some("nominal_diameter")),
            ("Set Pressure (barg)", Some("set_pressure_barg")),
            ("Ansprechdruck [bar(ü)]", Some("ansprechdruck_bar(ü)")),
            ("Auslegungsdruck [bar(ü)]", Some("auslegungsdruck_bar(ü)")),
            ("Connector No.", None),
            ("Remarks", None),
            ("No.", None),
            ("Weight (kg)", None),
            ("Design Temp. (°C)", Some("design_temp_°C")),
            ("Auslegungstemperatur [°C]", Some("auslegungstemperatur_°C")),
            ("Repère", Some("tag")),
            ("Désignation", Some("description")),
            ("Diamètre nominal", Some("nominal_diameter")),
            ("Tipo de válvula", Some("component_class")),
            ("Omschrijving", Some("description")),
            ("Armaturen-Nr.", Some("tag")),
            ("Pression de calcul [barg]", Some("pression_de_calcul_barg")),
            ("", None),
        ] {
            assert_eq!(field_of(heading, true).as_deref(), field, "{heading}");
        }
        for (heading, field) in [
            ("Von", Some("from")),
            ("Nach", Some("to")),
            ("De", Some("from")),
            ("Vers", Some("to")),
            ("Desde", Some("from")),
            ("Naar", Some("to")),
            ("Connection Type", Some("edge_type")),
            ("Pipe No.", Some("line_number")),
        ] {
            assert_eq!(field_of(heading, false).as_deref(), field, "{heading}");
        }
    }
}
