//! Reading a source on all cores.
//!
//! One thread reads the source and hands out its parts, frames or pieces of
//! text. All cores decode and read them, each part for itself: what lies
//! between the first and the last beginning of a game in it. The calling
//! thread takes the results in their order and joins the games that straddle
//! two parts. So everything that is handed on is a function of the source
//! alone, and whatever was handed on, reading can go on behind it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{io, thread};

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::input::{Content, End, FrameDecoder, Node, Part, PartOf, PartRead, Place, Source};
use records::games::{Boundary, any_tag_games, ends_with_result, read_games};
use records::position::Record;
use records::positions::read_positions;
use records::selection::{Filters, GameId, SkipReason, SourceCounts, Split};

/// A game is never longer than this. The longest legal game, 5,898 moves,
/// each with a comment of a kilobyte, would fit.
pub(crate) const MAX_GAME_BYTES: usize = 16 << 20;

/// Text of a frame that is read in one go, unless a game is longer.
const STRIDE_TEXT_BYTES: usize = 1 << 20;

/// Parts that are under way at once, for each core: enough that none waits
/// for another's slower part.
const PARTS_PER_THREAD: usize = 3;

/// How often those who wait look whether anybody wants them to go on.
const LOOK: Duration = Duration::from_millis(50);

/// Labelled positions of a stretch of a source, and what was counted there.
#[derive(Debug, Default)]
pub struct Batch {
    /// Positions to train on, in the order of the source.
    pub train: Vec<Record>,
    /// Positions of held-out games, likewise.
    pub validation: Vec<Record>,
    /// What was counted.
    pub tally: SourceCounts,
    /// Where reading can go on behind it.
    pub(crate) checkpoint: Option<Checkpoint>,
}

/// Where reading of a source can go on, with what has to be known of what
/// lies before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    content: Content,
    place: Place,
    seam: Seam,
}

/// A source, or a part of one, that was read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The source's size in (compressed) bytes.
    pub bytes: u64,
    /// The digest of the bytes that were to be read, hexadecimal.
    pub digest: String,
    /// The digest of the source's first 16 KiB.
    pub head: String,
    /// The digests of the source's granules, if all of it was read.
    pub(crate) granules: Vec<Node>,
    /// Which part was read, if not all.
    pub part: Option<PartRead>,
    /// Where it was damaged, if it was.
    pub damage: Option<Damage>,
}

impl Finished {
    /// Nothing, if the source was read to its end.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn check(&self, path: &Path) -> Result<(), Error> {
        match &self.damage {
            None => Ok(()),
            Some(damage) => Err(Error::damaged(path, damage)),
        }
    }
}

/// What was wrong with a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// The first damage: compressed bytes before the end of the part it was
    /// found in.
    pub offset: u64,
    /// What the decoder said of it.
    pub message: String,
    /// Damaged places in all.
    pub places: u64,
}

impl Damage {
    /// The damage of all parts of a source, which come in their order.
    pub(crate) fn joined(parts: impl Iterator<Item = Damage>) -> Option<Damage> {
        parts.reduce(|a, b| {
            // What breaks off at the end of all is noted by the part that it began in.
            let first = if b.offset < a.offset { &b } else { &a };
            Damage {
                places: a.places + b.places,
                ..first.clone()
            }
        })
    }
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(
            f,
            "damaged at compressed byte {}: {}",
            self.offset, self.message
        )?;
        match self.places {
            1 => Ok(()),
            places => write!(f, " (and at {} more places)", places - 1),
        }
    }
}

/// The seam between what was read and what comes next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Seam {
    edge: Edge,
    /// Whether no unit has begun yet that belongs to the part of the source which is
    /// read: what comes first belongs to the part before.
    before: bool,
    damage: Option<Damage>,
}

/// Text at the edge of a part: the beginning or the end of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Edge {
    #[serde(skip)]
    text: Vec<u8>,
    /// Why text that belongs here is passed over, if it is.
    passing: Option<SkipReason>,
    /// Whether there was such text.
    passed: bool,
}

/// What one part gave.
#[derive(Default)]
struct Stretch {
    /// Text before the first beginning of a game.
    head: Edge,
    /// What lies between.
    batch: Batch,
    /// Text from the last beginning of a game on; `None` if there was none,
    /// so that all text is in `head`.
    tail: Option<Edge>,
    /// What went wrong, behind all that.
    damage: Option<io::Error>,
    /// The memory that the part was in.
    buffer: Vec<u8>,
}

impl Stretch {
    /// What a part gives.
    fn of(job: Job, part: io::Result<Part>, decoder: &mut FrameDecoder) -> Stretch {
        let (stretch, buffer) = match part {
            Ok(Part::Text(text)) => (read_text(job, &text), text),
            Ok(Part::Frame(frame)) => (read_frame(job, &frame, decoder), frame),
            Err(error) => (Stretch::damaged(error), Vec::new()),
        };
        Stretch { buffer, ..stretch }
    }

    /// A part of which nothing is known but what is wrong with it.
    fn damaged(error: io::Error) -> Stretch {
        Stretch {
            damage: Some(error),
            ..Stretch::default()
        }
    }
}

impl Checkpoint {
    /// The text behind the last whole game, which is not part of the
    /// serialised form.
    pub(crate) fn carried_text(&self) -> &[u8] {
        &self.seam.edge.text
    }

    /// Puts the text back.
    pub(crate) fn set_carried_text(&mut self, text: Vec<u8>) {
        self.seam.edge.text = text;
    }
}

/// Goes on with a source behind a checkpoint.
///
/// # Errors
/// As [`Source::open`]; [`Error::OtherSource`] if it is not as it was.
pub(crate) fn resume(
    path: &Path,
    checkpoint: Checkpoint,
    part: Option<PartOf>,
) -> Result<Reading, Error> {
    let Checkpoint {
        content,
        place,
        seam,
    } = checkpoint;
    let source = Source::resume(path, content, &place, part)?;
    Ok(Reading { source, seam })
}

/// A source that is being read.
pub struct Reading {
    source: Source,
    seam: Seam,
}

impl From<Source> for Reading {
    fn from(source: Source) -> Reading {
        let seam = Seam {
            before: source.range().is_some_and(|range| range.start > 0),
            ..Seam::default()
        };
        Reading { source, seam }
    }
}

impl Reading {
    /// The source.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Reads every labelled position, on so many threads or as many as the
    /// system gives, and hands them on in batches in the order of the source. Damage does not stop the reading
    /// where there is a frame behind it to go on with.
    ///
    /// # Errors
    /// Those of `each`, which stop the reading; [`Error::OtherSource`],
    /// [`Error::Interrupted`], [`Error::NoThread`].
    pub fn run(
        self,
        filters: &Filters,
        threads: usize,
        each: impl FnMut(Batch) -> Result<(), Error>,
    ) -> Result<Finished, Error> {
        self.run_unless_stopped(filters, threads, &AtomicBool::new(false), each)
    }

    /// The same, until `stop` is set: even where the source keeps everybody
    /// waiting, as a pipe may.
    ///
    /// # Errors
    /// As [`Reading::run`]; [`Error::Stopped`].
    pub fn run_unless_stopped(
        self,
        filters: &Filters,
        threads: usize,
        stop: &AtomicBool,
        mut each: impl FnMut(Batch) -> Result<(), Error>,
    ) -> Result<Finished, Error> {
        let Reading {
            mut source,
            mut seam,
        } = self;
        let path = source.path().to_path_buf();
        let job = Job {
            path: &path,
            content: source.content(),
            filters,
        };
        let under_way = threads * PARTS_PER_THREAD;
        let (permits, permitted) = sync_channel::<Vec<u8>>(under_way);
        let (parts, queue) = sync_channel::<Task<io::Result<Part>>>(under_way);
        let (done, stretches) = sync_channel::<thread::Result<Task<Stretch>>>(under_way);
        let queue = Queue {
            tasks: Mutex::new(queue),
            closed: AtomicBool::new(false),
        };
        // Not one of the scope: nobody waits for a source that is not needed.
        let reader = thread::Builder::new().spawn(move || {
            hand_out(&mut source, &permitted, &parts);
            source
        });
        let reader = reader.map_err(Error::NoThread)?;
        let taken = thread::scope(|scope| {
            // Without it the workers stop.
            let _closing = Closing(&queue.closed);
            for number in 0..threads {
                let (queue, done) = (&queue, done.clone());
                let spawned = thread::Builder::new().spawn_scoped(scope, move || {
                    let worked = catch_unwind(AssertUnwindSafe(|| work(job, queue, &done)));
                    // Or what it was at would be waited for without end.
                    if let Err(panic) = worked {
                        let _ = done.send(Err(panic));
                    }
                });
                match spawned {
                    Ok(_) => {}
                    Err(error) if number == 0 => return Err(Error::NoThread(error)),
                    // Those that there are do all of it.
                    Err(_) => break,
                }
            }
            drop(done);
            for _ in 0..under_way {
                let _ = permits.send(Vec::new());
            }
            let mut in_order = InOrder::new(stretches);
            while let Some(mut task) = in_order.next(stop)? {
                let _ = permits.send(std::mem::take(&mut task.what.buffer));
                seam.take(task, job, &mut each)?;
            }
            Ok(())
        });
        taken?;
        let mut source = reader.join().unwrap_or_else(|panic| resume_unwind(panic));
        let (path, filters) = (path.clone(), filters.clone());
        let ended = host::unless_stopped(stop, move || {
            let job = Job {
                path: &path,
                content: source.content(),
                filters: &filters,
            };
            let mut batch = Batch::default();
            if source.is_at_border() {
                seam.take_beyond(&mut source, job, &mut batch)?;
            }
            let end = source.end()?;
            let finished = seam.end(job, end, &mut batch)?;
            Ok::<(Batch, Finished), Error>((batch, finished))
        });
        let (batch, finished) = ended.ok_or(Error::Stopped)??;
        each(batch)?;
        Ok(finished)
    }
}

/// What the workers are to do.
struct Queue {
    tasks: Mutex<Receiver<Task<io::Result<Part>>>>,
    /// Whether nobody wants any more done.
    closed: AtomicBool,
}

impl Queue {
    /// The next task; `None` if there are no more.
    fn next(&self) -> Option<Task<io::Result<Part>>> {
        let tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.closed.load(Ordering::Relaxed) {
            match tasks.recv_timeout(LOOK) {
                Ok(task) => return Some(task),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        None
    }
}

/// Closes a queue, on whatever way this is left.
struct Closing<'a>(&'a AtomicBool);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What there is to know to read any part of a source.
#[derive(Clone, Copy)]
struct Job<'a> {
    path: &'a Path,
    content: Content,
    filters: &'a Filters,
}

impl Job<'_> {
    /// Reads whole games into a batch.
    fn read(&self, text: &[u8], batch: &mut Batch) {
        #[cfg(test)]
        tests::panic_if_marked(text);
        let Batch {
            train,
            validation,
            tally,
            ..
        } = batch;
        let mut each =
            |id: GameId, records: &[Record]| match id.split(self.filters.validation_percent) {
                Split::Train => train.extend_from_slice(records),
                Split::Validation => validation.extend_from_slice(records),
            };
        if let Some(format) = self.content.packed {
            return format.read(text, self.filters, tally, each);
        }
        match (self.content.positions, self.content.boundary) {
            (Some(format), _) => read_positions(text, format, self.filters, tally, each),
            // What follows a game must not depend on whether it came with it.
            (None, Boundary::AnyTag) => any_tag_games(text)
                .for_each(|game| read_games(game, self.filters, tally, &mut each)),
            (None, _) => read_games(text, self.filters, tally, each),
        }
    }
}

/// A part, or what it gave, on its way through the threads.
struct Task<T> {
    number: u64,
    what: T,
    /// Compressed bytes up to its end.
    offset: u64,
    place: Option<Place>,
}

/// Reads the source's parts, as many ahead as there are permits. A permit is
/// a buffer to read a part into.
fn hand_out(
    source: &mut Source,
    permitted: &Receiver<Vec<u8>>,
    parts: &SyncSender<Task<io::Result<Part>>>,
) {
    for number in 0.. {
        let Ok(buffer) = permitted.recv() else { return };
        let Some((what, place)) = source.next_part(buffer) else {
            return;
        };
        let task = Task {
            number,
            what,
            offset: source.consumed().load(Ordering::Relaxed),
            place,
        };
        if parts.send(task).is_err() {
            return;
        }
    }
}

/// Turns parts into stretches until there are no more.
fn work(job: Job, queue: &Queue, done: &SyncSender<thread::Result<Task<Stretch>>>) {
    let mut decoder = FrameDecoder::new();
    while let Some(task) = queue.next() {
        let what = Stretch::of(job, task.what, &mut decoder);
        let task = Task {
            number: task.number,
            what,
            offset: task.offset,
            place: task.place,
        };
        if done.send(Ok(task)).is_err() {
            return;
        }
    }
}

fn read_text(job: Job, text: &[u8]) -> Stretch {
    let mut reader = StretchReader::new(job);
    let read = reader.take(text);
    reader.end(&text[read..], None)
}

/// Decodes and reads a frame. One that is corrupt gives nothing at all: what
/// of it is right cannot be told. One that breaks off gives what is there.
fn read_frame(job: Job, frame: &[u8], decoder: &mut FrameDecoder) -> Stretch {
    let mut decoding = match decoder.begin(frame) {
        Ok(decoding) => decoding,
        Err(error) => return Stretch::damaged(error),
    };
    let mut reader = StretchReader::new(job);
    let (mut start, mut end) = (0, 0);
    let damage = loop {
        match decoding.advance() {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(damage)) => break damage,
            Err(error) => return Stretch::damaged(error),
        }
        let text = decoding.text();
        while end < text.len() {
            let length = (2 * (end - start)).clamp(STRIDE_TEXT_BYTES, MAX_GAME_BYTES + 1);
            end = (start + length).min(text.len());
            start += reader.take(&text[start..end]);
        }
    };
    reader.end(&decoding.text()[start..], damage)
}

/// Reads the games of a stretch of text that comes in pieces.
struct StretchReader<'a> {
    job: Job<'a>,
    stretch: Stretch,
    /// Whether the first beginning of a game was seen.
    split: bool,
    /// Inside a game that is too large.
    oversized: bool,
}

/// So much at the end of text that is passed over may belong to the beginning
/// of a game.
pub(crate) const OVERLAP: usize = 1 << 12;

impl<'a> StretchReader<'a> {
    fn new(job: Job<'a>) -> StretchReader<'a> {
        StretchReader {
            job,
            stretch: Stretch::default(),
            split: false,
            oversized: false,
        }
    }

    /// Reads the whole games of the text. Returns how many bytes are done
    /// with; what is left comes again, with more behind it.
    fn take(&mut self, text: &[u8]) -> usize {
        let boundary = self.job.content.boundary;
        let mut done = 0;
        if !self.split || self.oversized {
            match boundary.first(text) {
                Some(start) => {
                    if !self.split {
                        self.stretch.head.append(&text[..start]);
                    } else {
                        self.stretch.batch.tally.skip(SkipReason::OversizedGame);
                    }
                    (self.split, self.oversized, done) = (true, false, start);
                }
                None if text.len() <= MAX_GAME_BYTES && !self.oversized => return 0,
                None => {
                    if !self.split {
                        self.stretch.head.pass(SkipReason::OversizedGame);
                    }
                    return text.len().saturating_sub(OVERLAP);
                }
            }
        }
        match boundary.last(&text[done..]) {
            Some(end) => {
                let games = &text[done..done + end];
                self.job.read(games, &mut self.stretch.batch);
                done + end
            }
            None if text.len() - done <= MAX_GAME_BYTES => done,
            None => {
                self.oversized = true;
                text.len() - OVERLAP
            }
        }
    }

    fn end(mut self, rest: &[u8], damage: Option<io::Error>) -> Stretch {
        if self.split {
            let mut tail = Edge::default();
            tail.append(rest);
            if self.oversized {
                tail.pass(SkipReason::OversizedGame);
            }
            self.stretch.tail = Some(tail);
        } else {
            self.stretch.head.append(rest);
        }
        self.stretch.damage = damage;
        self.stretch
    }
}

impl Edge {
    fn append(&mut self, text: &[u8]) {
        if self.passing.is_some() {
            self.passed |= !text.is_empty();
        } else {
            self.text.extend_from_slice(text);
        }
        if self.text.len() > MAX_GAME_BYTES {
            self.pass(SkipReason::OversizedGame);
        }
    }

    /// Passes over the text, and over all that comes.
    fn pass(&mut self, reason: SkipReason) {
        self.passed |= !self.text.is_empty();
        self.text.clear();
        self.passing = Some(reason);
    }
}

impl Seam {
    /// Joins what a part gave to what came before, and hands it on.
    fn take(
        &mut self,
        task: Task<Stretch>,
        job: Job,
        each: &mut impl FnMut(Batch) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Stretch {
            head,
            mut batch,
            tail,
            damage,
            ..
        } = task.what;
        self.join(head);
        if let Some(tail) = tail {
            let mut straddling = Batch::default();
            self.close(job, &mut straddling);
            each(straddling)?;
            (self.edge, self.before) = (tail, false);
        }
        if let Some(error) = damage {
            each(std::mem::take(&mut batch))?;
            self.damaged(&error, task.offset, job, &mut batch)?;
        }
        batch.checkpoint = task.place.map(|place| Checkpoint {
            content: job.content,
            place,
            seam: self.clone(),
        });
        each(batch)
    }

    /// Adds text to the unit that was begun, if that is to be read.
    fn join(&mut self, head: Edge) {
        if self.before {
            return;
        }
        self.edge.append(&head.text);
        if let Some(reason) = head.passing {
            self.edge.pass(reason);
            self.edge.passed |= head.passed;
        }
    }

    /// Reads on behind a part, up to the first unit that begins there: what stands
    /// before belongs to the last of the part.
    fn take_beyond(
        &mut self,
        source: &mut Source,
        job: Job,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let mut decoder = FrameDecoder::new();
        while !self.before {
            let Some((part, _)) = source.next_part(Vec::new()) else {
                return Ok(());
            };
            let stretch = Stretch::of(job, part, &mut decoder);
            self.join(stretch.head);
            if stretch.tail.is_some() {
                self.close(job, batch);
                self.before = true;
            } else if let Some(error) = stretch.damage {
                // The next part notes it.
                self.lose(&error, job, batch)?;
            }
        }
        Ok(())
    }

    /// Takes what is left at the end of the source.
    fn end(&mut self, job: Job, end: End, batch: &mut Batch) -> Result<Finished, Error> {
        let text = self.edge.text.trim_ascii();
        if job.content.ends_with_result && !text.is_empty() && !ends_with_result(text) {
            let error = io::Error::other("the text ends inside a game");
            self.damaged(&error, end.bytes, job, batch)?;
        }
        self.close(job, batch);
        Ok(Finished {
            bytes: end.bytes,
            digest: end.digest,
            head: end.head,
            granules: end.granules,
            part: end.part,
            damage: self.damage.take(),
        })
    }

    /// Reads the game that is whole now.
    fn close(&mut self, job: Job, batch: &mut Batch) {
        let Edge {
            text,
            passing,
            passed,
        } = std::mem::take(&mut self.edge);
        match passing {
            None => job.read(&text, batch),
            Some(reason) if passed => batch.tally.skip(reason),
            Some(_) => {}
        }
    }

    /// Notes damage.
    fn damaged(
        &mut self,
        error: &io::Error,
        offset: u64,
        job: Job,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        self.lose(error, job, batch)?;
        let damage = self.damage.get_or_insert_with(|| Damage {
            offset,
            message: error.to_string(),
            places: 0,
        });
        damage.places += 1;
        Ok(())
    }

    /// The game that damage lies in is lost, and so is what follows up to the
    /// beginning of the next.
    fn lose(&mut self, error: &io::Error, job: Job, batch: &mut Batch) -> Result<(), Error> {
        if let Some(error) = Error::stopping(job.path, error) {
            return Err(error);
        }
        if self.before {
            return Ok(());
        }
        let text = &mut self.edge.text;
        let whole = match ends_with_result(text) {
            true => text.len(),
            // Several games may have come together here.
            false => job.content.boundary.last(text).unwrap_or(0),
        };
        job.read(&text[..whole], batch);
        text.drain(..whole);
        self.edge.pass(SkipReason::MalformedGame);
        Ok(())
    }
}

/// Puts tasks back into their order, and goes on with a panic of the threads
/// they come from.
struct InOrder {
    stretches: Receiver<thread::Result<Task<Stretch>>>,
    early: BTreeMap<u64, Task<Stretch>>,
    next: u64,
}

impl InOrder {
    fn new(stretches: Receiver<thread::Result<Task<Stretch>>>) -> InOrder {
        InOrder {
            stretches,
            early: BTreeMap::new(),
            next: 0,
        }
    }

    /// The next task; `None` if there are no more.
    fn next(&mut self, stop: &AtomicBool) -> Result<Option<Task<Stretch>>, Error> {
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(Error::Stopped);
            }
            if let Some(task) = self.early.remove(&self.next) {
                self.next += 1;
                return Ok(Some(task));
            }
            match self.stretches.recv_timeout(LOOK) {
                Ok(done) => {
                    let task = done.unwrap_or_else(|panic| resume_unwind(panic));
                    self.early.insert(task.number, task);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }
}

#[cfg(test)]
mod tests;
