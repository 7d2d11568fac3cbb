// Calls of a frame allocate no managed memory. MIT OR Apache-2.0.
using System;
using System.Threading;
using Hobgoblin;

static class FrameTest
{
    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(FrameTest), arguments);
    }

    const int Calls = 20000;

    public static void The_counter_of_allocated_bytes_works()
    {
        object last = null;
        Ensure.Throws<Exception>(() => Ensure.AllocatesNothing("an object", Calls, frame => last = new object()));
        Ensure.That(last != null, "objects were made");
    }

    public static void A_goblins_frame_allocates_nothing()
    {
        using (var goblin = new Goblin(new GoblinDesc { [Lane.Gpu] = 10 }))
        {
            var settings = new Setting[20];
            for (var n = 0; n < settings.Length; ++n) settings[n] = goblin.Add("setting" + n, 0, 1, 2);
            var choices = new uint[settings.Length];
            var sum = 0.0;
            Ensure.AllocatesNothing("a frame", Calls, frame =>
            {
                var decision = goblin.Update();
                foreach (var setting in settings)
                    goblin.TryMeasure(decision.Id, setting, Lane.Gpu, 0.1 + setting.Choice * 0.3);
                goblin.TryMeasureTotal(decision.Id, Lane.Gpu, 9);
                goblin.TryMeasure(decision.Id - 100, settings[0], Lane.Gpu, 1);
                goblin.TryCopyChoices(Goblin.LatestDecision, choices, out _, out _);
                goblin.TryGetChoiceOf(decision.Id, settings[0], out var choice);
                goblin.TryGetDecision(out var details);
                goblin.TryGetEstimate(settings[0], 0, Lane.Gpu, out var estimate);
                sum += details[Lane.Gpu].Mean + choice + estimate.Mean + goblin.GetReason(settings[1]).To;
                sum += goblin.GetStatistics().Samples;
                goblin.SetWork(settings[0], 1 + frame % 3);
                goblin.SetValue(settings[0], 1, frame % 5);
                goblin.SetReady(settings[0], 2, frame % 2 == 0);
                goblin.SetRange(settings[1], 0);
                goblin.SetSwitchScale(1);
            });
            Ensure.That(sum > 0, "the answers were used");
        }
    }

    public static void Callbacks_of_a_frame_allocate_nothing()
    {
        using (var goblin = new Goblin(new GoblinDesc { [Lane.Gpu] = 10 }))
        {
            var samples = 0;
            var choices = 0ul;
            goblin.Add("a", new SettingCallbacks
            {
                GetOptions = options =>
                {
                    options.Add(new Option(0));
                    options.Add(new Option(1 + samples % 3));
                },
                SetChoice = (choice, decision) => choices += choice,
                Measure = (ref Sample sample) =>
                {
                    sample.Burden = 1;
                    return ++samples % 2 == 0;
                },
            });
            Ensure.AllocatesNothing("a frame", Calls, frame => goblin.Update());
            Ensure.That(samples > 0 && choices > 0, "the callbacks ran");
        }
    }

    public static void Hooks_allocate_nothing()
    {
        var now = 0ul;
        var depth = 0;
        Hob.SetClockHook(() => now += 1000);
        Hob.SetZoneHook(name => ++depth, () => --depth);
        using (var goblin = new Goblin(new GoblinDesc { [Lane.Gpu] = 10 }))
            Ensure.AllocatesNothing("a frame with hooks", Calls, frame => goblin.Update());
        Hob.SetClockHook(null);
        Hob.SetZoneHook(null, null);
        Ensure.That(now > 0 && depth == 0, "the hooks ran");
    }

    public static void Loops_allocate_nothing()
    {
        var sum = 0;
        Action<uint> add = block => Interlocked.Increment(ref sum);
        Action<uint, uint> addOfWorker = (block, worker) => Interlocked.Increment(ref sum);
        using (var inline = new Executor())
        using (var pool = Executor.CreatePool(2))
        {
            Ensure.AllocatesNothing("an inline loop", Calls, frame => inline.ParallelFor(8, add));
            Ensure.AllocatesNothing("a loop", Calls, frame => pool.ParallelFor(8, add, Priority.High, "add"));
            Ensure.AllocatesNothing("a loop", Calls, frame => pool.ParallelFor(8, addOfWorker));
            Ensure.AllocatesNothing("a pump", Calls, frame => inline.Pump(100));
        }
    }

    public static void A_balance_and_a_knapsack_allocate_nothing()
    {
        using (var balance = new Balance())
        using (var knapsack = new Knapsack())
        {
            Ensure.AllocatesNothing("a choice", Calls, frame => balance.Measure(balance.Choose(), 1e6));
            var options = new[] { new KnapsackOption(1, 1), new KnapsackOption(2, 3) };
            var choices = new ushort[8];
            var desc = new KnapsackSolveDesc { Capacity = 12 };
            Ensure.AllocatesNothing("a solve", Calls, frame =>
            {
                knapsack.Clear();
                for (var n = 0; n < 8; ++n) knapsack.Add(options, 0, 2);
                knapsack.Solve(desc);
                knapsack.CopyChoices(choices);
            });
        }
    }
}
