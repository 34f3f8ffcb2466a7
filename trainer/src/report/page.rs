//! Report page: a self-contained HTML page on one net.

use datasets::{Manifest, SourceEntry};
use host::thousands;
use maud::{Markup, PreEscaped, html};
use models::{Architecture, Metadata, Network};
use serde_json::Value;

use crate::files::names;
use crate::net::Net;
use crate::report::document::{card, document, drawn};
use crate::report::figures::{Figures, NetAndMaterial, Report, decimals};
use crate::report::integers::{Difference, Integers};
use crate::report::measurement::Measurement;
use crate::report::subject::{PastRun, Subject};
use crate::report::{calibration, course, curves, errors, neurons};

/// Contents of the page.
pub struct Page<'a> {
    /// Net reported on.
    pub net: &'a Net,
    /// Training history, if known.
    pub history: Option<PastRun>,
    /// Positions that the net was measured on.
    pub subject: Subject<'a>,
    /// Figures on these positions; `None` without positions.
    pub measured: Option<&'a Measurement>,
}

/// Returns the page.
pub fn html(page: Page) -> String {
    let name = page
        .net
        .path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let body = html! {
        h1 { (name) }
        p { (architecture(page.net.network.architecture())) ". " (subject_line(page.subject)) }
        @if let Some(measured) = page.measured { (glance(measured)) }
        @if let Some(history) = &page.history { (learning(history)) }
        @if let Some(measured) = page.measured { (quality(measured)) (mistakes(measured)) }
        (first_layer(&page.net.network))
        (configuration(&page.net.metadata))
        (provenance(page.subject))
    };
    document(&name, html! {}, body)
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
        Subject::Games(paths) => format!("Measured on {}.", names(paths)),
    }
}

/// Cards of the main figures.
fn glance(measured: &Measurement) -> Markup {
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
                (card(&figure, name, &note))
            }
            @if let Integers::Measured(Difference { mean: Some(mean), largest, .. }) = measured.integers {
                (card(&format!("{mean:.1}"), "centipawns lost to integers", &format!("{largest:.1} at most")))
            }
        }
    }
}

fn learning(history: &PastRun) -> Markup {
    html! {
        section {
            h2 { "How it learned" }
            p { "The training loss of an epoch is the mean over its steps, each before its update; the held-out loss is that of the net at the epoch's end. The net of the best epoch was kept." }
            div.grid {
                (drawn(curves::panel(&history.epochs, history.best)))
                @if !history.steps.is_empty() {
                    (drawn(course::loss_panel(&history.steps, &history.epochs)))
                    @for panel in course::panels(&history.steps, history.clip_norm) { (drawn(panel)) }
                }
            }
        }
    }
}

fn quality(measured: &Measurement) -> Markup {
    html! {
        section {
            h2 { "How good it is" }
            p { (thousands(measured.report.mates)) " positions whose label is a mate are left out. Material counts pawn 1, knight 3.2, bishop 3.3, rook 5, queen 9." }
            div.grid {
                @for panel in errors::panels(&measured.report) { (drawn(panel)) }
                (drawn(calibration::panel(&measured.calibration)))
            }
            h2 { "Figures" }
            div.card.wide { (table(&measured.report)) }
            h2 { "Integers" }
            p { "The engine plays with integers. Their distance from the floats above, over all positions, mates included:" }
            div.card { (integers(&measured.integers)) }
        }
    }
}

fn mistakes(measured: &Measurement) -> Markup {
    html! {
        section {
            h2 { "Where it is most wrong" }
            p { "The positions with the largest error in win chance, the worst first. Pawns, from the view of the side to move. Of similar positions, only the worst is shown." }
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
    let row = |name: &str, comparison: &NetAndMaterial| {
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
            @for part in report.by_kind.iter().chain(&report.by_phase).chain(&report.by_label) {
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
                "Of " (network.architecture().first) " neurons, these are the most significant, each apart from what the ones before it show."
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
            p { "From the net's metadata; written by " (metadata.tool) "." }
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

/// Returns table rows of an object's entries; none for other values.
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
                    // A prefix is enough to distinguish files.
                    td { code title=(source.digest) { (source.digest.get(..12).unwrap_or_default()) } }
                }
            }
        }
    }
}

fn share(value: Option<f64>) -> String {
    value.map_or("–".to_string(), |value| format!("{:.1} %", 100.0 * value))
}
