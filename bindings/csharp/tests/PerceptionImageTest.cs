// Images of cognitions, and built-in cognitions that read images. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;
using Hobgoblin;
using static PerceptionSupport;

static unsafe class PerceptionImageTest
{
    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(PerceptionImageTest), arguments);
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

    public static void Images_of_cognitions_are_read_and_copied()
    {
        using (var eye = new Perception())
        {
            var invert = eye.AddCognition(new CognitionDesc
            {
                Flags = CognitionFlags.Pure | CognitionFlags.Image | CognitionFlags.Local, ImageFormat = PixelFormat.Gray8,
                Support = 1,
                Perceive = call =>
                {
                    var input = call.Input(0);
                    var made = call.Image;
                    Ensure.That(made.Width == input.Width && made.Format == PixelFormat.Gray8, "the image");
                    var row = new byte[made.Width];
                    for (var y = 0; y < made.Height; ++y)
                    {
                        for (var x = 0; x < made.Width; ++x) row[x] = (byte)(255 - input[x, y, 0]);
                        made.WriteRow(y, row);
                    }
                    // Pixels around the region, where there are some.
                    if (input.Left > 0) Ensure.Equal((byte)(input[0, 0, 0] - 1), input[-1, 0, 0], "the column to the left");
                    made[3, 2, 0] = 77;
                    return Result.Ok;
                },
            });
            var threshold = eye.AddOperator(new OperatorDesc { Kind = Operator.Threshold, Level = 200 });
            var region = Rect(20, 10, 30, 8);
            var inverted = eye.AddPipeline(new PerceptionPipelineDesc("inverted", new PerceptionStep(invert, region)));
            var both = eye.AddPipeline(
                new PerceptionPipelineDesc("both", new PerceptionStep(invert, region), new PerceptionStep(threshold)));
            var pixels = Picture(3);
            eye.BeginFrame(pixels, Width, Height);
            var image = new PixelImage();
            eye.CopyImage(inverted, image);
            Ensure.That(image.Width == 30 && image.Height == 8 && image.Format == PixelFormat.Gray8, "the image");
            for (var y = 0; y < 8; ++y)
            {
                for (var x = 0; x < 30; ++x)
                {
                    var expected = x == 3 && y == 2 ? 77 : 255 - pixels[4 * ((10 + y) * Width + 20 + x)];
                    Ensure.Equal((byte)expected, image.Pixels[y * 30 + x], $"pixel {x}, {y}");
                }
            }
            var kept = image.Pixels;
            eye.CopyImage(both, image);
            Ensure.That(ReferenceEquals(kept, image.Pixels), "the array is used again");
            for (var i = 0; i < 240; ++i)
            {
                var before = i == 2 * 30 + 3 ? 77 : 255 - pixels[4 * ((10 + i / 30) * Width + 20 + i % 30)];
                Ensure.Equal((byte)(before > 200 ? 255 : 0), image.Pixels[i], "threshold " + i);
            }
            var seen = 0;
            eye.ReadImage(inverted, view =>
            {
                seen = view[3, 2, 0];
                Ensure.Equal(30L, view.Row(7).Length, "bytes of a row");
                Ensure.Throws<HobgoblinException>(() => eye.Query(inverted));
                try
                {
                    view[0, 0, 0] = 1;
                    throw new Exception("a result was written");
                }
                catch (InvalidOperationException)
                {
                    // As it should be.
                }
            });
            Ensure.Equal(77, seen, "the view");
            Ensure.Throws<TimeoutException>(() => eye.ReadImage(inverted, view => { throw new TimeoutException(); }));
            eye.Query(both);
        }
    }

    public static void Planes_of_NV12_are_readable()
    {
        using (var eye = new Perception())
        {
            var copy = eye.AddCognition(new CognitionDesc
            {
                Flags = CognitionFlags.Pure | CognitionFlags.Image,
                Perceive = call =>
                {
                    var input = call.Input(0);
                    var made = call.Image;
                    Ensure.Equal(PixelFormat.Nv12, made.Format, "the format of the input");
                    for (var y = 0; y < input.Height; ++y) made.WriteRow(y, input.Row(y).ToArray());
                    for (var y = 0; y < input.Height / 2; ++y) made.WriteChromaRow(y, input.ChromaRow(y).ToArray());
                    return Result.Ok;
                },
            });
            var pipeline = eye.AddPipeline(new PerceptionPipelineDesc("nv12", new PerceptionStep(copy, Rect(2, 4, 8, 6))));
            var frame = new Frame(new byte[64 * 32], 64, 32, PixelFormat.Nv12) { Chroma = new byte[64 * 16] };
            for (var i = 0; i < frame.Pixels.Length; ++i) frame.Pixels[i] = (byte)(i * 3);
            for (var i = 0; i < frame.Chroma.Length; ++i) frame.Chroma[i] = (byte)(i * 5);
            eye.BeginFrame(frame);
            var image = new PixelImage();
            eye.CopyImage(pipeline, image);
            Ensure.Equal(frame.Pixels[5 * 64 + 3], image.Pixels[8 + 1], "brightness");
            Ensure.Equal(frame.Chroma[3 * 64 + 2], image.Chroma[8], "colour");
            frame.Chroma = new byte[64 * 16 - 1];
            Ensure.Throws<ArgumentException>(() => eye.BeginFrame(frame));
            frame.Chroma = null;
            Ensure.Throws<ArgumentException>(() => eye.BeginFrame(frame));
        }
    }

    public static void Digits_and_templates_are_found()
    {
        using (var eye = new Perception())
        {
            var digits = new OperatorDesc { Kind = Operator.Glyphs };
            for (uint digit = 0; digit < 10; ++digit)
                digits.Glyphs.Add(new Glyph { Digit = digit, Image = new PixelImage(Digit(digit), 4, 6, PixelFormat.Gray8) });
            var read = eye.AddOperator(digits);
            var template = new byte[5 * 5];
            for (var i = 0; i < 25; ++i) template[i] = (byte)(i * 10);
            var find = eye.AddOperator(new OperatorDesc
            {
                Kind = Operator.Template, Image = new PixelImage(template, 5, 5, PixelFormat.Gray8),
            });
            var number = eye.AddPipeline(new PerceptionPipelineDesc("number", new PerceptionStep(read, Rect(10, 20, 40, 6))));
            var place = eye.AddPipeline(new PerceptionPipelineDesc("place", new PerceptionStep(find, Rect(60, 0, 100, 100))));
            var pixels = new byte[Width * Height];
            for (uint i = 0; i < 3; ++i)
            {
                var digit = Digit(new uint[] { 7, 0, 4 }[i]);
                for (var y = 0; y < 6; ++y)
                    for (var x = 0; x < 4; ++x) pixels[(20 + y) * Width + 10 + 4 * i + x] = digit[4 * y + x];
            }
            for (var i = 0; i < 25; ++i) pixels[(33 + i / 5) * Width + 77 + i % 5] = template[i];
            eye.BeginFrame(pixels, Width, Height, PixelFormat.Gray8);
            Ensure.Equal(704L, eye.Query(number).Integer, "the number");
            var found = eye.Query(place);
            Ensure.Equal(17ul | 33ul << 32, found.Word0, "the place");
            Ensure.Equal(0ul, found.Word1, "an exact match");
        }
    }

    static byte[] Digit(uint digit)
    {
        var pixels = new byte[24];
        for (var i = 0; i < 24; ++i) pixels[i] = (byte)((i * (digit + 3) * 37 % 11 < 5) ? 255 : 40);
        pixels[0] = (byte)(100 + digit);
        return pixels;
    }

    public static void Overlays_are_drawn_over_a_copy()
    {
        using (var eye = new Perception())
        {
            var picture = new PixelImage(new byte[Width * Height * 4], Width, Height, PixelFormat.Bgra8);
            Ensure.Fails(Result.NotFound, () => eye.DrawOverlay(picture));
            var sum = eye.AddCognition(Pure(SumRed));
            eye.AddPipeline(new PerceptionPipelineDesc("sum", new PerceptionStep(sum, Rect(20, 20, 30, 30))));
            eye.BeginFrame(Picture(0), Width, Height);
            eye.DrawOverlay(picture);
            var drawn = 0;
            foreach (var one in picture.Pixels) drawn += one != 0 ? 1 : 0;
            Ensure.That(drawn > 50, "pixels are drawn");
            picture.Pixels = new byte[100];
            Ensure.Throws<ArgumentException>(() => eye.DrawOverlay(picture));
            picture.Pixels = null;
            Ensure.Throws<ArgumentException>(() => eye.DrawOverlay(picture));
            Ensure.Throws<ArgumentNullException>(() => eye.DrawOverlay(null));
            Ensure.Throws<ArgumentException>(() => eye.DrawOverlay(IntPtr.Zero, 0, Width, Height));
        }
    }

    public static void Borrowed_frames_stay_in_native_memory()
    {
        var buffers = new IntPtr[3];
        for (var i = 0; i < buffers.Length; ++i) buffers[i] = Marshal.AllocHGlobal(Width * Height * 4);
        var desc = new PerceptionDesc { BorrowsFrames = true, Graft = PerceptionChoice.Always };
        Ensure.Equal(2u, desc.History, "the past frames");
        using (var eye = new Perception(desc))
        {
            var cognition = Pure(SumRed);
            cognition.CostNs = 20000;
            var region = Rect(90, 171, 48, 16);
            var sum = eye.AddPipeline(new PerceptionPipelineDesc("sum", new PerceptionStep(eye.AddCognition(cognition), region)));
            var frame = new Frame(null, Width, Height) { DataSize = Width * Height * 4 };
            for (var number = 0; number < 40; ++number)
            {
                var picture = Picture(number);
                frame.Data = buffers[number % buffers.Length];
                Marshal.Copy(picture, 0, frame.Data, picture.Length);
                eye.BeginFrame(frame);
                long wanted = 0;
                for (var y = region.Y; y < region.Y + region.Height; ++y)
                    for (var x = region.X; x < region.X + region.Width; ++x) wanted += picture[4 * (y * Width + x) + 2];
                Ensure.Equal(wanted, eye.Query(sum).Integer, "the sum");
                Ensure.Equal(number % 10 >= 2, eye.TryQuery(sum, 3, out _), "three frames agree");
            }
            Ensure.Equal(0ul, eye.GetStatistics().CopiedBytes, "copied bytes");
            Ensure.Fails(Result.LimitExceeded, () => eye.Query(sum, 20));
            Ensure.Fails(Result.InvalidArgument, () => eye.BeginFrame(frame));
            Ensure.Throws<ArgumentException>(() => eye.BeginFrame(Picture(0), Width, Height));
            frame.Data = buffers[1];
            frame.Trust = FrameTrust.Audit;
            Ensure.Fails(Result.InvalidArgument, () => eye.BeginFrame(frame));
        }
        foreach (var buffer in buffers) Marshal.FreeHGlobal(buffer);
    }
}
