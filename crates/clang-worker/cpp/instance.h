// One clang over one program: an in-memory file system, its arguments, its diagnostics.
#pragma once

#include <string>
#include <vector>

#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/VirtualFileSystem.h"

#include "shim.h"

namespace stampmill {

// Folders of the in-memory file system.
inline constexpr llvm::StringLiteral kProgramFolder = "/program";
inline constexpr llvm::StringLiteral kHeaderFolder = "/headers";
inline constexpr llvm::StringLiteral kBuiltinFolder = "/builtin/include";

// Adds one of clang's own headers, or something made of them, which every later program may include.
void add_builtin_file(llvm::StringRef name, llvm::StringRef content);

// Lets every later program read the host's headers below these absolute folders.
void show_host_folders(std::vector<std::string> folders);

// Whether a file is the program itself or one of its virtual headers, rather than a builtin one.
bool belongs_to_program(llvm::StringRef path);

class Instance {
 public:
  // Diagnostics go to `outcome`, which must outlive the instance. `prelude`: a precompiled header of
  // what the arguments put in front of the program, or nothing.
  Instance(const Query &query, Outcome &outcome, llvm::StringRef prelude = {});

  // False if the arguments make no sense; the diagnostics say why.
  bool valid() const { return valid_; }

  // Runs `action` over the program. False if it was rejected.
  bool run(clang::FrontendAction &action);

  clang::CompilerInstance &compiler() { return compiler_; }

 private:
  std::string arguments_;
  bool valid_ = false;
  clang::CompilerInstance compiler_;
};

}  // namespace stampmill
