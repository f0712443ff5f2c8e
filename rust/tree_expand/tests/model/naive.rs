//! The rules of expansion, written down as plainly as they are told: sets of positions, recursive
//! sums, lists built anew for every question. Nothing here is shared with the implementation but
//! the columns of the tree.

use std::collections::{BTreeMap, BTreeSet};

/// Why a direction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    Untried,
    End,
    Budget,
    Closed,
}

/// A document as columns.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) parent: Vec<usize>,
    pub(crate) kind: Vec<u8>,
    pub(crate) tokens: Vec<u64>,
    pub(crate) has_text: Vec<bool>,
    /// Tokens of the sentences of each node.
    pub(crate) sentences: Vec<Vec<u64>>,
}

/// What a mode takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) taken: BTreeSet<usize>,
    pub(crate) spent: u64,
    /// Down, next, previous, up.
    pub(crate) why: [Why; 4],
}

impl Document {
    pub(crate) fn children(&self, node: usize) -> Vec<usize> {
        (1..self.parent.len())
            .filter(|&child| self.parent[child] == node)
            .collect()
    }

    pub(crate) fn preorder(&self, node: usize) -> Vec<usize> {
        let mut nodes = vec![node];
        for child in self.children(node) {
            nodes.extend(self.preorder(child));
        }
        nodes
    }

    pub(crate) fn cost(&self, node: usize) -> u64 {
        self.preorder(node)
            .into_iter()
            .map(|below| self.tokens[below])
            .sum()
    }

    pub(crate) fn sum(&self, nodes: &BTreeSet<usize>) -> u64 {
        nodes.iter().map(|&node| self.tokens[node]).sum()
    }

    pub(crate) fn ancestors(&self, node: usize) -> Vec<usize> {
        if node == 0 {
            return vec![];
        }
        let parent = self.parent[node];
        [vec![parent], self.ancestors(parent)].concat()
    }

    /// Positions of the nodes with text.
    pub(crate) fn texts(&self) -> Vec<usize> {
        (0..self.parent.len())
            .filter(|&node| self.has_text[node])
            .collect()
    }

    fn alone(&self, hit: usize) -> Found {
        Found {
            taken: BTreeSet::from([hit]),
            spent: self.tokens[hit],
            why: [Why::Untried; 4],
        }
    }

    /// TREE.
    pub(crate) fn tree(&self, hit: usize, budget: u64, gaps: bool) -> Found {
        let alone = self.alone(hit);
        if alone.spent > budget {
            return alone;
        }
        let mut walk = Walk {
            left: budget - alone.spent,
            taken: alone.taken,
            gaps,
            right: Side {
                closed: false,
                why: Why::End,
            },
            left_side: Side {
                closed: false,
                why: Why::End,
            },
        };
        let down = self.down(hit, &mut walk);
        let mut up = Why::End;
        let mut current = hit;
        while current != 0 {
            let parent = self.parent[current];
            self.sideways(current, &mut walk);
            if self.tokens[parent] <= walk.left {
                walk.left -= self.tokens[parent];
                walk.taken.insert(parent);
            } else {
                up = Why::Budget;
                walk.left_side.closed = walk.left_side.closed || !gaps;
            }
            current = parent;
        }
        let why = [down, walk.right.why, walk.left_side.why, up];
        Found {
            taken: walk.taken,
            spent: budget - walk.left,
            why,
        }
    }

    fn down(&self, hit: usize, walk: &mut Walk) -> Why {
        let mut prefix: Vec<usize> = Vec::new();
        let mut why = Why::End;
        for node in self.preorder(hit).into_iter().skip(1) {
            if self.tokens[node] > walk.left {
                why = Why::Budget;
                walk.right.closed = !walk.gaps;
                break;
            }
            walk.left -= self.tokens[node];
            prefix.push(node);
        }
        while let Some(&last) = prefix.last() {
            let inside: Vec<usize> = self.preorder(last).into_iter().skip(1).collect();
            if inside.is_empty() || inside.iter().any(|node| prefix.contains(node)) {
                break;
            }
            walk.left += self.tokens[last];
            prefix.pop();
        }
        walk.taken.extend(prefix);
        why
    }

    fn sideways(&self, current: usize, walk: &mut Walk) {
        let level = self.children(self.parent[current]);
        let place = level.iter().position(|&node| node == current).unwrap();
        let cheapest = level
            .iter()
            .map(|&node| self.cost(node))
            .filter(|&cost| cost > 0)
            .min();
        walk.right.tell(place + 1 < level.len());
        walk.left_side.tell(place > 0);
        let (mut right_ends, mut left_ends) = (walk.right.closed, walk.left_side.closed);
        for distance in 1.. {
            let right = level.get(place + distance).filter(|_| !right_ends);
            let left = place
                .checked_sub(distance)
                .map(|at| &level[at])
                .filter(|_| !left_ends);
            let mut ring: Vec<(usize, bool)> =
                right.map(|&node| (node, true)).into_iter().collect();
            ring.extend(left.map(|&node| (node, false)));
            if ring.is_empty() {
                return;
            }
            ring.sort_by_key(|&(node, is_right)| {
                (
                    self.kind[node] != self.kind[current],
                    self.cost(node),
                    !is_right,
                )
            });
            for (node, is_right) in ring {
                if self.cost(node) <= walk.left {
                    walk.left -= self.cost(node);
                    walk.taken.extend(self.preorder(node));
                    continue;
                }
                let side = if is_right {
                    &mut walk.right
                } else {
                    &mut walk.left_side
                };
                *side = Side {
                    closed: !walk.gaps,
                    why: Why::Budget,
                };
                // With gaps a side is left for this level once nothing on it could add text.
                let hopeless = cheapest.is_some_and(|cheapest| walk.left < cheapest);
                *(if is_right {
                    &mut right_ends
                } else {
                    &mut left_ends
                }) = !walk.gaps || hopeless;
            }
        }
    }

    /// PARENT.
    pub(crate) fn parent(&self, hit: usize, budget: u64) -> Found {
        let mut found = self.alone(hit);
        if found.spent > budget {
            return found;
        }
        let path = [vec![hit], self.ancestors(hit)].concat();
        let fitting = path.iter().rev().find(|&&node| self.cost(node) <= budget);
        if let Some(&largest) = fitting {
            found.taken = self.preorder(largest).into_iter().collect();
            found.spent = self.cost(largest);
        }
        let end = if fitting == path.last() {
            Why::End
        } else {
            Why::Budget
        };
        let hit_fits = self.cost(hit) <= budget;
        let down = if hit_fits { Why::End } else { Why::Budget };
        let up = if hit_fits || hit == 0 {
            end
        } else {
            Why::Untried
        };
        found.why = [
            down,
            Why::Untried,
            Why::Untried,
            if hit == 0 { Why::End } else { up },
        ];
        found
    }

    /// LINEAR: positions with text, and the hit.
    pub(crate) fn linear(&self, hit: usize, budget: u64) -> Found {
        let after = self
            .texts()
            .into_iter()
            .filter(|&node| node > hit)
            .collect();
        let before = self
            .texts()
            .into_iter()
            .rev()
            .filter(|&node| node < hit)
            .collect();
        self.alternate(hit, budget, after, before, |&node| {
            (node, self.tokens[node])
        })
    }

    /// `SENTENCE_WINDOW`: the nodes that have a sentence in it, and the hit.
    pub(crate) fn sentence_window(&self, hit: usize, budget: u64, most: usize) -> Found {
        let all: Vec<(usize, u64)> = (0..self.parent.len())
            .flat_map(|node| {
                self.sentences[node]
                    .iter()
                    .map(move |&tokens| (node, tokens))
            })
            .collect();
        let after = all
            .iter()
            .copied()
            .filter(|&(node, _)| node > hit)
            .take(most)
            .collect();
        let before = all
            .iter()
            .rev()
            .copied()
            .filter(|&(node, _)| node < hit)
            .take(most)
            .collect();
        self.alternate(hit, budget, after, before, |&sentence| sentence)
    }

    fn alternate<T>(
        &self,
        hit: usize,
        budget: u64,
        after: Vec<T>,
        before: Vec<T>,
        of: impl Fn(&T) -> (usize, u64),
    ) -> Found {
        let mut found = self.alone(hit);
        if found.spent > budget {
            return found;
        }
        let mut sides = [(after, Why::End, 0), (before, Why::End, 0)];
        for turn in 0..2 * (sides[0].0.len() + sides[1].0.len()) {
            let (pieces, why, at) = &mut sides[turn % 2];
            if *why == Why::Budget || *at == pieces.len() {
                continue;
            }
            let (node, tokens) = of(&pieces[*at]);
            if found.spent + tokens <= budget {
                found.spent += tokens;
                found.taken.insert(node);
                *at += 1;
            } else {
                *why = Why::Budget;
            }
        }
        found.why = [Why::Untried, sides[0].1, sides[1].1, Why::Untried];
        found
    }

    /// Passages of united windows, best hit first: hits by rank, and the nodes of each that have
    /// text or are hits.
    pub(crate) fn passages(
        &self,
        windows: &[(usize, BTreeSet<usize>)],
    ) -> Vec<(Vec<usize>, Vec<usize>)> {
        let mut first: BTreeMap<usize, usize> = BTreeMap::new();
        for (rank, (_, taken)) in windows.iter().enumerate() {
            for &node in taken {
                first.entry(node).or_insert(rank);
            }
        }
        let hits: BTreeMap<usize, usize> = windows
            .iter()
            .enumerate()
            .map(|(rank, &(hit, _))| (hit, rank))
            .collect();
        let shown = first.keys().copied();
        let shown = shown
            .filter(|node| self.has_text[*node] || hits.contains_key(node))
            .collect();
        let (mut passages, mut loose): (Vec<Vec<usize>>, Vec<usize>) = (Vec::new(), Vec::new());
        for run in self.runs(shown) {
            let (kept, cut) = self.without_headings_at_the_end(run, &hits);
            loose.extend(cut);
            passages.extend((!kept.is_empty()).then_some(kept));
        }
        for node in loose {
            let owner = windows[first[&node]].0;
            let home = passages
                .iter_mut()
                .find(|passage| passage.contains(&owner))
                .unwrap();
            home.push(node);
        }
        let ranked = passages.into_iter().map(|mut nodes| {
            nodes.sort_unstable();
            let mut ranks: Vec<usize> = nodes
                .iter()
                .filter_map(|node| hits.get(node).copied())
                .collect();
            ranks.sort_unstable();
            (ranks, nodes)
        });
        let mut ranked: Vec<(Vec<usize>, Vec<usize>)> = ranked.collect();
        ranked.sort();
        ranked
    }

    /// Nodes in runs between which there is text that is not among them.
    fn runs(&self, shown: Vec<usize>) -> Vec<Vec<usize>> {
        let mut runs: Vec<Vec<usize>> = Vec::new();
        for node in shown {
            let before = runs.last().and_then(|run| run.last()).copied();
            match before {
                Some(before) if !self.has_text[before + 1..node].contains(&true) => {
                    runs.last_mut().unwrap().push(node);
                }
                _ => runs.push(vec![node]),
            }
        }
        runs
    }

    /// A run that has a hit without the headings at its end whose texts are not in it, and these;
    /// of a run without a hit nothing is kept.
    fn without_headings_at_the_end(
        &self,
        mut run: Vec<usize>,
        hits: &BTreeMap<usize, usize>,
    ) -> (Vec<usize>, Vec<usize>) {
        let mut cut = Vec::new();
        if !run.iter().any(|node| hits.contains_key(node)) {
            return (vec![], run);
        }
        while let Some(&last) = run.last() {
            let text_below = self
                .preorder(last)
                .into_iter()
                .skip(1)
                .any(|below| self.has_text[below]);
            if hits.contains_key(&last) || !text_below {
                break;
            }
            cut.extend(run.pop());
        }
        (run, cut)
    }
}

/// A TREE window in the making.
struct Walk {
    left: u64,
    taken: BTreeSet<usize>,
    gaps: bool,
    right: Side,
    left_side: Side,
}

struct Side {
    closed: bool,
    why: Why,
}

impl Side {
    /// Takes note that there is something on a side, which may be closed.
    fn tell(&mut self, there_is_more: bool) {
        if self.closed && there_is_more && self.why == Why::End {
            self.why = Why::Closed;
        }
    }
}
