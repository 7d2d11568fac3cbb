//! The reference of the headers: every public name has documentation.

use std::fs;
use std::process::Command;

use hobgoblin_tests::cpp::{is_installed, root, run, scratch};

#[test]
fn every_public_name_of_the_headers_is_in_the_reference() {
    if !is_installed("doxygen", "doxygen") {
        return;
    }
    let folder = scratch().join("reference");
    let _ = fs::remove_dir_all(&folder);
    // An undocumented name is an error of the script.
    run(Command::new(root().join("tools/reference.sh")).arg(&folder));
    let page = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_else(|why| panic!("{name}: {why}"));
    for (name, text) in [
        ("goblin_8h.html", "hob_goblin_update"),
        ("base_8h.html", "HOB_MAKE_VERSION"),
        ("perception_8hpp.html", "perception.hpp"),
        ("classhob_1_1Goblin.html", "try_update"),
        ("index.html", "read from frames"),
    ] {
        assert!(page(name).contains(text), "{name} has no {text}");
    }
}
