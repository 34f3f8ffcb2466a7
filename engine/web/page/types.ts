// Made of the module's Rust types by `REMAKE_TYPES=1 cargo test -p web --lib typescript`.

/**
 * The reply to a request, or its error text.
 */
export type Answer = { "ok": Reply } | { "error": string };

/**
 * Bound of a score, from the side to move's view.
 */
export type Bound = "exact" | "lower" | "upper";

/**
 * The layer stack used for the number of pieces on the board.
 */
export type BucketReport = { 
/**
 * Bucket number, from 1.
 */
number: number, 
/**
 * Number of buckets.
 */
of: number, 
/**
 * Piece counts of the bucket.
 */
least: number, most: number, };

/**
 * Replacement of a square's contents.
 */
export type Change = { square: SquareName, 
/**
 * FEN letter of the piece; `null` empties the square.
 */
piece: string | null, };

/**
 * Choice of the move in a handicapped search.
 */
export type Choice = { 
/**
 * Number of moves within the margin, the best included.
 */
near: number, 
/**
 * Centipawns below the best move that are accepted.
 */
margin: number, 
/**
 * Best move in SAN; empty if there is none.
 */
best: string, };

/**
 * An edit at a node.
 */
export type Edit = { "edit": "delete" } | { "edit": "promote" } | { "edit": "makeMain" } | { "edit": "comment", text: string, } | { "edit": "glyph", glyph: number, };

/**
 * An edited tree and its selected node.
 */
export type Edited = { tree: Tree, at: number, report: TreeReport, };

/**
 * The rule that ended a game.
 */
export type EndingReason = "checkmate" | "stalemate" | "repetition" | "fiftyMoves" | "insufficientMaterial";

/**
 * An ending by the rules.
 */
export type EndingReport = { reason: EndingReason, winner: SideName | null, };

/**
 * Kind of evaluation.
 */
export type EvaluationKind = "network" | "material";

/**
 * Search result of a position; `null` if the game is over there.
 */
export type Finding = { score: WhiteScore, 
/**
 * Best line in UCI notation.
 */
pv: Array<string>, };

/**
 * A start position and the moves played from it.
 */
export type Game = { 
/**
 * FEN; `null` for the standard start.
 */
start: string | null, 
/**
 * UCI moves.
 */
moves: Array<string>, };

/**
 * All plies of a game.
 */
export type GameReport = { 
/**
 * FEN of the start.
 */
start: string, startKey: string, plies: Array<Ply>, ending: EndingReport | null, };

/**
 * An unparsed game.
 */
export type GameText = { tags: Array<[string, string]>, text: string, };

/**
 * A search of another worker, to help with.
 */
export type HelpRequest = { 
/**
 * Number of the search; helping stops when that search ends.
 */
search: number, 
/**
 * Helper number, `0..15`.
 */
helper: number, 
/**
 * FEN; `null` for the standard start.
 */
start: string | null, 
/**
 * UCI moves.
 */
moves: Array<string>, };

/**
 * Kind of input: a piece on a square, the target of a legal en-passant capture, pieces en
 * prise, a castling right, a check.
 */
export type InputKind = "piece" | "enPassant" | "enPrise" | "castling" | "check";

/**
 * An active input.
 */
export type InputReport = { 
/**
 * Index in the layout, from the side to move's perspective.
 */
index: number, kind: InputKind, 
/**
 * Side that the input is about; `null` for an en-passant square.
 */
color: SideName | null, 
/**
 * Kind of piece; for castling, `king` or `queen` for the wing.
 */
piece: PieceName | null, square: SquareName | null, 
/**
 * Minimal number of pieces en prise; 0 for other inputs.
 */
count: number, 
/**
 * Value minus the value without this input.
 */
effect: number, };

/**
 * A position, optionally edited; an edited position need not be legal.
 */
export type InsideRequest = { 
/**
 * FEN; `null` for the standard start.
 */
start: string | null, 
/**
 * UCI moves.
 */
moves: Array<string>, changes: Array<Change>, 
/**
 * Whether to give the move to the other side.
 */
pass: boolean, };

/**
 * Progress report of one line after an iteration of the search.
 */
export type Iteration = { depth: number, 
/**
 * Rank of the line, 1 for the best.
 */
rank: number, score: WhiteScore, bound: Bound, nodes: number, 
/**
 * Elapsed milliseconds.
 */
time: number, 
/**
 * Line in UCI notation.
 */
pv: Array<string>, 
/**
 * Line in SAN.
 */
san: Array<string>, };

/**
 * A mistake in a game.
 */
export type Mistake = { node: number, side: SideName, 
/**
 * Comment, such as `Blunder. Nf3 was best.`
 */
text: string, 
/**
 * Lost winning chance, `0..=1`.
 */
loss: number, 
/**
 * Better line in UCI notation.
 */
better: Array<string>, };

/**
 * Effects of a move. Values are in pawns from White's view.
 */
export type MoveChange = { san: string, mover: SideName, 
/**
 * Evaluation before and after.
 */
values: [number, number], pieces: Array<WorthChange>, 
/**
 * Inputs for pieces en prise, before and after.
 */
threats: [Array<InputReport>, Array<InputReport>], };

/**
 * A legal move and the static evaluation after it, in pawns from White's view.
 */
export type MoveValue = { uci: string, san: string, from: SquareName, 
/**
 * Square where the piece lands.
 */
to: SquareName, value: number, mates: boolean, };

/**
 * The mover's clock, in milliseconds.
 */
export type MoverClock = { remaining: number, increment: number, };

/**
 * Description of a network.
 */
export type NetDescription = { kind: EvaluationKind, 
/**
 * Layer sizes and other parts of the architecture, as text.
 */
architecture: string, parameters: number, training: Training, };

/**
 * The network's inference on a position. Values are in pawns from White's view.
 */
export type NetworkReport = { turn: SideName, value: number, 
/**
 * Active inputs.
 */
inputs: Array<InputReport>, 
/**
 * Number of inputs in the layout.
 */
ofInputs: number, 
/**
 * Perspectives, the side to move first.
 */
views: Array<ViewReport>, 
/**
 * First-layer activations with the largest effects, the largest first.
 */
neurons: Array<NeuronReport>, 
/**
 * Activations of the further hidden layers, scaled to `0..=255`.
 */
hidden: Array<Array<number>>, bucket: BucketReport, 
/**
 * Bias of the output.
 */
bias: number, };

/**
 * A neuron of the first layer.
 */
export type NeuronPart = { neuron: number, bias: number, 
/**
 * Bias plus the weights of the active inputs.
 */
sum: number, 
/**
 * Weight that is written as 127 in `weights`.
 */
scale: number, 
/**
 * Piece-square weights: White's pawns on a1 to h8, knights, ..., kings, then Black's.
 */
weights: Array<number>, 
/**
 * Weight of each active input.
 */
on: Array<number>, };

/**
 * An activation of the first layer.
 */
export type NeuronReport = { 
/**
 * Index into the report's `views`.
 */
view: number, 
/**
 * Activation, `0..=1`.
 */
activation: number, 
/**
 * Value minus the value with this activation at zero.
 */
effect: number, 
/**
 * The neuron, or the two neurons multiplied.
 */
parts: Array<NeuronPart>, };

/**
 * A move with its annotations.
 */
export type Node = { 
/**
 * Parent node.
 */
parent: number, 
/**
 * UCI move; empty at the start.
 */
uci: string, 
/**
 * Comment before the first move of a variation.
 */
before: string, 
/**
 * Comment after the move; at the start, on the whole game.
 */
comment: string, 
/**
 * Numeric annotation glyphs, such as 4 for `??`.
 */
glyphs: Array<number>, 
/**
 * Evaluation in the PGN comment.
 */
eval: WhiteScore | null, 
/**
 * Depth of `eval` in plies, 0 if not given.
 */
depth: number, 
/**
 * Milliseconds left to the mover after the move.
 */
clock: number | null, 
/**
 * Score of the last search of the position, in play, analysis or review.
 */
found: WhiteScore | null, 
/**
 * Score of the evaluation curve's search.
 */
curve: WhiteScore | null, };

/**
 * A legal move and the share of people who play it.
 */
export type PeopleMove = { 
/**
 * Move in UCI notation.
 */
uci: string, san: string, 
/**
 * Probability, `0..=1`.
 */
share: number, };

/**
 * A question what people of a rating play.
 */
export type PeopleRequest = { game: Game, rating: number, };

/**
 * A kind of piece, in lower case.
 */
export type PieceName = "pawn" | "knight" | "bishop" | "rook" | "queen" | "king";

/**
 * Value of a piece on its square, in pawns from White's view.
 */
export type PieceValue = { square: SquareName, 
/**
 * Value of the position minus its value without the piece.
 */
value: number, 
/**
 * Value of the position without the piece.
 */
without: number, };

/**
 * A played move and the position after it.
 */
export type Ply = { uci: string, san: string, 
/**
 * FEN after the move.
 */
fen: string, 
/**
 * Hash of the position after the move.
 */
key: string, check: boolean, capture: boolean, castles: boolean, };

/**
 * Description of a policy.
 */
export type PolicyDescription = { 
/**
 * Least ratings of the bands that it knows, 100 points wide, in ascending order.
 */
ratings: Array<number>, 
/**
 * Number of training moves; `null` if the file does not have it.
 */
moves: number | null, };

/**
 * The value of a position and of each piece in it, in pawns from White's view.
 */
export type PositionEvaluation = { value: number, pieces: Array<PieceValue>, };

/**
 * A position and its legal moves.
 */
export type PositionReport = { fen: string, turn: SideName, check: boolean, 
/**
 * Target squares by origin; castling has the king's target and the rook's square.
 */
dests: { [square in SquareName]?: Array<SquareName> }, 
/**
 * Origin and target of the moves that promote.
 */
promotions: Array<string>, ending: EndingReport | null, 
/**
 * Sides with a bare king, which cannot win on time.
 */
bare: Array<SideName>, };

/**
 * A parsed game.
 */
export type ReadGame = { tree: Tree, report: TreeReport, result: string | null, 
/**
 * Messages about parts that were skipped or reinterpreted.
 */
faults: Array<string>, };

/**
 * The reply to the request of the same name. Loading a network replies `use`, loading a policy
 * `policy`.
 */
export type Reply = { "game": GameReport } | { "position": PositionReport } | { "parseMove": string } | { "setUp": string } | { "chess960": string } | { "grow": Edited } | { "tree": Edited } | { "play": Edited } | { "edit": Edited } | { "review": Review } | { "listPgn": Array<GameText> } | { "readPgn": ReadGame } | { "writePgn": string } | { "evaluate": PositionEvaluation } | { "inside": NetworkReport | null } | { "weigh": Array<MoveValue> } | { "change": MoveChange | null } | { "people": Array<PeopleMove> } | { "use": NetDescription } | { "policy": PolicyDescription } | { "search": SearchResult } | { "help": number };

/**
 * A request of the page.
 */
export type Request = { "op": "game" } & Game | { "op": "position" } & Game | { "op": "parseMove", text: string, 
/**
 * FEN; `null` for the standard start.
 */
start: string | null, 
/**
 * UCI moves.
 */
moves: Array<string>, } | { "op": "setUp", fen: string, } | { "op": "chess960", number: number, } | { "op": "grow" } & Game | { "op": "tree", tree: Tree, at: number, } | { "op": "play", tree: Tree, at: number, move: string, } | { "op": "edit", tree: Tree, at: number, change: Edit, } | { "op": "review" } & ReviewRequest | { "op": "listPgn", text: string, } | { "op": "readPgn", text: string, } | { "op": "writePgn" } & WrittenGame | { "op": "evaluate" } & Game | { "op": "inside" } & InsideRequest | { "op": "weigh" } & Game | { "op": "change" } & Game | { "op": "people" } & PeopleRequest | { "op": "use", kind: EvaluationKind, embedded: boolean, } | { "op": "search" } & SearchRequest | { "op": "help" } & HelpRequest;

/**
 * A reviewed game: its tree with glyphs, comments and better lines.
 */
export type Review = { edited: Edited, white: SideReview, black: SideReview, mistakes: Array<Mistake>, };

/**
 * A game to review.
 */
export type ReviewRequest = { tree: Tree, at: number, 
/**
 * Nodes of the moves to review, in order.
 */
line: Array<number>, 
/**
 * Search results of the start and of the position after each move.
 */
findings: Array<Finding | null>, 
/**
 * White's and Black's rating, `null` where it is unknown. With a policy that knows people of
 * that rating a mistake's text says how many of them make it.
 */
ratings: [number | null, number | null], };

/**
 * A search with its limits; without any it runs until the worker is terminated.
 */
export type SearchRequest = { depth?: number, nodes?: number, 
/**
 * Time for the move in milliseconds.
 */
movetime?: number, clock?: MoverClock, 
/**
 * Rating to play at; full strength by default.
 */
elo?: number, 
/**
 * Rating of the person to play like; takes precedence over `elo`.
 */
person?: number, 
/**
 * Number of lines to report, 1 by default.
 */
lines?: number, 
/**
 * Random number in `0..1` that picks among the moves which the rating allows.
 */
chance?: number, 
/**
 * FEN; `null` for the standard start.
 */
start: string | null, 
/**
 * UCI moves.
 */
moves: Array<string>, };

/**
 * Result of a search.
 */
export type SearchResult = { 
/**
 * Move to play; `null` without legal moves.
 */
best: string | null, score: WhiteScore, depth: number, nodes: number, 
/**
 * Elapsed milliseconds.
 */
time: number, 
/**
 * `null` at full strength.
 */
choice: Choice | null, };

/**
 * A side, in lower case.
 */
export type SideName = "white" | "black";

/**
 * Accuracy and mistake counts of one side.
 */
export type SideReview = { 
/**
 * Mean accuracy of the side's moves, 0 to 100; `null` without moves.
 */
accuracy: number | null, inaccuracies: number, mistakes: number, blunders: number, };

/**
 * A square, such as `e4`.
 */
export type SquareName = `${'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h'}${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8}`;

/**
 * Training data of a network, from its metadata.
 */
export type Training = { 
/**
 * Number of training positions; `null` if the file does not have it.
 */
positions: number | null, 
/**
 * Whether training started from another network; `positions` then counts only the last run.
 */
fromAnotherNet: boolean, };

/**
 * A game with its variations.
 */
export type Tree = { 
/**
 * Format version.
 */
version: number, 
/**
 * FEN; `null` for the standard start.
 */
start: string | null, 
/**
 * PGN tags in file order, without `FEN` and `SetUp`.
 */
tags: Array<[string, string]>, 
/**
 * The start, then moves, each after its parent. Among siblings the first is the main line,
 * the others are variations.
 */
nodes: Array<Node>, };

/**
 * All moves of a tree.
 */
export type TreeReport = { 
/**
 * FEN of the start.
 */
start: string, startKey: string, 
/**
 * Plies by node, that of node 1 first.
 */
plies: Array<Ply>, 
/**
 * Child nodes by node, the main line first.
 */
children: Array<Array<number>>, 
/**
 * Ending of the main line.
 */
ending: EndingReport | null, };

/**
 * First layer from one side's perspective.
 */
export type ViewReport = { side: SideName, 
/**
 * Whether the files are mirrored.
 */
mirrored: boolean, 
/**
 * Activations scaled to `0..=255`.
 */
activations: Array<number>, 
/**
 * Contribution of the activations to the value; `null` if hidden layers follow.
 */
adds: number | null, };

/**
 * Score from White's view.
 */
export type WhiteScore = { "cp": number } | { "mate": number };

/**
 * Value of a piece before and after a move.
 */
export type WorthChange = { color: SideName, 
/**
 * Kind of piece after the move; before it, if captured.
 */
piece: PieceName, from: SquareName, 
/**
 * Square after the move; `null` if captured.
 */
to: SquareName | null, before: number, after: number, };

/**
 * A game to write.
 */
export type WrittenGame = { tree: Tree, 
/**
 * Tags for a tree without tags.
 */
tags: Array<[string, string]>, result: string, };
