//! Paragraph numbering of Word: computes the displayed numbers (`3.2`, `a)`) from the numbering definitions.

use std::collections::HashMap;

use super::list_numbers::NumberStyle;
use crate::ExtractError;
use crate::archive::Archive;
use crate::xml::{self, Attributes, XmlEvent};

/// Number of list levels.
const LEVELS: usize = 9;
/// Maximum number of lists and of styles that are kept.
const MAX_ENTRIES: usize = 10_000;

/// Numbering definitions of a document, and the counters of its lists.
#[derive(Default)]
pub struct Numbering {
    lists: HashMap<String, [Level; LEVELS]>,
    /// Numbering instances: the list of each, and the levels it restarts.
    instances: HashMap<String, NumberingInstance>,
    styles: HashMap<String, Style>,
    counters: HashMap<String, [Option<u32>; LEVELS]>,
}

#[derive(Clone, Debug)]
struct Level {
    start: u32,
    /// Number style; none for a bullet.
    number_style: Option<NumberStyle>,
    /// Template text, with `%1` to `%9` for the numbers of the levels.
    text: String,
    style: Option<String>,
}

impl Default for Level {
    fn default() -> Self {
        Level { start: 1, number_style: None, text: String::new(), style: None }
    }
}

#[derive(Default)]
struct NumberingInstance {
    list: String,
    starts: [Option<u32>; LEVELS],
}

#[derive(Default)]
struct Style {
    instance_id: Option<String>,
    level: Option<usize>,
    parent: Option<String>,
}

/// Numbering properties of a paragraph.
#[derive(Default)]
pub struct Paragraph {
    pub style: Option<String>,
    pub instance_id: Option<String>,
    pub level: Option<usize>,
}

impl Numbering {
    /// Reads the definitions; a document without definitions has no numbers.
    pub fn load(archive: &mut Archive<'_>) -> Result<Numbering, ExtractError> {
        let mut numbering = Numbering::default();
        if archive.has("word/numbering.xml") {
            numbering.read_lists(archive)?;
            numbering.read_styles(archive)?;
        }
        Ok(numbering)
    }

    fn read_lists(&mut self, archive: &mut Archive<'_>) -> Result<(), ExtractError> {
        let (mut list, mut instance_id, mut level) = (None, None, 0);
        xml::walk(archive.part("word/numbering.xml")?, |node| {
            match node {
                XmlEvent::Start("abstractNum", attributes) => list = attributes.get("abstractNumId"),
                XmlEvent::End("abstractNum") => list = None,
                XmlEvent::Start("num", attributes) => instance_id = attributes.get("numId"),
                XmlEvent::End("num") => instance_id = None,
                XmlEvent::Start("lvl" | "lvlOverride", attributes) => {
                    level = parse_level(&attributes, "ilvl").unwrap_or(0)
                }
                XmlEvent::Start(name, attributes) => match (&list, &instance_id) {
                    (Some(list), _) => self.set_level(list, level, name, &attributes),
                    (None, Some(instance_id)) => self.set_instance(instance_id, level, name, &attributes),
                    (None, None) => {}
                },
                _ => {}
            }
            Ok(())
        })
    }

    fn set_level(&mut self, list: &str, level: usize, name: &str, attributes: &Attributes<'_>) {
        if self.lists.len() >= MAX_ENTRIES {
            return;
        }
        let entry = &mut self.lists.entry(list.to_owned()).or_default()[level];
        let value = attributes.get("val").unwrap_or_default();
        match name {
            "start" => entry.start = value.parse().unwrap_or(1),
            "numFmt" => entry.number_style = parse_number_style(&value),
            "lvlText" => entry.text = value.chars().take(100).collect(),
            "pStyle" => entry.style = Some(value),
            _ => {}
        }
    }

    fn set_instance(&mut self, instance_id: &str, level: usize, name: &str, attributes: &Attributes<'_>) {
        if self.instances.len() >= MAX_ENTRIES {
            return;
        }
        let instance = self.instances.entry(instance_id.to_owned()).or_default();
        let value = attributes.get("val").unwrap_or_default();
        match name {
            "abstractNumId" => instance.list = value,
            "startOverride" => instance.starts[level] = value.parse().ok(),
            _ => {}
        }
    }

    fn read_styles(&mut self, archive: &mut Archive<'_>) -> Result<(), ExtractError> {
        if !archive.has("word/styles.xml") {
            return Ok(());
        }
        let (mut id, mut style) = (None, Style::default());
        xml::walk(archive.part("word/styles.xml")?, |node| {
            match node {
                XmlEvent::Start("style", attributes) => (id, style) = (attributes.get("styleId"), Style::default()),
                XmlEvent::Start("numId", attributes) => style.instance_id = attributes.get("val"),
                XmlEvent::Start("ilvl", attributes) => style.level = parse_level(&attributes, "val"),
                XmlEvent::Start("basedOn", attributes) => style.parent = attributes.get("val"),
                XmlEvent::End("style") if self.styles.len() < MAX_ENTRIES => {
                    if let Some(id) = id.take() {
                        self.styles.insert(id, std::mem::take(&mut style));
                    }
                }
                _ => {}
            }
            Ok(())
        })
    }

    /// Advances the counter of a paragraph's list and returns the number text.
    pub fn next(&mut self, paragraph: &Paragraph) -> Option<String> {
        let (id, level) = self.resolve(paragraph)?;
        let instance = self.instances.get_mut(&id)?;
        let levels = self.lists.get(&instance.list)?;
        let counters = self.counters.entry(instance.list.clone()).or_default();
        // A restart applies only once.
        counters[level] = match (instance.starts[level].take(), counters[level]) {
            (Some(start), _) => Some(start),
            (None, Some(last)) => Some(last.saturating_add(1)),
            (None, None) => Some(levels[level].start),
        };
        counters[level + 1..].fill(None);
        levels[level].number_style?;
        Some(level_text(levels, counters, level)).filter(|text| !text.trim().is_empty())
    }

    /// Returns the numbering instance and level of a paragraph: its own, or those of its style.
    fn resolve(&self, paragraph: &Paragraph) -> Option<(String, usize)> {
        let inherited = paragraph.style.as_deref().and_then(|style| self.style_numbering(style));
        let (instance_id, level) = match (&paragraph.instance_id, inherited) {
            (Some(instance_id), inherited) => (instance_id.clone(), inherited.map(|(_, level)| level)),
            (None, Some((instance_id, level))) => (instance_id, Some(level)),
            (None, None) => return None,
        };
        let level = paragraph.level.or(level).unwrap_or(0);
        (level < LEVELS && instance_id != "0").then_some((instance_id, level))
    }

    /// Returns the numbering instance of a style or its base style, and the level that the list assigns to the style.
    fn style_numbering(&self, style: &str) -> Option<(String, usize)> {
        let mut name = style;
        for _ in 0..LEVELS {
            let entry = self.styles.get(name)?;
            if let Some(instance_id) = &entry.instance_id {
                let list = self.instances.get(instance_id).and_then(|instance| self.lists.get(&instance.list));
                let list_level =
                    list.and_then(|levels| levels.iter().position(|entry| entry.style.as_deref() == Some(style)));
                return Some((instance_id.clone(), list_level.or(entry.level).unwrap_or(0)));
            }
            name = entry.parent.as_deref()?;
        }
        None
    }
}

/// Formats the text of a level with the numbers of all levels up to it.
fn level_text(levels: &[Level; LEVELS], counters: &[Option<u32>; LEVELS], level: usize) -> String {
    let mut text = levels[level].text.clone();
    for (index, entry) in levels.iter().enumerate() {
        let number =
            entry.number_style.map(|style| style.format(counters[index].unwrap_or(entry.start))).unwrap_or_default();
        text = text.replace(&format!("%{}", index + 1), &number);
    }
    text
}

fn parse_level(attributes: &Attributes<'_>, name: &str) -> Option<usize> {
    attributes.get(name).and_then(|level| level.parse().ok()).filter(|level| *level < LEVELS)
}

/// Parses a number format; none for bullets and unnumbered levels.
fn parse_number_style(name: &str) -> Option<NumberStyle> {
    match name {
        "bullet" | "none" => None,
        "decimalZero" => Some(NumberStyle::Padded),
        "lowerLetter" => Some(NumberStyle::LowerLetter),
        "upperLetter" => Some(NumberStyle::UpperLetter),
        "lowerRoman" => Some(NumberStyle::LowerRoman),
        "upperRoman" => Some(NumberStyle::UpperRoman),
        _ => Some(NumberStyle::Decimal),
    }
}
