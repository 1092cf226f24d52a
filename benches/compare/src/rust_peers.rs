//! Rust peers in this process: serde_json, sonic-rs and jaq, each used idiomatically.

mod jaq;
mod serde_value;
mod sonic;

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::Result;
use crate::measure::{Contestant, in_process};
use crate::queries::{Drawing, Task};
use crate::reader::Reader;

/// The drawing in the representation of each library.
pub struct Documents {
    serde: Value,
    sonic: sonic_rs::Value,
    jaq: jaq::Val,
}

impl Documents {
    pub fn new(drawing: &Drawing) -> Result<Self> {
        let text = drawing.text.as_slice();
        Ok(Self { serde: serde_json::from_slice(text)?, sonic: sonic_rs::from_slice(text)?, jaq: jaq::read(text)? })
    }

    pub fn contestants(&self, task: &'static Task) -> Result<Vec<Box<dyn Contestant + '_>>> {
        let filter = jaq::compile(task.jq)?;
        Ok(vec![
            in_process("serde_json loop", move |out| serde_value::run(&self.serde, task.key, out)),
            in_process("sonic-rs loop", move |out| sonic::run(&self.sonic, task.key, out)),
            in_process("jaq library", move |out| jaq::run(&filter, &self.jaq, task.json, out)),
        ])
    }
}

/// Returns the ways to read a drawing.
pub fn readers(text: &[u8]) -> Vec<Reader<'_>> {
    let input = move || text;
    vec![
        Reader::new("serde_json, checked and skipped", input, |text| Ok(serde_json::from_slice::<IgnoredAny>(text)?)),
        Reader::new("sonic-rs, borrowed structs", input, |text| Ok(sonic_rs::from_slice::<sonic::Drawing>(text)?)),
        Reader::new("sonic-rs Value", input, |text| Ok(sonic_rs::from_slice::<sonic_rs::Value>(text)?)),
        Reader::new("serde_json Value", input, |text| Ok(serde_json::from_slice::<Value>(text)?)),
        Reader::new("jaq library", input, jaq::read),
    ]
}

pub fn jaq_compiler(name: &'static str, code: &'static str) -> Box<dyn Contestant> {
    in_process(name, move |_| jaq::compile(code).map(|_| 1))
}
