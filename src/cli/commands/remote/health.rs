//! Subcommand `pidq health`: checks a running service, for containers without a shell.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::{Request, Uri};
use pidq_http::{Bytes, https_client};
use tokio::time::timeout;

use super::client::innermost_reason;
use crate::cli::commands::serve::{block_on, print_text};
use crate::cli::failure::{Failure, Result, Status};
use crate::cli::input;
use crate::cli::table::escape_controls;

/// Maximum size of a response body in bytes.
const MAX_BODY_SIZE: usize = 64 << 10;

/// Options of `pidq health`.
#[derive(Args)]
pub struct Options {
    /// URL that answers 2xx while the service is healthy: `/livez` (alive) or `/readyz` (ready for requests)
    #[arg(default_value = "http://127.0.0.1:8000/readyz")]
    url: String,

    /// Additional CA certificates, PEM
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,

    /// Maximum time for the answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=600))]
    timeout: u64,
}

/// Prints the answer of the service. The exit status is 0 if it is healthy, and 1 if it is not or does not answer.
pub fn run(options: &Options) -> Result {
    let uri: Uri = options.url.parse().map_err(|_| invalid_url(&options.url))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(invalid_url(&options.url));
    }
    let ca_certificates = options.ca.as_deref().map(input::text).transpose()?;
    let limit = Duration::from_secs(options.timeout);
    block_on(async {
        match timeout(limit, get(uri, ca_certificates.as_deref())).await {
            Ok(answer) => {
                let (is_healthy, text) = answer?;
                print_text(&format!("{text}\n"))?;
                Ok(if is_healthy { Status::Done } else { Status::Falsy })
            }
            Err(_) => {
                print_text(&format!("no answer within {} s\n", options.timeout))?;
                Ok(Status::Falsy)
            }
        }
    })
}

fn invalid_url(url: &str) -> Failure {
    Failure::Usage(format!("expected a URL such as `http://127.0.0.1:8000/readyz`, found `{url}`"))
}

/// Returns whether the status is 2xx, and the answer in one line. A service that cannot be reached is not healthy.
async fn get(uri: Uri, ca_certificates: Option<&str>) -> Result<(bool, String)> {
    let client = https_client(ca_certificates, 0).map_err(Failure::Usage)?;
    let request = Request::get(uri).body(Empty::<Bytes>::new()).map_err(Failure::usage)?;
    let response = match client.request(request).await {
        Ok(response) => response,
        Err(error) => return Ok((false, format!("cannot be reached: {}", innermost_reason(&error)))),
    };
    let status = response.status();
    // The status decides; a body that cannot be read is left out.
    let body = Limited::new(response.into_body(), MAX_BODY_SIZE).collect().await;
    let body = body.map(|body| body.to_bytes()).unwrap_or_default();
    let lines: Vec<String> = String::from_utf8_lossy(&body).trim().lines().map(escape_controls).collect();
    let text = format!("{} {}", status.as_u16(), lines.join("; "));
    Ok((status.is_success(), text.trim_end().to_owned()))
}
