// Macro expansion. clang's own `-E` printer would need its line markers taken apart again, and a
// program may hold line markers of its own; this one knows where each token comes from.
#include "clang/Frontend/FrontendActions.h"
#include "clang/Lex/Pragma.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/TokenConcatenation.h"
#include "llvm/ADT/StringSwitch.h"

#include "stampmill-clang-worker/src/bridge.rs.h"
#include "instance.h"
#include "source.h"
#include "tasks.h"

namespace stampmill {
namespace {

class Printer {
 public:
  explicit Printer(clang::Preprocessor &preprocessor)
      : preprocessor_(preprocessor), sources_(preprocessor.getSourceManager()), concatenation_(preprocessor) {}

  // Whether a token stands in the program or its virtual headers.
  bool wanted(clang::SourceLocation place) {
    clang::FileID file = sources_.getFileID(sources_.getExpansionLoc(place));
    if (file == last_file_) return last_wanted_;
    last_file_ = file;
    if (file == sources_.getMainFileID()) return last_wanted_ = true;
    auto entry = sources_.getFileEntryRefForID(file);
    return last_wanted_ = entry && belongs_to_program(entry->getName());
  }

  void print(const clang::Token &token) {
    clang::SourceLocation place = sources_.getExpansionLoc(token.getLocation());
    auto [file, offset] = sources_.getDecomposedLoc(place);
    uint32_t line = sources_.getLineNumber(file, offset);
    if (file != file_ || line != line_) {
      start_line();
      if (token.isAtStartOfLine()) {
        unsigned column = sources_.getColumnNumber(file, offset);
        text_.append(column > 1 ? column - 1 : 0, ' ');
      }
    } else if (token.hasLeadingSpace() || token.isAtStartOfLine() ||
               concatenation_.AvoidConcat(before_last_, last_, token)) {
      text_ += ' ';
    }
    file_ = file;
    line_ = line;
    text_ += preprocessor_.getSpelling(token);
    before_last_ = last_;
    last_ = token;
  }

  // Prints a `#pragma` that the parser is to see, macros expanded where the parser expands them.
  void print_pragma(llvm::StringRef words, clang::Token &first) {
    start_line();
    text_ += words;
    bool expands = false;
    if (const clang::IdentifierInfo *name = first.getIdentifierInfo()) {
      expands = llvm::StringSwitch<bool>(name->getName())
                    .Cases("unroll", "nounroll", "unroll_and_jam", "nounroll_and_jam", true)
                    .Cases("loop", "pack", true)
                    .Default(false);
    }
    while (first.isNot(clang::tok::eod)) {
      text_ += ' ';
      text_ += preprocessor_.getSpelling(first);
      expands ? preprocessor_.Lex(first) : preprocessor_.LexUnexpandedToken(first);
    }
    start_line();
    file_ = clang::FileID();
  }

  std::string take() {
    start_line();
    return std::move(text_);
  }

 private:
  void start_line() {
    if (!text_.empty() && text_.back() != '\n') text_ += '\n';
  }

  clang::Preprocessor &preprocessor_;
  clang::SourceManager &sources_;
  clang::TokenConcatenation concatenation_;
  std::string text_;
  clang::FileID file_, last_file_;
  bool last_wanted_ = false;
  uint32_t line_ = 0;
  clang::Token before_last_{}, last_{};
};

// Catches the pragmas that are not the preprocessor's own.
class PragmaPrinter : public clang::PragmaHandler {
 public:
  PragmaPrinter(Printer &printer, llvm::StringRef words) : printer_(printer), words_(words) {}

  void HandlePragma(clang::Preprocessor &preprocessor, clang::PragmaIntroducer introducer,
                    clang::Token &first) override {
    if (printer_.wanted(introducer.Loc)) {
      printer_.print_pragma(words_, first);
    } else {
      while (first.isNot(clang::tok::eod)) preprocessor.LexUnexpandedToken(first);
    }
  }

 private:
  Printer &printer_;
  std::string words_;
};

class PreprocessAction : public clang::PreprocessorFrontendAction {
 public:
  explicit PreprocessAction(Outcome &outcome) : outcome_(outcome) {}

 protected:
  void ExecuteAction() override {
    clang::Preprocessor &preprocessor = getCompilerInstance().getPreprocessor();
    Printer printer(preprocessor);
    auto *any = new PragmaPrinter(printer, "#pragma");
    auto *gcc = new PragmaPrinter(printer, "#pragma GCC");
    auto *clang_own = new PragmaPrinter(printer, "#pragma clang");
    preprocessor.AddPragmaHandler(any);
    preprocessor.AddPragmaHandler("GCC", gcc);
    preprocessor.AddPragmaHandler("clang", clang_own);

    preprocessor.EnterMainSourceFile();
    clang::Token token;
    for (preprocessor.Lex(token); token.isNot(clang::tok::eof); preprocessor.Lex(token)) {
      if (token.isAnnotation() || !printer.wanted(token.getLocation())) continue;
      printer.print(token);
    }
    outcome_.has_text = true;
    outcome_.text = to_rust(printer.take());

    preprocessor.RemovePragmaHandler(any);
    preprocessor.RemovePragmaHandler("GCC", gcc);
    preprocessor.RemovePragmaHandler("clang", clang_own);
    delete any;
    delete gcc;
    delete clang_own;
  }

 private:
  Outcome &outcome_;
};

}  // namespace

void preprocess(const Query &query, Outcome &outcome) {
  Instance instance(query, outcome);
  PreprocessAction action(outcome);
  instance.run(action);
}

}  // namespace stampmill
