//! The report as one HTML page that needs nothing but itself.

use charts::{Panel, thousands};
use datasets::{Manifest, SourceEntry};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use models::{Architecture, Metadata, Network};
use serde_json::Value;

use crate::network::net::Net;
use crate::report::figures::{Comparison, Figures, Report};
use crate::report::integers::{Difference, Integers};
use crate::report::measured::Measured;
use crate::report::subject::{History, Subject};
use crate::report::{calibration, curves, errors, neurons};

/// What the page is about.
pub struct Page<'a> {
    /// The net.
    pub net: &'a Net,
    /// How it was trained, if that is known.
    pub history: Option<History>,
    /// What it was measured on.
    pub subject: Subject<'a>,
    /// How good it is there; `None` if there is no position.
    pub measured: Option<&'a Measured>,
}

/// The page's own style, beside the pictures' ([`charts::style`]).
const STYLE: &str = "\
:root { color-scheme: light dark; --ground: #f3f5f7; --paper: #ffffff; --ink: #1f2933; --faint: #52606d; --rule: #e1e5ea; --net: #0072b2 }
@media (prefers-color-scheme: dark) { :root { --ground: #0f1317; --paper: #171c22; --ink: #e4e7eb; --faint: #a3aebb; --rule: #2c3540; --net: #4cb0ea } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 1120px; padding: 20px 16px 48px; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, 'Segoe UI', Helvetica, Arial, sans-serif }
h1 { font-size: 1.6rem; margin: 8px 0 0; overflow-wrap: anywhere } h2 { font-size: 1.15rem; margin: 36px 0 4px }
p { margin: 4px 0 12px; color: var(--faint); max-width: 46rem }
section > p { font-size: .95rem }
.grid { display: grid; gap: 16px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 420px), 1fr)) }
.boards { grid-template-columns: repeat(auto-fill, minmax(200px, 1fr)) }
.figures { display: grid; gap: 12px; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); margin: 20px 0 }
.card { background: var(--paper); border: 1px solid var(--rule); border-radius: 10px; padding: 16px; min-width: 0 }
.card svg { display: block; width: 100%; height: auto }
.figures b { display: block; font-size: 1.5rem; line-height: 1.3; font-variant-numeric: tabular-nums } .figures span { display: block; font-size: .85rem; color: var(--faint) }
.wide { overflow-x: auto } table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums }
th, td { text-align: left; padding: 5px 14px 5px 0; border-top: 1px solid var(--rule); vertical-align: top; overflow-wrap: anywhere }
tr:first-child > * { border-top: 0 } th { font-weight: 500; color: var(--faint); overflow-wrap: normal } td.number, th.number { text-align: right; white-space: nowrap }
code { font-size: .85em; overflow-wrap: anywhere }
footer { margin-top: 36px; font-size: .85rem; color: var(--faint) }
";

/// Writes the page.
pub fn html(page: Page) -> String {
    let name = page
        .net
        .path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (name) }
                style { (PreEscaped(STYLE)) (PreEscaped(charts::style())) }
            }
            body {
                h1 { (name) }
                p { (architecture(page.net.network.architecture())) ". " (subject_line(page.subject)) }
                @if let Some(measured) = page.measured { (glance(measured)) }
                @if let Some(history) = &page.history { (learning(history)) }
                @if let Some(measured) = page.measured { (quality(measured)) (mistakes(measured)) }
                (first_layer(&page.net.network))
                (configuration(&page.net.metadata))
                (provenance(page.subject))
                footer { "Written by " (concat!("kibitz trainer ", env!("CARGO_PKG_VERSION"))) "." }
            }
        }
    };
    markup.into_string()
}

fn architecture(architecture: Architecture) -> String {
    format!(
        "{architecture:#}, {} weights",
        thousands(architecture.parameters() as u64)
    )
}

fn subject_line(subject: Subject) -> String {
    match subject {
        Subject::HeldOut(manifest) => format!(
            "Measured on {} positions of held-out games.",
            thousands(manifest.counts.positions_validation)
        ),
        Subject::Games(paths) => {
            let names: Vec<_> = paths
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            format!("Measured on {}.", names.join(", "))
        }
    }
}

/// The figures that matter most.
fn glance(measured: &Measured) -> Markup {
    let Report { all, .. } = &measured.report;
    let against = |value: Option<f64>| format!("material alone {}", decimals(value, 3));
    let cards = [
        (
            decimals(all.net.winchance, 3),
            "win chance, mean error",
            against(all.material.winchance),
        ),
        (
            decimals(all.net.clamp10, 2),
            "pawns, mean error",
            against(all.material.clamp10),
        ),
        (
            share(all.net.sign_accuracy),
            "right sign from a pawn on",
            format!("material alone {}", share(all.material.sign_accuracy)),
        ),
        (
            decimals(measured.calibration.error, 3),
            "win chance, calibration error",
            format!("{} positions", thousands(all.net.count)),
        ),
    ];
    html! {
        div.figures {
            @for (figure, name, note) in cards {
                div.card { b { (figure) } (name) span { (note) } }
            }
            @if let Integers::Measured(Difference { mean: Some(mean), largest, .. }) = measured.integers {
                div.card { b { (format!("{mean:.1}")) } "centipawns lost to integers" span { (format!("{largest:.1} at most")) } }
            }
        }
    }
}

fn drawn(panel: Panel) -> Markup {
    html! { div.card { (PreEscaped(panel.inline())) } }
}

fn learning(history: &History) -> Markup {
    html! {
        section {
            h2 { "How it learned" }
            p { "The training loss of an epoch is the mean of its steps, each before it was taken; the held-out games are judged by the net at the epoch's end. The net of the best epoch was kept." }
            div.grid { (drawn(curves::panel(&history.points, history.material, history.best))) }
        }
    }
}

fn quality(measured: &Measured) -> Markup {
    html! {
        section {
            h2 { "How good it is" }
            p { (thousands(measured.report.mates)) " positions whose label is a mate are left out. Material counts pawn 1, knight 3.2, bishop 3.3, rook 5, queen 9." }
            div.grid {
                @for panel in errors::panels(&measured.report) { (drawn(panel)) }
                (drawn(calibration::panel(&measured.calibration)))
            }
            h2 { "The same in figures" }
            div.card.wide { (table(&measured.report)) }
            h2 { "Integers" }
            p { "The engine plays with integers. Their distance from the floats above, over all positions, mates included:" }
            div.card { (integers(&measured.integers)) }
        }
    }
}

fn mistakes(measured: &Measured) -> Markup {
    html! {
        section {
            h2 { "Where it is most wrong" }
            p { "The positions with the largest error in win chance, the worst first. Pawns, from the view of the side to move. Of positions that differ little, the worst stands for all." }
            div.grid.boards {
                @for mistake in &measured.worst {
                    div.card { (PreEscaped(mistake.panel().inline())) code { (mistake.epd) } }
                }
            }
        }
    }
}

fn table(report: &Report) -> Markup {
    type Show = fn(&Figures) -> String;
    let columns: [(&str, Show); 3] = [
        ("win chance", |figures| decimals(figures.winchance, 4)),
        ("pawns", |figures| decimals(figures.clamp10, 3)),
        ("right sign", |figures| share(figures.sign_accuracy)),
    ];
    let row = |name: &str, comparison: &Comparison| {
        html! {
            tr {
                td { (name) }
                td.number { (thousands(comparison.net.count)) }
                @for (_, show) in columns {
                    td.number { (show(&comparison.net)) }
                    td.number { (show(&comparison.material)) }
                }
            }
        }
    };
    html! {
        table {
            tr {
                th { }
                th.number { "positions" }
                @for (name, _) in columns {
                    th.number { (name) }
                    th.number { "material" }
                }
            }
            (row("all", &report.all))
            @for part in report.by_phase.iter().chain(&report.by_label) {
                (row(part.name, &part.comparison))
            }
        }
    }
}

fn integers(integers: &Integers) -> Markup {
    match integers {
        Integers::Refused { refused } => html! { "The engine refuses this net: " (refused) "." },
        Integers::Measured(difference) => html! {
            table {
                tr { th { "positions" } td { (thousands(difference.positions)) } }
                tr { th { "mean" } td { (decimals(difference.mean, 2)) " centipawns" } }
                tr { th { "largest" } td { (format!("{:.1}", difference.largest)) " centipawns" } }
                @if let Some(place) = &difference.largest_at {
                    tr { th { "where" } td { code { (place) } } }
                }
            }
        },
    }
}

fn first_layer(network: &Network) -> Markup {
    html! {
        section {
            h2 { "What the first layer looks at" }
            p {
                "Each board is a kind of piece, seen by the side to move, its first rank at the bottom. Each piece's mean over the squares is taken out. Blue: there it switches the neuron on more than elsewhere; orange: less. "
                "Of " (network.architecture().first) " neurons these tell most, each leaving out what those before it show already."
            }
            div.grid {
                @for panel in neurons::panels(network) { (drawn(panel)) }
            }
        }
    }
}

fn configuration(metadata: &Metadata) -> Markup {
    let parts = [
        ("Training", &metadata.training),
        ("Target", &metadata.target),
        ("Trained on", &metadata.dataset),
    ];
    html! {
        section {
            h2 { "Configuration" }
            p { "As the net's file tells it; written by " (metadata.tool) "." }
            div.grid {
                @for (title, value) in parts {
                    div.card {
                        b { (title) }
                        table { (rows(value)) }
                    }
                }
                div.card {
                    b { "Network" }
                    table {
                        tr { th { "inputs" } td { (metadata.layout) } }
                        tr { th { "activation" } td { (metadata.architecture.activation) } }
                        tr { th { "output" } td { (metadata.output) } }
                    }
                }
            }
        }
    }
}

/// The entries of an object; nothing of anything else.
fn rows(value: &Value) -> Markup {
    let entries = value.as_object().into_iter().flatten();
    html! {
        @for (name, value) in entries {
            tr {
                th { (name.replace('_', " ")) }
                td {
                    @match value {
                        Value::String(text) => (text),
                        Value::Null => "none",
                        Value::Number(number) => (number.as_u64().map_or(number.to_string(), thousands)),
                        other => (other),
                    }
                }
            }
        }
    }
}

fn provenance(subject: Subject) -> Markup {
    let Subject::HeldOut(manifest) = subject else {
        return html! {};
    };
    html! {
        section {
            h2 { "Where the positions come from" }
            p {
                (thousands(manifest.counts.positions_train)) " positions to train on and "
                (thousands(manifest.counts.positions_validation)) " of held-out games, in a dataset of "
                (manifest.tool) ", format " (manifest.format_version) "."
            }
            div.card.wide { (sources(manifest)) }
            h2 { "Filters and fingerprint" }
            div.card {
                table {
                    tr { th { "fingerprint" } td { code { (manifest.fingerprint) } } }
                    (rows(&serde_json::to_value(&manifest.filters).expect("numbers and names")))
                }
            }
        }
    }
}

fn sources(manifest: &Manifest) -> Markup {
    let months = |source: &SourceEntry| match source.months() {
        Some((first, last)) if first == last => first.to_string(),
        Some((first, last)) => format!("{first} to {last}"),
        None => "-".to_string(),
    };
    html! {
        table {
            tr {
                th { "source" } th { "months" }
                th.number { "bytes" } th.number { "games" } th.number { "labels" }
                th { "SHA-256" }
            }
            @for source in &manifest.sources {
                tr {
                    td { (source.name) }
                    td { (months(source)) }
                    td.number { (thousands(source.bytes)) }
                    td.number { (thousands(source.tally.games)) }
                    td.number { (thousands(source.tally.labels)) }
                    // As much as tells files apart.
                    td { code title=(source.sha256) { (source.sha256.get(..12).unwrap_or_default()) } }
                }
            }
        }
    }
}

fn decimals(value: Option<f64>, count: usize) -> String {
    value.map_or("–".to_string(), |value| format!("{value:.count$}"))
}

fn share(value: Option<f64>) -> String {
    value.map_or("–".to_string(), |value| format!("{:.1} %", 100.0 * value))
}
