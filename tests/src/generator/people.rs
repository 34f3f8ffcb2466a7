//! Players, their ratings and their pairing.

use records::hash::mix;

use super::random::Random;

/// Number of players; a few play much, many play little.
const PLAYERS: u64 = 600_000;

const SYLLABLES: [&str; 64] = [
    "al", "an", "ar", "bar", "bel", "ben", "bo", "chess", "da", "dan", "dark", "de", "di", "do",
    "el", "en", "er", "fa", "gar", "ha", "he", "ho", "in", "is", "ja", "jo", "ka", "kal", "king",
    "ko", "la", "le", "lee", "li", "lo", "ma", "mar", "master", "me", "mi", "mo", "na", "ne", "ni",
    "no", "on", "or", "pa", "pawn", "ra", "ri", "ro", "sa", "san", "se", "sha", "ta", "te", "the",
    "to", "va", "vi", "ya", "za",
];

/// Player of the dump.
pub struct Player {
    identity: u64,
    /// Rating before the game.
    pub rating: i32,
}

/// Draws two players of similar strength.
pub fn pair(random: &mut Random) -> [Player; 2] {
    let white = Player::draw(random);
    let rating = (white.rating + random.quantile(&[-300, -90, -40, 0, 40, 90, 300])).max(400);
    let black = Player {
        rating,
        ..Player::draw(random)
    };
    [white, black]
}

impl Player {
    fn draw(random: &mut Random) -> Player {
        let share = random.bits() >> 32;
        let identity = mix((((share * share) >> 32) * PLAYERS) >> 32);
        let rating = Random::new(identity, 0)
            .quantile(&[500, 1000, 1250, 1450, 1600, 1750, 1900, 2150, 2800]);
        Player { identity, rating }
    }

    /// Appends the player's name.
    pub fn write_name(&self, out: &mut Vec<u8>) {
        let mut random = Random::new(self.identity, 1);
        let mut capital = random.chance(600);
        for i in 0..random.between(2, 4) {
            if i > 0 && random.chance(80) {
                out.push(if random.chance(800) { b'_' } else { b'-' });
            }
            let syllable = SYLLABLES[random.below(SYLLABLES.len() as u32) as usize].as_bytes();
            let first = syllable[0];
            out.push(if capital {
                first.to_ascii_uppercase()
            } else {
                first
            });
            out.extend_from_slice(&syllable[1..]);
            capital = random.chance(120);
        }
        if random.chance(450) {
            let digits = [10, 100, 100, 2020, 10_000][random.below(5) as usize];
            out.extend_from_slice(random.below(digits).to_string().as_bytes());
        }
    }
}

/// Returns the rating change of a game: Elo's formula with K = 12, linear in the difference, plus
/// noise. `score` is 2 for a win, 1 for a draw, 0 for a loss.
pub fn rating_change(own: i32, other: i32, score: i32, random: &mut Random) -> i32 {
    let expected = (6 + (own - other) / 60).clamp(1, 11);
    let change = 6 * score - expected + random.between(-1, 1);
    match score {
        2 => change.max(1),
        0 => change.min(-1),
        _ => change,
    }
}
