//! Request body that an endpoint accepts: content types, maximum size, type.

use schemars::JsonSchema;

use crate::limits::Limits;
use crate::schema::TypeSchema;

/// Request body accepted by an endpoint. `Request::json` and the other body methods enforce it.
#[derive(Clone, Copy, Debug)]
pub struct Accepts {
    /// Content types, without parameters.
    pub media: &'static [&'static str],
    /// Other content types, each with the type of its body: files of other formats.
    pub files: &'static [(&'static str, TypeSchema)],
    /// Maximum size in bytes, after decompression.
    pub limit: u64,
    /// Setting with a lower maximum, which the server or the handler applies.
    pub setting: Option<&'static str>,
    /// Type that the handler reads.
    pub schema: TypeSchema,
}

impl Accepts {
    /// Returns a JSON body of a type.
    pub const fn json<T: JsonSchema>(limit: u64) -> Accepts {
        Accepts::of::<T>(&["application/json"], limit)
    }

    /// Returns a merge patch (RFC 7396), which may also be sent as plain JSON.
    pub const fn merge_patch<T: JsonSchema>(limit: u64) -> Accepts {
        Accepts::of::<T>(&["application/json", "application/merge-patch+json"], limit)
    }

    /// Returns a body of a type with other content types.
    pub const fn of<T: JsonSchema>(media: &'static [&'static str], limit: u64) -> Accepts {
        Accepts { media, files: &[], limit, setting: None, schema: TypeSchema::of::<T>() }
    }

    /// Returns the same body, or a file of another content type.
    pub const fn or_files(self, files: &'static [(&'static str, TypeSchema)]) -> Accepts {
        Accepts { files, ..self }
    }

    /// Returns all content types.
    pub fn all_media(&self) -> impl Iterator<Item = &'static str> {
        self.media.iter().copied().chain(self.files.iter().map(|(media, _)| *media))
    }

    /// Returns the same body with a setting that limits its size.
    pub const fn limited_by(self, setting: &'static str) -> Accepts {
        Accepts { setting: Some(setting), ..self }
    }

    /// Returns the same body with the JSON size limit of the server applied.
    pub(crate) fn within(self, limits: &Limits) -> Accepts {
        let is_json = self.media.iter().all(|media| *media == "application/json" || media.ends_with("+json"));
        Accepts { limit: if is_json { self.limit.min(limits.json_body_size) } else { self.limit }, ..self }
    }
}
