//! Palette and stylesheet of all charts.

/// Palette colour with a shade for light and one for dark backgrounds. All but the ground are
/// distinguishable to the colour-blind (after Okabe and Ito).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Main subject; positive values of a diverging scale.
    Blue,
    /// Comparison; negative values of a diverging scale.
    Orange,
    /// Third series.
    Green,
    /// Fourth series.
    Purple,
    /// Fifth series.
    Yellow,
    /// Sixth series, in the text's colour.
    Ink,
    /// Baseline or remainder.
    Grey,
    /// Shade behind other colours.
    Ground,
    /// Light square of a board; the same on any background.
    LightSquare,
    /// Dark square of a board; the same on any background.
    DarkSquare,
}

impl Colour {
    /// Colours for series side by side, in order of use.
    pub const SERIES: [Colour; 6] = [
        Colour::Blue,
        Colour::Orange,
        Colour::Green,
        Colour::Purple,
        Colour::Yellow,
        Colour::Ink,
    ];

    const ALL: [Colour; 10] = {
        let [a, b, c, d, e, f] = Colour::SERIES;
        let (light, dark) = (Colour::LightSquare, Colour::DarkSquare);
        [a, b, c, d, e, f, Colour::Grey, Colour::Ground, light, dark]
    };

    /// CSS class in the stylesheet.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Colour::Blue => "blue",
            Colour::Orange => "orange",
            Colour::Green => "green",
            Colour::Purple => "purple",
            Colour::Yellow => "yellow",
            Colour::Ink => "ink",
            Colour::Grey => "grey",
            Colour::Ground => "ground",
            Colour::LightSquare => "light-square",
            Colour::DarkSquare => "dark-square",
        }
    }

    /// CSS colours on a light and on a dark background.
    fn shades(self) -> [&'static str; 2] {
        match self {
            Colour::Blue => ["#0072b2", "#4cb0ea"],
            Colour::Orange => ["#d55e00", "#f59342"],
            Colour::Green => ["#009e73", "#35c79b"],
            Colour::Purple => ["#b5588f", "#e39bc4"],
            Colour::Yellow => ["#e69f00", "#f5cd5b"],
            Colour::Ink => ["#1f2933", "#e4e7eb"],
            Colour::Grey => ["#9aa5b1", "#7b8794"],
            Colour::Ground => ["#e4e9ee", "#2a343f"],
            Colour::LightSquare => ["#e6ebf0"; 2],
            Colour::DarkSquare => ["#8fa3b8"; 2],
        }
    }
}

/// Returns the stylesheet of all charts.
pub fn style() -> String {
    const FIXED: &str = "\
svg text { font-family: system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif; font-size: 13px }
svg .title { font-size: 17px; font-weight: 600 } svg .heading { font-size: 24px; font-weight: 600 } svg .strong { font-weight: 600 }
svg .fill { fill: currentColor } svg .dashed { stroke-dasharray: 7 5 }
svg .line { fill: none; stroke: currentColor; stroke-width: 2.5; stroke-linejoin: round; stroke-linecap: round }
";
    let rules = |shade: usize| {
        let pick = |light, dark| [light, dark][shade];
        let mut rules = format!(
            "svg text {{ fill: {} }} svg .faint {{ fill: {} }} svg .paper {{ fill: {} }} svg .card {{ fill: {} }}\n\
             svg .grid {{ stroke: {} }} svg .axis {{ stroke: {} }}\n",
            pick("#1f2933", "#e4e7eb"),
            pick("#52606d", "#a3aebb"),
            pick("#f3f5f7", "#0f1317"),
            pick("#ffffff", "#171c22"),
            pick("#e1e5ea", "#2c3540"),
            pick("#9aa5b1", "#616e7c"),
        );
        for colour in Colour::ALL {
            let (class, shade) = (colour.class(), colour.shades()[shade]);
            rules += &format!("svg .{class} {{ color: {shade} }}\n");
        }
        rules
    };
    let (light, dark) = (rules(0), rules(1));
    format!("{FIXED}{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n")
}
