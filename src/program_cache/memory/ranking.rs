//! A heap whose members know their place, so that each can change its rank or leave.

use crate::base::Result;

/// Ids by rank, the least first. The caller stores the place that `moved` reports for each id. With it an id changes rank
/// or leaves in as many steps as the heap is high, and each id has one node.
pub struct Ranking<R> {
    nodes: Vec<(R, u32)>,
}

impl<R> Default for Ranking<R> {
    fn default() -> Self {
        Self { nodes: Vec::new() }
    }
}

impl<R: Ord + Copy> Ranking<R> {
    /// The number of ids.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The id of least rank.
    pub fn first(&self) -> Option<(R, u32)> {
        self.nodes.first().copied()
    }

    /// The id at `place`.
    #[cfg(test)]
    pub fn at(&self, place: usize) -> (R, u32) {
        self.nodes[place]
    }

    /// Reserve memory, so that the next [`push`](Self::push) cannot fail.
    pub fn reserve_one(&mut self) -> Result<()> {
        Ok(self.nodes.try_reserve(1)?)
    }

    /// Add an id.
    pub fn push(&mut self, rank: R, id: u32, moved: impl FnMut(u32, usize)) {
        self.nodes.push((rank, id));
        self.settle(self.nodes.len() - 1, moved);
    }

    /// Change the rank of the id at `place`.
    pub fn change(&mut self, place: usize, rank: R, moved: impl FnMut(u32, usize)) {
        self.nodes[place].0 = rank;
        self.settle(place, moved);
    }

    /// Remove the id at `place`.
    pub fn remove(&mut self, place: usize, moved: impl FnMut(u32, usize)) {
        self.nodes.swap_remove(place);
        if place < self.nodes.len() {
            self.settle(place, moved);
        }
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.nodes.capacity() * size_of::<(R, u32)>()
    }

    fn settle(&mut self, mut place: usize, mut moved: impl FnMut(u32, usize)) {
        let nodes = &mut self.nodes[..];
        while let Some(parent) = place.checked_sub(1).map(|before| before / 2)
            && nodes[place] < nodes[parent]
        {
            nodes.swap(place, parent);
            moved(nodes[place].1, place);
            place = parent;
        }
        loop {
            let mut child = 2 * place + 1;
            if child + 1 < nodes.len() && nodes[child + 1] < nodes[child] {
                child += 1;
            }
            if child >= nodes.len() || nodes[place] < nodes[child] {
                break;
            }
            nodes.swap(place, child);
            moved(nodes[place].1, place);
            place = child;
        }
        moved(nodes[place].1, place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compare with a list of places and ranks by id. An id without a place is not held.
    fn check(ranking: &Ranking<u64>, places: &[Option<usize>], ranks: &[u64]) {
        let held = || (0..places.len()).filter(|&id| places[id].is_some());
        assert!(held().all(|id| ranking.nodes[places[id].unwrap()] == (ranks[id], id as u32)));
        assert_eq!(ranking.len(), held().count());
        assert_eq!(ranking.first(), held().map(|id| (ranks[id], id as u32)).min());
    }

    #[test]
    fn first_is_least_and_all_places_are_known_after_any_steps() {
        let (mut state, mut ranking) = (1_u64, Ranking::default());
        let (mut places, mut ranks) = ([None; 50], [0; 50]);
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (id, rank) = ((state >> 40) as usize % 50, state >> 33 & 31);
            let place = places[id];
            let mut steps = 0;
            let moved = |id: u32, place| {
                places[id as usize] = Some(place);
                steps += 1;
            };
            match place {
                None => {
                    ranking.reserve_one().unwrap();
                    ranking.push(rank, id as u32, moved);
                }
                Some(place) if state >> 62 == 0 => {
                    ranking.remove(place, moved);
                    places[id] = None;
                }
                Some(place) => ranking.change(place, rank, moved),
            }
            ranks[id] = rank;
            assert!(steps <= 7, "at most the height of the heap");
            check(&ranking, &places, &ranks);
        }
    }
}
