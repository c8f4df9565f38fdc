"""What kinds of slips there are, and which kind an entry that the hook sends is of. Owns no state."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any, Final

__all__ = ["ANGLES", "AUGMENT", "CAP", "MASKING", "SHARE", "SINGLE", "WORDS", "SlipKind", "is_single"]

CAP: Final = "limit"
"""What a slip has that bounds a loss from above, sample by sample."""
MASKING: Final = frozenset({"Equal", "NotEqual", "Greater"})
"""Operations that a mask is made by."""
SINGLE: Final = "Softmax"
"""The type of a slip that is a softmax over an axis of one."""
SHARE: Final = "RealDiv"
"""That of a probability that is divided by the sum of all."""
AUGMENT: Final = "augment"
"""The type of a slip that turns images without their masks, and the role of its call in a script."""
WORDS: Final = "Words"
"""The type of a slip that the rows tell of an input of word numbers."""
ANGLES: Final = "Angles"
"""The type of what may be one: a target, of which only its numbers tell."""


class SlipKind(Enum):
    """What is wrong with a compiled step, or with the script that made it."""

    CROSSING = auto()
    """A column meets a vector though nothing asks for all pairs."""
    RESHAPE = auto()
    """A reshape leaves axes their lengths and not their places."""
    MADE = auto()
    """A layer is made anew in every call."""
    BACKWARDS = auto()
    """A sequence stands beside one in the other order."""
    REPEATED = auto()
    """One layer gives the same to several outputs."""
    REDRAWN = auto()
    """An action is drawn anew, in the step that learns from another."""
    UNENDED = auto()
    """A return is counted on beyond an episode's end."""
    STRAIGHT = auto()
    """A second derivative is 0 everywhere."""
    DOUBLED = auto()
    """A loss applies a function to what has been through it."""
    APART = auto()
    """Images are turned without what is asked of their places."""
    GATHERED = auto()
    """What belongs to all samples is gathered for each of them."""
    SCALED = auto()
    """A layer scales a whole table by one mean and one deviation."""
    UNSHOWN = auto()
    """Noise is asked for that the model was not shown."""
    ATTRACTED = auto()
    """Two outputs of one network are drawn together, and nothing else is asked."""
    UNDETACHED = auto()
    """An advantage leaves its gradient to the critic that it is made of."""
    CANCELLED = auto()
    """A straight-through estimator lets no gradient through."""
    LINEAR = auto()
    """No function stands between the kernels."""
    NORMED = auto()
    """The length of a vector is that of the whole batch."""
    DOTTED = auto()
    """A product of two vectors is summed over the whole batch."""
    WAVES = auto()
    """Sines turn so fast from the start that neighbours have nothing in common."""
    UNORDERED = auto()
    """An attention reads words without their places."""
    MISWEIGHED = auto()
    """The weights of an attention add up to 1 along an axis that nothing is summed over."""
    SUMMED = auto()
    """The derivatives of several columns are added up, and meet each column."""
    DIVERGING = auto()
    """A divergence of probabilities is given scores."""
    COOLED = auto()
    """Cosines are multiplied by a temperature."""
    LEFT = auto()
    """A sum over those who are still there holds those who are not."""
    ONE_SIDED = auto()
    """The mean of a draw, or the logarithm of its variance, is never below 0."""
    INVERSE = auto()
    """A policy's ratio is the wrong way round."""
    CLIMBING = auto()
    """What is to become large is made small."""
    UNFOLLOWED = auto()
    """A return is counted on from a state that is not the next one."""
    HEADS = auto()
    """The heads of an attention are split, or put together, without a transpose."""
    TWICE = auto()
    """A sigmoid is taken of numbers from 0 to 1."""
    LEAST = auto()
    """The least is taken of numbers that a mask has made 0."""
    EXCHANGED = auto()
    """A loss gets the prediction for the target."""
    UNPASSED = auto()
    """What is chosen in place of a network's output leaves that without a gradient."""
    FAINT = auto()
    """Noise never covers the samples that it is added to."""
    TWINS = auto()
    """Two views of each sample are made with the same random numbers."""
    RELATIVE = auto()
    """Errors are divided by targets, some of which are 0."""
    ROUNDED = auto()
    """Of a variance, as the difference of two large numbers, nothing but rounding is left."""
    TRUNCATED = auto()
    """Ids that were scaled are cut to whole numbers."""
    PEEKING = auto()
    """Input and target are cut from one sequence, and each time sees the next."""
    CROSSWISE = auto()
    """A softmax is taken along another axis than that of the classes."""
    BY_SAMPLE = auto()
    """A table of places is added along the samples."""
    CONTRAST = auto()
    """Of pairs, those that a loss draws together are less alike than those that it pushes apart."""
    CONDITION = auto()
    """A generator is judged by another condition than it was given."""
    POSITIVES = auto()
    """A loss takes rows of other samples for the other view of each."""
    UNSCALED = auto()
    """A layer is given a table of which one column is far wider than another."""
    BOUNDED = auto()
    """Errors are clipped before they are squared."""
    RESTARTED = auto()
    """A data set is begun anew for each batch."""
    RESIZED = auto()
    """Class numbers are interpolated."""
    TURNED = auto()
    """An array is reshaped where its axes should change places."""
    SHUFFLED = auto()
    """Samples are shuffled that a layer's state joins from batch to batch."""
    PARTED = auto()
    """Of the arrays of pairs one is shuffled alone, or each by itself."""
    CACHED = auto()
    """What random numbers have made of the samples is kept, and the same in each epoch."""
    SERVED = auto()
    """A class of the user's own gives the same batch at each step, or inputs and targets of other rows."""
    NEGATED = auto()
    """Cosines are taken with the wrong sign."""
    EMPTYING = auto()
    """A dropout drops nearly all."""
    FLOORED = auto()
    """Fractions are cut off of numbers that are nothing else."""
    TRIMMED = auto()
    """An array is cut to the length of another one, of which rows were picked."""
    FILTERED = auto()
    """Of data sets whose elements belong together one is filtered alone."""
    REPLACED = auto()
    """A slow copy of a network takes over nearly all of it at each update."""
    LOST = auto()
    """What is changed are copies of weights."""
    PAST = auto()
    """A return is summed from the first reward on."""
    COPIED = auto()
    """Of the arrays of pairs one is repeated, the other tiled."""
    ACROSS = auto()
    """Maps are normalised along an axis of their places, not of their channels."""
    UNNORMALISED = auto()
    """What a layer normalises is not scaled all the same."""
    RESCALED = auto()
    """A layer scales images that were scaled before."""
    UNCONVERTED = auto()
    """A conversion that scales integers is given floating-point numbers, which it leaves as they are."""
    BRIGHTENED = auto()
    """Images from 0 to 1 are made brighter or darker by more than that."""
    BACKBONE = auto()
    """A pretrained network gets images in another range than it was trained on."""
    HALVED = auto()
    """Images are scaled to between -1 and 0."""
    THAWED = auto()
    """Layers that were frozen are thawed before anything is trained."""
    TOPPED = auto()
    """What a model is asked for is dropped, or normalised, by a layer behind the last one."""
    SEVERED = auto()
    """An input of a model, and the layers made for it, are on the way to no output."""
    UNMASKED = auto()
    """A layer that is to mask the padding masks nothing."""
    WITHHELD = auto()
    """A callback, a schedule or weights of classes are made and never handed over."""
    UNCALLED = auto()
    """A layer of a model's own is made and never called."""
    UNREAD = auto()
    """A setting of a loss is stored and never read."""
    STILL_TRAINED = auto()
    """What is frozen between two stages goes on being trained."""
    ROTATED = auto()
    """Images are turned by turns where degrees are meant."""
    BEYOND = auto()
    """The validation data, or its targets, are in another range than those of the training."""
    SEEN = auto()
    """The validation samples are among those that are trained on."""
    WINDOWED = auto()
    """The validation's windows of a series lie among those of the training."""
    EXPLORED = auto()
    """The chance of a random action rises, falls at once, or never does."""
    GROWN = auto()
    """A list that is to hold one episode holds all so far."""
    JITTERED = auto()
    """Validation images are changed at random."""
    FOLDS = auto()
    """A model is made on the wrong side of a loop over folds or epochs, or trained on what is held out."""
    RENUMBERED = auto()
    """The words of the validation texts are numbered by themselves."""
    RESPLIT = auto()
    """Data sets for training and validation are cut of one, and share samples all the same."""
    ONLY = auto()
    """All labels are of one class."""
    MIXED = auto()
    """Inputs of one part of the data are paired with targets of another, or with other rows."""
    NOISY = auto()
    """A noisy array is its own target, or that of the clean one, or has the same noise in all samples."""
    UNUSED = auto()
    """Nothing reads what a line makes for the training."""
    LATE = auto()
    """Functions that a loop makes see the last value of its name."""
    ALIASED = auto()
    """An array is changed in place that has a second name, by which it is fed beside itself."""
    UNKNOWN = auto()
    """All words that enter are unknown ones."""
    COUNTED = auto()
    """Class weights grow with how often a label occurs."""
    WRAPPED = auto()
    """A difference of unsigned numbers is never below 0."""
    IDS = auto()
    """Numbers of a table's rows are scaled by a dropout."""
    COARSE = auto()
    """A buffer of integers holds what are no integers."""
    GREEDY = auto()
    """The largest value of all actions is learned, whichever was taken."""
    RETURNED = auto()
    """Messages along edges are collected where they were gathered."""
    UNSHIFTED = auto()
    """The edges of several graphs name the nodes of the first."""
    FOREIGN = auto()
    """One call of a model gets numbers of another table's rows."""
    ANGLES = auto()
    """A target is the difference of two angles, and jumps where one passes the end of its range."""
    UNDROPPED = auto()
    """A model with dropouts is trained as in evaluation: none of them drops."""
    UNPENALISED = auto()
    """The loss leaves the layers' regularizers out."""
    TILED = auto()
    """Samples are tiled where each is to be repeated."""
    STRANGERS = auto()
    """Variables are given the gradients of others."""
    MARGINALS = auto()
    """Each coordinate picks a component of a mixture for itself."""
    HINGE = auto()
    """A hinge gets labels of 0 and 1."""
    UNADDED = auto()
    """The loss leaves out what layers add to it."""
    OVERLAP = auto()
    """An overlap with the targets is made small."""
    REPELLED = auto()
    """A cosine is made small."""
    UNPACKED = auto()
    """Two results of a function are given one another's name."""
    BUNCHED = auto()
    """Batches are shuffled, not rows, and rows come in groups."""
    UNTAPED = auto()
    """A tape is asked for the gradient of what it has not seen."""
    UNPRICED = auto()
    """Weights of a loss's terms are trained, and nothing keeps them above 0."""
    LARGER = auto()
    """The larger of a policy's objective with and without bounds is made large: no bound holds."""
    SPREAD = auto()
    """A code is drawn with another deviation than the one that the loss knows."""
    BLUE = auto()
    """Images are read blue first for a network that knows them red first."""
    MEDIAN = auto()
    """Most targets are one number, and the error asks for their median."""
    WIDENED = auto()
    """The divergence of a code is made large."""
    UNVARIED = auto()
    """A draw gives the same at each step."""
    BELITTLED = auto()
    """A policy makes small what a critic says of its actions."""
    CERTAIN = auto()
    """A policy's entropy is made small."""
    QUANTILE = auto()
    """A quantile loss is of the error with the other sign."""
    AVERSE = auto()
    """What an action gained is multiplied by its log-probability, and made small."""
    UNSTOPPED = auto()
    """A return has a gradient of its own, through the network that is to learn it."""
    TIMED = auto()
    """Predictions for each time meet one target."""
    MASK = auto()
    """An attention sees the padding alone."""
    SOLE = auto()
    """A cross-entropy over classes gets one number of a sample."""
    SAME_BATCH = auto()
    """Each batch of an epoch is the same one."""
    LONE = auto()
    """A single number is normalised by itself."""
    FOCAL = auto()
    """A focal loss weighs the samples most which are right."""
    SWAPPED = auto()
    """A straight-through estimator hands on what was to be replaced, and the gradient to what replaces it."""
    ITSELF = auto()
    """A layer merges a tensor with itself."""
    AHEAD = auto()
    """An attention sees just what comes later."""
    TOWERS = auto()
    """Two networks that share nothing read pairs of one kind."""
    TEMPERED = auto()
    """Of a teacher and a student only one is divided by the temperature."""
    TAUGHT = auto()
    """A teacher is trained to be like its student."""
    OVER_BATCH = auto()
    """The softmax of a loss of classes adds up to 1 over the samples."""
    DIMMED = auto()
    """Images are divided by their range though they are scaled already."""
    IMPROBABLE = auto()
    """A cross-entropy of probabilities gets what a relu or a tanh gives."""
    CUT = auto()
    """A recurrence hands its state on without a gradient."""

    @classmethod
    def of(cls, slip: Mapping[str, Any]) -> SlipKind | None:
        """The kind of an entry of `Setup.broadcasts`, `Setup.reshapes` or `Setup.slips`; None where it is not known."""
        if any(slip.get(name) for name in _NO_SLIPS):
            return None
        by_field = (kind for name, kind in _BY_FIELD.items() if slip.get(name))
        return next(by_field, None) or _BY_TYPE.get(str(slip.get("type")))


def is_single(slip: Mapping[str, Any]) -> bool:
    """Whether a slip is a softmax over an axis of one."""
    return slip.get("type") == SINGLE and "along" not in slip


_NO_SLIPS: Final = frozenset({"handicaps", "margin", "unnegated", "unreduced"})
"""Fields of operations that are told for what they say beside other troubles, of whatever type they are."""
_BY_FIELD: Final = {
    "unasked": SlipKind.CROSSING,
    "output_shape": SlipKind.RESHAPE,
    "unread": SlipKind.UNENDED,
    "attracts": SlipKind.ATTRACTED,
    "undetached": SlipKind.UNDETACHED,
    "cancels": SlipKind.CANCELLED,
    "swapped": SlipKind.SWAPPED,
    "focal": SlipKind.FOCAL,
    "sole": SlipKind.SOLE,
    "batches": SlipKind.SAME_BATCH,
    "lone": SlipKind.LONE,
    "n_kernels": SlipKind.LINEAR,
    "edges": SlipKind.UNSHIFTED,
    "returns": SlipKind.RETURNED,
    "columns": SlipKind.SUMMED,
    "scores": SlipKind.DIVERGING,
    "improbable": SlipKind.IMPROBABLE,
    "cosines": SlipKind.COOLED,
    "left": SlipKind.LEFT,
    "draws": SlipKind.ONE_SIDED,
    "inverse": SlipKind.INVERSE,
    "heads": SlipKind.HEADS,
    "twice": SlipKind.TWICE,
    "masked": SlipKind.LEAST,
    "exchanged": SlipKind.EXCHANGED,
    "unpassed": SlipKind.UNPASSED,
    "covers": SlipKind.FAINT,
    "twins": SlipKind.TWINS,
    "relative": SlipKind.RELATIVE,
    "rounded": SlipKind.ROUNDED,
    "truncates": SlipKind.TRUNCATED,
    "peeks": SlipKind.PEEKING,
    "crosswise": SlipKind.CROSSWISE,
    "by_sample": SlipKind.BY_SAMPLE,
    "contrasts": SlipKind.CONTRAST,
    "conditions": SlipKind.CONDITION,
    "positives": SlipKind.POSITIVES,
    "bounds": SlipKind.BOUNDED,
    "entering": SlipKind.UNSCALED,
    "n_seen": SlipKind.RESTARTED,
    "resized": SlipKind.RESIZED,
    "buffer": SlipKind.COARSE,
    "rescales": SlipKind.RESCALED,
    "dims": SlipKind.DIMMED,
    "over_batch": SlipKind.OVER_BATCH,
    "taught": SlipKind.TAUGHT,
    "tempered": SlipKind.TEMPERED,
    "towers": SlipKind.TOWERS,
    "unconverted": SlipKind.UNCONVERTED,
    "wants": SlipKind.BACKBONE,
    "beyond": SlipKind.BEYOND,
    "seen": SlipKind.SEEN,
    "windowed": SlipKind.WINDOWED,
    "jittered": SlipKind.JITTERED,
    "explores": SlipKind.EXPLORED,
    "grows": SlipKind.GROWN,
    "folds": SlipKind.FOLDS,
    "renumbers": SlipKind.RENUMBERED,
    "resplit": SlipKind.RESPLIT,
    "mixed": SlipKind.MIXED,
    "only": SlipKind.ONLY,
    "noisy": SlipKind.NOISY,
    "brightens": SlipKind.BRIGHTENED,
    "halved": SlipKind.HALVED,
    "rotates": SlipKind.ROTATED,
    "thawed": SlipKind.THAWED,
    "unmasked": SlipKind.UNMASKED,
    "withheld": SlipKind.WITHHELD,
    "uncalled": SlipKind.UNCALLED,
    "setting": SlipKind.UNREAD,
    "severs": SlipKind.SEVERED,
    "tops": SlipKind.TOPPED,
    "frozen": SlipKind.STILL_TRAINED,
    "unused": SlipKind.UNUSED,
    "late": SlipKind.LATE,
    "aliased": SlipKind.ALIASED,
    "favours": SlipKind.COUNTED,
    "wraps": SlipKind.WRAPPED,
    "moved": SlipKind.PARTED,
    "unmatched": SlipKind.PARTED,
    "across": SlipKind.ACROSS,
    "normalises": SlipKind.UNNORMALISED,
    "copies": SlipKind.COPIED,
    "keeps": SlipKind.REPLACED,
    "recopied": SlipKind.REPLACED,
    "lost": SlipKind.LOST,
    "past": SlipKind.PAST,
    "floored": SlipKind.FLOORED,
    "filtered": SlipKind.FILTERED,
    "trimmed": SlipKind.TRIMMED,
    "cached": SlipKind.CACHED,
    "serves": SlipKind.SERVED,
    "negated": SlipKind.NEGATED,
    "rate": SlipKind.EMPTYING,
    "drops": SlipKind.IDS,
    "hinge": SlipKind.HINGE,
    "marginals": SlipKind.MARGINALS,
    "strangers": SlipKind.STRANGERS,
    "tiled": SlipKind.TILED,
    "unpenalised": SlipKind.UNPENALISED,
    "undropped": SlipKind.UNDROPPED,
    "ahead": SlipKind.AHEAD,
    "itself": SlipKind.ITSELF,
    "unstopped": SlipKind.UNSTOPPED,
    "overlaps": SlipKind.OVERLAP,
    "repels": SlipKind.REPELLED,
    "averse": SlipKind.AVERSE,
    "quantile": SlipKind.QUANTILE,
    "unpacked": SlipKind.UNPACKED,
    "untaped": SlipKind.UNTAPED,
    "bunched": SlipKind.BUNCHED,
    "unpriced": SlipKind.UNPRICED,
    "deviates": SlipKind.SPREAD,
    "widens": SlipKind.WIDENED,
    "blue": SlipKind.BLUE,
    "usual": SlipKind.MEDIAN,
    "unvaried": SlipKind.UNVARIED,
    "belittles": SlipKind.BELITTLED,
    "certain": SlipKind.CERTAIN,
    "larger": SlipKind.LARGER,
    "unadded": SlipKind.UNADDED,
    "times": SlipKind.TIMED,
    "foreign": SlipKind.FOREIGN,
    "after": SlipKind.TURNED,
    "stateful": SlipKind.SHUFFLED,
    "greedy": SlipKind.GREEDY,
    "climbs": SlipKind.CLIMBING,
    "unfollowed": SlipKind.UNFOLLOWED,
    "along": SlipKind.MISWEIGHED,
    "turns": SlipKind.WAVES,
    "squares": SlipKind.NORMED,
    "dotted": SlipKind.DOTTED,
    "n_places": SlipKind.UNORDERED,
}
_BY_TYPE: Final = {
    "Layer": SlipKind.MADE,
    "ReverseV2": SlipKind.BACKWARDS,
    "Call": SlipKind.REPEATED,
    "Multinomial": SlipKind.REDRAWN,
    "StatelessMultinomial": SlipKind.REDRAWN,
    "ZerosLike": SlipKind.STRAIGHT,
    "LogSoftmax": SlipKind.DOUBLED,
    "SoftmaxCrossEntropyWithLogits": SlipKind.DOUBLED,
    "SparseSoftmaxCrossEntropyWithLogits": SlipKind.DOUBLED,
    "CTCLoss": SlipKind.DOUBLED,
    "CTCLossV2": SlipKind.DOUBLED,
    "Sub": SlipKind.DOUBLED,
    AUGMENT: SlipKind.APART,
    ANGLES: SlipKind.ANGLES,
    WORDS: SlipKind.UNKNOWN,
    "GatherV2": SlipKind.GATHERED,
    "Normalization": SlipKind.SCALED,
    "ParameterizedTruncatedNormal": SlipKind.UNSHOWN,
    "RandomStandardNormal": SlipKind.UNSHOWN,
    "StatelessRandomNormal": SlipKind.UNSHOWN,
    "StatelessRandomNormalV2": SlipKind.UNSHOWN,
    **dict.fromkeys(sorted(MASKING), SlipKind.MASK),
    "StopGradient": SlipKind.CUT,
}
