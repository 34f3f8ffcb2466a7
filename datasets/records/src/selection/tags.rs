//! Tags of a game that affect selection, labels or identity.

use std::borrow::Cow;

use shakmaty::Color;

use crate::position::{GameResult, Month, Speed};
use crate::selection::{StartTags, Termination};

/// Parsed tags of one game.
#[derive(Default)]
pub(crate) struct Tags {
    /// At least one tag was read.
    pub(crate) any: bool,
    /// Names and values of the seven-tag roster, in the order of the file.
    pub(crate) roster: Vec<u8>,
    pub(crate) lichess_id: Option<[u8; 8]>,
    pub(crate) start: StartTags,
    pub(crate) result: Option<GameResult>,
    pub(crate) termination: Option<Termination>,
    pub(crate) month: Month,
    pub(crate) speed: Option<Speed>,
    /// Seconds on each clock before the first move.
    pub(crate) base_seconds: Option<u32>,
    pub(crate) white_rating: Option<u16>,
    pub(crate) black_rating: Option<u16>,
    pub(crate) bot: bool,
}

impl Tags {
    pub(crate) fn read(&mut self, name: &[u8], value: Cow<[u8]>) {
        self.any = true;
        let name = name.trim_ascii();
        match name {
            b"Event" | b"Site" | b"Date" | b"Round" | b"White" | b"Black" | b"Result" => {
                self.roster.extend_from_slice(name);
                self.roster.push(b'=');
                self.roster.extend_from_slice(&value);
                self.roster.push(b'\n');
            }
            _ => {}
        }
        if self.start.read(name, &value) {
            return;
        }
        match name {
            b"Site" => self.lichess_id = self.lichess_id.or(lichess_id_of_url(&value)),
            b"GameId" => self.lichess_id = lichess_id(&value).or(self.lichess_id),
            b"Result" => {
                self.result = match &*value {
                    b"1-0" => Some(GameResult::WhiteWins),
                    b"0-1" => Some(GameResult::BlackWins),
                    b"1/2-1/2" => Some(GameResult::Draw),
                    _ => None,
                }
            }
            b"Termination" => self.termination = Termination::of_tag(&value),
            b"TimeControl" => {
                self.speed = Speed::of_time_control(&value);
                self.base_seconds = Speed::seconds(&value).map(|(base, _)| base);
            }
            b"WhiteElo" => self.white_rating = number(&value),
            b"BlackElo" => self.black_rating = number(&value),
            b"WhiteTitle" | b"BlackTitle" => self.bot |= &*value == b"BOT",
            b"UTCDate" => self.month = month_of_date(&value),
            b"Date" if self.month == Month::default() => self.month = month_of_date(&value),
            _ => {}
        }
    }

    /// Returns the result, if the game was decided on the board; `None` otherwise.
    pub(crate) fn fair_result(&self) -> Option<GameResult> {
        let unfair = self.termination.is_some_and(Termination::is_unfair);
        self.result.filter(|_| !unfair)
    }

    /// Returns both players' ratings; `None` unless both are rated.
    pub(crate) fn ratings(&self) -> Option<(u16, u16)> {
        self.white_rating.zip(self.black_rating)
    }

    /// Returns the rating of a player, if known.
    pub(crate) fn rating(&self, player: Color) -> Option<u16> {
        player.fold_wb(self.white_rating, self.black_rating)
    }

    /// Returns the mean of both players' ratings; `None` unless both are rated.
    pub(crate) fn mean_rating(&self) -> Option<u16> {
        self.ratings().map(|(white, black)| white.midpoint(black))
    }
}

/// Returns the value of a tag in a [`Tags::roster`].
pub(crate) fn roster_value<'a>(roster: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut lines = roster.split(|&byte| byte == b'\n');
    lines.find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

/// Returns the id in `https://lichess.org/abcdefgh`, optionally followed by `#12`, `/white` or
/// `/black`.
fn lichess_id_of_url(url: &[u8]) -> Option<[u8; 8]> {
    let url = url
        .strip_prefix(b"https://")
        .or_else(|| url.strip_prefix(b"http://"))?;
    let path = url.strip_prefix(b"lichess.org/")?;
    let (id, rest) = path.split_at_checked(8)?;
    let game = rest.is_empty() || rest.starts_with(b"#") || rest == b"/white" || rest == b"/black";
    if game { lichess_id(id) } else { None }
}

fn lichess_id(text: &[u8]) -> Option<[u8; 8]> {
    let id: [u8; 8] = text.try_into().ok()?;
    id.iter().all(u8::is_ascii_alphanumeric).then_some(id)
}

/// Parses `2021.10.01`; dates with `?` have an unknown month.
fn month_of_date(date: &[u8]) -> Month {
    let mut fields = date.split(|&b| b == b'.').map(number);
    match (fields.next().flatten(), fields.next().flatten()) {
        (Some(year), Some(month)) => Month::new(year, month),
        _ => Month::default(),
    }
}

fn number<N: std::str::FromStr>(text: &[u8]) -> Option<N> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
