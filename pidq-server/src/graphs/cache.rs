//! What was made once and is asked for again: bounded by bytes and by number, and made by one thread at a time.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};

use crate::store::held;

/// Bytes that a value takes beside its own: the key, twice, and its places.
pub(crate) const ENTRY: usize = 512;

/// Values by key. One that was not asked for in a long time goes first.
#[derive(Debug)]
pub(crate) struct Cache<K, V, E> {
    shelf: Mutex<Shelf<K, V, E>>,
    bytes: usize,
    count: usize,
}

#[derive(Debug)]
struct Shelf<K, V, E> {
    kept: HashMap<K, Kept<V>>,
    /// Keys with the time when they were asked for, as it was when they took their place in here.
    order: VecDeque<(u64, K)>,
    clock: u64,
    bytes: usize,
    /// What is kept no longer and was still used then, with its bytes.
    lingering: Vec<(Weak<V>, usize)>,
    /// What is being made just now.
    flights: HashMap<K, Arc<Flight<V, E>>>,
}

#[derive(Debug)]
struct Kept<V> {
    value: Arc<V>,
    bytes: usize,
    asked: u64,
}

/// How many values there are, and their bytes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Held {
    /// Values.
    pub count: usize,
    /// Bytes, as they were estimated.
    pub bytes: usize,
}

/// A value that one thread makes and others wait for.
#[derive(Debug)]
struct Flight<V, E> {
    landing: Mutex<Landing<V, E>>,
    landed: Condvar,
}

#[derive(Clone, Debug)]
enum Landing<V, E> {
    Flying,
    Done(Result<Arc<V>, E>),
    /// Whoever made it has panicked: the next one tries.
    Crashed,
}

/// What a thread does about a key.
enum Turn<V, E> {
    Kept(Arc<V>),
    Wait(Arc<Flight<V, E>>),
    Make(Arc<Flight<V, E>>),
}

impl<K: Clone + Eq + Hash, V, E: Clone> Cache<K, V, E> {
    pub fn new(bytes: usize, count: usize) -> Cache<K, V, E> {
        let shelf = Shelf {
            kept: HashMap::new(),
            order: VecDeque::new(),
            clock: 0,
            bytes: 0,
            lingering: Vec::new(),
            flights: HashMap::new(),
        };
        Cache { shelf: Mutex::new(shelf), bytes, count }
    }

    /// The value, if it is there.
    pub fn get(&self, key: &K) -> Option<Arc<V>> {
        held(&self.shelf).get(key)
    }

    /// The value; made, weighed and kept if it is not there. Others who want it wait. A failure is told to all who
    /// wait and not kept.
    pub fn load(
        &self,
        key: &K,
        make: impl FnOnce() -> Result<V, E>,
        weigh: impl FnOnce(&V) -> usize,
    ) -> Result<Arc<V>, E> {
        loop {
            match self.turn(key) {
                Turn::Kept(value) => return Ok(value),
                Turn::Wait(flight) => match flight.wait() {
                    Landing::Done(result) => return result,
                    Landing::Flying | Landing::Crashed => {}
                },
                Turn::Make(flight) => {
                    let landing = Approach { cache: self, key, flight: &flight };
                    let made = make().map(Arc::new);
                    if let Ok(value) = &made {
                        self.put(key, value, weigh(value));
                    }
                    landing.land(made.clone());
                    return made;
                }
            }
        }
    }

    /// Keeps a value that was made elsewhere, unless one is there.
    pub fn put(&self, key: &K, value: &Arc<V>, bytes: usize) {
        let bytes = bytes + ENTRY;
        let mut shelf = held(&self.shelf);
        // What would push out everything else is not kept.
        if bytes > self.bytes || self.count == 0 {
            shelf.linger(value, bytes);
            return;
        }
        // Two may have brought it at once.
        if shelf.kept.contains_key(key) {
            return;
        }
        while shelf.bytes + bytes > self.bytes || shelf.kept.len() >= self.count {
            if !shelf.drop_oldest() {
                break;
            }
        }
        shelf.add(key.clone(), value.clone(), bytes);
    }

    pub fn held(&self) -> Held {
        let shelf = held(&self.shelf);
        Held { count: shelf.kept.len(), bytes: shelf.bytes }
    }

    /// Bytes of what is kept no longer and still used.
    pub fn lingering(&self) -> usize {
        let mut shelf = held(&self.shelf);
        shelf.lingering.retain(|(value, _)| value.strong_count() > 0);
        shelf.lingering.iter().map(|(_, bytes)| bytes).sum()
    }

    fn turn(&self, key: &K) -> Turn<V, E> {
        let mut shelf = held(&self.shelf);
        if let Some(value) = shelf.get(key) {
            return Turn::Kept(value);
        }
        if let Some(flight) = shelf.flights.get(key) {
            return Turn::Wait(flight.clone());
        }
        let flight = Arc::new(Flight { landing: Mutex::new(Landing::Flying), landed: Condvar::new() });
        shelf.flights.insert(key.clone(), flight.clone());
        Turn::Make(flight)
    }
}

impl<K: Clone + Eq + Hash, V, E> Shelf<K, V, E> {
    fn get(&mut self, key: &K) -> Option<Arc<V>> {
        // Hot: a time is all that changes. Its place in the order is looked after when there is need for room.
        let kept = self.kept.get_mut(key)?;
        self.clock += 1;
        kept.asked = self.clock;
        Some(kept.value.clone())
    }

    fn add(&mut self, key: K, value: Arc<V>, bytes: usize) {
        self.clock += 1;
        self.order.push_back((self.clock, key.clone()));
        self.bytes += bytes;
        self.kept.insert(key, Kept { value, bytes, asked: self.clock });
    }

    /// Whether there was one.
    fn drop_oldest(&mut self) -> bool {
        while let Some((asked, key)) = self.order.pop_front() {
            match self.kept.get(&key) {
                // It was asked for since: it goes to the end, once.
                Some(kept) if kept.asked != asked => self.order.push_back((kept.asked, key)),
                _ => {
                    self.drop_kept(&key);
                    return true;
                }
            }
        }
        false
    }

    fn drop_kept(&mut self, key: &K) {
        let Some(kept) = self.kept.remove(key) else { return };
        self.bytes -= kept.bytes;
        if Arc::strong_count(&kept.value) > 1 {
            self.linger(&kept.value, kept.bytes);
        }
    }

    fn linger(&mut self, value: &Arc<V>, bytes: usize) {
        self.lingering.retain(|(value, _)| value.strong_count() > 0);
        self.lingering.push((Arc::downgrade(value), bytes));
    }
}

impl<V, E: Clone> Flight<V, E> {
    fn wait(&self) -> Landing<V, E> {
        let mut landing = held(&self.landing);
        while matches!(*landing, Landing::Flying) {
            landing = self.landed.wait(landing).unwrap_or_else(PoisonError::into_inner);
        }
        match &*landing {
            Landing::Done(result) => Landing::Done(result.clone()),
            Landing::Flying | Landing::Crashed => Landing::Crashed,
        }
    }
}

/// Ends a flight, also when whoever makes the value panics.
struct Approach<'c, K: Clone + Eq + Hash, V, E> {
    cache: &'c Cache<K, V, E>,
    key: &'c K,
    flight: &'c Flight<V, E>,
}

impl<K: Clone + Eq + Hash, V, E> Approach<'_, K, V, E> {
    fn land(self, made: Result<Arc<V>, E>) {
        *held(&self.flight.landing) = Landing::Done(made);
    }
}

impl<K: Clone + Eq + Hash, V, E> Drop for Approach<'_, K, V, E> {
    fn drop(&mut self) {
        held(&self.cache.shelf).flights.remove(self.key);
        let mut landing = held(&self.flight.landing);
        if matches!(*landing, Landing::Flying) {
            *landing = Landing::Crashed;
        }
        self.flight.landed.notify_all();
    }
}
