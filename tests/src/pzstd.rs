//! Compression in the format of `pzstd`, as in Lichess's dumps: independent zstd frames, each after
//! a skippable frame that holds its size.

use std::io::{self, Write};
use std::num::NonZero;

use zstd::bulk::Compressor;
use zstd::zstd_safe::CParameter;

/// Text per frame of Lichess's dumps.
pub const FRAME_BYTES: usize = 32 << 20;

/// Window of Lichess's dumps (log2 of bytes).
pub const WINDOW_LOG: u32 = 23;

/// Header of a skippable frame of four bytes.
const SKIPPABLE: [u8; 8] = [0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0];

/// Compresses text in frames of `frame_bytes` (the last may be shorter), on all cores. The output
/// does not depend on the number of cores.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_frames(
    text: &[u8],
    frame_bytes: usize,
    level: i32,
    out: &mut impl Write,
) -> io::Result<()> {
    let frames: Vec<&[u8]> = text.chunks(frame_bytes).collect();
    for frames in frames.chunks(cores()) {
        for packed in in_parallel(frames, |frame| pack(frame, level)) {
            let packed = packed?;
            let size = u32::try_from(packed.len()).map_err(io::Error::other)?;
            out.write_all(&SKIPPABLE)?;
            out.write_all(&size.to_le_bytes())?;
            out.write_all(&packed)?;
        }
    }
    Ok(())
}

/// Compresses text in frames of `frame_bytes`.
pub fn framed(text: &[u8], frame_bytes: usize) -> Vec<u8> {
    let mut frames = Vec::new();
    write_frames(text, frame_bytes, 1, &mut frames).expect("memory can be written");
    frames
}

/// Compresses one frame with Lichess's window and a checksum.
fn pack(text: &[u8], level: i32) -> io::Result<Vec<u8>> {
    let mut compressor = Compressor::new(level)?;
    compressor.set_parameter(CParameter::WindowLog(WINDOW_LOG))?;
    compressor.set_parameter(CParameter::ChecksumFlag(true))?;
    compressor.compress(text)
}

/// Returns the number of cores.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Maps each item on its own thread; returns the results in order.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = items
            .iter()
            .map(|item| scope.spawn(move || work(item)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("the work does not panic"))
            .collect()
    })
}
