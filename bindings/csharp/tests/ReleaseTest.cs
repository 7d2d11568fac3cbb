// The user data of callbacks is released once: after a failure, a replacement, and Dispose. MIT OR Apache-2.0.
using System;
using Hobgoblin;

static class ReleaseTest
{
    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(ReleaseTest), arguments);
    }

    /// <summary>Something holds as much user data afterwards as before.</summary>
    static void HoldsNothing(string what, Action action)
    {
        var before = Hob.UserDataCount;
        for (var i = 0; i < 3; ++i) action();
        Ensure.Equal(before, Hob.UserDataCount, "user data after " + what);
    }

    static PipelineLibraryDesc Library(string project, FileSystem files)
    {
        return new PipelineLibraryDesc
        {
            Project = project, Format = "spirv", Directory = "d", FileSystem = files, Compile = job => PipelineBuilt.Ready,
        };
    }

    public static void Calls_that_fail_hold_nothing()
    {
        var files = new MemoryFiles();
        HoldsNothing("a cache that fails", () => Ensure.Fails(Result.InvalidArgument, () => new ProgramCache(
            new ProgramCacheDesc { Directory = "d", FileSystem = files, Eviction = (Eviction)9 })));
        HoldsNothing("a library that fails",
            () => Ensure.Fails(Result.InvalidArgument, () => new PipelineLibrary(Library("no name", files))));
        using (var graph = new Graph(1))
        using (var eye = new Perception())
        {
            graph.AddInput("input", 0);
            var node = new NodeDesc { Evaluate = call => Verdict.Done };
            HoldsNothing("a node that fails", () => Ensure.Fails(Result.LimitExceeded, () => graph.AddNode(node)));
            HoldsNothing("an object node that fails",
                () => Ensure.Fails(Result.LimitExceeded, () => graph.AddObject(node, call => "text")));
            var cognition = new CognitionDesc { Perceive = call => Result.Ok, ImageFormat = (PixelFormat)99 };
            HoldsNothing("a cognition that fails", () => Ensure.Fails(Result.InvalidArgument, () => eye.AddCognition(cognition)));
        }
        string json;
        using (var graph = new Graph())
        {
            graph.AddNode(new NodeDesc { Name = "one", TypeName = "one", Evaluate = call => Verdict.Done });
            graph.AddNode(new NodeDesc { Name = "two", TypeName = "two", Evaluate = call => Verdict.Done });
            json = graph.SaveJson();
        }
        HoldsNothing("a load that fails", () => Ensure.Fails(Result.NotFound, () => Graph.Load(json, node =>
        {
            node.Set(call => Verdict.Done);
            return node.TypeName == "one";
        })));
    }

    public static void Owners_hold_nothing_after_Dispose()
    {
        var files = new MemoryFiles();
        HoldsNothing("a cache with an observer", () =>
        {
            using (var cache = new ProgramCache(new ProgramCacheDesc { Directory = "d", FileSystem = files }))
            {
                cache.SetProblemCallback(sentence => { });
                cache.SetProblemCallback(sentence => { });
                cache.Put(Fingerprint.OfText("a"), new CompiledProgram());
                Ensure.That(cache.Flush(), "a flush");
            }
        });
        HoldsNothing("a library", () =>
        {
            using (var library = new PipelineLibrary(Library("game", files))) library.BeginFrame();
        });
        HoldsNothing("graphs", () =>
        {
            using (var graph = new Graph())
            {
                graph.AddNode(new NodeDesc { IsSink = true, Evaluate = call => Verdict.Done });
                graph.AddObject(new NodeDesc { IsSink = true }, call => "text");
                graph.Evaluate();
                using (var baked = graph.Bake()) baked.Evaluate();
                graph.RemoveNode(graph.AddNode(new NodeDesc { Evaluate = call => Verdict.Done }));
            }
        });
        HoldsNothing("a perception", () =>
        {
            using (var eye = new Perception())
            {
                eye.AddCognition(new CognitionDesc { Perceive = call => Result.Ok });
                eye.AddObject(new CognitionDesc(), call => "text");
            }
        });
    }
}
