// LLVM's description of the processor that is compiled for, kept: clang asks for a new one for every
// program, and filling its tables costs an eighth of a small kernel's compilation.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace stampmill {

// Has LLVM make machines for NVIDIA's processors by way of this file; once, when its targets are known.
void keep_machines();

// While it lives, clang gets the machine kept under `arguments`, which is made the first time. All that
// a machine depends on follows from the arguments that clang was given.
class KeptMachine {
 public:
  explicit KeptMachine(llvm::StringRef arguments);
  ~KeptMachine();
  KeptMachine(const KeptMachine &) = delete;
  KeptMachine &operator=(const KeptMachine &) = delete;
};

}  // namespace stampmill
