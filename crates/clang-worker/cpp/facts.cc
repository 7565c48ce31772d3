#include "facts.h"

#include <algorithm>

#include "clang/AST/Attr.h"
#include "clang/AST/RecursiveASTVisitor.h"

#include "stampmill-clang-worker/src/bridge.rs.h"
#include "types.h"

namespace stampmill {

namespace {

// In the order of `clang::DeclarationKind` on the Rust side.
enum Kind : uint8_t {
  kFunction,
  kKernel,
  kParameter,
  kVariable,
  kField,
  kRecord,
  kEnumeration,
  kEnumerator,
  kTypedef,
  kLabel,
  kNotReported,
};

// In the order of `clang::HazardKind` on the Rust side.
enum HazardKind : uint8_t { kAssembly, kNotDefined, kIndirectCall, kLinker };

// Whether what a name means is decided where the program is linked: the program itself declares it,
// and defines it nowhere. clang's own functions are declared by clang or by its headers.
bool is_left_to_linker(const clang::ValueDecl *decl, const Locations &locations) {
  const clang::Decl *first = decl->getCanonicalDecl();
  if (first->isImplicit() || !locations.inside(first->getLocation())) return false;
  if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(decl))
    return !function->isDefined() && function->getBuiltinID() == 0;
  const auto *variable = llvm::dyn_cast<clang::VarDecl>(decl);
  return variable && variable->hasExternalStorage() && !variable->getDefinition();
}

Kind kind_of(const clang::NamedDecl *decl) {
  if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(decl)) {
    // A library function that clang knows by name keeps it, unless the program brings its own.
    if (function->getBuiltinID() != 0 && !function->isDefined()) return kNotReported;
    return function->hasAttr<clang::OpenCLKernelAttr>() ? kKernel : kFunction;
  }
  if (llvm::isa<clang::ParmVarDecl>(decl)) return kParameter;
  if (llvm::isa<clang::VarDecl>(decl)) return kVariable;
  if (llvm::isa<clang::FieldDecl>(decl)) return kField;
  if (llvm::isa<clang::RecordDecl>(decl)) return kRecord;
  if (llvm::isa<clang::EnumDecl>(decl)) return kEnumeration;
  if (llvm::isa<clang::EnumConstantDecl>(decl)) return kEnumerator;
  if (llvm::isa<clang::TypedefNameDecl>(decl)) return kTypedef;
  return kNotReported;
}

bool at_file_scope(const clang::Decl *decl) {
  const clang::DeclContext *context = decl->getLexicalDeclContext();
  return context->isTranslationUnit() || context->isNamespace() ||
         llvm::isa<clang::LinkageSpecDecl>(context);
}

std::string name_of(const clang::NamedDecl *decl) {
  return decl->getDeclName().isIdentifier() ? decl->getName().str() : decl->getNameAsString();
}

bool is_definition(const clang::NamedDecl *decl) {
  if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(decl))
    return function->isThisDeclarationADefinition();
  if (const auto *tag = llvm::dyn_cast<clang::TagDecl>(decl)) return tag->isThisDeclarationADefinition();
  if (llvm::isa<clang::ParmVarDecl>(decl)) return true;
  if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(decl))
    return variable->isThisDeclarationADefinition() != clang::VarDecl::DeclarationOnly;
  return true;
}

}  // namespace

// Walks everything the source itself declares.
class FactsVisitor : public clang::RecursiveASTVisitor<FactsVisitor> {
 public:
  FactsVisitor(Facts &facts) : facts_(facts), locations_(facts.locations_) {}

  bool shouldWalkTypesOfTypeLocs() const { return false; }

  // What follows is part of this declaration of file scope.
  void enter(const clang::Decl *decl) { current_ = decl; }

  bool VisitAsmStmt(clang::AsmStmt *statement) {
    reach(kAssembly, "line " + std::to_string(line(statement->getAsmLoc())));
    return true;
  }

  bool VisitFileScopeAsmDecl(clang::FileScopeAsmDecl *decl) {
    reach(kAssembly, "at file scope, line " + std::to_string(line(decl->getLocation())));
    return true;
  }

  bool VisitPragmaCommentDecl(clang::PragmaCommentDecl *) {
    reach(kLinker, "#pragma comment");
    return true;
  }

  bool VisitCallExpr(clang::CallExpr *call) {
    if (!opencl() || call->isTypeDependent() || call->getDirectCallee()) return true;
    if (call->getCallee()->getType()->isBlockPointerType()) return true;
    if (!call->getCallee()->containsErrors())
      reach(kIndirectCall, "line " + std::to_string(line(call->getExprLoc())));
    return true;
  }

  bool VisitIndirectGotoStmt(clang::IndirectGotoStmt *jump) {
    if (opencl()) reach(kIndirectCall, "a computed jump, line " + std::to_string(line(jump->getGotoLoc())));
    return true;
  }

  bool VisitNamedDecl(clang::NamedDecl *decl) {
    look_at_attributes(decl);
    Kind kind = kind_of(decl);
    if (kind != kNotReported && !decl->isImplicit()) declare(decl, kind, decl->getLocation());
    return true;
  }

  bool VisitFunctionDecl(clang::FunctionDecl *function) {
    // The list of names in `int f(a, b) int a; float b; {...}` has no nodes of its own.
    auto *info = function->getTypeSourceInfo();
    if (!info || function->hasWrittenPrototype() || function->param_empty()) return true;
    auto type = info->getTypeLoc().getAsAdjusted<clang::FunctionTypeLoc>();
    if (!type) return true;
    uint32_t begin = locations_.begin(type.getLParenLoc());
    uint32_t end = locations_.begin(type.getRParenLoc());
    if (begin == kNone || end == kNone) return true;
    locations_.lex(begin, [&](const clang::Token &token, uint32_t at) {
      if (token.is(clang::tok::raw_identifier))
        for (const clang::ParmVarDecl *parameter : function->parameters())
          if (parameter->getName() == token.getRawIdentifier()) add(parameter, at, token.getLength());
      return at < end;
    });
    return true;
  }

  bool VisitDeclRefExpr(clang::DeclRefExpr *expression) {
    if (opencl() && is_left_to_linker(expression->getDecl(), locations_))
      reach(kNotDefined, name_of(expression->getDecl()));
    use(expression->getDecl(), expression->getLocation());
    return true;
  }

  bool VisitMemberExpr(clang::MemberExpr *expression) {
    use(expression->getMemberDecl(), expression->getMemberLoc());
    return true;
  }

  bool VisitDesignatedInitExpr(clang::DesignatedInitExpr *expression) {
    for (const auto &designator : expression->designators())
      if (designator.isFieldDesignator())
        if (const auto *field = designator.getFieldDecl()) use(field, designator.getFieldLoc());
    return true;
  }

  bool VisitOffsetOfExpr(clang::OffsetOfExpr *expression) {
    for (unsigned i = 0; i < expression->getNumComponents(); ++i) {
      const clang::OffsetOfNode &node = expression->getComponent(i);
      if (node.getKind() == clang::OffsetOfNode::Field) use(node.getField(), node.getEndLoc());
    }
    return true;
  }

  bool VisitLabelStmt(clang::LabelStmt *statement) {
    declare(statement->getDecl(), kLabel, statement->getIdentLoc());
    return true;
  }

  bool VisitGotoStmt(clang::GotoStmt *statement) {
    use(statement->getLabel(), statement->getLabelLoc());
    return true;
  }

  bool VisitAddrLabelExpr(clang::AddrLabelExpr *expression) {
    use(expression->getLabel(), expression->getLabelLoc());
    return true;
  }

  bool VisitTypedefTypeLoc(clang::TypedefTypeLoc type) {
    use(type.getTypedefNameDecl(), type.getNameLoc());
    return true;
  }

  bool VisitRecordTypeLoc(clang::RecordTypeLoc type) {
    use(type.getDecl(), type.getNameLoc());
    return true;
  }

  bool VisitEnumTypeLoc(clang::EnumTypeLoc type) {
    use(type.getDecl(), type.getNameLoc());
    return true;
  }

  bool VisitCleanupAttr(clang::CleanupAttr *attribute) {
    // Only the attribute itself has a place: `cleanup(` function `)`.
    const clang::FunctionDecl *function = attribute->getFunctionDecl();
    uint32_t begin = locations_.begin(attribute->getLocation());
    if (begin == kNone) return true;
    locations_.lex(begin, [&](const clang::Token &token, uint32_t at) {
      bool found = token.is(clang::tok::raw_identifier) && token.getRawIdentifier() == function->getName();
      if (found) add(function, at, token.getLength());
      return !found && token.isNot(clang::tok::r_paren);
    });
    return true;
  }

 private:
  bool opencl() const { return facts_.context_.getLangOpts().OpenCL; }

  unsigned line(clang::SourceLocation place) const {
    return facts_.context_.getSourceManager().getExpansionLineNumber(place);
  }

  void reach(HazardKind kind, std::string detail) {
    if (facts_.reaching_.size() < kMostHazards) facts_.reaching_.push_back({kind, std::move(detail), current_});
  }

  void look_at_attributes(const clang::NamedDecl *decl) {
    for (const clang::Attr *attribute : decl->attrs()) {
      switch (attribute->getKind()) {
        case clang::attr::AsmLabel:
          reach(kAssembly, "a name for the assembler on " + name_of(decl));
          break;
        case clang::attr::Section:
        case clang::attr::PragmaClangBSSSection:
        case clang::attr::PragmaClangDataSection:
        case clang::attr::PragmaClangRelroSection:
        case clang::attr::PragmaClangRodataSection:
        case clang::attr::PragmaClangTextSection:
        case clang::attr::Alias:
        case clang::attr::IFunc:
        case clang::attr::WeakRef:
        case clang::attr::WeakImport:
        case clang::attr::Constructor:
        case clang::attr::Destructor:
        case clang::attr::Naked:
        case clang::attr::DLLImport:
        case clang::attr::DLLExport:
          reach(kLinker, std::string(attribute->getSpelling()) + " on " + name_of(decl));
          break;
        default:
          break;
      }
    }
  }

  void declare(const clang::NamedDecl *decl, Kind kind, clang::SourceLocation name) {
    if (!locations_.inside(decl->getLocation()) || !facts_.index_.try_emplace(decl, 0).second) return;
    Facts::Declared out{decl, kind, locations_.name(name, name_of(decl)), kNone, kNone};
    clang::SourceRange range = decl->getSourceRange();
    if (kind == kLabel) range = clang::SourceRange(name, name);
    out.begin = locations_.begin(range.getBegin());
    out.end = locations_.end(range.getEnd());
    if (out.begin == kNone) out.begin = locations_.begin(decl->getLocation());
    if (out.end == kNone || out.end < out.begin) out.end = locations_.end(decl->getLocation());
    if (at_file_scope(decl) && kind != kParameter && ends_with_semicolon(decl))
      out.end = locations_.after_semicolon(out.end);
    facts_.declared_.push_back(out);
  }

  static bool ends_with_semicolon(const clang::NamedDecl *decl) {
    if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(decl))
      return !function->doesThisDeclarationHaveABody();
    // A record that is part of a larger declaration lies within that one's extent.
    if (const auto *tag = llvm::dyn_cast<clang::TagDecl>(decl)) return tag->isFreeStanding();
    return !llvm::isa<clang::EnumConstantDecl>(decl);
  }

  void use(const clang::NamedDecl *decl, clang::SourceLocation place) {
    if (!decl || !decl->getDeclName().isIdentifier()) return;
    uint32_t at = locations_.name(place, decl->getName());
    if (at != kNone) add(decl, at, decl->getName().size());
  }

  void add(const clang::Decl *decl, uint32_t at, uint32_t length) { facts_.uses_.push_back({at, length, decl}); }

  Facts &facts_;
  const Locations &locations_;
  const clang::Decl *current_ = nullptr;
  // One is enough to know what a program is like.
  static constexpr size_t kMostHazards = 1000;
};

void Facts::collect() {
  FactsVisitor visitor(*this);
  // Those of a precompiled header are not the program's: they are not loaded for this.
  for (clang::Decl *decl : context_.getTranslationUnitDecl()->noload_decls())
    if (locations_.inside(decl->getLocation())) {
      visitor.enter(decl);
      visitor.TraverseDecl(decl);
    }

  std::stable_sort(declared_.begin(), declared_.end(), [](const Declared &a, const Declared &b) {
    auto place = [](const Declared &d) { return d.name_offset != kNone ? d.name_offset : d.begin; };
    return place(a) < place(b);
  });
  add_sampler_uses();
  for (uint32_t i = 0; i < declared_.size(); ++i) {
    index_[declared_[i].declaration] = i;
    first_.try_emplace(declared_[i].declaration->getCanonicalDecl(), i);
  }

  // One reference per place, and none where a declaration names itself.
  llvm::DenseSet<uint32_t> named;
  for (const Declared &d : declared_)
    if (d.name_offset != kNone) named.insert(d.name_offset);
  std::stable_sort(uses_.begin(), uses_.end(), [](const Use &a, const Use &b) { return a.offset < b.offset; });
  uses_.erase(std::remove_if(uses_.begin(), uses_.end(),
                             [&](const Use &use) {
                               return named.contains(use.offset) || canonical_of(use.declaration) == kNone;
                             }),
              uses_.end());
  uses_.erase(std::unique(uses_.begin(), uses_.end(),
                          [](const Use &a, const Use &b) { return a.offset == b.offset; }),
              uses_.end());
}

// clang puts a constant sampler's value where its name was used and keeps no trace of the name:
// its places are found by spelling, among those that no other fact claims.
void Facts::add_sampler_uses() {
  std::vector<const Declared *> samplers;
  for (const Declared &d : declared_) {
    const auto *variable = llvm::dyn_cast<clang::VarDecl>(d.declaration);
    if (d.kind == kVariable && d.name_offset != kNone && variable->getType()->isSamplerT()) samplers.push_back(&d);
  }
  if (samplers.empty()) return;
  llvm::DenseSet<uint32_t> claimed;
  for (const Declared &d : declared_)
    if (d.name_offset != kNone) claimed.insert(d.name_offset);
  for (const Use &use : uses_) claimed.insert(use.offset);
  clang::tok::TokenKind last = clang::tok::unknown;
  locations_.lex(0, [&](const clang::Token &token, uint32_t at) {
    bool member = last == clang::tok::period || last == clang::tok::arrow;
    last = token.getKind();
    if (token.isNot(clang::tok::raw_identifier) || member || claimed.contains(at)) return true;
    // The last one declared before whose function holds this place hides the others.
    const Declared *meant = nullptr;
    for (const Declared *sampler : samplers) {
      if (sampler->declaration->getName() != token.getRawIdentifier() || sampler->name_offset > at) continue;
      const auto *function = llvm::dyn_cast<clang::FunctionDecl>(sampler->declaration->getLexicalDeclContext());
      if (!function || at < locations_.end(function->getEndLoc())) meant = sampler;
    }
    if (meant) uses_.push_back({at, token.getLength(), meant->declaration});
    return true;
  });
}

uint32_t Facts::index_of(const clang::Decl *declaration) const {
  auto found = index_.find(declaration);
  return found == index_.end() ? kNone : found->second;
}

uint32_t Facts::canonical_of(const clang::Decl *declaration) const {
  if (!declaration) return kNone;
  auto found = first_.find(declaration->getCanonicalDecl());
  return found == first_.end() ? kNone : found->second;
}

void Facts::write(Outcome &outcome) const {
  outcome.has_facts = true;
  write_declarations(outcome);
  write_references(outcome);
  write_hazards(outcome);
  // Layouts of a program with errors mean nothing.
  if (context_.getDiagnostics().hasErrorOccurred()) return;
  std::vector<const clang::FunctionDecl *> kernels;
  for (const Declared &d : declared_) {
    const auto *function = llvm::dyn_cast<clang::FunctionDecl>(d.declaration);
    if (!function || !function->doesThisDeclarationHaveABody()) continue;
    const bool callable = !context_.getLangOpts().OpenCL && function->getDeclContext()->getRedeclContext()->isTranslationUnit() &&
                          !function->isDependentContext() && !function->isVariadic() && function->isExternallyVisible();
    if (d.kind == kKernel || callable) kernels.push_back(function);
  }
  write_kernels(context_, *this, kernels, outcome);
}

void Facts::write_declarations(Outcome &outcome) const {
  for (const Declared &d : declared_) {
    Declaration out;
    out.kind = d.kind;
    out.name = to_rust(name_of(d.declaration));
    out.name_offset = d.name_offset;
    out.begin = d.begin;
    out.end = d.end;
    out.canonical = canonical_of(d.declaration);
    out.parent = kNone;
    for (const auto *context = d.declaration->getLexicalDeclContext(); context && out.parent == kNone;
         context = context->getLexicalParent())
      out.parent = index_of(clang::Decl::castFromDeclContext(context));
    if (const auto *value = llvm::dyn_cast<clang::ValueDecl>(d.declaration); value && d.kind != kLabel)
      out.type_name = to_rust(printed(context_, value->getType()));
    else if (const auto *alias = llvm::dyn_cast<clang::TypedefNameDecl>(d.declaration))
      out.type_name = to_rust(printed(context_, alias->getUnderlyingType()));
    out.definition = is_definition(d.declaration);
    outcome.declarations.push_back(std::move(out));
  }
}

void Facts::write_references(Outcome &outcome) const {
  for (const Use &use : uses_) outcome.references.push_back({use.offset, use.length, canonical_of(use.declaration)});
}

void Facts::write_hazards(Outcome &outcome) const {
  for (const Reaching &one : reaching_) {
    Hazard out;
    out.kind = one.kind;
    out.detail = to_rust(one.detail);
    out.declaration = index_of(one.declaration);
    outcome.hazards.push_back(std::move(out));
  }
}

}  // namespace stampmill
