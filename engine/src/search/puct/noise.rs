//! Noise on the priors of the root, for games that a policy learns from: without it they would only
//! show what the policy expects already.

use super::node::Prior;
use crate::search::people::Person;

/// Source of a search's priors.
#[derive(Clone, Copy)]
pub struct Priors<'a> {
    /// Person whose moves are the priors.
    pub person: Person<'a>,
    /// Noise at the root, if any.
    pub noise: Option<RootNoise<'a>>,
}

impl<'a> From<Person<'a>> for Priors<'a> {
    fn from(person: Person<'a>) -> Priors<'a> {
        let noise = None;
        Priors { person, noise }
    }
}

/// Noise that is mixed into the priors of the root.
#[derive(Clone, Copy)]
pub struct RootNoise<'a> {
    /// Share of the noise, from 0 to 1.
    pub share: f32,
    /// Probability of each legal move, in any order; zero for moves beyond its end.
    pub probabilities: &'a [f32],
}

impl RootNoise<'_> {
    /// Mixes the noise into priors, and sorts those from `sorted_from` on, the likeliest first.
    pub(super) fn mix(self, priors: &mut [Prior], sorted_from: usize) {
        let noise = self.probabilities.iter().chain(std::iter::repeat(&0.0));
        for ((_, prior), noise) in priors.iter_mut().zip(noise) {
            *prior += self.share * (noise - *prior);
        }
        priors[sorted_from..].sort_by(|(_, one), (_, other)| other.total_cmp(one));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::puct::node::Node;

    const NOISE: RootNoise = RootNoise {
        share: 0.25,
        probabilities: &[0.0, 0.0, 1.0],
    };

    fn priors() -> Vec<Prior> {
        let moves = [("e2e4", 0.5), ("d2d4", 0.375), ("c2c4", 0.125)];
        let priors = moves.map(|(mv, prior)| (mv.parse().unwrap(), prior));
        priors.into()
    }

    fn text(priors: &[Prior]) -> Vec<String> {
        let text = |(mv, prior): &Prior| format!("{mv} {prior}");
        priors.iter().map(text).collect()
    }

    #[test]
    fn noise_is_mixed_in_by_its_share() {
        let mut priors = priors();
        NOISE.mix(&mut priors, 0);
        let expected = ["e2e4 0.375", "c2c4 0.34375", "d2d4 0.28125"];
        assert_eq!(text(&priors), expected);
    }

    #[test]
    fn moves_with_a_node_keep_it() {
        let mut root = Node::default();
        root.expand(priors().into());
        let (first, _) = root.add_child(None);
        root.add_child(Some(first));
        root.add_noise(NOISE);
        let expected = ["e2e4 0.375", "d2d4 0.28125", "c2c4 0.34375"];
        assert_eq!(text(root.priors().unwrap()), expected);
    }
}
