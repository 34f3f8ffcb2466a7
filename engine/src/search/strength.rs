//! Strength of a search: full, handicapped, or that of a person.

use cozy_chess::Board;

use crate::search::levels::Handicap;
use crate::search::limits::Limits;
use crate::search::people::Person;
use crate::search::report::Line;

/// Strength of a search.
#[derive(Clone, Copy)]
pub enum Strength<'a> {
    /// The best line, within the given limits.
    Full,
    /// A line near the best, within lower limits.
    Handicap(Handicap),
    /// A line that people of a rating play.
    Person(Person<'a>),
}

impl<'a> Strength<'a> {
    /// Returns the strength of a person, else that of a handicap, else the full one.
    pub fn new(person: Option<Person<'a>>, handicap: Option<Handicap>) -> Strength<'a> {
        match (person, handicap) {
            (Some(person), _) => Strength::Person(person),
            (None, Some(handicap)) => Strength::Handicap(handicap),
            (None, None) => Strength::Full,
        }
    }

    /// Tightens the limits of a search.
    pub fn apply(&self, limits: &mut Limits) {
        match self {
            Strength::Full => {}
            Strength::Handicap(handicap) => handicap.apply(limits),
            Strength::Person(person) => person.apply(limits),
        }
    }

    /// Returns the line to play. `lines` is sorted best first; `draw` is a random number from 0 to
    /// 1. `None` without lines.
    pub fn choose<'b>(&self, board: &Board, lines: &'b [Line], draw: f64) -> Option<&'b Line> {
        match self {
            Strength::Full => lines.first(),
            Strength::Handicap(handicap) => handicap.choose(lines, draw),
            Strength::Person(person) => person.choose(board, lines, draw),
        }
    }
}
