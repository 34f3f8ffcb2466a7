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
 * How strongly Kibitz plays.
 */
export type LevelName = "easy" | "medium" | "hard";

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
 * A game that was read.
 */
export type PgnGame = { tags: Array<[string, string]>, 
/**
 * A FEN; `null` for the usual start.
 */
start: string | null, moves: Array<string>, 
/**
 * What comments say of the position after each move.
 */
evals: Array<WhiteScore | null>, result: string | null, 
/**
 * Where reading had to end before the game did.
 */
error: string | null, };

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
 * What the request of the same name brings; a net that is loaded is described
 * as one that is used.
 */
export type Reply = { "game": GameReport } | { "position": PositionReport } | { "parseMove": string } | { "readPgn": Array<PgnGame> } | { "writePgn": string } | { "evaluate": PositionEvaluation } | { "use": NetDescription } | { "search": SearchResult };

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
moves: Array<string>, } | { "op": "readPgn", text: string, } | { "op": "writePgn" } & WrittenGame | { "op": "evaluate" } & Game | { "op": "use", kind: EvaluationKind, embedded: boolean, } | { "op": "search" } & SearchRequest;

/**
 * What to search, and how far; without any limit it runs until the worker is ended.
 */
export type SearchRequest = { depth?: number, nodes?: number, 
/**
 * Milliseconds for the move.
 */
movetime?: number, clock?: MoverClock, level?: LevelName, 
/**
 * Lines to report; one where it is left out.
 */
lines?: number, 
/**
 * From 0 to below 1: which of the moves that a level lets pass is played.
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
time: number, };

/**
 * A side.
 */
export type SideName = "white" | "black";

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
 * From White's view.
 */
export type WhiteScore = { "cp": number } | { "mate": number };

/**
 * A game to be written.
 */
export type WrittenGame = { tags: Array<[string, string]>, result: string, 
/**
 * Of the position after each move; may be shorter than the moves.
 */
evals: Array<WhiteScore | null>, 
/**
 * A FEN; `null` for the usual start.
 */
start: string | null, 
/**
 * As UCI writes them.
 */
moves: Array<string>, };
