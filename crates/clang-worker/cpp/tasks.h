// What can be asked, one function each; every one fills its part of the outcome.
#pragma once

#include <memory>

#include "clang/AST/ASTConsumer.h"
#include "llvm/IR/Module.h"

#include "shim.h"

namespace stampmill {

void preprocess(const Query &query, Outcome &outcome);
void tokens(const Query &query, Outcome &outcome);
void parse(const Query &query, Outcome &outcome);
void compile(const Query &query, Outcome &outcome);
void canonical_ir(const Query &query, Outcome &outcome);
void format(const Query &query, Outcome &outcome);
void translate(const Query &query, Outcome &outcome);
void neutral_ir(const Query &query, Outcome &outcome);

// The canonical IR of what a kernel reaches.
std::string canonical_text(llvm::Module &module, llvm::Function &kernel);

// Describes the program once it is parsed, as far as `query` asks for it.
std::unique_ptr<clang::ASTConsumer> describer(const Query &query, Outcome &outcome);
// Reports a module's functions and, where wanted, the module.
void write_code(const llvm::Module &module, bool bitcode, Outcome &outcome, bool orders_of_use = true);

}  // namespace stampmill
