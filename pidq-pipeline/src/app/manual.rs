//! Generator of `docs/pipeline.md`: prose with tables generated from the tables in the code.

use std::fmt::Write;

use pidq_extract::{FORMATS, IMAGE_FORMATS, LEGACY_OFFICE_FORMATS};
use pidq_http::{COMMON, default_value, metrics_table, route_sections, route_table, settings_table as settings};
use pidq_store::domain::event::KINDS;
use pidq_text::embedding::MODELS;
use pidq_text::splitter::{SPLITTERS, Splitter};

use crate::api::routes::ROUTES;
use crate::app::settings::TABLES;
use crate::metrics::METRICS;

const PROSE: &str = include_str!("manual/pipeline.md");

/// Returns the text of `docs/pipeline.md`.
pub fn pipeline() -> String {
    PROSE
        .replace("{index}", &route_table(ROUTES))
        .replace("{endpoints}", &route_sections(ROUTES, |name| default_value(TABLES, name)))
        .replace("{splitters}", &splitters())
        .replace("{models}", &embedding_models())
        .replace("{events}", &events())
        .replace("{formats}", &formats())
        .replace("{metrics}", metrics_table(&[METRICS]).trim_end())
        .replace("{settings}", settings(&TABLES[1..]).trim_end())
        .replace("{common}", settings(&[COMMON]).trim_end())
}

fn splitters() -> String {
    SPLITTERS.iter().map(splitter).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn splitter(splitter: &Splitter) -> String {
    let mut text =
        format!("### {}\n\n{}.\n\n", splitter.name, pidq_http::sentence(splitter.summary).trim_end_matches('.'));
    text.push_str("| parameter | values | default | description |\n|---|---|---|---|\n");
    for parameter in splitter.parameters {
        let (kind, default) = (parameter.kind.description(), parameter.default);
        let _ = writeln!(text, "| `{}` | {kind} | `{default}` | {} |", parameter.name, parameter.summary);
    }
    text
}

fn embedding_models() -> String {
    let mut text =
        String::from("| model | dimensions | `weight` | `min_similarity` | description |\n|---|---|---|---|---|\n");
    for model in MODELS {
        let dimensions = model.dimensions.map_or_else(|| "defined by the model".into(), |number| number.to_string());
        let weight = model.calibration.weight;
        let similarity =
            model.calibration.sufficient_similarity().map_or_else(String::new, |cosine| cosine.to_string());
        let _ = writeln!(text, "| `{}` | {dimensions} | {weight} | {similarity} | {} |", model.name, model.summary);
    }
    text.trim_end().to_owned()
}

fn events() -> String {
    let mut text = String::from("| type | required scope | sent when |\n|---|---|---|\n");
    for kind in KINDS {
        let _ = writeln!(text, "| `{}` | `{}` | {} |", kind.name, kind.scope, kind.summary);
    }
    text.trim_end().to_owned()
}

fn formats() -> String {
    let mut text = String::from("| format | media type | extracted content |\n|---|---|---|\n");
    for format in FORMATS.iter().chain(IMAGE_FORMATS).chain(LEGACY_OFFICE_FORMATS) {
        let _ = writeln!(
            text,
            "| `{}` | {} | {} |",
            format.name,
            format.media_types.first().unwrap_or(&""),
            format.summary
        );
    }
    text.trim_end().to_owned()
}
