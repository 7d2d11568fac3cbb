// Perceptions with managed cognitions, over frames of 320 x 200 pixels. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;
using Hobgoblin;
using static PerceptionSupport;

static unsafe class PerceptionTest
{
    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(PerceptionTest), arguments);
    }

    static int Gray(byte[] pixels, int x, int y)
    {
        var at = 4 * (y * Width + x);
        return (77 * pixels[at + 2] + 150 * pixels[at + 1] + 29 * pixels[at] + 128) / 256;
    }

    static long SumOfRed(byte[] pixels, PixelRect region)
    {
        long sum = 0;
        for (var y = region.Y; y < region.Y + region.Height; ++y)
            for (var x = region.X; x < region.X + region.Width; ++x) sum += pixels[4 * (y * Width + x) + 2];
        return sum;
    }

    static Result SumRed(CognitionCall call)
    {
        var input = call.Input(0);
        long sum = 0;
        for (var y = 0; y < input.Height; ++y)
        {
            var row = input.Row(y);
            for (var x = 0; x < input.Width; ++x) sum += row[4 * x + 2];
        }
        call.Value.Integer = sum;
        return Result.Ok;
    }

    public static void Values_are_those_of_a_plain_loop()
    {
        foreach (var graft in new[] { PerceptionChoice.Measured, PerceptionChoice.Always, PerceptionChoice.Never })
        {
            foreach (var isPool in new[] { false, true })
            {
                using (var executor = isPool ? Executor.CreatePool(2) : null)
                using (var eye = new Perception(new PerceptionDesc { Graft = graft }))
                {
                    var runs = 0;
                    var sum = eye.AddCognition(Pure(call =>
                    {
                        if (Interlocked.Increment(ref runs) % 20 == 0) GC.Collect();
                        return SumRed(call);
                    }));
                    var mean = eye.AddOperator(new OperatorDesc { Kind = Operator.Mean, Channel = Channel.Luma });
                    var regions = new[] { Rect(90, 171, 48, 16), Rect(0, 0, 40, 40), Rect(100, 40, 90, 60), Rect(0, 0, 320, 200) };
                    var sums = new PerceptionPipelineId[regions.Length];
                    var means = new PerceptionPipelineId[regions.Length];
                    for (var i = 0; i < regions.Length; ++i)
                    {
                        sums[i] = eye.AddPipeline(new PerceptionPipelineDesc("sum", new PerceptionStep(sum, regions[i])));
                        means[i] = eye.AddPipeline(new PerceptionPipelineDesc("mean", new PerceptionStep(mean, regions[i])));
                    }
                    var frame = new Frame(null, Width, Height);
                    for (var number = 0; number < 60; ++number)
                    {
                        frame.Pixels = Picture(number);
                        eye.BeginFrame(frame, executor);
                        for (var i = 0; i < regions.Length; ++i)
                        {
                            Ensure.Equal(SumOfRed(frame.Pixels, regions[i]), eye.Query(sums[i]).Integer, "the sum");
                            double gray = 0;
                            for (var y = regions[i].Y; y < regions[i].Y + regions[i].Height; ++y)
                            {
                                for (var x = regions[i].X; x < regions[i].X + regions[i].Width; ++x)
                                    gray += Gray(frame.Pixels, (int)x, (int)y);
                            }
                            gray /= regions[i].Width * regions[i].Height;
                            Ensure.That(Math.Abs(gray - eye.Query(means[i]).Number) < 1e-9, "the mean");
                        }
                    }
                    var statistics = eye.GetStatistics();
                    Ensure.Equal(60ul, statistics.Frames, "frames");
                    if (graft == PerceptionChoice.Always) Ensure.That(runs < 60 * 3, "grafts: " + runs + " runs");
                    if (graft == PerceptionChoice.Never) Ensure.That(runs >= 60 * 4, "no grafts: " + runs + " runs");
                    var shares = statistics.GetOrderShare(CompareOrder.TopDown) + statistics.GetOrderShare(CompareOrder.EndsIn) +
                        statistics.GetOrderShare(CompareOrder.MiddleOut) + statistics.GetOrderShare(CompareOrder.BitReversed);
                    if (graft == PerceptionChoice.Always) Ensure.That(shares > 0.99 && shares < 1.01, "shares of orders: " + shares);
                    Ensure.That(eye.TryGetPipelineStatistics(sums[0], out var counts) && counts.Queries == 60, "queries");
                    Ensure.That(eye.SaveJson().Contains("\"sum\""), "counts as JSON");
                }
            }
        }
    }

    public static void Pipelines_read_other_pipelines_and_parameters()
    {
        using (var eye = new Perception())
        {
            var sum = eye.AddCognition(Pure(SumRed));
            var join = eye.AddCognition(Pure(call =>
            {
                Ensure.Equal(2, call.InputCount, "inputs");
                Ensure.That(!call.Input(0).HasImage, "values have no image");
                Ensure.Equal("factor", call.Parameters.ToText(), "parameters");
                Ensure.That(call.Frame > 0, "the number of the frame");
                call.Value.Number = call.InputValue(0).Integer - call.InputValue(1).Integer;
                return Result.Ok;
            }));
            var one = eye.AddPipeline(new PerceptionPipelineDesc("one", new PerceptionStep(sum, Rect(0, 0, 8, 8))));
            var two = eye.AddPipeline(new PerceptionPipelineDesc("two", new PerceptionStep(sum, Rect(8, 0, 8, 8))));
            var parameters = System.Text.Encoding.UTF8.GetBytes("factor");
            var desc = new PerceptionPipelineDesc("join", new PerceptionStep(join, default(PixelRect), 0, parameters));
            desc.Inputs.Add(one);
            desc.Inputs.Add(two);
            var joined = eye.AddPipeline(desc);
            var pixels = Picture(1);
            eye.BeginFrame(pixels, Width, Height);
            var expected = SumOfRed(pixels, Rect(0, 0, 8, 8)) - SumOfRed(pixels, Rect(8, 0, 8, 8));
            Ensure.Equal((double)expected, eye.Query(joined).Number, "the difference");
            eye.RemovePipeline(joined);
            Ensure.Fails(Result.NotFound, () => eye.Query(joined));
            Ensure.That(!eye.TryGetPipelineStatistics(joined, out _), "statistics of a removed pipeline");
        }
    }

    public static void Consensus_and_past_frames()
    {
        using (var eye = new Perception(new PerceptionDesc { History = 5 }))
        {
            var sum = eye.AddCognition(Pure(SumRed));
            var bar = eye.AddPipeline(new PerceptionPipelineDesc("bar", new PerceptionStep(sum, Rect(90, 171, 48, 16))));
            for (var number = 0; number < 30; ++number)
            {
                eye.BeginFrame(Picture(number), Width, Height);
                // The bar changes every 10 frames.
                var isStable = number % 10 >= 2;
                Ensure.Equal(isStable, eye.TryQuery(bar, 3, out var value), "three frames agree in frame " + number);
                if (isStable) Ensure.Equal(SumOfRed(Picture(number), Rect(90, 171, 48, 16)), value.Integer, "the value");
                else if (number > 2) Ensure.Fails(Result.NoConsensus, () => eye.Query(bar, 3));
                if (number < 5) continue;
                Ensure.That(eye.TryQueryPast(bar, 5, out value), "a past frame");
                Ensure.Equal(SumOfRed(Picture(number - 5), Rect(90, 171, 48, 16)), value.Integer, "its value");
            }
            var questions = new[]
            {
                new PerceptionQuestion { Pipeline = bar, Frames = 3 }, new PerceptionQuestion { Pipeline = default(PerceptionPipelineId) },
            };
            var answers = new PerceptionAnswer[3];
            eye.QueryMany(questions, answers);
            Ensure.Equal(Result.Ok, answers[0].Result, "the first answer");
            Ensure.Equal(21ul, answers[0].FirstFrame, "its first frame");
            Ensure.Equal(Result.NotFound, answers[1].Result, "the second answer");
            Ensure.Throws<ArgumentException>(() => eye.QueryMany(questions, new PerceptionAnswer[1]));
            Ensure.Throws<ArgumentNullException>(() => eye.QueryMany(null, answers));
            eye.QueryMany(new PerceptionQuestion[0], answers);
        }
    }

    sealed class Text : IEquatable<Text>, IDisposable
    {
        public static int Alive;
        public readonly string Content;

        public Text(string content)
        {
            Content = content;
            Interlocked.Increment(ref Alive);
        }

        public bool Equals(Text other)
        {
            return Content == other.Content;
        }

        public void Dispose()
        {
            Interlocked.Decrement(ref Alive);
        }
    }

    public static void Objects_live_as_long_as_their_frames()
    {
        Text.Alive = 0;
        var eye = new Perception(new PerceptionDesc { History = 3 });
        var reader = eye.AddObject(new CognitionDesc { Flags = CognitionFlags.Pure }, call =>
            new Text("bar " + call.Input(0)[0, 0, 2]));
        var bar = eye.AddPipeline(new PerceptionPipelineDesc("bar", new PerceptionStep(reader, Rect(91, 171, 48, 16))));
        for (var number = 0; number < 60; ++number)
        {
            var pixels = Picture(number);
            eye.BeginFrame(pixels, Width, Height);
            Ensure.Equal("bar " + pixels[4 * (171 * Width + 91) + 2], eye.Query(bar).Object<Text>().Content, "the object");
            if (number % 10 >= 2) Ensure.That(eye.TryQuery(bar, 3, out _), "equal objects agree");
            if (number % 20 == 0) Ensure.Collect();
            Ensure.That(Text.Alive <= 6, Text.Alive + " objects are alive");
        }
        eye.Dispose();
        Ensure.Equal(0, Text.Alive, "objects after the perception");
    }

    public static void Failures_and_exceptions_stay_with_their_pipelines()
    {
        foreach (var isPool in new[] { false, true })
        {
            using (var executor = isPool ? Executor.CreatePool(2) : null)
            using (var eye = new Perception(new PerceptionDesc { Prefetch = PerceptionChoice.Always }))
            {
                var isThrowing = true;
                var sum = eye.AddCognition(Pure(SumRed));
                var failing = eye.AddCognition(Pure(call => call.Fail("grün: no digits")));
                var throwing = eye.AddCognition(Pure(call =>
                {
                    GC.Collect();
                    if (isThrowing) throw new TimeoutException("perceive");
                    return SumRed(call);
                }, CognitionFlags.None));
                var good = eye.AddPipeline(new PerceptionPipelineDesc("good", new PerceptionStep(sum, Rect(0, 0, 4, 4))));
                var failed = eye.AddPipeline(new PerceptionPipelineDesc("failed", new PerceptionStep(failing, Rect(0, 0, 4, 4))));
                var thrown = eye.AddPipeline(new PerceptionPipelineDesc("thrown", new PerceptionStep(throwing, Rect(0, 0, 4, 4))));
                var outside = eye.AddPipeline(new PerceptionPipelineDesc("outside", new PerceptionStep(sum, Rect(318, 0, 4, 4))));
                var pixels = Picture(0);
                var frame = new Frame(pixels, Width, Height);
                Ensure.Equal("perceive", Ensure.Throws<TimeoutException>(() => eye.BeginFrame(frame, executor)).Message, "begin");
                Ensure.Equal(SumOfRed(pixels, Rect(0, 0, 4, 4)), eye.Query(good).Integer, "the others");
                Ensure.That(!eye.TryQuery(failed, 1, out var value) && value == default(Value), "a failed one");
                Ensure.Fails(Result.CognitionFailed, () => eye.Query(failed));
                Ensure.Equal("grün: no digits", eye.GetFailure(failed), "its reason");
                Ensure.Equal("perceive", eye.GetFailure(thrown), "the reason of an exception");
                Ensure.That(!eye.TryQuery(outside, 1, out value) && eye.GetFailure(outside).Length > 0, "a region outside");
                Ensure.Equal("", eye.GetFailure(good), "no reason");
                isThrowing = false;
                frame.Pixels = Picture(1);
                eye.BeginFrame(frame, executor);
                Ensure.That(eye.TryQuery(thrown, 1, out value), "it recovers");
            }
        }
    }

    public static void Equality_and_release_may_throw()
    {
        var eye = new Perception();
        var isThrowing = false;
        var released = 0;
        var handle = 0L;
        var owner = eye.AddCognition(new CognitionDesc
        {
            Flags = CognitionFlags.Owned,
            Perceive = call =>
            {
                call.Value.Integer = Interlocked.Increment(ref handle);
                return Result.Ok;
            },
            IsEqual = (one, other) =>
            {
                GC.Collect();
                if (isThrowing) throw new TimeoutException("equal");
                return true;
            },
            ReleaseValue = value =>
            {
                GC.Collect();
                Interlocked.Increment(ref released);
                if (isThrowing) throw new TimeoutException("release");
            },
        });
        var pipeline = eye.AddPipeline(new PerceptionPipelineDesc("owned", new PerceptionStep(owner, Rect(0, 0, 4, 4))));
        var thrown = 0;
        var reported = 0;
        Action<Exception> handler = exception => Interlocked.Increment(ref reported);
        Hob.UnhandledCallbackException += handler;
        for (var number = 0; number < 20; ++number)
        {
            isThrowing = number >= 10;
            try
            {
                eye.BeginFrame(Picture(number), Width, Height);
                eye.TryQuery(pipeline, 2, out _);
            }
            catch (TimeoutException)
            {
                ++thrown;
            }
        }
        Ensure.That(thrown > 0, "exceptions reach the caller");
        eye.Dispose();
        Ensure.Equal(handle, (long)released, "each handle is released once");
        Ensure.That(reported > 0, "exceptions of dispose are reported");
        Hob.UnhandledCallbackException -= handler;
    }

    public static void Hints_and_native_frames_give_the_same_values()
    {
        using (var plain = new Perception())
        using (var eye = new Perception())
        {
            var pipelines = new List<PerceptionPipelineId>();
            var region = Rect(100, 40, 60, 40);
            foreach (var one in new[] { plain, eye })
                pipelines.Add(one.AddPipeline(new PerceptionPipelineDesc("sum", new PerceptionStep(one.AddCognition(Pure(SumRed)), region))));
            var frame = new Frame
            {
                Width = Width, Height = Height, Format = PixelFormat.Bgrx8, Dirty = new PixelRect[2], Moves = new FrameMove[1],
                Trust = FrameTrust.Audit,
            };
            var native = Marshal.AllocHGlobal(Width * Height * 4);
            for (var number = 0; number < 40; ++number)
            {
                var pixels = Picture(number);
                Marshal.Copy(pixels, 0, native, pixels.Length);
                plain.BeginFrame(pixels, Width, Height);
                frame.Data = native;
                frame.DataSize = pixels.Length;
                frame.Dirty[0] = Rect(0, 50, Width, 20);
                frame.Dirty[1] = Rect(0, 171, Width, 40);
                frame.DirtyCount = number == 0 ? 0 : 2;
                frame.Moves[0] = new FrameMove { Source = Rect((uint)Math.Max(number - 1, 0), 50, 20, 20), X = (uint)number, Y = 50 };
                frame.MoveCount = 1;
                eye.BeginFrame(frame);
                Ensure.Equal(plain.Query(pipelines[0]), eye.Query(pipelines[1]), "frame " + number);
            }
            Ensure.Equal(0u, eye.GetStatistics().IsDistrusted, "the hints are right");
            // No hint at all: nothing changed.
            frame.Dirty = new PixelRect[0];
            frame.DirtyCount = frame.MoveCount = 0;
            eye.BeginFrame(frame);
            Ensure.Equal(plain.Query(pipelines[0]), eye.Query(pipelines[1]), "an unchanged frame");
            Marshal.FreeHGlobal(native);
        }
    }

    public static void Loops_inside_cognitions_use_the_executor()
    {
        using (var executor = Executor.CreatePool(2))
        using (var eye = new Perception())
        {
            var loops = 0;
            var sum = eye.AddCognition(Pure(call =>
            {
                if (call.Executor != null)
                {
                    Ensure.That(ReferenceEquals(executor, call.Executor), "the executor of the frame");
                    call.Executor.ParallelFor(8, block => Interlocked.Increment(ref loops));
                }
                return SumRed(call);
            }, CognitionFlags.None));
            var pipeline = eye.AddPipeline(new PerceptionPipelineDesc("sum", new PerceptionStep(sum, Rect(0, 0, 9, 9))));
            for (var number = 0; number < 5; ++number)
            {
                eye.BeginFrame(new Frame(Picture(number), Width, Height), executor);
                eye.Query(pipeline);
            }
            Ensure.That(loops > 0, "loops ran");
            // Hostile: the executor is disposed between a frame and its queries.
            eye.BeginFrame(new Frame(Picture(6), Width, Height), executor);
            executor.Dispose();
            try
            {
                eye.Query(pipeline);
            }
            catch (ObjectDisposedException)
            {
                // Of ParallelFor.
            }
            Ensure.Throws<ObjectDisposedException>(() => eye.BeginFrame(new Frame(Picture(7), Width, Height), executor));
            eye.BeginFrame(Picture(8), Width, Height);
            Ensure.Equal(SumOfRed(Picture(8), Rect(0, 0, 9, 9)), eye.Query(pipeline).Integer, "it goes on without");
        }
    }

    public static void Frames_that_fail_keep_no_executor()
    {
        using (var eye = new Perception())
        {
            for (var i = 0; i < 10; ++i)
            {
                using (var executor = Executor.CreatePool(1))
                    Ensure.Fails(Result.InvalidArgument, () => eye.BeginFrame(new Frame { Width = 0, Height = 5 }, executor));
            }
            eye.BeginFrame(Picture(0), Width, Height);
        }
    }

    public static void Bad_input_is_refused()
    {
        foreach (var share in new[] { double.NaN, -0.5, 2 })
            Ensure.Fails(Result.InvalidArgument, () => new Perception(new PerceptionDesc { AuditShare = share }));
        Ensure.Fails(Result.InvalidArgument, () => new Perception(new PerceptionDesc { Graft = (PerceptionChoice)9 }));
        var eye = new Perception();
        Ensure.Throws<ArgumentNullException>(() => eye.BeginFrame((Frame)null));
        Ensure.Throws<ArgumentException>(() => eye.BeginFrame(new byte[Width * Height * 4 - 1], Width, Height));
        Ensure.Throws<ArgumentException>(() => eye.BeginFrame((byte[])null, Width, Height));
        Ensure.Throws<ArgumentException>(() => eye.BeginFrame(new byte[10], uint.MaxValue, uint.MaxValue));
        Ensure.Throws<ArgumentException>(() => eye.BeginFrame(new Frame(new byte[Width * Height * 4], Width, Height) { Stride = -1 }));
        Ensure.Throws<ArgumentException>(() => eye.BeginFrame(new Frame(new byte[Width * Height * 4], Width, Height) { Stride = long.MaxValue }));
        Ensure.Throws<ArgumentException>(() => eye.BeginFrame(new Frame(new byte[Width * Height * 4], Width, Height) { Stride = Width * 4 + 1 }));
        Ensure.Fails(Result.InvalidArgument, () => eye.BeginFrame(new Frame(new byte[Width * Height * 4], Width, Height) { Stride = 5 }));
        Ensure.Fails(Result.InvalidArgument, () => eye.BeginFrame(new byte[0], 0, 0));
        Ensure.Fails(Result.InvalidArgument, () => eye.BeginFrame(new byte[400], 10, 10, (PixelFormat)77));
        Ensure.Fails(Result.InvalidArgument, () => eye.BeginFrame(new byte[400], 10, 10, PixelFormat.Count32));
        Ensure.Fails(Result.InvalidArgument, () => eye.BeginFrame(new byte[400], 10, 10, PixelFormat.Rgb565 + 100));
        var frame = new Frame { Width = 10, Height = 10, Data = IntPtr.Zero, DataSize = 400 };
        Ensure.Fails(Result.InvalidArgument, () => eye.BeginFrame(frame));
        frame = new Frame(new byte[400], 10, 10) { DirtyCount = 1 };
        Ensure.Throws<ArgumentOutOfRangeException>(() => eye.BeginFrame(frame));
        frame = new Frame(new byte[400], 10, 10) { Moves = new FrameMove[1], MoveCount = 2 };
        Ensure.Throws<ArgumentOutOfRangeException>(() => eye.BeginFrame(frame));
        frame.MoveCount = -1;
        Ensure.Throws<ArgumentOutOfRangeException>(() => eye.BeginFrame(frame));
        Ensure.Throws<ArgumentNullException>(() => eye.AddCognition(null));
        Ensure.Throws<ArgumentException>(() => eye.AddCognition(new CognitionDesc()));
        Ensure.Throws<ArgumentNullException>(() => eye.AddObject<Text>(new CognitionDesc(), null));
        Ensure.Throws<ArgumentNullException>(() => eye.AddOperator(null));
        Ensure.Throws<ArgumentNullException>(() => eye.AddPipeline(null));
        Ensure.Fails(Result.Unsupported, () => eye.AddCognition(Pure(SumRed, (CognitionFlags)(1 << 20))));
        Ensure.Fails(Result.InvalidArgument, () => eye.AddOperator(new OperatorDesc { Kind = (Operator)99 }));
        Ensure.Fails(Result.InvalidArgument, () => eye.AddOperator(new OperatorDesc { Kind = Operator.Threshold, Level = 999 }));
        Ensure.Fails(Result.InvalidArgument, () => eye.AddOperator(new OperatorDesc { Kind = Operator.Template }));
        Ensure.Throws<ArgumentException>(() => eye.AddOperator(new OperatorDesc { Kind = Operator.Template, Image = new PixelImage(new byte[3], 2, 2) }));
        var glyphs = new OperatorDesc { Kind = Operator.Glyphs };
        glyphs.Glyphs.Add(new Glyph());
        Ensure.Fails(Result.InvalidArgument, () => eye.AddOperator(glyphs));
        glyphs.Glyphs[0] = null;
        Ensure.Throws<ArgumentException>(() => eye.AddOperator(glyphs));
        Ensure.Fails(Result.InvalidArgument, () => eye.AddPipeline(new PerceptionPipelineDesc("empty")));
        Ensure.Fails(Result.NotFound, () => eye.AddPipeline(new PerceptionPipelineDesc("x", new PerceptionStep(default(CognitionId)))));
        Ensure.Fails(Result.NotFound, () => eye.RemovePipeline(default(PerceptionPipelineId)));
        Ensure.Fails(Result.NotFound, () => eye.SetPrefetch(default(PerceptionPipelineId), Prefetch.Always));
        Ensure.Fails(Result.NotFound, () => eye.GetFailure(default(PerceptionPipelineId)));
        var outside = 0;
        var probe = eye.AddCognition(Pure(call =>
        {
            try { call.Input(1); } catch (ArgumentOutOfRangeException) { ++outside; }
            try { call.InputValue(-1); } catch (ArgumentOutOfRangeException) { ++outside; }
            try { call.Input(0).Row(4); } catch (ArgumentOutOfRangeException) { ++outside; }
            try { var b = call.Input(0)[-1, 0, 0]; } catch (ArgumentOutOfRangeException) { ++outside; }
            try { var b = call.Input(0)[4, 0, 0]; } catch (ArgumentOutOfRangeException) { ++outside; }
            try { var b = call.Input(0)[0, 0, 4]; } catch (ArgumentOutOfRangeException) { ++outside; }
            try { call.Input(0).ChromaRow(0); } catch (ArgumentOutOfRangeException) { ++outside; }
            try { call.Input(0).WriteRow(0, new byte[16]); } catch (InvalidOperationException) { ++outside; }
            try { call.Image.WriteRow(0, new byte[16]); } catch (InvalidOperationException) { ++outside; }
            return (Result)4444;
        }));
        var pipeline = eye.AddPipeline(new PerceptionPipelineDesc("probe", new PerceptionStep(probe, Rect(0, 0, 4, 4))));
        Ensure.Fails(Result.NoConsensus, () => eye.Query(pipeline));
        eye.BeginFrame(Picture(0), Width, Height);
        Ensure.Fails(Result.CognitionFailed, () => eye.Query(pipeline));
        Ensure.Equal(9, outside, "accesses outside of the call");
        Ensure.Fails(Result.LimitExceeded, () => eye.Query(pipeline, 65));
        Ensure.Fails(Result.LimitExceeded, () => { eye.TryQueryPast(pipeline, 1000, out _); });
        Ensure.Throws<HobgoblinException>(() => eye.CopyImage(pipeline, new PixelImage()));
        Ensure.Throws<ArgumentNullException>(() => eye.CopyImage(pipeline, null));
        Ensure.Throws<ArgumentNullException>(() => eye.ReadImage(pipeline, null));
        eye.Dispose();
        eye.Dispose();
        Ensure.Throws<ObjectDisposedException>(() => eye.BeginFrame(Picture(0), Width, Height));
        Ensure.Throws<ObjectDisposedException>(() => eye.TryQuery(pipeline, 1, out _));
    }

    public static void A_frame_allocates_nothing()
    {
        using (var executor = Executor.CreatePool(1))
        using (var eye = new Perception())
        {
            var sum = eye.AddCognition(Pure(SumRed));
            var crop = eye.AddOperator(new OperatorDesc { Kind = Operator.Crop });
            var bar = eye.AddPipeline(new PerceptionPipelineDesc("bar", new PerceptionStep(sum, Rect(0, 0, 16, 16))));
            var cut = eye.AddPipeline(new PerceptionPipelineDesc("cut", new PerceptionStep(crop, Rect(0, 0, 16, 16))));
            var frame = new Frame(Picture(0), Width, Height);
            var image = new PixelImage();
            var questions = new[] { new PerceptionQuestion { Pipeline = bar } };
            var answers = new PerceptionAnswer[1];
            foreach (var threads in new[] { null, executor })
            {
                Ensure.AllocatesNothing("a frame", 2000, i =>
                {
                    frame.Pixels[2] = (byte)i;
                    eye.BeginFrame(frame, threads);
                    eye.TryQuery(bar, 1, out _);
                    eye.TryQuery(bar, 3, out _);
                    eye.TryQueryPast(bar, 1, out _);
                    eye.QueryMany(questions, answers);
                    eye.CopyImage(cut, image);
                    eye.GetStatistics();
                });
            }
        }
    }

    /// <summary>Hostile: cognitions that call their perception, and dispose it.</summary>
    public static void Cognitions_that_reenter_get_busy_and_may_dispose()
    {
        var eye = new Perception();
        var pipeline = default(PerceptionPipelineId);
        var calls = 0;
        var cognition = eye.AddCognition(Pure(call =>
        {
            ++calls;
            Ensure.Fails(Result.Busy, () => eye.Query(pipeline));
            Ensure.Fails(Result.Busy, () => eye.GetStatistics());
            Ensure.Fails(Result.Busy, () => eye.BeginFrame(new byte[4], 1, 1));
            Ensure.Fails(Result.Busy, () => eye.RemovePipeline(pipeline));
            using (var other = new Perception())
            {
                var inner = other.AddCognition(Pure(nested => { throw new TimeoutException("inside"); }));
                var asked = other.AddPipeline(new PerceptionPipelineDesc("inner", new PerceptionStep(inner)));
                other.BeginFrame(new byte[400], 10, 10);
                Ensure.Throws<TimeoutException>(() => other.Query(asked));
            }
            eye.Dispose();
            GC.Collect();
            return SumRed(call);
        }));
        pipeline = eye.AddPipeline(new PerceptionPipelineDesc("sum", new PerceptionStep(cognition, Rect(0, 0, 4, 4))));
        eye.BeginFrame(Picture(0), Width, Height);
        Ensure.Equal(SumOfRed(Picture(0), Rect(0, 0, 4, 4)), eye.Query(pipeline).Integer, "the call ends");
        Ensure.Equal(1, calls, "calls");
        Ensure.Throws<ObjectDisposedException>(() => eye.Query(pipeline));
    }

    /// <summary>Hostile: threads that begin frames, ask, edit and dispose one perception without a lock.</summary>
    public static void Threads_on_one_perception_get_busy_and_never_crash()
    {
        for (var round = 0; round < 10; ++round)
        {
            using (var executor = Executor.CreatePool(1))
            {
                var eye = new Perception();
                var sum = eye.AddCognition(Pure(SumRed));
                var step = new PerceptionStep(sum, Rect(0, 0, 16, 16));
                var bar = eye.AddPipeline(new PerceptionPipelineDesc("bar", step));
                var pixels = Picture(1);
                Ensure.OnThreads(4, thread =>
                {
                    var frame = new Frame(pixels, Width, Height);
                    for (var i = 0; i < 500; ++i)
                    {
                        try
                        {
                            if (thread == 0) eye.BeginFrame(frame, executor);
                            else if (thread == 1) eye.TryQuery(bar, 1, out _);
                            else if (thread == 2) eye.RemovePipeline(eye.AddPipeline(new PerceptionPipelineDesc("more", step)));
                            else eye.GetFailure(bar);
                            if (thread == 3 && i == 400) eye.Dispose();
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
                eye.Dispose();
            }
        }
    }

    public static void Forgotten_perceptions_are_collected()
    {
        Text.Alive = 0;
        var thread = new Thread(() =>
        {
            for (var i = 0; i < 100; ++i)
            {
                var eye = new Perception();
                var cognition = eye.AddObject(new CognitionDesc(), call => new Text("x"));
                var pipeline = eye.AddPipeline(new PerceptionPipelineDesc("x", new PerceptionStep(cognition)));
                eye.BeginFrame(new Frame(new byte[400], 10, 10), Executor.CreatePool(1));
                eye.Query(pipeline);
            }
        });
        thread.Start();
        thread.Join();
        for (var i = 0; i < 20 && Text.Alive > 2; ++i) Ensure.Collect();
        Ensure.That(Text.Alive <= 2, Text.Alive + " of 100 objects are alive");
    }
}
