// How types are printed everywhere.
#pragma once

#include <string>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Type.h"

namespace stampmill {

// Without the `__private` that OpenCL gives to every variable of a function.
inline std::string printed(const clang::ASTContext &context, clang::QualType type) {
  if (type.isNull()) return "";
  if (type.getAddressSpace() == clang::LangAS::opencl_private) {
    // As written or inferred, it stands at the outside of the type.
    clang::SplitQualType split = type.split();
    split.Quals.removeAddressSpace();
    type = context.getQualifiedType(split);
  }
  return type.getAsString(clang::PrintingPolicy(context.getLangOpts()));
}

}  // namespace stampmill
