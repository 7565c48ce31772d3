ss << "kernel void a(global " << name(type) << " *b) {\n";
ss << "}";
