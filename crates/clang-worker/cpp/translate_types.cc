#include "clang/AST/DeclCXX.h"
#include "clang/AST/RecordLayout.h"

#include "translate.h"
#include "types.h"

namespace stampmill {

std::string word_of(Space space) {
  switch (space) {
    case Space::kGlobal:
      return "global ";
    case Space::kConstant:
      return "constant ";
    case Space::kLocal:
      return "local ";
    case Space::kPrivate:
      return "private ";
    default:
      return "";
  }
}

std::string TypePrinter::declare(clang::QualType type, const std::string &name, Space pointee, Space own) {
  type = type.getCanonicalType();
  std::string qualifiers = word_of(own);
  if (type.isConstQualified() && own != Space::kConstant) qualifiers += "const ";
  if (type.isVolatileQualified()) qualifiers += "volatile ";
  if (type->isReferenceType() || type->isPointerType()) {
    clang::QualType target = type->getPointeeType();
    if (target->isFunctionType()) return refusal_.say(kNotCLike, "a pointer to a function");
    std::string inner = "*" + qualifiers + name;
    if (target->isArrayType()) inner = "(" + inner + ")";
    return declare(target, inner, Space::kGeneric, pointee);
  }
  if (const auto *array = context_.getAsConstantArrayType(type)) {
    std::string length = std::to_string(array->getSize().getZExtValue());
    return declare(array->getElementType(), name + "[" + length + "]", pointee, own);
  }
  if (const auto *array = context_.getAsIncompleteArrayType(type))
    return declare(array->getElementType(), name + "[]", pointee, own);
  return qualifiers + base(type) + (name.empty() ? "" : " ") + name;
}

std::string TypePrinter::base(clang::QualType type) {
  if (const auto *vector = type->getAs<clang::ExtVectorType>()) {
    unsigned count = vector->getNumElements();
    if (count != 2 && count != 3 && count != 4 && count != 8 && count != 16)
      return refusal_.say(kNotCLike, "a vector of " + std::to_string(count));
    return base(vector->getElementType().getUnqualifiedType()) + std::to_string(count);
  }
  if (const auto *builtin = type->getAs<clang::BuiltinType>()) return scalar(builtin);
  if (const auto *enumeration = type->getAs<clang::EnumType>())
    return base(enumeration->getDecl()->getIntegerType().getCanonicalType().getUnqualifiedType());
  if (const auto *found = type->getAs<clang::RecordType>()) return record(found->getDecl());
  return refusal_.say(kNotCLike, "the type " + printed(context_, type));
}

std::string TypePrinter::scalar(const clang::BuiltinType *type) {
  using clang::BuiltinType;
  switch (type->getKind()) {
    case BuiltinType::Void:
      return "void";
    case BuiltinType::Bool:
      return "bool";
    case BuiltinType::Char_S:
    case BuiltinType::SChar:
      return "char";
    case BuiltinType::Char_U:
    case BuiltinType::UChar:
      return "uchar";
    case BuiltinType::Short:
      return "short";
    case BuiltinType::UShort:
      return "ushort";
    case BuiltinType::Int:
      return "int";
    case BuiltinType::UInt:
      return "uint";
    case BuiltinType::Long:
    case BuiltinType::LongLong:
      return "long";
    case BuiltinType::ULong:
    case BuiltinType::ULongLong:
      return "ulong";
    case BuiltinType::Float:
      return "float";
    case BuiltinType::Double:
      return "double";
    case BuiltinType::Half:
    case BuiltinType::Float16:
    case BuiltinType::BFloat16:
      return refusal_.say("half-type", "a number of 16 bits");
    default:
      return refusal_.say(kNotCLike, "the type " + type->getName(clang::PrintingPolicy(context_.getLangOpts())).str());
  }
}

std::string TypePrinter::field(const clang::FieldDecl *field) {
  std::string name = field->getNameAsString();
  if (name.empty()) return refusal_.say(kNotCLike, "a member without a name");
  static const char *const words[] = {"kernel", "global",  "local",    "constant", "private", "generic", "half",
                                      "pipe",   "complex", "event_t",  "uchar",    "image",   "sampler_t"};
  for (const char *word : words)
    if (name == word) return name + "_";
  return name;
}

std::string TypePrinter::record(const clang::RecordDecl *record) {
  auto known = records_.find(record);
  if (known != records_.end()) return known->second;
  record = record->getDefinition();
  if (!record) return refusal_.say(kNotCLike, "a type without a definition");
  known = records_.find(record);
  if (known != records_.end()) return known->second;
  const std::string tag = record->isUnion() ? "union " : "struct ";
  std::string name = tag + "T" + std::to_string(records_.size()) + "_" +
                     (record->getIdentifier() ? record->getName().str() : std::string());
  records_[record] = name;
  if (const auto *cxx = llvm::dyn_cast<clang::CXXRecordDecl>(record)) {
    if (cxx->getNumBases() > 0) return refusal_.say(kNotCLike, "a class with a base");
    if (cxx->isPolymorphic()) return refusal_.say(kNotCLike, "virtual functions");
    if (cxx->hasNonTrivialDestructor()) return refusal_.say(kNotCLike, "a destructor");
    if (cxx->isLambda()) return refusal_.say("device-lambda", "a lambda");
  }
  if (record->field_empty()) return refusal_.say(kNotCLike, "a type without members");
  std::string members;
  for (const clang::FieldDecl *one : record->fields()) {
    if (one->getType()->isReferenceType()) return refusal_.say(kNotCLike, "a reference as a member");
    members += declare(one->getType(), field(one));
    if (one->isBitField()) members += " : " + std::to_string(one->getBitWidthValue(context_));
    members += "; ";
  }
  const clang::ASTRecordLayout &layout = context_.getASTRecordLayout(record);
  std::string aligned;
  if (record->getMaxAlignment() > 0)
    aligned = " __attribute__((aligned(" + std::to_string(layout.getAlignment().getQuantity()) + ")))";
  definitions_ += name + " { " + members + "}" + aligned + ";\n";
  return name;
}

}  // namespace stampmill
