// Does what Unity's editor does: starts the package's editor scripts, reloads, and builds a player.
using System;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading;
using Hobgoblin;
using UnityEditor;
using UnityEditor.Build;

static class Reload
{
    static int Main(string[] arguments)
    {
        Assembly scripts = Assembly.LoadFrom(arguments[0]);
        foreach (Type type in scripts.GetTypes())
        {
            if (type.GetCustomAttribute<InitializeOnLoadAttribute>() != null) RuntimeHelpers.RunClassConstructor(type.TypeHandle);
        }
        int before = Threads();
        int ran = 0;
        Executor executor = Executor.CreatePool(3);
        executor.ParallelFor(64, block => Interlocked.Increment(ref ran));
        if (ran != 64 || Threads() < before + 3) return Fail("the pool has " + (Threads() - before) + " threads");

        AssemblyReloadEvents.Reload();
        if (Threads() > before) return Fail((Threads() - before) + " threads of the library survive a reload");
        try
        {
            executor.ParallelFor(1, block => { });
            return Fail("an executor works after a reload");
        }
        catch (ObjectDisposedException)
        {
        }

        // Quitting ends later handles too.
        Executor next = Executor.CreatePool(3);
        next.ParallelFor(4, block => Interlocked.Increment(ref ran));
        EditorApplication.Quit();
        if (ran != 68 || Threads() > before) return Fail("threads of the library survive the editor");

        foreach (Type type in scripts.GetTypes())
        {
            if (!typeof(IUnityLinkerProcessor).IsAssignableFrom(type)) continue;
            var processor = (IUnityLinkerProcessor)Activator.CreateInstance(type);
            string path = processor.GenerateAdditionalLinkXmlFile(null, null);
            if (!Path.IsPathRooted(path) || !File.Exists(path)) return Fail(path + " does not exist");
            Console.WriteLine("ok");
            return 0;
        }
        return Fail("no script gives link.xml to the linker");
    }

    static int Threads()
    {
        return Directory.GetDirectories("/proc/self/task").Length;
    }

    static int Fail(string message)
    {
        Console.WriteLine(message);
        return 1;
    }
}
