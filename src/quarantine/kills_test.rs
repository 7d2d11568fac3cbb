//! Processes that are really killed. This test program runs itself as a child, which is killed with a key in use.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::quarantine::{Options, Outcome, Quarantine};

const NOW: u64 = 1_700_000_000;
const DRIVER: u64 = 7;
const GUILTY: [u8; 32] = [1; 32];
const INNOCENT: [u8; 32] = [2; 32];

/// A temporary directory that drop removes.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hobgoblin-quarantine-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    fn open(&self) -> Quarantine {
        Quarantine::open(&self.0, Options::at(NOW)).expect("there is memory")
    }

    /// Starts a child for one of the cases below, and waits until it is ready.
    fn child(&self, what: &str) -> Child {
        let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
        command
            .args(["--exact", "quarantine::kills_test::child_process_entry", "--nocapture"])
            .env("HOB_CHILD", what)
            .env("HOB_DIRECTORY", &self.0);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a child can be started");
        let lines = BufReader::new(child.stdout.take().expect("it was piped")).lines();
        let ready = lines.map_while(Result::ok).any(|line| line.contains("ready"));
        assert!(ready, "the child never got so far");
        child
    }

    fn killed(&self, what: &str) {
        let mut child = self.child(what);
        child.kill().expect("it can be killed");
        let _ = child.wait();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The body of a child process. In the test program itself it does nothing.
#[test]
fn child_process_entry() {
    let Some(what) = std::env::var_os("HOB_CHILD") else { return };
    let directory = PathBuf::from(std::env::var_os("HOB_DIRECTORY").expect("it was given"));
    let quarantine = Quarantine::open(&directory, Options::at(NOW)).expect("there is memory");
    let good_use = |key: &[u8; 32]| {
        let token = quarantine.begin(DRIVER, key).expect("there is memory");
        quarantine.end(token, Outcome::Ok).expect("it had begun");
    };
    good_use(&INNOCENT);
    match what.to_str() {
        Some("inside") | Some("abort") => {
            quarantine.begin(DRIVER, &GUILTY).expect("there is memory");
            println!("ready");
            if what == "abort" {
                std::process::abort();
            }
            std::thread::sleep(Duration::from_secs(600));
        }
        Some("elsewhere") => {
            println!("ready");
            std::thread::sleep(Duration::from_secs(600));
        }
        Some("busy") => {
            println!("ready");
            loop {
                good_use(&GUILTY);
            }
        }
        _ => panic!("unknown command for the child process"),
    }
}

#[test]
fn two_kills_inside_one_key_ban_that_key_alone() {
    let scratch = Scratch::new("inside");
    scratch.killed("inside");
    assert_eq!(scratch.open().strikes(DRIVER, &GUILTY), 1);
    scratch.killed("elsewhere");
    assert_eq!(scratch.open().strikes(DRIVER, &GUILTY), 1);
    assert!(!scratch.open().is_banned(DRIVER, &GUILTY));
    let _ = scratch.child("abort").wait();
    let quarantine = scratch.open();
    assert!(quarantine.is_banned(DRIVER, &GUILTY));
    assert!(!quarantine.is_banned(DRIVER + 1, &GUILTY));
    assert_eq!(quarantine.strikes(DRIVER, &INNOCENT), 0);
    assert_eq!(quarantine.statistics().bans, 1);
}

#[test]
fn use_by_another_process_is_no_strike_until_it_crashes() {
    let scratch = Scratch::new("living");
    let mut child = scratch.child("inside");
    for _ in 0..3 {
        let quarantine = scratch.open();
        let token = quarantine.begin(DRIVER, &INNOCENT).expect("there is memory");
        quarantine.end(token, Outcome::Ok).expect("it had begun");
        assert_eq!(quarantine.statistics().struck, 0);
        assert!(quarantine.problem().is_none());
    }
    child.kill().expect("it can be killed");
    let _ = child.wait();
    assert_eq!(scratch.open().strikes(DRIVER, &GUILTY), 1);
}

/// Kills at random moments of writing and clearing notes. No record is damaged, and each kill adds at most one strike.
#[test]
fn kills_at_random_moments_keep_notes_valid() {
    let scratch = Scratch::new("busy");
    for round in 0..30 {
        let mut child = scratch.child("busy");
        std::thread::sleep(Duration::from_micros(round * 97 % 2000));
        child.kill().expect("it can be killed");
        let _ = child.wait();
        let quarantine = scratch.open();
        let statistics = quarantine.statistics();
        assert_eq!((statistics.damaged, statistics.ignored), (0, 0));
        assert!(statistics.counted <= 1 && quarantine.strikes(DRIVER, &INNOCENT) == 0);
        quarantine.forgive_all().expect("it can be written");
    }
}
