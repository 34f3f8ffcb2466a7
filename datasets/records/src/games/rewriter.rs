//! Copy-on-write replacement of parts of a text.

use std::borrow::Cow;

/// Copies a text with some parts replaced, in ascending order.
pub(crate) struct Rewriter<'a> {
    text: &'a [u8],
    /// Rewritten form of the text before `copied`.
    new: Vec<u8>,
    copied: usize,
}

/// State of a [`Rewriter`]: bytes written, and bytes of the text they replace.
pub(crate) struct Savepoint {
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

    /// Returns the text without replacements.
    pub(crate) fn original(&self) -> &'a [u8] {
        self.text
    }

    /// Returns whether no replacement was made.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.copied == 0 && self.new.is_empty()
    }

    /// Returns the state, for [`Rewriter::rewind`].
    pub(crate) fn savepoint(&self) -> Savepoint {
        Savepoint {
            new: self.new.len(),
            copied: self.copied,
        }
    }

    /// Undoes the replacements made since a savepoint.
    pub(crate) fn rewind(&mut self, to: Savepoint) {
        self.new.truncate(to.new);
        self.copied = to.copied;
    }

    /// Replaces `length` bytes at `at`, which must lie after all earlier replacements.
    pub(crate) fn replace(&mut self, at: usize, length: usize, by: &[u8]) {
        self.new.extend_from_slice(&self.text[self.copied..at]);
        self.new.extend_from_slice(by);
        self.copied = at + length;
    }

    /// Returns the rewritten text up to `end`, an offset in the original.
    pub(crate) fn end(mut self, end: usize) -> Cow<'a, [u8]> {
        if self.is_unchanged() {
            return Cow::Borrowed(&self.text[..end]);
        }
        self.new.extend_from_slice(&self.text[self.copied..end]);
        Cow::Owned(self.new)
    }
}
