use super::super::distances::POSITIONS;
use super::super::products::{Centred, Kernel, ROWS, SLACK};
use super::*;
use crate::executor::{Helpers, Options};
use crate::testing::scaled;

fn brute_force(input: &View<'_>, template: &Template) -> [u64; 2] {
    let (wanted, shape) = (template.image.view(), template.image.shape());
    let mut best = [u64::MAX; 2];
    for y in 0..=input.shape().height - shape.height {
        for x in 0..=input.shape().width - shape.width {
            let mut score = 0;
            for dy in 0..shape.height {
                for dx in 0..shape.width {
                    let one = compared(input, template.compare, x + dx, y + dy);
                    let other = compared(&wanted, template.compare, dx, dy);
                    score += one.iter().zip(other).map(|(a, b)| u64::from(a.abs_diff(b)).pow(2)).sum::<u64>();
                }
            }
            if score <= template.limit.unwrap_or(u64::MAX) && score < best[1] {
                best = [u64::from(x) | u64::from(y) << 32, score];
            }
        }
    }
    best
}

/// A part of an image with some noise, as a template.
fn cut(dice: &mut Dice, image: &Image, area: Rect, noise: u32) -> Image {
    let format = image.shape().format;
    let mut part = Image::new(Shape::new(format, area.width, area.height)).unwrap();
    let size = format.pixel_size();
    for y in 0..area.height {
        let from = &image.view().row(area.y + y)[area.x as usize * size..];
        for (to, from) in part.view_mut().row(y).iter_mut().zip(from) {
            *to = from.saturating_add(dice.below(noise + 1) as u8);
        }
    }
    part
}

#[test]
fn search_equals_brute_force_after_every_change() {
    let mut dice = Dice(31);
    let pool = Executor::new(Options { helpers: Helpers::Pool(2), ..Options::default() }).unwrap();
    for round in 0..scaled(60) {
        let (format, compare) = [
            (Format::Gray8, Compare::Luma),
            (Format::Gray8, Compare::Color),
            (Format::Bgrx8, Compare::Luma),
            (Format::Rgb8, Compare::Color),
            (Format::Rgb565, Compare::Color),
            (Format::Nv12, Compare::Luma),
        ][round as usize % 6];
        let shape = Shape::new(format, dice.from(1, 90), dice.from(1, 40));
        let [width, height] = [shape.width, shape.height].map(|side| dice.from(1, side.min(34)));
        // Few values make many ties.
        let values = [2, 3, 256][dice.below(3) as usize];
        let mut image = dice.image(shape, values);
        let small = Shape::new(format, width, height);
        let picture = if dice.below(2) == 0 || format.has_chroma() {
            dice.image(small, values)
        } else {
            let area = Rect::new(dice.from(0, shape.width - width), dice.from(0, shape.height - height), width, height);
            cut(&mut dice, &image, area, 1)
        };
        let most = u64::from(width * height) * [1, 100, 20_000][dice.below(3) as usize];
        let limit = (dice.below(2) == 0).then_some(most);
        let operator = Operator::Template(Template { image: picture, compare, limit });
        let Operator::Template(template) = &operator else { unreachable!() };
        let mut state = operator.state(&[shape]).unwrap();
        let mut dirty: Option<Vec<Rect>> = None;
        let executor = if round % 2 == 0 { Executor::inline() } else { pool.clone() };
        for _ in 0..5 {
            let mut value = [0; 2];
            operator.measure(&mut state, &[image.view()], dirty.as_deref(), &executor, None, &mut value);
            assert_eq!(
                value,
                brute_force(&image.view(), template),
                "{shape:?} {small:?} {compare:?} {limit:?} {dirty:?}"
            );
            let mut areas: Vec<Rect> = (0..dice.from(0, 3)).map(|_| dice.part(shape)).collect();
            for area in &mut areas {
                (area.width, area.height) = (area.width.min(dice.from(1, 9)), area.height.min(dice.from(1, 9)));
                dice.fill(&mut image, *area, values);
            }
            dirty = Some(areas);
        }
    }
}

#[test]
fn largest_differences_do_not_overflow() {
    for (format, compare) in [(Format::Gray8, Compare::Luma), (Format::Rgb8, Compare::Color)] {
        for side in [3, 15, 32, 40] {
            let shape = Shape::new(format, 70, 50);
            let mut white = Image::new(shape).unwrap();
            (0..50).for_each(|y| white.view_mut().row(y).fill(255));
            let image = Image::new(Shape::new(format, side, side)).unwrap();
            let operator = Operator::Template(Template { image, compare, limit: None });
            let mut state = operator.state(&[shape]).unwrap();
            let mut value = [1; 2];
            operator.measure(&mut state, &[white.view()], None, &Executor::inline(), None, &mut value);
            let numbers = u64::from(side * side) * format.pixel_size() as u64;
            assert_eq!(value, [0, numbers * 255 * 255]);
        }
    }
}

#[test]
fn change_of_100_by_100_compares_at_most_131_squared_positions() {
    let mut dice = Dice(32);
    let shape = Shape::new(Format::Gray8, 640, 480);
    let mut image = dice.image(shape, 256);
    let picture = cut(&mut dice, &image, Rect::new(500, 400, 32, 32), 0);
    let operator = Operator::Template(Template { image: picture, compare: Compare::Luma, limit: None });
    let mut state = operator.state(&[shape]).unwrap();
    let mut value = [0; 2];
    let executor = Executor::inline();
    let cold = operator.measure(&mut state, &[image.view()], None, &executor, None, &mut value);
    assert_eq!(value, [500 | 400 << 32, 0]);
    for x in [0, 77, 350] {
        let area = Rect::new(x, 90, 100, 100);
        dice.fill(&mut image, area, 256);
        let operations = operator.measure(&mut state, &[image.view()], Some(&[area]), &executor, None, &mut value);
        assert_eq!(value, [500 | 400 << 32, 0]);
        assert!(state.evaluated_positions() <= 131 * 131);
        assert!(operations * 8 <= cold, "{operations} operations, {cold} when cold");
    }
}

#[test]
fn products_are_equal_in_all_kernels() {
    let mut dice = Dice(33);
    for round in 0..40 {
        let (width, height, step) = (dice.from(1, 40) as usize, dice.from(1, 12) as usize, 1 + round % 2 * 2);
        let bytes = |dice: &mut Dice, count: usize| -> Vec<u8> {
            (0..count).map(|_| if round < 4 { 255 } else { dice.below(256) as u8 }).collect()
        };
        let template = bytes(&mut dice, width * height * step);
        let stride = width + POSITIONS + dice.below(9) as usize;
        let plane = bytes(&mut dice, (height + ROWS) * step * stride + SLACK);
        let start = dice.below(stride as u32) as usize;
        let mut expected = [[0; POSITIONS]; ROWS];
        for (row, expected) in expected.iter_mut().enumerate() {
            for (x, expected) in expected.iter_mut().enumerate() {
                let pixels = |y: usize| &plane[start + (row * step + y) * stride + x..][..width];
                let rows = template.chunks_exact(width).enumerate().flat_map(|(y, row)| row.iter().zip(pixels(y)));
                let sum: i32 = rows.map(|(&number, &pixel)| (i32::from(number) - 128) * i32::from(pixel)).sum();
                *expected = sum as u32;
            }
        }
        for kernel in Kernel::available() {
            let mut products = [[1; POSITIONS]; ROWS];
            let centred = Centred::new(&template, width, step, kernel).unwrap();
            centred.at(&plane, start, stride, &mut products);
            assert_eq!(products, expected, "{kernel:?} {width} x {height}, step {step}");
        }
    }
}

#[test]
fn search_without_elimination_equals_brute_force() {
    let mut dice = Dice(34);
    for round in 0..scaled(20) {
        let (format, compare) = [(Format::Gray8, Compare::Luma), (Format::Rgb8, Compare::Color)][round as usize % 2];
        let shape = Shape::new(format, dice.from(20, 200), dice.from(20, 40));
        let mut image = dice.image(shape, 256);
        // A template that is not there: all bounds are low.
        let small = Shape::new(format, dice.from(12, 20), dice.from(12, 20));
        let picture = dice.image(small, 256);
        let operator = Operator::Template(Template { image: picture, compare, limit: None });
        let Operator::Template(template) = &operator else { unreachable!() };
        let mut state = operator.state(&[shape]).unwrap();
        let mut dirty = None;
        for _ in 0..3 {
            let mut value = [0; 2];
            operator.measure(&mut state, &[image.view()], dirty.as_deref(), &Executor::inline(), None, &mut value);
            assert_eq!(value, brute_force(&image.view(), template), "{shape:?} {compare:?} {dirty:?}");
            let area = dice.part(shape);
            dice.fill(&mut image, area, 256);
            dirty = Some(vec![area]);
        }
    }
}
