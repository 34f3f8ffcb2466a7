//! Formatting of results.

use serde::Serialize;

use crate::report::metrics::Validation;

/// Formats the figures on the held-out games, one a line.
pub fn held_out_figures(validation: Option<Validation>) -> String {
    let Some(validation) = validation else {
        return "no game was held out: the net is not measured\n".to_string();
    };
    let figures = validation.figures;
    let show = |x: Option<f64>| x.map_or("-".to_string(), |x| format!("{x:.4}"));
    let lines = [
        (
            "winchance L1",
            figures.net.winchance,
            figures.material.winchance,
        ),
        ("clamp10 L1", figures.net.clamp10, figures.material.clamp10),
        (
            "sign accuracy",
            figures.net.sign_accuracy,
            figures.material.sign_accuracy,
        ),
    ];
    let line = |(name, net, material)| {
        let (net, material) = (show(net), show(material));
        format!("{name:13} on held-out games: {net} (material alone {material})\n")
    };
    lines.into_iter().map(line).collect()
}

/// Formats results as JSON.
pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("numbers and names") + "\n"
}
