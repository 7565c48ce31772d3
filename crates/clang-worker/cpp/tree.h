// The syntax tree in preorder.
#pragma once

#include "facts.h"

namespace stampmill {

// Fills the outcome's strings and nodes with what the source itself declares.
void write_tree(clang::ASTContext &context, const Locations &locations, const Facts &facts, Outcome &outcome);

}  // namespace stampmill
