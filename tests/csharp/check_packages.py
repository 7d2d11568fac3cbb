"""Checks the packages of tools/csharp_packages.py by their structure: `check_packages.py OUT VERSION`.

A NuGet package must be an OPC package whose every part has a content type and whose relationships lead to parts. In a
Unity package every file and folder needs a .meta file with a number of its own.
"""

import json
import re
import sys
import tarfile
import xml.etree.ElementTree as xml
import zipfile
from pathlib import Path

NUSPEC = "{http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd}"
TYPES = "{http://schemas.openxmlformats.org/package/2006/content-types}"
RELATIONSHIP = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
CORE = "{http://schemas.openxmlformats.org/package/2006/metadata/core-properties}"
MSBUILD = "{http://schemas.microsoft.com/developer/msbuild/2003}"
# Elements of a nuspec's metadata, as its schema names them.
METADATA = {"id", "version", "authors", "requireLicenseAcceptance", "license", "licenseUrl", "readme", "description",
            "tags", "dependencies"}


def check(is_right, message):
    if not is_right:
        sys.exit(message)


def nupkg(path, name, version):
    """Checks a package; returns its parts."""
    archive = zipfile.ZipFile(path)
    check(archive.testzip() is None, f"{path} is damaged")
    names = archive.namelist()
    check(len(names) == len(set(names)), f"{path} has a part twice")
    types = xml.fromstring(archive.read("[Content_Types].xml"))
    check(types.tag == TYPES + "Types", f"{path}: the content types are {types.tag}")
    extensions = {one.get("Extension").lower() for one in types.findall(TYPES + "Default")}
    overrides = {one.get("PartName") for one in types.findall(TYPES + "Override")}
    for part in names:
        file = part.rsplit("/", 1)[-1]
        has_type = "." in file and file.rsplit(".", 1)[1].lower() in extensions or "/" + part in overrides
        check(has_type or part == "[Content_Types].xml", f"{path}: {part} has no content type")
    targets = {one.get("Type").rsplit("/", 1)[-1]: one.get("Target")
               for one in xml.fromstring(archive.read("_rels/.rels")).findall(RELATIONSHIP)}
    check(set(targets) == {"manifest", "core-properties"}, f"{path}: relationships are {targets}")
    check(all(target[0] == "/" and target[1:] in names for target in targets.values()), f"{path}: {targets} lead nowhere")
    properties = xml.fromstring(archive.read(targets["core-properties"][1:]))
    check(properties.find(CORE + "version").text == version, f"{path}: another version in the properties")
    check(targets["manifest"] == f"/{name}.nuspec", f"{path}: the manifest is {targets['manifest']}")
    package = xml.fromstring(archive.read(f"{name}.nuspec"))
    check(package.tag == NUSPEC + "package", f"{path}: the root of the nuspec is {package.tag}")
    metadata = package.find(NUSPEC + "metadata")
    fields = {one.tag.removeprefix(NUSPEC): one for one in metadata}
    check(set(fields) == METADATA and len(metadata) == len(METADATA), f"{path}: the nuspec has {sorted(fields)}")
    check(fields["id"].text == name and fields["version"].text == version, f"{path}: another name or version")
    check(fields["license"].get("type") == "expression", f"{path}: no license expression")
    check(fields["readme"].text in names, f"{path}: no README")
    for part in ("LICENSE-MIT", "LICENSE-APACHE", "NOTICE"):
        check(part in names, f"{path}: no {part}")
    dependencies = [one.get("id") for one in package.iter(NUSPEC + "dependency")]
    check(all(one.get("version") == version for one in package.iter(NUSPEC + "dependency")), f"{path}: a dependency")
    check(dependencies == (["Hobgoblin.Native"] if name == "Hobgoblin" else []), f"{path} depends on {dependencies}")
    return archive, names


def nuget(out, version):
    for name in ("Hobgoblin", "Hobgoblin.Native", "Hobgoblin.Native.Debug"):
        archive, names = nupkg(out / f"nuget/{name}.{version}.nupkg", name, version)
        if name == "Hobgoblin":
            doc = xml.fromstring(archive.read("lib/netstandard2.0/Hobgoblin.xml"))
            members = {one.get("name") for one in doc.iter("member")}
            check("T:Hobgoblin.Hob" in members, "the documentation does not describe the classes")
            check(archive.read("lib/netstandard2.0/Hobgoblin.dll")[:2] == b"MZ", "the assembly is no assembly")
            continue
        check(archive.read("runtimes/linux-x64/native/libhobgoblin.so")[:4] == b"\x7fELF", f"{name}: no library")
        check(archive.read("lib/netstandard2.0/_._") == b"", f"{name}: no _._")
        for folder in ("build", "buildTransitive"):
            targets = xml.fromstring(archive.read(f"{folder}/net461/{name}.targets"))
            check(targets.tag == MSBUILD + "Project", f"{name}: the targets are {targets.tag}")


def unity(out, version):
    package = out / "unity/com.hobgoblin"
    paths = {path.relative_to(package) for path in package.rglob("*")}
    metas = {path for path in paths if path.suffix == ".meta"}
    imported = {path for path in paths - metas if not path.name.endswith("~")}
    for path in imported:
        check(path.with_name(path.name + ".meta") in metas, f"{path} has no .meta file")
    check(len(metas) == len(imported), "a .meta file belongs to nothing")
    guids = [re.search(r"^guid: ([0-9a-f]{32})$", (package / path).read_text(), re.MULTILINE)[1] for path in metas]
    check(len(guids) == len(set(guids)), "two assets have the same number")
    manifest = json.loads((package / "package.json").read_text())
    check(manifest["name"] == "com.hobgoblin" and manifest["version"] == version, f"the manifest is {manifest}")
    check(all(any((package / sample["path"]).glob("*.cs")) for sample in manifest["samples"]), "a sample has no script")
    assemblies = {}
    for path in (path for path in paths if path.suffix == ".asmdef"):
        assembly = json.loads((package / path).read_text())
        check(path.stem == assembly["name"], f"{path} is of {assembly['name']}")
        assemblies[assembly["name"]] = assembly
    check(assemblies["Hobgoblin"]["allowUnsafeCode"], "the classes need unsafe code")
    check(assemblies["Hobgoblin.Editor"]["includePlatforms"] == ["Editor"], "the editor's scripts are in players too")
    check(assemblies["Hobgoblin.Editor"]["references"] == ["Hobgoblin"], "the editor's scripts need the classes")
    linker = xml.fromstring((package / "Editor/link.xml").read_text())
    kept = {one.get("fullname") for one in linker.iter("type")}
    check("Hobgoblin.Interop.hob_goblin_desc" in kept, "the linker may remove fields of native structs")
    library = Path("Runtime/Plugins/Linux/x86_64/libhobgoblin.so")
    check(library in paths, f"{library} is missing")
    text = (package / f"{library}.meta").read_text()
    enabled = re.findall(r"- first:\n +(.*)\n    second:\n      enabled: 1\n", text)
    check(enabled == ["Editor: Editor", "Standalone: Linux64"], f"{library} is imported for {enabled}")
    with tarfile.open(out / f"unity/com.hobgoblin-{version}.tgz") as archive:
        packed = {entry.name: archive.extractfile(entry).read() for entry in archive}
    files = {f"package/{path.as_posix()}": (package / path).read_bytes() for path in paths if (package / path).is_file()}
    check(packed == files, "the archive differs from the folder")


def main():
    out, version = Path(sys.argv[1]), sys.argv[2]
    nuget(out, version)
    unity(out, version)


if __name__ == "__main__":
    main()
