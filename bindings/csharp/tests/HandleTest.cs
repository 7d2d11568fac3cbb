// The life of handles: dispose, finalizers, use from several threads, memory, errors. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using Hobgoblin;

static class HandleTest
{
    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(HandleTest), arguments);
    }

    /// <summary>How each owner is created.</summary>
    static readonly Dictionary<string, Func<HobHandle>> Owners = new Dictionary<string, Func<HobHandle>>
    {
        { "Goblin", MakeGoblin },
        { "Profile", MakeProfile },
        { "Knapsack", () => new Knapsack() },
        { "Balance", () => new Balance() },
        { "Executor", () => new Executor() },
        { "Executor with a pool", () => Executor.CreatePool(1) },
        { "ProgramCache", MakeCache },
        { "Blob", () => new Blob() },
        { "ProgramManager", MakeManager },
        { "PipelineLibrary", MakeLibrary },
        { "Graph", MakeGraph },
        { "Perception", MakePerception },
    };

    static HobHandle MakeGoblin()
    {
        var goblin = new Goblin(new GoblinDesc { [Lane.Gpu] = 10 });
        goblin.Add("a", new SettingCallbacks { SetChoice = (choice, decision) => { } }, new[] { new Option(0), new Option(1) });
        goblin.Update();
        return goblin;
    }

    static HobHandle MakeCache()
    {
        var cache = new ProgramCache();
        cache.SetProblemCallback(sentence => { });
        cache.Put(Fingerprint.OfText("a"), new CompiledProgram { Data = new byte[100] });
        return cache;
    }

    sealed class NoDriver : ProgramCallbacks
    {
        public override uint Compile(IntPtr shader, ShaderStage stage, ByteView source) => 0;
        public override uint Link(IntPtr program) => 0;
        public override uint Load(IntPtr program, uint format, ByteView data, ByteView reflection) => 0;
    }

    static HobHandle MakeManager()
    {
        using (var cache = new ProgramCache())
        {
            var manager = new ProgramManager(cache, new NoDriver());
            manager.Compile(manager.AddShader(ShaderStage.Vertex, IntPtr.Zero, "source"));
            return manager;
        }
    }

    static HobHandle MakeLibrary()
    {
        return new PipelineLibrary(new PipelineLibraryDesc
        {
            Project = "game", Format = "spirv", Compile = job => PipelineBuilt.Ready,
        });
    }

    static HobHandle MakeGraph()
    {
        var graph = new Graph();
        graph.AddObject(new NodeDesc { IsSink = true }, call => "an object");
        graph.Evaluate();
        return graph;
    }

    static HobHandle MakePerception()
    {
        var perception = new Perception();
        var cognition = perception.AddObject(new CognitionDesc(), call => "an object");
        var pipeline = perception.AddPipeline(new PerceptionPipelineDesc("a", new PerceptionStep(cognition)));
        perception.BeginFrame(new byte[400], 10, 10);
        perception.Query(pipeline);
        return perception;
    }

    static HobHandle MakeProfile()
    {
        var profile = new Profile();
        profile.SetTask("a", new ProfileOption(1, 2, 3));
        return profile;
    }

    public static void A_call_after_Dispose_throws()
    {
        foreach (var owner in Owners)
        {
            var handle = owner.Value();
            handle.Dispose();
            Ensure.That(handle.IsClosed, owner.Key + " is closed");
            foreach (var property in handle.GetType().GetProperties())
            {
                if (property.DeclaringType != handle.GetType() || property.GetIndexParameters().Length > 0) continue;
                var thrown = Ensure.Throws<System.Reflection.TargetInvocationException>(() => property.GetValue(handle, null));
                Ensure.That(thrown.InnerException is ObjectDisposedException, owner.Key + "." + property.Name);
            }
        }
        var goblin = new Goblin(new GoblinDesc { [Lane.Gpu] = 10 });
        var setting = goblin.Add("a", 0, 1);
        goblin.Dispose();
        Ensure.Throws<ObjectDisposedException>(() => goblin.Update());
        Ensure.Throws<ObjectDisposedException>(() => setting.Choice.ToString());
        using (var other = new Goblin(new GoblinDesc { [Lane.Gpu] = 10 }))
        using (var profile = new Profile())
        {
            profile.Dispose();
            Ensure.Throws<ObjectDisposedException>(() => other.SetPastProfile(profile));
        }
    }

    public static void A_second_Dispose_does_nothing()
    {
        foreach (var owner in Owners)
        {
            var before = Hob.HandleCount;
            var handle = owner.Value();
            handle.Dispose();
            handle.Dispose();
            ((IDisposable)handle).Dispose();
            handle.Close();
            Ensure.Equal(before, Hob.HandleCount, owner.Key + " is destroyed once");
        }
    }

    public static void Dispose_in_a_callback_takes_effect_when_the_call_returns()
    {
        var released = 0;
        var goblin = new Goblin(new GoblinDesc { [Lane.Gpu] = 10 });
        var callbacks = new SettingCallbacks
        {
            SetChoice = (choice, decision) =>
            {
                goblin.Dispose();
                Ensure.Equal(0, released, "the goblin is not destroyed under the running call");
            },
            Released = () => ++released,
        };
        goblin.Add("a", callbacks, new[] { new Option(0), new Option(1) });
        goblin.Update();
        Ensure.Equal(1, released, "destroyed after the call");
        Ensure.Throws<ObjectDisposedException>(() => goblin.Update());

        // The same inside a task and inside a block.
        var executor = Executor.CreatePool(2);
        executor.ParallelFor(100, block => executor.Dispose());
        Ensure.Throws<ObjectDisposedException>(() => executor.Pump());
        var other = new Executor();
        other.Post(other.Dispose);
        Ensure.Equal(1u, other.Pump(), "the task ran");
        Ensure.Throws<ObjectDisposedException>(() => other.Pump());
    }

    public static void A_task_may_dispose_the_executor_that_runs_it()
    {
        var before = Hob.HandleCount;
        for (var n = 0; n < 50; ++n)
        {
            var executor = Executor.CreatePool(1);
            executor.Post(executor.Dispose);
            Ensure.Soon(() => executor.IsClosed, "the task has run");
        }
        Ensure.Soon(() => Hob.HandleCount == before, "every executor is destroyed");
        Ensure.Soon(() => Hob.UserDataCount == 0, "every task is released");
    }

    public static void Dispose_waits_for_calls_of_other_threads()
    {
        for (var n = 0; n < 200; ++n)
        {
            var goblin = (Goblin)MakeGoblin();
            var calls = 0;
            var readers = Enumerable.Range(0, 2).Select(_ => new Thread(() =>
            {
                try
                {
                    for (;;)
                    {
                        goblin.GetChoices();
                        Interlocked.Increment(ref calls);
                    }
                }
                catch (ObjectDisposedException)
                {
                }
            })).ToArray();
            foreach (var reader in readers) reader.Start();
            while (Volatile.Read(ref calls) < 10) goblin.Update();
            goblin.Dispose();
            foreach (var reader in readers) Ensure.That(reader.Join(10000), "the reader has ended");
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Forget(Func<HobHandle> make)
    {
        for (var n = 0; n < 20; ++n) make();
    }

    public static void Finalizers_destroy_what_is_not_disposed()
    {
        foreach (var owner in Owners)
        {
            var before = Hob.HandleCount;
            // On another thread, because the stack of this one may keep a last reference.
            Ensure.OnThreads(1, _ => Forget(owner.Value));
            Ensure.Soon(() =>
            {
                Ensure.Collect();
                return Hob.HandleCount == before;
            }, owner.Key + " is finalized");
        }
        Ensure.Equal(0, Hob.UserDataCount, "callbacks are released");
    }

    static long ResidentKilobytes()
    {
        var line = File.ReadAllLines("/proc/self/status").First(text => text.StartsWith("VmRSS"));
        return long.Parse(new string(line.Where(char.IsDigit).ToArray()));
    }

    public static void Memory_stays_flat_over_10000_cycles_of_every_owner()
    {
        if (!File.Exists("/proc/self/status")) return;
        foreach (var owner in Owners)
        {
            for (var n = 0; n < 2000; ++n) owner.Value().Dispose();
            Ensure.Collect();
            var before = ResidentKilobytes();
            for (var n = 0; n < 10000; ++n) owner.Value().Dispose();
            Ensure.Collect();
            var grown = ResidentKilobytes() - before;
            Console.WriteLine($"     {owner.Key}: {grown} KiB more after 10000 cycles, of {before} KiB");
            Ensure.That(grown < 4096, $"{owner.Key}: {grown} KiB more after 10000 cycles");
        }
        Ensure.Equal(0, Hob.UserDataCount, "callbacks are released");
    }

    public static void Shutdown_destroys_everything_and_can_be_repeated()
    {
        for (var n = 0; n < 3; ++n)
        {
            var handles = Owners.Values.Select(make => make()).ToArray();
            Ensure.That(Hob.HandleCount >= handles.Length, "they are alive");
            Ensure.That(Hob.Shutdown(), "nothing runs");
            Ensure.Equal(0, Hob.HandleCount, "nothing is alive");
            Ensure.That(handles.All(handle => handle.IsClosed), "all are disposed");
        }
        Ensure.Equal(0, Hob.UserDataCount, "callbacks are released");
    }

    public static void Shutdown_inside_a_callback_does_not_wait_for_itself()
    {
        var goblin = new Goblin(new GoblinDesc { [Lane.Gpu] = 10 });
        var isComplete = true;
        goblin.Add("a", new SettingCallbacks { SetChoice = (choice, id) => isComplete = Hob.Shutdown() },
            new[] { new Option(0), new Option(1) });
        goblin.Update();
        Ensure.That(!isComplete, "the call around the callback still ran");
        Ensure.Equal(0, Hob.HandleCount, "the goblin is destroyed when it returns");
        Ensure.That(Hob.Shutdown(), "nothing runs any more");
    }

    public static void A_failed_call_throws_the_sentence_of_its_thread()
    {
        Ensure.OnThreads(4, thread =>
        {
            using (var goblin = new Goblin(new GoblinDesc { [Lane.Gpu] = 10 }))
            {
                var setting = goblin.Add("a", 0, 1);
                for (var n = 0; n < 500; ++n)
                {
                    var option = (uint)(thread * 1000 + n + 2);
                    var sentence = Ensure.Fails(Result.InvalidArgument, () => goblin.SetValue(setting, option, 1));
                    Ensure.That(sentence.Contains(option.ToString()), sentence + " names option " + option);
                }
            }
        });
        Ensure.Equal("HOB_RESULT_NOT_FOUND", Hob.NameOf(Result.NotFound), "the name in C");
    }

    public static void Calls_on_several_threads_are_busy_but_safe()
    {
        using (var goblin = new Goblin(new GoblinDesc { [Lane.Gpu] = 10 }))
        {
            var first = goblin.Add("first", 0, 1, 2);
            int done = 0, busy = 0;
            Action<Action> attempt = call =>
            {
                try
                {
                    call();
                    Interlocked.Increment(ref done);
                }
                catch (HobgoblinException exception)
                {
                    Ensure.Equal(Result.Busy, exception.Result, exception.Message);
                    Interlocked.Increment(ref busy);
                }
            };
            Ensure.OnThreads(4, thread =>
            {
                for (var n = 0; n < 3000; ++n)
                {
                    attempt(() => goblin.Update());
                    attempt(() => goblin.SaveProfile());
                    attempt(() => goblin.GetReasonText(first));
                    attempt(() => goblin.Remove(goblin.Add("of thread " + thread, 0, 1)));
                    Ensure.That(first.Choice <= 2 && goblin.GetChoices().Length > 0, "choices are never busy");
                }
            });
            Console.WriteLine($"     {done} calls, {busy} more refused");
            Ensure.That(done > 1000, "most calls work");
        }
    }

    public static void A_busy_goblin_says_so()
    {
        using (var goblin = new Goblin(new GoblinDesc { [Lane.Gpu] = 10 }))
        {
            var callbacks = new SettingCallbacks
            {
                SetChoice = (choice, decision) => Ensure.Fails(Result.Busy, () => goblin.SetSwitchScale(1)),
            };
            goblin.Add("a", callbacks, new[] { new Option(0), new Option(1) });
            goblin.Update();
        }
    }
}
