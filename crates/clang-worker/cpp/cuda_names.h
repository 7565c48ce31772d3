// Modules of CUDA: their kernels, and the names of OpenCL's functions in them.
#pragma once

#include "llvm/IR/Module.h"

namespace stampmill {

// Whether a function is a kernel, of OpenCL or of CUDA.
bool is_kernel(const llvm::Function &function);

// The kernel of this name: of CUDA the last whose mangled name holds it.
llvm::Function *find_kernel(llvm::Module &module, llvm::StringRef name);

// Calls OpenCL's functions what OpenCL calls them: `__cl_NAME` is `NAME`. What the header says of them is gone.
void use_plain_names(llvm::Module &module);

// Gives a declared function another name, or merges it with the one of that name.
void rename_declared(llvm::Function &function, llvm::StringRef name);

}  // namespace stampmill
