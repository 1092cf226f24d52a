//! Application: settings, startup, processes, and the manual.

pub mod manual;

pub(crate) mod run;
pub(crate) mod setting_types;
pub(crate) mod settings;
pub(crate) mod startup;
