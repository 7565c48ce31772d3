SRC = """kernel void a(global %(dtype)s *b) { b[0] %% %d; }""" % (n)
