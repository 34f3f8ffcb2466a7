//! Packing loses nothing.

use half::f16;
use models::packed::{GRID, pack, unpack};
use models::{Architecture, Metadata, Network};

/// A file with these numbers behind its header.
fn file(numbers: &[u16]) -> Vec<u8> {
    let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
    [2, 0, 0, 0, 0, 0, 0, 0, b'{', b'}']
        .into_iter()
        .chain(numbers)
        .collect()
}

#[test]
fn every_f16_comes_back() {
    let all: Vec<u16> = (0..=u16::MAX).collect();
    let file = file(&all);
    let packed = pack(&file).unwrap();
    assert_eq!(unpack(&packed).unwrap(), file);
    // 255 have a byte, the others a byte and two more.
    assert_eq!(packed.len(), 4 + 10 + 255 + 3 * (65_536 - 255));
}

#[test]
fn a_byte_holds_the_grid_from_end_to_end() {
    let steps = (-127..=127).map(|k: i16| f16::from_f32(f32::from(k) / f32::from(GRID)));
    let numbers: Vec<u16> = steps.map(f16::to_bits).collect();
    let file = file(&numbers);
    assert_eq!(pack(&file).unwrap().len(), 4 + 10 + 255);
}

#[test]
fn a_net_is_the_same_again() {
    let architecture = Architecture::hidden([8, 4, 4]);
    let network = Network::random(architecture, 7);
    let bytes = network.to_bytes(&Metadata::new(architecture, "test"));
    assert_eq!(unpack(&pack(&bytes).unwrap()).unwrap(), bytes);
}

#[test]
fn what_is_cut_or_longer_is_refused() {
    let packed = pack(&file(&[0x3c00, 1, 2, 3])).unwrap();
    assert!(unpack(&packed).is_some());
    for end in 0..packed.len() {
        assert_eq!(unpack(&packed[..end]), None, "cut at {end}");
    }
    assert_eq!(unpack(&[&packed[..], &[0, 0]].concat()), None);
    assert_eq!(pack(b"\xff\xff\xff\xff\xff\xff\xff\xff"), None);
    assert_eq!(pack(&file(&[1])[..11]), None);
}
