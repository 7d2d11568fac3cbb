//! Numbers of the status bar of a game, against labels of each frame.
//!
//! HOB_CLIP names a folder with `doom-demo1-320x200-bgrx-35fps.raw`, `doom-demo1-labels.csv`, and optionally
//! `crf23.raw` and `crf32.raw`: the same frames from a lossy encoding.

use std::io::Read;
use std::path::Path;

use super::*;

const SHAPE: Shape = Shape::new(Format::Bgrx8, 320, 200);
const FRAME: usize = 320 * 200 * 4;
/// Right edges of the numbers.
const EDGES: [u32; 3] = [44, 90, 221];
const TOP: u32 = 171;
const SIZE: [u32; 2] = [13, 16];

fn frames(path: &Path, mut each: impl FnMut(usize, View<'_>)) -> Option<()> {
    let mut file = std::fs::File::open(path).ok()?;
    let mut bytes = vec![0; FRAME];
    let mut number = 0;
    while file.read_exact(&mut bytes).is_ok() {
        each(number, View::new(SHAPE, &bytes, 320 * 4, &[], 0).unwrap());
        number += 1;
    }
    Some(())
}

/// Cuts a digit out, with the bar around it. `None` if the game tints the frame: digits are pure red otherwise.
fn cut(view: &View<'_>, digit: u8, right: u32) -> Option<Glyph> {
    let [width, height] = SIZE;
    let mut image = Image::new(Shape::new(Format::Bgrx8, width, height)).unwrap();
    let mut count = 0;
    for y in 0..height {
        for x in 0..width {
            let pixel = bytes(view, right - width + x, TOP + y);
            image.view_mut().row(y)[x as usize * 4..x as usize * 4 + 4].copy_from_slice(pixel);
            count += u32::from(pixel[0] == 0 && pixel[1] == 0 && pixel[2] > 0);
        }
    }
    (count > 20).then_some(Glyph { digit, image, mask: None })
}

#[test]
fn digits_of_a_game_are_read() {
    let Some(folder) = std::env::var_os("HOB_CLIP") else {
        // The clip is not in the repository. The trial watch reads a part of it.
        println!("not run: HOB_CLIP names no folder with the clip");
        return;
    };
    let folder = Path::new(&folder);
    let labels = std::fs::read_to_string(folder.join("doom-demo1-labels.csv")).unwrap();
    let labels: Vec<Vec<String>> =
        labels.lines().skip(1).map(|line| line.split(',').skip(1).map(str::to_owned).collect()).collect();
    // The first picture of each digit that is not tinted. The first 60 frames show only 0, 1, 2 and 5.
    let lossless = folder.join("doom-demo1-320x200-bgrx-35fps.raw");
    let mut glyphs: Vec<Glyph> = Vec::new();
    let mut last_cut = 0;
    frames(&lossless, |number, view| {
        for (label, right) in labels[number].iter().zip(EDGES) {
            for (place, digit) in (0..).zip(label.bytes().rev()) {
                if glyphs.iter().all(|glyph| glyph.digit != digit - b'0')
                    && let Some(glyph) = cut(&view, digit - b'0', right - place * SIZE[0])
                {
                    glyphs.push(glyph);
                    last_cut = number;
                }
            }
        }
    })
    .expect("the lossless clip");
    println!("{} glyphs, the last one from frame {last_cut}", glyphs.len());
    assert_eq!(glyphs.len(), 10);
    let mut glyphs = Some(glyphs);
    for name in ["doom-demo1-320x200-bgrx-35fps.raw", "crf23.raw", "crf32.raw"] {
        let parameters = Glyphs {
            glyphs: glyphs.take().unwrap(),
            compare: Compare::Color,
            align: Align::Right,
            spacing: 0,
            max_digits: 3,
            fit: Fit::Correlation { percent: 70 },
        };
        let operator = Operator::Glyphs(parameters);
        let area = |right: u32| Rect::new(right - 3 * SIZE[0], TOP, 3 * SIZE[0], SIZE[1]);
        let region = Shape::new(Format::Bgrx8, 3 * SIZE[0], SIZE[1]);
        let mut state = operator.state(&[region]).unwrap();
        let (mut count, mut right_numbers, mut right_frames) = (0, [0; 3], 0);
        let read = frames(&folder.join(name), |number, view| {
            let mut right = 0;
            for (index, edge) in EDGES.into_iter().enumerate() {
                let mut value = [0; 2];
                let crop = view.crop(area(edge));
                operator.measure(&mut state, &[crop], None, &Executor::inline(), None, &mut value);
                if (value[0] as i64).to_string() == labels[number][index] {
                    right_numbers[index] += 1;
                    right += 1;
                }
            }
            count += 1;
            right_frames += u32::from(right == 3);
        });
        if read.is_some() {
            println!("{name}: {right_frames} of {count} frames right; ammo, health, armour {right_numbers:?}");
        }
        if name.starts_with("doom") {
            assert_eq!((count, right_frames), (600, 600), "{right_numbers:?}");
        }
        let Operator::Glyphs(parameters) = operator else { unreachable!() };
        glyphs = Some(parameters.glyphs);
    }
}
