//! Layering test: modules import only from lower layers, as drawn in ARCHITECTURE.md, and never in a cycle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use crate::module_imports::{CrateModules, Import};

/// A crate with the layers of its top-level modules, lowest first. Modules of one layer do not import each other.
struct Crate {
    name: &'static str,
    source: &'static str,
    layers: &'static [&'static [&'static str]],
}

const CRATES: &[Crate] = &[
    Crate {
        name: "pidq-core",
        source: "pidq-core/src",
        layers: &[
            &["error", "suggest"],
            &["arena", "limits"],
            &["regex", "syntax", "value"],
            &["graph"],
            &["pid"],
            &["eval"],
            &["check", "functions"],
            &["guide", "query"],
        ],
    },
    Crate {
        name: "pidq-formats",
        source: "pidq-formats/src",
        layers: &[
            &["error", "json", "snake_case", "symbols"],
            &["columns", "encoding", "import", "model", "other_fields", "xml"],
            &["cypher", "graphml", "json_formats", "sfiles", "tables", "visibility"],
            &["dot", "mermaid", "proteus", "svg"],
            &["dexpi"],
            &["format"],
        ],
    },
    Crate {
        name: "pidq-http",
        source: "pidq-http/src",
        layers: &[
            &["database", "limits", "metrics", "principal", "problem", "schema", "secret", "trace"],
            &["process"],
            &["message"],
            &["routing", "tls"],
            &["auth", "otlp", "service"],
            &["oauth", "serve"],
            &["settings"],
        ],
    },
    Crate {
        name: "pidq-dashboard",
        source: "pidq-dashboard/src",
        layers: &[
            &["api", "assets", "cookie", "return_path", "seal", "security_headers", "settings", "sso_failure"],
            &["cross_site", "manual", "oauth", "sso"],
            &["session"],
            &["dashboard"],
            &["proxy", "sign_in", "sso_handlers"],
            &["routes"],
            &["app"],
        ],
    },
    Crate {
        name: "pidq-server",
        source: "pidq-server/src",
        layers: &[
            &["store"],
            &["metrics", "response_format"],
            &["memory"],
            &["caches"],
            &["server"],
            &["problems"],
            &["caller", "graph_selector", "upload"],
            &["query"],
            &["handlers"],
            &["app"],
        ],
    },
    Crate {
        name: "pidq-extract",
        source: "pidq-pipeline/extract/src",
        layers: &[
            &["attachment", "compound_file", "error", "ipc", "offsets", "program", "text_decoding", "word_boxes"],
            &["archive", "conversion", "page_image", "recognition", "text_sink"],
            &["page_warnings", "sandbox", "sniff", "xml"],
            &["formats"],
        ],
    },
    Crate {
        name: "pidq-text",
        source: "pidq-pipeline/text/src",
        layers: &[
            &["analyzer", "codec", "ranking", "splitter"],
            &["claims", "conformance", "embedding", "quotes"],
            &["search"],
            &["evaluation"],
        ],
    },
    Crate {
        name: "pidq-store",
        source: "pidq-pipeline/store/src",
        layers: &[&["crypto", "domain", "spool"], &["store"]],
    },
    Crate {
        name: "pidq-pipeline",
        source: "pidq-pipeline/src",
        layers: &[
            &["metrics", "net", "shared_budget"],
            &["cluster", "fair_queue", "llm", "upload_budget"],
            &["embedding_registry", "generation", "retrieval"],
            &["platform"],
            &["background", "events", "webhooks"],
            &["ingest"],
            &["api"],
            &["app"],
        ],
    },
    Crate {
        name: "pidq-ffi",
        source: "pidq-ffi/src",
        layers: &[
            &["buffer_pool", "slice", "version", "warnings_json"],
            &["abi_error"],
            &["arguments"],
            &["handle"],
            &["error_handle"],
            &["panic_guard"],
            &["buffer", "cancel", "error"],
            &["graph", "limits"],
            &["params", "result"],
            &["build", "columns", "drawing", "query", "rows", "value"],
            &["arrow", "dialect"],
            &["batch"],
        ],
    },
    Crate { name: "pidq", source: "src", layers: &[&["cli"]] },
];

/// Maximum number of modules on one level.
const MAX_MODULES: usize = 25;

#[test]
fn imports_go_to_lower_layers() {
    for Parsed { krate, modules, imports } in PARSED.iter() {
        let expected: BTreeSet<&str> = krate.layers.concat().into_iter().collect();
        assert_eq!(BTreeSet::from_iter(modules.children(&[])), expected, "the modules of {}", krate.name);
        let layer = |name: &str| krate.layers.iter().position(|layer| layer.contains(&name));
        let upward: Vec<String> = imports
            .iter()
            .filter(|import| import.from.first() != import.to.first() && !import.from.is_empty())
            .filter(|import| layer(&import.to[0]) >= layer(&import.from[0]))
            .map(display)
            .collect();
        assert!(upward.is_empty(), "imports of {} that do not go to a lower layer:\n{}", krate.name, upward.join("\n"));
    }
}

#[test]
fn modules_do_not_import_each_other_in_a_cycle() {
    for Parsed { krate, modules, imports } in PARSED.iter() {
        assert!(!imports.is_empty() || krate.layers.len() == 1, "imports of {} were found", krate.name);
        for parent in modules.parents() {
            let cyclic = cycle(&siblings(parent, imports));
            let named: Vec<String> = imports
                .iter()
                .filter(|import| {
                    sibling_pair(parent, import).is_some_and(|(from, to)| cyclic.contains(from) && cyclic.contains(to))
                })
                .map(display)
                .collect();
            assert!(cyclic.is_empty(), "{}: {cyclic:?} import each other:\n{}", krate.name, named.join("\n"));
        }
    }
}

#[test]
fn no_level_has_many_modules() {
    for Parsed { krate, modules, .. } in PARSED.iter() {
        for parent in modules.parents() {
            let count = modules.children(parent).len();
            assert!(count <= MAX_MODULES, "{} {}: {count} modules", krate.name, parent.join("::"));
        }
    }
}

#[test]
fn the_layers_are_those_of_the_architecture_page() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md")).expect("a page");
    for krate in CRATES.iter().filter(|krate| krate.layers.len() > 1) {
        let drawing = krate.drawing();
        assert!(page.contains(&drawing), "the layers of {} in ARCHITECTURE.md have to be:\n{drawing}", krate.name);
    }
}

#[test]
fn a_cycle_is_found() {
    let edges = |pairs: &[(&'static str, &'static str)]| {
        pairs.iter().fold(Siblings::new(), |mut edges, (from, to)| {
            edges.entry(from).or_default().insert(to);
            edges
        })
    };
    assert!(cycle(&edges(&[("a", "b"), ("b", "c"), ("a", "c")])).is_empty());
    assert_eq!(cycle(&edges(&[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")])), BTreeSet::from(["b", "c"]));
}

/// A crate with its modules and their imports.
struct Parsed {
    krate: &'static Crate,
    modules: CrateModules,
    imports: Vec<Import>,
}

/// Parsed once for all tests, which takes seconds.
static PARSED: LazyLock<Vec<Parsed>> = LazyLock::new(|| {
    let parsed = |krate: &'static Crate| {
        let modules = CrateModules::parse(&Path::new(env!("CARGO_MANIFEST_DIR")).join(krate.source));
        let imports = modules.imports();
        Parsed { krate, modules, imports }
    };
    CRATES.iter().map(parsed).collect()
});

impl Crate {
    /// Returns the layers as text, the highest first.
    fn drawing(&self) -> String {
        let rows = self.layers.iter().enumerate().rev();
        rows.map(|(number, modules)| format!("{number:>2}   {}\n", modules.join("   "))).collect()
    }
}

fn display(import: &Import) -> String {
    format!("  {} imports {}", import.from.join("::"), import.to.join("::"))
}

/// Imports between the modules of one level.
type Siblings<'m> = BTreeMap<&'m str, BTreeSet<&'m str>>;

fn siblings<'m>(parent: &[String], imports: &'m [Import]) -> Siblings<'m> {
    let mut edges = Siblings::new();
    for (from, to) in imports.iter().filter_map(|import| sibling_pair(parent, import)) {
        edges.entry(from).or_default().insert(to);
    }
    edges
}

/// Returns the two different modules directly below `parent` that an import connects.
fn sibling_pair<'m>(parent: &[String], import: &'m Import) -> Option<(&'m str, &'m str)> {
    let below = |module: &'m [String]| module.strip_prefix(parent)?.first().map(String::as_str);
    let (from, to) = (below(&import.from)?, below(&import.to)?);
    (from != to).then_some((from, to))
}

/// Returns the modules that are part of a cycle or between cycles: those left after removing, again and again, modules
/// without imports and modules that nothing imports.
fn cycle<'m>(edges: &Siblings<'m>) -> BTreeSet<&'m str> {
    let mut left: BTreeSet<&str> =
        edges.iter().flat_map(|(from, to)| [*from].into_iter().chain(to.iter().copied())).collect();
    loop {
        let imports = |module: &str| edges.get(module).is_some_and(|to| to.iter().any(|to| left.contains(to)));
        let is_imported = |module: &str| left.iter().any(|from| edges.get(from).is_some_and(|to| to.contains(module)));
        let next: BTreeSet<&str> =
            left.iter().copied().filter(|module| imports(module) && is_imported(module)).collect();
        if next.len() == left.len() {
            return left;
        }
        left = next;
    }
}
