use super::*;
use crate::testing::{allocator::allocations, scaled};

fn measure(operator: &Operator, state: &mut State, input: &View<'_>, dirty: Option<&[Rect]>) -> ([u64; 2], u64) {
    let mut value = [0; 2];
    let operations = operator.measure(state, &[*input], dirty, &Executor::inline(), None, &mut value);
    (value, operations)
}

#[test]
fn tallies_equal_the_model_after_every_change() {
    let mut dice = Dice(21);
    for _ in 0..scaled(150) {
        let shape = any_shape(&mut dice);
        let channel = [Channel::Luma, Channel::Red, Channel::Green, Channel::Blue][dice.below(4) as usize];
        let operator = [Operator::Histogram, Operator::Mean { channel }, Operator::CountNonZero { channel }];
        let operator = &operator[dice.below(3) as usize];
        let Ok(output) = operator.output(&[shape]) else { continue };
        let mut counts = output.map(|shape| Image::new(shape).unwrap());
        let mut image = dice.image(shape, 256);
        let mut state = operator.state(&[shape]).unwrap();
        let mut dirty: Option<Vec<Rect>> = None;
        for _ in 0..4 {
            let mut value = [0; 2];
            let mut view = counts.as_mut().map(Image::view_mut);
            let executor = Executor::inline();
            let operations =
                operator.measure(&mut state, &[image.view()], dirty.as_deref(), &executor, view.as_mut(), &mut value);
            let areas = dirty.clone().unwrap_or_else(|| vec![shape.bounds()]);
            assert_eq!(operations, areas.iter().map(|area| area.area()).sum::<u64>());
            let pixels = || (0..shape.height).flat_map(|y| (0..shape.width).map(move |x| (x, y)));
            let values = || pixels().map(|(x, y)| value_of(&image.view(), channel, x, y));
            let expected = match operator {
                Operator::Mean { .. } => values().map(u64::from).sum::<u64>() as f64 / shape.bounds().area() as f64,
                Operator::CountNonZero { .. } => values().filter(|value| *value != 0).count() as f64,
                _ => {
                    let counts = counts.as_ref().unwrap();
                    let mut model = vec![[0u32; 256]; counts.shape().height as usize];
                    for (x, y) in pixels() {
                        for (row, value) in model.iter_mut().zip(color(&image.view(), x, y)) {
                            row[value as usize] += 1;
                        }
                    }
                    for (y, row) in (0..).zip(&model) {
                        let bytes: Vec<u8> = row.iter().flat_map(|count| count.to_ne_bytes()).collect();
                        assert_eq!(counts.view().row(y), bytes);
                    }
                    shape.bounds().area() as f64
                }
            };
            assert_eq!(value, [expected.to_bits(), 0], "{operator:?} of {shape:?}");
            // Rectangles may overlap.
            let areas: Vec<Rect> = (0..dice.from(0, 3)).map(|_| dice.part(shape)).collect();
            areas.iter().for_each(|area| dice.fill(&mut image, *area, 256));
            dirty = Some(areas);
        }
    }
}

#[test]
fn unchanged_input_costs_nothing() {
    let mut dice = Dice(22);
    let shape = Shape::new(Format::Gray8, 90, 70);
    let image = dice.image(shape, 256);
    let template =
        Template { image: dice.image(Shape::new(Format::Gray8, 9, 8), 256), compare: Compare::Luma, limit: None };
    for operator in [Operator::Histogram, Operator::Mean { channel: Channel::Luma }, Operator::Template(template)] {
        let mut state = operator.state(&[shape]).unwrap();
        let (value, operations) = measure(&operator, &mut state, &image.view(), Some(&[]));
        assert!(operations > 0, "the first call has seen no image before");
        assert_eq!(measure(&operator, &mut state, &image.view(), Some(&[])), (value, 0));
        assert_eq!(measure(&operator, &mut state, &image.view(), Some(&[Rect::new(500, 0, 9, 9)])), (value, 0));
        assert_eq!(state.evaluated_positions(), 0);
    }
}

#[test]
fn measure_allocates_no_memory() {
    let mut dice = Dice(23);
    let shape = Shape::new(Format::Bgrx8, 200, 90);
    let mut image = dice.image(shape, 256);
    let small = || Shape::new(Format::Bgrx8, 9, 17);
    let glyph = Glyph { digit: 3, image: dice.image(small(), 256), mask: None };
    let operators = [
        Operator::Histogram,
        Operator::Mean { channel: Channel::Red },
        Operator::Template(Template { image: dice.image(small(), 256), compare: Compare::Color, limit: None }),
        Operator::Template(Template { image: dice.image(small(), 256), compare: Compare::Luma, limit: None }),
        Operator::Glyphs(Glyphs {
            glyphs: vec![glyph],
            compare: Compare::Color,
            align: Align::Right,
            spacing: 1,
            max_digits: 4,
            fit: Fit::Difference { limit: 255 },
        }),
    ];
    for operator in &operators {
        let mut state = operator.state(&[shape]).unwrap();
        assert!(state.memory_used() > 0);
        for dirty in [None, Some([Rect::new(20, 30, 40, 20)])] {
            dice.fill(&mut image, Rect::new(20, 30, 40, 20), 256);
            let dirty = dirty.as_ref().map(|areas| &areas[..]);
            let counted = allocations(|| {
                measure(operator, &mut state, &image.view(), dirty);
            });
            assert_eq!(counted, 0, "{operator:?}");
        }
    }
}
