//! Packed form of a net file, for embedding and for download by a browser.
//!
//! `trainer` rounds the weights of the first layer, nearly all of a file, to multiples of 1/128
//! ([`GRID`]). A byte then holds most of them, and compresses on a web server to little more than
//! half the size of f16. Packing is lossless: the unpacked file is identical byte for byte.
//!
//! Layout of the packed form:
//!
//! 1. the number of f16 values, a u32;
//! 2. the safetensors header: a u64 length and that many bytes of JSON;
//! 3. a byte for each f16: `k / 128` as `2 k`, or `-2 k - 1` for negative k; 255 for any other
//!    value;
//! 4. the other values.
//!
//! All numbers are little-endian. The engine's build script uses this crate, so it has no
//! dependencies.

/// Inverse step of the grid: a byte encodes a multiple of `1 / GRID`.
pub const GRID: u16 = 128;

/// Code of an f16 outside the grid.
const OTHER: u8 = 255;

/// Returns the f16 bits of a code.
const fn f16_of(code: u8) -> u16 {
    let negative = code % 2 == 1;
    let steps = (code as u16).div_ceil(2);
    if steps == 0 {
        return 0;
    }
    let log = steps.ilog2() as u16;
    // f16: exponent bias 15, ten fraction bits after the leading one.
    let exponent = log + 15 - GRID.ilog2() as u16;
    let fraction = (steps << (10 - log)) & 0x3ff;
    (negative as u16) << 15 | exponent << 10 | fraction
}

/// [`f16_of`] of each code.
const CODES: [u16; OTHER as usize] = {
    let mut codes = [0; OTHER as usize];
    let mut code = 0;
    while code < OTHER {
        codes[code as usize] = f16_of(code);
        code += 1;
    }
    codes
};

/// Returns the length of a safetensors header in bytes, length field included. `None` if the file
/// is shorter.
fn header(file: &[u8]) -> Option<usize> {
    let length = u64::from_le_bytes(*file.first_chunk()?);
    let end = usize::try_from(length).ok()?.checked_add(8)?;
    (end <= file.len()).then_some(end)
}

/// Packs a safetensors file of f16. `None` if it has no valid header, or an odd number of bytes
/// after it.
pub fn pack(file: &[u8]) -> Option<Vec<u8>> {
    let (header, numbers) = file.split_at(header(file)?);
    let (numbers, []) = numbers.as_chunks::<2>() else {
        return None;
    };
    let mut packed = u32::try_from(numbers.len()).ok()?.to_le_bytes().to_vec();
    packed.extend_from_slice(header);
    let mut code_of = vec![OTHER; 1 << 16];
    for (code, &number) in (0..OTHER).zip(&CODES) {
        code_of[number as usize] = code;
    }
    let mut others = Vec::new();
    for bytes in numbers {
        let code = code_of[u16::from_le_bytes(*bytes) as usize];
        if code == OTHER {
            others.extend_from_slice(bytes);
        }
        packed.push(code);
    }
    packed.append(&mut others);
    Some(packed)
}

/// Unpacks the result of [`pack`]. `None` for other bytes.
pub fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let (numbers, rest) = packed.split_first_chunk()?;
    let (header, rest) = rest.split_at(header(rest)?);
    let (codes, others) = rest.split_at_checked(u32::from_le_bytes(*numbers) as usize)?;
    let (others, []) = others.as_chunks::<2>() else {
        return None;
    };
    let mut others = others.iter();
    let mut file = header.to_vec();
    file.reserve(2 * codes.len());
    for &code in codes {
        file.extend_from_slice(&match code {
            OTHER => *others.next()?,
            _ => CODES[code as usize].to_le_bytes(),
        });
    }
    others.next().is_none().then_some(file)
}
