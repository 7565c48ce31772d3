// Kernels of CUDA in OpenCL C, printed from the syntax tree: templates are instances there, overloads are resolved.
#pragma once

#include <map>
#include <string>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Type.h"

namespace stampmill {

// Where a pointer points. `kNone`: nothing is known yet; `kGeneric`: anywhere, OpenCL C 2.0's unnamed space.
enum class Space { kNone, kPrivate, kGlobal, kConstant, kLocal, kGeneric };

inline Space join(Space a, Space b) {
  if (a == Space::kNone) return b;
  return b == Space::kNone || a == b ? a : Space::kGeneric;
}

std::string word_of(Space space);

// Why a kernel has no form in OpenCL C: the first reason that was met.
struct Refusal {
  std::string word, detail;

  bool is_there() const { return !word.empty(); }

  // What is printed in the place of what cannot be.
  std::string say(llvm::StringRef why, llvm::StringRef what) {
    if (word.empty()) {
      word = why.str();
      detail = what.str();
    }
    return "0";
  }
};

inline constexpr llvm::StringLiteral kNotCLike = "not-c-like";

class TypePrinter {
 public:
  TypePrinter(clang::ASTContext &context, Refusal &refusal) : context_(context), refusal_(refusal) {}

  // A declaration of `name`; `pointee`: where a pointer points, `own`: where the object itself is.
  std::string declare(clang::QualType type, const std::string &name, Space pointee = Space::kGeneric,
                      Space own = Space::kNone);

  // The type alone, as casts have it.
  std::string spell(clang::QualType type, Space pointee = Space::kGeneric) { return declare(type, "", pointee); }

  // The definitions of all records that were spelled, in order.
  const std::string &definitions() const { return definitions_; }

  std::string field(const clang::FieldDecl *field);

 private:
  std::string base(clang::QualType type);
  std::string scalar(const clang::BuiltinType *type);
  std::string record(const clang::RecordDecl *record);

  clang::ASTContext &context_;
  Refusal &refusal_;
  std::map<const clang::RecordDecl *, std::string> records_;
  std::string definitions_;
};

}  // namespace stampmill
