//! Chart of the values of each parameter.

use charts::{Colour, Graph, Mark, Point, Series, sheet};

use crate::statistics::spsa::Parameter;

/// Panels per row.
const ACROSS: usize = 2;

/// Draws the trajectories, values over games, in the order of the parameters. The axis ends at
/// `games`; `conditions` is the subtitle.
pub fn draw(
    parameters: &[Parameter],
    trajectories: &[Vec<Point>],
    games: u64,
    conditions: &str,
) -> String {
    let panel = |(parameter, trajectory): (&Parameter, &Vec<Point>)| {
        let Parameter { start, c_end, .. } = parameter;
        let note = match trajectory.last() {
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
            // Shows at least one `c_end` around the start value.
            levels: &[level - c_end, level + c_end],
            series: vec![
                line("at the start", Mark::Dashed, Colour::Grey, begun),
                line("value", Mark::Line, Colour::Blue, trajectory.clone()),
            ],
        };
        graph.panel()
    };
    let mut panels = parameters.iter().zip(trajectories).map(panel);
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
        let trajectories = [vec![(0.0, 5.0), (8.0, 6.25)], vec![(0.0, 5.0)], vec![]];
        let svg = draw(&parameters, &trajectories, 8, "4 nodes a move");
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
