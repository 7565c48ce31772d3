//! Differences of counts have a sign.

use arrow::datatypes::DataType;
use datafusion::{
    common::DFSchema,
    error::DataFusionError,
    logical_expr::{
        BinaryExpr, Expr, ExprSchemable as _, Operator, cast,
        planner::{ExprPlanner, PlannerResult, RawBinaryExpr},
    },
    sql::sqlparser::ast::BinaryOperator,
};

/// Plans `a - b` of unsigned columns as a difference of signed ones: data sets count in `UInt64`, in which 3 - 5 is
/// 2⁶⁴ - 2. A count above 2⁶³ ends the query.
#[derive(Debug)]
pub(crate) struct SignedDifference;

impl ExprPlanner for SignedDifference {
    fn plan_binary_op(
        &self,
        expr: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>, DataFusionError> {
        let is_unsigned =
            |side: &Expr| side.get_type(schema).is_ok_and(|kind| kind.is_unsigned_integer());
        let is_difference = expr.op == BinaryOperator::Minus;
        if !is_difference || !(is_unsigned(&expr.left) || is_unsigned(&expr.right)) {
            return Ok(PlannerResult::Original(expr));
        }
        let signed = |side: Expr| match is_unsigned(&side) {
            true => Box::new(cast(side, DataType::Int64)),
            false => Box::new(side),
        };
        let (left, right) = (signed(expr.left), signed(expr.right));
        Ok(PlannerResult::Planned(Expr::BinaryExpr(BinaryExpr::new(left, Operator::Minus, right))))
    }
}
