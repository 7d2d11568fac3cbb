//! The runs of `watch` with its own clip, and with the full one if HOB_CLIP names its folder. Without a C++ compiler the
//! tests are skipped, unless HOB_REQUIRE_ALL is set. No test asserts times.

use std::fs::{self, File};
use std::io::{BufReader, Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use hobgoblin_tests::cpp::skip;
use hobgoblin_trials::{command, trial};
use serde_json::Value;

const FRAMES: u64 = 70;
const FIELDS: u64 = 3;
const SIZE: (u32, u32) = (320, 200);
/// The only target that depends on measured times.
const TIMED: &str = "the automatic choice does at most 3 % more work";

/// The trial's program, built once for all tests. `None`: there is no compiler.
static PROGRAM: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let mut build = trial("watch", &Path::new(env!("CARGO_TARGET_TMPDIR")).join("watch")).expect("its sources exist");
    build.optimization = 1;
    let compiler = build.compiler(true).and_then(|tool| Ok(tool.to_command().arg("--version").output()?));
    if let Err(why) = compiler {
        skip(&why.to_string());
        return None;
    }
    Some(build.run().unwrap_or_else(|why| panic!("{why}")))
});

fn run(program: &Path, words: &[&str], input: Stdio) -> Output {
    let mut command = command(program).expect("the library's folder is a path");
    command.args(words).stdin(input).output().expect("the program can be run")
}

/// An empty folder of a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("watch-runs").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target directory can be written");
    folder
}

/// Watches a clip once, and returns the results.
fn watch(program: &Path, folder: &Path, words: &[&str], input: Stdio) -> Value {
    let json = folder.join("result.json");
    let output = run(program, &[&["--repeat", "1", "--json", text(&json)], words].concat(), input);
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let results = fs::read_to_string(json).unwrap_or_else(|why| panic!("{why}: {printed}"));
    let results: Value = serde_json::from_str(&results).unwrap_or_else(|why| panic!("{why}: {results}"));
    for target in results["targets"].as_array().expect("an array") {
        let is_timed = target["sentence"].as_str().is_some_and(|sentence| sentence.starts_with(TIMED));
        assert!(is_timed || target["is_met"] == true, "{target}\n{printed}");
    }
    results
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn own(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("watch/data").join(file)
}

fn count(row: &Value, field: &str) -> u64 {
    row[field].as_u64().unwrap_or_else(|| panic!("{field} in {row}"))
}

fn rows(results: &Value) -> &Vec<Value> {
    results["rows"].as_array().expect("an array")
}

/// The PNGs of the trial's clip.
fn pictures() -> Vec<Vec<u8>> {
    let bytes = fs::read(own("doom.pngs")).expect("it is checked in");
    let starts: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(b"\x89PNG\r\n\x1a\n")).collect();
    let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
    starts.iter().zip(ends).map(|(&start, end)| bytes[start..end].to_vec()).collect()
}

/// A picture as red, green and blue, decoded by another library.
fn decoded(png: &[u8]) -> Vec<u8> {
    let mut decoder = png::Decoder::new(Cursor::new(png));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().expect("it is a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("it is small")];
    let info = reader.next_frame(&mut pixels).expect("it is whole");
    assert_eq!((info.width, info.height, info.color_type), (SIZE.0, SIZE.1, png::ColorType::Rgb));
    pixels
}

#[test]
fn watch_reads_every_label_of_its_own_clip_in_every_way() {
    let Some(program) = PROGRAM.as_deref() else { return };
    let results = watch(program, &folder("own"), &[], Stdio::null());
    let rows = rows(&results);
    let ways: Vec<_> = rows.iter().map(|row| (row["prefetch"].as_str(), row["graft"].as_str())).collect();
    let way = |prefetch, graft| (Some(prefetch), Some(graft));
    let combinations = [("never", "never"), ("never", "always"), ("always", "never"), ("always", "always")];
    let mut expected: Vec<_> = combinations.map(|(prefetch, graft)| way(prefetch, graft)).into();
    expected.extend([way("automatic", "automatic"), way("always", "always"), way("always", "always")]);
    assert_eq!(ways, expected);
    let all = FRAMES * FIELDS;
    for row in rows {
        assert_eq!((count(row, "right"), count(row, "labels")), (all, all), "{row}");
        match row["graft"].as_str() {
            Some("never") => {
                assert_eq!((count(row, "runs"), count(row, "grafts"), count(row, "compared_bytes")), (all, 0, 0));
            }
            Some("always") => {
                assert_eq!(count(row, "runs") + count(row, "grafts"), all, "{row}");
                assert_eq!(count(row, "operations"), count(&rows[1], "operations"), "{row}");
                assert!(count(row, "grafts") > all / 2, "{row}");
            }
            _ => {}
        }
        match row["prefetch"].as_str() {
            Some("never") => assert_eq!(count(row, "prefetched_runs"), 0, "{row}"),
            Some("always") => assert!(count(row, "prefetched_runs") > 0, "{row}"),
            _ => {}
        }
    }
    let statistics = &results["statistics"];
    assert_eq!((count(statistics, "frames"), count(statistics, "pipelines")), (FRAMES, FIELDS));
    let agreements = results["agreements"].as_array().expect("an array");
    for (agreement, frames) in agreements.iter().zip(1..) {
        // Without errors an answer is as late as frames must agree.
        let delay = agreement["mean_delay"].as_f64();
        assert_eq!((count(agreement, "frames"), delay), (frames, Some(frames as f64 - 1.0)), "{agreement}");
        assert_eq!(count(agreement, "right"), count(agreement, "answered"), "{agreement}");
    }
    assert_eq!(agreements.len(), 4);
}

#[test]
fn watch_reads_folders_of_pngs_and_pipes_of_raw_frames() {
    let Some(program) = PROGRAM.as_deref() else { return };
    let (folder, labels) = (folder("inputs"), own("doom.csv"));
    let pictures = &pictures()[..24];
    let (pngs, raw) = (folder.join("pngs"), folder.join("raw"));
    fs::create_dir(&pngs).expect("it is new");
    let mut out = File::create(&raw).expect("the folder can be written");
    for (at, picture) in pictures.iter().enumerate() {
        fs::write(pngs.join(format!("frame_{at:03}.png")), picture).expect("the folder can be written");
        let pixels: Vec<u8> = decoded(picture).chunks_exact(3).flat_map(|rgb| [rgb[2], rgb[1], rgb[0], 77]).collect();
        out.write_all(&pixels).expect("the folder can be written");
    }
    let own = watch(program, &folder, &["--frames", "24"], Stdio::null());
    let of_folder = watch(program, &folder, &["--clip", text(&pngs), "--labels", text(&labels)], Stdio::null());
    let pipe = || Stdio::from(File::open(&raw).expect("it is written"));
    let of_pipe = watch(program, &folder, &["--clip", "-", "--labels", text(&labels)], pipe());
    for results in [&of_folder, &of_pipe] {
        for (row, expected) in rows(results).iter().zip(rows(&own)).filter(|(row, _)| row["graft"] != "automatic") {
            for field in ["right", "labels", "runs", "operations", "compared_bytes"] {
                assert_eq!(row[field], expected[field], "{field}");
            }
        }
    }
    let output = run(program, &["--clip", "-", "--size", "300x200"], pipe());
    assert!(String::from_utf8_lossy(&output.stderr).contains("give the clip's --size"));
}

#[test]
fn watch_writes_overlays_with_outlines_and_counts() {
    let Some(program) = PROGRAM.as_deref() else { return };
    let folder = folder("overlays");
    watch(program, &folder, &["--frames", "24", "--every", "8", "--out", text(&folder)], Stdio::null());
    let pictures = pictures();
    for frame in [8, 16] {
        let path = folder.join(format!("overlay_{frame:04}.png"));
        let file = BufReader::new(File::open(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display())));
        let mut reader = png::Decoder::new(file).read_info().expect("it is a PNG");
        let mut pixels = vec![0; reader.output_buffer_size().expect("it is small")];
        reader.next_frame(&mut pixels).expect("it is whole");
        let at = |pixels: &[u8], x: u32, y: u32| -> [u8; 3] {
            let start = (y * SIZE.0 + x) as usize * 3;
            pixels[start..start + 3].try_into().expect("three bytes")
        };
        let corner = at(&pixels, 5, 171); // of the ammunition's region
        assert!(corner[1] > 200 || corner[0] > 200, "{corner:?}");
        let plain = decoded(&pictures[frame]);
        assert_eq!(at(&pixels, 300, 100), at(&plain, 300, 100), "between text and regions the picture is unchanged");
        let white = (0..60).flat_map(|y| (0..100).map(move |x| (x, y)));
        assert!(white.filter(|&(x, y)| at(&pixels, x, y) == [240; 3]).count() > 200);
    }
}

#[test]
fn wrong_arguments_of_watch_are_refused_with_advice() {
    let Some(program) = PROGRAM.as_deref() else { return };
    let refused = |words: &[&str], advice: &str| {
        let output = run(program, words, Stdio::null());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && error.contains(advice), "{words:?}: {error}");
    };
    refused(&["--size", "640"], "--size wants something like 320x200");
    refused(&["--workers", "0"], "--workers wants 1 to 16");
    refused(&["--tolerance", "256"], "--tolerance wants 0 to 255");
    refused(&["--fields", "ammo"], "--fields wants something like");
    refused(&["--fields", "score:44,171"], "has no column score");
    refused(&["--clip", "/nowhere"], "cannot read the clip");
    refused(&["--clip", "-"], "has no frames");
    refused(&["--glyph-rows", "13"], "must have 10 pictures side by side in 13 rows");
    refused(&["--json", "/dev/null/result"], "cannot write");
    refused(&["--bogus"], "unknown option \"--bogus\"");
}

/// Watches a clip that another program decodes. `None`: that program is missing.
fn watch_decoded(name: &str, decoder: &str, decode: &[&str], labels: &Path, words: &[&str]) -> Option<Value> {
    let program = PROGRAM.as_deref()?;
    let child = Command::new(decoder).args(decode).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        skip(&format!("{decoder} is not installed"));
        return None;
    };
    let pipe = child.stdout.take().expect("it is a pipe");
    let words = [&["--clip", "-", "--labels", text(labels)], words].concat();
    let results = watch(program, &folder(name), &words, pipe.into());
    assert!(child.wait().expect("it ran").success(), "{decoder} {decode:?}");
    Some(results)
}

/// The tolerance for lossy video, from lossless frames that another program decodes. It is half of the least mean difference
/// of any glyph at a place without a digit. Noise below that hides no digit, and shows none at such a place.
fn tolerance_of(decoder: &str, decode: &[&str], labels: &Path) -> Option<u32> {
    const LOSSLESS: usize = 60;
    let output = Command::new(decoder).args(decode).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let mut child = output.ok()?;
    let mut frames = vec![0; LOSSLESS * (SIZE.0 * SIZE.1 * 4) as usize];
    child.stdout.take().expect("it is a pipe").read_exact(&mut frames).expect("it has so many frames");
    let _ = child.wait();
    let glyphs = BufReader::new(File::open(own("digits.png")).expect("it is checked in"));
    let mut reader = png::Decoder::new(glyphs).read_info().expect("it is a PNG");
    let mut glyphs = vec![0; reader.output_buffer_size().expect("it is small")];
    let row = reader.next_frame(&mut glyphs).expect("it is whole").width as usize;
    let (width, height) = (row / 10, 16);
    // The mean difference of a glyph and the pixels at a place. Transparent pixels are not compared.
    let difference = |frame: &[u8], x: usize, y: usize, digit: usize| {
        let (mut sum, mut count) = (0, 0);
        for (dx, dy) in (0..height).flat_map(|dy| (0..width).map(move |dx| (dx, dy))) {
            let glyph = &glyphs[(dy * row + digit * width + dx) * 4..][..4];
            let pixel = &frame[((y + dy) * SIZE.0 as usize + x + dx) * 4..][..3];
            if glyph[3] > 0 {
                sum += (0..3).map(|channel| u32::from(glyph[channel].abs_diff(pixel[2 - channel]))).sum::<u32>();
                count += 3;
            }
        }
        f64::from(sum) / f64::from(count)
    };
    let labels = fs::read_to_string(labels).expect("it is there");
    let mut least = f64::MAX;
    for (frame, labels) in frames.chunks_exact(frames.len() / LOSSLESS).zip(labels.lines().skip(1)) {
        for (label, right) in labels.split(',').skip(1).zip([44, 90, 221]) {
            for place in label.trim().len()..3 {
                let differences = (0..10).map(|digit| difference(frame, right - (place + 1) * width, 171, digit));
                least = differences.fold(least, f64::min);
            }
        }
    }
    Some((least / 2.0) as u32)
}

#[test]
fn watch_reads_the_full_clip_and_its_lossy_encodings() {
    let Some(clip) = std::env::var_os("HOB_CLIP").map(PathBuf::from) else { return };
    let labels = clip.join("doom-demo1-labels.csv");
    let raw = clip.join("doom-demo1-320x200-bgrx-35fps.raw.zst");
    let decode = ["-dcq", "--long=27", text(&raw)];
    if let Some(results) = watch_decoded("full", "zstd", &decode, &labels, &[]) {
        rows(&results).iter().for_each(|row| assert_eq!(count(row, "right"), 1800, "{row}"));
    }
    let Some(tolerance) = tolerance_of("zstd", &decode, &labels) else { return };
    let tolerance = tolerance.to_string();
    println!("tolerance: {tolerance}");
    for (name, least_right) in [("demo1.crf23.mp4", "99"), ("demo1.crf32.mp4", "90")] {
        let file = clip.join(name);
        let decode = ["-v", "error", "-i", text(&file), "-f", "rawvideo", "-pix_fmt", "bgr0", "-"];
        watch_decoded(name, "ffmpeg", &decode, &labels, &["--tolerance", &tolerance, "--least-right", least_right]);
    }
}
