//! Application: settings, routes, startup, the command, and the manual.

pub(crate) mod accounts_marker;
pub(crate) mod command;
pub(crate) mod first_credentials;
pub mod manual;
pub(crate) mod routes;
pub(crate) mod schemas;
pub(crate) mod setting_types;
pub(crate) mod settings;
pub(crate) mod sso;
pub(crate) mod startup;
