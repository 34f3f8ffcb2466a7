//! Runs the tests of `ingest/cluster`, the Ray program around `ingest`, on a cluster of several
//! nodes, one of which is killed.

use tests::{program_path, python, root, run};

#[test]
#[ignore = "of tests/rare.sh"]
fn ray_makes_the_dataset_that_one_machine_makes() {
    let Some(mut python) = python("ray, tqdm") else {
        return;
    };
    let said = run(python
        .args(["-m", "unittest", "discover", "-v", "-s"])
        .arg(root().join("ingest/cluster/tests"))
        .env("PYTHONPATH", root().join("ingest/cluster"))
        .env("KIBITZ_INGEST", program_path("ingest")));
    let said = said.succeeded();
    assert!(said.err.contains("node_dies"), "{}", said.err);
}
