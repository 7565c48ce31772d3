use super::*;
use crate::kernel::{Interface, Step};
use clang::Scalar;

const FLOAT: Type = Type::Scalar { scalar: Scalar::Float, size_bytes: 4 };
const INT: Type = Type::Scalar { scalar: Scalar::Signed, size_bytes: 4 };

fn limits() -> Limits {
    Limits {
        group: 1024,
        items: [1024; 3],
        buffer_bytes: 1 << 30,
        memory_bytes: 1 << 31,
        constant_bytes: 1 << 16,
        local_bytes: 48 << 10,
        images: true,
        image_side: 8192,
    }
}

fn argument(name: &str, r#type: Type) -> Argument {
    Argument {
        name: name.into(),
        type_name: "T".into(),
        r#type,
        constant: false,
        indexes: false,
        read: true,
        written: true,
    }
}

fn pointer(space: AddressSpace, pointee: Type) -> Type {
    Type::Pointer { space, pointee: Box::new(pointee) }
}

fn job(arguments: Vec<Argument>, dimensions: u8, size: u64, variant: usize) -> Job {
    let interface =
        Interface { name: "A".into(), arguments, dimensions, required_group_size: None };
    let steps = vec![Step::alone(interface)];
    Job { path: "p".into(), steps, size, group: None, variant, values: Values::Uniform, seed: 1 }
}

fn plan(job: &Job) -> Result<Plan, Finding> {
    Plan::new(job, "", &vec![limits(); job.steps.len()])
}

#[test]
fn follows_the_rules_of_the_paper_in_one_dimension() {
    let write_only =
        Argument { read: false, ..argument("c", pointer(AddressSpace::Global, FLOAT)) };
    let read_only =
        Argument { written: false, ..argument("a", pointer(AddressSpace::Global, FLOAT)) };
    let arguments = vec![
        read_only,
        write_only,
        argument("l", pointer(AddressSpace::Local, FLOAT)),
        argument("n", INT),
        argument("x", FLOAT),
    ];
    let job = job(arguments, 1, 1024, 0);
    let plan = plan(&job).expect("a payload exists");
    assert_eq!(plan.objects.iter().map(|object| object.elements).collect::<Vec<_>>(), [1024, 1024]);
    assert_eq!(plan.transferred_bytes(), 2 * 4096, "one in, one out");
    assert_eq!(plan.bindings[0][2], Binding::Local(256 * 2 * 4));
    let payload = plan.payload(&job, Side::A);
    assert_eq!(payload.arguments[0][3], 1024_i32.to_le_bytes());
    assert_ne!(payload.arguments[0][4], plan.payload(&job, Side::B).arguments[0][4]);
}

#[test]
fn integers_are_the_sides_of_a_plane_and_its_shorter_side_beyond() {
    let integers = |variant| {
        let arguments = ["w", "h", "d"].map(|name| argument(name, INT)).to_vec();
        let job = job(arguments, 2, 512, variant);
        let payload = plan(&job).expect("a payload exists").payload(&job, Side::A);
        payload.arguments[0].iter().map(|bytes| bytes[0]).collect::<Vec<_>>()
    };
    assert_eq!(integers(0), [32, 16, 16]);
    assert_eq!(integers(1), [16, 16, 16]);
    assert_eq!(integers(4), [8, 8, 8]);
}

#[test]
fn buffers_of_indices_stay_inside_of_their_buffers() {
    let list = Argument { indexes: true, ..argument("i", pointer(AddressSpace::Global, INT)) };
    let job = job(vec![list], 1, 100, 0);
    let payload = plan(&job).expect("a payload exists").payload(&job, Side::A);
    let below = |four: &[u8]| u32::from_le_bytes(four.try_into().expect("four bytes")) < 100;
    assert!(payload.objects[0].chunks_exact(4).all(below));
}

#[test]
fn names_the_argument_it_has_no_payload_for() {
    let inner = pointer(AddressSpace::Global, FLOAT);
    let job = job(vec![argument("pp", pointer(AddressSpace::Global, inner))], 1, 64, 0);
    let finding = plan(&job).expect_err("pointers to pointers");
    assert_eq!(finding.outcome, Outcome::UnsupportedArgument);
    assert!(finding.detail.contains("pp"), "{}", finding.detail);
}

#[test]
fn sizes_the_device_cannot_hold_are_invalid_and_say_the_numbers() {
    let big = |space, size| {
        let job = job(vec![argument("a", pointer(space, FLOAT))], 1, size, 0);
        plan(&job).expect_err("does not fit")
    };
    let constant = big(AddressSpace::Constant, 1 << 15);
    assert_eq!(constant.outcome, Outcome::InvalidSize);
    assert!(constant.detail.contains("65536"), "{}", constant.detail);
    assert_eq!(big(AddressSpace::Global, 1 << 40).outcome, Outcome::InvalidSize);
    assert_eq!(big(AddressSpace::Global, 0).outcome, Outcome::InvalidSize);
}

#[test]
fn kernels_in_a_row_share_buffers_of_one_name_and_type() {
    let step = |read, written| {
        let shared =
            Argument { read, written, ..argument("a", pointer(AddressSpace::Global, FLOAT)) };
        let arguments = vec![shared, argument("n", INT)];
        let (name, required_group_size) = ("K".into(), None);
        Step::alone(Interface { name, arguments, dimensions: 1, required_group_size })
    };
    let mut job = job(Vec::new(), 1, 64, 0);
    job.steps = vec![step(false, true), step(true, false)];
    let plan = plan(&job).expect("a payload exists");
    assert_eq!(plan.objects.len(), 1);
    assert_eq!(plan.bindings[1][0], Binding::Object(0));
    assert_eq!(plan.transferred_bytes(), 2 * 256);
}

#[test]
fn a_kernel_without_arguments_says_so() {
    assert_eq!(plan(&job(Vec::new(), 1, 64, 0)).expect_err("none").outcome, Outcome::NoArguments);
}

#[test]
fn altered_integers_are_smaller_and_differ() {
    let arguments = vec![
        argument("a", pointer(AddressSpace::Global, FLOAT)),
        argument("n", INT),
        argument("m", INT),
    ];
    let plan = plan(&job(arguments, 1, 1024, 0)).expect("a plan");
    let integers = |plan: &Plan| -> Vec<u64> {
        let all = plan.bindings.iter().flatten();
        all.filter_map(
            |one| if let Binding::Value(_, integer) = one { Some(*integer) } else { None },
        )
        .collect()
    };
    assert_eq!(integers(&plan.altered(0)), [1024, 1024]);
    let (one, two) = (integers(&plan.altered(1)), integers(&plan.altered(2)));
    assert_eq!((one.clone(), two.clone()), (vec![766, 765], vec![764, 763]));
    assert!([one, two].concat().iter().all(|integer| !integer.is_power_of_two()));
}

#[test]
fn a_size_that_a_small_integer_does_not_hold_is_half_of_what_it_holds() {
    let small = |scalar, size_bytes, size| {
        let by_value = argument("n", Type::Scalar { scalar, size_bytes });
        let all = vec![argument("a", pointer(AddressSpace::Global, FLOAT)), by_value];
        let plan = plan(&job(all, 1, size, 0)).expect("a plan");
        let Some(Binding::Value(_, integer)) = plan.bindings[0].last() else { panic!("{plan:?}") };
        *integer
    };
    assert_eq!(small(Scalar::Unsigned, 1, 128), 128);
    assert_eq!(small(Scalar::Unsigned, 1, 256), 128);
    assert_eq!(small(Scalar::Signed, 1, 1 << 20), 64);
    assert_eq!(small(Scalar::Unsigned, 2, 1 << 16), 1 << 15);
    assert_eq!(small(Scalar::Signed, 4, 1 << 16), 1 << 16);
}

#[test]
fn a_host_programs_sizes_and_values_stand_for_what_would_be_drawn() {
    let list = Argument { indexes: true, ..argument("i", pointer(AddressSpace::Global, INT)) };
    let arguments = vec![
        list,
        argument("l", pointer(AddressSpace::Local, FLOAT)),
        argument("n", INT),
        argument("x", FLOAT),
        argument("m", INT),
    ];
    let mut job = job(arguments, 1, 4096, 2);
    let elements = |elements| HostArgument { elements: Some(elements), ..HostArgument::default() };
    let value = |value| HostArgument { value: Some(value), ..HostArgument::default() };
    job.steps[0].host = Some(HostPayload {
        global: vec![64, 64],
        local: vec![16, 4],
        arguments: vec![
            HostArgument { below: Some(5), ..elements(100) },
            elements(17),
            value(-3.0),
            value(0.5),
        ],
    });
    let plan = plan(&job).expect("a payload exists");
    assert_eq!((plan.ranges[0].global, plan.ranges[0].local), ([64, 64, 1], [16, 4, 1]));
    assert_eq!((plan.objects[0].elements, plan.objects[0].below), (100, Some(5)));
    assert_eq!(plan.bindings[0][1], Binding::Local(17 * 4));
    let payload = plan.payload(&job, Side::B);
    let [_, _, n, x, m] = payload.arguments[0].as_slice() else { panic!("five arguments") };
    assert_eq!(n.as_slice(), (-3_i32).to_le_bytes());
    assert_eq!(x.as_slice(), 0.5_f32.to_le_bytes());
    assert_eq!(m.as_slice(), 64_i32.to_le_bytes(), "what the host says nothing of is drawn");
}

#[test]
fn a_host_programs_groups_have_to_divide_its_sizes() {
    let mut job = job(vec![argument("a", pointer(AddressSpace::Global, FLOAT))], 1, 64, 0);
    job.steps[0].host =
        Some(HostPayload { global: vec![100], local: vec![64], arguments: Vec::new() });
    let finding = plan(&job).expect_err("64 does not divide 100");
    assert_eq!(finding.outcome, Outcome::InvalidSize);
    job.steps[0].host =
        Some(HostPayload { global: vec![100], local: Vec::new(), arguments: Vec::new() });
    assert_eq!(plan(&job).expect("the driver's groups").ranges[0].local, [100, 1, 1]);
}

#[test]
fn bounds_lie_apart_where_others_hide_the_input() {
    let data = argument("a", pointer(AddressSpace::Global, INT));
    let arguments = vec![data, argument("lo", INT), argument("hi", INT), argument("n", INT)];
    let last = VARIANTS.len() - 1;
    assert!(VARIANTS[last].is_apart());
    let plan = plan(&job(arguments, 1, 4096, last)).expect("it has a payload");
    let integers = plan.bindings[0].iter().filter_map(|binding| match binding {
        Binding::Value(_, integer) => Some(*integer),
        _ => None,
    });
    assert_eq!(integers.collect::<Vec<_>>(), [1, 4, 16]);
}
