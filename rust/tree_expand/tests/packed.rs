//! Reading the packed form: what is right is read back exactly, what is wrong is refused and named,
//! nothing panics.
#![allow(clippy::unwrap_used)]

mod common;

use proptest::collection::vec;
use proptest::prelude::*;
use tree_expand::error::Error;
use tree_expand::packed::Packed;
use tree_expand::piece;
use tree_expand::tree::Tree;
use tree_expand::window::{Mode, Options, window};

/// A document as the writer of the packed form sees it.
#[derive(Clone, Debug)]
struct Source {
    /// parent, own tokens, first and last page, text start and end in bytes, then in code points.
    nodes: Vec<[u32; 8]>,
    /// Start, end, tokens.
    sentences: Vec<[u32; 3]>,
    kind: Vec<u8>,
    flags: Vec<u8>,
    text: Vec<u8>,
}

const PARENT: usize = 0;
const TOKENS: usize = 1;
const PAGE_START: usize = 2;
const PAGE_END: usize = 3;
const START: usize = 4;
const END: usize = 5;
const CHAR_END: usize = 7;

impl Source {
    fn pack(&self) -> Vec<u8> {
        let mut bytes = b"TSTREE1\0".to_vec();
        bytes.extend(u32::try_from(self.nodes.len()).unwrap().to_le_bytes());
        bytes.extend(u32::try_from(self.sentences.len()).unwrap().to_le_bytes());
        bytes.extend((self.text.len() as u64).to_le_bytes());
        for column in 0..8 {
            bytes.extend(
                self.nodes
                    .iter()
                    .flat_map(|node| node[column].to_le_bytes()),
            );
        }
        for column in 0..3 {
            bytes.extend(
                self.sentences
                    .iter()
                    .flat_map(|of| of[column].to_le_bytes()),
            );
        }
        [
            bytes,
            self.kind.clone(),
            self.flags.clone(),
            self.text.clone(),
        ]
        .concat()
    }

    /// A document of these nodes and nothing else.
    fn bare(nodes: Vec<[u32; 8]>) -> Self {
        let (kind, flags) = (vec![1; nodes.len()], vec![0; nodes.len()]);
        Self {
            nodes,
            sentences: vec![],
            kind,
            flags,
            text: vec![],
        }
    }

    fn parse(&self) -> Result<Packed, Error> {
        Packed::parse(&self.pack())
    }
}

/// ```text
/// document
/// └─ section "標題" (2)
///    ├─ text "One. Two." (6), two sentences
///    └─ text "三。" (2)
/// ```
fn source() -> Source {
    Source {
        nodes: vec![
            [0, 0, 1, 3, 0, 0, 0, 0],
            [0, 2, 1, 3, 0, 6, 0, 2],
            [1, 6, 1, 2, 7, 16, 3, 12],
            [1, 2, 3, 3, 17, 23, 13, 15],
        ],
        sentences: vec![[0, 6, 2], [7, 11, 3], [12, 16, 3], [17, 23, 2]],
        kind: vec![1, 2, 3, 3],
        flags: vec![0, 1, 2, 2],
        text: "標題\nOne. Two.\n三。".as_bytes().to_vec(),
    }
}

/// The same document as `treespan.node.Tree.pack` writes it.
const WRITTEN_BY_PYTHON: &str = "\
    5453545245453100040000000400000017000000000000000000000000000000010000000100000000000000\
    0200000006000000020000000100000001000000010000000300000003000000030000000200000003000000\
    0000000000000000070000001100000000000000060000001000000017000000000000000000000003000000\
    0d00000000000000020000000c0000000f00000000000000070000000c00000011000000060000000b000000\
    1000000017000000020000000300000003000000020000000102030300010202e6a899e9a18c0a4f6e652e20\
    54776f2e0ae4b889e38082";

#[test]
fn the_packed_form_is_the_one_that_python_writes() {
    let hex: Vec<String> = source()
        .pack()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(hex.concat(), WRITTEN_BY_PYTHON);
}

#[test]
fn a_document_is_read_back_exactly() {
    let packed = source().parse().unwrap();
    let tree = packed.tree();
    assert_eq!(tree.len(), 4);
    assert_eq!(
        [0, 1, 2, 3].map(|node| packed.own_text(node)),
        ["", "標題", "One. Two.", "三。"]
    );
    let sentences = [0, 1, 2, 3].map(|sentence| packed.sentence_text(sentence));
    assert_eq!(sentences, ["標題", "One.", "Two.", "三。"]);
    assert_eq!(packed.text(), "標題\nOne. Two.\n三。");
    assert_eq!(packed.characters(2), 3..12);
    assert_eq!(packed.pages(2), (1, 2));
    assert_eq!(
        (packed.heading_stated(1), packed.embedded(1)),
        (true, false)
    );
    assert_eq!(
        (packed.heading_stated(2), packed.embedded(2)),
        (false, true)
    );
    assert_eq!(
        [0, 1, 2, 3].map(|node| tree.sentences(node)),
        [0..0, 0..1, 1..3, 3..4]
    );
    assert_eq!(
        [0, 1, 2, 3].map(|sentence| tree.sentence_node(sentence)),
        [1, 2, 2, 3]
    );
    assert_eq!([0, 1, 2, 3].map(|node| tree.end(node)), [4, 4, 3, 4]);
    assert_eq!(tree.subtree_tokens(0), 10);
    assert!(packed.byte_size() > source().pack().len());
}

#[test]
fn pieces_are_verbatim_slices_of_the_text() {
    let packed = source().parse().unwrap();
    let options = Options {
        sentences: 1,
        ..Options::new(Mode::SentenceWindow, 100)
    };
    let found = window(packed.tree(), 3, &options).unwrap();
    let texts: Vec<&str> = piece::of_window(packed.tree(), &found)
        .iter()
        .map(|piece| packed.piece_text(piece))
        .collect();
    assert_eq!(texts, ["Two.", "三。"]);
}

#[test]
fn a_document_of_a_root_alone_is_read() {
    let empty = Source::bare(vec![[0; 8]]);
    assert_eq!(empty.parse().unwrap().tree().len(), 1);
}

/// What is wrong with the document after a change.
fn error(change: impl FnOnce(&mut Source)) -> Error {
    let mut changed = source();
    change(&mut changed);
    changed.parse().unwrap_err()
}

#[test]
fn bytes_that_are_no_packed_tree_are_refused() {
    assert_eq!(
        Packed::parse(b"TSTREE1\0").unwrap_err(),
        Error::TooShort {
            least: 24,
            found: 8
        }
    );
    let mut other = source().pack();
    other[6] = b'2';
    assert!(matches!(
        Packed::parse(&other).unwrap_err(),
        Error::Magic { .. }
    ));
    let whole = source().pack();
    for size in 24..whole.len() {
        assert_eq!(
            Packed::parse(&whole[..size]).unwrap_err(),
            Error::Size {
                right: whole.len() as u128,
                found: size
            }
        );
    }
    let longer = [whole.as_slice(), b"x"].concat();
    assert!(matches!(
        Packed::parse(&longer).unwrap_err(),
        Error::Size { .. }
    ));
}

#[test]
fn a_head_that_promises_more_than_memory_is_refused() {
    let mut head = b"TSTREE1\0".to_vec();
    head.extend([0xff; 16]);
    assert!(matches!(
        Packed::parse(&head).unwrap_err(),
        Error::Size { found: 24, .. }
    ));
}

#[test]
fn nodes_out_of_order_are_refused() {
    assert_eq!(
        error(|source| source.nodes[0][PARENT] = 1),
        Error::RootParent(1)
    );
    let wrong = error(|source| source.nodes[2][PARENT] = 2);
    assert_eq!(wrong, Error::ParentOrder { node: 2, parent: 2 });
    let wrong = error(|source| source.nodes[3][PARENT] = u32::MAX);
    assert_eq!(
        wrong,
        Error::ParentOrder {
            node: 3,
            parent: u32::MAX
        }
    );
    let tree = Tree::new(vec![0, 0, 1, 0, 1], vec![1; 5], vec![0; 5]);
    assert_eq!(tree.unwrap_err(), Error::NotPreorder { node: 4, parent: 1 });
    let nothing = Source::bare(vec![]);
    assert_eq!(nothing.parse().unwrap_err(), Error::NoNodes);
}

#[test]
fn ranges_that_are_not_in_the_text_are_refused() {
    let wrong = error(|source| source.nodes[3][END] = 24);
    assert_eq!(
        wrong,
        Error::TextRange {
            what: "node",
            index: 3,
            start: 17,
            end: 24,
            bytes: 23
        }
    );
    let wrong = error(|source| source.nodes[2][START] = 5);
    assert_eq!(
        wrong,
        Error::TextOrder {
            what: "node",
            index: 2,
            start: 5,
            before: 6
        }
    );
    let wrong = error(|source| source.nodes[1][END] = 4);
    assert_eq!(
        wrong,
        Error::CharBoundary {
            what: "node",
            index: 1,
            at: 4
        }
    );
    let wrong = error(|source| source.nodes[2][START] = 17);
    assert!(
        matches!(
            wrong,
            Error::TextRange {
                what: "node",
                index: 2,
                ..
            }
        ),
        "it ends before"
    );
    let wrong = error(|source| source.nodes[2][CHAR_END] = 11);
    assert!(matches!(
        wrong,
        Error::CharRange {
            node: 2,
            end: 11,
            right_end: 12,
            ..
        }
    ));
    assert_eq!(error(|source| source.text[8] = 0xff), Error::NotUtf8(8));
}

#[test]
fn sentences_that_are_not_in_one_text_are_refused() {
    let wrong = error(|source| source.sentences[1] = [7, 17, 3]);
    assert_eq!(
        wrong,
        Error::TextOrder {
            what: "sentence",
            index: 2,
            start: 12,
            before: 17
        }
    );
    let wrong = error(|source| source.sentences[2] = [12, 17, 3]);
    assert_eq!(
        wrong,
        Error::SentenceOutside {
            sentence: 2,
            start: 12,
            end: 17
        }
    );
    let wrong = error(|source| source.sentences[1] = [7, 7, 0]);
    assert!(
        matches!(
            wrong,
            Error::TextRange {
                what: "sentence",
                index: 1,
                ..
            }
        ),
        "it is empty"
    );
    let wrong = error(|source| source.sentences[3] = [18, 23, 0]);
    assert_eq!(
        wrong,
        Error::CharBoundary {
            what: "sentence",
            index: 3,
            at: 18
        }
    );
}

#[test]
fn tokens_and_pages_that_cannot_be_are_refused() {
    let wrong = error(|source| source.nodes[0][TOKENS] = 4);
    assert_eq!(wrong, Error::TokensWithoutText { node: 0, tokens: 4 });
    let wrong = error(|source| source.nodes[2][PAGE_END] = 0);
    assert_eq!(
        wrong,
        Error::Pages {
            node: 2,
            start: 1,
            end: 0
        }
    );
    let wrong = error(|source| source.nodes[2][PAGE_START] = 0);
    assert_eq!(
        wrong,
        Error::Pages {
            node: 2,
            start: 0,
            end: 2
        }
    );
}

#[test]
fn columns_of_different_length_are_refused() {
    let wrong = Tree::new(vec![0, 0], vec![1], vec![0, 1]).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "the column kind should have 2 elements and has 1"
    );
    let tree = Tree::new(vec![0, 0], vec![1, 3], vec![0, 1]).unwrap();
    assert!(tree.clone().with_sentences(&[0, 2], &[1]).is_err());
    assert!(tree.with_sentences(&[0], &[]).is_err());
}

/// Whatever was read can be used: every text, every window.
fn use_it(packed: &Packed) {
    let tree = packed.tree();
    let nodes = u32::try_from(tree.len()).unwrap();
    for node in 0..nodes {
        assert!(packed.own_text(node).len() <= packed.text().len());
        assert_eq!(packed.own_text(node).is_empty(), !tree.has_text(node));
        for mode in [
            Mode::Tree,
            Mode::SentenceWindow,
            Mode::Linear,
            Mode::Parent,
            Mode::None,
        ] {
            let found = window(tree, node, &Options::new(mode, 20)).unwrap();
            for piece in piece::of_window(tree, &found) {
                let text = packed.piece_text(&piece);
                assert!(piece.hit || !text.is_empty());
            }
        }
    }
}

/// A document of words, with random shape; every word a sentence.
fn documents() -> impl Strategy<Value = Source> {
    let word = prop_oneof![
        Just(""),
        Just("a"),
        Just("wörd. "),
        Just("三。"),
        Just("👍 two. ")
    ];
    vec((any::<u32>(), word, 0..9u32), 1..30).prop_map(|drawn| {
        let mut source = Source::bare(vec![]);
        let mut characters = 0;
        for (node, (choice, word, tokens)) in (0u32..).zip(drawn) {
            let mut parent = node.saturating_sub(1);
            for _ in 0..choice % 4 {
                parent = source
                    .nodes
                    .get(parent as usize)
                    .map_or(0, |above| above[PARENT]);
            }
            let start = u32::try_from(source.text.len()).unwrap();
            source.text.extend(word.as_bytes());
            let end = u32::try_from(source.text.len()).unwrap();
            let count = u32::try_from(word.chars().count()).unwrap();
            let tokens = if word.is_empty() { 0 } else { tokens };
            source.nodes.push([
                parent,
                tokens,
                1,
                1,
                start,
                end,
                characters,
                characters + count,
            ]);
            if !word.is_empty() {
                source.sentences.push([start, end, tokens]);
            }
            characters += count;
            source.kind.push(3);
            source.flags.push(0);
        }
        source
    })
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..400)) {
        if let Ok(packed) = Packed::parse(&bytes) {
            use_it(&packed);
        }
    }

    #[test]
    fn any_columns_behind_a_right_head_are_read_or_refused(
        nodes in 0..5usize, sentences in 0..4usize, seed in vec(0..4u8, 400), text in "\\PC{0,8}",
    ) {
        let mut bytes = b"TSTREE1\0".to_vec();
        bytes.extend(u32::try_from(nodes).unwrap().to_le_bytes());
        bytes.extend(u32::try_from(sentences).unwrap().to_le_bytes());
        bytes.extend((text.len() as u64).to_le_bytes());
        let numbers = 8 * nodes + 3 * sentences;
        bytes.extend(seed[..numbers].iter().flat_map(|&small| u32::from(small).to_le_bytes()));
        bytes.extend(&seed[numbers..numbers + 2 * nodes]);
        bytes.extend(text.as_bytes());
        if let Ok(packed) = Packed::parse(&bytes) {
            use_it(&packed);
        }
    }

    #[test]
    fn a_right_document_is_read_and_one_with_a_changed_byte_is_read_or_refused(
        source in documents(), at in any::<prop::sample::Index>(), flip in 1..=255u8,
    ) {
        let mut bytes = source.pack();
        let packed = Packed::parse(&bytes);
        prop_assert!(packed.is_ok(), "{:?}", packed.err());
        use_it(&packed.unwrap());
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        if let Ok(packed) = Packed::parse(&bytes) {
            use_it(&packed);
        }
    }

    #[test]
    fn the_tree_says_what_its_parents_say(source in documents()) {
        let packed = source.parse().unwrap();
        let parents: Vec<u32> = source.nodes.iter().map(|node| node[PARENT]).collect();
        for node in 0..u32::try_from(parents.len()).unwrap() {
            check_node(packed.tree(), &parents, node);
        }
    }
}

/// What the tree says of a node against what follows from the parents one by one.
fn check_node(tree: &Tree, parents: &[u32], node: u32) {
    let nodes = 0..u32::try_from(parents.len()).unwrap();
    let children = |of: u32| -> Vec<u32> {
        nodes
            .clone()
            .skip(1)
            .filter(|&child| parents[child as usize] == of)
            .collect()
    };
    let siblings = if node == 0 {
        vec![0]
    } else {
        children(parents[node as usize])
    };
    let place = siblings
        .iter()
        .position(|&sibling| sibling == node)
        .unwrap();
    assert_eq!(tree.rel_idx(node) as usize, place);
    assert_eq!(tree.next_sibling(node), siblings.get(place + 1).copied());
    assert_eq!(
        tree.previous_sibling(node),
        place.checked_sub(1).map(|at| siblings[at])
    );
    assert_eq!(tree.depth(node) as usize, tree.ancestors(node).count());
    assert_eq!(tree.is_leaf(node), children(node).is_empty());
    let below = |&other: &u32| other == node || tree.ancestors(other).any(|above| above == node);
    let inside: Vec<u32> = nodes.clone().filter(below).collect();
    assert_eq!(tree.subtree(node).collect::<Vec<_>>(), inside);
    let tokens: u64 = inside
        .iter()
        .map(|&below| u64::from(tree.own_tokens(below)))
        .sum();
    assert_eq!(tree.subtree_tokens(node), tokens);
}
