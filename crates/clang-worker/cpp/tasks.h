// What can be asked, one function each; every one fills its part of the outcome.
#pragma once

#include "shim.h"

namespace benchstone {

void preprocess(const Query &query, Outcome &outcome);
void tokens(const Query &query, Outcome &outcome);
void parse(const Query &query, Outcome &outcome);
void compile(const Query &query, Outcome &outcome);
void canonical_ir(const Query &query, Outcome &outcome);
void format(const Query &query, Outcome &outcome);

}  // namespace benchstone
