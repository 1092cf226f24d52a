//! Generated manual pages: prose with tables built from the endpoints and settings.

use pidq_http::{
    COMMON, HTTP_METRICS, default_value, metrics_table, problem_table, route_sections, route_table,
    settings_table as settings,
};

use crate::app::routes::ROUTES;
use crate::app::settings::SETTINGS;
use crate::metrics::METRICS;

const HTTP: &str = include_str!("manual/http.md");
const PROBLEMS: &str = include_str!("manual/problems.md");
const OPERATE: &str = include_str!("manual/operate.md");

/// Returns `docs/http.md`: the endpoints.
pub fn http() -> String {
    let default = |name: &str| default_value(&[COMMON, SETTINGS], name);
    HTTP.replace("{index}", &route_table(ROUTES)).replace("{endpoints}", &route_sections(ROUTES, default))
}

/// Returns `docs/problems.md`: the problem codes of both services.
pub fn problems() -> String {
    PROBLEMS.replace("{problems}", &problem_table())
}

/// Returns `docs/operate.md`: operation of the service.
pub fn operate() -> String {
    OPERATE
        .replace("{metrics}", metrics_table(&[HTTP_METRICS, METRICS]).trim_end())
        .replace("{settings}", settings(&[SETTINGS]).trim_end())
        .replace("{common}", settings(&[COMMON]).trim_end())
}
