//! Bad input: one clear line, a specific exit code, accepted data kept.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use tests::exit::{CANNOT_WRITE, DAMAGED, MISSING, NET_REFUSED, REFUSED, USAGE};
use tests::server::BreakingServer;
use tests::{build, limited, merge, program, run, sample, stats};

const JUNE: &str = "dump_2026-06_annotated500.pgn.zst";

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

fn games(dataset: &Path) -> u64 {
    stats(dataset)["games"].as_u64().unwrap()
}

#[test]
fn a_truncated_dump_gives_every_complete_game_before_the_cut() {
    let folder = tempfile::tempdir().unwrap();
    let (file, dataset) = (
        folder.path().join("cut.pgn.zst"),
        folder.path().join("dataset"),
    );
    let whole = fs::read(sample(JUNE)).unwrap();
    fs::write(&file, &whole[..whole.len() * 2 / 3]).unwrap();
    build(&[&file], &dataset).failed(DAMAGED, &["cut.pgn.zst", "compressed byte"]);
    let kept = games(&dataset);
    assert!((200..500).contains(&kept), "{kept} games");
    // The whole file adds only the missing positions.
    fs::write(&file, &whole).unwrap();
    build(&[&file], &dataset).succeeded();
    assert_eq!(games(&dataset), kept + 500);
    let clean = folder.path().join("clean");
    build(&[&file], &clean).succeeded();
    for count in [
        "fingerprint",
        "positions_train",
        "positions_validation",
        "seen_on_both_sides",
    ] {
        assert_eq!(stats(&dataset)[count], stats(&clean)[count], "{count}");
    }
}

#[test]
fn a_dump_cut_between_two_frames_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let (file, dataset) = (
        folder.path().join("cut.pgn.zst"),
        folder.path().join("dataset"),
    );
    let whole = fs::read(sample(JUNE)).unwrap();
    // The size of the first frame follows the 8 fixed bytes of its header.
    let size = u32::from_le_bytes(whole[8..12].try_into().unwrap()) as usize;
    fs::write(&file, &whole[..12 + size]).unwrap();
    build(&[&file], &dataset).failed(DAMAGED, &["cut.pgn.zst", "inside a game"]);
    assert!((50..100).contains(&games(&dataset)));
}

#[test]
fn reports_the_offset_of_a_corrupt_frame() {
    let folder = tempfile::tempdir().unwrap();
    let (file, dataset) = (
        folder.path().join("bad.pgn.zst"),
        folder.path().join("dataset"),
    );
    let mut bytes = fs::read(sample(JUNE)).unwrap();
    let middle = bytes.len() * 3 / 4;
    bytes[middle..middle + 64].fill(0x55);
    fs::write(&file, bytes).unwrap();
    build(&[&file], &dataset).failed(DAMAGED, &["bad.pgn.zst", "compressed byte"]);
    assert!((100..500).contains(&games(&dataset)));
}

#[test]
fn one_damaged_source_does_not_cost_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let (file, dataset) = (
        folder.path().join("cut.pgn.zst"),
        folder.path().join("dataset"),
    );
    let whole = fs::read(sample(JUNE)).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    build(&[&file, &sample("dump_2021-10_first499.pgn.zst")], &dataset).failed(DAMAGED, &["cut"]);
    assert!(games(&dataset) > 499);
}

#[test]
fn empty_files_other_files_and_missing_files_leave_no_dataset_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("empty.pgn"), "").unwrap();
    fs::write(path("poem.txt"), "Roses are red,\nviolets are blue.\n").unwrap();
    fs::write(path("noise.pgn.zst"), (0..=255).collect::<Vec<u8>>()).unwrap();
    build(&[&path("empty.pgn")], &path("d")).failed(DAMAGED, &["empty.pgn", "empty"]);
    build(&[&path("poem.txt")], &path("d")).failed(DAMAGED, &["poem.txt", "not a PGN"]);
    let said = run(program("ingest")
        .args(["build", "/dev/null", "--out"])
        .arg(path("d")));
    said.failed(DAMAGED, &["/dev/null", "empty"]);
    build(&[&path("noise.pgn.zst")], &path("d")).failed(DAMAGED, &["noise.pgn.zst", "not a PGN"]);
    build(&[&path("none.pgn")], &path("d")).failed(MISSING, &["none.pgn", "No such file"]);
    build(&[folder.path()], &path("d")).failed(MISSING, &["folder"]);
    assert!(!path("d").exists());
}

/// A source that fails does not stop the others, and a pipe keeps its beginning.
#[test]
fn a_pipe_beside_a_file_is_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("dataset");
    let ingest = program("ingest").get_program().to_owned();
    let script = "\"$0\" build <(cat \"$1\") - --out \"$2\" </dev/null";
    let mut shell = Command::new("bash");
    shell
        .args(["-c", script])
        .arg(ingest)
        .arg(sample(JUNE))
        .arg(&dataset);
    run(&mut shell).failed(DAMAGED, &["-: ", "empty"]);
    assert_eq!(games(&dataset), 500);
}

#[test]
fn games_of_other_variants_are_left_out_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (file, dataset) = (folder.path().join("mix.pgn"), folder.path().join("dataset"));
    let game = |variant: &str, id: &str| {
        format!(
            "[Event \"x\"]\n[Site \"https://lichess.org/{id}\"]\n[Variant \"{variant}\"]\n\n\
             1. e4 {{ [%eval 0.3] }} *\n\n"
        )
    };
    let pgn = game("Antichess", "aaaaaaaa")
        + &game("Standard", "bbbbbbbb")
        + &game("Chess960", "cccccccc");
    fs::write(&file, pgn).unwrap();
    build(&[&file], &dataset).succeeded();
    let found = stats(&dataset);
    assert_eq!(
        (
            &found["games"],
            &found["labels"],
            &found["skipped"]["variant"]
        ),
        (&3.into(), &1.into(), &2.into())
    );
}

#[test]
fn refuses_folders_that_are_not_datasets() {
    let folder = tempfile::tempdir().unwrap();
    let said = |path: &Path| run(program("ingest").arg("stats").arg(path));
    said(&folder.path().join("none")).failed(MISSING, &["none"]);
    said(folder.path()).failed(REFUSED, &["not a Kibitz dataset"]);
    // A dataset is not made inside a folder with other files either.
    fs::write(folder.path().join("thesis.txt"), "x").unwrap();
    build(&[&sample(JUNE)], folder.path()).failed(REFUSED, &["not a Kibitz dataset"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_dataset_of_another_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("dataset");
    build(&[&sample(JUNE)], &dataset).succeeded();
    for version in ["4", "99"] {
        set_format_version(&dataset, version);
        let format = format!("format {version}");
        let words = ["dataset", &format, "rebuild"];
        run(program("ingest").arg("stats").arg(&dataset)).failed(REFUSED, &words);
        build(&[&sample(JUNE)], &dataset).failed(REFUSED, &words);
        let merged = folder.path().join("merged");
        merge(std::slice::from_ref(&dataset), &merged).failed(REFUSED, &words);
        assert!(!merged.exists());
    }
    let net = folder.path().join("net.safetensors");
    let mut fit = program("trainer");
    fit.args(["fit", "--device", "cpu", "--data"])
        .arg(&dataset)
        .arg("--out")
        .arg(&net);
    run(&mut fit).failed(REFUSED, &["format 99", "rebuild"]);
}

#[test]
fn datasets_by_url_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    build(&[&sample(JUNE)], &folder.path().join("d")).succeeded();
    let (june, url) = (sample(JUNE), "s3://games/d");
    for arguments in [
        &["stats", url][..],
        &["merge", url, "--out", "new"],
        &["build", june.to_str().unwrap(), "--out", url],
        &["merge", "d", "--out", url],
        &["shard", "d", "--number", "2", "--out", url],
    ] {
        let mut command = program("ingest");
        command.args(arguments).current_dir(folder.path());
        run(&mut command).failed(USAGE, &[url, "aws s3 sync"]);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// Overwrites the format version at the key given in `docs/dataset.md`.
fn set_format_version(dataset: &Path, version: &str) {
    let options = rocksdb::Options::default();
    let families = rocksdb::DB::list_cf(&options, dataset).unwrap();
    let db = rocksdb::DB::open_cf(&options, dataset, families).unwrap();
    db.put_cf(db.cf_handle("meta").unwrap(), "format_version", version)
        .unwrap();
}

#[test]
fn other_filters_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("dataset");
    build(&[&sample(JUNE)], &dataset).succeeded();
    let mut command = program("ingest");
    command
        .arg("build")
        .arg(sample(JUNE))
        .args(["--validation-percent", "50", "--out"])
        .arg(&dataset);
    run(&mut command).failed(REFUSED, &["other filters"]);
}

#[test]
fn a_second_writer_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("dataset");
    build(&[&sample(JUNE)], &dataset).succeeded();
    let _first = datasets::Builder::open(&dataset, datasets::Filters::default(), &[]).unwrap();
    build(&[&sample(JUNE)], &dataset).failed(REFUSED, &["in use by another process"]);
}

/// Write error midway, as on a full disk: the shell limits the file size.
#[test]
fn a_failed_write_keeps_what_was_sealed() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("dataset");
    build(&[&sample("dump_2021-10_first499.pgn.zst")], &dataset).succeeded();
    let before = stats(&dataset)["fingerprint"].clone();
    let mut ingest = program("ingest");
    ingest
        .arg("build")
        .arg(sample(JUNE))
        .arg("--out")
        .arg(&dataset);
    run(&mut limited(&ingest, 200)).failed(CANNOT_WRITE, &["cannot write", "dataset"]);
    assert_eq!(stats(&dataset)["fingerprint"], before);
    run(&mut ingest).succeeded();
    assert_eq!(games(&dataset), 999);
}

#[test]
fn a_net_of_another_layout_is_refused_by_trainer_and_engine() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let architecture = models::Architecture::hidden([8, 4, 4]);
    let mut metadata = models::Metadata::new(architecture, "test");
    metadata.layout = "halfkp-41024".to_string();
    let bytes = models::Network::random(architecture, 1).to_bytes(&metadata);
    fs::write(path("other.safetensors"), bytes).unwrap();
    fs::write(path("noise.safetensors"), "noise").unwrap();
    for (file, code, words) in [
        (
            "other.safetensors",
            NET_REFUSED,
            ["other.safetensors", "halfkp-41024"],
        ),
        (
            "noise.safetensors",
            NET_REFUSED,
            ["noise.safetensors", "not a safetensors file"],
        ),
        (
            "none.safetensors",
            MISSING,
            ["none.safetensors", "No such file"],
        ),
    ] {
        let mut engine = program("engine");
        engine.args(["eval", START, "--net"]).arg(path(file));
        run(&mut engine).failed(code, &words);
        let mut trainer = program("trainer");
        trainer
            .args(["eval", "--net"])
            .arg(path(file))
            .arg("--pgn")
            .arg(sample(JUNE));
        run(&mut trainer).failed(code, &words);
    }
}

/// Each error is printed once, without useless advice.
#[test]
fn reports_each_error_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("poem.txt"), "Roses are red.\n").unwrap();
    let server = BreakingServer::start(Vec::new(), 0);
    server.set_missing(true);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr();
    let closed = format!("http://{}/games.pgn", closed.unwrap());
    let mut cut = fs::read(sample(JUNE)).unwrap();
    cut.truncate(100_000);
    fs::write(path("cut.pgn.zst"), cut).unwrap();
    for (source, code, words) in [
        (Path::new("-"), DAMAGED, "standard input is empty"),
        (Path::new(&server.url), MISSING, "404"),
        (Path::new(&closed), MISSING, "refused"),
        (
            Path::new("ftp://a/b.pgn"),
            MISSING,
            "http://, https:// and s3://",
        ),
        (Path::new("http://"), MISSING, "not a URL"),
        (&path("none.pgn"), MISSING, "No such file"),
        (&path("poem.txt"), DAMAGED, "not a PGN"),
        (&path("cut.pgn.zst"), DAMAGED, "damaged at compressed byte"),
        (folder.path(), MISSING, "is a folder"),
    ] {
        let mut command = program("ingest");
        command.arg("build").arg(source).arg("--out");
        command.arg(path("dataset")).stdin(Stdio::null());
        let said = run(&mut command).failed(code, &[words]);
        assert_eq!(said.err.matches(words).count(), 1, "{}", said.err);
    }
    let said = build(&[Path::new(&closed), Path::new(&server.url)], &path("none"));
    said.failed(MISSING, &["nothing could be read of any source", "refused"]);
    assert!(!path("none").exists());
    // With another source after it: printed at once and at the end.
    let said = build(&[Path::new(&closed), &sample(JUNE)], &path("two"));
    let said = said.failed(MISSING, &["sealed", &closed]);
    assert!(said.err.contains("refused"), "{}", said.err);
    assert!(
        said.err.contains("going on with the next source"),
        "{}",
        said.err
    );
}

#[test]
fn suggests_freeing_space_only_on_a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    build(&[&sample(JUNE)], &path("dataset")).succeeded();
    let net = path("net.safetensors");
    std::fs::write(&net, "a net").unwrap();
    std::fs::copy(&net, path("net.svg")).unwrap();
    let plot = |file: &Path| {
        let mut command = program("ingest");
        command.arg("stats").arg(path("dataset"));
        run(command.arg("--plot").arg(file))
    };
    let said = plot(&net);
    assert_eq!(said.code, Some(2), "{}", said.err);
    for words in ["net.safetensors", ".svg"] {
        assert!(said.err.contains(words), "{words}: {}", said.err);
    }
    plot(&path("net.svg")).failed(5, &["net.svg", "not a picture"]);
    for file in [&net, &path("net.svg")] {
        assert_eq!(std::fs::read(file).unwrap(), b"a net");
    }
    for (file, words, full) in [
        (path("no/such/folder.svg"), "No such file", false),
        (folder.path().to_path_buf(), "directory", false),
        ("/dev/full".into(), "No space left", true),
    ] {
        let said = plot(&file).failed(CANNOT_WRITE, &[&file.to_string_lossy(), words]);
        assert_eq!(said.err.contains("make room"), full, "{}", said.err);
    }
    // A device is written to and not replaced.
    plot(Path::new("/dev/null")).succeeded();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    let mut command = program("ingest");
    command.arg("stats").arg(path("dataset"));
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut child = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    let said = child.wait().unwrap();
    assert_eq!(said.code(), Some(CANNOT_WRITE));
}

#[test]
fn names_the_filters_that_differ() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("dataset");
    build(&[&sample(JUNE)], &dataset).succeeded();
    let mut command = program("ingest");
    command
        .arg("build")
        .arg(sample(JUNE))
        .args(["--keep", "quiet", "--out"]);
    let words = ["other filters (quiet not set, now true)", "another --out"];
    run(command.arg(&dataset)).failed(REFUSED, &words);
}

#[test]
fn wrong_usage_has_its_own_exit_code() {
    for name in ["ingest", "trainer", "engine"] {
        let said = run(program(name).arg("--no-such-flag"));
        assert_eq!(said.code, Some(2), "{}", said.err);
    }
}
