//! The headers of a folder, with the compiler's layout of their structs. Also makes copies of the headers in which
//! every versioned struct has one additional field.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::api::Api;
use super::cpp::{files, output, root, run};

/// A compiler's layout of a struct.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    pub size: usize,
    /// Offset and size of each field.
    pub fields: Vec<(usize, usize)>,
}

/// Parsed headers with the layouts of their structs.
pub struct Headers {
    pub api: Api,
    pub layouts: BTreeMap<String, Layout>,
}

impl Headers {
    /// Parses and measures `folder/include/hobgoblin/*.h`.
    pub fn read(folder: &Path, tool: &cc::Tool, scratch: &str) -> Self {
        let mut api = Api::default();
        for path in header_files(folder) {
            let text = fs::read_to_string(&path).unwrap_or_else(|why| panic!("cannot read {}: {why}", path.display()));
            api.add(&path.file_stem().expect("a header has a name").to_string_lossy(), &text);
        }
        let layouts = measure(folder, &api, tool, scratch);
        Self { api, layouts }
    }

    pub fn abi_version(&self) -> i64 {
        self.api.constants.get("HOB_ABI_VERSION").copied().unwrap_or(0)
    }
}

/// The C headers of a folder, ordered by name.
pub fn header_files(folder: &Path) -> Vec<PathBuf> {
    let folder = folder.join("include/hobgoblin");
    let list = fs::read_dir(&folder).unwrap_or_else(|why| panic!("cannot list {}: {why}", folder.display()));
    let mut paths: Vec<_> = list.map(|entry| entry.expect("an entry can be read").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == "h"));
    paths.sort();
    paths
}

/// A compiler command for the headers of a folder. It runs in the folder, because its flags have the relative path
/// `include`.
pub fn compile_in(folder: &Path, tool: &cc::Tool) -> Command {
    let mut command = tool.to_command();
    command.current_dir(folder);
    command
}

/// A folder for the files of one test.
pub fn scratch(name: &str) -> PathBuf {
    let folder = output().join("abi").join(name);
    fs::create_dir_all(&folder).unwrap_or_else(|why| panic!("cannot create {}: {why}", folder.display()));
    folder
}

/// Measures sizes and offsets with the compiler.
fn measure(folder: &Path, api: &Api, tool: &cc::Tool, name: &str) -> BTreeMap<String, Layout> {
    let mut source =
        String::from("#include <hobgoblin/hobgoblin.h>\n#include <stddef.h>\n#include <stdio.h>\nint main() {\n");
    for one in &api.structs {
        let _ = writeln!(source, "    printf(\"{0} %zu\", sizeof({0}));", one.name);
        for field in &one.fields {
            let (of, field) = (&one.name, &field.name);
            let _ =
                writeln!(source, "    printf(\" %zu %zu\", offsetof({of}, {field}), sizeof((({of} *)0)->{field}));");
        }
        source += "    puts(\"\");\n";
    }
    source += "    return 0;\n}\n";
    let (file, program) = (scratch(name).join("layout.cpp"), scratch(name).join("layout"));
    fs::write(&file, source).expect("the target directory can be written");
    run(compile_in(folder, tool).arg("-w").arg(&file).arg("-o").arg(&program));
    let printed = String::from_utf8(run(&mut Command::new(program)).stdout).expect("names are ASCII");
    printed.lines().map(layout).collect()
}

fn layout(line: &str) -> (String, Layout) {
    let mut words = line.split(' ');
    let name = words.next().unwrap_or_default().to_owned();
    let numbers: Vec<usize> = words.map(|word| word.parse().expect("a size is a number")).collect();
    let fields = numbers[1..].chunks(2).map(|pair| (pair[0], pair[1])).collect();
    (name, Layout { size: numbers[0], fields })
}

/// Names of the versioned structs that the host initialises.
pub fn initialised(api: &Api) -> Vec<&str> {
    let named = |name: &str| api.find_struct(name).filter(|one| one.is_versioned()).map(|one| one.name.as_str());
    let functions = api.functions.iter().filter_map(|function| function.name.strip_suffix("_init"));
    let mut names: Vec<&str> = functions.filter_map(named).collect();
    names.sort_unstable();
    names
}

/// Writes `versioned_structs.h` for the client in `cpp_tests/abi`.
pub fn write_struct_list(api: &Api, folder: &Path) {
    let mut list = String::from("#define HOB_VERSIONED_STRUCTS(X)");
    for name in initialised(api) {
        let _ = write!(list, " \\\n    X({name})");
    }
    fs::write(folder.join("versioned_structs.h"), list + "\n").expect("the target directory can be written");
}

/// Copies the current headers, and appends `uint64_t appended` to every versioned struct. Returns the folder.
pub fn grown(api: &Api) -> PathBuf {
    let folder = scratch("grown");
    let include = folder.join("include/hobgoblin");
    fs::create_dir_all(&include).expect("the target directory can be written");
    let versioned: Vec<&str> =
        api.structs.iter().filter(|one| one.is_versioned()).map(|one| one.name.as_str()).collect();
    let mut count = 0;
    for path in header_files(root()) {
        let mut text = fs::read_to_string(&path).expect("a header can be read");
        for name in &versioned {
            let end = format!("\n}} {name};");
            count += text.matches(&end).count();
            text = text.replace(&end, &format!("\n    uint64_t appended;{end}"));
        }
        fs::write(include.join(path.file_name().expect("a header has a name")), text).expect("it can be written");
    }
    assert_eq!(count, versioned.len(), "not every versioned struct was found in the headers: {versioned:?}");
    folder
}

/// A C source that uses every public type and the address of every function.
pub fn types_source(api: &Api) -> String {
    let mut source = String::from("#include <hobgoblin/hobgoblin.h>\n\n");
    for one in &api.structs {
        let _ = writeln!(source, "{0} type_{0};", one.name);
    }
    for one in &api.enums {
        let _ = writeln!(
            source,
            "{}{1} type_{1};",
            if api.aliases.contains_key(&one.name) { "enum " } else { "" },
            one.name
        );
    }
    for name in api.aliases.keys() {
        let _ = writeln!(source, "{name} alias_{name};");
    }
    for name in api.handles.iter().filter(|name| api.find_struct(name).is_none()) {
        let _ = writeln!(source, "{name} *type_{name};");
    }
    for function in &api.functions {
        let _ = writeln!(source, "__typeof__(&{0}) call_{0} = {0};", function.name);
    }
    source
}

/// The folder of the previous headers.
pub fn previous() -> PathBuf {
    root().join("abi/previous")
}

/// Compiles the client with the headers of a folder, and runs it with a library.
pub fn run_client(name: &str, folder: &Path, tool: &cc::Tool, library: &Path) {
    let scratch = scratch(name);
    let found = Headers::read(folder, tool, name);
    write_struct_list(&found.api, &scratch);
    let (program, rpath) = (scratch.join("client"), library.parent().expect("a library is in a folder").display());
    let mut compile = compile_in(folder, tool);
    compile.arg("-I").arg(&scratch);
    for source in files("cpp_tests/abi", &["cpp"]) {
        compile.arg(root().join(source));
    }
    compile.arg(library).arg(format!("-Wl,--disable-new-dtags,-rpath,{rpath}"));
    run(compile.args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program));
    let _ = fs::remove_dir_all(scratch.join("files"));
    fs::create_dir_all(scratch.join("files")).expect("the target directory can be written");
    let output = run(Command::new(&program).env("HOB_SCRATCH", scratch.join("files")));
    print!("{name}: {}", String::from_utf8_lossy(&output.stdout));
}
