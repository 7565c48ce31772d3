// Parsing and compiling: one parse serves the facts, the tree and the code.
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Bitcode/BitcodeWriter.h"
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

void write_code(const llvm::Module &module, bool bitcode, Outcome &outcome) {
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
  // As `clang -emit-llvm` writes it, orders of use included.
  llvm::WriteBitcodeToFile(module, stream, /*ShouldPreserveUseListOrder=*/true);
  append(outcome.bitcode, {reinterpret_cast<const uint8_t *>(buffer.data()), buffer.size()});
}

void parse(const Query &query, Outcome &outcome) {
  Instance instance(query, outcome, prelude_of(query));
  ParseAction action(query, outcome);
  instance.run(action);
}

void compile(const Query &query, Outcome &outcome) {
  llvm::LLVMContext context;
  Instance instance(query, outcome, prelude_of(query));
  CompileAction action(context, query, outcome);
  if (!instance.run(action)) return;
  auto module = action.takeModule();
  if (!module) return;
  if (instance.compiler().getLangOpts().CUDA) use_plain_names(*module);
  write_code(*module, query.bitcode, outcome);
}

}  // namespace stampmill
