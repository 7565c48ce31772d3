// The project's one code style, by clang's own format library.
#include <algorithm>

#include "clang/Format/Format.h"
#include "clang/Tooling/Core/Replacement.h"

#include "stampmill-clang-worker/src/bridge.rs.h"
#include "source.h"
#include "tasks.h"

namespace stampmill {
namespace {

clang::format::FormatStyle style() {
  using clang::format::FormatStyle;
  FormatStyle style = clang::format::getGoogleStyle(FormatStyle::LK_Cpp);
  style.ColumnLimit = 100;
  style.DerivePointerAlignment = false;
  style.PointerAlignment = FormatStyle::PAS_Left;
  style.AllowShortFunctionsOnASingleLine = FormatStyle::SFS_None;
  style.AllowShortIfStatementsOnASingleLine = FormatStyle::SIS_Never;
  style.AllowShortLoopsOnASingleLine = false;
  style.AllowShortBlocksOnASingleLine = FormatStyle::SBS_Empty;
  style.AllowShortEnumsOnASingleLine = false;
  style.SeparateDefinitionBlocks = FormatStyle::SDS_Always;
  style.KeepEmptyLines = {/*AtEndOfFile=*/false, /*AtStartOfBlock=*/false, /*AtStartOfFile=*/false};
  style.MaxEmptyLinesToKeep = 1;
  style.InsertNewlineAtEOF = true;
  style.SortIncludes = FormatStyle::SI_Never;
  style.Standard = FormatStyle::LS_Auto;
  return style;
}

std::string format_once(const clang::format::FormatStyle &style, llvm::StringRef path, const std::string &text) {
  clang::tooling::Range all(0, text.size());
  auto changes = clang::format::reformat(style, text, all, path);
  auto result = clang::tooling::applyAllReplacements(text, changes);
  if (result) return *result;
  llvm::consumeError(result.takeError());
  return text;
}

}  // namespace

void format(const Query &query, Outcome &outcome) {
  const clang::format::FormatStyle chosen = style();
  llvm::StringRef path(query.path.data(), query.path.size());
  // The library is not idempotent everywhere. The result here is the text it settles on; where it
  // goes round in a circle, the least text of that circle: either way formatting it again changes
  // nothing.
  std::vector<std::string> seen{std::string(query.source)};
  std::string last;
  for (int round = 0; round < 16; ++round) {
    std::string next = format_once(chosen, path, seen.back());
    auto again = std::find(seen.begin(), seen.end(), next);
    if (again != seen.end()) {
      last = *std::min_element(again, seen.end());
      break;
    }
    last = next;
    seen.push_back(std::move(next));
  }
  outcome.has_text = true;
  outcome.text = to_rust(last);
}

}  // namespace stampmill
