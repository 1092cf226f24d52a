//! Information models of a document, and the paths in them.

use std::collections::BTreeMap;

use pidq_core::{Object, Value};

use super::super::extension;
use super::document::Document;

/// Models that every document imports.
const MODELS: &[(&str, &str)] = &[
    ("Core", "https://data.dexpi.org/models/2.0.0/Core.xml"),
    ("Plant", "https://data.dexpi.org/models/2.0.0/Plant.xml"),
];

/// Addresses of the imported information models by prefix.
pub struct Names<'a> {
    sources: BTreeMap<&'a str, &'a str>,
}

impl<'a> Names<'a> {
    /// Returns the models that a drawing was read with, and those of the standard.
    pub fn new(metadata: Option<Object<'a>>) -> Names<'a> {
        let source = metadata.and_then(|metadata| metadata.get("source")?.as_object());
        let imports = source.and_then(|source| source.get("imports")?.as_object());
        let imports = imports.into_iter().flat_map(Object::iter);
        let imports = imports.filter_map(|(prefix, source)| Some((prefix, source.as_str()?)));
        let mut sources: BTreeMap<&str, &str> = imports
            .filter(|(prefix, source)| is_name(prefix) && is_uri(source) && *prefix != extension::PREFIX)
            .collect();
        for (prefix, source) in MODELS {
            sources.entry(prefix).or_insert(source);
        }
        Names { sources }
    }

    /// Adds the imports to a document.
    pub fn add_to(&self, document: &mut Document) {
        for (prefix, source) in &self.sources {
            document.import(prefix, source);
        }
        document.import(extension::PREFIX, extension::SOURCE);
    }

    /// Returns true for a path in an imported model, such as `Plant/Piping.GateValve`.
    pub fn is_path(&self, path: &str) -> bool {
        path.split_once('/')
            .is_some_and(|(prefix, names)| self.sources.contains_key(prefix) && names.split('.').all(is_name))
    }

    /// Returns true for a path in a profile.
    pub fn is_profile_path(&self, path: &str) -> bool {
        self.is_path(path) && !path.contains('.') && !MODELS.iter().any(|(prefix, _)| path.starts_with(prefix))
    }

    /// Returns the path of a class by its address, such as `https://…/Plant.xml#Piping.GateValve`.
    pub fn path_of(&self, address: &str) -> Option<String> {
        let (source, names) = address.rsplit_once('#')?;
        let (prefix, _) = self.sources.iter().find(|(_, known)| **known == source)?;
        Some(format!("{prefix}/{names}")).filter(|path| self.is_path(path))
    }
}

/// Returns true for a name of DEXPI.
pub fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns a text of an object that is not blank.
pub fn text<'a>(fields: Option<Object<'a>>, key: &str) -> Option<&'a str> {
    fields?.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

/// Returns true for an address without characters that an address may not have.
pub fn is_uri(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~:/?#@!$&'()*+,;=".contains(&byte))
}
