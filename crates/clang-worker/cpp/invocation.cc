#include "invocation.h"

#include <vector>

#include "llvm/ADT/StringMap.h"

#include "stampmill-clang-worker/src/bridge.rs.h"

namespace stampmill {
namespace {

// Of this many lists of arguments at most; some kilobytes each.
constexpr size_t kKept = 64;

using Invocation = std::shared_ptr<clang::CompilerInvocation>;

llvm::StringMap<Invocation> &kept() {
  static auto *invocations = new llvm::StringMap<Invocation>();
  return *invocations;
}

}  // namespace

std::string arguments_key(const Query &query) {
  std::string key(query.path.data(), query.path.size());
  for (const rust::String &argument : query.arguments) {
    key += '\n';
    key += std::to_string(argument.size());
    key += ' ';
    key.append(argument.data(), argument.size());
  }
  return key;
}

Invocation invocation_of(const Query &query, llvm::StringRef key, clang::DiagnosticsEngine &engine) {
  auto found = kept().find(key);
  if (found != kept().end()) return std::make_shared<clang::CompilerInvocation>(*found->second);

  std::vector<std::string> storage;
  storage.reserve(query.arguments.size() + 1);
  for (const rust::String &argument : query.arguments) storage.emplace_back(argument);
  storage.emplace_back(query.path);
  std::vector<const char *> arguments;
  for (const std::string &argument : storage) arguments.push_back(argument.c_str());

  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, arguments, engine)) return nullptr;
  // What clang said of the arguments it is to say again.
  if (engine.getClient()->getNumErrors() + engine.getClient()->getNumWarnings() == 0) {
    // Programs may come with arguments of their own, one after another.
    if (kept().size() == kKept) kept().clear();
    kept()[key] = std::make_shared<clang::CompilerInvocation>(*invocation);
  }
  return invocation;
}

}  // namespace stampmill
