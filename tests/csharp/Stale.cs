// Uses a native library of another version. `Stale.exe one` prints the exception of one call. `Stale.exe all` calls every
// constructor and every static member of the public classes with empty arguments. Only a HobgoblinVersionException, or a
// complaint about an argument, may come out of each: the test's library aborts in all functions but those of the version.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using Hobgoblin;

static class Stale
{
    static int failures;
    static int refused;
    static int checkedBefore;

    static int Main(string[] arguments)
    {
        if (arguments[0] == "one")
        {
            try
            {
                Console.WriteLine("version " + Hob.LibraryVersion);
                return 1;
            }
            catch (HobgoblinException error)
            {
                Console.WriteLine(error.GetType().Name + ": " + error.Message);
                return 0;
            }
        }
        foreach (Type type in typeof(Hob).Assembly.GetExportedTypes())
        {
            if (type.Namespace != "Hobgoblin" || type.IsEnum || type.IsGenericTypeDefinition) continue;
            if (typeof(Delegate).IsAssignableFrom(type) || typeof(Attribute).IsAssignableFrom(type)) continue;
            foreach (MethodBase member in Members(type)) Call(member);
        }
        Console.WriteLine(refused + " refused, " + checkedBefore + " checked an argument, " + failures + " failed");
        return failures == 0 && refused > 0 ? 0 : 1;
    }

    static IEnumerable<MethodBase> Members(Type type)
    {
        if (!type.IsAbstract)
        {
            foreach (ConstructorInfo made in type.GetConstructors()) yield return made;
        }
        foreach (MethodInfo method in type.GetMethods(BindingFlags.Public | BindingFlags.Static | BindingFlags.DeclaredOnly))
        {
            if (!method.IsGenericMethodDefinition) yield return method;
        }
    }

    static void Call(MethodBase member)
    {
        string name = member.DeclaringType.Name + "." + member.Name;
        // Reflection cannot pass a ref struct.
        if (member.GetParameters().Any(one => IsRefStruct(one.ParameterType))) return;
        try
        {
            object[] values = Array.ConvertAll(member.GetParameters(), Value);
            var made = member as ConstructorInfo;
            if (made != null) made.Invoke(values);
            else member.Invoke(null, values);
            // It needs no library: a value, or a list of handlers.
        }
        catch (TargetInvocationException error)
        {
            Exception inner = error.InnerException;
            while (inner is TypeInitializationException) inner = inner.InnerException;
            if (inner is HobgoblinVersionException) ++refused;
            else if (IsOfAnArgument(inner)) ++checkedBefore;
            else
            {
                ++failures;
                Console.WriteLine(name + ": " + inner.GetType().Name + ": " + inner.Message);
            }
        }
    }

    static bool IsOfAnArgument(Exception error)
    {
        return error is ArgumentException || error is NullReferenceException || error is FormatException;
    }

    static bool IsRefStruct(Type type)
    {
        return type.GetCustomAttributes(false).Any(one => one.GetType().Name == "IsByRefLikeAttribute");
    }

    static object Value(ParameterInfo parameter)
    {
        Type type = parameter.ParameterType.IsByRef ? parameter.ParameterType.GetElementType() : parameter.ParameterType;
        if (type.IsPointer) return null;
        if (type == typeof(string)) return "text";
        if (type.IsArray) return Array.CreateInstance(type.GetElementType(), 1);
        if (type.IsValueType) return Activator.CreateInstance(type);
        return null;
    }
}
