//! Buffers that work-items write, apart from those that they read.

use super::{Expression, Node, Program, Space, Statement, Ty};

/// What is done with a parameter that points to global memory.
struct Uses {
    name: String,
    ty: Ty,
    /// Where its elements are read or written, as often as they are.
    places: Vec<Expression>,
    /// Where they are written, each place once.
    written: Vec<Expression>,
    /// Whether it is named where no element of it is meant.
    is_passed: bool,
}

impl Program {
    /// The same program where each buffer is written at one place and read at no other: what is read elsewhere is another
    /// buffer, one that is only read where there is one, and what is written elsewhere is another one, too. A work-item that
    /// writes its own elements then races with no other. `None` where that changes nothing.
    ///
    /// Places are the same where they are written alike, but for variables that hold the work-item's own place; a buffer stays as it is where more is done with it than accesses of
    /// its elements.
    pub(crate) fn set_apart(&self) -> Option<Program> {
        let mut program = self.clone();
        let own = program.own_places();
        let uses = program.uses(&own);
        let mut moved: Vec<(&str, &Expression, Expression)> = Vec::new();
        for one in uses.iter().filter(|one| !one.is_passed && !one.written.is_empty()) {
            for place in &one.written[1..] {
                moved.push((&one.name, place, program.add_parameter(one.ty)));
            }
            let is_only_read = |other: &&Uses| {
                other.ty == one.ty
                    && other.written.is_empty()
                    && !other.is_passed
                    && !other.places.is_empty()
            };
            let mut read = uses
                .iter()
                .find(is_only_read)
                .map(|other| Expression::name(other.ty, &*other.name));
            for place in one.places.iter().filter(|place| !one.written.contains(place)) {
                let buffer = read.get_or_insert_with(|| program.add_parameter(one.ty));
                moved.push((&one.name, place, buffer.clone()));
            }
        }
        if moved.is_empty() {
            return None;
        }
        for statement in &mut program.body {
            statement.each_expression(&mut |one| {
                let Some((buffer, place)) = element(one, &own) else { return };
                let to = moved.iter().find(|(name, at, _)| is_named(buffer, name) && **at == place);
                if let Some((_, _, other)) = to {
                    *buffer = other.clone();
                }
            });
        }
        Some(program)
    }

    /// Buffers in global memory whose elements are read, and of which nothing else is done, by their names.
    pub(super) fn only_read(&self) -> Vec<String> {
        let mut program = self.clone();
        let own = program.own_places();
        let uses = program.uses(&own).into_iter();
        uses.filter(|one| one.written.is_empty() && !one.is_passed).map(|one| one.name).collect()
    }

    /// The same program where work-items write their own elements instead of one that is the same for all of them. `None` where
    /// they write none such.
    pub(crate) fn set_own(&self) -> Option<Program> {
        let mut program = self.clone();
        let own = program.own_place();
        let parameters = &program.parameters;
        let is_parameter = |one: &Expression, is_buffer: bool| {
            parameters.iter().any(|known| {
                is_named(one, &known.name)
                    && matches!(known.ty, Ty::Pointer { space: Space::Global, .. }) == is_buffer
            })
        };
        let mut times = 0;
        for statement in &mut program.body {
            statement.each_expression(&mut |one| {
                if let Some(left) = changed(one)
                    && let Node::Index(buffer, at) = &mut left.node
                    && is_parameter(buffer, true)
                    && (matches!(at.node, Node::Literal(_)) || is_parameter(at, false))
                {
                    **at = own.clone();
                    times += 1;
                }
            });
        }
        (times > 0).then_some(program)
    }

    /// The variables that are declared as the work-item's own place and never changed.
    pub(super) fn own_places(&mut self) -> Vec<String> {
        let declared = self.body.iter().filter_map(|statement| match statement {
            Statement::Declare { name, value: Some(value), .. } if is_own_place(value) => {
                Some(name.clone())
            }
            _ => None,
        });
        let mut names: Vec<String> = declared.collect();
        for statement in &mut self.body {
            statement.each_expression(&mut |one| {
                if let Some(left) = changed(one) {
                    names.retain(|name| !is_named(left, name));
                }
            });
        }
        names
    }

    fn uses(&mut self, own: &[String]) -> Vec<Uses> {
        let is_global = |ty: Ty| matches!(ty, Ty::Pointer { space: Space::Global, .. });
        let buffers = self.parameters.iter().filter(|one| is_global(one.ty));
        let mut all: Vec<Uses> = buffers
            .map(|one| Uses {
                name: one.name.clone(),
                ty: one.ty,
                places: Vec::new(),
                written: Vec::new(),
                is_passed: false,
            })
            .collect();
        let text = self.to_string();
        for uses in &mut all {
            let mut named = 1; // among the parameters
            for statement in &mut self.body {
                statement.each_expression(&mut |one| {
                    if let Some(left) = changed(one)
                        && let Some((buffer, place)) = element(left, own)
                        && is_named(buffer, &uses.name)
                        && !uses.written.contains(&place)
                    {
                        uses.written.push(place);
                    }
                    if let Some((buffer, place)) = element(one, own)
                        && is_named(buffer, &uses.name)
                    {
                        uses.places.push(place);
                        named += 1;
                    }
                });
            }
            // In statements that are kept as text, too.
            uses.is_passed =
                lexer::tokens(&text).filter(|token| token.text == uses.name).count() != named;
        }
        all
    }
}

/// What an expression changes, or lets others change.
fn changed(expression: &mut Expression) -> Option<&mut Expression> {
    match &mut expression.node {
        Node::Assign(_, left, _) | Node::Postfix(_, left) => Some(whole(left)),
        Node::Unary(operator, left) if ["++", "--", "&"].contains(&operator.as_str()) => {
            Some(whole(left))
        }
        _ => None,
    }
}

/// Of lanes the vector.
fn whole(expression: &mut Expression) -> &mut Expression {
    match expression.node {
        Node::Lanes(..) => match &mut expression.node {
            Node::Lanes(vector, _) => whole(vector),
            _ => unreachable!("seen above"),
        },
        _ => expression,
    }
}

/// Whether it is `get_global_id(0)`.
fn is_own_place(value: &Expression) -> bool {
    matches!(&value.node, Node::Call(name, arguments) if name == "get_global_id"
        && matches!(&arguments[..], [Expression { node: Node::Literal(zero), .. }] if zero == "0"))
}

/// The buffer of an element, and where in it that lies; variables of `own` are the work-item's own place.
fn element<'a>(
    expression: &'a mut Expression,
    own: &[String],
) -> Option<(&'a mut Expression, Expression)> {
    match &mut expression.node {
        Node::Index(buffer, at) => {
            let mut place = Expression::clone(at);
            place.each(&mut |one| {
                if own.iter().any(|name| is_named(one, name)) {
                    *one = Program::own_place_call();
                }
            });
            Some((buffer, place))
        }
        Node::Unary(operator, buffer) if operator == "*" => {
            Some((buffer, Expression::literal(Ty::INT, "0")))
        }
        _ => None,
    }
}

fn is_named(expression: &Expression, name: &str) -> bool {
    matches!(&expression.node, Node::Name(own) if own == name)
}

#[cfg(test)]
mod tests {
    use crate::Judge;

    #[test]
    fn what_all_would_write_each_writes_for_itself() {
        let judge = Judge::new(features::space("grewe").expect("registered"), 1)
            .unwrap_or_else(|error| panic!("{error}"));
        let own = |text: &str| {
            let program = judge.read(&[text]).pop().flatten().expect("a kernel");
            program.set_own().map(|program| program.to_string())
        };
        let kernel = |body: &str| format!("__kernel void A(__global int* a, int b) {{\n{body}}}\n");
        assert_eq!(own(&kernel("  a[get_global_id(0)] = a[b];\n")), None);
        assert_eq!(
            own(&kernel("  a[b] = 1;\n  a[3] += a[4];\n")),
            Some(kernel("  int p2 = get_global_id(0);\n  a[p2] = 1;\n  a[p2] += a[4];\n"))
        );
    }

    #[test]
    fn what_is_read_elsewhere_is_another_buffer() {
        let judge = Judge::new(features::space("grewe").expect("registered"), 1)
            .unwrap_or_else(|error| panic!("{error}"));
        let apart = |text: &str| {
            let program = judge.read(&[text]).pop().flatten().expect("a kernel");
            program.set_apart().map(|program| program.to_string())
        };
        let kernel = |head: &str, body: &str| format!("__kernel void A({head}) {{\n  {body}\n}}\n");
        let (two, three) =
            ("__global float* a, int b", "__global float* a, int b, __global float* p2");
        let own = "a[get_global_id(0)] += 2.0f;";
        assert_eq!(apart(&kernel(two, own)), None);
        assert_eq!(
            apart(&kernel(two, "a[get_global_id(0)] = a[b] + a[get_global_id(0)] + *a;")),
            Some(kernel(three, "a[get_global_id(0)] = p2[b] + a[get_global_id(0)] + *p2;"))
        );
        // A variable may hold the place.
        let named = "int i = get_global_id(0);\n  a[i] = a[get_global_id(0)] + a[i];";
        assert_eq!(apart(&kernel(two, named)), None);
        // One that is only read is there.
        let with = "__global float* a, __global float* c, int b";
        assert_eq!(
            apart(&kernel(with, "a[get_global_id(0)] = a[b] + c[b];")),
            Some(kernel(with, "a[get_global_id(0)] = c[b] + c[b];"))
        );
        // What is written elsewhere is another one.
        assert_eq!(
            apart(&kernel(two, "a[get_global_id(0)] = 1.0f;\n  a[get_global_id(0) + 1]++;")),
            Some(kernel(three, "a[get_global_id(0)] = 1.0f;\n  p2[get_global_id(0) + 1]++;"))
        );
        assert_eq!(apart(&kernel(two, "float4 v = vload4(b, a);\n  a[b] = a[0] + v.x;")), None);
    }
}
