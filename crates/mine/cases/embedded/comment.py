# 'kernel void a() {}'
