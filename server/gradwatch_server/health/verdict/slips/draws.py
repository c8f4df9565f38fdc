"""Words for slips of what draws at random: noise, latent codes, their conditions."""

from __future__ import annotations

import math
from typing import Final

from gradwatch_server.health.episode import Misshaped
from gradwatch_server.health.finding import Hypothesis
from gradwatch_server.health.slip import SlipKind
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.slips.line import Words

__all__ = ["DRAWS"]

PASSED_CODE: Final = """\
return z + tf.stop_gradient(quantized - z)            # after the loss terms of the codes: they need both as they are"""
CONDITION_CODE: Final = """\
fake = generator([noise, labels], training=True)
judged = discriminator([fake, labels], training=True)     # the same labels"""
FAINT_CODE: Final = """\
alpha_bar = np.cumprod(1.0 - betas)                   # the product up to t, not the factor of one step
signal = tf.constant(np.sqrt(alpha_bar), tf.float32)
spread = tf.constant(np.sqrt(1.0 - alpha_bar), tf.float32)
print(float(spread[-1]))                              # must be close to 1; if not, more steps or larger betas"""
UNSHOWN_CODE: Final = """\
noise = tf.random.normal(tf.shape(x))
noisy = tf.sqrt(abar) * x + tf.sqrt(1.0 - abar) * noise        # the same noise
loss = tf.reduce_mean(tf.square(noise - model([noisy, t], training=True)))"""
CANCELLED_CODE: Final = """\
return z + tf.stop_gradient(q - z)            # forward: q; backward: the gradient goes to z unchanged"""
ONE_SIDED_CODE: Final = """\
tf.keras.layers.Dense(2 * latent_dim)                   # mean and log-variance, no activation"""
SPREAD_CODE: Final = """\
z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
kl = -0.5 * tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), axis=1)"""
UNVARIED_CODES: Final = {
    "seed": """\
- noise = tf.random.stateless_normal(tf.shape(x), seed=(1, 2))
+ noise = tf.random.normal(tf.shape(x))
# keras.random.normal: not seed=1, but seed=self.seeds, made once: self.seeds = keras.random.SeedGenerator(1)""",
    "range": """\
t = tf.random.uniform((batch_size,), 0, n_steps, dtype=tf.int32)   # the end is not drawn: 0 to n_steps - 1""",
    "cast": """\
t = tf.random.uniform((batch_size,), 0, n_steps, dtype=tf.int32)   # whole numbers from the start""",
}
WIDENED_CODE: Final = """\
kl = -0.5 * tf.reduce_sum(1 + log_variance - tf.square(mean) - tf.exp(log_variance), axis=-1)
loss = reconstruction + beta * tf.reduce_mean(kl)"""


def _say_unpassed(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"The nearest code replaces the encoder's output, and no gradient gets back past it{place}",
        "A row of a table is picked by `argmin`, which has no gradient, and replaces the encoder's output.",
        Hypothesis(
            f"The straight-through estimator is missing{place}",
            0.9,
            "What comes after the codes sends the encoder no gradient. Only terms that pull it to its codes train it, "
            "and these are smallest where it outputs the same for everything.",
            "Hand on the code's value, but let the gradient pass to the encoder's output.",
            PASSED_CODE,
        ),
    )


def _say_faint(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, most = say_line(lead.slip.get("source")), float(lead.slip["covers"])
    return (
        f"The training never shows pure noise: the factor of the noise never exceeds {most:.2f}{place}",
        (
            f"Where the noise's factor is largest ({most:.2f}), the sample's is still "
            f"{math.sqrt(max(1.0 - most**2, 0.0)):.2f}. At the last step the sample should have vanished in the noise."
        ),
        Hypothesis(
            "The tables of both factors are not made of the cumulative product",
            0.85,
            "Sampling starts from pure noise, which the model has never seen. It was trained on samples that are "
            "hardly changed.",
            "Make both tables of the cumulative product of (1 - beta) up to each step.",
            FAINT_CODE,
        ),
    )


def _say_unshown(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    source, shown = lead.slip.get("source"), lead.slip.get("shown")
    place = say_line(source)
    what = f"`{source['code']}`" if source else "One operation"
    other = f": that one is drawn separately{say_line(shown)}" if shown else ""
    return (
        f"The model must predict noise that was never added to its input{place}",
        (
            f"{what} draws the noise that the model's output is compared with. It is not the noise in the model's "
            f"input{other}."
        ),
        Hypothesis(
            f"The input and the target use two different noise draws{place}",
            0.95,
            "A model cannot guess noise that it has not seen; the best it can do is to answer 0. The loss stops near "
            "the variance of the noise, which is 1 if it is not scaled.",
            "Draw the noise once, and pass it to whatever adds it to the input.",
            UNSHOWN_CODE,
        ),
    )


def _say_cancelled(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    source = lead.slip.get("source")
    place = say_line(source)
    what = f"`{source['code']}`" if source else "One operation"
    is_cut = lead.slip["type"] == "StopGradient"
    return (
        f"A straight-through estimator lets no gradient through{place}",
        (
            f"{what} is inside `stop_gradient` as a whole, the tensor that should get the gradient included."
            if is_cut
            else f"{what} adds a tensor and subtracts it again outside of `stop_gradient`, so its gradient is "
            "1 - 1 = 0."
        ),
        Hypothesis(
            f"{'All of the estimator is inside' if is_cut else 'The subtraction is outside of'} `stop_gradient`{place}",
            0.95,
            "The layers before this line get no gradient from the layers after it. Only other terms of the loss can "
            "train them, if there are any.",
            "Leave the first term outside of `stop_gradient`."
            if is_cut
            else "Move the subtraction inside `stop_gradient`.",
            CANCELLED_CODE,
        ),
    )


def _say_swapped(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"A straight-through estimator sends no gradient to the encoder{place}",
        "What comes out is the encoder's output, not the chosen value, which gets the whole gradient.",
        Hypothesis(
            f"The two terms of the estimator are swapped{place}",
            0.95,
            "The term outside of `stop_gradient` gets the gradient, and the term that is added inside is what comes "
            "out. Both should be the other way round: the chosen value out, the gradient to the encoder.",
            "Swap the two.",
            CANCELLED_CODE,
        ),
    )


def _say_widened(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"The KL divergence of the code has the wrong sign: the loss makes it large{place}",
        "The square of the mean that a code is drawn around, and its variance, both go into the loss with a minus.",
        Hypothesis(
            f"The divergence is subtracted where it should be added{place}",
            0.95,
            "The loss gets lower without end as means and variances grow, so the code leaves the normal distribution "
            "that it should come close to. Usual reason: the factor -0.5 lost its sign.",
            "Add the divergence, which is never below 0.",
            WIDENED_CODE,
        ),
    )


def _say_condition(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    n = " x ".join(map(str, lead.slip["conditions"]))
    made = f"one condition ({n} numbers per sample), such as a label" if n != "1" else "one label each"
    return (
        f"The generator is judged by another condition than it was given{place}",
        (
            f"The generator's samples were made for {made}. In the same step, the network that judges them is given "
            "another tensor of that shape as their condition."
        ),
        Hypothesis(
            f"The discriminator is given the condition of other samples in the generator's step{place}",
            0.88,
            "To the generator, the condition that it gets and the one that it is judged by have nothing to do with "
            "each other. It learns to make samples that are likely on the average, whatever it is asked for.",
            "Give the discriminator the same condition as the generator, wherever it judges a generated sample.",
            CONDITION_CODE,
        ),
    )


def _say_one_sided(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    layer, function = lead.slip.get("layer") or "the encoder", str(lead.slip["type"]).lower()
    what = {"mean": "mean", "log_variance": "log-variance"}.get(lead.slip["draws"], "mean and log-variance")
    can = {"mean": "the mean can't go below 0", "log_variance": "the variance can't go below 1"}.get(
        lead.slip["draws"], "the mean can't go below 0, nor the variance below 1"
    )
    return (
        f"A {function} stops the latent {what} from going below 0",
        (f"The latent sample is mean + exp(log_var / 2) * noise, and {layer} ends in a {function}. So {can}."),
        Hypothesis(
            f"The encoder's last layer has a {function}",
            0.9,
            "The encoder needs means on both sides of 0, and a variance well below 1 where it is sure.",
            f"Remove the activation from {layer}.",
            ONE_SIDED_CODE,
        ),
    )


def _say_spread(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, power = say_line(lead.slip.get("source")), float(lead.slip["deviates"])
    return (
        f"The latent code is drawn with another spread than the KL term assumes{place}",
        (
            "The noise of the code is multiplied by an exponential of what a layer gives, and the KL term contains the "
            f"variance made of the same. The first is the variance to the power of {power / 2:g}, not of 0.5."
        ),
        Hypothesis(
            f"The logarithm of the variance and that of the deviation are mixed up{place}",
            0.93,
            "A log-variance is halved before its exponential is a standard deviation: exp(0.5 * log_var). Without the "
            "half, noise is too large or too small wherever the variance is not 1, and samples from the prior do not "
            "look like what the decoder was trained on.",
            "Use the same quantity in both: half the log-variance in the draw, all of it in the KL term.",
            SPREAD_CODE,
        ),
    )


def _say_unvaried(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, why = say_line(lead.slip.get("source")), lead.slip["unvaried"]
    cause, how, change = {
        "seed": (
            "A stateless random function gets a constant seed",
            "It gives the same numbers for the same seed: each batch gets the very same noise, which can be learned.",
            "Draw with a function, or a seed generator, that has a state.",
        ),
        "range": (
            "Whole numbers are drawn from a range that holds a single one",
            "The end of the range is not drawn: from 0 to 1 that leaves 0 alone.",
            "Give the number of values as the end of the range.",
        ),
        "cast": (
            "A number between 0 and 1 is cut to a whole number",
            "A cast to int cuts off the fraction, so each draw becomes 0.",
            "Draw whole numbers from a range.",
        ),
    }[why]
    return (
        f"The random numbers never change: every step draws the same{place}",
        "In the compiled step this draw, made anew for each batch, has one possible result.",
        Hypothesis(f"{cause}{place}", 0.93, how, change, UNVARIED_CODES[why]),
    )


DRAWS: Final[Words] = {
    SlipKind.WIDENED: _say_widened,
    SlipKind.SPREAD: _say_spread,
    SlipKind.UNVARIED: _say_unvaried,
    SlipKind.UNSHOWN: _say_unshown,
    SlipKind.CANCELLED: _say_cancelled,
    SlipKind.SWAPPED: _say_swapped,
    SlipKind.ONE_SIDED: _say_one_sided,
    SlipKind.UNPASSED: _say_unpassed,
    SlipKind.FAINT: _say_faint,
    SlipKind.CONDITION: _say_condition,
}
"""What each tells: a title, what was seen, and the cause."""
