//! Reading the packed form: what is right is read back exactly, what is wrong is refused and named,
//! nothing panics.
#![allow(clippy::unwrap_used)]

mod random;
mod source;

use source::{CHAR_END, END, PAGE_END, PAGE_START, PARENT, START, Source, TOKENS, source};
use tree_expand::error::Error;
use tree_expand::packed::Packed;
use tree_expand::piece;
use tree_expand::tree::Tree;
use tree_expand::window::{Mode, Options, window};

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
