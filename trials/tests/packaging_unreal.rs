//! The plugin for Unreal Engine, without the engine: `trials/unreal` stands in for the parts that it uses.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hobgoblin_tests::cpp::{is_installed, root, run};
use hobgoblin_tests::packaged::{Outside, prefix, version};
use serde_json::Value;

fn plugin() -> PathBuf {
    root().join("packaging/unreal/Hobgoblin")
}

const ENGINE_HEADERS: [&str; 6] = [
    "CoreMinimal.h",
    "HAL/PlatformProcess.h",
    "Interfaces/IPluginManager.h",
    "Misc/Paths.h",
    "Modules/ModuleInterface.h",
    "Modules/ModuleManager.h",
];

/// The module and a program that starts it, for a platform of the engine. Runs it and returns its lines.
fn run_module(folder: &Path, platform: &str, variable: Option<&str>) -> Vec<String> {
    for header in ENGINE_HEADERS {
        let path = folder.join("engine").join(header);
        fs::create_dir_all(path.parent().expect("a header is in a folder")).expect("the folder can be written");
        fs::write(path, "#include \"Unreal.h\"\n").expect("the folder can be written");
    }
    let (source, program) = (plugin().join("Source/Hobgoblin"), folder.join(format!("module_{platform}")));
    let mut compile = Command::new("c++");
    compile.args(["-std=c++20", "-Wall", "-Wextra", "-Werror"]).arg(format!("-DPLATFORM_{platform}=1"));
    for include in [folder.join("engine"), root().join("trials/unreal"), source.join("Public")] {
        compile.arg("-I").arg(include);
    }
    compile.arg("-isystem").arg(prefix().join("include")).arg(source.join("Private/HobgoblinModule.cpp"));
    compile.arg(root().join("trials/unreal/main.cpp")).arg("-L").arg(prefix().join("lib"));
    run(compile.args(["-lhobgoblin", "-o"]).arg(&program));
    let mut module = Command::new(program);
    module.env("LD_LIBRARY_PATH", prefix().join("lib"));
    if let Some(variable) = variable {
        module.env(variable, "1");
    }
    let printed = String::from_utf8(run(&mut module).stdout).expect("it prints ASCII");
    printed.lines().map(str::to_owned).collect()
}

#[test]
fn unreal_module_loads_the_library_and_receives_its_log() {
    if !is_installed("c++", "g++") {
        return;
    }
    let outside = Outside::new();
    let linux = run_module(outside.path(), "LINUX", None);
    assert_eq!(linux.iter().filter(|line| *line == "loaded 1").count(), 2, "{linux:?}");
    assert!(linux.iter().any(|line| line.starts_with("LogHobgoblin Warning: ")), "{linux:?}");
    assert!(!linux.iter().any(|line| line.starts_with("load ")), "{linux:?}");
    for (platform, file) in [("WINDOWS", "Win64/hobgoblin.dll"), ("MAC", "Mac/libhobgoblin.0.dylib")] {
        let lines = run_module(outside.path(), platform, None);
        let load = format!("load /game/Plugins/Hobgoblin/Binaries/ThirdParty/HobgoblinLibrary/{file}");
        assert_eq!(lines.iter().filter(|line| **line == load).count(), 2, "{lines:?}");
        assert_eq!(lines.iter().filter(|line| *line == "free it").count(), 2, "{lines:?}");
        assert_eq!(lines.iter().filter(|line| *line == "loaded 0").count(), 2, "{lines:?}");
    }
    let missing = run_module(outside.path(), "WINDOWS", Some("NO_LIBRARY"));
    assert!(missing.iter().any(|line| line.starts_with("LogHobgoblin Error: cannot load ")), "{missing:?}");
    assert!(!missing.contains(&"loaded 1".to_owned()), "{missing:?}");
}

/// The rules of a module for a platform, one in a line.
fn rules(program: &Path, module: &str, platform: &str, folder: &Path) -> (bool, String) {
    let output =
        Command::new("mono").arg(program).args([module, platform]).arg(folder).output().expect("mono can be run");
    (output.status.success(), String::from_utf8(output.stdout).expect("it prints UTF-8"))
}

#[test]
fn unreal_rules_link_and_stage_the_files_of_a_release_archive() {
    if !is_installed("mcs", "mono-mcs") || !is_installed("mono", "mono-runtime") {
        return;
    }
    let outside = Outside::new();
    let (program, source) = (outside.path().join("rules.exe"), plugin().join("Source"));
    let mut compile = Command::new("mcs");
    compile
        .arg("-warnaserror")
        .arg(format!("-out:{}", program.display()))
        .arg(root().join("trials/unreal/UnrealBuildTool.cs"));
    compile.arg(source.join("ThirdParty/HobgoblinLibrary/HobgoblinLibrary.Build.cs"));
    run(compile.arg(source.join("Hobgoblin/Hobgoblin.Build.cs")));

    let folder = outside.path().join("library");
    let (succeeded, message) = rules(&program, "HobgoblinLibrary", "Linux", &folder);
    assert!(!succeeded && message.contains("hobgoblin is not installed for Linux"), "{message}");
    for platform in ["Linux", "LinuxArm64", "Win64", "Mac"] {
        fs::create_dir_all(folder.join(platform).join("include")).expect("the folder can be written");
        let (succeeded, found) = rules(&program, "HobgoblinLibrary", platform, &folder);
        assert!(succeeded, "{found}");
        let here = folder.join(platform).display().to_string();
        let there = format!("$(PluginDir)/Binaries/ThirdParty/HobgoblinLibrary/{platform}/");
        let expected = match platform {
            "Win64" => format!(
                "link {here}/lib/hobgoblin.dll.lib\ndelay hobgoblin.dll\n\
                 stage {there}hobgoblin.dll <- {here}/bin/hobgoblin.dll\n"
            ),
            "Mac" => format!(
                "delay {here}/lib/libhobgoblin.0.dylib\n\
                 stage {there}libhobgoblin.0.dylib <- {here}/lib/libhobgoblin.0.dylib\n"
            ),
            _ => format!(
                "link {here}/lib/libhobgoblin.so\nrpath {there}\n\
                 stage {there}libhobgoblin.so.0 <- {here}/lib/libhobgoblin.so.0\n"
            ),
        };
        assert_eq!(found, format!("type External\ninclude {here}/include\n{expected}"));
    }
    for file in ["include/hobgoblin/hobgoblin.hpp", "lib/libhobgoblin.so", "lib/libhobgoblin.so.0"] {
        assert!(prefix().join(file).exists(), "{file} is not installed");
    }
    let (_, game) = rules(&program, "Hobgoblin", "Linux", &folder);
    assert_eq!(game, "type CPlusPlus\nmodule Core\nmodule HobgoblinLibrary\nmodule Projects\n");
}

#[test]
fn unreal_plugin_names_its_version_and_only_modules_that_exist() {
    let text = fs::read_to_string(plugin().join("Hobgoblin.uplugin")).expect("it is checked in");
    let plugin_json: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(plugin_json["FileVersion"], 3);
    assert_eq!(plugin_json["VersionName"], version());
    let modules = plugin_json["Modules"].as_array().expect("a list");
    assert!(!modules.is_empty());
    for module in modules {
        let name = module["Name"].as_str().expect("a name");
        assert!(plugin().join(format!("Source/{name}/{name}.Build.cs")).exists(), "{name}");
    }
    let filter = fs::read_to_string(plugin().join("Config/FilterPlugin.ini")).expect("it is checked in");
    for line in filter.lines().filter(|line| line.starts_with('/')) {
        let folder = line.strip_prefix('/').and_then(|line| line.strip_suffix("/...")).expect("a folder");
        assert!(plugin().join(folder).is_dir(), "{folder}");
    }
}
