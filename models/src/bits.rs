//! Iteration over bit sets.

/// Returns the union of sets.
#[inline(always)]
pub(crate) fn union<'a>(sets: impl IntoIterator<Item = &'a u64>) -> u64 {
    sets.into_iter().fold(0, |all, set| all | set)
}

/// Returns the indices of the ones, the lowest first.
#[inline(always)]
pub(crate) fn ones(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let place = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        Some(place)
    })
}
