// Arguments that another thread changes during the call, and lists with a wrong Count. MIT OR Apache-2.0.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Threading;
using Hobgoblin;

static class HostileTest
{
    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(HostileTest), arguments);
    }

    /// <summary>Runs a call many times while another thread changes its arguments. Failures are allowed.</summary>
    static void Races(int rounds, Action<int> change, Action<int> call)
    {
        var isOver = false;
        var changer = new Thread(() =>
        {
            for (var i = 0; !Volatile.Read(ref isOver); ++i) change(i);
        });
        changer.Start();
        try
        {
            for (var i = 0; i < rounds; ++i)
            {
                try
                {
                    call(i);
                }
                catch (Exception exception)
                {
                    // Of a list that changed while it was read, or of arguments that do not fit.
                    var isExpected = exception is HobgoblinException || exception is ArgumentException ||
                        exception is InvalidOperationException || exception is IndexOutOfRangeException ||
                        exception is NullReferenceException;
                    if (!isExpected) throw;
                }
            }
        }
        finally
        {
            Volatile.Write(ref isOver, true);
            changer.Join();
        }
    }

    public static void Frames_that_change_meanwhile()
    {
        var small = new byte[16 * 16 * 4];
        var large = new byte[256 * 256 * 4];
        var frame = new Frame(small, 16, 16) { Dirty = new PixelRect[4], Moves = new FrameMove[4] };
        using (var eye = new Perception())
        {
            Races(2000, i =>
            {
                frame.Pixels = i % 2 == 0 ? small : large;
                frame.Width = frame.Height = i % 3 == 0 ? 256u : 16u;
                frame.Stride = i % 5 == 0 ? 4096 : 0;
                frame.Dirty = i % 2 == 0 ? new PixelRect[1] : new PixelRect[60000];
                frame.DirtyCount = i % 3 == 0 ? 60000 : 1;
                frame.MoveCount = i % 7;
            }, i => eye.BeginFrame(frame));
        }
    }

    public static void Images_that_change_meanwhile()
    {
        var image = new PixelImage(new byte[4], 1, 1);
        using (var eye = new Perception())
        {
            Races(500, i =>
            {
                image.Pixels = i % 2 == 0 ? new byte[4] : new byte[400 * 400 * 4];
                image.Width = image.Height = i % 3 == 0 ? 400u : 1u;
            }, i =>
            {
                eye.AddOperator(new OperatorDesc { Kind = Operator.Template, Image = image });
                eye.DrawOverlay(image);
            });
        }
    }

    public static void Programs_that_change_meanwhile()
    {
        var program = new CompiledProgram();
        using (var cache = new ProgramCache())
        {
            Races(1000, i =>
            {
                program.Data = i % 2 == 0 ? null : new byte[i % 3 == 0 ? 1000000 : 10];
                program.Reflection = i % 3 == 0 ? null : new byte[i % 2 == 0 ? 1000000 : 10];
                program.Shaders = i % 2 == 0 ? new Fingerprint[1] : new Fingerprint[5000];
            }, i => cache.Put(Fingerprint.OfText("a"), program));
        }
    }

    public static void Keys_that_change_meanwhile()
    {
        var key = new ProgramKey();
        key.AddStage(ShaderStage.Vertex, "a");
        Races(1000, i =>
        {
            if (key.StageCount < 900) key.AddStage(ShaderStage.Vertex, "more").AddAttribute("name", 1);
            key.Defines = new byte[i % 2 == 0 ? 1 : 100000];
            if (i % 2 == 0) key.Varyings.Add("varying");
            else key.Varyings.Clear();
        }, i => key.ComputeFingerprint());
    }

    public static void Descriptions_of_pipelines_that_change_meanwhile()
    {
        var desc = new PipelineDesc { Schema = 2 };
        var state = new PipelineGraphicsState();
        Races(1000, i =>
        {
            desc.State = new byte[i % 2 == 0 ? 1 : 500000];
            if (desc.Shaders.Count > 900) desc.Shaders.Clear();
            desc.Shaders.Add(new PipelineShader(ShaderStage.Vertex, default(Fingerprint)));
            if (state.VertexBuffers.Count > 60) state.VertexBuffers.Clear();
            state.VertexBuffers.Add(new PipelineVertexBuffer { Slot = (uint)i });
        }, i =>
        {
            desc.ComputeKey();
            state.Encode();
        });
    }

    public static void Nodes_that_change_meanwhile()
    {
        var desc = new NodeDesc { Evaluate = call => Verdict.Done };
        Races(1000, i =>
        {
            desc.Inputs = i % 3 == 0 ? null : new NodeInput[i % 2 == 0 ? 1 : 2000];
            desc.Outputs = i % 3 == 0 ? new NodeOutput[1] : new NodeOutput[i % 2 == 0 ? 1 : 2000];
            desc.Evaluate = i % 5 == 0 ? (NodeFunction)null : call => Verdict.Done;
        }, i =>
        {
            using (var graph = new Graph())
            {
                graph.AddNode(desc);
                graph.Evaluate();
            }
        });
    }

    /// <summary>Says that it has fewer elements, or more, than it gives out.</summary>
    sealed class Liar<T> : IList<T>
    {
        public int Said, Given;

        public T this[int index] { get => default(T); set { } }
        public int Count => Said;
        public bool IsReadOnly => false;
        public void Add(T item) { }
        public void Clear() { }
        public bool Contains(T item) => false;
        public int IndexOf(T item) => -1;
        public void Insert(int index, T item) { }
        public bool Remove(T item) => false;
        public void RemoveAt(int index) { }

        public void CopyTo(T[] array, int at)
        {
            for (var i = 0; i < Given; ++i) array[at + i] = default(T);
        }

        public IEnumerator<T> GetEnumerator()
        {
            for (var i = 0; i < Given; ++i) yield return default(T);
        }

        IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
    }

    public static void Lists_with_a_wrong_count()
    {
        foreach (var said in new[] { 0, 1, 100 })
        {
            foreach (var given in new[] { 0, 5, 5000 })
            {
                var dimensions = new Liar<PipelineDimension> { Said = said, Given = given };
                Attempt(() => default(PipelineMask).With(dimensions, "name", 1));
                Attempt(() => new PipelineLibrary(new PipelineLibraryDesc
                {
                    Project = "game", Format = "spirv", Compile = job => PipelineBuilt.Ready, Dimensions = dimensions,
                }).Dispose());
                var texts = new Liar<string> { Said = said, Given = given };
                Attempt(() => PipelineTools.Expand(texts, texts, "/nowhere/x"));
            }
        }
    }

    static void Attempt(Action action)
    {
        try
        {
            action();
        }
        catch (Exception exception)
        {
            var isExpected = exception is HobgoblinException || exception is ArgumentException ||
                exception is IndexOutOfRangeException;
            if (!isExpected) throw;
        }
    }
}
