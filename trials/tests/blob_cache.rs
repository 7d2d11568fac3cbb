//! Third-party programs with the preloaded cache `trials/blob_cache`: Debian's `glmark2-es2` on an X server without a
//! screen, and Google's Dawn from PyPI.
//!
//! A missing package skips its tests, unless HOB_REQUIRE_ALL is set. Most tests need an EGL with
//! `EGL_ANDROID_blob_cache` too. Mesa has it on graphics cards, and for software rendering from version 23 on. Debian 12
//! has that version among its backports: see `tools/newer_mesa.sh`. HOB_REQUIRE_BLOB_CACHE makes a missing extension a
//! failure, and `.ci/run` sets it for the run with the newer Mesa.
#![cfg(target_os = "linux")]

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use hobgoblin_tests::cpp::skip;

/// Scenes whose picture glmark2 compares with the expected one.
const SCENES: [&str; 5] = ["build", "texture", "shading:shading=phong", "bump", "pulsar"];

fn is_installed(program: &str) -> bool {
    Command::new("which").arg(program).output().is_ok_and(|found| found.status.success())
}

/// Whether the packages that these tests need are installed. `.ci/run` installs them.
fn has_packages(programs: &[&str]) -> bool {
    let missing: Vec<_> = programs.iter().filter(|program| !is_installed(program)).collect();
    if !missing.is_empty() {
        skip(&format!("{missing:?} are not installed (Debian: xvfb glmark2-es2-x11 g++)"));
    }
    missing.is_empty()
}

/// The shared library to preload, built as its users build it.
static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let output = Command::new(env!("CARGO_BIN_EXE_blob_cache")).output().expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let path = text.split("LD_PRELOAD=").nth(1).and_then(|rest| rest.split_whitespace().next());
    PathBuf::from(path.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr))))
});

/// An X server without a screen, and a directory for the test.
struct Stage {
    server: Child,
    display: String,
    directory: PathBuf,
}

/// The result of a program that ran with the preloaded cache.
struct Run {
    output: Output,
    /// A line about the blobs. `None`: there was no cache.
    report: Option<String>,
}

/// The numbers in the report line.
struct Blobs {
    found: usize,
    asked: usize,
    kept: usize,
}

impl Stage {
    fn new(name: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("blob_cache").join(name);
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).expect("the target directory can be written");
        let mut server = Command::new("Xvfb");
        server.args(["-displayfd", "1", "-screen", "0", "1024x768x24", "-nolisten", "tcp"]);
        let mut server = server.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("Xvfb runs");
        let (mut number, mut output) = (String::new(), server.stdout.take().expect("it was piped"));
        let mut byte = [0];
        while output.read_exact(&mut byte).is_ok() && byte != *b"\n" {
            number.push(char::from(byte[0]));
        }
        Self { server, display: format!(":{number}"), directory }
    }

    fn cache(&self) -> PathBuf {
        self.directory.join("cache")
    }

    /// Runs glmark2. The driver's own shader cache is empty.
    fn glmark2(&self, arguments: &[&str], cache: Option<&OsStr>) -> Command {
        let own = self.directory.join("of the driver");
        let _ = fs::remove_dir_all(&own);
        let mut command = Command::new("timeout");
        command.args(["--kill-after=1", "60", "glmark2-es2"]).args(arguments);
        command.env("DISPLAY", &self.display).env("MESA_SHADER_CACHE_DIR", own).env("LD_PRELOAD", &*LIBRARY);
        command.env("HOB_BLOB_CACHE_REPORT", self.directory.join("report")).env("HOB_BLOB_CACHE_WAIT_MS", "20000");
        match cache {
            Some(cache) => command.env("HOB_BLOB_CACHE", cache),
            None => command.env_remove("HOB_BLOB_CACHE"),
        };
        command
    }

    /// Runs all scenes. Their pictures must be right.
    fn validate(&self, cache: Option<&OsStr>) -> Run {
        let arguments: Vec<&str> =
            ["--validate"].into_iter().chain(SCENES.iter().flat_map(|scene| ["-b", scene])).collect();
        let report = self.directory.join("report");
        let _ = fs::remove_file(&report);
        let output = self.glmark2(&arguments, cache).output().expect("timeout runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}: {said}{}", output.status, String::from_utf8_lossy(&output.stderr));
        assert_eq!(said.matches("Validation: Success").count(), SCENES.len(), "{said}");
        let report = fs::read_to_string(report).ok();
        Run { output, report }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Run {
    fn complaint(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// The numbers of blobs. Panics if there is no report, or if it has an error.
    fn blobs(&self) -> Blobs {
        let line = self.report.as_deref().unwrap_or_else(|| panic!("no blobs at all: {}", self.complaint()));
        assert!(!line.contains(": "), "{line}");
        let words: Vec<&str> = line.split(' ').collect();
        let number = |word: usize| words[word].parse().unwrap_or_else(|_| panic!("{line}"));
        Blobs { found: number(0), asked: number(2), kept: number(5) }
    }
}

/// A stage whose driver accepts the cache's functions, and the first run on it.
fn stage_with_blobs(name: &str) -> Option<(Stage, Run)> {
    if !has_packages(&["Xvfb", "glmark2-es2", "c++"]) {
        return None;
    }
    let stage = Stage::new(name);
    let first = stage.validate(Some(stage.cache().as_os_str()));
    if !first.complaint().contains("EGL_ANDROID_blob_cache") {
        return Some((stage, first));
    }
    // Without the extension the program must run unchanged, and the cache must print one message.
    assert_eq!(first.complaint().matches("hobgoblin:").count(), 1, "{}", first.complaint());
    assert!(first.report.is_none() && !stage.cache().exists());
    let required = std::env::var_os("HOB_REQUIRE_BLOB_CACHE").is_some();
    assert!(!required, "this EGL does not offer EGL_ANDROID_blob_cache: use a newer Mesa (tools/newer_mesa.sh)");
    eprintln!("skipped in part: this EGL does not offer EGL_ANDROID_blob_cache (see tools/newer_mesa.sh)");
    None
}

/// The segments of a store.
fn segments(directory: &Path) -> Vec<PathBuf> {
    let Ok(list) = fs::read_dir(directory) else { return Vec::new() };
    let paths = list.map(|entry| entry.expect("an entry can be read").path());
    paths.filter(|path| path.extension() == Some(OsStr::new("seg"))).collect()
}

fn size_of(directory: &Path) -> u64 {
    segments(directory).iter().filter_map(|path| fs::metadata(path).ok()).map(|data| data.len()).sum()
}

#[test]
fn second_process_loads_blobs_of_the_first() {
    let Some((stage, first)) = stage_with_blobs("second") else { return };
    assert!(first.blobs().kept > 0, "nothing was kept");
    let second = stage.validate(Some(stage.cache().as_os_str()));
    let blobs = second.blobs();
    // Not all blobs are found: Mesa gives a few of them different names in every process.
    assert!(blobs.found * 10 >= blobs.asked * 9, "{} of {} found", blobs.found, blobs.asked);
    assert!(blobs.kept * 10 <= first.blobs().kept, "{} were compiled again", blobs.kept);
}

#[test]
fn killed_program_loses_no_stored_blob() {
    let Some((stage, first)) = stage_with_blobs("killed") else { return };
    let cache = stage.directory.join("of the killed");
    let mut command = stage.glmark2(&["-b", "build:duration=60", "--size", "64x64"], Some(cache.as_os_str()));
    let mut victim = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("timeout runs");
    let patience = Instant::now() + Duration::from_secs(30);
    let mut before = 0;
    while before == 0 || size_of(&cache) != before {
        assert!(Instant::now() < patience, "nothing was written for 30 s");
        before = size_of(&cache);
        std::thread::sleep(Duration::from_millis(500));
    }
    // `timeout` forwards signals to its program, but cannot forward SIGKILL.
    let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", victim.id())).expect("it lives");
    assert!(Command::new("kill").arg("-9").args(children.split_whitespace()).status().is_ok_and(|s| s.success()));
    assert!(!victim.wait().expect("it has ended").success());
    let after = stage.validate(Some(cache.as_os_str()));
    assert!(after.blobs().found > first.blobs().found, "{} of {}", after.blobs().found, after.blobs().asked);
}

#[test]
fn damaged_directory_costs_blobs_only() {
    let Some((stage, _)) = stage_with_blobs("damaged") else { return };
    let all = stage.validate(Some(stage.cache().as_os_str())).blobs().found;
    for path in segments(&stage.cache()) {
        let bytes = fs::read(&path).expect("a segment can be read");
        fs::write(&path, &bytes[..bytes.len() / 2]).expect("a segment can be written");
    }
    let cut = stage.validate(Some(stage.cache().as_os_str()));
    assert!(cut.blobs().found < all && cut.blobs().kept > 0, "{} of {all}", cut.blobs().found);
    for path in segments(&stage.cache()) {
        let mut bytes = fs::read(&path).expect("a segment can be read");
        bytes.iter_mut().skip(99).step_by(1000).for_each(|byte| *byte ^= 0x10);
        fs::write(&path, bytes).expect("a segment can be written");
    }
    stage.validate(Some(stage.cache().as_os_str()));
    let mended = stage.validate(Some(stage.cache().as_os_str()));
    assert!(mended.blobs().found * 10 >= mended.blobs().asked * 9, "{}", mended.blobs().found);
}

#[test]
fn program_without_a_directory_runs_unchanged_with_a_message() {
    let Some((stage, _)) = stage_with_blobs("none") else { return };
    let run = stage.validate(None);
    assert!(
        run.report.is_none() && run.complaint().contains("HOB_BLOB_CACHE names no directory by its full path"),
        "{}",
        run.complaint()
    );
    let file = stage.directory.join("a file");
    fs::write(&file, "").expect("the directory can be written");
    let run = stage.validate(Some(file.as_os_str()));
    assert!(run.complaint().contains("not a directory"), "{}", run.complaint());
    assert!(run.report.is_some_and(|line| line.contains("not a directory")));
}

/// Compiles a C program or library.
fn compile(folder: &Path, name: &str, flags: &[&str], source: &str) -> PathBuf {
    fs::create_dir_all(folder).expect("the target directory can be written");
    let (file, product) = (folder.join(format!("{name}.c")), folder.join(name));
    fs::write(&file, source).expect("the directory can be written");
    let mut command = Command::new("cc");
    let built = command.args(flags).arg(&file).arg("-o").arg(&product).arg("-ldl").output().expect("cc runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    product
}

const SHARED: [&str; 2] = ["-shared", "-fPIC"];

/// The preloaded dlsym must not break other preloaded libraries.
#[test]
fn preloaded_dlsym_keeps_rtld_next_relative_to_the_caller() {
    if !has_packages(&["cc"]) {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("blob_cache/next");
    let first = "#define _GNU_SOURCE\n#include <dlfcn.h>\n\
        int probe(void) { int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, \"probe\"); return next ? 10 + next() : -1; }";
    let first = compile(&folder, "first.so", &SHARED, first);
    let second = compile(&folder, "second.so", &SHARED, "int probe(void) { return 2; }");
    let program = "int probe(void) __attribute__((weak)); int main(void) { return probe(); }";
    let program = compile(&folder, "program", &[], program);
    let list = [LIBRARY.as_path(), &first, &second].map(|path| path.display().to_string()).join(":");
    let ran = Command::new(program).env("LD_PRELOAD", list).status().expect("it runs");
    assert_eq!(ran.code(), Some(12));
}

/// A libEGL that does nothing but pass blobs to the functions of the cache.
const DRIVER: &str = r#"
#include <string.h>
typedef void (*Set)(const void*, long, const void*, long);
typedef long (*Get)(const void*, long, void*, long);
static Set set;
static Get get;
static void take(void* display, Set s, Get g) { (void)display; set = s; get = g; }
unsigned eglMakeCurrent(void* display, void* draw, void* read, void* context) { return display && context && !draw && !read; }
unsigned eglTerminate(void* display) { return display != 0; }
unsigned eglSwapBuffers(void* display, void* surface) { return display && !surface; }
const char* eglQueryString(void* display, int name) { return display && name ? "EGL_ANDROID_blob_cache" : 0; }
int eglGetError(void) { return 0x3000; }
void (*eglGetProcAddress(const char* name))(void) {
    return strcmp(name, "eglSetBlobCacheFuncsANDROID") ? 0 : (void (*)(void))take;
}
void store(const char* key) { set(key, 3, "blob", 4); }
int load(const char* key) { char value[8]; return get(key, 3, value, sizeof value) == 4; }
"#;

/// Stores blobs, draws with them, or is killed after one was loaded. With "look" it returns 1 for the one blob, and 2
/// for the other.
const GAME: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
int main(int count, char** words) {
    void* const egl = count == 3 ? dlopen(words[1], RTLD_NOW) : 0;
    if (!egl) return 99;
    unsigned (*make_current)(void*, void*, void*, void*) = (unsigned (*)(void*, void*, void*, void*))dlsym(egl, "eglMakeCurrent");
    unsigned (*swap)(void*, void*) = (unsigned (*)(void*, void*))dlsym(egl, "eglSwapBuffers");
    void (*store)(const char*) = (void (*)(const char*))dlsym(egl, "store");
    int (*load)(const char*) = (int (*)(const char*))dlsym(egl, "load");
    if (!make_current((void*)1, 0, 0, (void*)1)) return 98;
    if (!strcmp(words[2], "store")) {
        store("one");
        store("two");
        return 0;
    }
    if (!strcmp(words[2], "look")) return load("one") + 2 * load("two");
    if (!load("one") || !swap((void*)1, 0) || !load("two")) return 97;
    return kill(getpid(), SIGKILL);
}
"#;

#[test]
fn blob_that_was_loaded_in_two_killed_processes_is_not_loaded_again() {
    if !has_packages(&["cc"]) {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("blob_cache/strikes");
    let _ = fs::remove_dir_all(&folder);
    let (driver, game) = (compile(&folder, "driver.so", &SHARED, DRIVER), compile(&folder, "game", &[], GAME));
    let run = |what: &str, strikes: &str| {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=1", "60"]).arg(&game).arg(&driver).arg(what).env("LD_PRELOAD", &*LIBRARY);
        command.env("HOB_BLOB_CACHE", folder.join("cache")).env("HOB_BLOB_CACHE_STRIKES", strikes);
        command.env("HOB_BLOB_CACHE_WAIT_MS", "20000").status().expect("timeout runs").code()
    };
    assert_eq!(run("store", "1"), Some(0));
    // `timeout` ends as its program does.
    let is_killed = |code: Option<i32>| code.is_none() || code == Some(128 + 9);
    (0..3).for_each(|_| assert!(is_killed(run("crash", "0"))));
    assert_eq!(run("look", "1"), Some(3), "uses are not tracked by default");
    for known in [3, 1] {
        assert!(is_killed(run("crash", "1")));
        assert_eq!(run("look", "1"), Some(known));
    }
}

#[test]
fn dawn_loads_its_shaders_in_the_next_process() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("blob_cache/dawn.py");
    let library = std::env::current_exe().expect("it has a path").with_file_name("libhobgoblin.so");
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("blob_cache/dawn");
    let _ = fs::remove_dir_all(&directory);
    let run = || Command::new("timeout").args(["60", "python3"]).args([&script, &library, &directory]).output();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let is_here = Command::new("python3").args(["-c", "import pydawn.utils"]).output();
    if !is_here.is_ok_and(|here| here.status.success()) {
        return skip("dawn-python is not installed (pip install dawn-python==0.3.0)");
    }
    let first = run().expect("timeout runs");
    if text(&first.stderr).contains("requesting adapter") {
        return skip("Dawn finds no Vulkan driver (Debian: mesa-vulkan-drivers)");
    }
    assert!(text(&first.stdout).contains("64 pipelines in ") && first.status.success(), "{}", text(&first.stderr));
    assert!(text(&first.stdout).contains(" blobs: 0 found, "), "{}", text(&first.stdout));
    let second = text(&run().expect("timeout runs").stdout);
    assert!(second.contains(" 0 missed, 0 kept"), "{second}");
}
