// The functions that Rust calls; src/bridge.rs declares them and the structures they pass.
#pragma once

#include "rust/cxx.h"

namespace stampmill {

struct Query;
struct Outcome;
struct Text;

rust::String version();
void start(rust::Slice<const Text> headers, rust::Slice<const rust::String> host_folders);
Outcome answer(const Query &query);

}  // namespace stampmill
