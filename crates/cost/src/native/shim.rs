// In a module behind a program in Rust: what its function is called with, by the types of its arguments. SIZE comes
// from us. Traits tell types apart, so that names of types mean what they mean in the program.

/// A number, or a pointer to a buffer.
#[diagnostic::on_unimplemented(message = "an argument of type `{Self}`", label = "unsupported")]
trait Argument {
    const KIND: u8 = b'-';
    unsafe fn of(buffer: usize) -> Self;
}

/// What is in a buffer, by what the driver fills it with.
#[diagnostic::on_unimplemented(message = "an argument that points to `{Self}`", label = "unsupported")]
trait Pointed {
    const KIND: u8;
    fn at(buffer: usize) -> *mut Self;
}

macro_rules! values {
    ($($name:ty: $value:expr),*) => { $(
        impl Argument for $name {
            unsafe fn of(_: usize) -> $name { $value }
        }
    )* };
}
values!(u8: SIZE, i8: SIZE as i8, u16: SIZE as u16, i16: SIZE as i16, u32: SIZE as u32, i32: SIZE as i32);
values!(u64: SIZE as u64, i64: SIZE as i64, u128: SIZE as u128, i128: SIZE as i128);
values!(usize: SIZE as usize, isize: SIZE as isize, f32: 1.5, f64: 1.5, bool: true, char: SIZE as char);

macro_rules! numbers {
    ($($name:ty: $kind:literal),*) => { $(
        impl Pointed for $name {
            const KIND: u8 = $kind;
            fn at(buffer: usize) -> *mut $name { buffer as *mut $name }
        }
    )* };
}
numbers!(u8: b'c', i8: b'c', u16: b's', i16: b's', u32: b'i', i32: b'i', f32: b'f', f64: b'd');
numbers!(u64: b'l', i64: b'l', usize: b'l', isize: b'l');

impl<T: Pointed> Pointed for [T] {
    const KIND: u8 = T::KIND;
    fn at(buffer: usize) -> *mut [T] { ::core::ptr::slice_from_raw_parts_mut(T::at(buffer), SIZE as usize) }
}

impl<T: Pointed, const N: usize> Pointed for [T; N] {
    const KIND: u8 = T::KIND;
    fn at(buffer: usize) -> *mut [T; N] { buffer as *mut [T; N] }
}

impl Pointed for str {
    const KIND: u8 = b'c';
    fn at(buffer: usize) -> *mut str { <[u8]>::at(buffer) as *mut str }
}

impl<T: Pointed + ?Sized> Argument for *mut T {
    const KIND: u8 = T::KIND;
    unsafe fn of(buffer: usize) -> *mut T { T::at(buffer) }
}

impl<T: Pointed + ?Sized> Argument for *const T {
    const KIND: u8 = T::KIND;
    unsafe fn of(buffer: usize) -> *const T { T::at(buffer) }
}

impl<'a, T: Pointed + ?Sized> Argument for &'a mut T {
    const KIND: u8 = T::KIND;
    unsafe fn of(buffer: usize) -> &'a mut T { unsafe { &mut *T::at(buffer) } }
}

impl<'a, T: Pointed + ?Sized> Argument for &'a T {
    const KIND: u8 = T::KIND;
    unsafe fn of(buffer: usize) -> &'a T { unsafe { &*T::at(buffer) } }
}
