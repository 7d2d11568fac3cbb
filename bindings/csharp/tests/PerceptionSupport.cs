// Pictures for the tests of perception. MIT OR Apache-2.0.
using Hobgoblin;

static class PerceptionSupport
{
    public const int Width = 320, Height = 200;

    public static PixelRect Rect(uint x, uint y, uint width, uint height)
    {
        return new PixelRect { X = x, Y = y, Width = width, Height = height };
    }

    /// <summary>A game's picture: a moving sprite, and a status bar that changes now and then.</summary>
    public static byte[] Picture(int frame)
    {
        var pixels = new byte[Width * Height * 4];
        for (var y = 0; y < Height; ++y)
        {
            for (var x = 0; x < Width; ++x)
            {
                var at = 4 * (y * Width + x);
                var isSprite = x >= frame % 300 && x < frame % 300 + 20 && y >= 50 && y < 70;
                pixels[at] = (byte)(isSprite ? 250 : x);
                pixels[at + 1] = (byte)(isSprite ? 10 : y);
                pixels[at + 2] = (byte)(y >= 171 ? (frame / 10) * 20 + x % 7 : x ^ y);
                pixels[at + 3] = (byte)frame;
            }
        }
        return pixels;
    }

    public static CognitionDesc Pure(CognitionFunction perceive, CognitionFlags flags = CognitionFlags.Pure)
    {
        return new CognitionDesc { Name = "größe", Flags = flags, Perceive = perceive };
    }
}
