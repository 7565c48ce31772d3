// Frames of functions that are translated: names of variables, where pointers point, numbers that are known.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "clang/AST/Attr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"

#include "source.h"
#include "translate.h"

namespace stampmill {

// What is given to the variables of a function.
class Assignments : public clang::RecursiveASTVisitor<Assignments> {
 public:
  std::map<const clang::VarDecl *, std::vector<const clang::Expr *>> given;

  bool VisitVarDecl(clang::VarDecl *variable) {
    if (!llvm::isa<clang::ParmVarDecl>(variable) && variable->getInit()) given[variable].push_back(variable->getInit());
    return true;
  }

  bool VisitBinaryOperator(clang::BinaryOperator *assignment) {
    const auto *target = llvm::dyn_cast<clang::DeclRefExpr>(assignment->getLHS()->IgnoreParens());
    if (assignment->getOpcode() != clang::BO_Assign || !target) return true;
    if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(target->getDecl())) given[variable].push_back(assignment->getRHS());
    return true;
  }
};

// One function as it is called with pointers to certain places.
struct Frame {
  const clang::FunctionDecl *function;
  std::map<const clang::VarDecl *, Space> spaces;
  std::map<const clang::VarDecl *, std::string> names;
  // Of a function of the header that is put in the place of its call: the arguments as printed.
  std::map<const clang::VarDecl *, std::string> arguments;
  std::set<std::string> taken;
  Assignments assignments;
  std::set<const clang::VarDecl *> open;
  Space self = Space::kGeneric;
  bool is_kernel = false;
  // Variables that the work-group shares, which OpenCL C wants in front.
  std::string shared;
};

class Places {
 protected:
  explicit Places(clang::ASTContext &context) : context_(context) {}

  bool of_header(const clang::Decl *decl) const {
    const clang::SourceManager &sources = context_.getSourceManager();
    return sources.getFileID(sources.getExpansionLoc(decl->getLocation())) != sources.getMainFileID();
  }

  // Its own name, which the functions of OpenCL do not have.
  std::string name_of(Frame &frame, const clang::VarDecl *variable) {
    auto [place, is_new] = frame.names.try_emplace(variable, "");
    if (!is_new) return place->second;
    std::string name = variable->getNameAsString() + "_";
    if (name == "_") name = "unnamed_";
    for (unsigned count = 1; !frame.taken.insert(name).second; ++count)
      name = variable->getNameAsString() + "_" + std::to_string(count) + "_";
    return frame.names[variable] = name;
  }

  // Whether what stands for a reference is the value itself.
  bool by_value(const clang::VarDecl *variable) {
    clang::QualType type = variable->getType();
    if (!type->isReferenceType()) return true;
    clang::QualType target = type->getPointeeType();
    if (!target.isConstQualified() && !type->isRValueReferenceType()) return false;
    if (target->isScalarType() || target->isExtVectorType()) return llvm::isa<clang::ParmVarDecl>(variable) || is_temporary(variable);
    return false;
  }

  static bool is_temporary(const clang::VarDecl *variable) {
    const clang::Expr *init = variable->getInit();
    if (!init) return false;
    if (const auto *cleanups = llvm::dyn_cast<clang::ExprWithCleanups>(init)) init = cleanups->getSubExpr();
    return llvm::isa<clang::MaterializeTemporaryExpr>(init->IgnoreParenImpCasts());
  }

  clang::QualType held(const clang::VarDecl *variable) {
    clang::QualType type = variable->getType();
    return type->isReferenceType() && by_value(variable) ? type->getPointeeType().getUnqualifiedType() : type;
  }

  Space space_of(Frame &frame, const clang::VarDecl *variable) {
    auto known = frame.spaces.find(variable);
    Space space = known == frame.spaces.end() ? Space::kNone : known->second;
    if (frame.is_kernel && llvm::isa<clang::ParmVarDecl>(variable)) return space;
    if (!frame.open.insert(variable).second) return Space::kNone;
    for (const clang::Expr *given : frame.assignments.given[variable])
      space = join(space, variable->getType()->isReferenceType() ? place_of(given) : target_of(given));
    frame.open.erase(variable);
    return space == Space::kNone ? Space::kGeneric : space;
  }

  // Where the pointer points that an expression is.
  Space target_of(const clang::Expr *expr) {
    expr = expr->IgnoreParens();
    if (const auto *cast = llvm::dyn_cast<clang::CastExpr>(expr)) {
      if (cast->getCastKind() == clang::CK_ArrayToPointerDecay) return place_of(cast->getSubExpr());
      if (cast->getCastKind() == clang::CK_NullToPointer) return Space::kNone;
      if (cast->getCastKind() == clang::CK_IntegralToPointer) return Space::kGeneric;
      if (cast->getCastKind() == clang::CK_LValueToRValue) {
        const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(cast->getSubExpr()->IgnoreParens());
        const auto *variable = name ? llvm::dyn_cast<clang::VarDecl>(name->getDecl()) : nullptr;
        if (!variable || !frame_ || variable->hasGlobalStorage()) return Space::kGeneric;
        if (variable->getType()->isReferenceType() && !by_value(variable)) return Space::kGeneric;
        return space_of(*frame_, variable);
      }
      return target_of(cast->getSubExpr());
    }
    if (const auto *one = llvm::dyn_cast<clang::UnaryOperator>(expr)) {
      if (one->getOpcode() == clang::UO_AddrOf) return place_of(one->getSubExpr());
      if (one->isIncrementDecrementOp()) return target_of_place(one->getSubExpr());
    }
    if (const auto *two = llvm::dyn_cast<clang::BinaryOperator>(expr)) {
      if (two->isCompoundAssignmentOp()) return target_of_place(two->getLHS());
      if (two->getOpcode() == clang::BO_Comma || two->getOpcode() == clang::BO_Assign) return target_of(two->getRHS());
      return target_of(two->getLHS()->getType()->isPointerType() ? two->getLHS() : two->getRHS());
    }
    if (const auto *either = llvm::dyn_cast<clang::ConditionalOperator>(expr))
      return join(target_of(either->getTrueExpr()), target_of(either->getFalseExpr()));
    if (llvm::isa<clang::CXXThisExpr>(expr) && frame_) return frame_->self;
    if (const auto *replaced = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(expr))
      return target_of(replaced->getReplacement());
    if (const auto *cleanups = llvm::dyn_cast<clang::ExprWithCleanups>(expr)) return target_of(cleanups->getSubExpr());
    if (llvm::isa<clang::CXXNullPtrLiteralExpr>(expr) || llvm::isa<clang::GNUNullExpr>(expr)) return Space::kNone;
    return Space::kGeneric;
  }

  Space target_of_place(const clang::Expr *expr) {
    const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(expr->IgnoreParens());
    const auto *variable = name ? llvm::dyn_cast<clang::VarDecl>(name->getDecl()) : nullptr;
    return variable && frame_ && !variable->hasGlobalStorage() ? space_of(*frame_, variable) : Space::kGeneric;
  }

  // Where the object is that an expression names.
  Space place_of(const clang::Expr *expr) {
    expr = expr->IgnoreParens();
    if (const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(expr)) {
      const auto *variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl());
      if (!variable) return Space::kGeneric;
      if (variable->hasAttr<clang::CUDASharedAttr>()) return Space::kLocal;
      if (variable->hasGlobalStorage()) return is_constant(variable) ? Space::kConstant : Space::kGlobal;
      if (variable->getType()->isReferenceType() && !by_value(variable))
        return frame_ ? space_of(*frame_, variable) : Space::kGeneric;
      return Space::kPrivate;
    }
    if (const auto *member = llvm::dyn_cast<clang::MemberExpr>(expr))
      return member->isArrow() ? target_of(member->getBase()) : place_of(member->getBase());
    if (const auto *element = llvm::dyn_cast<clang::ArraySubscriptExpr>(expr)) return target_of(element->getBase());
    if (const auto *element = llvm::dyn_cast<clang::ExtVectorElementExpr>(expr))
      return element->isArrow() ? target_of(element->getBase()) : place_of(element->getBase());
    if (const auto *one = llvm::dyn_cast<clang::UnaryOperator>(expr)) {
      if (one->getOpcode() == clang::UO_Deref) return target_of(one->getSubExpr());
      return place_of(one->getSubExpr());
    }
    if (const auto *cast = llvm::dyn_cast<clang::CastExpr>(expr)) return place_of(cast->getSubExpr());
    if (const auto *two = llvm::dyn_cast<clang::BinaryOperator>(expr)) return place_of(two->getLHS());
    if (llvm::isa<clang::MaterializeTemporaryExpr>(expr)) return Space::kPrivate;
    return Space::kGeneric;
  }

  // Whether the host cannot change it: program scope of OpenCL C holds such variables alone.
  bool is_constant(const clang::VarDecl *variable) {
    clang::QualType element = context_.getBaseElementType(variable->getType());
    return element.isConstQualified() && variable->getAnyInitializer() != nullptr;
  }

  // A number that is known: of a constant that has no place.
  std::string known_number(const clang::Expr *expr) {
    clang::Expr::EvalResult result;
    if (expr->isValueDependent() || !expr->EvaluateAsRValue(result, context_) || result.HasSideEffects) return "";
    return number(result.Val, expr->getType());
  }

  std::string number(const clang::APValue &value, clang::QualType type) {
    if (value.isInt()) {
      llvm::SmallString<24> digits;
      value.getInt().toString(digits, 10);
      std::string text(digits);
      bool negative = text[0] == '-';
      if (type->isUnsignedIntegerType() && !type->isBooleanType()) text += "u";
      if (context_.getTypeSize(type) == 64) text += "l";
      if (negative && value.getInt().isMinSignedValue())
        return value.getInt().getBitWidth() == 64 ? "(-9223372036854775807l - 1)" : "(-2147483647 - 1)";
      return negative ? "(" + text + ")" : text;
    }
    if (value.isFloat()) return number(value.getFloat(), type);
    return "";
  }

  std::string number(const llvm::APFloat &value, clang::QualType type) {
    bool is_float = type->isSpecificBuiltinType(clang::BuiltinType::Float);
    if (value.isInfinity()) return std::string(value.isNegative() ? "(-" : "(") + (is_float ? "INFINITY)" : "(double)INFINITY)");
    if (value.isNaN()) return is_float ? "NAN" : "((double)NAN)";
    llvm::SmallString<32> digits;
    value.toString(digits, 0, 8);
    std::string text(digits);
    if (text.find_first_of(".eE") == std::string::npos) text += ".0";
    if (is_float) text += "f";
    return value.isNegative() ? "(" + text + ")" : text;
  }

  clang::ASTContext &context_;
  Frame *frame_ = nullptr;
};

}  // namespace stampmill
