//! Valid and damaged requests: each gets an answer, without a panic.

use models::{PolicyMetadata, PolicyNetwork};
use web::{Host, Session};

struct TestHost;

impl Host for TestHost {
    fn now(&self) -> f64 {
        0.0
    }
    fn report(&self, _: &str) {}
}

/// Requests of each kind, with numbers at the ends of their ranges.
const REQUESTS: [&str; 24] = [
    r#"{"op":"game","start":"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 65535","moves":["e2e4","e7e5"]}"#,
    r#"{"op":"position","start":"r3k2r/8/8/8/8/8/8/R3K2R b KQkq e3 99 65535","moves":["e8g8","e1c1"]}"#,
    r#"{"op":"parseMove","moves":["e2e4"],"text":"Nf6"}"#,
    r#"{"op":"parseMove","moves":["e2e4"],"text":"0-0-0"}"#,
    r#"{"op":"setUp","fen":"4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1"}"#,
    r#"{"op":"chess960","number":959}"#,
    r#"{"op":"grow","start":null,"moves":["e2e4","e7e5"]}"#,
    r#"{"op":"tree","at":1,"tree":{"version":1,"start":null,"tags":[],"nodes":[{},{"parent":0,"uci":"e2e4","clock":4294967295,"eval":{"cp":-2147483648}}]}}"#,
    r#"{"op":"play","at":0,"move":"d2d4","tree":{"version":1,"start":null,"tags":[],"nodes":[{},{"parent":0,"uci":"e2e4","glyphs":[255]}]}}"#,
    r#"{"op":"edit","at":2,"change":{"edit":"makeMain"},"tree":{"version":1,"start":null,"tags":[],"nodes":[{},{"parent":0,"uci":"e2e4"},{"parent":0,"uci":"d2d4"}]}}"#,
    r#"{"op":"review","at":0,"line":[1],"findings":[{"score":{"cp":2147483647},"pv":["d2d4","d7d5"]},{"score":{"mate":-2147483648},"pv":[]}],"ratings":[2500,null],"tree":{"version":1,"start":null,"tags":[],"nodes":[{},{"parent":0,"uci":"e2e4"}]}}"#,
    r#"{"op":"listPgn","text":"[Event \"a\"]\n\n1. e4 (1. d4 {x [%clk 0:00:01]} *\n\n[Event \"b\"]\n\n1. d4 1-0"}"#,
    r#"{"op":"readPgn","text":"[FEN \"r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1\"]\n\n1... O-O {[%eval #-3]} (1... Kd7 2. Ra8) 2. Rh8+ $4 Kxh8 0-1"}"#,
    r#"{"op":"writePgn","tree":{"version":1,"start":null,"tags":[],"nodes":[{},{"parent":0,"uci":"e2e4","found":{"mate":-2147483648}}]},"tags":[["Event","x\"\\"]],"result":"*"}"#,
    r#"{"op":"evaluate","start":"4k3/8/8/8/8/8/8/4KQ2 w - - 0 1","moves":[]}"#,
    r#"{"op":"inside","start":"4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1","moves":[],"changes":[{"square":"e8","piece":null},{"square":"h1","piece":"q"}],"pass":true}"#,
    r#"{"op":"weigh","start":"4k3/P7/8/8/8/8/8/4K2R w K - 0 1","moves":[]}"#,
    r#"{"op":"change","start":"4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1","moves":["d4e3"]}"#,
    r#"{"op":"use","kind":"material","embedded":true}"#,
    r#"{"op":"search","moves":["e2e4"],"depth":2,"lines":3,"chance":0.5,"elo":400}"#,
    r#"{"op":"search","moves":["e2e4"],"nodes":99,"depth":18446744073709551615,"lines":18446744073709551615,"movetime":1e300,"chance":1e300,"clock":{"remaining":1e300,"increment":1e300}}"#,
    r#"{"op":"search","moves":["f2f3","e7e5","g2g4","d8h4"],"depth":1,"elo":2850}"#,
    r#"{"op":"search","moves":["e2e4"],"depth":2,"chance":0.5,"person":2500}"#,
    r#"{"op":"people","game":{"start":"4k3/P7/8/8/8/8/8/4K2R w K - 0 1","moves":[]},"rating":4294967295}"#,
];

/// Returns a session with an untrained policy.
fn session() -> Session {
    let mut session = Session::new().unwrap();
    let policy = PolicyNetwork::random(8, 1).to_bytes(&PolicyMetadata::new(8, "test"));
    let answer = session.load_policy(&policy);
    assert_eq!(answer, r#"{"ok":{"policy":{"ratings":[],"moves":null}}}"#);
    session
}

#[test]
fn a_policy_is_needed_and_no_net_is_taken_for_one() {
    let mut session = Session::new().unwrap();
    for request in [
        r#"{"op":"people","game":{"start":null,"moves":[]},"rating":2000}"#,
        r#"{"op":"search","moves":[],"depth":1,"person":2000}"#,
    ] {
        let answer = session.answer(request, &TestHost);
        assert_eq!(answer, r#"{"error":"no policy is loaded"}"#);
    }
    let answer = session.load_policy(engine::embedded_net());
    assert!(answer.contains("trainer fit --policy"), "{answer}");
}

#[test]
fn every_request_is_answered() {
    let mut session = session();
    for request in REQUESTS {
        let answer = session.answer(request, &TestHost);
        let refused = r#"{"error":"#;
        assert_eq!(
            answer.starts_with(refused),
            request.contains("0-0-0"),
            "{request}: {answer}"
        );
        // `{"op":"NAME",...` has the reply `{"ok":{"NAME":...`.
        let name = request.split('"').nth(3).unwrap();
        let reply = format!(r#"{{"ok":{{"{name}":"#);
        assert!(
            answer.starts_with(refused) || answer.starts_with(&reply),
            "{request}: {answer}"
        );
    }
}

#[test]
fn damaged_requests_are_answered() {
    const ROUNDS: usize = 20_000;
    /// Length of the undamaged prefix: `{"op":"` and part of the name.
    const KEPT: usize = 12;
    let alphabet: Vec<char> = "KQRBNPkqrbnp12345678/-wabcdefgh0{}[]\",:#+=xO.9eé\\ \n"
        .chars()
        .collect();
    // xorshift64 (Marsaglia 2003).
    let mut state = 7u64;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % limit as u64) as usize
    };
    let mut session = session();
    for _ in 0..ROUNDS {
        let mut text: Vec<char> = REQUESTS[below(REQUESTS.len())].chars().collect();
        for _ in 0..=below(4) {
            let at = KEPT + below(text.len() - KEPT);
            match below(3) {
                0 => drop(text.remove(at)),
                1 => text.insert(at, alphabet[below(alphabet.len())]),
                _ => text[at] = alphabet[below(alphabet.len())],
            }
        }
        let request: String = text.into_iter().collect();
        // A search without its limit would not end.
        let limited = [r#""depth":2"#, r#""nodes":99,"#, r#""depth":1,"#];
        if request.contains("search") && !limited.iter().any(|limit| request.contains(limit)) {
            continue;
        }
        let answer = session.answer(&request, &TestHost);
        assert!(answer.starts_with('{'), "{request}");
    }
}
