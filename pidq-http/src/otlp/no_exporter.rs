//! Exporter of a build without the feature `otel`: there is none.

use super::CollectorOptions;
use crate::trace::Tracer;

pub(crate) fn tracer(_: CollectorOptions) -> Result<Tracer, String> {
    Err("this build cannot export traces; it lacks the feature `otel`".to_owned())
}
