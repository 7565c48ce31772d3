#include "instance.h"

#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/Support/MemoryBuffer.h"

#include "stampmill-clang-worker/src/bridge.rs.h"
#include "diagnostics.h"
#include "host_files.h"
#include "invocation.h"
#include "machine.h"

namespace stampmill {
namespace {

using llvm::IntrusiveRefCntPtr;
using llvm::MemoryBuffer;
using llvm::StringRef;
using llvm::Twine;
using llvm::vfs::InMemoryFileSystem;

// Filled once at the start; every program reads it and none can change it.
InMemoryFileSystem &builtin_files() {
  static auto *files = new IntrusiveRefCntPtr<InMemoryFileSystem>(new InMemoryFileSystem());
  return **files;
}

// Absent unless the worker was started with the host's headers.
IntrusiveRefCntPtr<HostFiles> &host_files() {
  static auto *files = new IntrusiveRefCntPtr<HostFiles>();
  return *files;
}

StringRef as_ref(rust::Str text) { return StringRef(text.data(), text.size()); }

// A fresh layer with the program and its headers above the shared builtin ones. The real file
// system is no part of it: a file that was not handed over does not exist.
IntrusiveRefCntPtr<llvm::vfs::FileSystem> files_of(const Query &query) {
  auto own = llvm::makeIntrusiveRefCnt<InMemoryFileSystem>();
  own->setCurrentWorkingDirectory(kProgramFolder);
  own->addFile(as_ref(query.path), 0, MemoryBuffer::getMemBufferCopy(as_ref(query.source)));
  for (const Text &header : query.headers) {
    StringRef name = as_ref(header.name);
    // The path is normalised by the file system, as an `#include` of the same spelling will be.
    std::string path = name.starts_with("/") ? name.str() : (kHeaderFolder + Twine("/") + name).str();
    own->addFile(path, 0, MemoryBuffer::getMemBufferCopy(as_ref(header.text)));
  }
  auto all = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(&builtin_files());
  if (host_files()) all->pushOverlay(host_files());
  all->pushOverlay(own);
  all->setCurrentWorkingDirectory(kProgramFolder);
  return all;
}

}  // namespace

void add_builtin_file(StringRef name, StringRef content) {
  builtin_files().addFile(kBuiltinFolder + Twine("/") + name, 0, MemoryBuffer::getMemBufferCopy(content));
}

void show_host_folders(std::vector<std::string> folders) {
  host_files() = llvm::makeIntrusiveRefCnt<HostFiles>(std::move(folders));
}

bool belongs_to_program(StringRef path) {
  return !path.starts_with(kBuiltinFolder) && !(host_files() && host_files()->contains(path));
}

Instance::Instance(const Query &query, Outcome &outcome, StringRef prelude) : arguments_(arguments_key(query)) {
  auto options = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
  auto engine = llvm::makeIntrusiveRefCnt<clang::DiagnosticsEngine>(
      llvm::makeIntrusiveRefCnt<clang::DiagnosticIDs>(), options,
      new Collector(outcome, query.diagnostics), /*ShouldOwnClient=*/true);

  auto invocation = invocation_of(query, arguments_, *engine);
  valid_ = invocation != nullptr;
  if (!valid_) invocation = std::make_shared<clang::CompilerInvocation>();
  // `-Wno-...` and `-ferror-limit` act on the engine, not on the invocation.
  options = &invocation->getDiagnosticOpts();
  clang::ProcessWarningOptions(*engine, *options, /*ReportDiags=*/false);
  engine->setErrorLimit(options->ErrorLimit);
  invocation->getFrontendOpts().DisableFree = false;
  if (!prelude.empty()) {
    clang::PreprocessorOptions &preprocessor = invocation->getPreprocessorOpts();
    preprocessor.Includes.clear();
    preprocessor.ImplicitPCHInclude = prelude.str();
    // They are in the header too, whose word replaces the preprocessor's.
    preprocessor.UsePredefines = false;
    // It was made here, of the same arguments.
    preprocessor.DisablePCHOrModuleValidation = clang::DisableValidationForModuleKind::All;
  }

  compiler_.setInvocation(std::move(invocation));
  compiler_.setDiagnostics(engine.get());
  compiler_.setVerboseOutputStream(llvm::nulls());
  compiler_.createFileManager(files_of(query));
}

bool Instance::run(clang::FrontendAction &action) {
  // `CompilerInstance::ExecuteAction` would do the same, but it also notes the bottom of the stack
  // and then, 8 MiB deeper, moves the work to a new thread of 8 MiB. The worker's stack is larger
  // than that, and its sandbox may refuse threads.
  if (!valid_ || !compiler_.createTarget()) return false;
  KeptMachine machine(arguments_);
  for (const clang::FrontendInputFile &input : compiler_.getFrontendOpts().Inputs) {
    if (action.BeginSourceFile(compiler_, input)) {
      llvm::consumeError(action.Execute());
      action.EndSourceFile();
    }
  }
  return !compiler_.getDiagnostics().hasErrorOccurred();
}

}  // namespace stampmill
