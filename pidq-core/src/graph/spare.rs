//! What walks need beside the network, kept with the document: a run borrows it, and gives it back at its end. So a walk
//! costs what it looks at, and never the size of the drawing.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::meet::Room;
use super::walk::Space;

/// What the walks of a run need.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    pub space: Space,
    pub room: Room,
}

/// The tools that nobody uses.
#[derive(Debug, Default)]
pub(crate) struct Spare(Mutex<Vec<Tools>>);

impl Spare {
    /// More are not kept: they are for as many runs at a time.
    const MOST: usize = 4;

    pub fn borrow(&self) -> Borrowed<'_> {
        Borrowed { tools: self.tools().pop().unwrap_or_default(), home: self }
    }

    /// Bytes kept.
    pub fn size(&self) -> usize {
        self.tools().iter().map(|tools| tools.space.size() + tools.room.size()).sum()
    }

    /// Nothing runs while it is locked that could leave it half changed.
    fn tools(&self) -> MutexGuard<'_, Vec<Tools>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tools, until they are dropped.
#[derive(Debug)]
pub(crate) struct Borrowed<'s> {
    tools: Tools,
    home: &'s Spare,
}

impl Deref for Borrowed<'_> {
    type Target = Tools;

    fn deref(&self) -> &Tools {
        &self.tools
    }
}

impl DerefMut for Borrowed<'_> {
    fn deref_mut(&mut self) -> &mut Tools {
        &mut self.tools
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        let mut spare = self.home.tools();
        if spare.len() < Spare::MOST {
            spare.push(std::mem::take(&mut self.tools));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_come_back() {
        let spare = Spare::default();
        spare.borrow().space.begin(100);
        assert_eq!(spare.size(), 400);
        let (mut one, two) = (spare.borrow(), spare.borrow());
        assert_eq!((spare.size(), two.space.size()), (0, 0));
        one.space.begin(50);
        drop((one, two));
        assert_eq!(spare.size(), 400);
    }
}
