#include "prelude.h"

#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Serialization/ASTWriter.h"
#include "clang/Serialization/PCHContainerOperations.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include "stampmill-clang-worker/src/bridge.rs.h"
#include "instance.h"
#include "invocation.h"

namespace stampmill {
namespace {

// Making one costs about as much as it saves in this many programs.
constexpr unsigned kUses = 4;
// Of this many sets of arguments; each takes about half a MiB.
constexpr unsigned kPreludes = 16;
// OpenCL C's own declarations. In angles: clang 19 crashes in the quoted `#include` of it that it would put there by itself.
constexpr llvm::StringLiteral kOpenClBase = "#include <opencl-c-base.h>\n";
// Sets of arguments that are counted at a time: programs may bring their own.
constexpr size_t kCounted = 1024;

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

// What the arguments put in front of a program, as a file that includes it; empty where that is not one header.
std::string beginning(const Query &query) {
  std::string source;
  for (auto argument = query.arguments.begin(); argument != query.arguments.end(); ++argument) {
    llvm::StringRef text(argument->data(), argument->size());
    std::string found;
    if (text == "-finclude-default-header") found = kOpenClBase.str();
    if (text == "-include" && std::next(argument) != query.arguments.end())
      found = "#include <" + std::string(*std::next(argument)) + ">\n";
    if (found.empty()) continue;
    if (!source.empty()) return "";
    source = found;
  }
  return source;
}

// Adds the precompiled header to the files that every program sees; an empty path if clang makes none.
std::string make(const Query &query, const std::string &source, unsigned number) {
  std::string name = "prelude-" + std::to_string(number);
  llvm::StringRef suffix = llvm::sys::path::extension(llvm::StringRef(query.path.data(), query.path.size()));
  std::string file = name + suffix.str();
  add_builtin_file(file, source);
  std::string path = (kBuiltinFolder + "/" + file).str();
  Query begin{};
  begin.source = rust::Str(source.data(), source.size());
  begin.path = rust::Str(path);
  begin.arguments = query.arguments;
  begin.headers = query.headers;
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
  std::string source = beginning(query);
  if (source.empty()) return "";
  // Loading OpenCL C's few declarations costs a description, or a comparison, more than parsing them.
  bool only_compiles = query.task == Task::Compile && !query.facts && !query.tree;
  if (source == kOpenClBase && !only_compiles) return "";
  std::string key = arguments_key(query);
  for (const Text &header : query.headers) {
    // Clang's own header includes none of the query's.
    if (source == kOpenClBase) break;
    llvm::StringRef name(header.name.data(), header.name.size()), text(header.text.data(), header.text.size());
    key += ("\n" + name + " " + llvm::Twine(llvm::xxh3_64bits(text))).str();
  }
  static auto *preludes = new llvm::StringMap<std::string>();
  auto made = preludes->find(key);
  if (made != preludes->end()) return made->second;
  if (preludes->size() == kPreludes) return "";
  static auto *seen = new llvm::StringMap<unsigned>();
  if (seen->size() == kCounted) seen->clear();
  if (++(*seen)[key] < kUses) return "";
  return preludes->try_emplace(key, make(query, source, preludes->size())).first->second;
}

}  // namespace stampmill
