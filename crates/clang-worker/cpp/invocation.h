// What clang reads from a list of arguments, kept: the same list comes with many programs.
#pragma once

#include <memory>
#include <string>

#include "clang/Basic/Diagnostic.h"
#include "clang/Frontend/CompilerInvocation.h"

#include "shim.h"

namespace stampmill {

// Equal for two queries if and only if they compile a file of the same name with the same arguments.
std::string arguments_key(const Query &query);

// The settings that `query`'s arguments stand for, the caller's to change; null if they make no sense.
// `key` is the query's, what clang says of the arguments goes to `engine`.
std::shared_ptr<clang::CompilerInvocation> invocation_of(const Query &query, llvm::StringRef key,
                                                         clang::DiagnosticsEngine &engine);

}  // namespace stampmill
