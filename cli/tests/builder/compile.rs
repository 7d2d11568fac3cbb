//! A builder for tests: the state of a pipeline is a text that names its behaviour.

use std::io::{self, Read, Write};
use std::process::{Command, abort, exit, id};
use std::thread::sleep;
use std::time::Duration;
use std::{env, fs};

const FOREVER: Duration = Duration::from_secs(3600);

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let value = |name: &str| arguments.iter().position(|argument| argument == name).map(|at| arguments[at + 1].clone());
    if let Some(path) = value("--pids") {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(path).expect("a file");
        writeln!(file, "{}", id()).expect("space");
    }
    if has("--silent") {
        sleep(FOREVER);
    }
    if has("--broken") {
        eprintln!("no device found");
        exit(4);
    }
    let hello = read_frame().expect("a hello");
    assert_eq!(&hello[..9], b"\x01HOBBUILD");
    if has("--refuse") {
        send(&[&[3], &text("the shaders of game are missing")[..]].concat());
        return;
    }
    if has("--refuse-silently") {
        send(&[3, 0, 0]);
        return;
    }
    if has("--foreign-text") {
        let driver = [2, 0, 0xff, b'l'];
        send(&[&[1], &b"HOBBUILD"[..], &1_u32.to_le_bytes(), &7_u64.to_le_bytes(), &driver].concat());
        return;
    }
    let environment: u64 = value("--environment").map_or(7, |number| number.parse().expect("a number"));
    let name = text("test driver");
    send(&[&[1], &b"HOBBUILD"[..], &1_u32.to_le_bytes(), &environment.to_le_bytes(), &name].concat());
    if has("--deaf") {
        sleep(FOREVER);
    }
    while let Some(frame) = read_frame() {
        compile(&frame);
    }
}

/// A frame without its length. `None`: the input has ended.
fn read_frame() -> Option<Vec<u8>> {
    let mut length = [0; 4];
    io::stdin().read_exact(&mut length).ok()?;
    let mut frame = vec![0; u32::from_le_bytes(length) as usize];
    io::stdin().read_exact(&mut frame).ok()?;
    Some(frame)
}

fn send(frame: &[u8]) {
    let mut out = io::stdout().lock();
    let length = (frame.len() as u32).to_le_bytes();
    out.write_all(&[&length[..], frame].concat()).and_then(|()| out.flush()).expect("hob reads");
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u16).to_le_bytes(), text.as_bytes()].concat()
}

fn answer(key: &[u8], is_failed: bool, micros: u64, message: &str) {
    send(&[&[2], key, &[is_failed.into()], &micros.to_le_bytes(), &text(message)].concat());
}

/// Compile a pipeline: type, key, kind, schema, number of shaders, shaders, length of the state, state.
fn compile(frame: &[u8]) {
    let key = &frame[1..33];
    let shaders = usize::from(u16::from_le_bytes([frame[38], frame[39]]));
    let state = String::from_utf8_lossy(&frame[40 + 24 * shaders + 4..]).into_owned();
    let (behaviour, path) = state.split_once(' ').filter(|_| state != "no reason").unwrap_or((&state, ""));
    match behaviour {
        "abort" => abort(),
        "hang" => sleep(FOREVER),
        "exit" => {
            eprintln!("out of memory in the driver");
            exit(3);
        }
        "rubbish" => send(b"rubbish"),
        "long" => {
            let _ = io::stdout().write_all(&[0xff; 64]);
            let _ = io::stdout().flush();
            sleep(FOREVER);
        }
        "flood" => while io::stdout().write_all(&[0; 4096]).is_ok() {},
        "other" => answer(&[0; 32], false, 1, ""),
        "cut" => {
            let _ = io::stdout().write_all(&[50, 0, 0, 0, 2, 1]);
            exit(0);
        }
        "twice" => (0..2).for_each(|_| answer(key, false, 1, "")),
        "once" if !fs::exists(path).expect("a path") => {
            fs::write(path, "").expect("space");
            abort();
        }
        "child" => {
            let mut child = Command::new("sleep").arg("3600").spawn().expect("sleep starts");
            fs::write(path, child.id().to_string()).expect("space");
            child.wait().expect("a child");
        }
        // A process that holds the pipes open after its parent has ended.
        "orphan" => {
            let child = Command::new("sleep").arg("3600").spawn().expect("sleep starts");
            fs::write(path, child.id().to_string()).expect("space");
            exit(6);
        }
        "slow" => {
            sleep(Duration::from_millis(30));
            answer(key, false, 30_000, "");
        }
        "noisy" => {
            (0..20_000).for_each(|line| eprintln!("warning {line}"));
            answer(key, false, 1, "");
        }
        "no reason" => answer(key, true, 5, ""),
        "fail" => answer(key, true, 5, "unsupported format"),
        _ => answer(key, false, 1000 + u64::from(key[0]), ""),
    }
}
