//! The colours of every picture.

/// A colour. All but the ground stay apart for the colour-blind (after Okabe
/// and Ito), and are lighter on dark ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// What a picture is about; plus on a diverging scale.
    Blue,
    /// What it is compared with; minus on a diverging scale.
    Orange,
    /// A third series.
    Green,
    /// A fourth series.
    Purple,
    /// A fifth series.
    Yellow,
    /// A sixth series: that of the text.
    Ink,
    /// A baseline, or the rest.
    Grey,
    /// A shade on which others lie.
    Ground,
}

impl Colour {
    /// For series side by side, in this order.
    pub const SERIES: [Colour; 6] = [
        Colour::Blue,
        Colour::Orange,
        Colour::Green,
        Colour::Purple,
        Colour::Yellow,
        Colour::Ink,
    ];

    const ALL: [Colour; 8] = {
        let [a, b, c, d, e, f] = Colour::SERIES;
        [a, b, c, d, e, f, Colour::Grey, Colour::Ground]
    };

    /// Its class in the stylesheet.
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
        }
    }

    /// On light and on dark ground.
    fn shades(self) -> [&'static str; 2] {
        match self {
            Colour::Blue => ["#0072b2", "#4cb0ea"],
            Colour::Orange => ["#d55e00", "#f59342"],
            Colour::Green => ["#009e73", "#35c79b"],
            Colour::Purple => ["#b5588f", "#e39bc4"],
            Colour::Yellow => ["#e69f00", "#f5cd5b"],
            Colour::Ink => ["#1f2933", "#e4e7eb"],
            Colour::Grey => ["#9aa5b1", "#7b8794"],
            Colour::Ground => ["#eef1f4", "#222a33"],
        }
    }
}

/// The stylesheet of all pictures.
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
