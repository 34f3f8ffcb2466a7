//! The engine driven by python-chess, a GUI independent of Kibitz.

use tests::{program, python, root, run};

#[test]
fn python_chess_plays_and_analyses() {
    let Some(mut python) = python("chess") else {
        return;
    };
    let script = root().join("tests/reference/uci_gui.py");
    let engine = program("engine");
    let said = run(python.arg(script).arg(engine.get_program())).succeeded();
    assert!(said.out.starts_with("10 games of "), "{}", said.out);
}
