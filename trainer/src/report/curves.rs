//! Picture of the loss by epoch.

use charts::{Anchor, Colour, Mark, Panel, Scale, Tone, WIDTH};

use crate::report::metrics::{self, Epoch};

/// Plot area in the panel.
const LEFT: f64 = 48.0;
const TOP: f64 = 34.0;
/// Leaves room for half of the last number below.
const RIGHT: f64 = WIDTH - 8.0;
const BOTTOM: f64 = 290.0;
const HEIGHT: f64 = 335.0;

/// Returns the curves as a standalone SVG, with the loss of the material balance as a level line.
/// `best` is the epoch of the kept net.
pub fn svg(epochs: &[Epoch], best: u64) -> String {
    charts::sheet(None, vec![vec![panel(epochs, best)]])
}

/// Draws the curves as [`svg()`].
pub fn panel(epochs: &[Epoch], best: u64) -> Panel {
    let held_out = |epoch: &Epoch| epoch.validation.map(|v| v.loss);
    let material = metrics::material(epochs);
    let kept = epochs.iter().find(|epoch| epoch.epoch == best);
    let kept = kept.and_then(|kept| Some((kept.epoch, held_out(kept)?)));
    let mut note = "By distance in win chance, -1 lost to 1 won, mates included.".to_string();
    if let Some((epoch, loss)) = kept {
        note += &format!(" Best: {loss:.4}, epoch {epoch}.");
    }
    let mut panel = Panel::new("Loss by epoch", &note, (WIDTH, HEIGHT));
    let losses = epochs
        .iter()
        .flat_map(|epoch| [Some(epoch.train_loss), held_out(epoch)]);
    let losses = losses.chain([material]).flatten();
    let first = epochs.first().map_or(1, |first| first.epoch) as f64;
    let last = epochs.last().map_or(1, |last| last.epoch) as f64;
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
    let along = |loss: &dyn Fn(&Epoch) -> Option<f64>| -> Vec<(f64, f64)> {
        let places = epochs
            .iter()
            .filter_map(|epoch| Some((x.at(epoch.epoch as f64), y.at(loss(epoch)?))));
        places.collect()
    };
    let mut legend = vec![(Mark::Line, Colour::Orange, "training")];
    let mut series = vec![(Colour::Orange, along(&|epoch| Some(epoch.train_loss)))];
    if epochs.iter().any(|epoch| epoch.validation.is_some()) {
        legend.push((Mark::Line, Colour::Blue, "held-out games"));
        series.push((Colour::Blue, along(&held_out)));
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
    use crate::report::metrics::tests::epoch;

    #[test]
    fn draws_any_number_of_epochs() {
        let one = |number: u64| epoch(number, 100, 0.3 / number as f64, Some(0.35));
        for epochs in [1, 2, 30, 400] {
            let metrics: Vec<Epoch> = (1..=epochs).map(one).collect();
            let svg = svg(&metrics, 1);
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
        let svg = svg(&[epoch(1, 100, 0.3, None)], 1);
        assert!(!svg.contains("held-out games") && !svg.contains("NaN"));
    }
}
