use super::*;
use crate::base::Code;
use crate::testing::allocator::with_allowance;

fn refused<T>(result: Result<T>) -> (Code, String) {
    let error = result.err().expect("it should be refused");
    (error.code(), error.to_string())
}

fn gray(width: u32, height: u32) -> Shape {
    Shape::new(Format::Gray8, width, height)
}

fn template(width: u32, height: u32) -> Template {
    Template { image: Image::new(gray(width, height)).unwrap(), compare: Compare::Luma, limit: None }
}

fn glyphs() -> Glyphs {
    let glyph = Glyph { digit: 1, image: Image::new(gray(3, 5)).unwrap(), mask: None };
    let (align, compare) = (Align::Left, Compare::Luma);
    Glyphs { glyphs: vec![glyph], compare, align, spacing: 0, max_digits: 3, fit: Fit::Difference { limit: 0 } }
}

#[test]
fn parameters_out_of_range_are_refused() {
    let invalid = [
        (Operator::Crop { area: Rect::default() }, "empty"),
        (Operator::Downscale { factor: 0 }, "factor 0"),
        (Operator::Downscale { factor: MAX_FACTOR + 1 }, "factor 65"),
        (Operator::Box { radius: MAX_RADIUS + 1 }, "radius 65"),
        (Operator::Erode { radius: u32::MAX }, "radius"),
        (Operator::Dilate { radius: 65 }, "radius"),
        (Operator::Template(template(0, 0)), "0 x 0"),
        (Operator::Template(template(1025, 1)), "1025 x 1"),
        (Operator::Glyphs(Glyphs { glyphs: Vec::new(), ..glyphs() }), "0 glyphs"),
        (Operator::Glyphs(Glyphs { max_digits: 19, ..glyphs() }), "max_digits 19"),
        (Operator::Glyphs(Glyphs { fit: Fit::Correlation { percent: 0 }, ..glyphs() }), "0 %"),
        (Operator::Glyphs(Glyphs { fit: Fit::Correlation { percent: 101 }, ..glyphs() }), "101 %"),
    ];
    for (operator, word) in &invalid {
        let (code, message) = refused(operator.check());
        assert!(code == Code::InvalidArgument && message.contains(word), "{message}");
        assert!(operator.output(&[gray(99, 99)]).is_err() && operator.state(&[gray(99, 99)]).is_err());
    }
    let with = |change: &dyn Fn(&mut Glyph)| {
        let mut glyphs = glyphs();
        change(&mut glyphs.glyphs[0]);
        refused(Operator::Glyphs(glyphs).check()).1
    };
    assert!(with(&|glyph| glyph.digit = 10).contains("digit 10"));
    assert!(with(&|glyph| glyph.image = Image::default()).contains("0 x 0"));
    assert!(with(&|glyph| glyph.mask = Some(Image::new(gray(2, 5)).unwrap())).contains("mask"));
    assert!(with(&|glyph| glyph.mask = Some(Image::new(gray(3, 5)).unwrap())).contains("all 0"));
}

#[test]
fn inputs_that_cannot_be_processed_are_refused() {
    let nv12 = Shape::new(Format::Nv12, 40, 40);
    let high = Shape::new(Format::Rgb565, 40, 40);
    let counts = Shape::new(Format::Count32, 40, 40);
    for (operator, inputs, word) in [
        (Operator::Gray, &[][..], "0 input"),
        (Operator::Gray, &[gray(0, 4)], "each side"),
        (Operator::Gray, &[counts], "Count32"),
        (Operator::Difference { level: None }, &[gray(4, 4)], "takes 2"),
        (Operator::Difference { level: None }, &[gray(4, 4), gray(4, 5)], "differ"),
        (Operator::Crop { area: Rect::new(1, 0, 2, 2) }, &[nv12], "even"),
        (Operator::Crop { area: Rect::new(39, 0, 2, 2) }, &[gray(40, 40)], "inside"),
        (Operator::Box { radius: 1 }, &[nv12], "Gray first"),
        (Operator::Downscale { factor: 2 }, &[high], "Gray first"),
        (Operator::Downscale { factor: 5 }, &[gray(4, 9)], "smaller"),
        (Operator::Histogram, &[nv12], "Gray first"),
        (Operator::Mean { channel: Channel::Red }, &[gray(4, 4)], "Luma"),
        (Operator::Threshold { channel: Channel::Blue, level: 1, invert: false }, &[nv12], "Luma"),
        (Operator::Template(template(9, 9)), &[gray(8, 9)], "does not fit"),
        (Operator::Template(Template { compare: Compare::Color, ..template(3, 3) }), &[high], "Luma"),
        (Operator::Glyphs(glyphs()), &[gray(2, 9)], "do not fit"),
        (Operator::Glyphs(Glyphs { compare: Compare::Color, ..glyphs() }), &[high], "Luma"),
    ] {
        let (_, message) = refused(operator.output(inputs));
        assert!(message.contains(word), "{message}");
    }
    assert!(refused(Operator::Gray.state(&[gray(4, 4)])).1.contains("no state"));
}

#[test]
fn failed_allocations_of_states_are_results() {
    let shape = gray(80, 60);
    for operator in [
        Operator::Histogram,
        Operator::Mean { channel: Channel::Luma },
        Operator::Template(template(20, 20)),
        Operator::Glyphs(glyphs()),
    ] {
        let mut allowed = 0;
        while let Err(error) = with_allowance(allowed, || operator.state(&[shape])) {
            assert_eq!(error.code(), Code::OutOfMemory);
            allowed += 1;
        }
        assert!(allowed > 0, "{operator:?}");
    }
}
