//! How often a password may be tried, decided before anything is hashed.
//!
//! Three limits, and the strictest counts: a network has a bucket, an account has a bucket for each network, and an
//! account has a ladder: each failure in a row waits longer, and after a hundred within a day it is over for that day.
//! A network that logged in before climbs a ladder of its own, so that strangers cannot lock the owner out.
//!
//! The counts live in memory: they are for this process, and a restart forgets them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::moment::Moment;

/// How many tries there are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ThrottleLimits {
    /// Tries of one network at once, for all accounts.
    pub network_burst: u32,
    /// After these, one more in each such span.
    pub network_interval: Duration,
    /// Tries of one network at once for one account.
    pub account_burst: u32,
    /// After these, one more in each such span.
    pub account_interval: Duration,
    /// Failures a day for one account.
    pub failures_a_day: u32,
    /// Tries for one account that may be under way at once.
    pub at_once: u32,
}

impl Default for ThrottleLimits {
    fn default() -> ThrottleLimits {
        ThrottleLimits {
            network_burst: 30,
            network_interval: Duration::from_secs(1),
            account_burst: 10,
            account_interval: Duration::from_secs(30),
            failures_a_day: 100,
            at_once: 8,
        }
    }
}

/// The wait after the first, second, third … failure in a row; then the last one for all.
const RUNGS: [Duration; 5] =
    [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(3), Duration::from_secs(5), Duration::from_secs(10)];
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// No table of counts grows beyond this. At its end strangers have to wait, not the memory.
const MOST_ENTRIES: usize = 50_000;
const WAIT_WHEN_FULL: Duration = Duration::from_secs(60);

/// The part of the network that one customer of a provider has: an IPv4 address, the first 64 bits of an IPv6 address.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Network(IpAddr);

impl Network {
    /// The network of an address.
    pub fn of(address: IpAddr) -> Network {
        Network(crate::proxies::Network::of(address).address())
    }
}

impl std::fmt::Display for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Whether an account has logged in from a network before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Acquaintance {
    Known,
    Stranger,
}

/// Too many tries: when the next one may succeed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct TooMany(pub(crate) Duration);

pub(crate) struct Throttle {
    limits: ThrottleLimits,
    counts: Mutex<Counts>,
}

struct Counts {
    swept_at: Moment,
    networks: HashMap<Network, Bucket>,
    accounts: HashMap<(String, Network), Bucket>,
    ladders: HashMap<Climber, Ladder>,
}

/// An account, as one known network sees it or as all strangers do.
type Climber = (String, Option<Network>);

impl Throttle {
    pub(crate) fn new(limits: ThrottleLimits) -> Throttle {
        let counts =
            Counts { swept_at: Moment(0), networks: HashMap::new(), accounts: HashMap::new(), ladders: HashMap::new() };
        Throttle { limits, counts: Mutex::new(counts) }
    }

    /// Counts a try, or says how long to wait. A try is a failure until it is said to be something else.
    pub(crate) fn admit(
        &self,
        account: &str,
        network: Network,
        acquaintance: Acquaintance,
        now: Moment,
    ) -> Result<Attempt<'_>, TooMany> {
        let climber = (account.to_owned(), (acquaintance == Acquaintance::Known).then_some(network));
        let limits = &self.limits;
        let mut counts = self.counts();
        counts.make_room(now)?;
        let network_bucket = counts.networks.get(&network).copied().unwrap_or_default();
        let network_bucket = network_bucket.charged(limits.network_burst, limits.network_interval, now)?;
        let pair = (account.to_owned(), network);
        let account_bucket = counts.accounts.get(&pair).copied().unwrap_or_default();
        let account_bucket = account_bucket.charged(limits.account_burst, limits.account_interval, now)?;
        counts.ladders.entry(climber.clone()).or_insert(Ladder::new(now)).begin(limits, now)?;
        counts.networks.insert(network, network_bucket);
        counts.accounts.insert(pair, account_bucket);
        Ok(Attempt { throttle: self, climber, network, now, outcome: Outcome::Failed })
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn make_room(&mut self, now: Moment) -> Result<(), TooMany> {
        // A sweep looks at everything, so there is one a second at most.
        if self.is_full() && now.since(self.swept_at) >= Duration::from_secs(1) {
            self.sweep(now);
        }
        if self.is_full() { Err(TooMany(WAIT_WHEN_FULL)) } else { Ok(()) }
    }

    fn is_full(&self) -> bool {
        self.networks.len().max(self.accounts.len()).max(self.ladders.len()) >= MOST_ENTRIES
    }

    fn sweep(&mut self, now: Moment) {
        self.swept_at = now;
        self.networks.retain(|_, bucket| bucket.full_at > now);
        self.accounts.retain(|_, bucket| bucket.full_at > now);
        self.ladders.retain(|_, ladder| ladder.matters(now));
    }
}

/// A bucket of tries that refills evenly: it is enough to know when it will be full again.
#[derive(Clone, Copy)]
struct Bucket {
    full_at: Moment,
}

impl Default for Bucket {
    fn default() -> Bucket {
        Bucket { full_at: Moment(0) }
    }
}

impl Bucket {
    fn charged(self, burst: u32, interval: Duration, now: Moment) -> Result<Bucket, TooMany> {
        let full_at = self.full_at.max(now) + interval;
        let too_early = full_at.since(now + interval * burst);
        if too_early.is_zero() { Ok(Bucket { full_at }) } else { Err(TooMany(too_early)) }
    }
}

struct Ladder {
    day_began: Moment,
    failures_today: u32,
    failures_in_a_row: usize,
    closed_until: Moment,
    under_way: u32,
}

impl Ladder {
    fn new(now: Moment) -> Ladder {
        Ladder { day_began: now, failures_today: 0, failures_in_a_row: 0, closed_until: Moment(0), under_way: 0 }
    }

    fn begin(&mut self, limits: &ThrottleLimits, now: Moment) -> Result<(), TooMany> {
        if now.since(self.day_began) >= DAY {
            *self = Ladder { under_way: self.under_way, ..Ladder::new(now) };
        }
        if self.failures_today + self.under_way >= limits.failures_a_day {
            return Err(TooMany((self.day_began + DAY).since(now)));
        }
        if self.closed_until > now {
            return Err(TooMany(self.closed_until.since(now)));
        }
        if self.under_way >= limits.at_once {
            return Err(TooMany(Duration::from_secs(1)));
        }
        self.under_way += 1;
        Ok(())
    }

    fn end(&mut self, outcome: Outcome, now: Moment) {
        self.under_way = self.under_way.saturating_sub(1);
        match outcome {
            Outcome::Succeeded => self.failures_in_a_row = 0,
            Outcome::Withdrawn => {}
            Outcome::Failed => {
                let rung = RUNGS[self.failures_in_a_row.min(RUNGS.len() - 1)];
                self.failures_in_a_row += 1;
                self.failures_today += 1;
                self.closed_until = self.closed_until.max(now + rung);
            }
        }
    }

    fn matters(&self, now: Moment) -> bool {
        let guessed_at = self.failures_today > 1 && now.since(self.day_began) < DAY;
        self.under_way > 0 || guessed_at
    }
}

#[derive(Clone, Copy)]
enum Outcome {
    Succeeded,
    Failed,
    Withdrawn,
}

/// A try that was admitted. Dropped without a word, for instance because the client hung up, it has failed.
pub(crate) struct Attempt<'a> {
    throttle: &'a Throttle,
    climber: Climber,
    network: Network,
    now: Moment,
    outcome: Outcome,
}

impl Attempt<'_> {
    /// The password was right. What the try cost is given back: an office behind one address logs in all morning.
    pub(crate) fn succeeded(mut self) {
        self.outcome = Outcome::Succeeded;
    }

    /// Whether the account has logged in from there before.
    pub(crate) fn acquaintance(&self) -> Acquaintance {
        if self.climber.1.is_some() { Acquaintance::Known } else { Acquaintance::Stranger }
    }

    /// Nothing was hashed, so nothing was tried.
    pub(crate) fn withdrawn(mut self) {
        self.outcome = Outcome::Withdrawn;
    }

    fn give_back(&self, counts: &mut Counts) {
        let limits = &self.throttle.limits;
        if let Some(bucket) = counts.networks.get_mut(&self.network) {
            bucket.full_at = bucket.full_at - limits.network_interval;
        }
        if let Some(bucket) = counts.accounts.get_mut(&(self.climber.0.clone(), self.network)) {
            bucket.full_at = bucket.full_at - limits.account_interval;
        }
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let mut counts = self.throttle.counts();
        if !matches!(self.outcome, Outcome::Failed) {
            self.give_back(&mut counts);
        }
        if let Some(ladder) = counts.ladders.get_mut(&self.climber) {
            ladder.end(self.outcome, self.now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Moment = Moment(1_700_000_000_000);
    const OFFICE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    fn stranger(number: u32) -> Network {
        Network::of(IpAddr::V4((0x0a00_0000 + number).into()))
    }

    fn fails(throttle: &Throttle, network: Network, acquaintance: Acquaintance, now: Moment) -> bool {
        throttle.admit("a", network, acquaintance, now).is_ok()
    }

    #[test]
    fn a_network_is_an_address_or_the_first_half_of_one() {
        let network = |text: &str| Network::of(text.parse().expect("an address")).to_string();
        assert_eq!(network("192.0.2.7"), "192.0.2.7");
        assert_eq!(network("::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
    }

    #[test]
    fn a_hundred_failures_a_day_and_no_more_from_however_many_networks() {
        let throttle = Throttle::new(ThrottleLimits::default());
        let second = |n: u32| NOON + Duration::from_secs(n.into());
        let count = |from: u32| {
            (from..from + 86_000).filter(|n| fails(&throttle, stranger(*n), Acquaintance::Stranger, second(*n))).count()
        };
        assert_eq!(count(0), 100);
        assert_eq!(count(86_400), 100);
    }

    #[test]
    fn strangers_do_not_lock_out_a_known_network() {
        let throttle = Throttle::new(ThrottleLimits::default());
        for n in 0..5_000 {
            fails(&throttle, stranger(n), Acquaintance::Stranger, NOON + Duration::from_secs(n.into()));
        }
        let later = NOON + Duration::from_secs(5_000);
        assert!(!fails(&throttle, Network::of(OFFICE), Acquaintance::Stranger, later));
        assert!(fails(&throttle, Network::of(OFFICE), Acquaintance::Known, later));
    }

    #[test]
    fn each_failure_in_a_row_waits_longer() {
        let throttle = Throttle::new(ThrottleLimits::default());
        let mut now = NOON;
        let mut waits = Vec::new();
        for n in 0..7 {
            assert!(fails(&throttle, stranger(n), Acquaintance::Stranger, now));
            let refused = throttle.admit("a", stranger(99), Acquaintance::Stranger, now).err();
            waits.push(refused.map_or(0, |wait| wait.0.as_secs()));
            now = now + Duration::from_secs(60);
        }
        // The first try of 99 is admitted, and fails as well.
        assert_eq!(waits, [0, 3, 5, 10, 10, 10, 10]);
    }

    #[test]
    fn a_network_that_fails_has_a_bucket_and_one_that_succeeds_has_none() {
        let throttle = Throttle::new(ThrottleLimits::default());
        let try_at = |n: u32, now| throttle.admit(&n.to_string(), stranger(0), Acquaintance::Stranger, now);
        assert_eq!((0..100).filter(|n| try_at(*n, NOON).is_ok()).count(), 30);
        assert_eq!((0..100).filter(|n| try_at(*n, NOON + Duration::from_secs(5)).is_ok()).count(), 5);
        let later = NOON + Duration::from_secs(3_600);
        let right = (0..100).filter(|n| try_at(*n, later).map(Attempt::succeeded).is_ok()).count();
        assert_eq!(right, 100);
    }

    #[test]
    fn guesses_at_once_are_counted_before_they_fail() {
        let throttle = Throttle::new(ThrottleLimits::default());
        let tries: Vec<_> =
            (0..50).filter_map(|n| throttle.admit("a", stranger(n), Acquaintance::Stranger, NOON).ok()).collect();
        assert_eq!(tries.len(), 8);
    }

    #[test]
    fn the_tables_do_not_grow_without_end() {
        let throttle = Throttle::new(ThrottleLimits::default());
        for n in 0..200_000u32 {
            let now = NOON + Duration::from_millis(u64::from(n) * 10);
            drop(throttle.admit(&n.to_string(), stranger(n), Acquaintance::Stranger, now));
        }
        let counts = throttle.counts();
        assert!(counts.networks.len() <= MOST_ENTRIES && counts.accounts.len() <= MOST_ENTRIES);
        assert!(counts.ladders.len() <= MOST_ENTRIES);
    }
}
