#include "diagnostics.h"

#include "clang/AST/Decl.h"
#include "clang/AST/DeclarationName.h"
#include "clang/Basic/IdentifierTable.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

#include "stampmill-clang-worker/src/bridge.rs.h"
#include "source.h"

namespace stampmill {
namespace {

bool looks_like_name(llvm::StringRef text) {
  return !text.empty() && !llvm::isDigit(text[0]) &&
         llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

// The first argument of the message that names something; for a missing header, its spelling.
std::string subject_of(const clang::Diagnostic &info, llvm::StringRef kind) {
  using Engine = clang::DiagnosticsEngine;
  bool is_file = kind.starts_with("err_pp_file_not_found") || kind == "err_cannot_open_file";
  for (unsigned i = 0; i < info.getNumArgs(); ++i) {
    switch (info.getArgKind(i)) {
      case Engine::ak_identifierinfo:
        if (const auto *name = info.getArgIdentifier(i)) return name->getName().str();
        break;
      case Engine::ak_declarationname:
        return clang::DeclarationName::getFromOpaqueInteger(info.getRawArg(i)).getAsString();
      case Engine::ak_nameddecl:
        if (const auto *decl = reinterpret_cast<const clang::NamedDecl *>(info.getRawArg(i)))
          return decl->getNameAsString();
        break;
      case Engine::ak_std_string:
        if (is_file || looks_like_name(info.getArgStdStr(i))) return info.getArgStdStr(i);
        break;
      case Engine::ak_c_string:
        if (const char *text = info.getArgCStr(i); text && (is_file || looks_like_name(text))) return text;
        break;
      default:
        break;
    }
  }
  return "";
}

}  // namespace

void Collector::HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic &info) {
  DiagnosticConsumer::HandleDiagnostic(level, info);
  bool error = level >= clang::DiagnosticsEngine::Error;
  uint32_t &count = error ? errors_ : others_;
  if (level == clang::DiagnosticsEngine::Ignored || count >= limit_) return;
  llvm::StringRef kind = diagnostic_name(info.getID());
  // Of OpenCL's builtins, which have no place, clang 19 names such candidates in one run and not in the next.
  if (kind.starts_with("note_ovl_")) return;
  ++count;

  llvm::SmallString<256> message;
  info.FormatDiagnostic(message);
  for (char &c : message)
    if (c == '\n' || c == '\r') c = ' ';

  Diagnostic out;
  out.severity = error ? 2 : level == clang::DiagnosticsEngine::Note ? 0 : 1;
  out.kind = to_rust(kind);
  out.message = to_rust(message);
  out.subject = to_rust(subject_of(info, kind));
  out.offset = kNone;
  out.line = kNone;
  if (info.hasSourceManager() && info.getLocation().isValid()) {
    const clang::SourceManager &sources = info.getSourceManager();
    auto [file, offset] = sources.getDecomposedLoc(sources.getFileLoc(info.getLocation()));
    if (file == sources.getMainFileID()) {
      out.offset = offset;
      out.line = sources.getLineNumber(file, offset);
    }
  }
  outcome_.diagnostics.push_back(std::move(out));
}

void report_error(Outcome &outcome, llvm::StringRef kind, llvm::StringRef message, llvm::StringRef subject) {
  Diagnostic out;
  out.severity = 2;
  out.kind = to_rust(kind);
  out.message = to_rust(message);
  out.subject = to_rust(subject);
  out.offset = kNone;
  out.line = kNone;
  outcome.diagnostics.push_back(std::move(out));
}

}  // namespace stampmill
