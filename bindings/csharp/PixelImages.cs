// Images and frames. MIT OR Apache-2.0.
using System;
using System.Runtime.InteropServices;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>How pixels lie in memory. The names give the order of the bytes.</summary>
    public enum PixelFormat : uint
    {
        /// <summary>In images: <c>PixelFormat.Bgrx8</c>. For <c>CognitionDesc.ImageFormat</c>: the format of the first
        /// input.</summary>
        Default = 0,
        /// <summary>Blue, green, red, and a byte that is ignored.</summary>
        Bgrx8 = 1,
        /// <summary>Red, green, blue, and a byte that is ignored.</summary>
        Rgbx8 = 2,
        /// <summary>Blue, green, red, alpha. Alpha is ignored.</summary>
        Bgra8 = 3,
        /// <summary>Red, green, blue, alpha. Alpha is ignored.</summary>
        Rgba8 = 4,
        /// <summary>Blue, green, red.</summary>
        Bgr8 = 5,
        /// <summary>Red, green, blue.</summary>
        Rgb8 = 6,
        /// <summary>One byte of brightness.</summary>
        Gray8 = 7,
        /// <summary>16 bits in the machine's order: 5 of red, which are the highest, 6 of green, 5 of blue.</summary>
        Rgb565 = 8,
        /// <summary>A plane of brightness; then, in <c>Chroma</c>, one of half the width and height with pairs of U and
        /// V.</summary>
        Nv12 = 9,
        /// <summary>One number of 32 bits in the machine's order: counts. Only images that cognitions make have
        /// it.</summary>
        Count32 = 10,
    }
    /// <summary>A rectangle of pixels.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct PixelRect
    {
        /// <summary>The first column.</summary>
        public uint X;
        /// <summary>The first row.</summary>
        public uint Y;
        /// <summary>Number of columns.</summary>
        public uint Width;
        /// <summary>Number of rows.</summary>
        public uint Height;
    }

    /// <summary>An image in managed memory.</summary>
    public sealed unsafe class PixelImage
    {
        /// <summary>Default <c>PixelFormat.Bgrx8</c>.</summary>
        public PixelFormat Format;
        /// <summary>The pixels.</summary>
        public byte[] Pixels;
        /// <summary>Number of columns: 1 to 32768.</summary>
        public uint Width;
        /// <summary>Number of rows: 1 to 32768.</summary>
        public uint Height;
        /// <summary>Bytes from one row to the next. Default 0: rows without gaps.</summary>
        public long Stride;
        /// <summary>For <c>PixelFormat.Nv12</c>: the pairs of colour differences. Otherwise null.</summary>
        public byte[] Chroma;
        /// <summary>Bytes from one row of <see cref="Chroma"/> to the next. Default 0: rows without gaps.</summary>
        public long ChromaStride;

        /// <summary>An empty image, such as one for <c>Perception.CopyImage</c>.</summary>
        public PixelImage()
        {
        }

        /// <summary>An image of pixels without gaps.</summary>
        public PixelImage(byte[] pixels, uint width, uint height, PixelFormat format = PixelFormat.Default)
        {
            Pixels = pixels;
            Width = width;
            Height = height;
            Format = format;
        }

        /// <summary>The C struct, whose pointers are valid as long as the arena.</summary>
        internal hob_image* Describe(Arena arena)
        {
            var raw = (hob_image*)arena.Allocate(1, sizeof(hob_image));
            Hob.Check(Native.hob_image_init(raw, (uint)sizeof(hob_image)));
            raw->format = (hob_pixel_format)Format;
            raw->pixels = arena.Bytes(Pixels, out var size);
            raw->width = Width;
            raw->height = Height;
            raw->stride = (UIntPtr)(ulong)Stride;
            raw->chroma = arena.Bytes(Chroma, out var chromaSize);
            raw->chroma_stride = (UIntPtr)(ulong)ChromaStride;
            // The copy is checked, which no other thread changes.
            PixelLayout.Check((PixelFormat)raw->format, raw->width, raw->height, (long)(ulong)raw->stride, (long)(ulong)size,
                (long)(ulong)raw->chroma_stride, (long)(ulong)chromaSize);
            return raw;
        }
    }

    /// <summary>A frame. Use one object for all frames: then a frame allocates nothing.
    /// Its pixels are a managed array, or native memory such as a locked texture.</summary>
    public sealed class Frame
    {
        /// <summary>Default <c>PixelFormat.Bgrx8</c>.</summary>
        public PixelFormat Format;
        /// <summary>The pixels. Null: <see cref="Data"/> has them.</summary>
        public byte[] Pixels;
        /// <summary>The pixels in native memory, if <see cref="Pixels"/> is null. They are read only
        /// during the call, unless <c>PerceptionDesc.BorrowsFrames</c> is set.</summary>
        public IntPtr Data;
        /// <summary>Bytes of <see cref="Data"/>.</summary>
        public long DataSize;
        /// <summary>Number of columns: 1 to 32768.</summary>
        public uint Width;
        /// <summary>Number of rows: 1 to 32768.</summary>
        public uint Height;
        /// <summary>Bytes from one row to the next. Default 0: rows without gaps.</summary>
        public long Stride;
        /// <summary>For <c>PixelFormat.Nv12</c>: the pairs of colour differences. Null: <see cref="ChromaData"/> has
        /// them.</summary>
        public byte[] Chroma;
        /// <summary>The pairs of colour differences in native memory.</summary>
        public IntPtr ChromaData;
        /// <summary>Bytes of <see cref="ChromaData"/>.</summary>
        public long ChromaDataSize;
        /// <summary>Bytes from one row of colour differences to the next. Default 0: rows without gaps.</summary>
        public long ChromaStride;
        /// <summary>Hints: rectangles that contain all changes since the last frame; see <see cref="Trust"/>. Null: not
        /// known.</summary>
        public PixelRect[] Dirty;
        /// <summary>Number of rectangles in <see cref="Dirty"/> that count. 0 with Dirty not null: nothing changed.</summary>
        public int DirtyCount;
        /// <summary>Hints: pixels that moved since the last frame. Each move is checked before it is used. May be
        /// null.</summary>
        public FrameMove[] Moves;
        /// <summary>Number of moves in <see cref="Moves"/> that count.</summary>
        public int MoveCount;
        /// <summary>Whether <c>Dirty</c> is trusted. Default <c>FrameTrust.Compare</c>.</summary>
        public FrameTrust Trust;

        /// <summary>A frame without pixels.</summary>
        public Frame()
        {
        }

        /// <summary>A frame of pixels without gaps.</summary>
        public Frame(byte[] pixels, uint width, uint height, PixelFormat format = PixelFormat.Default)
        {
            Pixels = pixels;
            Width = width;
            Height = height;
            Format = format;
        }

        /// <summary>Throws unless an array of hints has as many as a field says.</summary>
        internal static void CheckCount(Array hints, int count, string name)
        {
            if (count < 0 || count > (hints == null ? 0 : hints.Length))
                throw new ArgumentOutOfRangeException(name, "more than the array has");
        }
    }

    /// <summary>Sizes of planes of pixels. The library cannot know how long an array is.</summary>
    internal static class PixelLayout
    {
        /// <summary>Bytes of a pixel in the first plane.</summary>
        internal static int PixelSize(PixelFormat format)
        {
            switch (format)
            {
                case PixelFormat.Bgr8:
                case PixelFormat.Rgb8: return 3;
                case PixelFormat.Rgb565: return 2;
                case PixelFormat.Gray8:
                case PixelFormat.Nv12: return 1;
                default: return 4;
            }
        }

        /// <summary>Throws unless planes of these sizes have all pixels.</summary>
        internal static void Check(PixelFormat format, uint width, uint height, long stride, long size, long chromaStride,
            long chromaSize)
        {
            if (stride < 0 || chromaStride < 0) throw new ArgumentException("a stride is negative");
            CheckPlane((long)width * PixelSize(format), height, stride, size, "pixels");
            if (format != PixelFormat.Nv12) return;
            CheckPlane(((long)width + 1) / 2 * 2, (uint)(((long)height + 1) / 2), chromaStride, chromaSize, "chroma");
        }

        static void CheckPlane(long rowSize, uint rows, long stride, long size, string plane)
        {
            if (rows == 0 || rowSize == 0) return;
            if (stride == 0) stride = rowSize;
            var isEnough = size >= rowSize && (rows == 1 || stride <= (size - rowSize) / (rows - 1));
            if (!isEnough)
                throw new ArgumentException($"{plane}: {size} bytes are less than {rows} rows of {rowSize} bytes");
        }
    }

    /// <summary>An image, or a region of one, valid only during the callback that receives it.</summary>
    public readonly unsafe ref struct ImageView
    {
        readonly byte* pixels, chroma;
        readonly bool isWritable;

        internal ImageView(PixelFormat format, void* pixels, uint width, uint height, UIntPtr stride, void* chroma,
            UIntPtr chromaStride, bool isWritable) : this()
        {
            Format = format;
            this.pixels = (byte*)pixels;
            Width = (int)width;
            Height = (int)height;
            Stride = (long)(ulong)stride;
            this.chroma = (byte*)chroma;
            ChromaStride = (long)(ulong)chromaStride;
            this.isWritable = isWritable;
        }

        internal ImageView(hob_cognition_input* input) : this((PixelFormat)input->format, input->pixels, input->width,
            input->height, input->stride, input->chroma, input->chroma_stride, false)
        {
            Left = (int)input->left;
            Top = (int)input->top;
            Right = (int)input->right;
            Bottom = (int)input->bottom;
        }

        /// <summary>Whether there is an image.</summary>
        public bool HasImage => pixels != null;
        /// <summary>The format of the pixels.</summary>
        public PixelFormat Format { get; }
        /// <summary>Columns.</summary>
        public int Width { get; }
        /// <summary>Rows.</summary>
        public int Height { get; }
        /// <summary>Bytes from one row to the next.</summary>
        public long Stride { get; }
        /// <summary>Bytes from one row of colour differences to the next.</summary>
        public long ChromaStride { get; }
        /// <summary>Columns to the left of the region that can be read too, as negative columns.</summary>
        public int Left { get; }
        /// <summary>Rows above it.</summary>
        public int Top { get; }
        /// <summary>Columns to the right of it.</summary>
        public int Right { get; }
        /// <summary>Rows below it.</summary>
        public int Bottom { get; }
        /// <summary>Bytes of a pixel in the first plane.</summary>
        public int PixelSize => PixelLayout.PixelSize(Format);
        /// <summary>The first pixel, for native code and unsafe loops.</summary>
        public IntPtr Pixels => (IntPtr)pixels;
        /// <summary>The first pair of colour differences of <c>PixelFormat.Nv12</c>, or zero.</summary>
        public IntPtr Chroma => (IntPtr)chroma;

        /// <summary>One byte of a pixel, in the order of the format.</summary>
        public byte this[int x, int y, int channel]
        {
            get => *At(x, y, channel);
            set
            {
                if (!isWritable) throw new InvalidOperationException("this image cannot be written");
                *At(x, y, channel) = value;
            }
        }

        /// <summary>The bytes of a row.</summary>
        public ByteView Row(int y)
        {
            return new ByteView(At(0, y, 0), (UIntPtr)(uint)(Width * PixelSize));
        }

        /// <summary>The pairs of colour differences of a row of the second plane.</summary>
        public ByteView ChromaRow(int row)
        {
            if (chroma == null || (uint)row >= (uint)(Height + 1) / 2) throw new ArgumentOutOfRangeException(nameof(row));
            return new ByteView(chroma + row * ChromaStride, (UIntPtr)(uint)((Width + 1) / 2 * 2));
        }

        /// <summary>Overwrites a row with bytes of an array, from <paramref name="offset"/> on.</summary>
        public void WriteRow(int y, byte[] source, int offset = 0)
        {
            if (!isWritable) throw new InvalidOperationException("this image cannot be written");
            var size = Width * PixelSize;
            Buffers.CheckRange(source, offset, size);
            Marshal.Copy(source, offset, (IntPtr)At(0, y, 0), size);
        }

        /// <summary>Overwrites a row of the second plane with bytes of an array.</summary>
        public void WriteChromaRow(int row, byte[] source, int offset = 0)
        {
            if (!isWritable) throw new InvalidOperationException("this image cannot be written");
            var target = ChromaRow(row);
            Buffers.CheckRange(source, offset, (int)target.Length);
            Marshal.Copy(source, offset, target.Data, (int)target.Length);
        }

        byte* At(int x, int y, int channel)
        {
            if (pixels == null) throw new InvalidOperationException("there is no image");
            if (x < -Left || x >= Width + Right) throw new ArgumentOutOfRangeException(nameof(x));
            if (y < -Top || y >= Height + Bottom) throw new ArgumentOutOfRangeException(nameof(y));
            if ((uint)channel >= (uint)PixelSize) throw new ArgumentOutOfRangeException(nameof(channel));
            return pixels + y * Stride + (long)x * PixelSize + channel;
        }
    }
}
