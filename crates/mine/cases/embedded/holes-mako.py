s = Template('kernel void a(global ${dtype} *b) { }')
