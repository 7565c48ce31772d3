#include "flow.h"

#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"

namespace stampmill {
namespace {

// A set of small numbers that grows as needed.
struct Set {
  llvm::BitVector bits;

  void add(unsigned i) {
    if (i >= bits.size()) bits.resize(i + 1);
    bits.set(i);
  }
  // Whether anything was new.
  bool add(const Set &other) {
    llvm::BitVector fresh = other.bits;
    fresh.reset(bits);
    if (fresh.none()) return false;
    bits |= other.bits;
    return true;
  }
};

// A value: which arguments it was read through, and which objects it may point to.
struct Value {
  Set read;
  Set points;

  bool add(const Value &other) {
    bool read_grew = read.add(other.read);
    return points.add(other.points) || read_grew;
  }
};

// What a builtin does with the memory behind its pointer arguments.
enum class Effect { kReads, kWrites, kBoth, kNone };

class Analysis {
 public:
  Analysis(clang::ASTContext &context, const clang::FunctionDecl *kernel) : context_(context) {
    // The first objects are the memory behind the arguments, in order.
    flow_.arguments.resize(kernel->getNumParams());
    objects_.resize(kernel->getNumParams());
    for (unsigned i = 0; i < kernel->getNumParams(); ++i) {
      objects_[i].read.add(i);
      clang::QualType type = kernel->getParamDecl(i)->getType();
      Value initial;
      if (is_memory(type)) initial.points.add(i);
      else initial.read.add(i);
      scalar_.push_back(!is_memory(type));
      objects_[object(kernel->getParamDecl(i))] = initial;
    }
    reached_.insert(kernel);
  }

  Flow run() {
    // Everything only grows, and is bounded: this ends.
    do {
      changed_ = false;
      for (size_t i = 0; i < reached_.size(); ++i) {
        function_ = reached_[i];
        walk(function_->getBody());
      }
    } while (changed_);
    return std::move(flow_);
  }

 private:
  static bool is_memory(clang::QualType type) {
    return type->isPointerType() || type->isImageType() || type->isPipeType();
  }

  unsigned object(const void *key) {
    auto [entry, added] = numbers_.try_emplace(key, objects_.size());
    if (added) objects_.emplace_back();
    return entry->second;
  }

  void mark(bool &flag) {
    if (!flag) changed_ = flag = true;
  }

  Value load(const Set &places) {
    Value value;
    for (unsigned o : places.bits.set_bits()) {
      if (o < flow_.arguments.size()) mark(flow_.arguments[o].read);
      value.add(objects_[o]);
    }
    // Reading the parameter itself is what reads a scalar.
    for (unsigned a : value.read.bits.set_bits())
      if (a < scalar_.size() && scalar_[a]) mark(flow_.arguments[a].read);
    return value;
  }

  void store(const Set &places, const Value &value) {
    for (unsigned o : places.bits.set_bits()) {
      if (o < flow_.arguments.size()) mark(flow_.arguments[o].written);
      if (objects_[o].add(value)) changed_ = true;
    }
  }

  void used_as_index(const Value &value) {
    for (unsigned a : value.read.bits.set_bits()) mark(flow_.arguments[a].indexes);
  }

  void walk(const clang::Stmt *statement) {
    if (!statement) return;
    if (const auto *expression = llvm::dyn_cast<clang::Expr>(statement)) {
      discard(expression);
    } else if (const auto *declarations = llvm::dyn_cast<clang::DeclStmt>(statement)) {
      for (const clang::Decl *decl : declarations->decls()) {
        const auto *variable = llvm::dyn_cast<clang::VarDecl>(decl);
        if (!variable || !variable->hasInit()) continue;
        Set place;
        place.add(object(variable));
        store(place, value_of(variable->getInit()));
      }
    } else if (const auto *result = llvm::dyn_cast<clang::ReturnStmt>(statement)) {
      if (!result->getRetValue()) return;
      Set place;
      place.add(object(function_));
      store(place, value_of(result->getRetValue()));
    } else {
      for (const clang::Stmt *child : statement->children()) walk(child);
    }
  }

  void discard(const clang::Expr *e) {
    if (e->isGLValue()) place_of(e);
    else value_of(e);
  }

  Value value_of(const clang::Expr *e) {
    e = e->IgnoreParens();
    if (e->isGLValue()) return load(place_of(e));
    if (const auto *cast = llvm::dyn_cast<clang::CastExpr>(e)) {
      const clang::Expr *inner = cast->getSubExpr();
      if (cast->getCastKind() == clang::CK_ArrayToPointerDecay) return {{}, place_of(inner)};
      if (cast->getCastKind() == clang::CK_FunctionToPointerDecay) return {};
      return value_of(inner);
    }
    if (const auto *binary = llvm::dyn_cast<clang::BinaryOperator>(e)) return binary_value(binary);
    if (const auto *unary = llvm::dyn_cast<clang::UnaryOperator>(e)) {
      if (unary->getOpcode() == clang::UO_AddrOf) return {{}, place_of(unary->getSubExpr())};
      if (unary->isIncrementDecrementOp()) return update(place_of(unary->getSubExpr()));
      return value_of(unary->getSubExpr());
    }
    if (const auto *choice = llvm::dyn_cast<clang::AbstractConditionalOperator>(e)) {
      discard(choice->getCond());
      Value value = value_of(choice->getTrueExpr());
      value.add(value_of(choice->getFalseExpr()));
      return value;
    }
    if (const auto *opaque = llvm::dyn_cast<clang::OpaqueValueExpr>(e))
      return opaque->getSourceExpr() ? value_of(opaque->getSourceExpr()) : Value();
    if (const auto *call = llvm::dyn_cast<clang::CallExpr>(e)) return call_value(call);
    if (const auto *body = llvm::dyn_cast<clang::StmtExpr>(e)) {
      walk(body->getSubStmt());
      const auto *last = body->getSubStmt()->body_empty() ? nullptr : body->getSubStmt()->body_back();
      const auto *result = llvm::dyn_cast_or_null<clang::Expr>(last);
      return result ? value_of(result) : Value();
    }
    if (llvm::isa<clang::UnaryExprOrTypeTraitExpr>(e)) return {};
    Value value;
    for (const clang::Stmt *child : e->children())
      if (const auto *part = llvm::dyn_cast_or_null<clang::Expr>(child)) value.add(value_of(part));
    return value;
  }

  Value update(const Set &place) {
    Value value = load(place);
    store(place, value);
    return value;
  }

  Value binary_value(const clang::BinaryOperator *e) {
    if (e->getOpcode() == clang::BO_Comma) {
      discard(e->getLHS());
      return value_of(e->getRHS());
    }
    Value right = value_of(e->getRHS());
    if (e->isAssignmentOp()) {
      Set place = place_of(e->getLHS());
      if (e->isCompoundAssignmentOp()) {
        if (e->getLHS()->getType()->isPointerType()) used_as_index(right);
        right.add(load(place));
      }
      store(place, right);
      return right;
    }
    Value left = value_of(e->getLHS());
    if (e->getType()->isPointerType()) used_as_index(e->getLHS()->getType()->isPointerType() ? right : left);
    left.add(right);
    return left;
  }

  // The objects that an lvalue designates.
  Set place_of(const clang::Expr *e) {
    e = e->IgnoreParens();
    if (const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(e)) {
      Set place;
      const auto *variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl());
      if (variable) {
        bool known = numbers_.contains(variable);
        place.add(object(variable));
        // A constant at file scope is never seen by `walk`.
        if (!known && variable->hasGlobalStorage() && variable->getAnyInitializer())
          store(place, value_of(variable->getAnyInitializer()));
      }
      return place;
    }
    if (const auto *subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(e)) {
      used_as_index(value_of(subscript->getIdx()));
      const clang::Expr *base = subscript->getBase();
      return base->getType()->isPointerType() ? value_of(base).points : place_of(base);
    }
    if (const auto *unary = llvm::dyn_cast<clang::UnaryOperator>(e)) {
      if (unary->getOpcode() == clang::UO_Deref) return value_of(unary->getSubExpr()).points;
      if (!unary->isIncrementDecrementOp()) return place_of(unary->getSubExpr());
      Set place = place_of(unary->getSubExpr());
      update(place);
      return place;
    }
    if (const auto *member = llvm::dyn_cast<clang::MemberExpr>(e))
      return part_of(member->getBase(), member->isArrow());
    if (const auto *lanes = llvm::dyn_cast<clang::ExtVectorElementExpr>(e))
      return part_of(lanes->getBase(), lanes->isArrow());
    if (const auto *cast = llvm::dyn_cast<clang::CastExpr>(e)) return place_of(cast->getSubExpr());
    if (const auto *binary = llvm::dyn_cast<clang::BinaryOperator>(e)) {
      discard_value(binary);
      return place_of(binary->isAssignmentOp() ? binary->getLHS() : binary->getRHS());
    }
    if (const auto *literal = llvm::dyn_cast<clang::CompoundLiteralExpr>(e)) {
      Set place;
      place.add(object(literal));
      store(place, value_of(literal->getInitializer()));
      return place;
    }
    if (!e->isGLValue()) {
      // A member of a value that is in no variable.
      Set place;
      place.add(object(e));
      store(place, value_of(e));
      return place;
    }
    Set places;
    for (const clang::Stmt *child : e->children())
      if (const auto *part = llvm::dyn_cast_or_null<clang::Expr>(child))
        places.add(part->isGLValue() ? place_of(part) : value_of(part).points);
    return places;
  }

  void discard_value(const clang::BinaryOperator *e) { binary_value(e); }

  Set part_of(const clang::Expr *base, bool arrow) { return arrow ? value_of(base).points : place_of(base); }

  Value call_value(const clang::CallExpr *call) {
    const clang::FunctionDecl *callee = call->getDirectCallee();
    const clang::FunctionDecl *definition = callee ? callee->getDefinition() : nullptr;
    if (definition && definition->getBody()) {
      if (reached_.insert(definition)) changed_ = true;
      for (unsigned i = 0; i < call->getNumArgs(); ++i) {
        Value value = value_of(call->getArg(i));
        if (i >= definition->getNumParams()) continue;
        Set place;
        place.add(object(definition->getParamDecl(i)));
        store(place, value);
      }
      return objects_[object(definition)];
    }
    llvm::StringRef name;
    if (callee && callee->getDeclName().isIdentifier()) name = callee->getName();
    note_dimension(name, call);
    Value all;
    std::vector<Value> arguments;
    for (const clang::Expr *argument : call->arguments()) arguments.push_back(value_of(argument));
    // `vloadN(offset, p)`, `vstoreN(data, offset, p)`: the offset is an index. Coordinates of images
    // are indices likewise.
    if (name.starts_with("vload") && arguments.size() > 1) used_as_index(arguments[0]);
    if (name.starts_with("vstore") && arguments.size() > 2) used_as_index(arguments[1]);
    if (name.starts_with("read_image") && arguments.size() > 1) used_as_index(arguments.back());
    if (name.starts_with("write_image") && arguments.size() > 2) used_as_index(arguments[1]);
    for (unsigned i = 0; i < arguments.size(); ++i) {
      Effect effect = effect_of(name, i, call->getArg(i)->getType());
      if (effect == Effect::kReads || effect == Effect::kBoth) all.add(load(arguments[i].points));
      all.read.add(arguments[i].read);
    }
    for (unsigned i = 0; i < arguments.size(); ++i) {
      Effect effect = effect_of(name, i, call->getArg(i)->getType());
      Value stored{all.read, {}};
      if (effect == Effect::kWrites || effect == Effect::kBoth) store(arguments[i].points, stored);
    }
    return all;
  }

  static Effect effect_of(llvm::StringRef name, unsigned argument, clang::QualType type) {
    if (name.starts_with("read_image")) return argument == 0 ? Effect::kReads : Effect::kNone;
    if (name.starts_with("write_image")) return argument == 0 ? Effect::kWrites : Effect::kNone;
    if (name.starts_with("get_image") || name == "prefetch") return Effect::kNone;
    if (type->isImageType()) return Effect::kBoth;
    if (!type->isPointerType()) return Effect::kNone;
    if (name.starts_with("vload")) return Effect::kReads;
    if (name.starts_with("vstore")) return Effect::kWrites;
    if (name.starts_with("async_work_group_")) return argument == 0 ? Effect::kWrites : Effect::kReads;
    if (name.starts_with("wait_group_events")) return Effect::kReads;
    if (name.starts_with("atomic_load")) return Effect::kReads;
    if (name.starts_with("atomic_store") || name == "atomic_init" || name.starts_with("atomic_flag_clear"))
      return Effect::kWrites;
    bool output = llvm::StringSwitch<bool>(name)
                      .Cases("fract", "frexp", "lgamma_r", "modf", "remquo", "sincos", true)
                      .Default(false);
    if (output) return Effect::kWrites;
    return type->getPointeeType().isConstQualified() ? Effect::kReads : Effect::kBoth;
  }

  void note_dimension(llvm::StringRef name, const clang::CallExpr *call) {
    bool asks = llvm::StringSwitch<bool>(name)
                    .Cases("get_global_id", "get_local_id", "get_group_id", "get_global_size", true)
                    .Cases("get_local_size", "get_num_groups", "get_global_offset", true)
                    .Case("get_enqueued_local_size", true)
                    .Default(false);
    if (!asks || call->getNumArgs() != 1) return;
    clang::Expr::EvalResult result;
    uint64_t dimension = 2;
    // Beyond the third there is nothing to ask for: the answer is a constant.
    if (!call->getArg(0)->isValueDependent() && call->getArg(0)->EvaluateAsInt(result, context_) &&
        result.Val.getInt().isNonNegative())
      dimension = std::min<uint64_t>(result.Val.getInt().getLimitedValue(), 2);
    flow_.dimensions = std::max<uint8_t>(flow_.dimensions, dimension + 1);
  }

  clang::ASTContext &context_;
  Flow flow_;
  std::vector<bool> scalar_;
  // What each object holds; the first are the arguments' memory.
  std::vector<Value> objects_;
  // Objects of variables, literals, and of functions' results.
  llvm::DenseMap<const void *, unsigned> numbers_;
  llvm::SetVector<const clang::FunctionDecl *> reached_;
  const clang::FunctionDecl *function_ = nullptr;
  bool changed_ = false;
};

}  // namespace

Flow analyse(clang::ASTContext &context, const clang::FunctionDecl *kernel) {
  return Analysis(context, kernel).run();
}

}  // namespace stampmill
