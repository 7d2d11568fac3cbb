// Pipelines that the tests of pipeline libraries share. MIT OR Apache-2.0.
using System;
using Hobgoblin;

static class PipelineSupport
{

    internal static byte[] Hash(int number)
    {
        var hash = new byte[20];
        hash[0] = (byte)number;
        hash[1] = (byte)(number >> 8);
        hash[19] = 1;
        return hash;
    }

    internal static PipelineDesc Pipeline(int number)
    {
        var desc = new PipelineDesc { Schema = 7, State = new[] { (byte)number, (byte)(number >> 8), (byte)3 } };
        desc.Shaders.Add(new PipelineShader(ShaderStage.Vertex, Hash(2 * number)));
        desc.Shaders.Add(new PipelineShader(ShaderStage.Fragment, Hash(2 * number + 1)));
        return desc;
    }

    internal static PipelineLibraryDesc Desc(PipelineCompiler compile)
    {
        return new PipelineLibraryDesc
        {
            Project = "game", Format = "spirv", Version = "1", Api = GraphicsApi.Vulkan, Compile = compile,
        };
    }

    /// <summary>Compiles all that remains, in as many frames as it takes.</summary>
    internal static uint CompileAll(PipelineLibrary library)
    {
        uint count = 0;
        Ensure.Soon(() =>
        {
            library.BeginFrame();
            count += library.Compile();
            return library.Remaining == 0;
        }, "all are compiled");
        return count;
    }

    /// <summary>Makes the user's cache of a run that met some pipelines.</summary>
    internal static Fingerprint[] Record(PipelineLibraryDesc desc, int count)
    {
        var keys = new Fingerprint[count];
        using (var library = new PipelineLibrary(desc))
        {
            for (var i = 0; i < count; ++i)
            {
                library.BeginFrame();
                keys[i] = Pipeline(i).ComputeKey();
                Ensure.Equal(PipelineState.Unknown, library.Use(keys[i]), "an unknown pipeline");
                Ensure.Equal(keys[i], library.Add(Pipeline(i), 500), "its key");
                Ensure.Equal(PipelineState.Ready, library.Use(keys[i]), "an added pipeline");
            }
            library.Flush();
            Ensure.Equal("", library.GetProblem(), "problems");
        }
        return keys;
    }
}
