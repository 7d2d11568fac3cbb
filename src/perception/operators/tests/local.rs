use super::*;
use crate::testing::{allocator::allocations, scaled};

/// The bytes of an output pixel.
fn model(operator: &Operator, inputs: &[View<'_>], x: u32, y: u32) -> Vec<u8> {
    let input = &inputs[0];
    let Shape { format, width, height } = input.shape();
    let square = |radius: u32| {
        let side = move |at: u32, end: u32| {
            (i64::from(at) - i64::from(radius)..=i64::from(at) + i64::from(radius))
                .map(move |at| at.clamp(0, i64::from(end) - 1) as u32)
        };
        side(y, height).flat_map(move |y| side(x, width).map(move |x| (x, y)))
    };
    let each = |fold: &dyn Fn(usize) -> u8| -> Vec<u8> {
        let size = format.pixel_size();
        (0..size).map(|i| if i == 3 { 255 } else { fold(i) }).collect()
    };
    match *operator {
        Operator::Crop { area } => bytes(input, area.x + x, area.y + y).to_vec(),
        Operator::Gray => vec![value_of(input, Channel::Luma, x, y)],
        Operator::Threshold { channel, level, invert } => {
            vec![if (value_of(input, channel, x, y) > level) != invert { 255 } else { 0 }]
        }
        Operator::Difference { level } => {
            let all = |view: &View<'_>| {
                let mut parts = color(view, x, y);
                if format.has_chroma() {
                    parts.extend(&view.chroma_row(y as usize / 2)[x as usize / 2 * 2..][..2]);
                }
                parts
            };
            let most = all(input).iter().zip(all(&inputs[1])).map(|(a, b)| a.abs_diff(b)).max().unwrap();
            vec![level.map_or(most, |level| if most > level { 255 } else { 0 })]
        }
        Operator::Downscale { factor } => each(&|i| {
            let places = (0..factor).flat_map(|dy| (0..factor).map(move |dx| (x * factor + dx, y * factor + dy)));
            let sum: u32 = places.map(|(x, y)| u32::from(bytes(input, x, y)[i])).sum();
            ((sum + factor * factor / 2) / (factor * factor)) as u8
        }),
        Operator::Box { radius } => each(&|i| {
            let sum: u32 = square(radius).map(|(x, y)| u32::from(bytes(input, x, y)[i])).sum();
            let count = (2 * radius + 1).pow(2);
            ((sum + count / 2) / count) as u8
        }),
        Operator::Erode { radius } => each(&|i| square(radius).map(|(x, y)| bytes(input, x, y)[i]).min().unwrap()),
        Operator::Dilate { radius } => each(&|i| square(radius).map(|(x, y)| bytes(input, x, y)[i]).max().unwrap()),
        _ => unreachable!(),
    }
}

fn check(dice: &mut Dice, operator: &Operator, shape: Shape) {
    // The views begin inside of larger images, so rows are not aligned.
    let outer = Shape::new(shape.format, shape.width + 5, shape.height + 4);
    let area = Rect::new(2, 2, shape.width, shape.height);
    let end = [256, 256, 3][dice.below(3) as usize];
    let images = [dice.image(outer, end), dice.image(outer, end)];
    let views = [images[0].view().crop(area), images[1].view().crop(area)];
    let inputs = &views[..operator.input_count()];
    let output = apply_all(operator, inputs);
    let view = output.view();
    let out = view.shape();
    // All pixels of a small image, some of a large one.
    let rows = if out.bounds().area() < 3000 { out.height } else { 2 };
    for row in 0..rows {
        let y = if rows == out.height { row } else { dice.below(out.height) };
        for x in 0..out.width {
            assert_eq!(bytes(&view, x, y), model(operator, inputs, x, y), "{operator:?} of {shape:?} at {x}, {y}");
        }
    }
    if let (Operator::Crop { area }, true) = (operator, shape.format.has_chroma()) {
        for y in 0..out.chroma_rows() {
            let from = inputs[0].chroma_row(area.y as usize / 2 + y);
            assert_eq!(view.chroma_row(y), &from[area.x as usize..][..out.chroma_row_size()], "{operator:?}");
        }
    }
}

#[test]
fn local_operators_equal_the_model() {
    let mut dice = Dice(1);
    for _ in 0..scaled(600) {
        let shape = any_shape(&mut dice);
        let operator = any_local(&mut dice, shape);
        check(&mut dice, &operator, shape);
    }
}

#[test]
fn one_pixel_is_enough_for_every_local_operator() {
    let mut dice = Dice(2);
    for format in FRAME_FORMATS {
        for _ in 0..40 {
            let shape = Shape::new(format, 1, 1);
            let operator = any_local(&mut dice, shape);
            check(&mut dice, &operator, shape);
        }
    }
}

#[test]
fn largest_windows_and_factors_do_not_overflow() {
    let mut dice = Dice(3);
    let mut white = Image::new(Shape::new(Format::Bgrx8, 150, 140)).unwrap();
    (0..140).for_each(|y| white.view_mut().row(y).fill(255));
    for operator in [
        Operator::Box { radius: MAX_RADIUS },
        Operator::Dilate { radius: MAX_RADIUS },
        Operator::Downscale { factor: MAX_FACTOR },
    ] {
        let output = apply_all(&operator, &[white.view()]);
        assert!(
            (0..output.shape().height).all(|y| output.view().row(y).iter().all(|byte| *byte == 255)),
            "{operator:?}"
        );
        check(&mut dice, &operator, Shape::new(Format::Rgb8, 300, 70));
    }
}

#[test]
fn gray_of_gray_keeps_every_value() {
    for value in 0..=255 {
        assert_eq!((77 * value + 150 * value + 29 * value + 128) / 256, value);
    }
}

#[test]
fn code_for_every_processor_equals_the_code_that_runs() {
    use super::super::kernels::{self, plain};
    let mut dice = Dice(4);
    for length in (0..70).chain([255, 256, 257, 1000]) {
        let mut list = |count: usize| -> Vec<u8> { (0..count).map(|_| dice.roll() as u8).collect() };
        let (a, b, mask) = (list(length * 4), list(length * 4), list(length * 4));
        let both = |one: &dyn Fn(&mut Vec<u8>), other: &dyn Fn(&mut Vec<u8>)| {
            let (mut x, mut y) = (a.clone(), a.clone());
            one(&mut x);
            other(&mut y);
            assert_eq!(x, y, "{length}");
        };
        let weights = [77, 150, 29];
        both(&|out| kernels::weigh_4(&b, &weights, out), &|out| plain::weigh_4(&b, &weights, out));
        both(&|out| kernels::weigh_3(&b, &weights, out), &|out| plain::weigh_3(&b, &weights, out));
        both(&|out| kernels::threshold(out, 90, 255), &|out| plain::threshold(out, 90, 255));
        both(&|out| kernels::differences(&b, &mask, out), &|out| plain::differences(&b, &mask, out));
        both(&|out| kernels::differences_4(&b, &mask, out), &|out| plain::differences_4(&b, &mask, out));
        for flip in [0, 255] {
            both(&|out| kernels::lesser(out, &b, flip), &|out| plain::lesser(out, &b, flip));
            both(&|out| kernels::lesser_ahead(out, 3, flip), &|out| plain::lesser_ahead(out, 3, flip));
        }
        assert_eq!(kernels::masked_differences(&a, &b, &mask), plain::masked_differences(&a, &b, &mask));
        let (mut x, mut y) = (vec![300; length], vec![300; length]);
        kernels::add(&mut x, &a);
        plain::add(&mut y, &a);
        assert_eq!(x, y);
        kernels::subtract(&mut x, &b);
        plain::subtract(&mut y, &b);
        assert_eq!(x, y);
        for count in [1, 4, 8] {
            let (mut sums, mut expected) = (vec![0; length], vec![0; length]);
            kernels::add_ahead(&x, count, &mut sums);
            plain::add_ahead(&x, count, &mut expected);
            assert_eq!(sums, expected);
            let model = x.windows(count).map(|sums| sums.iter().sum::<u16>() as i16);
            assert!(model.zip(&sums).all(|(model, sum)| model == *sum));
        }
    }
    for _ in 0..50 {
        let sums: Vec<i16> = (0..300).map(|_| dice.below(16321) as i16).collect();
        let cells: Vec<(u32, i16)> = (0..16).map(|_| (dice.below(200), dice.below(16321) as i16)).collect();
        let cells = &cells[..dice.from(1, 16) as usize];
        let (mut bounds, mut expected) = ([0; 64], [0; 64]);
        distances::bounds(&sums, cells, &mut bounds);
        distances::plain_bounds(&sums, cells, &mut expected);
        assert_eq!(bounds, expected);
        let pixels: Vec<u8> = (0..100 * 4).map(|_| dice.roll() as u8).collect();
        let width = dice.from(1, 100) as usize;
        let template: Vec<u8> = (0..width * 3).map(|_| dice.roll() as u8).collect();
        let score = distances::squared(&pixels, 0, 100, &template, width, u64::MAX);
        assert_eq!(score, u64::from(distances::plain_squared_rows(&pixels, 100, &template, width)));
    }
}

#[test]
fn apply_allocates_no_memory() {
    let mut dice = Dice(5);
    for _ in 0..200 {
        let shape = any_shape(&mut dice);
        let operator = any_local(&mut dice, shape);
        let images = [dice.image(shape, 256), dice.image(shape, 256)];
        let inputs = [images[0].view(), images[1].view()];
        let count = operator.input_count();
        let mut output = apply_all(&operator, &inputs[..count]);
        let bounds = output.shape().bounds();
        let mut view = output.view_mut();
        let counted = allocations(|| {
            operator.apply(&inputs[..count], &mut view, bounds);
        });
        assert_eq!(counted, 0, "{operator:?}");
    }
}
