//! Random documents, the same in every run.

use tree_expand::tree::Tree;

use crate::common::Random;
use crate::naive::Document;

pub(crate) fn trees() -> u64 {
    let usual = if cfg!(debug_assertions) {
        5_000
    } else {
        100_000
    };
    std::env::var("TREESPAN_TREES").map_or(usual, |count| count.parse().unwrap())
}

/// A tree of 1 to 40 nodes: flat, deep or bushy, with free nodes, texts of no tokens and texts
/// without sentences.
pub(crate) fn random_document(random: &mut Random) -> Document {
    let nodes = 1 + random.below(40) as usize;
    let climb = 1 + random.below(6);
    let largest = [1, 3, 12, 60][random.below(4) as usize];
    let kinds = 1 + random.below(3);
    let mut document = Document {
        parent: vec![0; nodes],
        kind: vec![1; nodes],
        tokens: vec![0; nodes],
        has_text: vec![false; nodes],
        sentences: vec![vec![]; nodes],
    };
    for node in 1..nodes {
        let mut parent = node - 1;
        // The parent of a node is the node before it or one of that node's ancestors.
        while parent != 0 && random.below(climb) != 0 {
            parent = document.parent[parent];
        }
        document.parent[node] = parent;
        document.kind[node] = u8::try_from(2 + random.below(kinds)).unwrap();
    }
    for node in 0..nodes {
        document.has_text[node] = random.below(5) != 0;
        if document.has_text[node] {
            let tokens = random.below(largest + 1);
            document.tokens[node] = u64::from(tokens);
            let count = random.below(4);
            document.sentences[node] = (0..count)
                .map(|_| u64::from(tokens / count + random.below(2)))
                .collect();
        }
    }
    document
}

pub(crate) fn tree_of(document: &Document) -> Tree {
    let narrow = |&number: &u64| u32::try_from(number).unwrap();
    let parent = document
        .parent
        .iter()
        .map(|&node| u32::try_from(node).unwrap())
        .collect();
    let tokens = document.tokens.iter().map(narrow).collect();
    let counts: Vec<u32> = document
        .sentences
        .iter()
        .map(|own| u32::try_from(own.len()).unwrap())
        .collect();
    let sentences: Vec<u32> = document.sentences.iter().flatten().map(narrow).collect();
    Tree::with_texts(parent, document.kind.clone(), tokens, &document.has_text)
        .unwrap()
        .with_sentences(&counts, &sentences)
        .unwrap()
}

pub(crate) fn budget_for(random: &mut Random, document: &Document) -> u32 {
    let all = u32::try_from(document.cost(0)).unwrap();
    random.below(all + 4)
}

/// Runs a check on random trees, one thread for each processor.
pub(crate) fn on_random_trees(seed: u64, check: impl Fn(&mut Random, &Document, &Tree) + Sync) {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let check = &check;
            scope.spawn(move || {
                for number in (thread..trees()).step_by(usize::try_from(threads).unwrap()) {
                    let mut random = Random(seed ^ (number << 20));
                    let document = random_document(&mut random);
                    let tree = tree_of(&document);
                    check(&mut random, &document, &tree);
                }
            });
        }
    });
}
