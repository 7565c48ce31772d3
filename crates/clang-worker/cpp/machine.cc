#include "machine.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

namespace stampmill {
namespace {

// Each has 0.3 MiB of tables.
constexpr size_t kMachines = 8;

struct Machine {
  std::unique_ptr<llvm::TargetMachine> machine;
  std::string layout;
};

llvm::StringMap<Machine> &machines() {
  static auto *machines = new llvm::StringMap<Machine>();
  return *machines;
}

// The arguments of the program that is being compiled; empty between programs.
std::string &arguments_now() {
  static auto *arguments = new std::string();
  return *arguments;
}

// What clang gets and destroys: it answers as the machine behind it. Passes over IR ask no more than
// this of a machine; code is never generated here.
class Lent : public llvm::TargetMachine {
 public:
  explicit Lent(const Machine &kept)
      : TargetMachine(kept.machine->getTarget(), kept.layout, kept.machine->getTargetTriple(),
                      kept.machine->getTargetCPU(), kept.machine->getTargetFeatureString(), kept.machine->Options),
        machine_(*kept.machine) {
    RM = machine_.getRelocationModel();
    CMModel = machine_.getCodeModel();
    OptLevel = machine_.getOptLevel();
    RequireStructuredCFG = machine_.requiresStructuredCFG();
    O0WantsFastISel = machine_.getO0WantsFastISel();
  }

  const llvm::TargetSubtargetInfo *getSubtargetImpl(const llvm::Function &function) const override {
    return machine_.getSubtargetImpl(function);
  }
  llvm::TargetTransformInfo getTargetTransformInfo(const llvm::Function &function) const override {
    return machine_.getTargetTransformInfo(function);
  }
  void registerPassBuilderCallbacks(llvm::PassBuilder &builder) override {
    machine_.registerPassBuilderCallbacks(builder);
  }
  void registerDefaultAliasAnalyses(llvm::AAManager &analyses) override {
    machine_.registerDefaultAliasAnalyses(analyses);
  }
  bool isNoopAddrSpaceCast(unsigned from, unsigned to) const override {
    return machine_.isNoopAddrSpaceCast(from, to);
  }
  unsigned getAssumedAddrSpace(const llvm::Value *value) const override {
    return machine_.getAssumedAddrSpace(value);
  }
  std::pair<const llvm::Value *, unsigned> getPredicatedAddrSpace(const llvm::Value *value) const override {
    return machine_.getPredicatedAddrSpace(value);
  }

 private:
  llvm::TargetMachine &machine_;
};

llvm::TargetMachine *make(const llvm::Target &target, const llvm::Triple &triple, llvm::StringRef cpu,
                          llvm::StringRef features, const llvm::TargetOptions &options,
                          std::optional<llvm::Reloc::Model> relocation, std::optional<llvm::CodeModel::Model> code,
                          llvm::CodeGenOptLevel level, bool jit) {
  auto found = machines().find(arguments_now());
  if (found != machines().end()) return new Lent(found->second);
  // LLVM's own maker, for which this one stands in.
  LLVMInitializeNVPTXTarget();
  std::unique_ptr<llvm::TargetMachine> machine(
      target.createTargetMachine(triple.str(), cpu, features, options, relocation, code, level, jit));
  keep_machines();
  if (arguments_now().empty()) return machine.release();
  // A program has one machine at a time: none of these is lent now.
  if (machines().size() == kMachines) machines().clear();
  Machine &kept = machines()[arguments_now()];
  kept.layout = machine->createDataLayout().getStringRepresentation();
  kept.machine = std::move(machine);
  return new Lent(kept);
}

}  // namespace

void keep_machines() {
  for (const char *triple : {"nvptx-nvidia-nvcl", "nvptx64-nvidia-nvcl"}) {
    std::string error;
    // LLVM's targets are variables, which its registry shows as constants.
    if (auto *target = const_cast<llvm::Target *>(llvm::TargetRegistry::lookupTarget(triple, error)))
      llvm::TargetRegistry::RegisterTargetMachine(*target, make);
  }
}

KeptMachine::KeptMachine(llvm::StringRef arguments) { arguments_now() = arguments.str(); }

KeptMachine::~KeptMachine() { arguments_now().clear(); }

}  // namespace stampmill
