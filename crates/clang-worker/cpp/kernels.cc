// Kernels as data: arguments, their types and layouts.
#include "clang/AST/Attr.h"
#include "clang/AST/RecordLayout.h"
#include "clang/AST/Type.h"
#include "llvm/ADT/SmallPtrSet.h"

#include "stampmill-clang-worker/src/bridge.rs.h"
#include "facts.h"
#include "flow.h"
#include "types.h"

namespace stampmill {
namespace {

// In the order of `clang::Scalar` on the Rust side.
enum ScalarKind : uint8_t { kBool, kSigned, kUnsigned, kFloat };
// In the order of `clang::AddressSpace` on the Rust side.
enum Space : uint8_t { kPrivate, kGlobal, kConstant, kLocal, kGeneric };

Space space_of(clang::LangAS space) {
  switch (space) {
    case clang::LangAS::opencl_global:
    case clang::LangAS::opencl_global_device:
    case clang::LangAS::opencl_global_host:
      return kGlobal;
    case clang::LangAS::opencl_constant:
      return kConstant;
    case clang::LangAS::opencl_local:
      return kLocal;
    case clang::LangAS::opencl_generic:
      return kGeneric;
    default:
      return kPrivate;
  }
}

class TypeWriter {
 public:
  TypeWriter(clang::ASTContext &context, Outcome &outcome)
      : context_(context), outcome_(outcome) {}

  // Appends `type` in preorder; answers where its root stands.
  uint32_t write(clang::QualType type) {
    type = type.getCanonicalType();
    if (const auto *atomic = type->getAs<clang::AtomicType>()) type = atomic->getValueType();
    uint32_t self = outcome_.types.size();
    outcome_.types.push_back(TypeNode{});
    if (const auto *pointer = type->getAs<clang::PointerType>()) {
      at(self).class_ = TypeClass::Pointer;
      at(self).space = space_of(pointer->getPointeeType().getAddressSpace());
      child(self, pointer->getPointeeType());
    } else if (const auto *vector = type->getAs<clang::VectorType>()) {
      at(self).class_ = TypeClass::Vector;
      set_scalar(self, vector->getElementType());
      at(self).length = vector->getNumElements();
    } else if (const auto *array = context_.getAsConstantArrayType(type)) {
      at(self).class_ = TypeClass::Array;
      at(self).length = array->getSize().getLimitedValue();
      child(self, array->getElementType());
    } else if (type->isVoidType()) {
      at(self).class_ = TypeClass::Void;
    } else if (type->isImageType()) {
      write_image(self, printed(context_, type.getUnqualifiedType()));
    } else if (type->isSamplerT()) {
      at(self).class_ = TypeClass::Sampler;
    } else if (const auto *record = type->getAs<clang::RecordType>()) {
      write_record(self, record->getDecl(), type);
    } else if (type->isArithmeticType() && !type->isAnyComplexType() && !type->isIncompleteType()) {
      at(self).class_ = TypeClass::Scalar;
      set_scalar(self, type);
    } else {
      write_opaque(self, type);
    }
    return self;
  }

 private:
  TypeNode &at(uint32_t index) { return outcome_.types[index]; }

  uint32_t child(uint32_t self, clang::QualType type) {
    ++at(self).children;
    return write(type);
  }

  void set_scalar(uint32_t self, clang::QualType type) {
    at(self).scalar = type->isBooleanType()       ? kBool
                      : type->isRealFloatingType() ? kFloat
                      : type->isSignedIntegerOrEnumerationType() ? kSigned
                                                                 : kUnsigned;
    at(self).size_bytes = context_.getTypeSizeInChars(type).getQuantity();
  }

  void write_opaque(uint32_t self, clang::QualType type) {
    at(self).class_ = TypeClass::Opaque;
    at(self).name = to_rust(printed(context_, type.getUnqualifiedType()));
  }

  // Printed as, for example, `__read_only image2d_t`.
  void write_image(uint32_t self, llvm::StringRef printed) {
    at(self).class_ = TypeClass::Image;
    auto [access, kind] = printed.rsplit(' ');
    at(self).name = to_rust(kind.empty() ? access : kind);
    at(self).read = !access.starts_with("__write_only");
    at(self).write = !access.starts_with("__read_only");
  }

  void write_record(uint32_t self, const clang::RecordDecl *record, clang::QualType type) {
    record = record->getDefinition();
    // A record met again within itself, behind a pointer, has no finite description.
    if (!record || record->isInvalidDecl() || !open_.insert(record).second) return write_opaque(self, type);
    const clang::ASTRecordLayout &layout = context_.getASTRecordLayout(record);
    at(self).class_ = record->isUnion() ? TypeClass::Union : TypeClass::Struct;
    std::string name = record->getNameAsString();
    if (name.empty() && record->getTypedefNameForAnonDecl()) name = record->getTypedefNameForAnonDecl()->getNameAsString();
    at(self).name = to_rust(name);
    at(self).size_bytes = layout.getSize().getQuantity();
    at(self).align_bytes = layout.getAlignment().getQuantity();
    if (!record->isUnion()) {
      for (const clang::FieldDecl *field : record->fields()) {
        uint32_t index = child(self, field->getType());
        at(index).field = to_rust(field->getName());
        at(index).offset_bytes = layout.getFieldOffset(field->getFieldIndex()) / context_.getCharWidth();
      }
    }
    open_.erase(record);
  }

  clang::ASTContext &context_;
  Outcome &outcome_;
  llvm::SmallPtrSet<const clang::RecordDecl *, 8> open_;
};

bool is_constant(clang::QualType type) {
  if (type->isPointerType()) type = type->getPointeeType();
  return type.isConstQualified() || type.getAddressSpace() == clang::LangAS::opencl_constant;
}

}  // namespace

void write_kernels(clang::ASTContext &context, const Facts &facts,
                   const std::vector<const clang::FunctionDecl *> &kernels, Outcome &outcome) {
  TypeWriter types(context, outcome);
  for (const clang::FunctionDecl *function : kernels) {
    Flow flow = analyse(context, function);
    Kernel kernel;
    kernel.declaration = facts.index_of(function);
    kernel.name = to_rust(function->getNameAsString());
    kernel.first = outcome.arguments.size();
    kernel.count = function->getNumParams();
    kernel.dimensions = flow.dimensions;
    kernel.kernel = context.getLangOpts().OpenCL;
    kernel.group_size = {0, 0, 0};
    const auto *required = function->getAttr<clang::ReqdWorkGroupSizeAttr>();
    kernel.has_group_size = required != nullptr;
    if (required) kernel.group_size = {required->getXDim(), required->getYDim(), required->getZDim()};
    for (unsigned i = 0; i < function->getNumParams(); ++i) {
      const clang::ParmVarDecl *parameter = function->getParamDecl(i);
      Argument argument;
      argument.name = to_rust(parameter->getName());
      argument.type_name = to_rust(printed(context, parameter->getType()));
      argument.type_index = types.write(parameter->getType());
      argument.constant = is_constant(parameter->getType());
      argument.indexes = flow.arguments[i].indexes;
      argument.read = flow.arguments[i].read;
      argument.written = flow.arguments[i].written;
      outcome.arguments.push_back(std::move(argument));
    }
    outcome.kernels.push_back(std::move(kernel));
  }
}

}  // namespace stampmill
