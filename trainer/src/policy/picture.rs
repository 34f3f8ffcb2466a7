//! Picture of a policy's run: its log-loss by epoch, and the moves it foretells by rating.

use charts::{Anchor, Colour, Mark, Panel, Scale, Tone, WIDTH};

use crate::policy::figures::{Part, PolicyReport, percent};
use crate::policy::run::PolicyEpoch;

/// Plot area in the panel.
const LEFT: f64 = 48.0;
const TOP: f64 = 34.0;
const RIGHT: f64 = WIDTH - 8.0;
const BOTTOM: f64 = 290.0;
const HEIGHT: f64 = 335.0;

/// Returns the picture as a standalone SVG. `report` is that of the kept policy.
pub fn svg(epochs: &[PolicyEpoch], report: Option<&PolicyReport>) -> String {
    let mut panels = vec![losses(epochs)];
    panels.extend(report.map(|report| foretold("by rating", &report.by_rating)));
    let mut rows = vec![panels];
    if let Some(report) = report {
        let parts = [
            ("by phase", &report.by_phase),
            ("by time on the clock", &report.by_time_left),
        ];
        rows.push(parts.map(|(name, parts)| foretold(name, parts)).into());
    }
    charts::sheet(None, rows)
}

/// Draws the log-loss by epoch.
fn losses(epochs: &[PolicyEpoch]) -> Panel {
    let held_out = |epoch: &PolicyEpoch| epoch.report.as_ref().map(|report| report.all.log_loss);
    let note = "Mean negative logarithm of the played move's probability.";
    let mut panel = Panel::new("Log-loss by epoch", note, (WIDTH, HEIGHT));
    let all = epochs
        .iter()
        .flat_map(|epoch| [Some(epoch.train_loss), held_out(epoch)]);
    let y = Scale::around(all.flatten(), (BOTTOM, TOP));
    let last = epochs.len().max(1) as f64;
    let x = Scale::new((0.75, last + 0.25), (LEFT, RIGHT));
    panel.levels(&y, (LEFT, RIGHT), 5);
    for epoch in charts::ticks(1.0, last, 9) {
        // Epochs are whole numbers.
        if epoch.value.fract() == 0.0 {
            let at = (x.at(epoch.value), BOTTOM + 20.0);
            panel.text(at, Anchor::Middle, Tone::Faint, &epoch.value.to_string());
        }
    }
    let legend = [
        (Mark::Line, Colour::Orange, "training"),
        (Mark::Line, Colour::Blue, "held-out games"),
    ];
    panel.legend((LEFT, 14.0), &legend);
    let train: Vec<_> = epochs
        .iter()
        .map(|epoch| (x.at(epoch.epoch as f64), y.at(epoch.train_loss)))
        .collect();
    let held: Vec<_> = epochs
        .iter()
        .filter_map(|epoch| Some((x.at(epoch.epoch as f64), y.at(held_out(epoch)?))))
        .collect();
    for (colour, places) in [(Colour::Orange, train), (Colour::Blue, held)] {
        if let [place] = places[..] {
            panel.dot(place, 3.5, colour, "");
        }
        panel.line(&places, colour);
    }
    panel
}

/// Draws the share of foretold moves of each part, beside that of the usual moves.
fn foretold(name: &str, parts: &[Part]) -> Panel {
    let title = format!("Moves foretold {name}");
    let note = "Likeliest move; grey: the usual move of the same piece and square.";
    let height = 60.0 + 24.0 * parts.len() as f64;
    let mut panel = Panel::new(&title, note, (WIDTH, height.max(HEIGHT)));
    let names = parts.iter().map(|part| charts::text_width(&part.name));
    let left = names.fold(0.0, f64::max) + 8.0;
    let most = parts
        .iter()
        .map(|part| part.figures.first)
        .fold(0.01, f64::max);
    // Leaves room for the number behind the bar.
    let x = Scale::new((0.0, most), (left, RIGHT - 56.0));
    for (row, part) in parts.iter().enumerate() {
        let top = TOP + 24.0 * row as f64;
        let figures = part.figures;
        let at = (left - 8.0, top + 12.0);
        panel.text(at, Anchor::End, Tone::Plain, &part.name);
        let hint = format!("{}: {}", part.name, figures.in_words());
        let length = |share: f64| (x.at(share) - left).max(0.5);
        let bars = [
            (figures.first, Colour::Blue, top, 10.0),
            (figures.usual_move, Colour::Grey, top + 11.0, 4.0),
        ];
        for (share, colour, top, height) in bars {
            panel.rectangle((left, top), (length(share), height), colour, &hint);
        }
        let at = (x.at(figures.first) + 6.0, top + 11.0);
        panel.text(at, Anchor::Start, Tone::Faint, &percent(figures.first));
    }
    panel
}
