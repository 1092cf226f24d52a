//! State that all functions of a session share.

use std::sync::Arc;

use crate::plans::Plans;
use crate::settings::Settings;

/// The cache of compiled queries, and the limits that no session can raise.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueryContext {
    pub(crate) plans: Arc<Plans>,
    pub(crate) ceiling: Option<Arc<Settings>>,
}
