// Goblins: settings, choices, callbacks, products, strategies, profiles and recordings. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.Linq;
using Hobgoblin;

static class GoblinTest
{
    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(GoblinTest), arguments);
    }

    static Goblin Make(double gpuMilliseconds = 10)
    {
        return new Goblin(new GoblinDesc { [Lane.Gpu] = gpuMilliseconds });
    }

    /// <summary>Runs frames in which each setting costs its choice, times a factor.</summary>
    static Decision Run(Goblin goblin, int frames, double milliseconds, params Setting[] settings)
    {
        var decision = new Decision();
        for (var frame = 0; frame < frames; ++frame)
        {
            decision = goblin.Update();
            foreach (var setting in settings)
                goblin.Measure(decision.Id, setting, Lane.Gpu, setting.Choice * milliseconds);
        }
        return decision;
    }

    public static void A_setting_of_another_goblin_is_refused()
    {
        using (var goblin = Make())
        using (var other = Make())
        {
            var mine = goblin.Add("shadows", 0, 4);
            var foreign = other.Add("water", 0, 4);
            Ensure.Throws<ArgumentException>(() => goblin.Pin(foreign, 1));
            Ensure.Throws<ArgumentException>(() => goblin.Measure(Goblin.LatestDecision, foreign, Lane.Gpu, 1));
            Ensure.Throws<ArgumentException>(() => goblin.GetChoice(foreign));
            goblin.Pin(mine, 1);
        }
    }

    public static void Settings_get_the_choices_that_fit()
    {
        using (var goblin = Make())
        {
            var shadows = goblin.Add("shadows", 0, 4, 6, 7);
            var water = goblin.AddBinary("water", 5);
            var decision = Run(goblin, 1500, 4, shadows, water);
            Ensure.That(decision.IsFeasible && decision.Id == 1500, "the choices fit");
            Ensure.That(shadows.Choice * 4 + water.Choice * 4 <= 10, "the budget is kept");
            Ensure.Equal(1u, shadows.Choice, "4 of 6 ms for shadows, which is the best with water");
            Ensure.Equal(1u, water.Choice, "water is on");
            Ensure.Equal(9.0, decision.Value, "the value");

            var details = goblin.GetDecision();
            Ensure.Equal(decision.Id, details.Id, "the details are of that decision");
            Ensure.Equal(10.0, details[Lane.Gpu].Capacity, "the capacity");
            Ensure.That(details[Lane.Gpu].Mean > 7.5 && details[Lane.Gpu].Mean < 8.5, "the mean is 8 ms");
            Ensure.That(details[Lane.Gpu].Burden <= 10 && details[Lane.Gpu].Excess == 0, "nothing exceeds");
            Ensure.Equal(0.0, details[Lane.Frame].Capacity, "another lane has no limit");
            Ensure.Equal(2u, details.SettingCount, "both settings took part");
            Ensure.Equal(12.0, details.HighestValue, "the highest value");
            var statistics = goblin.GetStatistics();
            Ensure.Equal(1500ul, statistics.Decisions, "decisions");
            Ensure.Equal(3000ul, statistics.Samples, "samples");
            Ensure.That(statistics.MemoryUsed > 1000 && goblin.MemoryUsed > 1000, "memory is used");
            Ensure.That(statistics.GetResidual(Lane.Gpu) == 0 && statistics.PastRatio == 1, "no totals, no past");
            var estimate = goblin.GetEstimate(shadows, 1, Lane.Gpu);
            Ensure.That(Math.Abs(estimate.Mean - 4) < 0.1 && estimate.Count > 100, "4 ms were learned: " + estimate);
            Ensure.That(!goblin.TryGetEstimate(shadows, 1, Lane.Frame, out _), "no estimate on a lane without a limit");
            Ensure.That(goblin.GetReasonText(shadows).Length > 10, "there is a reason");
            Ensure.Equal(1u, goblin.GetReason(shadows).To, "the reason is of the present option");
        }
    }

    public static void Choices_of_a_decision_can_be_read_later()
    {
        using (var goblin = Make())
        {
            var settings = new[] { goblin.Add("a", 0, 1), goblin.Add("b", 0, 1), goblin.Add("c", 0, 1) };
            Ensure.That(!goblin.TryGetDecision(out _), "there is no decision yet");
            Run(goblin, 100, 1, settings);
            goblin.SetEnabled(settings[1], false);
            goblin.Update();
            var choices = goblin.GetChoices();
            Ensure.Equal(3, choices.Length, "one entry per setting");
            Ensure.Equal(settings[0].Choice, choices[settings[0].Index], "the choice is at the setting's index");
            Ensure.Equal(Goblin.ChoiceNone, choices[settings[1].Index], "a disabled setting has none");
            Ensure.That(!goblin.TryCopyChoices(Goblin.LatestDecision, new uint[2], out var count, out _), "too small");
            Ensure.Equal(3, count, "the size is told");
            Ensure.That(goblin.TryCopyChoices(100, choices, out _, out var id) && id == 100, "an earlier decision");
            Ensure.That(!goblin.TryCopyChoices(1, choices, out _, out _), "decision 1 is not remembered");
            Ensure.Equal(choices[0], goblin.GetChoiceOf(100, settings[0]), "the choice of one setting");
            Ensure.That(!goblin.TryGetChoiceOf(1, settings[0], out _), "decision 1 is not remembered");
            Ensure.Fails(Result.NotFound, () => goblin.GetChoiceOf(1, settings[0]));
        }
    }

    public static void Late_samples_are_refused_without_an_exception()
    {
        using (var goblin = Make())
        {
            var setting = goblin.Add("a", 0, 1);
            Run(goblin, 200, 1, setting);
            Ensure.That(!goblin.TryMeasure(1, setting, Lane.Gpu, 1), "too late");
            Ensure.That(!goblin.TryMeasureTotal(1, Lane.Gpu, 1), "too late");
            Ensure.That(!goblin.TryReportApplied(1, setting, 1), "too late");
            Ensure.That(goblin.TryMeasureTotal(200, Lane.Gpu, 5, SampleQuality.Hitch), "in time");
            Ensure.That(goblin.TryReportApplied(200, setting, 1), "in time");
            goblin.MeasureTotal(200, Lane.Gpu, 5);
            goblin.ReportApplied(200, setting, 0);
            Ensure.Fails(Result.NotFound, () => goblin.Measure(1, setting, Lane.Gpu, 1));
            Ensure.Fails(Result.NotFound, () => goblin.MeasureTotal(1, Lane.Gpu, 1));
            Ensure.Fails(Result.NotFound, () => goblin.ReportApplied(1, setting, 1));
            Ensure.Fails(Result.InvalidArgument, () => goblin.Measure(200, setting, Lane.Gpu, double.NaN));
            Ensure.That(goblin.LastError.Length > 0, "the goblin keeps the sentence");
            Ensure.Equal(1ul, goblin.GetStatistics().Flagged, "the hitch is counted");
        }
    }

    public static void Settings_can_be_controlled()
    {
        using (var goblin = Make(1000))
        {
            var setting = goblin.Add("a", new[] { new Option(0), new Option(1), new Option(2), new Option(3, 1, false) });
            Run(goblin, 400, 1, setting);
            Ensure.Equal(2u, setting.Choice, "option 3 is not ready");
            goblin.SetReady(setting, 3, true);
            Run(goblin, 400, 1, setting);
            Ensure.Equal(3u, setting.Choice, "option 3 is ready");
            goblin.Pin(setting, 1);
            Run(goblin, 1, 1, setting);
            Ensure.Equal(1u, setting.Choice, "pinned");
            Ensure.Equal(Why.Pinned, goblin.GetReason(setting).Why, "the reason");
            goblin.SetRange(setting, 0, 2);
            goblin.SetValue(setting, 0, 9);
            Run(goblin, 400, 1, setting);
            Ensure.Equal(0u, setting.Choice, "option 0 is the most valuable now");
            goblin.SetOptions(setting, new Option(0), new Option(5));
            goblin.SetRange(setting, 0);
            goblin.SetWork(setting, 2);
            goblin.SetSwitchScale(0.5);
            goblin.SetSwitchScale(setting, 0.5);
            goblin.OpenTrialWindow(10, 0.5);
            goblin.SetThermalHeadroom(Lane.Gpu, 0.3);
            goblin.CollectSamples();
            Ensure.That(goblin.Decide().Id > 0, "the halves of an update");
            goblin.Remove(setting);
            Ensure.Equal(0u, setting.Choice, "a removed setting has choice 0");
            Ensure.Fails(Result.NotFound, () => goblin.Pin(setting, 0));
            Ensure.That(new Setting().Choice == 0 && new Setting().Index == -1, "no setting");
        }
    }

    public static void Every_kind_of_setting_can_be_added()
    {
        using (var goblin = Make())
        {
            Ensure.Equal(1u, goblin.AddBinary("binary", 1, 2, true).Choice, "on by default");
            Ensure.Equal(2u, goblin.AddWithDefault("array", 2, 1, 2, 3).Choice, "the default");
            var how = new SettingOptions { DefaultChoice = 1, SwitchBurden = 0.5, IsTrim = true };
            Ensure.Equal(1u, goblin.Add("options", new[] { new Option(0), new Option(1) }, how).Choice, "the default");
            goblin.AddFixedBurden("rest");
            goblin.AddFixedBurden("more", 3);
            goblin.AddFixedIncentive("incentive", 4);
            Ensure.Equal(6u, goblin.GetStatistics().SettingCount, "all are there");
            Ensure.That(Ensure.Fails(Result.InvalidArgument, () => goblin.Add("", 1, 2)).Contains("id"), "an empty id");
            Ensure.Throws<ArgumentNullException>(() => goblin.Add(null, 1, 2));
            Ensure.Throws<ArgumentNullException>(() => goblin.Add(null, new[] { new Option(1) }));
            Ensure.Throws<ArgumentNullException>(() => goblin.AddBinary(null, 1));
            var lone = Ensure.Throws<ArgumentException>(() => goblin.Add("shadow\ud800", 1, 2));
            Ensure.That(lone.Message.Contains("lone surrogate at index 6"), lone.Message);
        }
    }

    public static void Parameters_have_the_defaults_of_C_and_can_be_changed()
    {
        var tuning = new GoblinTuning { Sigmas = 2, Precision = GoblinTuning.PrecisionProven, TrialLimit = 3 };
        var desc = new GoblinDesc { [Lane.Gpu] = 10, [Lane.GameThread] = 5, Tuning = tuning, History = 32 };
        using (var goblin = new Goblin(desc))
        {
            var found = goblin.GetDesc();
            Ensure.Equal(10.0, found[Lane.Gpu], "the limit");
            Ensure.Equal(5.0, found[Lane.GameThread], "the limit");
            Ensure.Equal(32u, found.History, "the history");
            Ensure.Equal(60.0, found.DecisionsPerSecond, "the default");
            Ensure.Equal(2.0, goblin.GetTuning().Sigmas, "the tuning");
            Ensure.Equal(GoblinTuning.PrecisionProven, goblin.GetTuning().Precision, "the tuning");
            found[Lane.Gpu] = 20;
            goblin.SetDesc(found);
            Ensure.Equal(2.0, goblin.GetTuning().Sigmas, "without Tuning it stays");
            goblin.SetTuning(null);
            Ensure.Equal(3.0, goblin.GetTuning().Sigmas, "the default");
            Ensure.Equal(20.0, goblin.GetDesc()[Lane.Gpu], "the new limit");
        }
        Ensure.Fails(Result.InvalidArgument, () => Make(-1));
        Ensure.Throws<ArgumentOutOfRangeException>(() => new GoblinDesc { [(Lane)8] = 1 });
    }

    public static void Callbacks_give_options_and_samples_and_receive_choices()
    {
        var released = 0;
        var choices = new List<uint>();
        var frame = 0;
        var choice = 0u;
        var callbacks = new SettingCallbacks
        {
            GetId = () => "ombres ☂",
            GetOptions = options => options.AddRange(new[] { new Option(0), new Option(3), new Option(4) }),
            GetDefaultChoice = () => 1,
            SetChoice = (chosen, decision) =>
            {
                choice = chosen;
                choices.Add(chosen);
            },
            Measure = (ref Sample sample) =>
            {
                if (frame-- <= 0) return false;
                Ensure.Equal(Lane.Gpu, sample.Lane, "preset to the lane with a limit");
                Ensure.Equal(SampleQuality.Ok, sample.Quality, "preset");
                sample.Burden = choice * 4;
                return true;
            },
            Released = () => ++released,
        };
        var userData = Hob.UserDataCount;
        using (var goblin = Make())
        {
            var setting = goblin.Add(null, callbacks);
            Ensure.Equal(1u, setting.Choice, "the default choice");
            for (var n = 0; n < 500; ++n)
            {
                goblin.Update();
                Ensure.Equal(setting.Choice, choice, "SetChoice has told the choice");
                frame = 1;
            }
            Ensure.Equal(2u, setting.Choice, "8 of 10 ms");
            Ensure.That(goblin.GetStatistics().Samples > 400, "the callback gave the samples");
            Ensure.That(goblin.SaveProfile().Contains("ombres ☂"), "the callback gave the id");
            Ensure.Equal(userData + 1, Hob.UserDataCount, "the library holds the callbacks");
        }
        Ensure.Equal(1, released, "released once");
        Ensure.Equal(userData, Hob.UserDataCount, "the library holds nothing");
    }

    public static void Products_combine_axes()
    {
        using (var goblin = Make())
        {
            var samples = new ProductAxis { Values = new double[] { 0, 2, 3 } };
            var resolution = new ProductAxis
            {
                Values = new double[] { 1, 2, 3, 4 }, Works = new[] { 0.25, 0.5, 0.75, 1 }, DefaultIndex = 1,
            };
            var product = goblin.AddProduct("image", new[] { resolution, samples }, 0, new SettingOptions { IsTrim = true });
            Ensure.Equal(1u, product.GetIndex(0), "the default index");
            var choice = product.GetChoiceAt(3, 2);
            Ensure.Equal(3u, product.GetIndexOf(choice, 0), "the resolution");
            Ensure.Equal(2u, product.GetIndexOf(choice, 1), "the samples");
            goblin.Pin(product, choice);
            goblin.Update();
            Ensure.Equal(3u, product.GetIndex(0), "the product is a setting");
            resolution.Works = new double[] { 1 };
            Ensure.Throws<ArgumentException>(() => goblin.AddProduct("b", new[] { resolution }));
            Ensure.Fails(Result.InvalidArgument, () => goblin.AddProduct("b", new ProductAxis[0]));
        }
    }

    public static void Strategies_compete()
    {
        using (var goblin = new Goblin(new GoblinDesc { [Lane.Gpu] = 5, Patience = -1 }))
        {
            var setting = goblin.Add("a", 0, 10);
            var slow = goblin.AddStrategy(new StrategyDesc { [Lane.Gpu] = 20, Incentive = -3 });
            Ensure.Equal(1u, slow, "the first further strategy");
            goblin.SetStrategyValue(slow, setting, 1, 11);
            goblin.SetStrategyWork(slow, setting, 0.9);
            goblin.SetStrategyWork(slow, setting, 1, 1.1);
            var decision = Run(goblin, 1500, 15, setting);
            Ensure.Equal(slow, decision.Strategy, "the option fits only with the other limit");
            Ensure.That(goblin.GetStrategyNet(slow) > goblin.GetStrategyNet(0), "its net value is greater");
            goblin.SetStrategy(slow, new StrategyDesc { [Lane.Gpu] = 20, Incentive = -30 });
            Ensure.Equal(0u, Run(goblin, 100, 15, setting).Strategy, "now it is worth less");
        }
    }

    public static void A_profile_carries_burdens_to_the_next_run()
    {
        string json;
        using (var goblin = Make())
        {
            Run(goblin, 300, 4, goblin.Add("a", 0, 4, 5));
            json = goblin.SaveProfile();
        }
        using (var goblin = Make())
        using (var profile = new Profile())
        {
            profile.Load(json);
            Ensure.Equal(3u, profile.TaskCount == 1 ? Options(profile) : 0, "the task has three options");
            goblin.SetPastProfile(profile);
            goblin.LoadProfile(json);
            var setting = goblin.Add("a", 0, 4, 5);
            goblin.Update();
            Ensure.Equal(EstimateSource.Past, goblin.GetEstimate(setting, 1, Lane.Gpu).Source, "known at once");
            Ensure.That(Ensure.Fails(Result.Malformed, () => goblin.LoadProfile("{]")).Contains("line"), "where it is");
            Ensure.Fails(Result.InvalidArgument, () => goblin.SetPastProfile(null));
        }
    }

    static uint Options(Profile profile)
    {
        Ensure.Equal("a", profile.GetTask(0, out var count), "the task");
        return count;
    }

    public static void A_recording_replays_to_the_same_choices()
    {
        var pieces = new List<byte[]>();
        using (var goblin = Make())
        {
            goblin.StartRecording(pieces.Add);
            Run(goblin, 300, 4, goblin.Add("a", 0, 4, 5), goblin.Add("b", 0, 1, 2));
            goblin.StopRecording();
            Ensure.Fails(Result.Unsupported, () => goblin.StartRecording(pieces.Add));
        }
        Ensure.Equal(0, Hob.UserDataCount, "the receivers are released");
        var recording = pieces.SelectMany(piece => piece).ToArray();
        var report = Goblin.Replay(recording);
        Ensure.Equal(ReplayEnd.Complete, report.End, "the whole recording");
        Ensure.That(report.Decisions == 300 && report.Different == 0 && report.FirstDifferent == 0, "the same choices");
        Ensure.Equal(Hob.LibraryVersion, report.LibraryVersion, "the version of the recorder");
        Ensure.Equal((ulong)recording.Length, report.Bytes, "all bytes");
        Ensure.Equal(ReplayEnd.Truncated, Goblin.Replay(recording.Take(recording.Length - 5).ToArray()).End, "cut off");
        Ensure.Fails(Result.Malformed, () => Goblin.Replay(new byte[100]));
    }
}
