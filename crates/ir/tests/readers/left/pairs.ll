; Pairs of doubles.
source_filename = "pairs.c"
@x = global ppc_fp128 0xM400C0000000300000000010000000000
