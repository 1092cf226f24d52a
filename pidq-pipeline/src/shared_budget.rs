//! Budgets that callers share: one caller cannot use up what all of them need.
//!
//! A caller may hold at most as much as remains free (A. Choudhury, E. Hahne: Dynamic Queue Length Thresholds in a
//! Shared-Memory ATM Switch, 1998). Alone, it gets half of the budget; of any number that take all they can, each gets an
//! equal share, and one share remains for the next.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Budget of units, such as streams or bytes.
pub struct SharedBudget(Arc<Budget>);

struct Budget {
    total: u64,
    used: Mutex<Used>,
}

/// Used units. Invariant: the sum is that of the callers, and no caller has 0.
#[derive(Default)]
struct Used {
    sum: u64,
    by_caller: HashMap<String, u64>,
}

/// Units of a caller, released on drop.
pub(crate) struct BudgetPermit {
    budget: Arc<Budget>,
    caller: String,
    amount: u64,
}

impl SharedBudget {
    /// Creates a budget.
    pub fn new(total: u64) -> SharedBudget {
        SharedBudget(Arc::new(Budget { total, used: Mutex::default() }))
    }

    /// Takes units for a caller; none if they are not free, or the caller would hold more than remains free. The first units of
    /// a caller need only be free, so that even the largest request succeeds alone.
    pub(crate) fn try_acquire(&self, caller: &str, amount: u64) -> Option<BudgetPermit> {
        let mut used = self.0.lock();
        let free = self.0.total.checked_sub(used.sum)?.checked_sub(amount)?;
        let held = used.by_caller.get(caller).copied().unwrap_or(0);
        if held > 0 && held + amount > free {
            return None;
        }
        if amount > 0 {
            used.sum += amount;
            *used.by_caller.entry(caller.to_owned()).or_default() += amount;
        }
        Some(BudgetPermit { budget: self.0.clone(), caller: caller.to_owned(), amount })
    }

    /// Returns the number of free units.
    pub fn available(&self) -> u64 {
        self.0.total - self.0.lock().sum
    }
}

impl Budget {
    /// Locks the used units, ignoring poisoning: no change can be interrupted.
    fn lock(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for BudgetPermit {
    fn drop(&mut self) {
        let mut used = self.budget.lock();
        used.sum -= self.amount;
        if let Some(held) = used.by_caller.get_mut(&self.caller) {
            *held -= self.amount;
            if *held == 0 {
                used.by_caller.remove(&self.caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes single units for a caller until it is refused.
    fn take_all(budget: &SharedBudget, caller: &str) -> Vec<BudgetPermit> {
        std::iter::from_fn(|| budget.try_acquire(caller, 1)).collect()
    }

    #[test]
    fn a_caller_gets_half_and_each_of_several_an_equal_share() {
        for (total, expected) in
            [(0, [0, 0, 0]), (1, [1, 0, 0]), (2, [1, 1, 0]), (3, [1, 1, 1]), (8, [4, 2, 1]), (256, [128, 64, 32])]
        {
            let budget = SharedBudget::new(total);
            let held = ["ann", "bob", "eve"].map(|caller| take_all(&budget, caller));
            assert_eq!(held.each_ref().map(Vec::len), expected, "of {total}");
            drop(held);
            assert_eq!(budget.available(), total, "everything is released");
            assert!(budget.0.lock().by_caller.is_empty(), "no caller is remembered");
        }
    }

    #[test]
    fn the_first_units_of_a_caller_need_only_be_free() {
        let budget = SharedBudget::new(100);
        let whole = budget.try_acquire("ann", 100).expect("nothing else is used");
        assert!(budget.try_acquire("bob", 1).is_none() && budget.try_acquire("ann", 1).is_none());
        drop(whole);
        assert!(budget.try_acquire("ann", 101).is_none() && budget.try_acquire("ann", u64::MAX).is_none());
        let _first = budget.try_acquire("ann", 40).expect("free");
        assert!(budget.try_acquire("ann", 11).is_none(), "51 of 100, with 49 free");
        let _second = budget.try_acquire("ann", 10).expect("50 of 100, with 50 free");
        let _other = budget.try_acquire("bob", 50).expect("free");
        assert_eq!(budget.available(), 0);
        assert!(budget.try_acquire("eve", 0).is_some(), "nothing is always free");
    }

    #[test]
    fn concurrent_callers_never_exceed_the_budget() {
        let budget = SharedBudget::new(20);
        std::thread::scope(|scope| {
            for caller in ["ann", "bob", "eve", "kim"] {
                let budget = &budget;
                scope.spawn(move || {
                    for round in 0..2000 {
                        let held: Vec<_> =
                            (0..round % 7).filter_map(|_| budget.try_acquire(caller, 1 + round % 3)).collect();
                        assert!(held.iter().map(|permit| permit.amount).sum::<u64>() <= 20 - budget.available());
                    }
                });
            }
        });
        assert_eq!(budget.available(), 20);
    }
}
