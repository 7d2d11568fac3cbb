using System.IO;
using UnrealBuildTool;

// The library, installed into a folder of the platform's name beside this file: docs/packaging.md.
public class HobgoblinLibrary : ModuleRules
{
	public HobgoblinLibrary(ReadOnlyTargetRules Target) : base(Target)
	{
		Type = ModuleType.External;

		string Platform = Target.Platform.ToString();
		string Prefix = Path.Combine(ModuleDirectory, Platform);
		string Include = Path.Combine(Prefix, "include");
		if (!Directory.Exists(Include))
		{
			throw new FileNotFoundException("hobgoblin is not installed for " + Platform + ": unpack its release archive into " + Prefix);
		}
		PublicSystemIncludePaths.Add(Include);

		// Binaries of the plugin are staged with the game, and lie where the module looks for them.
		string Binaries = "$(PluginDir)/Binaries/ThirdParty/HobgoblinLibrary/" + Platform + "/";
		if (Target.Platform == UnrealTargetPlatform.Win64)
		{
			PublicAdditionalLibraries.Add(Path.Combine(Prefix, "lib", "hobgoblin.dll.lib"));
			PublicDelayLoadDLLs.Add("hobgoblin.dll");
			RuntimeDependencies.Add(Binaries + "hobgoblin.dll", Path.Combine(Prefix, "bin", "hobgoblin.dll"));
		}
		else if (Target.Platform == UnrealTargetPlatform.Mac)
		{
			string Library = Path.Combine(Prefix, "lib", "libhobgoblin.0.dylib");
			PublicDelayLoadDLLs.Add(Library);
			RuntimeDependencies.Add(Binaries + "libhobgoblin.0.dylib", Library);
		}
		else
		{
			// A program needs the file that the soname names.
			PublicAdditionalLibraries.Add(Path.Combine(Prefix, "lib", "libhobgoblin.so"));
			PublicRuntimeLibraryPaths.Add(Binaries);
			RuntimeDependencies.Add(Binaries + "libhobgoblin.so.0", Path.Combine(Prefix, "lib", "libhobgoblin.so.0"));
		}
	}
}
