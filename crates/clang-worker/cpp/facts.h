// Declarations, references and kernels of a program.
#pragma once

#include <string>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "llvm/ADT/DenseMap.h"

#include "source.h"

namespace stampmill {

struct Outcome;

class Facts {
 public:
  Facts(clang::ASTContext &context, const Locations &locations) : context_(context), locations_(locations) {}

  // Visits the whole program.
  void collect();

  // Hands everything found over.
  void write(Outcome &outcome) const;

  // Index of the declaration itself, `kNone` if the source does not declare it.
  uint32_t index_of(const clang::Decl *declaration) const;

  // Index of the first declaration of the same entity, `kNone` if the source does not declare it.
  uint32_t canonical_of(const clang::Decl *declaration) const;

 private:
  friend class FactsVisitor;

  struct Declared {
    const clang::NamedDecl *declaration;
    uint8_t kind;
    uint32_t name_offset;
    uint32_t begin;
    uint32_t end;
  };

  struct Reaching {
    uint8_t kind;
    std::string detail;
    const clang::Decl *declaration;
  };

  struct Use {
    uint32_t offset;
    uint32_t length;
    const clang::Decl *declaration;
  };

  void add_sampler_uses();
  void write_declarations(Outcome &outcome) const;
  void write_references(Outcome &outcome) const;
  void write_hazards(Outcome &outcome) const;

  clang::ASTContext &context_;
  const Locations &locations_;
  std::vector<Declared> declared_;
  std::vector<Use> uses_;
  std::vector<Reaching> reaching_;
  llvm::DenseMap<const clang::Decl *, uint32_t> index_;
  llvm::DenseMap<const clang::Decl *, uint32_t> first_;
};

// Fills the outcome's kernels, their arguments and types.
void write_kernels(clang::ASTContext &context, const Facts &facts,
                   const std::vector<const clang::FunctionDecl *> &kernels, Outcome &outcome);

}  // namespace stampmill
