use super::*;
use crate::testing::scaled;

#[test]
fn change_in_a_rectangle_needs_only_the_affected_pixels() {
    let mut dice = Dice(11);
    for _ in 0..scaled(300) {
        let shape = any_shape(&mut dice);
        let operator = any_local(&mut dice, shape);
        let count = operator.input_count();
        let mut images = [dice.image(shape, 256), dice.image(shape, 256)];
        let mut output = apply_all(&operator, &[images[0].view(), images[1].view()][..count]);
        let reach = operator.reach().unwrap();
        for _ in 0..3 {
            let areas: Vec<Rect> = (0..dice.from(1, 4))
                .map(|_| {
                    let mut area = dice.part(shape);
                    area.width = area.width.min(dice.from(2, 12));
                    area.height = area.height.min(dice.from(2, 12));
                    if shape.format.has_chroma() {
                        // All pixels that share a colour difference.
                        area.width = area.width.next_multiple_of(2).min(shape.width - area.x);
                        area.height = area.height.next_multiple_of(2).min(shape.height - area.y);
                    }
                    area
                })
                .collect();
            for area in &areas {
                let which = dice.below(count as u32) as usize;
                dice.fill(&mut images[which], *area, 256);
            }
            let inputs = &[images[0].view(), images[1].view()][..count];
            for area in &areas {
                let affected = reach.affected(*area, output.shape());
                operator.apply(inputs, &mut output.view_mut(), affected);
            }
            assert!(is_same(&output, &apply_all(&operator, inputs)), "{operator:?} of {shape:?} after {areas:?}");
        }
    }
}

#[test]
fn reach_covers_all_dependencies_and_no_others() {
    let mut dice = Dice(12);
    for _ in 0..scaled(400) {
        let reach = Reach { x: dice.below(5), y: dice.below(5), scale: dice.from(1, 4), support: dice.below(4) };
        let input = Shape::new(Format::Gray8, dice.from(9, 30), dice.from(9, 30));
        let output =
            Shape::new(Format::Gray8, (input.width - reach.x) / reach.scale, (input.height - reach.y) / reach.scale);
        let dirty = dice.part(input);
        let depends = |x: u32, y: u32| reach.needed(Rect::new(x, y, 1, 1), input).overlaps(dirty);
        let affected = reach.affected(dirty, output);
        for y in 0..output.height {
            for x in 0..output.width {
                assert_eq!(affected.contains(Rect::new(x, y, 1, 1)), depends(x, y), "{reach:?} {dirty:?} {x} {y}");
            }
        }
        let area = dice.part(output);
        let needed = reach.needed(area, input);
        let (first, last) =
            (Rect::new(area.x, area.y, 1, 1), Rect::new(area.right() as u32 - 1, area.bottom() as u32 - 1, 1, 1));
        assert!(needed.contains(reach.needed(first, input)) && needed.contains(reach.needed(last, input)));
    }
    let reach = Reach { x: 4, y: 0, scale: 2, support: 1 };
    let shape = Shape::new(Format::Gray8, 8, 8);
    assert!(reach.affected(Rect::new(0, 0, 3, 3), shape).is_empty());
    assert!(reach.affected(Rect::default(), shape).is_empty() && reach.needed(Rect::default(), shape).is_empty());
}

#[test]
fn five_percent_of_change_needs_an_eighth_of_the_operations() {
    let mut dice = Dice(13);
    let shape = Shape::new(Format::Bgrx8, 1280, 720);
    let mut image = dice.image(shape, 256);
    let mut line = String::new();
    for operator in [
        Operator::Gray,
        Operator::Threshold { channel: Channel::Luma, level: 99, invert: false },
        Operator::Downscale { factor: 4 },
        Operator::Box { radius: 2 },
        Operator::Erode { radius: 2 },
        Operator::Dilate { radius: 2 },
    ] {
        let mut output = apply_all(&operator, &[image.view()]);
        let bounds = output.shape().bounds();
        let full = operator.apply(&[image.view()], &mut output.view_mut(), bounds);
        // Tiles of 64 x 16, as frames report them.
        let mut partial = 0;
        for tile in 0..45 {
            let area = Rect::new(dice.below(20) * 64, tile * 16, 64, 16);
            dice.fill(&mut image, area, 256);
            let affected = operator.reach().unwrap().affected(area, output.shape());
            partial += operator.apply(&[image.view()], &mut output.view_mut(), affected);
        }
        assert!(is_same(&output, &apply_all(&operator, &[image.view()])));
        assert!(full >= 8 * partial, "{operator:?}: {full} operations, {partial} after a change");
        line += &format!("{operator:?}: {:.1} times fewer; ", full as f64 / partial as f64);
    }
    println!("{line}");
}
