//! The embedding models that are open: each is opened once.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::embedding::{self, Embedder, Places};

/// The models that are open.
#[derive(Default)]
pub struct Models {
    folder: Option<PathBuf>,
    open: Mutex<HashMap<String, Arc<dyn Embedder>>>,
}

impl Models {
    /// Models of a folder that has a folder for each, beside those that are built in.
    pub fn new(folder: Option<PathBuf>) -> Models {
        Models { folder, open: Mutex::default() }
    }

    /// The model of a name.
    ///
    /// # Errors
    /// If there is no such model, or it cannot be opened.
    pub fn open(&self, name: &str) -> Result<Arc<dyn Embedder>, embedding::Error> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = open.get(name) {
            return Ok(model.clone());
        }
        let model = embedding::open(name, &Places { folder: self.folder.clone(), remote: None })?;
        open.insert(name.to_owned(), model.clone());
        Ok(model)
    }
}
