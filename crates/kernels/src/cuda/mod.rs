//! One content file of CUDA or HIP, all the way to rows: its kernels as they are, each with what it needs, or in OpenCL
//! C where that is proved equal.
//!
//! The file is preprocessed with a header of CUDA's built-ins ([`clang::CUDA_HEADER`]) and cut at the scopes of its
//! namespaces. A kernel is compiled for the device with the pieces that its words lead to; pieces that clang rejects are
//! left out, for the kernel may do without. Templates are instantiated as the host code of the file does.
//!
//! What is translated goes the way of every kernel in OpenCL C, and is then compared with the CUDA it is from: the
//! neutral IR of both ([`clang::Request::NeutralIr`]) is the same, or the kernel is rejected.

mod cut;
mod instance;

use crate::{
    KernelRow, Status,
    compiler::{Compiler, DOES_NOT_COMPILE, does_not_compile},
    file::{self, MINIMUM_INSTRUCTIONS, Source, TOO_SMALL},
    row::RowExt as _,
    setting::Setting,
    solve::{MOST_KERNELS, too_many},
};
use clang::{Diagnostic, Options, Triple};
use cut::{Names, Piece, Role};
use dataset::{Language, Verdict};
use instance::Instance;
use lexer::{Dialect, Token};
use rows::KernelVerdict;
use std::{
    collections::{BTreeSet, HashSet},
    time::Instant,
};

/// Rounds of leaving out what clang rejects.
const ROUNDS: usize = 8;
/// The function of the host that names an instance.
const NAMING: &str = "stampmill_instance";

/// The rows of a content file: its kernels in `language`, and whatever was rejected.
pub(crate) fn rows(
    compiler: &Compiler,
    source: &Source,
    text: &str,
    language: Language,
) -> Vec<KernelRow> {
    let defines = Setting::plain(&source.defines).defines;
    let macros = defines.into_iter().chain(["STAMPMILL_CUDA_MACROS".to_owned()]).collect();
    let options = Options { defines: macros, ..Options::cuda() };
    let heads: BTreeSet<&str> = lexer::cuda_kernel_names(text).into_iter().collect();
    // What the preprocessor complains of did not reach the text.
    let preprocessed = match compiler.preprocess(text, options) {
        Ok((preprocessed, _)) => preprocessed,
        Err(verdict) => return vec![source.rejected("", &verdict)],
    };
    let file = File::of(&preprocessed);
    let names = Names::of(&file.pieces);
    let limit = compiler.limit().saturating_mul(file::QUESTIONS_OF_A_FILE);
    let (begun, mut rows, mut seen) = (Instant::now(), Vec::new(), BTreeSet::new());
    for at in 0..file.pieces.len() {
        let Role::Kernel(name) = &file.pieces[at].role else { continue };
        seen.insert(name.as_str());
        if rows.len() >= MOST_KERNELS {
            rows.push(source.rejected(name, &too_many()));
            continue;
        }
        if begun.elapsed() >= limit {
            rows.push(source.rejected(name, &file::late(limit)));
            continue;
        }
        let own = &file.pieces[at];
        let File { text, tokens, pieces } = &file;
        let Some(instances) = instance::instances(text, tokens, own, name, pieces, &names) else {
            let verdict = Verdict::new(KernelVerdict::NoInstance, "a template of templates");
            rows.push(source.rejected(name, &verdict));
            continue;
        };
        for (number, instance) in instances.iter().enumerate() {
            let shown = match instance.arguments.as_str() {
                "" => name.clone(),
                arguments => format!("{name}<{arguments}>"),
            };
            if number >= instance::MOST {
                let detail =
                    format!("behind the first {} instances of its template", instance::MOST);
                rows.push(
                    source.rejected(&shown, &Verdict::new(KernelVerdict::TooManyKernels, detail)),
                );
                continue;
            }
            let (file, names) = (&file, &names);
            let maker = Maker { compiler, source, file, names, at, name, instance };
            rows.push(match maker.row(language) {
                Ok(mut row) => {
                    row.original_name = shown;
                    row.inferred.extend(instance.defaults.iter().cloned());
                    row
                }
                Err(verdict) => source.rejected(&shown, &verdict),
            });
        }
    }
    for head in heads {
        if seen.insert(head) {
            rows.push(source.rejected(head, &file::inactive()));
        }
    }
    if rows.is_empty() {
        rows.push(source.rejected("", &Verdict::new(KernelVerdict::NoKernel, "")));
    }
    rows
}

/// A preprocessed file.
struct File<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    pieces: Vec<Piece>,
}

impl<'a> File<'a> {
    fn of(text: &'a str) -> File<'a> {
        let tokens: Vec<Token<'_>> = Dialect::CPP.tokens(text).collect();
        let pieces = cut::cut(text, &tokens);
        File { text, tokens, pieces }
    }
}

/// Makes the row of one instance of one kernel.
struct Maker<'a> {
    compiler: &'a Compiler,
    source: &'a Source,
    file: &'a File<'a>,
    names: &'a Names<'a>,
    at: usize,
    name: &'a str,
    instance: &'a Instance,
}

/// Whether a piece may be part of a kernel's program: code of the host, other kernels and what names their instances are not.
fn may_stand(piece: &Piece) -> bool {
    !matches!(piece.role, Role::Host | Role::Kernel(_)) && !piece.instantiates
}

impl Maker<'_> {
    fn row(&self, language: Language) -> Result<KernelRow, Verdict> {
        self.admit()?;
        let text = self.standing()?;
        match language {
            Language::Cuda => self.as_it_is(text),
            _ => self.translated(&text),
        }
    }

    /// What is known to be unsupported without a look by clang.
    fn admit(&self) -> Result<(), Verdict> {
        let own = &self.file.pieces[self.at].range;
        let tokens = &self.file.tokens;
        let at = |place: usize| tokens.partition_point(|token| token.begin < place);
        let inside = &tokens[at(own.start)..at(own.end)];
        if inside.windows(2).any(|two| two[0].is("<<") && two[1].is("<")) {
            let detail = "it launches a kernel";
            return Err(Verdict::new(KernelVerdict::DynamicParallelism, detail));
        }
        Ok(())
    }

    /// The kernel with what it needs, as clang accepts it.
    fn standing(&self) -> Result<String, Verdict> {
        let File { text, pieces, .. } = self.file;
        let names = self.names;
        let mut left_out: BTreeSet<usize> = BTreeSet::new();
        let mut first: Option<Verdict> = None;
        for _ in 0..ROUNDS {
            let allowed = |at: usize| may_stand(&pieces[at]) && !left_out.contains(&at);
            let roots = [self.at];
            let more = self.instance.arguments.as_str();
            let mut needed = names.closure(text, pieces, &roots, more, allowed);
            self.add_operators(&mut needed, names, &left_out);
            let (program, places) = self.join(&needed);
            let (_, errors) = self.compiler.parse(&program, Options::cuda())?;
            let Some(error) = errors.first() else { return Ok(program) };
            let found = self.verdict_of(error, &program);
            let mut bad = BTreeSet::new();
            let mut own = None;
            for error in &errors {
                let at = error.offset.and_then(|offset| {
                    let at = places.partition_point(|(end, _)| *end <= offset as usize);
                    places.get(at).map(|(_, piece)| *piece)
                });
                match at {
                    Some(at) if at != self.at => {
                        bad.insert(at);
                    }
                    _ => {
                        own.get_or_insert_with(|| self.verdict_of(error, &program));
                    }
                }
            }
            if bad.is_empty() {
                // What is wrong with the kernel began with what was left out.
                return Err(first.or(own).unwrap_or(found));
            }
            first.get_or_insert(found);
            left_out.extend(bad);
        }
        Err(first.unwrap_or_else(|| Verdict::new(DOES_NOT_COMPILE, "what is left never parsed")))
    }

    /// Operators are named by no word: those that are about what is there.
    fn add_operators(
        &self,
        needed: &mut Vec<usize>,
        names: &Names<'_>,
        left_out: &BTreeSet<usize>,
    ) {
        let File { text, pieces, .. } = self.file;
        for _ in 0..4 {
            let declared: BTreeSet<&str> = needed
                .iter()
                .flat_map(|at| pieces[*at].names.iter().map(String::as_str))
                .filter(|name| *name != "operator")
                .collect();
            let is_about = |piece: &Piece| {
                let head = text[piece.range.clone()].split('{').next().unwrap_or_default();
                Dialect::CPP.tokens(head).any(|token| declared.contains(token.text))
            };
            let taken: HashSet<usize> = needed.iter().copied().collect();
            let more: Vec<usize> = (0..pieces.len())
                .filter(|at| {
                    let piece = &pieces[*at];
                    piece.role == Role::Device
                        && piece.names == ["operator"]
                        && !taken.contains(at)
                        && !left_out.contains(at)
                        && is_about(piece)
                })
                .collect();
            if more.is_empty() {
                return;
            }
            let roots: Vec<usize> = needed.iter().copied().chain(more).collect();
            let allowed = |at: usize| may_stand(&pieces[at]) && !left_out.contains(&at);
            *needed = names.closure(text, pieces, &roots, "", allowed);
        }
    }

    /// The text of some pieces in their scopes, and where each ends.
    fn join(&self, which: &[usize]) -> (String, Vec<(usize, usize)>) {
        let File { text, pieces, .. } = self.file;
        let (mut joined, mut places) = (String::new(), Vec::new());
        let mut open: Vec<&str> = Vec::new();
        for &at in which {
            let scopes = pieces[at].scopes();
            let same = open.iter().zip(&scopes).take_while(|(a, b)| a == b).count();
            (same..open.len()).for_each(|_| joined.push_str("}\n"));
            for scope in &scopes[same..] {
                joined.push_str(scope);
                joined.push_str(" {\n");
            }
            open = scopes;
            joined.push_str(&text[pieces[at].range.clone()]);
            joined.push('\n');
            places.push((joined.len(), at));
        }
        open.iter().for_each(|_| joined.push_str("}\n"));
        if pieces[self.at].template.is_some() {
            let (name, arguments) = (self.name, &self.instance.arguments);
            // Its arguments are names of the scope that it stands in.
            let scopes = pieces[self.at].scopes();
            let opened: String = scopes
                .iter()
                .filter(|scope| scope.contains("namespace"))
                .map(|scope| format!("{scope} {{\n"))
                .collect();
            let closed = "}\n".repeat(opened.matches('{').count());
            joined.push_str(&format!(
                "{opened}void {NAMING}() {{ auto kernel = &{name}<{arguments}>; (void)kernel; }}\n{closed}"
            ));
        }
        (joined, places)
    }

    /// What an error of clang's says of a kernel: what is not supported has its word.
    fn verdict_of(&self, error: &Diagnostic, program: &str) -> Verdict {
        let plain = does_not_compile(error, program);
        if plain.name != DOES_NOT_COMPILE {
            return plain;
        }
        let subject = error.subject.as_deref().unwrap_or_default();
        let line = error.line.and_then(|line| program.lines().nth((line as usize).checked_sub(1)?));
        let has = |words: &[&str]| {
            let text = [subject, error.message.as_str(), line.unwrap_or_default()].join(" ");
            Dialect::HOST.tokens(&text).any(|token| {
                words.iter().any(|word| match word.strip_suffix('*') {
                    Some(start) => token.text.starts_with(start),
                    None => token.text == *word,
                })
            })
        };
        let name = if error.message.contains("kernel launch from") {
            KernelVerdict::DynamicParallelism
        } else if has(HALF) {
            KernelVerdict::HalfType
        } else if has(TENSOR) {
            KernelVerdict::TensorCore
        } else if has(TEXTURES) {
            KernelVerdict::Texture
        } else if has(GROUPS) {
            KernelVerdict::WarpIntrinsic
        } else if has(LIBRARIES)
            || error.kind.starts_with("err_undeclared")
            || error.kind.starts_with("err_unknown_typename")
            || error.kind.starts_with("err_no_template")
        {
            KernelVerdict::NotDefined
        } else if !self.instance.defaults.is_empty() {
            KernelVerdict::NoInstance
        } else {
            return plain;
        };
        Verdict::new(name, plain.detail)
    }

    /// The row of the kernel in CUDA.
    fn as_it_is(&self, text: String) -> Result<KernelRow, Verdict> {
        let (_, code) = self.compiler.compile(&text, Options::cuda())?;
        let kernel = code.functions.iter().rfind(|function| function.kernel);
        let instructions = kernel.map_or(0, |kernel| kernel.instructions);
        if instructions < MINIMUM_INSTRUCTIONS {
            return Err(Verdict::new(TOO_SMALL, format!("{instructions} instructions")));
        }
        let mut row = self.source.row();
        row.name = self.name.to_owned();
        row.status = Status::Shim.name().to_owned();
        row.standard = Language::Cuda.name().to_owned();
        row.instructions = instructions;
        row.accept(self.compiler.format_as(&text, clang::Language::Cuda)?);
        Ok(row)
    }

    /// The row of the kernel in OpenCL C, proved equal.
    fn translated(&self, text: &str) -> Result<KernelRow, Verdict> {
        let (opencl, moved) = self.compiler.translate(text, Options::cuda(), self.name)?;
        let original = self.compiler.neutral_ir(text, Options::cuda(), self.name, &moved)?;
        let source = Source {
            defines: Vec::new(),
            language: String::new(),
            renamed: Default::default(),
            ..self.source.clone()
        };
        let rows = file::of_opencl(self.compiler, &source, &opencl);
        let Some(row) = rows.into_iter().next() else {
            return Err(Verdict::new(KernelVerdict::NotCLike, "the translation lost its kernel"));
        };
        if row.verdict != Verdict::ACCEPTED {
            let name = match row.verdict.as_str() {
                // clang accepted the kernel: what it says of the translation is ours.
                DOES_NOT_COMPILE => KernelVerdict::NotCLike.name().into(),
                _ => row.verdict.clone().into(),
            };
            return Err(Verdict { name, detail: row.detail });
        }
        let options = Options {
            standard: row.standard.clone(),
            triple: Triple::Nvptx64,
            ..Options::opencl()
        };
        let made = self.compiler.neutral_ir(&row.text, options, &row.name, &[])?;
        if made != original {
            let detail = "the IR of its translation is another";
            return Err(Verdict::new(KernelVerdict::TranslationChangedIr, detail));
        }
        Ok(row)
    }
}

const HALF: &[&str] = &[
    "half",
    "half2",
    "__half",
    "__half2",
    "__half_raw",
    "Half",
    "BFloat16",
    "bfloat16",
    "nv_bfloat16",
    "nv_bfloat162",
    "__nv_bfloat16",
    "__nv_bfloat162",
    "__half2float",
    "__float2half",
    "__hadd",
    "__hmul",
    "__hfma",
    "float16",
    "__nv_fp8*",
];
const TENSOR: &[&str] = &["wmma", "nvcuda", "mma", "__wmma*", "wgmma", "mma_sync"];
const TEXTURES: &[&str] = &[
    "texture",
    "tex1D*",
    "tex2D*",
    "tex3D*",
    "surf1D*",
    "surf2D*",
    "surf3D*",
    "surface",
    "cudaReadModeElementType",
];
const GROUPS: &[&str] = &[
    "cg",
    "cooperative_groups",
    "__shfl*",
    "__ballot*",
    "__any*",
    "__all*",
    "__activemask",
    "__syncwarp",
];
const LIBRARIES: &[&str] = &[
    "thrust",
    "cub",
    "at",
    "c10",
    "torch",
    "curand*",
    "cuComplex",
    "cuFloatComplex",
    "cutlass",
    "cute",
    "Eigen",
    "std",
];

#[cfg(test)]
mod tests {
    use super::*;
    use clang::Clang;
    use std::{collections::BTreeMap, time::Duration};

    fn found(text: &str, language: Language) -> Vec<KernelRow> {
        found_by(worker(), text, language)
    }

    fn worker() -> Clang {
        Clang::start(1).unwrap_or_else(|error| panic!("{error}"))
    }

    fn found_by(clang: Clang, text: &str, language: Language) -> Vec<KernelRow> {
        let compiler = Compiler::new(clang);
        let source = Source {
            text: Some(text.to_owned()),
            language: Language::Cuda.name().to_owned(),
            ..Source::default()
        };
        file::rows(&compiler, &source, language)
    }

    fn verdicts(text: &str) -> Vec<(String, String)> {
        let rows = found(text, Language::OpenCl).into_iter();
        rows.map(|row| (row.original_name, row.verdict)).collect()
    }

    #[test]
    fn kernels_that_are_like_c_are_translated_and_proved() {
        for (text, name) in [
            (
                "static __device__ float scaled(const float &x, float by) { return x * by; }
                __global__ void __launch_bounds__(256) k(const float *__restrict__ in, float *out, int n) {
                  int i = blockIdx.x * blockDim.x + threadIdx.x;
                  if (i < n) out[i] = scaled(in[i], 2) + sqrtf(in[i]) + fminf(in[i], 1.0f); }",
                "k",
            ),
            (
                "__global__ void k(const unsigned char *data, unsigned int *bins, int n) {
                  __shared__ unsigned int local[256];
                  local[threadIdx.x] = 0; __syncthreads();
                  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&local[data[i]], 1u);
                  __syncthreads(); atomicAdd(bins + threadIdx.x, local[threadIdx.x]); }",
                "k",
            ),
            (
                "__constant__ float weights[16];
                __global__ void k(float *a) { extern __shared__ float rows[];
                  rows[threadIdx.x] = a[threadIdx.x] * weights[threadIdx.x % 16]; __syncthreads();
                  a[threadIdx.x] = rows[threadIdx.x + 1]; }",
                "k",
            ),
            (
                "namespace w { template <typename T> struct Sum { T total; __device__ void add(T x) { total += x; } };
                template <typename T, int N> __global__ void k(const T *in, T *out) { Sum<T> s; s.total = 0;
                  for (int i = 0; i < N; ++i) s.add(in[threadIdx.x * N + i]); out[threadIdx.x] = s.total; }
                void h(float *a) { k<float, 4><<<1, 32>>>(a, a); } }",
                "k<float, 4>",
            ),
        ] {
            assert_eq!(verdicts(text), [(name.to_owned(), "accepted".to_owned())], "{text}");
        }
    }

    #[test]
    fn what_is_not_supported_has_its_word() {
        for (body, wanted) in [
            ("a[0] += __shfl_down_sync(0xffffffff, a[0], 1);", "warp-intrinsic"),
            ("__half h; a[0] = 1;", "half-type"),
            ("nvcuda::wmma::fragment<int> c;", "tensor-core"),
            ("a[0] = tex2D<float>((cudaTextureObject_t)a[1], 0.5f, 0.5f);", "texture"),
            ("int x; asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(x)); a[0] = x;", "inline-assembly"),
            ("auto f = [=](int x) { return x * 3; }; a[0] = f(a[1]);", "device-lambda"),
            ("other<<<1, 1>>>(a);", "dynamic-parallelism"),
            ("int *b = new int[3]; a[0] = b[1];", "not-c-like"),
            ("a[0] = ;", "does-not-compile"),
            ("a[0] = elsewhere(3);", "not-defined"),
        ] {
            let text = format!("__global__ void k(float *a) {{ {body} }}");
            assert_eq!(verdicts(&text), [("k".to_owned(), wanted.to_owned())], "{body}");
        }
        let word = |text: &str| verdicts(text).remove(0).1;
        assert_eq!(word("int main() { return 0; }"), "no-kernel");
        assert_eq!(
            word("template <class F> __global__ void k(F f, float *a) { a[0] = f(1); }"),
            "no-instance"
        );
    }

    #[test]
    fn a_text_of_a_million_lines_has_its_verdict() {
        let count = |rows: Vec<KernelRow>| {
            let mut count: BTreeMap<String, usize> = BTreeMap::new();
            rows.into_iter().for_each(|row| *count.entry(row.verdict).or_default() += 1);
            count
        };
        let wide = |at: usize| format!("__global__ void k{at}(float *a) {{ a[0] = {at}; }}\n");
        let wide: String = (0..1_000_000).map(wide).collect();
        let one = |verdict: &str| BTreeMap::from([(verdict.to_owned(), 1)]);
        assert_eq!(count(found(&wide, Language::OpenCl)), one("too-large"));
        // Ten lines a kernel: those behind the first are not begun.
        let tall = |at: usize| {
            format!("__global__ void k{at}(float *a)\n{{\n\n\n\n\n\n\na[0] = {at};\n}}\n")
        };
        let tall: String = (0..100_000).map(tall).collect();
        assert_eq!(tall.lines().count(), 1_000_000);
        let verdicts = count(found(&tall, Language::OpenCl));
        let wanted = [("accepted", MOST_KERNELS), ("too-many-kernels", 100_000 - MOST_KERNELS)];
        assert_eq!(verdicts, BTreeMap::from(wanted.map(|(name, n)| (name.to_owned(), n))));
        // Where there is no time to read it, that is said of the file.
        let hurried = worker().with_limit(Duration::from_millis(1));
        let verdicts = count(found_by(hurried, &tall, Language::OpenCl));
        assert_eq!(verdicts, one("timeout"));
    }

    #[test]
    fn a_kernel_stays_in_cuda_where_that_is_asked_for() {
        let text = "__global__ void k(float *a) { a[threadIdx.x] += __shfl_down_sync(0xffffffff, a[0], 1); }";
        let rows = found(text, Language::Cuda);
        assert_eq!(
            (rows.len(), rows[0].verdict.as_str(), rows[0].standard.as_str()),
            (1, "accepted", "cuda")
        );
        assert!(rows[0].text.contains("__global__ void k"), "{}", rows[0].text);
    }
}
