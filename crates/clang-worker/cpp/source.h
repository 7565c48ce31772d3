// Places in the program's own source, as byte offsets.
#pragma once

#include <cstdint>

#include "clang/Basic/LangOptions.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringRef.h"

#include "rust/cxx.h"

namespace stampmill {

// Stands for "none" in offsets and indices, as in src/bridge.rs.
inline constexpr uint32_t kNone = UINT32_MAX;

// Source text need not be UTF-8; what crosses the bridge must be.
inline rust::String to_rust(llvm::StringRef text) { return rust::String::lossy(text.data(), text.size()); }

class Locations {
 public:
  Locations(const clang::SourceManager &sources, const clang::LangOptions &language)
      : sources_(sources), language_(language), file_(sources.getMainFileID()),
        text_(sources.getBufferData(file_)) {}

  llvm::StringRef text() const { return text_; }

  // Whether what stands at `place`, after macro expansion, stands in the source itself.
  bool inside(clang::SourceLocation place) const {
    return place.isValid() && sources_.getFileID(sources_.getExpansionLoc(place)) == file_;
  }

  // First byte; for a macro expansion, of the macro's name.
  uint32_t begin(clang::SourceLocation place) const {
    return place.isValid() ? offset(sources_.getExpansionLoc(place)) : kNone;
  }

  // One past the last byte of the token at `place`; for a macro expansion, of the whole of it.
  uint32_t end(clang::SourceLocation place) const {
    if (!place.isValid()) return kNone;
    clang::CharSourceRange range = sources_.getExpansionRange(place);
    uint32_t last = offset(range.getEnd());
    if (last == kNone || !range.isTokenRange()) return last;
    return last + clang::Lexer::MeasureTokenLength(range.getEnd(), sources_, language_);
  }

  // Where a name is spelt out: in the source directly or as an argument of a macro; `kNone` if the
  // macro's own text spells it, or if something else stands there.
  uint32_t name(clang::SourceLocation place, llvm::StringRef name) const {
    if (!place.isValid() || name.empty()) return kNone;
    if (place.isMacroID()) {
      if (!sources_.isMacroArgExpansion(place)) return kNone;
      place = sources_.getSpellingLoc(place);
    }
    uint32_t at = offset(place);
    return at != kNone && text_.substr(at).starts_with(name) ? at : kNone;
  }

  // One past the semicolon that closes a declaration whose known part ends at `from`; `from` if
  // there is none.
  uint32_t after_semicolon(uint32_t from) const {
    int depth = 0;
    uint32_t end = from;
    lex(from, [&](const clang::Token &token, uint32_t at) {
      if (token.isOneOf(clang::tok::l_paren, clang::tok::l_square, clang::tok::l_brace)) ++depth;
      if (token.isOneOf(clang::tok::r_paren, clang::tok::r_square, clang::tok::r_brace)) --depth;
      if (depth > 0 || token.isNot(clang::tok::semi)) return depth >= 0;
      end = at + 1;
      return false;
    });
    return end;
  }

  // Calls `visit(token, offset)` for the raw tokens from `from` on until it returns false.
  template <typename Visit>
  void lex(uint32_t from, Visit visit) const {
    clang::Lexer lexer(sources_.getLocForStartOfFile(file_), language_, text_.begin(), text_.begin() + from,
                       text_.end());
    clang::Token token;
    do {
      lexer.LexFromRawLexer(token);
    } while (token.isNot(clang::tok::eof) && visit(token, offset(token.getLocation())));
  }

 private:
  uint32_t offset(clang::SourceLocation place) const {
    auto [file, at] = sources_.getDecomposedLoc(place);
    return file == file_ ? at : kNone;
  }

  const clang::SourceManager &sources_;
  const clang::LangOptions &language_;
  clang::FileID file_;
  llvm::StringRef text_;
};

}  // namespace stampmill
