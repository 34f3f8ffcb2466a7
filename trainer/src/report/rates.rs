//! Picture of the loss by learning rate.

use charts::{Anchor, Colour, Mark, Panel, Scale, Tone, WIDTH};

/// Plot area in the panel.
const LEFT: f64 = 48.0;
const TOP: f64 = 34.0;
const RIGHT: f64 = WIDTH;
const BOTTOM: f64 = 290.0;
const HEIGHT: f64 = 335.0;

/// Draws losses by ascending learning rate, as a standalone SVG.
pub fn svg(points: &[(f64, f64)], suggested: f64) -> String {
    let note = format!("The rate rises from step to step. Suggested peak: {suggested:.1e}.");
    let mut panel = Panel::new("Loss by learning rate", &note, (WIDTH, HEIGHT));
    let end = |point: Option<&(f64, f64)>| point.map_or(suggested, |&(rate, _)| rate).log10();
    let (first, last) = (end(points.first()), end(points.last()));
    let x = Scale::new((first, last), (LEFT, RIGHT));
    let y = Scale::around(points.iter().map(|&(_, loss)| loss), (BOTTOM, TOP));
    panel.levels(&y, (LEFT, RIGHT), 5);
    for power in first.ceil() as i32..=last.floor() as i32 {
        let at = (x.at(f64::from(power)), BOTTOM + 20.0);
        panel.text(at, Anchor::Middle, Tone::Faint, &format!("1e{power}"));
    }
    let at = ((LEFT + RIGHT) / 2.0, BOTTOM + 40.0);
    panel.text(at, Anchor::Middle, Tone::Faint, "learning rate");
    let legend = [
        (Mark::Line, Colour::Blue, "smoothed loss"),
        (Mark::Dashed, Colour::Orange, "suggested peak"),
    ];
    panel.legend((LEFT, 14.0), &legend);
    let at = x.at(suggested.log10());
    panel.dashed(&[(at, TOP), (at, BOTTOM)], Colour::Orange);
    let places = points.iter();
    let places = places.map(|&(rate, loss)| (x.at(rate.log10()), y.at(loss)));
    panel.line(&places.collect::<Vec<_>>(), Colour::Blue);
    charts::sheet(None, vec![vec![panel]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_any_number_of_steps() {
        for steps in [0, 1, 2, 300] {
            let point = |step| (1e-5 * 1.04f64.powi(step), 0.3 + f64::from(step) / 1000.0);
            let points: Vec<(f64, f64)> = (0..steps).map(point).collect();
            let svg = svg(&points, 1e-4);
            assert!(svg.contains("Suggested peak: 1.0e-4"), "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
            assert_eq!(steps > 200, svg.contains("1e-2"), "{steps}");
        }
    }
}
