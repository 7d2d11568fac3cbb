// A file system in memory, with faults. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.IO;
using Hobgoblin;

sealed class MemoryFiles : FileSystem
{
    readonly Dictionary<string, MemoryStream> files = new Dictionary<string, MemoryStream>();
    readonly HashSet<string> directories = new HashSet<string>();

    /// <summary>Thrown by all methods.</summary>
    public Exception Fault = null;
    /// <summary>Returned by writes.</summary>
    public Result WriteResult = Result.Ok;
    /// <summary>Called in each method.</summary>
    public Action OnCall = null;
    public int Opened, Closed, Locked, Unlocked;

    public int Count
    {
        get { lock (files) return files.Count; }
    }

    public void DamageAll()
    {
        lock (files)
        {
            foreach (var file in files.Values)
                for (var at = 0; at < file.Length; at += 50) file.GetBuffer()[at] ^= 0x20;
        }
    }

    void Begin()
    {
        if (OnCall != null) OnCall();
        if (Fault != null) throw Fault;
    }

    public override Result List(string directory, ICollection<string> names)
    {
        Begin();
        lock (files)
        {
            if (!directories.Contains(directory)) return Result.NotFound;
            foreach (var path in files.Keys)
            {
                if (path.StartsWith(directory + "/") && path.IndexOf('/', directory.Length + 1) < 0)
                    names.Add(path.Substring(directory.Length + 1));
            }
        }
        return Result.Ok;
    }

    public override Result CreateDirectory(string directory)
    {
        Begin();
        lock (files) directories.Add(directory);
        return Result.Ok;
    }

    public override Result Open(string path, out HostFile file)
    {
        Begin();
        lock (files)
        {
            if (!files.ContainsKey(path)) throw new FileNotFoundException(path);
            file = new MemoryFile(this, files[path]);
            ++Opened;
        }
        return Result.Ok;
    }

    public override Result Create(string path, out HostFile file)
    {
        Begin();
        file = null;
        lock (files)
        {
            if (!directories.Contains(path.Substring(0, path.LastIndexOf('/')))) return Result.NotFound;
            if (files.ContainsKey(path)) return Result.Busy;
            files[path] = new MemoryStream();
            file = new MemoryFile(this, files[path]);
            ++Opened;
        }
        return Result.Ok;
    }

    public override Result Rename(string from, string to)
    {
        Begin();
        lock (files)
        {
            files[to] = files[from];
            files.Remove(from);
        }
        return Result.Ok;
    }

    public override Result Remove(string path)
    {
        Begin();
        lock (files) return files.Remove(path) ? Result.Ok : Result.NotFound;
    }

    public override Result TryLock(string path, out IDisposable held)
    {
        Begin();
        var result = base.TryLock(path, out var inner);
        held = null;
        if (result != Result.Ok) return result;
        System.Threading.Interlocked.Increment(ref Locked);
        held = new Unlock { Files = this, Inner = inner };
        return result;
    }

    sealed class Unlock : IDisposable
    {
        public MemoryFiles Files;
        public IDisposable Inner;

        public void Dispose()
        {
            System.Threading.Interlocked.Increment(ref Files.Unlocked);
            Inner.Dispose();
        }
    }

    sealed class MemoryFile : HostFile
    {
        readonly MemoryFiles owner;
        readonly MemoryStream bytes;

        public MemoryFile(MemoryFiles owner, MemoryStream bytes)
        {
            this.owner = owner;
            this.bytes = bytes;
        }

        public override void Close()
        {
            lock (owner.files) ++owner.Closed;
        }

        public override Result GetSize(out long size)
        {
            owner.Begin();
            lock (bytes) size = bytes.Length;
            return Result.Ok;
        }

        public override Result Read(long offset, byte[] buffer, int count, out int read)
        {
            owner.Begin();
            lock (bytes)
            {
                bytes.Position = offset;
                read = bytes.Read(buffer, 0, count);
            }
            return Result.Ok;
        }

        public override Result Write(long offset, byte[] buffer, int count)
        {
            owner.Begin();
            if (owner.WriteResult != Result.Ok) return owner.WriteResult;
            lock (bytes)
            {
                bytes.Position = offset;
                bytes.Write(buffer, 0, count);
            }
            return Result.Ok;
        }

        public override Result Truncate(long size)
        {
            owner.Begin();
            lock (bytes) bytes.SetLength(size);
            return Result.Ok;
        }

        public override Result Sync()
        {
            owner.Begin();
            return Result.Ok;
        }
    }
}
