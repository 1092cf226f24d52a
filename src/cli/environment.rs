//! Settings in the environment, which the processes of an installation share.

use pidq_http::{COMMON, SettingTable, environment};

use crate::cli::client_settings::CREDENTIALS;
use crate::cli::failure::{Failure, Result};

/// Returns the settings in the environment.
pub fn variables() -> Result<Vec<(String, String)>> {
    environment().map_err(Failure::usage)
}

/// Returns the settings in the environment for a command with these tables. Settings of other commands are left out: the
/// processes of an installation share files of settings, and a warning would be one about a correct file.
pub fn environment_for(tables: &[SettingTable]) -> Result<Vec<(String, String)>> {
    let has = |tables: &[SettingTable], name: &str| {
        let mut rows = tables.iter().copied().flatten();
        rows.any(|row| row.env() == name || row.is_secret() && name.strip_suffix("_FILE") == Some(row.env()))
    };
    let other_tables = all_tables();
    let is_of_others = |name: &str| has(&other_tables, name) || OF_COMPOSE.contains(&name);
    Ok(variables()?.into_iter().filter(|(name, _)| has(tables, name) || !is_of_others(name)).collect())
}

/// Variables of `deploy/compose.yaml` itself, in the file of settings that all containers read.
const OF_COMPOSE: [&str; 4] = ["PIDQ_IMAGE", "PIDQ_BIND", "PIDQ_PORT", "PIDQ_DASHBOARD_PORT"];

/// Returns the tables of all commands.
fn all_tables() -> Vec<SettingTable> {
    let mut tables = vec![COMMON, pidq_server::SETTINGS, CREDENTIALS];
    #[cfg(feature = "pipeline")]
    tables.extend(pidq_pipeline::TABLES);
    #[cfg(feature = "dashboard")]
    tables.extend([pidq_dashboard::SETTINGS, pidq_dashboard::REMOTE_SETTINGS]);
    tables
}
