//! Recipes: the settings of `trainer fit`, as options and as a TOML file.
//!
//! Both have the same values, read by the same parsers. A file may have several stages; options
//! describe one.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use datasets::{Dataset, Split};
use models::{Activation, Architecture, Features, View};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::batch::filter::{Filter, Keep, Sample, Selection};
use crate::commands::values;
use crate::error::TrainerError;
use crate::net::{self, Net};
use crate::training::device::Device;
use crate::training::plan::{Plan, ResultShare, batch_for, epochs_for};
use crate::training::regularisation::Regularisation;
use crate::training::schedule::Decay;
use network::CLIP_NORM;

/// Commented recipe of the defaults.
pub const DEFAULT: &str = include_str!("recipe.toml");

/// Architecture of the network, or the net to start from.
#[derive(Args, Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkOptions {
    /// Sizes of the one to three hidden layers; by default 512
    #[arg(long, value_name = "N[,N[,N]]", allow_hyphen_values = true,
          value_parser = values::hidden)]
    #[serde(deserialize_with = "read::hidden")]
    hidden: Option<Architecture>,
    /// Inputs: all (the default), or pieces alone, the 768 of bullet's Chess768
    #[arg(long)]
    features: Option<Features>,
    /// Views of the board fed to the first layer: mover or both (the default)
    #[arg(long)]
    view: Option<View>,
    /// Mirror each side's view of the board if its king is on files e to h
    #[arg(long, num_args = 0, default_missing_value = "true")]
    mirrored: Option<bool>,
    /// Activation of the first layer's sums: clipped-relu, squared-clipped-relu (the default), or
    /// pairwise-clipped-relu, the products of two halves; in short crelu and screlu
    #[arg(long)]
    activation: Option<Activation>,
    /// Copies of the later layers, each for a range of the number of pieces; by default 8
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::buckets)]
    #[serde(deserialize_with = "read::buckets")]
    buckets: Option<usize>,
    /// Start from this net instead of random weights
    #[arg(long, value_name = "NET.safetensors",
          conflicts_with_all = ["hidden", "features", "view", "mirrored", "activation", "buckets"])]
    init: Option<PathBuf>,
}

/// Training stage: a dataset, and how to train on it.
#[derive(Args, Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Stage {
    /// Dataset, as `ingest build` writes it
    #[arg(short, long, value_name = "DATASET")]
    data: Option<PathBuf>,
    /// Training positions: quiet (the default), those whose static evaluation a search uses, or
    /// all. Held-out games are measured whole
    #[arg(long, value_enum, value_name = "quiet|all")]
    keep: Option<Keep>,
    /// Passes over the training positions; by default 5 up to 262144 of them, rising to 8
    /// at a million
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::epochs)]
    #[serde(deserialize_with = "read::epochs")]
    epochs: Option<u64>,
    /// Positions a step; by default 512 for small datasets, up to 16384 for large ones
    #[arg(long, alias = "batch-size", value_name = "N", allow_negative_numbers = true,
          value_parser = values::batch)]
    #[serde(alias = "batch_size", deserialize_with = "read::batch")]
    batch: Option<usize>,
    /// Learning rate at the peak of the schedule; by default 0.003
    #[arg(long, alias = "lr", value_name = "RATE", allow_negative_numbers = true,
          value_parser = values::learning_rate)]
    #[serde(alias = "lr", deserialize_with = "read::learning_rate")]
    learning_rate: Option<f64>,
    /// Decay of the learning rate after its peak; by default cosine
    #[arg(long, value_enum)]
    schedule: Option<Decay>,
    /// Steps of linear warm-up to the peak; by default a twentieth of all, at most 500
    #[arg(long, value_name = "STEPS", allow_negative_numbers = true, value_parser = values::steps)]
    #[serde(deserialize_with = "read::steps")]
    warm_up: Option<u64>,
    /// Weight decay, times the learning rate; by default 0.3 up to 262144 training positions,
    /// falling to 0.1 at 4 million
    #[arg(long, value_name = "DECAY", allow_negative_numbers = true,
          value_parser = values::weight_decay)]
    #[serde(deserialize_with = "read::weight_decay")]
    weight_decay: Option<f64>,
    /// Learning speed of an input's own weights, relative to those shared with similar inputs; by
    /// default 0.0625 up to 262144 training positions, rising to 1 at 4 million
    #[arg(long, value_name = "SCALE", allow_negative_numbers = true,
          value_parser = values::own_scale)]
    #[serde(deserialize_with = "read::own_scale")]
    own_scale: Option<f32>,
    /// Clip longer gradients to this norm over all parameters; by default 2 (docs/training.md)
    #[arg(long, value_name = "LENGTH", allow_negative_numbers = true,
          value_parser = values::positive)]
    #[serde(deserialize_with = "read::positive")]
    clip_norm: Option<f32>,
    /// Weight of the game's result in the target, from 0 (the default) to 1; A:B goes from A to B
    /// over the run
    #[arg(long, value_name = "A[:B]", allow_negative_numbers = true, value_parser = values::wdl)]
    #[serde(deserialize_with = "read::wdl")]
    wdl: Option<ResultShare>,
    /// Exponent of the win-chance error in the loss; by default 1
    #[arg(long, value_name = "E", allow_negative_numbers = true,
          value_parser = values::loss_exponent)]
    #[serde(deserialize_with = "read::loss_exponent")]
    loss_exponent: Option<f64>,
    /// Filter of training positions, only in files.
    #[arg(skip)]
    filter: Filter,
}

/// Settings of a policy's run, as given; the rest has defaults.
#[derive(Debug)]
pub struct PolicyOptions {
    /// Dataset of moves.
    pub data: PathBuf,
    /// Hidden neurons.
    pub neurons: Option<usize>,
    /// Passes over the moves.
    pub epochs: Option<u64>,
    /// Moves a step.
    pub batch: Option<usize>,
    /// Peak learning rate.
    pub learning_rate: Option<f64>,
    /// Decay of the learning rate.
    pub schedule: Option<Decay>,
    /// Warm-up steps.
    pub warm_up: Option<u64>,
    /// Weight decay, in units of the learning rate.
    pub weight_decay: Option<f64>,
    /// Norm to which longer gradients are clipped.
    pub clip_norm: Option<f32>,
}

impl PolicyOptions {
    /// Returns the options of a policy's run.
    ///
    /// # Errors
    /// [`TrainerError::Usage`] if one is missing, or set that only a value network has.
    pub fn new(network: NetworkOptions, stage: Stage) -> Result<PolicyOptions, TrainerError> {
        let data = stage.data()?.to_path_buf();
        let NetworkOptions {
            hidden,
            features,
            view,
            mirrored,
            activation,
            buckets,
            init,
        } = network;
        let others = [
            ("--features", features.is_some()),
            ("--view", view.is_some()),
            ("--mirrored", mirrored.is_some()),
            ("--activation", activation.is_some()),
            ("--buckets", buckets.is_some()),
            ("--init", init.is_some()),
            ("--keep", stage.keep.is_some()),
            ("--own-scale", stage.own_scale.is_some()),
            ("--wdl", stage.wdl.is_some()),
            ("--loss-exponent", stage.loss_exponent.is_some()),
        ];
        if let Some((name, _)) = others.iter().find(|(_, given)| *given) {
            return Err(TrainerError::Usage(format!(
                "{name} is of value networks; `trainer fit --policy` does not take it"
            )));
        }
        if hidden.is_some_and(|sizes| sizes.second.is_some()) {
            return Err(TrainerError::Usage(
                "a policy has one hidden layer; give --hidden one size".to_string(),
            ));
        }
        Ok(PolicyOptions {
            data,
            neurons: hidden.map(|sizes| sizes.first),
            epochs: stage.epochs,
            batch: stage.batch,
            learning_rate: stage.learning_rate,
            schedule: stage.schedule,
            warm_up: stage.warm_up,
            weight_decay: stage.weight_decay,
            clip_norm: stage.clip_norm,
        })
    }
}

/// Starting point of a stage.
pub struct Start {
    /// Architecture of its network.
    pub architecture: Architecture,
    /// The net to start from; random weights if `None`.
    net: Option<Net>,
}

impl Start {
    /// Starts from a net.
    pub fn from_net(net: Net) -> Start {
        Start {
            architecture: net.network.architecture(),
            net: Some(net),
        }
    }
}

/// Options given besides a recipe.
pub struct Given {
    /// `--seed`.
    pub seed: Option<u64>,
    /// `--hidden` and the other options of the network.
    pub network: NetworkOptions,
    /// Options of a stage.
    pub stage: Stage,
}

/// Recipe of a whole run.
#[derive(Debug, PartialEq)]
pub struct Recipe {
    /// Seed of the starting weights and of the order of positions.
    pub seed: u64,
    /// Network of the first stage.
    pub network: NetworkOptions,
    /// Stages, at least one.
    pub stages: Vec<Stage>,
}

impl Default for Recipe {
    fn default() -> Recipe {
        Recipe {
            seed: 1,
            network: NetworkOptions::default(),
            stages: vec![Stage::default()],
        }
    }
}

/// Contents of a recipe file.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RecipeFile {
    #[serde(deserialize_with = "read::seed")]
    seed: Option<u64>,
    network: NetworkOptions,
    #[serde(rename = "stage")]
    stages: Vec<Stage>,
}

impl Recipe {
    /// Reads a recipe file. Resolves its paths against its folder.
    pub fn read(path: &Path) -> Result<Recipe, TrainerError> {
        let text = fs::read_to_string(path).map_err(TrainerError::unreadable(path))?;
        let mut recipe = Recipe::parse(&text)
            .map_err(|error| TrainerError::Usage(format!("{}{error}", path.display())))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let stages = recipe.stages.iter_mut().map(|stage| &mut stage.data);
        for path in stages.chain([&mut recipe.network.init]).flatten() {
            *path = folder.join(&*path);
        }
        Ok(recipe)
    }

    /// Parses a recipe. Errors are to be appended to the file's name.
    fn parse(text: &str) -> Result<Recipe, String> {
        let file: RecipeFile = toml::from_str(text).map_err(|error| {
            let begin = error.span().map_or(0, |span| span.start).min(text.len());
            let line = text[..begin].matches('\n').count();
            let shown = text.lines().nth(line).unwrap_or_default().trim();
            let what = match shown {
                "[stage]" => "each stage is an entry of a list: write [[stage]]".to_string(),
                _ => error.message().replace('\n', ", "),
            };
            let line = line + 1;
            format!(":{line}: {shown:?}: {what}; `trainer fit --print-recipe` shows all keys")
        })?;
        let Recipe { seed, stages, .. } = Recipe::default();
        Ok(Recipe {
            seed: file.seed.unwrap_or(seed),
            network: file.network,
            stages: match file.stages.is_empty() {
                true => stages,
                false => file.stages,
            },
        })
    }

    /// Returns the recipe with `given` options, which override it.
    ///
    /// # Errors
    /// [`TrainerError::Usage`] if an option is ambiguous.
    pub fn overridden_by(self, given: Given) -> Result<Recipe, TrainerError> {
        let stages = match &self.stages[..] {
            [stage] => vec![given.stage.or(stage)],
            stages if given.stage == Stage::default() => stages.to_vec(),
            stages => {
                return Err(TrainerError::Usage(format!(
                    "the recipe has {} stages, so that options of a stage are ambiguous; \
                     change the recipe",
                    stages.len()
                )));
            }
        };
        Ok(Recipe {
            seed: given.seed.unwrap_or(self.seed),
            network: given.network.or(self.network),
            stages,
        })
    }
}

impl NetworkOptions {
    /// Fills unset options from `other`. With a net to start from, none are needed.
    fn or(self, other: NetworkOptions) -> NetworkOptions {
        if self.init.is_some() {
            return self;
        }
        NetworkOptions {
            hidden: self.hidden.or(other.hidden),
            features: self.features.or(other.features),
            view: self.view.or(other.view),
            mirrored: self.mirrored.or(other.mirrored),
            activation: self.activation.or(other.activation),
            buckets: self.buckets.or(other.buckets),
            init: other.init,
        }
    }

    /// Returns the starting point of the first stage.
    ///
    /// # Errors
    /// [`TrainerError`] if the net cannot be trained, or the architecture is invalid.
    pub fn start(&self) -> Result<Start, TrainerError> {
        if let Some(init) = &self.init {
            let alone = NetworkOptions {
                init: self.init.clone(),
                ..NetworkOptions::default()
            };
            if *self != alone {
                return Err(TrainerError::Usage(
                    "the net in init fixes the architecture; remove init, or hidden, features, \
                     view, mirrored, activation and buckets"
                        .to_string(),
                ));
            }
            return Ok(Start::from_net(net::read_to_train(init)?));
        }
        let default = Architecture::SHIPPED;
        let architecture = Architecture {
            features: self.features.unwrap_or(default.features),
            view: self.view.unwrap_or(default.view),
            mirrored: self.mirrored.unwrap_or(default.mirrored),
            activation: self.activation.unwrap_or(default.activation),
            buckets: self.buckets.unwrap_or(default.buckets),
            ..self.hidden.unwrap_or(default)
        };
        match architecture.check() {
            Ok(()) => Ok(Start {
                architecture,
                net: None,
            }),
            Err(error) => Err(TrainerError::Usage(format!(
                "impossible network: {error}; change --hidden, --view, --activation or \
                 --buckets"
            ))),
        }
    }
}

impl Stage {
    /// Fills unset options from `other`.
    fn or(&self, other: &Stage) -> Stage {
        Stage {
            data: self.data.clone().or_else(|| other.data.clone()),
            keep: self.keep.or(other.keep),
            epochs: self.epochs.or(other.epochs),
            batch: self.batch.or(other.batch),
            learning_rate: self.learning_rate.or(other.learning_rate),
            schedule: self.schedule.or(other.schedule),
            warm_up: self.warm_up.or(other.warm_up),
            weight_decay: self.weight_decay.or(other.weight_decay),
            own_scale: self.own_scale.or(other.own_scale),
            clip_norm: self.clip_norm.or(other.clip_norm),
            wdl: self.wdl.or(other.wdl),
            loss_exponent: self.loss_exponent.or(other.loss_exponent),
            filter: other.filter,
        }
    }

    /// Returns the stage on a sample of its positions.
    pub fn sampled(&self, sample: Sample) -> Stage {
        let mut stage = self.clone();
        stage.filter.sample = Some(sample);
        stage
    }

    /// Returns the path of the dataset.
    pub fn data(&self) -> Result<&Path, TrainerError> {
        self.data.as_deref().ok_or_else(|| {
            TrainerError::Usage(
                "no dataset to train on; give --data DATASET, or `data` in each [[stage]] of \
                 the recipe"
                    .to_string(),
            )
        })
    }

    /// Returns the positions of a dataset that the filter keeps.
    ///
    /// # Errors
    /// [`TrainerError::Usage`] if the filter drops all, [`TrainerError::Data`].
    pub fn selection(&self, dataset: &Dataset) -> Result<Selection, TrainerError> {
        let filter = Filter {
            quiet: self.keep != Some(Keep::All),
            ..self.filter
        };
        let selection = Selection::new(filter, dataset)?;
        if selection.positions == 0 {
            return Err(TrainerError::Usage(format!(
                "the filter drops all {} positions ({}); widen it",
                host::thousands(dataset.len(Split::Train)),
                selection.dropped.in_words()
            )));
        }
        Ok(selection)
    }

    /// Returns the plan for the positions of a dataset ([`Stage::selection`]). The caller must set
    /// output, device, seed, checkpoints.
    pub fn plan(&self, start: Start, selection: Selection) -> Plan {
        let positions = selection.positions;
        let default = Regularisation::for_positions(positions);
        Plan {
            out: PathBuf::new(),
            architecture: start.architecture,
            init: start.net,
            device: Device::Cpu,
            selection,
            epochs: self.epochs.unwrap_or_else(|| epochs_for(positions)),
            restarts: Vec::new(),
            batch: self.batch.unwrap_or_else(|| batch_for(positions)),
            regularisation: Regularisation {
                own_scale: self.own_scale.unwrap_or(default.own_scale),
                weight_decay: self.weight_decay.unwrap_or(default.weight_decay),
            },
            result_share: self.wdl.unwrap_or(ResultShare::NONE),
            loss_exponent: self.loss_exponent.unwrap_or(1.0),
            learning_rate: self.learning_rate.unwrap_or(0.003),
            decay: self.schedule.unwrap_or(Decay::Cosine),
            warm_up: self.warm_up,
            clip_norm: self.clip_norm.unwrap_or(CLIP_NORM),
            seed: 1,
            checkpoint_every: Duration::MAX,
            resume: false,
        }
    }
}

/// Deserialises a TOML value to its command-line text.
struct AsText;

impl<'de> Visitor<'de> for AsText {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number, text, or an array of sizes")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_string())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<String, A::Error> {
        let mut sizes = Vec::new();
        while let Some(size) = sequence.next_element::<i64>()? {
            sizes.push(size.to_string());
        }
        Ok(sizes.join(","))
    }
}

/// Defines a deserialiser for each of the command line's parsers.
macro_rules! read_by {
    ($($parser:ident: $value:ty),*) => {
        mod read {
            use super::*;
            $(
                pub fn $parser<'de, D: Deserializer<'de>>(
                    deserializer: D,
                ) -> Result<Option<$value>, D::Error> {
                    let text = deserializer.deserialize_any(AsText)?;
                    values::$parser(&text).map(Some).map_err(Error::custom)
                }
            )*
        }
    };
}

read_by!(
    hidden: Architecture, buckets: usize, seed: u64, epochs: u64, batch: usize,
    learning_rate: f64, steps: u64, weight_decay: f64, own_scale: f32, positive: f32,
    wdl: ResultShare, loss_exponent: f64
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// Parses a valid recipe.
    fn recipe(text: &str) -> Recipe {
        Recipe::parse(text).unwrap_or_else(|error| panic!("{error}"))
    }

    fn plans(recipe: &Recipe, dataset: &Dataset) -> Vec<String> {
        let start = || recipe.network.start().unwrap();
        let selection = |stage: &Stage| stage.selection(dataset).unwrap();
        let plan = |stage: &Stage| format!("{:?}", stage.plan(start(), selection(stage)));
        recipe.stages.iter().map(plan).collect()
    }

    #[test]
    fn printed_recipe_equals_the_defaults() {
        let folder = tempfile::tempdir().unwrap();
        let dataset = testing::dataset(folder.path(), 300);
        let printed = recipe(DEFAULT);
        assert_eq!(printed.seed, Recipe::default().seed);
        assert_eq!(
            plans(&printed, &dataset),
            plans(&Recipe::default(), &dataset)
        );
        // Keys without a fixed default are comments.
        let all: String = DEFAULT
            .lines()
            .map(|line| match line.strip_prefix("# ") {
                Some(key) if key.contains(" = ") => format!("{key}\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        let all = recipe(&all);
        let stage = &all.stages[0];
        assert!(stage.batch.is_some() && stage.warm_up.is_some() && stage.own_scale.is_some());
        assert!(stage.filter.pieces.is_some() && stage.filter.sample.is_some());
        assert!(all.network.init.is_some());
    }

    #[test]
    fn reads_the_recipes_of_docs_and_models() {
        let text = include_str!("../../../docs/training.md");
        let (_, behind) = text.split_once("```toml\n").expect("an example");
        let example = recipe(behind.split_once("```").expect("its end").0);
        assert_eq!(example.stages.len(), 2);
        assert!(example.stages[0].filter.drop_mates);
        assert_eq!(
            example.stages[0].wdl,
            Some(ResultShare { from: 0.0, to: 0.3 })
        );
        let shipped = recipe(include_str!("../../../models/recipes/default.toml"));
        let epochs = shipped.stages.iter().map(|stage| stage.epochs);
        assert!(epochs.eq([Some(24)]));
        let network = |recipe: &Recipe| recipe.network.start().unwrap().architecture;
        assert_eq!(network(&shipped), Architecture::SHIPPED);
        let article = recipe(include_str!("../../../models/recipes/article.toml"));
        assert_eq!(network(&article), Architecture::ARTICLE);
        assert_eq!(article.stages[0].keep, Some(Keep::All));
    }

    #[test]
    fn file_and_options_give_the_same_recipe() {
        let from_file = recipe(
            "[network]\nhidden = [64, 16]\nview = \"both\"\nactivation = \"screlu\"\n[[stage]]\n\
             epochs = 7\nlr = 1e-3\nbatch_size = 64\nwdl = \"0:0.5\"\nschedule = \"linear\"\nown_scale = 0.25",
        );
        let given = Given {
            seed: Some(9),
            network: NetworkOptions {
                hidden: Some(values::hidden("64,16").unwrap()),
                view: Some(View::Both),
                activation: Some(Activation::SquaredClippedRelu),
                ..NetworkOptions::default()
            },
            stage: Stage {
                epochs: Some(7),
                learning_rate: Some(1e-3),
                batch: Some(64),
                wdl: Some(ResultShare { from: 0.0, to: 0.5 }),
                schedule: Some(Decay::Linear),
                own_scale: Some(0.25),
                ..Stage::default()
            },
        };
        let from_options = Recipe::default().overridden_by(given).unwrap();
        assert_eq!(from_options.seed, 9);
        assert_eq!(from_options.stages, from_file.stages);
        assert_eq!(from_options.network, from_file.network);
    }

    #[test]
    fn options_override_a_recipe_of_one_stage() {
        let given = || Given {
            seed: None,
            network: NetworkOptions::default(),
            stage: Stage {
                epochs: Some(2),
                ..Stage::default()
            },
        };
        let one = recipe("seed = 4\n[[stage]]\nepochs = 7\nbatch = 64");
        let one = one.overridden_by(given()).unwrap();
        assert_eq!(
            (one.seed, one.stages[0].epochs, one.stages[0].batch),
            (4, Some(2), Some(64))
        );
        let two = recipe("[[stage]]\nepochs = 7\n[[stage]]\nepochs = 8");
        let error = two.overridden_by(given()).unwrap_err();
        assert_eq!(error.exit_code() as u8, 2);
        assert!(error.to_string().contains("2 stages"), "{error}");
    }

    #[test]
    fn errors_name_line_and_key() {
        for (text, words) in [
            (
                "seed = 1\n[[stage]]\nepoch = 3",
                [":3:", "epoch", "`epochs`"],
            ),
            (
                "[[stage]]\nepochs = 0",
                [":2:", "epochs = 0", "from 1 to 100000"],
            ),
            ("[stage]\nepochs = 3", [":1:", "\"[stage]\"", "[[stage]]"]),
            ("[[stage]]\nepochs = 2.5", [":2:", "epochs", "whole number"]),
            ("[[stage]]\nwdl = 1.5", [":2:", "wdl", "from 0 to 1"]),
            (
                "[[stage]]\nloss_exponent = 0.5",
                [":2:", "loss_exponent", "from 1"],
            ),
            (
                "[[stage]]\n[stage.filter]\nquiet = true",
                [":3:", "quiet", "`drop_mates`"],
            ),
            (
                "[[stage]]\n[stage.filter]\nsample = { share = 50, seed = 1 }",
                [":3:", "sample", "from 0 to 1"],
            ),
            (
                "[[stage]]\nschedule = \"step\"",
                [":2:", "schedule", "`cosine`"],
            ),
            ("[network]\nhidden = [256, 33, 32]", [":2:", "hidden", "32"]),
            ("\n\nepochs = 3", [":3:", "epochs", "`stage`"]),
            (
                "[[stage]]\n[stage.filter]\nmates = 1",
                [":3:", "mates", "`drop_mates`"],
            ),
            ("seed = [", [":1:", "seed", "print-recipe"]),
        ] {
            let error = Recipe::parse(text).unwrap_err();
            assert!(!error.contains('\n'), "{error}");
            for word in words {
                assert!(error.contains(word), "{word} is not in {error}");
            }
        }
    }

    #[test]
    fn paths_are_relative_to_the_recipe() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.toml");
        fs::write(&path, "[network]\ninit = \"/n\"\n[[stage]]\ndata = \"d\"").unwrap();
        let recipe = Recipe::read(&path).unwrap();
        assert_eq!(recipe.stages[0].data().unwrap(), folder.path().join("d"));
        assert_eq!(recipe.network.init.unwrap(), Path::new("/n"));
    }
}
