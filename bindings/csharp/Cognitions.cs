// Cognitions of the host: their inputs and results, and the calls of the library. MIT OR Apache-2.0.
using System;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>Computes value and image of a cognition. <c>Result.Ok</c>: they are written; another result: it failed.
    /// Runs inside BeginFrame and the queries: on their thread, and on threads of the executor, perhaps on several at once.
    /// It must not call its own perception. An exception fails the pipelines that need it, with its message as the reason;
    /// the call continues, and throws the first exception at its end.</summary>
    public delegate Result CognitionFunction(CognitionCall call);

    /// <summary>Makes the object of an object cognition. Null: it failed.</summary>
    public delegate T CognitionMaker<T>(CognitionCall call) where T : class;

    /// <summary>Inputs and results of a running cognition, valid during the call.</summary>
    public readonly unsafe ref struct CognitionCall
    {
        readonly hob_cognition_call* raw;

        internal CognitionCall(hob_cognition_call* raw, Executor executor)
        {
            this.raw = raw;
            Executor = raw->executor != null ? executor : null;
        }

        /// <summary>Number of inputs, at least 1.</summary>
        public int InputCount => (int)raw->input_count;
        /// <summary>Bytes of the step.</summary>
        public ByteView Parameters => new ByteView(raw->parameters, raw->parameters_size);
        /// <summary>The number of the frame, from 1 on. It may be a past one.</summary>
        public ulong Frame => raw->frame;
        /// <summary>An executor for loops inside the cognition. Null: other cognitions use it now.</summary>
        public Executor Executor { get; }
        /// <summary>The value to write. At first all zero.</summary>
        public ref Value Value => ref *(Value*)&raw->value;

        /// <summary>The region of an input.</summary>
        public ImageView Input(int index)
        {
            if ((uint)index >= raw->input_count) throw new ArgumentOutOfRangeException(nameof(index));
            return new ImageView((hob_cognition_input*)((byte*)raw->inputs + index * (long)(ulong)raw->input_stride));
        }

        /// <summary>The value of an input; all zero for the frame.</summary>
        public Value InputValue(int index)
        {
            if ((uint)index >= raw->input_count) throw new ArgumentOutOfRangeException(nameof(index));
            return ((Value*)raw->values)[index];
        }

        /// <summary>The image to write, for <c>CognitionFlags.Image</c>. Its bytes are not those of the last run.</summary>
        public ImageView Image => new ImageView((PixelFormat)raw->image_format, raw->image, raw->image_width,
            raw->image_height, raw->image_stride, raw->image_chroma, raw->image_chroma_stride, true);

        /// <summary>Fails with a reason: return the result.</summary>
        public Result Fail(string reason)
        {
            Calls.WriteMessage(raw->message, raw->message_capacity, reason);
            return Result.CognitionFailed;
        }
    }

    /// <summary>What a perception shares with its cognitions.</summary>
    internal sealed class PerceptionState
    {
        internal readonly SharedException Exceptions = new SharedException();
        /// <summary>That of the last frame.</summary>
        internal volatile Executor Executor;
    }

    /// <summary>The user data of a cognition.</summary>
    internal abstract class CognitionBox
    {
        internal readonly PerceptionState State;

        protected CognitionBox(PerceptionState state)
        {
            State = state;
        }

        internal abstract bool HasIsEqual { get; }
        internal abstract bool HasReleaseValue { get; }
        internal abstract Result Perceive(CognitionCall call);
        internal abstract bool IsEqual(Value one, Value other);
        internal abstract void ReleaseValue(Value value);
    }

    internal sealed class CognitionFunctionBox : CognitionBox
    {
        readonly CognitionFunction perceive;
        readonly Func<Value, Value, bool> isEqual;
        readonly Action<Value> releaseValue;

        internal CognitionFunctionBox(CognitionDesc desc, PerceptionState state) : base(state)
        {
            perceive = desc.Perceive;
            isEqual = desc.IsEqual;
            releaseValue = desc.ReleaseValue;
        }

        internal override bool HasIsEqual => isEqual != null;
        internal override bool HasReleaseValue => releaseValue != null;
        internal override Result Perceive(CognitionCall call) => perceive(call);
        internal override bool IsEqual(Value one, Value other) => isEqual(one, other);
        internal override void ReleaseValue(Value value) => releaseValue(value);
    }

    /// <summary>Makes objects, which are values by their number in the table.</summary>
    internal sealed class CognitionObjectBox<T> : CognitionBox where T : class
    {
        readonly CognitionMaker<T> make;

        internal CognitionObjectBox(CognitionMaker<T> make, PerceptionState state) : base(state)
        {
            this.make = make;
        }

        internal override bool HasIsEqual => typeof(IEquatable<T>).IsAssignableFrom(typeof(T));
        internal override bool HasReleaseValue => true;

        internal override Result Perceive(CognitionCall call)
        {
            var made = make(call);
            if (made == null) return Result.CognitionFailed;
            call.Value = ObjectTable.Add(made);
            return Result.Ok;
        }

        internal override bool IsEqual(Value one, Value other)
        {
            var left = one.Object<T>() as IEquatable<T>;
            var right = other.Object<T>();
            return left != null && right != null && left.Equals(right);
        }

        internal override void ReleaseValue(Value value) => ObjectTable.Remove(value);
    }

    /// <summary>The functions that the library calls for cognitions.</summary>
    internal static unsafe class CognitionCallbacks
    {
        static readonly hob_cognition_desc_perceive_fn PerceiveCallback = OnPerceive;
        static readonly hob_cognition_desc_is_equal_fn IsEqualCallback = OnIsEqual;
        static readonly hob_cognition_desc_release_value_fn ReleaseValueCallback = OnReleaseValue;
        static readonly IntPtr PerceivePointer = Callbacks.Pointer(PerceiveCallback);
        static readonly IntPtr IsEqualPointer = Callbacks.Pointer(IsEqualCallback);
        static readonly IntPtr ReleaseValuePointer = Callbacks.Pointer(ReleaseValueCallback);

        /// <summary>Sets the callbacks of a cognition. The library owns the box after success.</summary>
        internal static void Describe(hob_cognition_desc* desc, CognitionBox box)
        {
            desc->user_data = Callbacks.Keep(box);
            desc->release = Callbacks.ReleasePointer;
            desc->perceive = PerceivePointer;
            desc->is_equal = box.HasIsEqual ? IsEqualPointer : IntPtr.Zero;
            desc->release_value = box.HasReleaseValue ? ReleaseValuePointer : IntPtr.Zero;
        }

        [MonoPInvokeCallback(typeof(hob_cognition_desc_perceive_fn))]
        static hob_result OnPerceive(void* userData, hob_cognition_call* cognition)
        {
            var call = Callbacks.Begin();
            var box = Callbacks.Get<CognitionBox>(userData);
            try
            {
                return (hob_result)box.Perceive(new CognitionCall(cognition, box.State.Executor));
            }
            catch (Exception exception)
            {
                box.State.Exceptions.Keep(exception);
                Calls.WriteMessage(cognition->message, cognition->message_capacity, Callbacks.MessageOf(exception));
                return hob_result.HOB_RESULT_COGNITION_FAILED;
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_cognition_desc_is_equal_fn))]
        static uint OnIsEqual(void* userData, hob_value* one, hob_value* other)
        {
            var call = Callbacks.Begin();
            var box = Callbacks.Get<CognitionBox>(userData);
            try
            {
                return box.IsEqual(*(Value*)one, *(Value*)other) ? 1u : 0u;
            }
            catch (Exception exception)
            {
                // Values that differ are no consensus, which is the safe answer.
                box.State.Exceptions.Keep(exception);
                return 0;
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_cognition_desc_release_value_fn))]
        static void OnReleaseValue(void* userData, hob_value* value)
        {
            var call = Callbacks.Begin();
            var box = Callbacks.Get<CognitionBox>(userData);
            try
            {
                box.ReleaseValue(*(Value*)value);
            }
            catch (Exception exception)
            {
                box.State.Exceptions.Keep(exception);
            }
            finally
            {
                call.End();
            }
        }
    }
}
