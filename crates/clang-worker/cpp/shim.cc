#include <unistd.h>

#include <cstdlib>
#include <new>

#include "shim.h"

#include "clang/Basic/Version.h"
#include "llvm/Support/TargetSelect.h"

#include "stampmill-clang-worker/src/bridge.rs.h"
#include "instance.h"
#include "machine.h"
#include "source.h"
#include "tasks.h"

namespace stampmill {

rust::String version() { return to_rust(clang::getClangFullVersion()); }

void start(rust::Slice<const Text> headers, rust::Slice<const rust::String> host_folders) {
  // An exception would run into frames that are not C++'s. The client knows these words.
  std::set_new_handler([] {
    static const char words[] = "out of memory\n";
    [[maybe_unused]] auto written = write(STDERR_FILENO, words, sizeof words - 1);
    abort();
  });
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  llvm::InitializeAllAsmParsers();
  keep_machines();
  for (const Text &header : headers)
    add_builtin_file(llvm::StringRef(header.name.data(), header.name.size()),
                     llvm::StringRef(header.text.data(), header.text.size()));
  if (host_folders.empty()) return;
  std::vector<std::string> folders;
  for (const rust::String &folder : host_folders) folders.emplace_back(folder);
  show_host_folders(std::move(folders));
}

Outcome answer(const Query &query) {
  Outcome outcome{};
  switch (query.task) {
    case Task::Preprocess:
      preprocess(query, outcome);
      break;
    case Task::Tokens:
      tokens(query, outcome);
      break;
    case Task::Parse:
      parse(query, outcome);
      break;
    case Task::Compile:
      compile(query, outcome);
      break;
    case Task::CanonicalIr:
      canonical_ir(query, outcome);
      break;
    case Task::Format:
      format(query, outcome);
      break;
    case Task::Translate:
      translate(query, outcome);
      break;
    case Task::NeutralIr:
      neutral_ir(query, outcome);
      break;
  }
  return outcome;
}

}  // namespace stampmill
