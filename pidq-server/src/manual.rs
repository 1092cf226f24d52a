//! The manual of the service: prose with tables that are made of the rows that it runs on.

use pidq_http::{COMMON, endpoints, index, manual as settings};

use crate::routes::ROUTES;
use crate::settings::SETTINGS;

const HTTP: &str = include_str!("manual/http.md");
const OPERATE: &str = include_str!("manual/operate.md");

/// `docs/http.md`: the endpoints.
pub fn http() -> String {
    HTTP.replace("{index}", &index(ROUTES)).replace("{endpoints}", &endpoints(ROUTES))
}

/// `docs/operate.md`: how the service is run.
pub fn operate() -> String {
    OPERATE.replace("{settings}", settings(&[SETTINGS]).trim_end()).replace("{common}", settings(&[COMMON]).trim_end())
}
