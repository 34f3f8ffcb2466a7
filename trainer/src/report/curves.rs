//! The loss over the epochs, as a picture.

use crate::report::picture::{self, Anchor, Panel, WIDTH};

/// The measure of one epoch: the loss of [`crate::network::target`], mates included.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Counted from 1.
    pub epoch: u64,
    /// Mean over the epoch's batches, each before its step.
    pub train: f64,
    /// The rounded net on the held-out games; none if no game is held out.
    pub validation: Option<f64>,
}

/// Where the curves lie in the panel.
const LEFT: f64 = 52.0;
const TOP: f64 = 34.0;
const RIGHT: f64 = WIDTH - 10.0;
const BOTTOM: f64 = 290.0;
const HEIGHT: f64 = 335.0;

/// The curves as an SVG that stands alone. `material` is the loss of the
/// material balance on the held-out games, a level line; `best` is the epoch
/// whose net was kept.
pub fn svg(points: &[Point], material: Option<f64>, best: u64) -> String {
    picture::sheet(vec![panel(points, material, best)], 1)
}

/// The curves as a panel; as [`svg()`].
pub fn panel(points: &[Point], material: Option<f64>, best: u64) -> Panel {
    let kept = points.iter().find(|p| p.epoch == best);
    let kept = kept.and_then(|p| Some((p.epoch, p.validation?)));
    let note = match kept {
        Some((epoch, loss)) => {
            format!("Mean distance (L1) in win chance, -1 to 1. Best: {loss:.4}, epoch {epoch}.")
        }
        None => "Mean distance (L1) in win chance, -1 lost to 1 won.".to_string(),
    };
    let mut panel = Panel::new("Loss by epoch", &note, HEIGHT);
    let losses = points.iter().flat_map(|p| [Some(p.train), p.validation]);
    let losses = losses.chain([material]).flatten();
    let (least, most) = losses.fold((f64::INFINITY, 0.0f64), |(least, most), loss| {
        (least.min(loss), most.max(loss))
    });
    // Losses that are all alike, or none, still need a range.
    let margin = (0.08 * (most - least)).max(0.01);
    let (low, high) = (least.min(most) - margin, most + margin);
    let first = points.first().map_or(1, |p| p.epoch) as f64;
    let last = points.last().map_or(1, |p| p.epoch) as f64;
    let x = |epoch: f64| LEFT + (RIGHT - LEFT) * (epoch - first + 0.25) / (last - first + 0.5);
    let y = |loss: f64| BOTTOM - (BOTTOM - TOP) * (loss - low) / (high - low);
    for loss in picture::ticks(low, high, 5) {
        panel.rule((LEFT, y(loss)), (RIGHT, y(loss)), "grid");
        let at = (LEFT - 8.0, y(loss) + 4.5);
        panel.text(at, 13, "faint", Anchor::End, format!("{loss:.2}"));
    }
    // There is no epoch one and a half.
    let epochs = picture::ticks(first, last, 9)
        .into_iter()
        .filter(|x| x.fract() == 0.0);
    for epoch in epochs {
        panel.text(
            (x(epoch), BOTTOM + 20.0),
            13,
            "faint",
            Anchor::Middle,
            epoch.to_string(),
        );
    }
    let middle = (LEFT + RIGHT) / 2.0;
    panel.text(
        (middle, BOTTOM + 40.0),
        13,
        "faint",
        Anchor::Middle,
        "epoch",
    );
    let along = |loss: fn(&Point) -> Option<f64>| -> Vec<(f64, f64)> {
        let places = points
            .iter()
            .filter_map(|p| Some((x(p.epoch as f64), y(loss(p)?))));
        places.collect()
    };
    let mut legend = vec![("other", "training")];
    let mut series = vec![("other", along(|p| Some(p.train)))];
    if points.iter().any(|p| p.validation.is_some()) {
        legend.push(("net", "held-out games"));
        series.push(("net", along(|p| p.validation)));
    }
    if let Some(loss) = material {
        legend.push(("rival", "material on those"));
        panel.line(&[(LEFT, y(loss)), (RIGHT, y(loss))], "rival");
    }
    panel.legend((LEFT, 14.0), &legend, true);
    for (class, places) in series {
        // A line through one point cannot be seen.
        if let [place] = places[..] {
            panel.dot(place, 3.5, class, "");
        }
        panel.line(&places, class);
    }
    if let Some((epoch, loss)) = kept {
        let hint = format!("epoch {epoch}, the best: {loss:.4}");
        panel.dot((x(epoch as f64), y(loss)), 6.0, "net", &hint);
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
            train: 0.3 / epoch as f64,
            validation: Some(0.35),
        };
        for epochs in [1, 2, 30, 400] {
            let points: Vec<Point> = (1..=epochs).map(point).collect();
            let svg = svg(&points, Some(0.4), 1);
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
            assert!(svg.contains("held-out games") && svg.contains("Best: 0.3500, epoch 1"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
        let alone = Point {
            epoch: 1,
            train: 0.3,
            validation: None,
        };
        let svg = svg(&[alone], None, 1);
        assert!(!svg.contains("held-out games") && !svg.contains("NaN"));
    }
}
