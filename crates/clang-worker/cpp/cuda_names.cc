#include "cuda_names.h"

#include <vector>

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Metadata.h"

namespace stampmill {
namespace {

constexpr llvm::StringLiteral kPrefix = "__cl_";

}  // namespace

bool is_kernel(const llvm::Function &function) {
  // clang gives it to every kernel of OpenCL, whatever the target.
  if (function.hasMetadata("kernel_arg_addr_space")) return true;
  const llvm::NamedMDNode *notes = function.getParent()->getNamedMetadata("nvvm.annotations");
  if (!notes) return false;
  for (const llvm::MDNode *note : notes->operands()) {
    if (note->getNumOperands() < 3) continue;
    const auto *about = llvm::mdconst::dyn_extract_or_null<llvm::Function>(note->getOperand(0));
    const auto *word = llvm::dyn_cast_or_null<llvm::MDString>(note->getOperand(1));
    if (about == &function && word && word->getString() == "kernel") return true;
  }
  return false;
}

llvm::Function *find_kernel(llvm::Module &module, llvm::StringRef name) {
  llvm::Function *exact = module.getFunction(name);
  if (exact && !exact->isDeclaration()) return exact;
  std::string mangled = (llvm::Twine(name.size()) + name).str();
  llvm::Function *found = nullptr;
  for (llvm::Function &function : module)
    if (!function.isDeclaration() && function.getName().contains(mangled) && is_kernel(function)) found = &function;
  return found;
}

void rename_declared(llvm::Function &function, llvm::StringRef name) {
  llvm::Function *other = function.getParent()->getFunction(name);
  if (other && other != &function) {
    function.replaceAllUsesWith(other);
    function.eraseFromParent();
  } else {
    function.setName(name);
  }
}

void use_plain_names(llvm::Module &module) {
  if (llvm::GlobalVariable *notes = module.getGlobalVariable("llvm.global.annotations")) notes->eraseFromParent();
  std::vector<llvm::Function *> declared;
  for (llvm::Function &function : module)
    if (function.isDeclaration() && function.getName().starts_with("_Z")) declared.push_back(&function);
  for (llvm::Function *function : declared) {
    std::string name = function->getName().str();
    llvm::StringRef rest = llvm::StringRef(name).substr(2);
    size_t length = 0;
    if (rest.consumeInteger(10, length) || length > rest.size()) continue;
    auto [word, tail] = std::pair(rest.take_front(length), rest.drop_front(length));
    if (!word.consume_front(kPrefix)) continue;
    rename_declared(*function, ("_Z" + llvm::Twine(word.size()) + word + tail).str());
  }
}

}  // namespace stampmill
