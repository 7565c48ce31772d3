#include "host_files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

namespace stampmill {
namespace {

std::error_code missing() { return std::make_error_code(std::errc::no_such_file_or_directory); }

}  // namespace

HostFiles::HostFiles(std::vector<std::string> folders)
    : ProxyFileSystem(llvm::vfs::createPhysicalFileSystem().release()), folders_(std::move(folders)) {}

bool HostFiles::contains(llvm::StringRef path) const {
  return llvm::any_of(folders_, [&](llvm::StringRef folder) {
    return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
  });
}

bool HostFiles::shows(const llvm::Twine &path) {
  llvm::SmallString<256> plain, real;
  path.toVector(plain);
  if (!llvm::sys::path::is_absolute(plain)) return false;
  llvm::sys::path::remove_dots(plain, /*remove_dot_dot=*/true);
  return contains(plain) && !getUnderlyingFS().getRealPath(plain, real) && contains(real);
}

llvm::ErrorOr<llvm::vfs::Status> HostFiles::status(const llvm::Twine &path) {
  if (!shows(path)) return missing();
  return ProxyFileSystem::status(path);
}

bool HostFiles::exists(const llvm::Twine &path) { return shows(path) && ProxyFileSystem::exists(path); }

llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> HostFiles::openFileForRead(const llvm::Twine &path) {
  if (!shows(path)) return missing();
  return ProxyFileSystem::openFileForRead(path);
}

llvm::vfs::directory_iterator HostFiles::dir_begin(const llvm::Twine &folder, std::error_code &error) {
  if (shows(folder)) return ProxyFileSystem::dir_begin(folder, error);
  error = missing();
  return {};
}

std::error_code HostFiles::getRealPath(const llvm::Twine &path, llvm::SmallVectorImpl<char> &out) {
  return shows(path) ? ProxyFileSystem::getRealPath(path, out) : missing();
}

}  // namespace stampmill
