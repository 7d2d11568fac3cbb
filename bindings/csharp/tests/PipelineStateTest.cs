// States of the own schema, and shipped caches. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.IO;
using System.Threading;
using Hobgoblin;
using static PipelineSupport;

static unsafe class PipelineStateTest
{
    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(PipelineStateTest), arguments);
    }

    public static void States_of_the_own_schema_round_trip()
    {
        var graphics = new PipelineGraphicsState
        {
            Topology = PipelineTopology.PatchList, PatchControlPoints = 3, Cull = PipelineCullMode.Back, DepthTest = 1,
            DepthWrite = 1, DepthCompare = PipelineCompare.Greater, DepthStencilFormat = 126, StencilTest = 1, SampleCount = 4,
            DepthBias = 1.5, Layout = 99, HostState = 5,
        };
        var stencil = graphics.StencilFront;
        Ensure.Equal(PipelineCompare.Always, stencil.Compare, "a default");
        stencil.Pass = PipelineStencilOp.Replace;
        graphics.StencilFront = stencil;
        graphics.VertexBuffers.Add(new PipelineVertexBuffer { Slot = 1, Stride = 12 });
        graphics.VertexBuffers.Add(new PipelineVertexBuffer { Slot = 0, Stride = 8 });
        graphics.Attributes.Add(new PipelineVertexAttribute { Location = 0, Slot = 1, Format = 106 });
        graphics.ColorTargets.Add(new PipelineColorTarget
        {
            Format = 37, WriteMask = 15, Blend = 1, SourceColor = PipelineBlendFactor.SourceAlpha,
            DestinationColor = PipelineBlendFactor.OneMinusSourceAlpha, ColorOp = PipelineBlendOp.Max,
        });
        var bytes = graphics.Encode();
        var decoded = PipelineGraphicsState.Decode(bytes);
        Ensure.Bytes(bytes, decoded.Encode(), "the same bytes");
        Ensure.Equal(PipelineStencilOp.Replace, decoded.StencilFront.Pass, "the stencil");
        Ensure.Equal(2, decoded.VertexBuffers.Count, "vertex buffers");
        Ensure.Equal(0u, decoded.VertexBuffers[0].Slot, "in the order of their slots");
        Ensure.Equal(PipelineBlendOp.Max, decoded.ColorTargets[0].ColorOp, "the blend");
        Ensure.Equal(1.5, decoded.DepthBias, "the bias");

        var compute = new PipelineComputeState { PushConstantSize = 16 };
        compute.SetWorkgroup(8, 4, 2);
        var again = PipelineComputeState.Decode(compute.Encode());
        Ensure.That(again.GetWorkgroup(0) == 8 && again.GetWorkgroup(2) == 2 && again.PushConstantSize == 16, "compute");
        Ensure.Throws<ArgumentOutOfRangeException>(() => compute.GetWorkgroup(3));

        var rays = new PipelineRayTracingState { MaxPayloadSize = 64 };
        rays.Groups.Add(new PipelineShaderGroup { Kind = PipelineShaderGroupKind.General, General = 0 });
        rays.Groups.Add(new PipelineShaderGroup
        {
            Kind = PipelineShaderGroupKind.Triangles, ClosestHit = 1, AnyHit = uint.MaxValue,
        });
        var ray = PipelineRayTracingState.Decode(rays.Encode());
        Ensure.That(ray.MaxPayloadSize == 64 && ray.Groups.Count == 2 && ray.Groups[1].ClosestHit == 1, "ray tracing");

        var desc = new PipelineDesc { State = bytes };
        desc.Shaders.Add(new PipelineShader(ShaderStage.Vertex, Fingerprint.OfText("vertex")));
        Ensure.That(desc.ComputeKey() != default(Fingerprint), "a key of the own schema");
        var hash = Fingerprint.OfText("vertex").ToBytes();
        Array.Resize(ref hash, 20);
        Ensure.Bytes(hash, desc.Shaders[0].GetHash(), "20 bytes");

        Ensure.Fails(Result.Malformed, () => PipelineGraphicsState.Decode(new byte[] { 1, 2, 3 }));
        Ensure.Fails(Result.Malformed, () => PipelineComputeState.Decode(new byte[0]));
        Ensure.Fails(Result.Malformed, () => PipelineRayTracingState.Decode(bytes));
        Ensure.Throws<ArgumentNullException>(() => PipelineGraphicsState.Decode(null));
        Ensure.Fails(Result.InvalidArgument, () => new PipelineGraphicsState { DepthBias = double.NaN }.Encode());
        Ensure.Fails(Result.InvalidArgument, () => new PipelineGraphicsState { SampleCount = 3 }.Encode());
        for (var i = 0; i < 70; ++i) graphics.VertexBuffers.Add(new PipelineVertexBuffer { Slot = (uint)(i + 5), Stride = 4 });
        Ensure.Fails(Result.LimitExceeded, () => graphics.Encode());
    }

    public static void Jobs_decode_their_state()
    {
        using (var folder = new Ensure.Folder())
        {
            var slots = 0;
            var desc = Desc(job =>
            {
                slots = PipelineGraphicsState.Decode(job.State).VertexBuffers.Count;
                return PipelineBuilt.Ready;
            });
            desc.Directory = folder.Path;
            var state = new PipelineGraphicsState();
            state.VertexBuffers.Add(new PipelineVertexBuffer { Stride = 4 });
            var pipeline = new PipelineDesc { State = state.Encode() };
            pipeline.Shaders.Add(new PipelineShader(ShaderStage.Vertex, Hash(1)));
            Fingerprint key;
            using (var library = new PipelineLibrary(desc)) key = library.Add(pipeline);
            using (var library = new PipelineLibrary(desc)) Ensure.Equal(PipelineState.Ready, library.Wait(key), "a wait");
            Ensure.Equal(1, slots, "vertex buffers");
        }
    }

    public static void Recordings_become_a_cache_that_ships()
    {
        using (var folder = new Ensure.Folder())
        {
            var compiled = 0;
            var desc = Desc(job =>
            {
                ++compiled;
                return PipelineBuilt.Ready;
            });
            desc.Recording = folder.File("run.rec.hobpipe");
            Record(desc, 12);
            var keys = new StringWriter();
            for (var i = 0; i < 24; ++i)
            {
                var hash = BitConverter.ToString(Hash(i)).Replace("-", "").ToLowerInvariant();
                keys.Write($"{hash},{(i % 2 == 0 ? 0 : 4)},\"shader {i}\"\n");
            }
            File.WriteAllText(folder.File("keys.csv"), keys.ToString());
            var expanded = PipelineTools.Expand(
                new[] { desc.Recording }, new[] { folder.File("keys.csv") }, folder.File("game.stable.hobpipe"));
            Ensure.Equal(12ul, expanded.Stable, "stable pipelines");
            Ensure.Equal(0ul, expanded.Unresolved, "unresolved pipelines");
            var build = new PipelineBuildDesc
            {
                Project = "game", Format = "spirv", Version = "2", Api = GraphicsApi.Vulkan, Out = folder.File("game.hobpipe"),
            };
            build.Stable.Add(folder.File("game.stable.hobpipe"));
            build.Keys.Add(folder.File("keys.csv"));
            var built = PipelineTools.Build(build);
            Ensure.Equal(12ul, built.Graphics, "pipelines of the cache");
            desc.Recording = null;
            var bytes = File.ReadAllBytes(build.Out);
            using (var library = new PipelineLibrary(desc))
            {
                Ensure.Equal(12ul, library.OpenCache(bytes), "pipelines from memory");
                Ensure.Equal(12u, CompileAll(library), "compiled pipelines");
            }
            using (var library = new PipelineLibrary(desc))
                Ensure.Equal(12ul, library.OpenCache(build.Out), "pipelines from the file");
            Ensure.Equal(12, compiled, "calls of the compiler");
            build.Out = folder.File("keys.csv");
            Ensure.Fails(Result.InvalidArgument, () => PipelineTools.Build(build));
            Ensure.Throws<ArgumentNullException>(() => PipelineTools.Build(null));
            Ensure.Throws<ArgumentNullException>(() => PipelineTools.Expand(null, new string[0], "x"));
            Ensure.Throws<ArgumentNullException>(() => PipelineTools.Expand(new string[0], null, "x"));
            Ensure.Throws<HobgoblinException>(() => PipelineTools.Expand(new string[0], new string[0], null));
            Ensure.Throws<HobgoblinException>(() => PipelineTools.Expand(new string[] { null }, new string[0], folder.File("y")));
        }
    }
}
