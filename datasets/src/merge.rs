//! Merging sorted runs of records into one sorted run without duplicates.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::iter::Peekable;

use rayon::slice::ParallelSliceMut;

use crate::{Error, Keyed};

/// A sorted stream of records.
pub(crate) type Run<'a> = Box<dyn Iterator<Item = Result<Keyed, Error>> + 'a>;

/// The head of a run in the heap, smallest position first.
struct Head {
    keyed: Keyed,
    run: usize,
}

impl PartialEq for Head {
    fn eq(&self, other: &Head) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Head {}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Head) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Head {
    fn cmp(&self, other: &Head) -> Ordering {
        self.keyed
            .position_order(&other.keyed)
            .then(self.run.cmp(&other.run))
    }
}

/// Merges sorted runs; records of equal positions are joined.
pub(crate) struct Merged<'a> {
    runs: Vec<Run<'a>>,
    heads: BinaryHeap<Reverse<Head>>,
}

impl<'a> Merged<'a> {
    pub(crate) fn new(mut runs: Vec<Run<'a>>) -> Result<Merged<'a>, Error> {
        let mut heads = BinaryHeap::new();
        for (run, records) in runs.iter_mut().enumerate() {
            if let Some(keyed) = records.next() {
                heads.push(Reverse(Head { keyed: keyed?, run }));
            }
        }
        Ok(Merged { runs, heads })
    }

    /// Takes the smallest record and refills the heap from its run.
    fn pop(&mut self) -> Option<Result<Keyed, Error>> {
        let mut top = self.heads.peek_mut()?;
        let Reverse(Head { keyed, run }) = &mut *top;
        let smallest = *keyed;
        match self.runs[*run].next() {
            Some(Ok(next)) => *keyed = next,
            Some(Err(error)) => return Some(Err(error)),
            None => {
                std::collections::binary_heap::PeekMut::pop(top);
            }
        }
        Some(Ok(smallest))
    }
}

impl Iterator for Merged<'_> {
    type Item = Result<Keyed, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut joined = match self.pop()? {
            Ok(keyed) => keyed,
            Err(error) => return Some(Err(error)),
        };
        while let Some(Reverse(head)) = self.heads.peek() {
            if head.keyed.position_order(&joined) != Ordering::Equal {
                break;
            }
            match self.pop() {
                Some(Ok(keyed)) => joined = joined.join(keyed),
                Some(Err(error)) => return Some(Err(error)),
                None => break,
            }
        }
        Some(Ok(joined))
    }
}

/// Sorts records and joins those of equal positions, in place.
pub(crate) fn sort_and_join(records: &mut Vec<Keyed>) {
    records.par_sort_unstable_by(Keyed::position_order);
    records.dedup_by(|next, kept| {
        let equal = next.position_order(kept) == Ordering::Equal;
        if equal {
            *kept = kept.join(*next);
        }
        equal
    });
}

/// A position, and the sides of the split it was seen on.
pub(crate) enum Side {
    Train(Keyed),
    Validation(Keyed),
    /// Seen on both: the training record and the validation record.
    Both(Keyed, Keyed),
}

/// Walks both sides together, in key order.
pub(crate) struct Sides<'a> {
    train: Peekable<Merged<'a>>,
    validation: Peekable<Merged<'a>>,
}

impl<'a> Sides<'a> {
    pub(crate) fn new(train: Merged<'a>, validation: Merged<'a>) -> Sides<'a> {
        Sides {
            train: train.peekable(),
            validation: validation.peekable(),
        }
    }
}

impl Iterator for Sides<'_> {
    type Item = Result<Side, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let order = match (self.train.peek(), self.validation.peek()) {
            (Some(Ok(train)), Some(Ok(validation))) => train.position_order(validation),
            (Some(Err(_)), _) | (Some(_), None) => Ordering::Less,
            (_, Some(Err(_))) | (None, Some(_)) => Ordering::Greater,
            (None, None) => return None,
        };
        Some(match order {
            Ordering::Less => self.train.next()?.map(Side::Train),
            Ordering::Greater => self.validation.next()?.map(Side::Validation),
            Ordering::Equal => match (self.train.next()?, self.validation.next()?) {
                (Ok(train), Ok(validation)) => Ok(Side::Both(train, validation)),
                (Err(error), _) | (_, Err(error)) => Err(error),
            },
        })
    }
}
