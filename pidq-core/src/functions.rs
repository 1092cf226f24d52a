//! Tables of all functions of the language.

mod array;
#[cfg(feature = "dates")]
mod dates;
mod dedup;
#[cfg(feature = "encoding")]
mod encoding;
mod graph;
mod graph_call;
mod helpers;
mod joins;
mod json_text;
mod logic;
mod nested;
mod number;
mod object;
mod pid;
mod pid_reports;
mod regex;
mod sequences;
mod sorting;
mod string;
mod text_format;
#[cfg(feature = "units")]
mod units;

use crate::eval::plan::FunctionRef;
use crate::eval::plan::function::Function;

/// Tables of JSON Query 5.1.1, grouped like the manual.
const JSON_QUERY: &[(&str, &[Function])] = &[
    ("structure", object::FUNCTIONS),
    ("arrays", array::FUNCTIONS),
    ("logic", logic::FUNCTIONS),
    ("numbers", number::FUNCTIONS),
    ("strings", string::FUNCTIONS),
    ("patterns", regex::FUNCTIONS),
];

/// Tables of pidq's own functions.
const PIDQ: &[(&str, &[Function])] = &[
    ("bindings", object::BINDINGS),
    ("replacement", regex::EXTENSIONS),
    ("helpers", helpers::FUNCTIONS),
    ("nested", nested::FUNCTIONS),
    ("joins", joins::FUNCTIONS),
    ("sequences", sequences::FUNCTIONS),
    #[cfg(feature = "dates")]
    ("dates", dates::FUNCTIONS),
    #[cfg(feature = "encoding")]
    ("encoding", encoding::FUNCTIONS),
    #[cfg(feature = "units")]
    ("units", units::FUNCTIONS),
    ("formatting", text_format::FUNCTIONS),
    ("json", json_text::FUNCTIONS),
    ("graph", graph::FUNCTIONS),
    ("pid", pid::FUNCTIONS),
    ("pid_reports", pid_reports::FUNCTIONS),
];

/// Returns the functions of a profile, in groups.
pub(crate) fn groups(with_extensions: bool) -> impl Iterator<Item = (&'static str, &'static [Function])> {
    let extensions = if with_extensions { PIDQ } else { &[] };
    JSON_QUERY.iter().chain(extensions).copied()
}

/// Returns the function with a name.
pub(crate) fn find(name: &str, with_extensions: bool) -> Option<FunctionRef> {
    let extensions = if with_extensions { PIDQ } else { &[] };
    let standard = row(JSON_QUERY, name).map(FunctionRef::Standard);
    standard.or_else(|| row(extensions, name).map(FunctionRef::Extension))
}

/// Returns whether the function with a name reads the graph of a document, and therefore any part of it.
pub(crate) fn reads_graph(name: &str) -> bool {
    [graph::FUNCTIONS, pid::FUNCTIONS, pid_reports::FUNCTIONS]
        .into_iter()
        .flatten()
        .any(|function| function.name == name)
}

fn row(groups: &[(&str, &'static [Function])], name: &str) -> Option<&'static Function> {
    groups.iter().flat_map(|(_, rows)| *rows).find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use crate::suggest::FEATURES;

    #[test]
    fn the_functions_of_features_are_those_of_their_tables() {
        for (feature, names) in FEATURES {
            let found = super::groups(true).find(|(group, _)| group == feature);
            let rows = found.map(|(_, rows)| rows.iter().map(|row| row.name).collect::<Vec<_>>());
            let is_left_out = names.iter().all(|name| crate::suggest::missing_feature(name) == Some(feature));
            assert_eq!(rows.as_deref(), (!is_left_out).then_some(*names), "{feature}");
        }
    }

    #[test]
    #[cfg(not(feature = "dates"))]
    fn a_function_that_was_left_out_names_its_feature() {
        let error = crate::Query::parse("map(dateAdd(.at, \"P1D\"))").expect_err("left out");
        let expected = "PQ1014: The function 'dateAdd' belongs to the feature `dates`, which was left out; \
                        build pidq-core with the feature `dates`";
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.span().map(|span| span.start), Some(4));
    }
}
