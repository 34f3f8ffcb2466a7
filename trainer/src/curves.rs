//! The loss over the epochs, as a picture.

use plotters::prelude::*;

/// The measure of one epoch: the loss of [`crate::target`], mates included.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Counted from 1.
    pub epoch: u64,
    /// Mean over the epoch's batches, each before its step.
    pub train: f64,
    /// The rounded net on the held-out games; none if no game is held out.
    pub validation: Option<f64>,
}

/// Draws the curves as SVG. `material` is the loss of the material balance on
/// the held-out games, a level line; `best` is the epoch whose net was kept.
pub fn svg(points: &[Point], material: Option<f64>, best: u64) -> String {
    let mut svg = String::new();
    // Drawing into a string fails only for a range without width, and the
    // ranges below have one.
    draw(&mut svg, points, material, best).expect("drawing into a string");
    svg
}

type DrawResult = Result<(), Box<dyn std::error::Error>>;

fn draw(svg: &mut String, points: &[Point], material: Option<f64>, best: u64) -> DrawResult {
    let root = SVGBackend::with_string(svg, (800, 480)).into_drawing_area();
    root.fill(&WHITE)?;
    let last = points.len().max(2) as f64;
    let highest = points
        .iter()
        .flat_map(|p| [Some(p.train), p.validation])
        .chain([material])
        .flatten()
        .fold(0.01, f64::max);
    let mut chart = ChartBuilder::on(&root)
        .caption("Loss: L1 of win chance (-1 to 1)", ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d(1.0..last, 0.0..highest * 1.05)?;
    chart
        .configure_mesh()
        .x_desc("epoch")
        // There is no epoch one and a half.
        .x_label_formatter(&|x| {
            if x.fract() == 0.0 {
                x.to_string()
            } else {
                String::new()
            }
        })
        .y_label_formatter(&|y| format!("{y:.2}"))
        .light_line_style(WHITE)
        .draw()?;
    let train = points.iter().map(|p| (p.epoch as f64, p.train)).collect();
    let validation: Vec<(f64, f64)> = points
        .iter()
        .filter_map(|p| Some((p.epoch as f64, p.validation?)))
        .collect();
    let kept = validation
        .iter()
        .copied()
        .find(|&(epoch, _)| epoch == best as f64);
    let baseline = material
        .map(|loss| vec![(1.0, loss), (last, loss)])
        .unwrap_or_default();
    let series = [
        (train, BLUE, "training"),
        (validation, RED, "held-out games"),
        (
            baseline,
            RGBColor(128, 128, 128),
            "material alone, held-out games",
        ),
    ];
    for (line, color, name) in series {
        chart
            .draw_series(LineSeries::new(line, color.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
    }
    chart.draw_series(kept.map(|point| Circle::new(point, 5, RED.filled())))?;
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()?;
    root.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_any_number_of_epochs() {
        let point = |epoch| Point {
            epoch,
            train: 0.3 / epoch as f64,
            validation: Some(0.35),
        };
        for epochs in [1, 2, 30] {
            let points: Vec<Point> = (1..=epochs).map(point).collect();
            let svg = svg(&points, Some(0.4), 1);
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
            assert!(svg.contains("held-out games"));
        }
        let alone = Point {
            epoch: 1,
            train: 0.3,
            validation: None,
        };
        assert!(svg(&[alone], None, 1).contains("</svg>"));
    }
}
