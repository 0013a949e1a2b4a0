//! What a filter costs and promises, and what others would.

use lately::Window;
use lately::catalog::CATALOG;
use lately::raw::Untyped;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::raised;
use crate::wish::{Windows, Wish};

/// One way to reach a goal: a structure, its price and what it promises.
#[pyclass(frozen, get_all, module = "lately")]
#[derive(Clone)]
pub struct Plan {
    /// The name of the structure.
    structure: String,
    /// Bytes on the heap.
    bytes: u64,
    /// Bits for each key of the window, where it is known how many there are.
    bits_per_item: Option<f64>,
    /// The least that any structure could take, as far as it is known.
    lower_bound: Option<f64>,
    /// The share of unseen keys that are reported as seen, at the worst moment.
    false_positives: f64,
    /// The share of keys in the window that are reported as new; zero means never.
    false_negatives: f64,
    /// The promise in words.
    promise: String,
    /// What an insertion costs, in instructions.
    cost: f64,
    /// Why one would choose it.
    reason: String,
}

impl Plan {
    fn of(plan: &lately::plan::Plan) -> Self {
        Self {
            structure: plan.row.name.to_owned(),
            bytes: plan.bytes,
            bits_per_item: plan.bits_per_item,
            lower_bound: plan.lower_bound_bits_per_item,
            false_positives: plan.promise.false_positives,
            false_negatives: plan.promise.false_negatives,
            promise: plan.promise.to_string(),
            cost: plan.cost,
            reason: plan.reason.clone(),
        }
    }

    /// The plan that a filter was built by.
    pub fn of_filter(untyped: &Untyped) -> Self {
        let blueprint = untyped.filter().blueprint();
        let (promise, bytes) = (blueprint.promise(), blueprint.heap_bytes());
        let items = match promise.window {
            Window::Last(items) => Some(items),
            Window::Within(_) | Window::Ever => None,
        };
        let structure = blueprint.structure().to_owned();
        let reason =
            CATALOG.row(&structure).map_or_else(String::new, |row| row.strength.to_owned());
        Self {
            structure,
            bytes,
            bits_per_item: items.map(|items| bytes as f64 * 8.0 / items as f64),
            lower_bound: None,
            false_positives: promise.false_positives,
            false_negatives: promise.false_negatives,
            promise: promise.to_string(),
            cost: blueprint.cost(),
            reason,
        }
    }

    fn cells(&self) -> [String; 6] {
        let number =
            |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.1}"));
        [
            self.structure.clone(),
            self.bytes.to_string(),
            number(self.bits_per_item),
            number(self.lower_bound),
            format!("{:.2e}", self.false_positives),
            self.reason.clone(),
        ]
    }
}

const TITLES: [&str; 6] = ["structure", "bytes", "bits/item", "least", "error", "because it is"];

#[pymethods]
impl Plan {
    fn __repr__(&self) -> String {
        format!("Plan({}, {} bytes: {})", self.structure, self.bytes, self.promise)
    }

    fn _repr_html_(&self) -> String {
        html(std::slice::from_ref(self))
    }
}

/// All plans that reach a goal, best first: a sequence that prints as a table.
#[pyclass(frozen, sequence, module = "lately")]
pub struct Plans(Vec<Plan>);

#[pymethods]
impl Plans {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __getitem__(&self, index: isize) -> PyResult<Plan> {
        let index = if index < 0 { index + self.0.len() as isize } else { index };
        let plan = usize::try_from(index).ok().and_then(|index| self.0.get(index));
        plan.cloned().ok_or_else(|| PyIndexError::new_err("there are not so many plans"))
    }

    fn __repr__(&self) -> String {
        let mut lines = vec![TITLES.map(str::to_owned)];
        lines.extend(self.0.iter().map(Plan::cells));
        let width =
            |column: usize| lines.iter().map(|cells| cells[column].len()).max().unwrap_or(0);
        let widths: [usize; 6] = std::array::from_fn(width);
        let line = |cells: &[String; 6]| {
            let [structure, numbers @ .., reason] = cells;
            let mut line = format!("{structure:<0$}", widths[0]);
            for (number, width) in numbers.iter().zip(&widths[1..]) {
                line.push_str(&format!("  {number:>width$}"));
            }
            format!("{line}  {reason}")
        };
        lines.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn _repr_html_(&self) -> String {
        html(&self.0)
    }
}

fn html(plans: &[Plan]) -> String {
    let row = |tag: &str, cells: &[String]| {
        let cells = cells.iter().map(|cell| {
            let cell = cell.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            format!("<{tag}>{cell}</{tag}>")
        });
        format!("<tr>{}</tr>", cells.collect::<String>())
    };
    let body = plans.iter().map(|plan| row("td", &plan.cells())).collect::<String>();
    let head = row("th", &TITLES.map(str::to_owned));
    format!("<table><thead>{head}</thead><tbody>{body}</tbody></table>")
}

/// What each structure would cost, best first: the keywords of a Window, an Ever or, with counting=True, a
/// Counter.
///
/// >>> import lately
/// >>> plans = lately.plan(last=1e6, error=0.001)
/// >>> plans[0].bits_per_item < 19 and plans[0].false_positives <= 0.001
/// True
#[pyfunction]
#[pyo3(
    signature = (**wishes),
    text_signature = "(*, last=None, within=None, error=0.001, memory=None, slack=None, expected=None, \
                      alphabet=None, removing=False, counting=False, structure=None)"
)]
pub fn plan(py: Python<'_>, wishes: Option<&Bound<'_, PyDict>>) -> PyResult<Plans> {
    let wish = Wish::of(wishes, Windows::Any)?;
    let plans = py.detach(|| match &wish.structure {
        Some(name) => wish.goal.plan_with(CATALOG.row_named(name)?).map(|plan| vec![plan]),
        None => wish.goal.plans(),
    });
    Ok(Plans(plans.map_err(raised)?.iter().map(Plan::of).collect()))
}
