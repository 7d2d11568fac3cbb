// Callbacks: garbage collections, exceptions, aborted threads, hooks. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Threading;
using Hobgoblin;

static class CallbackTest
{
    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(CallbackTest), arguments);
    }

    static Goblin Make()
    {
        return new Goblin(new GoblinDesc { [Lane.Gpu] = 10 });
    }

    static readonly Option[] Two = { new Option(0), new Option(1) };

    /// <summary>Callbacks that collect garbage. `samples` counts those that may be taken.</summary>
    static SettingCallbacks Collecting(int[] samples)
    {
        return new SettingCallbacks
        {
            GetId = () => { GC.Collect(0); return "id" + samples.Length; },
            GetOptions = options => { GC.Collect(0); options.AddRange(new[] { new Option(0), new Option(3), new Option(4) }); },
            GetDefaultChoice = () => { GC.Collect(0); return 1; },
            SetChoice = (choice, decision) => GC.Collect(),
            Measure = (ref Sample sample) =>
            {
                GC.Collect(0);
                sample.Burden = 1;
                return samples[0]-- > 0;
            },
            Released = () => GC.Collect(),
        };
    }

    public static void Collections_in_and_between_callbacks_do_no_harm()
    {
        var isOver = 0;
        var collector = new Thread(() =>
        {
            while (Volatile.Read(ref isOver) == 0)
            {
                GC.Collect();
                Thread.Sleep(1);
            }
        });
        collector.Start();
        Ensure.OnThreads(4, thread =>
        {
            for (var round = 0; round < 5; ++round)
            using (var goblin = Make())
            {
                var samples = new int[1];
                var setting = goblin.Add("", Collecting(samples));
                Ensure.Collect();
                for (var frame = 0; frame < 40; ++frame)
                {
                    samples[0] = 1;
                    goblin.Update();
                    GC.Collect(0);
                }
                Ensure.That(setting.Choice <= 2 && goblin.GetStatistics().Samples > 20, "the goblin works");
                goblin.Remove(setting);
            }
        });
        using (var pool = Executor.CreatePool(4))
        {
            for (var round = 0; round < 50; ++round)
            {
                var sum = 0;
                pool.ParallelFor(64, block =>
                {
                    if (block % 16 == 0) GC.Collect(0);
                    Interlocked.Add(ref sum, new byte[block + 1].Length);
                });
                Ensure.Equal(64 * 65 / 2, sum, "all blocks");
                pool.Post(() => GC.Collect());
            }
            pool.WaitIdle();
        }
        Volatile.Write(ref isOver, 1);
        collector.Join();
        Ensure.Equal(0, Hob.UserDataCount, "everything is released");
    }

    sealed class Expected : Exception
    {
        internal Expected(string message) : base(message)
        {
        }
    }

    /// <summary>A call throws the exception of its callback, with the place where it was thrown.</summary>
    static void ThrowsExpected(string message, Action call)
    {
        var thrown = Ensure.Throws<Expected>(call);
        Ensure.Equal(message, thrown.Message, "the exception of the callback");
        Ensure.That(thrown.StackTrace.Contains(nameof(Throw)), "the stack trace has the callback: " + thrown.StackTrace);
    }

    static void Throw(string message)
    {
        throw new Expected(message);
    }

    public static void The_call_around_a_callback_throws_its_exception()
    {
        using (var goblin = Make())
        {
            var released = 0;
            Action count = () => ++released;
            ThrowsExpected("options", () => goblin.Add("a",
                new SettingCallbacks { GetOptions = options => Throw("options"), Released = count }));
            ThrowsExpected("default", () => goblin.Add("a",
                new SettingCallbacks { GetDefaultChoice = () => { Throw("default"); return 0; }, Released = count }, Two));
            ThrowsExpected("id", () => goblin.Add("",
                new SettingCallbacks { GetId = () => { Throw("id"); return ""; }, Released = count }, Two));
            Ensure.Equal(0u, goblin.GetStatistics().SettingCount, "no setting was added");
            Ensure.Equal(0, Hob.UserDataCount, "their callbacks are released");

            var isThrowing = false;
            var setting = goblin.Add("a", new SettingCallbacks
            {
                GetOptions = options =>
                {
                    options.AddRange(Two);
                    if (isThrowing) Throw("later options");
                },
            });
            goblin.Update();
            isThrowing = true;
            ThrowsExpected("later options", () => goblin.Update());
            isThrowing = false;
            goblin.Update();
            Ensure.Equal(3ul, goblin.GetDecision().Id, "the frame was decided all the same");
            goblin.Remove(setting);

            setting = goblin.Add("b", new SettingCallbacks { SetChoice = (choice, id) => Throw("choice") }, Two);
            ThrowsExpected("choice", () => goblin.Update());
            goblin.Remove(setting);
            setting = goblin.Add("c", new SettingCallbacks { Measure = (ref Sample sample) => { Throw("measure"); return true; } }, Two);
            ThrowsExpected("measure", () => goblin.Update());
            ThrowsExpected("measure", goblin.CollectSamples);
            goblin.Remove(setting);
        }
        using (var goblin = Make())
        {
            ThrowsExpected("write", () => goblin.StartRecording(piece => Throw("write")));
            ThrowsExpected("write", () => goblin.Update());
        }
        using (var balance = new Balance())
            ThrowsExpected("write", () => balance.StartRecording(piece => Throw("write")));
        Ensure.Equal(0, Hob.UserDataCount, "everything is released");
    }

    public static void Each_call_throws_only_the_exceptions_of_its_own_callbacks()
    {
        using (var outer = Make())
        using (var inner = Make())
        {
            var caught = 0;
            inner.Add("inner", new SettingCallbacks { SetChoice = (choice, id) => Throw("inner") }, Two);
            outer.Add("a", new SettingCallbacks { SetChoice = (choice, id) => Throw("a") }, Two);
            outer.Add("b", new SettingCallbacks
            {
                SetChoice = (choice, id) =>
                {
                    // The exception of "a" belongs to the outer call, not to this query.
                    outer.GetStatistics();
                    ThrowsExpected("inner", () => inner.Update());
                    ++caught;
                },
            }, Two);
            ThrowsExpected("a", () => outer.Update());
            Ensure.Equal(1, caught, "the inner call threw inside the callback");
            outer.GetStatistics();
            inner.GetStatistics();
        }
    }

    public static void An_exception_during_Dispose_is_reported()
    {
        var reports = new List<string>();
        Action<Exception> report = exception => reports.Add(exception.Message);
        Hob.UnhandledCallbackException += report;
        var goblin = Make();
        goblin.Add("a", new SettingCallbacks { Released = () => Throw("released") }, Two);
        var isThrowing = false;
        using (var other = Make())
        {
            other.StartRecording(piece => { if (isThrowing) Throw("write"); });
            other.Update();
            isThrowing = true;
        }
        goblin.Dispose();
        Hob.UnhandledCallbackException -= report;
        Ensure.Equal("write, released", string.Join(", ", reports), "both are reported");
    }

    public static void An_aborted_thread_returns_through_the_library()
    {
        using (var goblin = Make())
        {
            var isInside = new ManualResetEvent(false);
            goblin.Add("a", new SettingCallbacks
            {
                SetChoice = (choice, id) =>
                {
                    isInside.Set();
                    Thread.Sleep(300);
                },
            }, Two);
            var isAborted = false;
            var thread = new Thread(() =>
            {
                try
                {
                    goblin.Update();
                }
                catch (ThreadAbortException)
                {
                    isAborted = true;
                }
            });
            thread.Start();
            isInside.WaitOne();
            try
            {
                thread.Abort();
            }
            catch (PlatformNotSupportedException)
            {
                thread.Join();
                return;
            }
            Ensure.That(thread.Join(8000), "the thread ends");
            Ensure.That(isAborted, "the abort goes on in managed code");
            goblin.SetSwitchScale(1); // it would be busy for ever if the call had not returned
        }
    }

    sealed class EvilException : Exception
    {
        public override string Message
        {
            get { throw new InvalidOperationException("no message"); }
        }
    }

    public static void An_exception_without_a_message_does_not_leave_its_callback()
    {
        using (var graph = new Graph())
        using (var perception = new Perception())
        {
            var isEvil = true;
            graph.AddNode(new NodeDesc
            {
                IsSink = true,
                NodeClass = NodeClass.Volatile,
                Evaluate = call =>
                {
                    if (isEvil) throw new EvilException();
                    return Verdict.Done;
                },
            });
            var cognition = perception.AddCognition(new CognitionDesc
            {
                Perceive = call =>
                {
                    if (isEvil) throw new EvilException();
                    return Result.Ok;
                },
            });
            var pipeline = perception.AddPipeline(new PerceptionPipelineDesc("a", new PerceptionStep(cognition)));
            Ensure.Throws<EvilException>(() => graph.Evaluate());
            Ensure.Throws<EvilException>(() =>
            {
                perception.BeginFrame(new byte[400], 10, 10);
                perception.Query(pipeline);
            });
            isEvil = false;
            graph.Evaluate();
            perception.BeginFrame(new byte[400], 10, 10);
            perception.Query(pipeline);
        }
        Ensure.Equal(0, Hob.UserDataCount, "everything is released");
    }

    sealed class ThrowingJobs : IJobSystem
    {
        public object Enqueue(Job job)
        {
            throw new InvalidOperationException("enqueue");
        }

        public void Finish(object ticket)
        {
        }
    }

    public static void Two_exceptions_of_one_call_do_not_reach_another_call()
    {
        var reports = new List<string>();
        Action<Exception> report = exception => reports.Add(exception.Message);
        Hob.UnhandledCallbackException += report;
        using (var executor = new Executor(new ExecutorDesc { JobSystem = new ThrowingJobs(), MaxConcurrency = 2 }))
        using (var profile = new Profile())
        {
            ThrowsExpected("block", () => executor.ParallelFor(10, block => Throw("block")));
            profile.Clear();
        }
        Hob.UnhandledCallbackException -= report;
        Ensure.Equal("enqueue", string.Join(", ", reports), "the other one is reported");
    }

    public static void Hooks_are_called_and_can_be_removed()
    {
        var lines = new List<string>();
        Hob.SetLogHook((level, line) => { lock (lines) lines.Add(level + ": " + line); }, LogLevel.Debug);
        using (var goblin = new Goblin(new GoblinDesc())) goblin.Update();
        Ensure.That(lines.Any(line => line.StartsWith("Warning: ")), "a goblin without a limit logs a warning");

        var now = 0ul;
        var zones = new List<string>();
        var depth = 0;
        Hob.SetClockHook(() => now += 1000);
        Hob.SetZoneHook(name => { zones.Add(name); ++depth; }, () => --depth);
        using (var goblin = Make())
        {
            goblin.Update();
            Ensure.That(goblin.GetDecision().ElapsedNanoseconds >= 1000, "the decision is timed");
        }
        Ensure.That(zones.Count > 0 && depth == 0, "zones begin and end");

        // An exception of a hook is reported: by default in the log.
        lines.Clear();
        Hob.SetClockHook(() => { Throw("clock"); return 0; });
        using (var goblin = Make()) goblin.Update();
        Ensure.That(lines.Any(line => line.Contains("clock")), "the log has it");

        Hob.SetLogHook(null);
        Hob.SetClockHook(null);
        Hob.SetZoneHook(null, null);
        lines.Clear();
        zones.Clear();
        using (var goblin = new Goblin(new GoblinDesc())) goblin.Update();
        Ensure.That(lines.Count == 0 && zones.Count == 0, "the hooks are removed");
        Ensure.Fails(Result.InvalidArgument, () => Hob.SetAllocatorHook((IntPtr)1, IntPtr.Zero, IntPtr.Zero));
    }
}
