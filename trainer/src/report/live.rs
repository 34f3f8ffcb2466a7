//! Live page of a run: reloads itself until the run ends.

use std::time::{Duration, SystemTime};

use host::{FormattedDuration, rate, thousands};
use maud::{Markup, PreEscaped, html};

use crate::report::course::{self, Course};
use crate::report::curves;
use crate::report::document::{card, document, drawn};
use crate::report::metrics::{self, Epoch, Stretch};

/// Interval of reloads, in seconds.
pub const REFRESH_SECONDS: u64 = 3;

/// State of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State<'a> {
    /// Training, or validating an epoch's net.
    Training,
    /// All epochs are done, and the report is being made.
    Measuring,
    /// Ended before its time.
    Ended {
        /// Reason and remedy.
        why: &'a str,
    },
}

/// Contents of the page.
pub struct LiveContents<'a> {
    /// File name of the net.
    pub name: &'a str,
    /// Description of the run.
    pub description: &'a str,
    /// State of the run.
    pub state: State<'a>,
    /// Current epoch, counted from 1, and the number of epochs.
    pub epoch: (u64, u64),
    /// Positions trained on, and those of all epochs.
    pub positions: (u64, u64),
    /// Duration of the run so far, interruptions excluded.
    pub elapsed: Duration,
    /// Estimated remaining time, if known.
    pub left: Option<Duration>,
    /// Metrics of the steps.
    pub course: &'a Course,
    /// Norm to which longer gradients are clipped.
    pub clip_norm: f64,
    /// Metrics of the finished epochs.
    pub epochs: &'a [Epoch],
}

/// Script that shows a notice on an old page: a killed program cannot update it.
const WATCH: &str = "\
const late = document.getElementById('late');
late.hidden = Date.now() - late.dataset.written < 120000;
";

/// Returns the page as of `now`.
pub fn html(page: &LiveContents, now: SystemTime) -> String {
    let goes_on = !matches!(page.state, State::Ended { .. });
    let head = html! {
        @if goes_on { meta http-equiv="refresh" content=(REFRESH_SECONDS); }
    };
    let stretches = page.course.stretches();
    let body = html! {
        h1 { (page.name) }
        p { (page.description) }
        (state(page, now))
        (figures(page))
        @if !stretches.is_empty() {
            div.grid {
                (drawn(course::loss_panel(stretches, page.epochs)))
                @if let Some(best) = metrics::best(page.epochs) {
                    (drawn(curves::panel(page.epochs, best.epoch)))
                }
                @for panel in course::panels(stretches, Some(page.clip_norm)) { (drawn(panel)) }
            }
        }
        @if page.state == State::Training { script { (PreEscaped(WATCH)) } }
    };
    document(page.name, head, body)
}

/// Describes the state of the run.
fn state(page: &LiveContents, now: SystemTime) -> Markup {
    match page.state {
        State::Training => {
            let written = now
                .duration_since(SystemTime::UNIX_EPOCH)
                .unwrap_or_default();
            html! {
                p #late .notice hidden data-written=(written.as_millis()) {
                    "No update for two minutes. Either an epoch's net is being validated, or the "
                    "program has ended: then the same command with --resume continues."
                }
            }
        }
        State::Measuring => html! {
            p.notice { "All epochs are done. The net is being measured; the report follows here." }
        },
        State::Ended { why } => html! {
            p.notice { b { "This run has ended" } ": " (why) }
        },
    }
}

fn figures(page: &LiveContents) -> Markup {
    let (done, all) = page.positions;
    let percent = 100.0 * done as f64 / all.max(1) as f64;
    let time = |time: Duration| FormattedDuration(Duration::from_secs(time.as_secs())).to_string();
    let (epoch, epochs) = page.epoch;
    let left = match page.state {
        State::Training => page.left.map_or("–".to_string(), time),
        State::Measuring | State::Ended { .. } => "–".to_string(),
    };
    let last = course::thinned(page.course.stretches()).pop();
    // Value at the last point of the curves.
    let recent = |value: fn(&Stretch) -> f64, show: fn(f64) -> String| {
        let value = last.as_ref().map(value).filter(|value| value.is_finite());
        value.map_or("–".to_string(), show)
    };
    let held_out = metrics::best(page.epochs).and_then(|best| best.validation);
    html! {
        div.bar { div style=(format!("width: {percent:.1}%")) {} }
        div.figures {
            (card(&format!("{percent:.1} %"), "done", &format!("epoch {} of {epochs}", epoch.min(epochs))))
            (card(&left, "left", &format!("{} so far", time(page.elapsed))))
            (card(&recent(|last| last.train_loss, |loss| format!("{loss:.4}")), "training loss", &match held_out {
                Some(best) => format!("best on held-out games {:.4}", best.loss),
                None => "no net measured yet".to_string(),
            }))
            (card(
                &recent(Stretch::positions_per_second, rate),
                "positions a second",
                &recent(Stretch::waiting_percent, |share| format!("{share:.0} % of the time waiting for data")),
            ))
            (card(
                &recent(|last| last.learning_rate, |rate| format!("{rate:.1e}")),
                "learning rate",
                &recent(|last| last.step as f64, |step| format!("step {}", thousands(step as u64))),
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::course::tests::course;
    use crate::report::metrics::tests::epoch;

    /// Returns the page of a run in the second of three epochs.
    fn drawn(state: State, steps: u64, epochs: &[Epoch]) -> String {
        let page = LiveContents {
            name: "<n>.safetensors",
            description: "training",
            state,
            epoch: (2, 3),
            positions: (100 * steps, 300_000),
            elapsed: Duration::from_secs(61),
            left: Some(Duration::from_secs(3600)),
            course: &course(steps),
            clip_norm: 2.0,
            epochs,
        };
        let html = html(&page, SystemTime::UNIX_EPOCH + Duration::from_millis(1234));
        assert!(!html.contains("NaN") && !html.contains("inf"), "{html}");
        assert!(html.contains("&lt;n&gt;.safetensors") && html.contains("00:01:01 so far"));
        html
    }

    #[test]
    fn page_of_a_live_run_reloads() {
        let before = drawn(State::Training, 0, &[]);
        assert!(before.contains("http-equiv=\"refresh\"") && !before.contains("<svg"));
        let epochs = [epoch(1, 100_000, 0.3, Some(0.25))];
        let training = drawn(State::Training, 1500, &epochs);
        for part in [
            "http-equiv=\"refresh\" content=\"3\"",
            "data-written=\"1234\"",
            "<script>",
            "width: 50.0%",
            "epoch 2 of 3",
            "01:00:00",
            "best on held-out games 0.2500",
            "25 % of the time waiting",
            "Loss by step",
            "Loss by epoch",
        ] {
            assert!(training.contains(part), "{part:?} is not in {training}");
        }
        let measuring = drawn(State::Measuring, 3000, &epochs);
        assert!(measuring.contains("refresh") && measuring.contains("the report follows"));
        assert!(!measuring.contains("<script>") && !measuring.contains("01:00:00"));
    }

    #[test]
    fn page_of_an_ended_run_says_why_and_stays() {
        let state = State::Ended {
            why: "the loss broke <here>",
        };
        let page = drawn(state, 5, &[]);
        assert!(page.contains("has ended") && page.contains("broke &lt;here&gt;"));
        assert!(!page.contains("refresh") && !page.contains("<script>"));
        assert!(page.contains("Loss by step"));
    }
}
