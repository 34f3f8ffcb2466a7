//! Chart of a ladder's ratings.

use charts::{Colour, Dot, Panel, sheet};
use host::thousands;
use time::OffsetDateTime;

use crate::players::pace::Pace;
use crate::statistics::ratings::Rating;

const WIDTH: f64 = 600.0;

/// Draws ratings with their intervals, one per row in the given order. `conditions` ends the
/// caption.
pub fn draw(rows: &[(&str, Rating)], conditions: &str) -> String {
    let anchor = rows.iter().find(|row| row.1.elo_interval.is_none());
    let note = format!(
        "Logistic Elo from {}, with the 95 % interval of the difference. {conditions}",
        anchor.map_or("", |row| row.0)
    );
    let dots: Vec<Dot> = rows
        .iter()
        .map(|(name, rating)| dot(name, rating))
        .collect();
    let size = (WIDTH, Panel::dots_height(dots.len()));
    let mut panel = Panel::new("Elo ladder", &note, size);
    panel.dots(0.0, &dots);
    sheet(None, vec![vec![panel]])
}

fn dot(name: &str, rating: &Rating) -> Dot {
    let (figure, colour) = match rating.elo_interval {
        Some([low, high]) => {
            let figure = format!("{:+.0} [{low:+.0}, {high:+.0}]", rating.elo);
            (figure, Colour::Blue)
        }
        None => ("0, anchor".to_string(), Colour::Orange),
    };
    Dot {
        name: name.to_string(),
        value: rating.elo,
        interval: rating.elo_interval,
        figure,
        colour,
    }
}

/// Returns the time controls of the engines that have any, the number of games, the program's
/// version and today's date.
pub fn conditions(paces: &[(&str, Pace)], games: u64) -> String {
    let pace = match paces {
        [(_, first), rest @ ..] if rest.iter().all(|(_, pace)| pace == first) => first.describe(),
        _ => {
            let each = paces.iter();
            let each = each.map(|(name, pace)| format!("{name} {}", pace.describe()));
            each.collect::<Vec<String>>().join(", ")
        }
    };
    let (games, version) = (thousands(games), env!("CARGO_PKG_VERSION"));
    let today = OffsetDateTime::now_utc().date();
    format!("{pace}; {games} games; Kibitz {version}, {today}.")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_rating_is_drawn_on_the_chart() {
        let rating = |elo, elo_interval| Rating { elo, elo_interval };
        let anchor = ("a < b", rating(0.0, None));
        let around = |elo: f64, error: f64| rating(elo, Some([elo - error, elo + error]));
        for row in [
            around(0.0, 0.0),
            around(-900.0, 450.0),
            around(3.2, 4.1),
            rating(640.0, Some([120.0, f64::INFINITY])),
            around(0.0, f64::INFINITY),
        ] {
            let svg = draw(&[anchor, ("c", row)], "2 plies a move.");
            assert!(svg.contains("a &lt; b") && svg.contains("2 plies"), "{svg}");
            assert_eq!(svg.matches("<circle").count(), 2, "{svg}");
            let coordinates = svg.replace("inf]", "").replace("[-inf", "");
            assert!(
                !coordinates.contains("NaN") && !coordinates.contains("inf"),
                "{svg}"
            );
        }
    }

    #[test]
    fn the_caption_names_pace_games_and_date() {
        let clock = Pace::Clock {
            moves: None,
            base: Duration::from_secs(2),
            increment: Duration::from_millis(20),
        };
        let text = conditions(&[("a", clock), ("b", clock)], 1200);
        assert!(text.starts_with("2 s a game and 0.02 s a move; 1,200 games; Kibitz 0"));
        let text = conditions(&[("a", clock), ("b", Pace::Depth(3))], 2);
        assert!(
            text.contains("0.02 s a move, b 3 plies a move; 2 games"),
            "{text}"
        );
        // The date, such as "2026-11-25.".
        let date = text.rsplit(' ').next().unwrap();
        let figures = date.replace(|c: char| c.is_ascii_digit(), "0");
        assert_eq!(figures, "0000-00-00.");
    }
}
