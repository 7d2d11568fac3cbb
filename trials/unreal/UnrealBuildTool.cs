// The parts of Unreal's build tool that packaging/unreal uses, for a test without the engine. Prints a module's rules.
using System;
using System.Collections.Generic;
using System.Reflection;

namespace UnrealBuildTool
{
    public struct UnrealTargetPlatform
    {
        readonly string name;
        UnrealTargetPlatform(string name) { this.name = name; }
        public static readonly UnrealTargetPlatform Win64 = new UnrealTargetPlatform("Win64");
        public static readonly UnrealTargetPlatform Linux = new UnrealTargetPlatform("Linux");
        public static readonly UnrealTargetPlatform LinuxArm64 = new UnrealTargetPlatform("LinuxArm64");
        public static readonly UnrealTargetPlatform Mac = new UnrealTargetPlatform("Mac");
        public static bool operator ==(UnrealTargetPlatform a, UnrealTargetPlatform b) { return a.name == b.name; }
        public static bool operator !=(UnrealTargetPlatform a, UnrealTargetPlatform b) { return a.name != b.name; }
        public override bool Equals(object other) { return other is UnrealTargetPlatform && this == (UnrealTargetPlatform)other; }
        public override int GetHashCode() { return name.GetHashCode(); }
        public override string ToString() { return name; }
    }

    public class ReadOnlyTargetRules { public UnrealTargetPlatform Platform; }

    public class RuntimeDependencyList
    {
        public readonly List<string> All = new List<string>();
        public void Add(string path, string source) { All.Add(path + " <- " + source); }
    }

    public class ModuleRules
    {
        public enum ModuleType { CPlusPlus, External }
        public enum PCHUsageMode { Default, UseExplicitOrSharedPCHs }
        public static string Folder;
        public ModuleType Type;
        public PCHUsageMode PCHUsage;
        public string ModuleDirectory { get { return Folder; } }
        public readonly List<string> PublicSystemIncludePaths = new List<string>(), PublicAdditionalLibraries = new List<string>(),
            PublicDelayLoadDLLs = new List<string>(), PublicRuntimeLibraryPaths = new List<string>(),
            PublicDependencyModuleNames = new List<string>(), PrivateDependencyModuleNames = new List<string>();
        public readonly RuntimeDependencyList RuntimeDependencies = new RuntimeDependencyList();
        public ModuleRules(ReadOnlyTargetRules target) { }
    }

    static class Program
    {
        static void Print(string name, List<string> values) { foreach (string value in values) Console.WriteLine(name + " " + value); }

        static int Main(string[] arguments)
        {
            ModuleRules.Folder = arguments[2];
            var platform = (UnrealTargetPlatform)typeof(UnrealTargetPlatform).GetField(arguments[1]).GetValue(null);
            Type type = Assembly.GetExecutingAssembly().GetType(arguments[0]);
            ModuleRules rules;
            try { rules = (ModuleRules)Activator.CreateInstance(type, new ReadOnlyTargetRules { Platform = platform }); }
            catch (TargetInvocationException failure) { Console.WriteLine("failed " + failure.InnerException.Message); return 1; }
            Console.WriteLine("type " + rules.Type);
            Print("include", rules.PublicSystemIncludePaths);
            Print("link", rules.PublicAdditionalLibraries);
            Print("delay", rules.PublicDelayLoadDLLs);
            Print("rpath", rules.PublicRuntimeLibraryPaths);
            Print("stage", rules.RuntimeDependencies.All);
            Print("module", rules.PublicDependencyModuleNames);
            Print("module", rules.PrivateDependencyModuleNames);
            return 0;
        }
    }
}
