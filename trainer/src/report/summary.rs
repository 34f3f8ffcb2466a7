//! Everything about a net in pictures: files beside it, and one page.
//!
//! It is made from files alone, so that a run that was interrupted, or a net
//! of somebody else, can be looked at just as well.

use std::path::Path;
use std::{fs, io};

use datasets::{Dataset, Split};
use models::Metadata;
use serde::Deserialize;
use serde_json::Value;

use crate::error::TrainerError;
use crate::files::{self, ending};
use crate::network::net::{self, Net};
use crate::report::curves::Point;
use crate::report::measured::{self, Measured};
use crate::report::page::{self, Page};
use crate::report::subject::{History, Subject};
use crate::report::{calibration, errors, neurons};

/// After a training: measures the net on the held-out games, and writes the
/// pictures and the page beside it.
///
/// # Errors
/// [`TrainerError`].
pub fn write_beside(model: &Path, dataset: &Dataset) -> Result<(), TrainerError> {
    let net = net::read(model)?;
    let measured = match dataset.len(Split::Validation) {
        0 => None,
        _ => Some(measured::on_dataset(&net.network, dataset, model)?),
    };
    let picture = |extension: &str, svg: String| {
        files::write(&model.with_extension(extension), svg.as_bytes())
    };
    picture(ending::NEURONS, neurons::svg(&net.network))?;
    if let Some(measured) = &measured {
        picture(ending::CALIBRATION, calibration::svg(&measured.calibration))?;
        picture(ending::ERRORS, errors::svg(&measured.report))?;
    }
    let page = model.with_extension(ending::PAGE);
    let subject = Subject::HeldOut(dataset.manifest());
    write(&page, &net, subject, measured.as_ref())
}

/// Writes the page about a net.
///
/// # Errors
/// [`TrainerError`].
pub fn write(
    path: &Path,
    net: &Net,
    subject: Subject,
    measured: Option<&Measured>,
) -> Result<(), TrainerError> {
    let page = Page {
        net,
        history: history(&net.path, &net.metadata)?,
        subject,
        measured,
    };
    files::write(path, page::html(page).as_bytes())
}

/// What is read of a line of the metrics.
#[derive(Deserialize)]
struct Line {
    epoch: u64,
    train_loss: f64,
    validation: Value,
}

/// The history in the metrics beside a net. `None` if there are none, or if
/// they are of another net: this one's own figures are not in them.
fn history(model: &Path, metadata: &Metadata) -> Result<Option<History>, TrainerError> {
    let path = model.with_extension(ending::METRICS);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(TrainerError::unreadable(&path)(error)),
    };
    let lines: Vec<Line> = text
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .map_err(|error| TrainerError::unreadable(&path)(error.into()))?;
    let loss = |line: &Line, name: &str| line.validation[name].as_f64();
    let best = metadata.validation["epoch"].as_u64();
    let kept = lines.iter().find(|line| Some(line.epoch) == best);
    Ok(kept
        .filter(|kept| !kept.validation.is_null())
        .filter(|kept| kept.validation == metadata.validation["figures"])
        .map(|kept| History {
            points: lines
                .iter()
                .map(|line| Point {
                    epoch: line.epoch,
                    train: line.train_loss,
                    validation: loss(line, "loss"),
                })
                .collect(),
            material: loss(kept, "material_loss"),
            best: kept.epoch,
        }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::Architecture;
    use serde_json::json;

    #[test]
    fn metrics_of_another_net_are_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("n.safetensors");
        let mut metadata = Metadata::new(Architecture::ARTICLE, "");
        let figures = json!({ "loss": 0.25, "material_loss": 0.3 });
        metadata.validation = json!({ "epoch": 2, "figures": figures });
        assert!(history(&model, &metadata).unwrap().is_none());

        let line = |epoch: u64, loss: f64| {
            let figures = json!({ "loss": loss, "material_loss": 0.3 });
            json!({ "epoch": epoch, "train_loss": 0.2, "validation": figures }).to_string()
        };
        let metrics = model.with_extension(ending::METRICS);
        fs::write(&metrics, [line(1, 0.4), line(2, 0.25)].join("\n")).unwrap();
        let found = history(&model, &metadata).unwrap().unwrap();
        assert_eq!((found.best, found.material), (2, Some(0.3)));
        assert_eq!(found.points[0].validation, Some(0.4));

        fs::write(&metrics, [line(1, 0.4), line(2, 0.26)].join("\n")).unwrap();
        assert!(history(&model, &metadata).unwrap().is_none());
        fs::write(&metrics, "{ \"epoch\": 1,").unwrap();
        let error = history(&model, &metadata).err().unwrap();
        assert_eq!(error.exit_code() as u8, 3);
        assert!(error.to_string().contains("n.metrics.jsonl"), "{error}");
    }
}
