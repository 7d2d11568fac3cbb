// Checks of the tests, and their runner. MIT OR Apache-2.0.
using System;
using System.Diagnostics;
using System.IO;
using System.Reflection;
using System.Threading;
using Hobgoblin;

static class Ensure
{
    public static void That(bool isTrue, string what)
    {
        if (!isTrue) throw new Exception("not true: " + what);
    }

    public static void Equal<T>(T expected, T found, string what)
    {
        if (!Equals(expected, found)) throw new Exception($"{what}: expected {expected}, found {found}");
    }

    public static void Bytes(byte[] expected, byte[] found, string what)
    {
        Equal(BitConverter.ToString(expected), BitConverter.ToString(found), what);
    }

    /// <summary>The exception that an action throws, which has exactly this type.</summary>
    public static T Throws<T>(Action action) where T : Exception
    {
        try
        {
            action();
        }
        catch (Exception exception)
        {
            if (exception.GetType() == typeof(T)) return (T)exception;
            throw new Exception($"expected {typeof(T).Name}, found: {exception}");
        }
        throw new Exception($"expected {typeof(T).Name}, but nothing was thrown");
    }

    /// <summary>An action fails with a result, and has a sentence.</summary>
    public static string Fails(Result result, Action action)
    {
        var exception = Throws<HobgoblinException>(action);
        Equal(result, exception.Result, "the result of '" + exception.Message + "'");
        That(exception.Message.Length > 0, "a failure has a sentence");
        return exception.Message;
    }

    /// <summary>An action allocates no managed memory once warm.</summary>
    public static void AllocatesNothing(string what, int calls, Action<int> action)
    {
        for (var i = 0; i < 2000; ++i) action(i);
        var before = GC.GetAllocatedBytesForCurrentThread();
        for (var i = 0; i < calls; ++i) action(i);
        // The probe itself may count a little on some runtimes; one object a call would be 16 bytes each.
        var allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        That(allocated < calls, $"{what} allocates nothing: {allocated} bytes in {calls} calls");
    }

    /// <summary>Waits until a condition holds.</summary>
    public static void Soon(Func<bool> condition, string what)
    {
        for (var watch = Stopwatch.StartNew(); !condition(); Thread.Sleep(1))
        {
            That(watch.ElapsedMilliseconds < 20000, what + " within 20 s");
        }
    }

    /// <summary>Runs an action on several threads at once, and throws the first of their exceptions.</summary>
    public static void OnThreads(int count, Action<int> action)
    {
        Exception first = null;
        var threads = new Thread[count];
        for (var i = 0; i < count; ++i)
        {
            var index = i;
            threads[i] = new Thread(() =>
            {
                try
                {
                    action(index);
                }
                catch (Exception exception)
                {
                    Interlocked.CompareExchange(ref first, exception, null);
                }
            });
            threads[i].Start();
        }
        foreach (var thread in threads) thread.Join();
        if (first != null) throw new Exception("on another thread: " + first);
    }

    /// <summary>Collects all garbage and runs its finalizers.</summary>
    public static void Collect()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
    }

    /// <summary>A new empty folder, deleted when it is disposed.</summary>
    public sealed class Folder : IDisposable
    {
        public readonly string Path =
            System.IO.Path.Combine(System.IO.Path.GetTempPath(), "hobgoblin-" + Guid.NewGuid().ToString("N"));

        public Folder()
        {
            Directory.CreateDirectory(Path);
        }

        public string File(string name)
        {
            return System.IO.Path.Combine(Path, name);
        }

        public void Dispose()
        {
            Directory.Delete(Path, true);
        }
    }

    /// <summary>Calls all public static methods of a class without parameters. Returns the exit status.</summary>
    public static int Run(Type tests, string[] arguments)
    {
        var failures = 0;
        foreach (var method in tests.GetMethods(BindingFlags.Public | BindingFlags.Static | BindingFlags.DeclaredOnly))
        {
            if (method.GetParameters().Length > 0 || method.Name == "Main") continue;
            if (arguments.Length > 0 && !method.Name.Contains(arguments[0])) continue;
            try
            {
                method.Invoke(null, null);
                Console.WriteLine("ok   " + method.Name);
            }
            catch (TargetInvocationException exception)
            {
                ++failures;
                Console.WriteLine($"FAIL {method.Name}: {exception.InnerException}");
            }
        }
        return failures == 0 ? 0 : 1;
    }
}
