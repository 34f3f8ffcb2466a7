//! Writer of a net's pictures and report page.
//!
//! The inputs are files alone, so that an interrupted run or anybody's net can be reported too.

use std::path::Path;

use datasets::{Dataset, Split};
use models::Metadata;
use serde_json::json;

use crate::error::TrainerError;
use crate::files::{self, ending};
use crate::net::{self, Net};
use crate::report::measurement::{self, Measurement};
use crate::report::page::{self, Page};
use crate::report::subject::{PastRun, Subject};
use crate::report::{calibration, errors, metrics, neurons};

/// Measures the net on the held-out games, and writes the pictures and the page beside it.
pub fn write_beside(model: &Path, dataset: &Dataset) -> Result<(), TrainerError> {
    let net = net::read(model)?;
    let measured = match dataset.len(Split::Validation) {
        0 => None,
        _ => Some(measurement::on_dataset(&net.network, dataset, model)?),
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

/// Writes the report page of a net.
pub fn write(
    path: &Path,
    net: &Net,
    subject: Subject,
    measured: Option<&Measurement>,
) -> Result<(), TrainerError> {
    let page = Page {
        net,
        history: history(&net.path, &net.metadata)?,
        subject,
        measured,
    };
    files::write(path, page::html(page).as_bytes())
}

/// Reads the history from the metrics beside a net. `None` if they are missing or belong to another
/// net, that is, if they lack this net's figures.
fn history(model: &Path, metadata: &Metadata) -> Result<Option<PastRun>, TrainerError> {
    let path = model.with_extension(ending::METRICS);
    if !path.exists() {
        return Ok(None);
    }
    let epochs = metrics::read_epochs(&path)?;
    let best = metadata.validation["epoch"].as_u64();
    let kept = epochs.iter().find(|line| Some(line.epoch) == best);
    let figures = kept.and_then(|kept| kept.validation);
    let is_of_net = figures.is_some_and(|it| json!(it) == metadata.validation["figures"]);
    let (Some(best), true) = (best, is_of_net) else {
        return Ok(None);
    };
    Ok(Some(PastRun {
        steps: metrics::read_steps(&model.with_extension(ending::STEPS))?,
        clip_norm: metadata.training["clip_norm"].as_f64(),
        best,
        epochs,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    use models::Architecture;

    use crate::report::figures::ErrorSums;
    use crate::report::metrics::Validation;

    #[test]
    fn ignores_metrics_of_another_net() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("n.safetensors");
        let mut metadata = Metadata::new(Architecture::ARTICLE, "");
        let held_out = |loss: f64| {
            let figures = ErrorSums::default().report().all;
            json!(Validation {
                judged: loss,
                loss,
                material_loss: 0.3,
                quiet_winchance: None,
                figures
            })
        };
        metadata.validation = json!({ "epoch": 2, "figures": held_out(0.25) });
        assert!(history(&model, &metadata).unwrap().is_none());

        let line = |epoch: u64, loss: f64| {
            let line = json!({
                "epoch": epoch, "learning_rate": 0.003, "train_loss": 0.2, "clipped_steps": 0,
                "validation": held_out(loss), "samples_per_second": 50.0, "waiting_seconds": 0.5, "computing_seconds": 1.5,
            });
            line.to_string()
        };
        let metrics = model.with_extension(ending::METRICS);
        fs::write(&metrics, [line(1, 0.4), line(2, 0.25)].join("\n")).unwrap();
        let found = history(&model, &metadata).unwrap().unwrap();
        assert_eq!(found.best, 2);
        assert_eq!(metrics::material(&found.epochs), Some(0.3));
        assert_eq!(found.epochs[0].validation.unwrap().loss, 0.4);
        assert_eq!(found.epochs[1].positions(), 100);

        fs::write(&metrics, [line(1, 0.4), line(2, 0.26)].join("\n")).unwrap();
        assert!(history(&model, &metadata).unwrap().is_none());
        fs::write(&metrics, "{ \"epoch\": 1,").unwrap();
        let error = history(&model, &metadata).err().unwrap();
        assert_eq!(error.exit_code() as u8, 4);
        assert!(error.to_string().contains("n.metrics.jsonl"), "{error}");
    }
}
