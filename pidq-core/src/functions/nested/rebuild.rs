//! Changes of all parts of a value: `mapDeep` and `omitDeep`.

use super::{Container, holds};
use crate::error::Result;
use crate::eval::EvalContext;
use crate::eval::plan::Plan;
use crate::functions::array::optional;
use crate::value::Value;

/// A container whose parts are being replaced. The new values are on the stack of collected values, from `base`.
struct Frame<'a> {
    value: Value<'a>,
    container: Container<'a>,
    at: usize,
    base: usize,
    /// The names of the kept fields of an object.
    names: Vec<&'a str>,
    is_changed: bool,
}

impl<'a> Frame<'a> {
    /// Returns `None` if the value has no parts.
    fn new(cx: &EvalContext<'a>, value: Value<'a>) -> Option<Frame<'a>> {
        let container = Container::from_value(value)?;
        Some(Frame { value, container, at: 0, base: cx.mark(), names: Vec::new(), is_changed: false })
    }

    /// A frame whose container is built anew in any case.
    fn changed(cx: &EvalContext<'a>, value: Value<'a>) -> Option<Frame<'a>> {
        Frame::new(cx, value).map(|frame| Frame { is_changed: true, ..frame })
    }

    /// Returns the next part and its name, which is empty for an item.
    fn next(&mut self) -> Option<(&'a str, Value<'a>)> {
        let (key, part) = self.container.entry(self.at)?;
        self.at += 1;
        Some((key.as_str().unwrap_or_default(), part))
    }

    /// Adds the new value of the part returned last.
    fn keep(&mut self, cx: &mut EvalContext<'a>, name: &'a str, value: Value<'a>) -> Result<()> {
        if let Container::Object(_) = self.container {
            cx.reserve(2 * size_of::<&str>())?;
            self.names.push(name);
        }
        cx.push(value)
    }

    /// Builds the container of the new values; the old one if nothing has changed, so that its text is kept.
    fn finish(self, cx: &mut EvalContext<'a>) -> Result<(Value<'a>, bool)> {
        cx.release(2 * self.names.len() * size_of::<&str>());
        if !self.is_changed {
            cx.discard_collected(self.base);
            return Ok((self.value, false));
        }
        let value = match self.container {
            Container::Array(_) => cx.collect_list(self.base)?,
            Container::Object(_) => {
                let keys = cx.intern_keys(&self.names)?;
                cx.collect_object(keys, self.base)?
            }
        };
        Ok((value, true))
    }
}

/// Replacement of all parts of a value, the innermost first. On the heap and in functions of its own, so that nested
/// calls fit on a small stack.
struct Replacement<'a> {
    /// The containers around the current one, and the names under which their parents keep them.
    outer: Vec<(Frame<'a>, &'a str)>,
    frame: Option<Frame<'a>>,
    /// The name of the part returned last.
    name: &'a str,
}

impl<'a> Replacement<'a> {
    /// Returns `None` if the value has no parts.
    #[inline(never)]
    fn new(cx: &EvalContext<'a>, value: Value<'a>) -> Option<Box<Replacement<'a>>> {
        let frame = Frame::changed(cx, value)?;
        Some(Box::new(Replacement { outer: Vec::new(), frame: Some(frame), name: "" }))
    }

    /// Returns the next value to replace: a part without parts, or a container of replaced parts.
    #[inline(never)]
    fn next(&mut self, cx: &mut EvalContext<'a>) -> Result<Value<'a>> {
        while let Some(frame) = &mut self.frame {
            cx.charge(1)?;
            match frame.next() {
                Some((_, Value::Undefined)) => {}
                Some((name, part)) => match Frame::changed(cx, part) {
                    Some(inner) => self.outer.push((std::mem::replace(frame, inner), name)),
                    None => {
                        self.name = name;
                        return Ok(part);
                    }
                },
                None => break,
            }
        }
        let Some(finished) = self.frame.take() else { return Ok(Value::Undefined) };
        if let Some((parent, name)) = self.outer.pop() {
            (self.frame, self.name) = (Some(parent), name);
        }
        finished.finish(cx).map(|(value, _)| value)
    }

    /// Keeps the new value of the part returned last. Returns true if it was the whole value.
    #[inline(never)]
    fn keep(&mut self, cx: &mut EvalContext<'a>, value: Value<'a>) -> Result<bool> {
        match &mut self.frame {
            Some(frame) => frame.keep(cx, self.name, value).map(|()| false),
            None => Ok(true),
        }
    }
}

/// Replaces the innermost parts first.
pub(super) fn map_deep<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let Some(mut replacement) = Replacement::new(cx, input) else { return optional(cx, args, 0, input) };
    loop {
        let part = replacement.next(cx)?;
        let value = optional(cx, args, 0, part)?;
        if replacement.keep(cx, value)? {
            return Ok(value);
        }
    }
}

/// Drops the outermost parts first; what is inside of them is not looked at.
pub(super) fn omit_deep<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let mut outer: Vec<(Frame<'a>, &'a str)> = Vec::new();
    let Some(mut frame) = Frame::new(cx, input) else { return Ok(input) };
    loop {
        cx.charge(1)?;
        if let Some((name, part)) = frame.next() {
            if matches!(part, Value::Undefined) || holds(cx, args, part)? {
                frame.is_changed = true;
            } else if let Some(inner) = Frame::new(cx, part) {
                outer.push((std::mem::replace(&mut frame, inner), name));
            } else {
                frame.keep(cx, name, part)?;
            }
            continue;
        }
        let (value, is_changed) = frame.finish(cx)?;
        let Some((parent, name)) = outer.pop() else { return Ok(value) };
        frame = parent;
        frame.is_changed |= is_changed;
        frame.keep(cx, name, value)?;
    }
}
