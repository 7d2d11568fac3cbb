// hobgoblin/perception.h: Experimental: Vision over a stream of frames, which looks only at what changed.
// Generated from abi/hobgoblin-api.json; do not edit. MIT OR Apache-2.0.

using System;
using System.Runtime.InteropServices;

namespace Hobgoblin.Interop
{
    /// <summary>The numeric macros of the headers.</summary>
    public static partial class Constants
    {
        /// <summary>Experimental: hob_cognition_desc.flags: the result depends only on the regions of its inputs, and on its parameters.</summary>
        /// <remarks>
        /// Without it the cognition runs in every frame in which its result is needed.
        /// </remarks>
        public const uint HOB_COGNITION_PURE = 1;

        /// <summary>Experimental: hob_cognition_desc.flags: the result does not depend on where the region is.</summary>
        /// <remarks>
        /// With HOB_COGNITION_PURE, the results of pixels that moved are taken over from their old place.
        /// </remarks>
        public const uint HOB_COGNITION_INVARIANT = 2;

        /// <summary>Experimental: hob_cognition_desc.flags: it makes an image.</summary>
        public const uint HOB_COGNITION_IMAGE = 4;

        /// <summary>Experimental: hob_cognition_desc.flags: each pixel of its image depends only on the pixels of the inputs at the same place.</summary>
        /// <remarks>
        /// "The same place" is a square of <c>scale</c> times <c>scale</c> pixels, and <c>support</c> pixels around it. Then later steps run
        /// only if pixels changed on which their own region depends. Such a cognition has no value: it is not passed on.
        /// </remarks>
        public const uint HOB_COGNITION_LOCAL = 8;

        /// <summary>Experimental: hob_cognition_desc.flags: the value is a handle of the host that the perception owns.</summary>
        /// <remarks>
        /// It is passed to <c>release_value</c> when no kept frame has it any more. It is not all zero, and each run makes another
        /// one.
        /// </remarks>
        public const uint HOB_COGNITION_OWNED = 16;

        /// <summary>Experimental: hob_operator_desc.flags: swap 0 and 255 of HOB_OPERATOR_THRESHOLD.</summary>
        public const uint HOB_OPERATOR_INVERT = 1;

        /// <summary>Experimental: hob_operator_desc.flags: see HOB_OPERATOR_DIFFERENCE.</summary>
        public const uint HOB_OPERATOR_BINARY = 2;

        /// <summary>Experimental: hob_operator_desc.flags: HOB_OPERATOR_TEMPLATE and HOB_OPERATOR_GLYPHS compare colours, not brightness.</summary>
        public const uint HOB_OPERATOR_COLOR = 4;

        /// <summary>Experimental: hob_operator_desc.flags: the number of HOB_OPERATOR_GLYPHS ends at the right edge of the region.</summary>
        /// <remarks>
        /// Without it, it starts at the left edge.
        /// </remarks>
        public const uint HOB_OPERATOR_RIGHT = 8;
    }

    /// <summary>Experimental: How pixels lie in memory.</summary>
    /// <remarks>
    /// The names give the order of the bytes.
    /// </remarks>
    public enum hob_pixel_format : uint
    {
        /// <summary>In images: HOB_PIXEL_FORMAT_BGRX8. For hob_cognition_desc.image_format: the format of the first input.</summary>
        HOB_PIXEL_FORMAT_DEFAULT = 0,

        /// <summary>Blue, green, red, and a byte that is ignored.</summary>
        HOB_PIXEL_FORMAT_BGRX8 = 1,

        /// <summary>Red, green, blue, and a byte that is ignored.</summary>
        HOB_PIXEL_FORMAT_RGBX8 = 2,

        /// <summary>Blue, green, red, alpha. Alpha is ignored.</summary>
        HOB_PIXEL_FORMAT_BGRA8 = 3,

        /// <summary>Red, green, blue, alpha. Alpha is ignored.</summary>
        HOB_PIXEL_FORMAT_RGBA8 = 4,

        /// <summary>Blue, green, red.</summary>
        HOB_PIXEL_FORMAT_BGR8 = 5,

        /// <summary>Red, green, blue.</summary>
        HOB_PIXEL_FORMAT_RGB8 = 6,

        /// <summary>One byte of brightness.</summary>
        HOB_PIXEL_FORMAT_GRAY8 = 7,

        /// <summary>16 bits in the machine's order: 5 of red, which are the highest, 6 of green, 5 of blue.</summary>
        HOB_PIXEL_FORMAT_RGB565 = 8,

        /// <summary>A plane of brightness; then, in <c>chroma</c>, one of half the width and height with pairs of U and V.</summary>
        HOB_PIXEL_FORMAT_NV12 = 9,

        /// <summary>One number of 32 bits in the machine's order: counts. Only images that cognitions make have it. Of the built-in
        /// cognitions only HOB_OPERATOR_CROP takes it.</summary>
        HOB_PIXEL_FORMAT_COUNT32 = 10,
    }

    /// <summary>Experimental: Whether something is done.</summary>
    public enum hob_perception_choice : uint
    {
        /// <summary>If measurements say so.</summary>
        HOB_PERCEPTION_CHOICE_MEASURED = 0,

        /// <summary>Always.</summary>
        HOB_PERCEPTION_CHOICE_ALWAYS = 1,

        /// <summary>Never.</summary>
        HOB_PERCEPTION_CHOICE_NEVER = 2,
    }

    /// <summary>Experimental: The order in which the rows of regions are compared with those of the last frame.</summary>
    public enum hob_compare_order : uint
    {
        /// <summary>The order that found differences in the fewest rows.</summary>
        HOB_COMPARE_ORDER_MEASURED = 0,

        /// <summary>From the top to the bottom.</summary>
        HOB_COMPARE_ORDER_TOP_DOWN = 1,

        /// <summary>From both ends to the middle.</summary>
        HOB_COMPARE_ORDER_ENDS_IN = 2,

        /// <summary>From the middle to both ends.</summary>
        HOB_COMPARE_ORDER_MIDDLE_OUT = 3,

        /// <summary>By the reversed bits of the row's number.</summary>
        HOB_COMPARE_ORDER_BIT_REVERSED = 4,
    }

    /// <summary>Experimental: A built-in cognition.</summary>
    /// <remarks>
    /// Padding and alpha are ignored. Only HOB_OPERATOR_CROP keeps them; in other images they are 255. Beyond the edges of
    /// its region an image continues with the pixels of the edge. Images have the format of the input, unless a kind says
    /// otherwise. Means in images are rounded to whole levels, halves up.
    /// <para/>
    /// HOB_OPERATOR_DOWNSCALE, BOX, ERODE and DILATE do not take HOB_PIXEL_FORMAT_RGB565 and NV12, and HISTOGRAM not NV12.
    /// </remarks>
    public enum hob_operator : uint
    {
        /// <summary>The region itself, as an image.</summary>
        HOB_OPERATOR_CROP = 0,

        /// <summary>Brightness by Rec. 601, as gray image: (77 red + 150 green + 29 blue + 128) / 256.</summary>
        HOB_OPERATOR_GRAY = 1,

        /// <summary>A gray image: 255 where <c>channel</c> is above <c>level</c>, 0 elsewhere.</summary>
        HOB_OPERATOR_THRESHOLD = 2,

        /// <summary>Of two inputs of the same size and format, a gray image: the largest difference of a channel. With
        /// HOB_OPERATOR_BINARY: 255 where it is above <c>level</c>, 0 elsewhere.</summary>
        HOB_OPERATOR_DIFFERENCE = 3,

        /// <summary>Each pixel is the mean of <c>factor</c> times <c>factor</c> pixels. Columns and rows that remain at the right and at the
        /// bottom are ignored.</summary>
        HOB_OPERATOR_DOWNSCALE = 4,

        /// <summary>Each pixel is the mean of a square with <c>radius</c> pixels on each side of the centre.</summary>
        HOB_OPERATOR_BOX = 5,

        /// <summary>Each channel is its minimum in such a square.</summary>
        HOB_OPERATOR_ERODE = 6,

        /// <summary>Each channel is its maximum in such a square.</summary>
        HOB_OPERATOR_DILATE = 7,

        /// <summary>An image of HOB_PIXEL_FORMAT_COUNT32 and width 256: how many pixels have each value. A row for gray, or rows for
        /// red, green and blue. <c>number</c> of its value is the number of pixels.</summary>
        HOB_OPERATOR_HISTOGRAM = 8,

        /// <summary><c>number</c> of its value is the mean of <c>channel</c>, not rounded.</summary>
        HOB_OPERATOR_MEAN = 9,

        /// <summary><c>number</c> of its value is the number of pixels whose <c>channel</c> is not 0.</summary>
        HOB_OPERATOR_COUNT_NON_ZERO = 10,

        /// <summary>Finds <c>image</c>. <c>words[0]</c> of its value has the place of its upper left pixel: x in the low half, y in the high
        /// one. They count from the upper left pixel of the region, not of the frame. <c>words[1]</c> has the sum of squared
        /// differences. Both all ones: not found. Of equal matches the first one in reading order is found. In a region
        /// that is smaller than <c>image</c> it fails.</summary>
        HOB_OPERATOR_TEMPLATE = 11,

        /// <summary>Reads a number by comparing <c>glyphs</c>, whose top row is that of the region. <c>integer</c> of its value is the number;
        /// -1: nothing was read. <c>words[1]</c> has the number of digits in its low half. In its high half is 256 times the
        /// mean difference of the worst digit, or with <c>correlation</c> 1000 times what the worst one lacks to 1. It does not
        /// count when values are compared.</summary>
        HOB_OPERATOR_GLYPHS = 12,
    }

    /// <summary>Experimental: A channel of pixels.</summary>
    public enum hob_channel : uint
    {
        /// <summary>Brightness, as HOB_OPERATOR_GRAY computes it.</summary>
        HOB_CHANNEL_LUMA = 0,

        /// <summary>Red.</summary>
        HOB_CHANNEL_RED = 1,

        /// <summary>Green.</summary>
        HOB_CHANNEL_GREEN = 2,

        /// <summary>Blue.</summary>
        HOB_CHANNEL_BLUE = 3,
    }

    /// <summary>Experimental: Whether a pipeline is computed when a frame begins.</summary>
    public enum hob_prefetch : uint
    {
        /// <summary>If it was asked for in most of the last frames.</summary>
        HOB_PREFETCH_PROFILE = 0,

        /// <summary>Always.</summary>
        HOB_PREFETCH_ALWAYS = 1,

        /// <summary>Never: only when it is asked for.</summary>
        HOB_PREFETCH_NEVER = 2,
    }

    /// <summary>Experimental: Whether hob_frame.dirty is trusted.</summary>
    public enum hob_frame_trust : uint
    {
        /// <summary>No: the pixels outside of the rectangles are compared. No hint can make a result wrong.</summary>
        HOB_FRAME_TRUST_COMPARE = 0,

        /// <summary>Yes: the pixels outside of the rectangles count as unchanged. A part of them, another part in each frame, is
        /// compared: pixels that stay different without a hint are found within 32 frames, if results are taken over. After
        /// the first one everything is compared, and hob_perception_statistics.is_distrusted is 1. An error with
        /// hob_perception_desc.borrows_frames: there is no copy to compare with later.</summary>
        HOB_FRAME_TRUST_AUDIT = 1,
    }

    /// <summary>Experimental: A perception.</summary>
    /// <remarks>
    /// A handle: see "Handles" in base.h.
    /// </remarks>
    public struct hob_perception
    {
    }

    /// <summary>Experimental: A rectangle of pixels.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_rect
    {
        /// <summary>The first column.</summary>
        public uint x;

        /// <summary>The first row.</summary>
        public uint y;

        /// <summary>Number of columns.</summary>
        public uint width;

        /// <summary>Number of rows.</summary>
        public uint height;
    }

    /// <summary>Experimental: An image in memory.</summary>
    /// <remarks>
    /// A width or height of 0 is an error, and so is <c>pixels</c> NULL.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_image
    {
        /// <summary>sizeof(hob_image).</summary>
        public uint struct_size;

        /// <summary>Default HOB_PIXEL_FORMAT_BGRX8.</summary>
        public hob_pixel_format format;

        /// <summary>The first pixel.</summary>
        public void* pixels;

        /// <summary>Number of columns: 1 to 32768.</summary>
        public uint width;

        /// <summary>Number of rows: 1 to 32768.</summary>
        public uint height;

        /// <summary>Bytes from one row to the next. Default 0: rows without gaps.</summary>
        public UIntPtr stride;

        /// <summary>For HOB_PIXEL_FORMAT_NV12: the first pair of colour differences. Otherwise NULL.</summary>
        public void* chroma;

        /// <summary>Bytes from one row of <c>chroma</c> to the next. Default 0: rows without gaps.</summary>
        public UIntPtr chroma_stride;
    }

    /// <summary>Experimental: Parameters of a perception.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_perception_desc
    {
        /// <summary>sizeof(hob_perception_desc).</summary>
        public uint struct_size;

        /// <summary>Past frames whose pixels are kept, at most 63. Queries that ask for more frames raise it, unless
        /// <c>borrows_frames</c> is set. 0: the default, 2.</summary>
        public uint history;

        /// <summary>Limit of the bytes of kept frames. Default 0: no limit.</summary>
        public ulong memory_limit;

        /// <summary>Whether results are taken over from the last frame where nothing changed. Default
        /// HOB_PERCEPTION_CHOICE_MEASURED: by the measured time of whole frames, queries included.</summary>
        public hob_perception_choice graft;

        /// <summary>Whether pipelines are computed when a frame begins. Default HOB_PERCEPTION_CHOICE_MEASURED: those that were
        /// asked for in most of the last frames. For HOB_PERCEPTION_CHOICE_ALWAYS, all but those with HOB_PREFETCH_NEVER.</summary>
        public hob_perception_choice prefetch;

        /// <summary>The order of compares. Default HOB_COMPARE_ORDER_MEASURED.</summary>
        public hob_compare_order compare_order;

        /// <summary>Prefetch is omitted if few pipelines remain to be computed.</summary>
        /// <remarks>
        /// Few are at most 1 / <c>prefetch_divisor</c> of the pipelines that are prefetched, or of the executor's threads; both
        /// divisions round down. 0: the default, 3. UINT32_MAX: it is never omitted.
        /// </remarks>
        public uint prefetch_divisor;

        /// <summary>Share of a frame's steps that are computed again, to find wrong regions and flags: 0 to 1. Default 0.</summary>
        /// <remarks>
        /// The results of a cognition with a wrong declaration are not taken over any more. With 0.02 each step is checked
        /// once in about 50 frames.
        /// </remarks>
        public double audit_share;

        /// <summary>1: the seed's table chooses whether results are taken over. 0: accounts do; see balance.h. Default 0.</summary>
        public uint uses_table;

        /// <summary>1: frames are borrowed, not copied (zero-copy). In each call, the pixels of the last <c>history</c> + 1 frames of the
        /// same size and format, the new one included, must be readable and unchanged. Rotate <c>history</c> + 1 buffers, or one
        /// more if the next frame is written while queries run. Default 0: frames are copied, and their memory may be
        /// reused after hob_perception_begin_frame. docs/perception.md has an example.</summary>
        public uint borrows_frames;
    }

    /// <summary>Experimental: A cognition of a perception.</summary>
    /// <remarks>
    /// All zero is no cognition.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_cognition_id
    {
        /// <summary>Its place, from 1 on; 0 is no cognition.</summary>
        public uint index1;

        /// <summary>Distinguishes it from earlier cognitions at that place.</summary>
        public uint generation;
    }

    /// <summary>Experimental: The region of an input that a running cognition reads.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_cognition_input
    {
        /// <summary>The first pixel of the region. NULL: the input has no image.</summary>
        public void* pixels;

        /// <summary>For HOB_PIXEL_FORMAT_NV12: its first pair of colour differences. Otherwise NULL.</summary>
        public void* chroma;

        /// <summary>Bytes from one row to the next.</summary>
        public UIntPtr stride;

        /// <summary>Bytes from one row of <c>chroma</c> to the next.</summary>
        public UIntPtr chroma_stride;

        /// <summary>The format of the pixels.</summary>
        public hob_pixel_format format;

        /// <summary>Columns of the region.</summary>
        public uint width;

        /// <summary>Rows of the region.</summary>
        public uint height;

        /// <summary>Columns to the left of the region that can be read too. At most hob_cognition_desc.support, as all four.</summary>
        public uint left;

        /// <summary>Rows above it.</summary>
        public uint top;

        /// <summary>Columns to the right of it.</summary>
        public uint right;

        /// <summary>Rows below it.</summary>
        public uint bottom;

        /// <summary>Must be 0.</summary>
        public uint reserved;
    }

    /// <summary>Experimental: Inputs and results of a running cognition: the argument of hob_cognition_desc.perceive.</summary>
    /// <remarks>
    /// All pointers are valid during the call.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_cognition_call
    {
        /// <summary>sizeof(hob_cognition_call) of the library.</summary>
        public uint struct_size;

        /// <summary>Number of inputs, at least 1.</summary>
        public uint input_count;

        /// <summary>Its inputs. A newer library's elements may be larger: go from one to the next by <c>input_stride</c>.</summary>
        public hob_cognition_input* inputs;

        /// <summary>Bytes from one input to the next.</summary>
        public UIntPtr input_stride;

        /// <summary>The values of the inputs; all zero for the frame.</summary>
        public hob_value* values;

        /// <summary>hob_perception_step.parameters.</summary>
        public void* parameters;

        /// <summary>Bytes of <c>parameters</c>.</summary>
        public UIntPtr parameters_size;

        /// <summary>The number of the frame, from 1 on. It may be a past one.</summary>
        public ulong frame;

        /// <summary>An executor for loops inside the cognition: that of hob_perception_begin_frame. NULL: other cognitions use it
        /// now.</summary>
        public hob_executor* executor;

        /// <summary>The image to write, for HOB_COGNITION_IMAGE. Its bytes are not those of the last run. Otherwise NULL.</summary>
        public void* image;

        /// <summary>Its plane of colour differences, for HOB_PIXEL_FORMAT_NV12. Otherwise NULL.</summary>
        public void* image_chroma;

        /// <summary>Bytes from one row of <c>image</c> to the next.</summary>
        public UIntPtr image_stride;

        /// <summary>Bytes from one row of <c>image_chroma</c> to the next.</summary>
        public UIntPtr image_chroma_stride;

        /// <summary>The format of <c>image</c>.</summary>
        public hob_pixel_format image_format;

        /// <summary>Columns of <c>image</c>.</summary>
        public uint image_width;

        /// <summary>Rows of <c>image</c>.</summary>
        public uint image_height;

        /// <summary>Bytes of <c>message</c>.</summary>
        public uint message_capacity;

        /// <summary>The value to write. At first all zero.</summary>
        public hob_value value;

        /// <summary>For a failure: write the reason here, ended by NUL. At first empty.</summary>
        public byte* message;
    }

    /// <summary>Experimental: Parameters of a cognition.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_cognition_desc
    {
        /// <summary>sizeof(hob_cognition_desc).</summary>
        public uint struct_size;

        /// <summary>HOB_COGNITION_ bits. Default 0.</summary>
        public uint flags;

        /// <summary>A name for messages. Default empty.</summary>
        public hob_str name;

        /// <summary>Computes value and image. Must be set. HOB_RESULT_OK: they are written. Another result: it failed.</summary>
        /// <remarks>
        /// Runs inside hob_perception_begin_frame and the queries: on their thread, and on threads of the executor. It may
        /// run on several threads at once, for different steps. It must not call its own perception.
        /// </remarks>
        public IntPtr perceive;

        /// <summary>Passed to the callbacks.</summary>
        public void* user_data;

        /// <summary>Called exactly once, when the perception is destroyed, after all other callbacks. May be NULL.</summary>
        public IntPtr release;

        /// <summary>Not 0 if two values mean the same. NULL: their bytes are compared. Runs on the thread of the call.</summary>
        public IntPtr is_equal;

        /// <summary>For HOB_COGNITION_OWNED: releases a value. Runs on the thread of the call, and in hob_perception_remove_pipeline
        /// and hob_perception_destroy.</summary>
        public IntPtr release_value;

        /// <summary>Pixels around its region that it also reads, where there are some. Default 0.</summary>
        public uint support;

        /// <summary>For HOB_COGNITION_LOCAL: pixels of the input, in each direction, for one pixel of the image. Default 0: 1.</summary>
        public uint scale;

        /// <summary>For HOB_COGNITION_IMAGE: its format. Default 0: that of the first input with an image.</summary>
        public hob_pixel_format image_format;

        /// <summary>For HOB_COGNITION_IMAGE: its columns. Default 0: those of the region, divided by <c>scale</c> and rounded down. Must
        /// be 0 with HOB_COGNITION_LOCAL.</summary>
        public uint image_width;

        /// <summary>For HOB_COGNITION_IMAGE: its rows. Default 0: as <c>image_width</c>.</summary>
        public uint image_height;

        /// <summary>Expected duration of a run in nanoseconds, until one was measured at this size of frames. Default 0: not known.</summary>
        /// <remarks>
        /// Prefetch then splits the steps over threads as well in the first frames as later. A past run of the host has it
        /// in hob_perception_pipeline_statistics.mean_ns.
        /// </remarks>
        public uint cost_ns;
    }

    /// <summary>Experimental: The picture of a digit, for HOB_OPERATOR_GLYPHS.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_glyph
    {
        /// <summary>0 to 9. A digit may have several pictures.</summary>
        public uint digit;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>The picture. Widths may differ.</summary>
        public hob_image* image;

        /// <summary>A gray image of the same size: pixels with 0 are background, and not compared. NULL: all are compared.</summary>
        public hob_image* mask;
    }

    /// <summary>Experimental: Parameters of a built-in cognition.</summary>
    /// <remarks>
    /// A kind ignores the fields and flags that are for others, if they are in their ranges.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_operator_desc
    {
        /// <summary>sizeof(hob_operator_desc).</summary>
        public uint struct_size;

        /// <summary>The operation. Default HOB_OPERATOR_CROP.</summary>
        public hob_operator kind;

        /// <summary>A name for messages. Default empty: the name of <c>kind</c>.</summary>
        public hob_str name;

        /// <summary>HOB_OPERATOR_ bits. Default 0.</summary>
        public uint flags;

        /// <summary>The channel of HOB_OPERATOR_THRESHOLD, MEAN and COUNT_NON_ZERO. Default HOB_CHANNEL_LUMA, the only one of
        /// HOB_PIXEL_FORMAT_GRAY8 and NV12.</summary>
        public hob_channel channel;

        /// <summary>For HOB_OPERATOR_THRESHOLD, and for HOB_OPERATOR_DIFFERENCE with HOB_OPERATOR_BINARY: 0 to 255. Default 0.</summary>
        public uint level;

        /// <summary>For HOB_OPERATOR_BOX, ERODE and DILATE: 0 to 64. Default 0.</summary>
        public uint radius;

        /// <summary>For HOB_OPERATOR_DOWNSCALE: 1 to 64. Default 0: 1.</summary>
        public uint factor;

        /// <summary>For HOB_OPERATOR_GLYPHS: most digits, 1 to 18. Default 0: 18.</summary>
        public uint max_digits;

        /// <summary>For HOB_OPERATOR_TEMPLATE: the image to find; copied. Each side has at most 1024 pixels.</summary>
        public hob_image* image;

        /// <summary>For HOB_OPERATOR_TEMPLATE: the greatest sum of squared differences that counts as found. A low limit makes it
        /// faster. Default UINT64_MAX: the best match is always found.</summary>
        public ulong limit;

        /// <summary>For HOB_OPERATOR_GLYPHS: 1 to 256 pictures of digits; copied.</summary>
        public hob_glyph* glyphs;

        /// <summary>Bytes from one glyph to the next: sizeof(hob_glyph). Default 0: its first released size.</summary>
        public UIntPtr glyph_stride;

        /// <summary>Number of glyphs.</summary>
        public uint glyph_count;

        /// <summary>For HOB_OPERATOR_GLYPHS: the greatest mean difference of a channel at which a glyph fits, 0 to 255. Default 0:</summary>
        /// <remarks>
        /// it must be exact. For lossy video: 20 to 35; at a higher one, digits may be read that are not there. Ignored
        /// with <c>correlation</c>.
        /// </remarks>
        public uint tolerance;

        /// <summary>For HOB_OPERATOR_GLYPHS: columns between two digits. Default 0.</summary>
        public uint spacing;

        /// <summary>For HOB_OPERATOR_GLYPHS: the least correlation of the pixels with a glyph at which it fits, 1 to 100 percent. A
        /// tint over the whole picture and a lower contrast do not matter to it: for lossy video, and games that flash, use
        /// 60 to 80. Default 0: glyphs fit by <c>tolerance</c>.</summary>
        public uint correlation;
    }

    /// <summary>Experimental: A pipeline of a perception.</summary>
    /// <remarks>
    /// All zero is no pipeline.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_perception_pipeline_id
    {
        /// <summary>Its place, from 1 on; 0 is no pipeline.</summary>
        public uint index1;

        /// <summary>Distinguishes it from earlier pipelines at that place.</summary>
        public uint generation;
    }

    /// <summary>Experimental: A step of a pipeline: a cognition, and what it reads.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_perception_step
    {
        /// <summary>The cognition.</summary>
        public hob_cognition_id cognition;

        /// <summary>The region that it reads, in the image of each input. All zero: the whole images. With HOB_PIXEL_FORMAT_NV12,
        /// <c>x</c> and <c>y</c> are even.</summary>
        public hob_rect region;

        /// <summary>Bytes for hob_cognition_call.parameters; copied. May be NULL if <c>parameters_size</c> is 0.</summary>
        public void* parameters;

        /// <summary>Bytes of <c>parameters</c>: at most 1 MiB.</summary>
        public UIntPtr parameters_size;

        /// <summary>For a step that reads the frame: the largest difference of a channel that is no change, 0 to 255. Default 0. For
        /// lossy video. The step then sees the pixels of the last change, so that slow drift does not add up.</summary>
        public uint tolerance;

        /// <summary>Must be 0.</summary>
        public uint reserved;
    }

    /// <summary>Experimental: Parameters of a pipeline.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_perception_pipeline_desc
    {
        /// <summary>sizeof(hob_perception_pipeline_desc).</summary>
        public uint struct_size;

        /// <summary>Whether it is computed when a frame begins. Default HOB_PREFETCH_PROFILE.</summary>
        public hob_prefetch prefetch;

        /// <summary>Its name, for messages and statistics. Default empty.</summary>
        public hob_str name;

        /// <summary>The name of the state that it is part of, for statistics. Default empty.</summary>
        public hob_str state;

        /// <summary>Pipelines whose results are the inputs of the first step. NULL: the frame. They may be removed before this one.</summary>
        public hob_perception_pipeline_id* inputs;

        /// <summary>Number of inputs: 0 to 8.</summary>
        public uint input_count;

        /// <summary>Number of steps: 1 to 64.</summary>
        public uint step_count;

        /// <summary>The steps. Each one reads the result of the step before it. Copied.</summary>
        public hob_perception_step* steps;

        /// <summary>Bytes from one step to the next: sizeof(hob_perception_step). Default 0: its first released size.</summary>
        public UIntPtr step_stride;
    }

    /// <summary>Experimental: Pixels that moved since the last frame.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_frame_move
    {
        /// <summary>Where they were.</summary>
        public hob_rect source;

        /// <summary>The first column where they are now.</summary>
        public uint x;

        /// <summary>The first row where they are now.</summary>
        public uint y;
    }

    /// <summary>Experimental: A frame.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_frame
    {
        /// <summary>sizeof(hob_frame).</summary>
        public uint struct_size;

        /// <summary>Default HOB_PIXEL_FORMAT_BGRX8.</summary>
        public hob_pixel_format format;

        /// <summary>The first pixel. The pixels are read only during the call, unless hob_perception_desc.borrows_frames is set.</summary>
        public void* pixels;

        /// <summary>Number of columns: 1 to 32768.</summary>
        public uint width;

        /// <summary>Number of rows: 1 to 32768.</summary>
        public uint height;

        /// <summary>Bytes from one row to the next. Default 0: rows without gaps.</summary>
        public UIntPtr stride;

        /// <summary>For HOB_PIXEL_FORMAT_NV12: the first pair of colour differences. Otherwise NULL.</summary>
        public void* chroma;

        /// <summary>Bytes from one row of <c>chroma</c> to the next. Default 0: rows without gaps.</summary>
        public UIntPtr chroma_stride;

        /// <summary>Hints: rectangles that contain all changes since the last frame; see <c>trust</c>. NULL: not known.</summary>
        /// <remarks>
        /// They may reach beyond the frame.
        /// </remarks>
        public hob_rect* dirty;

        /// <summary>Hints: pixels that moved since the last frame. Each move is checked before it is used. May be NULL.</summary>
        public hob_frame_move* moves;

        /// <summary>Number of <c>dirty</c>. 0 with <c>dirty</c> not NULL: nothing changed. At most 65536.</summary>
        public uint dirty_count;

        /// <summary>Number of <c>moves</c>. At most 65536.</summary>
        public uint move_count;

        /// <summary>Whether <c>dirty</c> is trusted. Default HOB_FRAME_TRUST_COMPARE.</summary>
        public hob_frame_trust trust;

        /// <summary>Must be 0.</summary>
        public uint reserved;
    }

    /// <summary>Experimental: A question of hob_perception_query_many.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_perception_question
    {
        /// <summary>The pipeline.</summary>
        public hob_perception_pipeline_id pipeline;

        /// <summary>The number of frames that must agree.</summary>
        public uint frames;

        /// <summary>Must be 0.</summary>
        public uint reserved;
    }

    /// <summary>Experimental: An answer of hob_perception_query_many.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_perception_answer
    {
        /// <summary>The value. All zero without HOB_RESULT_OK.</summary>
        public hob_value value;

        /// <summary>The first frame of the unbroken run of equal values. It may be later if older frames are not known.</summary>
        public ulong first_frame;

        /// <summary>As the result of hob_perception_query.</summary>
        public hob_result result;

        /// <summary>0.</summary>
        public uint reserved;
    }

    /// <summary>Experimental: Counts of a perception since it was created, unless a field says otherwise.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_PERCEPTION_STATISTICS_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_perception_statistics
    {
        /// <summary>sizeof(hob_perception_statistics).</summary>
        public uint struct_size;

        /// <summary>1: a hint of hob_frame.dirty was wrong under HOB_FRAME_TRUST_AUDIT, and everything is compared since.</summary>
        public uint is_distrusted;

        /// <summary>Pipelines now.</summary>
        public ulong pipelines;

        /// <summary>Different steps now: those that pipelines share count once.</summary>
        public ulong steps;

        /// <summary>Pipelines that were computed when the present frame began.</summary>
        public ulong prefetched;

        /// <summary>Threads that could compute them: those of the executor.</summary>
        public ulong workers;

        /// <summary>Frames.</summary>
        public ulong frames;

        /// <summary>Frames whose results could be taken over.</summary>
        public ulong grafted_frames;

        /// <summary>Queries.</summary>
        public ulong queries;

        /// <summary>Runs of cognitions.</summary>
        public ulong runs;

        /// <summary>Runs when frames began; <c>runs</c> includes them.</summary>
        public ulong prefetch_runs;

        /// <summary>Runs for past frames; <c>runs</c> includes them.</summary>
        public ulong past_runs;

        /// <summary>Runs to find cognitions that depend on more than they declare.</summary>
        public ulong audit_runs;

        /// <summary>Cognitions that were found so. The log hook gets the name of each.</summary>
        public ulong findings;

        /// <summary>Pixels that built-in cognitions read, and runs of the host's.</summary>
        public ulong operations;

        /// <summary>Results that were taken over because their regions did not change.</summary>
        public ulong grafts;

        /// <summary>Results that were taken over because the results of the step before were equal.</summary>
        public ulong cut_offs;

        /// <summary>Results that were taken over from another place, by a move.</summary>
        public ulong moves;

        /// <summary>Regions of the present frame that did not change.</summary>
        public ulong same_regions;

        /// <summary>Regions of the present frame that changed.</summary>
        public ulong changed_regions;

        /// <summary>Bytes that were compared.</summary>
        public ulong compared_bytes;

        /// <summary>Bytes that were copied to keep frames. 0 with hob_perception_desc.borrows_frames.</summary>
        public ulong copied_bytes;

        /// <summary>Times that a frame of another size or format began anew, the first frame included.</summary>
        public ulong restarts;

        /// <summary>Share of the frames that were compared in each order, from HOB_COMPARE_ORDER_TOP_DOWN on.</summary>
        public fixed double order_shares[4];

        /// <summary>Mean duration of a frame whose results could be taken over, with its queries, in milliseconds.</summary>
        public double grafted_ms;

        /// <summary>Mean duration of another frame, with its queries, in milliseconds.</summary>
        public double plain_ms;

        /// <summary>Mean duration of compare and copy, in milliseconds.</summary>
        public double take_ms;

        /// <summary>Mean duration of prefetch, in milliseconds.</summary>
        public double prefetch_ms;

        /// <summary>Mean duration of a frame's queries, in milliseconds.</summary>
        public double query_ms;

        /// <summary>Bytes of memory held, without what values and <c>user_data</c> refer to.</summary>
        public ulong memory_used;
    }

    /// <summary>Experimental: Counts of a pipeline since it was added.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_PERCEPTION_PIPELINE_STATISTICS_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_perception_pipeline_statistics
    {
        /// <summary>sizeof(hob_perception_pipeline_statistics).</summary>
        public uint struct_size;

        /// <summary>1: it is computed when a frame begins.</summary>
        public uint is_prefetched;

        /// <summary>Queries.</summary>
        public ulong queries;

        /// <summary>Different values in the kept frames, as far as they were computed.</summary>
        public ulong variations;

        /// <summary>The first frame of the unbroken run of equal values. It may be later if older frames are not known. 0: it has no
        /// value.</summary>
        public ulong first_frame;

        /// <summary>Mean duration of a run of its last step in nanoseconds. 0: not known.</summary>
        public double mean_ns;
    }

    /// <summary>The type of hob_cognition_desc.perceive, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate hob_result hob_cognition_desc_perceive_fn(void* user_data, hob_cognition_call* call);

    /// <summary>The type of hob_cognition_desc.release, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_cognition_desc_release_fn(void* user_data);

    /// <summary>The type of hob_cognition_desc.is_equal, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_cognition_desc_is_equal_fn(void* user_data, hob_value* one, hob_value* other);

    /// <summary>The type of hob_cognition_desc.release_value, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_cognition_desc_release_value_fn(void* user_data, hob_value* value);

    /// <summary>The functions of the library.</summary>
    public static unsafe partial class Native
    {
        /// <summary>Experimental: Creates a perception without cognitions.</summary>
        /// <remarks>
        /// <c>desc</c> may be NULL: defaults. On success <c>*out_perception</c> is the caller's to destroy.
        /// <para/>
        /// <code>
        /// hob_perception *eye = NULL;
        /// if (hob_perception_create(NULL, &amp;eye) != HOB_RESULT_OK) fail(hob_last_error());
        /// </code>
        /// Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_perception_create(hob_perception_desc* desc, hob_perception** out_perception);

        /// <summary>Experimental: Destroys a perception with its cognitions; NULL is allowed.</summary>
        /// <remarks>
        /// Owned values are released, then each cognition's <c>user_data</c>. Inside its own callbacks the call does nothing, and
        /// hob_last_error says so. Threads: no call on it may run on another thread.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern void hob_perception_destroy(hob_perception* perception);

        /// <summary>Experimental: Adds a cognition of the host.</summary>
        /// <remarks>
        /// On success <c>*out_cognition</c> is its id, and <c>user_data</c> belongs to the perception.
        /// <para/>
        /// <code>
        /// hob_cognition_desc desc = HOB_COGNITION_DESC_INIT;
        /// desc.name = HOB_STR("read health");
        /// desc.flags = HOB_COGNITION_PURE;
        /// desc.perceive = read_health;
        /// if (hob_perception_add_cognition(eye, &amp;desc, &amp;reader) != HOB_RESULT_OK) fail(hob_last_error());
        /// </code>
        /// Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_perception_add_cognition(hob_perception* perception, hob_cognition_desc* desc, hob_cognition_id* out_cognition);

        /// <summary>Experimental: Adds a built-in cognition.</summary>
        /// <remarks>
        /// On success <c>*out_cognition</c> is its id.
        /// <para/>
        /// <code>
        /// hob_operator_desc desc = HOB_OPERATOR_DESC_INIT;
        /// desc.kind = HOB_OPERATOR_THRESHOLD;
        /// desc.level = 128;
        /// if (hob_perception_add_operator(eye, &amp;desc, &amp;threshold) != HOB_RESULT_OK) fail(hob_last_error());
        /// </code>
        /// HOB_RESULT_INVALID_ARGUMENT: a parameter is out of its range. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_perception_add_operator(hob_perception* perception, hob_operator_desc* desc, hob_cognition_id* out_cognition);

        /// <summary>Experimental: Adds a pipeline.</summary>
        /// <remarks>
        /// It can be asked for from the next frame on; until then queries give HOB_RESULT_NO_CONSENSUS. Equal steps at the
        /// beginning of pipelines are computed once. On success <c>*out_pipeline</c> is its id.
        /// <para/>
        /// <code>
        /// hob_perception_step steps[2] = {0};
        /// steps[0].cognition = threshold;
        /// steps[0].region.x = 90, steps[0].region.y = 171, steps[0].region.width = 48, steps[0].region.height = 16;
        /// steps[1].cognition = reader;
        /// hob_perception_pipeline_desc desc = HOB_PERCEPTION_PIPELINE_DESC_INIT;
        /// desc.name = HOB_STR("health");
        /// desc.steps = steps;
        /// desc.step_stride = sizeof steps[0];
        /// desc.step_count = 2;
        /// if (hob_perception_add_pipeline(eye, &amp;desc, &amp;health) != HOB_RESULT_OK) fail(hob_last_error());
        /// </code>
        /// HOB_RESULT_NOT_FOUND: there is no such cognition, or no such pipeline. A region outside of the frame is a failure of
        /// this pipeline only, which its queries report. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_perception_add_pipeline(hob_perception* perception, hob_perception_pipeline_desc* desc, hob_perception_pipeline_id* out_pipeline);

        /// <summary>Experimental: Removes a pipeline, and the steps that only it has.</summary>
        /// <remarks>
        /// HOB_RESULT_NOT_FOUND: there is no such pipeline. Threads: exclusive. Callbacks: hob_cognition_desc.release_value.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_perception_remove_pipeline(hob_perception* perception, hob_perception_pipeline_id pipeline);

        /// <summary>Experimental: Sets whether a pipeline is computed when a frame begins.</summary>
        /// <remarks>
        /// HOB_RESULT_NOT_FOUND: there is no such pipeline. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_perception_set_prefetch(hob_perception* perception, hob_perception_pipeline_id pipeline, hob_prefetch prefetch);

        /// <summary>Experimental: Begins a frame: compares its pixels with the last frame's, and computes pipelines in advance; see hob_prefetch.</summary>
        /// <remarks>
        /// <c>executor</c> may be NULL: only this thread computes. Cognitions of later queries get the executor too: it must stay
        /// valid until the next frame. Another size or format than before begins anew: nothing is known of past frames.
        /// <para/>
        /// <code>
        /// hob_frame frame = HOB_FRAME_INIT;
        /// frame.pixels = pixels, frame.width = 1920, frame.height = 1080;
        /// if (hob_perception_begin_frame(eye, &amp;frame, NULL) != HOB_RESULT_OK) fail(hob_last_error());
        /// </code>
        /// HOB_RESULT_OK also if cognitions fail: only the pipelines that need them are affected. HOB_RESULT_LIMIT_EXCEEDED:
        /// the kept frames take more than hob_perception_desc.memory_limit. With
        /// hob_perception_desc.borrows_frames, HOB_RESULT_INVALID_ARGUMENT also if <c>pixels</c> are those of a frame that must stay
        /// unchanged. Does not allocate, apart from the first frames after a new pipeline, size or executor.
        /// <para/>
        /// Threads: exclusive. Callbacks: those of the cognitions, in this thread's floating-point environment, <c>perceive</c> also
        /// on threads of the executor. Inside them all calls on this perception return HOB_RESULT_BUSY, const ones too.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_perception_begin_frame(hob_perception* perception, hob_frame* frame, hob_executor* executor);

        /// <summary>Experimental: Gets the value of a pipeline for the present frame, if the last frames agree on it.</summary>
        /// <remarks>
        /// <c>frames</c> is the number of frames that must agree, this one included, up to 64: 0 and 1 ask for no agreement. More
        /// than hob_perception_desc.history + 1 makes the perception keep more frames, from the next one on. Computes what is
        /// missing, also for past frames.
        /// <para/>
        /// <code>
        /// hob_value health_value;
        /// if (hob_perception_query(eye, health, 3, &amp;health_value) == HOB_RESULT_OK) react(health_value.number);
        /// </code>
        /// HOB_RESULT_NO_CONSENSUS: they do not agree, or not enough of them are known. HOB_RESULT_COGNITION_FAILED: see
        /// hob_perception_get_failure. HOB_RESULT_NOT_FOUND: there is no such pipeline. HOB_RESULT_LIMIT_EXCEEDED: more than 64
        /// frames, or they take more than hob_perception_desc.memory_limit, or than the host keeps
        /// (hob_perception_desc.borrows_frames). Does not allocate, apart from the first computations for past frames.
        /// <para/>
        /// Threads: exclusive. Callbacks: as hob_perception_begin_frame.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_perception_query(hob_perception* perception, hob_perception_pipeline_id pipeline, uint frames, hob_value* out_value);

        /// <summary>Experimental: Gets the value of a pipeline for a past frame: <c>age</c> frames before the present one.</summary>
        /// <remarks>
        /// Computes it if it was not computed then. HOB_RESULT_LIMIT_EXCEEDED: so many past frames are not kept.
        /// <para/>
        /// HOB_RESULT_NO_CONSENSUS: it cannot be known: the perception or all pipelines with these steps are younger, the
        /// pipeline is not pure, or it has a tolerance. Other results as hob_perception_query. Threads: exclusive. Callbacks:
        /// as hob_perception_begin_frame.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_perception_query_past(hob_perception* perception, hob_perception_pipeline_id pipeline, uint age, hob_value* out_value);

        /// <summary>Experimental: Gets the values of several pipelines: hob_perception_query for each question, in one call.</summary>
        /// <remarks>
        /// <c>question_stride</c> is sizeof(hob_perception_question), <c>answer_stride</c> sizeof(hob_perception_answer). <c>*out_count</c>
        /// receives the number of answers, which is the number of questions. <c>answers</c> NULL asks only for that. If <c>capacity</c>
        /// is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL.
        /// <para/>
        /// HOB_RESULT_OK also if questions have other results: see hob_perception_answer.result. Threads: exclusive. Callbacks:
        /// as hob_perception_begin_frame.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_perception_query_many(hob_perception* perception, hob_perception_question* questions, UIntPtr question_stride, UIntPtr question_count, hob_perception_answer* answers, UIntPtr answer_stride, UIntPtr capacity, UIntPtr* out_count);

        /// <summary>Experimental: Gets the image of a pipeline for the present frame, as a view.</summary>
        /// <remarks>
        /// Computes it if it is missing. The view is valid until the next call on this perception that is not const.
        /// <para/>
        /// <code>
        /// hob_image mask = HOB_IMAGE_INIT;
        /// if (hob_perception_get_image(eye, health_mask, &amp;mask) == HOB_RESULT_OK) show(&amp;mask);
        /// </code>
        /// HOB_RESULT_INVALID_ARGUMENT: its last step makes no image. Other results as hob_perception_query. Threads:
        /// exclusive. Callbacks: as hob_perception_begin_frame.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_perception_get_image(hob_perception* perception, hob_perception_pipeline_id pipeline, hob_image* out_image);

        /// <summary>Experimental: Gets the reason why a pipeline failed, without a NUL.</summary>
        /// <remarks>
        /// Empty if it did not fail, or if the cognition gave no reason. <c>*out_size</c> receives the required size. <c>buffer</c> NULL
        /// asks only for that. If <c>capacity</c> is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL. HOB_RESULT_NOT_FOUND:
        /// there is no such pipeline. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_perception_get_failure(hob_perception* perception, hob_perception_pipeline_id pipeline, byte* buffer, UIntPtr capacity, UIntPtr* out_size);

        /// <summary>Experimental: Gets the counts of a perception.</summary>
        /// <remarks>
        /// Frames per second are 1000 / <c>grafted_ms</c>, and 1000 / <c>plain_ms</c>. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_perception_get_statistics(hob_perception* perception, hob_perception_statistics* out_statistics);

        /// <summary>Experimental: Gets the counts of a pipeline.</summary>
        /// <remarks>
        /// HOB_RESULT_NOT_FOUND: there is no such pipeline. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_perception_get_pipeline_statistics(hob_perception* perception, hob_perception_pipeline_id pipeline, hob_perception_pipeline_statistics* out_statistics);

        /// <summary>Experimental: Saves all counts as JSON, without a NUL.</summary>
        /// <remarks>
        /// An object with the fields of hob_perception_statistics, apart from <c>struct_size</c>. Its "pipeline_statistics" is an
        /// array of objects with "name", "state" and the fields of hob_perception_pipeline_statistics.
        /// <para/>
        /// <c>*out_size</c> receives the required size. <c>buffer</c> NULL asks only for that. If <c>capacity</c> is too small, the result is
        /// HOB_RESULT_BUFFER_TOO_SMALL. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_perception_save_json(hob_perception* perception, byte* buffer, UIntPtr capacity, UIntPtr* out_size);

        /// <summary>Experimental: Draws over a picture of the present frame: an outline of each watched region, and counts.</summary>
        /// <remarks>
        /// <c>target</c> has the frame's size and HOB_PIXEL_FORMAT_BGRX8 or HOB_PIXEL_FORMAT_BGRA8. Its <c>pixels</c> are written to, so
        /// pass a copy of the frame. Green: the region did not change. Red: it changed. Yellow: it did not change, and overlaps
        /// a region that changed. docs/perception.md explains the counts.
        /// <para/>
        /// <code>
        /// hob_image picture = HOB_IMAGE_INIT;
        /// picture.pixels = copy_of_frame, picture.width = 320, picture.height = 200;
        /// if (hob_perception_draw_overlay(eye, &amp;picture) == HOB_RESULT_OK) show(&amp;picture);
        /// </code>
        /// HOB_RESULT_NOT_FOUND: there is no frame yet. HOB_RESULT_INVALID_ARGUMENT: <c>target</c> has another format or size. Does
        /// not allocate. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_perception_draw_overlay(hob_perception* perception, hob_image* target);

        /// <summary>Experimental: Sets the defaults of a hob_image.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_image). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_image_init(hob_image* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_perception_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_perception_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_perception_desc_init(hob_perception_desc* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_cognition_call.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_cognition_call). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_cognition_call_init(hob_cognition_call* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_cognition_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_cognition_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_cognition_desc_init(hob_cognition_desc* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_operator_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_operator_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_operator_desc_init(hob_operator_desc* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_perception_pipeline_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_perception_pipeline_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_perception_pipeline_desc_init(hob_perception_pipeline_desc* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_frame.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_frame). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_frame_init(hob_frame* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_perception_statistics.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_perception_statistics). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_perception_statistics_init(hob_perception_statistics* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_perception_pipeline_statistics.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_perception_pipeline_statistics). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_perception_pipeline_statistics_init(hob_perception_pipeline_statistics* value, uint size);
    }
}
