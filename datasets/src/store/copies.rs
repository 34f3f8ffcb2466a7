//! Copies of datasets in S3.
//!
//! A copy has one object per file, and an index that lists them. The index is written last and read
//! first: without an index the copy is unfinished, and unlisted objects are ignored. Objects are
//! sent in one request, limited to 5 GB; the RocksDB files of a dataset are half of that.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use host::durable::{self, NewFile};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Error;
use crate::input::{HttpReader, Refusal, find, hex, put};
use crate::store::dataset::open_folder;
use crate::store::{Dataset, Manifest, folder, shards};

/// Name of the index object.
const INDEX: &str = "kibitz-dataset.json";

/// Suffix of the folder of an unfinished copy.
const UNFINISHED: &str = ".part";

/// Read size in bytes.
const PIECE_BYTES: usize = 1 << 18;

/// Size of a copy, and the share that existed before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Copied {
    /// Number of files.
    pub files: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Files that existed already.
    pub files_there: u64,
    /// Bytes of those files.
    pub bytes_there: u64,
}

impl Copied {
    /// Sums up files, each with whether it existed.
    fn of(files: &[CopiedFile], there: impl IntoIterator<Item = bool>) -> Copied {
        let mut copied = Copied::default();
        for (file, there) in files.iter().zip(there) {
            copied.files += 1;
            copied.bytes += file.bytes;
            copied.files_there += u64::from(there);
            copied.bytes_there += if there { file.bytes } else { 0 };
        }
        copied
    }

    /// Sums up files that all existed.
    fn before(files: &[CopiedFile]) -> Copied {
        Copied::of(files, files.iter().map(|_| true))
    }
}

/// Index of a copy.
#[derive(Serialize, Deserialize)]
struct Index {
    manifest: Manifest,
    files: Vec<CopiedFile>,
}

/// Index entry of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CopiedFile {
    /// Path in the dataset's folder: `NAME`, or `FOLDER/NAME` in a shard.
    name: String,
    bytes: u64,
    sha256: String,
}

/// Copies a dataset, or a shard of one, from a folder to `s3://BUCKET/NAME`. `watch` is called with
/// the bytes done and the total. A repeated call resumes an interrupted copy.
///
/// # Errors
/// [`Error`] if `from` is not a dataset or changes meanwhile, if another dataset is at `to`, or if
/// the server refuses or the connection is lost.
pub fn upload(from: &Path, to: &str, watch: &(dyn Fn(u64, u64) + Sync)) -> Result<Copied, Error> {
    let manifest = manifest_of(from)?;
    let to = without_slash(to);
    if let Some(index) = read_index(to)? {
        return match is_same(&index.manifest, &manifest) {
            true => Ok(Copied::before(&index.files)),
            false => Err(taken(Path::new(to), "another dataset")),
        };
    }
    let found = files_in(from)?;
    let all = found.iter().map(|(_, bytes)| bytes).sum();
    let count = counter(all, watch);
    let sent = found.par_iter().map(|(name, bytes)| {
        let path = from.join(name);
        let mut file = File::open(&path).map_err(Error::unreadable(&path))?;
        let sha256 = digest(&mut file).map_err(Error::unreadable(&path))?;
        let copy = CopiedFile {
            name: name.clone(),
            bytes: *bytes,
            sha256,
        };
        let there = send(&copy, &file, to, &count)?;
        Ok((copy, there))
    });
    let (files, there): (Vec<CopiedFile>, Vec<bool>) =
        sent.collect::<Result<Vec<_>, Error>>()?.into_iter().unzip();
    if files_in(from)? != found {
        return Err(Error::Changed {
            path: from.to_path_buf(),
        });
    }
    let copied = Copied::of(&files, there);
    let json = json_of(&Index { manifest, files });
    let (bytes, sha256) = (json.len() as u64, hex(&Sha256::digest(&json)));
    let url = format!("{to}/{INDEX}");
    put(&url, &mut Cursor::new(json), bytes, &sha256, &|_| ()).map_err(unsent(&url))?;
    Ok(copied)
}

/// Sends a file unless it exists. Returns whether it existed.
fn send(
    copy: &CopiedFile,
    mut file: &File,
    to: &str,
    count: &(dyn Fn(i64) + Sync),
) -> Result<bool, Error> {
    let url = format!("{to}/{}", copy.name);
    let found = find(&url).map_err(unsent(&url))?;
    let is_there = found.is_some_and(|found| found == (copy.bytes, copy.sha256.clone()));
    match is_there {
        true => count(copy.bytes as i64),
        false => put(&url, &mut file, copy.bytes, &copy.sha256, count).map_err(unsent(&url))?,
    }
    Ok(is_there)
}

/// Copies a dataset from `s3://BUCKET/NAME` into a folder. `watch` is called with the bytes done
/// and the total. An unfinished copy is named `TO.part`; a repeated call resumes it.
///
/// # Errors
/// [`Error`] if the copy is incomplete or damaged, if `to` holds something else or cannot be
/// written, or if the server refuses or the connection is lost.
pub fn download(from: &str, to: &Path, watch: &(dyn Fn(u64, u64) + Sync)) -> Result<Copied, Error> {
    if is_mount_point(to) {
        return Err(Error::MountPoint {
            path: to.to_path_buf(),
        });
    }
    let from = without_slash(from);
    let index = read_index(from)?.ok_or_else(|| Error::NoCopy {
        path: PathBuf::from(from),
    })?;
    if !is_free(to)? {
        return match manifest_of(to) {
            Ok(manifest) if is_same(&manifest, &index.manifest) => Ok(Copied::before(&index.files)),
            Ok(_) => Err(taken(to, "another dataset")),
            Err(_) => Err(taken(to, "something else")),
        };
    }
    // Drops a trailing slash.
    let mut work = OsString::from(to.components().as_path());
    work.push(UNFINISHED);
    let work = PathBuf::from(work);
    begin(&work, &index)?;
    let count = counter(index.files.iter().map(|file| file.bytes).sum(), watch);
    let fetched = index.files.par_iter();
    let fetched = fetched.map(|file| fetch(file, from, &work, &count));
    let there = fetched.collect::<Result<Vec<bool>, Error>>()?;
    // An existing folder is empty here.
    folder::remove_if_empty(to).map_err(Error::unwritable(to))?;
    durable::rename(&work, to).map_err(Error::unwritable(to))?;
    fs::remove_file(to.join(INDEX)).map_err(Error::unwritable(to))?;
    Ok(Copied::of(&index.files, there))
}

/// Fetches a file unless it exists. Returns whether it existed.
fn fetch(
    file: &CopiedFile,
    from: &str,
    work: &Path,
    count: &(dyn Fn(i64) + Sync),
) -> Result<bool, Error> {
    let path = work.join(&file.name);
    if let Ok(mut there) = File::open(&path)
        && digest(&mut there).is_ok_and(|digest| digest == file.sha256)
    {
        count(file.bytes as i64);
        return Ok(true);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Error::unwritable(folder))?;
    }
    let url = format!("{from}/{}", file.name);
    let url = Path::new(&url);
    let reader = HttpReader::open(&url.to_string_lossy());
    let mut reader = reader.map_err(Error::unreadable(url))?.take(file.bytes + 1);
    let mut output = NewFile::create(&path, ".tmp").map_err(Error::unwritable(&path))?;
    let (mut piece, mut hasher) = (vec![0; PIECE_BYTES], Sha256::new());
    loop {
        let read = reader.read(&mut piece).map_err(Error::unreadable(url))?;
        if read == 0 {
            break;
        }
        hasher.update(&piece[..read]);
        output
            .write_all(&piece[..read])
            .map_err(Error::unwritable(&path))?;
        count(read as i64);
    }
    if hex(&hasher.finalize()) != file.sha256 {
        return Err(corrupt(url, format!("not the bytes listed in {INDEX}")));
    }
    output.commit().map_err(Error::unwritable(&path))?;
    Ok(false)
}

/// Creates the folder of an unfinished copy, or checks by its index that it is of the same copy.
fn begin(work: &Path, index: &Index) -> Result<(), Error> {
    let (path, json) = (work.join(INDEX), json_of(index));
    match fs::read(&path) {
        Ok(there) if there == json => return Ok(()),
        Ok(_) => return Err(taken(work, "an unfinished copy of another dataset")),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(Error::unreadable(&path)(error)),
    }
    if !is_free(work)? {
        return Err(taken(work, "something else"));
    }
    fs::create_dir_all(work).map_err(Error::unwritable(work))?;
    durable::write(&path, &json).map_err(Error::unwritable(&path))
}

/// Trims trailing slashes of a URL, except of `s3://` alone, which is refused later.
fn without_slash(url: &str) -> &str {
    match url.trim_end_matches('/') {
        "s3:" => url,
        trimmed => trimmed,
    }
}

/// Returns whether the path is missing or an empty folder.
fn is_free(path: &Path) -> Result<bool, Error> {
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(!path.is_symlink()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(false),
        Err(error) => Err(Error::unreadable(path)(error)),
    }
}

/// Returns whether the path is a mount point, which no folder can replace.
fn is_mount_point(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let device = |path: &Path| Some(fs::metadata(path).ok()?.dev());
        let (here, above) = (device(path), device(&path.join("..")));
        here.is_some() && above.is_some() && here != above
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Returns the manifest of the dataset or shard in a folder.
fn manifest_of(path: &Path) -> Result<Manifest, Error> {
    match &shards::folders_in(path)[..] {
        [] => Ok(open_folder(path)?.1),
        _ => Ok(Dataset::open(path)?.manifest().clone()),
    }
}

/// Returns whether two datasets are equal, however many builds made each.
fn is_same(one: &Manifest, other: &Manifest) -> bool {
    one.of_one_go() == other.of_one_go()
}

/// Lists the files of a dataset with their sizes, sorted by name.
fn files_in(path: &Path) -> Result<Vec<(String, u64)>, Error> {
    let mut folders = shards::folders_in(path);
    if folders.is_empty() {
        folders.push(path.to_path_buf());
    }
    let mut files = Vec::new();
    for folder in folders {
        let unreadable = || Error::unreadable(&folder);
        for entry in fs::read_dir(&folder).map_err(unreadable())? {
            let entry = entry.map_err(unreadable())?;
            let metadata = entry.metadata().map_err(unreadable())?;
            let entry = entry.path();
            let inner = entry.strip_prefix(path).unwrap_or(&entry);
            if metadata.is_file() && is_copied(inner) {
                let parts = inner.components().map(|part| part.as_os_str());
                let parts: Vec<&str> = parts.filter_map(|part| part.to_str()).collect();
                files.push((parts.join("/"), metadata.len()));
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Returns whether a path relative to a dataset's folder is a file of the dataset.
fn is_copied(inner: &Path) -> bool {
    let mut parts = inner.components().map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let is_file = |name: &str| folder::is_of_database(name) && !folder::is_left_by_readers(name);
    match (parts.next(), parts.next(), parts.next()) {
        (Some(Some(name)), None, None) => is_file(name),
        (Some(Some(_)), Some(Some(name)), None) => is_file(name),
        _ => false,
    }
}

/// Reads the index of a copy; `None` if there is none.
fn read_index(place: &str) -> Result<Option<Index>, Error> {
    let url = format!("{place}/{INDEX}");
    let path = Path::new(&url);
    let mut json = Vec::new();
    let read = HttpReader::open(&url).and_then(|mut reader| reader.read_to_end(&mut json));
    match read {
        Ok(_) => {}
        Err(error) if Refusal::is_missing_object(&error) => return Ok(None),
        Err(error) => return Err(Error::unreadable(path)(error)),
    }
    let index: Index =
        serde_json::from_slice(&json).map_err(|error| corrupt(path, error.to_string()))?;
    match index
        .files
        .iter()
        .find(|file| !is_copied(Path::new(&file.name)))
    {
        Some(file) => Err(corrupt(path, format!("unexpected file {:?}", file.name))),
        None => Ok(Some(index)),
    }
}

fn json_of(index: &Index) -> Vec<u8> {
    // Serialising cannot fail: map keys are text, and writing to a Vec always succeeds.
    serde_json::to_vec_pretty(index).unwrap_or_default()
}

/// Returns a closure that sums up the bytes done, negative ones to be sent again, for `watch`.
fn counter(all: u64, watch: &(dyn Fn(u64, u64) + Sync)) -> impl Fn(i64) + Sync {
    let done = AtomicU64::new(0);
    watch(0, all);
    move |bytes| {
        let before = done.fetch_add(bytes as u64, Ordering::Relaxed);
        watch(before.wrapping_add_signed(bytes), all);
    }
}

/// Returns the SHA-256 of the rest of a file, hexadecimal.
fn digest(file: &mut File) -> io::Result<String> {
    let (mut piece, mut hasher) = (vec![0; PIECE_BYTES], Sha256::new());
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hex(&hasher.finalize())),
            read => hasher.update(&piece[..read]),
        }
    }
}

fn taken(path: &Path, what: &'static str) -> Error {
    Error::Taken {
        path: path.to_path_buf(),
        what,
    }
}

fn corrupt(path: &Path, what: String) -> Error {
    Error::Corrupt {
        path: path.to_path_buf(),
        what,
    }
}

/// Returns a closure that converts an error of writing an object.
fn unsent(url: &str) -> impl FnOnce(io::Error) -> Error {
    let path = PathBuf::from(url);
    move |error| Error::stopping(&path, &error).unwrap_or_else(|| Error::unwritable(&path)(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `/proc` is a mount point on every Linux.
    #[test]
    fn refuses_to_replace_a_mount_point() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_mount_point(folder.path()));
        assert!(!is_mount_point(&folder.path().join("none")));
        if cfg!(target_os = "linux") {
            // The check precedes any request.
            let error = download("s3://", Path::new("/proc"), &|_, _| ()).unwrap_err();
            let told = error.to_string();
            assert!(told.contains("give a folder in it"), "{told}");
        }
    }

    #[test]
    fn copies_only_files_of_a_dataset() {
        for name in [
            "CURRENT",
            "000012.sst",
            "MANIFEST-000005",
            "1.dataset/000004.log",
        ] {
            assert!(is_copied(Path::new(name)), "{name}");
        }
        for name in [
            "",
            "LOG",
            "LOCK",
            "LOG.old.1700000000000000",
            "notes.txt",
            "kibitz-unfinished",
            "../CURRENT",
            "/CURRENT",
            "a/../CURRENT",
            "a/b/CURRENT",
            "spill/Train-0.sst",
        ] {
            assert!(!is_copied(Path::new(name)), "{name}");
        }
    }
}
