//! Opening lines by Lichess's names, with their frequencies.

use super::random::Random;

/// Named opening line.
pub struct Opening {
    /// Code in the Encyclopaedia of Chess Openings (ECO).
    pub eco: &'static str,
    /// Lichess's name.
    pub name: &'static str,
    /// Moves in SAN, separated by spaces.
    pub moves: &'static str,
    weight: u32,
}

/// Draws a line by its frequency.
pub fn choose(random: &mut Random) -> &'static Opening {
    &OPENINGS[random.weighted(OPENINGS.iter().map(|opening| opening.weight))]
}

const fn line(weight: u32, eco: &'static str, name: &'static str, moves: &'static str) -> Opening {
    Opening {
        eco,
        name,
        moves,
        weight,
    }
}

#[rustfmt::skip]
const OPENINGS: &[Opening] = &[
    line(25, "B10", "Caro-Kann Defense", "e4 c6"),
    line(10, "B12", "Caro-Kann Defense: Advance Variation", "e4 c6 d4 d5 e5 Bf5"),
    line(8, "B13", "Caro-Kann Defense: Exchange Variation", "e4 c6 d4 d5 exd5 cxd5"),
    line(16, "A00", "Van't Kruijs Opening", "e3 e5"),
    line(15, "B20", "Sicilian Defense: Bowdler Attack", "e4 c5 Bc4"),
    line(14, "B30", "Sicilian Defense: Old Sicilian", "e4 c5 Nf3 Nc6"),
    line(10, "B32", "Sicilian Defense: Open", "e4 c5 Nf3 Nc6 d4 cxd4 Nxd4"),
    line(12, "B50", "Sicilian Defense: Modern Variations", "e4 c5 Nf3 d6"),
    line(8, "B54", "Sicilian Defense: Modern Variations, Main Line", "e4 c5 Nf3 d6 d4 cxd4 Nxd4"),
    line(6, "B90", "Sicilian Defense: Najdorf Variation", "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6"),
    line(11, "B23", "Sicilian Defense: Closed", "e4 c5 Nc3"),
    line(8, "B22", "Sicilian Defense: Alapin Variation", "e4 c5 c3 d5 exd5 Qxd5"),
    line(9, "B21", "Sicilian Defense: Smith-Morra Gambit", "e4 c5 d4 cxd4"),
    line(9, "B40", "Sicilian Defense: French Variation", "e4 c5 Nf3 e6"),
    line(15, "A40", "Horwitz Defense", "d4 e6"),
    line(14, "B01", "Scandinavian Defense", "e4 d5"),
    line(12, "B01", "Scandinavian Defense: Mieses-Kotroc Variation", "e4 d5 exd5 Qxd5 Nc3 Qa5"),
    line(9, "B01", "Scandinavian Defense: Modern Variation", "e4 d5 exd5 Nf6"),
    line(13, "C00", "French Defense: Knight Variation", "e4 e6 Nf3 d5"),
    line(9, "C00", "French Defense: Normal Variation", "e4 e6 d4 d5"),
    line(10, "C02", "French Defense: Advance Variation", "e4 e6 d4 d5 e5 c5 c3 Nc6"),
    line(10, "C01", "French Defense: Exchange Variation", "e4 e6 d4 d5 exd5 exd5"),
    line(5, "C11", "French Defense: Classical Variation", "e4 e6 d4 d5 Nc3 Nf6"),
    line(12, "B00", "Pirc Defense", "e4 d6"),
    line(5, "B07", "Pirc Defense: Classical Variation", "e4 d6 d4 Nf6 Nc3 g6 Nf3"),
    line(11, "B06", "Modern Defense", "e4 g6 d4 Bg7"),
    line(10, "B00", "Owen Defense", "e4 b6"),
    line(9, "B00", "Nimzowitsch Defense", "e4 Nc6"),
    line(6, "B02", "Alekhine Defense", "e4 Nf6 e5 Nd5"),
    line(13, "C23", "Bishop's Opening", "e4 e5 Bc4"),
    line(11, "C20", "King's Pawn Game: Leonardis Variation", "e4 e5 d3"),
    line(10, "C20", "King's Pawn Game: Wayward Queen Attack", "e4 e5 Qh5 Nc6 Bc4"),
    line(7, "C21", "Center Game Accepted", "e4 e5 d4 exd4 Qxd4 Nc6"),
    line(6, "C21", "Danish Gambit", "e4 e5 d4 exd4 c3"),
    line(12, "C41", "Philidor Defense", "e4 e5 Nf3 d6"),
    line(9, "C42", "Russian Game", "e4 e5 Nf3 Nf6"),
    line(6, "C42", "Russian Game: Three Knights Game", "e4 e5 Nf3 Nf6 Nc3"),
    line(8, "C25", "Vienna Game: Anderssen Defense", "e4 e5 Nc3 Bc5"),
    line(8, "C26", "Vienna Game: Falkbeer Variation", "e4 e5 Nc3 Nf6"),
    line(8, "C30", "King's Gambit", "e4 e5 f4"),
    line(7, "C33", "King's Gambit Accepted", "e4 e5 f4 exf4 Nf3"),
    line(12, "C50", "Italian Game", "e4 e5 Nf3 Nc6 Bc4"),
    line(11, "C50", "Italian Game: Giuoco Pianissimo", "e4 e5 Nf3 Nc6 Bc4 Bc5 d3"),
    line(8, "C50", "Italian Game: Giuoco Pianissimo, Italian Four Knights Variation", "e4 e5 Nf3 Nc6 Bc4 Bc5 d3 Nf6 Nc3 d6"),
    line(11, "C55", "Italian Game: Two Knights Defense", "e4 e5 Nf3 Nc6 Bc4 Nf6"),
    line(6, "C57", "Italian Game: Two Knights Defense, Knight Attack", "e4 e5 Nf3 Nc6 Bc4 Nf6 Ng5 d5 exd5"),
    line(10, "C44", "Scotch Game", "e4 e5 Nf3 Nc6 d4 exd4"),
    line(7, "C45", "Scotch Game: Classical Variation", "e4 e5 Nf3 Nc6 d4 exd4 Nxd4 Bc5"),
    line(9, "C46", "Three Knights Opening", "e4 e5 Nf3 Nc6 Nc3"),
    line(8, "C47", "Four Knights Game: Italian Variation", "e4 e5 Nf3 Nc6 Nc3 Nf6 Bc4"),
    line(9, "C62", "Ruy Lopez: Steinitz Defense", "e4 e5 Nf3 Nc6 Bb5 d6"),
    line(8, "C65", "Ruy Lopez: Berlin Defense", "e4 e5 Nf3 Nc6 Bb5 Nf6 O-O"),
    line(8, "C70", "Ruy Lopez: Morphy Defense", "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6"),
    line(6, "C68", "Ruy Lopez: Exchange Variation", "e4 e5 Nf3 Nc6 Bb5 a6 Bxc6 dxc6"),
    line(9, "C40", "Elephant Gambit", "e4 e5 Nf3 d5 exd5"),
    line(13, "D00", "Queen's Pawn Game: Accelerated London System", "d4 d5 Bf4"),
    line(12, "D02", "Queen's Pawn Game: Zukertort Variation", "d4 d5 Nf3"),
    line(10, "D02", "Queen's Pawn Game: London System", "d4 d5 Nf3 Nf6 Bf4 e6 e3"),
    line(9, "D01", "Rapport-Jobava System", "d4 d5 Nc3 Nf6 Bf4"),
    line(10, "D00", "Queen's Pawn Game", "d4 d5"),
    line(7, "D00", "Queen's Pawn Game: Mason Variation", "d4 d5 Bf4 Nf6 e3"),
    line(7, "D00", "Blackmar-Diemer Gambit", "d4 d5 e4 dxe4 Nc3"),
    line(11, "D30", "Queen's Gambit Declined", "d4 d5 c4 e6 Nf3"),
    line(9, "D35", "Queen's Gambit Declined: Normal Defense", "d4 d5 c4 e6 Nc3 Nf6"),
    line(9, "D20", "Queen's Gambit Accepted", "d4 d5 c4 dxc4"),
    line(9, "D10", "Slav Defense", "d4 d5 c4 c6"),
    line(10, "A40", "Englund Gambit", "d4 e5 dxe5 Nc6"),
    line(10, "A45", "Indian Defense", "d4 Nf6"),
    line(8, "A45", "Indian Defense: Accelerated London System", "d4 Nf6 Bf4"),
    line(6, "E60", "King's Indian Defense", "d4 Nf6 c4 g6 Nc3 Bg7"),
    line(5, "E20", "Nimzo-Indian Defense", "d4 Nf6 c4 e6 Nc3 Bb4"),
    line(8, "A43", "Benoni Defense: Old Benoni", "d4 c5 d5"),
    line(9, "A80", "Dutch Defense", "d4 f5"),
    line(10, "A10", "English Opening", "c4"),
    line(7, "A20", "English Opening: King's English Variation", "c4 e5 Nc3 Nf6"),
    line(7, "A34", "English Opening: Symmetrical Variation", "c4 c5 Nc3 Nf6"),
    line(10, "A01", "Nimzo-Larsen Attack: Modern Variation", "b3 e5 Bb2 Nc6"),
    line(9, "A04", "Zukertort Opening", "Nf3 d5"),
    line(7, "A06", "Zukertort Opening: Tennison Gambit", "Nf3 d5 e4 dxe4 Ng5"),
    line(8, "A02", "Bird Opening", "f4 d5 Nf3"),
    line(8, "A00", "Hungarian Opening", "g3 d5 Bg2"),
    line(8, "A00", "Mieses Opening", "d3 e5"),
    line(6, "A00", "Polish Opening", "b4 e5 Bb2"),
    line(5, "A00", "Ware Opening", "a4 e5"),
];

#[cfg(test)]
mod tests {
    use shakmaty::san::San;
    use shakmaty::{Chess, Position};

    use super::OPENINGS;

    #[test]
    fn every_line_is_legal() {
        for opening in OPENINGS {
            opening
                .moves
                .split(' ')
                .fold(Chess::new(), |position, san| {
                    let parsed: San = san.parse().expect("SAN");
                    let m = parsed.to_move(&position);
                    let m = m.unwrap_or_else(|error| panic!("{}: {san}: {error}", opening.name));
                    position.play(m).expect("a legal move")
                });
        }
    }
}
