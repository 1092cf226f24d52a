//! Fuzz target: a drawing in Proteus or DEXPI 2.0 is rejected or imported, and an imported drawing can be loaded, drawn and exported.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pidq_core::Graph;
use pidq_formats::{DrawOptions, FORMATS, Format};

fuzz_target!(|bytes: &[u8]| {
    let is_dexpi = Format::sniff(bytes).is_some_and(|format| format.name == "dexpi");
    let Ok(format) = Format::find(if is_dexpi { "dexpi" } else { "proteus" }) else { return };
    let Ok(imported) = format.import(&[bytes]) else { return };
    let graph = Graph::from_json(imported.json).expect("an import is JSON");
    let svg = DrawOptions::default().draw(graph.root()).expect("an import can be drawn");
    assert!(svg.starts_with("<svg "));
    // XLSX takes longer than all other formats together.
    for format in
        FORMATS.iter().filter(|format| format.write.is_some() && !["csv", "xlsx", "svg"].contains(&format.name))
    {
        let parts = format.export(graph.root()).expect("an import can be exported");
        if ["dexpi", "graphml", "proteus"].contains(&format.name) {
            format.import(&[&parts[0].bytes]).expect("an export can be imported");
        }
    }
});
