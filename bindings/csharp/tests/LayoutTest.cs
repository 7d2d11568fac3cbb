// Flags and structs of this layer against the macros and structs of C: values, sizes and offsets. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text;
using Hobgoblin;
using Hobgoblin.Interop;

static class LayoutTest
{
    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(LayoutTest), arguments);
    }

    /// <summary>Types whose name is not that of C in PascalCase.</summary>
    static readonly Dictionary<string, string> Renamed = new Dictionary<string, string>
    {
        { "PixelRect", "hob_rect" }, { "ProgramEnvironment", "hob_environment" },
    };

    static readonly Type[] Types = typeof(Hob).Assembly.GetTypes();

    static string Snake(string name)
    {
        var made = new StringBuilder();
        for (var i = 0; i < name.Length; ++i)
        {
            if (i > 0 && char.IsUpper(name[i])) made.Append('_');
            made.Append(char.ToLowerInvariant(name[i]));
        }
        return made.ToString();
    }

    static Type RawOf(Type type)
    {
        if (!Renamed.TryGetValue(type.Name, out var name)) name = "hob_" + Snake(type.Name);
        return Types.FirstOrDefault(raw => raw.Namespace == "Hobgoblin.Interop" && raw.Name == name);
    }

    static IEnumerable<Type> Public()
    {
        return Types.Where(type => type.Namespace == "Hobgoblin" && type.IsPublic);
    }

    /// <summary>Each flag has the value of the macro whose name ends like it.</summary>
    public static void Flags_have_the_values_of_C()
    {
        var prefixes = new Dictionary<Type, string>
        {
            { typeof(ProgramCacheFlags), "HOB_PROGRAM_CACHE_" }, { typeof(ProgramPlaces), "HOB_PROGRAM_" },
            { typeof(PipelineFlags), "HOB_PIPELINE_" }, { typeof(PipelineBuildFlags), "HOB_PIPELINE_BUILD_" },
            { typeof(NodeInputFlags), "HOB_NODE_INPUT_" }, { typeof(NodeOutputFlags), "HOB_NODE_OUTPUT_" },
            { typeof(CognitionFlags), "HOB_COGNITION_" }, { typeof(OperatorFlags), "HOB_OPERATOR_" },
        };
        foreach (var pair in prefixes)
        {
            foreach (var name in Enum.GetNames(pair.Key).Where(name => name != "None"))
            {
                var macro = typeof(Constants).GetField(pair.Value + Snake(name).ToUpperInvariant());
                Ensure.That(macro != null, pair.Value + name + " is a macro");
                Ensure.Equal(Convert.ToUInt32(macro.GetValue(null)), Convert.ToUInt32(Enum.Parse(pair.Key, name)), macro.Name);
            }
        }
    }

    public static void Structs_have_the_layout_of_C()
    {
        var count = 0;
        foreach (var type in Public().Where(type => type.IsValueType && !type.IsEnum && !type.IsGenericType))
        {
            var raw = RawOf(type);
            if (raw == null) continue;
            var fields = Fields(type);
            // A struct around the raw one, or a view of a call, has its layout anyway.
            if (fields.Length == 1 && (fields[0].FieldType == raw || fields[0].FieldType.IsPointer)) continue;
            // With an object in it, it is never passed to C.
            if (fields.Any(field => field.FieldType.IsPointer || !field.FieldType.IsValueType)) continue;
            ++count;
            Ensure.Equal(Marshal.SizeOf(raw), Marshal.SizeOf(type), "size of " + type.Name);
            if (type == typeof(Value)) continue;
            foreach (var field in Fields(raw))
            {
                var offset = Marshal.OffsetOf(raw, field.Name);
                var wanted = field.Name.Replace("_", "").ToLowerInvariant();
                var same = fields.FirstOrDefault(ours => ours.Name.ToLowerInvariant() == wanted);
                if (same == null)
                {
                    // Ours has several fields in the place of an array.
                    Ensure.That(field.FieldType.Name.Contains("FixedBuffer"), $"{type.Name} has {field.Name}");
                    Ensure.That(fields.Any(ours => Marshal.OffsetOf(type, ours.Name) == offset), $"{type.Name} has {field.Name}");
                    continue;
                }
                Ensure.Equal(offset, Marshal.OffsetOf(type, same.Name), $"offset of {type.Name}.{same.Name}");
                Ensure.Equal(Size(field.FieldType), Size(same.FieldType), $"size of {type.Name}.{same.Name}");
            }
        }
        Ensure.That(count >= 25, count + " structs were compared");
    }

    static FieldInfo[] Fields(Type type)
    {
        return type.GetFields(BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance);
    }

    static int Size(Type type)
    {
        return type.IsEnum ? 4 : Marshal.SizeOf(type);
    }
}
