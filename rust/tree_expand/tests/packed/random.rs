//! Random bytes and random documents: whatever is read can be used, nothing panics.

use proptest::collection::vec;
use proptest::prelude::*;
use tree_expand::packed::Packed;
use tree_expand::piece;
use tree_expand::tree::Tree;
use tree_expand::window::{Mode, Options, window};

use crate::source::{PARENT, Source};

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
