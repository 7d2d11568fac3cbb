// Writes SPIR-V 1.0 without a compiler for shaders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace trials {

/// Writes instructions: each is a word with its length and its number, followed by its operands.
/// Constants and names are those of the SPIR-V specification.
class SpirvAssembler {
public:
    enum Op : std::uint32_t {
        ExtInstImport = 11, ExtInst = 12, MemoryModel = 14, EntryPoint = 15, ExecutionMode = 16, Capability = 17,
        TypeVoid = 19, TypeBool = 20, TypeInt = 21, TypeFloat = 22, TypeVector = 23, TypeRuntimeArray = 29, TypeStruct = 30,
        TypePointer = 32, TypeFunction = 33, Constant = 43, ConstantComposite = 44, Function = 54, FunctionEnd = 56,
        Variable = 59, Load = 61, Store = 62, AccessChain = 65, Decorate = 71, MemberDecorate = 72, CompositeConstruct = 80,
        CompositeExtract = 81, IAdd = 128, FAdd = 129, IMul = 132, FMul = 133, FOrdLessThan = 184, ShiftRightLogical = 194,
        BitwiseXor = 198, SelectionMerge = 247, Label = 248, BranchConditional = 250, Kill = 252, Return = 253
    };

    std::uint32_t new_id() { return words[bound_place]++; }
    void emit(Op op, std::initializer_list<std::uint32_t> operands) {
        words.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16 | op);
        words.insert(words.end(), operands);
    }
    void emit_all(Op op, const std::vector<std::uint32_t>& operands) {
        words.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16 | op);
        words.insert(words.end(), operands.begin(), operands.end());
    }
    /// An instruction whose result comes first.
    std::uint32_t define(Op op, std::initializer_list<std::uint32_t> operands = {}) {
        const std::uint32_t id = new_id();
        words.push_back(static_cast<std::uint32_t>(operands.size() + 2) << 16 | op);
        words.push_back(id);
        words.insert(words.end(), operands);
        return id;
    }
    /// An instruction whose result comes after its type.
    std::uint32_t define_typed(Op op, std::uint32_t type, std::initializer_list<std::uint32_t> operands = {}) {
        const std::uint32_t id = new_id();
        words.push_back(static_cast<std::uint32_t>(operands.size() + 3) << 16 | op);
        words.push_back(type);
        words.push_back(id);
        words.insert(words.end(), operands);
        return id;
    }
    std::vector<std::uint32_t> take() { return std::move(words); }

private:
    static constexpr std::size_t bound_place = 3;
    std::vector<std::uint32_t> words{0x07230203, 0x00010000, 0, 1, 0}; // magic, version, generator, bound, schema
};

} // namespace trials
