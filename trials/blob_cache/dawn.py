#!/usr/bin/env python3
"""Dawn, Google's WebGPU, with its compiled shaders in a hob_program_cache: two function pointers, and the cache as user
data. There is nothing of ours in between.

    cargo build --release
    pip install dawn-python
    python3 trials/blob_cache/dawn.py target/release/libhobgoblin.so DIRECTORY

Makes compute pipelines on the Vulkan driver that Dawn picks, runs each, and looks at what it has computed. Run it twice:
the second time Dawn finds in DIRECTORY what the first has made.
"""
import ctypes
import json
import sys
import time

from pydawn import utils, webgpu

PIPELINES = 64
PATIENCE_US = ctypes.c_uint64(10_000_000)


class Cache:
    """A hob_program_cache that keeps its blobs in a directory."""

    def __init__(self, library, directory):
        self.library = ctypes.CDLL(library)
        self.library.hob_last_error.restype = ctypes.c_char_p
        desc = (ctypes.c_uint64 * 64)()  # longer than a hob_program_cache_desc of any version: what it lacks is zero
        self.call("hob_program_cache_desc_init", desc, ctypes.sizeof(desc))
        name = ctypes.create_string_buffer(directory.encode())
        desc[1], desc[2] = ctypes.addressof(name), len(name.value)  # desc.directory
        self.handle = ctypes.c_void_p()
        self.call("hob_program_cache_create", desc, ctypes.byref(self.handle))
        self.call("hob_program_cache_wait_idle", self.handle, PATIENCE_US)

    def call(self, function, *arguments):
        if getattr(self.library, function)(*arguments) != 0:
            raise RuntimeError(f"{function}: {self.library.hob_last_error().decode()}")

    def address_of(self, function):
        return ctypes.cast(getattr(self.library, function), ctypes.c_void_p).value

    def report(self):
        size = ctypes.c_size_t()
        self.call("hob_program_cache_get_report", self.handle, None, ctypes.c_size_t(0), ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        self.call("hob_program_cache_get_report", self.handle, text, size, ctypes.byref(size))
        return json.loads(text.raw)

    def close(self):
        self.call("hob_program_cache_flush", self.handle, PATIENCE_US)
        self.library.hob_program_cache_destroy(self.handle)


def open_device(cache):
    """A device of the first adapter; what Dawn wants kept goes into the cache."""
    blobs = webgpu.WGPUDawnCacheDeviceDescriptor()
    blobs.chain.sType = webgpu.WGPUSType_DawnCacheDeviceDescriptor
    blobs.loadDataFunction = webgpu.WGPUDawnLoadCacheDataFunction(cache.address_of("hob_dawn_blob_load"))
    blobs.storeDataFunction = webgpu.WGPUDawnStoreCacheDataFunction(cache.address_of("hob_dawn_blob_store"))
    blobs.functionUserdata = cache.handle
    desc = webgpu.WGPUDeviceDescriptor()
    desc.nextInChain = ctypes.cast(ctypes.pointer(blobs), ctypes.POINTER(webgpu.struct_WGPUChainedStruct))

    made = {}

    def note(status, device, message, _):
        made.update(status=status, device=device, message=utils.from_wgpu_str(message))

    callback = webgpu.WGPURequestDeviceCallbackInfo()
    callback.mode = webgpu.WGPUCallbackMode_WaitAnyOnly
    callback.callback = webgpu.WGPURequestDeviceCallback(note)
    adapter = utils.request_adapter_sync(webgpu.WGPUPowerPreference_HighPerformance)
    utils.wait(webgpu.wgpuAdapterRequestDeviceF(adapter, desc, callback))
    if made["status"] != webgpu.WGPURequestDeviceStatus_Success:
        raise RuntimeError(f"Dawn opens no device: {made['message']}")
    return made["device"]


def source(which):
    """Logistic maps of `which` rounds, folded: no two alike, and long enough that compiling one takes its time."""
    factor = 3 + which % 7
    rounds = "\n".join(f"    x = fract(x * {factor}.0 + f32({i * which}u) * 0.0078125);" for i in range(16 + which))
    return f"""
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3u) {{
    var x = f32(id.x) * 0.125;
{rounds}
    out[id.x] = {which}u * 8u + id.x + select(0u, 1000000u, x < 0.0);
}}"""


def run_pipeline(device, pipeline, layout):
    size = 8 * 4
    out = utils.create_buffer(device, size, webgpu.WGPUBufferUsage_Storage | webgpu.WGPUBufferUsage_CopySrc)
    resource = {"buffer": out, "offset": 0, "size": size}
    group = utils.create_bind_group(device, layout, [{"binding": 0, "resource": resource}])
    encoder = utils.create_command_encoder(device)
    compute = utils.begin_compute_pass(encoder)
    utils.set_pipeline(compute, pipeline)
    utils.set_bind_group(compute, group)
    utils.dispatch_workgroups(compute, 1, 1, 1)
    utils.end_compute_pass(compute)
    utils.submit(device, [utils.command_encoder_finish(encoder)])
    return list(utils.read_buffer(device, out).cast("I"))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    cache = Cache(sys.argv[1], sys.argv[2])
    device = open_device(cache)
    storage = {"type": webgpu.WGPUBufferBindingType_Storage}
    entry = {"binding": 0, "visibility": webgpu.WGPUShaderStage_Compute, "buffer": storage}
    group_layout = utils.create_bind_group_layout(device, [entry])
    layout = utils.create_pipeline_layout(device, [group_layout])

    seconds = 0.0
    for which in range(PIPELINES):
        module = utils.create_shader_module(device, source(which))  # parses: nothing of that is kept
        begin = time.process_time()
        pipeline = utils.create_compute_pipeline(device, layout, {"module": module, "entry_point": "main"})
        seconds += time.process_time() - begin
        computed = run_pipeline(device, pipeline, group_layout)
        if computed != [which * 8 + i for i in range(8)]:
            sys.exit(f"pipeline {which} has computed {computed}")

    report = cache.report()
    print(f"{PIPELINES} pipelines in {seconds * 1000:.0f} ms of processor time, all right; "
          f"blobs: {report['hits']} found, {report['misses']} missed, {report['puts']} kept")
    webgpu.wgpuDeviceDestroy(device)
    cache.close()


main()
