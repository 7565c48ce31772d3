//! Buffers that work-items write, apart from those that they read.

use super::{Expression, Node, Program, Space, Ty};

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
    /// Places are the same where they are written alike; a buffer stays as it is where more is done with it than accesses of
    /// its elements.
    pub(crate) fn set_apart(&self) -> Option<Program> {
        let mut program = self.clone();
        let uses = program.uses();
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
                let Some((buffer, place)) = element(one) else { return };
                let to = moved.iter().find(|(name, at, _)| is_named(buffer, name) && **at == place);
                if let Some((_, _, other)) = to {
                    *buffer = other.clone();
                }
            });
        }
        Some(program)
    }

    fn uses(&mut self) -> Vec<Uses> {
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
                        && let Some((buffer, place)) = element(left)
                        && is_named(buffer, &uses.name)
                        && !uses.written.contains(&place)
                    {
                        uses.written.push(place);
                    }
                    if let Some((buffer, place)) = element(one)
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

/// The buffer of an element, and where in it that lies.
fn element(expression: &mut Expression) -> Option<(&mut Expression, Expression)> {
    match &mut expression.node {
        Node::Index(buffer, at) => Some((buffer, Expression::clone(at))),
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
