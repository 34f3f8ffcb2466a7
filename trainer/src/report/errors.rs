//! Pictures of a net's errors beside those of material, by kind of position.

use charts::{Anchor, Colour, Mark, Panel, Tone, WIDTH};

use crate::report::figures::{Figures, NetAndMaterial, Report, Subset};

/// Width of the row names, and of the values after the bars: `100.0 %`, bold, in the widest of the
/// fonts.
const NAMES: f64 = 178.0;
const VALUES: f64 = 70.0;
const ROW: f64 = 39.0;
const TITLE: f64 = 30.0;

/// Bar chart of one figure of [`Figures`].
struct Measure {
    title: &'static str,
    note: &'static str,
    of: fn(&Figures) -> Option<f64>,
    show: fn(f64) -> String,
}

const MEASURES: [Measure; 3] = [
    Measure {
        title: "Error in win chance",
        note: "Mean distance from the label (-1 lost to 1 won); shorter is better.",
        of: |figures| figures.winchance,
        show: |error| format!("{error:.3}"),
    },
    Measure {
        title: "Error in pawns",
        note: "Mean distance, both sides clamped to ±10; shorter is better.",
        of: |figures| figures.clamp10,
        show: |error| format!("{error:.2}"),
    },
    Measure {
        title: "Right sign",
        note: "Share of positions of a pawn and more; longer is better.",
        of: |figures| figures.sign_accuracy,
        show: |share| format!("{:.1} %", 100.0 * share),
    },
];

/// Draws every measure, each with all rows of the report.
pub fn panels(report: &Report) -> Vec<Panel> {
    MEASURES
        .iter()
        .map(|measure| panel(measure, report))
        .collect()
}

fn panel(measure: &Measure, report: &Report) -> Panel {
    let parts = |parts: &[Subset]| -> Vec<(String, NetAndMaterial)> {
        let parts = parts
            .iter()
            .map(|part| (part.name.to_string(), part.comparison));
        // Empty parts have no row.
        parts
            .filter(|(_, comparison)| (measure.of)(&comparison.net).is_some())
            .collect()
    };
    let groups = [
        ("", vec![("all positions".to_string(), report.all)]),
        ("by kind of position", parts(&report.by_kind)),
        ("by pieces on the board", parts(&report.by_phase)),
        ("by |label| in pawns", parts(&report.by_label)),
    ];
    let rows: usize = groups.iter().map(|(_, rows)| rows.len()).sum();
    let height = 22.0 + ROW * rows as f64 + 2.0 * TITLE;
    let mut panel = Panel::new(measure.title, measure.note, (WIDTH, height));
    let legend = [
        (Mark::Fill, Colour::Blue, "net"),
        (Mark::Fill, Colour::Grey, "material alone"),
    ];
    panel.legend((NAMES - 6.0, 12.0), &legend);
    let values = groups
        .iter()
        .flat_map(|(_, rows)| rows)
        .flat_map(|(_, comparison)| {
            [&comparison.net, &comparison.material].map(|figures| (measure.of)(figures))
        });
    let most = values.flatten().fold(f64::MIN_POSITIVE, f64::max);
    let mut y = 22.0;
    for (title, rows) in &groups {
        if !title.is_empty() {
            panel.text((0.0, y + 22.0), Anchor::Start, Tone::Faint, title);
            y += TITLE;
        }
        for (name, comparison) in rows {
            draw_row(&mut panel, y, measure, name, comparison, most);
            y += ROW;
        }
    }
    panel
}

fn draw_row(
    panel: &mut Panel,
    y: f64,
    measure: &Measure,
    name: &str,
    comparison: &NetAndMaterial,
    most: f64,
) {
    panel.text((NAMES - 10.0, y + 20.0), Anchor::End, Tone::Plain, name);
    let bars = [
        (&comparison.net, Colour::Blue, 3.0, 14.0, Tone::Strong),
        (&comparison.material, Colour::Grey, 18.0, 12.0, Tone::Faint),
    ];
    for (figures, colour, top, height, tone) in bars {
        let Some(value) = (measure.of)(figures) else {
            continue;
        };
        let length = (WIDTH - NAMES - VALUES) * value / most;
        panel.rectangle((NAMES, y + top), (length, height), colour, "");
        let at = (NAMES + length + 6.0, y + top + height - 1.0);
        panel.text(at, Anchor::Start, tone, &(measure.show)(value));
    }
}

/// Returns the pictures as a standalone SVG.
pub fn svg(report: &Report) -> String {
    charts::sheet(None, vec![panels(report)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figures::ErrorSums;
    use crate::testing::record;

    #[test]
    fn omits_rows_without_a_figure() {
        let mut tally = ErrorSums::default();
        tally.add(&record("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 30), 7.0);
        let report = tally.report();
        let [chance, _, sign] = &MEASURES;
        let svg = panel(chance, &report).inline();
        assert!(svg.contains("endgame, 2-12") && svg.contains("below 0.5"));
        assert!(!svg.contains("opening") && !svg.contains("8 and more"));
        // Sign accuracy is undefined without a label of a pawn or more.
        assert!(!panel(sign, &report).inline().contains(" %"));
        assert!(!super::svg(&ErrorSums::default().report()).contains("NaN"));
    }
}
