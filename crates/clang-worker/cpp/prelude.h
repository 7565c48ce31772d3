// What stands in front of every program of a language, parsed once and kept: OpenCL C's own declarations, or CUDA's header.
#pragma once

#include "llvm/ADT/StringRef.h"

#include "shim.h"

namespace stampmill {

// A precompiled header of what the query's arguments put in front of a program (predefined macros, and `opencl-c-base.h`
// or one header of the query's), as a file of the in-memory file system; empty where there is none: for other languages,
// where there are several headers, and until the same arguments have come up a few times with the same headers.
llvm::StringRef prelude_of(const Query &query);

}  // namespace stampmill
