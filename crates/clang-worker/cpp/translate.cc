#include "translate_places.h"

#include <set>
#include <vector>

#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Mangle.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Lex/Lexer.h"

#include "stampmill-clang-worker/src/bridge.rs.h"
#include "diagnostics.h"
#include "instance.h"
#include "prelude.h"
#include "source.h"
#include "tasks.h"
#include "types.h"

namespace stampmill {
namespace {

using clang::Expr;
using clang::FunctionDecl;
using clang::QualType;
using clang::Stmt;
using clang::VarDecl;
using llvm::cast;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa;
using llvm::isa_and_nonnull;

constexpr llvm::StringLiteral kPrefix = "__cl_";
// Calls inside calls.
constexpr unsigned kDepth = 64;

class Translator : Places {
 public:
  Translator(clang::ASTContext &context, Outcome &outcome)
      : Places(context), outcome_(outcome), types_(context, refusal_), mangler_(context) {}

  void run(const FunctionDecl *kernel) {
    std::string name = kernel->getNameAsString() + "_";
    Frame frame;
    frame.function = kernel;
    frame.is_kernel = true;
    for (const clang::ParmVarDecl *parameter : kernel->parameters()) frame.spaces[parameter] = Space::kGlobal;
    std::string parameters = parameters_of(frame);
    std::string body = body_of(frame);
    for (const std::string &moved : moved_parameters_) {
      if (!parameters.empty()) parameters += ", ";
      parameters += moved;
    }
    if (parameters.empty()) parameters = "void";
    if (refusal_.is_there()) return report_error(outcome_, refusal_.word, refusal_.detail, "");
    outcome_.has_text = true;
    outcome_.text = to_rust(types_.definitions() + constants_ + functions_ + "kernel void " + name + "(" + parameters +
                            ") " + body + "\n");
    for (const std::string &one : moved_) outcome_.moved.push_back(to_rust(one));
  }

 private:
  std::string refuse(llvm::StringRef what) { return refusal_.say(kNotCLike, what); }

  // --- functions

  std::string parameters_of(Frame &frame) {
    std::string all;
    const auto *method = dyn_cast<clang::CXXMethodDecl>(frame.function);
    if (method && method->isInstance())
      all = types_.declare(context_.getPointerType(method->getFunctionObjectParameterType()), "self_", frame.self);
    for (const clang::ParmVarDecl *parameter : frame.function->parameters()) {
      if (!all.empty()) all += ", ";
      all += types_.declare(held(parameter), name_of(frame, parameter), space_of(frame, parameter));
    }
    return all;
  }

  std::string body_of(Frame &frame) {
    const FunctionDecl *definition = nullptr;
    const Stmt *body = frame.function->getBody(definition);
    if (!body || definition->isInvalidDecl()) return refuse("a function without a body");
    if (const auto *constructor = dyn_cast<clang::CXXConstructorDecl>(definition))
      return refuse("the constructor of " + constructor->getParent()->getNameAsString());
    frame.assignments.TraverseStmt(const_cast<Stmt *>(body));
    Frame *outer = std::exchange(frame_, &frame);
    std::string text = statement(body);
    frame_ = outer;
    return "{\n" + frame.shared + text + "}\n";
  }

  // The name of a function for calls with pointers to certain places, printed where it is not yet.
  std::string instance(const FunctionDecl *function, const std::vector<Space> &spaces, Space self) {
    const FunctionDecl *definition = nullptr;
    if (!function->getBody(definition)) {
      for (const auto *note : function->specific_attrs<clang::AnnotateAttr>())
        return refusal_.say(note->getAnnotation(), function->getNameAsString());
      if (const FunctionDecl *pattern = function->getTemplateInstantiationPattern())
        for (const auto *note : pattern->specific_attrs<clang::AnnotateAttr>())
          return refusal_.say(note->getAnnotation(), function->getNameAsString());
      return refuse("a call of " + function->getNameAsString() + ", which has no body here");
    }
    std::string key = std::to_string(reinterpret_cast<uintptr_t>(definition)) + ":" + std::to_string(int(self));
    for (Space space : spaces) key += "," + std::to_string(int(space));
    auto [place, is_new] = instances_.try_emplace(key, "");
    if (!is_new) return place->second.empty() ? refuse("recursion") : place->second;
    if (depth_ == kDepth) return refuse("calls that are too deep");
    ++depth_;
    Frame frame;
    frame.function = definition;
    frame.self = self;
    for (unsigned at = 0; at < definition->getNumParams(); ++at)
      frame.spaces[definition->getParamDecl(at)] = at < spaces.size() ? spaces[at] : Space::kGeneric;
    std::string name = (definition->getIdentifier() ? definition->getName().str() : std::string("operator")) + "_" +
                       std::to_string(instances_.size()) + "_";
    std::string parameters = parameters_of(frame);
    std::string body = body_of(frame);
    if (parameters.empty()) parameters = "void";
    functions_ += types_.declare(definition->getReturnType(), name + "(" + parameters + ")") + " " + body;
    --depth_;
    return instances_[key] = name;
  }

  // --- variables

  // A variable of the module that becomes a parameter of the kernel.
  std::string moved(const VarDecl *variable) {
    variable = variable->getCanonicalDecl();
    if (!frame_->is_kernel) return refuse("a function that uses the variable " + variable->getNameAsString());
    std::string name = variable->getNameAsString() + "_0_";
    bool is_shared = variable->hasAttr<clang::CUDASharedAttr>();
    bool is_array = variable->getType()->isArrayType();
    QualType element = is_array ? QualType(context_.getAsArrayType(variable->getType())->getElementType())
                                : variable->getType();
    if (known_moved_.insert(variable).second) {
      moved_.push_back(mangler_.getName(variable));
      if (!is_shared || shared_.empty()) {
        Space space = is_shared ? Space::kLocal : Space::kGlobal;
        std::string declared = types_.declare(context_.getPointerType(element.getUnqualifiedType()), name, space);
        moved_parameters_.push_back(declared);
        if (is_shared) {
          shared_ = name;
          shared_type_ = element;
        }
      }
    }
    if (is_shared && !context_.hasSameUnqualifiedType(shared_type_, element))
      name = "((" + types_.spell(context_.getPointerType(element.getUnqualifiedType()), Space::kLocal) + ")" + shared_ + ")";
    else if (is_shared)
      name = shared_;
    return is_array ? name : "(*" + name + ")";
  }

  std::string constant(const VarDecl *variable) {
    variable = variable->getCanonicalDecl();
    auto [place, is_new] = constant_names_.try_emplace(variable, "");
    if (!is_new) return place->second;
    const VarDecl *definition = nullptr;
    const Expr *init = variable->getAnyInitializer(definition);
    std::string name = variable->getNameAsString() + "_c" + std::to_string(constant_names_.size()) + "_";
    Frame none;
    none.function = nullptr;
    Frame *outer = std::exchange(frame_, &none);
    constants_ += types_.declare(definition->getType(), name, Space::kConstant, Space::kConstant) + " = " +
                  initializer(init) + ";\n";
    frame_ = outer;
    return constant_names_[variable] = name;
  }

  std::string declaration(const VarDecl *variable) {
    QualType type = held(variable);
    if (variable->hasAttr<clang::CUDASharedAttr>()) {
      if (variable->hasExternalStorage()) return "";
      if (!frame_->is_kernel) return refuse("a function with variables that the group shares");
      const auto *construct = variable->getInit() ? dyn_cast<clang::CXXConstructExpr>(variable->getInit()) : nullptr;
      if (variable->getInit() && !(construct && construct->getConstructor()->isTrivial()))
        return refuse("a value for what the group shares");
      frame_->shared += types_.declare(type, name_of(*frame_, variable), Space::kGeneric, Space::kLocal) + ";\n";
      return "";
    }
    if (variable->hasGlobalStorage()) return "";
    std::string name = name_of(*frame_, variable);
    Space space = space_of(*frame_, variable);
    std::string text = types_.declare(type, name, space);
    const Expr *init = variable->getInit();
    if (!init) return text + ";\n";
    if (type->isReferenceType()) return text + " = " + address(init) + ";\n";
    const Expr *inner = init;
    if (const auto *cleanups = dyn_cast<clang::ExprWithCleanups>(inner)) inner = cleanups->getSubExpr();
    if (const auto *construct = dyn_cast<clang::CXXConstructExpr>(inner))
      if (construct->getConstructor()->isDefaultConstructor() && construct->getConstructor()->isTrivial() &&
          !construct->requiresZeroInitialization())
        return text + ";\n";
    return text + " = " + bare(initializer(init)) + ";\n";
  }

  std::string initializer(const Expr *init) {
    const auto *list = dyn_cast<clang::InitListExpr>(init);
    if (!list || list->getType()->isExtVectorType() || list->isTransparent()) return expression(init);
    if (!list->getType()->isArrayType() && !list->getType()->isRecordType())
      return list->getNumInits() == 1 ? initializer(list->getInit(0)) : "0";
    std::string all;
    for (const Expr *one : list->inits()) {
      if (isa<clang::ImplicitValueInitExpr>(one) && one->getType()->isScalarType()) {
        all += (all.empty() ? "" : ", ") + std::string("0");
        continue;
      }
      all += (all.empty() ? "" : ", ") + initializer(one);
    }
    return "{" + (all.empty() ? "0" : all) + "}";
  }

  // --- expressions

  // Whether a text binds more strongly than any operator.
  static bool is_primary(llvm::StringRef text) {
    if (text.empty()) return true;
    auto group = [&](size_t at) {
      int depth = 0;
      for (; at < text.size(); ++at) {
        if (text[at] == '(' || text[at] == '[') ++depth;
        if ((text[at] == ')' || text[at] == ']') && --depth == 0) return at + 1;
      }
      return text.size();
    };
    if (text[0] == '(') return group(0) == text.size();
    size_t at = 0;
    while (at < text.size()) {
      if (llvm::isAlnum(text[at]) || text[at] == '_' || text[at] == '.') ++at;
      else if (text.substr(at).starts_with("->")) at += 2;
      else if (text[at] == '(' || text[at] == '[') at = group(at);
      else return false;
    }
    return true;
  }

  // Without brackets around the whole of it.
  static std::string bare(std::string text) {
    if (text.size() < 2 || text.front() != '(' || !is_primary(text)) return text;
    int depth = 0;
    for (char c : text) {
      depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
      if (c == ',' && depth == 1) return text;
    }
    return text.substr(1, text.size() - 2);
  }

  static std::string operand(std::string text) { return is_primary(text) ? text : "(" + text + ")"; }

  static bool converts(clang::CastKind kind) {
    return kind == clang::CK_IntegralCast || kind == clang::CK_IntegralToBoolean || kind == clang::CK_IntegralToFloating ||
           kind == clang::CK_FloatingToIntegral || kind == clang::CK_FloatingCast || kind == clang::CK_FloatingToBoolean;
  }

  // An expression of the type that it has in C++, where the declaration of a parameter does not convert it.
  std::string converted(const Expr *expr) {
    const auto *cast = dyn_cast<clang::ImplicitCastExpr>(expr);
    std::string text = expression(expr);
    if (!cast || !converts(cast->getCastKind())) return text;
    return "(" + types_.spell(cast->getType().getUnqualifiedType()) + ")" + operand(text);
  }

  // A pointer to what an expression names.
  std::string address(const Expr *expr) {
    if (const auto *cleanups = dyn_cast<clang::ExprWithCleanups>(expr)) return address(cleanups->getSubExpr());
    if (const auto *paren = dyn_cast<clang::ParenExpr>(expr)) return address(paren->getSubExpr());
    if (const auto *cast = dyn_cast<clang::CastExpr>(expr)) {
      if (cast->getCastKind() == clang::CK_LValueBitCast) {
        QualType pointer = context_.getPointerType(cast->getType());
        return "(" + types_.spell(pointer, place_of(cast->getSubExpr())) + ")" + operand(address(cast->getSubExpr()));
      }
      return address(cast->getSubExpr());
    }
    if (isa<clang::MaterializeTemporaryExpr>(expr) || !expr->isGLValue()) return refuse("a reference to a temporary");
    if (const auto *one = dyn_cast<clang::UnaryOperator>(expr))
      if (one->getOpcode() == clang::UO_Deref) return expression(one->getSubExpr());
    std::string text = expression(expr);
    llvm::StringRef inner = text;
    if (inner.consume_front("(*") && inner.consume_back(")") && is_primary(inner)) return inner.str();
    return "&" + operand(text);
  }

  std::string variable_named(const VarDecl *variable, const Expr *expr) {
    auto given = frame_->arguments.find(variable);
    if (given != frame_->arguments.end()) return given->second;
    bool is_shared = variable->hasAttr<clang::CUDASharedAttr>();
    if (!variable->hasGlobalStorage() || (is_shared && !variable->hasExternalStorage())) {
      if (!frame_->function) return refuse("a constant that is computed");
      std::string name = name_of(*frame_, variable);
      return variable->getType()->isReferenceType() && !by_value(variable) ? "(*" + name + ")" : name;
    }
    if (!is_shared && is_constant(variable)) {
      if (variable->getType()->isScalarType()) {
        std::string known = known_number(variable->getAnyInitializer());
        if (!known.empty()) return known;
      }
      return constant(variable);
    }
    if (!is_shared && variable->isStaticLocal()) return refuse("a static variable");
    if (!frame_->function) return refuse("a constant that is computed");
    return moved(variable);
  }

  unsigned uses_of(const Stmt *body, const VarDecl *variable) {
    unsigned count = 0;
    if (const auto *name = dyn_cast_or_null<clang::DeclRefExpr>(body)) count += name->getDecl() == variable;
    if (body)
      for (const Stmt *child : body->children())
        if (child) count += uses_of(child, variable);
    return count;
  }

  // A function of the header that only says what OpenCL's expression is; `false` where it says more.
  bool expand(const FunctionDecl *function, const std::vector<const Expr *> &given, std::string &text) {
    const FunctionDecl *definition = nullptr;
    const auto *body = dyn_cast_or_null<clang::CompoundStmt>(function->getBody(definition));
    if (!body || body->size() != 1 || given.size() != definition->getNumParams()) return false;
    const Stmt *only = body->body_front();
    const auto *result = dyn_cast<clang::ReturnStmt>(only);
    const Expr *value = result ? result->getRetValue() : dyn_cast<Expr>(only);
    if (!value || definition->getReturnType()->isReferenceType()) return false;
    Frame inner;
    inner.function = definition;
    for (unsigned at = 0; at < given.size(); ++at) {
      const clang::ParmVarDecl *parameter = definition->getParamDecl(at);
      if (!by_value(parameter)) return false;
      std::string argument = operand(converted(given[at]));
      unsigned uses = uses_of(value, parameter);
      bool is_word = llvm::all_of(argument, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
      if (uses > 1 && !is_word) return false;
      if (uses == 0 && given[at]->HasSideEffects(context_)) return false;
      inner.arguments[parameter] = argument;
      inner.spaces[parameter] = given[at]->getType()->isPointerType() ? target_of(given[at]) : Space::kNone;
    }
    Frame *outer = std::exchange(frame_, &inner);
    text = operand(converted(value));
    frame_ = outer;
    return true;
  }

  std::string call_of(const FunctionDecl *function, const std::vector<const Expr *> &given, const Expr *object) {
    if (const auto *method = dyn_cast<clang::CXXMethodDecl>(function)) {
      if (method->getParent()->isLambda()) return refusal_.say("device-lambda", "a call of a lambda");
      if (method->isVirtual()) return refuse("virtual functions");
    }
    if (function->hasAttr<clang::CUDAGlobalAttr>()) return refusal_.say("dynamic-parallelism", function->getNameAsString());
    bool is_ours = of_header(function);
    if (is_ours && function->getIdentifier() && function->getName().starts_with(kPrefix)) {
      llvm::StringRef name = function->getName().drop_front(kPrefix.size());
      // Of these there is one of each: what is given to it is converted.
      bool is_one = name.starts_with("get_") || name == "barrier" || name == "mem_fence";
      std::string all;
      for (const Expr *one : given) all += (all.empty() ? "" : ", ") + bare(is_one ? expression(one) : converted(one));
      return name.str() + "(" + all + ")";
    }
    std::string expanded;
    if (is_ours && expand(function, given, expanded)) return expanded;
    if (function->isVariadic()) return refuse("a call of " + function->getNameAsString());
    std::vector<Space> spaces;
    std::string all;
    Space self = Space::kGeneric;
    if (object) {
      bool is_pointer = object->getType()->isPointerType();
      self = is_pointer ? target_of(object) : place_of(object);
      all = is_pointer ? expression(object) : address(object);
    }
    for (unsigned at = 0; at < given.size() && at < function->getNumParams(); ++at) {
      const clang::ParmVarDecl *parameter = function->getParamDecl(at);
      bool is_value = by_value(parameter);
      spaces.push_back(!is_value                                     ? place_of(given[at])
                       : given[at]->getType()->isPointerType() ? target_of(given[at])
                                                                     : Space::kNone);
      all += (all.empty() ? "" : ", ") + bare(is_value ? expression(given[at]) : address(given[at]));
    }
    std::string name = instance(function, spaces, self);
    std::string text = name + "(" + all + ")";
    return function->getReturnType()->isReferenceType() ? "(*" + text + ")" : text;
  }

  std::string call(const clang::CallExpr *expr) {
    if (isa<clang::CUDAKernelCallExpr>(expr)) return refusal_.say("dynamic-parallelism", "a launch of a kernel");
    const FunctionDecl *function = expr->getDirectCallee();
    if (!function) return refuse("a call through a pointer");
    if (function->getBuiltinID() != 0 && !function->isDefined()) {
      std::string known = known_number(expr);
      if (!known.empty()) return known;
      if (function->getName() == "__builtin_expect") return operand(expression(expr->getArg(0)));
    }
    std::vector<const Expr *> given(expr->arg_begin(), expr->arg_end());
    const Expr *object = nullptr;
    if (const auto *member = dyn_cast<clang::CXXMemberCallExpr>(expr)) object = member->getImplicitObjectArgument();
    const auto *method = dyn_cast<clang::CXXMethodDecl>(function);
    if (isa<clang::CXXOperatorCallExpr>(expr) && method && method->isInstance()) {
      object = given.front();
      given.erase(given.begin());
      if ((method->isCopyAssignmentOperator() || method->isMoveAssignmentOperator()) && method->isTrivial())
        return expression(object) + " = " + expression(given.front());
    }
    return call_of(function, given, method && method->isInstance() ? object : nullptr);
  }

  std::string cast_of(const clang::ExplicitCastExpr *cast) {
    const Expr *sub = cast->getSubExpr();
    QualType type = cast->getType();
    if (cast->isGLValue()) return "(*" + address(cast) + ")";
    switch (cast->getCastKind()) {
      case clang::CK_ConstructorConversion:
      case clang::CK_UserDefinedConversion:
        return expression(sub);
      case clang::CK_ToVoid:
        return "(void)" + operand(expression(sub));
      case clang::CK_DerivedToBase:
      case clang::CK_UncheckedDerivedToBase:
      case clang::CK_BaseToDerived:
        return refuse("a class with a base");
      default:
        break;
    }
    // The conversion may stand in the tree as an implicit one below the cast.
    Space space = target_of(sub);
    sub = cast->getSubExprAsWritten();
    if (context_.hasSameUnqualifiedType(type, sub->getType())) return operand(expression(sub));
    if (type->isRecordType()) return expression(sub);
    if (isa<clang::InitListExpr>(sub) && type->isExtVectorType()) return expression(sub);
    // More qualifiers come by themselves.
    if (type->isPointerType() && sub->getType()->isPointerType() &&
        context_.hasSameUnqualifiedType(type->getPointeeType(), sub->getType()->getPointeeType()) &&
        !sub->getType()->getPointeeType().isConstQualified())
      return operand(expression(sub));
    return "(" + types_.spell(type.getUnqualifiedType(), space) + ")" + operand(expression(sub));
  }

  std::string list_of(const clang::InitListExpr *list) {
    QualType type = list->getType();
    if (list->isTransparent()) return expression(list->getInit(0));
    if (const auto *vector = type->getAs<clang::ExtVectorType>()) {
      std::string all;
      for (const Expr *one : list->inits()) all += (all.empty() ? "" : ", ") + converted(one);
      for (unsigned at = list->getNumInits(); at < vector->getNumElements(); ++at) all += (all.empty() ? "" : ", ") + std::string("0");
      return "(" + types_.spell(type.getUnqualifiedType()) + ")(" + all + ")";
    }
    if (type->isScalarType()) return list->getNumInits() == 0 ? "0" : expression(list->getInit(0));
    return "(" + types_.spell(type.getUnqualifiedType()) + ")" + initializer(list);
  }

  std::string expression(const Expr *expr) {
    if (refusal_.is_there()) return "0";
    if (const auto *paren = dyn_cast<clang::ParenExpr>(expr)) return operand(expression(paren->getSubExpr()));
    if (const auto *cast = dyn_cast<clang::ImplicitCastExpr>(expr)) {
      switch (cast->getCastKind()) {
        case clang::CK_NullToPointer:
          return "0";
        case clang::CK_DerivedToBase:
        case clang::CK_UncheckedDerivedToBase:
          return refuse("a class with a base");
        case clang::CK_FunctionToPointerDecay:
          return refuse("a pointer to a function");
        default:
          return expression(cast->getSubExpr());
      }
    }
    if (const auto *full = dyn_cast<clang::FullExpr>(expr)) return expression(full->getSubExpr());
    if (const auto *made = dyn_cast<clang::MaterializeTemporaryExpr>(expr)) return expression(made->getSubExpr());
    if (const auto *given = dyn_cast<clang::CXXDefaultArgExpr>(expr)) return expression(given->getExpr());
    if (const auto *given = dyn_cast<clang::CXXDefaultInitExpr>(expr)) return expression(given->getExpr());
    if (const auto *replaced = dyn_cast<clang::SubstNonTypeTemplateParmExpr>(expr)) {
      std::string known = known_number(replaced);
      return known.empty() ? expression(replaced->getReplacement()) : known;
    }
    if (const auto *pseudo = dyn_cast<clang::PseudoObjectExpr>(expr)) return expression(pseudo->getResultExpr());
    if (const auto *opaque = dyn_cast<clang::OpaqueValueExpr>(expr))
      return opaque->getSourceExpr() ? expression(opaque->getSourceExpr()) : refuse("a value without a source");
    if (const auto *literal = dyn_cast<clang::FloatingLiteral>(expr)) return number(literal->getValue(), expr->getType());
    if (isa<clang::IntegerLiteral>(expr) || isa<clang::CharacterLiteral>(expr) || isa<clang::UnaryExprOrTypeTraitExpr>(expr) ||
        isa<clang::TypeTraitExpr>(expr) || isa<clang::SizeOfPackExpr>(expr))
      return known_number(expr);
    if (const auto *literal = dyn_cast<clang::CXXBoolLiteralExpr>(expr)) return literal->getValue() ? "1" : "0";
    if (isa<clang::CXXNullPtrLiteralExpr>(expr) || isa<clang::GNUNullExpr>(expr)) return "0";
    if (isa<clang::CXXScalarValueInitExpr>(expr) || isa<clang::ImplicitValueInitExpr>(expr))
      return expr->getType()->isScalarType() ? "(" + types_.spell(expr->getType().getUnqualifiedType()) + ")0"
                                             : refuse("a value without members");
    if (isa<clang::CXXThisExpr>(expr)) return "self_";
    if (const auto *name = dyn_cast<clang::DeclRefExpr>(expr)) {
      if (const auto *variable = dyn_cast<VarDecl>(name->getDecl())) return variable_named(variable, expr);
      std::string known = known_number(expr);
      return known.empty() ? refuse("the name " + name->getDecl()->getNameAsString()) : known;
    }
    if (const auto *member = dyn_cast<clang::MemberExpr>(expr)) {
      const auto *field = dyn_cast<clang::FieldDecl>(member->getMemberDecl());
      if (const auto *variable = dyn_cast<VarDecl>(member->getMemberDecl())) return variable_named(variable, expr);
      if (!field) {
        std::string known = known_number(expr);
        return known.empty() ? refuse("a member that is no variable") : known;
      }
      return operand(expression(member->getBase())) + (member->isArrow() ? "->" : ".") + types_.field(field);
    }
    if (const auto *element = dyn_cast<clang::ExtVectorElementExpr>(expr))
      return operand(expression(element->getBase())) + (element->isArrow() ? "->" : ".") + element->getAccessor().getName().str();
    if (const auto *element = dyn_cast<clang::ArraySubscriptExpr>(expr))
      return operand(expression(element->getLHS())) + "[" + bare(expression(element->getRHS())) + "]";
    if (const auto *one = dyn_cast<clang::UnaryOperator>(expr)) return unary(one);
    if (const auto *two = dyn_cast<clang::BinaryOperator>(expr)) {
      if (two->isPtrMemOp()) return refuse("a pointer to a member");
      if (two->getLHS()->getType()->isExtVectorType() && (two->isComparisonOp() || two->isLogicalOp()))
        return refuse("a comparison of vectors");
      std::string right = expression(two->getRHS());
      if (two->isAssignmentOp()) right = bare(right);
      return expression(two->getLHS()) + " " + two->getOpcodeStr().str() + " " + right;
    }
    if (const auto *either = dyn_cast<clang::ConditionalOperator>(expr)) {
      if (either->getCond()->getType()->isExtVectorType()) return refuse("a choice by vectors");
      if (either->isGLValue() && !either->getType()->isScalarType()) return refuse("a choice of objects");
      return expression(either->getCond()) + " ? " + expression(either->getTrueExpr()) + " : " + expression(either->getFalseExpr());
    }
    if (const auto *cast = dyn_cast<clang::BuiltinBitCastExpr>(expr))
      return "as_" + types_.spell(cast->getType().getUnqualifiedType()) + "(" + expression(cast->getSubExpr()) + ")";
    if (const auto *cast = dyn_cast<clang::ExplicitCastExpr>(expr)) return cast_of(cast);
    if (const auto *list = dyn_cast<clang::InitListExpr>(expr)) return list_of(list);
    if (const auto *literal = dyn_cast<clang::CompoundLiteralExpr>(expr)) return expression(literal->getInitializer());
    if (const auto *made = dyn_cast<clang::CXXConstructExpr>(expr)) {
      if (made->getConstructor()->isCopyOrMoveConstructor() && made->getConstructor()->isTrivial())
        return expression(made->getArg(0));
      return refuse("the constructor of " + made->getConstructor()->getParent()->getNameAsString());
    }
    if (const auto *one = dyn_cast<clang::CallExpr>(expr)) return call(one);
    if (isa<clang::LambdaExpr>(expr)) return refusal_.say("device-lambda", "a lambda");
    return refuse(expr->getStmtClassName());
  }

  std::string unary(const clang::UnaryOperator *one) {
    if (one->getOpcode() == clang::UO_Extension || one->getOpcode() == clang::UO_Plus) return expression(one->getSubExpr());
    if (one->getOpcode() == clang::UO_AddrOf) {
      if (isa_and_nonnull<FunctionDecl>(referenced(one->getSubExpr()))) return refuse("a pointer to a function");
      return address(one->getSubExpr());
    }
    std::string sub = operand_of_unary(one->getSubExpr());
    std::string op = clang::UnaryOperator::getOpcodeStr(one->getOpcode()).str();
    if (one->isPostfix()) return sub + op;
    // `- -x` is no `--x`.
    return op + (!sub.empty() && sub[0] == op[0] ? "(" + sub + ")" : sub);
  }

  std::string operand_of_unary(const Expr *expr) {
    std::string text = expression(expr);
    bool is_operator = isa<clang::BinaryOperator>(expr->IgnoreImpCasts()) || isa<clang::ConditionalOperator>(expr->IgnoreImpCasts());
    return is_operator ? operand(text) : text;
  }

  const clang::ValueDecl *referenced(const Expr *expr) {
    const auto *name = dyn_cast<clang::DeclRefExpr>(expr->IgnoreParens());
    return name ? name->getDecl() : nullptr;
  }

  // --- statements

  std::string block(const Stmt *body) {
    std::string text = statement(body);
    return isa<clang::CompoundStmt>(body) ? text : "{\n" + text + "}\n";
  }

  std::string for_loop(const clang::ForStmt *loop) {
    if (loop->getConditionVariable()) return refuse("a declaration as a condition");
    std::string before, init;
    if (const auto *declared = dyn_cast_or_null<clang::DeclStmt>(loop->getInit())) {
      std::string text = statement(declared);
      if (declared->isSingleDecl() && !text.empty()) init = text.substr(0, text.size() - 2);
      else before = text;
    } else if (const auto *expr = dyn_cast_or_null<Expr>(loop->getInit())) {
      init = expression(expr);
    } else if (loop->getInit() && !isa<clang::NullStmt>(loop->getInit())) {
      return refuse("what a loop begins with");
    }
    std::string condition = loop->getCond() ? expression(loop->getCond()) : "";
    std::string step = loop->getInc() ? expression(loop->getInc()) : "";
    std::string text = "for (" + init + "; " + condition + "; " + step + ") " + block(loop->getBody());
    return before.empty() ? text : "{\n" + before + text + "}\n";
  }

  std::string choice(const clang::IfStmt *choice) {
    if (choice->getConditionVariable() || choice->getInit()) return refuse("a declaration as a condition");
    if (choice->isConstexpr()) {
      auto taken = choice->getNondiscardedCase(context_);
      return taken && *taken ? block(*taken) : ";\n";
    }
    std::string text = "if (" + expression(choice->getCond()) + ") " + block(choice->getThen());
    if (choice->getElse()) text += "else " + block(choice->getElse());
    return text;
  }

  std::string pragmas(const clang::AttributedStmt *marked) {
    std::string text;
    for (const clang::Attr *attribute : marked->getAttrs()) {
      const auto *hint = dyn_cast<clang::LoopHintAttr>(attribute);
      if (!hint) continue;
      if (hint->getOption() == clang::LoopHintAttr::UnrollCount && hint->getValue())
        text += "\n#pragma unroll " + known_number(hint->getValue()) + "\n";
      else if (hint->getOption() == clang::LoopHintAttr::Unroll)
        text += hint->getState() == clang::LoopHintAttr::Disable ? "\n#pragma nounroll\n" : "\n#pragma unroll\n";
    }
    return text + statement(marked->getSubStmt());
  }

  std::string statement(const Stmt *one) {
    if (refusal_.is_there()) return "";
    if (const auto *all = dyn_cast<clang::CompoundStmt>(one)) {
      std::string text;
      for (const Stmt *next : all->body()) text += statement(next);
      // The body of a function brings its own braces.
      return frame_->function && all == frame_->function->getBody() ? text : "{\n" + text + "}\n";
    }
    if (const auto *declared = dyn_cast<clang::DeclStmt>(one)) {
      std::string text;
      for (const clang::Decl *decl : declared->decls()) {
        if (isa<clang::DecompositionDecl>(decl)) return refuse("a declaration of several names");
        if (const auto *variable = dyn_cast<VarDecl>(decl)) text += declaration(variable);
      }
      return text;
    }
    if (const auto *expr = dyn_cast<Expr>(one)) return expression(expr) + ";\n";
    if (const auto *loop = dyn_cast<clang::ForStmt>(one)) return for_loop(loop);
    if (const auto *found = dyn_cast<clang::IfStmt>(one)) return choice(found);
    if (const auto *loop = dyn_cast<clang::WhileStmt>(one)) {
      if (loop->getConditionVariable()) return refuse("a declaration as a condition");
      return "while (" + expression(loop->getCond()) + ") " + block(loop->getBody());
    }
    if (const auto *loop = dyn_cast<clang::DoStmt>(one))
      return "do " + block(loop->getBody()) + "while (" + expression(loop->getCond()) + ");\n";
    if (const auto *found = dyn_cast<clang::SwitchStmt>(one)) {
      if (found->getConditionVariable() || found->getInit()) return refuse("a declaration as a condition");
      return "switch (" + expression(found->getCond()) + ") " + block(found->getBody());
    }
    if (const auto *found = dyn_cast<clang::CaseStmt>(one)) {
      if (found->getRHS()) return refuse("a range of cases");
      return "case " + known_number(found->getLHS()) + ":\n" + labeled(found->getSubStmt());
    }
    if (const auto *found = dyn_cast<clang::DefaultStmt>(one)) return "default:\n" + labeled(found->getSubStmt());
    if (isa<clang::BreakStmt>(one)) return "break;\n";
    if (isa<clang::ContinueStmt>(one)) return "continue;\n";
    if (isa<clang::NullStmt>(one)) return ";\n";
    if (const auto *result = dyn_cast<clang::ReturnStmt>(one)) {
      if (!result->getRetValue()) return "return;\n";
      if (frame_->function->getReturnType()->isReferenceType()) return "return " + address(result->getRetValue()) + ";\n";
      if (frame_->function->getReturnType()->isVoidType()) return expression(result->getRetValue()) + ";\nreturn;\n";
      return "return " + bare(expression(result->getRetValue())) + ";\n";
    }
    if (const auto *marked = dyn_cast<clang::AttributedStmt>(one)) return pragmas(marked);
    if (const auto *jump = dyn_cast<clang::GotoStmt>(one)) return "goto " + jump->getLabel()->getNameAsString() + "_l;\n";
    if (const auto *label = dyn_cast<clang::LabelStmt>(one))
      return label->getDecl()->getNameAsString() + "_l:\n" + labeled(label->getSubStmt());
    if (isa<clang::AsmStmt>(one)) return refusal_.say("inline-assembly", "in the kernel or what it calls");
    if (isa<clang::CXXForRangeStmt>(one)) return refuse("a loop over a range");
    return refuse(one->getStmtClassName());
  }

  // Nothing but a statement may follow a label.
  std::string labeled(const Stmt *one) {
    std::string text = statement(one);
    return isa<clang::DeclStmt>(one) || text.empty() ? ";\n" + text : text;
  }

  Outcome &outcome_;
  Refusal refusal_;
  TypePrinter types_;
  clang::ASTNameGenerator mangler_;
  unsigned depth_ = 0;
  std::string functions_, constants_;
  std::map<std::string, std::string> instances_;
  std::map<const VarDecl *, std::string> constant_names_;
  std::set<const VarDecl *> known_moved_;
  std::vector<std::string> moved_, moved_parameters_;
  std::string shared_;
  QualType shared_type_;
};

// The last instance of the kernel.
class KernelFinder : public clang::RecursiveASTVisitor<KernelFinder> {
 public:
  explicit KernelFinder(llvm::StringRef name) : name_(name) {}

  bool shouldVisitTemplateInstantiations() const { return true; }

  bool VisitFunctionDecl(FunctionDecl *function) {
    if (function->hasAttr<clang::CUDAGlobalAttr>() && function->getIdentifier() && function->getName() == name_ &&
        !function->isDependentContext() && function->doesThisDeclarationHaveABody() && !function->isTemplated())
      found = function;
    return true;
  }

  const FunctionDecl *found = nullptr;

 private:
  llvm::StringRef name_;
};

class TranslateAction : public clang::ASTFrontendAction {
 public:
  TranslateAction(const Query &query, Outcome &outcome) : query_(query), outcome_(outcome) {}

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &, llvm::StringRef) override {
    class Consumer : public clang::ASTConsumer {
     public:
      Consumer(const Query &query, Outcome &outcome) : query_(query), outcome_(outcome) {}

      void HandleTranslationUnit(clang::ASTContext &context) override {
        if (context.getDiagnostics().hasErrorOccurred()) return;
        llvm::StringRef name(query_.kernel.data(), query_.kernel.size());
        KernelFinder finder(name);
        // A header defines no kernel: what it declares is not loaded for this.
        for (clang::Decl *decl : context.getTranslationUnitDecl()->noload_decls()) finder.TraverseDecl(decl);
        if (finder.found) return Translator(context, outcome_).run(finder.found);
        report_error(outcome_, "no_such_function", ("the program defines no kernel named '" + name + "'").str(), name);
      }

     private:
      const Query &query_;
      Outcome &outcome_;
    };
    return std::make_unique<Consumer>(query_, outcome_);
  }

 private:
  const Query &query_;
  Outcome &outcome_;
};

}  // namespace

void translate(const Query &query, Outcome &outcome) {
  Instance instance(query, outcome, prelude_of(query));
  TranslateAction action(query, outcome);
  instance.run(action);
}

}  // namespace stampmill
