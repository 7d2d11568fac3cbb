#include "kernels.h"

#include <random>

#include "../common/spirv.h"

namespace program_cache_vk {

namespace {

constexpr std::uint32_t shift = 15;

constexpr std::uint32_t shader = 1, logical = 0, glsl450 = 1, compute = 5, local_size = 17, block = 3, array_stride = 6,
                        built_in = 11, global_invocation_id = 28, binding = 33, descriptor_set = 34, offset = 35, input = 1,
                        uniform = 2, main_text = 0x6e69616d /* "main" */;

std::vector<std::uint32_t> assemble(const std::vector<std::uint32_t>& steps) {
    using A = trials::SpirvAssembler;
    A a;
    const std::uint32_t main = a.new_id(), invocation = a.new_id(), numbers = a.new_id(), record = a.new_id(),
                        buffer = a.new_id();
    a.emit(A::Capability, {shader});
    a.emit(A::MemoryModel, {logical, glsl450});
    a.emit(A::EntryPoint, {compute, main, main_text, 0, invocation});
    a.emit(A::ExecutionMode, {main, local_size, Kernel::group_size, 1, 1});
    a.emit(A::Decorate, {invocation, built_in, global_invocation_id});
    a.emit(A::Decorate, {numbers, array_stride, 4});
    a.emit(A::MemberDecorate, {record, 0, offset, 0});
    a.emit(A::Decorate, {record, block}); // BufferBlock
    a.emit(A::Decorate, {buffer, descriptor_set, 0});
    a.emit(A::Decorate, {buffer, binding, 0});

    const std::uint32_t nothing = a.define(A::TypeVoid), procedure = a.define(A::TypeFunction, {nothing}),
                        whole = a.define(A::TypeInt, {32, 0}), three = a.define(A::TypeVector, {whole, 3}),
                        to_three = a.define(A::TypePointer, {input, three}),
                        to_input = a.define(A::TypePointer, {input, whole});
    a.emit(A::TypeRuntimeArray, {numbers, whole});
    a.emit(A::TypeStruct, {record, numbers});
    const std::uint32_t to_record = a.define(A::TypePointer, {uniform, record}),
                        to_number = a.define(A::TypePointer, {uniform, whole});
    a.emit(A::Variable, {to_three, invocation, input});
    a.emit(A::Variable, {to_record, buffer, uniform});
    const std::uint32_t zero = a.define_typed(A::Constant, whole, {0}), by = a.define_typed(A::Constant, whole, {shift});
    std::vector<std::uint32_t> constants;
    for (const std::uint32_t step : steps) constants.push_back(a.define_typed(A::Constant, whole, {step}));

    a.emit(A::Function, {nothing, main, 0, procedure});
    a.define(A::Label);
    const std::uint32_t place = a.define_typed(A::AccessChain, to_input, {invocation, zero}),
                        which = a.define_typed(A::Load, whole, {place}),
                        number = a.define_typed(A::AccessChain, to_number, {buffer, zero, which});
    std::uint32_t value = a.define_typed(A::Load, whole, {number});
    for (std::size_t i = 0; i + 1 < constants.size(); i += 2) {
        value = a.define_typed(A::IMul, whole, {value, constants[i]});
        value = a.define_typed(A::IAdd, whole, {value, constants[i + 1]});
        const std::uint32_t high = a.define_typed(A::ShiftRightLogical, whole, {value, by});
        value = a.define_typed(A::BitwiseXor, whole, {value, high});
    }
    a.emit(A::Store, {number, value});
    a.emit(A::Return, {});
    a.emit(A::FunctionEnd, {});
    return a.take();
}

} // namespace

std::uint32_t Kernel::operator()(std::uint32_t number) const {
    for (std::size_t i = 0; i + 1 < steps.size(); i += 2) {
        number = number * steps[i] + steps[i + 1];
        number ^= number >> shift;
    }
    return number;
}

std::vector<Kernel> make_kernels(std::size_t count) {
    std::mt19937 random(2024); // the same numbers on every platform
    std::vector<Kernel> kernels(count);
    for (std::size_t i = 0; i < count; ++i) {
        Kernel& kernel = kernels[i];
        kernel.name = "mix" + std::to_string(i);
        const std::size_t rounds = 40 + random() % 160;
        for (std::size_t round = 0; round < rounds; ++round) {
            kernel.steps.push_back(static_cast<std::uint32_t>(random()) | 1);
            kernel.steps.push_back(static_cast<std::uint32_t>(random()));
        }
        kernel.words = assemble(kernel.steps);
    }
    return kernels;
}

} // namespace program_cache_vk
