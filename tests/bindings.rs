//! The API as data (`abi/hobgoblin-api.json`) and the raw C# layer that is generated from it (`bindings/csharp/Native`).
//! `UPDATE=1 cargo test -p hobgoblin-tests --test bindings` writes both.

use std::fs;
use std::path::Path;

use hobgoblin_tests::api::Api;
use hobgoblin_tests::api_json::{self, Document};
use hobgoblin_tests::cpp::root;
use hobgoblin_tests::csharp_native;

/// Compares a file with its generated text, or writes it.
fn check(path: &Path, text: &str, stale: &mut Vec<String>) {
    let full = root().join(path);
    if fs::read_to_string(&full).ok().as_deref() == Some(text) {
        return;
    }
    if std::env::var_os("UPDATE").is_some() {
        let folder = full.parent().expect("a file is in a folder");
        fs::create_dir_all(folder).and_then(|()| fs::write(&full, text)).expect("the repository can be written");
    } else {
        stale.push(path.display().to_string());
    }
}

#[test]
fn api_json_and_raw_csharp_layer_are_up_to_date() {
    let text = api_json::document(&Api::read()).text();
    let mut stale = Vec::new();
    check(Path::new(api_json::PATH), &text, &mut stale);
    // The generator gets nothing but the text of the file.
    let files = csharp_native::generate(&Document::parse(&text));
    for (name, text) in &files {
        check(&Path::new(csharp_native::FOLDER).join(name), text, &mut stale);
    }
    let list = fs::read_dir(root().join(csharp_native::FOLDER)).expect("the layer is checked in");
    for entry in list {
        let name = entry.expect("an entry can be read").file_name().to_string_lossy().into_owned();
        if !files.contains_key(&name) {
            stale.push(format!("{name} belongs to no header"));
        }
    }
    assert!(
        stale.is_empty(),
        "{stale:?} differ from the headers: UPDATE=1 cargo test -p hobgoblin-tests --test bindings"
    );
}
