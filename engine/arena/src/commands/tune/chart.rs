//! The way of each parameter as a picture.

use charts::{Colour, Graph, Mark, Point, Series, sheet};

use crate::statistics::spsa::Parameter;

/// Panels side by side.
const ACROSS: usize = 2;

/// Draws the ways, in the order of the parameters: games and values. `games` is where the
/// axis ends, `conditions` says how they came about.
pub fn draw(parameters: &[Parameter], ways: &[Vec<Point>], games: u64, conditions: &str) -> String {
    let panel = |(parameter, way): (&Parameter, &Vec<Point>)| {
        let Parameter { start, c_end, .. } = parameter;
        let note = match way.last() {
            Some((_, now)) => format!("from {start} to {now:.1}; C_end {c_end}"),
            None => String::new(),
        };
        let line = |name: &str, mark, colour, points| Series {
            name: name.to_string(),
            mark,
            colour,
            points,
            dotted: false,
        };
        let level = f64::from(*start);
        let begun = vec![(0.0, level), (games as f64, level)];
        let graph = Graph {
            title: &parameter.name,
            note: &note,
            across: "games",
            ends: (0.0, games as f64),
            whole: true,
            // At least what a game is expected to feel.
            levels: &[level - c_end, level + c_end],
            series: vec![
                line("at the start", Mark::Dashed, Colour::Grey, begun),
                line("value", Mark::Line, Colour::Blue, way.clone()),
            ],
        };
        graph.panel()
    };
    let mut panels = parameters.iter().zip(ways).map(panel);
    let mut rows = Vec::new();
    loop {
        let row: Vec<_> = panels.by_ref().take(ACROSS).collect();
        if row.is_empty() {
            break;
        }
        rows.push(row);
    }
    sheet(Some(("SPSA", conditions)), rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_has_its_panel() {
        let texts = ["A", "B < C", "D"].map(|name| format!("{name}, int, 5, 0, 9, 1, 0.002"));
        let parameters: Vec<Parameter> = texts.map(|text| text.parse().unwrap()).into();
        let ways = [vec![(0.0, 5.0), (8.0, 6.25)], vec![(0.0, 5.0)], vec![]];
        let svg = draw(&parameters, &ways, 8, "4 nodes a move");
        for text in [
            "A",
            "B &lt; C",
            "D",
            "from 5 to 6.2; C_end 1",
            "4 nodes a move",
        ] {
            assert!(svg.contains(&format!("\n{text}\n")), "{text}: {svg}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{svg}");
    }
}
