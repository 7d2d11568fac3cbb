//! Times of the template search, for a comparison with another library.
//!
//! HOB_SEARCH names a folder with `frame.gray` of 1920 x 1080 and `template.gray` of 32 x 32 bytes.

use std::path::Path;
use std::time::Instant;

use super::*;
use crate::testing::skip;

fn read(path: &Path, width: u32, height: u32) -> Image {
    let shape = Shape::new(Format::Gray8, width, height);
    let bytes = std::fs::read(path).unwrap();
    let mut image = Image::new(shape).unwrap();
    for (y, row) in (0..height).zip(bytes.chunks_exact(width as usize)) {
        image.view_mut().row(y).copy_from_slice(row);
    }
    image
}

/// The median of the milliseconds of some calls.
fn median(mut call: impl FnMut(u32)) -> f64 {
    let mut times: Vec<f64> = (0..21)
        .map(|round| {
            let start = Instant::now();
            call(round);
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[10]
}

#[test]
fn template_search_in_a_large_frame_is_timed() {
    let Some(folder) = std::env::var_os("HOB_SEARCH") else {
        return skip("HOB_SEARCH names no folder with a frame");
    };
    let folder = Path::new(&folder);
    let mut image = read(&folder.join("frame.gray"), 1920, 1080);
    let picture = read(&folder.join("template.gray"), 32, 32);
    let operator = Operator::Template(Template { image: picture, compare: Compare::Luma, limit: None });
    let mut state = operator.state(&[image.shape()]).unwrap();
    let mut value = [0; 2];
    let executor = Executor::inline();
    let cold = median(|_| {
        operator.measure(&mut state, &[image.view()], None, &executor, None, &mut value);
    });
    let [x, y] = [value[0] & 0xffff_ffff, value[0] >> 32];
    println!("cold: {cold:.2} ms, {} positions compared; best {x}, {y}, {}", state.evaluated_positions(), value[1]);
    let mut dice = Dice(51);
    let mut most = 0;
    let area = Rect::new(300, 200, 100, 100);
    let mut view = image.view_mut();
    let mut rows: Vec<Vec<u8>> = (200..300).map(|y| view.row(y)[300..400].to_vec()).collect();
    let changed = median(|_| {
        rows.iter_mut().for_each(|row| row.iter_mut().for_each(|byte| *byte = byte.wrapping_add(dice.below(9) as u8)));
        let mut view = image.view_mut();
        (200..300).zip(&rows).for_each(|(y, row)| view.row(y)[300..400].copy_from_slice(row));
        operator.measure(&mut state, &[image.view()], Some(&[area]), &executor, None, &mut value);
        most = state.evaluated_positions().max(most);
    });
    println!("100 x 100 changed: {changed:.3} ms, at most {most} positions compared");
    let same = median(|_| {
        operator.measure(&mut state, &[image.view()], Some(&[]), &executor, None, &mut value);
    });
    println!("unchanged: {:.1} ns", same * 1e6);
    let mut view = image.view_mut();
    (y as u32..y as u32 + 32)
        .for_each(|y| view.row(y)[x as usize..x as usize + 32].iter_mut().for_each(|byte| *byte ^= 64));
    let start = Instant::now();
    let area = Rect::new(x as u32, y as u32, 32, 32);
    operator.measure(&mut state, &[image.view()], Some(&[area]), &executor, None, &mut value);
    let ms = start.elapsed().as_secs_f64() * 1e3;
    println!("best match removed: {ms:.2} ms, {} positions compared", state.evaluated_positions());
}

#[test]
fn loops_of_the_template_search_are_timed() {
    if std::env::var_os("HOB_SEARCH").is_none() {
        return skip("HOB_SEARCH names no folder with a frame");
    }
    let mut dice = Dice(52);
    let pixels: Vec<u8> = (0..2000 * 40).map(|_| dice.roll() as u8).collect();
    let sums: Vec<i16> = (0..2000 * 40).map(|_| dice.below(16321) as i16).collect();
    let cells: Vec<(u32, i16)> = (0..16).map(|i| (i / 4 * 16000 + i % 4 * 8, dice.below(16321) as i16)).collect();
    let mut total = 0;
    let squared = median(|_| {
        (0..1000).for_each(|x| total += distances::squared(&pixels, x, 2000, &pixels[..1024], 32, u64::MAX));
    });
    let plain = median(|_| {
        (0..1000)
            .for_each(|x| total += u64::from(distances::plain_squared_rows(&pixels[x..], 2000, &pixels[..1024], 32)));
    });
    println!("1024 differences: {squared:.4} us, plain {plain:.4} us");
    let mut bounds = [0; 64];
    let quick = median(|_| {
        (0..1000).for_each(|x| {
            distances::bounds(&sums[x..], &cells, &mut bounds);
            total += u64::from(bounds[63]);
        });
    });
    let plain = median(|_| {
        (0..1000).for_each(|x| {
            distances::plain_bounds(&sums[x..], &cells, &mut bounds);
            total += u64::from(bounds[63]);
        });
    });
    println!("64 bounds of 16 cells: {quick:.4} us, plain {plain:.4} us ({total})");
}
