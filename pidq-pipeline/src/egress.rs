//! Where a caller may send us: every address is read in one spelling, looked up once, and checked before a connection.
//!
//! The URL of an LLM comes with a query, so whoever asks could make this service call whatever it can reach. A
//! [`Guard`] decides. What it let through is a [`Target`]: it holds the checked addresses, and connections go to these
//! and nowhere else, whatever the name server says a moment later. Nobody here follows a redirect or asks a proxy.

mod address;
mod allow;
mod class;
mod connect;
mod resolve;
mod settings;

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

pub use address::{Address, Host, Spelling};
pub use allow::AllowList;
pub use class::Class;
pub use connect::{Connection, NoConnection};
pub use resolve::{Resolver, SystemResolver};
pub use settings::SETTINGS;

use pidq_http::client_tls;
use tokio_rustls::TlsConnector;

/// How many addresses of a name are tried.
const TRIED: usize = 4;

/// What may be reached.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Which addresses.
    pub reach: Reach,
    /// Our own database, cache and queue: never reached on behalf of a caller.
    pub back_ends: Vec<BackEnd>,
}

/// Which addresses may be reached.
#[derive(Clone, Debug)]
pub enum Reach {
    /// Those that an administrator listed and nothing else.
    Listed(AllowList),
    /// Those of a level.
    Level(Level),
    /// Every one: for addresses that an administrator gave, never for those of a caller.
    Given,
}

/// How near to ourselves an address may be.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Level {
    /// The internet.
    Public,
    /// And the networks of the company.
    Private,
    /// And this machine.
    Local,
}

/// A service that is ours.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BackEnd {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
}

/// An address that may be reached, and where that is.
#[derive(Clone, Debug)]
pub struct Target {
    /// What was asked for.
    pub address: Address,
    /// Where it is; all of these were checked.
    pub places: Vec<IpAddr>,
}

/// Why an address is not reached.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Refusal {
    /// It is no address that we take from anybody.
    Spelling(Spelling),
    /// It leads to a place that we never call for a caller.
    Never(&'static str),
    /// It leads to a place that the level does not reach.
    Level(Class),
    /// It is one of our own services.
    BackEnd,
    /// It is on no list of the administrator.
    NotListed,
    /// It is not on the list of this classification.
    NotListedForLabel,
}

/// Why there is no target.
#[derive(Debug)]
pub enum NoTarget {
    /// It may not be reached.
    Refused(Refusal),
    /// Its name leads nowhere.
    Unresolved,
}

/// Decides what may be reached, and connects.
#[derive(Clone)]
pub struct Guard {
    policy: Policy,
    resolver: Arc<dyn Resolver>,
    tls: TlsConnector,
}

impl Guard {
    /// A guard with the resolver of the system. `authorities` (PEM) are believed beside the public ones.
    pub fn new(policy: Policy, authorities: Option<&str>) -> Result<Guard, String> {
        let tls = TlsConnector::from(Arc::new(client_tls(authorities)?));
        Ok(Guard { policy, resolver: Arc::new(SystemResolver), tls })
    }

    /// The same with another way to look up names.
    pub fn with_resolver(mut self, resolver: Arc<dyn Resolver>) -> Guard {
        self.resolver = resolver;
        self
    }

    /// Reads an address, looks its name up once, and checks all places that it leads to.
    ///
    /// The list of a label narrows what the administrator allows; it never widens it.
    pub async fn target(&self, address: &str, label: Option<&AllowList>) -> Result<Target, NoTarget> {
        let address = Address::parse(address).map_err(|spelling| NoTarget::Refused(Refusal::Spelling(spelling)))?;
        self.listed(&address, label).map_err(NoTarget::Refused)?;
        let places = self.places(address.host()).await?;
        for &place in &places {
            self.place(place).map_err(NoTarget::Refused)?;
        }
        self.not_ours(&address, &places).await.map_err(NoTarget::Refused)?;
        Ok(Target { address, places: places.into_iter().take(TRIED).collect() })
    }

    /// What can be said before a name is looked up, so that names that are on no list are not even asked for.
    fn listed(&self, address: &Address, label: Option<&AllowList>) -> Result<(), Refusal> {
        if let Reach::Listed(list) = &self.policy.reach
            && !list.has(address)
        {
            return Err(Refusal::NotListed);
        }
        if label.is_some_and(|list| !list.has(address)) {
            return Err(Refusal::NotListedForLabel);
        }
        match address.host() {
            Host::Name(name) if !self.is_given() && class::is_metadata_name(name) => {
                Err(Refusal::Never("a metadata service"))
            }
            _ => Ok(()),
        }
    }

    fn is_given(&self) -> bool {
        matches!(self.policy.reach, Reach::Given)
    }

    async fn places(&self, host: &Host) -> Result<Vec<IpAddr>, NoTarget> {
        let mut places = match host {
            Host::Ip(place) => vec![*place],
            Host::Name(name) => self.resolver.resolve(name).await.map_err(|_| NoTarget::Unresolved)?,
        };
        places.dedup();
        if places.is_empty() { Err(NoTarget::Unresolved) } else { Ok(places) }
    }

    fn place(&self, place: IpAddr) -> Result<(), Refusal> {
        match (&self.policy.reach, Class::of(place)) {
            (Reach::Given, _) => Ok(()),
            (_, Class::Never(what)) => Err(Refusal::Never(what)),
            (Reach::Listed(_), _) => Ok(()),
            (Reach::Level(level), class) if class.level().is_some_and(|needed| needed <= *level) => Ok(()),
            (_, class) => Err(Refusal::Level(class)),
        }
    }

    /// Our own services by any of their names. Only those with the same port are looked up.
    async fn not_ours(&self, address: &Address, places: &[IpAddr]) -> Result<(), Refusal> {
        let same_port = self.policy.back_ends.iter().filter(|back_end| back_end.port == address.port());
        for back_end in same_port {
            if self.is_given() {
                break;
            }
            let host = Host::parse(&back_end.host);
            if host.as_ref() == Some(address.host()) {
                return Err(Refusal::BackEnd);
            }
            // A name that leads nowhere leads to no service of ours either.
            let ours = match host {
                Some(host) => self.places(&host).await.unwrap_or_default(),
                None => Vec::new(),
            };
            if ours.iter().any(|&ours| places.iter().any(|&place| class::is_same_place(ours, place))) {
                return Err(Refusal::BackEnd);
            }
        }
        Ok(())
    }

    /// Connects to a checked place, in their order, and speaks TLS to the name that was asked for.
    pub async fn connect(&self, target: &Target, patience: std::time::Duration) -> Result<Connection, NoConnection> {
        connect::connect(&self.tls, target, patience).await
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// What to do about it. Where a name leads is not told: callers would map our network by asking.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Spelling(spelling) => write!(f, "`base_url` {spelling}"),
            Refusal::Never(_) | Refusal::Level(_) | Refusal::BackEnd => f.write_str(
                "`base_url` leads to an address that this service does not call: \
                 use another one, or ask the administrator (`PIDQ_LLM_EGRESS`, `PIDQ_LLM_ALLOW`)",
            ),
            Refusal::NotListed => f.write_str(
                "`base_url` is not one of those that the administrator allows: \
                 use one of these, or have it added to `PIDQ_LLM_ALLOW`",
            ),
            Refusal::NotListedForLabel => f.write_str(
                "`base_url` is not allowed for this classification: \
                 use another one, or have it added to `llm_allow` of its policy",
            ),
        }
    }
}
