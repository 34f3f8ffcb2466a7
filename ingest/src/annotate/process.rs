//! UCI engine process that is restarted when it crashes, hangs or sends invalid answers.

use std::collections::VecDeque;

use datasets::{SkipReason, Transcript};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, EnPassantMode};
use uci_client::{EngineError, EngineProcess};

use crate::annotate::counts::AnnotationCounts;
use crate::annotate::error::Error;
use crate::annotate::notation::Eval;
use crate::annotate::task::{Program, Task, eval};

/// Attempts at a position before it is left without an evaluation.
const ATTEMPTS: u32 = 2;

/// Unanswered positions in a row after which another restart is pointless.
const MAX_UNANSWERED: u32 = 100;

/// Position queued for search.
struct Question {
    /// Ply in the game.
    ply: usize,
    position: Chess,
    /// UCI `position` command.
    command: String,
}

/// Engine process of one worker.
pub struct Process<'a> {
    task: &'a Task,
    program: &'a Program,
    /// UCI command that starts a search.
    go: String,
    engine: Option<EngineProcess>,
    /// Positions in a row without an evaluation.
    unanswered: u32,
}

impl<'a> Process<'a> {
    /// Returns a process that starts with the first search.
    pub fn new(task: &'a Task, program: &'a Program) -> Process<'a> {
        Process {
            task,
            program,
            go: task.limit.to_string(),
            engine: None,
            unanswered: 0,
        }
    }

    fn plays_chess960(&mut self) -> Result<bool, Error> {
        let engine = match self.engine.take() {
            Some(engine) => engine,
            None => self.start()?,
        };
        Ok(self.engine.insert(engine).plays_chess960())
    }

    /// Starts the engine. Its notices are dropped: they were shown at the first start.
    fn start(&self) -> Result<EngineProcess, Error> {
        let engine = EngineProcess::start(&self.program.setup, self.task.stop.flag(), &mut |_| {});
        Ok(engine?)
    }

    /// Returns the evaluations of a game's positions; `None` for a Chess960 game that the engine
    /// does not support, which is counted.
    ///
    /// # Errors
    /// If the engine cannot be started, or fails on every position.
    pub fn evaluate(
        &mut self,
        game: &Transcript,
        tally: &mut AnnotationCounts,
    ) -> Result<Option<Vec<Option<Eval>>>, Error> {
        let mode = game.castling_mode;
        if mode.is_chess960() && !self.plays_chess960()? {
            tally.skip(SkipReason::Variant);
            return Ok(None);
        }
        // Reset the hash table: otherwise evaluations depend on the games searched before.
        if let Some(engine) = &mut self.engine {
            engine.new_game(mode.is_chess960());
        }
        let mut evals = vec![None; game.plies.len()];
        let mut asked = VecDeque::new();
        let (mut moves, mut appended) = (format!("position {} moves", setup(&game.start)), 0);
        for (ply, position) in self.task.positions(game) {
            if asked.len() == self.program.ahead.get() {
                self.receive(&mut asked, mode, &mut evals, tally)?;
            }
            let command = match self.program.ahead.get() {
                1 => {
                    for played in &game.plies[appended..=ply] {
                        moves += &format!(" {}", played.m.to_uci(mode));
                    }
                    appended = ply + 1;
                    moves.clone()
                }
                _ => format!("position {}", setup(&position)),
            };
            let go = self.go.clone();
            self.engine(&asked, mode)?.ask(&command, &go);
            asked.push_back(Question {
                ply,
                position,
                command,
            });
        }
        while !asked.is_empty() {
            self.receive(&mut asked, mode, &mut evals, tally)?;
        }
        Ok(Some(evals))
    }

    /// Returns the engine. A new process gets the game and all unanswered questions again.
    fn engine(
        &mut self,
        asked: &VecDeque<Question>,
        mode: CastlingMode,
    ) -> Result<&mut EngineProcess, Error> {
        let engine = match self.engine.take() {
            Some(engine) => engine,
            None => {
                let mut engine = self.start()?;
                engine.new_game(mode.is_chess960());
                for question in asked {
                    engine.ask(&question.command, &self.go);
                }
                engine
            }
        };
        Ok(self.engine.insert(engine))
    }

    /// Waits for the answer to the first question, and removes the question.
    fn receive(
        &mut self,
        asked: &mut VecDeque<Question>,
        mode: CastlingMode,
        evals: &mut [Option<Eval>],
        tally: &mut AnnotationCounts,
    ) -> Result<(), Error> {
        let (timeout, stop) = (self.program.timeout, self.task.stop.flag());
        for _ in 0..ATTEMPTS {
            let answer = self.engine(asked, mode)?.answer(timeout, stop);
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
                command: self.program.setup.program.clone(),
                positions: self.unanswered,
            });
        }
        Ok(())
    }
}

/// Returns the arguments of the `position` command for a position.
fn setup(position: &Chess) -> String {
    if *position == Chess::new() {
        return "startpos".to_string();
    }
    format!("fen {}", Fen::from_position(position, EnPassantMode::Legal))
}
