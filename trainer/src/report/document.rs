//! Frame, style and small parts of all HTML pages.

use charts::Panel;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Style of the pages, in addition to the pictures' ([`charts::style`]).
const STYLE: &str = "\
:root { color-scheme: light dark; --ground: #f3f5f7; --paper: #ffffff; --ink: #1f2933; --faint: #52606d; --rule: #e1e5ea; --net: #0072b2; --warning: #d55e00 }
@media (prefers-color-scheme: dark) { :root { --ground: #0f1317; --paper: #171c22; --ink: #e4e7eb; --faint: #a3aebb; --rule: #2c3540; --net: #4cb0ea; --warning: #f59342 } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 1120px; padding: 20px 16px 48px; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, 'Segoe UI', Helvetica, Arial, sans-serif }
h1 { font-size: 1.6rem; margin: 8px 0 0; overflow-wrap: anywhere } h2 { font-size: 1.15rem; margin: 36px 0 4px }
p { margin: 4px 0 12px; color: var(--faint); max-width: 46rem }
section > p { font-size: .95rem }
.grid { display: grid; gap: 16px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 420px), 1fr)) }
.boards { grid-template-columns: repeat(auto-fill, minmax(200px, 1fr)) }
.figures { display: grid; gap: 12px; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); margin: 20px 0 }
.card { background: var(--paper); border: 1px solid var(--rule); border-radius: 10px; padding: 16px; min-width: 0 }
.card svg { display: block; width: 100%; height: auto }
.figures b { display: block; font-size: 1.5rem; line-height: 1.3; font-variant-numeric: tabular-nums } .figures span { display: block; font-size: .85rem; color: var(--faint) }
.wide { overflow-x: auto } table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums }
th, td { text-align: left; padding: 5px 14px 5px 0; border-top: 1px solid var(--rule); vertical-align: top; overflow-wrap: anywhere }
tr:first-child > * { border-top: 0 } th { font-weight: 500; color: var(--faint); overflow-wrap: normal } td.number, th.number { text-align: right; white-space: nowrap }
code { font-size: .85em; overflow-wrap: anywhere }
.bar { height: 10px; border-radius: 5px; background: var(--rule); overflow: hidden } .bar div { height: 100%; background: var(--net) }
.notice { background: var(--paper); border: 1px solid var(--rule); border-left: 5px solid var(--warning); border-radius: 10px; padding: 10px 16px; color: var(--ink); max-width: none }
footer { margin-top: 36px; font-size: .85rem; color: var(--faint) }
";

/// Returns a self-contained page; `head` is added to its head element.
pub fn document(title: &str, head: Markup, body: Markup) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                (head)
                style { (PreEscaped(STYLE)) (PreEscaped(charts::style())) }
            }
            body {
                (body)
                footer { "Written by " (concat!("kibitz trainer ", env!("CARGO_PKG_VERSION"))) "." }
            }
        }
    };
    markup.into_string()
}

/// Returns a chart on a card.
pub fn drawn(panel: Panel) -> Markup {
    html! { div.card { (PreEscaped(panel.inline())) } }
}

/// Returns a card with a large figure, its name, and a note.
pub fn card(figure: &str, name: &str, note: &str) -> Markup {
    html! { div.card { b { (figure) } (name) span { (note) } } }
}
