//! Skip reasons as text.

use datasets::{Kind, SkipReason};
use host::thousands;

/// Returns the count, the text and an example of a skip reason.
pub fn left_out(kind: Kind, reason: SkipReason, count: u64, example: Option<&String>) -> String {
    let text = format!("{} {}", thousands(count), reason_text(kind, reason));
    match example {
        Some(example) => format!("{text}, such as {example}"),
        None => text,
    }
}

/// Returns a skip reason, in a dataset of a kind, as words that follow a count.
pub fn reason_text(kind: Kind, reason: SkipReason) -> String {
    let text = text_for_evaluations(reason);
    match kind {
        Kind::Evaluations => text.to_string(),
        // Games count whether annotated or not, and moves instead of evaluations.
        Kind::Moves => text
            .replace("annotated ", "")
            .replace("evaluations", "moves"),
    }
}

fn text_for_evaluations(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::Unannotated => "games without an evaluation",
        SkipReason::Variant => "annotated games, or positions, of another variant",
        SkipReason::BadFen => "annotated games whose FEN is no legal position",
        SkipReason::BadTags => "annotated games whose tags cannot be trusted",
        SkipReason::IllegalMove => "games cut at an illegal move",
        SkipReason::UnreadableMove => "games cut at a word that is no move",
        SkipReason::NullMove => "games cut at a null move",
        SkipReason::MalformedGame => "games cut where their text breaks off",
        SkipReason::OversizedGame => "stretches of 16 MiB without a game",
        SkipReason::MalformedEval => "evaluations that cannot be read",
        SkipReason::EvalBeforeFirstMove => "evaluations before the first move",
        SkipReason::FinishedPosition => "evaluations of a mate or stalemate",
        SkipReason::SecondEval => "second evaluations of one move",
        SkipReason::MalformedLine => "lines that cannot be read",
        SkipReason::IllegalPosition => "lines whose position is not legal",
        SkipReason::Bot => "annotated games with a bot",
        SkipReason::Termination => "annotated games that ended in a filtered way",
        SkipReason::OtherSpeed => "annotated games of another speed",
        SkipReason::OtherMonth => "annotated games of another month",
        SkipReason::BadMonth => "annotated games of a month of wrong evaluations",
        SkipReason::Unrated => "annotated games of unrated players",
        SkipReason::RatingOutOfRange => "annotated games of other ratings",
        SkipReason::EarlyPly => "evaluations before the lowest ply",
        SkipReason::LowDepth => "evaluations of too low a depth",
        SkipReason::Mate => "evaluations that are mates",
        SkipReason::EvalOutOfRange => "evaluations out of range",
        SkipReason::NotQuiet => "evaluations of positions that are not quiet",
        SkipReason::Thinned => "evaluations between every N-th of a game",
        SkipReason::NoMoves => "games without a move",
        SkipReason::MalformedVisits => "visits that cannot be read",
    }
}
