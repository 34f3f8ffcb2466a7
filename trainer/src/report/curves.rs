//! Picture of the loss by epoch.

use charts::{Anchor, Colour, Mark, Panel, Scale, Tone, WIDTH};

/// Losses of one epoch ([`network::target`]), mates included.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Number of the epoch, counted from 1.
    pub epoch: u64,
    /// Positions trained on by the epoch's end.
    pub positions: u64,
    /// Mean over the epoch's batches, each before its update.
    pub train: f64,
    /// Loss of the rounded net on the held-out games; `None` without any.
    pub validation: Option<f64>,
}

/// Plot area in the panel.
const LEFT: f64 = 48.0;
const TOP: f64 = 34.0;
/// Leaves room for half of the last number below.
const RIGHT: f64 = WIDTH - 8.0;
const BOTTOM: f64 = 290.0;
const HEIGHT: f64 = 335.0;

/// Returns the curves as a standalone SVG. `material` is the loss of the material balance on the
/// held-out games, drawn as a level line; `best` is the epoch of the kept net.
pub fn svg(points: &[Point], material: Option<f64>, best: u64) -> String {
    charts::sheet(None, vec![vec![panel(points, material, best)]])
}

/// Draws the curves as [`svg()`].
pub fn panel(points: &[Point], material: Option<f64>, best: u64) -> Panel {
    let kept = points.iter().find(|p| p.epoch == best);
    let kept = kept.and_then(|p| Some((p.epoch, p.validation?)));
    let mut note = "By distance in win chance, -1 lost to 1 won, mates included.".to_string();
    if let Some((epoch, loss)) = kept {
        note += &format!(" Best: {loss:.4}, epoch {epoch}.");
    }
    let mut panel = Panel::new("Loss by epoch", &note, (WIDTH, HEIGHT));
    let losses = points.iter().flat_map(|p| [Some(p.train), p.validation]);
    let losses = losses.chain([material]).flatten();
    let first = points.first().map_or(1, |p| p.epoch) as f64;
    let last = points.last().map_or(1, |p| p.epoch) as f64;
    let x = Scale::new((first - 0.25, last + 0.25), (LEFT, RIGHT));
    let y = Scale::around(losses, (BOTTOM, TOP));
    panel.levels(&y, (LEFT, RIGHT), 5);
    for epoch in charts::ticks(first, last, 9) {
        // Epochs are whole numbers.
        if epoch.value.fract() == 0.0 {
            let at = (x.at(epoch.value), BOTTOM + 20.0);
            let text = epoch.value.to_string();
            panel.text(at, Anchor::Middle, Tone::Faint, &text);
        }
    }
    let at = ((LEFT + RIGHT) / 2.0, BOTTOM + 40.0);
    panel.text(at, Anchor::Middle, Tone::Faint, "epoch");
    let along = |loss: fn(&Point) -> Option<f64>| -> Vec<(f64, f64)> {
        let places = points
            .iter()
            .filter_map(|p| Some((x.at(p.epoch as f64), y.at(loss(p)?))));
        places.collect()
    };
    let mut legend = vec![(Mark::Line, Colour::Orange, "training")];
    let mut series = vec![(Colour::Orange, along(|p| Some(p.train)))];
    if points.iter().any(|p| p.validation.is_some()) {
        legend.push((Mark::Line, Colour::Blue, "held-out games"));
        series.push((Colour::Blue, along(|p| p.validation)));
    }
    if let Some(loss) = material {
        legend.push((Mark::Dashed, Colour::Grey, "material on those"));
        panel.dashed(&[(LEFT, y.at(loss)), (RIGHT, y.at(loss))], Colour::Grey);
    }
    panel.legend((LEFT, 14.0), &legend);
    for (colour, places) in series {
        // A line through one point is invisible.
        if let [place] = places[..] {
            panel.dot(place, 3.5, colour, "");
        }
        panel.line(&places, colour);
    }
    if let Some((epoch, loss)) = kept {
        let hint = format!("epoch {epoch}, the best: {loss:.4}");
        panel.dot((x.at(epoch as f64), y.at(loss)), 6.0, Colour::Blue, &hint);
    }
    panel
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_any_number_of_epochs() {
        let point = |epoch| Point {
            epoch,
            positions: 100 * epoch,
            train: 0.3 / epoch as f64,
            validation: Some(0.35),
        };
        for epochs in [1, 2, 30, 400] {
            let points: Vec<Point> = (1..=epochs).map(point).collect();
            let svg = svg(&points, Some(0.4), 1);
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
            assert!(svg.contains("held-out games") && svg.contains("Best:"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
            // An axis of one epoch has only its label.
            let named = |epoch| svg.contains(&format!(">\n{epoch}\n</text>"));
            assert!(
                epochs > 1 || [0, 1, 2].map(named) == [false, true, false],
                "{svg}"
            );
        }
        let alone = Point {
            epoch: 1,
            positions: 100,
            train: 0.3,
            validation: None,
        };
        let svg = svg(&[alone], None, 1);
        assert!(!svg.contains("held-out games") && !svg.contains("NaN"));
    }
}
