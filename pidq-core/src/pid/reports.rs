//! Reports that answer one question of an engineer each: causes and effects, pressure interfaces, numbering, material.
//!
//! All of them are candidates that are read off the drawing. A value that the drawing does not state is listed as
//! unknown, never assumed.

pub(crate) mod cause_and_effect;
pub(crate) mod corrosion_circuits;
pub(crate) mod diff_ranking;
mod diff_subjects;
mod hand_switches;
mod item_pressures;
pub(crate) mod material_list;
pub(crate) mod numbering;
pub(crate) mod pressure_interfaces;
pub(crate) mod relief_devices;
mod relief_texts;
mod side_pressures;
mod spelling;
pub(crate) mod trips;
