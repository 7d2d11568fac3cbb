// Prints the raw layer of an assembly as reflection and the marshaller see it, in the types of C. Each constant, enum,
// value, struct, field, delegate and function has a line. `Describe.exe ASSEMBLY [--link]`: with --link, every function
// is also looked up in the native library. tests/bindings.rs compares the lines with abi/hobgoblin-api.json.
// `Describe.exe ASSEMBLY --prepare` instead compiles every method: one that uses what this runtime lacks fails.

using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

static class Describe
{
    const string Namespace = "Hobgoblin.Interop";

    static readonly Dictionary<Type, string> Primitives = new Dictionary<Type, string>
    {
        { typeof(void), "void" }, { typeof(byte), "uint8_t" }, { typeof(sbyte), "int8_t" }, { typeof(ushort), "uint16_t" },
        { typeof(short), "int16_t" }, { typeof(uint), "uint32_t" }, { typeof(int), "int32_t" }, { typeof(ulong), "uint64_t" },
        { typeof(long), "int64_t" }, { typeof(float), "float" }, { typeof(double), "double" },
        { typeof(UIntPtr), "size_t" }, { typeof(IntPtr), "intptr_t" },
    };

    static int Main(string[] arguments)
    {
        Assembly assembly = Assembly.LoadFrom(arguments[0]);
        if (arguments.Contains("--prepare")) return Prepare(assembly);
        bool link = arguments.Contains("--link");
        int missing = 0;
        foreach (Type type in assembly.GetTypes().Where(type => type.Namespace == Namespace && !type.IsNested))
        {
            if (type.IsEnum)
            {
                Enumeration(type);
            }
            else if (typeof(Delegate).IsAssignableFrom(type))
            {
                var convention = type.GetCustomAttribute<UnmanagedFunctionPointerAttribute>();
                string how = convention == null ? "no-convention" : convention.CallingConvention.ToString();
                Console.WriteLine("callback " + type.Name + " " + how + " " + Signature(type.GetMethod("Invoke")));
            }
            else if (type.IsValueType)
            {
                Structure(type);
            }
            else
            {
                missing += Members(type, link);
            }
        }
        return missing == 0 ? 0 : 1;
    }

    static int Prepare(Assembly assembly)
    {
        const BindingFlags All = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Static | BindingFlags.Instance | BindingFlags.DeclaredOnly;
        int prepared = 0, failed = 0;
        foreach (Type type in assembly.GetTypes().Where(type => !type.ContainsGenericParameters))
        {
            foreach (MethodBase method in type.GetMethods(All).Cast<MethodBase>().Concat(type.GetConstructors(All)))
            {
                if (method.IsAbstract || method.ContainsGenericParameters || method.GetMethodBody() == null) continue;
                try
                {
                    RuntimeHelpers.PrepareMethod(method.MethodHandle);
                    ++prepared;
                }
                catch (Exception error)
                {
                    Console.WriteLine(type + "." + method.Name + ": " + error.GetType().Name + ": " + error.Message);
                    ++failed;
                }
            }
        }
        Console.WriteLine(prepared + " methods prepared");
        return prepared > 100 && failed == 0 ? 0 : 1;
    }

    static void Enumeration(Type type)
    {
        Console.WriteLine("enum " + type.Name + " " + Name(Enum.GetUnderlyingType(type)));
        foreach (FieldInfo value in type.GetFields(BindingFlags.Public | BindingFlags.Static))
        {
            Console.WriteLine("value " + type.Name + " " + value.Name + " " + value.GetRawConstantValue());
        }
    }

    static void Structure(Type type)
    {
        FieldInfo[] fields = type.GetFields(BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance);
        if (fields.Length == 0)
        {
            Console.WriteLine("handle " + type.Name);
            return;
        }
        string kind = type.StructLayoutAttribute.Value == LayoutKind.Explicit ? "union" : "struct";
        Console.WriteLine(kind + " " + type.Name + " " + Marshal.SizeOf(type) + (IsBlittable(type) ? "" : " not-blittable"));
        foreach (FieldInfo field in fields)
        {
            long offset = (long)Marshal.OffsetOf(type, field.Name);
            var array = field.GetCustomAttribute<FixedBufferAttribute>();
            string of = array == null ? Name(field.FieldType) : Name(array.ElementType) + "[" + array.Length + "]";
            Console.WriteLine("field " + type.Name + " " + offset + " " + Size(field.FieldType) + " " + of + " " + field.Name);
        }
    }

    // Only a blittable value can be pinned: native code reads and writes it where it is.
    static bool IsBlittable(Type type)
    {
        try
        {
            GCHandle.Alloc(Activator.CreateInstance(type), GCHandleType.Pinned).Free();
            return true;
        }
        catch (ArgumentException)
        {
            return false;
        }
    }

    static int Size(Type type)
    {
        if (type.IsPointer || type == typeof(IntPtr) || type == typeof(UIntPtr))
        {
            return IntPtr.Size;
        }
        return Marshal.SizeOf(type.IsEnum ? Enum.GetUnderlyingType(type) : type);
    }

    static int Members(Type type, bool link)
    {
        int missing = 0;
        foreach (FieldInfo field in type.GetFields(BindingFlags.Public | BindingFlags.Static).Where(field => field.FieldType != typeof(string)))
        {
            string value = field.IsLiteral ? field.GetRawConstantValue().ToString() : "not-constant";
            Console.WriteLine("constant " + field.Name + " " + Name(field.FieldType) + " " + value);
        }
        const BindingFlags Declared = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Static | BindingFlags.DeclaredOnly;
        foreach (MethodInfo method in type.GetMethods(Declared))
        {
            var import = method.GetCustomAttribute<DllImportAttribute>();
            if (import == null)
            {
                continue;
            }
            string how = import.Value + " " + import.EntryPoint + " " + import.CallingConvention;
            how += (import.ExactSpelling ? "" : " inexact") + (import.PreserveSig ? "" : " no-signature") + (import.SetLastError ? " set-last-error" : "");
            Console.WriteLine("function " + method.Name + " " + how + " " + Signature(method));
            if (link)
            {
                missing += Link(method);
            }
        }
        return missing;
    }

    static int Link(MethodInfo method)
    {
        try
        {
            Marshal.Prelink(method);
            return 0;
        }
        catch (Exception error)
        {
            Console.Error.WriteLine(method.Name + ": " + error.GetType().Name + ": " + error.Message);
            return 1;
        }
    }

    static string Signature(MethodInfo method)
    {
        return Name(method.ReturnType) + "(" + string.Join(", ", method.GetParameters().Select(Parameter)) + ")";
    }

    static string Parameter(ParameterInfo parameter)
    {
        bool isMarshalled = parameter.GetCustomAttributes(typeof(MarshalAsAttribute), false).Length > 0;
        return Name(parameter.ParameterType) + " " + parameter.Name + (isMarshalled ? " marshalled" : "");
    }

    static string Name(Type type)
    {
        if (type.IsPointer)
        {
            return Name(type.GetElementType()) + "*";
        }
        string name;
        return Primitives.TryGetValue(type, out name) ? name : type.Name;
    }
}
