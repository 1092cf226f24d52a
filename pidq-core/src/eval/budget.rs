//! The budgets of a run: fuel, memory, and the flag that ends it from outside. Nothing else spends them.

use super::Cx;
use super::plan::Plan;
use crate::error::{Code, Error, Result};
use crate::limits::Limits;
use crate::value::Value;

/// Fuel between two looks at the cancel flag.
pub(super) const LOOK_EVERY: u64 = 1024;

/// What a run had before a part of it that may be taken back.
pub(super) struct Before {
    collected: usize,
    bound: usize,
    held: usize,
    capacity: usize,
    notes: usize,
}

impl<'a> Cx<'a> {
    /// Fuel spent so far.
    pub fn fuel_used(&self) -> u64 {
        self.used
    }

    /// The budgets of this run.
    pub fn limits(&self) -> &Limits<'a> {
        &self.limits
    }

    /// Evaluates a part of the query whose error may be caught: what it had collected, bound and held until then is
    /// given back. What it spent stays spent.
    pub(crate) fn attempt(&mut self, plan: &'a Plan, input: Value<'a>) -> Result<Value<'a>> {
        let before = self.before();
        let result = self.eval(plan, input);
        if result.is_err() {
            self.give_back(before);
        }
        result
    }

    /// What was collected, bound and held until now.
    pub(super) fn before(&self) -> Before {
        Before {
            collected: self.stack.len(),
            bound: self.variables.len(),
            held: self.held,
            capacity: self.stack.capacity(),
            notes: self.notes.len(),
        }
    }

    /// Gives back what was collected, bound and held since; the room of the stack stays, and stays counted.
    pub(super) fn give_back(&mut self, before: Before) {
        self.stack.truncate(before.collected);
        self.variables.truncate(before.bound);
        self.notes.truncate(before.notes);
        let kept = before.held + (self.stack.capacity() - before.capacity) * size_of::<Value<'_>>();
        self.release(self.held.saturating_sub(kept));
    }

    /// Pays for work. Stops the run when the fuel is used up or the run was cancelled.
    #[inline]
    pub fn spend(&mut self, units: u64) -> Result<()> {
        self.used = self.used.saturating_add(units);
        if self.used < self.look_at { Ok(()) } else { self.look() }
    }

    /// Gives fuel back for what is paid for elsewhere. The next look at the flag is not put off by it.
    pub(super) fn refund(&mut self, used: u64, inner_fuel: u64) {
        (self.used, self.inner_fuel) = (used, inner_fuel);
        self.look_at = self.look_at.min(used + LOOK_EVERY);
    }

    #[cold]
    fn look(&mut self) -> Result<()> {
        if self.used > self.limits.fuel {
            let message = format!("The query took more than {} steps", self.limits.fuel);
            let error = Error::new(Code::OutOfFuel, message).with_limit("steps", self.limits.fuel);
            return Err(error.with_help("select less before the costly step, or raise the fuel limit"));
        }
        self.limits.check()?;
        self.look_at = (self.used + LOOK_EVERY).min(self.limits.fuel.saturating_add(1));
        Ok(())
    }

    /// Pays for `bytes` that are copied, compared or searched.
    pub(crate) fn spend_bytes(&mut self, bytes: usize) -> Result<()> {
        self.spend(bytes as u64 / 64)
    }

    /// Counts memory outside of the scratch.
    pub(crate) fn hold(&mut self, bytes: usize) -> Result<()> {
        self.held += bytes;
        if self.held + self.scratch.size() > self.limits.memory {
            return Err(self.out_of_memory());
        }
        self.scratch.limit(self.limits.memory - self.held);
        Ok(())
    }

    /// Takes back what [`Cx::hold`] has counted.
    pub(crate) fn release(&mut self, bytes: usize) {
        self.held -= bytes.min(self.held);
        self.scratch.limit(self.limits.memory - self.held);
    }

    pub(crate) fn out_of_memory(&self) -> Error {
        let message = format!("The query needs more than {} bytes of memory", self.limits.memory);
        Error::new(Code::OutOfMemory, message)
            .with_limit("memory", self.limits.memory as u64)
            .with_help("select less before the costly step, or raise the memory limit")
    }
}
