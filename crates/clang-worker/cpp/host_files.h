// The host's headers, for C and C++ programs: read-only, and nothing else of the machine.
#pragma once

#include <string>
#include <vector>

#include "llvm/Support/VirtualFileSystem.h"

namespace stampmill {

// Shows the real file system below the given absolute folders. A link that leads out of them leads
// nowhere.
class HostFiles : public llvm::vfs::ProxyFileSystem {
 public:
  explicit HostFiles(std::vector<std::string> folders);

  // Whether `path` may be shown.
  bool contains(llvm::StringRef path) const;

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine &path) override;
  bool exists(const llvm::Twine &path) override;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine &path) override;
  llvm::vfs::directory_iterator dir_begin(const llvm::Twine &folder, std::error_code &error) override;
  std::error_code getRealPath(const llvm::Twine &path, llvm::SmallVectorImpl<char> &out) override;
  // It has no working directory: it answers to absolute paths alone.
  std::error_code setCurrentWorkingDirectory(const llvm::Twine &) override { return {}; }

 private:
  bool shows(const llvm::Twine &path);

  std::vector<std::string> folders_;
};

}  // namespace stampmill
