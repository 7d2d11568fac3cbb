// Compiles, links and loads shader programs only when necessary. MIT OR Apache-2.0.
using System;
using System.Runtime.InteropServices;
using System.Text;
using Hobgoblin.Interop;

#pragma warning disable 169, 649 // the library writes these fields

namespace Hobgoblin
{
    /// <summary>A shader of a manager. All zero is no shader.</summary>
    public readonly struct ShaderId : IEquatable<ShaderId>
    {
        readonly uint index1, generation;
        /// <summary>Whether this is not the zero id.</summary>
        public bool IsValid => index1 != 0;
        /// <summary>Its place, from 1 on; 0 is no id.</summary>
        public uint Index1 => index1;
        /// <summary>Compares all bits.</summary>
        public bool Equals(ShaderId other) => index1 == other.index1 && generation == other.generation;
        /// <summary>Compares all bits.</summary>
        public override bool Equals(object other) => other is ShaderId && Equals((ShaderId)other);
        /// <summary>Hashes all bits.</summary>
        public override int GetHashCode() => (int)(index1 * 31 + generation);
        /// <summary>Compares all bits.</summary>
        public static bool operator ==(ShaderId a, ShaderId b) => a.Equals(b);
        /// <summary>Compares all bits.</summary>
        public static bool operator !=(ShaderId a, ShaderId b) => !a.Equals(b);
    }
    /// <summary>The state of a shader.</summary>
    public enum ShaderState : uint
    {
        /// <summary>It is not compiled, or its compile failed.</summary>
        NotCompiled = 0,
        /// <summary>It is known to compile, and deferred.</summary>
        Deferred = 1,
        /// <summary>The driver has compiled it.</summary>
        Compiled = 2,
    }
    /// <summary>How a link ended.</summary>
    public enum LinkOutcome : uint
    {
        /// <summary>The link did not begin.</summary>
        None = 0,
        /// <summary>The driver loaded the program from the cache.</summary>
        Loaded = 1,
        /// <summary>The program was built and stored.</summary>
        Built = 2,
        /// <summary>The program was built. There was no binary, or it could not be stored.</summary>
        BuiltUnsaved = 3,
        /// <summary>A deferred shader failed to compile.</summary>
        CompileFailed = 4,
        /// <summary>The link failed.</summary>
        LinkFailed = 5,
    }
    /// <summary>The host's compile, link and load.
    /// Each returns 0 for success, and any other number for failure, which <see cref="ProgramManager"/> gives back. They run
    /// on the thread that calls the manager, inside the call. There the methods of the cache work; those of the manager fail
    /// with <c>Result.Busy</c>. An exception counts as failure, and that call throws it.</summary>
    public abstract class ProgramCallbacks
    {
        /// <summary>Compiles the source of a shader. <paramref name="shader"/> is the object of AddShader.</summary>
        public abstract uint Compile(IntPtr shader, ShaderStage stage, ByteView source);
        /// <summary>Links the compiled shaders. <paramref name="program"/> is the program of Link.</summary>
        public abstract uint Link(IntPtr program);
        /// <summary>Gives the driver a program from the cache. Failure: the program is removed and built.</summary>
        public abstract uint Load(IntPtr program, uint format, ByteView data, ByteView reflection);
        /// <summary>Sets Format, Data and Reflection of <paramref name="binary"/> from the linked program. By default it
        /// fails, and nothing is stored.</summary>
        public virtual uint GetBinary(IntPtr program, CompiledProgram binary) => 1;
    }

    /// <summary>The result of a compile.</summary>
    public readonly struct CompileResult
    {
        internal CompileResult(ShaderState state, uint driverCode)
        {
            State = state;
            DriverCode = driverCode;
        }

        /// <summary>The state of the shader.</summary>
        public ShaderState State { get; }
        /// <summary>The number of <see cref="ProgramCallbacks.Compile"/>; 0 if it was not called.</summary>
        public uint DriverCode { get; }
    }

    /// <summary>The result of a link.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct LinkResult
    {
        uint structSize;
        /// <summary>How the link ended.</summary>
        public LinkOutcome Outcome;
        /// <summary><c>LinkOutcome.Loaded</c>: the use that has begun. End it with <c>ProgramCache.EndUse</c>: see
        /// docs/threads.md.</summary>
        public UseId FirstUse;
        /// <summary>The program's key; zeros if the link failed.</summary>
        public Fingerprint Key;
        /// <summary>After a failure the code of the callback that failed. After a build the code of <c>Load</c>, if the
        /// cache had a program that the driver rejected. Otherwise 0.</summary>
        public uint DriverCode;
        /// <summary><c>LinkOutcome.CompileFailed</c>: the index of the shader in
        /// <c>ProgramLinkDesc.Shaders</c>.</summary>
        public uint FailedShader;
    }

    /// <summary>Links programs from a cache, and compiles only the shaders that it must.
    /// For one thread at a time; several managers may share a cache. Without <c>Hob.SetClockHook</c> programs are stored with
    /// a build time of 0.</summary>
    public sealed unsafe class ProgramManager : ExclusiveHandle
    {
        static readonly hob_program_callbacks_compile_fn CompileCallback = OnCompile;
        static readonly hob_program_callbacks_link_fn LinkCallback = OnLink;
        static readonly hob_program_callbacks_load_fn LoadCallback = OnLoad;
        static readonly hob_program_callbacks_get_binary_fn GetBinaryCallback = OnGetBinary;
        static readonly IntPtr CompilePointer = Callbacks.Pointer(CompileCallback);
        static readonly IntPtr LinkPointer = Callbacks.Pointer(LinkCallback);
        static readonly IntPtr LoadPointer = Callbacks.Pointer(LoadCallback);
        static readonly IntPtr GetBinaryPointer = Callbacks.Pointer(GetBinaryCallback);

        /// <summary>What the library holds: the callbacks, and the last binary until the next one.</summary>
        sealed class Box : IReleased
        {
            internal readonly ProgramCallbacks Callbacks;
            internal Arena Binary = new Arena();

            internal Box(ProgramCallbacks callbacks)
            {
                Callbacks = callbacks;
            }

            public void Released() => Binary.Dispose();
        }

        /// <summary>Creates a manager of a cache. Dispose all managers before their cache.</summary>
        public ProgramManager(ProgramCache cache, ProgramCallbacks callbacks)
        {
            if (cache == null) throw new ArgumentNullException(nameof(cache));
            if (callbacks == null) throw new ArgumentNullException(nameof(callbacks));
            Hob.Ready(Room.ProgramCache);
            hob_program_callbacks raw;
            Hob.Check(Native.hob_program_callbacks_init(&raw, (uint)sizeof(hob_program_callbacks)));
            raw.compile = CompilePointer;
            raw.link = LinkPointer;
            raw.load = LoadPointer;
            raw.get_binary = GetBinaryPointer;
            raw.release = Callbacks.ReleasePointer;
            using (Use.Begin(cache, out var native))
            {
                raw.user_data = Callbacks.Keep(new Box(callbacks));
                hob_program_manager* manager;
                var result = Native.hob_program_manager_create((hob_program_cache*)native, &raw, &manager);
                if (result == hob_result.HOB_RESULT_OK) Adopt(manager);
                else Callbacks.Drop(raw.user_data);
                Hob.Check(result);
            }
        }

        internal override void Destroy(IntPtr native) => Native.hob_program_manager_destroy((hob_program_manager*)native);

        /// <summary>Adds a shader without a source. <paramref name="shader"/> is passed to Compile: the graphics API's name of
        /// the shader, for instance.</summary>
        public ShaderId AddShader(ShaderStage stage, IntPtr shader)
        {
            ShaderId id;
            using (Exclusive(out var manager))
            {
                Hob.Check(Native.hob_program_manager_add_shader(
                    (hob_program_manager*)manager, (uint)stage, (void*)shader, (hob_shader_id*)&id));
            }
            return id;
        }

        /// <summary>Adds a shader with source text.</summary>
        public ShaderId AddShader(ShaderStage stage, IntPtr shader, string source)
        {
            if (source == null) throw new ArgumentNullException(nameof(source));
            var id = AddShader(stage, shader);
            try
            {
                SetSource(id, source);
            }
            catch
            {
                RemoveShader(id);
                throw;
            }
            return id;
        }

        /// <summary>Removes a shader. Programs that were linked from it stay in the cache.</summary>
        public void RemoveShader(ShaderId shader)
        {
            using (Exclusive(out var manager))
            {
                Hob.Check(Native.hob_program_manager_remove_shader(
                    (hob_program_manager*)manager, *(hob_shader_id*)&shader));
            }
        }

        /// <summary>Sets the source of a shader as text. Links use the source of the last Compile.</summary>
        public void SetSource(ShaderId shader, string source)
        {
            if (source == null) throw new ArgumentNullException(nameof(source));
            SetSource(shader, Text.Bytes(source, nameof(source)));
        }

        /// <summary>Sets the source of a shader; it is copied.</summary>
        public void SetSource(ShaderId shader, byte[] source)
        {
            if (source == null) throw new ArgumentNullException(nameof(source));
            fixed (byte* data = source) SetSource(shader, (IntPtr)data, source.Length);
        }

        /// <summary>Sets the source of a shader from native memory; it is copied.</summary>
        public void SetSource(ShaderId shader, IntPtr source, long size)
        {
            if (size < 0) throw new ArgumentOutOfRangeException(nameof(size));
            using (Exclusive(out var manager))
            {
                Hob.Check(Native.hob_program_manager_set_source(
                    (hob_program_manager*)manager, *(hob_shader_id*)&shader, (void*)source, (UIntPtr)(ulong)size));
            }
        }

        /// <summary>Compiles a shader's present source, or defers the compile if it is known to succeed.
        /// A failed compile is no exception: its DriverCode is not 0, and its State is <c>ShaderState.NotCompiled</c>.</summary>
        public CompileResult Compile(ShaderId shader)
        {
            hob_shader_state state = 0;
            uint driverCode = 0;
            using (Exclusive(out var manager))
            {
                hob_result result;
                try { }
                finally
                {
                    result = Native.hob_program_manager_compile(
                        (hob_program_manager*)manager, *(hob_shader_id*)&shader, &state, &driverCode);
                }
                Hob.CheckUnless(result, hob_result.HOB_RESULT_BUILD_FAILED);
            }
            return new CompileResult((ShaderState)state, driverCode);
        }

        /// <summary>Links a program: from the cache if possible, else by building it.
        /// A failed link is no exception: see <see cref="LinkResult.Outcome"/>. After <c>LinkOutcome.Loaded</c>, end
        /// <see cref="LinkResult.FirstUse"/> with <see cref="ProgramCache.EndUse"/>.</summary>
        /// <param name="program">Passed to the callbacks: the host's program object.</param>
        /// <param name="shaders">At least one shader, each compiled or deferred. Their order matters.</param>
        /// <param name="key">Other inputs of the program, such as attributes, without stages. Null: none.</param>
        /// <param name="group">See <see cref="CompiledProgram.Group"/>. A cached program moves to it.</param>
        public LinkResult Link(IntPtr program, ShaderId[] shaders, ProgramKey key = null, uint group = 0)
        {
            if (shaders == null) throw new ArgumentNullException(nameof(shaders));
            LinkResult linked;
            using (var arena = new Arena())
            using (Exclusive(out var manager))
            {
                hob_program_link_desc desc;
                Hob.Check(Native.hob_program_link_desc_init(&desc, (uint)sizeof(hob_program_link_desc)));
                desc.group = group;
                desc.program = (void*)program;
                if (key != null)
                {
                    var inputs = (hob_program_key_desc*)arena.Allocate(1, sizeof(hob_program_key_desc));
                    *inputs = key.Describe(arena);
                    desc.key = inputs;
                }
                fixed (ShaderId* ids = shaders)
                {
                    desc.shaders = (hob_shader_id*)ids;
                    desc.shader_count = (UIntPtr)shaders.Length;
                    var raw = (hob_link_result*)&linked;
                    Hob.Check(Native.hob_link_result_init(raw, (uint)sizeof(hob_link_result)));
                    hob_result result;
                    try { }
                    finally { result = Native.hob_program_manager_link((hob_program_manager*)manager, &desc, raw); }
                    Hob.CheckUnless(result, hob_result.HOB_RESULT_BUILD_FAILED);
                }
            }
            return linked;
        }

        /// <summary>The sentence of this manager's last failed exclusive call. Empty if none has failed.</summary>
        public string LastError
        {
            get
            {
                using (Shared(out var manager))
                    return Text.From(Native.hob_program_manager_last_error((hob_program_manager*)manager));
            }
        }

        // A failure that no callback of the host returned: an exception.
        const uint Thrown = uint.MaxValue;

        [MonoPInvokeCallback(typeof(hob_program_callbacks_compile_fn))]
        static uint OnCompile(void* userData, void* shader, uint stage, void* source, UIntPtr size)
        {
            var call = Callbacks.Begin();
            try
            {
                return Callbacks.Get<Box>(userData).Callbacks.Compile(
                    (IntPtr)shader, (ShaderStage)stage, new ByteView(source, size));
            }
            catch (Exception exception)
            {
                call.Fail(exception);
                return Thrown;
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_program_callbacks_link_fn))]
        static uint OnLink(void* userData, void* program)
        {
            var call = Callbacks.Begin();
            try
            {
                return Callbacks.Get<Box>(userData).Callbacks.Link((IntPtr)program);
            }
            catch (Exception exception)
            {
                call.Fail(exception);
                return Thrown;
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_program_callbacks_load_fn))]
        static uint OnLoad(void* userData, void* program, hob_blob* blob)
        {
            var call = Callbacks.Begin();
            try
            {
                return Callbacks.Get<Box>(userData).Callbacks.Load((IntPtr)program, blob->format,
                    new ByteView(blob->data, blob->size), new ByteView(blob->reflection, blob->reflection_size));
            }
            catch (Exception exception)
            {
                call.Fail(exception);
                return Thrown;
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_program_callbacks_get_binary_fn))]
        static uint OnGetBinary(void* userData, void* program, hob_program* binary)
        {
            var call = Callbacks.Begin();
            try
            {
                var box = Callbacks.Get<Box>(userData);
                var made = new CompiledProgram();
                var code = box.Callbacks.GetBinary((IntPtr)program, made);
                if (code != 0) return code;
                box.Binary.Dispose();
                binary->format = made.Format;
                binary->data = box.Binary.Bytes(made.Data, out binary->size);
                binary->reflection = box.Binary.Bytes(made.Reflection, out binary->reflection_size);
                return 0;
            }
            catch (Exception exception)
            {
                call.Fail(exception);
                return Thrown;
            }
            finally
            {
                call.End();
            }
        }
    }
}
