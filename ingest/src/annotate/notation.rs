//! Writer of games in the format of Lichess's dumps.

use datasets::{Label, Transcript, format_eval};
use shakmaty::Position;
use shakmaty::san::SanPlus;

/// White's score after a move, and the search depth in plies (0 if unknown).
pub type Eval = (Label, u8);

/// Appends a game: its tags unchanged, an empty line, its moves on one line with evaluations and
/// clocks, an empty line.
pub fn write_game(text: &mut Vec<u8>, game: &Transcript, evals: &[Option<Eval>]) {
    for (name, value) in &game.tags {
        for part in [b"[", &name[..], b" \"", value, b"\"]\n"] {
            text.extend_from_slice(part);
        }
    }
    text.push(b'\n');
    let mut position = game.start.clone();
    // Black's move is numbered at the start and after a comment.
    let mut number = true;
    for (ply, eval) in game.plies.iter().zip(evals) {
        let fullmove = position.fullmoves();
        if position.turn().is_white() {
            text.extend_from_slice(format!("{fullmove}. ").as_bytes());
        } else if number {
            text.extend_from_slice(format!("{fullmove}... ").as_bytes());
        }
        let san = SanPlus::from_move_and_play_unchecked(&mut position, ply.m);
        text.extend_from_slice(format!("{san} ").as_bytes());
        let eval = eval.map(|(label, depth)| format_eval(label, depth));
        let clock = ply.clock.as_ref().map(|clock| format!("[%clk {clock}]"));
        let comment: Vec<String> = eval.into_iter().chain(clock).collect();
        number = !comment.is_empty();
        if number {
            text.extend_from_slice(format!("{{ {} }} ", comment.join(" ")).as_bytes());
        }
    }
    text.extend_from_slice(game.result.as_bytes());
    text.extend_from_slice(b"\n\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lichess's text survives a round trip, apart from depths and glyphs.
    #[test]
    fn rewrites_lichess_games_unchanged() {
        for text in [
            "[Event \"Rated \\\"x\\\" game\"]\n[Site \"https://lichess.org/aKLLQ3nB\"]\n[Result \"1-0\"]\n\n\
             1. c4 { [%eval 0.11] [%clk 0:03:00] } 1... c5 { [%eval 0.2] [%clk 0:03:00] } \
             2. Nc3 { [%clk 0:02:58] } 2... Nf6 3. d3 { [%eval #-4] } 3... d6 1-0\n\n",
            "[FEN \"4k3/P7/8/8/8/8/8/4K2R b K - 0 31\"]\n\n31... Kd7 32. a8=Q Kd6 33. O-O *\n\n",
            "[White \"\"]\n\n1/2-1/2\n\n",
            "\n1. f3 e5 2. g4 Qh4# 0-1\n\n",
        ] {
            let game = Transcript::read(text.as_bytes()).unwrap().unwrap();
            let evals: Vec<Option<Eval>> = game.plies.iter().map(|ply| ply.eval).collect();
            let mut written = Vec::new();
            write_game(&mut written, &game, &evals);
            assert_eq!(String::from_utf8(written).unwrap(), text);
        }
    }
}
