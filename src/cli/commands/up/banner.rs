//! Banner of `pidq up` on a terminal: what runs where, how to sign in, and how to stop.

use std::fmt::Write;

use pidq_http::auth::CreatedCredentials;
use pidq_http::{CommonSettings, Listener, Secret, Settings, TLS_CERT, has_colors};
use pidq_server::{ADMIN_LOGIN, DATA_DIR, Server};

use crate::cli::failure::{Failure, Result};

/// Returns the URL of the API: the public one, or that of the first listener.
pub fn url(settings: &Settings, listeners: &[Listener]) -> Result<String> {
    if let Some(url) = CommonSettings(settings).public_url().map_err(Failure::usage)? {
        return Ok(url);
    }
    listener_url(settings, listeners)
}

/// Returns the URL of the first public listener.
pub fn listener_url(settings: &Settings, listeners: &[Listener]) -> Result<String> {
    let scheme = if settings.is_set(&TLS_CERT) { "https" } else { "http" };
    let public = listeners.iter().find(|listener| listener.is_public()).map(Listener::address).transpose();
    Ok(public.map_err(Failure::usage)?.map_or_else(String::new, |address| format!("{scheme}://{address}")))
}

/// Returns the banner, with the dashboard first if it runs. It takes the credentials of the first start.
pub fn text(server: &Server, settings: &Settings, listeners: &[Listener], dashboard: Option<&str>) -> Result<String> {
    let api = url(settings, listeners)?;
    let mut rows: Vec<_> = dashboard.map(|url| ("Dashboard", url.to_owned())).into_iter().collect();
    rows.push(("API", format!("{api}/docs")));
    for listener in listeners.iter().filter(|listener| !listener.is_public()) {
        let address = listener.address().map_err(Failure::usage)?;
        rows.push(("Metrics", format!("http://{address}/metrics")));
    }
    rows.push(("Data", settings.get(&DATA_DIR).map_err(Failure::usage)?.display().to_string()));
    match server.take_first_credentials() {
        Some(created) => rows.extend(credential_rows(&created)),
        None => {
            let login = settings.get(&ADMIN_LOGIN).map_err(Failure::usage)?;
            rows.push(("Password", format!("set at the first start; `pidq users passwd {login}` sets another")));
        }
    }
    Ok(format(&rows, has_colors()))
}

fn credential_rows(created: &CreatedCredentials) -> Vec<(&'static str, String)> {
    let secret = |secret: &Option<Secret>| match secret {
        Some(secret) => format!("{}   (shown once)", secret.expose()),
        None => "(from the settings)".to_owned(),
    };
    vec![
        ("User", created.login.clone()),
        ("Password", secret(&created.password)),
        ("OAuth client", created.client_id.clone()),
        ("Client secret", secret(&created.client_secret)),
    ]
}

/// Formats the rows, with the labels in one column.
fn format(rows: &[(&str, String)], has_colors: bool) -> String {
    let (bold, dim, plain) = if has_colors { ("\x1b[1m", "\x1b[2m", "\x1b[0m") } else { ("", "", "") };
    let width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or_default();
    let mut banner = format!("\n  {bold}pidq {}{plain}\n\n", env!("CARGO_PKG_VERSION"));
    for (label, value) in rows {
        let _ = writeln!(banner, "  {dim}{label:<width$}{plain}  {value}");
    }
    banner + &format!("\n  {dim}Press Ctrl-C to stop.{plain}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_values_are_aligned() {
        let rows = [("API", "a".to_owned()), ("Dashboard", "b".to_owned())];
        let banner = format(&rows, false);
        assert!(banner.contains("\n  API        a\n  Dashboard  b\n"), "{banner}");
        assert!(!banner.contains('\x1b'));
        assert!(format(&rows, true).contains("\x1b[1mpidq"));
    }
}
