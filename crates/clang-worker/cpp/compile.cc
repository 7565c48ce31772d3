// Parsing and compiling: one parse serves the facts, the tree and the code.
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

#include "stampmill-clang-worker/src/bridge.rs.h"
#include "cuda_names.h"
#include "facts.h"
#include "instance.h"
#include "prelude.h"
#include "source.h"
#include "tasks.h"
#include "tree.h"

namespace stampmill {
namespace {

// Describes the program once it is parsed.
class Describer : public clang::ASTConsumer {
 public:
  Describer(const Query &query, Outcome &outcome) : query_(query), outcome_(outcome) {}

  void HandleTranslationUnit(clang::ASTContext &context) override {
    if (!query_.facts && !query_.tree) return;
    Locations locations(context.getSourceManager(), context.getLangOpts());
    Facts facts(context, locations);
    facts.collect();
    if (query_.facts) facts.write(outcome_);
    if (query_.tree) write_tree(context, locations, facts, outcome_);
  }

 private:
  const Query &query_;
  Outcome &outcome_;
};

class ParseAction : public clang::ASTFrontendAction {
 public:
  ParseAction(const Query &query, Outcome &outcome) : query_(query), outcome_(outcome) {}

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &, llvm::StringRef) override {
    return std::make_unique<Describer>(query_, outcome_);
  }

 private:
  const Query &query_;
  Outcome &outcome_;
};

class CompileAction : public clang::EmitLLVMOnlyAction {
 public:
  CompileAction(llvm::LLVMContext &context, const Query &query, Outcome &outcome)
      : EmitLLVMOnlyAction(&context), query_(query), outcome_(outcome) {}

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &compiler,
                                                        llvm::StringRef file) override {
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    consumers.push_back(std::make_unique<Describer>(query_, outcome_));
    consumers.push_back(EmitLLVMOnlyAction::CreateASTConsumer(compiler, file));
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  }

 private:
  const Query &query_;
  Outcome &outcome_;
};

}  // namespace

std::unique_ptr<clang::ASTConsumer> describer(const Query &query, Outcome &outcome) {
  return std::make_unique<Describer>(query, outcome);
}

void write_code(const llvm::Module &module, bool bitcode, Outcome &outcome, bool orders_of_use) {
  outcome.has_code = true;
  for (const llvm::Function &function : module) {
    if (function.isDeclaration()) continue;
    FunctionSize size;
    size.name = to_rust(function.getName());
    size.kernel = is_kernel(function);
    size.instructions = function.getInstructionCount();
    outcome.functions.push_back(std::move(size));
  }
  if (!bitcode) return;
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  // As `clang -emit-llvm` writes it, with orders of use.
  llvm::WriteBitcodeToFile(module, stream, /*ShouldPreserveUseListOrder=*/orders_of_use);
  append(outcome.bitcode, {reinterpret_cast<const uint8_t *>(buffer.data()), buffer.size()});
}

void parse(const Query &query, Outcome &outcome) {
  Instance instance(query, outcome, prelude_of(query));
  ParseAction action(query, outcome);
  instance.run(action);
}

namespace {

// Whether the place of an instruction among others of its block says something.
bool has_place(const llvm::Instruction &instruction) {
  return llvm::isa<llvm::PHINode>(instruction) || instruction.isTerminator() || instruction.mayReadOrWriteMemory() ||
         instruction.mayHaveSideEffects() || llvm::isa<llvm::AllocaInst>(instruction);
}

// Puts what a value is computed from, and the value, in front of the instruction that needs it.
void place_before(llvm::Value *value, llvm::Instruction *needs, llvm::SmallPtrSetImpl<llvm::Value *> &placed) {
  auto *instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction || instruction->getParent() != needs->getParent() || has_place(*instruction)) return;
  if (!placed.insert(value).second) return;
  for (llvm::Value *operand : instruction->operands()) place_before(operand, needs, placed);
  instruction->moveBefore(needs);
}

// Orders a block by what needs what: code that is gone may have left another order.
void put_in_order(llvm::BasicBlock &block) {
  llvm::SmallVector<llvm::Instruction *, 64> all;
  for (llvm::Instruction &instruction : block) all.push_back(&instruction);
  llvm::SmallPtrSet<llvm::Value *, 32> placed;
  for (llvm::Instruction *instruction : all) {
    if (!has_place(*instruction) || llvm::isa<llvm::PHINode>(instruction)) continue;
    for (llvm::Value *operand : instruction->operands()) place_before(operand, instruction, placed);
  }
  for (llvm::Instruction *instruction : all) place_before(instruction, block.getTerminator(), placed);
}

// Leaves what a module does: attributes say what code was there that is gone, and names and hints nothing.
void leave_effect(llvm::Module &module) {
  // By their attributes calls have a place or none.
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function) put_in_order(block);
  for (llvm::Function &function : llvm::make_early_inc_range(module)) {
    if (function.isDeclaration() && function.use_empty()) {
      function.eraseFromParent();
      continue;
    }
    function.setAttributes({});
    for (llvm::Argument &argument : function.args()) argument.setName("");
    for (llvm::BasicBlock &block : function) {
      block.setName("");
      for (llvm::Instruction &instruction : block) {
        instruction.setName("");
        instruction.dropUnknownNonDebugMetadata();
        if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction)) call->setAttributes({});
        if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction)) call->setTailCallKind(llvm::CallInst::TCK_None);
      }
    }
  }
}

}  // namespace

void compile(const Query &query, Outcome &outcome) {
  llvm::LLVMContext context;
  Instance instance(query, outcome, prelude_of(query));
  CompileAction action(context, query, outcome);
  if (!instance.run(action)) return;
  auto module = action.takeModule();
  if (!module) return;
  if (instance.compiler().getLangOpts().CUDA) use_plain_names(*module);
  using Loops = clang::CodeGenOptions::FiniteLoopsKind;
  const bool is_effect = instance.compiler().getCodeGenOpts().getFiniteLoops() == Loops::Always;
  if (is_effect) leave_effect(*module);
  write_code(*module, query.bitcode, outcome, !is_effect);
}

}  // namespace stampmill
