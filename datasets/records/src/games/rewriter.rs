//! A text with some stretches of it replaced.

use std::borrow::Cow;

/// Copies a text with some stretches of it replaced, in their order.
pub(crate) struct Rewriter<'a> {
    text: &'a [u8],
    /// The rewritten text before `copied`.
    new: Vec<u8>,
    copied: usize,
}

/// State of a [`Rewriter`]: bytes of the copy, and of the text that they stand for.
pub(crate) struct Mark {
    new: usize,
    copied: usize,
}

impl<'a> Rewriter<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Rewriter<'a> {
        Rewriter {
            text,
            new: Vec::new(),
            copied: 0,
        }
    }

    /// The text without replacements.
    pub(crate) fn original(&self) -> &'a [u8] {
        self.text
    }

    /// Returns whether nothing was replaced.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.copied == 0 && self.new.is_empty()
    }

    /// State of the copy, to [`Rewriter::rewind`] to.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            new: self.new.len(),
            copied: self.copied,
        }
    }

    /// Takes back what was replaced since a mark.
    pub(crate) fn rewind(&mut self, mark: Mark) {
        self.new.truncate(mark.new);
        self.copied = mark.copied;
    }

    /// Replaces `length` bytes at `at`, which lie behind all replaced before.
    pub(crate) fn replace(&mut self, at: usize, length: usize, by: &[u8]) {
        self.new.extend_from_slice(&self.text[self.copied..at]);
        self.new.extend_from_slice(by);
        self.copied = at + length;
    }

    /// The text up to `end`.
    pub(crate) fn end(mut self, end: usize) -> Cow<'a, [u8]> {
        if self.is_unchanged() {
            return Cow::Borrowed(&self.text[..end]);
        }
        self.new.extend_from_slice(&self.text[self.copied..end]);
        Cow::Owned(self.new)
    }
}
