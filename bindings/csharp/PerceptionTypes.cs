// Perceptions: ids, parameters and answers. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using Hobgoblin.Interop;

#pragma warning disable 169, 649 // the library writes these fields

namespace Hobgoblin
{
    /// <summary>Whether something is done.</summary>
    public enum PerceptionChoice : uint
    {
        /// <summary>If measurements say so.</summary>
        Measured = 0,
        /// <summary>Always.</summary>
        Always = 1,
        /// <summary>Never.</summary>
        Never = 2,
    }
    /// <summary>The order in which the rows of regions are compared with those of the last frame.</summary>
    public enum CompareOrder : uint
    {
        /// <summary>The order that found differences in the fewest rows.</summary>
        Measured = 0,
        /// <summary>From the top to the bottom.</summary>
        TopDown = 1,
        /// <summary>From both ends to the middle.</summary>
        EndsIn = 2,
        /// <summary>From the middle to both ends.</summary>
        MiddleOut = 3,
        /// <summary>By the reversed bits of the row's number.</summary>
        BitReversed = 4,
    }
    /// <summary>Parameters of a perception. A new one has the defaults.</summary>
    public sealed unsafe class PerceptionDesc
    {
        internal hob_perception_desc Raw;

        public PerceptionDesc()
        {
            Hob.Ready(Room.Perception);
            fixed (hob_perception_desc* raw = &Raw)
                Hob.Check(Native.hob_perception_desc_init(raw, (uint)sizeof(hob_perception_desc)));
        }

        /// <summary>Past frames whose pixels are kept, at most 63. Queries that ask for more frames raise it, unless
        /// <c>BorrowsFrames</c> is set. 0: the default, 2.</summary>
        public uint History { get => Raw.history; set => Raw.history = value; }
        /// <summary>Limit of the bytes of kept frames. Default 0: no limit.</summary>
        public ulong MemoryLimit { get => Raw.memory_limit; set => Raw.memory_limit = value; }
        /// <summary>Whether results are taken over from the last frame where nothing changed. Default
        /// <c>PerceptionChoice.Measured</c>: by the measured time of whole frames, queries included.</summary>
        public PerceptionChoice Graft { get => (PerceptionChoice)Raw.graft; set => Raw.graft = (hob_perception_choice)value; }
        /// <summary>Whether pipelines are computed when a frame begins. Default <c>PerceptionChoice.Measured</c>: those
        /// that were asked for in most of the last frames. For <c>PerceptionChoice.Always</c>, all but those with
        /// <c>Prefetch.Never</c>.</summary>
        public PerceptionChoice Prefetch { get => (PerceptionChoice)Raw.prefetch; set => Raw.prefetch = (hob_perception_choice)value; }
        /// <summary>The order of compares. Default <c>CompareOrder.Measured</c>.</summary>
        public CompareOrder CompareOrder { get => (CompareOrder)Raw.compare_order; set => Raw.compare_order = (hob_compare_order)value; }
        /// <summary>Prefetch is omitted if few pipelines remain to be computed. Few are at most 1 /
        /// <c>PrefetchDivisor</c> of the pipelines that are prefetched, or of the executor's threads; both divisions
        /// round down. 0: the default, 3. <c>uint.MaxValue</c>: it is never omitted.</summary>
        public uint PrefetchDivisor { get => Raw.prefetch_divisor; set => Raw.prefetch_divisor = value; }
        /// <summary>Share of a frame's steps that are computed again, to find wrong regions and flags: 0 to 1. Default 0.
        /// The results of a cognition with a wrong declaration are not taken over any more. With 0.02 each step is
        /// checked once in about 50 frames.</summary>
        public double AuditShare { get => Raw.audit_share; set => Raw.audit_share = value; }
        /// <summary>Whether a fixed table chooses if results are taken over. Default false: measured accounts do.</summary>
        public bool UsesTable { get => Raw.uses_table != 0; set => Raw.uses_table = value ? 1u : 0u; }
        /// <summary>Whether frames are borrowed, not copied (zero-copy). In each call, the pixels of the last
        /// <c>History</c> + 1 frames of the same size and format, the new one included, must be readable and unchanged.
        /// Rotate <c>History</c> + 1 buffers of native memory: <c>Frame.Data</c>, not <c>Frame.Pixels</c>. Default false:
        /// frames are copied.</summary>
        public bool BorrowsFrames { get => Raw.borrows_frames != 0; set => Raw.borrows_frames = value ? 1u : 0u; }
    }

    /// <summary>A cognition of a perception. All zero is no cognition.</summary>
    public readonly struct CognitionId : IEquatable<CognitionId>
    {
        readonly uint index1, generation;
        /// <summary>Whether this is not the zero id.</summary>
        public bool IsValid => index1 != 0;
        /// <summary>Its place, from 1 on; 0 is no id.</summary>
        public uint Index1 => index1;
        /// <summary>Compares all bits.</summary>
        public bool Equals(CognitionId other) => index1 == other.index1 && generation == other.generation;
        /// <summary>Compares all bits.</summary>
        public override bool Equals(object other) => other is CognitionId && Equals((CognitionId)other);
        /// <summary>Hashes all bits.</summary>
        public override int GetHashCode() => (int)(index1 * 31 + generation);
        /// <summary>Compares all bits.</summary>
        public static bool operator ==(CognitionId a, CognitionId b) => a.Equals(b);
        /// <summary>Compares all bits.</summary>
        public static bool operator !=(CognitionId a, CognitionId b) => !a.Equals(b);
    }
    [Flags]
    public enum CognitionFlags : uint
    {
        /// <summary>None.</summary>
        None = 0,
        /// <summary>The result depends only on the regions of its inputs, and on its parameters. Without it the cognition
        /// runs in every frame in which its result is needed.</summary>
        Pure = 1,
        /// <summary>The result does not depend on where the region is. With <c>CognitionFlags.Pure</c>, the results of
        /// pixels that moved are taken over from their old place.</summary>
        Invariant = 2,
        /// <summary>It makes an image.</summary>
        Image = 4,
        /// <summary>Each pixel of its image depends only on the pixels of the inputs at the same place. "The same place"
        /// is a square of <c>Scale</c> times <c>Scale</c> pixels, and <c>Support</c> pixels around it. Then later steps
        /// run only if pixels changed on which their own region depends. Such a cognition has no value: it is not passed
        /// on.</summary>
        Local = 8,
        /// <summary>The value is a handle of the host that the perception owns. It is passed to <c>ReleaseValue</c> when
        /// no kept frame has it any more. It is not all zero, and each run makes another one.</summary>
        Owned = 16,
    }
    /// <summary>Parameters of a cognition of the host.</summary>
    public sealed class CognitionDesc
    {
        /// <summary>What its result depends on, and what it makes. Default: none.</summary>
        public CognitionFlags Flags { get; set; }
        /// <summary>A name for messages.</summary>
        public string Name { get; set; }
        /// <summary>Computes value and image. Must be set.</summary>
        public CognitionFunction Perceive { get; set; }
        /// <summary>Whether two values mean the same. Null: their bytes are compared. Runs on the thread of the call.</summary>
        public Func<Value, Value, bool> IsEqual { get; set; }
        /// <summary>For <c>CognitionFlags.Owned</c>: releases a value.</summary>
        public Action<Value> ReleaseValue { get; set; }
        /// <summary>Pixels around its region that it also reads, where there are some. Default 0.</summary>
        public uint Support { get; set; }
        /// <summary>For <c>CognitionFlags.Local</c>: pixels of the input, in each direction, for one pixel of the image.
        /// Default 0: 1.</summary>
        public uint Scale { get; set; }
        /// <summary>For <c>CognitionFlags.Image</c>: its format. Default 0: that of the first input with an
        /// image.</summary>
        public PixelFormat ImageFormat { get; set; }
        /// <summary>For <c>CognitionFlags.Image</c>: its columns. Default 0: those of the region, divided by <c>Scale</c>
        /// and rounded down. Must be 0 with <c>CognitionFlags.Local</c>.</summary>
        public uint ImageWidth { get; set; }
        /// <summary>For <c>CognitionFlags.Image</c>: its rows. Default 0: as <c>ImageWidth</c>.</summary>
        public uint ImageHeight { get; set; }
        /// <summary>Expected duration of a run in nanoseconds, until one was measured at this size of frames. Default 0: not
        /// known. Prefetch then splits the steps over threads as well in the first frames as later. A past run of the host
        /// has it in <c>PerceptionPipelineStatistics.MeanNs</c>.</summary>
        public uint CostNs { get; set; }
    }

    /// <summary>A built-in cognition. Padding and alpha are ignored. Beyond the edges of its region an image continues
    /// with the pixels of the edge. Images have the format of the input, unless a kind says otherwise. Means are rounded,
    /// halves up.</summary>
    public enum Operator : uint
    {
        /// <summary>The region itself, as an image.</summary>
        Crop = 0,
        /// <summary>Brightness by Rec. 601, as gray image: (77 red + 150 green + 29 blue + 128) / 256.</summary>
        Gray = 1,
        /// <summary>A gray image: 255 where <c>Channel</c> is above <c>Level</c>, 0 elsewhere.</summary>
        Threshold = 2,
        /// <summary>Of two inputs of the same size and format, a gray image: the largest difference of a channel. With
        /// <c>OperatorFlags.Binary</c>: 255 where it is above <c>Level</c>, 0 elsewhere.</summary>
        Difference = 3,
        /// <summary>Each pixel is the mean of <c>Factor</c> times <c>Factor</c> pixels. Columns and rows that remain at
        /// the right and at the bottom are ignored.</summary>
        Downscale = 4,
        /// <summary>Each pixel is the mean of a square with <c>Radius</c> pixels on each side of the centre.</summary>
        Box = 5,
        /// <summary>Each channel is its minimum in such a square.</summary>
        Erode = 6,
        /// <summary>Each channel is its maximum in such a square.</summary>
        Dilate = 7,
        /// <summary>An image of <c>PixelFormat.Count32</c> and width 256: how many pixels have each value. A row for
        /// gray, or rows for red, green and blue. <c>Number</c> of its value is the number of pixels.</summary>
        Histogram = 8,
        /// <summary><c>Number</c> of its value is the mean of <c>Channel</c>.</summary>
        Mean = 9,
        /// <summary><c>Number</c> of its value is the number of pixels whose <c>Channel</c> is not 0.</summary>
        CountNonZero = 10,
        /// <summary>Finds <c>Image</c>. <c>Word0</c> of its value has the place, from the corner of the region: x in
        /// the low half, y in the high one. <c>Word1</c> has the sum of squared differences. Both all ones: not found.
        /// Of equal matches the first one in reading order is found.</summary>
        Template = 11,
        /// <summary>Reads a number by comparing <c>Glyphs</c>, whose top row is that of the region. <c>Integer</c> of its
        /// value is the number; -1: nothing was read. <c>Word1</c> has the number of digits in its low half. In its
        /// high half is 256 times the mean difference of the worst digit, which does not count when values are
        /// compared.</summary>
        Glyphs = 12,
    }
    /// <summary>A channel of pixels.</summary>
    public enum Channel : uint
    {
        /// <summary>Brightness, as <c>Operator.Gray</c> computes it.</summary>
        Luma = 0,
        /// <summary>Red.</summary>
        Red = 1,
        /// <summary>Green.</summary>
        Green = 2,
        /// <summary>Blue.</summary>
        Blue = 3,
    }
    [Flags]
    public enum OperatorFlags : uint
    {
        /// <summary>None.</summary>
        None = 0,
        /// <summary>Swap 0 and 255 of <c>Operator.Threshold</c>.</summary>
        Invert = 1,
        /// <summary>See <c>Operator.Difference</c>.</summary>
        Binary = 2,
        /// <summary><c>Operator.Template</c> and <c>Operator.Glyphs</c> compare colours, not brightness.</summary>
        Color = 4,
        /// <summary>The number of <c>Operator.Glyphs</c> ends at the right edge of the region. Without it, it starts at
        /// the left edge.</summary>
        Right = 8,
    }
    /// <summary>The picture of a digit, for <c>Operator.Glyphs</c>.</summary>
    public sealed class Glyph
    {
        /// <summary>0 to 9. A digit may have several pictures.</summary>
        public uint Digit;
        /// <summary>The picture. Widths may differ.</summary>
        public PixelImage Image;
        /// <summary>A gray image of the same size: pixels with 0 are background, and not compared. Null: all are
        /// compared.</summary>
        public PixelImage Mask;
    }

    /// <summary>Parameters of a built-in cognition. A new one has the defaults.</summary>
    public sealed unsafe class OperatorDesc
    {
        internal hob_operator_desc Raw;

        public OperatorDesc()
        {
            Hob.Ready(Room.Perception);
            fixed (hob_operator_desc* raw = &Raw)
                Hob.Check(Native.hob_operator_desc_init(raw, (uint)sizeof(hob_operator_desc)));
        }

        /// <summary>A name for messages. Default empty: the name of <c>Kind</c>.</summary>
        public string Name { get; set; }
        /// <summary>For <c>Operator.Template</c>: the image to find; copied. Each side has at most 1024 pixels.</summary>
        public PixelImage Image { get; set; }
        /// <summary>For <c>Operator.Glyphs</c>: 1 to 256 pictures of digits; copied.</summary>
        public IList<Glyph> Glyphs { get; } = new List<Glyph>();
        /// <summary>The operation. Default <c>Operator.Crop</c>.</summary>
        public Operator Kind { get => (Operator)Raw.kind; set => Raw.kind = (hob_operator)value; }
        /// <summary><c>HOB_OPERATOR_</c> bits. Default 0.</summary>
        public OperatorFlags Flags { get => (OperatorFlags)Raw.flags; set => Raw.flags = (uint)value; }
        /// <summary>The channel. Default <c>Channel.Luma</c>.</summary>
        public Channel Channel { get => (Channel)Raw.channel; set => Raw.channel = (hob_channel)value; }
        /// <summary>0 to 255. Default 0.</summary>
        public uint Level { get => Raw.level; set => Raw.level = value; }
        /// <summary>0 to 64. Default 0.</summary>
        public uint Radius { get => Raw.radius; set => Raw.radius = value; }
        /// <summary>1 to 64. Default 0: 1.</summary>
        public uint Factor { get => Raw.factor; set => Raw.factor = value; }
        /// <summary>For <c>Operator.Glyphs</c>: most digits, 1 to 18. Default 0: 18.</summary>
        public uint MaxDigits { get => Raw.max_digits; set => Raw.max_digits = value; }
        /// <summary>For <c>Operator.Template</c>: the greatest sum of squared differences that counts as found. A low
        /// limit makes it faster. Default <c>ulong.MaxValue</c>: the best match is always found.</summary>
        public ulong Limit { get => Raw.limit; set => Raw.limit = value; }
        /// <summary>For <c>Operator.Glyphs</c>: the greatest mean difference of a channel at which a glyph fits, 0 to
        /// 255. Default 0: it must be exact. For lossy video: 20 to 35; at a higher one, digits may be read that are not
        /// there. Ignored with <c>Correlation</c>.</summary>
        public uint Tolerance { get => Raw.tolerance; set => Raw.tolerance = value; }
        /// <summary>For <c>Operator.Glyphs</c>: columns between two digits. Default 0.</summary>
        public uint Spacing { get => Raw.spacing; set => Raw.spacing = value; }
        /// <summary>For <c>Operator.Glyphs</c>: the least correlation of the pixels with a glyph at which it fits, 1 to
        /// 100 percent. A tint over the whole picture and a lower contrast do not matter to it: for lossy video, and
        /// games that flash, use 60 to 80. Default 0: glyphs fit by <c>Tolerance</c>.</summary>
        public uint Correlation { get => Raw.correlation; set => Raw.correlation = value; }
    }

    /// <summary>A pipeline of a perception. All zero is no pipeline.</summary>
    public readonly struct PerceptionPipelineId : IEquatable<PerceptionPipelineId>
    {
        readonly uint index1, generation;
        /// <summary>Whether this is not the zero id.</summary>
        public bool IsValid => index1 != 0;
        /// <summary>Its place, from 1 on; 0 is no id.</summary>
        public uint Index1 => index1;
        /// <summary>Compares all bits.</summary>
        public bool Equals(PerceptionPipelineId other) => index1 == other.index1 && generation == other.generation;
        /// <summary>Compares all bits.</summary>
        public override bool Equals(object other) => other is PerceptionPipelineId && Equals((PerceptionPipelineId)other);
        /// <summary>Hashes all bits.</summary>
        public override int GetHashCode() => (int)(index1 * 31 + generation);
        /// <summary>Compares all bits.</summary>
        public static bool operator ==(PerceptionPipelineId a, PerceptionPipelineId b) => a.Equals(b);
        /// <summary>Compares all bits.</summary>
        public static bool operator !=(PerceptionPipelineId a, PerceptionPipelineId b) => !a.Equals(b);
    }
    /// <summary>Whether a pipeline is computed when a frame begins.</summary>
    public enum Prefetch : uint
    {
        /// <summary>If it was asked for in most of the last frames.</summary>
        Profile = 0,
        /// <summary>Always.</summary>
        Always = 1,
        /// <summary>Never: only when it is asked for.</summary>
        Never = 2,
    }
    /// <summary>A step of a pipeline: a cognition, and what it reads.</summary>
    public readonly struct PerceptionStep
    {
        /// <summary>Makes a step that reads a region, in the image of each input. All zero: the whole images.</summary>
        public PerceptionStep(CognitionId cognition, PixelRect region = default(PixelRect), uint tolerance = 0,
            byte[] parameters = null)
        {
            Cognition = cognition;
            Region = region;
            Tolerance = tolerance;
            Parameters = parameters;
        }

        /// <summary>The cognition.</summary>
        public CognitionId Cognition { get; }
        /// <summary>The region that it reads.</summary>
        public PixelRect Region { get; }
        /// <summary>For a step that reads the frame: the largest difference of a channel that is no change, 0 to 255.
        /// Default 0. For lossy video. The step then sees the pixels of the last change, so that slow drift does not add
        /// up.</summary>
        public uint Tolerance { get; }
        /// <summary>Bytes for <c>CognitionCall.Parameters</c>, at most 1 MiB; copied. Null: none.</summary>
        public byte[] Parameters { get; }
    }

    /// <summary>Parameters of a pipeline.</summary>
    public sealed class PerceptionPipelineDesc
    {
        /// <summary>Makes a pipeline of some steps.</summary>
        public PerceptionPipelineDesc(string name = null, params PerceptionStep[] steps)
        {
            Name = name;
            Steps = new List<PerceptionStep>(steps);
        }

        /// <summary>Its name, for messages and statistics. Default empty.</summary>
        public string Name { get; set; }
        /// <summary>The name of the state that it is part of, for statistics. Default empty.</summary>
        public string State { get; set; }
        /// <summary>Whether it is computed when a frame begins. Default <c>Prefetch.Profile</c>.</summary>
        public Prefetch Prefetch { get; set; }
        /// <summary>Pipelines whose results are the inputs of the first step, up to 8. Empty: the frame.</summary>
        public IList<PerceptionPipelineId> Inputs { get; } = new List<PerceptionPipelineId>();
        /// <summary>The steps, 1 to 64. Each one reads the result of the step before it.</summary>
        public IList<PerceptionStep> Steps { get; }
    }

    /// <summary>Pixels that moved since the last frame.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct FrameMove
    {
        /// <summary>Where they were.</summary>
        public PixelRect Source;
        /// <summary>The first column where they are now.</summary>
        public uint X;
        /// <summary>The first row where they are now.</summary>
        public uint Y;
    }
    /// <summary>Whether <c>Frame.Dirty</c> is trusted.</summary>
    public enum FrameTrust : uint
    {
        /// <summary>No: the pixels outside of the rectangles are compared. No hint can make a result wrong.</summary>
        Compare = 0,
        /// <summary>Yes: the pixels outside of the rectangles count as unchanged. A part of them, another part in each
        /// frame, is compared: pixels that stay different without a hint are found within 32 frames, if results are taken
        /// over. After the first one everything is compared, and <c>PerceptionStatistics.IsDistrusted</c> is 1. An error with
        /// <c>PerceptionDesc.BorrowsFrames</c>: there is no copy to compare with later.</summary>
        Audit = 1,
    }
    /// <summary>A question of <c>Perception.QueryMany</c>.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct PerceptionQuestion
    {
        /// <summary>The pipeline.</summary>
        public PerceptionPipelineId Pipeline;
        /// <summary>The number of frames that must agree.</summary>
        public uint Frames;
        uint reserved;
    }
    /// <summary>An answer of <c>Perception.QueryMany</c>.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct PerceptionAnswer
    {
        /// <summary>The value. All zero without <c>Result.Ok</c>.</summary>
        public Value Value;
        /// <summary>The first frame of the unbroken run of equal values. It may be later if older frames are not
        /// known.</summary>
        public ulong FirstFrame;
        /// <summary>As the result of <c>Perception.Query</c>.</summary>
        public Result Result;
        uint reserved;
    }
    /// <summary>Counts of a perception since it was created, unless a field says otherwise.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct PerceptionStatistics
    {
        uint structSize;
        /// <summary>1: a hint of <c>Frame.Dirty</c> was wrong under <c>FrameTrust.Audit</c>, and everything is compared
        /// since.</summary>
        public uint IsDistrusted;
        /// <summary>Pipelines now.</summary>
        public ulong Pipelines;
        /// <summary>Different steps now: those that pipelines share count once.</summary>
        public ulong Steps;
        /// <summary>Pipelines that were computed when the present frame began.</summary>
        public ulong Prefetched;
        /// <summary>Threads that could compute them: those of the executor.</summary>
        public ulong Workers;
        /// <summary>Frames.</summary>
        public ulong Frames;
        /// <summary>Frames whose results could be taken over.</summary>
        public ulong GraftedFrames;
        /// <summary>Queries.</summary>
        public ulong Queries;
        /// <summary>Runs of cognitions.</summary>
        public ulong Runs;
        /// <summary>Runs when frames began; <c>Runs</c> includes them.</summary>
        public ulong PrefetchRuns;
        /// <summary>Runs for past frames; <c>Runs</c> includes them.</summary>
        public ulong PastRuns;
        /// <summary>Runs to find cognitions that depend on more than they declare.</summary>
        public ulong AuditRuns;
        /// <summary>Cognitions that were found so. The log hook gets the name of each.</summary>
        public ulong Findings;
        /// <summary>Pixels that built-in cognitions read, and runs of the host's.</summary>
        public ulong Operations;
        /// <summary>Results that were taken over because their regions did not change.</summary>
        public ulong Grafts;
        /// <summary>Results that were taken over because the results of the step before were equal.</summary>
        public ulong CutOffs;
        /// <summary>Results that were taken over from another place, by a move.</summary>
        public ulong Moves;
        /// <summary>Regions of the present frame that did not change.</summary>
        public ulong SameRegions;
        /// <summary>Regions of the present frame that changed.</summary>
        public ulong ChangedRegions;
        /// <summary>Bytes that were compared.</summary>
        public ulong ComparedBytes;
        /// <summary>Bytes that were copied to keep frames. 0 with <c>PerceptionDesc.BorrowsFrames</c>.</summary>
        public ulong CopiedBytes;
        /// <summary>Times that a frame of another size or format began anew, the first frame included.</summary>
        public ulong Restarts;
        double topDownShare, endsInShare, middleOutShare, bitReversedShare;
        /// <summary>Mean duration of a frame whose results could be taken over, with its queries, in
        /// milliseconds.</summary>
        public double GraftedMs;
        /// <summary>Mean duration of another frame, with its queries, in milliseconds.</summary>
        public double PlainMs;
        /// <summary>Mean duration of compare and copy, in milliseconds.</summary>
        public double TakeMs;
        /// <summary>Mean duration of prefetch, in milliseconds.</summary>
        public double PrefetchMs;
        /// <summary>Mean duration of a frame's queries, in milliseconds.</summary>
        public double QueryMs;
        /// <summary>Bytes of memory held, without what values and <c>UserData</c> refer to.</summary>
        public ulong MemoryUsed;

        /// <summary>Share of the frames that were compared in an order.</summary>
        public double GetOrderShare(CompareOrder order)
        {
            switch (order)
            {
                case CompareOrder.TopDown: return topDownShare;
                case CompareOrder.EndsIn: return endsInShare;
                case CompareOrder.MiddleOut: return middleOutShare;
                case CompareOrder.BitReversed: return bitReversedShare;
                default: throw new ArgumentOutOfRangeException(nameof(order));
            }
        }
    }
    /// <summary>Counts of a pipeline since it was added.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct PerceptionPipelineStatistics
    {
        uint structSize;
        /// <summary>1: it is computed when a frame begins.</summary>
        public uint IsPrefetched;
        /// <summary>Queries.</summary>
        public ulong Queries;
        /// <summary>Different values in the kept frames, as far as they were computed.</summary>
        public ulong Variations;
        /// <summary>The first frame of the unbroken run of equal values. It may be later if older frames are not known.
        /// 0: it has no value.</summary>
        public ulong FirstFrame;
        /// <summary>Mean duration of a run of its last step in nanoseconds. 0: not known.</summary>
        public double MeanNs;
    }
}
