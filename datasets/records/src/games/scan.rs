//! Scan for game starts and `[%eval` tags: one pass, near memory speed, so that unannotated games
//! need not be parsed.

use crate::games::boundary::{begins_game, tags_start};

/// A position at which the scan stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A game: the start of its tags, and its Event tag.
    Game { start: usize, event: usize },
    /// Position of an `[%eval`.
    Eval(usize),
}

const EVAL: &[u8] = b"[%eval";

/// Bytes that are tested together.
const BLOCK: usize = 128;

/// Returns the first mark from `from` on. A game at the very beginning of the text gives none.
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

/// Returns the length of the leading blocks without `%e` or `Ev`, in which no mark can begin.
fn skip_blocks(text: &[u8]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was just detected.
        return unsafe { skip_blocks_avx2(text) };
    }
    skip_blocks_portable(text)
}

/// `skip_blocks_portable`, compiled for AVX2.
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

    /// Returns the marks of a text, testing every byte.
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
    fn marks_are_found_at_every_offset() {
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
    fn avx2_and_portable_skips_agree() {
        let mut text = vec![b'\n'; 1000];
        for at in (0..1000).rev() {
            text[at] = b"%e[E x"[at % 6];
            assert_eq!(skip_blocks(&text), skip_blocks_portable(&text));
        }
    }
}
