use super::*;
use crate::perception::image::{Image, Shape};

const PADDED: Significant = Significant::of(Format::Bgrx8);

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

fn counts(index: usize, significant: Significant) -> bool {
    significant == Significant::ALL || index % 4 != 3
}

/// Pairs of rows of 0 to 300 bytes at every alignment to 32, with 0 to 3 changed bytes.
fn each_pair(significant: Significant, mut test: impl FnMut(&[u8], &[u8], &mut Random)) {
    let mut random = Random(7);
    let one: Vec<u8> = (0..400).map(|_| random.below(256) as u8).collect();
    for length in (0..300).filter(|length| significant == Significant::ALL || length % 4 == 0) {
        for alignment in 0..32 {
            let mut other = one.clone();
            for _ in 0..random.below(4) {
                other[alignment + random.below(length.max(1))] ^= 1 << random.below(8);
            }
            test(&one[alignment..alignment + length], &other[alignment..alignment + length], &mut random);
        }
    }
}

#[test]
fn first_difference_is_exact_in_both_kernels() {
    for significant in [Significant::ALL, PADDED] {
        each_pair(significant, |one, other, _| {
            let expected = (0..one.len()).find(|&index| one[index] != other[index] && counts(index, significant));
            assert_eq!(first_difference(one, other, significant), expected, "{} bytes", one.len());
            assert_eq!(plain::first_difference(one, other, significant.0), expected, "{} bytes", one.len());
            assert_eq!(is_same_row(one, other, significant), expected.is_none());
        });
    }
}

#[test]
fn differing_pixels_are_exact_for_all_sizes_of_pixels() {
    for (pixel_size, significant) in
        [(1, Significant::ALL), (2, Significant::ALL), (3, Significant::ALL), (4, Significant::ALL), (4, PADDED)]
    {
        each_pair(significant, |one, other, _| {
            let pixels = (one.len() / pixel_size).min(64);
            let (one, other) = (&one[..pixels * pixel_size], &other[..pixels * pixel_size]);
            let differs = |index: usize| one[index] != other[index] && counts(index, significant);
            let expected = (0..pixels)
                .filter(|pixel| (pixel * pixel_size..(pixel + 1) * pixel_size).any(differs))
                .fold(0, |bits, pixel| bits | 1 << pixel);
            assert_eq!(differing_pixels(one, other, pixel_size, significant), expected, "{pixels} of {pixel_size}");
            if pixel_size == 4 {
                assert_eq!(plain::differing_words(one, other, significant.0), expected);
            }
            let plain = plain::differing_bytes(one, other, significant.0);
            assert_eq!(differing_bytes(one, other, significant), plain, "{} bytes", one.len());
        });
    }
}

#[test]
fn tolerance_of_bytes_is_exact_in_both_kernels() {
    for significant in [Significant::ALL, PADDED] {
        each_pair(significant, |one, other, random| {
            let tolerance = [0, 1, 3, 8, 64, 254, 255][random.below(7)];
            let mut near: Vec<u8> = one.iter().map(|&byte| byte.saturating_add(random.below(4) as u8)).collect();
            if random.below(2) == 0 {
                near.copy_from_slice(other);
            }
            let expected = (0..one.len())
                .all(|index| !counts(index, significant) || one[index].abs_diff(near[index]) <= tolerance);
            assert_eq!(bytes_within(one, &near, tolerance, significant), expected, "{} bytes", one.len());
            assert_eq!(plain::bytes_within(one, &near, tolerance, significant.0), expected, "{} bytes", one.len());
        });
    }
}

#[test]
fn tolerance_of_565_is_by_channel() {
    let shape = Shape::new(Format::Rgb565, 1, 1);
    let image = |red: u16, green: u16, blue: u16| {
        let mut image = Image::new(shape).unwrap();
        image.view_mut().row(0).copy_from_slice(&(red << 11 | green << 5 | blue).to_ne_bytes());
        image
    };
    let black = image(0, 0, 0);
    // One step of red is 8.2 of 255, one of green 4.05.
    for (other, tolerance, expected) in [
        (image(1, 0, 0), 8, false),
        (image(1, 0, 0), 9, true),
        (image(0, 0, 1), 8, false),
        (image(0, 0, 1), 9, true),
        (image(0, 1, 0), 4, false),
        (image(0, 1, 0), 5, true),
        (image(31, 63, 31), 254, false),
        (image(31, 63, 31), 255, true),
    ] {
        assert_eq!(within(&black.view(), &other.view(), tolerance), expected, "{:?} {tolerance}", other.view().row(0));
    }
}

#[test]
fn tolerance_sees_the_chroma_plane_and_whole_counts() {
    let mut chroma = Image::new(Shape::new(Format::Nv12, 3, 3)).unwrap();
    let black = Image::new(chroma.shape()).unwrap();
    chroma.view_mut().chroma_row(1)[3] = 5;
    assert!(within(&black.view(), &chroma.view(), 5) && !within(&black.view(), &chroma.view(), 4));
    let mut counted = Image::new(Shape::new(Format::Count32, 1, 1)).unwrap();
    let zero = Image::new(counted.shape()).unwrap();
    counted.view_mut().row(0).copy_from_slice(&256u32.to_ne_bytes());
    assert!(!within(&zero.view(), &counted.view(), 255));
}

#[test]
fn padding_is_ignored() {
    let shape = Shape::new(Format::Rgba8, 5, 2);
    let (mut one, other) = (Image::new(shape).unwrap(), Image::new(shape).unwrap());
    one.view_mut().row(1)[4 * 4 + 3] = 200;
    assert!(is_same(&one.view(), &other.view()) && within(&one.view(), &other.view(), 0));
    one.view_mut().row(1)[4 * 4 + 2] = 1;
    assert!(!is_same(&one.view(), &other.view()) && within(&one.view(), &other.view(), 1));
}
