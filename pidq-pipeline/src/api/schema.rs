//! Types that bodies and parameters have in common: ids, times, pages, and the limits of parameters.

use std::borrow::Cow;

use pidq_http::auth::Timestamp;
use pidq_store::SORTS;
use pidq_store::domain::api_key::SCOPES;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::platform::MAX_PAGE_SIZE;

/// Longer side of the image of a page in pixels: smallest, usual and largest.
pub(crate) const MIN_IMAGE_SIZE: u32 = 64;
pub(crate) const DEFAULT_IMAGE_SIZE: u32 = 1600;
pub(crate) const MAX_IMAGE_SIZE: u32 = 4096;

/// Page of a list.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "{T}Page")]
pub(crate) struct Page<T> {
    /// Rows of the page.
    pub data: Vec<T>,
    /// Value of `cursor` for the next page. Null on the last page.
    pub next_cursor: Option<String>,
    /// Number of rows of all pages, in lists that have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub total: Option<i64>,
}

/// List that is never divided into pages.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "{T}List")]
pub(crate) struct List<T> {
    /// All rows.
    pub data: Vec<T>,
}

/// Time in milliseconds since 1970, written as RFC 3339.
#[derive(Clone, Copy)]
pub(crate) struct DateTime(pub i64);

impl Serialize for DateTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&Timestamp(self.0).to_rfc3339())
    }
}

/// Deserializes an optional field that must not be null.
pub(crate) fn not_null<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Implements `JsonSchema` for types of texts.
macro_rules! text_schemas {
    ($($(#[$doc:meta])* $name:ident = $schema:tt;)*) => {
        $(impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        })*
    };
}

/// UUID of version 7.
pub(crate) struct Uuid;
/// Day of the calendar.
pub(crate) struct Date;
/// Name of a sort order.
pub(crate) struct SortOrder;
/// Name of a scope.
pub(crate) struct ScopeName;

text_schemas! {
    DateTime = { "type": "string", "format": "date-time" };
    Uuid = { "type": "string", "format": "uuid" };
    Date = { "type": "string", "format": "date" };
    SortOrder = { "type": "string", "enum": SORTS.iter().map(|sort| sort.name).collect::<Vec<_>>(), "default": SORTS[0].name };
    ScopeName = { "type": "string", "enum": SCOPES };
}

/// Number of rows per page.
#[derive(JsonSchema)]
#[schemars(inline, extend("default" = 50))]
#[allow(dead_code, reason = "only describes a parameter")]
pub(crate) struct PageSize(#[schemars(range(min = 1, max = MAX_PAGE_SIZE))] u64);

/// Number of a page or of a character.
#[derive(JsonSchema)]
#[schemars(inline)]
#[allow(dead_code, reason = "only describes a parameter")]
pub(crate) struct Position(#[schemars(range(min = 0, max = u32::MAX))] u64);

/// Longer side of an image in pixels.
#[derive(JsonSchema)]
#[schemars(inline, extend("default" = DEFAULT_IMAGE_SIZE))]
#[allow(dead_code, reason = "only describes a parameter")]
pub(crate) struct ImageSize(#[schemars(range(min = MIN_IMAGE_SIZE, max = MAX_IMAGE_SIZE))] u64);

/// Seconds of waiting.
#[derive(JsonSchema)]
#[schemars(inline, extend("default" = 0))]
#[allow(dead_code, reason = "only describes a parameter")]
pub(crate) struct WaitSeconds(#[schemars(range(min = 0, max = 300))] u64);
