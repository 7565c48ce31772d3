// Neutral IR: what a kernel does, in a form that CUDA and OpenCL share. Address spaces are gone, but where a variable
// is shared by a work-group, and so are attributes, linkage and calling conventions; functions are inlined; a fixed list
// of passes takes away what only the spelling decides (`bool` of C++ and `int` of C, references and pointers).
#include <map>
#include <vector>

#include "clang/CodeGen/CodeGenAction.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include "stampmill-clang-worker/src/bridge.rs.h"
#include "cuda_names.h"
#include "diagnostics.h"
#include "instance.h"
#include "prelude.h"
#include "source.h"
#include "tasks.h"

namespace stampmill {
namespace {

// The address space of what a work-group shares, on NVIDIA's targets.
constexpr unsigned kLocal = 3;
constexpr llvm::StringLiteral kLocalSection = "local";
constexpr const char *kInline = "always-inline,globaldce";
constexpr const char *kSimplify =
    "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,sroa,early-cse,"
    "instcombine<no-verify-fixpoint>,simplifycfg,dce),globaldce";

// Types without address spaces.
class Flat : public llvm::ValueMapTypeRemapper {
 public:
  llvm::Type *remapType(llvm::Type *type) override {
    auto [place, is_new] = known_.try_emplace(type, nullptr);
    if (is_new) known_[type] = map(type);
    return known_[type];
  }

 private:
  llvm::Type *map(llvm::Type *type) {
    if (type->isPointerTy()) return llvm::PointerType::get(type->getContext(), 0);
    if (auto *array = llvm::dyn_cast<llvm::ArrayType>(type))
      return llvm::ArrayType::get(remapType(array->getElementType()), array->getNumElements());
    if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
      return llvm::FixedVectorType::get(remapType(vector->getElementType()), vector->getNumElements());
    if (auto *function = llvm::dyn_cast<llvm::FunctionType>(type)) {
      llvm::SmallVector<llvm::Type *, 8> parameters;
      for (llvm::Type *one : function->params()) parameters.push_back(remapType(one));
      return llvm::FunctionType::get(remapType(function->getReturnType()), parameters, function->isVarArg());
    }
    auto *record = llvm::dyn_cast<llvm::StructType>(type);
    if (!record || record->isOpaque()) return type;
    llvm::SmallVector<llvm::Type *, 8> members;
    bool changed = false;
    for (llvm::Type *one : record->elements()) {
      members.push_back(remapType(one));
      changed |= members.back() != one;
    }
    if (!changed) return type;
    if (record->isLiteral()) return llvm::StructType::get(type->getContext(), members, record->isPacked());
    return llvm::StructType::create(type->getContext(), members, "flat", record->isPacked());
  }

  std::map<llvm::Type *, llvm::Type *> known_;
};

class Neutraliser {
 public:
  explicit Neutraliser(llvm::Module &module) : module_(module) {}

  // A module with what the kernel reaches, without address spaces; its kernel is `kernel`.
  std::unique_ptr<llvm::Module> copy(llvm::Function &kernel) {
    reach(kernel);
    expand_constants();
    auto copy = std::make_unique<llvm::Module>("", module_.getContext());
    copy->setDataLayout(module_.getDataLayout());
    llvm::ValueToValueMapTy map;
    for (llvm::GlobalValue *value : reached_) map[value] = declare(*copy, *value, value == &kernel);
    for (llvm::GlobalValue *value : reached_) define(*value, map);
    for (llvm::Function &function : *copy) strip(function);
    return copy;
  }

 private:
  void reach(llvm::Function &kernel) {
    reached_.insert(&kernel);
    for (size_t next = 0; next < reached_.size(); ++next) {
      llvm::GlobalValue *value = reached_[next];
      reach_operands(*value);
      auto *function = llvm::dyn_cast<llvm::Function>(value);
      if (!function) continue;
      for (llvm::Instruction &instruction : llvm::instructions(*function)) reach_operands(instruction);
    }
  }

  void reach_operands(llvm::User &user) {
    for (llvm::Value *operand : user.operands()) {
      if (auto *global = llvm::dyn_cast<llvm::GlobalValue>(operand)) {
        reached_.insert(global);
      } else if (auto *constant = llvm::dyn_cast<llvm::Constant>(operand)) {
        if (constants_.insert(constant).second) reach_operands(*constant);
      }
    }
  }

  // Casts between address spaces in constant expressions become instructions, which can be taken away.
  void expand_constants() {
    std::vector<llvm::Constant *> variables;
    for (llvm::GlobalValue *value : reached_)
      if (llvm::isa<llvm::GlobalVariable>(value) && value->getAddressSpace() != 0) variables.push_back(value);
    llvm::convertUsersOfConstantsToInstructions(variables);
  }

  llvm::GlobalValue *declare(llvm::Module &copy, llvm::GlobalValue &value, bool is_kernel) {
    if (const auto *function = llvm::dyn_cast<llvm::Function>(&value)) {
      auto *type = llvm::cast<llvm::FunctionType>(flat_.remapType(function->getFunctionType()));
      auto linkage = function->isDeclaration() || is_kernel ? llvm::GlobalValue::ExternalLinkage
                                                            : llvm::GlobalValue::InternalLinkage;
      return llvm::Function::Create(type, linkage, 0, is_kernel ? "kernel" : function->getName(), &copy);
    }
    const auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(&value);
    if (!variable) return nullptr;
    auto *made = new llvm::GlobalVariable(copy, flat_.remapType(variable->getValueType()), variable->isConstant(),
                                          variable->hasInitializer() ? llvm::GlobalValue::InternalLinkage
                                                                     : llvm::GlobalValue::ExternalLinkage,
                                          nullptr, variable->getName());
    made->setAlignment(variable->getAlign());
    if (variable->getAddressSpace() == kLocal) made->setSection(kLocalSection);
    return made;
  }

  void define(llvm::GlobalValue &value, llvm::ValueToValueMapTy &map) {
    llvm::Value *made = map.lookup(&value);
    if (const auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(&value)) {
      if (variable->hasInitializer())
        llvm::cast<llvm::GlobalVariable>(made)->setInitializer(
            llvm::MapValue(variable->getInitializer(), map, llvm::RF_None, &flat_));
      return;
    }
    const auto *function = llvm::dyn_cast<llvm::Function>(&value);
    if (!function || function->isDeclaration()) return;
    auto *copy = llvm::cast<llvm::Function>(made);
    auto argument = copy->arg_begin();
    for (const llvm::Argument &one : function->args()) map[&one] = &*argument++;
    llvm::SmallVector<llvm::ReturnInst *, 8> returns;
    llvm::CloneFunctionInto(copy, function, map, llvm::CloneFunctionChangeType::ClonedModule, returns, "", nullptr,
                            &flat_);
  }

  // What of attributes says how values are passed.
  llvm::AttributeList passing(llvm::LLVMContext &context, const llvm::AttributeList &from, unsigned count) {
    llvm::AttributeList kept;
    for (unsigned at = 0; at < count; ++at) {
      if (llvm::Type *type = from.getParamByValType(at))
        kept = kept.addParamAttribute(context, {at}, llvm::Attribute::getWithByValType(context, flat_.remapType(type)));
      if (llvm::Type *type = from.getParamStructRetType(at))
        kept = kept.addParamAttribute(context, {at},
                                      llvm::Attribute::getWithStructRetType(context, flat_.remapType(type)));
    }
    return kept.addFnAttribute(context, llvm::Attribute::Convergent);
  }

  void strip(llvm::Function &function) {
    llvm::LLVMContext &context = function.getContext();
    if (function.isIntrinsic()) return;
    function.setAttributes(passing(context, function.getAttributes(), function.arg_size()));
    function.setCallingConv(llvm::CallingConv::C);
    function.clearMetadata();
    function.setComdat(nullptr);
    function.setDSOLocal(false);
    if (function.isDeclaration()) return;
    if (function.hasLocalLinkage()) function.addFnAttr(llvm::Attribute::AlwaysInline);
    std::vector<llvm::Instruction *> casts;
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      instruction.dropUnknownNonDebugMetadata();
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
        const llvm::Function *callee = call->getCalledFunction();
        if (callee && callee->isIntrinsic()) continue;
        call->setAttributes(passing(context, call->getAttributes(), call->arg_size()));
        call->setCallingConv(llvm::CallingConv::C);
      }
      if (llvm::isa<llvm::AddrSpaceCastInst>(instruction)) casts.push_back(&instruction);
    }
    for (llvm::Instruction *cast : casts) {
      cast->replaceAllUsesWith(cast->getOperand(0));
      cast->eraseFromParent();
    }
  }

  llvm::Module &module_;
  Flat flat_;
  llvm::SetVector<llvm::GlobalValue *> reached_;
  llvm::DenseSet<llvm::Constant *> constants_;
};

void run_passes(llvm::Module &module, llvm::StringRef list) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (auto error = builder.parsePassPipeline(passes, list)) {
    llvm::consumeError(std::move(error));
    return;
  }
  passes.run(module, modules);
}

// The kernel with one parameter more for each of some variables. All that is shared and sized at the launch begins at
// one place, and is one parameter.
llvm::Function *with_parameters(llvm::Function *kernel, const std::vector<llvm::GlobalVariable *> &variables) {
  if (variables.empty()) return kernel;
  std::vector<llvm::Type *> types(kernel->getFunctionType()->params());
  std::vector<size_t> place;
  size_t shared = 0;
  for (llvm::GlobalVariable *variable : variables) {
    bool is_shared = variable->isDeclaration() && variable->getSection() == kLocalSection;
    if (is_shared && shared != 0) {
      place.push_back(shared);
      continue;
    }
    if (is_shared) shared = types.size();
    place.push_back(types.size());
    types.push_back(llvm::PointerType::get(kernel->getContext(), 0));
  }
  auto *type = llvm::FunctionType::get(kernel->getReturnType(), types, false);
  auto *made = llvm::Function::Create(type, kernel->getLinkage(), 0, "", kernel->getParent());
  made->takeName(kernel);
  made->setAttributes(kernel->getAttributes());
  made->splice(made->begin(), kernel);
  for (llvm::Argument &argument : kernel->args()) argument.replaceAllUsesWith(made->getArg(argument.getArgNo()));
  for (size_t at = 0; at < variables.size(); ++at) variables[at]->replaceAllUsesWith(made->getArg(place[at]));
  kernel->eraseFromParent();
  return made;
}

// An element of an array at a place is an element at that place: parameters that were variables have no arrays' types.
void flatten_places(llvm::Function &function) {
  std::vector<llvm::GetElementPtrInst *> places;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (auto *place = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) places.push_back(place);
  for (llvm::GetElementPtrInst *place : places) {
    llvm::Type *type = place->getSourceElementType();
    llvm::SmallVector<llvm::Value *, 4> indices(place->indices());
    while (indices.size() > 1 && type->isArrayTy()) {
      const auto *first = llvm::dyn_cast<llvm::ConstantInt>(indices[0]);
      if (!first || !first->isZero()) break;
      type = type->getArrayElementType();
      indices.erase(indices.begin());
    }
    if (type == place->getSourceElementType()) continue;
    auto *made = llvm::GetElementPtrInst::Create(type, place->getPointerOperand(), indices, "", place->getIterator());
    made->setIsInBounds(place->isInBounds());
    place->replaceAllUsesWith(made);
    place->eraseFromParent();
  }
}

// Without what names say of address spaces.
void flatten_names(llvm::Module &module) {
  std::vector<llvm::Function *> declared;
  for (llvm::Function &function : module)
    if (function.isDeclaration() && function.getName().contains("U3AS")) declared.push_back(&function);
  for (llvm::Function *function : declared) {
    std::string name = function->getName().str();
    for (size_t at = name.find("U3AS"); at != std::string::npos; at = name.find("U3AS")) name.erase(at, 5);
    rename_declared(*function, name);
  }
}

}  // namespace

void neutral_ir(const Query &query, Outcome &outcome) {
  llvm::LLVMContext context;
  Instance instance(query, outcome, prelude_of(query));
  clang::EmitLLVMOnlyAction action(&context);
  if (!instance.run(action)) return;
  auto module = action.takeModule();
  if (!module) return;
  llvm::StringRef name(query.kernel.data(), query.kernel.size());
  llvm::Function *kernel = find_kernel(*module, name);
  if (!kernel) {
    report_error(outcome, "no_such_function", ("the program defines no kernel named '" + name + "'").str(), name);
    return;
  }
  use_plain_names(*module);
  auto copy = Neutraliser(*module).copy(*kernel);
  flatten_names(*copy);
  run_passes(*copy, kInline);
  std::vector<llvm::GlobalVariable *> variables;
  for (const rust::String &one : query.skipped)
    if (auto *variable = copy->getNamedGlobal(llvm::StringRef(one.data(), one.size()))) variables.push_back(variable);
  kernel = with_parameters(copy->getFunction("kernel"), variables);
  run_passes(*copy, kSimplify);
  for (llvm::Function &function : *copy) flatten_places(function);
  outcome.has_text = true;
  outcome.text = to_rust(canonical_text(*copy, *kernel));
}

}  // namespace stampmill
