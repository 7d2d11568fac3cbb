//! The search for a template of 32×32 pixels in a gray frame of 1080p, against a plain scan and OpenCV.

use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use hobgoblin::executor::Executor;
use hobgoblin::perception::frames::Hints;
use hobgoblin::perception::image::{Format, Image, Rect, Shape, View};
use hobgoblin::perception::operators::{Compare, Operator, Template};
use hobgoblin::perception::{
    Action, Answer, Call, Choice, Cognition, Options, Perception, PipelineOptions, Step, Traits,
};
use hobgoblin_bench::random::Random;
use hobgoblin_bench::timing::{median, thread_nanoseconds};

use crate::report::{at_most, figure, title};

const SHAPE: Shape = Shape::new(Format::Gray8, 1920, 1080);
const WIDTH: usize = 1920;
const SIDE: usize = 32;

/// No cognition of the host.
struct Unused;

impl Cognition for Unused {
    fn perceive(&self, _: &mut Call<'_>) -> bool {
        false
    }
}

/// A screen: rectangles of one brightness each, slopes, and a little noise.
fn screen() -> Vec<u8> {
    let mut random = Random(8);
    let mut pixels = vec![90; WIDTH * 1080];
    for _ in 0..1500 {
        let (width, height) = (8 + random.below(200), 8 + random.below(80));
        let (x, y) = (random.below(WIDTH - width), random.below(1080 - height));
        let (level, slope) = (random.below(256), random.below(3));
        for row in y..y + height {
            let line = &mut pixels[row * WIDTH + x..row * WIDTH + x + width];
            line.iter_mut().enumerate().for_each(|(at, pixel)| *pixel = ((level + at * slope / 2) & 255) as u8);
        }
    }
    pixels.iter_mut().for_each(|pixel| *pixel = pixel.saturating_add(random.below(6) as u8));
    pixels
}

/// The best position by a plain scan: all differences of all positions, given up at the best sum so far after each row.
fn scan(pixels: &[u8], picture: &[u8]) -> (u64, usize, usize) {
    let mut best = (u64::MAX, 0, 0);
    for y in 0..=1080 - SIDE {
        for x in 0..=WIDTH - SIDE {
            let mut sum = 0_u64;
            for row in 0..SIDE {
                let one = &pixels[(y + row) * WIDTH + x..][..SIDE];
                let other = &picture[row * SIDE..][..SIDE];
                let squares = one.iter().zip(other).map(|(&one, &other)| {
                    let difference = i32::from(one) - i32::from(other);
                    (difference * difference) as u32
                });
                sum += u64::from(squares.sum::<u32>());
                if sum >= best.0 {
                    break;
                }
            }
            if sum < best.0 {
                best = (sum, x, y);
            }
        }
    }
    best
}

fn view(pixels: &[u8]) -> View<'_> {
    View::new(SHAPE, pixels, WIDTH, &[], 0).expect("the frame has all pixels")
}

/// Milliseconds of OpenCV's search of the same pixels on one thread, and its best position.
fn opencv(pixels: &[u8], picture: &[u8], rounds: usize) -> Result<(f64, String), String> {
    let folder = std::env::temp_dir().join(format!("hobgoblin-search-{}", std::process::id()));
    let told = |why: std::io::Error| why.to_string();
    std::fs::create_dir_all(&folder).map_err(told)?;
    std::fs::write(folder.join("frame.gray"), pixels).map_err(told)?;
    std::fs::write(folder.join("template.gray"), picture).map_err(told)?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/perception/opencv_search.py");
    let output = Command::new("python3").arg(script).arg(&folder).arg(rounds.to_string()).output();
    let _ = std::fs::remove_dir_all(&folder);
    let output = output.map_err(|why| format!("python3 does not run: {why}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(text.lines().last().unwrap_or("the script failed").to_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (time, place) = text.trim().split_once(' ').ok_or("the script printed no time")?;
    Ok((time.parse().map_err(|_| "the script printed no time")?, place.to_owned()))
}

/// A frame and a template to find in it.
struct Case {
    name: &'static str,
    pixels: Vec<u8>,
    picture: Vec<u8>,
    /// The greatest mean difference of a pixel that counts as found, as a root of the mean square.
    levels: Option<u64>,
    /// The most that a search may take, as a part of OpenCV's time.
    target: f64,
}

/// The part of a frame at (1203, 611), with more noise.
fn part(pixels: &[u8], noise: usize) -> Vec<u8> {
    let mut random = Random(4);
    let rows = (611..611 + SIDE).flat_map(|y| &pixels[y * WIDTH + 1203..][..SIDE]);
    rows.map(|pixel| pixel.saturating_add(random.below(noise + 1) as u8)).collect()
}

fn noise(seed: u64, count: usize) -> Vec<u8> {
    let mut random = Random(seed);
    (0..count).map(|_| random.below(256) as u8).collect()
}

fn cases() -> [Case; 8] {
    let (drawn, random) = (screen(), noise(5, WIDTH * 1080));
    let absent = noise(6, SIDE * SIDE);
    let (in_drawn, in_noise) = (part(&drawn, 8), part(&random, 8));
    let near: Vec<u8> = part(&random, 0).iter().zip(&absent).map(|(&one, &other)| one / 2 + other / 2).collect();
    let case = |name, pixels: &[u8], picture: &[u8], target| Case {
        name,
        pixels: pixels.to_vec(),
        picture: picture.to_vec(),
        levels: None,
        target,
    };
    let within = |levels, name, pixels: &[u8], picture: &[u8], target| Case {
        levels: Some(levels),
        ..case(name, pixels, picture, target)
    };
    [
        case("drawn: a part with noise", &drawn, &in_drawn, 0.5),
        case("drawn: an absent random template", &drawn, &absent, 1.0),
        case("noise: a part with a little noise", &random, &in_noise, 1.0),
        case("noise: a part mixed with other noise", &random, &near, 1.0),
        case("noise: an absent random template", &random, &absent, 1.0),
        case("noise: an absent part of the drawn frame", &random, &in_drawn, 1.0),
        within(20, "drawn: an absent random template, within 20 levels", &drawn, &absent, 0.5),
        within(10, "noise: an absent random template, within 10 levels", &random, &absent, 1.0),
    ]
}

fn template(picture: &[u8], levels: Option<u64>) -> Operator {
    let mut image = Image::new(Shape::new(Format::Gray8, SIDE as u32, SIDE as u32)).expect("there is memory");
    for (y, row) in (0..).zip(picture.chunks_exact(SIDE)) {
        image.view_mut().row(y).copy_from_slice(row);
    }
    let limit = levels.map(|levels| levels * levels * (SIDE * SIDE) as u64);
    Operator::Template(Template { image, compare: Compare::Luma, limit })
}

/// Print the rows of a cold search. Returns its time.
fn print_cold(case: &Case, rounds: usize) -> f64 {
    let Case { name, pixels, picture, levels, target } = case;
    let operator = template(picture, *levels);
    let mut state = operator.state(&[SHAPE]).expect("the frame is larger");
    let inline = Executor::inline();
    let mut value = [0; 2];
    let cold: Vec<f64> = (0..rounds)
        .map(|_| {
            let views = [view(pixels)];
            thread_nanoseconds(|| _ = operator.measure(&mut state, &views, None, &inline, None, &mut value)) / 1e6
        })
        .collect();
    let cold = median(&cold);
    let mut best = (0, 0, 0);
    let plain = thread_nanoseconds(|| best = scan(black_box(pixels), picture)) / 1e6;
    let found = if levels.is_some() { [u64::MAX; 2] } else { [best.1 as u64 | (best.2 as u64) << 32, best.0] };
    assert_eq!(value, found, "both find the same place, or none within the levels");
    figure(name, cold, " ms");
    figure("    positions compared by pixels", state.evaluated_positions() as f64, "");
    figure("    plain scan that gives up at the best sum", plain, " ms");
    figure("    / the plain scan", cold / plain, "×");
    match opencv(pixels, picture, rounds) {
        Ok((time, place)) => {
            assert_eq!(place, format!("{} {}", best.1, best.2), "OpenCV finds the same place");
            figure("    OpenCV matchTemplate, TM_SQDIFF", time, " ms");
            at_most("    / OpenCV", cold / time, *target, "×");
        }
        Err(why) => println!("  OpenCV: skipped: {why}"),
    }
    cold
}

/// Print the table.
pub fn print(rounds: usize) {
    title("Template of 32×32 in gray 1920×1080, cold, one thread: processor time");
    let cases = cases();
    let cold = cases.each_ref().map(|case| print_cold(case, rounds))[0];
    print_frames(&cases[0], cold, rounds);
}

/// Print the rows of frames with no change and with a small one.
fn print_frames(case: &Case, cold: f64, rounds: usize) {
    let inline = Executor::inline();
    let mut pixels = case.pixels.clone();
    let operator = template(&case.picture, case.levels);
    let mut state = operator.state(&[SHAPE]).expect("the frame is larger");
    let mut value = [0; 2];
    operator.measure(&mut state, &[view(&pixels)], None, &inline, None, &mut value);
    let mut random = Random(4);
    let options = Options { graft: Choice::Always, ..Options::default() };
    let mut perception = Perception::<Unused>::new(options).expect("valid options");
    let search =
        perception.add_cognition("search", Action::Operator(template(&case.picture, case.levels)), Traits::default());
    let step =
        Step { cognition: search.expect("there is memory"), part: Rect::default(), tolerance: 0, parameters: &[] };
    let steps = [step];
    let options = PipelineOptions { steps: &steps, ..PipelineOptions::default() };
    let id = perception.add_pipeline(&options).expect("there is memory");
    let mut frame = |pixels: &[u8]| {
        let (mut begin, mut query) = (0.0, 0.0);
        let before = perception.counters().operations;
        begin +=
            thread_nanoseconds(|| perception.begin_frame(&view(pixels), &Hints::default(), &inline).expect("it fits"));
        query += thread_nanoseconds(|| {
            assert!(matches!(perception.query(id, 1), Ok(Answer::Value(..))));
        });
        (begin / 1e6, query / 1e6, perception.counters().operations - before)
    };
    (0..8).for_each(|_| _ = frame(&pixels));
    let other = pixels.clone();
    let (mut same, mut floor, mut changed) = (vec![], vec![], vec![]);
    for _ in 0..rounds * 4 {
        let (begin, query, _) = frame(&pixels);
        same.push(begin + query);
        floor.push(thread_nanoseconds(|| assert!(black_box(&pixels[..]) == black_box(&other[..]))) / 1e6);
    }
    let ratios: Vec<f64> = same.iter().zip(&floor).map(|(one, other)| one / other).collect();
    figure("nothing changed: frame and query", median(&same) * 1e3, " µs");
    at_most("nothing changed / memcmp of the frame", median(&ratios), 1.1, "×");
    for _ in 0..rounds {
        for row in 300..400 {
            let line = &mut pixels[row * WIDTH + 700..][..100];
            line.iter_mut().for_each(|pixel| *pixel = pixel.wrapping_add(random.below(9) as u8));
        }
        let (begin, query, _) = frame(&pixels);
        changed.push(begin + query - median(&same));
        // The search by itself, for its count.
        let areas = [Rect::new(700, 300, 100, 100)];
        operator.measure(&mut state, &[view(&pixels)], Some(&areas), &inline, None, &mut value);
    }
    let most = f64::from(131 * 131);
    at_most("100×100 changed: positions compared by pixels", state.evaluated_positions() as f64, most, "");
    figure("100×100 changed: beyond the frame's compare", median(&changed), " ms");
    at_most("100×100 changed: beyond the compare / cold", median(&changed) / cold, 0.1, "×");
}
