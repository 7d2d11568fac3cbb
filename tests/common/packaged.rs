//! The installation that `tools/install.sh` makes, and users of it: they start in an empty folder outside of the
//! repository, with no variable of this process but `PATH`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::cpp::{output, root, run};

/// The version in `Cargo.toml` of the library.
pub fn version() -> String {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("it is checked in");
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = \"")).expect("a package has a version");
    line.trim_end_matches('"').to_owned()
}

/// A script of the repository, which builds in a folder that all tests share.
pub fn script(path: &str) -> Command {
    let mut command = Command::new(root().join(path));
    command.env("CARGO_TARGET_DIR", output());
    command
}

/// The prefix of an installation of the release library, built once for all tests.
pub fn prefix() -> &'static Path {
    static PREFIX: LazyLock<PathBuf> = LazyLock::new(|| {
        let prefix = output().join("packaged/prefix");
        let _ = fs::remove_dir_all(&prefix);
        run(script("tools/install.sh").arg(&prefix));
        prefix
    });
    &PREFIX
}

/// The shared library that packages ship, with all rooms. Its soname is `SONAME`.
pub fn shared_library() -> PathBuf {
    prefix().join(format!("lib/libhobgoblin.so.{}", version()))
}

/// A release archive of the working tree, made by `tools/release.sh`, and its folder. Made once for all tests.
pub fn archive() -> &'static Path {
    static ARCHIVE: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = output().join("packaged/archive");
        make_archive(&folder);
        let archive = format!("hobgoblin-{}-{}.tar.gz", version(), env!("HOB_TARGET"));
        folder.join(archive)
    });
    &ARCHIVE
}

/// Makes a release archive of the working tree in a folder.
pub fn make_archive(folder: &Path) {
    run(script("tools/release.sh").arg("--allow-dirty").arg(folder));
}

pub const SONAME: &str = "libhobgoblin.so.0";

/// A temporary folder outside of the repository. Its name has a space, like the folders of many users.
pub struct Outside(PathBuf);

impl Outside {
    pub fn new() -> Self {
        Self::with_prefix("hob goblin ")
    }

    /// A folder without a space in its name, for shells that split what a program prints.
    pub fn without_space() -> Self {
        Self::with_prefix("hobgoblin-")
    }

    fn with_prefix(prefix: &str) -> Self {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        let name = format!("{prefix}{}-{}", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap_or_else(|why| panic!("cannot create {}: {why}", folder.display()));
        Self(folder)
    }

    /// A folder in it with copies of the files of `packaging/example`.
    pub fn example(&self, name: &str) -> PathBuf {
        let folder = self.0.join(name);
        self.copy(&root().join("packaging/example"), name);
        folder
    }

    /// Copies a folder with its symbolic links.
    pub fn copy(&self, from: &Path, name: &str) -> PathBuf {
        let to = self.0.join(name);
        run(Command::new("cp").arg("-a").arg(from).arg(&to));
        to
    }

    /// The unpacked release archive.
    pub fn unpacked(&self) -> PathBuf {
        let archive = archive();
        run(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&self.0));
        let name = archive.file_name().expect("a file has a name").to_string_lossy().into_owned();
        self.0.join(name.trim_end_matches(".tar.gz"))
    }

    /// A git repository with the files of the working tree in one commit.
    pub fn repository(&self) -> PathBuf {
        let folder = self.0.join("upstream");
        let mut git = Command::new("git");
        let list = run(git.args(["ls-files", "-co", "--exclude-standard", "-z"]).current_dir(root())).stdout;
        for file in String::from_utf8(list).expect("names are UTF-8").split_terminator('\0') {
            let (from, to) = (root().join(file), folder.join(file));
            // Deleted files are still in the index.
            if from.exists() {
                fs::create_dir_all(to.parent().expect("a file is in a folder")).expect("the folder can be written");
                fs::copy(from, to).expect("the folder can be written");
            }
        }
        let identity = ["-c", "user.name=test", "-c", "user.email=test", "-c", "init.defaultBranch=main"];
        for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "all"]] {
            run(Command::new("git").current_dir(&folder).args(identity).args(arguments));
        }
        folder
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Default for Outside {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A program of a user: it sees no variable of this process but `PATH`.
pub fn user(program: impl AsRef<std::ffi::OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).current_dir(folder);
    command
}

/// Runs a built example of `packaging/example`, and asserts its answer.
pub fn assert_plays(program: &Path, libraries: Option<&Path>) {
    let mut game = user(program, program.parent().expect("a program is in a folder"));
    if let Some(libraries) = libraries {
        game.env("LD_LIBRARY_PATH", libraries);
    }
    let printed = String::from_utf8(run(&mut game).stdout).expect("it prints ASCII");
    assert!(printed.ends_with(", shadows 3\n"), "{}: {printed}", program.display());
}

/// The names of libraries that a program or a library needs, or that name itself, with `tag` NEEDED or SONAME.
pub fn dynamic(file: &Path, tag: &str) -> Vec<String> {
    let printed = run(Command::new("readelf").arg("-d").arg(file)).stdout;
    let lines = String::from_utf8(printed).expect("names are ASCII");
    let tag = format!("({tag})");
    let lines = lines.lines().filter(|line| line.contains(&tag));
    lines.filter_map(|line| Some(line.split_once('[')?.1.trim_end_matches(']').to_owned())).collect()
}
