using UnrealBuildTool;

// Loads the library, and sends its log to LogHobgoblin. Modules of a game depend on this one.
public class Hobgoblin : ModuleRules
{
	public Hobgoblin(ReadOnlyTargetRules Target) : base(Target)
	{
		PCHUsage = PCHUsageMode.UseExplicitOrSharedPCHs;
		PublicDependencyModuleNames.AddRange(new string[] { "Core", "HobgoblinLibrary" });
		PrivateDependencyModuleNames.Add("Projects");
	}
}
