s = f'kernel void a(global {np.dtype} *b) {{ }}'
