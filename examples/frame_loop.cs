// frame_loop.cs: a frame loop whose quality settings are chosen by a goblin, in C#.
//
// It shows four settings on two lanes, GPU samples that arrive three frames late, callbacks of changed choices, work on
// a pool, and a profile for the next run. The scene gets heavier halfway. The renderer is simulated: replace CostOf() by
// your timers, and SetChoice by your renderer's switches.
//
// Build and run it in the repository:
//
//     cargo build --release
//     mcs -langversion:7.2 -unsafe -out:frame_loop.exe examples/frame_loop.cs -recurse:bindings/csharp/Native/*.cs bindings/csharp/*.cs
//     LD_LIBRARY_PATH=target/release mono frame_loop.exe [PROFILE]    (default: frame_loop.json; delete it to start anew)
using System;
using System.IO;
using System.Linq;
using System.Threading;
using Hobgoblin;

/// <summary>A setting of the renderer.</summary>
sealed class Quality
{
    public readonly string Name;
    public readonly Lane Lane;        // the resource that it costs
    public readonly double[] Values;  // worth of each option to the player, in a unit of your own
    public readonly double[] Costs;   // milliseconds: only the simulated renderer knows them
    public Setting Setting;
    public uint Applied;              // the option that the renderer uses
    public int Changes;

    public Quality(string name, Lane lane, double[] values, double[] costs)
    {
        Name = name;
        Lane = lane;
        Values = values;
        Costs = costs;
    }
}

/// <summary>A frame that the GPU has not finished yet.</summary>
sealed class FrameInFlight
{
    public ulong DecisionId;
    public readonly double[] Milliseconds = new double[4];
}

static class FrameLoop
{
    const int Frames = 1200, FramesLate = 3;
    const double GpuBudget = 16.6, GameBudget = 5.0;

    static readonly Quality[] Qualities =
    {
        new Quality("shadows", Lane.Gpu, new double[] { 0, 40, 60, 70 }, new[] { 0.2, 1.5, 2.8, 4.5 }),
        new Quality("reflections", Lane.Gpu, new double[] { 0, 15, 35, 45 }, new[] { 0.0, 0.9, 2.6, 5.0 }),
        new Quality("resolution", Lane.Gpu, new double[] { 0, 50, 80, 100 }, new[] { 3.5, 5.0, 6.5, 9.0 }),
        new Quality("crowd", Lane.GameThread, new double[] { 0, 10, 20, 30 }, new[] { 0.5, 1.5, 3.0, 6.0 }),
    };

    static uint random = 1;
    static int moved;
    // A delegate in a field: a lambda in the loop might allocate in each frame.
    static readonly Action<uint> MoveObjects = block => Interlocked.Add(ref moved, 256);

    /// <summary>The cost of a setting in this frame, with 3 % of noise: a stand-in for a GPU timer or a clock.</summary>
    static double CostOf(Quality quality, double load)
    {
        random = random * 1664525u + 1013904223u;
        return quality.Costs[quality.Applied] * load * (0.97 + 0.06 * (random >> 8) / 16777216.0);
    }

    static void AddSettings(Goblin goblin)
    {
        foreach (var quality in Qualities)
        {
            var callbacks = new SettingCallbacks
            {
                // Runs inside goblin.Update(), before the frame is drawn. In an engine: resize the shadow map, …
                SetChoice = (choice, decisionId) =>
                {
                    quality.Applied = choice;
                    quality.Changes += 1;
                },
            };
            quality.Setting = goblin.Add(quality.Name, callbacks, quality.Values.Select(value => new Option(value)).ToArray());
        }
    }

    /// <summary>Loads what an earlier run has learned. A damaged file is not used.</summary>
    static void LoadProfile(Goblin goblin, string path)
    {
        if (!File.Exists(path))
        {
            Console.WriteLine("no profile yet: the goblin learns from the start");
            return;
        }
        try
        {
            goblin.LoadProfile(File.ReadAllText(path));
            Console.WriteLine("loaded the profile " + path);
        }
        catch (HobgoblinException failure)
        {
            Console.WriteLine($"{path} is not used: {failure.Message}");
        }
    }

    /// <summary>Saves the profile: a crash leaves the old file or the new one.</summary>
    static void SaveProfile(Goblin goblin, string path)
    {
        using (var profile = new Profile())
        {
            profile.Load(goblin.SaveProfile());
            profile.SaveFile(path);
        }
    }

    static void RunFrames(Goblin goblin, Executor pool)
    {
        var frames = Enumerable.Range(0, FramesLate).Select(_ => new FrameInFlight()).ToArray();
        int late = 0, lateAtEnd = 0;
        for (var frame = 0; frame < Frames; ++frame)
        {
            var slot = frames[frame % FramesLate];
            if (frame >= FramesLate)  // the GPU has finished that frame: its timers have results now
            {
                for (var n = 0; n < Qualities.Length; ++n)
                {
                    // False means that the sample is too late, which must not end the game.
                    if (Qualities[n].Lane == Lane.Gpu)
                        goblin.TryMeasure(slot.DecisionId, Qualities[n].Setting, Lane.Gpu, slot.Milliseconds[n]);
                }
            }
            slot.DecisionId = goblin.Update().Id;  // calls SetChoice

            pool.ParallelFor(4, MoveObjects);      // the game's own work
            var load = frame < Frames / 2 ? 1.0 : 1.35;
            var gpu = 0.0;
            for (var n = 0; n < Qualities.Length; ++n)  // draws the frame
            {
                var milliseconds = CostOf(Qualities[n], load);
                slot.Milliseconds[n] = milliseconds;
                if (Qualities[n].Lane == Lane.Gpu) gpu += milliseconds;
                else goblin.TryMeasure(slot.DecisionId, Qualities[n].Setting, Qualities[n].Lane, milliseconds);
            }
            if (gpu <= GpuBudget) continue;
            ++late;
            if (frame >= Frames - 200) ++lateAtEnd;
        }
        Console.WriteLine($"{Frames} frames: {late} over the GPU budget, {lateAtEnd} of them in the last 200");
    }

    static int Main(string[] arguments)
    {
        var path = arguments.Length > 0 ? arguments[0] : "frame_loop.json";
        try
        {
            var desc = new GoblinDesc
            {
                [Lane.Gpu] = GpuBudget, [Lane.GameThread] = GameBudget, OverrunProbability = 0.01,
            };
            using (var goblin = new Goblin(desc))
            using (var pool = Executor.CreatePool(2))
            {
                AddSettings(goblin);
                LoadProfile(goblin, path);
                RunFrames(goblin, pool);
                foreach (var quality in Qualities)
                    Console.WriteLine(
                        $"{quality.Name}: option {quality.Setting.Choice} after {quality.Changes} changes, " +
                        goblin.GetReasonText(quality.Setting));
                var details = goblin.GetDecision();
                foreach (var lane in new[] { Lane.Gpu, Lane.GameThread })
                    Console.WriteLine(FormattableString.Invariant(
                        $"{lane}: {details[lane].Mean:F1} of {details[lane].Capacity:F1} ms expected"));
                SaveProfile(goblin, path);
            }
            return 0;
        }
        catch (HobgoblinException failure)
        {
            Console.Error.WriteLine($"{failure.Result}: {failure.Message}");
            return 1;
        }
    }
}
