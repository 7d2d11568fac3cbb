//! The cost of names and notes: a use compared with two writes of the same size, a program's name compared with reading
//! its sources.

use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::path::Path;

use hobgoblin::fingerprint::{Mode, Program, Stage, program};
use hobgoblin::quarantine::{Options, Outcome, Quarantine};
use hobgoblin_bench::timing::least_of;

const USES: usize = 10_000;
const RUNS: usize = 20;

/// Mean nanoseconds of one of `count` calls, in the fastest run.
fn each(count: usize, mut work: impl FnMut(usize)) -> f64 {
    least_of(RUNS, || (0..count).for_each(&mut work)) * 1e3 / count as f64
}

fn main() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("quarantine-bench");
    let _ = std::fs::remove_dir_all(&directory);
    uses(&directory);
    names();
    let _ = std::fs::remove_dir_all(&directory);
}

fn uses(directory: &Path) {
    let quarantine = Quarantine::open(directory, Options::at(1_700_000_000)).expect("there is memory");
    let key = |n: usize| [n as u8; 32];
    let pair = each(USES, |n| {
        let token = quarantine.begin(7, &key(n)).expect("there is memory");
        quarantine.end(token, Outcome::Ok).expect("it had begun");
    });
    assert_eq!(quarantine.statistics().unnoted, 0);
    let file = File::create(directory.join("floor")).expect("the directory can be written");
    let floor = each(USES, |n| {
        file.write_all_at(&[n as u8; 64], 64).expect("the file can be written");
        file.write_all_at(&[0; 64], 64).expect("the file can be written");
    });
    let banned = each(USES, |n| {
        black_box(quarantine.is_banned(7, black_box(&key(n))));
    });
    println!("begin and end    {pair:8.0} ns   two writes of 64 bytes {floor:8.0} ns   ratio {:.2}", pair / floor);
    println!("is_banned        {banned:8.1} ns   with no key struck");
}

fn names() {
    for size in [500, 5_000, 50_000] {
        let source: Vec<u8> = (0..size).map(|n| (n % 251) as u8).collect();
        let stages = [Stage { stage: 0, source: &source }, Stage { stage: 4, source: &source }];
        let described = Program { stages: &stages, ..Program::default() };
        let name = |mode| {
            each(2_000_000 / size, |_| {
                black_box(program(mode, black_box(&described), &mut |_| ()).expect("it has stages"));
            })
        };
        let copy = each(2_000_000 / size, |_| {
            black_box([source.clone(), source.clone()].concat());
        });
        let (blake3, sha1) = (name(Mode::Blake3), name(Mode::Sha1));
        let rate = |ns: f64| 2.0 * size as f64 / ns;
        println!(
            "two stages of {size:6} bytes: BLAKE3 {blake3:8.0} ns ({:.2} GB/s)   SHA-1 {sha1:8.0} ns ({:.2} GB/s)   \
             a copy {copy:8.0} ns",
            rate(blake3),
            rate(sha1)
        );
    }
}
