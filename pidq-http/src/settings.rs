//! Settings: typed rows in tables, and the layers that set them: default, file, environment, flag.

mod choices;
mod common;
mod common_settings;
mod error;
mod file;
mod formats;
mod load;
mod loaded;
mod reference;
mod setting;
mod setting_type;
mod suggestion;
mod trace_types;
mod url_types;

pub use common::{ADMIN_LISTEN, COMMON, LISTEN, RATE_LIMIT, TLS_CERT};
pub use common_settings::CommonSettings;
pub use error::SettingError;
pub use load::environment;
pub use loaded::Settings;
pub use reference::{default_value, settings_help, settings_help_where, settings_table};
pub use setting::{AnySetting, Setting, SettingTable};
pub use setting_type::{Choice, DataDir, MemorySize, NonZeroDuration, SettingType, Size, mismatch};
pub use url_types::{BaseUrl, Origin};

/// Prefix of all environment variables.
const PREFIX: &str = "PIDQ_";
