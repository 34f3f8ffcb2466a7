//! Time controls and thinking times.

use super::random::Random;

/// Time control with its frequency.
pub struct TimeControl {
    /// Initial time in seconds.
    pub base: i32,
    /// Increment per move in seconds.
    pub increment: i32,
    weight: u32,
}

const fn control(weight: u32, base: i32, increment: i32) -> TimeControl {
    TimeControl {
        base,
        increment,
        weight,
    }
}

const CONTROLS: [TimeControl; 14] = [
    control(242, 180, 0),
    control(176, 600, 0),
    control(161, 300, 0),
    control(150, 60, 0),
    control(111, 180, 2),
    control(63, 300, 3),
    control(50, 120, 1),
    control(30, 600, 5),
    control(16, 900, 10),
    control(12, 30, 0),
    control(7, 420, 3),
    control(6, 15, 0),
    control(6, 1800, 0),
    control(5, 1800, 20),
];

/// Quantiles (every eighth) of the thinking time, in hundredths of its mean; measured on the games
/// of `datasets/samples`.
const THOUGHT: [i32; 9] = [5, 20, 32, 45, 62, 85, 125, 200, 700];

impl TimeControl {
    /// Draws a time control by its frequency.
    pub fn choose(random: &mut Random) -> &'static TimeControl {
        &CONTROLS[random.weighted(CONTROLS.iter().map(|control| control.weight))]
    }

    /// Returns Lichess's name of the speed.
    pub fn speed(&self) -> &'static str {
        match self.base + 40 * self.increment {
            ..30 => "UltraBullet",
            30..180 => "Bullet",
            180..480 => "Blitz",
            480..1500 => "Rapid",
            _ => "Classical",
        }
    }
}

/// Clocks of a game, in hundredths of a second.
pub struct Clocks {
    control: &'static TimeControl,
    left: [i32; 2],
}

impl Clocks {
    /// Returns both clocks at the initial time.
    pub fn new(control: &'static TimeControl) -> Clocks {
        Clocks {
            control,
            left: [100 * control.base; 2],
        }
    }

    /// Draws the thinking time of a ply. Returns the seconds left after it; `None` if the flag
    /// fell.
    pub fn think(&mut self, ply: usize, random: &mut Random) -> Option<i32> {
        let left = &mut self.left[ply % 2];
        if ply >= 2 {
            // Thousandths of the time budget: least in the opening, most around move fifteen.
            let share = match ply {
                ..20 => 12,
                20..60 => 27,
                _ => 18,
            };
            let budget = 100 * self.control.base + 2500 * self.control.increment;
            // Players in time trouble move faster.
            let mean = (budget / 1000 * share).min(*left / 14 + 30);
            *left -= mean * random.quantile(&THOUGHT) / 100;
            if *left < 0 {
                return None;
            }
            *left += 100 * self.control.increment;
        }
        Some(*left / 100)
    }
}
