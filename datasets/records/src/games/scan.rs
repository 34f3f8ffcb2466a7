//! Telling annotated games from the others without reading them: one pass
//! over the text, at a speed near that of memory.

use crate::games::boundary::{begins_game, tags_start};

/// What a pass over PGN text stops at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A game whose tags begin at `start`, with its Event tag at `event`.
    Game { start: usize, event: usize },
    /// An `[%eval` begins here.
    Eval(usize),
}

const EVAL: &[u8] = b"[%eval";

/// Bytes that are looked at together.
const BLOCK: usize = 128;

/// The first mark from `from` on. A game that the text begins with has none.
pub(crate) fn next_mark(text: &[u8], from: usize) -> Option<Mark> {
    let mut at = from;
    while at < text.len() {
        at += skip_blocks(&text[at..]);
        let end = (at + BLOCK).min(text.len());
        for i in at..end {
            match text[i] {
                b'[' if text[i..].starts_with(EVAL) => return Some(Mark::Eval(i)),
                b'[' if begins_game(text, i) => {
                    let start = tags_start(text, i);
                    if start > 0 {
                        return Some(Mark::Game { start, event: i });
                    }
                }
                _ => {}
            }
        }
        at = end;
    }
    None
}

/// The length of the leading blocks in which no mark begins, as far as its
/// letters `%e` or `Ev` tell.
fn skip_blocks(text: &[u8]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, as was just asked.
        return unsafe { skip_blocks_avx2(text) };
    }
    skip_blocks_portable(text)
}

/// The same code, compiled for wider registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn skip_blocks_avx2(text: &[u8]) -> usize {
    skip_blocks_portable(text)
}

#[inline(always)]
fn skip_blocks_portable(text: &[u8]) -> usize {
    let mut skipped = 0;
    while let Some(block) = text[skipped..].first_chunk::<{ BLOCK + 2 }>() {
        let mut found = 0;
        for i in 0..BLOCK {
            let eval = u8::from(block[i + 1] == b'%') & u8::from(block[i + 2] == b'e');
            let event = u8::from(block[i + 1] == b'E') & u8::from(block[i + 2] == b'v');
            found |= eval | event;
        }
        if found != 0 {
            break;
        }
        skipped += BLOCK;
    }
    skipped
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The marks of a text, found one byte at a time.
    fn marks(text: &[u8]) -> Vec<Mark> {
        let mut marks = Vec::new();
        for i in 0..text.len() {
            if text[i..].starts_with(EVAL) {
                marks.push(Mark::Eval(i));
            }
            let start = tags_start(text, i);
            if begins_game(text, i) && start > 0 {
                marks.push(Mark::Game { start, event: i });
            }
        }
        marks
    }

    #[test]
    fn marks_are_found_wherever_they_stand() {
        for gap in 0..3 * BLOCK {
            let mut text = b"[Event \"a\"]\n".to_vec();
            text.extend(std::iter::repeat_n(b'x', gap));
            text.extend_from_slice(
                b"[%clk %e \n[ECO \"E\"]\n\n[Event \"b\"]\n\n{[%eval 1]}\n[Event \"",
            );
            let mut found = Vec::new();
            let mut from = 0;
            while let Some(mark) = next_mark(&text, from) {
                found.push(mark);
                from = match mark {
                    Mark::Game { event, .. } => event + 1,
                    Mark::Eval(at) => at + EVAL.len(),
                };
            }
            assert_eq!(found, marks(&text), "{gap}");
            assert_eq!(found.len(), 3);
        }
    }

    #[test]
    fn both_ways_to_skip_are_one() {
        let mut text = vec![b'\n'; 1000];
        for at in (0..1000).rev() {
            text[at] = b"%e[E x"[at % 6];
            assert_eq!(skip_blocks(&text), skip_blocks_portable(&text));
        }
    }
}
