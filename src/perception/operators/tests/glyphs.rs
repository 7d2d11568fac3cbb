use super::*;
use crate::testing::scaled;

/// Ten random pictures of digits. Widths differ.
fn font(dice: &mut Dice, format: Format) -> Vec<Glyph> {
    (0..10)
        .map(|digit| {
            let shape = Shape::new(format, dice.from(4, 7), 8);
            let image = dice.image(shape, 256);
            let mut mask = Image::new(Shape::new(Format::Gray8, shape.width, 8)).unwrap();
            (0..8).for_each(|y| mask.view_mut().row(y).iter_mut().for_each(|pixel| *pixel = dice.below(3) as u8));
            Glyph { digit, image, mask: Some(mask) }
        })
        .collect()
}

/// Draw the pixels of a glyph that its mask marks.
fn draw(image: &mut Image, glyph: &Glyph, left: u32) {
    let size = image.shape().format.pixel_size();
    let (picture, mask) = (glyph.image.view(), glyph.mask.as_ref().unwrap().view());
    for y in 0..picture.shape().height {
        for x in (0..picture.shape().width).filter(|x| mask.row(y)[*x as usize] != 0) {
            let mut view = image.view_mut();
            let start = (left + x) as usize * size;
            view.row(y)[start..start + size].copy_from_slice(bytes(&picture, x, y));
        }
    }
}

#[test]
fn numbers_are_read_from_either_edge() {
    let mut dice = Dice(41);
    for _ in 0..scaled(200) {
        let (format, compare) = [
            (Format::Gray8, Compare::Luma),
            (Format::Bgrx8, Compare::Luma),
            (Format::Bgrx8, Compare::Color),
            (Format::Rgb565, Compare::Color),
        ][dice.below(4) as usize];
        let glyphs = font(&mut dice, format);
        let shape = Shape::new(format, 60, 9);
        let mut image = dice.image(shape, 256);
        let align = [Align::Left, Align::Right][dice.below(2) as usize];
        let spacing = dice.below(3);
        let mut digits: Vec<u32> = (0..dice.from(0, 5)).map(|_| dice.below(10)).collect();
        let number = digits.iter().fold(0, |number, digit| number * 10 + i64::from(*digit));
        if align == Align::Right {
            digits.reverse();
        }
        let mut passed = 0;
        for digit in &digits {
            let glyph = &glyphs[*digit as usize];
            let width = glyph.image.shape().width;
            draw(&mut image, glyph, if align == Align::Left { passed } else { 60 - passed - width });
            passed += width + spacing;
        }
        let count = digits.len() as u64;
        let fit = [Fit::Difference { limit: 0 }, Fit::Correlation { percent: 100 }][dice.below(2) as usize];
        let operator = Operator::Glyphs(Glyphs { glyphs, compare, align, spacing, max_digits: 5, fit });
        let mut state = operator.state(&[shape]).unwrap();
        let mut value = [0; 2];
        operator.measure(&mut state, &[image.view()], None, &Executor::inline(), None, &mut value);
        assert_eq!(value, [if count == 0 { u64::MAX } else { number as u64 }, count]);
    }
}

#[test]
fn noise_is_tolerated_up_to_the_limit() {
    let mut dice = Dice(42);
    let glyphs = font(&mut dice, Format::Gray8);
    let shape = Shape::new(Format::Gray8, 7, 8);
    let mut image = Image::new(shape).unwrap();
    draw(&mut image, &glyphs[7], 0);
    let mut view = image.view_mut();
    (0..8).for_each(|y| view.row(y).iter_mut().for_each(|pixel| *pixel ^= 4));
    let mut parameters = Glyphs {
        glyphs,
        compare: Compare::Luma,
        align: Align::Left,
        spacing: 0,
        max_digits: 1,
        fit: Fit::Difference { limit: 4 },
    };
    let read = |parameters: Glyphs| {
        let operator = Operator::Glyphs(parameters);
        let mut state = operator.state(&[shape]).unwrap();
        let mut value = [0; 2];
        operator.measure(&mut state, &[image.view()], None, &Executor::inline(), None, &mut value);
        let Operator::Glyphs(parameters) = operator else { unreachable!() };
        (value, parameters)
    };
    let value;
    (value, parameters) = read(parameters);
    assert_eq!(value, [7, 1 | (4 * 256) << 32]);
    parameters.fit = Fit::Difference { limit: 3 };
    assert_eq!(read(parameters).0, [u64::MAX, 0]);
}

#[test]
fn tint_does_not_change_the_correlation() {
    let mut dice = Dice(43);
    let glyphs = font(&mut dice, Format::Rgb8);
    let mut image = Image::new(Shape::new(Format::Rgb8, 8, 8)).unwrap();
    draw(&mut image, &glyphs[4], 0);
    let mut view = image.view_mut();
    for y in 0..8 {
        for pixel in view.row(y).as_chunks_mut::<3>().0 {
            for (byte, tint) in pixel.iter_mut().zip([120, 60, 0]) {
                *byte = tint + *byte / 4;
            }
        }
    }
    let fit = Fit::Correlation { percent: 95 };
    let (align, compare) = (Align::Left, Compare::Color);
    let operator = Operator::Glyphs(Glyphs { glyphs, compare, align, spacing: 0, max_digits: 1, fit });
    let mut state = operator.state(&[image.shape()]).unwrap();
    let mut value = [0; 2];
    operator.measure(&mut state, &[image.view()], None, &Executor::inline(), None, &mut value);
    assert_eq!((value[0], value[1] & 0xffff_ffff), (4, 1));
    assert!(value[1] >> 32 < 50);
}
