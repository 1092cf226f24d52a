//! Registration of all functions in a session.

use std::sync::Arc;

use datafusion::logical_expr::ScalarUDF;
use datafusion::prelude::SessionContext;

use crate::query_context::QueryContext;
use crate::rows::RowsFunction;
use crate::scalar::{Kind, ScalarFunction};
use crate::settings::Settings;
use crate::tables::{Boundary, Rows};

/// Registers the functions and the settings in a session.
pub fn register(ctx: &SessionContext) {
    Functions::default().register(ctx);
}

/// The functions, with their cache of compiled queries.
#[derive(Clone, Debug, Default)]
pub struct Functions(QueryContext);

impl Functions {
    /// Returns functions for which no session can raise a limit above `ceiling`, as in a process that runs the
    /// statements of others.
    pub fn with_ceiling(ceiling: Settings) -> Functions {
        Functions(QueryContext { ceiling: Some(Arc::new(ceiling)), ..QueryContext::default() })
    }

    /// Returns the scalar functions, for the function registry of a cluster.
    pub fn scalar_functions(&self) -> Vec<Arc<ScalarUDF>> {
        let kinds = Kind::ALL.iter().map(|kind| ScalarUDF::new_from_impl(ScalarFunction::new(*kind, self.0.clone())));
        let rows = ScalarUDF::new_from_impl(RowsFunction::new(self.0.clone()));
        kinds.chain([rows]).map(Arc::new).collect()
    }

    /// Registers the functions and the settings in a session. Settings that the session has already are kept.
    pub fn register(&self, ctx: &SessionContext) {
        for function in self.scalar_functions() {
            ctx.register_udf(ScalarUDF::clone(&function));
        }
        ctx.register_udtf("pidq_rows", Arc::new(Rows::new(self.0.clone())));
        ctx.register_udtf("pidq_boundary", Arc::new(Boundary::new(self.0.clone())));
        let state = ctx.state_ref();
        let mut state = state.write();
        let extensions = &mut state.config_mut().options_mut().extensions;
        if extensions.get::<Settings>().is_none() {
            extensions.insert(Settings::default());
        }
    }
}
