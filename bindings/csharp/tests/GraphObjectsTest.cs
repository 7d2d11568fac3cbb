// Graphs whose values are managed objects. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;
using Hobgoblin;
using static GraphSupport;

static class GraphObjectsTest
{
    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(GraphObjectsTest), arguments);
    }

    sealed class Picture : IEquatable<Picture>, IDisposable
    {
        public static int Alive;
        public readonly int[] Pixels;
        public bool IsDisposed;

        public Picture(int size, int value)
        {
            Interlocked.Increment(ref Alive);
            Pixels = new int[size];
            Pixels[0] = value;
        }

        public bool Equals(Picture other)
        {
            return other.Pixels[0] == Pixels[0];
        }

        public void Dispose()
        {
            if (IsDisposed) throw new Exception("disposed twice");
            IsDisposed = true;
            Interlocked.Decrement(ref Alive);
        }
    }

    public static void Objects_are_owned_by_the_graph()
    {
        Picture.Alive = 0;
        var graph = new Graph();
        var input = graph.AddInput("input", 1);
        var made = graph.AddObject(new NodeDesc { NodeClass = NodeClass.Pure, InputCount = 1 },
            call => new Picture(1000, (int)call.Input(0).Number / 10));
        var runs = 0;
        var read = graph.AddNode(Pure("read", 1, call =>
        {
            ++runs;
            var picture = call.Object<Picture>(0);
            if (picture.IsDisposed) throw new Exception("read after dispose");
            call.Output(0).Number = picture.Pixels[0];
            return Verdict.Done;
        }, true));
        graph.Connect(input, 0, made, 0);
        graph.Connect(made, 0, read, 0);
        for (var i = 0; i < 100; ++i)
        {
            graph.SetInput(input, 0, i);
            graph.Evaluate();
            Ensure.Equal((double)(i / 10), graph.GetValue(read).Number, "the object's content");
            Ensure.Equal(i / 10, graph.GetObject<Picture>(made).Pixels[0], "the object");
            if (i % 30 == 0) Ensure.Collect();
        }
        Ensure.Equal(10, runs, "equal objects are no change");
        Ensure.That(Picture.Alive <= 2, Picture.Alive + " objects are alive");
        Ensure.That(graph.GetObject<Picture>(read) == null, "a number is no object");
        Ensure.That(graph.GetObject<string>(made) == null, "another type");
        graph.Dispose();
        Ensure.Equal(0, Picture.Alive, "objects after the graph");
        Ensure.That(Value.OfInteger(12345).Object<Picture>() == null, "an invalid value finds nothing");
    }

    public static void Makers_ask_for_inputs_or_fail()
    {
        using (var graph = new Graph())
        {
            var isFailing = false;
            var inputs = new NodeInput[1];
            inputs[0].Flags = NodeInputFlags.Lazy;
            var source = graph.AddNode(Pure("source", 0, call =>
            {
                call.Output(0).Number = 8;
                return Verdict.Done;
            }));
            var made = graph.AddObject(new NodeDesc { Inputs = inputs, IsSink = true }, call =>
            {
                if (isFailing) return null;
                if (!call.IsAvailable(0))
                {
                    call.Need(0);
                    return null;
                }
                return "text " + call.Input(0).Number;
            });
            graph.Connect(source, 0, made, 0);
            graph.Evaluate();
            Ensure.Equal("text 8", graph.GetObject<string>(made), "the object");
            isFailing = true;
            Ensure.Equal(1ul, graph.Evaluate().Broken, "a null without a need is a failure");
            Ensure.Equal("text 8", graph.GetObject<string>(made), "the last good object");
        }
    }

    public static void Memory_limits_release_objects()
    {
        Picture.Alive = 0;
        using (var graph = new Graph())
        {
            graph.SetMemoryLimit(0);
            var input = graph.AddInput("input", 1);
            var made = graph.AddObject(new NodeDesc { NodeClass = NodeClass.Pure, InputCount = 1 }, call =>
            {
                call.ReportHeld(4000, 10);
                return new Picture(1000, (int)call.Input(0).Number);
            });
            var read = graph.AddNode(Pure("read", 1, call =>
            {
                call.Output(0).Number = call.Object<Picture>(0).Pixels[0];
                return Verdict.Done;
            }, true));
            graph.Connect(input, 0, made, 0);
            graph.Connect(made, 0, read, 0);
            for (var i = 0; i < 5; ++i)
            {
                graph.SetInput(input, 0, i);
                graph.Evaluate();
                Ensure.Equal((double)i, graph.GetValue(read).Number, "the value");
                Ensure.Equal(0, Picture.Alive, "objects between frames");
                Ensure.That(!graph.TryGetValue(made, 0, out _), "a released value");
            }
            Ensure.That(graph.GetStatistics().Releases >= 5, "releases");
        }
    }

    public static void Loaded_graphs_have_objects()
    {
        string json;
        NodeId sink;
        using (var graph = new Graph())
        {
            sink = graph.AddObject(new NodeDesc { TypeName = "object", IsSink = true }, call => "text");
            json = graph.SaveJson();
        }
        using (var graph = Graph.Load(json, node =>
        {
            node.SetObject(call => "loaded");
            return true;
        }))
        {
            graph.Evaluate();
            Ensure.Equal("loaded", graph.GetObject<string>(graph.GetCopy(sink)), "the object");
        }
    }

    public static void Forgotten_graphs_are_collected()
    {
        Picture.Alive = 0;
        var thread = new Thread(() =>
        {
            for (var i = 0; i < 200; ++i)
            {
                var graph = new Graph();
                graph.AddObject(new NodeDesc { IsSink = true }, call => new Picture(100, 1));
                graph.Evaluate();
            }
        });
        thread.Start();
        thread.Join();
        for (var i = 0; i < 20 && Picture.Alive > 2; ++i) Ensure.Collect();
        Ensure.That(Picture.Alive <= 2, Picture.Alive + " of 200 objects are alive");
    }
}
