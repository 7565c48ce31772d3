// Raw tokens: no preprocessing, comments kept.
#include "clang/Basic/IdentifierTable.h"
#include "clang/Lex/Lexer.h"
#include "llvm/Support/MemoryBuffer.h"

#include "stampmill-clang-worker/src/bridge.rs.h"
#include "instance.h"
#include "source.h"
#include "tasks.h"

namespace stampmill {
namespace {

// In the order of `clang::TokenKind` on the Rust side.
enum Kind : uint8_t { kKeyword, kIdentifier, kLiteral, kPunctuation, kComment, kOther };

Kind kind_of(const clang::Token &token, llvm::StringRef spelling, const clang::LangOptions &language,
             clang::IdentifierTable &identifiers) {
  if (token.is(clang::tok::raw_identifier))
    return identifiers.get(spelling).isKeyword(language) ? kKeyword : kIdentifier;
  if (token.is(clang::tok::comment)) return kComment;
  if (clang::tok::isLiteral(token.getKind())) return kLiteral;
  return clang::tok::getPunctuatorSpelling(token.getKind()) ? kPunctuation : kOther;
}

}  // namespace

void tokens(const Query &query, Outcome &outcome) {
  Instance instance(query, outcome);
  if (!instance.valid()) return;
  const clang::LangOptions &language = instance.compiler().getLangOpts();
  clang::IdentifierTable identifiers(language);

  // The lexer needs the terminating zero that a borrowed text lacks.
  auto buffer =
      llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(query.source.data(), query.source.size()));
  llvm::StringRef text = buffer->getBuffer();
  clang::Lexer lexer(clang::SourceLocation(), language, text.begin(), text.begin(), text.end());
  lexer.SetCommentRetentionState(true);
  clang::Token token;
  for (lexer.LexFromRawLexer(token); token.isNot(clang::tok::eof); lexer.LexFromRawLexer(token)) {
    uint32_t offset = lexer.getCurrentBufferOffset() - token.getLength();
    llvm::StringRef spelling = text.substr(offset, token.getLength());
    outcome.tokens.push_back({kind_of(token, spelling, language, identifiers), to_rust(spelling), offset});
  }
}

}  // namespace stampmill
