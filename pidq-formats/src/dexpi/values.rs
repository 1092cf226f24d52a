//! Data values as attributes, under the names that Proteus uses: text `X` is `XAssignmentClass`, a value of an
//! enumeration is `XSpecialization`, and a quantity keeps its name.

use crate::json::{Fields, Json};
use crate::xml::Element;

use super::objects::{Objects, last_name};

/// Value of a property.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataValue<'t> {
    pub name: String,
    /// `None` for a value that is stated as undefined.
    pub value: Option<String>,
    pub format: &'static str,
    pub language: Option<&'t str>,
    /// Unit, and its name in the information model.
    pub unit: Option<&'t str>,
    /// Value of an enumeration, as named in the information model.
    pub reference: Option<&'t str>,
    /// Property with its prefix, if it belongs to an extension of the standard.
    pub property: Option<&'t str>,
}

impl DataValue<'_> {
    /// Returns the attributes of a `GenericAttribute` element.
    pub fn xml_attributes(&self) -> Vec<(String, String)> {
        let pairs = [
            ("Name", Some(self.name.as_str())),
            ("AttributeURI", self.property),
            ("Format", Some(self.format)),
            ("Value", self.value.as_deref()),
            ("Units", self.unit.map(last_name)),
            ("ValueURI", self.reference),
            ("UnitsURI", self.unit),
            ("Language", self.language),
        ];
        pairs.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned()))).collect()
    }

    /// Returns the value as an attribute of a node or an edge.
    pub fn into_json(self) -> Json {
        let is_number = ["double", "integer"].contains(&self.format);
        let value = match self.value {
            Some(text) if is_number => Json::number_or_text(&text),
            Some(text) => Json::String(text),
            None => Json::Null,
        };
        let mut fields = Fields::default();
        fields.add("name", Json::String(self.name));
        fields.add("value", value);
        fields.add("data_type", Json::text(self.format));
        fields.add_optional_text("unit", self.unit.map(last_name));
        fields.add_optional_text("uri", self.property);
        fields.add_optional_text("value_uri", self.reference);
        fields.add_optional_text("unit_uri", self.unit);
        fields.add_optional_text("language", self.language);
        Json::Object(fields)
    }
}

/// Reads every value of a `Data` element, and marks it as taken.
pub fn read<'t>(objects: &Objects<'t>, data: usize) -> Vec<DataValue<'t>> {
    let property = objects.element(data).get("property").unwrap_or_default();
    objects.take_all(data);
    let mut values = Vec::new();
    read_into(objects, data, last_name(property), &mut values);
    for value in values.iter_mut().filter(|_| property.contains('/')) {
        value.property = Some(property);
    }
    values
}

fn read_into<'t>(objects: &Objects<'t>, data: usize, name: &str, values: &mut Vec<DataValue<'t>>) {
    for (index, element) in objects.tree.children(data) {
        match element.name.as_str() {
            "AggregatedDataValue" => aggregated(objects, index, name, values),
            "DataReference" => values.push(enumerated(element, name)),
            _ => values.push(plain(element, name)),
        }
    }
}

fn enumerated<'t>(element: &'t Element, name: &str) -> DataValue<'t> {
    let reference = element.get("data");
    DataValue {
        name: format!("{name}Specialization"),
        value: reference.map(|path| last_name(path).to_owned()),
        format: "anyURI",
        reference,
        ..DataValue::default()
    }
}

fn plain<'t>(element: &Element, name: &str) -> DataValue<'t> {
    let text = element.text.clone();
    let (name, value, format) = match element.name.as_str() {
        "Double" => (name.to_owned(), Some(text), "double"),
        "Integer" | "UnsignedByte" => (format!("{name}AssignmentClass"), Some(text), "integer"),
        "DateTime" => (format!("{name}AssignmentClass"), Some(text), "dateTime"),
        "AnyURI" => (format!("{name}AssignmentClass"), Some(text), "anyURI"),
        "Undefined" => (format!("{name}AssignmentClass"), None, "string"),
        _ => (format!("{name}AssignmentClass"), Some(text), "string"),
    };
    DataValue { name, value, format, ..DataValue::default() }
}

fn aggregated<'t>(objects: &Objects<'t>, value: usize, name: &str, values: &mut Vec<DataValue<'t>>) {
    match objects.class(value) {
        "MultiLanguageString" => {
            for text in objects.data(value, "SingleLanguageStrings") {
                values.push(DataValue {
                    name: format!("{name}AssignmentClass"),
                    value: objects.text(text, "Value").map(str::to_owned),
                    format: "string",
                    language: objects.text(text, "Language").filter(|language| !language.is_empty()),
                    ..DataValue::default()
                });
            }
        }
        "PhysicalQuantity" => values.push(DataValue {
            name: name.to_owned(),
            value: objects.text(value, "Value").map(str::to_owned),
            format: "double",
            unit: unit(objects, value),
            ..DataValue::default()
        }),
        "PhysicalQuantityVector" => values.push(DataValue {
            name: name.to_owned(),
            value: Some(join(objects, value, "Values")),
            format: "string",
            unit: unit(objects, value),
            ..DataValue::default()
        }),
        _ => {
            for (data, property) in objects.properties(value, "Data") {
                read_into(objects, data, &format!("{name}.{property}"), values);
            }
        }
    }
}

fn unit<'t>(objects: &Objects<'t>, value: usize) -> Option<&'t str> {
    objects.data(value, "Unit").first().and_then(|unit| objects.element(*unit).get("data"))
}

fn join(objects: &Objects<'_>, value: usize, property: &str) -> String {
    let numbers = objects.data(value, property);
    let numbers: Vec<&str> = numbers.iter().map(|number| objects.element(*number).text.trim()).collect();
    numbers.join(" ")
}
