#include "prelude.h"

#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Serialization/ASTWriter.h"
#include "clang/Serialization/PCHContainerOperations.h"
#include "llvm/ADT/StringMap.h"

#include "stampmill-clang-worker/src/bridge.rs.h"
#include "instance.h"
#include "invocation.h"

namespace stampmill {
namespace {

// Making one costs about as much as it saves in this many programs.
constexpr unsigned kUses = 4;
// Of this many sets of arguments; each takes about half a MiB.
constexpr size_t kPreludes = 8;

class PrecompileAction : public clang::ASTFrontendAction {
 public:
  explicit PrecompileAction(std::shared_ptr<clang::PCHBuffer> buffer) : buffer_(std::move(buffer)) {}

 protected:
  bool BeginSourceFileAction(clang::CompilerInstance &compiler) override {
    compiler.getLangOpts().CompilingPCH = true;
    return true;
  }

  clang::TranslationUnitKind getTranslationUnitKind() override { return clang::TU_Prefix; }

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &compiler, llvm::StringRef) override {
    return std::make_unique<clang::PCHGenerator>(
        compiler.getPreprocessor(), compiler.getModuleCache(), /*OutputFile=*/"", /*isysroot=*/"", buffer_,
        compiler.getFrontendOpts().ModuleFileExtensions, /*AllowASTWithErrors=*/false, /*IncludeTimestamps=*/false);
  }

 private:
  std::shared_ptr<clang::PCHBuffer> buffer_;
};

struct Prelude {
  // Names its file.
  size_t number;
  unsigned seen = 0;
  std::string path;
};

// Adds the precompiled header to the files that every program sees; an empty path if clang makes none.
std::string make(const Query &query, size_t number) {
  std::string name = "prelude-" + std::to_string(number);
  // In angles: clang 19 crashes in the quoted `#include` of it that it would put there by itself.
  std::string source = "#include <opencl-c-base.h>\n";
  add_builtin_file(name + ".cl", source);
  std::string path = (kBuiltinFolder + "/" + name + ".cl").str();
  Query begin{};
  begin.source = rust::Str(source.data(), source.size());
  begin.path = rust::Str(path);
  begin.arguments = query.arguments;
  begin.diagnostics = query.diagnostics;
  Outcome outcome{};
  Instance instance(begin, outcome);
  instance.compiler().getPreprocessorOpts().Includes.clear();
  auto buffer = std::make_shared<clang::PCHBuffer>();
  PrecompileAction action(buffer);
  if (!instance.run(action) || !buffer->IsComplete) return "";
  add_builtin_file(name + ".pch", llvm::StringRef(buffer->Data.data(), buffer->Data.size()));
  return (kBuiltinFolder + "/" + name + ".pch").str();
}

}  // namespace

llvm::StringRef prelude_of(const Query &query) {
  bool base = false;
  for (const rust::String &argument : query.arguments) {
    llvm::StringRef text(argument.data(), argument.size());
    if (text == "-include") return "";
    base |= text == "-finclude-default-header";
  }
  if (!base) return "";
  std::string key = arguments_key(query);
  static auto *preludes = new llvm::StringMap<Prelude>();
  auto found = preludes->find(key);
  if (found == preludes->end()) {
    if (preludes->size() == kPreludes) return "";
    found = preludes->try_emplace(key, Prelude{preludes->size(), 0, ""}).first;
  }
  Prelude &prelude = found->second;
  if (++prelude.seen == kUses) prelude.path = make(query, prelude.number);
  return prelude.path;
}

}  // namespace stampmill
