//! Live page of a run in progress.

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use crate::files::{self, ending};
use crate::report::live::{self, REFRESH_SECONDS, State};
use crate::training::history::RunHistory;
use crate::training::plan::Plan;
use crate::training::progress::Progress;

/// The run's time per time spent on writing the page.
const SHARE: u32 = 500;

/// Writer of `NAME.report.html` during a run.
pub struct LivePage {
    path: PathBuf,
    name: String,
    description: String,
    epochs: u64,
    clip_norm: f64,
    /// Time of the next write; `None` after a failed one.
    due: Option<Instant>,
}

impl LivePage {
    /// Returns the page of a run, with its description.
    pub fn new(plan: &Plan, description: String) -> LivePage {
        let name = plan.out.file_name().unwrap_or_default();
        LivePage {
            path: plan.beside(ending::PAGE),
            name: name.to_string_lossy().into_owned(),
            description,
            epochs: plan.epochs,
            clip_norm: f64::from(plan.clip_norm),
            due: Some(Instant::now()),
        }
    }

    /// Returns whether the page should be written again.
    pub fn is_due(&self) -> bool {
        self.due.is_some_and(|due| due <= Instant::now())
    }

    /// Writes the page. A failure is reported once and does not end the run.
    pub fn write(
        &mut self,
        history: &RunHistory,
        progress: &Progress,
        state: State,
        since: Duration,
    ) {
        if self.due.is_none() {
            return;
        }
        let began = Instant::now();
        let page = live::LiveContents {
            name: &self.name,
            description: &self.description,
            state,
            epoch: (history.epoch(), self.epochs),
            positions: progress.positions(),
            elapsed: Duration::try_from_secs_f64(history.seconds).unwrap_or_default() + since,
            left: progress.left(),
            course: &history.course,
            clip_norm: self.clip_norm,
            epochs: &history.epochs,
        };
        let html = live::html(&page, SystemTime::now());
        let written = files::write_often(&self.path, html.as_bytes());
        let pause = Duration::from_secs(REFRESH_SECONDS).max(SHARE * began.elapsed());
        self.due = written.is_ok().then(|| Instant::now() + pause);
        if let Err(error) = written {
            progress.line(&format!("the run continues without its page: {error}"));
        }
    }
}
