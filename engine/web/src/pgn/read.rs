//! Parses a PGN game to a tree.

use engine::cozy_chess::{Board, Color};
use engine::{is_chess960, pgn, write_fen};
use serde::Serialize;

use crate::error::RequestError;
use crate::game::read_fen;
use crate::pgn::comment::{self, comment_text};
use crate::pgn::moves::find_move;
use crate::pgn::tokens::{Token, Tokens};
use crate::rules::{TreeReport, describe_tree};
use crate::tree::{Node, Tree, Walk, children, renumber};

/// Faults listed one by one; further ones are only counted.
const MAX_FAULTS: usize = 20;

/// Values of the `Variant` tag for standard chess and Chess960, in lower case.
const CHESS: [&str; 9] = [
    "standard",
    "chess",
    "normal",
    "from position",
    "chess960",
    "chess 960",
    "fischerandom",
    "fischerrandom",
    "fischer random",
];

/// A parsed game.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ReadGame {
    pub tree: Tree,
    pub report: TreeReport,
    pub result: Option<String>,
    /// Messages about parts that were skipped or reinterpreted.
    pub faults: Vec<String>,
}

/// Parses the first game of a PGN text.
///
/// # Errors
/// If the game is of another variant or starts from an illegal position.
pub fn read(text: &str) -> Result<ReadGame, RequestError> {
    let mut reader = Reader::default();
    let mut tokens = Tokens::of(text);
    loop {
        let before = tokens.at();
        let Some(token) = tokens.next() else {
            break;
        };
        match token {
            Token::Tag { name, value } => {
                if reader.game.is_some() {
                    tokens.seek(before);
                    break;
                }
                reader.tags.push((name.to_string(), value));
            }
            Token::Result(result) => {
                if !tokens.closes() {
                    reader.result = Some(result.to_string());
                    break;
                }
            }
            token => reader.movetext()?.take(token),
        }
    }
    reader.finish()
}

#[derive(Default)]
struct Reader {
    tags: Vec<(String, String)>,
    result: Option<String>,
    game: Option<Movetext>,
}

impl Reader {
    /// Returns the movetext, which begins after the tags.
    fn movetext(&mut self) -> Result<&mut Movetext, RequestError> {
        if self.game.is_none() {
            self.game = Some(Movetext::begin(std::mem::take(&mut self.tags))?);
        }
        Ok(self.game.as_mut().expect("it was made above"))
    }

    fn finish(mut self) -> Result<ReadGame, RequestError> {
        self.movetext()?;
        let mut movetext = self.game.expect("it was made above");
        movetext.close_all();
        let Movetext {
            mut tree,
            mut faults,
            unlisted_faults,
            ..
        } = movetext;
        let tag = (tree.tags.iter_mut()).find(|(name, _)| name == "Result");
        let result = match (self.result, tag) {
            (Some(result), Some((_, value))) => {
                if *value != result && *value != "*" {
                    faults.push(format!("The tags say {value}, the moves end with {result}"));
                }
                *value = result.clone();
                Some(result)
            }
            (None, Some((_, value))) => Some(value.clone()),
            (result, None) => result,
        };
        if unlisted_faults > 0 {
            faults.push(format!("and {unlisted_faults} more faults"));
        }
        let order = children(&tree);
        renumber(&mut tree, &order, 0);
        let report = describe_tree(&tree)?;
        Ok(ReadGame {
            tree,
            report,
            result,
            faults,
        })
    }
}

/// A main line or variation being parsed.
struct OpenLine {
    /// Node of its last move.
    node: usize,
    /// Whether it has a move.
    moved: bool,
    /// Number of moves skipped after an unplayable one; `None` while moves are played.
    left_out: Option<u32>,
    /// Index of the fault about them.
    fault: usize,
    /// Comment before the first move.
    before: String,
    /// Depth of parentheses within the skipped part.
    inner: u32,
}

impl OpenLine {
    fn from(node: usize) -> OpenLine {
        OpenLine {
            node,
            moved: false,
            left_out: None,
            fault: 0,
            before: String::new(),
            inner: 0,
        }
    }
}

/// Movetext parser: the tree so far and the stack of open lines.
struct Movetext {
    tree: Tree,
    walk: Walk,
    lines: Vec<OpenLine>,
    faults: Vec<String>,
    /// Faults beyond [`MAX_FAULTS`].
    unlisted_faults: usize,
}

impl Movetext {
    fn begin(tags: Vec<(String, String)>) -> Result<Movetext, RequestError> {
        let is = |(known, _): &&(String, String), name: &str| known.eq_ignore_ascii_case(name);
        let tag = |name: &str| tags.iter().find(|tag| is(tag, name));
        if let Some((_, variant)) = tag("Variant")
            && !CHESS.contains(&variant.trim().to_ascii_lowercase().as_str())
        {
            return Err(RequestError::Variant(variant.clone()));
        }
        let opening = match tag("FEN") {
            Some((_, fen)) => read_fen(fen)?,
            None => Board::startpos(),
        };
        let mut faults = Vec::new();
        if tag("SetUp").is_some_and(|(_, value)| value == "1") && tag("FEN").is_none() {
            faults.push("The tags announce a position that they do not give".to_string());
        }
        let usual = opening == Board::startpos();
        let mut tree = Tree::new((!usual).then(|| write_fen(&opening)));
        tree.tags = tags;
        tree.tags
            .retain(|tag| !is(&tag, "FEN") && !is(&tag, "SetUp"));
        Ok(Movetext {
            tree,
            walk: Walk {
                chess960: is_chess960(&opening),
                boards: vec![opening],
                moves: vec![None],
            },
            lines: vec![OpenLine::from(0)],
            faults,
            unlisted_faults: 0,
        })
    }

    fn line(&mut self) -> &mut OpenLine {
        self.lines.last_mut().expect("the main line stays")
    }

    fn fault(&mut self, text: String) -> usize {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(text);
            return self.faults.len() - 1;
        }
        self.unlisted_faults += 1;
        usize::MAX
    }

    /// Returns the move number after the last move, for fault messages.
    fn place(&self) -> String {
        let line = self.lines.last().expect("the main line stays");
        pgn::number(&self.walk.boards[line.node])
    }

    fn take(&mut self, token: Token) {
        if self
            .lines
            .last()
            .is_some_and(|line| line.left_out.is_some())
        {
            return self.skip(token);
        }
        match token {
            Token::Move(text) => self.play(text),
            Token::Number { number, black } => self.number(number, black),
            Token::Comment(text) => self.comment(&text),
            Token::OpenComment(text) => {
                let place = self.place();
                self.fault(format!("the comment before {place} is not closed"));
                self.comment(text);
            }
            Token::Glyph(glyph) => {
                let node = self.line().node;
                let glyphs = &mut self.tree.nodes[node].glyphs;
                if !glyphs.contains(&glyph) {
                    glyphs.push(glyph);
                }
            }
            Token::Open => self.open(),
            Token::Close => self.close(),
            Token::Other(text) => {
                let text: String = text.chars().take(30).collect();
                let place = self.place();
                self.fault(format!("“{text}” before {place} is left out"));
            }
            Token::Tag { .. } | Token::Result(_) => {}
        }
    }

    fn play(&mut self, text: &str) {
        let node = self.line().node;
        let board = &self.walk.boards[node];
        let Some(mv) = find_move(board, text) else {
            let number = pgn::number(board);
            let fault = self.fault(format!("{number} {text} is no legal move"));
            let line = self.line();
            line.left_out = Some(0);
            line.fault = fault;
            return;
        };
        let before = std::mem::take(&mut self.line().before);
        self.tree.nodes.push(Node {
            parent: node,
            uci: self.walk.write(node, mv),
            before,
            ..Node::default()
        });
        self.walk.push(node, mv);
        let last = self.tree.nodes.len() - 1;
        let line = self.line();
        line.node = last;
        line.moved = true;
    }

    /// Closes variations up to the line that the move number fits: a parenthesis is missing.
    fn number(&mut self, number: u32, black: bool) {
        let fits = |line: &OpenLine| {
            let board = &self.walk.boards[line.node];
            let turn = board.side_to_move() == Color::Black;
            u32::from(board.fullmove_number()) == number && turn == black
        };
        let place = self.lines.iter().rposition(fits);
        if let Some(place) = place.filter(|&place| place + 1 < self.lines.len()) {
            let dots = if black { "..." } else { "." };
            self.fault(format!(
                "the parenthesis before {number}{dots} is not closed"
            ));
            while self.lines.len() > place + 1 {
                self.close();
            }
        }
    }

    fn comment(&mut self, text: &str) {
        let main = self.lines.len() == 1;
        let line = self.lines.last_mut().expect("the main line stays");
        if line.moved || main {
            comment::add(&mut self.tree.nodes[line.node], text);
        } else {
            comment::join(&mut line.before, &comment_text(text));
        }
    }

    fn open(&mut self) {
        let OpenLine { node, moved, .. } = *self.line();
        if moved {
            let parent = self.tree.nodes[node].parent;
            self.lines.push(OpenLine::from(parent));
        } else {
            let place = self.place();
            let fault = self.fault(format!(
                "the variation before {place} stands behind no move"
            ));
            self.lines.push(OpenLine {
                left_out: Some(0),
                fault,
                ..OpenLine::from(node)
            });
        }
    }

    fn close(&mut self) {
        if self.lines.len() == 1 {
            let place = self.place();
            self.fault(format!("a parenthesis before {place} was never opened"));
            return;
        }
        let closed = self.lines.pop().expect("there is more than one");
        self.report_left_out(&closed);
        // The introduction of a variation without moves belongs to the move before it.
        let node = self.line().node;
        comment::add(&mut self.tree.nodes[node], &closed.before);
    }

    /// Skips a token after an unplayable move.
    fn skip(&mut self, token: Token) {
        let line = self.line();
        match token {
            Token::Move(_) => *line.left_out.get_or_insert_default() += 1,
            Token::Open => line.inner += 1,
            Token::Close if line.inner > 0 => line.inner -= 1,
            Token::Close => self.close(),
            _ => {}
        }
    }

    fn report_left_out(&mut self, line: &OpenLine) {
        let Some(fault) = self.faults.get_mut(line.fault) else {
            return;
        };
        match line.left_out {
            Some(1) => fault.push_str("; the move behind it is left out"),
            Some(number @ 2..) => {
                fault.push_str(&format!("; the {number} moves behind it are left out"))
            }
            _ => {}
        }
    }

    fn close_all(&mut self) {
        if self.lines.len() > 1 {
            let count = self.lines.len() - 1;
            let fault = match count {
                1 => "a parenthesis is not closed".to_string(),
                _ => format!("{count} parentheses are not closed"),
            };
            self.fault(fault);
        }
        while self.lines.len() > 1 {
            self.close();
        }
        let main = self.lines.pop().expect("the main line stays");
        self.report_left_out(&main);
        self.lines.push(main);
    }
}
