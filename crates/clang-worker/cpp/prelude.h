// OpenCL C's own declarations, parsed once and kept: every program begins with them.
#pragma once

#include "llvm/ADT/StringRef.h"

#include "shim.h"

namespace stampmill {

// A precompiled header of what clang puts in front of an OpenCL program compiled with the query's
// arguments (its predefined macros and `opencl-c-base.h`), as a file of the in-memory file system;
// empty where there is none: for other languages, where the arguments include headers of their own,
// and until the same arguments have come up a few times.
llvm::StringRef prelude_of(const Query &query);

}  // namespace stampmill
