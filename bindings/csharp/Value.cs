// The values of graphs and perceptions. MIT OR Apache-2.0.
using System;
using System.Collections.Concurrent;
using System.Runtime.InteropServices;
using System.Threading;

namespace Hobgoblin
{
    /// <summary>16 bytes whose meaning is the host's: a value between the nodes of a graph, or the value of a perception.
    /// All bytes count when values are compared. <c>default(Value)</c> is all zero.</summary>
    [StructLayout(LayoutKind.Explicit, Size = 16)]
    public struct Value : IEquatable<Value>
    {
        /// <summary>One number: the first of two.</summary>
        [FieldOffset(0)] public double Number;
        /// <summary>The second number.</summary>
        [FieldOffset(8)] public double SecondNumber;
        /// <summary>The first of four numbers of single precision.</summary>
        [FieldOffset(0)] public float X;
        /// <summary>The second of four numbers.</summary>
        [FieldOffset(4)] public float Y;
        /// <summary>The third of four numbers.</summary>
        [FieldOffset(8)] public float Z;
        /// <summary>The fourth of four numbers.</summary>
        [FieldOffset(12)] public float W;
        /// <summary>An integer.</summary>
        [FieldOffset(0)] public long Integer;
        /// <summary>The first word.</summary>
        [FieldOffset(0)] public ulong Word0;
        /// <summary>The second word, which <c>Cutoff.Generation</c> compares.</summary>
        [FieldOffset(8)] public ulong Word1;
        /// <summary>A pointer of the host.</summary>
        [FieldOffset(0)] public IntPtr Pointer;

        /// <summary>A value of one number.</summary>
        public static Value OfNumber(double number)
        {
            return new Value { Number = number };
        }

        /// <summary>A value of two numbers.</summary>
        public static Value OfNumbers(double first, double second)
        {
            return new Value { Number = first, SecondNumber = second };
        }

        /// <summary>A value of four numbers of single precision.</summary>
        public static Value OfVector(float x, float y, float z, float w)
        {
            return new Value { X = x, Y = y, Z = z, W = w };
        }

        /// <summary>A value of an integer.</summary>
        public static Value OfInteger(long integer)
        {
            return new Value { Integer = integer };
        }

        /// <summary>A value of a pointer.</summary>
        public static Value OfPointer(IntPtr pointer)
        {
            return new Value { Pointer = pointer };
        }

        /// <summary>The object of a value of an object node. Null: it has none, or it was released.</summary>
        public T Object<T>() where T : class
        {
            return ObjectTable.Find(this) as T;
        }

        /// <summary>A value of one number.</summary>
        public static implicit operator Value(double number) => OfNumber(number);

        /// <summary>Compares all bytes.</summary>
        public bool Equals(Value other) => Word0 == other.Word0 && Word1 == other.Word1;
        /// <summary>Compares all bytes.</summary>
        public override bool Equals(object other) => other is Value && Equals((Value)other);
        /// <summary>Hashes all bytes.</summary>
        public override int GetHashCode() => (Word0 * 31 + Word1).GetHashCode();
        /// <summary>Compares all bytes.</summary>
        public static bool operator ==(Value a, Value b) => a.Equals(b);
        /// <summary>Compares all bytes.</summary>
        public static bool operator !=(Value a, Value b) => !a.Equals(b);
    }

    /// <summary>Managed objects that values of the library stand for.
    /// A value has a number and not an address, so that an invalid value finds nothing.</summary>
    internal static class ObjectTable
    {
        // Marks values of objects, so that a small number of the host names no object.
        const ulong Mark = 0x686f622d6f626a00;

        static readonly ConcurrentDictionary<ulong, object> Objects = new ConcurrentDictionary<ulong, object>();
        static long last;

        /// <summary>Keeps an object until its value is removed. No two values are equal.</summary>
        internal static Value Add(object made)
        {
            var number = (ulong)Interlocked.Increment(ref last);
            Objects[number] = made;
            return new Value { Word0 = Mark, Word1 = number };
        }

        internal static object Find(Value value)
        {
            return value.Word0 == Mark && Objects.TryGetValue(value.Word1, out var found) ? found : null;
        }

        /// <summary>Forgets the object of a value, and disposes it if it is IDisposable.</summary>
        internal static void Remove(Value value)
        {
            if (value.Word0 == Mark && Objects.TryRemove(value.Word1, out var found)) (found as IDisposable)?.Dispose();
        }
    }
}
