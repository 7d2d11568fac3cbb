// Destroys all handles before the editor reloads the scripts. The editor never unloads the native library, so a thread of
// it would otherwise call into an application domain that no longer exists. MIT OR Apache-2.0.
using UnityEditor;
using UnityEngine;

namespace Hobgoblin.Editor
{
    [InitializeOnLoad]
    static class ReloadGuard
    {
        static ReloadGuard()
        {
            AssemblyReloadEvents.beforeAssemblyReload += End;
            EditorApplication.quitting += End;
        }

        static void End()
        {
            if (Hob.Shutdown()) return;
            Debug.LogError(
                "hobgoblin: a call on another thread has not returned within ten seconds; if it calls a script after " +
                "the reload, the editor crashes: save the scene, and end your threads in OnDisable");
        }
    }
}
