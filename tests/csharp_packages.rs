//! The packages of tools/csharp_packages.py: their structure, and programs that use what is in them, on Mono and on
//! CoreCLR. Unity is not here: stubs of the editor compile and run the package's scripts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use hobgoblin_tests::api_json::Document;
use hobgoblin_tests::cpp::{harness_library, is_installed, output, root, run};
use hobgoblin_tests::csharp::{self, Runtime};

/// Makes the packages with the harness's library. `None`: a program is missing.
fn packages() -> Option<&'static Path> {
    static MADE: OnceLock<Option<PathBuf>> = OnceLock::new();
    MADE.get_or_init(|| {
        if !csharp::is_available() || !is_installed("python3", "python3") {
            return None;
        }
        let out = output().join("csharp_packages");
        make(&out);
        Some(out)
    })
    .as_deref()
}

fn make(out: &Path) {
    let _ = fs::remove_dir_all(out);
    let library = format!("linux-x64={}", harness_library().display());
    let mut tool = Command::new(root().join("tools/csharp_packages.py"));
    run(tool.arg(out).args(["--native", &library, "--debug", &library]));
}

fn version() -> String {
    Document::read().version.text
}

/// Unpacks the packages as a NuGet client does: `NAME/VERSION`, in small letters.
fn unpacked(out: &Path, test: &str) -> PathBuf {
    let folder = output().join("csharp_unpacked").join(test);
    let _ = fs::remove_dir_all(&folder);
    for name in ["Hobgoblin", "Hobgoblin.Native"] {
        let package = out.join(format!("nuget/{name}.{}.nupkg", version()));
        let into = folder.join("packages").join(name.to_lowercase()).join(version());
        fs::create_dir_all(&into).expect("the target directory can be written");
        run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(package).arg(into));
    }
    folder
}

fn assembly(folder: &Path) -> PathBuf {
    folder.join("packages/hobgoblin").join(version()).join("lib/netstandard2.0/Hobgoblin.dll")
}

/// Arguments with which mcs compiles against the assemblies of CoreCLR 3.1, as its SDK does. Others it cannot read.
fn framework(dotnet: &Path) -> Vec<String> {
    let shared = dotnet.with_file_name("shared/Microsoft.NETCore.App");
    let versions = fs::read_dir(&shared).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_known = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("3.1."));
    let Some(folder) = versions.into_iter().find(is_known) else { return Vec::new() };
    let names = ["System.Private.CoreLib", "System.Runtime", "mscorlib", "System.Console", "System.Threading"];
    let references = names.iter().map(|name| format!("-r:{}/{name}.dll", folder.display()));
    ["-nostdlib", "-noconfig"].map(str::to_owned).into_iter().chain(references).collect()
}

fn assert_ran(output: &std::process::Output) {
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.starts_with(&format!("version {}, choice 2", version())), "{printed}");
}

#[test]
fn packages_have_the_structure_that_their_clients_expect() {
    let Some(out) = packages() else { return };
    let mut check = Command::new("python3");
    run(check.arg(root().join("tests/csharp/check_packages.py")).arg(out).arg(version()));
}

#[test]
fn packages_of_the_same_sources_have_the_same_bytes() {
    let Some(out) = packages() else { return };
    let again = output().join("csharp_packages_again");
    make(&again);
    run(Command::new("diff").arg("-r").arg(out).arg(again));
}

type Fault<'a> = &'a dyn Fn(&Path);

#[test]
fn structure_check_finds_faults() {
    let Some(out) = packages() else { return };
    let copy = output().join("csharp_packages_changed");
    let unity = "unity/com.hobgoblin";
    let faults: [(&str, Fault); 3] = [
        ("has no .meta file", &|to| fs::write(to.join(unity).join("Runtime/New.cs"), "").expect("written")),
        ("differs from the folder", &|to| fs::write(to.join(unity).join("README.md"), "").expect("written")),
        ("two assets", &|to| {
            let from = to.join(unity).join("README.md.meta");
            fs::copy(from, to.join(unity).join("NOTICE.md.meta")).map(drop).expect("copied");
        }),
    ];
    for (complaint, fault) in faults {
        let _ = fs::remove_dir_all(&copy);
        run(Command::new("cp").arg("-r").arg(out).arg(&copy));
        fault(&copy);
        let mut check = Command::new("python3");
        check.arg(root().join("tests/csharp/check_packages.py")).arg(&copy).arg(version());
        let found = check.output().expect("it can be run");
        let printed = String::from_utf8_lossy(&found.stderr);
        assert!(!found.status.success() && printed.contains(complaint), "expected \"{complaint}\", got: {printed}");
    }
}

#[test]
fn nuget_packages_run_on_coreclr_as_their_client_unpacks_them() {
    let Some(out) = packages() else { return };
    let Some(runtime) = Runtime::coreclr() else { return };
    let (folder, version) = (unpacked(out, "coreclr"), version());
    let program = folder.join("App.exe");
    let Runtime::CoreClr(dotnet) = &runtime else { panic!("it is CoreCLR") };
    let package = format!("-r:{}", assembly(&folder).display());
    let references = framework(dotnet);
    let arguments: Vec<&str> = references.iter().map(String::as_str).chain([package.as_str()]).collect();
    csharp::compile(&[PathBuf::from("tests/csharp/Packaged.cs")], &program, &arguments);
    // The restored packages of an application: its .deps.json tells the runtime where they are.
    let text = r#"{
        "runtimeTarget": { "name": ".NETCoreApp,Version=v3.1" },
        "targets": { ".NETCoreApp,Version=v3.1": {
            "App/1.0.0": { "dependencies": { "Hobgoblin": "@V@" }, "runtime": { "App.exe": {} } },
            "Hobgoblin/@V@": {
                "dependencies": { "Hobgoblin.Native": "@V@" },
                "runtime": { "lib/netstandard2.0/Hobgoblin.dll": {} } },
            "Hobgoblin.Native/@V@": { "runtimeTargets": {
                "runtimes/linux-x64/native/libhobgoblin.so": { "rid": "linux-x64", "assetType": "native" } } } } },
        "libraries": {
            "App/1.0.0": { "type": "project", "serviceable": false, "sha512": "" },
            "Hobgoblin/@V@": { "type": "package", "serviceable": true, "sha512": "", "path": "hobgoblin/@V@" },
            "Hobgoblin.Native/@V@": {
                "type": "package", "serviceable": true, "sha512": "", "path": "hobgoblin.native/@V@" } } }"#;
    let depends = folder.join("App.deps.json");
    fs::write(&depends, text.replace("@V@", &version)).expect("the target directory can be written");
    let mut command = Command::new(dotnet);
    command.args(["exec", "--runtimeconfig"]).arg(csharp::runtime_config()).arg("--depsfile").arg(&depends);
    command.arg("--additionalprobingpath").arg(folder.join("packages")).arg(&program);
    assert_ran(&run(command.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1")));
}

#[test]
fn nuget_packages_run_on_mono_from_a_project_that_imports_their_targets() {
    let Some(out) = packages() else { return };
    if !is_installed("xbuild", "mono-xbuild") {
        return;
    }
    let (folder, version) = (unpacked(out, "mono"), version());
    for name in ["App.csproj", "Packaged.cs"] {
        fs::copy(root().join("tests/csharp").join(name), folder.join(name)).expect("the project can be copied");
    }
    let build = |platform: &str| {
        let mut xbuild = Command::new("xbuild");
        xbuild.current_dir(&folder).args([
            "/nologo",
            "/verbosity:minimal",
            "App.csproj",
            "/p:NoCompilerStandardLib=false",
        ]);
        xbuild.args([format!("/p:HobgoblinVersion={version}"), format!("/p:PlatformTarget={platform}")]);
        xbuild.output().expect("xbuild can be run")
    };
    let wrong = build("x86");
    let printed = String::from_utf8_lossy(&wrong.stdout);
    assert!(!wrong.status.success() && printed.contains("set PlatformTarget to x64"), "{printed}");
    let built = build("x64");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stdout));
    assert_ran(&run(Command::new("mono")
        .current_dir("/")
        .arg(folder.join("bin/App.exe"))
        .env_remove("LD_LIBRARY_PATH")));
}

#[test]
fn unity_scripts_end_the_library_before_a_reload_and_the_sample_keeps_its_budget() {
    let Some(out) = packages() else { return };
    // `Packages` of a project, in which the editor runs.
    let project = output().join("csharp_unity");
    let (package, build) = (project.join("Packages/com.hobgoblin"), project.join("build"));
    let _ = fs::remove_dir_all(&project);
    fs::create_dir_all(project.join("Packages")).expect("the target directory can be written");
    run(Command::new("cp").arg("-r").arg(out.join("unity/com.hobgoblin")).arg(project.join("Packages")));
    let (stubs, classes) = (build.join("UnityEditor.dll"), build.join("Hobgoblin.dll"));
    let sources = |folder: &str| csharp::sources(&package.join(folder).to_string_lossy());
    csharp::compile(&[PathBuf::from("tests/csharp/UnityStubs.cs")], &stubs, &[]);
    csharp::compile(&sources("Runtime"), &classes, &["-d:UNITY_EDITOR;UNITY_EDITOR_LINUX;UNITY_2021_3_OR_NEWER"]);
    let references = [format!("-r:{}", stubs.display()), format!("-r:{}", classes.display())];
    let references: Vec<&str> = references.iter().map(String::as_str).collect();
    let (scripts, program) = (build.join("Hobgoblin.Editor.dll"), build.join("Reload.exe"));
    csharp::compile(&sources("Editor"), &scripts, &references);
    csharp::compile(&[PathBuf::from("tests/csharp/Reload.cs")], &program, &references);
    let plugin = package.join("Runtime/Plugins/Linux/x86_64/libhobgoblin.so");
    let output = run(csharp::mono(&program, &plugin).arg(&scripts).current_dir(&project));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "ok");
    let sample = package.join("Samples~/FrameBudget/FrameBudget.cs");
    let scene = build.join("UnitySample.exe");
    // Unity sets serialised fields.
    let arguments: Vec<&str> = references.iter().copied().chain(["-nowarn:649"]).collect();
    csharp::compile(&[sample, PathBuf::from("tests/csharp/UnitySample.cs")], &scene, &arguments);
    print!("{}", String::from_utf8_lossy(&run(&mut csharp::mono(&scene, &plugin)).stdout));
    // A player for iOS has the library inside.
    let player = build.join("ios/Hobgoblin.dll");
    csharp::compile(&sources("Runtime"), &player, &["-d:UNITY_IOS;ENABLE_IL2CPP"]);
    let bytes = fs::read(player).expect("it was compiled");
    assert!(bytes.windows(10).any(|window| window == b"__Internal"), "the library is not linked into the program");
}
