// Canonical IR: what a kernel does, free of everything that only its spelling decides.
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Mangle.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/TypeFinder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include "stampmill-clang-worker/src/bridge.rs.h"
#include "diagnostics.h"
#include "instance.h"
#include "source.h"
#include "tasks.h"

namespace stampmill {
namespace {

// Notes the linker names of what the program declares itself, builtins excluded: those names may
// be changed by a rewriter, all others mean something.
class NameCollector : public clang::ASTConsumer {
 public:
  NameCollector(llvm::StringSet<> &names, const llvm::StringSet<> &skipped) : names_(names), skipped_(skipped) {}

  // Asked only where the query names functions to pass over; the body of any other is parsed.
  bool shouldSkipFunctionBody(clang::Decl *decl) override {
    const clang::FunctionDecl *function = decl->getAsFunction();
    return function && function->getIdentifier() && skipped_.contains(function->getName());
  }

  void HandleTranslationUnit(clang::ASTContext &context) override {
    clang::ASTNameGenerator generator(context);
    const clang::SourceManager &sources = context.getSourceManager();
    for (const clang::Decl *decl : context.getTranslationUnitDecl()->decls()) {
      if (decl->isImplicit() || !(llvm::isa<clang::FunctionDecl>(decl) || llvm::isa<clang::VarDecl>(decl)))
        continue;
      auto file = sources.getFileEntryRefForID(sources.getFileID(sources.getExpansionLoc(decl->getLocation())));
      if (!file || !belongs_to_program(file->getName())) continue;
      const auto *function = llvm::dyn_cast<clang::FunctionDecl>(decl);
      if (function && function->getBuiltinID() != 0) continue;
      names_.insert(generator.getName(decl));
    }
  }

 private:
  llvm::StringSet<> &names_;
  const llvm::StringSet<> &skipped_;
};

class CanonicalAction : public clang::EmitLLVMOnlyAction {
 public:
  CanonicalAction(llvm::LLVMContext &context, const Query &query, Outcome &outcome, llvm::StringSet<> &names)
      : EmitLLVMOnlyAction(&context), query_(query), outcome_(outcome), names_(names) {
    for (const rust::String &name : query.skipped) skipped_.insert(llvm::StringRef(name.data(), name.size()));
  }

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &compiler,
                                                        llvm::StringRef file) override {
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    consumers.push_back(std::make_unique<NameCollector>(names_, skipped_));
    if (query_.facts) consumers.push_back(describer(query_, outcome_));
    consumers.push_back(EmitLLVMOnlyAction::CreateASTConsumer(compiler, file));
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  }

 private:
  const Query &query_;
  Outcome &outcome_;
  llvm::StringSet<> &names_;
  llvm::StringSet<> skipped_;
};

class Canonicaliser {
 public:
  Canonicaliser(llvm::Module &module, const llvm::StringSet<> &own_names) : module_(module), own_(own_names) {}

  std::string run(llvm::Function &kernel) {
    reach(kernel);
    drop_metadata();
    drop_unreached();
    order_and_rename();
    rename_types();
    module_.setModuleIdentifier("");
    module_.setSourceFileName("");
    std::string text;
    llvm::raw_string_ostream stream(text);
    module_.print(stream, nullptr);
    // Types belong to the context: another module's run must find them as this one did.
    for (auto &[type, name] : type_names_) type->setName("");
    for (auto &[type, name] : type_names_) type->setName(name);
    return without_predecessors(stream.str());
  }

  // A module of its own with what the kernel reaches and nothing else. LLVM's `CloneModule` would
  // declare all the rest, too: of a file of many kernels the time would grow as their square.
  std::unique_ptr<llvm::Module> copy_for(llvm::Function &kernel) {
    reach(kernel);
    llvm::ValueToValueMapTy map;
    for (llvm::GlobalValue *value : reached_)
      if (!llvm::isa<llvm::Function>(value) && !llvm::isa<llvm::GlobalVariable>(value))
        return llvm::CloneModule(module_, map, [&](const llvm::GlobalValue *one) {
          return reached_.contains(const_cast<llvm::GlobalValue *>(one));
        });
    auto copy = std::make_unique<llvm::Module>(module_.getModuleIdentifier(), module_.getContext());
    copy->setDataLayout(module_.getDataLayout());
    copy->setTargetTriple(module_.getTargetTriple());
    copy->setModuleInlineAsm(module_.getModuleInlineAsm());
    for (llvm::GlobalValue *value : reached_) map[value] = declare_in(*copy, *value);
    for (llvm::GlobalValue *value : reached_) define(*value, map);
    return copy;
  }

 private:
  static llvm::GlobalValue *declare_in(llvm::Module &copy, const llvm::GlobalValue &value) {
    if (const auto *function = llvm::dyn_cast<llvm::Function>(&value)) {
      auto *made = llvm::Function::Create(function->getFunctionType(), function->getLinkage(),
                                          function->getAddressSpace(), function->getName(), &copy);
      made->copyAttributesFrom(function);
      return made;
    }
    const auto &variable = llvm::cast<llvm::GlobalVariable>(value);
    auto *made = new llvm::GlobalVariable(copy, variable.getValueType(), variable.isConstant(), variable.getLinkage(),
                                          nullptr, variable.getName(), nullptr, variable.getThreadLocalMode(),
                                          variable.getType()->getAddressSpace());
    made->copyAttributesFrom(&variable);
    return made;
  }

  static void define(const llvm::GlobalValue &value, llvm::ValueToValueMapTy &map) {
    llvm::Value *made = map.lookup(&value);
    if (const auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(&value)) {
      if (variable->hasInitializer())
        llvm::cast<llvm::GlobalVariable>(made)->setInitializer(llvm::MapValue(variable->getInitializer(), map));
      return;
    }
    const auto &function = llvm::cast<llvm::Function>(value);
    auto *copy = llvm::cast<llvm::Function>(made);
    if (function.isDeclaration()) return;
    auto argument = copy->arg_begin();
    for (const llvm::Argument &one : function.args()) {
      argument->setName(one.getName());
      map[&one] = &*argument++;
    }
    llvm::SmallVector<llvm::ReturnInst *, 8> returns;
    llvm::CloneFunctionInto(copy, &function, map, llvm::CloneFunctionChangeType::ClonedModule, returns);
    if (function.hasPersonalityFn()) copy->setPersonalityFn(llvm::MapValue(function.getPersonalityFn(), map));
  }

  // The printer lists a block's predecessors behind its label, in the order of their use lists:
  // that depends on how the module came to be, and says nothing that the branches do not.
  static std::string without_predecessors(llvm::StringRef text) {
    std::string kept;
    kept.reserve(text.size());
    while (!text.empty()) {
      auto [line, rest] = text.split('\n');
      bool label = !line.empty() && llvm::isDigit(line.front());
      kept += label ? line.take_until([](char c) { return c == ';'; }).rtrim() : line;
      kept += '\n';
      text = rest;
    }
    return kept;
  }

  // Collects what the kernel reaches, in order of first use.
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

  void drop_metadata() {
    std::vector<llvm::NamedMDNode *> named;
    for (llvm::NamedMDNode &node : module_.named_metadata()) named.push_back(&node);
    for (llvm::NamedMDNode *node : named) module_.eraseNamedMetadata(node);
    for (llvm::GlobalValue *value : reached_) {
      auto *function = llvm::dyn_cast<llvm::Function>(value);
      if (!function) continue;
      // These carry names and printed types alone.
      for (const char *kind : {"kernel_arg_name", "kernel_arg_type", "kernel_arg_base_type"})
        function->setMetadata(kind, nullptr);
      for (llvm::Instruction &instruction : llvm::instructions(*function)) {
        instruction.setMetadata("srcloc", nullptr);
        instruction.setName("");
      }
      for (llvm::BasicBlock &block : *function) block.setName("");
      for (llvm::Argument &argument : function->args()) argument.setName("");
    }
  }

  void drop_unreached() {
    std::vector<llvm::GlobalValue *> dead;
    for (llvm::GlobalValue &value : module_.global_values())
      if (!reached_.contains(&value)) dead.push_back(&value);
    // First let go of what they use, so that the order of erasing does not matter.
    for (llvm::GlobalValue *value : dead) {
      if (auto *function = llvm::dyn_cast<llvm::Function>(value)) function->deleteBody();
      else value->dropAllReferences();
    }
    for (llvm::GlobalValue *value : dead) {
      value->removeDeadConstantUsers();
      if (!value->use_empty()) value->replaceAllUsesWith(llvm::PoisonValue::get(value->getType()));
      value->eraseFromParent();
    }
  }

  void order_and_rename() {
    // Two passes: a new name may be an old one of another value.
    for (llvm::GlobalValue *value : reached_)
      if (renamed(*value)) value->setName("");
    unsigned functions = 0, variables = 0;
    for (llvm::GlobalValue *value : reached_) {
      bool rename = renamed_.contains(value);
      if (auto *object = llvm::dyn_cast<llvm::GlobalObject>(value)) object->setComdat(nullptr);
      if (auto *function = llvm::dyn_cast<llvm::Function>(value)) {
        function->removeFromParent();
        module_.getFunctionList().push_back(function);
        if (rename) function->setName("function." + llvm::Twine(functions++));
      } else if (auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(value)) {
        variable->removeFromParent();
        module_.insertGlobalVariable(variable);
        if (rename) variable->setName("variable." + llvm::Twine(variables++));
      }
    }
    while (!module_.getComdatSymbolTable().empty())
      module_.getComdatSymbolTable().erase(module_.getComdatSymbolTable().begin());
  }

  // Defined things lose their names; what is merely declared keeps it unless the program itself
  // declares it.
  bool renamed(const llvm::GlobalValue &value) {
    if (value.isDeclaration() && !own_.contains(value.getName())) return false;
    renamed_.insert(&value);
    return true;
  }

  void rename_types() {
    llvm::TypeFinder types;
    types.run(module_, /*onlyNamed=*/true);
    for (llvm::StructType *type : types) {
      type_names_.emplace_back(type, type->getName().str());
      type->setName("");
    }
    unsigned count = 0;
    for (llvm::StructType *type : types) type->setName("type." + llvm::Twine(count++).str());
  }

  llvm::Module &module_;
  const llvm::StringSet<> &own_;
  llvm::SetVector<llvm::GlobalValue *> reached_;
  llvm::DenseSet<const llvm::GlobalValue *> renamed_;
  llvm::DenseSet<llvm::Constant *> constants_;
  std::vector<std::pair<llvm::StructType *, std::string>> type_names_;
};

// Several kernels of one program: one text each behind its name, NULs between.
std::string several(llvm::Module &module, const llvm::StringSet<> &names, llvm::StringRef kernels) {
  std::string text;
  llvm::SmallVector<llvm::StringRef, 16> wanted;
  kernels.split(wanted, '\n');
  for (llvm::StringRef name : wanted) {
    llvm::Function *kernel = module.getFunction(name);
    if (!kernel || kernel->isDeclaration()) continue;
    auto copy = Canonicaliser(module, names).copy_for(*kernel);
    if (!text.empty()) text += '\0';
    text += name;
    text += '\0';
    text += Canonicaliser(*copy, names).run(*copy->getFunction(name));
  }
  return text;
}

}  // namespace

std::string canonical_text(llvm::Module &module, llvm::Function &kernel) {
  llvm::StringSet<> names;
  return Canonicaliser(module, names).run(kernel);
}

void canonical_ir(const Query &query, Outcome &outcome) {
  llvm::LLVMContext context;
  llvm::StringSet<> names;
  Instance instance(query, outcome);
  CanonicalAction action(context, query, outcome, names);
  if (!query.skipped.empty()) instance.compiler().getFrontendOpts().SkipFunctionBodies = true;
  if (!instance.run(action)) return;
  auto module = action.takeModule();
  if (!module) return;
  if (query.facts) write_code(*module, query.bitcode, outcome);
  llvm::StringRef name(query.kernel.data(), query.kernel.size());
  if (query.several) {
    outcome.has_text = true;
    outcome.text = to_rust(several(*module, names, name));
    return;
  }
  llvm::Function *kernel = module->getFunction(name);
  if (!kernel || kernel->isDeclaration()) {
    report_error(outcome, "no_such_function", ("the program defines no function named '" + name + "'").str(), name);
    return;
  }
  outcome.has_text = true;
  outcome.text = to_rust(Canonicaliser(*module, names).run(*kernel));
}

}  // namespace stampmill
