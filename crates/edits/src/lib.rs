//! Performance edits: pairs, tests, judging, prompts, retrieval, scores.
