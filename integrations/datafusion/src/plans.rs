//! Cache of compiled queries by their text and parameters.

use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;
use pidq_core::{Query, Result};

/// Queries in the cache. When it is full, it is emptied: a statement has few queries, or one for each drawing.
const MAX_PLANS: usize = 256;

/// Text and parameters of a query.
type Key = (String, Option<String>);

/// Compiled queries, shared by all functions and partitions.
#[derive(Debug, Default)]
pub(crate) struct Plans(Mutex<HashMap<Key, Arc<Query>>>);

impl Plans {
    /// Returns the compiled query. `params` is a JSON object.
    pub(crate) fn query(&self, text: &str, params: Option<&str>) -> Result<Arc<Query>> {
        let key = (text.to_owned(), params.map(String::from));
        if let Some(query) = self.lock().get(&key) {
            return Ok(Arc::clone(query));
        }
        let query = Arc::new(Query::with_params(text, params.unwrap_or("{}"))?);
        let mut plans = self.lock();
        if plans.len() >= MAX_PLANS {
            plans.clear();
        }
        plans.insert(key, Arc::clone(&query));
        Ok(query)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Arc<Query>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_compiled_once_and_the_cache_is_bounded() -> Result<()> {
        let plans = Plans::default();
        let first = plans.query("size()", None)?;
        assert!(Arc::ptr_eq(&first, &plans.query("size()", None)?));
        assert!(!Arc::ptr_eq(&first, &plans.query("size()", Some("{}"))?));
        for count in 0..3 * MAX_PLANS {
            plans.query(&format!("limit({count})"), None)?;
            assert!(plans.lock().len() <= MAX_PLANS);
        }
        Ok(())
    }
}
