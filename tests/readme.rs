//! Compiles the programs of the README, the guide and other pages without warnings, links and runs them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use hobgoblin_tests::cpp::{harness_library, root, scratch, skip};

/// The fenced block of a language under a heading of one of these pages.
fn block(heading: &str, language: &str) -> String {
    let page = |name: &str| fs::read_to_string(root().join(name)).expect("the page is there");
    let mut pages = page("README.md") + &page("docs/guide.md");
    // A page of its own has the program under its title.
    for name in
        ["bgfx", "drop-in/goblin", "drop-in/program_cache", "drop-in/pipelines", "drop-in/graph", "drop-in/perception"]
    {
        pages += &format!("\n#{}", page(&format!("docs/{name}.md")));
    }
    let section = pages.split_once(&format!("\n## {heading}\n")).expect("a page has such a section").1;
    let program = section.split_once(&format!("```{language}\n")).expect("the section has such a program").1;
    program.split_once("```").expect("the block ends").0.to_owned()
}

/// Builds the program under a heading in an empty folder, and runs it there `times` times. Returns the outputs.
fn run(heading: &str, language: &str, compiler: &str, standard: &str, times: usize) -> Vec<String> {
    let folder = scratch().join(format!("readme {heading}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder can be created");
    let (source, program) = (folder.join(format!("main.{language}")), folder.join("main"));
    fs::write(&source, block(heading, language)).expect("the source can be written");
    let library = harness_library();
    let libraries = library.parent().expect("a library is in a folder");
    let built = Command::new(compiler)
        .args([standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .arg(root().join("include"))
        .arg(&source)
        .arg("-L")
        .arg(libraries)
        .args(["-lhobgoblin", "-o"])
        .arg(&program)
        .arg(format!("-Wl,-rpath,{}", libraries.display()))
        .output();
    let Ok(built) = built else {
        skip(&format!("{compiler} is not installed"));
        return Vec::new();
    };
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let run = |_| {
        let ran = Command::new(&program)
            .current_dir(&folder)
            .env_remove("LD_LIBRARY_PATH")
            .output()
            .expect("the program can be run");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8_lossy(&ran.stdout).into_owned()
    };
    (0..times).map(run).collect()
}

#[test]
fn readme_c_program_keeps_the_budget() {
    // 4 + 3 × 3 = 13 ms fit, and no option is more valuable.
    run("In C", "c", "cc", "-std=c11", 1).iter().for_each(|printed| assert_eq!(printed, "shadows: 3\n"));
}

#[test]
fn guide_pipelines_are_late_in_the_first_run_only() {
    let printed = run("Pipelines that are compiled ahead", "cpp", "c++", "-std=c++17", 3);
    let expected = ["0 ahead, 3 late\n", "3 ahead, 0 late\n", "3 ahead, 0 late\n"];
    printed.iter().zip(expected).for_each(|(printed, expected)| assert_eq!(printed, expected));
}

#[test]
fn readme_cpp_program_keeps_the_budget() {
    // 8.0 + 2.5 × 2 + 1.5 = 14.5 ms, worth 9. High shadows with bloom take 17.0 ms, which is too much. High shadows
    // without bloom take 15.5 ms and are worth only 7.
    for printed in run("In C++", "cpp", "c++", "-std=c++17", 1) {
        assert!(printed.starts_with("shadows 2, bloom 1\n"), "{printed}");
    }
}

#[test]
fn readme_renderer_finds_its_shader_at_the_second_start() {
    let printed = run("Drop it into an existing renderer", "c", "cc", "-std=c11", 2);
    assert!(printed.is_empty() || printed == ["compiled\n", "found: its binary\n"], "{printed:?}");
}

#[test]
fn readme_bgfx_callbacks_find_their_binary_at_the_second_start() {
    let printed = run("Program binaries in bgfx", "cpp", "c++", "-std=c++17", 2);
    assert!(printed.is_empty() || printed == ["built\n", "loaded 10 bytes\n"], "{printed:?}");
}

#[test]
fn readme_program_is_built_once_and_loaded_after() {
    let printed = run("Programs that are built once", "cpp", "c++", "-std=c++17", 3);
    assert!(printed.is_empty() || printed == ["built\n", "loaded\n", "loaded\n"], "{printed:?}");
}

#[test]
fn drop_in_pages_do_what_they_say() {
    // `built` and `loaded`: at the first start and at the second one.
    for (heading, printed) in [
        ("Drop the goblin into your renderer", ["shadows 1, ssao 2\n"; 2]),
        ("Drop the program cache into your renderer", ["built\n", "loaded\n"]),
        ("Drop pipelines into your renderer", ["27 draws ready, 3 hitches\n", "30 draws ready, 0 hitches\n"]),
        ("Drop the graph into your engine", ["100.5 after 4 blurs in 100 frames\n"; 2]),
        ("Drop perception into your tool", ["health 36 after 5 looks at 100 frames\n"; 2]),
    ] {
        let found = run(heading, "c", "cc", "-std=c11", 2);
        assert!(found.is_empty() || found == printed, "{heading}: {found:?}");
    }
}

/// All pages: of the first folder, `docs`, `examples`, `packaging` and their folders.
fn pages() -> Vec<PathBuf> {
    let mut open = vec![root().join("docs"), root().join("examples"), root().join("packaging"), root().to_owned()];
    let mut pages = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("the folder exists") {
            let path = entry.expect("an entry can be read").path();
            if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            } else if path.is_dir() && folder != root() {
                open.push(path);
            }
        }
    }
    pages
}

/// The name of a heading in a link.
fn anchor(heading: &str) -> String {
    let letters = heading.trim().to_lowercase();
    let kept = letters.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

#[test]
fn links_of_all_pages_lead_to_files_and_headings() {
    let read = |path: &PathBuf| fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let (mut broken, mut count) = (Vec::new(), 0);
    for page in pages() {
        for link in
            read(&page).split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link.to_owned())
        {
            if link.contains("://") || link.contains(' ') {
                continue;
            }
            count += 1;
            let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
            let target =
                if file.is_empty() { page.clone() } else { page.parent().expect("a page is in a folder").join(file) };
            let is_there = target.exists()
                && (heading.is_empty()
                    || read(&target)
                        .lines()
                        .any(|line| line.starts_with('#') && anchor(line.trim_start_matches('#')) == heading));
            if !is_there {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(count > 60, "only {count} links were found");
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

#[test]
fn notice_names_every_library_in_the_binaries() {
    let notice = fs::read_to_string(root().join("NOTICE")).expect("NOTICE is there");
    let tree = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["tree", "--offline", "--package", "hobgoblin"])
        .args(["--edges", "no-dev,no-build,no-proc-macro", "--prefix", "none", "--format", "{p}"])
        .output()
        .expect("cargo can be run");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8_lossy(&tree.stdout).into_owned();
    let names: Vec<_> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.contains(&"blake3"), "{names:?}");
    for name in names {
        assert!(notice.contains(name), "NOTICE does not name {name}");
    }
}
