//! Kernels as data: arguments, layouts, what is done with them.

use crate::support::clang;
use clang::{AddressSpace, Field, Kernel, Options, Scalar, Type};

fn kernel(source: &str) -> Kernel {
    let answer = clang().parse(source, &Options::opencl()).expect("the worker survives");
    if let Some(error) = answer.first_error() {
        panic!("{} in\n{source}", error.message);
    }
    let mut facts = answer.facts.expect("a parse answers with facts");
    facts.kernels.pop().expect("it holds a kernel")
}

/// `name:` and letters for indexes, read, written, for each argument.
fn accesses(kernel: &Kernel) -> String {
    let each = kernel.arguments.iter().map(|a| {
        let letters = [(a.indexes, "i"), (a.read, "r"), (a.written, "w")];
        format!("{}:{}", a.name, letters.iter().filter(|l| l.0).map(|l| l.1).collect::<String>())
    });
    each.collect::<Vec<_>>().join(" ")
}

const ACCESSES: &[(&str, &str)] = &[
    (
        "kernel void k(global float* a, global float* b, int n) { int i = get_global_id(0); if (i < n) b[i] = a[i]; }",
        "a:r b:w n:r",
    ),
    ("kernel void k(global int* x, global float* b) { b[x[get_global_id(0)]] += 1; }", "x:ir b:rw"),
    (
        "kernel void k(global int* x, global float* b, int n) { int j = x[0] * 2 + n; global float* p = b; p += j; *p = 1; }",
        "x:ir b:w n:ir",
    ),
    (
        "int pick(global const int* t, int i) { return t[i]; } void put(global int* o, int at) { o[at] = 1; }\n\
      kernel void k(global int* t, global int* o) { put(o, pick(t, get_global_id(0))); }",
        "t:ir o:w",
    ),
    (
        "kernel void k(global float* a, global float4* b) { vstore4(vload4(get_global_id(0), a), 0, a); b[0].x = 1; }",
        "a:rw b:w",
    ),
    (
        "kernel void k(global int* c, global int* o) { int i = atomic_inc(c); o[i] = 1; }",
        "c:irw o:w",
    ),
    (
        "kernel void k(local int* l, global int* x, global int* o) { l[0] = x[0]; barrier(CLK_LOCAL_MEM_FENCE); o[l[0]] = 2; }",
        "l:irw x:ir o:w",
    ),
    (
        "typedef struct { int at; float v; } S; kernel void k(global S* s, global float* o) { S t = s[0]; o[t.at] = t.v; }",
        "s:ir o:w",
    ),
    (
        "kernel void k(read_only image2d_t i, write_only image2d_t o, sampler_t s) { write_imagef(o, (int2)(0, 1), read_imagef(i, s, (int2)(1, 0))); }",
        "i:r o:w s:r",
    ),
    (
        "kernel void k(global int* a, global int* b) { global int* p = get_global_id(0) ? a : b; *p = 1; }",
        "a:w b:w",
    ),
    ("kernel void k(global int* a, int unused) { a[0]; (void)unused; }", "a:r unused:r"),
    (
        "kernel void k(global float* a, global float* b) { float f; b[0] = fract(a[0], &f) + f; event_t e = async_work_group_copy((local float*)0, a, 1, 0); wait_group_events(1, &e); }",
        "a:r b:w",
    ),
];

#[test]
fn what_is_read_written_and_used_as_index_is_followed_through_variables_and_calls() {
    for (source, expected) in ACCESSES {
        assert_eq!(accesses(&kernel(source)), *expected, "in\n{source}");
    }
}

#[test]
fn dimensions_are_one_more_than_the_highest_asked_for() {
    for (dimensions, body) in [
        (1, "a[0] = 1;"),
        (1, "a[get_global_id(0)] = 1;"),
        (2, "a[get_global_id(0) + get_group_id(1)] = 1;"),
        (3, "for (int d = 0; d < 2; ++d) a[get_local_id(d)] = 1;"),
        (3, "a[row()] = 1;"),
    ] {
        let source = format!(
            "int row(void) {{ enum {{ Z = 2 }}; return get_global_size(Z); }} kernel void k(global int* a) {{ {body} }}"
        );
        assert_eq!(kernel(&source).dimensions, dimensions, "{body}");
    }
}

#[test]
fn argument_types_carry_their_layout() {
    let source = "typedef struct { char c; float3 v; half h; struct { int x, y; } in[2]; union { int i; float f; } u; } S;\n\
        kernel __attribute__((reqd_work_group_size(16, 4, 1))) void k(global const S* s, constant float4* t, local uchar* l,\n\
          read_write image3d_t im, sampler_t sm, double d, ulong z) {}";
    let kernel = kernel(source);
    assert_eq!(kernel.required_group_size, Some([16, 4, 1]));
    let int = Type::Scalar { scalar: Scalar::Signed, size_bytes: 4 };
    let field =
        |name: &str, offset_bytes, r#type| Field { name: name.into(), offset_bytes, r#type };
    let pointer = |space, pointee| Type::Pointer { space, pointee: Box::new(pointee) };
    let inner = Type::Struct {
        name: String::new(),
        size_bytes: 8,
        align_bytes: 4,
        fields: vec![field("x", 0, int.clone()), field("y", 4, int)],
    };
    let record = Type::Struct {
        name: "S".into(),
        size_bytes: 64,
        align_bytes: 16,
        fields: vec![
            field("c", 0, Type::Scalar { scalar: Scalar::Signed, size_bytes: 1 }),
            field("v", 16, Type::Vector { scalar: Scalar::Float, size_bytes: 4, lanes: 3 }),
            field("h", 32, Type::Scalar { scalar: Scalar::Float, size_bytes: 2 }),
            field("in", 36, Type::Array { element: Box::new(inner), length: 2 }),
            field("u", 52, Type::Union { name: String::new(), size_bytes: 4, align_bytes: 4 }),
        ],
    };
    let types: Vec<_> = kernel.arguments.iter().map(|a| a.r#type.clone()).collect();
    assert_eq!(
        types,
        [
            pointer(AddressSpace::Global, record),
            pointer(
                AddressSpace::Constant,
                Type::Vector { scalar: Scalar::Float, size_bytes: 4, lanes: 4 }
            ),
            pointer(AddressSpace::Local, Type::Scalar { scalar: Scalar::Unsigned, size_bytes: 1 }),
            Type::Image { kind: "image3d_t".into(), read: true, write: true },
            Type::Sampler,
            Type::Scalar { scalar: Scalar::Float, size_bytes: 8 },
            Type::Scalar { scalar: Scalar::Unsigned, size_bytes: 8 },
        ]
    );
    let constant: Vec<_> = kernel.arguments.iter().map(|a| a.constant).collect();
    assert_eq!(constant, [true, true, false, false, false, false, false]);
}

#[test]
fn a_struct_that_points_to_itself_has_a_finite_description() {
    let source = "struct N { struct N* next; int v; }; kernel void k(global int* o) { struct N n; n.v = 1; o[0] = n.v; }\n\
                  kernel void j(local struct N* n) { n->v = 1; }";
    let kernel = kernel(source);
    let Type::Pointer { pointee, .. } = &kernel.arguments[0].r#type else { panic!("a pointer") };
    let Type::Struct { fields, .. } = &**pointee else { panic!("to a struct") };
    let Type::Pointer { pointee, .. } = &fields[0].r#type else { panic!("with a pointer") };
    assert_eq!(**pointee, Type::Opaque("struct N".into()));
}
