// Stubs of Unity's editor for the package's scripts, with methods that raise its events. Not shipped.
using System;

namespace UnityEngine
{
    public static class Debug
    {
        public static void LogError(object message)
        {
            Console.WriteLine("error: " + message);
        }
    }
}

namespace UnityEditor
{
    [AttributeUsage(AttributeTargets.Class)]
    public sealed class InitializeOnLoadAttribute : Attribute
    {
    }

    public static class AssemblyReloadEvents
    {
        public delegate void AssemblyReloadCallback();

        public static event AssemblyReloadCallback beforeAssemblyReload;

        public static void Reload()
        {
            if (beforeAssemblyReload != null) beforeAssemblyReload();
        }
    }

    public static class EditorApplication
    {
        public static event Action quitting;

        public static void Quit()
        {
            if (quitting != null) quitting();
        }
    }
}

namespace UnityEditor.Build
{
    public interface IOrderedCallback
    {
        int callbackOrder { get; }
    }

    public interface IUnityLinkerProcessor : IOrderedCallback
    {
        string GenerateAdditionalLinkXmlFile(Reporting.BuildReport report, UnityLinker.UnityLinkerBuildPipelineData data);
    }
}

namespace UnityEditor.Build.Reporting
{
    public sealed class BuildReport
    {
    }
}

namespace UnityEditor.UnityLinker
{
    public sealed class UnityLinkerBuildPipelineData
    {
    }
}
