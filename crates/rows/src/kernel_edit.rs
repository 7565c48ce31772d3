schema! {
    /// One row of a data set of schema `kernel-edit`: a candidate for an OpenCL kernel beside the kernel it is to
    /// replace, at one size on one device.
    #[derive(Default)]
    pub struct KernelEditRow = "kernel-edit", 2 {
        /// The slow program, as the input names it.
        pub src_id: String,
        /// The candidate: as the input names it, or the hash of its text.
        pub tgt_id: String,
        /// The slow kernel, or several in order joined by `+`.
        pub kernel: String,
        /// The device's name; of several of one name with its number behind it, as in `NVIDIA H200 #2`.
        pub device: String,
        /// `cpu`, `gpu`, `accelerator` or `other`.
        pub device_type: String,
        /// Its platform.
        pub platform: String,
        /// Its driver's version.
        pub driver: String,
        /// Work-items.
        pub global_size: u64,
        /// How the payload was chosen: the name of a variant.
        pub payload: String,
        /// A [`KernelEditVerdict`].
        pub verdict: String,
        /// The buffer, the argument, the compiler's first error.
        pub detail: String,
        /// Median time of the slow kernel on the device, by its own clock.
        pub slow_ns: Option<u64>,
        /// Median time of the candidate.
        pub fast_ns: Option<u64>,
        /// `slow_ns / fast_ns`: above 1 the candidate is faster.
        pub speedup: Option<f64>,
        /// Lower end of the speedup's 95 % confidence interval.
        pub speedup_low: Option<f64>,
        /// Its upper end.
        pub speedup_high: Option<f64>,
        /// How often both were executed, in turn.
        pub repeats: Option<u32>,
        /// Largest relative difference of a result that is a floating-point number; 0: they are equal to the bit.
        pub difference: Option<f64>,
        /// Bytes that buffers read hold and buffers written hold: what has to be moved at least.
        pub bytes: Option<u64>,
        /// These bytes in a second of the candidate, as a share of what a triad moves on this device in a second.
        pub bandwidth_share: Option<f64>,
        /// Floating-point operations of one execution of the candidate, where they were asked for and can be counted: as counted in
        /// its first group of work-items, for all of them.
        #[serde(default)]
        pub operations: Option<u64>,
        /// These operations in a second of the candidate, as a share of what multiplications and additions of `float` come to on this
        /// device in a second.
        #[serde(default)]
        pub operations_share: Option<f64>,
    }
}

words! {
    /// Verdicts of `edits judge-kernels`, in schema `kernel-edit`.
    pub enum KernelEditVerdict, "verdict on an edit of a kernel" {
        Accepted "accepted" Program "its results are the slow kernel's on every payload";
        DoesNotCompile "does-not-compile" Program "clang's or the device's compiler's first error";
        InterfaceDiffers "interface-differs" Program "its kernels or their arguments are not the slow kernel's";
        Refused "refused" Program "it reaches out of itself (assembly, calls of what it does not define): no driver is given it";
        WrongOutput "wrong-output" Program "a buffer that the slow kernel writes differs";
        WritesInput "writes-input" Program "it changes a buffer that the slow kernel leaves as it was";
        NonDeterministic "non-deterministic" Program "two equal inputs give different outputs";
        OutOfBounds "out-of-bounds" Program "it reads or writes outside of its buffers, or what was never written";
        Crashes "crashes" Program "it brought the driver down";
        Timeout "timeout" Program "it ran into its limit";
        ChangesLater "changes-later" Program "right when it was checked, wrong in a later execution of those that were timed";
        SourceFails "source-fails" Program "the slow kernel itself does not pass `run`'s checker, so nothing can be compared";
        InvalidSize "invalid-size" Us "the size does not fit the candidate or the device";
        OutOfResources "out-of-resources" Us "the device had not enough memory, registers or the like";
    }
}
