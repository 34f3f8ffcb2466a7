//! Time-control classes of games.

use serde::{Deserialize, Serialize};

/// Lichess's time-control classes, by estimated duration a player: base time plus forty increments.
///
/// ```
/// use records::position::Speed;
///
/// assert_eq!(Speed::of_time_control(b"180+2"), Some(Speed::Blitz));
/// assert_eq!(Speed::of_time_control(b"?"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Speed {
    /// Under 30 seconds.
    UltraBullet,
    /// Under 3 minutes.
    Bullet,
    /// Under 8 minutes.
    Blitz,
    /// Under 25 minutes.
    Rapid,
    /// Under 6 hours.
    Classical,
    /// Longer, or without a clock.
    Correspondence,
}

impl Speed {
    /// All speeds with their command-line names, fastest first.
    pub const NAMES: [(Speed, &str); 6] = [
        (Speed::UltraBullet, "ultrabullet"),
        (Speed::Bullet, "bullet"),
        (Speed::Blitz, "blitz"),
        (Speed::Rapid, "rapid"),
        (Speed::Classical, "classical"),
        (Speed::Correspondence, "correspondence"),
    ];

    /// Returns the speed of a TimeControl tag as Lichess writes it: `180+2` in seconds, `-` for
    /// correspondence. `None` for anything else.
    pub fn of_time_control(tag: &[u8]) -> Option<Speed> {
        if tag == b"-" {
            return Some(Speed::Correspondence);
        }
        let (base, increment) = Speed::seconds(tag)?;
        let speed = match base.saturating_add(increment.saturating_mul(40)) {
            ..30 => Speed::UltraBullet,
            30..180 => Speed::Bullet,
            180..480 => Speed::Blitz,
            480..1500 => Speed::Rapid,
            1500..21600 => Speed::Classical,
            21600.. => Speed::Correspondence,
        };
        Some(speed)
    }

    /// Returns initial time and increment of a TimeControl tag such as `180+2`.
    pub(crate) fn seconds(tag: &[u8]) -> Option<(u32, u32)> {
        let (base, increment) = std::str::from_utf8(tag).ok()?.split_once('+')?;
        Some((base.parse().ok()?, increment.parse().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_follow_the_bounds_of_lichess() {
        for (tag, speed) in [
            ("0+0", Some(Speed::UltraBullet)),
            ("29+0", Some(Speed::UltraBullet)),
            ("30+0", Some(Speed::Bullet)),
            ("0+4", Some(Speed::Bullet)),
            ("179+0", Some(Speed::Bullet)),
            ("60+3", Some(Speed::Blitz)),
            ("479+0", Some(Speed::Blitz)),
            ("300+5", Some(Speed::Rapid)),
            ("1499+0", Some(Speed::Rapid)),
            ("900+15", Some(Speed::Classical)),
            ("21599+0", Some(Speed::Classical)),
            ("10800+270", Some(Speed::Correspondence)),
            ("4000000000+4000000000", Some(Speed::Correspondence)),
            ("-", Some(Speed::Correspondence)),
            ("", None),
            ("40/7200:3600", None),
            ("-1+0", None),
        ] {
            assert_eq!(Speed::of_time_control(tag.as_bytes()), speed, "{tag}");
        }
    }
}
