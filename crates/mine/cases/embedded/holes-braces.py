s = 'kernel void a(global {} *b) {{ b[{at}] = 1; }}'.format(dtype, at=3)
