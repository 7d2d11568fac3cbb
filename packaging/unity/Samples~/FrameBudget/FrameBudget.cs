// Keeps the GPU inside its budget: put it on one object of the first scene. It measures whole frames and learns what each
// option costs. Enable "Frame Timing Stats" in the player settings. MIT OR Apache-2.0.
using Hobgoblin;
using UnityEngine;

public sealed class FrameBudget : MonoBehaviour
{
    [SerializeField] double gpuMilliseconds = 16.6;

    // FrameTimingManager has a frame's times when the GPU has ended it, four frames later.
    const int Latency = 4;

    readonly FrameTiming[] timings = new FrameTiming[1];
    readonly ulong[] decisions = new ulong[Latency];
    Goblin goblin;
    Setting shadows, textures, detail;
    int frame;

    // Scripts that Unity reloads are disabled first and enabled afterwards.
    void OnEnable()
    {
        frame = 0;
        goblin = new Goblin(new GoblinDesc { [Lane.Gpu] = gpuMilliseconds, Burdens = Burdens.Totals });
        // Options with their worth, and a guess of their cost relative to the others, which serves until costs are learned.
        shadows = goblin.Add("shadows", new[] { new Option(0, 0), new Option(4, 1), new Option(6, 2), new Option(7, 4) });
        textures = goblin.Add("anisotropic textures", new[] { new Option(0, 0), new Option(2, 1) });
        detail = goblin.Add("level of detail", new[] { new Option(0, 0), new Option(3, 1), new Option(5, 3) });
    }

    void OnDisable()
    {
        goblin.Dispose();
    }

    void Update()
    {
        FrameTimingManager.CaptureFrameTimings();
        bool isKnown = FrameTimingManager.GetLatestTimings(1, timings) == 1 && timings[0].gpuFrameTime > 0;
        if (frame >= Latency && isKnown)
            goblin.TryMeasureTotal(decisions[frame % Latency], Lane.Gpu, timings[0].gpuFrameTime);
        Decision decision = goblin.Update();
        decisions[frame % Latency] = decision.Id;
        if (frame++ == 0 || decision.ChangeCount > 0) Apply();
    }

    void Apply()
    {
        uint shadow = shadows.Choice;
        QualitySettings.shadows = shadow == 0 ? ShadowQuality.Disable : ShadowQuality.All;
        if (shadow > 0) QualitySettings.shadowResolution = (ShadowResolution)shadow;
        bool isFiltered = textures.Choice == 1;
        QualitySettings.anisotropicFiltering = isFiltered ? AnisotropicFiltering.ForceEnable : AnisotropicFiltering.Disable;
        QualitySettings.lodBias = 1 + 0.5f * detail.Choice;
    }
}
