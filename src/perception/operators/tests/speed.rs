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
}
