#!/usr/bin/env python3
"""Makes the packages for C#: a Unity package and three NuGet packages.

  OUT/unity/com.hobgoblin/             the Unity package, for Packages/ or "Add package from disk"
  OUT/unity/com.hobgoblin-VERSION.tgz  the same for "Add package from tarball"
  OUT/nuget/Hobgoblin.VERSION.nupkg    the C# classes; also Hobgoblin.Native and, with --debug, Hobgoblin.Native.Debug

The sources are those of bindings/csharp, the versions those of Cargo.toml and abi/hobgoblin-api.json. Needs mcs (Debian:
mono-mcs). Build the native libraries first, for instance with tools/install.sh. MIT OR Apache-2.0.
"""

import argparse
import gzip
import hashlib
import io
import json
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

ROOT = Path(__file__).resolve().parent.parent
UNITY_NAME = "com.hobgoblin"

# The platforms: the library's name in a NuGet package (None: not in one), the folder of a Unity package (None: not in
# one), and the settings with which Unity imports it: its platforms, and the system of the editor.
SO, DLL, DYLIB = "libhobgoblin.so", "hobgoblin.dll", "libhobgoblin.dylib"
LINUX = {"Standalone: Linux64": "x86_64"}
WINDOWS = {"Standalone: Win64": "x86_64"}
PLATFORMS = {
    "linux-x64": (SO, "Linux/x86_64", LINUX, ("Linux", "x86_64")),
    "linux-arm64": (SO, None, None, None),
    "win-x64": (DLL, "Windows/x86_64", WINDOWS, ("Windows", "x86_64")),
    "win-arm64": (DLL, None, None, None),
    "osx-x64": (DYLIB, "macOS/x86_64", {"Standalone: OSXUniversal": "x86_64"}, ("OSX", "x86_64")),
    "osx-arm64": (DYLIB, "macOS/arm64", {"Standalone: OSXUniversal": "ARM64"}, ("OSX", "ARM64")),
    "android-arm64": (SO, "Android/arm64-v8a", {"Android: Android": "ARM64"}, None),
    "android-x64": (SO, "Android/x86_64", {"Android: Android": "X86_64"}, None),
    "ios-arm64": (None, "iOS", {"iPhone: iOS": "AnyCPU"}, None),
}
UNITY_PLATFORMS = {
    "Android": "Android: Android",
    "Linux64": "Standalone: Linux64",
    "OSXUniversal": "Standalone: OSXUniversal",
    "Win": "Standalone: Win",
    "Win64": "Standalone: Win64",
    "iOS": "iPhone: iOS",
}


def fail(message):
    sys.exit(f"tools/csharp_packages.py: {message}")


def version():
    return re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]


def api():
    return json.loads((ROOT / "abi/hobgoblin-api.json").read_text())


def sources():
    """The C# sources, by their path in bindings/csharp."""
    folder = ROOT / "bindings/csharp"
    found = {path.relative_to(folder): path for path in sorted(folder.rglob("*.cs"))}
    return {path: file for path, file in found.items() if path.parts[0] != "tests"}


def filled(path):
    return path.read_text().replace("@VERSION@", version()).encode()


LICENSES = ["LICENSE-APACHE", "LICENSE-MIT", "NOTICE"]

# ---- Unity -----------------------------------------------------------------------------------------------------------


def guid(path):
    """Names an asset for ever: projects refer to it by this number."""
    return hashlib.md5(f"{UNITY_NAME}/{path}".encode()).hexdigest()


def meta(path, is_folder):
    importers = {".cs": "MonoImporter", ".asmdef": "AssemblyDefinitionImporter", ".json": "PackageManifestImporter"}
    importer = importers.get(path.suffix, "TextScriptImporter" if path.suffix in (".md", ".xml") else "DefaultImporter")
    lines = ["fileFormatVersion: 2", f"guid: {guid(path)}"]
    if is_folder:
        lines.append("folderAsset: yes")
        importer = "DefaultImporter"
    lines += [f"{importer}:", "  externalObjects: {}"]
    if importer == "MonoImporter":
        lines += ["  serializedVersion: 2", "  defaultReferences: []", "  executionOrder: 0", "  icon: {instanceID: 0}"]
    return "\n".join([*lines, "  userData: ", "  assetBundleName: ", "  assetBundleVariant: ", ""])


def plugin_meta(path, platforms, editor):
    """The import settings of a native library: only for its own platform, and in the editor there."""
    lines = ["fileFormatVersion: 2", f"guid: {guid(path)}", "PluginImporter:", "  externalObjects: {}"]
    lines += ["  serializedVersion: 2", "  iconMap: {}", "  executionOrder: {}", "  defineConstraints: []"]
    lines += ["  isPreloaded: 0", "  isOverridable: 0", "  isExplicitlyReferenced: 0", "  validateReferences: 1"]
    lines += ["  platformData:", "  - first:", "      : Any", "    second:", "      enabled: 0", "      settings:"]
    excluded = {"Editor": editor is None}
    excluded |= {name: key not in platforms for name, key in UNITY_PLATFORMS.items()}
    lines += [f"        Exclude {name}: {int(is_excluded)}" for name, is_excluded in sorted(excluded.items())]
    lines += ["  - first:", "      Any: ", "    second:", "      enabled: 0", "      settings: {}"]
    system, cpu = editor or ("AnyOS", "AnyCPU")
    lines += ["  - first:", "      Editor: Editor", "    second:", f"      enabled: {int(editor is not None)}"]
    lines += ["      settings:", f"        CPU: {cpu}", "        DefaultValueInitialized: true", f"        OS: {system}"]
    for key in UNITY_PLATFORMS.values():
        lines += ["  - first:", f"      {key}", "    second:", f"      enabled: {int(key in platforms)}"]
        lines += ["      settings:", f"        CPU: {platforms.get(key, 'None' if 'Standalone' in key else 'ARM64')}"]
    return "\n".join([*lines, "  userData: ", "  assetBundleName: ", "  assetBundleVariant: ", ""])


def link_xml():
    """Keeps the fields of native structs, also those that no script reads: they are their layout."""
    names = [one["name"] for one in api()["unions"] + api()["structs"]]
    lines = [f'    <type fullname="Hobgoblin.Interop.{name}" preserve="fields"/>' for name in sorted(names)]
    start = ["<linker>", '  <assembly fullname="Hobgoblin" ignoreIfUnreferenced="1">']
    return "\n".join([*start, *lines, "  </assembly>", "</linker>", ""])


def unity_files(natives):
    """The content of the Unity package by path, without .meta files; and the import settings of libraries."""
    folder = ROOT / "packaging/unity"
    files = {path.relative_to(folder): filled(path) for path in sorted(folder.rglob("*")) if path.is_file()}
    files |= {Path("Runtime/Scripts") / path: file.read_bytes() for path, file in sources().items()}
    files[Path("Editor/link.xml")] = link_xml().encode()
    files[Path("CHANGELOG.md")] = (ROOT / "CHANGELOG.md").read_bytes()
    files |= {Path(f"{name}.md"): (ROOT / name).read_bytes() for name in LICENSES}
    settings = {}
    for rid, library in natives.items():
        name, place, platforms, editor = PLATFORMS[rid]
        if place:
            path = Path("Runtime/Plugins") / place / (name or "libhobgoblin.a")
            files[path] = library.read_bytes()
            settings[path] = plugin_meta(path, platforms, editor)
    return files, settings


def make_unity(out, natives):
    files, settings = unity_files(natives)
    # Unity does not import a folder whose name ends in ~, so it has no .meta file.
    folders = {parent for path in files for parent in path.parents if parent.name and not parent.name.endswith("~")}
    metas = {path: settings.get(path) or meta(path, False) for path in files}
    metas |= {path: meta(path, True) for path in folders}
    files |= {path.with_name(path.name + ".meta"): text.encode() for path, text in metas.items()}
    package = out / "unity" / UNITY_NAME
    shutil.rmtree(package, ignore_errors=True)
    for path, data in files.items():
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_bytes(data)
    archive = out / "unity" / f"{UNITY_NAME}-{version()}.tgz"
    tar_bytes = io.BytesIO()
    with tarfile.open(fileobj=tar_bytes, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path, data in sorted(files.items()):
            entry = tarfile.TarInfo(f"package/{path.as_posix()}")
            entry.size, entry.mode = len(data), 0o644
            tar.addfile(entry, io.BytesIO(data))
    # Without a time, so that the same content has the same bytes.
    archive.write_bytes(gzip.compress(tar_bytes.getvalue(), mtime=0))
    return [package, archive]


# ---- NuGet -----------------------------------------------------------------------------------------------------------

NUSPEC = "http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd"
RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
CONTENT_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
CORE = "http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
SUMMARY = "Keeps a frame inside its budget: quality settings, shader and pipeline caches, dataflow graphs."
TAGS = "frame-budget quality shader-cache pipeline-cache native game"


def nuspec(name, description, dependency):
    group = '<group targetFramework=".NETStandard2.0" />'
    if dependency:
        entry = f'<dependency id={quoteattr(dependency)} version="{version()}" include="All" />'
        group = f'<group targetFramework=".NETStandard2.0">\n        {entry}\n      </group>'
    return f"""<?xml version="1.0" encoding="utf-8"?>
<package xmlns="{NUSPEC}">
  <metadata minClientVersion="4.9">
    <id>{name}</id>
    <version>{version()}</version>
    <authors>hobgoblin</authors>
    <requireLicenseAcceptance>false</requireLicenseAcceptance>
    <license type="expression">MIT OR Apache-2.0</license>
    <licenseUrl>https://licenses.nuget.org/MIT%20OR%20Apache-2.0</licenseUrl>
    <readme>README.md</readme>
    <description>{escape(description)}</description>
    <tags>{TAGS}</tags>
    <dependencies>
      {group}
    </dependencies>
  </metadata>
</package>
"""


def write_nupkg(out, name, description, dependency, files):
    """Writes a package in the format of OPC, which is a zip with types, relationships and properties."""
    core = f"package/services/metadata/core-properties/{hashlib.md5(name.encode()).hexdigest()}.psmdcp"
    parts = {f"{name}.nuspec": nuspec(name, description, dependency).encode(), **files}
    parts |= {"README.md": filled(ROOT / "packaging/nuget/README.md")}
    parts |= {name: (ROOT / name).read_bytes() for name in LICENSES}
    parts[core] = f"""<?xml version="1.0" encoding="utf-8"?>
<coreProperties xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns="{CORE}">
  <dc:creator>hobgoblin</dc:creator>
  <dc:description>{escape(description)}</dc:description>
  <dc:identifier>{name}</dc:identifier>
  <version>{version()}</version>
  <keywords>{TAGS}</keywords>
</coreProperties>
""".encode()
    parts["_rels/.rels"] = f"""<?xml version="1.0" encoding="utf-8"?>
<Relationships xmlns="{RELATIONSHIPS}">
  <Relationship Type="http://schemas.microsoft.com/packaging/2010/07/manifest" Target="/{name}.nuspec" Id="R1" />
  <Relationship Type="{RELATIONSHIPS}/metadata/core-properties" Target="/{core}" Id="R2" />
</Relationships>
""".encode()
    types = {"rels": "application/vnd.openxmlformats-package.relationships+xml"}
    types["psmdcp"] = "application/vnd.openxmlformats-package.core-properties+xml"
    suffixes = {Path(path).suffix[1:] for path in parts} - {"", *types}
    types |= {suffix: "application/octet" for suffix in sorted(suffixes)}
    # Files without an extension.
    others = [path for path in parts if not Path(path).suffix and not path.endswith(".rels")]
    lines = [f'  <Default Extension="{suffix}" ContentType="{of}" />' for suffix, of in types.items()]
    lines += [f'  <Override PartName="/{path}" ContentType="application/octet" />' for path in sorted(others)]
    start = ['<?xml version="1.0" encoding="utf-8"?>', f'<Types xmlns="{CONTENT_TYPES}">']
    parts["[Content_Types].xml"] = "\n".join([*start, *lines, "</Types>", ""]).encode()
    path = out / "nuget" / f"{name}.{version()}.nupkg"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in sorted(parts, key=lambda part: (part not in ("_rels/.rels", f"{name}.nuspec"), part)):
            # A fixed time, so that the same content has the same bytes.
            entry = zipfile.ZipInfo(part, (2000, 1, 1, 0, 0, 0))
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, parts[part])
    return path


def without_chance(dll):
    """Replaces the time and the random number that mcs writes, so that the same sources have the same bytes."""
    data = bytearray(dll)
    header = struct.unpack_from("<I", data, 0x3C)[0]
    data[header + 8:header + 12] = bytes(4)
    # The metadata: signature, 12 bytes, length and text of the runtime's version, flags, and the streams.
    root = data.index(b"BSJB")
    at = root + 16 + struct.unpack_from("<I", data, root + 12)[0]
    count = struct.unpack_from("<H", data, at + 2)[0]
    at += 4
    for _ in range(count):
        offset, _ = struct.unpack_from("<II", data, at)
        end = data.index(0, at + 8)
        if data[at + 8:end] == b"#GUID":
            place = slice(root + offset, root + offset + 16)
            data[place] = bytes(16)
            data[place] = hashlib.md5(data).digest()
            return bytes(data)
        # Names are padded to 4 bytes.
        at += 8 + (end - at - 8) // 4 * 4 + 4
    fail("the assembly has no number to replace")


def assembly():
    """Compiles the classes: the assembly and its documentation."""
    number = f"{version()}.0"
    attributes = {"AssemblyTitle": "Hobgoblin", "AssemblyVersion": number, "AssemblyFileVersion": number,
                  "AssemblyInformationalVersion": version()}
    with tempfile.TemporaryDirectory() as folder:
        info, dll, xml = (Path(folder) / name for name in ("AssemblyInfo.cs", "Hobgoblin.dll", "Hobgoblin.xml"))
        lines = [f'[assembly: System.Reflection.{name}("{value}")]\n' for name, value in attributes.items()]
        info.write_text("".join(lines))
        command = ["mcs", "-langversion:7.2", "-unsafe", "-optimize", "-target:library", "-warnaserror", "-nowarn:1591"]
        command += [f"-doc:{xml}", f"-out:{dll}", str(info), *map(str, sources().values())]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError:
            fail("mcs is not installed (Debian: mono-mcs)")
        if done.returncode:
            fail(f"the C# classes do not compile:\n{done.stdout}{done.stderr}")
        return without_chance(dll.read_bytes()), xml.read_bytes()


def native_files(name, natives):
    files = {f"runtimes/{rid}/native/{PLATFORMS[rid][0]}": path.read_bytes()
             for rid, path in natives.items() if PLATFORMS[rid][0]}
    if not files:
        fail(f"{name} would be empty: give a library of another platform than {', '.join(natives)}")
    targets = (ROOT / "packaging/nuget/native.targets").read_bytes()
    files |= {f"{folder}/net461/{name}.targets": targets for folder in ("build", "buildTransitive")}
    # Every framework may use the package, though it has no assembly.
    files["lib/netstandard2.0/_._"] = b""
    return files


def make_nuget(out, natives, debug):
    dll, xml = assembly()
    managed = {"lib/netstandard2.0/Hobgoblin.dll": dll, "lib/netstandard2.0/Hobgoblin.xml": xml}
    made = [write_nupkg(out, "Hobgoblin", SUMMARY, "Hobgoblin.Native", managed)]
    kinds = {"Hobgoblin.Native": (natives, "The native library of Hobgoblin.")}
    if debug:
        kinds["Hobgoblin.Native.Debug"] = (debug, "The native library of Hobgoblin, with assertions and symbols.")
    for name, (libraries, text) in kinds.items():
        made.append(write_nupkg(out, name, text, None, native_files(name, libraries)))
    return made


def library(argument):
    rid, _, path = argument.partition("=")
    if rid not in PLATFORMS or not path:
        raise argparse.ArgumentTypeError(f"{argument} is not PLATFORM=FILE with one of {', '.join(PLATFORMS)}")
    if not Path(path).is_file():
        raise argparse.ArgumentTypeError(f"{path} does not exist")
    return rid, Path(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", metavar="OUT", type=Path, help="the folder for the packages")
    parser.add_argument("--native", metavar="PLATFORM=FILE", type=library, action="append", required=True,
                        help=f"a library for one of {', '.join(PLATFORMS)}; may be repeated")
    parser.add_argument("--debug", metavar="PLATFORM=FILE", type=library, action="append", default=[],
                        help="a library with assertions and symbols, for Hobgoblin.Native.Debug; may be repeated")
    arguments = parser.parse_args()
    for folder in ("unity", "nuget"):
        (arguments.out / folder).mkdir(parents=True, exist_ok=True)
    natives = dict(arguments.native)
    for path in make_unity(arguments.out, natives) + make_nuget(arguments.out, natives, dict(arguments.debug)):
        print(path)


if __name__ == "__main__":
    main()
