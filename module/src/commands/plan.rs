//! `LATELY.PLAN`: what a filter would cost, structure by structure, before it is made.

use std::borrow::Cow;

use lately::plan;

use super::reserve::{
    CAPACITY, COUNTING, LIMIT, REMOVING, SHORTEN_AT, SLACK, STRUCTURE, WINDOW, default_wish,
};
use crate::engine::{Command, Doc, Effect, Keys, Refusal, Reply};
use crate::ours::{Call, Ours};
use crate::wish::Wish;

/// `LATELY.PLAN [LAST n | WITHIN ms | EVER] [ERROR e | MEMORY bytes] ...`
pub struct Plan;

impl Command<Ours> for Plan {
    const DOC: Doc = Doc {
        name: c"LATELY.PLAN",
        summary: c"Says which structures would do for a wish, best first, and at what cost",
        complexity: c"O(1)",
        arity: -1,
        effect: Effect::Nothing,
        keys: Keys::None,
        args: &[WINDOW, LIMIT, SHORTEN_AT, SLACK, COUNTING, REMOVING, CAPACITY, STRUCTURE],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        let wish = Wish::parse(&call.words()[1..])?.or(default_wish()?);
        let plans = match wish.structure {
            Some(_) => vec![wish.plan()?],
            None => wish.goal()?.plans()?,
        };
        Ok(Reply::Array(plans.iter().map(describe).collect()))
    }
}

fn describe(plan: &plan::Plan) -> Reply {
    let fields = [
        ("structure", Reply::text(plan.row.name)),
        ("bytes", Reply::count(plan.bytes)),
        ("bits-per-item", Reply::double_or_null(plan.bits_per_item)),
        ("ratio-to-bound", Reply::double_or_null(plan.ratio)),
        ("false-positives", Reply::Double(plan.promise.false_positives)),
        ("false-negatives", Reply::Double(plan.promise.false_negatives)),
        ("promise", Reply::text(plan.promise.to_string())),
        ("reason", Reply::text(plan.reason.clone())),
    ];
    Reply::Map(fields.into_iter().map(|(name, reply)| (Cow::Borrowed(name), reply)).collect())
}
