//! Budgets of a run: fuel, memory and the cancel flag. All charges go through this file.

use super::EvalContext;
use super::plan::Plan;
use crate::error::{Code, Error, Result};
use crate::limits::Limits;
use crate::value::Value;

/// Fuel between two checks of the cancel flag.
pub(super) const CHECK_INTERVAL: u64 = 1024;

/// State of a run to which [`EvalContext::rollback`] returns.
pub(super) struct Checkpoint {
    stack_len: usize,
    variable_count: usize,
    reserved: usize,
    capacity: usize,
    warning_count: usize,
}

impl<'a> EvalContext<'a> {
    /// Fuel spent so far.
    pub fn fuel_used(&self) -> u64 {
        self.fuel_used
    }

    /// The budgets of this run.
    pub fn limits(&self) -> &Limits<'a> {
        &self.limits
    }

    /// Evaluates a part of the query whose error may be caught. On error, values, bindings, memory and warnings are
    /// rolled back; fuel stays charged.
    pub(crate) fn try_eval(&mut self, plan: &'a Plan, input: Value<'a>) -> Result<Value<'a>> {
        let checkpoint = self.checkpoint();
        let result = self.eval(plan, input);
        if result.is_err() {
            self.rollback(checkpoint);
        }
        result
    }

    /// Captures the current state for a later rollback.
    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            stack_len: self.stack.len(),
            variable_count: self.variables.len(),
            reserved: self.reserved,
            capacity: self.stack.capacity(),
            warning_count: self.run_warnings.len(),
        }
    }

    /// Rolls back to a checkpoint. The stack keeps its capacity, which stays counted.
    pub(super) fn rollback(&mut self, checkpoint: Checkpoint) {
        self.stack.truncate(checkpoint.stack_len);
        self.variables.truncate(checkpoint.variable_count);
        self.run_warnings.truncate(checkpoint.warning_count);
        let new_reserved = checkpoint.reserved + (self.stack.capacity() - checkpoint.capacity) * size_of::<Value<'_>>();
        self.release(self.reserved.saturating_sub(new_reserved));
    }

    /// Charges fuel. Stops the run when the fuel is used up or the run is canceled.
    #[inline]
    pub fn charge(&mut self, units: u64) -> Result<()> {
        self.fuel_used = self.fuel_used.saturating_add(units);
        if self.fuel_used < self.next_check { Ok(()) } else { self.check_limits() }
    }

    /// Refunds fuel for work that is charged elsewhere. Does not delay the next check of the cancel flag.
    pub(super) fn refund(&mut self, used: u64, inner_fuel: u64) {
        (self.fuel_used, self.inner_fuel) = (used, inner_fuel);
        self.next_check = self.next_check.min(used + CHECK_INTERVAL);
    }

    #[cold]
    fn check_limits(&mut self) -> Result<()> {
        if self.fuel_used > self.limits.fuel {
            let message = format!("The query used more than {} units of fuel", self.limits.fuel);
            let error = Error::new(Code::OutOfFuel, message).with_limit("steps", self.limits.fuel);
            return Err(error.with_help("select less before the costly step, or raise the fuel limit"));
        }
        self.limits.check()?;
        self.next_check = (self.fuel_used + CHECK_INTERVAL).min(self.limits.fuel.saturating_add(1));
        Ok(())
    }

    /// Charges fuel for `bytes` that are copied, compared or searched.
    pub(crate) fn charge_bytes(&mut self, bytes: usize) -> Result<()> {
        self.charge(bytes as u64 / 64)
    }

    /// Reserves memory outside of the scratch.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Result<()> {
        self.reserved += bytes;
        if self.reserved + self.scratch.size() > self.limits.memory {
            return Err(self.out_of_memory());
        }
        self.scratch.limit(self.limits.memory - self.reserved);
        Ok(())
    }

    /// Releases memory reserved by [`EvalContext::reserve`].
    pub(crate) fn release(&mut self, bytes: usize) {
        self.reserved -= bytes.min(self.reserved);
        self.scratch.limit(self.limits.memory - self.reserved);
    }

    pub(crate) fn out_of_memory(&self) -> Error {
        let message = format!("The query needs more than {} bytes of memory", self.limits.memory);
        Error::new(Code::OutOfMemory, message)
            .with_limit("memory", self.limits.memory as u64)
            .with_help("select less before the costly step, or raise the memory limit")
    }
}
