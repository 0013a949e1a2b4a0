//! The promises, stated once as generic functions and run on every row of the catalog.
//!
//! A structure joins by being in the catalog: [`subjects`] asks every row for parameters on a grid
//! of goals. Each contract is also run on filters with a planted fault, and must catch it.

mod broken;
mod counting;
mod detector;
mod ever;
mod membership;
mod model;
mod snapshot;
pub mod subjects;
mod timed;

use broken::{Fault, detector_with_fault, ever_with_fault, with_fault};
use lately::spectral::{Rule, SpectralParameters};
use model::{Flaw, model};
use subjects::{Subject, subjects};

/// Runs a contract on every subject that it applies to, and demands that there is one.
fn on_every(applies: fn(&Subject) -> bool, contract: fn(&Subject)) {
    let subjects: Vec<Subject> = subjects().into_iter().filter(applies).collect();
    assert!(!subjects.is_empty(), "no structure of the catalog can be held to this contract");
    for subject in &subjects {
        eprintln!("{}", subject.label);
        contract(subject);
    }
}

/// Runs a contract on the exact model too, so that it is known to hold for something before the
/// first structure with its ability arrives.
fn on_all_and_model(applies: fn(&Subject) -> bool, contract: fn(&Subject)) {
    let subjects = subjects().into_iter().filter(applies);
    for subject in subjects.chain([model(Flaw::None)]) {
        eprintln!("{}", subject.label);
        contract(&subject);
    }
}

/// Demands that a contract fails on a filter with this fault.
fn must_catch(fault: Fault, contract: fn(&Subject)) {
    must_fail(&with_fault(fault), contract);
}

/// Demands that a contract fails on a filter with this fault that should remember everything.
fn must_catch_ever(fault: Fault, contract: fn(&Subject)) {
    must_fail(&ever_with_fault(fault), contract);
}

/// Demands that a contract fails on the model with this flaw.
fn must_catch_flaw(flaw: Flaw, contract: fn(&Subject)) {
    must_fail(&model(flaw), contract);
}

fn must_fail(subject: &Subject, contract: fn(&Subject)) {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| contract(subject)));
    assert!(outcome.is_err(), "{} was not noticed", subject.label);
}

#[test]
fn windows_by_count_are_remembered_and_errors_stay_rare() {
    on_every(Subject::counts_items, membership::keeps_its_window);
    must_catch(Fault::Amnesiac, membership::keeps_its_window);
    must_catch(Fault::OffByOne, membership::keeps_its_window);
    must_catch(Fault::Liar, membership::keeps_its_window);
    must_catch(Fault::NeverForgets, membership::keeps_its_window);
}

#[test]
fn no_phase_of_a_window_errs_more_often() {
    on_every(Subject::counts_items, membership::errs_no_more_often_at_any_phase);
    must_catch(Fault::Liar, membership::errs_no_more_often_at_any_phase);
}

#[test]
fn detectors_err_no_more_than_they_say() {
    on_every(Subject::may_forget, detector::errs_as_promised);
    must_fail(&detector_with_fault(Fault::Amnesiac), detector::errs_as_promised);
    must_fail(&detector_with_fault(Fault::Liar), detector::errs_as_promised);
}

#[test]
fn detectors_let_repeats_pass_again_if_they_must_not_refresh() {
    on_every(Subject::may_forget, detector::repeats_pass_again);
    must_fail(&detector_with_fault(Fault::AlwaysRefreshes), detector::repeats_pass_again);
}

#[test]
fn a_repeat_passes_once_per_window_if_it_must_not_refresh() {
    on_every(Subject::counts_items, membership::passes_once_per_window);
    must_catch(Fault::AlwaysRefreshes, membership::passes_once_per_window);
    must_catch(Fault::Amnesiac, membership::passes_once_per_window);
}

#[test]
fn everything_is_remembered_at_every_size_and_errors_stay_rare() {
    on_every(Subject::remembers_ever, ever::remembers_everything);
    must_catch_ever(Fault::Amnesiac, ever::remembers_everything);
    must_catch_ever(Fault::Liar, ever::remembers_everything);
    must_catch_ever(Fault::BlindEye, ever::remembers_everything);
}

#[test]
fn what_is_taken_back_is_gone_and_nothing_else() {
    on_every(Subject::takes_back, ever::takes_back_what_was_inserted);
    must_catch_ever(Fault::RemovesAnother, ever::takes_back_what_was_inserted);
    must_catch_ever(Fault::NeverRemoves, ever::takes_back_what_was_inserted);
}

#[test]
fn what_was_called_new_can_be_taken_back() {
    on_every(Subject::takes_back, ever::takes_back_what_it_called_new);
    must_catch_ever(Fault::RemovesAnother, ever::takes_back_what_it_called_new);
    must_catch_ever(Fault::NeverRemoves, ever::takes_back_what_it_called_new);
}

#[test]
fn looking_changes_nothing_and_tells_what_inserting_would() {
    on_every(|_| true, membership::looking_is_free_and_true);
    must_catch(Fault::BlindEye, membership::looking_is_free_and_true);
}

#[test]
fn many_at_once_answer_like_one_by_one() {
    on_every(|_| true, membership::batches_equal_singles);
    must_catch(Fault::SloppyBatch, membership::batches_equal_singles);
}

#[test]
fn a_count_window_does_not_look_at_the_clock() {
    on_every(Subject::counts_items, membership::ignores_time);
    must_catch(Fault::ClockWatcher, membership::ignores_time);
}

#[test]
fn memory_is_what_the_blueprint_says() {
    on_every(|_| true, membership::heap_is_as_planned);
    must_catch(Fault::Hoarder, membership::heap_is_as_planned);
}

#[test]
fn the_estimate_of_the_error_is_right() {
    on_every(|_| true, membership::estimates_its_error);
    must_catch(Fault::Optimist, membership::estimates_its_error);
}

#[test]
fn a_snapshot_in_the_middle_of_a_stream_changes_no_later_answer() {
    on_every(|_| true, snapshot::saving_changes_nothing);
    must_catch(Fault::LosesStateOnSave, snapshot::saving_changes_nothing);
}

#[test]
fn windows_by_time_are_remembered_and_errors_stay_rare() {
    on_all_and_model(Subject::measures_time, timed::keeps_its_span);
    must_catch_flaw(Flaw::ForgetsEarly, timed::keeps_its_span);
    must_catch_flaw(Flaw::Rewinds, timed::keeps_its_span);
}

#[test]
fn windows_by_time_are_forgotten_without_an_insertion() {
    on_all_and_model(Subject::measures_time, timed::forgets_when_idle);
    must_catch_flaw(Flaw::SleepsWhenIdle, timed::forgets_when_idle);
}

#[test]
fn a_clock_set_back_forgets_nothing_early_and_everything_in_time() {
    on_all_and_model(Subject::measures_time, timed::turns_back);
    must_catch_flaw(Flaw::KeepsItsClock, timed::turns_back);
    must_catch_flaw(Flaw::TurnsForward, timed::turns_back);
    must_catch_flaw(Flaw::MovesAllMoments, timed::turns_back);
    must_catch_flaw(Flaw::KeepsItsMoments, timed::turns_back);
    must_catch_flaw(Flaw::ForgetsWhenTurnedBack, timed::turns_back);
}

#[test]
fn counts_are_never_too_small_and_seldom_too_large() {
    on_all_and_model(Subject::counts_sightings, counting::counts_are_right);
    must_catch_flaw(Flaw::Undercounts, counting::counts_are_right);
    must_catch_flaw(Flaw::Overcounts, counting::counts_are_right);
    must_catch_flaw(Flaw::NeverSlides, counting::counts_are_right);
}

#[test]
fn different_keys_are_counted_once() {
    on_all_and_model(Subject::knows_how_many, counting::tells_how_many_differ);
    must_catch_flaw(Flaw::TellsSightings, counting::tells_how_many_differ);
    must_catch_flaw(Flaw::NeverSlides, counting::tells_how_many_differ);
}

#[test]
fn minimal_increase_raises_no_more_than_it_must() {
    on_every(Subject::increases_minimally, counting::raises_no_more_than_it_must);
    // The rule beside it, which adds to every counter of a key.
    let rule = Rule::MinimumSelection;
    let adds_to_all = SpectralParameters::with_error(5_000, 0.05, rule);
    must_fail(&Subject::of(Box::new(adds_to_all)), counting::raises_no_more_than_it_must);
}

#[test]
fn sightings_taken_back_are_gone_and_nothing_else() {
    on_all_and_model(Subject::takes_back_sightings, counting::takes_back);
    must_catch_flaw(Flaw::KeepsWhatIsTakenBack, counting::takes_back);
    must_catch_flaw(Flaw::TakesBackTooMuch, counting::takes_back);
    must_catch_flaw(Flaw::TakesBackWhatIsNotThere, counting::takes_back);
}

#[test]
fn what_cannot_be_taken_back_is_refused() {
    on_every(Subject::keeps_sightings, counting::refuses_to_take_back);
    must_catch_flaw(Flaw::TakesBackSecretly, counting::refuses_to_take_back);
}

#[test]
fn halves_of_a_stream_merge_into_the_whole() {
    on_all_and_model(Subject::combines, counting::merges);
    must_catch_flaw(Flaw::LosesWhenCombining, counting::merges);
}

#[test]
fn products_count_pairs() {
    on_all_and_model(Subject::multiplies, counting::multiplies);
    must_catch_flaw(Flaw::LosesWhenCombining, counting::multiplies);
}

#[test]
fn counts_leave_with_the_window_and_not_before() {
    on_all_and_model(Subject::counts_in_a_window, counting::counts_slide);
    must_catch_flaw(Flaw::CountsTooShort, counting::counts_slide);
    must_catch_flaw(Flaw::CountsForEver, counting::counts_slide);
    must_catch_flaw(Flaw::Undercounts, counting::counts_slide);
}

#[test]
fn limits_are_kept_and_nobody_is_denied_without_reason() {
    on_all_and_model(Subject::counts_in_a_window, counting::admits_up_to_the_limit);
    must_catch_flaw(Flaw::CountsTheDenied, counting::admits_up_to_the_limit);
    must_catch_flaw(Flaw::AdmitsOneMore, counting::admits_up_to_the_limit);
    must_catch_flaw(Flaw::DeniesAtWill, counting::admits_up_to_the_limit);
    must_catch_flaw(Flaw::CountsTooShort, counting::admits_up_to_the_limit);
}

#[test]
fn filters_not_built_alike_are_not_combined() {
    on_all_and_model(Subject::counts_sightings, counting::refuses_to_combine);
    must_catch_flaw(Flaw::CombinesWithAnything, counting::refuses_to_combine);
}
