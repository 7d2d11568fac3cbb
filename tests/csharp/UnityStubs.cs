// Stubs of Unity for the package's scripts, with methods that raise the editor's events. Not shipped.
using System;
using System.Collections.Generic;

namespace UnityEngine
{
    public class MonoBehaviour
    {
    }

    [AttributeUsage(AttributeTargets.Field)]
    public sealed class SerializeField : Attribute
    {
    }

    public enum ShadowQuality
    {
        Disable,
        HardOnly,
        All,
    }

    public enum ShadowResolution
    {
        Low,
        Medium,
        High,
        VeryHigh,
    }

    public enum AnisotropicFiltering
    {
        Disable,
        Enable,
        ForceEnable,
    }

    public static class QualitySettings
    {
        public static ShadowQuality shadows { get; set; }
        public static ShadowResolution shadowResolution { get; set; }
        public static AnisotropicFiltering anisotropicFiltering { get; set; }
        public static float lodBias { get; set; }
    }

    public struct FrameTiming
    {
        public double gpuFrameTime;
    }

    public static class FrameTimingManager
    {
        public static readonly List<double> Milliseconds = new List<double>();

        public static void CaptureFrameTimings()
        {
        }

        public static uint GetLatestTimings(uint count, FrameTiming[] timings)
        {
            if (Milliseconds.Count < 4) return 0;
            timings[0].gpuFrameTime = Milliseconds[Milliseconds.Count - 4];
            return 1;
        }
    }

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
