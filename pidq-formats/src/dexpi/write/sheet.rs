//! Coordinates of a sheet of DEXPI: millimeters with y downwards. A drawing with other coordinates is turned into one with
//! these, so that its picture stays the same.

use pidq_core::{Array, Object, TopologyConfig, Value};

use crate::json::{Fields, Json};
use crate::proteus::number;

/// Conversion of the coordinates of a drawing.
pub struct Sheet {
    /// Millimeters per unit of the drawing.
    scale: f64,
    /// Sum of the smallest and the largest y, if y grows upwards.
    turn: Option<f64>,
}

/// Members of nodes, edges and ports with an x or a y.
const X: &[&str] = &["x", "orig_x", "orig_from_x", "orig_to_x"];
const Y: &[&str] = &["y", "orig_y", "orig_from_y", "orig_to_y"];
/// Members with a width or a height.
const LENGTHS: &[&str] = &["orig_bbox_width", "orig_bbox_height"];
/// Members of graphics with lengths, and with points.
const GRAPHICS_LENGTHS: &[&str] = &["radius", "radii", "height", "width", "stroke_width"];
const GRAPHICS_POINTS: &[&str] = &["points", "center", "at"];

impl Sheet {
    /// Returns the conversion that a drawing needs.
    pub fn of(metadata: Option<Object<'_>>) -> Option<Sheet> {
        let graphics = metadata.and_then(|metadata| metadata.get("graphics")?.as_object());
        let system = metadata.and_then(|metadata| metadata.get("coordinate_system")?.as_object());
        let member = |object: Option<Object<'_>>, key: &str| object?.get(key)?.as_str().map(str::to_owned);
        let is_up = member(graphics, "y_axis").or(member(system, "y_axis")).as_deref() == Some("up");
        let stated = graphics.and_then(|graphics| graphics.get("mm_per_unit")?.as_f64());
        let scale = stated.filter(|scale| scale.is_finite() && *scale > 0.0).unwrap_or(1.0);
        let turn = || {
            let corners = graphics.and_then(|graphics| numbers(graphics.get("extent")?));
            let extent = metadata.and_then(|metadata| numbers(metadata.get("extent")?));
            match (corners.as_deref(), extent.as_deref()) {
                (Some([_, low, _, high]), _) => low + high,
                (_, Some([_, low, _, height])) => low + low + height,
                _ => 0.0,
            }
        };
        (is_up || scale != 1.0).then(|| Sheet { scale, turn: is_up.then(turn) })
    }

    /// Returns the document with the coordinates of DEXPI.
    pub fn convert(&self, value: Value<'_>) -> Json {
        let config = TopologyConfig::from_document(value);
        let graph = config.value_at("paths.nodes", value).is_some();
        match value {
            Value::Object(fields) if graph => self.object(fields, &mut |key, value| match (key, value) {
                ("pid_graph", Value::Object(graph)) => Some(self.graph(graph)),
                _ => self.graph_member(key, value),
            }),
            Value::Object(fields) => self.graph(fields),
            Value::Array(nodes) => self.items(nodes),
            other => Json::from_value(other),
        }
    }

    fn object<'a>(&self, fields: Object<'a>, convert: &mut dyn FnMut(&str, Value<'a>) -> Option<Json>) -> Json {
        let members = fields.iter().map(|(key, value)| {
            let converted = convert(key, value).unwrap_or_else(|| Json::from_value(value));
            (key.to_owned(), converted)
        });
        Json::Object(Fields(members.collect()))
    }

    fn graph(&self, graph: Object<'_>) -> Json {
        self.object(graph, &mut |key, value| self.graph_member(key, value))
    }

    fn graph_member(&self, key: &str, value: Value<'_>) -> Option<Json> {
        match (key, value) {
            ("nodes" | "edges" | "links", Value::Array(items)) => Some(self.items(items)),
            ("metadata" | "graph", Value::Object(metadata)) => Some(self.metadata(metadata)),
            _ => None,
        }
    }

    fn items(&self, items: Array<'_>) -> Json {
        let item = |item: Value<'_>| match item {
            Value::Object(fields) => self.object(fields, &mut |key, value| self.item_member(key, value)),
            other => Json::from_value(other),
        };
        Json::Array(items.iter().map(item).collect())
    }

    fn item_member(&self, key: &str, value: Value<'_>) -> Option<Json> {
        match key {
            key if X.contains(&key) || LENGTHS.contains(&key) => Some(self.length(value.as_f64()?)),
            key if Y.contains(&key) => Some(self.y(value.as_f64()?)),
            "bbox" => self.extent(value),
            "ports" => Some(self.items(value.as_array()?)),
            "orig_path" => {
                let points = value.as_array()?.iter().map(|point| self.pairs(point, self.turn).map(Json::Array));
                points.collect::<Option<Vec<Json>>>().map(Json::Array)
            }
            "graphics" => Some(self.graphics(value.as_array()?, self.turn)),
            _ => None,
        }
    }

    fn metadata(&self, metadata: Object<'_>) -> Json {
        self.object(metadata, &mut |key, value| match (key, value) {
            ("extent", value) => self.extent(value),
            ("coordinate_system", Value::Object(system)) => Some(self.system(system)),
            ("graphics", Value::Object(graphics)) => Some(self.sheet(graphics)),
            _ => None,
        })
    }

    /// Returns the members that state the coordinates.
    fn system(&self, system: Object<'_>) -> Json {
        self.object(system, &mut |key, _| match key {
            "unit" => Some(Json::text("mm")),
            "y_axis" => Some(Json::text("down")),
            _ => None,
        })
    }

    fn sheet(&self, graphics: Object<'_>) -> Json {
        self.object(graphics, &mut |key, value| match (key, value) {
            ("unit", _) => Some(Json::text("mm")),
            ("mm_per_unit", _) => Some(Json::count(1)),
            ("y_axis", _) => Some(Json::text("down")),
            ("extent", value) => {
                let [x, y, right, top] = numbers(value)?.try_into().ok()?;
                let (low, high) = match self.turn {
                    Some(sum) => (sum - top, sum - y),
                    None => (y, top),
                };
                Some(Json::Array([x, low, right, high].map(|number| self.length(number)).into()))
            }
            ("shapes", Value::Object(shapes)) => Some(self.object(shapes, &mut |_, shape| {
                let shape = shape.as_object()?;
                Some(self.object(shape, &mut |key, value| match (key, value) {
                    // A shape is turned at its own origin.
                    ("elements", Value::Array(elements)) => Some(self.graphics(elements, self.turn.map(|_| 0.0))),
                    _ => None,
                }))
            })),
            ("elements", Value::Array(elements)) => Some(self.graphics(elements, self.turn)),
            _ => None,
        })
    }

    /// Returns graphical elements.
    fn graphics(&self, elements: Array<'_>, turn: Option<f64>) -> Json {
        let element = |element: Value<'_>| match element {
            Value::Object(fields) => turned(
                fields,
                turn,
                self.object(fields, &mut |key, value| match (key, value) {
                    ("elements", Value::Array(elements)) => Some(self.graphics(elements, turn)),
                    (key, Value::Array(_)) if GRAPHICS_POINTS.contains(&key) => {
                        self.pairs(value, turn).map(Json::Array)
                    }
                    (key, value) if GRAPHICS_LENGTHS.contains(&key) => match value {
                        Value::Array(list) => {
                            let lengths = list.iter().map(|length| Some(self.length(length.as_f64()?)));
                            lengths.collect::<Option<Vec<Json>>>().map(Json::Array)
                        }
                        value => Some(self.length(value.as_f64()?)),
                    },
                    _ => None,
                }),
            ),
            other => Json::from_value(other),
        };
        Json::Array(elements.iter().map(element).collect())
    }

    /// Returns a list of x and y by turns.
    fn pairs(&self, value: Value<'_>, turn: Option<f64>) -> Option<Vec<Json>> {
        let numbers = numbers(value)?.into_iter().enumerate();
        let converted = numbers.map(|(index, number)| match turn {
            Some(sum) if index % 2 == 1 => self.length(sum - number),
            _ => self.length(number),
        });
        Some(converted.collect())
    }

    fn y(&self, y: f64) -> Json {
        self.length(self.turn.map_or(y, |sum| sum - y))
    }

    fn length(&self, length: f64) -> Json {
        number(length * self.scale)
    }

    /// Returns an extent as its smallest point, then width and height.
    fn extent(&self, value: Value<'_>) -> Option<Json> {
        let [x, y, width, height] = numbers(value)?.try_into().ok()?;
        let low = self.turn.map_or(y, |sum| sum - y - height);
        Some(Json::Array([x, low, width, height].map(|number| self.length(number)).into()))
    }
}

/// Returns an element with the angles of a sheet on which y grows downwards. Angles run from the x axis to the y axis. A
/// shape is mirrored left to right then, and at its x axis before: half a turn more.
fn turned(element: Object<'_>, turn: Option<f64>, converted: Json) -> Json {
    let mut fields = match (turn, converted) {
        (Some(_), Json::Object(fields)) => fields,
        (_, converted) => return converted,
    };
    let angle = |key: &str| element.get(key).and_then(Value::as_f64);
    let is_mirrored = matches!(element.get("mirrored"), Some(Value::Bool(true)));
    match angle("rotation") {
        rotation if is_mirrored => match 180.0 - rotation.unwrap_or(0.0) {
            0.0 => fields.0.retain(|(key, _)| key != "rotation"),
            rotation => fields.set("rotation", number(rotation)),
        },
        Some(rotation) => fields.set("rotation", number(-rotation)),
        None => {}
    }
    if let (Some(start), Some(end)) = (angle("start"), angle("end")) {
        fields.set("start", number(-end));
        fields.set("end", number(-start));
    }
    Json::Object(fields)
}

fn numbers(value: Value<'_>) -> Option<Vec<f64>> {
    value.as_array()?.iter().map(Value::as_f64).collect()
}
