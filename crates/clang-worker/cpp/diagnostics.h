// What the compiler says, as data.
#pragma once

#include "clang/Basic/Diagnostic.h"
#include "llvm/ADT/StringRef.h"

#include "shim.h"

namespace stampmill {

// Keeps up to `limit` errors and up to as many warnings and notes: a flood of warnings never hides
// why a program was rejected.
class Collector : public clang::DiagnosticConsumer {
 public:
  Collector(Outcome &outcome, uint32_t limit) : outcome_(outcome), limit_(limit) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic &info) override;

 private:
  Outcome &outcome_;
  uint32_t limit_;
  uint32_t errors_ = 0;
  uint32_t others_ = 0;
};

// Reports an error of our own, without a place in the source.
void report_error(Outcome &outcome, llvm::StringRef kind, llvm::StringRef message, llvm::StringRef subject);

// clang's name for a diagnostic, empty if it has none.
llvm::StringRef diagnostic_name(unsigned id);

}  // namespace stampmill
