// Reloads of an application domain, as the Unity editor makes them: each leaves live handles, callbacks and threads of
// the library behind, and no reload may crash or leak. MIT OR Apache-2.0.
using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Threading;
using Hobgoblin;

static class ReloadTest
{
    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(ReloadTest), arguments);
    }

    static int Reloads => int.Parse(Environment.GetEnvironmentVariable("HOB_RELOADS") ?? "500");

    static long Status(string name)
    {
        var line = File.ReadAllLines("/proc/self/status").First(text => text.StartsWith(name + ":"));
        return long.Parse(new string(line.Where(char.IsDigit).ToArray()));
    }

    /// <summary>A game that is reloaded. It disposes nothing.</summary>
    public sealed class Game : MarshalByRefObject
    {
        static readonly System.Collections.Generic.List<object> Alive = new System.Collections.Generic.List<object>();
        static int blocks;
        internal static uint LastChoice;

        static Goblin AddGoblin()
        {
            var goblin = new Goblin(new GoblinDesc { [Lane.Gpu] = 10 });
            Alive.Add(goblin);
            for (var n = 0; n < 4; ++n)
            {
                goblin.Add("setting" + n, new SettingCallbacks
                {
                    GetOptions = options => options.AddRange(new[] { new Option(0), new Option(3), new Option(4) }),
                    SetChoice = (choice, decision) => LastChoice = choice + goblin.GetStatistics().SettingCount,
                    Measure = (ref Sample sample) => false,
                    Released = () => LastChoice = 0,
                });
            }
            return goblin;
        }

        public string End()
        {
            var isComplete = Hob.Shutdown();
            // A thread may still return from a call that was refused.
            foreach (var thread in Alive.OfType<Thread>()) thread.Join();
            return $"{isComplete}, {Hob.HandleCount} handles, {Hob.UserDataCount} objects";
        }

        /// <summary>A cache whose background tasks write files of the host, and a program in use.</summary>
        static void AddCache(Executor pool)
        {
            var files = new MemoryFiles();
            var cache = new ProgramCache(new ProgramCacheDesc { Directory = "d", FileSystem = files, Executor = pool });
            cache.SetProblemCallback(sentence => { });
            for (var n = 0; n < 20; ++n)
            {
                var program = new CompiledProgram { Format = 1, Data = new byte[5000], BuildUs = 500 };
                cache.Put(Fingerprint.OfText("program " + n), program);
            }
            Alive.Add(cache);
        }

        /// <summary>A graph with nodes that own objects, evaluated on the pool.</summary>
        static void AddGraph(Executor pool)
        {
            var graph = new Graph();
            var speed = graph.AddInput("speed", 1);
            for (var n = 0; n < 8; ++n)
            {
                var node = graph.AddNode(new NodeDesc
                {
                    NodeClass = NodeClass.Pure, InputCount = 1, IsSink = true,
                    Evaluate = call =>
                    {
                        call.Output(0).Number = call.Input(0).Number + 1;
                        return Verdict.Done;
                    },
                });
                graph.Connect(speed, 0, node, 0);
            }
            graph.SetInput(speed, 0, 3);
            graph.Evaluate(pool);
            Alive.Add(graph);
        }

        /// <summary>Starts everything and leaves it running.</summary>
        public void Start(bool withThreads)
        {
            Hob.SetLogHook((level, line) => { });
            Hob.UnhandledCallbackException += exception => { };
            Alive.Add(new Profile());
            Alive.Add(new Knapsack());
            var balance = new Balance();
            balance.StartRecording(piece => { });
            balance.Choose();
            Alive.Add(balance);
            for (var n = 0; n < 3; ++n) AddGoblin().Update();
            var pool = Executor.CreatePool(2);
            Alive.Add(pool);
            pool.ParallelFor(64, block => Interlocked.Increment(ref blocks));
            // Tasks that run and wait while the domain is unloaded; each posts the next one.
            Action task = null;
            task = () =>
            {
                Thread.Sleep(1);
                try
                {
                    pool.Post(task);
                }
                catch (ObjectDisposedException)
                {
                }
            };
            for (var n = 0; n < 4; ++n) pool.Post(task);
            AddCache(pool);
            AddGraph(pool);
            if (!withThreads) return;
            // Threads of the game that use the library until its objects are disposed. Mono 6.8 sometimes crashes when it
            // aborts a thread during an unload, also without the library, so the game waits for them as a real one should.
            var goblin = AddGoblin();
            for (var n = 0; n < 2; ++n)
            {
                var isRenderer = n == 0;
                var thread = new Thread(() =>
                {
                    try
                    {
                        for (;;)
                        {
                            if (isRenderer) goblin.GetChoices();
                            else goblin.Update();
                            pool.ParallelFor(16, block => Interlocked.Increment(ref blocks));
                        }
                    }
                    catch (ObjectDisposedException)
                    {
                    }
                }) { IsBackground = true };
                thread.Start();
                Alive.Add(thread);
                AppDomain.CurrentDomain.DomainUnload += (sender, unload) => thread.Join();
            }
        }
    }

    public static void Shutdown_leaves_nothing_behind()
    {
        var domain = AppDomain.CreateDomain("game");
        var game = (Game)domain.CreateInstanceAndUnwrap(typeof(Game).Assembly.FullName, typeof(Game).FullName);
        for (var n = 0; n < 10; ++n)
        {
            game.Start(n % 2 == 1);
            Ensure.Equal("True, 0 handles, 0 objects", game.End(), "shutdown, and what is alive after it");
        }
        AppDomain.Unload(domain);
    }

    static void Reload(bool withThreads)
    {
        var domain = AppDomain.CreateDomain("game");
        var game = (Game)domain.CreateInstanceAndUnwrap(typeof(Game).Assembly.FullName, typeof(Game).FullName);
        game.Start(withThreads);
        AppDomain.Unload(domain);
    }

    public static void Reloads_with_everything_alive_neither_crash_nor_leak()
    {
        var reloads = Reloads;
        // This domain uses the library, too, and must not notice.
        using (var goblin = new Goblin(new GoblinDesc { [Lane.Gpu] = 10 }))
        using (var pool = Executor.CreatePool(1))
        {
            var choices = 0;
            goblin.Add("a", new SettingCallbacks { SetChoice = (choice, id) => ++choices }, new[] { new Option(0), new Option(1) });
            for (var n = 0; n < reloads / 5; ++n) Reload(n % 2 == 1);
            Ensure.Collect();
            var (memory, threads) = (Status("VmRSS"), Status("Threads"));
            var watch = Stopwatch.StartNew();
            for (var n = 0; n < reloads; ++n)
            {
                Reload(n % 2 == 1);
                goblin.Update();
                pool.ParallelFor(8, block => { });
            }
            Ensure.Collect();
            var (grown, more) = (Status("VmRSS") - memory, Status("Threads") - threads);
            Console.WriteLine(
                $"     {reloads} reloads, {watch.ElapsedMilliseconds / Math.Max(1, reloads)} ms each: " +
                $"{grown} KiB more of {memory} KiB, {more} threads more of {threads}");
            Ensure.That(more <= 1, $"{more} threads more");
            Ensure.That(grown < 20 * reloads + 4096, $"{grown} KiB more after {reloads} reloads");
            Ensure.That(goblin.GetStatistics().Decisions == (ulong)reloads && choices > 0, "this domain goes on");
        }
    }

    /// <summary>A domain without the library.</summary>
    public sealed class Empty : MarshalByRefObject
    {
        public void Start()
        {
        }
    }

    public static void Reloads_without_the_library_for_comparison()
    {
        var memory = 0L;
        var reloads = Reloads / 5;
        for (var n = 0; n < 2 * reloads; ++n)
        {
            if (n == reloads) memory = Status("VmRSS");
            var domain = AppDomain.CreateDomain("empty");
            ((Empty)domain.CreateInstanceAndUnwrap(typeof(Empty).Assembly.FullName, typeof(Empty).FullName)).Start();
            AppDomain.Unload(domain);
        }
        Ensure.Collect();
        Console.WriteLine($"     {reloads} reloads without the library: {Status("VmRSS") - memory} KiB more of {memory} KiB");
    }
}
