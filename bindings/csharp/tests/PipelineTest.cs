// Pipeline libraries with managed compilers. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.IO;
using System.Threading;
using Hobgoblin;
using static PipelineSupport;

static unsafe class PipelineTest
{
    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(PipelineTest), arguments);
    }

    public static void The_next_start_compiles_what_this_one_met()
    {
        using (var folder = new Ensure.Folder())
        using (var executor = Executor.CreatePool(0))
        {
            var compiled = new HashSet<Fingerprint>();
            var here = Thread.CurrentThread.ManagedThreadId;
            var elsewhere = 0;
            var completed = 0;
            var desc = Desc(job =>
            {
                if (Thread.CurrentThread.ManagedThreadId != here) Interlocked.Increment(ref elsewhere);
                var number = job.State[0] + (job.State[1] << 8);
                Ensure.Equal(3L, job.State.Length, "bytes of state");
                Ensure.Equal(7u, job.Schema, "the schema");
                Ensure.Equal(2, job.ShaderCount, "shaders");
                Ensure.Equal(ShaderStage.Fragment, job.Shader(1).Stage, "the stage");
                Ensure.Bytes(Hash(2 * number + 1), job.Shader(1).GetHash(), "the hash");
                lock (compiled) Ensure.That(compiled.Add(job.Key), "each once");
                if (number % 10 == 0) GC.Collect();
                return number == 13 ? PipelineBuilt.Failed : PipelineBuilt.Ready;
            });
            desc.Completed = () =>
            {
                GC.Collect();
                Interlocked.Increment(ref completed);
            };
            desc.Directory = folder.Path;
            desc.Executor = executor;
            var keys = Record(desc, 60);
            Ensure.Equal(0, compiled.Count, "nothing to compile in the first run");
            using (var library = new PipelineLibrary(desc))
            {
                Ensure.Equal(PipelineMode.Fast, library.Mode, "the mode");
                Ensure.Soon(() =>
                {
                    library.BeginFrame();
                    return library.Remaining == 0;
                }, "the background compiles all");
                foreach (var key in keys)
                {
                    var expected = key == keys[13] ? PipelineState.Failed : PipelineState.Ready;
                    Ensure.Equal(expected, library.GetState(key), "a state");
                    Ensure.Equal(expected, library.Use(key), "a use");
                }
                Ensure.Soon(() => completed == 1, "completed is called");
                var statistics = library.GetStatistics();
                Ensure.Equal(60ul, statistics.Opened, "opened");
                Ensure.Equal(59ul, statistics.Ready, "ready");
                Ensure.Equal(1ul, statistics.Failed, "failed");
                Ensure.Equal(59ul, statistics.ReadyAtFirstUse, "ready at first use");
                Ensure.That(elsewhere == 60, "the background compiled: " + elsewhere);
                lock (compiled) compiled.Clear();
                Ensure.That(library.Forget(keys[13]), "a failed one is forgotten");
                Ensure.That(!library.Forget(Fingerprint.OfText("none")), "an unknown one");
                Ensure.Equal(59ul, library.ForgetAll(), "all ready ones are forgotten");
            }
        }
    }

    public static void This_thread_compiles_and_waits()
    {
        using (var folder = new Ensure.Folder())
        {
            var count = 0;
            var isCancelled = false;
            var desc = Desc(job =>
            {
                ++count;
                return isCancelled ? PipelineBuilt.Cancelled : PipelineBuilt.Ready;
            });
            desc.Directory = folder.Path;
            var keys = Record(desc, 20);
            desc.Mode = PipelineMode.Paused;
            using (var library = new PipelineLibrary(desc))
            {
                library.BeginFrame();
                Ensure.Equal(0u, library.Compile(), "nothing in a pause");
                Ensure.Equal(PipelineState.Ready, library.Wait(keys[5]), "a wait");
                Ensure.Equal(1, count, "one was compiled");
                Ensure.Equal(PipelineState.Queued, library.Request(keys[6]), "a request");
                Ensure.Equal(1u, library.Compile(), "the requested one");
                isCancelled = true;
                Ensure.Equal(PipelineState.Queued, library.Wait(keys[7]), "a cancelled one");
                isCancelled = false;
                library.Mode = PipelineMode.Fast;
                Ensure.Equal(18u, library.Remaining, "remaining");
                Ensure.Soon(() =>
                {
                    library.BeginFrame();
                    library.Compile();
                    return library.Remaining == 0;
                }, "all are compiled");
                var group = library.AddGroup(keys[1], keys[2]);
                Ensure.Equal(PipelineDecision.Draw, library.Decide(group), "a ready group");
                library.RemoveGroup(group);
                Ensure.Equal(PipelineDecision.Skip, library.Decide(group), "a removed group");
                group = library.AddGroup(Fingerprint.OfText("none"));
                Ensure.Equal(PipelineDecision.Substitute, library.Decide(group, PipelinePolicy.Substitute), "a missing one");
                Ensure.Equal(PipelineState.Unknown, library.Wait(Fingerprint.OfText("none"), 0), "an unknown one");
            }
        }
    }

    public static void A_pump_compiles_on_its_thread()
    {
        using (var folder = new Ensure.Folder())
        using (var executor = new Executor())
        {
            var threads = new HashSet<int>();
            var desc = Desc(job =>
            {
                threads.Add(Thread.CurrentThread.ManagedThreadId);
                GC.Collect();
                return PipelineBuilt.Ready;
            });
            desc.Directory = folder.Path;
            desc.Executor = executor;
            var keys = Record(desc, 10);
            using (var library = new PipelineLibrary(desc))
            {
                Ensure.Soon(() =>
                {
                    library.BeginFrame();
                    executor.Pump();
                    return library.Remaining == 0;
                }, "pumps compile all");
                Ensure.That(threads.Count == 1 && threads.Contains(Thread.CurrentThread.ManagedThreadId), "on this thread");
                Ensure.Equal(PipelineState.Ready, library.Use(keys[9]), "a use");
            }
        }
    }

    public static void Masks_select_pipelines()
    {
        var dimensions = new[] { new PipelineDimension("quality", 2), new PipelineDimension("level", 6) };
        var low = default(PipelineMask).With(dimensions, "quality", 1);
        var high = default(PipelineMask).With(dimensions, "quality", 2).With(dimensions, "level", 17);
        Ensure.Equal(new PipelineMask(2 + (17 << 2)), high, "the bits of both fields");
        Ensure.Fails(Result.NotFound, () => low.With(dimensions, "size", 1));
        Ensure.Fails(Result.InvalidArgument, () => low.With(dimensions, "quality", 4));
        Ensure.Throws<ArgumentNullException>(() => low.With(null, "quality", 1));
        Ensure.Throws<HobgoblinException>(() => low.With(dimensions, null, 1));
        Ensure.Throws<HobgoblinException>(() => low.With(new[] { new PipelineDimension(null, 99) }, "x", 1));

        using (var folder = new Ensure.Folder())
        {
            var compares = 0;
            var desc = Desc(job => PipelineBuilt.Ready);
            desc.Directory = folder.Path;
            desc.Dimensions = dimensions;
            desc.Mask = low;
            Record(desc, 8);
            desc.Mask = high;
            using (var library = new PipelineLibrary(desc))
            {
                Ensure.Equal(0u, library.Remaining, "none of another quality");
                Ensure.Equal(8u, library.GetRemainingOf(low), "pipelines of the other quality");
                library.SetMasks(low);
                Ensure.Equal(8u, library.Remaining, "after a change");
                Ensure.Fails(Result.InvalidArgument, () => library.SetMasks(new PipelineMask(1ul << 60)));
            }
            desc.Compare = (mask, current) =>
            {
                ++compares;
                GC.Collect();
                return mask == low;
            };
            using (var library = new PipelineLibrary(desc))
            {
                Ensure.Equal(8u, library.Remaining, "the host's compare selects all");
                Ensure.That(compares > 0, "compare was called");
            }
        }
    }

    public static void Exceptions_of_the_compiler_reach_the_caller()
    {
        using (var folder = new Ensure.Folder())
        {
            var desc = Desc(job =>
            {
                GC.Collect();
                throw new TimeoutException("compile");
            });
            desc.Directory = folder.Path;
            var keys = Record(desc, 6);
            using (var library = new PipelineLibrary(desc))
            {
                Ensure.Equal("compile", Ensure.Throws<TimeoutException>(() => library.Wait(keys[0])).Message, "of wait");
                Ensure.Equal(PipelineState.Failed, library.GetState(keys[0]), "it counts as failed");
                int reported = 0, thrown = 0;
                Action<Exception> handler = exception => ++reported;
                Hob.UnhandledCallbackException += handler;
                // On a busy machine a frame has time for some of them only.
                Ensure.Soon(() =>
                {
                    library.BeginFrame();
                    try
                    {
                        library.Compile();
                    }
                    catch (TimeoutException)
                    {
                        ++thrown;
                    }
                    return library.Remaining == 0;
                }, "the others are compiled");
                Ensure.That(thrown > 0, "of compile");
                Ensure.Equal(5, thrown + reported, "each exception is thrown or reported");
                Hob.UnhandledCallbackException -= handler;
            }
            // On the background there is no caller.
            using (var executor = Executor.CreatePool(0))
            {
                var reported = 0;
                Action<Exception> handler = exception => Interlocked.Increment(ref reported);
                Hob.UnhandledCallbackException += handler;
                desc.Executor = executor;
                desc.Completed = () => { throw new TimeoutException("completed"); };
                using (var library = new PipelineLibrary(desc))
                {
                    Ensure.Soon(() =>
                    {
                        library.BeginFrame();
                        return reported == 7;
                    }, "all are reported");
                    Ensure.Equal(0u, library.Remaining, "none remains");
                }
                Hob.UnhandledCallbackException -= handler;
            }
            desc.Executor = null;
            desc.Completed = null;
            desc.Compare = (mask, current) => { throw new TimeoutException("compare"); };
            Ensure.Equal("compare", Ensure.Throws<TimeoutException>(() => new PipelineLibrary(desc)).Message, "of create");
            desc.Compare = (mask, current) => true;
            using (var library = new PipelineLibrary(desc)) library.SetMasks(new PipelineMask(1));
        }
    }

    public static void Bad_input_is_refused()
    {
        PipelineCompiler compile = job => PipelineBuilt.Ready;
        Ensure.Throws<ArgumentNullException>(() => new PipelineLibrary(null));
        Ensure.Throws<ArgumentException>(() => new PipelineLibrary(Desc(null)));
        var desc = Desc(compile);
        desc.Project = "no spaces please";
        Ensure.Fails(Result.InvalidArgument, () => new PipelineLibrary(desc));
        desc = Desc(compile);
        desc.Workers = 999;
        Ensure.Fails(Result.InvalidArgument, () => new PipelineLibrary(desc));
        desc = Desc(compile);
        desc.Version = new string('v', 2000);
        Ensure.Fails(Result.LimitExceeded, () => new PipelineLibrary(desc));
        Ensure.Throws<ArgumentNullException>(() => new PipelineShader(ShaderStage.Vertex, (byte[])null));
        Ensure.Throws<ArgumentException>(() => new PipelineShader(ShaderStage.Vertex, new byte[19]));
        Ensure.Fails(Result.InvalidArgument, () => new PipelineDesc().ComputeKey());
        var own = new PipelineDesc { State = new byte[] { 1, 2, 3 } };
        own.Shaders.Add(new PipelineShader(ShaderStage.Vertex, Hash(1)));
        Ensure.Fails(Result.Malformed, () => own.ComputeKey());
        own = new PipelineDesc { Schema = 3, State = new byte[(1 << 20) + 1] };
        own.Shaders.Add(new PipelineShader(ShaderStage.Vertex, Hash(1)));
        Ensure.Fails(Result.LimitExceeded, () => own.ComputeKey());
        var library = new PipelineLibrary(Desc(compile));
        Ensure.Throws<ArgumentNullException>(() => library.Add(null));
        Ensure.Throws<ArgumentNullException>(() => library.AddGroup(null));
        Ensure.Throws<ArgumentNullException>(() => library.OpenCache((string)null));
        Ensure.Throws<ArgumentNullException>(() => library.OpenCache((byte[])null));
        Ensure.Throws<ArgumentOutOfRangeException>(() => library.OpenCache(IntPtr.Zero, -1));
        Ensure.Fails(Result.Io, () => library.OpenCache("/no/such/file"));
        Ensure.Throws<HobgoblinException>(() => library.OpenCache(new byte[100]));
        Ensure.Fails(Result.LimitExceeded, () => library.AddGroup(new Fingerprint[5000]));
        Ensure.Fails(Result.NotFound, () => library.RemoveGroup(default(PipelineGroupId)));
        Ensure.Fails(Result.InvalidArgument, () => library.Mode = (PipelineMode)9);
        library.Dispose();
        library.Dispose();
        Ensure.Throws<ObjectDisposedException>(() => library.Use(default(Fingerprint)));
        Ensure.Throws<ObjectDisposedException>(() => library.BeginFrame());
        var outside = 0;
        using (var folder = new Ensure.Folder())
        {
            desc = Desc(job =>
            {
                try { job.Shader(2); } catch (ArgumentOutOfRangeException) { ++outside; }
                try { job.Shader(-1); } catch (ArgumentOutOfRangeException) { ++outside; }
                try { var b = job.State[3]; } catch (IndexOutOfRangeException) { ++outside; }
                try { var b = job.State[-1]; } catch (IndexOutOfRangeException) { ++outside; }
                return (PipelineBuilt)88;
            });
            desc.Directory = folder.Path;
            var keys = Record(desc, 1);
            using (var again = new PipelineLibrary(desc))
                Ensure.Equal(PipelineState.Failed, again.Wait(keys[0]), "an unknown result counts as failed");
            Ensure.Equal(4, outside, "accesses outside of the job");
            desc.Recording = folder.File("run.rec.hobpipe");
            File.WriteAllText(desc.Recording, "x");
            Ensure.Throws<HobgoblinException>(() => new PipelineLibrary(desc));
        }
    }

    public static void A_frame_allocates_nothing()
    {
        using (var library = new PipelineLibrary(Desc(job => PipelineBuilt.Ready)))
        {
            var key = library.Add(Pipeline(1));
            var group = library.AddGroup(key);
            Ensure.AllocatesNothing("a frame", 100000, i =>
            {
                library.BeginFrame();
                if (library.Use(key) != PipelineState.Ready) throw new Exception("not ready");
                if (library.Decide(group) != PipelineDecision.Draw) throw new Exception("not drawn");
                library.GetState(key);
                if (library.Remaining != 0) throw new Exception("remaining");
            });
        }
    }

    public static void Threads_compile_and_use_at_once()
    {
        using (var folder = new Ensure.Folder())
        using (var executor = Executor.CreatePool(1))
        {
            var compiled = 0;
            var desc = Desc(job =>
            {
                Thread.SpinWait(20000);
                Interlocked.Increment(ref compiled);
                return PipelineBuilt.Ready;
            });
            desc.Directory = folder.Path;
            var keys = Record(desc, 200);
            desc.Executor = executor;
            desc.Workers = 4;
            using (var library = new PipelineLibrary(desc))
            {
                Ensure.OnThreads(4, thread =>
                {
                    for (var i = 0; library.Remaining > 0; ++i)
                    {
                        library.BeginFrame();
                        if (thread == 0) library.Use(keys[i % 200]);
                        else if (thread == 1) library.Wait(keys[(i * 7) % 200], 1000);
                        else library.Compile(2000);
                        if (i % 50 == 49) GC.Collect();
                    }
                });
                Ensure.Equal(200, compiled, "each was compiled once");
            }
        }
    }

    /// <summary>Hostile: compilers that dispose their library, on this thread and on the background, and threads that
    /// dispose it while others compile.</summary>
    public static void Compilers_that_dispose_the_library_are_safe()
    {
        using (var folder = new Ensure.Folder())
        {
            PipelineLibrary library = null;
            var calls = 0;
            var desc = Desc(job =>
            {
                Interlocked.Increment(ref calls);
                // A nested use of the library, and its end.
                try
                {
                    library.Use(job.Key);
                    library.BeginFrame();
                    library.Compile(0);
                    library.Wait(job.Key, 0);
                    library.Dispose();
                }
                catch (ObjectDisposedException)
                {
                    // Another compile has disposed it.
                }
                GC.Collect();
                return PipelineBuilt.Ready;
            });
            desc.Directory = folder.Path;
            desc.Mode = PipelineMode.Paused;
            var keys = Record(desc, 30);
            library = new PipelineLibrary(desc);
            Ensure.Equal(PipelineState.Ready, library.Wait(keys[0]), "the call ends");
            Ensure.Throws<ObjectDisposedException>(() => library.Use(keys[0]));
            for (var round = 0; round < 10; ++round)
            {
                using (var executor = Executor.CreatePool(1))
                {
                    desc.Executor = executor;
                    calls = 0;
                    library = new PipelineLibrary(desc);
                    library.Mode = PipelineMode.Fast;
                    Ensure.OnThreads(3, thread =>
                    {
                        try
                        {
                            for (var i = 0; i < 1000; ++i)
                            {
                                library.BeginFrame();
                                if (thread == 1) library.Compile(100);
                                else library.Use(keys[i % 30]);
                            }
                        }
                        catch (ObjectDisposedException)
                        {
                            // As it should be.
                        }
                    });
                    Ensure.Soon(() => library.IsClosed, "the library is disposed");
                    Ensure.That(calls > 0, "the compiler was called");
                }
            }
            // The directory is not in use any more.
            desc.Executor = null;
            using (library = new PipelineLibrary(desc)) Ensure.Equal("", library.GetProblem(), "no problem");
        }
    }

    public static void Forgotten_libraries_are_collected()
    {
        var weak = new WeakReference[50];
        var thread = new Thread(() =>
        {
            for (var i = 0; i < weak.Length; ++i)
            {
                var big = new byte[1000];
                var library = new PipelineLibrary(Desc(job => (PipelineBuilt)big[0]));
                library.Add(Pipeline(i));
                weak[i] = new WeakReference(big);
            }
        });
        thread.Start();
        thread.Join();
        var alive = 0;
        for (var i = 0; i < 20; ++i)
        {
            Ensure.Collect();
            alive = 0;
            foreach (var one in weak) alive += one.IsAlive ? 1 : 0;
            if (alive <= 2) break;
        }
        Ensure.That(alive <= 2, alive + " of 50 compilers are alive");
    }

    public static void A_file_system_of_the_host_keeps_the_cache()
    {
        var files = new MemoryFiles();
        var compiled = 0;
        var desc = Desc(job =>
        {
            ++compiled;
            return PipelineBuilt.Ready;
        });
        desc.Directory = "pipelines";
        desc.FileSystem = files;
        Record(desc, 5);
        using (var library = new PipelineLibrary(desc))
        {
            Ensure.Equal(5u, CompileAll(library), "pipelines of the last run");
        }
        Ensure.Equal(5, compiled, "compiles");
        Ensure.Equal(files.Opened, files.Closed, "each file is closed once");
    }
}
