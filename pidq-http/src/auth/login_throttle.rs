//! Login throttle, applied before a password is hashed.
//!
//! Three limits apply: a bucket per network, a bucket per account and network, and a backoff per account: each
//! failure in a row waits longer, and after a hundred failures in a day the account is locked until the next day. A
//! network with an earlier successful login has a backoff of its own, so that others cannot lock the owner out.
//!
//! An attempt that only others in progress prevent may wait for their end: those that succeed are not charged.
//!
//! The state is in memory of this process, and lost on restart. If the clock is set back, all times are moved with it,
//! so that nobody waits until it has caught up.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, timeout_at};

use super::timestamp::Timestamp;

/// Limits on login attempts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ThrottleLimits {
    /// Burst of attempts per network, for all accounts.
    pub network_burst: u32,
    /// Interval in which one more attempt per network is allowed.
    pub network_interval: Duration,
    /// Burst of attempts per network and account.
    pub account_burst: u32,
    /// Interval in which one more attempt per network and account is allowed.
    pub account_interval: Duration,
    /// Maximum number of failures per account and day.
    pub daily_failures: u32,
    /// Maximum number of concurrent attempts per account.
    pub concurrent_attempts: u32,
}

impl Default for ThrottleLimits {
    fn default() -> ThrottleLimits {
        ThrottleLimits {
            network_burst: 30,
            network_interval: Duration::from_secs(1),
            account_burst: 10,
            account_interval: Duration::from_secs(30),
            daily_failures: 100,
            concurrent_attempts: 8,
        }
    }
}

/// Delay after the first, second, third … failure in a row; the last one applies to all further failures.
const BACKOFF_STEPS: [Duration; 5] =
    [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(3), Duration::from_secs(5), Duration::from_secs(10)];
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Maximum size of each table. When it is full, new entries must wait, so memory is bounded.
const ENTRY_LIMIT: usize = 50_000;
const FULL_RETRY_AFTER: Duration = Duration::from_secs(60);
/// Maximum time that an attempt waits for others of its account, and maximum number of attempts that wait.
const MAX_WAIT: Duration = Duration::from_secs(10);
const WAITING_LIMIT: usize = 64;
/// Difference by which the clocks of concurrent attempts may differ without being set back.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(60);

/// Network of a client: an IPv4 address, or the /64 of an IPv6 address.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct ClientNetwork(IpAddr);

impl ClientNetwork {
    /// Returns the network of an address.
    pub fn from_address(address: IpAddr) -> ClientNetwork {
        ClientNetwork(crate::message::proxies::Network::for_client(address).address())
    }
}

impl std::fmt::Display for ClientNetwork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Trust in a network: whether the account logged in from it before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum NetworkTrust {
    Known,
    Unknown,
}

/// Throttled attempt, with the time to wait.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Throttled(pub(crate) Duration);

/// Refused attempt.
#[derive(Clone, Copy, Debug)]
struct Refused {
    throttled: Throttled,
    /// True if the attempt may be admitted as soon as another one of the account ends.
    depends_on_others: bool,
}

pub(crate) struct Throttle {
    limits: ThrottleLimits,
    counts: Mutex<Counts>,
    /// Notified when an attempt ends.
    ended: Notify,
    waiting: Semaphore,
}

struct Counts {
    /// Latest time of an attempt.
    latest: Timestamp,
    purged_at: Timestamp,
    networks: HashMap<ClientNetwork, Bucket>,
    accounts: HashMap<(String, ClientNetwork), Bucket>,
    backoffs: HashMap<BackoffKey, Backoff>,
}

/// Key of a backoff: an account with a known network, or with all unknown networks.
type BackoffKey = (String, Option<ClientNetwork>);

impl Throttle {
    pub(crate) fn new(limits: ThrottleLimits) -> Throttle {
        let counts = Counts {
            latest: Timestamp(0),
            purged_at: Timestamp(0),
            networks: HashMap::new(),
            accounts: HashMap::new(),
            backoffs: HashMap::new(),
        };
        Throttle { limits, counts: Mutex::new(counts), ended: Notify::new(), waiting: Semaphore::new(WAITING_LIMIT) }
    }

    /// Starts an attempt as soon as the other attempts of the account allow it, or returns the time to wait. An attempt
    /// counts as failed unless it ends otherwise.
    pub(crate) async fn start_attempt(
        &self,
        account: &str,
        network: ClientNetwork,
        network_trust: NetworkTrust,
        now: Timestamp,
    ) -> Result<Attempt<'_>, Throttled> {
        let started = Instant::now();
        let mut place = None;
        loop {
            // Registered before the check, so that no end is missed.
            let ended = self.ended.notified();
            let attempt = self.try_start(account, network, network_trust, now + started.elapsed());
            let Refused { throttled, depends_on_others } = match attempt {
                Ok(attempt) => return Ok(attempt),
                Err(refused) => refused,
            };
            place = place.or_else(|| self.waiting.try_acquire().ok());
            let may_wait = depends_on_others && place.is_some();
            if !may_wait || timeout_at(started + MAX_WAIT, ended).await.is_err() {
                return Err(throttled);
            }
        }
    }

    /// Starts an attempt without waiting.
    fn try_start(
        &self,
        account: &str,
        network: ClientNetwork,
        network_trust: NetworkTrust,
        now: Timestamp,
    ) -> Result<Attempt<'_>, Refused> {
        let backoff_key = (account.to_owned(), (network_trust == NetworkTrust::Known).then_some(network));
        let limits = &self.limits;
        let mut counts = self.counts();
        counts.follow_clock(now);
        let refused = |throttled| Refused { throttled, depends_on_others: false };
        counts.ensure_capacity(now).map_err(refused)?;
        let pair = (account.to_owned(), network);
        // Attempts that succeed are refunded.
        let others = counts.backoffs.get(&backoff_key).map_or(0, |backoff| backoff.in_progress);
        let charged = |throttled| Refused { throttled, depends_on_others: others > 0 };
        let bucket = counts.networks.get(&network).copied().unwrap_or_default();
        let network_bucket = bucket.charge(limits.network_burst, limits.network_interval, now).map_err(charged)?;
        let bucket = counts.accounts.get(&pair).copied().unwrap_or_default();
        let account_bucket = bucket.charge(limits.account_burst, limits.account_interval, now).map_err(charged)?;
        counts.backoffs.entry(backoff_key.clone()).or_insert(Backoff::new(now)).begin(limits, now)?;
        counts.networks.insert(network, network_bucket);
        counts.accounts.insert(pair, account_bucket);
        Ok(Attempt { throttle: self, backoff_key, network, now, outcome: Outcome::Failed })
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    /// Moves all times back if the clock was set back.
    fn follow_clock(&mut self, now: Timestamp) {
        let set_back_by = self.latest.since(now);
        if set_back_by > CLOCK_TOLERANCE {
            self.networks.values_mut().for_each(|bucket| bucket.full_at = bucket.full_at - set_back_by);
            self.accounts.values_mut().for_each(|bucket| bucket.full_at = bucket.full_at - set_back_by);
            self.backoffs.values_mut().for_each(|backoff| backoff.move_back(set_back_by));
            self.purged_at = self.purged_at - set_back_by;
            self.latest = now;
        }
        self.latest = self.latest.max(now);
    }

    fn ensure_capacity(&mut self, now: Timestamp) -> Result<(), Throttled> {
        // A purge visits all entries, so it runs at most once a second.
        if self.is_full() && now.since(self.purged_at) >= Duration::from_secs(1) {
            self.purge(now);
        }
        if self.is_full() { Err(Throttled(FULL_RETRY_AFTER)) } else { Ok(()) }
    }

    fn is_full(&self) -> bool {
        self.networks.len().max(self.accounts.len()).max(self.backoffs.len()) >= ENTRY_LIMIT
    }

    fn purge(&mut self, now: Timestamp) {
        self.purged_at = now;
        self.networks.retain(|_, bucket| bucket.full_at > now);
        self.accounts.retain(|_, bucket| bucket.full_at > now);
        self.backoffs.retain(|_, backoff| backoff.is_relevant(now));
    }
}

/// Token bucket that refills evenly, stored as the time at which it is full.
#[derive(Clone, Copy)]
struct Bucket {
    full_at: Timestamp,
}

impl Default for Bucket {
    fn default() -> Bucket {
        Bucket { full_at: Timestamp(0) }
    }
}

impl Bucket {
    fn charge(self, burst: u32, interval: Duration, now: Timestamp) -> Result<Bucket, Throttled> {
        let full_at = self.full_at.max(now) + interval;
        let too_early = full_at.since(now + interval * burst);
        if too_early.is_zero() { Ok(Bucket { full_at }) } else { Err(Throttled(too_early)) }
    }
}

struct Backoff {
    day_started_at: Timestamp,
    failures_today: u32,
    failures_in_a_row: usize,
    blocked_until: Timestamp,
    in_progress: u32,
}

impl Backoff {
    fn new(now: Timestamp) -> Backoff {
        Backoff {
            day_started_at: now,
            failures_today: 0,
            failures_in_a_row: 0,
            blocked_until: Timestamp(0),
            in_progress: 0,
        }
    }

    fn begin(&mut self, limits: &ThrottleLimits, now: Timestamp) -> Result<(), Refused> {
        if now.since(self.day_started_at) >= DAY {
            *self = Backoff { in_progress: self.in_progress, ..Backoff::new(now) };
        }
        let refused = |wait, depends_on_others| Err(Refused { throttled: Throttled(wait), depends_on_others });
        if self.failures_today + self.in_progress >= limits.daily_failures {
            return refused((self.day_started_at + DAY).since(now), false);
        }
        if self.blocked_until > now {
            return refused(self.blocked_until.since(now), false);
        }
        if self.in_progress >= limits.concurrent_attempts {
            return refused(Duration::from_secs(1), true);
        }
        self.in_progress += 1;
        Ok(())
    }

    fn end(&mut self, outcome: Outcome, now: Timestamp) {
        self.in_progress = self.in_progress.saturating_sub(1);
        match outcome {
            Outcome::Succeeded => self.failures_in_a_row = 0,
            Outcome::Withdrawn => {}
            Outcome::Failed => {
                let step = BACKOFF_STEPS[self.failures_in_a_row.min(BACKOFF_STEPS.len() - 1)];
                self.failures_in_a_row += 1;
                self.failures_today += 1;
                self.blocked_until = self.blocked_until.max(now + step);
            }
        }
    }

    fn move_back(&mut self, span: Duration) {
        self.day_started_at = self.day_started_at - span;
        self.blocked_until = self.blocked_until - span;
    }

    fn is_relevant(&self, now: Timestamp) -> bool {
        let has_failures_today = self.failures_today > 1 && now.since(self.day_started_at) < DAY;
        self.in_progress > 0 || has_failures_today
    }
}

#[derive(Clone, Copy)]
enum Outcome {
    Succeeded,
    Failed,
    Withdrawn,
}

/// Admitted attempt. Dropped without an outcome, for example because the client disconnected, it counts as failed.
pub(crate) struct Attempt<'a> {
    throttle: &'a Throttle,
    backoff_key: BackoffKey,
    network: ClientNetwork,
    now: Timestamp,
    outcome: Outcome,
}

impl Attempt<'_> {
    /// Ends the attempt as a success and refunds its charges, so that many users of one office network can log in.
    pub(crate) fn succeed(mut self) {
        self.outcome = Outcome::Succeeded;
    }

    /// Returns the trust in the network of the attempt.
    pub(crate) fn network_trust(&self) -> NetworkTrust {
        if self.backoff_key.1.is_some() { NetworkTrust::Known } else { NetworkTrust::Unknown }
    }

    /// Ends the attempt without an outcome, since nothing was hashed.
    pub(crate) fn withdraw(mut self) {
        self.outcome = Outcome::Withdrawn;
    }

    fn refund(&self, counts: &mut Counts) {
        let limits = &self.throttle.limits;
        if let Some(bucket) = counts.networks.get_mut(&self.network) {
            bucket.full_at = bucket.full_at - limits.network_interval;
        }
        if let Some(bucket) = counts.accounts.get_mut(&(self.backoff_key.0.clone(), self.network)) {
            bucket.full_at = bucket.full_at - limits.account_interval;
        }
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let mut counts = self.throttle.counts();
        if !matches!(self.outcome, Outcome::Failed) {
            self.refund(&mut counts);
        }
        // The clock may have been set back meanwhile.
        let now = self.now.min(counts.latest);
        if let Some(backoff) = counts.backoffs.get_mut(&self.backoff_key) {
            backoff.end(self.outcome, now);
        }
        drop(counts);
        self.throttle.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp(1_700_000_000_000);
    const OFFICE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    fn unknown_network(number: u32) -> ClientNetwork {
        ClientNetwork::from_address(IpAddr::V4((0x0a00_0000 + number).into()))
    }

    fn try_login(throttle: &Throttle, network: ClientNetwork, network_trust: NetworkTrust, now: Timestamp) -> bool {
        throttle.try_start("a", network, network_trust, now).is_ok()
    }

    #[test]
    fn a_network_is_an_ipv4_address_or_an_ipv6_prefix() {
        let network = |text: &str| ClientNetwork::from_address(text.parse().expect("an address")).to_string();
        assert_eq!(network("192.0.2.7"), "192.0.2.7");
        assert_eq!(network("::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
    }

    #[test]
    fn at_most_a_hundred_failures_a_day_from_any_number_of_networks() {
        let throttle = Throttle::new(ThrottleLimits::default());
        let second = |n: u32| NOON + Duration::from_secs(n.into());
        let count = |from: u32| {
            (from..from + 86_000)
                .filter(|n| try_login(&throttle, unknown_network(*n), NetworkTrust::Unknown, second(*n)))
                .count()
        };
        assert_eq!(count(0), 100);
        assert_eq!(count(86_400), 100);
    }

    #[test]
    fn unknown_networks_do_not_lock_out_a_known_one() {
        let throttle = Throttle::new(ThrottleLimits::default());
        for n in 0..5_000 {
            try_login(&throttle, unknown_network(n), NetworkTrust::Unknown, NOON + Duration::from_secs(n.into()));
        }
        let later = NOON + Duration::from_secs(5_000);
        assert!(!try_login(&throttle, ClientNetwork::from_address(OFFICE), NetworkTrust::Unknown, later));
        assert!(try_login(&throttle, ClientNetwork::from_address(OFFICE), NetworkTrust::Known, later));
    }

    #[test]
    fn each_failure_in_a_row_waits_longer() {
        let throttle = Throttle::new(ThrottleLimits::default());
        let mut now = NOON;
        let mut waits = Vec::new();
        for n in 0..7 {
            assert!(try_login(&throttle, unknown_network(n), NetworkTrust::Unknown, now));
            let refused = throttle.try_start("a", unknown_network(99), NetworkTrust::Unknown, now).err();
            waits.push(refused.map_or(0, |refused| refused.throttled.0.as_secs()));
            now = now + Duration::from_secs(60);
        }
        // The first attempt of 99 is admitted and fails too.
        assert_eq!(waits, [0, 3, 5, 10, 10, 10, 10]);
    }

    #[test]
    fn a_network_that_fails_has_a_bucket_and_one_that_succeeds_has_none() {
        let throttle = Throttle::new(ThrottleLimits::default());
        let try_at = |n: u32, now| throttle.try_start(&n.to_string(), unknown_network(0), NetworkTrust::Unknown, now);
        assert_eq!((0..100).filter(|n| try_at(*n, NOON).is_ok()).count(), 30);
        assert_eq!((0..100).filter(|n| try_at(*n, NOON + Duration::from_secs(5)).is_ok()).count(), 5);
        let later = NOON + Duration::from_secs(3_600);
        let right = (0..100).filter(|n| try_at(*n, later).map(Attempt::succeed).is_ok()).count();
        assert_eq!(right, 100);
    }

    #[test]
    fn concurrent_guesses_are_counted_before_they_fail() {
        let throttle = Throttle::new(ThrottleLimits::default());
        let tries: Vec<_> = (0..50)
            .filter_map(|n| throttle.try_start("a", unknown_network(n), NetworkTrust::Unknown, NOON).ok())
            .collect();
        assert_eq!(tries.len(), 8);
    }

    #[tokio::test]
    async fn more_correct_logins_at_once_than_may_be_in_progress_all_succeed() {
        let throttle = std::sync::Arc::new(Throttle::new(ThrottleLimits::default()));
        let mut logins = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let throttle = throttle.clone();
            logins.spawn(async move {
                let office = ClientNetwork::from_address(OFFICE);
                let attempt = throttle.start_attempt("a", office, NetworkTrust::Unknown, NOON).await?;
                tokio::time::sleep(Duration::from_millis(10)).await;
                attempt.succeed();
                Ok::<(), Throttled>(())
            });
        }
        assert_eq!(logins.join_all().await, [Ok(()); 20]);
    }

    #[tokio::test]
    async fn an_attempt_that_waits_for_a_wrong_one_is_refused_when_that_fails() {
        let limits = ThrottleLimits { concurrent_attempts: 1, ..ThrottleLimits::default() };
        let throttle = Throttle::new(limits);
        let start = |n, now| throttle.start_attempt("a", unknown_network(n), NetworkTrust::Unknown, now);
        drop(start(0, NOON).await);
        let now = NOON + Duration::from_secs(60);
        let wrong = start(1, now).await;
        let (waiting, ()) = tokio::join!(start(2, now), async { drop(wrong) });
        assert!(waiting.is_err_and(|Throttled(wait)| wait <= Duration::from_secs(1) && !wait.is_zero()));
    }

    #[test]
    fn a_clock_that_is_set_back_locks_nobody_out() {
        let throttle = Throttle::new(ThrottleLimits::default());
        let at = |number, now| try_login(&throttle, unknown_network(number), NetworkTrust::Unknown, now);
        let seconds = |time, seconds| time + Duration::from_secs(seconds);
        assert!([0, 5, 10].into_iter().all(|second| at(0, seconds(NOON, second))));
        // The last failure waits three seconds, one of which has passed.
        let in_progress = throttle.try_start("b", unknown_network(1), NetworkTrust::Unknown, seconds(NOON, 11));
        let now = seconds(NOON, 11) - DAY;
        assert_eq!([0, 1, 2].map(|second| at(2, seconds(now, second))), [false, false, true]);
        drop(in_progress);
        let other = throttle.try_start("b", unknown_network(3), NetworkTrust::Unknown, seconds(now, 3));
        assert!(other.is_ok(), "the end of an attempt that began before");
    }

    #[test]
    fn the_tables_are_bounded() {
        let throttle = Throttle::new(ThrottleLimits::default());
        for n in 0..200_000u32 {
            let now = NOON + Duration::from_millis(u64::from(n) * 10);
            drop(throttle.try_start(&n.to_string(), unknown_network(n), NetworkTrust::Unknown, now));
        }
        let counts = throttle.counts();
        assert!(counts.networks.len() <= ENTRY_LIMIT && counts.accounts.len() <= ENTRY_LIMIT);
        assert!(counts.backoffs.len() <= ENTRY_LIMIT);
    }
}
