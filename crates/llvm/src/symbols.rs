//! The functions of LLVM's C API that are used here, resolved once per library; and a few of its C++ functions that
//! [`crate::watch`] needs, by their mangled names.

use crate::Error;
use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    path::Path,
};

macro_rules! handles {
    ($($name:ident)*) => {
        $(
            #[repr(C)]
            pub(crate) struct $name { _private: [u8; 0] }
        )*
    };
}

handles! {
    RawContext RawModule RawValue RawBlock RawType RawBuffer RawError RawPassOptions RawTarget
    RawTargetKind RawDiagnostic RawAttribute RawMetadata RawBuilder RawLayout RawGate RawStream
}

/// LLVM hands every diagnostic of a context to one of these.
pub(crate) type DiagnosticHandler = unsafe extern "C" fn(*mut RawDiagnostic, *mut c_void);

macro_rules! table {
    (
        required { $($symbol:ident $field:ident($($argument:ty),*) $(-> $result:ty)?;)* }
        optional { $($maybe:ident $place:ident($($given:ty),*) $(-> $returned:ty)?;)* }
    ) => {
        /// One library's functions.
        pub(crate) struct Symbols {
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            $(pub(crate) $place: Option<unsafe extern "C" fn($($given),*) $(-> $returned)?>,)*
        }

        impl Symbols {
            /// Resolve them all in `library`, which must stay loaded for as long as they are used.
            pub(crate) fn resolve(
                library: &libloading::Library,
                path: &Path,
            ) -> Result<Symbols, Error> {
                $(
                    // SAFETY: the C API declares the function with this signature in LLVM 14 to 22.
                    let found = unsafe {
                        library.get::<unsafe extern "C" fn($($argument),*) $(-> $result)?>(
                            concat!(stringify!($symbol), "\0").as_bytes(),
                        )
                    };
                    let Ok($field) = found.map(|symbol| *symbol) else {
                        let path = path.to_owned();
                        return Err(Error::MissingSymbol { path, symbol: stringify!($symbol) });
                    };
                )*
                $(
                    // SAFETY: as above, where the function is there at all.
                    let found = unsafe {
                        library.get::<unsafe extern "C" fn($($given),*) $(-> $returned)?>(
                            concat!(stringify!($maybe), "\0").as_bytes(),
                        )
                    };
                    let $place = found.ok().map(|symbol| *symbol);
                )*
                Ok(Symbols { $($field,)* $($place,)* })
            }
        }
    };
}

table! {
    required {
        LLVMContextCreate context_create() -> *mut RawContext;
        LLVMContextDispose context_dispose(*mut RawContext);
        LLVMContextSetDiagnosticHandler set_diagnostic_handler(*mut RawContext, DiagnosticHandler, *mut c_void);
        LLVMGetDiagInfoDescription diagnostic_description(*mut RawDiagnostic) -> *mut c_char;
        LLVMGetDiagInfoSeverity diagnostic_severity(*mut RawDiagnostic) -> c_uint;
        LLVMDisposeMessage dispose_message(*mut c_char);
        LLVMCreateMemoryBufferWithMemoryRange buffer_borrow(*const c_char, usize, *const c_char, c_int) -> *mut RawBuffer;
        LLVMCreateMemoryBufferWithMemoryRangeCopy buffer_copy(*const c_char, usize, *const c_char) -> *mut RawBuffer;
        LLVMDisposeMemoryBuffer dispose_buffer(*mut RawBuffer);
        LLVMGetBufferStart buffer_start(*mut RawBuffer) -> *const c_char;
        LLVMGetBufferSize buffer_size(*mut RawBuffer) -> usize;
        LLVMParseBitcodeInContext2 parse_bitcode(*mut RawContext, *mut RawBuffer, *mut *mut RawModule) -> c_int;
        LLVMParseIRInContext parse_ir(*mut RawContext, *mut RawBuffer, *mut *mut RawModule, *mut *mut c_char) -> c_int;
        LLVMWriteBitcodeToMemoryBuffer write_bitcode(*mut RawModule) -> *mut RawBuffer;
        LLVMDisposeModule dispose_module(*mut RawModule);
        LLVMCloneModule clone_module(*mut RawModule) -> *mut RawModule;
        LLVMGetModuleIdentifier module_identifier(*mut RawModule, *mut usize) -> *const c_char;
        LLVMGetSourceFileName source_file_name(*mut RawModule, *mut usize) -> *const c_char;
        LLVMSetSourceFileName set_source_file_name(*mut RawModule, *const c_char, usize);
        LLVMGetTarget target(*mut RawModule) -> *const c_char;
        LLVMGetDataLayoutStr data_layout(*mut RawModule) -> *const c_char;
        LLVMPrintModuleToString print_module(*mut RawModule) -> *mut c_char;
        LLVMVerifyModule verify_module(*mut RawModule, c_int, *mut *mut c_char) -> c_int;
        LLVMGetFirstFunction first_function(*mut RawModule) -> *mut RawValue;
        LLVMGetNextFunction next_function(*mut RawValue) -> *mut RawValue;
        LLVMGetNamedFunction named_function(*mut RawModule, *const c_char) -> *mut RawValue;
        LLVMGetFirstGlobal first_global(*mut RawModule) -> *mut RawValue;
        LLVMGetNextGlobal next_global(*mut RawValue) -> *mut RawValue;
        LLVMGetInitializer initializer(*mut RawValue) -> *mut RawValue;
        LLVMIsGlobalConstant is_global_constant(*mut RawValue) -> c_int;
        LLVMIsDeclaration is_declaration(*mut RawValue) -> c_int;
        LLVMGetLinkage linkage(*mut RawValue) -> c_uint;
        LLVMSetLinkage set_linkage(*mut RawValue, c_uint);
        LLVMGetModuleContext context_of(*mut RawModule) -> *mut RawContext;
        LLVMGetEnumAttributeKindForName attribute_kind(*const c_char, usize) -> c_uint;
        LLVMCreateEnumAttribute create_attribute(*mut RawContext, c_uint, u64) -> *mut RawAttribute;
        LLVMAddAttributeAtIndex add_attribute(*mut RawValue, c_uint, *mut RawAttribute);
        LLVMIntTypeInContext integer_type(*mut RawContext, c_uint) -> *mut RawType;
        LLVMConstInt integer_constant(*mut RawType, u64, c_int) -> *mut RawValue;
        LLVMGetMDKindIDInContext metadata_kind(*mut RawContext, *const c_char, c_uint) -> c_uint;
        LLVMMDStringInContext2 metadata_text(*mut RawContext, *const c_char, usize) -> *mut RawMetadata;
        LLVMMDNodeInContext2 metadata_node(*mut RawContext, *mut *mut RawMetadata, usize) -> *mut RawMetadata;
        LLVMTemporaryMDNode temporary_node(*mut RawContext, *mut *mut RawMetadata, usize) -> *mut RawMetadata;
        LLVMMetadataReplaceAllUsesWith replace_temporary(*mut RawMetadata, *mut RawMetadata);
        LLVMValueAsMetadata value_as_metadata(*mut RawValue) -> *mut RawMetadata;
        LLVMMetadataAsValue metadata_as_value(*mut RawContext, *mut RawMetadata) -> *mut RawValue;
        LLVMSetMetadata set_metadata(*mut RawValue, c_uint, *mut RawValue);
        LLVMGlobalGetValueType global_value_type(*mut RawValue) -> *mut RawType;
        LLVMGetFunctionCallConv calling_convention(*mut RawValue) -> c_uint;
        LLVMGetIntrinsicID intrinsic(*mut RawValue) -> c_uint;
        LLVMCountParams count_parameters(*mut RawValue) -> c_uint;
        LLVMGetParam parameter(*mut RawValue, c_uint) -> *mut RawValue;
        LLVMCountBasicBlocks count_blocks(*mut RawValue) -> c_uint;
        LLVMGetFirstBasicBlock first_block(*mut RawValue) -> *mut RawBlock;
        LLVMGetNextBasicBlock next_block(*mut RawBlock) -> *mut RawBlock;
        LLVMGetBasicBlockName block_name(*mut RawBlock) -> *const c_char;
        LLVMGetBasicBlockTerminator terminator(*mut RawBlock) -> *mut RawValue;
        LLVMGetFirstInstruction first_instruction(*mut RawBlock) -> *mut RawValue;
        LLVMGetNextInstruction next_instruction(*mut RawValue) -> *mut RawValue;
        LLVMGetInstructionParent instruction_parent(*mut RawValue) -> *mut RawBlock;
        LLVMGetInstructionOpcode opcode(*mut RawValue) -> c_uint;
        LLVMGetNumOperands count_operands(*mut RawValue) -> c_int;
        LLVMGetOperand operand(*mut RawValue, c_uint) -> *mut RawValue;
        LLVMGetNumSuccessors count_successors(*mut RawValue) -> c_uint;
        LLVMGetSuccessor successor(*mut RawValue, c_uint) -> *mut RawBlock;
        LLVMGetCalledValue called_value(*mut RawValue) -> *mut RawValue;
        LLVMGetCalledFunctionType called_function_type(*mut RawValue) -> *mut RawType;
        LLVMGetNumArgOperands count_arguments(*mut RawValue) -> c_uint;
        LLVMGetICmpPredicate integer_predicate(*mut RawValue) -> c_uint;
        LLVMGetFCmpPredicate float_predicate(*mut RawValue) -> c_uint;
        LLVMCountIncoming count_incoming(*mut RawValue) -> c_uint;
        LLVMGetIncomingBlock incoming_block(*mut RawValue, c_uint) -> *mut RawBlock;
        LLVMGetValueKind value_kind(*mut RawValue) -> c_uint;
        LLVMGetValueName2 value_name(*mut RawValue, *mut usize) -> *const c_char;
        LLVMPrintValueToString print_value(*mut RawValue) -> *mut c_char;
        LLVMTypeOf type_of(*mut RawValue) -> *mut RawType;
        LLVMIsConstant is_constant(*mut RawValue) -> c_int;
        LLVMValueAsBasicBlock value_as_block(*mut RawValue) -> *mut RawBlock;
        LLVMConstIntGetZExtValue integer_value(*mut RawValue) -> u64;
        LLVMGetTypeKind type_kind(*mut RawType) -> c_uint;
        LLVMGetIntTypeWidth integer_width(*mut RawType) -> c_uint;
        LLVMGetElementType element_type(*mut RawType) -> *mut RawType;
        LLVMGetVectorSize vector_size(*mut RawType) -> c_uint;
        LLVMGetArrayLength array_length(*mut RawType) -> c_uint;
        LLVMCountStructElementTypes count_fields(*mut RawType) -> c_uint;
        LLVMStructGetTypeAtIndex field_type(*mut RawType, c_uint) -> *mut RawType;
        LLVMGetPointerAddressSpace address_space(*mut RawType) -> c_uint;
        LLVMGetReturnType return_type(*mut RawType) -> *mut RawType;
        LLVMCountParamTypes count_parameter_types(*mut RawType) -> c_uint;
        LLVMGetParamTypes parameter_types(*mut RawType, *mut *mut RawType);
        LLVMIsFunctionVarArg is_variadic(*mut RawType) -> c_int;
        LLVMPrintTypeToString print_type(*mut RawType) -> *mut c_char;
        LLVMIsConstantString is_constant_string(*mut RawValue) -> c_int;
        LLVMGetAsString constant_string(*mut RawValue, *mut usize) -> *const c_char;
        LLVMConstRealGetDouble real_value(*mut RawValue, *mut c_int) -> f64;
        LLVMGetConstOpcode constant_opcode(*mut RawValue) -> c_uint;
        LLVMGetGEPSourceElementType indexed_type(*mut RawValue) -> *mut RawType;
        LLVMGetAllocatedType allocated_type(*mut RawValue) -> *mut RawType;
        LLVMGetVolatile is_volatile(*mut RawValue) -> c_int;
        LLVMGetOrdering ordering(*mut RawValue) -> c_uint;
        LLVMGetAtomicRMWBinOp atomic_operation(*mut RawValue) -> c_uint;
        LLVMGetNumIndices count_indices(*mut RawValue) -> c_uint;
        LLVMGetIndices indices(*mut RawValue) -> *const c_uint;
        LLVMGetNumMaskElements count_mask(*mut RawValue) -> c_uint;
        LLVMGetMaskValue mask_value(*mut RawValue, c_uint) -> c_int;
        LLVMIsCleanup is_cleanup(*mut RawValue) -> c_int;
        LLVMGetModuleInlineAsm module_assembly(*mut RawModule, *mut usize) -> *const c_char;
        LLVMCreatePassBuilderOptions pass_options() -> *mut RawPassOptions;
        LLVMDisposePassBuilderOptions dispose_pass_options(*mut RawPassOptions);
        LLVMPassBuilderOptionsSetSLPVectorization vectorise_straight_lines(*mut RawPassOptions, c_int);
        LLVMRunPasses run_passes(*mut RawModule, *const c_char, *mut RawTarget, *mut RawPassOptions) -> *mut RawError;
        LLVMGetErrorMessage error_message(*mut RawError) -> *mut c_char;
        LLVMDisposeErrorMessage dispose_error_message(*mut c_char);
    }
    optional {
        LLVMGetVersion version(*mut c_uint, *mut c_uint, *mut c_uint);
        LLVMGetArrayLength2 array_length_64(*mut RawType) -> u64;
        LLVMInitializeX86TargetInfo x86_target_info();
        LLVMInitializeX86Target x86_target();
        LLVMInitializeX86TargetMC x86_target_code();
        LLVMInitializeX86AsmPrinter x86_printer();
        LLVMInitializeX86AsmParser x86_parser();
        LLVMGetTargetFromTriple target_of(*const c_char, *mut *mut RawTargetKind, *mut *mut c_char) -> c_int;
        LLVMCreateTargetMachine create_machine(*mut RawTargetKind, *const c_char, *const c_char, *const c_char, c_uint, c_uint, c_uint) -> *mut RawTarget;
        LLVMDisposeTargetMachine dispose_machine(*mut RawTarget);
        LLVMSetTargetMachineAsmVerbosity explain_assembly(*mut RawTarget, c_int);
        LLVMTargetMachineEmitToMemoryBuffer emit_to_buffer(*mut RawTarget, *mut RawModule, c_uint, *mut *mut c_char, *mut *mut RawBuffer) -> c_int;
        LLVMGetRawDataValues raw_data(*mut RawValue, *mut usize) -> *const c_char;
        LLVMGetSwitchCaseValue switch_case_value(*mut RawValue, c_uint) -> *mut RawValue;
        LLVMPassBuilderOptionsSetLoopVectorization vectorise_loops(*mut RawPassOptions, c_int);
        LLVMRemoveEnumAttributeAtIndex remove_attribute(*mut RawValue, c_uint, c_uint);
        LLVMSetSection set_section(*mut RawValue, *const c_char);
        LLVMGetModuleDataLayout layout_of(*mut RawModule) -> *mut RawLayout;
        LLVMStoreSizeOfType store_size(*mut RawLayout, *mut RawType) -> u64;
        LLVMPassBuilderOptionsSetDebugLogging log_passes(*mut RawPassOptions, c_int);
        _ZNK4llvm11LLVMContext14getOptPassGateEv pass_gate(*mut RawContext) -> *mut RawGate;
        _ZN4llvm11LLVMContext14setOptPassGateERNS_11OptPassGateE set_pass_gate(*mut RawContext, *mut RawGate);
        _ZNK4llvm9OptBisect13shouldRunPassENS_9StringRefES1_ bisect_const();
        _ZN4llvm9OptBisect13shouldRunPassENS_9StringRefES1_ bisect();
        _ZN4llvm4errsEv error_stream() -> *mut RawStream;
        _ZN4llvm14raw_fd_ostream10write_implEPKcm write_stream(*mut RawStream, *const c_char, usize);
        LLVMVoidTypeInContext void_type(*mut RawContext) -> *mut RawType;
        LLVMFunctionType function_type(*mut RawType, *mut *mut RawType, c_uint, c_int) -> *mut RawType;
        LLVMAddFunction add_function(*mut RawModule, *const c_char, *mut RawType) -> *mut RawValue;
        LLVMCreateBuilderInContext builder(*mut RawContext) -> *mut RawBuilder;
        LLVMDisposeBuilder dispose_builder(*mut RawBuilder);
        LLVMPositionBuilderBefore build_before(*mut RawBuilder, *mut RawValue);
        LLVMBuildIntCast2 build_integer_cast(*mut RawBuilder, *mut RawValue, *mut RawType, c_int, *const c_char) -> *mut RawValue;
        LLVMBuildCall2 build_call(*mut RawBuilder, *mut RawType, *mut RawValue, *mut *mut RawValue, c_uint, *const c_char) -> *mut RawValue;
    }
}

/// `LLVMReturnStatusAction`: report what is wrong to the caller.
pub(crate) const RETURN_STATUS: c_int = 2;
