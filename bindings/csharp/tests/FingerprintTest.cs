// Fingerprints, program keys and environments. MIT OR Apache-2.0.
using System;
using System.Runtime.InteropServices;
using System.Text;
using Hobgoblin;
using Hobgoblin.Interop;

static unsafe class FingerprintTest
{
    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(FingerprintTest), arguments);
    }

    public static void Bytes_have_their_BLAKE3()
    {
        const string empty = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
        Ensure.Equal(empty, Fingerprint.OfBytes(new byte[0]).ToString(), "BLAKE3 of nothing");
        Ensure.Equal(empty, Fingerprint.OfBytes(IntPtr.Zero, 0).ToString(), "BLAKE3 of no memory");
        Ensure.Equal("6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85",
            Fingerprint.OfText("abc").ToString(), "BLAKE3 of abc");
        var bytes = Encoding.UTF8.GetBytes("xabcx");
        Ensure.Equal(Fingerprint.OfText("abc"), Fingerprint.OfBytes(bytes, 1, 3), "a part of an array");
        fixed (byte* at = bytes)
            Ensure.Equal(Fingerprint.OfText("abc"), Fingerprint.OfBytes((IntPtr)(at + 1), 3), "native memory");
    }

    public static void Text_and_bytes_round_trip()
    {
        var key = Fingerprint.OfText("a program");
        Ensure.Equal(key, Fingerprint.Parse(key.ToString()), "hexadecimal");
        Ensure.Equal(key, Fingerprint.Parse(key.ToString().ToUpperInvariant()), "upper case");
        Ensure.Equal(key, new Fingerprint(key.ToBytes()), "bytes");
        Ensure.That(key != Fingerprint.OfText("another"), "different inputs differ");
        Ensure.That(key.Equals((object)key) && !key.Equals("text"), "objects compare");
        var copy = key;
        var other = Fingerprint.OfText("another");
        Ensure.Equal(1u, Native.hob_fingerprint_equal((hob_fingerprint*)&key, (hob_fingerprint*)&copy), "equal in C");
        Ensure.Equal(0u, Native.hob_fingerprint_equal((hob_fingerprint*)&key, (hob_fingerprint*)&other), "different in C");
    }

    public static void Bad_input_is_refused()
    {
        Ensure.Throws<ArgumentNullException>(() => Fingerprint.OfBytes(null));
        Ensure.Throws<ArgumentNullException>(() => Fingerprint.OfText(null));
        Ensure.Throws<ArgumentNullException>(() => new Fingerprint(null));
        Ensure.Throws<ArgumentException>(() => new Fingerprint(new byte[31]));
        Ensure.Throws<ArgumentNullException>(() => Fingerprint.Parse(null));
        Ensure.Throws<FormatException>(() => Fingerprint.Parse("12"));
        Ensure.Throws<FormatException>(() => Fingerprint.Parse(new string('g', 64)));
        Ensure.Throws<ArgumentOutOfRangeException>(() => Fingerprint.OfBytes(new byte[4], 2, 3));
        Ensure.Throws<ArgumentOutOfRangeException>(() => Fingerprint.OfBytes(new byte[4], -1, 1));
        Ensure.Throws<ArgumentOutOfRangeException>(() => Fingerprint.OfBytes(new byte[4], int.MaxValue, int.MaxValue));
        Ensure.Throws<ArgumentOutOfRangeException>(() => Fingerprint.OfBytes(IntPtr.Zero, -1));
        Ensure.Fails(Result.InvalidArgument, () => Fingerprint.OfBytes(IntPtr.Zero, 5));
        Ensure.Throws<ArgumentNullException>(() => new ProgramKey().AddStage(ShaderStage.Vertex, (string)null));
        Ensure.Throws<ArgumentNullException>(() => new ProgramKey().AddStage(ShaderStage.Vertex, IntPtr.Zero, 4));
        Ensure.Throws<ArgumentNullException>(() => new ProgramKey().AddAttribute(null, 0));
        Ensure.Fails(Result.InvalidArgument, () => new ProgramKey().ComputeFingerprint());
        Ensure.Fails(Result.InvalidArgument, () => Fingerprint.OfShader((ShaderStage)40, "void main() {}"));
        Ensure.Fails(Result.InvalidArgument, () => new ProgramKey { Mode = (FingerprintMode)9 }.AddStage(ShaderStage.Vertex, "x").ComputeFingerprint());
        var many = new ProgramKey();
        for (var i = 0; i < 1025; ++i) many.AddStage(ShaderStage.Miss, "x");
        Ensure.Fails(Result.LimitExceeded, () => many.ComputeFingerprint());
        Ensure.Throws<ArgumentException>(() => new ProgramEnvironment { DeviceUuid = new byte[15] }.GetId());
    }

    static ProgramKey Key()
    {
        var key = new ProgramKey { Defines = new byte[] { 1, 2 }, Extra = new byte[] { 3 }, FeedbackMode = 0x8C8C };
        key.AddStage(ShaderStage.Vertex, "void main() { gl_Position = vec4(0); }").AddStage(ShaderStage.Fragment, new byte[] { 7, 0, 7 });
        key.AddAttribute("position", 0).AddAttribute("größe", 1);
        key.Varyings.Add("out_position");
        return key;
    }

    public static void Every_input_of_a_program_changes_its_key()
    {
        var one = Key().ComputeFingerprint();
        Ensure.Equal(one, Key().ComputeFingerprint(), "equal inputs");
        Ensure.That(one != Key().AddStage(ShaderStage.Geometry, "g").ComputeFingerprint(), "a stage");
        Ensure.That(one != Key().AddAttribute("normal", 2).ComputeFingerprint(), "an attribute");
        var changed = Key();
        changed.Varyings.Add("more");
        Ensure.That(one != changed.ComputeFingerprint(), "a varying");
        changed = Key();
        changed.Defines = null;
        Ensure.That(one != changed.ComputeFingerprint(), "defines");
        changed = Key();
        changed.Extra = new byte[] { 4 };
        Ensure.That(one != changed.ComputeFingerprint(), "extra");
        changed = Key();
        changed.FeedbackMode = 1;
        Ensure.That(one != changed.ComputeFingerprint(), "the feedback mode");
        var source = new byte[] { 1, 2, 3, 4 };
        fixed (byte* at = source)
        {
            Ensure.Equal(new ProgramKey().AddStage(ShaderStage.Compute, source).ComputeFingerprint(),
                new ProgramKey().AddStage(ShaderStage.Compute, (IntPtr)at, 4).ComputeFingerprint(), "source in native memory");
        }
    }

    public static void Parts_show_the_inputs_of_a_program()
    {
        var parts = Key().GetParts();
        Ensure.Equal(6, parts.Length, "parts");
        Ensure.Equal((uint)ProgramPart.Stage, parts[0].Kind, "the first part");
        Ensure.Equal((uint)ShaderStage.Fragment, parts[1].Index, "the stage of the second part");
        Ensure.Equal(3ul, parts[1].Size, "bytes of the second part");
        Ensure.Equal((uint)ProgramPart.Extra, parts[5].Kind, "the last part");
        var hash = Fingerprint.OfBytes(new byte[] { 7, 0, 7 }).ToBytes();
        Ensure.Equal(BitConverter.ToUInt64(hash, 0), parts[1].Digest, "a stage's digest begins its hash");
        Ensure.Fails(Result.InvalidArgument, () => new ProgramKey().GetParts());
    }

    public static void The_mode_of_Chromium_takes_two_stages()
    {
        var key = new ProgramKey { Mode = FingerprintMode.Sha1 }.AddStage(ShaderStage.Vertex, "v").AddStage(ShaderStage.Fragment, "f");
        var bytes = key.ComputeFingerprint().ToBytes();
        for (var i = 20; i < 32; ++i) Ensure.Equal((byte)0, bytes[i], "SHA-1 leaves 12 bytes");
        Ensure.Fails(Result.Unsupported, () => key.AddStage(ShaderStage.Compute, "c").ComputeFingerprint());
    }

    public static void Environments_have_an_id_and_parts()
    {
        var environment = new ProgramEnvironment
        {
            Api = GraphicsApi.Vulkan, VendorId = 0x10de, Vendor = "NVIDIA", Driver = "535", Build = "game 1.2",
            DriverVersion = 7, DeviceUuid = new byte[] { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
        };
        var id = environment.GetId();
        Ensure.That(id != 0, "an id is not 0");
        environment.Driver = "536";
        Ensure.That(environment.GetId() != id, "a new driver has another id");
        var kinds = "";
        foreach (var part in environment.GetParts()) kinds += (EnvironmentPart)part.Kind + " ";
        Ensure.Equal("Api VendorId PointerSize DriverVersion DeviceUuid Vendor Driver Build ", kinds, "parts");
        Ensure.That(new ProgramEnvironment().GetId() != 0, "an unknown environment has an id");
    }

    public static void Hashing_allocates_nothing()
    {
        var bytes = new byte[1024];
        var sum = 0;
        Ensure.AllocatesNothing("a fingerprint of bytes", 100000, i =>
        {
            bytes[0] = (byte)i;
            sum += Fingerprint.OfBytes(bytes, 0, 64).GetHashCode();
        });
    }

    public static void Threads_hash_at_once()
    {
        var expected = Key().ComputeFingerprint();
        Ensure.OnThreads(4, thread =>
        {
            for (var i = 0; i < 500; ++i)
            {
                Ensure.Equal(expected, Key().ComputeFingerprint(), "the key on a thread");
                if (i % 100 == thread) GC.Collect();
            }
        });
    }

    /// <summary>Structs of this layer that are passed as C structs have their sizes.</summary>
    public static void Structs_have_the_layout_of_C()
    {
        Ensure.Equal(sizeof(hob_fingerprint), sizeof(Fingerprint), "Fingerprint");
        Ensure.Equal(sizeof(hob_fingerprint_part), sizeof(FingerprintPart), "FingerprintPart");
    }
}
