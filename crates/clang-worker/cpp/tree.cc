#include "tree.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Stmt.h"
#include "clang/AST/TypeLoc.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

#include "stampmill-clang-worker/src/bridge.rs.h"
#include "types.h"

namespace stampmill {
namespace {

class TreeWriter {
 public:
  TreeWriter(clang::ASTContext &context, const Locations &locations, const Facts &facts, Outcome &outcome)
      : context_(context), locations_(locations), facts_(facts), outcome_(outcome) {
    intern("");
  }

  void write(const clang::Decl *decl) {
    if (decl->isImplicit()) return;
    uint32_t self = open((llvm::Twine(decl->getDeclKindName()) + "Decl").str());
    set_range(self, decl->getSourceRange());
    if (const auto *named = llvm::dyn_cast<clang::NamedDecl>(decl)) {
      outcome_.nodes[self].text = intern(named->getNameAsString());
      outcome_.nodes[self].declaration = facts_.index_of(named);
    }
    if (const auto *value = llvm::dyn_cast<clang::ValueDecl>(decl))
      outcome_.nodes[self].type_name = intern(value->getType());
    else if (const auto *alias = llvm::dyn_cast<clang::TypedefNameDecl>(decl))
      outcome_.nodes[self].type_name = intern(alias->getUnderlyingType());
    write_children(decl);
    close(self);
  }

 private:
  void write_children(const clang::Decl *decl) {
    if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(decl)) {
      for (const clang::ParmVarDecl *parameter : function->parameters()) write(parameter);
      if (function->doesThisDeclarationHaveABody()) write(function->getBody());
    } else if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(decl)) {
      if (variable->hasInit() && !llvm::isa<clang::ParmVarDecl>(variable)) write(variable->getInit());
    } else if (const auto *field = llvm::dyn_cast<clang::FieldDecl>(decl)) {
      if (field->isBitField()) write(field->getBitWidth());
      if (field->hasInClassInitializer() && field->getInClassInitializer()) write(field->getInClassInitializer());
    } else if (const auto *enumerator = llvm::dyn_cast<clang::EnumConstantDecl>(decl)) {
      if (enumerator->getInitExpr()) write(enumerator->getInitExpr());
    } else if (const auto *pattern = llvm::dyn_cast<clang::TemplateDecl>(decl)) {
      if (pattern->getTemplatedDecl()) write(pattern->getTemplatedDecl());
    } else if (const auto *scope = llvm::dyn_cast<clang::DeclContext>(decl)) {
      for (const clang::Decl *member : scope->decls()) write(member);
    }
    if (const auto *declarator = llvm::dyn_cast<clang::DeclaratorDecl>(decl))
      if (!llvm::isa<clang::FunctionDecl>(decl)) write_lengths(declarator->getTypeSourceInfo());
  }

  // The lengths of arrays in a type as written are expressions too; they follow the other children.
  void write_lengths(const clang::TypeSourceInfo *written) {
    if (!written) return;
    for (clang::TypeLoc at = written->getTypeLoc(); at; at = at.getNextTypeLoc()) {
      auto array = at.getAs<clang::ArrayTypeLoc>();
      if (!array || !array.getSizeExpr()) continue;
      uint32_t self = open("ArrayLength");
      write(array.getSizeExpr());
      close(self);
    }
  }

  void write(const clang::Stmt *statement) {
    if (!statement) {
      // An absent part, as in `for (;;)`: without a node its siblings could not be told apart.
      close(open("Null"));
      return;
    }
    uint32_t self = open(statement->getStmtClassName());
    set_range(self, statement->getSourceRange());
    if (const auto *expression = llvm::dyn_cast<clang::Expr>(statement))
      outcome_.nodes[self].type_name = intern(expression->getType());
    describe(statement, self);
    if (const auto *declarations = llvm::dyn_cast<clang::DeclStmt>(statement)) {
      for (const clang::Decl *decl : declarations->decls()) write(decl);
    } else {
      for (const clang::Stmt *child : statement->children()) write(child);
    }
    if (const auto *cast = llvm::dyn_cast<clang::ExplicitCastExpr>(statement))
      write_lengths(cast->getTypeInfoAsWritten());
    else if (const auto *literal = llvm::dyn_cast<clang::CompoundLiteralExpr>(statement))
      write_lengths(literal->getTypeSourceInfo());
    else if (const auto *trait = llvm::dyn_cast<clang::UnaryExprOrTypeTraitExpr>(statement))
      if (trait->isArgumentType()) write_lengths(trait->getArgumentTypeInfo());
    close(self);
  }

  // Sets the text of a node, and what it refers to.
  void describe(const clang::Stmt *statement, uint32_t self) {
    Node &node = outcome_.nodes[self];
    auto refer = [&](const clang::NamedDecl *decl) {
      node.text = intern(decl->getNameAsString());
      node.declaration = facts_.canonical_of(decl);
    };
    if (const auto *e = llvm::dyn_cast<clang::BinaryOperator>(statement)) {
      node.text = intern(e->getOpcodeStr());
    } else if (const auto *e = llvm::dyn_cast<clang::UnaryOperator>(statement)) {
      llvm::StringRef spelling = clang::UnaryOperator::getOpcodeStr(e->getOpcode());
      node.text = intern(e->isPostfix() ? ("post" + spelling).str() : spelling.str());
    } else if (const auto *e = llvm::dyn_cast<clang::CastExpr>(statement)) {
      node.text = intern(e->getCastKindName());
    } else if (const auto *e = llvm::dyn_cast<clang::DeclRefExpr>(statement)) {
      refer(e->getDecl());
    } else if (const auto *e = llvm::dyn_cast<clang::MemberExpr>(statement)) {
      refer(e->getMemberDecl());
    } else if (const auto *e = llvm::dyn_cast<clang::ExtVectorElementExpr>(statement)) {
      node.text = intern(e->getAccessor().getName());
    } else if (const auto *e = llvm::dyn_cast<clang::IntegerLiteral>(statement)) {
      llvm::SmallString<40> digits;
      e->getValue().toString(digits, 10, e->getType()->isSignedIntegerType());
      node.text = intern(digits);
    } else if (const auto *e = llvm::dyn_cast<clang::FloatingLiteral>(statement)) {
      llvm::SmallString<40> digits;
      e->getValue().toString(digits);
      node.text = intern(digits);
    } else if (const auto *e = llvm::dyn_cast<clang::CharacterLiteral>(statement)) {
      node.text = intern(std::to_string(e->getValue()));
    } else if (const auto *e = llvm::dyn_cast<clang::StringLiteral>(statement)) {
      node.text = intern(e->getBytes());
    } else if (const auto *e = llvm::dyn_cast<clang::UnaryExprOrTypeTraitExpr>(statement)) {
      node.text = intern(clang::getTraitSpelling(e->getKind()));
    } else if (const auto *e = llvm::dyn_cast<clang::LabelStmt>(statement)) {
      refer(e->getDecl());
    } else if (const auto *e = llvm::dyn_cast<clang::GotoStmt>(statement)) {
      refer(e->getLabel());
    }
  }

  uint32_t open(llvm::StringRef kind) {
    uint32_t self = outcome_.nodes.size();
    outcome_.nodes.push_back({intern(kind), 0, 0, kNone, kNone, kNone, 1});
    return self;
  }

  void close(uint32_t self) { outcome_.nodes[self].size = outcome_.nodes.size() - self; }

  void set_range(uint32_t self, clang::SourceRange range) {
    uint32_t begin = locations_.begin(range.getBegin()), end = locations_.end(range.getEnd());
    if (begin == kNone || end == kNone || end < begin) return;
    outcome_.nodes[self].begin = begin;
    outcome_.nodes[self].end = end;
  }

  uint32_t intern(llvm::StringRef text) {
    auto [entry, added] = strings_.try_emplace(text, strings_.size());
    if (added) outcome_.strings.push_back(to_rust(text));
    return entry->second;
  }

  // Printing a type is slow, and a program has few.
  uint32_t intern(clang::QualType type) {
    auto [entry, added] = types_.try_emplace(type.getAsOpaquePtr(), 0);
    if (added) {
      uint32_t index = intern(printed(context_, type));
      types_[type.getAsOpaquePtr()] = index;
      return index;
    }
    return entry->second;
  }

  clang::ASTContext &context_;
  const Locations &locations_;
  const Facts &facts_;
  Outcome &outcome_;
  llvm::StringMap<uint32_t> strings_;
  llvm::DenseMap<void *, uint32_t> types_;
};

}  // namespace

void write_tree(clang::ASTContext &context, const Locations &locations, const Facts &facts, Outcome &outcome) {
  outcome.has_tree = true;
  TreeWriter writer(context, locations, facts, outcome);
  for (const clang::Decl *decl : context.getTranslationUnitDecl()->noload_decls())
    if (locations.inside(decl->getLocation())) writer.write(decl);
}

}  // namespace stampmill
