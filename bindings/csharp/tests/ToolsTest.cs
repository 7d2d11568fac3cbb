// Knapsacks, balances and profiles. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Hobgoblin;

static class ToolsTest
{
    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(ToolsTest), arguments);
    }

    public static void A_knapsack_finds_the_most_valuable_choices_that_fit()
    {
        using (var knapsack = new Knapsack())
        {
            Ensure.Equal(0u, knapsack.Add(new KnapsackOption(0.2, 1.0), new KnapsackOption(0.8, 2.5, 0.1)), "the index");
            Ensure.Equal(1u, knapsack.Add(new KnapsackOption(0.1, 0.5), new KnapsackOption(0.6, 1.5, 0.2)), "the index");
            Ensure.Equal(2u, knapsack.Add(), "a setting without options");
            Ensure.Equal(0, knapsack.GetChoices().Length, "nothing is solved yet");
            Ensure.Equal(0, knapsack.CopyChoices(new ushort[0]), "nothing is solved yet");
            var desc = new KnapsackSolveDesc { Capacity = 4.0 };
            Ensure.Equal(0.0, desc.Sigmas, "the default");
            Ensure.Equal(double.PositiveInfinity, new KnapsackSolveDesc().Capacity, "the default");
            var solution = knapsack.Solve(desc);
            Ensure.That(solution.IsFeasible && solution.IsProven && solution.Gap == 0, "the optimum");
            Ensure.Equal(1.4, Math.Round(solution.Value, 9), "the value");
            Ensure.Equal(4.0, solution.Burden, "equality fits");
            Ensure.That(knapsack.GetChoices().SequenceEqual(new ushort[] { 1, 1, Knapsack.ChoiceNone }), "the choices");
            desc.Sigmas = 2;
            Ensure.Equal(0.9, Math.Round(knapsack.Solve(desc).Value, 9), "deviations count");
            desc.Capacity = 1;
            solution = knapsack.Solve(desc);
            Ensure.That(!solution.IsFeasible && solution.Excess == 0.5, "nothing fits");
            Ensure.Fails(Result.BufferTooSmall, () => knapsack.CopyChoices(new ushort[1]));
            Ensure.Fails(Result.BufferTooSmall, () => knapsack.CopyChoices(new ushort[0]));
            var options = new[] { new KnapsackOption(9, 9), new KnapsackOption(5, 1), new KnapsackOption(6, 1) };
            knapsack.Clear();
            knapsack.Reserve(10, 100);
            knapsack.Add(options, 1, 2);
            Ensure.Equal(6.0, knapsack.Solve(desc).Value, "a part of the array");
            Ensure.Throws<ArgumentOutOfRangeException>(() => knapsack.Add(options, 2, 2));
            Ensure.That(knapsack.SettingCount == 1 && knapsack.MemoryUsed > 0, "it holds one setting");
            Ensure.Fails(Result.InvalidArgument, () => knapsack.Add(new KnapsackOption(double.NaN, 1)));
            Ensure.That(knapsack.LastError.Length > 0, "it keeps the sentence");
        }
        Ensure.Fails(Result.LimitExceeded, () =>
        {
            using (var small = new Knapsack(new KnapsackDesc { MemoryLimit = 100 })) small.Reserve(1000, 1000);
        });
    }

    public static void A_knapsack_can_have_several_resources()
    {
        using (var knapsack = new Knapsack(new KnapsackDesc { ResourceCount = 2 }))
        {
            Ensure.That(!knapsack.TryGetResourceUsage(0, out _), "nothing is solved yet");
            Ensure.Fails(Result.NotFound, () => knapsack.GetResourceUsage(0));
            var weights = new[]
            {
                new KnapsackWeight(1), new KnapsackWeight(64), new KnapsackWeight(2.5, 0.1), new KnapsackWeight(256),
            };
            knapsack.AddResources(new[] { 0.2, 0.8 }, weights);
            Ensure.Throws<ArgumentException>(() => knapsack.AddResources(new[] { 0.2 }, weights));
            var resources = new[] { new KnapsackResource(16.6, 2), new KnapsackResource(200) };
            Ensure.Equal(0.2, knapsack.SolveResources(resources).Value, "the memory limits it");
            resources[1].Capacity = 256;
            Ensure.Equal(0.8, knapsack.SolveResources(resources, new KnapsackSolveDesc()).Value, "now it fits");
            Ensure.Equal(256.0, knapsack.GetResourceUsage(1).Burden, "the usage");
            Ensure.Fails(Result.Unsupported, () => knapsack.Add(new KnapsackOption(1, 1)));
        }
    }

    public static void A_balance_finds_the_fastest_strategy()
    {
        var pieces = new List<byte[]>();
        using (var balance = new Balance(new BalanceDesc { StrategyCount = 3, Seed = 5 }))
        {
            balance.StartRecording(pieces.Add);
            for (var n = 0; n < 500; ++n)
            {
                var strategy = balance.Choose();
                balance.Measure(strategy, strategy == 1 ? 1e6 : 3e6);
            }
            Ensure.Equal(3u, balance.StrategyCount, "strategies");
            var fastest = balance.GetStatistics(1);
            Ensure.That(fastest.IsFastest && fastest.Share > 0.9 && fastest.Measured > 400, "the fastest is used");
            Ensure.Equal(1e6, Math.Round(fastest.MeanNanoseconds), "its mean");
            Ensure.Fails(Result.NotFound, () => balance.GetStatistics(3));
            Ensure.Fails(Result.NotFound, () => balance.Measure(3, 1));
            Ensure.That(balance.LastError.Length > 0, "it keeps the sentence");
            balance.StopRecording();
            balance.Restart();
        }
        var recording = pieces.SelectMany(piece => piece).ToArray();
        var report = Balance.Replay(recording);
        Ensure.That(report.End == BalanceReplayEnd.Complete && report.Different == 0, "the same choices");
        Ensure.Equal(500ul, report.Choices, "all of them");
        report = Balance.Replay(recording, out var replayed, 100);
        using (replayed)
        {
            Ensure.That(report.End == BalanceReplayEnd.Stopped && report.Calls == 100, "the first 100 calls");
            Ensure.That(replayed.GetStatistics(1).Measured > 20, "the balance of that moment");
        }
        Ensure.Equal(Hob.LibraryVersion, report.LibraryVersion, "the recorder");
        Ensure.Fails(Result.Malformed, () => Balance.Replay(new byte[10], out _));
        Ensure.Fails(Result.InvalidArgument,
            () => new Balance(new BalanceDesc { StrategyCount = 3, Policy = BalancePolicy.Table }));
        Ensure.Equal(0, Hob.HandleCount, "everything is disposed");
    }

    public static void Null_and_text_without_UTF_8_are_refused()
    {
        using (var profile = new Profile())
        {
            var calls = new Dictionary<string, Action<string>>
            {
                { "id", id => profile.SetTask(id, new ProfileOption(1, 1, 0)) },
                { "id ", id => profile.RemoveTask(id) },
                { "id  ", id => profile.TryGetEstimate(id, 0, out _) },
                { "path", path => profile.SaveFile(path) },
                { "path ", path => profile.LoadFile(path) },
                { "json", json => profile.Load(json) },
            };
            foreach (var call in calls)
            {
                Ensure.Equal(call.Key.Trim(), Ensure.Throws<ArgumentNullException>(() => call.Value(null)).ParamName, "null");
                foreach (var text in new[] { "ab\ud83d", "ab\udc7b", "ab\udc7b\ud83d", "ab\ud83dc" })
                {
                    var refused = Ensure.Throws<ArgumentException>(() => call.Value(text));
                    Ensure.That(refused.Message.Contains("lone surrogate at index 2"), refused.Message);
                    Ensure.Equal(call.Key.Trim(), refused.ParamName, "the parameter");
                }
            }
            Ensure.Equal(0u, profile.TaskCount, "nothing was added");
            profile.SetTask("\ud83d\udc7b", new ProfileOption(1, 1, 0));
            Ensure.Equal("\ud83d\udc7b", profile.GetTask(0, out _), "a pair is valid");
        }
        Ensure.Throws<ArgumentException>(() => Fingerprint.OfText("\ud800"));
        Ensure.Throws<ArgumentException>(() => new ProgramKey().AddStage(ShaderStage.Vertex, "\udfff"));
    }

    public static void A_profile_is_saved_and_loaded()
    {
        using (var folder = new Ensure.Folder())
        using (var profile = new Profile())
        using (var other = new Profile())
        {
            profile.SetTask("ombres ☂", new ProfileOption(10, 1.5, 0.25), new ProfileOption(0, 0, 0));
            profile.SetTask("water", new ProfileOption(10, 2, 0));
            Ensure.Equal(2u, profile.TaskCount, "two tasks");
            Ensure.Equal("ombres ☂", profile.GetTask(0, out var count), "in order of id");
            Ensure.Equal(2u, count, "two options");
            var json = profile.Save();
            other.Load(json);
            Ensure.Equal(json, other.Save(), "the text is restored");
            profile.SaveFile(folder.File("coûts.json"));
            Ensure.Equal(json, File.ReadAllText(folder.File("coûts.json")), "the file");
            other.Clear();
            Ensure.Equal(0u, other.TaskCount, "no tasks");
            other.LoadFile(folder.File("coûts.json"));
            other.Scale(2);
            var estimate = other.GetEstimate("ombres ☂", 0);
            Ensure.That(estimate.Mean == 3 && estimate.Deviation == 0.5 && estimate.Count == 10, estimate.ToString());
            Ensure.Equal(EstimateSource.Past, estimate.Source, "it is of the past");
            Ensure.Equal(EstimateSource.Blind, other.GetEstimate("ombres ☂", 1).Source, "it is unknown");
            Ensure.That(!other.TryGetEstimate("fire", 0, out _), "an unknown task");
            Ensure.Fails(Result.NotFound, () => other.GetEstimate("water", 1));
            Ensure.That(other.RemoveTask("water") && !other.RemoveTask("water"), "removed once");
            profile.Merge(other);
            Ensure.Equal(20ul, profile.GetEstimate("ombres ☂", 0).Count, "the samples are pooled");
            Ensure.Fails(Result.InvalidArgument, () => profile.Merge(null));
            var json2 = profile.Save();
            var self = Ensure.Throws<ArgumentException>(() => profile.Merge(profile));
            Ensure.That(self.ParamName == "other" && self.Message.Contains("with itself"), self.Message);
            Ensure.Equal(json2, profile.Save(), "nothing changed");
            Ensure.That(Ensure.Fails(Result.Malformed, () => profile.Load("{\"a\":")).Contains("line 1"), "where it is");
            Ensure.Fails(Result.Io, () => profile.LoadFile(folder.File("missing.json")));
            Ensure.Fails(Result.InvalidArgument, () => profile.Scale(0));
            Ensure.That(profile.LastError.Length > 0 && profile.MemoryUsed > 0, "it keeps the sentence");
        }
        Ensure.Fails(Result.LimitExceeded, () =>
        {
            using (var small = new Profile(64)) small.SetTask("a", new ProfileOption[1000]);
        });
    }
}
