//! S3 objects as sources, from moto's server, whose signatures are those of Amazon's own library.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::exit::MISSING;
use tests::objects::S3Server;
use tests::pzstd::framed;
use tests::{both_sides, build, run, sample, text_of};

const JUNE: &str = "dump_2026-06_annotated500.pgn.zst";

#[test]
#[ignore = "of tests/rare.sh"]
fn objects_are_read_whole_and_in_parts() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = |name: &str| path(name).to_str().unwrap().to_string();
    let source = path("june é+.pgn.zst");
    let games = text_of(&sample(JUNE));
    fs::write(&source, framed(games.as_bytes(), 100_000)).unwrap();
    let Some(server) = S3Server::start(&[&source]) else {
        return;
    };
    let url = "s3://games/of june/june é+.pgn.zst";
    build(&[&source], &path("whole")).succeeded();
    let whole = both_sides(&path("whole"));
    server
        .run(&["build", url, "--out", &text("object")])
        .succeeded();
    assert!(both_sides(&path("object")) == whole);

    let parts = ["1/3", "2/3", "3/3"].map(|part| {
        let out = text(&part.replace('/', " of "));
        server
            .run(&["build", url, "--part", part, "--out", &out])
            .succeeded();
        out
    });
    let merged = text("merged");
    let [a, b, c] = &parts;
    server
        .run(&["merge", a, b, c, "--out", &merged])
        .succeeded();
    assert!(both_sides(Path::new(&merged)) == whole);

    let annotate = |source: &str, out: &str, more: &[&str]| {
        let fixed = [
            "annotate", source, "--out", out, "--net", "material", "--nodes", "1",
        ];
        server.run(&[&fixed[..], more].concat()).succeeded();
        PathBuf::from(out)
    };
    let of_file = annotate(source.to_str().unwrap(), &text("file.pgn.zst"), &[]);
    let of_object = annotate(url, &text("object.pgn.zst"), &[]);
    assert!(fs::read(&of_file).unwrap() == fs::read(of_object).unwrap());
    let parts = ["1/2", "2/2"].map(|part| {
        let out = text(&format!("{}.pgn.zst", part.replace('/', " of ")));
        annotate(url, &out, &["--part", part]);
        out
    });
    let joined = text("joined.pgn.zst");
    let [a, b] = &parts;
    server.run(&["join", a, b, "--out", &joined]).succeeded();
    assert!(fs::read(of_file).unwrap() == fs::read(joined).unwrap());
}

#[test]
#[ignore = "of tests/rare.sh"]
fn reports_unreadable_objects() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out").to_str().unwrap().to_string();
    let Some(server) = S3Server::start(&[&sample(JUNE)]) else {
        return;
    };
    let url = format!("s3://games/of june/{JUNE}");
    let build = |url: &str| server.command(&["build", url, "--out", &out]);
    let failed = |command: &mut Command, words: &[&str]| {
        run(command).failed(MISSING, words);
    };
    failed(
        &mut build("s3://games/none"),
        &["s3://games/none: the server answers 404"],
    );
    failed(
        &mut build("s3://games"),
        &["s3://games", "not s3://BUCKET/KEY"],
    );
    let refused = ["the server answers 403"];
    failed(
        build(&url).env("AWS_SECRET_ACCESS_KEY", "another"),
        &refused,
    );
    let half = ["AWS_ACCESS_KEY_ID", "both, or none"];
    failed(build(&url).env_remove("AWS_SECRET_ACCESS_KEY"), &half);
    let mut anonymous = build(&url);
    anonymous.env_remove("AWS_ACCESS_KEY_ID");
    failed(anonymous.env_remove("AWS_SECRET_ACCESS_KEY"), &refused);
    run(&mut build(&url)).succeeded();
}
