//! Sessions with the functions of pidq, the same in all three processes.

use ballista_core::extension::SessionConfigExt;
use ballista_core::utils::default_session_builder;
use datafusion::error::Result;
use datafusion::execution::SessionState;
use datafusion::prelude::{SessionConfig, SessionContext};
use pidq_datafusion::{Functions, Settings};

/// Drawings in memory at a time, for each task. The default of DataFusion, 8192 rows, is for numbers.
const BATCH_SIZE: usize = 64;

/// Returns the configuration of new sessions. Those of a client are sent to the executors.
pub(crate) fn config() -> SessionConfig {
    SessionConfig::new_with_ballista().with_batch_size(BATCH_SIZE).with_option_extension(Settings::default())
}

/// Returns a session with the functions.
pub(crate) fn state(config: SessionConfig, functions: &Functions) -> Result<SessionState> {
    let ctx = SessionContext::new_with_state(default_session_builder(config)?);
    functions.register(&ctx);
    Ok(ctx.state())
}
