//! The page of a run that has not ended: it loads itself anew as long as there is
//! more to come.

use std::time::{Duration, SystemTime};

use charts::thousands;
use host::FormattedDuration;
use maud::{Markup, PreEscaped, html};

use crate::report::course::{self, Course, Stretch};
use crate::report::curves::{self, Point};
use crate::report::document::{card, document, drawn};

/// Seconds after which a page is loaded anew.
pub const REFRESH_SECONDS: u64 = 3;

/// What the run is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State<'a> {
    /// It takes steps, or judges the net of an epoch.
    Training,
    /// All epochs are done, and the report is made.
    Measuring,
    /// It has ended before its time.
    Ended {
        /// Why, and what to do.
        why: &'a str,
    },
}

/// What the page shows.
pub struct LivePage<'a> {
    /// The net's file.
    pub name: &'a str,
    /// What is trained on what.
    pub description: &'a str,
    /// What the run is doing.
    pub state: State<'a>,
    /// The epoch, from 1, and how many there are.
    pub epoch: (u64, u64),
    /// Positions trained on, and how many there are, all epochs together.
    pub positions: (u64, u64),
    /// Time of the run so far, interruptions left out.
    pub elapsed: Duration,
    /// How long the rest takes, if that is known.
    pub left: Option<Duration>,
    /// What was measured from step to step.
    pub course: &'a Course,
    /// The length that gradients are shortened to.
    pub clip_norm: f64,
    /// The epochs that have ended.
    pub points: &'a [Point],
    /// The loss of material on the held-out games.
    pub material: Option<f64>,
    /// The epoch whose net was kept; 0 if none has ended.
    pub best: u64,
}

/// Tells a reader that the page is old: a program that was killed cannot.
const WATCH: &str = "\
const late = document.getElementById('late');
late.hidden = Date.now() - late.dataset.written < 120000;
";

/// Writes the page as it stands at `now`.
pub fn html(page: &LivePage, now: SystemTime) -> String {
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
                (drawn(course::loss_panel(stretches, page.points, page.material)))
                @if !page.points.is_empty() {
                    (drawn(curves::panel(page.points, page.material, page.best)))
                }
                @for panel in course::panels(stretches, Some(page.clip_norm)) { (drawn(panel)) }
            }
        }
        @if page.state == State::Training { script { (PreEscaped(WATCH)) } }
    };
    document(page.name, head, body)
}

/// What the run is doing, in words.
fn state(page: &LivePage, now: SystemTime) -> Markup {
    match page.state {
        State::Training => {
            let written = now
                .duration_since(SystemTime::UNIX_EPOCH)
                .unwrap_or_default();
            html! {
                p #late .notice hidden data-written=(written.as_millis()) {
                    "Nothing new for two minutes. Either the net of an epoch is being judged, or the "
                    "program has ended: then the same command with --resume goes on."
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

fn figures(page: &LivePage) -> Markup {
    let (done, all) = page.positions;
    let percent = 100.0 * done as f64 / all.max(1) as f64;
    let time = |time: Duration| FormattedDuration(Duration::from_secs(time.as_secs())).to_string();
    let (epoch, epochs) = page.epoch;
    let left = match page.state {
        State::Training => page.left.map_or("–".to_string(), time),
        State::Measuring | State::Ended { .. } => "–".to_string(),
    };
    let last = course::thinned(page.course.stretches()).pop();
    // The last point of the curves.
    let recent = |value: fn(&Stretch) -> f64, show: fn(f64) -> String| {
        let value = last.as_ref().map(value).filter(|value| value.is_finite());
        value.map_or("–".to_string(), show)
    };
    let held_out = page.points.iter().find(|point| point.epoch == page.best);
    let held_out = held_out.and_then(|best| best.validation);
    html! {
        div.bar { div style=(format!("width: {percent:.1}%")) {} }
        div.figures {
            (card(&format!("{percent:.1} %"), "done", &format!("epoch {} of {epochs}", epoch.min(epochs))))
            (card(&left, "left", &format!("{} so far", time(page.elapsed))))
            (card(&recent(|last| last.train_loss, |loss| format!("{loss:.4}")), "training loss", &match held_out {
                Some(loss) => format!("best on held-out games {loss:.4}"),
                None => "no net is judged yet".to_string(),
            }))
            (card(
                &recent(Stretch::positions_per_second, |rate| thousands(rate as u64)),
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

    /// A page of a run of three epochs in its second.
    fn drawn(state: State, steps: u64, points: &[Point]) -> String {
        let page = LivePage {
            name: "<n>.safetensors",
            description: "training",
            state,
            epoch: (2, 3),
            positions: (100 * steps, 300_000),
            elapsed: Duration::from_secs(61),
            left: Some(Duration::from_secs(3600)),
            course: &course(steps),
            clip_norm: 2.0,
            points,
            material: points.first().map(|_| 0.4),
            best: points.len() as u64,
        };
        let html = html(&page, SystemTime::UNIX_EPOCH + Duration::from_millis(1234));
        assert!(!html.contains("NaN") && !html.contains("inf"), "{html}");
        assert!(html.contains("&lt;n&gt;.safetensors") && html.contains("00:01:01 so far"));
        html
    }

    #[test]
    fn a_run_that_goes_on_loads_its_page_anew() {
        let before = drawn(State::Training, 0, &[]);
        assert!(before.contains("http-equiv=\"refresh\"") && !before.contains("<svg"));
        let point = Point {
            epoch: 1,
            positions: 100_000,
            train: 0.3,
            validation: Some(0.25),
        };
        let training = drawn(State::Training, 1500, &[point]);
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
        let measuring = drawn(State::Measuring, 3000, &[point]);
        assert!(measuring.contains("refresh") && measuring.contains("the report follows"));
        assert!(!measuring.contains("<script>") && !measuring.contains("01:00:00"));
    }

    #[test]
    fn a_run_that_has_ended_says_why_and_stands_still() {
        let state = State::Ended {
            why: "the loss broke <here>",
        };
        let page = drawn(state, 5, &[]);
        assert!(page.contains("has ended") && page.contains("broke &lt;here&gt;"));
        assert!(!page.contains("refresh") && !page.contains("<script>"));
        assert!(page.contains("Loss by step"));
    }
}
