// Runs the Unity package's sample for a minute of frames, on a GPU whose time depends on the settings.
using System;
using System.Reflection;
using UnityEngine;

static class UnitySample
{
    static int Main()
    {
        var sample = new FrameBudget();
        Send(sample, "OnEnable");
        var random = new Random(1);
        double milliseconds = 0, sum = 0;
        int late = 0;
        for (int frame = 0; frame < 3600; ++frame)
        {
            Send(sample, "Update");
            milliseconds = 8 + random.NextDouble();
            if (QualitySettings.shadows != ShadowQuality.Disable) milliseconds += 3 * (int)QualitySettings.shadowResolution;
            if (QualitySettings.anisotropicFiltering == AnisotropicFiltering.ForceEnable) milliseconds += 1;
            milliseconds += 5 * (QualitySettings.lodBias - 1);
            FrameTimingManager.Milliseconds.Add(milliseconds);
            if (frame < 1800) continue;
            sum += milliseconds / 1800;
            if (milliseconds > 16.6) ++late;
        }
        Send(sample, "OnDisable");
        Console.WriteLine(sum.ToString("F1") + " ms on average, " + late + " of 1800 frames late");
        return sum > 13 && late < 90 ? 0 : 1;
    }

    static void Send(FrameBudget sample, string message)
    {
        typeof(FrameBudget).GetMethod(message, BindingFlags.Instance | BindingFlags.NonPublic).Invoke(sample, null);
    }
}
