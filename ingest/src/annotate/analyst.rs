//! An engine that keeps going: it evaluates games, and is restarted when it
//! crashes, hangs or answers nonsense.

use std::collections::VecDeque;
use std::num::NonZero;
use std::time::{Duration, Instant};

use datasets::{Label, SkipReason, Transcript};
use host::StopSignal;
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position};
use uci_client::{Answer, Engine, EngineError, Score, Setup};

use crate::annotate::counts::AnnotationCounts;
use crate::annotate::error::Error;
use crate::annotate::notation::{Eval, write_game};

/// Searches of one position, before it is left without an evaluation.
const ATTEMPTS: u32 = 2;

/// After so many positions in a row without an evaluation something is wrong
/// that another start will not mend.
const MAX_UNANSWERED: u32 = 100;

/// What is done with each game.
pub struct Task {
    /// How the engine is started.
    pub setup: Setup,
    /// The UCI command that starts a search.
    pub go: String,
    /// How long a search may take.
    pub timeout: Duration,
    /// Of so many positions of a game one is evaluated.
    pub every: usize,
    /// Positions that an engine is sent before it has answered. If more than one,
    /// each is sent without the moves before it: Stockfish counts those among the
    /// nodes of the search that it is at.
    pub ahead: NonZero<usize>,
    /// Whether games that have evaluations get new ones.
    pub replace: bool,
    /// Whether to stop: for a signal, or an error elsewhere.
    pub stop: StopSignal,
}

/// A position whose search was asked for.
struct Question {
    /// Its place in the game.
    ply: usize,
    position: Chess,
    /// The UCI command that sets it up.
    command: String,
}

/// One engine and what it has been through.
pub struct Analyst<'a> {
    task: &'a Task,
    engine: Option<Engine>,
    /// Positions in a row without an evaluation.
    unanswered: u32,
    /// Time spent in searches, answered or not.
    pub searching: Duration,
}

impl<'a> Analyst<'a> {
    /// An analyst whose engine starts with the first search.
    pub fn new(task: &'a Task) -> Analyst<'a> {
        Analyst {
            task,
            engine: None,
            unanswered: 0,
            searching: Duration::ZERO,
        }
    }

    /// Annotates the game of a piece of text, and appends it to `out`.
    ///
    /// # Errors
    /// If the engine cannot be started, or fails on every position.
    pub fn annotate(
        &mut self,
        text: &[u8],
        out: &mut Vec<u8>,
        tally: &mut AnnotationCounts,
    ) -> Result<(), Error> {
        let game = match Transcript::read(text) {
            Ok(Some(game)) => game,
            Ok(None) => return Ok(()),
            Err(reason) => {
                tally.skip(reason);
                return Ok(());
            }
        };
        let keep = !self.task.replace && game.plies.iter().any(|ply| ply.eval.is_some());
        let evals = if keep {
            tally.kept += 1;
            game.plies.iter().map(|ply| ply.eval).collect()
        } else if game.castling_mode.is_chess960() && !self.plays_chess960()? {
            tally.skip(SkipReason::Variant);
            return Ok(());
        } else {
            self.evaluate(&game, tally)?
        };
        if let Some(reason) = game.cut {
            tally.skip(reason);
        }
        tally.games += 1;
        write_game(out, &game, &evals);
        Ok(())
    }

    fn plays_chess960(&mut self) -> Result<bool, Error> {
        let engine = match self.engine.take() {
            Some(engine) => engine,
            None => self.start()?,
        };
        Ok(self.engine.insert(engine).plays_chess960())
    }

    /// Another process. What engines say of themselves was shown when the first was
    /// started.
    fn start(&self) -> Result<Engine, Error> {
        let engine = Engine::start(&self.task.setup, self.task.stop.flag(), &mut |_| {});
        Ok(engine?)
    }

    /// Searches the position after each move that does not end the game, or
    /// every so many of them. These are counted from the last: as games differ
    /// in length, all plies have their share.
    fn evaluate(
        &mut self,
        game: &Transcript,
        tally: &mut AnnotationCounts,
    ) -> Result<Vec<Option<Eval>>, Error> {
        // What the engine knows from other games would make the evaluations
        // depend on which games it happened to have had.
        if let Some(engine) = &mut self.engine {
            engine.new_game(game.castling_mode.is_chess960());
        }
        let mut position = game.start.clone();
        let mut moves = format!("position {}", setup(&position));
        let mut evals = vec![None; game.plies.len()];
        let mut asked = VecDeque::new();
        let started = Instant::now();
        for (ply, played) in game.plies.iter().enumerate() {
            position.play_unchecked(played.m);
            moves += if ply == 0 { " moves " } else { " " };
            moves += &played.m.to_uci(game.castling_mode).to_string();
            if self.task.stop.is_asked() {
                break;
            }
            let left = game.plies.len() - ply - 1;
            let passed_over = !left.is_multiple_of(self.task.every);
            if passed_over || position.legal_moves().is_empty() {
                continue;
            }
            if asked.len() == self.task.ahead.get() {
                self.receive(&mut asked, game.castling_mode, &mut evals, tally)?;
            }
            let command = match self.task.ahead.get() {
                1 => moves.clone(),
                _ => format!("position {}", setup(&position)),
            };
            let go = &self.task.go;
            self.engine(&asked, game.castling_mode)?.ask(&command, go);
            asked.push_back(Question {
                ply,
                position: position.clone(),
                command,
            });
        }
        while !asked.is_empty() {
            self.receive(&mut asked, game.castling_mode, &mut evals, tally)?;
        }
        self.searching += started.elapsed();
        Ok(evals)
    }

    /// The engine. One that must be started first is told of the game, and asked
    /// what another was asked and has not answered.
    fn engine(
        &mut self,
        asked: &VecDeque<Question>,
        mode: CastlingMode,
    ) -> Result<&mut Engine, Error> {
        let engine = match self.engine.take() {
            Some(engine) => engine,
            None => {
                let mut engine = self.start()?;
                engine.new_game(mode.is_chess960());
                for question in asked {
                    engine.ask(&question.command, &self.task.go);
                }
                engine
            }
        };
        Ok(self.engine.insert(engine))
    }

    /// Waits for the answer to the first question, and takes it off.
    fn receive(
        &mut self,
        asked: &mut VecDeque<Question>,
        mode: CastlingMode,
        evals: &mut [Option<Eval>],
        tally: &mut AnnotationCounts,
    ) -> Result<(), Error> {
        let task = self.task;
        for _ in 0..ATTEMPTS {
            let answer = self
                .engine(asked, mode)?
                .answer(task.timeout, task.stop.flag());
            let question = &asked[0];
            match answer.map(|answer| eval(&answer, &question.position)) {
                Ok(Some((label, depth))) => {
                    evals[question.ply] = Some((label, depth));
                    asked.pop_front();
                    self.unanswered = 0;
                    tally.positions += 1;
                    tally.mates += u64::from(label.mate().is_some());
                    return Ok(());
                }
                Err(EngineError::Cancelled) => {
                    self.engine = None;
                    asked.clear();
                    return Ok(());
                }
                Ok(None) => {
                    self.engine = None;
                    tally.bad_answers += 1;
                }
                Err(failure) => {
                    self.engine = None;
                    tally.fail(failure);
                }
            }
        }
        asked.pop_front();
        tally.unanswered += 1;
        self.unanswered += 1;
        if self.unanswered == MAX_UNANSWERED {
            return Err(Error::EngineBroken {
                command: self.task.setup.program.clone(),
                positions: self.unanswered,
            });
        }
        Ok(())
    }
}

/// The part of a `position` command that sets up a position.
fn setup(position: &Chess) -> String {
    if *position == Chess::new() {
        return "startpos".to_string();
    }
    format!("fen {}", Fen::from_position(position, EnPassantMode::Legal))
}

/// The evaluation in an answer, from White's point of view. `None` if the
/// answer cannot be one to this position: it has no score, its best move is
/// illegal here, or it is a mate in 0 moves.
fn eval(answer: &Answer, position: &Chess) -> Option<Eval> {
    let best: UciMove = answer.best.parse().ok()?;
    best.to_move(position).ok()?;
    let sign = position.turn().fold_wb(1, -1);
    let scored = answer.info.score?;
    let depth = u8::try_from(scored.depth.unwrap_or(0)).unwrap_or(u8::MAX);
    let label = match scored.score {
        Score::Centipawns(centipawns) => Label::from_centipawns(sign * i64::from(centipawns)),
        Score::Mate(moves) => Label::from_mate(sign * i64::from(moves))?,
    };
    Some((label, depth))
}

#[cfg(test)]
mod tests {
    use uci_client::{Info, Scored};

    use super::*;

    fn label(fen: &str, score: Score, best: &str) -> Option<String> {
        let fen: Fen = fen.parse().unwrap();
        let position: Chess = fen.into_position(CastlingMode::Chess960).unwrap();
        let scored = Scored {
            score,
            depth: Some(7),
            bound: false,
        };
        let info = Info {
            score: Some(scored),
            ..Info::default()
        };
        let answer = Answer {
            best: best.to_string(),
            time: Duration::ZERO,
            info,
        };
        eval(&answer, &position).map(|(label, depth)| format!("{label} {depth}"))
    }

    #[test]
    fn scores_are_turned_to_white_and_illegal_moves_refused() {
        let white = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1";
        let black = "4k3/8/8/8/8/8/8/R3K2R b KQ - 0 1";
        let cp = Score::Centipawns(25);
        let some = |text: &str| Some(text.to_string());
        assert_eq!(label(white, cp, "e1e2"), some("25 7"));
        assert_eq!(label(black, cp, "e8e7"), some("-25 7"));
        assert_eq!(label(black, Score::Mate(-4), "e8e7"), some("#4 7"));
        assert_eq!(label(white, Score::Mate(-4), "e1h1"), some("#-4 7"));
        assert_eq!(label(white, Score::Mate(0), "e1e2"), None);
        for best in ["e8e7", "(none)", "", "e1e3"] {
            assert_eq!(label(white, cp, best), None, "{best}");
        }
        let lowest = Score::Centipawns(i32::MIN);
        assert_eq!(label(black, lowest, "e8e7"), some("30000 7"));
    }
}
