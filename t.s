.intel_syntax noprefix
vmovups ymm0,[r8]
