//! IR data sets from production packages: a compiler wrapper, extraction, deduplication, statistics.
