//! Opening the files of many segments, several at once: to hash one takes a while.

use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::Result;
use crate::sealed::{Reader, SegmentFile, open};
use crate::segment::{Segment, Slot};

/// The segments of files, in their order; those that are among `present` are not opened again.
///
/// # Errors
/// What is wrong with the first file with which something is.
pub(crate) fn open_all(
    folder: &Path,
    files: &[SegmentFile],
    present: &[Slot],
    reader: Reader,
) -> Result<Vec<Arc<Segment>>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let places = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        places
            .map_while(|at| Some((at, open_one(folder, files.get(at)?, present, reader))))
            .collect::<Vec<_>>()
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let mut opened: Vec<(usize, Result<Arc<Segment>>)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(files.len()))
            .map(|_| scope.spawn(work))
            .collect();
        let own = work();
        let others = others.into_iter().flat_map(|other| {
            other
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        others.chain(own).collect()
    });
    opened.sort_by_key(|(at, _)| *at);
    opened.into_iter().map(|(_, segment)| segment).collect()
}

fn open_one(
    folder: &Path,
    file: &SegmentFile,
    present: &[Slot],
    reader: Reader,
) -> Result<Arc<Segment>> {
    let path = SegmentFile::path(folder, &file.name)?;
    let same = |slot: &&Slot| {
        let sealed = slot.segment.file();
        sealed.is_some_and(|sealed| sealed.id() == file && sealed.path() == path)
    };
    match present.iter().find(same) {
        Some(slot) => Ok(Arc::clone(&slot.segment)),
        None => open(folder, file, reader).map(Arc::new),
    }
}
