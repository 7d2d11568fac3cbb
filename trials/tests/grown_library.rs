//! A client of the previous headers runs on a library that is newer than any: each of its versioned structs has a field
//! more.

use hobgoblin_tests::cpp::{build_library, compiler};
use hobgoblin_tests::layouts::{previous, run_client};

#[test]
fn previous_clients_run_on_a_library_whose_versioned_structs_have_grown() {
    let Some(tool) = compiler() else { return };
    let library = build_library("appended-fields", "dev", &["--features", "host-allocator,appended-fields"])("so");
    run_client("previous", &previous(), &tool, &library);
}
