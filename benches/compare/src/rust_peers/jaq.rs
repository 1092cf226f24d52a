//! jaq, as a library.

use jaq_core::data::JustLut;
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Filter, Vars, unwrap_valr};
pub use jaq_json::Val;
use jaq_json::read::parse_single;
use jaq_json::write::{Pp, write};

use crate::Result;

pub type Program = Filter<JustLut<Val>>;

pub fn read(text: &[u8]) -> Result<Val> {
    parse_single(text).map_err(|error| error.to_string().into())
}

pub fn compile(code: &str) -> Result<Program> {
    let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let functions = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let arena = Arena::default();
    let program = File { code, path: () };
    let modules = Loader::new(definitions).load(&arena, program).map_err(|_| format!("jaq does not read `{code}`"))?;
    let compiled = Compiler::default().with_funs(functions).compile(modules);
    Ok(compiled.map_err(|_| format!("jaq does not compile `{code}`"))?)
}

pub fn run(filter: &Program, drawing: &Val, json: bool, out: &mut Vec<u8>) -> Result<usize> {
    let context = Ctx::<JustLut<Val>>::new(&filter.lut, Vars::new([]));
    let mut results = filter.id.run((context, drawing.clone())).map(unwrap_valr);
    let result = results.next().ok_or("no result")?.map_err(|error| error.to_string())?;
    if json {
        write(out, &Pp::default(), 0, &result)?;
    }
    match result {
        Val::Arr(items) => Ok(items.len()),
        _ => Ok(1),
    }
}
