// Made of the module's Rust types by `REMAKE_TYPES=1 cargo test -p web --lib typescript`.

/**
 * What a request brings, or why it brings nothing.
 */
export type Answer = { "ok": Reply } | { "error": string };

/**
 * Whether a score is exact, or the true one is at least or at most this for the mover.
 */
export type Bound = "exact" | "lower" | "upper";

/**
 * Which of the networks behind the first layer is used.
 */
export type BucketReport = { 
/**
 * From 1.
 */
number: number, of: number, 
/**
 * The numbers of pieces that lead there.
 */
least: number, most: number, };

/**
 * What a square holds instead.
 */
export type Change = { square: SquareName, 
/**
 * As a FEN writes it; `null` for nothing.
 */
piece: string | null, };

/**
 * What the move was chosen from.
 */
export type Choice = { 
/**
 * Moves that it takes as readily as the best, with it.
 */
near: number, 
/**
 * Centipawns that such a move may be worth less.
 */
margin: number, 
/**
 * The best move as people write it; empty where there is none.
 */
best: string, };

/**
 * A change at a node.
 */
export type Edit = { "edit": "delete" } | { "edit": "promote" } | { "edit": "makeMain" } | { "edit": "comment", text: string, } | { "edit": "glyph", glyph: number, };

/**
 * A tree that was changed, and the node to look at now.
 */
export type Edited = { tree: Tree, at: number, report: TreeReport, };

/**
 * The rule that has ended a game.
 */
export type EndingReason = "checkmate" | "stalemate" | "repetition" | "fiftyMoves" | "insufficientMaterial";

/**
 * How the rules have ended a game.
 */
export type EndingReport = { reason: EndingReason, winner: SideName | null, };

/**
 * What the evaluation is made of.
 */
export type EvaluationKind = "network" | "material";

/**
 * What a search has found in a position; `null` where the game is over.
 */
export type Finding = { score: WhiteScore, 
/**
 * As UCI writes it.
 */
pv: Array<string>, };

/**
 * A game so far.
 */
export type Game = { 
/**
 * A FEN; `null` for the usual start.
 */
start: string | null, 
/**
 * As UCI writes them.
 */
moves: Array<string>, };

/**
 * All plies of a game.
 */
export type GameReport = { 
/**
 * A FEN.
 */
start: string, startKey: string, plies: Array<Ply>, ending: EndingReport | null, };

/**
 * A game of a text, not read yet.
 */
export type GameText = { tags: Array<[string, string]>, 
/**
 * Its part of the text.
 */
text: string, };

/**
 * What to help another worker of the team with.
 */
export type HelpRequest = { 
/**
 * The number of the search, at whose end the help ends.
 */
search: number, 
/**
 * The helper's own number, from 0 to below 15.
 */
helper: number, 
/**
 * A FEN; `null` for the usual start.
 */
start: string | null, 
/**
 * As UCI writes them.
 */
moves: Array<string>, };

/**
 * What an input says: a piece stands on a square, a legal en-passant capture lands there,
 * pieces are en prise, a side may castle, or is in check.
 */
export type InputKind = "piece" | "enPassant" | "enPrise" | "castling" | "check";

/**
 * An input that is on.
 */
export type InputReport = { 
/**
 * In the layout, as the side to move sees it.
 */
index: number, kind: InputKind, 
/**
 * What it speaks of: `null` for an en-passant square.
 */
color: SideName | null, 
/**
 * The kind of piece; of castling, the king's side or the queen's.
 */
piece: PieceName | null, square: SquareName | null, 
/**
 * At least so many pieces are en prise.
 */
count: number, 
/**
 * The value less the value without it.
 */
effect: number, };

/**
 * A position, and what is changed in it by hand; it need not be legal then.
 */
export type InsideRequest = { 
/**
 * A FEN; `null` for the usual start.
 */
start: string | null, 
/**
 * As UCI writes them.
 */
moves: Array<string>, changes: Array<Change>, 
/**
 * Whether the other side is to move.
 */
pass: boolean, };

/**
 * An iteration of a line.
 */
export type Iteration = { depth: number, 
/**
 * The line's number, 1 for the best.
 */
rank: number, score: WhiteScore, bound: Bound, nodes: number, 
/**
 * Milliseconds.
 */
time: number, 
/**
 * The line as UCI writes it.
 */
pv: Array<string>, 
/**
 * The same as people write it.
 */
san: Array<string>, };

/**
 * A mistake of a game.
 */
export type Mistake = { node: number, side: SideName, 
/**
 * Such as `Blunder. Nf3 was best.`
 */
text: string, 
/**
 * The chance to win that it gave away, from 0 to 1.
 */
loss: number, 
/**
 * The better line, as UCI writes it.
 */
better: Array<string>, };

/**
 * What a move has changed. All values are in pawns from White's view.
 */
export type MoveChange = { san: string, mover: SideName, 
/**
 * Of the position before, and after.
 */
values: [number, number], pieces: Array<WorthChange>, 
/**
 * The inputs that see what is en prise, before and after.
 */
threats: [Array<InputReport>, Array<InputReport>], };

/**
 * A legal move and the value of the position behind it, without a search, in pawns from
 * White's view.
 */
export type MoveValue = { uci: string, san: string, from: SquareName, 
/**
 * Where the piece lands.
 */
to: SquareName, value: number, mates: boolean, };

/**
 * The mover's clock, in milliseconds.
 */
export type MoverClock = { remaining: number, increment: number, };

/**
 * What there is to say of a net.
 */
export type NetDescription = { kind: EvaluationKind, 
/**
 * The sizes of its layers and its other parts.
 */
architecture: string, parameters: number, training: Training, };

/**
 * What a network makes of a position. All values are in pawns from White's view.
 */
export type NetworkReport = { turn: SideName, value: number, 
/**
 * The inputs that are on; there are so many in all.
 */
inputs: Array<InputReport>, ofInputs: number, 
/**
 * Who looks, the side to move first.
 */
views: Array<ViewReport>, 
/**
 * The strongest activations of the first layer.
 */
neurons: Array<NeuronReport>, 
/**
 * The activations of the hidden layers behind the first, each from 0 to 255.
 */
hidden: Array<Array<number>>, bucket: BucketReport, 
/**
 * What the output adds to its weighted inputs.
 */
bias: number, };

/**
 * A neuron of the first layer.
 */
export type NeuronPart = { neuron: number, bias: number, 
/**
 * Its bias and the weights of all inputs that are on.
 */
sum: number, 
/**
 * The weight that 127 stands for.
 */
scale: number, 
/**
 * Of a piece on a square: White's pawns on a1 to h8, knights, ..., kings, then Black's.
 */
weights: Array<number>, 
/**
 * By input that is on, its weight.
 */
on: Array<number>, };

/**
 * An activation of the first layer.
 */
export type NeuronReport = { view: number, 
/**
 * From 0 to 1.
 */
activation: number, 
/**
 * The value less the value if it were zero.
 */
effect: number, 
/**
 * One neuron, or two that are multiplied.
 */
parts: Array<NeuronPart>, };

/**
 * A move, and what is said of it and of the position it leads to.
 */
export type Node = { 
/**
 * The node of the move before.
 */
parent: number, 
/**
 * As UCI writes it; empty at the start.
 */
uci: string, 
/**
 * What introduces a variation, on its first move.
 */
before: string, 
/**
 * What is said of the move, or of the whole game at its start.
 */
comment: string, 
/**
 * Numeric annotation glyphs, such as 4 for `??`.
 */
glyphs: Array<number>, 
/**
 * The evaluation of a PGN's comment, and its depth in plies, 0 where it has none.
 */
eval: WhiteScore | null, depth: number, 
/**
 * Milliseconds left to the side that has moved.
 */
clock: number | null, 
/**
 * What a search of the position has found: one that was watched, and the curve's.
 */
found: WhiteScore | null, curve: WhiteScore | null, };

/**
 * A kind of piece.
 */
export type PieceName = "pawn" | "knight" | "bishop" | "rook" | "queen" | "king";

/**
 * What a piece is worth where it stands, in pawns from White's view.
 */
export type PieceValue = { square: SquareName, 
/**
 * The position's value less the value without the piece.
 */
value: number, 
/**
 * The position's value without the piece.
 */
without: number, };

/**
 * A move that was played, and where it led.
 */
export type Ply = { uci: string, san: string, 
/**
 * Of the position after the move.
 */
fen: string, 
/**
 * Equal for equal positions.
 */
key: string, check: boolean, capture: boolean, castles: boolean, };

/**
 * The value of a position and of each piece in it, in pawns from White's view.
 */
export type PositionEvaluation = { value: number, pieces: Array<PieceValue>, };

/**
 * A position, and what can be played in it.
 */
export type PositionReport = { fen: string, turn: SideName, check: boolean, 
/**
 * Squares by square. A castling king may go to its target or onto its rook.
 */
dests: { [square in SquareName]?: Array<SquareName> }, 
/**
 * The moves of these that have to name a piece.
 */
promotions: Array<string>, ending: EndingReport | null, 
/**
 * Sides that have nothing but a king, and so cannot win on time.
 */
bare: Array<SideName>, };

/**
 * A game that was read.
 */
export type ReadGame = { tree: Tree, report: TreeReport, result: string | null, 
/**
 * What had to be left out, and what was taken for something else.
 */
faults: Array<string>, };

/**
 * What the request of the same name brings; a net that is loaded is described
 * as one that is used.
 */
export type Reply = { "game": GameReport } | { "position": PositionReport } | { "parseMove": string } | { "setUp": string } | { "chess960": string } | { "grow": Edited } | { "tree": Edited } | { "play": Edited } | { "edit": Edited } | { "review": Review } | { "listPgn": Array<GameText> } | { "readPgn": ReadGame } | { "writePgn": string } | { "evaluate": PositionEvaluation } | { "inside": NetworkReport | null } | { "weigh": Array<MoveValue> } | { "change": MoveChange | null } | { "use": NetDescription } | { "search": SearchResult } | { "help": number };

/**
 * What can be asked.
 */
export type Request = { "op": "game" } & Game | { "op": "position" } & Game | { "op": "parseMove", text: string, 
/**
 * A FEN; `null` for the usual start.
 */
start: string | null, 
/**
 * As UCI writes them.
 */
moves: Array<string>, } | { "op": "setUp", fen: string, } | { "op": "chess960", number: number, } | { "op": "grow" } & Game | { "op": "tree", tree: Tree, at: number, } | { "op": "play", tree: Tree, at: number, move: string, } | { "op": "edit", tree: Tree, at: number, change: Edit, } | { "op": "review" } & ReviewRequest | { "op": "listPgn", text: string, } | { "op": "readPgn", text: string, } | { "op": "writePgn" } & WrittenGame | { "op": "evaluate" } & Game | { "op": "inside" } & InsideRequest | { "op": "weigh" } & Game | { "op": "change" } & Game | { "op": "use", kind: EvaluationKind, embedded: boolean, } | { "op": "search" } & SearchRequest | { "op": "help" } & HelpRequest;

/**
 * A game that was looked through: its tree with marks and better lines.
 */
export type Review = { edited: Edited, white: SideReview, black: SideReview, mistakes: Array<Mistake>, };

/**
 * What was asked to be looked through.
 */
export type ReviewRequest = { tree: Tree, at: number, 
/**
 * The nodes of the game's moves.
 */
line: Array<number>, 
/**
 * Of the start, and of the position after each move.
 */
findings: Array<Finding | null>, };

/**
 * What to search, and how far; without any limit it runs until the worker is ended.
 */
export type SearchRequest = { depth?: number, nodes?: number, 
/**
 * Milliseconds for the move.
 */
movetime?: number, clock?: MoverClock, 
/**
 * The rating to play at; full strength where it is left out.
 */
elo?: number, 
/**
 * Lines to report; one where it is left out.
 */
lines?: number, 
/**
 * From 0 to below 1: which of the moves that the rating lets pass is played.
 */
chance?: number, 
/**
 * A FEN; `null` for the usual start.
 */
start: string | null, 
/**
 * As UCI writes them.
 */
moves: Array<string>, };

/**
 * What a search has found.
 */
export type SearchResult = { 
/**
 * The move to play, `null` where there is none.
 */
best: string | null, score: WhiteScore, depth: number, nodes: number, 
/**
 * Milliseconds.
 */
time: number, 
/**
 * Below full strength.
 */
choice: Choice | null, };

/**
 * A side.
 */
export type SideName = "white" | "black";

/**
 * How a side has played.
 */
export type SideReview = { 
/**
 * From 0 to 100, the mean of its moves; `null` without any.
 */
accuracy: number | null, inaccuracies: number, mistakes: number, blunders: number, };

/**
 * A square, such as `e4`.
 */
export type SquareName = `${'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h'}${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8}`;

/**
 * What a net's metadata says of its training.
 */
export type Training = { 
/**
 * The positions that it was fitted to; `null` where its file does not say.
 */
positions: number | null, 
/**
 * Whether it began as another net, and `positions` are those of the last step alone.
 */
fromAnotherNet: boolean, };

/**
 * A game with its variations.
 */
export type Tree = { 
/**
 * The form it is kept in.
 */
version: number, 
/**
 * A FEN; `null` for the usual start.
 */
start: string | null, 
/**
 * Of a PGN file, in its order, without those that say the start.
 */
tags: Array<[string, string]>, 
/**
 * The start, then moves, each behind its parent. Of moves from one position the first
 * is the main one, and the others are variations.
 */
nodes: Array<Node>, };

/**
 * All moves of a tree.
 */
export type TreeReport = { 
/**
 * A FEN.
 */
start: string, startKey: string, 
/**
 * That of node 1 first.
 */
plies: Array<Ply>, 
/**
 * By node, the moves from there, the main one first.
 */
children: Array<Array<number>>, 
/**
 * How the rules end the main line.
 */
ending: EndingReport | null, };

/**
 * The first layer as one side looks at the board.
 */
export type ViewReport = { side: SideName, 
/**
 * Whether it sees the files from h to a.
 */
mirrored: boolean, 
/**
 * Each from 0 to 255.
 */
activations: Array<number>, 
/**
 * What they add to the value together; `null` if hidden layers follow.
 */
adds: number | null, };

/**
 * From White's view.
 */
export type WhiteScore = { "cp": number } | { "mate": number };

/**
 * What a piece was worth, and is.
 */
export type WorthChange = { color: SideName, 
/**
 * After the move, if it is still there.
 */
piece: PieceName, from: SquareName, 
/**
 * `null` if it was taken.
 */
to: SquareName | null, before: number, after: number, };

/**
 * A game to be written.
 */
export type WrittenGame = { tree: Tree, 
/**
 * Of a game that has none of its own.
 */
tags: Array<[string, string]>, result: string, };
