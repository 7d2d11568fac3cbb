// Nodes for the tests of graphs. MIT OR Apache-2.0.
using Hobgoblin;

static class GraphSupport
{
    public static NodeDesc Pure(string name, int inputs, NodeFunction evaluate, bool isSink = false)
    {
        return new NodeDesc
        {
            Name = name, TypeName = name, NodeClass = NodeClass.Pure, InputCount = inputs, Evaluate = evaluate, IsSink = isSink,
        };
    }

    public static Verdict Sum(NodeCall call)
    {
        var sum = 0.0;
        for (var i = 0; i < call.InputCount; ++i) sum += call.Input(i).Number;
        call.Output(0).Number = sum;
        return Verdict.Done;
    }

    public static Verdict Twice(NodeCall call)
    {
        call.Output(0).Number = 2 * call.Input(0).Number;
        return Verdict.Done;
    }
}
