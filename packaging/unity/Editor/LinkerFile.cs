// Gives the package's link.xml to the linker, which ignores files of that name in packages. MIT OR Apache-2.0.
using System.IO;
using UnityEditor.Build;
using UnityEditor.Build.Reporting;
using UnityEditor.UnityLinker;

namespace Hobgoblin.Editor
{
    sealed class LinkerFile : IUnityLinkerProcessor
    {
        int IOrderedCallback.callbackOrder => 0;

        string IUnityLinkerProcessor.GenerateAdditionalLinkXmlFile(BuildReport report, UnityLinkerBuildPipelineData data)
        {
            return Path.GetFullPath("Packages/com.hobgoblin/Editor/link.xml");
        }
    }
}
