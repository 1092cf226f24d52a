//! Generator of `docs/dashboard.md`: prose with the tables of settings.

use pidq_http::settings_table;

use crate::settings::{REMOTE_SETTINGS, SETTINGS};
use crate::sso_failure;

const PROSE: &str = include_str!("manual/dashboard.md");

/// Returns the text of `docs/dashboard.md`.
pub fn dashboard() -> String {
    PROSE
        .replace("{failures}", sso_failure::table().trim_end())
        .replace("{settings}", settings_table(&[SETTINGS]).trim_end())
        .replace("{remote}", settings_table(&[REMOTE_SETTINGS]).trim_end())
}
