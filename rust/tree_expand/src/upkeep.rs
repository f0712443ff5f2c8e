//! Which segments are worth building into one.

use crate::segment::Slot;

/// Sealed segments of one size class that are merged into one of the next.
const FAN_IN: u32 = 4;
/// Most rows of a segment, as a multiple of those that are worth a graph: building larger ones takes
/// too long.
const MOST_SEALS: u64 = 16;

/// Most rows that are built into one segment, but for a document that has more.
pub(crate) fn most_rows(seal_rows: u32) -> u64 {
    MOST_SEALS * u64::from(seal_rows)
}

/// Live rows of segments.
pub(crate) fn rows_of(slots: &[Slot]) -> u64 {
    slots.iter().map(|slot| u64::from(slot.live_rows)).sum()
}

/// The segments that are worth building into one, if any: those without a graph, the oldest first,
/// where their rows are enough for one; one that is worn; or some of one size class.
pub(crate) fn due(slots: &[Slot], seal_rows: u32) -> Vec<Slot> {
    let (sealed, plain): (Vec<Slot>, Vec<Slot>) = slots.iter().cloned().partition(Slot::is_sealed);
    if rows_of(&plain) >= u64::from(seal_rows) {
        return first_of(&plain, seal_rows);
    }
    if let Some(worn) = slots.iter().find(|slot| slot.is_worn()) {
        return vec![worn.clone()];
    }
    for size in 0..MOST_SEALS.ilog(FAN_IN.into()) {
        let alike = sealed.iter().filter(|slot| class(slot, seal_rows) == size);
        let alike: Vec<Slot> = alike.take(FAN_IN as usize).cloned().collect();
        let fitting = first_of(&alike, seal_rows);
        if alike.len() == FAN_IN as usize && fitting.len() > 1 {
            return fitting;
        }
    }
    Vec::new()
}

fn class(slot: &Slot, seal_rows: u32) -> u32 {
    (slot.live_rows / seal_rows).max(1).ilog(FAN_IN)
}

/// As many of the first segments as are to be built into one: enough to be worth a graph.
fn first_of(slots: &[Slot], seal_rows: u32) -> Vec<Slot> {
    let mut rows = 0;
    let fits = |slot: &&Slot| {
        let before = rows;
        rows += u64::from(slot.live_rows);
        before < u64::from(seal_rows) || rows <= most_rows(seal_rows)
    };
    slots.iter().take_while(fits).cloned().collect()
}
