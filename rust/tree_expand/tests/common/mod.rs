//! What the tests share: trees in the notation of the design (`R0[S3[P2, N2]]`), and seeded random
//! numbers.
#![allow(dead_code, clippy::unwrap_used)]

use tree_expand::tree::Tree;
use tree_expand::window::{Mode, Options, Window, window};

pub(crate) const DOCUMENT: u8 = 1;
pub(crate) const SECTION: u8 = 2;
pub(crate) const TEXT: u8 = 3;
pub(crate) const CHUNK: u8 = 4;

/// A tree and the names of its nodes, by position.
pub(crate) struct Drawn {
    pub(crate) tree: Tree,
    pub(crate) names: Vec<String>,
}

impl Drawn {
    /// Reads `name tokens [ children ]`, names being letters with an optional digit before a space.
    /// `R` is the root, other capitals are sections where they have children and texts where not,
    /// small letters are chunks.
    pub(crate) fn new(drawing: &str) -> Self {
        let (mut names, mut parent, mut kind, mut tokens) = (vec![], vec![], vec![], vec![]);
        let mut above: Vec<u32> = Vec::new();
        let mut rest = drawing;
        while let Some(next) = rest.chars().next() {
            match next {
                '[' => above.push(u32::try_from(names.len() - 1).unwrap()),
                ']' => drop(above.pop().unwrap()),
                ' ' | ',' => {}
                _ => {
                    let word = rest.split(['[', ']', ',']).next().unwrap().trim();
                    let (name, count) = name_and_tokens(word);
                    let has_children = rest[word.len()..].trim_start().starts_with('[');
                    parent.push(above.last().copied().unwrap_or(0));
                    kind.push(kind_of(&name, has_children));
                    names.push(name);
                    tokens.push(count);
                    rest = &rest[word.len()..];
                    continue;
                }
            }
            rest = &rest[1..];
        }
        Self {
            tree: Tree::new(parent, kind, tokens).unwrap(),
            names,
        }
    }

    pub(crate) fn at(&self, name: &str) -> u32 {
        let found = self.names.iter().position(|own| own == name);
        u32::try_from(found.unwrap()).unwrap()
    }

    pub(crate) fn name(&self, node: u32) -> &str {
        &self.names[node as usize]
    }

    /// Names of the nodes of a window, in document order.
    pub(crate) fn names_of(&self, window: &Window) -> String {
        let names: Vec<&str> = window.positions().map(|node| self.name(node)).collect();
        names.join(" ")
    }

    pub(crate) fn grow(&self, hit: &str, options: &Options) -> Window {
        window(&self.tree, self.at(hit), options).unwrap()
    }

    pub(crate) fn tree_window(&self, hit: &str, budget: u32, gaps: bool) -> Window {
        self.grow(
            hit,
            &Options {
                gaps,
                trace: true,
                ..Options::new(Mode::Tree, budget)
            },
        )
    }
}

/// `S1 2` is S1 of 2 tokens, `S12` is S of 12.
fn name_and_tokens(word: &str) -> (String, u32) {
    if let Some((name, tokens)) = word.rsplit_once(' ') {
        return (name.trim().to_owned(), tokens.parse().unwrap());
    }
    let digits = word.find(|letter: char| letter.is_ascii_digit()).unwrap();
    (word[..digits].to_owned(), word[digits..].parse().unwrap())
}

fn kind_of(name: &str, has_children: bool) -> u8 {
    if name == "R" {
        DOCUMENT
    } else if name.starts_with(char::is_lowercase) {
        CHUNK
    } else if has_children {
        SECTION
    } else {
        TEXT
    }
}

/// Random numbers that are the same in every run (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a bound.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        u32::try_from(self.next() % u64::from(bound)).unwrap()
    }
}
