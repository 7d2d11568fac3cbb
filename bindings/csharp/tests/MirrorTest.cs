// The types of the idiomatic layer have the values and the layout of the raw ones. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using Hobgoblin;
using Hobgoblin.Interop;

static class MirrorTest
{
    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(MirrorTest), arguments);
    }

    static readonly Assembly Binding = typeof(Hob).Assembly;

    static IEnumerable<Type> RawEnums =>
        Binding.GetTypes().Where(type => type.Namespace == "Hobgoblin.Interop" && type.IsEnum);

    /// <summary>"BUFFER_TOO_SMALL" and "buffer_too_small" are "BufferTooSmall".</summary>
    static string Pascal(string name)
    {
        return string.Concat(name.ToLowerInvariant().Split('_').Where(word => word != "")
            .Select(word => char.ToUpperInvariant(word[0]) + word.Substring(1)));
    }

    static string NameOf(Type raw)
    {
        return Pascal(raw.Name.Substring("hob_".Length));
    }

    public static void Every_enum_has_the_names_and_values_of_C()
    {
        var checkedEnums = 0;
        foreach (var raw in RawEnums)
        {
            var mirror = Binding.GetType("Hobgoblin." + NameOf(raw));
            Ensure.That(mirror != null && mirror.IsPublic && mirror.IsEnum, $"{raw.Name} is Hobgoblin.{NameOf(raw)}");
            Ensure.Equal(Enum.GetUnderlyingType(raw), Enum.GetUnderlyingType(mirror), raw.Name);
            var prefix = raw.Name.ToUpperInvariant() + "_";
            var expected = Enum.GetNames(raw).Select(name =>
            {
                Ensure.That(name.StartsWith(prefix), name + " begins with " + prefix);
                return Pascal(name.Substring(prefix.Length)) + " = " + (uint)Enum.Parse(raw, name);
            });
            var found = Enum.GetNames(mirror).Select(name => name + " = " + (uint)Enum.Parse(mirror, name));
            Ensure.Equal(string.Join(", ", expected), string.Join(", ", found), raw.Name);
            ++checkedEnums;
        }
        Console.WriteLine($"     {checkedEnums} enums");
    }

    /// <summary>Structs that are passed to the library without a copy.</summary>
    static readonly Dictionary<Type, Type> Layouts = new Dictionary<Type, Type>
    {
        { typeof(ProfileOption), typeof(hob_profile_option) },
        { typeof(KnapsackOption), typeof(hob_knapsack_option) },
        { typeof(KnapsackWeight), typeof(hob_knapsack_weight) },
        { typeof(KnapsackResource), typeof(hob_knapsack_resource) },
        { typeof(Option), typeof(hob_option) },
    };

    public static void Structs_that_are_passed_on_have_the_layout_of_C()
    {
        foreach (var pair in Layouts)
        {
            Ensure.Equal(Marshal.SizeOf(pair.Value), Marshal.SizeOf(pair.Key), pair.Key.Name);
            const BindingFlags all = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;
            foreach (var field in pair.Value.GetFields())
            {
                var mirror = pair.Key.GetFields(all).Single(
                    own => string.Equals(own.Name, Pascal(field.Name), StringComparison.OrdinalIgnoreCase));
                Ensure.Equal(field.FieldType, mirror.FieldType, pair.Key.Name + "." + mirror.Name);
                Ensure.Equal(Marshal.OffsetOf(pair.Value, field.Name), Marshal.OffsetOf(pair.Key, mirror.Name), mirror.Name);
            }
        }
        Ensure.Equal(Marshal.SizeOf(typeof(hob_sample)), Marshal.SizeOf(typeof(Sample)), "the callback of samples gets it");
    }

    public static void Every_trampoline_is_marked_for_compilers_ahead_of_time()
    {
        var marked = 0;
        const BindingFlags all = BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;
        foreach (var type in Binding.GetTypes().Where(type => type.Namespace == "Hobgoblin"))
        {
            foreach (var field in type.GetFields(all).Where(field => typeof(Delegate).IsAssignableFrom(field.FieldType)))
            {
                if (field.FieldType.GetCustomAttribute<UnmanagedFunctionPointerAttribute>() == null) continue;
                var callback = (Delegate)field.GetValue(null);
                if (callback == null || !field.IsInitOnly) continue;
                var attribute = callback.Method.GetCustomAttributes(false).SingleOrDefault(
                    given => given.GetType().Name == "MonoPInvokeCallbackAttribute");
                Ensure.That(attribute != null, $"{type.Name}.{callback.Method.Name} has [MonoPInvokeCallback]");
                var marking = attribute.GetType().GetProperty("Type").GetValue(attribute, null);
                Ensure.Equal(field.FieldType, (Type)marking, $"{type.Name}.{callback.Method.Name}");
                ++marked;
            }
        }
        Console.WriteLine($"     {marked} trampolines");
        Ensure.That(marked > 10, "trampolines were found");
    }
}
