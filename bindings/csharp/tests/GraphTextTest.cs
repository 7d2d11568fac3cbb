// Graphs that are baked, saved, loaded and emitted. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;
using Hobgoblin;
using static GraphSupport;

static class GraphTextTest
{
    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(GraphTextTest), arguments);
    }

    public static void Baked_graphs_share_the_functions()
    {
        Graph baked;
        NodeId time, sink;
        using (var graph = new Graph())
        {
            var constant = graph.AddInput("constant", 4);
            time = graph.AddNode(new NodeDesc { Name = "time", Evaluate = call =>
            {
                call.Output(0).Number += 1;
                return Verdict.Done;
            } });
            var folded = graph.AddNode(Pure("folded", 1, Twice));
            sink = graph.AddNode(Pure("sink", 2, Sum, true));
            graph.Connect(constant, 0, folded, 0);
            graph.Connect(folded, 0, sink, 0);
            graph.Connect(time, 0, sink, 1);
            Ensure.Fails(Result.InvalidArgument, () => graph.Bake());
            graph.Evaluate();
            Ensure.Equal(9.0, graph.GetValue(sink).Number, "before");
            baked = graph.Bake();
            Ensure.Fails(Result.NotFound, () => graph.Bake(default(NodeId)));
            Ensure.Fails(Result.NotFound, () => baked.GetCopy(folded));
        }
        Ensure.Collect();
        using (baked)
        {
            baked.Evaluate();
            baked.Evaluate();
            Ensure.Equal(11.0, baked.GetValue(baked.GetCopy(sink)).Number, "after two frames");
            Ensure.Equal(2ul, baked.GetStatistics().Nodes, "nodes of the baked graph");
        }
    }

    public static void Graphs_are_saved_loaded_and_emitted()
    {
        string json;
        NodeId input, sum, twice;
        using (var graph = new Graph())
        {
            input = graph.AddInput("größe", 4);
            twice = graph.AddNode(Pure("twice", 1, Twice));
            sum = graph.AddNode(Pure("sum", 2, Sum, true));
            graph.Connect(input, 0, twice, 0);
            graph.Connect(twice, 0, sum, 0);
            graph.Connect(input, 0, sum, 1);
            graph.Evaluate();
            json = graph.SaveJson();
            Ensure.That(graph.SaveDot().StartsWith("digraph"), "a picture");
            Ensure.That(graph.EmitC("patch").Contains("patch_evaluate"), "C source");
            Ensure.Equal(graph.GetStatistics().Nodes, (ulong)graph.GetEmittedNodes().Length, "emitted nodes");
            Ensure.Fails(Result.InvalidArgument, () => graph.EmitC("no name"));
            Ensure.Fails(Result.InvalidArgument, () => graph.EmitC(null));
        }
        var seen = "";
        using (var graph = Graph.Load(json, node =>
        {
            seen += $"{node.TypeName} {node.InputCount} {node.OutputCount} {node.IsSink} {node.NodeClass}; ";
            GC.Collect();
            if (node.TypeName == "sum") node.Set(Twice);
            node.Set(node.TypeName == "sum" ? (NodeFunction)Sum : Twice);
            return true;
        }))
        {
            Ensure.Collect();
            Ensure.That(seen.Contains("twice 1 1 False Pure; ") && seen.Contains("sum 2 1 True Pure; "), seen);
            graph.SetInput(graph.GetCopy(input), 0, 10);
            graph.Evaluate();
            Ensure.Equal(30.0, graph.GetValue(graph.GetCopy(sum)).Number, "the loaded graph");
            Ensure.That(graph.SaveJson().Contains("größe"), "names");
        }
        Ensure.Fails(Result.NotFound, () => Graph.Load(json, node => false));
        Ensure.Fails(Result.InvalidArgument, () => Graph.Load(json, node => true));
        Ensure.Fails(Result.Malformed, () => Graph.Load("no JSON", node => true));
        Ensure.Equal("resolve", Ensure.Throws<TimeoutException>(() => Graph.Load(json, node =>
        {
            node.Set(Sum);
            if (node.TypeName == "sum") throw new TimeoutException("resolve");
            return true;
        })).Message, "the exception of resolve");
        Ensure.Throws<ArgumentNullException>(() => Graph.Load(null, node => true));
        Ensure.Throws<ArgumentNullException>(() => Graph.Load(json, null));
    }
}
