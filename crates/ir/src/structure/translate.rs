//! A module that LLVM has read, in the form that is walked.

use super::{DEEPEST, FastMap, Source};
use bitcode::{Body, Constant, Flat, Kind, Operand, Span, TypeId, Unread, ValueId};
use llvm::{
    Block, Function, Global, Instruction, Module, Opcode, Type, TypeKind, Value, ValueKind,
};

/// What of a module has been met, and where it stands in the flat form.
pub(super) struct Translator<'m> {
    flat: Flat,
    types: FastMap<Type<'m>, TypeId>,
    values: FastMap<Value<'m>, ValueId>,
    /// Functions whose bodies are still to come, the last first.
    bodies: Vec<Function<'m>>,
}

/// A function's own values and blocks.
#[derive(Default)]
struct Locals<'m> {
    values: FastMap<Value<'m>, u32>,
    blocks: FastMap<Block<'m>, u32>,
}

const FLOATS: [&str; 7] = ["half", "bfloat", "float", "double", "x86_fp80", "fp128", "ppc_fp128"];

impl<'m> Translator<'m> {
    /// All of a module.
    pub(super) fn of_module(module: &'m Module<'_>) -> Translator<'m> {
        let mut translator = Translator::new();
        for function in module.functions() {
            translator.value(function.value(), 0);
            if !function.is_declaration() {
                translator.bodies.push(function);
            }
        }
        translator.bodies.reverse();
        let variables: Vec<Global<'m>> = module.globals().collect();
        variables.iter().for_each(|variable| {
            translator.value(variable.value(), 0);
        });
        translator.flat.assembly = module.assembly();
        translator
    }

    /// A function alone.
    pub(super) fn of_function(function: Function<'m>) -> Translator<'m> {
        let mut translator = Translator::new();
        translator.value(function.value(), 0);
        translator.bodies.push(function);
        translator
    }

    fn new() -> Translator<'m> {
        let mut flat = Flat::default();
        flat.shared = usize::MAX;
        let (types, values) = (FastMap::default(), FastMap::default());
        Translator { flat, types, values, bodies: Vec::new() }
    }

    fn ty(&mut self, ty: Type<'m>) -> TypeId {
        if let Some(known) = self.types.get(&ty) {
            return *known;
        }
        let id = match ty.kind() {
            TypeKind::Void => self.flat.types.add(bitcode::Type::Void),
            TypeKind::Integer => {
                let width = ty.integer_width().unwrap_or(0);
                self.flat.types.add(bitcode::Type::Integer(width))
            }
            TypeKind::Pointer => {
                let space = ty.address_space().unwrap_or(0);
                self.flat.types.add(bitcode::Type::Pointer(space))
            }
            TypeKind::Array | TypeKind::Vector => {
                let element = ty.element().map_or(0, |element| self.ty(element));
                self.flat.types.add(match ty.kind() {
                    TypeKind::Array => bitcode::Type::Array(ty.length(), element),
                    _ => bitcode::Type::Vector {
                        lanes: ty.length() as u32,
                        element,
                        scalable: false,
                    },
                })
            }
            TypeKind::Struct => {
                let fields = 0..u32::try_from(ty.length()).unwrap_or(u32::MAX);
                let fields: Vec<TypeId> =
                    fields.filter_map(|at| ty.field(at)).map(|field| self.ty(field)).collect();
                self.flat.types.named(false, &fields)
            }
            TypeKind::Function => {
                let parts = ty.returns().into_iter().chain(ty.parameters());
                let parts: Vec<TypeId> = parts.map(|part| self.ty(part)).collect();
                self.flat.types.add_function(ty.is_variadic(), &parts)
            }
            kind => {
                let text = ty.print();
                match FLOATS.into_iter().find(|name| kind == TypeKind::Float && *name == text) {
                    Some(name) => self.flat.types.add(bitcode::Type::Float(name)),
                    None => self.flat.types.of_text(&text),
                }
            }
        };
        self.types.insert(ty, id);
        id
    }

    /// A constant, a function or a global variable.
    fn value(&mut self, value: Value<'m>, depth: usize) -> ValueId {
        if let Some(known) = self.values.get(&value) {
            return *known;
        }
        let ty = self.ty(value.ty());
        if depth > DEEPEST {
            return self.flat.add(ty, Constant::Deep);
        }
        let id = match value.kind() {
            ValueKind::Function => self.function(value, ty),
            ValueKind::Global => self.global(value, ty),
            _ => {
                let constant = self.constant(value, ty, depth);
                self.flat.add(ty, constant)
            }
        };
        self.values.insert(value, id);
        id
    }

    fn push(&mut self, ty: TypeId, kind: Kind) -> ValueId {
        self.flat.values.push(bitcode::Value { ty, kind });
        self.flat.values.len() as ValueId - 1
    }

    fn function(&mut self, value: Value<'m>, ty: TypeId) -> ValueId {
        let Some(function) = value.as_function() else { return self.flat.add(ty, Constant::Other) };
        let name = self.flat.keep(function.name().as_bytes());
        let signature = self.ty(function.function_type());
        self.flat.functions.push(bitcode::Function {
            name,
            ty: signature,
            is_declaration: function.is_declaration(),
            is_intrinsic: function.is_intrinsic(),
        });
        self.push(ty, Kind::Function(self.flat.functions.len() as u32 - 1))
    }

    fn global(&mut self, value: Value<'m>, ty: TypeId) -> ValueId {
        let name = self.flat.keep(value.name().as_bytes());
        let Some(variable) = value.as_global() else { return self.push(ty, Kind::Alias(name)) };
        let content = self.ty(variable.content_type());
        let place = self.flat.variables.len();
        self.flat.variables.push(bitcode::Variable {
            name,
            ty: content,
            is_constant: variable.is_constant(),
            initializer: None,
        });
        let id = self.push(ty, Kind::Variable(place as u32));
        // What it holds may name it.
        self.values.insert(value, id);
        let held = variable.initializer().map(|held| self.value(held, 0));
        self.flat.variables[place].initializer = held;
        id
    }

    fn text(&mut self, value: Value<'m>) -> Span {
        self.flat.keep(value.print().as_bytes())
    }

    fn parts(&mut self, value: Value<'m>, depth: usize) -> Span {
        let parts = value.constant_operands();
        let parts: Vec<ValueId> = parts.map(|part| self.value(part, depth + 1)).collect();
        let start = self.flat.parts.len() as u32;
        self.flat.parts.extend(parts);
        Span { start, end: self.flat.parts.len() as u32 }
    }

    fn constant(&mut self, value: Value<'m>, ty: TypeId, depth: usize) -> Constant {
        match value.kind() {
            ValueKind::Integer => match value.integer() {
                Some((_, number)) => Constant::Integer(number),
                None => Constant::Wide(self.text(value)),
            },
            ValueKind::Float => Constant::Float(value.real().unwrap_or_default()),
            ValueKind::Zero => Constant::Zero,
            ValueKind::Undefined => Constant::Undefined,
            ValueKind::Aggregate => match value.data() {
                Some(bytes) => Constant::Data(self.flat.keep(bytes)),
                None => match self.parts(value, depth) {
                    // A data array whose bytes this LLVM does not give.
                    parts if parts.start == parts.end => Constant::PrintedData(self.text(value)),
                    parts => Constant::Aggregate(parts),
                },
            },
            ValueKind::Expression => {
                let opcode = value.expression_opcode().unwrap_or(0);
                Constant::Expression(opcode, self.parts(value, depth))
            }
            // A value of unknown kind is assembly where it is a pointer; metadata has a type of its own.
            ValueKind::Other if matches!(self.flat.types.get(ty), bitcode::Type::Pointer(_)) => {
                Constant::Code(self.text(value))
            }
            _ => Constant::Other,
        }
    }

    fn operand(&mut self, operand: Value<'m>, locals: &Locals<'m>) -> Operand {
        match operand.kind() {
            ValueKind::Instruction | ValueKind::Argument => {
                Operand::Local(locals.values.get(&operand).copied().unwrap_or(u32::MAX))
            }
            ValueKind::Block => {
                let block = operand.as_block().and_then(|block| locals.blocks.get(&block));
                Operand::Block(block.copied().unwrap_or(u32::MAX))
            }
            ValueKind::Other if operand.ty().kind() != TypeKind::Pointer => {
                Operand::Metadata(self.ty(operand.ty()))
            }
            _ => Operand::Value(self.value(operand, 0)),
        }
    }

    fn instruction(&mut self, instruction: Instruction<'m>, body: &mut Body, locals: &Locals<'m>) {
        let opcode = instruction.opcode();
        let ty = self.ty(instruction.ty());
        let (operands, extras) = (body.operands.len() as u32, body.extras.len() as u32);
        let detail = match opcode {
            Opcode::ICmp | Opcode::FCmp => instruction.predicate(),
            Opcode::Alloca | Opcode::GetElementPtr => {
                instruction.accessed_type().map_or(ty, |accessed| self.ty(accessed))
            }
            _ => instruction.manner(),
        };
        match opcode {
            Opcode::ExtractValue | Opcode::InsertValue => body.extras.extend(instruction.indices()),
            Opcode::ShuffleVector => body.extras.extend(instruction.mask().map(|lane| lane as u32)),
            Opcode::Phi => {
                let count = instruction.incoming_count();
                let from = (0..count).map(|at| instruction.incoming_block(at));
                let block =
                    |from: Option<Block<'m>>| from.and_then(|from| locals.blocks.get(&from));
                body.extras.extend(from.map(|from| block(from).copied().unwrap_or(u32::MAX)));
            }
            Opcode::Switch => {
                let cases: Vec<Value<'m>> = instruction.detached_cases().collect();
                body.extras.extend(cases.into_iter().map(|case| self.value(case, 0)));
            }
            _ => {}
        }
        for operand in instruction.operands() {
            let operand = self.operand(operand, locals);
            body.operands.push(operand);
        }
        body.instructions.push(bitcode::Instruction {
            opcode: opcode.code(),
            ty,
            detail,
            operands: Span { start: operands, end: body.operands.len() as u32 },
            extras: Span { start: extras, end: body.extras.len() as u32 },
        });
    }
}

impl Source for Translator<'_> {
    fn flat(&self) -> &Flat {
        &self.flat
    }

    fn body(&mut self, body: &mut Body) -> Result<bool, Unread> {
        let Some(function) = self.bodies.pop() else { return Ok(false) };
        let id = self.value(function.value(), 0);
        let Kind::Function(number) = self.flat.values[id as usize].kind else { return Ok(false) };
        body.begin(number);
        let mut locals = Locals::default();
        for argument in function.arguments() {
            locals.values.insert(argument, locals.values.len() as u32);
        }
        for block in function.blocks() {
            locals.blocks.insert(block, locals.blocks.len() as u32);
            for instruction in block.instructions() {
                locals.values.insert(instruction.value(), locals.values.len() as u32);
            }
        }
        for block in function.blocks() {
            for instruction in block.instructions() {
                self.instruction(instruction, body, &locals);
            }
            body.blocks.push(body.instructions.len() as u32);
        }
        Ok(true)
    }
}
