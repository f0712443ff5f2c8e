//! The rules of expansion, written down as plainly as they are told: sets of positions, recursive sums, lists built
//! anew for every question. Nothing here is shared with the implementation but the columns of the tree.

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
        let mut found = self.alone(hit);
        if found.spent > budget {
            return found;
        }
        let mut left = budget - found.spent;
        let (mut right_closed, mut left_closed) = (false, false);
        let [mut down, mut next, mut previous, mut up] = [Why::End; 4];

        let mut prefix: Vec<usize> = Vec::new();
        for node in self.preorder(hit).into_iter().skip(1) {
            if self.tokens[node] <= left {
                left -= self.tokens[node];
                prefix.push(node);
                continue;
            }
            down = Why::Budget;
            right_closed = !gaps;
            while let Some(&last) = prefix.last() {
                let inside: Vec<usize> = self.preorder(last).into_iter().skip(1).collect();
                if inside.is_empty() || inside.iter().any(|node| prefix.contains(node)) {
                    break;
                }
                left += self.tokens[last];
                prefix.pop();
            }
            break;
        }
        found.taken.extend(prefix);

        let mut current = hit;
        while current != 0 {
            let parent = self.parent[current];
            let level = self.children(parent);
            let place = level.iter().position(|&node| node == current).unwrap();
            let cheapest = level
                .iter()
                .map(|&node| self.cost(node))
                .filter(|&cost| cost > 0)
                .min();
            let (mut right_ends, mut left_ends) = (right_closed, left_closed);
            if right_closed && place + 1 < level.len() && next == Why::End {
                next = Why::Closed;
            }
            if left_closed && place > 0 && previous == Why::End {
                previous = Why::Closed;
            }
            for distance in 1.. {
                let mut ring: Vec<(usize, bool)> = Vec::new();
                if !right_ends && place + distance < level.len() {
                    ring.push((level[place + distance], true));
                }
                if !left_ends && distance <= place {
                    ring.push((level[place - distance], false));
                }
                if ring.is_empty() {
                    break;
                }
                ring.sort_by_key(|&(node, is_right)| {
                    (
                        self.kind[node] != self.kind[current],
                        self.cost(node),
                        !is_right,
                    )
                });
                for (node, is_right) in ring {
                    let cost = self.cost(node);
                    if cost <= left {
                        left -= cost;
                        found.taken.extend(self.preorder(node));
                        continue;
                    }
                    let hopeless = cheapest.is_some_and(|cheapest| left < cheapest);
                    if is_right {
                        next = Why::Budget;
                        right_closed = !gaps;
                        right_ends = !gaps || hopeless;
                    } else {
                        previous = Why::Budget;
                        left_closed = !gaps;
                        left_ends = !gaps || hopeless;
                    }
                }
            }
            if self.tokens[parent] <= left {
                left -= self.tokens[parent];
                found.taken.insert(parent);
            } else {
                up = Why::Budget;
                left_closed = left_closed || !gaps;
            }
            current = parent;
        }
        Found {
            spent: budget - left,
            why: [down, next, previous, up],
            ..found
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

    /// Passages of united windows, best hit first: hits by rank, and the nodes of each that have text or are hits.
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
        let shown: Vec<usize> = first
            .keys()
            .copied()
            .filter(|node| self.has_text[*node] || hits.contains_key(node))
            .collect();
        let mut runs: Vec<Vec<usize>> = Vec::new();
        for node in shown {
            let joins = runs
                .last()
                .and_then(|run| run.last())
                .is_some_and(|&last| !(last + 1..node).any(|between| self.has_text[between]));
            if joins {
                runs.last_mut().unwrap().push(node);
            } else {
                runs.push(vec![node]);
            }
        }
        let mut loose: Vec<usize> = Vec::new();
        let mut kept: Vec<Vec<usize>> = Vec::new();
        for mut run in runs {
            while run.iter().any(|node| hits.contains_key(node)) {
                let last = *run.last().unwrap();
                let below: Vec<usize> = self
                    .preorder(last)
                    .into_iter()
                    .skip(1)
                    .filter(|&n| self.has_text[n])
                    .collect();
                if hits.contains_key(&last) || below.is_empty() {
                    break;
                }
                loose.extend(run.pop());
            }
            if run.iter().any(|node| hits.contains_key(node)) {
                kept.push(run);
            } else {
                loose.extend(run);
            }
        }
        for node in loose {
            let owner = windows[first[&node]].0;
            let home = kept.iter_mut().find(|run| run.contains(&owner)).unwrap();
            home.push(node);
        }
        let mut passages: Vec<(Vec<usize>, Vec<usize>)> = kept
            .into_iter()
            .map(|mut nodes| {
                nodes.sort_unstable();
                let mut ranks: Vec<usize> = nodes
                    .iter()
                    .filter_map(|node| hits.get(node).copied())
                    .collect();
                ranks.sort_unstable();
                (ranks, nodes)
            })
            .collect();
        passages.sort();
        passages
    }
}
