// Program managers with a managed driver. MIT OR Apache-2.0.
using System;
using System.Diagnostics;
using System.IO;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Threading;
using Hobgoblin;

static unsafe class ProgramManagerTest
{
    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(ProgramManagerTest), arguments);
    }

    static Fingerprint Key(int number)
    {
        return Fingerprint.OfText("program " + number);
    }

    static CompiledProgram Program(int number, int size = 1000)
    {
        var data = new byte[size];
        for (var i = 0; i < size; ++i) data[i] = (byte)(number + i);
        return new CompiledProgram
        {
            Format = (uint)number, Data = data, Reflection = new[] { (byte)number, (byte)9 }, BuildUs = 500,
            Shaders = new[] { Fingerprint.OfText("shader " + number) },
        };
    }

    sealed class Driver : ProgramCallbacks
    {
        public int Compiles, Links, Loads, Binaries;
        public Func<string, uint> OnCall = what => 0;
        public ByteCheck Check = null;
        public bool HasBinary = true;

        public delegate void ByteCheck(ByteView view);

        public override uint Compile(IntPtr shader, ShaderStage stage, ByteView source)
        {
            ++Compiles;
            if (Check != null) Check(source);
            Ensure.Equal("source of " + (long)shader, source.ToText(), "the source");
            GC.Collect();
            return OnCall("compile");
        }

        public override uint Link(IntPtr program)
        {
            ++Links;
            return OnCall("link");
        }

        public override uint Load(IntPtr program, uint format, ByteView data, ByteView reflection)
        {
            ++Loads;
            Ensure.Equal(8u, format, "the format");
            Ensure.Equal(50L, data.Length, "bytes");
            Ensure.Equal((byte)(long)program, data[49], "the last byte");
            Ensure.Equal("reflection", reflection.ToText(), "reflection");
            GC.Collect();
            return OnCall("load");
        }

        public override uint GetBinary(IntPtr program, CompiledProgram binary)
        {
            if (!HasBinary) return base.GetBinary(program, binary);
            ++Binaries;
            binary.Format = 8;
            binary.Data = new byte[50];
            binary.Data[49] = (byte)(long)program;
            binary.Reflection = System.Text.Encoding.UTF8.GetBytes("reflection");
            return OnCall("binary");
        }
    }

    static ShaderId[] Shaders(ProgramManager manager)
    {
        var shaders = new[]
        {
            manager.AddShader(ShaderStage.Vertex, (IntPtr)11, "source of 11"),
            manager.AddShader(ShaderStage.Fragment, (IntPtr)12, "source of 12"),
        };
        return shaders;
    }

    public static void A_manager_compiles_only_what_it_must()
    {
        using (var cache = new ProgramCache())
        {
            var driver = new Driver();
            using (var manager = new ProgramManager(cache, driver))
            {
                var shaders = Shaders(manager);
                foreach (var shader in shaders)
                    Ensure.Equal(ShaderState.Compiled, manager.Compile(shader).State, "the first compile");
                var linked = manager.Link((IntPtr)5, shaders, new ProgramKey().AddAttribute("position", 0));
                Ensure.Equal(LinkOutcome.Built, linked.Outcome, "the first link");
                Ensure.That(!linked.FirstUse.IsValid && linked.Key != default(Fingerprint), "its key");
                Ensure.That(cache.KnowsProgram(linked.Key), "the cache has it");
            }
            Ensure.Equal("2 1 0 1", $"{driver.Compiles} {driver.Links} {driver.Loads} {driver.Binaries}", "calls");
            driver = new Driver();
            using (var manager = new ProgramManager(cache, driver))
            {
                var shaders = Shaders(manager);
                foreach (var shader in shaders)
                    Ensure.Equal(ShaderState.Deferred, manager.Compile(shader).State, "a known shader");
                var linked = manager.Link((IntPtr)5, shaders, new ProgramKey().AddAttribute("position", 0));
                Ensure.Equal(LinkOutcome.Loaded, linked.Outcome, "a known program");
                cache.EndUse(linked.FirstUse);
                Ensure.Equal("0 0 1 0", $"{driver.Compiles} {driver.Links} {driver.Loads} {driver.Binaries}", "calls");
                driver.HasBinary = false;
                Ensure.Equal(LinkOutcome.BuiltUnsaved, manager.Link((IntPtr)6, shaders).Outcome, "no binary");
                Ensure.Equal(2, driver.Compiles, "deferred shaders were compiled");
                manager.RemoveShader(shaders[0]);
                Ensure.Fails(Result.NotFound, () => manager.Link((IntPtr)6, shaders));
                Ensure.That(manager.LastError.Length > 0, "the manager keeps the sentence");
            }
        }
    }

    public static void Failures_of_the_driver_are_answers()
    {
        using (var cache = new ProgramCache())
        {
            var driver = new Driver { OnCall = what => what == "compile" ? 71u : 0 };
            using (var manager = new ProgramManager(cache, driver))
            {
                var shaders = Shaders(manager);
                var compiled = manager.Compile(shaders[0]);
                Ensure.Equal(ShaderState.NotCompiled, compiled.State, "a failed compile");
                Ensure.Equal(71u, compiled.DriverCode, "its code");
                driver.OnCall = what => what == "link" ? 72u : 0;
                foreach (var shader in shaders) manager.Compile(shader);
                var linked = manager.Link((IntPtr)1, shaders);
                Ensure.Equal(LinkOutcome.LinkFailed, linked.Outcome, "a failed link");
                Ensure.Equal(72u, linked.DriverCode, "its code");
                driver.OnCall = what => 0;
                Ensure.Equal(LinkOutcome.Built, manager.Link((IntPtr)1, shaders).Outcome, "a link");
                driver.OnCall = what => what == "load" ? 73u : 0;
                linked = manager.Link((IntPtr)1, shaders);
                Ensure.Equal(LinkOutcome.Built, linked.Outcome, "a rejected binary is built again");
                Ensure.Equal(73u, linked.DriverCode, "the code of the load");
                Ensure.Fails(Result.InvalidArgument, () => manager.Link((IntPtr)1, new ShaderId[0]));
                Ensure.Throws<ArgumentNullException>(() => manager.Link((IntPtr)1, null));
                Ensure.Throws<ArgumentNullException>(() => manager.SetSource(shaders[0], (byte[])null));
                Ensure.Throws<ArgumentNullException>(() => manager.AddShader(ShaderStage.Vertex, IntPtr.Zero, null));
                Ensure.Fails(Result.InvalidArgument, () => manager.AddShader((ShaderStage)50, IntPtr.Zero));
                Ensure.Fails(Result.InvalidArgument, () => manager.Link((IntPtr)1, shaders, new ProgramKey().AddStage(ShaderStage.Mesh, "m")));
                Ensure.Fails(Result.NotFound, () => manager.Compile(default(ShaderId)));
            }
            Ensure.Throws<ArgumentNullException>(() => new ProgramManager(cache, null));
            Ensure.Throws<ArgumentNullException>(() => new ProgramManager(null, driver));
            cache.Dispose();
            Ensure.Throws<ObjectDisposedException>(() => new ProgramManager(cache, driver));
        }
    }

    public static void Exceptions_of_callbacks_reach_the_caller()
    {
        using (var cache = new ProgramCache())
        {
            var driver = new Driver();
            using (var manager = new ProgramManager(cache, driver))
            {
                var shaders = Shaders(manager);
                foreach (var throwing in new[] { "compile", "link", "binary", "load" })
                {
                    if (throwing != "load") cache.Clear();
                    driver.OnCall = what =>
                    {
                        if (what != throwing) return 0;
                        GC.Collect();
                        throw new TimeoutException(what);
                    };
                    var found = Ensure.Throws<TimeoutException>(() =>
                    {
                        foreach (var shader in shaders) manager.Compile(shader);
                        manager.Link((IntPtr)1, shaders);
                    });
                    Ensure.Equal(throwing, found.Message, "the exception itself");
                    driver.OnCall = what => 0;
                    foreach (var shader in shaders) manager.Compile(shader);
                    manager.Link((IntPtr)1, shaders);
                }
            }
        }
    }

    /// <summary>Hostile: callbacks that call their manager, and dispose it and the cache.</summary>
    public static void Callbacks_that_reenter_get_busy_and_may_dispose()
    {
        var cache = new ProgramCache();
        var driver = new Driver();
        var manager = new ProgramManager(cache, driver);
        var shaders = Shaders(manager);
        var busy = 0;
        var isDisposed = false;
        driver.OnCall = what =>
        {
            if (isDisposed)
            {
                Ensure.Throws<ObjectDisposedException>(() => manager.Compile(shaders[0]));
                return 0;
            }
            Ensure.Fails(Result.Busy, () => manager.Compile(shaders[0]));
            cache.Put(Key(3), Program(3));
            ++busy;
            if (what == "link")
            {
                isDisposed = true;
                manager.Dispose();
                cache.Dispose();
            }
            return 0;
        };
        foreach (var shader in shaders) manager.Compile(shader);
        // With its cache gone, it does not matter whether the binary was stored.
        var outcome = manager.Link((IntPtr)1, shaders).Outcome;
        Ensure.That(outcome == LinkOutcome.Built || outcome == LinkOutcome.BuiltUnsaved, "the link ends: " + outcome);
        Ensure.That(busy > 2 && manager.IsClosed && cache.IsClosed, "both are disposed after the call");
        Ensure.Throws<ObjectDisposedException>(() => manager.Link((IntPtr)1, shaders));
    }

    public static void Two_threads_on_one_manager_get_busy()
    {
        using (var cache = new ProgramCache())
        using (var manager = new ProgramManager(cache, new Driver()))
        {
            var done = 0;
            Ensure.OnThreads(3, thread =>
            {
                for (var i = 0; i < 300; ++i)
                {
                    try
                    {
                        var shader = manager.AddShader(ShaderStage.Vertex, (IntPtr)4);
                        manager.SetSource(shader, "source of 4");
                        manager.RemoveShader(shader);
                        var text = manager.LastError;
                        Interlocked.Increment(ref done);
                    }
                    catch (HobgoblinException exception)
                    {
                        Ensure.Equal(Result.Busy, exception.Result, exception.Message);
                    }
                }
            });
            Ensure.That(done > 0, "some calls succeed");
        }
    }
}
