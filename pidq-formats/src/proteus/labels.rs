//! Labels: the texts beside an item, in it or on the sheet with a reference to it.

use std::collections::HashMap;

use crate::json::{Fields, Json};
use crate::xml::{Element, Tree};

/// Elements in which a text of the sheet may be: it belongs to no item by its place.
const SHEET_ELEMENTS: &[&str] = &["Drawing", "Label", "PlantModel"];

/// Texts on the sheet by the id of the item that they refer to.
pub type ReferringTexts<'t> = HashMap<&'t str, Vec<usize>>;

/// Returns the texts on the sheet that refer to an item. A text that shows an attribute of the item adds nothing.
pub fn referring_texts(tree: &Tree) -> ReferringTexts<'_> {
    let mut texts = ReferringTexts::new();
    for (index, element) in tree.elements.iter().enumerate().filter(|(_, element)| element.name == "Text") {
        let shows_attribute = element.get("DependantAttribute").is_some()
            || tree.named(index, "TextStringFormatSpecification").next().is_some();
        if let Some(item) = referenced_item(tree, element).filter(|_| !shows_attribute) {
            texts.entry(item).or_default().push(index);
        }
    }
    texts
}

/// Returns the id of the item that a text on the sheet refers to, itself or by its label.
fn referenced_item<'t>(tree: &'t Tree, text: &'t Element) -> Option<&'t str> {
    let parents = std::iter::successors(text.parent, |parent| tree.elements[*parent].parent);
    if parents.clone().any(|parent| !SHEET_ELEMENTS.contains(&tree.elements[parent].name.as_str())) {
        return None;
    }
    let labels = parents.filter(|parent| tree.elements[*parent].name == "Label");
    let of_label = |label: usize| {
        let association = || tree.named(label, "Association").find_map(|(_, association)| association.get("ItemID"));
        tree.elements[label].get("ItemID").or_else(association)
    };
    text.get("ItemID").or_else(|| labels.into_iter().find_map(of_label))
}

/// Adds the label of an item: the name of a piping component, or all texts of its labels. The single texts are kept beside
/// it, since one of them may state a position or a status: `LC`, `NOT INSTALLED`.
pub fn add(fields: &mut Fields, mut texts: Vec<String>, component_name: Option<&str>) {
    let label = component_name.map_or_else(|| texts.join(" "), str::to_owned);
    texts.retain(|text| *text != label);
    if !label.is_empty() {
        fields.add("label", Json::String(label));
    }
    if !texts.is_empty() {
        fields.add("label_texts", Json::Array(texts.into_iter().map(Json::String).collect()));
    }
}

/// Returns the texts beside the item of an element that are not its tag, each once: those in it, and those that refer to it.
pub fn texts(tree: &Tree, element: usize, tag: &str, referring: &ReferringTexts<'_>) -> Vec<String> {
    let labels = tree.named(element, "Label").flat_map(|(label, _)| tree.named(label, "Text"));
    let own = labels.chain(tree.named(element, "Text")).map(|(text, _)| text);
    let referring = tree.elements[element].get("ID").and_then(|id| referring.get(id)).into_iter().flatten();
    let mut lines: Vec<String> = Vec::new();
    for text in own.chain(referring.copied()).map(|text| written(tree, text)) {
        let text = text.split_whitespace().collect::<Vec<&str>>().join(" ");
        if !text.is_empty() && text != tag && !lines.contains(&text) {
            lines.push(text);
        }
    }
    lines
}

/// Returns the text of the attribute or of the lines of a text.
pub fn written(tree: &Tree, element: usize) -> String {
    let lines: Vec<&str> = tree.named(element, "String").map(|(_, line)| line.text.trim()).collect();
    match tree.elements[element].get("String") {
        Some(text) => text.replace("\r\n", "\n").replace('\r', "\n"),
        None => lines.join("\n"),
    }
}
