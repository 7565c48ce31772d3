// What a kernel does with its arguments: a small data-flow over the syntax tree.
#pragma once

#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"

namespace stampmill {

struct Access {
  // A value read through the argument is used as an index or in address arithmetic.
  bool indexes = false;
  bool read = false;
  bool written = false;
};

struct Flow {
  // One per parameter of the kernel.
  std::vector<Access> arguments;
  // 1 + the highest dimension of the index space that is asked for; 3 if that is not a literal.
  uint8_t dimensions = 1;
};

// Follows values through variables, memory and calls of functions with a body. It is insensitive
// to the order of statements and to which element or member of an object is meant, so it may claim
// too much; it claims too little only where pointers go through integers.
Flow analyse(clang::ASTContext &context, const clang::FunctionDecl *kernel);

}  // namespace stampmill
