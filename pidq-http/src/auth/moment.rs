//! A point in time. Nothing in `auth` reads the clock by itself, so a test can live through a month in a second.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Moment(pub i64);

impl Moment {
    /// The time of the system's clock.
    pub fn now() -> Moment {
        Moment(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, whole_milliseconds))
    }

    /// Seconds since 1970, as tokens say it.
    pub fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// The time between an earlier moment and this one; zero if that one is later.
    pub fn since(self, earlier: Moment) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl std::ops::Add<Duration> for Moment {
    type Output = Moment;

    fn add(self, span: Duration) -> Moment {
        Moment(self.0.saturating_add(whole_milliseconds(span)))
    }
}

impl std::ops::Sub<Duration> for Moment {
    type Output = Moment;

    fn sub(self, span: Duration) -> Moment {
        Moment(self.0.saturating_sub(whole_milliseconds(span)))
    }
}

fn whole_milliseconds(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}
