//! Plans as JSON.

use lately::catalog::CATALOG;
use lately::plan::Plan;
use lately::{Error, Memory};
use serde::Serialize;
use serde_json::{Value, json};

use crate::asked::Asked;
use crate::{fleet, paste};

/// An answer, or `{"error": ...}` with what to do.
pub fn text(answer: Result<Value, Error>) -> String {
    answer.unwrap_or_else(|error| json!({ "error": error.to_string() })).to_string()
}

/// The best plan, where it runs, and the lines to paste.
pub fn best(asked: &Asked) -> Result<Value, Error> {
    let plan = asked.goal.best_plan()?;
    let fleet = asked.server.map(|server| fleet::of(&asked.goal, &plan, server)).transpose()?;
    let shards = fleet.as_ref().map_or(1, |fleet| fleet.servers);
    Ok(json!({
        "plan": told(&plan),
        "items": asked.goal.items(),
        "fleet": fleet,
        "paste": paste::lines(&asked.goal, shards),
    }))
}

/// All plans, best first.
pub fn all(asked: &Asked) -> Result<Value, Error> {
    Ok(asked.goal.plans()?.iter().map(told).collect())
}

/// What there is to choose from.
pub fn structures() -> Value {
    let row = |row: &lately::catalog::Row| json!({ "name": row.name, "strength": row.strength });
    CATALOG.iter().map(row).collect()
}

fn told(plan: &Plan) -> Value {
    let fields = plan.blueprint.fields();
    let parameters = fields.iter().map(|(name, value)| json!([name, value]));
    json!({
        "structure": plan.row.name,
        "bytes": plan.bytes,
        "memory": Memory::from_bytes(plan.bytes).to_string(),
        "bits": plan.bits_per_item,
        "least": plan.lower_bound_bits_per_item,
        "ratio": plan.ratio,
        "falsePositives": plan.promise.false_positives,
        "falseNegatives": plan.promise.false_negatives,
        "promise": plan.promise.to_string(),
        "reason": plan.reason,
        "cost": plan.cost,
        "adapts": plan.blueprint.adapts(),
        "parameters": parameters.collect::<Value>(),
    })
}

/// One point of a line: its x, and its y if there is one.
#[derive(Debug, Serialize)]
pub struct Point(pub f64, pub Option<f64>);
