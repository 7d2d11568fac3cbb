// Graphs with managed nodes. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;
using Hobgoblin;
using static GraphSupport;

static class GraphTest
{
    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(GraphTest), arguments);
    }

    public static void Only_what_changed_runs()
    {
        using (var graph = new Graph())
        {
            var one = graph.AddInput("one", 1);
            var two = graph.AddInput("two", 2);
            var left = graph.AddNode(Pure("left", 1, Twice));
            var right = graph.AddNode(Pure("right", 1, Twice));
            var sum = graph.AddNode(Pure("sum", 2, Sum, true));
            graph.Connect(one, 0, left, 0);
            graph.Connect(two, 0, right, 0);
            graph.Connect(left, 0, sum, 0);
            graph.Connect(right, 0, sum, 1);
            var summary = graph.Evaluate();
            Ensure.That(summary.IsComplete == 1 && summary.Broken == 0, "a whole frame");
            Ensure.Equal(6.0, graph.GetValue(sum).Number, "the sum");
            graph.SetInput(one, 0, 5);
            graph.Evaluate();
            Ensure.Equal(14.0, graph.GetValue(sum).Number, "the new sum");
            Ensure.Equal(2ul, graph.GetRuns(left), "runs of the changed node");
            Ensure.Equal(1ul, graph.GetRuns(right), "runs of the other node");
            Ensure.Equal(NodeWhy.Changed, graph.GetReason(sum).Why, "the reason");
            Ensure.Equal(NodeWhy.NoChange, graph.GetReason(right).Why, "the reason of the other");
            Ensure.That(graph.GetReasonText(right).Contains("right"), graph.GetReasonText(right));
            graph.SetInput(one, 0, 5);
            Ensure.Equal(0ul, graph.Evaluate().Runs, "runs without a change");
            graph.Invalidate(right);
            Ensure.That(graph.Evaluate().Runs >= 1, "an invalidated node runs");
            // Edits.
            graph.Disconnect(sum, 1);
            graph.SetInput(sum, 1, 100);
            graph.Evaluate();
            Ensure.Equal(110.0, graph.GetValue(sum).Number, "an input without a link");
            graph.RemoveNode(left);
            graph.SetSink(right, true);
            graph.Evaluate();
            Ensure.Equal(100.0, graph.GetValue(sum).Number, "a removed source");
            Ensure.That(!graph.TryGetValue(left, 0, out var value) && value == default(Value), "a removed node");
            Ensure.That(!graph.TryGetNodeStatistics(left, out _), "its statistics");
            Ensure.That(graph.TryGetNodeStatistics(right, out var counts) && counts.Runs >= 1, "statistics of a node");
            var statistics = graph.GetStatistics();
            Ensure.Equal(4ul, statistics.Nodes, "nodes");
            Ensure.That(statistics.MemoryUsed > 0 && statistics.Frames >= 5, "counts of the graph");
        }
    }

    /// <summary>A layered graph, compared with a computation in C#.</summary>
    public static void A_large_graph_on_a_pool_has_the_values_of_a_plain_loop()
    {
        const int layers = 12, width = 40;
        foreach (var evaluator in new[] { Evaluator.Auto, Evaluator.Lazy, Evaluator.List, Evaluator.Bitset, Evaluator.Parallel })
        {
            using (var executor = Executor.CreatePool(2))
            using (var graph = new Graph())
            {
                var nodes = new NodeId[layers, width];
                for (var layer = 0; layer < layers; ++layer)
                {
                    for (var at = 0; at < width; ++at)
                    {
                        if (layer == 0)
                        {
                            nodes[layer, at] = graph.AddInput("input", at);
                            continue;
                        }
                        nodes[layer, at] = graph.AddNode(Pure("node", 2, call =>
                        {
                            Thread.SpinWait(200);
                            call.Output(0).Number = Math.Sin(call.Input(0).Number) + 0.5 * call.Input(1).Number;
                            return Verdict.Done;
                        }, layer == layers - 1));
                        graph.Connect(nodes[layer - 1, at], 0, nodes[layer, at], 0);
                        graph.Connect(nodes[layer - 1, (at * 7 + 3) % width], 0, nodes[layer, at], 1);
                    }
                }
                var random = new Random(5);
                var values = new double[layers, width];
                for (var at = 0; at < width; ++at) values[0, at] = at;
                for (var frame = 0; frame < 40; ++frame)
                {
                    var changed = random.Next(width);
                    values[0, changed] = random.NextDouble();
                    graph.SetInput(nodes[0, changed], 0, values[0, changed]);
                    graph.Evaluate(executor, new EvaluationDesc { Evaluator = evaluator });
                    for (var layer = 1; layer < layers; ++layer)
                    {
                        for (var at = 0; at < width; ++at)
                            values[layer, at] = Math.Sin(values[layer - 1, at]) + 0.5 * values[layer - 1, (at * 7 + 3) % width];
                    }
                    for (var at = 0; at < width; ++at)
                        Ensure.Equal(values[layers - 1, at], graph.GetValue(nodes[layers - 1, at]).Number, evaluator + " node " + at);
                    if (frame % 10 == 0) GC.Collect();
                }
            }
        }
    }

    public static void Lazy_inputs_are_evaluated_on_demand()
    {
        using (var graph = new Graph())
        {
            var runs = 0;
            var choice = graph.AddInput("choice", 0);
            var expensive = graph.AddNode(Pure("expensive", 0, call =>
            {
                ++runs;
                call.Output(0).Number = 42;
                return Verdict.Done;
            }));
            var lazy = new NodeInput[2];
            lazy[1].Flags = NodeInputFlags.Lazy;
            var select = graph.AddNode(new NodeDesc
            {
                NodeClass = NodeClass.Pure, Inputs = lazy, IsSink = true, Evaluate = call =>
                {
                    if (call.Input(0).Number == 0) call.Output(0).Number = -1;
                    else if (!call.IsAvailable(1)) return call.Need(1);
                    else call.Output(0) = call.Input(1);
                    return Verdict.Done;
                },
            });
            graph.Connect(choice, 0, select, 0);
            graph.Connect(expensive, 0, select, 1);
            graph.Evaluate();
            Ensure.Equal(-1.0, graph.GetValue(select).Number, "the cheap side");
            Ensure.Equal(0, runs, "the lazy input did not run");
            Ensure.Equal(NodeWhy.NotAsked, graph.GetReason(expensive).Why, "the reason");
            graph.SetInput(choice, 0, 1);
            Ensure.That(graph.Evaluate().Requests > 0, "a request");
            Ensure.Equal(42.0, graph.GetValue(select).Number, "the expensive side");
            Ensure.Equal(1, runs, "the lazy input ran");
        }
    }

    public static void Feedback_links_count()
    {
        using (var graph = new Graph())
        {
            var count = graph.AddNode(new NodeDesc { InputCount = 1, IsSink = true, Evaluate = call =>
            {
                call.Output(0).Number = call.Input(0).Number + 1;
                return Verdict.Done;
            } });
            Ensure.Fails(Result.InvalidArgument, () => graph.Connect(count, 0, count, 0));
            graph.ConnectFeedback(count, 0, count, 0);
            for (var i = 1; i <= 10; ++i)
            {
                graph.Evaluate();
                Ensure.Equal((double)i, graph.GetValue(count).Number, "frame");
            }
        }
    }

    public static void Failed_nodes_say_why_and_break_their_dependants()
    {
        using (var graph = new Graph())
        {
            var isFailing = true;
            var source = graph.AddNode(Pure("source", 0, call =>
            {
                if (isFailing) return call.Fail("grün: the sensor is off");
                call.Output(0).Number = 3;
                return Verdict.Done;
            }));
            var target = graph.AddNode(Pure("target", 1, Twice, true));
            graph.Connect(source, 0, target, 0);
            Ensure.Equal(2ul, graph.Evaluate().Broken, "broken nodes");
            Ensure.Equal("grün: the sensor is off", graph.GetFailure(target, out var failed), "the reason");
            Ensure.Equal(source, failed, "the failed node");
            var path = graph.GetFailurePath(target);
            Ensure.That(path.Length == 2 && path[0] == target && path[1] == source, "the path");
            isFailing = false;
            graph.Invalidate(source);
            Ensure.Equal(0ul, graph.Evaluate().Broken, "it recovers");
            Ensure.Equal(6.0, graph.GetValue(target).Number, "the value");
            Ensure.Equal("", graph.GetFailure(target), "no failure");
            Ensure.Equal(0, graph.GetFailurePath(target).Length, "no path");
        }
    }

    public static void Exceptions_of_nodes_are_thrown_by_evaluate()
    {
        using (var executor = Executor.CreatePool(2))
        using (var graph = new Graph())
        {
            var message = new string('ä', 3000);
            var isThrowing = true;
            var good = graph.AddNode(Pure("good", 0, Sum, true));
            var bad = graph.AddNode(new NodeDesc { InputCount = 0, IsSink = true, Evaluate = call =>
            {
                GC.Collect();
                if (isThrowing) throw new TimeoutException(message);
                return Verdict.Done;
            } });
            foreach (var threads in new[] { null, executor })
            {
                var found = Ensure.Throws<TimeoutException>(() => graph.Evaluate(threads));
                Ensure.That(ReferenceEquals(message, found.Message), "the exception itself");
                Ensure.That(found.StackTrace.Contains("GraphTest"), "its stack");
                var failure = graph.GetFailure(bad);
                Ensure.That(failure.Length > 10 && failure.Trim('ä') == "", "the reason is cut at a whole character");
                Ensure.Equal("", graph.GetFailure(good), "other nodes ran");
                Ensure.Throws<TimeoutException>(() => graph.TryEvaluate(out _, threads));
            }
            isThrowing = false;
            Ensure.Equal(0ul, graph.Evaluate().Broken, "it recovers");
        }
    }

    public static void Many_nodes_throw_on_many_threads()
    {
        using (var executor = Executor.CreatePool(3))
        using (var graph = new Graph())
        {
            var reported = 0;
            Action<Exception> handler = exception => Interlocked.Increment(ref reported);
            Hob.UnhandledCallbackException += handler;
            for (var i = 0; i < 200; ++i)
            {
                var number = i;
                graph.AddNode(new NodeDesc { IsSink = true, Evaluate = call =>
                {
                    Thread.SpinWait(2000);
                    if (number % 50 == 0) GC.Collect();
                    throw new InvalidOperationException("node " + number);
                } });
            }
            for (var frame = 0; frame < 10; ++frame)
            {
                var desc = new EvaluationDesc { Evaluator = Evaluator.Parallel };
                Ensure.Throws<InvalidOperationException>(() => graph.Evaluate(executor, desc));
            }
            Hob.UnhandledCallbackException -= handler;
            Ensure.Equal(10 * 199, reported, "the others are reported");
        }
    }

    public static void Equality_of_the_host_cuts_off_and_may_throw()
    {
        using (var graph = new Graph())
        {
            var released = new List<long>();
            var isThrowing = false;
            var handle = 0L;
            var input = graph.AddInput("input", 0);
            var owner = graph.AddNode(new NodeDesc
            {
                NodeClass = NodeClass.Pure, InputCount = 1,
                Outputs = new[] { new NodeOutput { Cutoff = Cutoff.Callback, Flags = NodeOutputFlags.Owned } },
                Evaluate = call =>
                {
                    call.Output(0) = Value.OfInteger(++handle);
                    return Verdict.Done;
                },
                IsEqual = (output, before, after) =>
                {
                    GC.Collect();
                    if (isThrowing) throw new TimeoutException("equal");
                    return true;
                },
                ReleaseValue = (output, value) =>
                {
                    GC.Collect();
                    released.Add(value.Integer);
                    if (isThrowing) throw new TimeoutException("release");
                },
            });
            var reader = graph.AddNode(Pure("reader", 1, Twice, true));
            graph.Connect(input, 0, owner, 0);
            graph.Connect(owner, 0, reader, 0);
            graph.Evaluate();
            graph.SetInput(input, 0, 1);
            graph.Evaluate();
            Ensure.Equal(1ul, graph.GetRuns(reader), "an equal value is no change");
            Ensure.Equal(1, released.Count, "one handle was released");
            isThrowing = true;
            graph.SetInput(input, 0, 2);
            Ensure.Throws<TimeoutException>(() => graph.Evaluate());
            Ensure.Throws<TimeoutException>(() => graph.RemoveNode(owner));
            Ensure.Equal(3, released.Count, "all handles were released");
            released.Sort();
            for (var i = 0; i < 3; ++i) Ensure.Equal(i + 1L, released[i], "each once");
        }
    }

    public static void The_audit_finds_a_wrong_class()
    {
        using (var graph = new Graph())
        {
            var state = 0.0;
            var input = graph.AddInput("input", 0);
            var wrong = graph.AddNode(Pure("wrong", 1, call =>
            {
                call.Output(0).Number = ++state;
                return Verdict.Done;
            }, true));
            graph.Connect(input, 0, wrong, 0);
            graph.SetAudit(1);
            for (var i = 0; i < 200 && graph.GetFindings().Length == 0; ++i)
            {
                graph.SetInput(input, 0, i % 3);
                graph.Evaluate();
            }
            var findings = graph.GetFindings();
            Ensure.That(findings.Length == 1 && findings[0].Node == wrong, "the node is found");
            Ensure.That(findings[0].Before != findings[0].After, "both values");
            foreach (var bad in new[] { double.NaN, -1, 2, double.PositiveInfinity })
                Ensure.Fails(Result.InvalidArgument, () => graph.SetAudit(bad));
            graph.SetAudit(0);
        }
    }

    public static void Bad_input_is_refused()
    {
        using (var limited = new Graph(1))
        {
            limited.AddInput("one", 1);
            Ensure.Fails(Result.LimitExceeded, () => limited.AddInput("two", 2));
        }
        var graph = new Graph();
        var node = graph.AddNode(Pure("node", 2, Sum, true));
        Ensure.Throws<ArgumentNullException>(() => graph.AddNode(null));
        Ensure.Throws<ArgumentNullException>(() => graph.AddObject<string>(new NodeDesc(), null));
        Ensure.Throws<ArgumentOutOfRangeException>(() => graph.AddNode(new NodeDesc { InputCount = -1 }));
        Ensure.Fails(Result.InvalidArgument, () => graph.AddNode(new NodeDesc()));
        Ensure.Fails(Result.InvalidArgument, () => graph.AddNode(new NodeDesc { NodeClass = (NodeClass)9, Evaluate = Sum }));
        Ensure.Fails(Result.InvalidArgument, () => graph.AddNode(new NodeDesc { NodeClass = NodeClass.Input, Evaluate = Sum }));
        Ensure.Throws<HobgoblinException>(() => graph.AddNode(new NodeDesc { Evaluate = Sum, InputCount = int.MaxValue }));
        foreach (var epsilon in new[] { double.NaN, -1 })
        {
            Ensure.Fails(Result.InvalidArgument, () => graph.AddNode(new NodeDesc { Evaluate = Sum,
                Outputs = new[] { new NodeOutput { Cutoff = Cutoff.Epsilon, Epsilon = epsilon } } }));
        }
        Ensure.Fails(Result.NotFound, () => graph.SetInput(default(NodeId), 0, 1));
        Ensure.Fails(Result.InvalidArgument, () => graph.SetInput(node, 7, 1));
        Ensure.Fails(Result.InvalidArgument, () => graph.GetValue(node, 7));
        Ensure.Fails(Result.NotFound, () => graph.RemoveNode(default(NodeId)));
        Ensure.Fails(Result.NotFound, () => graph.Disconnect(node, 0));
        Ensure.Fails(Result.NotFound, () => graph.GetFailure(default(NodeId)));
        var removed = graph.AddInput("removed", 0);
        graph.RemoveNode(removed);
        Ensure.Fails(Result.NotFound, () => graph.Evaluate(null, new EvaluationDesc { Only = removed }));
        Ensure.Fails(Result.InvalidArgument, () => graph.Evaluate(null, new EvaluationDesc { Evaluator = (Evaluator)9 }));
        var outside = 0;
        var wrong = graph.AddNode(new NodeDesc { InputCount = 1, IsSink = true, Evaluate = call =>
        {
            try { call.Input(1); } catch (ArgumentOutOfRangeException) { ++outside; }
            try { call.Input(-1); } catch (ArgumentOutOfRangeException) { ++outside; }
            try { call.Output(1).Number = 3; } catch (ArgumentOutOfRangeException) { ++outside; }
            try { call.Need(1); } catch (ArgumentOutOfRangeException) { ++outside; }
            try { call.IsAvailable(64); } catch (ArgumentOutOfRangeException) { ++outside; }
            return (Verdict)55;
        } });
        graph.Evaluate();
        Ensure.Equal(5, outside, "accesses outside of the pins");
        Ensure.That(graph.GetFailure(wrong).Length > 0, "an unknown verdict is a failure");
        var executor = Executor.CreatePool(0);
        executor.Dispose();
        Ensure.Throws<ObjectDisposedException>(() => graph.Evaluate(executor));
        graph.Evaluate();
        graph.Dispose();
        graph.Dispose();
        Ensure.Throws<ObjectDisposedException>(() => graph.Evaluate());
        Ensure.Throws<ObjectDisposedException>(() => graph.Cancel());
        Ensure.Throws<ObjectDisposedException>(() => graph.TryEvaluate(out _));
    }

    public static void A_frame_allocates_nothing()
    {
        using (var executor = Executor.CreatePool(1))
        using (var graph = new Graph())
        {
            var input = graph.AddInput("input", 0);
            var last = input;
            for (var i = 0; i < 20; ++i)
            {
                var node = graph.AddNode(Pure("node", 1, Twice, i == 19));
                graph.Connect(last, 0, node, 0);
                last = node;
            }
            foreach (var threads in new[] { null, executor })
            {
                Ensure.AllocatesNothing("a frame", 20000, i =>
                {
                    graph.SetInput(input, 0, i);
                    graph.Evaluate(threads);
                    if (graph.GetValue(last).Number != i * 1048576.0) throw new Exception("a wrong value");
                    graph.TryEvaluate(out _, threads);
                    graph.TryGetValue(last, 0, out _);
                    graph.GetStatistics();
                });
            }
        }
    }

    public static void Evaluations_are_cancelled_and_limited()
    {
        using (var graph = new Graph())
        {
            for (var i = 0; i < 10; ++i) graph.AddNode(new NodeDesc { IsSink = true, Evaluate = Sum });
            var summary = graph.Evaluate(null, new EvaluationDesc { NodeLimit = 3 });
            Ensure.That(summary.IsComplete == 0 && summary.Runs == 3, "a limit");
            Ensure.Equal(1u, graph.Evaluate().IsComplete, "the rest");
            graph.Cancel();
            Ensure.Equal(0u, graph.Evaluate().IsComplete, "a cancelled evaluation");
            graph.AddNode(new NodeDesc { IsSink = true, Evaluate = call =>
            {
                graph.Cancel();
                return Verdict.Done;
            } });
            graph.Evaluate();
            graph.Evaluate();
        }
    }

    /// <summary>Hostile: nodes that call their graph, and dispose it.</summary>
    public static void Nodes_that_reenter_get_busy_and_may_dispose()
    {
        var graph = new Graph();
        var calls = 0;
        NodeId node = default(NodeId);
        node = graph.AddNode(new NodeDesc { IsSink = true, Evaluate = call =>
        {
            Ensure.Fails(Result.Busy, () => graph.Evaluate());
            Ensure.Fails(Result.Busy, () => graph.GetValue(node));
            Ensure.Fails(Result.Busy, () => graph.RemoveNode(node));
            Ensure.Fails(Result.Busy, () => graph.Bake());
            Ensure.That(!graph.TryEvaluate(out _), "the form that does not throw");
            using (var other = new Graph())
            {
                other.AddNode(new NodeDesc { IsSink = true, Evaluate = inner => { throw new TimeoutException("inside"); } });
                Ensure.Throws<TimeoutException>(() => other.Evaluate());
            }
            graph.Dispose();
            GC.Collect();
            ++calls;
            return Verdict.Done;
        } });
        Ensure.Equal(1u, graph.Evaluate().IsComplete, "the frame ends");
        Ensure.Equal(1, calls, "calls");
        Ensure.Throws<ObjectDisposedException>(() => graph.Evaluate());
    }

    /// <summary>Hostile: threads that read, edit, evaluate and dispose one graph without a lock.</summary>
    public static void Threads_on_one_graph_get_busy_and_never_crash()
    {
        for (var round = 0; round < 20; ++round)
        {
            using (var executor = Executor.CreatePool(1))
            {
                var graph = new Graph();
                var input = graph.AddInput("input", 0);
                var sink = graph.AddNode(Pure("sink", 1, Twice, true));
                graph.Connect(input, 0, sink, 0);
                var successes = 0;
                Ensure.OnThreads(4, thread =>
                {
                    for (var i = 0; i < 1500; ++i)
                    {
                        try
                        {
                            if (thread == 0) graph.Evaluate(executor);
                            else if (thread == 1) graph.GetValue(sink);
                            else if (thread == 2) graph.RemoveNode(graph.AddNode(Pure("extra", 1, Twice, true)));
                            else graph.GetReasonText(sink);
                            graph.Cancel();
                            Interlocked.Increment(ref successes);
                            if (thread == 3 && i == 1000) graph.Dispose();
                        }
                        catch (HobgoblinException exception)
                        {
                            Ensure.Equal(Result.Busy, exception.Result, exception.Message);
                        }
                        catch (ObjectDisposedException)
                        {
                            return;
                        }
                    }
                });
                Ensure.That(successes > 0, "some calls succeed");
                graph.Dispose();
            }
        }
    }

    /// <summary>Hostile: an executor that is disposed while it evaluates.</summary>
    public static void Disposing_the_executor_in_an_evaluation_is_safe()
    {
        for (var round = 0; round < 20; ++round)
        {
            var executor = Executor.CreatePool(2);
            using (var graph = new Graph())
            {
                for (var i = 0; i < 50; ++i)
                {
                    var number = i;
                    graph.AddNode(new NodeDesc { IsSink = true, Evaluate = call =>
                    {
                        Thread.SpinWait(5000);
                        if (number == 25) executor.Dispose();
                        return Verdict.Done;
                    } });
                }
                var desc = new EvaluationDesc { Evaluator = Evaluator.Parallel };
                try
                {
                    for (var frame = 0; frame < 5; ++frame) graph.Evaluate(executor, desc);
                    throw new Exception("a disposed executor was used");
                }
                catch (ObjectDisposedException)
                {
                    Ensure.Equal(1u, graph.Evaluate().IsComplete, "it goes on without");
                }
            }
        }
    }
}
