//! Request body that an endpoint accepts: content types, maximum size, schema.

use crate::limits::Limits;

/// Request body accepted by an endpoint. `Request::json` and the other body methods enforce it.
#[derive(Clone, Copy, Debug)]
pub struct Accepts {
    /// Content types, without parameters.
    pub media: &'static [&'static str],
    /// Maximum size in bytes, after decompression.
    pub limit: u64,
    /// JSON Schema, as JSON text.
    pub schema: &'static str,
}

impl Accepts {
    /// Returns the same body with the JSON size limit of the server applied.
    pub(crate) fn within(self, limits: &Limits) -> Accepts {
        let is_json = self.media.iter().all(|media| *media == "application/json" || media.ends_with("+json"));
        Accepts { limit: if is_json { self.limit.min(limits.json_body_size) } else { self.limit }, ..self }
    }
}
