//! SSRF guard: every URL named by a caller is parsed once, resolved once, and checked before a connection is opened.
//!
//! The URL of an LLM is part of a request, so callers could make this service connect to anything that it can reach. A
//! [`Guard`] prevents that. It returns a [`Target`] with the checked IP addresses, and connections go only to these,
//! whatever DNS returns later (no DNS rebinding). Redirects are not followed, and proxies are not used.

mod allow_list;
mod connect;
mod exchange;
mod ip_class;
mod listeners;
mod resolve;
mod settings;
mod target_url;

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

pub use allow_list::AllowList;
pub use connect::{ConnectError, Connection};
pub use exchange::{BodyError, Exchange, ResponseLimits};
pub use ip_class::IpClass;
pub use listeners::Listeners;
pub use resolve::{Resolver, SystemResolver};
pub(crate) use settings::LLM_CA;
pub use settings::SETTINGS;
pub use target_url::{Host, TargetUrl, UrlError};

use pidq_http::client_tls;
use tokio_rustls::TlsConnector;

/// Maximum number of addresses of a name that are tried.
const MAX_ADDRESSES: usize = 4;

/// Egress policy.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Permitted addresses.
    pub scope: EgressScope,
    /// The platform's own database, cache and message broker: never reached on behalf of a caller.
    pub backends: Vec<Backend>,
}

/// Set of permitted addresses.
#[derive(Clone, Debug)]
pub enum EgressScope {
    /// Only the URLs of the administrator's allow list.
    AllowListed(AllowList),
    /// All addresses up to a level.
    Level(Level),
    /// All addresses: for URLs from the settings, never for those of a caller.
    Unrestricted,
}

/// Network scope of permitted addresses, from the internet to this machine.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Level {
    /// Public internet addresses.
    Public,
    /// Also private networks.
    Private,
    /// Also loopback.
    Local,
}

/// A backend service of the platform.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Backend {
    /// Host name or IP address.
    pub host: String,
    /// Port.
    pub port: u16,
}

/// A permitted URL with its checked IP addresses.
#[derive(Clone, Debug)]
pub struct Target {
    /// The requested URL.
    pub url: TargetUrl,
    /// Its IP addresses, all of them checked.
    pub addresses: Vec<IpAddr>,
}

/// Reason why a URL is rejected.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum EgressRejection {
    /// The URL is invalid.
    InvalidUrl(UrlError),
    /// It resolves to an address that is never permitted.
    Never(&'static str),
    /// It resolves to an address beyond the permitted level.
    Level(IpClass),
    /// It is one of the platform's own backends or listeners.
    Backend,
    /// It is not on the administrator's allow list.
    NotListed,
    /// It is not on the allow list of the classification.
    NotListedForClassification,
}

/// Error of checking a URL.
#[derive(Debug)]
pub enum EgressError {
    /// The URL is rejected.
    Rejected(EgressRejection),
    /// Its host name does not resolve.
    Unresolved,
}

/// Checks URLs against a policy and connects to the permitted ones.
#[derive(Clone)]
pub struct Guard {
    policy: Policy,
    /// The platform's own listeners: never reached on behalf of a caller.
    listeners: Listeners,
    resolver: Arc<dyn Resolver>,
    tls: TlsConnector,
}

impl Guard {
    /// Creates a guard with the system's resolver. The CA certificates `root_certificates` (PEM) are trusted in addition
    /// to the public ones.
    pub fn new(policy: Policy, root_certificates: Option<&str>) -> Result<Guard, String> {
        let tls = TlsConnector::from(Arc::new(client_tls(root_certificates)?));
        Ok(Guard { policy, listeners: Listeners::default(), resolver: Arc::new(SystemResolver), tls })
    }

    /// Replaces the resolver.
    pub fn with_resolver(mut self, resolver: Arc<dyn Resolver>) -> Guard {
        self.resolver = resolver;
        self
    }

    /// Sets the listeners, which guards share.
    pub fn with_listeners(mut self, listeners: Listeners) -> Guard {
        self.listeners = listeners;
        self
    }

    /// Parses a URL, resolves its host once, and checks all of its addresses.
    ///
    /// The allow list of a classification narrows what the administrator permits; it never widens it.
    pub async fn target(&self, url: &str, classification_list: Option<&AllowList>) -> Result<Target, EgressError> {
        let url = TargetUrl::parse(url).map_err(|error| EgressError::Rejected(EgressRejection::InvalidUrl(error)))?;
        self.check_lists(&url, classification_list).map_err(EgressError::Rejected)?;
        let addresses = self.resolve(url.host()).await?;
        for &address in &addresses {
            self.check_ip(address).map_err(EgressError::Rejected)?;
        }
        self.check_listeners(&url, &addresses).map_err(EgressError::Rejected)?;
        self.check_backends(&url, &addresses).await.map_err(EgressError::Rejected)?;
        Ok(Target { url, addresses: addresses.into_iter().take(MAX_ADDRESSES).collect() })
    }

    /// Runs the checks that need no DNS, so that names that are not permitted are not even resolved.
    fn check_lists(&self, url: &TargetUrl, classification_list: Option<&AllowList>) -> Result<(), EgressRejection> {
        if let EgressScope::AllowListed(list) = &self.policy.scope
            && !list.allows(url)
        {
            return Err(EgressRejection::NotListed);
        }
        if classification_list.is_some_and(|list| !list.allows(url)) {
            return Err(EgressRejection::NotListedForClassification);
        }
        match url.host() {
            Host::Name(name) if !self.is_unrestricted() && ip_class::is_metadata_name(name) => {
                Err(EgressRejection::Never("a metadata service"))
            }
            _ => Ok(()),
        }
    }

    fn is_unrestricted(&self) -> bool {
        matches!(self.policy.scope, EgressScope::Unrestricted)
    }

    async fn resolve(&self, host: &Host) -> Result<Vec<IpAddr>, EgressError> {
        let mut addresses = match host {
            Host::Ip(address) => vec![*address],
            Host::Name(name) => self.resolver.resolve(name).await.map_err(|_| EgressError::Unresolved)?,
        };
        addresses.dedup();
        if addresses.is_empty() { Err(EgressError::Unresolved) } else { Ok(addresses) }
    }

    fn check_ip(&self, address: IpAddr) -> Result<(), EgressRejection> {
        match (&self.policy.scope, IpClass::classify(address)) {
            (EgressScope::Unrestricted, _) => Ok(()),
            (_, IpClass::Never(description)) => Err(EgressRejection::Never(description)),
            (EgressScope::AllowListed(_), _) => Ok(()),
            (EgressScope::Level(level), class) if class.level().is_some_and(|required| required <= *level) => Ok(()),
            (_, class) => Err(EgressRejection::Level(class)),
        }
    }

    /// Rejects the platform's own listeners, whatever the names and addresses are by which they are reached.
    fn check_listeners(&self, url: &TargetUrl, addresses: &[IpAddr]) -> Result<(), EgressRejection> {
        let reaches_self = |address: &IpAddr| self.listeners.include(*address, url.port());
        match !self.is_unrestricted() && addresses.iter().any(reaches_self) {
            true => Err(EgressRejection::Backend),
            false => Ok(()),
        }
    }

    /// Rejects the platform's own backends, by any of their names. Only backends with the same port are resolved.
    async fn check_backends(&self, url: &TargetUrl, addresses: &[IpAddr]) -> Result<(), EgressRejection> {
        let same_port = self.policy.backends.iter().filter(|backend| backend.port == url.port());
        for backend in same_port {
            if self.is_unrestricted() {
                break;
            }
            let host = Host::parse(&backend.host);
            if host.as_ref() == Some(url.host()) {
                return Err(EgressRejection::Backend);
            }
            // A backend whose name does not resolve cannot be the target.
            let backend_addresses = match host {
                Some(host) => self.resolve(&host).await.unwrap_or_default(),
                None => Vec::new(),
            };
            if backend_addresses
                .iter()
                .any(|&backend| addresses.iter().any(|&address| ip_class::is_same_host(backend, address)))
            {
                return Err(EgressRejection::Backend);
            }
        }
        Ok(())
    }

    /// Connects to the checked addresses in order; TLS verifies the host name of the URL.
    pub async fn connect(&self, target: &Target, timeout: std::time::Duration) -> Result<Connection, ConnectError> {
        connect::connect(&self.tls, target, timeout).await
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// Message for the caller, with the next step. It never reveals addresses, so callers cannot map the internal network.
impl fmt::Display for EgressRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EgressRejection::InvalidUrl(error) => write!(f, "`base_url` {error}"),
            EgressRejection::Never(_) | EgressRejection::Level(_) | EgressRejection::Backend => f.write_str(
                "the address of `base_url` is not permitted: \
                use another one, or ask the administrator (`PIDQ_LLM_EGRESS`, `PIDQ_LLM_ALLOW`)",
            ),
            EgressRejection::NotListed => f.write_str(
                "`base_url` is not on the administrator's allow list: \
                use a listed one, or have it added to `PIDQ_LLM_ALLOW`",
            ),
            EgressRejection::NotListedForClassification => f.write_str(
                "`base_url` is not allowed for this classification: \
                use another one, or have it added to `llm_allow` of its policy",
            ),
        }
    }
}
