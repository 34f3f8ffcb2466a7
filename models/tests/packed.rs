//! Packing is lossless.

use half::f16;
use models::packed::{GRID, pack, unpack};
use models::{Architecture, Metadata, Network};

/// Returns a file with these numbers after its header.
fn file(numbers: &[u16]) -> Vec<u8> {
    let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
    [2, 0, 0, 0, 0, 0, 0, 0, b'{', b'}']
        .into_iter()
        .chain(numbers)
        .collect()
}

#[test]
fn every_f16_round_trips() {
    let all: Vec<u16> = (0..=u16::MAX).collect();
    let file = file(&all);
    let packed = pack(&file).unwrap();
    assert_eq!(unpack(&packed).unwrap(), file);
    // 255 values take a byte, the others three.
    assert_eq!(packed.len(), 4 + 10 + 255 + 3 * (65_536 - 255));
}

#[test]
fn grid_values_take_one_byte() {
    let steps = (-127..=127).map(|k: i16| f16::from_f32(f32::from(k) / f32::from(GRID)));
    let numbers: Vec<u16> = steps.map(f16::to_bits).collect();
    let file = file(&numbers);
    assert_eq!(pack(&file).unwrap().len(), 4 + 10 + 255);
}

#[test]
fn a_net_round_trips() {
    let architecture = Architecture::hidden([8, 4, 4]);
    let network = Network::random(architecture, 7);
    let bytes = network.to_bytes(&Metadata::new(architecture, "test"));
    assert_eq!(unpack(&pack(&bytes).unwrap()).unwrap(), bytes);
}

#[test]
fn truncated_and_longer_bytes_are_rejected() {
    let packed = pack(&file(&[0x3c00, 1, 2, 3])).unwrap();
    assert!(unpack(&packed).is_some());
    for end in 0..packed.len() {
        assert_eq!(unpack(&packed[..end]), None, "cut at {end}");
    }
    assert_eq!(unpack(&[&packed[..], &[0, 0]].concat()), None);
    assert_eq!(pack(b"\xff\xff\xff\xff\xff\xff\xff\xff"), None);
    assert_eq!(pack(&file(&[1])[..11]), None);
}
