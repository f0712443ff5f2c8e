//! Sealed segments: files that are written, opened, exchanged and refused.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)]

mod index;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use index::{Model, bits, clustered, index, nearest, query, seal};
use proptest::prelude::*;
use tempfile::TempDir;
use tree_expand::error::Error;
use tree_expand::filter::Allowed;
use tree_expand::sealed::SegmentFile;
use tree_expand::vectors::{Query, Settings, VectorIndex};

/// An index and its files, beside what it should hold.
struct World {
    settings: Settings,
    index: VectorIndex,
    model: Model,
    folder: TempDir,
    /// All files that were ever written.
    files: Vec<SegmentFile>,
}

#[derive(Clone, Debug)]
enum Change {
    Add(BTreeMap<u32, [i8; 3]>),
    Replace(usize, BTreeMap<u32, [i8; 3]>),
    Remove(usize),
    Seal,
    /// Some of the files written so far are installed, as when another process has built them.
    Install(u64),
    /// A second index is filled from some of the files, and with what they do not hold.
    Restart(u64),
}

impl World {
    fn new(settings: Settings) -> Self {
        Self {
            settings,
            index: index(settings),
            model: Model::default(),
            folder: tempfile::tempdir().unwrap(),
            files: Vec::new(),
        }
    }

    fn change(&mut self, key: u64, change: Change) {
        let count = self.model.0.len();
        match change {
            Change::Add(rows) => self.add(None, key, rows),
            Change::Replace(at, rows) => {
                let before = (at < count).then(|| self.model.0.swap_remove(at).0);
                self.add(before, key, rows);
            }
            Change::Remove(at) if at < count => {
                assert!(self.index.remove(self.model.0.swap_remove(at).0));
            }
            Change::Remove(at) => assert!(!self.index.remove(at as u64)),
            Change::Seal => {
                let name = format!("{key}");
                self.index.seal(self.folder.path(), &name).unwrap();
                let sealed = self.index.sealed().into_iter().map(|segment| segment.file);
                self.files.extend(sealed.filter(|file| file.name == name));
            }
            Change::Install(some) => {
                let files = self.some_files(some);
                self.index
                    .install(self.folder.path(), &files, None)
                    .unwrap();
            }
            Change::Restart(some) => self.restart(&self.some_files(some)),
        }
    }

    fn add(&mut self, before: Option<u64>, key: u64, rows: BTreeMap<u32, [i8; 3]>) {
        let (nodes, vectors): (Vec<u32>, Vec<[i8; 3]>) = rows.into_iter().unzip();
        let vectors = floats(&vectors);
        self.index
            .replace(before, key, nodes.clone(), vectors.clone())
            .unwrap();
        self.model.0.push((key, nodes, vectors));
    }

    /// Those files whose bit is set.
    fn some_files(&self, some: u64) -> Vec<SegmentFile> {
        let files = self.files.iter().enumerate();
        let chosen = files.filter(|(at, _)| some >> (at % 64) & 1 == 1);
        chosen.map(|(_, file)| file.clone()).collect()
    }

    fn restart(&mut self, files: &[SegmentFile]) {
        self.index = index(self.settings);
        let keys = self.model.keys();
        self.index
            .install(self.folder.path(), files, Some(&keys))
            .unwrap();
        assert!(self.index.keys().iter().all(|key| keys.contains(key)));
        assert_eq!(self.index.sizes().sealed_rows, self.index.sizes().rows);
        for (key, nodes, vectors) in &self.model.0 {
            if !self.index.holds(*key) {
                self.index
                    .add(*key, nodes.clone(), vectors.clone())
                    .unwrap();
            }
        }
    }
}

fn floats(vectors: &[[i8; 3]]) -> Vec<f32> {
    vectors.iter().flatten().map(|&x| f32::from(x)).collect()
}

fn direction() -> impl Strategy<Value = [i8; 3]> {
    prop::array::uniform3(-2i8..3).prop_filter("no direction", |vector| vector != &[0; 3])
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let rows = || prop::collection::btree_map(0u32..50, direction(), 0..12);
    let change = prop_oneof![
        6 => rows().prop_map(Change::Add),
        2 => (0usize..30, rows()).prop_map(|(at, rows)| Change::Replace(at, rows)),
        2 => (0usize..100).prop_map(Change::Remove),
        3 => Just(Change::Seal),
        1 => any::<u64>().prop_map(Change::Install),
        1 => any::<u64>().prop_map(Change::Restart),
    ];
    prop::collection::vec(change, 0..60)
}

fn filter() -> impl Strategy<Value = Option<Allowed>> {
    let pairs = prop::collection::btree_set((95u64..165, 0u32..50), 0..400);
    prop_oneof![
        Just(None),
        prop::collection::vec(95u64..165, 0..40).prop_map(|keys| Some(Allowed::new(keys))),
        pairs.prop_map(|pairs: BTreeSet<(u64, u32)>| {
            let (keys, nodes): (Vec<u64>, Vec<u32>) = pairs.into_iter().unzip();
            Some(Allowed::of_nodes(&keys, nodes).unwrap())
        }),
    ]
}

proptest! {
    #[test]
    fn answers_are_those_of_a_plain_search(
        changes in changes(),
        vector in direction(),
        limit in 1usize..40,
        threshold in prop::option::of(0.0f32..1.0),
        allowed in filter(),
    ) {
        let mut world = World::new(Settings { seal_rows: 20, ..Settings::new(3) });
        for (key, change) in (100..).zip(changes) {
            world.change(key, change);
        }
        let World { index, model, .. } = world;
        let vectors = floats(&[vector]);
        let query = Query { vectors: &vectors, limit, threshold, allowed: allowed.as_ref() };
        let found = nearest(&index, &query);
        let right = model.search(&query, 3);
        prop_assert_eq!(&found.list, &right);
        prop_assert_eq!(bits(&found.list), bits(&right));
        let everything = Query { threshold: None, limit: 10_000, ..query };
        prop_assert_eq!(found.plan.allowed_rows, model.search(&everything, 3).len() as u64);
        prop_assert_eq!(found.plan.compared_rows, found.plan.allowed_rows);
        let cut = found.plan.allowed_rows.min(limit as u64) - found.list.len() as u64;
        prop_assert_eq!(u64::from(found.plan.below_threshold), cut);
        let sizes = index.sizes();
        prop_assert_eq!(sizes.documents, model.0.len());
        prop_assert_eq!(sizes.rows, model.rows());
        prop_assert_eq!(found.plan.rows, sizes.rows);
        prop_assert_eq!(index.keys(), model.keys());
    }

    #[test]
    fn a_graph_finds_as_many_as_match_with_exact_similarities(
        changes in changes(),
        vector in direction(),
        limit in 1usize..40,
        allowed in filter(),
    ) {
        let settings = Settings { seal_rows: 20, proposal_cost: 0, ..Settings::new(3) };
        let mut world = World::new(settings);
        for (key, change) in (100..).zip(changes) {
            world.change(key, change);
        }
        let vectors = floats(&[vector]);
        let query = Query { vectors: &vectors, limit, threshold: None, allowed: allowed.as_ref() };
        let found = nearest(&world.index, &query).list;
        let all = world.model.search(&Query { limit: 10_000, ..query }, 3);
        prop_assert_eq!(found.len(), all.len().min(limit));
        prop_assert!(found.iter().all(|hit| all.contains(hit)));
        prop_assert!(found.is_sorted_by(|a, b| a.by_rank(b).is_lt()));
    }

    #[test]
    fn a_scan_of_a_file_has_the_bits_of_a_scan_of_memory(
        dimension in 1usize..70,
        seed in 1u64..1_000,
        clusters in 1usize..20,
        repeats in 1usize..6,
        limit in 1usize..50,
        threshold in prop::option::of(0.5f32..1.0),
        step in prop::option::of(1usize..9),
    ) {
        let once = clustered(300usize.div_ceil(repeats), dimension, clusters, seed);
        let rows = once.repeat(repeats);
        let [memory, file] = [300, 300].map(|seal_rows| {
            let settings = Settings { proposal_cost: u32::MAX, seal_rows, ..Settings::new(dimension) };
            let index = index(settings);
            for (key, rows) in (0..).zip(rows.chunks(30 * dimension)) {
                let nodes = (0..).take(rows.len() / dimension).collect();
                index.add(key, nodes, rows.to_vec()).unwrap();
            }
            index
        });
        prop_assert!(seal(&file));
        let (documents, nodes): (Vec<u64>, Vec<u32>) =
            (0..300).step_by(step.unwrap_or(1)).map(|at| (at / 30, (at % 30) as u32)).unzip();
        let allowed = Allowed::of_nodes(&documents, nodes).unwrap();
        let vectors = clustered(4, dimension, clusters, seed + 1);
        let query = Query { vectors: &vectors, limit, threshold, allowed: step.map(|_| &allowed) };
        let (memory, file) = (memory.search(&query).unwrap(), file.search(&query).unwrap());
        for (memory, file) in memory.iter().zip(&file) {
            prop_assert_eq!(&memory.list, &file.list);
            prop_assert_eq!(bits(&memory.list), bits(&file.list));
            prop_assert_eq!(memory.plan.below_threshold, file.plan.below_threshold);
        }
    }
}

/// A folder with one file: 200 rows of 4 documents, of dimension 8.
static WRITTEN: LazyLock<(TempDir, SegmentFile)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let index = filled(8);
    assert!(index.seal(folder.path(), "one").unwrap());
    let file = index.sealed().remove(0).file;
    (folder, file)
});

/// 200 rows of the documents 0 to 3, without a graph yet.
fn filled(dimension: usize) -> VectorIndex {
    let index = index(Settings {
        seal_rows: 100,
        ..Settings::new(dimension)
    });
    let rows = clustered(200, dimension, 10, 5);
    for (key, rows) in (0..).zip(rows.chunks_exact(50 * dimension)) {
        index.add(key, (0..50).collect(), rows.to_vec()).unwrap();
    }
    index
}

fn install(folder: &Path, file: &SegmentFile, dimension: usize) -> Result<VectorIndex, Error> {
    let index = index(Settings::new(dimension));
    let files = std::slice::from_ref(file);
    index.install(folder, files, Some(&[0, 1, 2, 3]))?;
    Ok(index)
}

/// What is said of a file that is `bytes`.
fn refusal(bytes: &[u8], file: &SegmentFile, dimension: usize) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("one.segment"), bytes).unwrap();
    match install(folder.path(), file, dimension) {
        Err(Error::SegmentFile { what, .. }) => what,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("the file was taken"),
    }
}

fn written() -> Vec<u8> {
    fs::read(WRITTEN.0.path().join("one.segment")).unwrap()
}

/// As `file` is, but of these bytes.
fn file_of(bytes: &[u8]) -> SegmentFile {
    let hash = xxhash_rust::xxh3::xxh3_128(bytes);
    let (name, size) = ("one".to_owned(), bytes.len() as u64);
    SegmentFile { name, size, hash }
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_file_is_answered_from_in_another_index() {
    let (folder, file) = &*WRITTEN;
    assert_eq!(*file, file_of(&written()));
    let (before, after) = (filled(8), install(folder.path(), file, 8).unwrap());
    let vectors = clustered(3, 8, 10, 6);
    let query = query(&vectors, 20);
    let (before, after) = (
        before.search(&query).unwrap(),
        after.search(&query).unwrap(),
    );
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before.list, after.list);
    }
    assert_eq!(names(folder.path()), [folder.path().join("one.segment")]);
}

#[test]
fn memory_has_no_exact_rows_of_a_file() {
    let (folder, file) = &*WRITTEN;
    let index = install(folder.path(), file, 8).unwrap();
    let (exact, halves) = (200 * 8 * 4, 200 * 8 * 2);
    let bytes = index.sizes().memory_bytes;
    assert!(
        bytes > halves && bytes < file.size - exact + 4_096,
        "{bytes}"
    );
}

#[test]
fn a_file_with_another_byte_anywhere_is_refused() {
    let (right, file) = (written(), &WRITTEN.1);
    for at in (0..right.len()).step_by(997) {
        let mut bytes = right.clone();
        bytes[at] ^= 1;
        assert!(refusal(&bytes, file, 8).contains("damaged"));
    }
}

#[test]
fn a_file_that_is_not_whole_or_not_there_is_refused() {
    let (right, file) = (written(), &WRITTEN.1);
    assert!(refusal(&right[..right.len() - 1], file, 8).contains("bytes and should have"));
    let folder = tempfile::tempdir().unwrap();
    let missing = install(folder.path(), file, 8).err().unwrap();
    assert!(missing.to_string().ends_with("one.segment: it is missing"));
}

#[test]
fn a_file_of_something_else_is_refused_though_its_hash_is_right() {
    let right = written();
    let refused = |bytes: &[u8]| refusal(bytes, &file_of(bytes), 8);
    assert!(refused(b"a file").contains("no segment file"));
    assert!(refused(&right[..right.len() - 64]).contains("no segment file"));
    let longer = [&right[..], &right[right.len() - 64..]].concat();
    assert!(refused(&longer).contains("not as long as its footer says"));
    let mut graph = right.clone();
    graph[0] ^= 1;
    assert!(!refused(&graph).is_empty());
    let dimension = refusal(&right, &WRITTEN.1, 9);
    assert!(dimension.contains("dimension is 8; the index has 9"));
}

#[test]
fn a_refused_file_changes_nothing() {
    let (folder, file) = &*WRITTEN;
    let index = install(folder.path(), file, 8).unwrap();
    let before = (index.sizes(), index.sealed(), index.keys());
    let missing = SegmentFile {
        name: "two".into(),
        ..file.clone()
    };
    for live in [None, Some(&[0u64][..])] {
        let files = [file.clone(), missing.clone()];
        assert!(index.install(folder.path(), &files, live).is_err());
        assert_eq!((index.sizes(), index.sealed(), index.keys()), before);
    }
}

#[test]
fn a_seal_that_cannot_write_leaves_everything_as_it_was() {
    let (index, folder) = (filled(8), tempfile::tempdir().unwrap());
    let no_folder = folder.path().join("file");
    fs::write(&no_folder, b"").unwrap();
    fs::write(folder.path().join("taken.segment"), b"another").unwrap();
    let before = (index.sizes(), index.keys());
    for (folder, name) in [
        (folder.path().join("missing"), "a"),
        (no_folder, "a"),
        (folder.path().to_owned(), "taken"),
    ] {
        let refused = index.seal(&folder, name);
        assert!(matches!(refused, Err(Error::SegmentWrite { .. })));
        assert_eq!((index.sizes(), index.keys()), before);
    }
    let taken = fs::read(folder.path().join("taken.segment")).unwrap();
    assert_eq!(taken, b"another");
    assert_eq!(names(folder.path()).len(), 2);
    let slash = index.seal(folder.path(), "a/b");
    assert_eq!(slash, Err(Error::SegmentName("a/b".into())));
    assert!(index.seal(folder.path(), "b").unwrap());
}

#[test]
fn many_rows_are_sealed_piece_by_piece() {
    let index = index(Settings {
        seal_rows: 10,
        ..Settings::new(2)
    });
    for key in 0..500u16 {
        index
            .add(key.into(), vec![0], vec![1.0, f32::from(key)])
            .unwrap();
    }
    let mut seals = 0;
    while seal(&index) {
        seals += 1;
        assert!(seals < 20);
    }
    let rows: Vec<u32> = index.sealed().iter().map(|segment| segment.rows).collect();
    assert!(rows.iter().all(|&rows| rows <= 160), "{rows:?}");
    assert!(
        index.sizes().rows - index.sizes().sealed_rows < 10,
        "{rows:?}"
    );
}

#[test]
fn a_document_larger_than_a_segment_is_sealed_all_the_same() {
    let index = index(Settings {
        seal_rows: 10,
        ..Settings::new(2)
    });
    index.add(1, vec![0], vec![1.0, 0.0]).unwrap();
    index
        .add(2, (0..400).collect(), [1.0, 2.0].repeat(400))
        .unwrap();
    assert!(seal(&index));
    assert_eq!(index.sizes().sealed_rows, 401);
    assert!(!seal(&index));
}

#[test]
fn what_is_left_of_a_worn_file_is_in_memory_again() {
    let (index, folder) = (filled(8), tempfile::tempdir().unwrap());
    index.add(9, vec![3], vec![1.0; 8]).unwrap();
    assert!(index.seal(folder.path(), "a").unwrap());
    let vectors = clustered(1, 8, 10, 5);
    let before = nearest(&index, &query(&vectors, 201)).list;
    (0..4).for_each(|key| assert!(index.remove(key)));
    assert!(index.seal(folder.path(), "b").unwrap());
    assert_eq!((index.sizes().rows, index.sizes().segments), (1, 0));
    let mut left = before;
    left.retain(|hit| hit.document == 9);
    assert_eq!(nearest(&index, &query(&vectors, 201)).list, left);
    assert_eq!(names(folder.path()).len(), 1);
}
