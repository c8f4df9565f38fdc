"""Words for slips in the step: columns that meet vectors, exchanged axes, inverted masks, cut states, lost order."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from gradwatch_server.health.episode import Misshaped, SlipKind
from gradwatch_server.health.finding import Change, Finding, Hypothesis
from gradwatch_server.health.verdict.advice_stall import advise_crossing, say_crossing
from gradwatch_server.health.verdict.advice_zero import advise_mask, advise_sole
from gradwatch_server.health.verdict.built import BUILT
from gradwatch_server.health.verdict.fed import FED, order_of_axes
from gradwatch_server.health.verdict.leaked import MASK_CODE, advise_views
from gradwatch_server.health.verdict.operation import say_line, say_source
from gradwatch_server.health.verdict.rewrite import say_change, with_added_loss
from gradwatch_server.health.verdict.scene import Scene, tell
from gradwatch_server.health.verdict.spelling import say_number
from gradwatch_server.health.verdict.unused import say_aliased, say_late, say_untaped, say_unused

__all__ = ["advise_improbable", "tell_misshaped"]

TURN_CODE: Final = "x = tf.transpose(x, {axes})                      # permutes the axes"
FOLD_CODE: Final = """\
x = tf.transpose(x, {axes})                       # the axis stands next to the batch's,
x = tf.reshape(x, (-1, *{shape}))                      # and becomes part of it"""
UNFOLD_CODE: Final = """\
x = tf.reshape(x, (-1, {n}, {shape}))                    # out of the batch's, next to it,
x = tf.transpose(x, {axes})                       # and then to its place"""
LAYER_CODE: Final = "tf.keras.layers.Permute({places})                # instead of Reshape({after}); axes count from 1"
MADE_CODE: Final = """\
def __init__(self):
    super().__init__()
    self.hidden = tf.keras.layers.{kind}(...)           # created once, and tracked by the model

def call(self, inputs):
    return self.hidden(inputs)"""
CUT_CODE: Final = """\
output, state = cell(piece, initial_state=state)      # without tf.stop_gradient(state)"""
REPEATED_CODE: Final = """\
heads = [tf.keras.layers.Dense(1, name=f"head_{{number}}") for number in range({n})]   # not [Dense(1)] * {n}
outputs = [head(h) for head in heads]"""
APART_CODE: Final = """\
def augment(image, mask):
    both = tf.concat([image, tf.cast(mask, image.dtype)], axis=-1)      # one draw for both
    both = tf.image.random_flip_left_right(both)
    both = tf.image.random_flip_up_down(both)
    return both[..., :-1], both[..., -1:]                               # for a mask with one channel
# of arrays: whatever is done with x[i] is done with y[i]; x[i], y[i] = x[i][:, ::-1], y[i][:, ::-1]"""
STRAIGHT_CODE: Final = """\
tf.keras.layers.Dense(units, activation="tanh")       # or "swish": both can be differentiated twice"""
SCORES_CODE: Final = """\
scores = tf.keras.layers.Dense(n_classes)(h)          # no softmax: the loss applies it"""
FUNCTIONS: Final = {"LeakyRelu": "leaky relu"}
SHARES_CODE: Final = """\
layers.Dense(1, activation="sigmoid")             # yes or no
layers.Dense(n, activation="softmax")             # one of n classes"""
TOWERS_CODE: Final = """\
network = make_network()                              # once; calling it twice shares its weights
distance = compare(network(first), network(second))"""
TEMPERED_CODE: Final = """\
soft = tf.nn.softmax(teacher(x, training=False) / T)
loss = T**2 * kl(soft, tf.nn.softmax(student(x, training=True) / T))"""
TAUGHT_CODE: Final = """\
teacher.trainable = False                             # before compile
gradients = tape.gradient(loss, student.trainable_variables)      # in a loop of your own"""
OVER_BATCH_CODE: Final = """\
log_probability = tf.nn.log_softmax(scores, axis=-1)  # the axis of the classes"""
ONCE_CODE: Final = """\
layers.Dense(n)                                       # no activation: the sigmoid follows"""
SPLIT_CODE: Final = """\
x = tf.reshape(x, (-1, n_steps, {heads}, depth))           # split the features: the last axis,
x = tf.transpose(x, (0, 2, 1, 3))                     # then move the heads: (batch, {heads}, n_steps, depth)"""
JOIN_CODE: Final = """\
x = tf.transpose(x, (0, 2, 1, 3))                     # (batch, n_steps, {heads}, depth),
x = tf.reshape(x, (-1, n_steps, {heads} * depth))          # then put the features together"""
LEAST_CODE: Final = """\
far = tf.reduce_max(distances) + 1.0
nearest = tf.reduce_min(tf.where(keep > 0, distances, far), axis=1)    # keep: the mask, 0 for what is left out"""
EXCHANGED_CODE: Final = """\
return tf.keras.losses.poisson(y_true, y_pred)        # in every loss of Keras the targets come first"""
PASSED_CODE: Final = """\
return z + tf.stop_gradient(quantized - z)            # after the loss terms of the codes: they need both as they are"""
RELATIVE_CODE: Final = """\
model.compile(optimizer, loss="mae")                  # of counts: loss="poisson", with a positive output
# or relative to a typical size, the same for all samples:
loss = tf.reduce_mean(tf.abs(y - prediction)) / typical_size"""
ROUNDED_CODE: Final = """\
mean = tf.reduce_mean(x, axis=1, keepdims=True)
variance = tf.reduce_mean(tf.square(x - mean), axis=1, keepdims=True)
# or tf.math.reduce_variance(x, axis=1, keepdims=True)"""
TRUNCATED_CODE: Final = """\
measured = table[:, 2:]                            # without the ids, here columns 0 and 1
table[:, 2:] = (measured - measured.mean(axis=0)) / measured.std(axis=0)"""
CROSSWISE_CODE: Final = """\
layers.Softmax(axis=-1)                               # the axis of the classes; or tf.nn.softmax(scores, axis=-1)"""
BY_SAMPLE_CODE: Final = """\
x + table[None, : tf.shape(x)[1]]                     # table: [longest, width], x: [batch, {n}, width]
# or x + embedding(tf.range(tf.shape(x)[1]))"""
CONTRAST_LABELS_CODE: Final = """\
# same: 1 where both are of one kind, 0 where they are not
loss = tf.reduce_mean(same * distance**2 + (1 - same) * tf.maximum(margin - distance, 0.0) ** 2)"""
CONTRAST_ROLES_CODE: Final = """\
loss = tf.reduce_mean(tf.maximum(to_positive - to_negative + margin, 0.0))"""
CONDITION_CODE: Final = """\
fake = generator([noise, labels], training=True)
judged = discriminator([fake, labels], training=True)     # the same labels"""
POSITIVES_CODE: Final = """\
z = tf.concat([z1, z2], axis=0)                                # all of the first view, then all of the second
n = tf.shape(z1)[0]
target = tf.concat([tf.range(n) + n, tf.range(n)], axis=0)     # row i belongs to row i + n, and back"""
BOUNDED_CODE: Final = """\
huber = tf.keras.losses.Huber(delta={bound})
loss = huber(wanted[:, None], predicted[:, None])     # both of shape (batch, 1)"""
FAINT_CODE: Final = """\
alpha_bar = np.cumprod(1.0 - betas)                   # the product up to t, not the factor of one step
signal = tf.constant(np.sqrt(alpha_bar), tf.float32)
spread = tf.constant(np.sqrt(1.0 - alpha_bar), tf.float32)
print(float(spread[-1]))                              # must be close to 1; if not, more steps or larger betas"""
RATE_CODE: Final = """\
log_rate = tf.keras.layers.Dense(1)(h)                # no activation: the loss takes the exponential
loss = tf.reduce_mean(tf.nn.log_poisson_loss(counts, log_rate))
rate = tf.exp(log_rate)                               # for predictions"""
GATHERED_CODE: Final = """\
taken = tf.gather(values, places, axis=1, batch_dims=1)        # [n]: each sample's own"""
UNSHOWN_CODE: Final = """\
noise = tf.random.normal(tf.shape(x))
noisy = tf.sqrt(abar) * x + tf.sqrt(1.0 - abar) * noise        # the same noise
loss = tf.reduce_mean(tf.square(noise - model([noisy, t], training=True)))"""
ATTRACTED_CODE: Final = """\
def distance(p, z):
    z = tf.stop_gradient(z)                               # z: the encoder's output for the other view
    p, z = tf.math.l2_normalize(p, axis=-1), tf.math.l2_normalize(z, axis=-1)
    return -tf.reduce_mean(tf.reduce_sum(p * z, axis=-1))"""
UNDETACHED_CODE: Final = """\
advantage = returns - value
policy_loss = -tf.reduce_mean(log_prob * tf.stop_gradient(advantage))
value_loss = tf.reduce_mean(tf.square(advantage))"""
CANCELLED_CODE: Final = """\
return z + tf.stop_gradient(q - z)            # forward: q; backward: the gradient goes to z unchanged"""
FOCAL_CODE: Final = """\
loss = -tf.reduce_mean(y * (1.0 - p) ** gamma * tf.math.log(p) + (1.0 - y) * p**gamma * tf.math.log(1.0 - p))
# or tf.keras.losses.BinaryFocalCrossentropy(gamma=gamma)"""
LINEAR_CODE: Final = """\
h = tf.keras.layers.Dense(units, activation="relu")(h)
# Or behind a normalisation:
h = tf.keras.layers.Conv2D(filters, 3, padding="same", use_bias=False)(h)
h = tf.keras.layers.BatchNormalization()(h)
h = tf.keras.layers.ReLU()(h)"""
BATCH_CODE: Final = """\
rng = np.random.default_rng((self.seed, self.epoch, index))     # in `__getitem__`: another one for each batch
# or, of arrays:
rows = slice(index * batch_size, (index + 1) * batch_size)"""
LONE_LENGTH_CODE: Final = """\
model.compile(optimizer, loss="mse")        # a cosine compares directions of vectors, not single numbers"""
LONE_MEAN_CODE: Final = """\
x = tf.keras.layers.Dense(16)(x)            # several features first
x = tf.keras.layers.LayerNormalization()(x)"""
NORMED_CODE: Final = """\
tf.math.l2_normalize(x, axis=-1)            # or tf.norm(x, axis=-1, keepdims=True)"""
DOTTED_CODE: Final = """\
tf.reduce_sum(a * b, axis=-1, keepdims=True)        # a, b: [n, k]; gives [n, 1]"""
SUMMED_CODE: Final = """\
dy_dt = tape.batch_jacobian(y, t)[..., 0]       # y: [n, k], t: [n, 1]; gives [n, k]"""
DIVERGING_CODE: Final = """\
kl_divergence(tf.nn.softmax(teacher_logits), tf.nn.softmax(student_logits))     # a temperature divides the logits"""
SOFTMAX_CODE: Final = """\
tf.keras.layers.Dense(n_classes, activation="softmax")         # the shares of a sample add up to 1"""
FUNCTIONS_OF_EACH: Final = frozenset({"Exp", "Relu", "Sigmoid", "Softplus"})
"""Functions that a last layer takes of each score by itself."""
COOLED_CODE: Final = """\
logits = tf.matmul(a, b, transpose_b=True) / temperature       # a, b: unit length; temperature: 0.05 to 0.5"""
NEGATED_CODE: Final = """\
distance = 1.0 + keras.losses.cosine_similarity(a, b)          # 0: the same direction, 2: opposite"""
EMPTYING_CODE: Final = """\
h = tf.nn.dropout(h, rate={rate})          # the share that is dropped"""
LEFT_CODE: Final = """\
order = tf.argsort(time, direction="DESCENDING")       # latest first: earlier rows are still at risk
# or keep the order and sum from the end (not both):
log_risk_set = tf.math.cumulative_logsumexp(risk_in_order, reverse=True)"""
ONE_SIDED_CODE: Final = """\
tf.keras.layers.Dense(2 * latent_dim)                   # mean and log-variance, no activation"""
INVERSE_CODE: Final = """\
ratio = tf.exp(new_log_prob - old_log_prob)"""
LARGER_CODE: Final = """\
- loss = -tf.reduce_mean(tf.maximum(ratio * advantage, clipped_ratio * advantage))
+ loss = -tf.reduce_mean(tf.minimum(ratio * advantage, clipped_ratio * advantage))"""
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
BELITTLED_CODE: Final = """\
actor_loss = -tf.reduce_mean(critic([states, actor(states, training=True)]))"""
CERTAIN_CODE: Final = """\
entropy = -tf.reduce_sum(p * tf.math.log(p + 1e-8), axis=-1)
loss = policy_loss - 0.01 * tf.reduce_mean(entropy)"""
CLIMBING_CODE: Final = """\
loss = -tf.reduce_mean(tf.minimum(ratio * advantage, clipped_ratio * advantage))"""
UNFOLLOWED_CODE: Final = """\
targets = rewards + gamma * (1 - done) * tf.reduce_max(target_net(next_states), axis=1)"""
GREEDY_CODE: Final = """\
q_taken = tf.gather(q(states), actions, axis=1, batch_dims=1)
loss = tf.reduce_mean(tf.square(targets - q_taken))"""
RETURNED_CODE: Final = """\
messages = tf.gather(h, source)
received = tf.math.unsorted_segment_sum(messages, target, num_segments=n_nodes)"""
WAVES_CODE: Final = """\
bound = np.sqrt(6 / fan_in) / {turns}   # hidden sine layers; the first: 1 / fan_in
initializer = keras.initializers.RandomUniform(-bound, bound)"""
UNORDERED_CODE: Final = """\
class AddPositions(keras.layers.Layer):
    def build(self, shape):                      # [batch, {n}, width]
        self.table = self.add_weight(shape=(1, *shape[1:]), initializer="uniform", name="table")

    def call(self, embedded):
        return embedded + self.table

# h: the output of the token embedding
h = AddPositions()(h)"""
MISWEIGHED_CODE: Final = """\
weights = tf.nn.softmax(scores, axis=-1)    # scores: [..., queries, keys]"""
MISWEIGHED_BATCH_CODE: Final = """\
weights = tf.nn.softmax(scores, axis=1)     # scores: [batch, time, ...]"""
OFFSET_CODE: Final = """\
offsets = np.cumsum(sizes) - sizes                    # the nodes before each graph, not up to its end"""
MARGINALS_CODE: Final = """\
joint = tf.reduce_sum(log_density, axis=-1)           # [n, k, d] -> [n, k]: a component's density of the whole point
loss = -tf.reduce_logsumexp(log_weight + joint, axis=1)"""
UNPENALISED_CODE: Final = """\
loss += tf.add_n(model.losses)                        # after the forward pass, within the tape"""
REPLACED_CODE: Final = """\
tau = {taken:.3g}                                     # what the copy takes over; it keeps the rest
for slow, fast in zip(target.weights, model.weights):
    slow.assign(tau * fast + (1.0 - tau) * slow)"""
COPIED_CODE: Final = """\
if step % 500 == 0:
    target.set_weights(model.get_weights())"""
LOST_CODE: Final = """\
for slow, fast in zip({name}.variables, model.variables):
    slow.assign_add(tau * (fast - slow))"""
UNPRICED_CODE: Final = """\
# s: a trained variable for each term, from 0 on (Kendall, Gal and Cipolla, 2018)
loss = tf.reduce_sum(tf.exp(-s) * errors + s)"""
PAST_CODE: Final = """\
returns, total = [], 0.0
for reward in reversed(rewards):              # from the last reward to the first
    total = reward + gamma * total
    returns.append(total)
returns.reverse()                             # in the order of the steps again"""
UNDROPPED_CODE: Final = """\
with tf.GradientTape() as tape:
    prediction = model(x, training=True)              # in the training step; evaluation stays as it is"""
UNTOLD_CODE: Final = """\
def call(self, x, training=False):                    # not call(self, x): `fit` passes nothing to that
    return self.out(self.dropout(self.hidden(x), training=training))"""
ACROSS_CODE: Final = """\
tf.keras.layers.BatchNormalization()                  # axis=-1: one mean and one deviation for each channel"""
OVERLAP_CODE: Final = """\
return 1.0 - dice                                     # or -dice; of an IoU: 1.0 - iou"""
REPELLED_CODE: Final = """\
loss = keras.losses.CosineSimilarity()(a, b)          # no minus: -1 for the same direction
loss = -tf.reduce_mean(cosine)                        # of a cosine of your own"""
QUANTILE_CODE: Final = """\
e = y_true - y_pred
loss = tf.reduce_mean(tf.maximum(q * e, (q - 1) * e))"""
AVERSE_CODE: Final = """\
loss = -tf.reduce_mean(log_prob * {gain})      # or: the cross-entropy of the actions, times {gain}"""
UNSTOPPED_CODE: Final = """\
best = tf.reduce_max(target_network(next_state), axis=1)       # a slow copy of the network
target = tf.stop_gradient(reward + discount * (1.0 - done) * best)"""
TIMED_CODE: Final = """\
h = layers.LSTM(units)(h)                             # the last one without return_sequences=True
# or: h = layers.GlobalAveragePooling1D()(h)
output = layers.Dense(1)(h)                           # [n, 1]"""
ITSELF_CODE: Final = """\
  shortcut = x
  x = block(x)                                          # the layers that the shortcut goes around
- x = tf.keras.layers.{kind}([x, x])
+ x = tf.keras.layers.{kind}([x, shortcut])"""
AHEAD_CODE: Final = """\
seen = tf.linalg.band_part(tf.ones((n_steps, n_steps)), -1, 0)     # 1: may be seen. Not 1 - seen
x = attention(x, x, attention_mask=seen[None])        # or: attention(x, x, use_causal_mask=True)
scores += (1.0 - seen) * -1e9                         # for scores of your own"""
TILED_CODE: Final = """\
repeated = tf.repeat(per_sample, {n}, axis=0)         # each sample beside its own items"""
STRANGERS_CODE: Final = """\
first_gradients, second_gradients = tape.gradient(loss, [first_variables, second_variables])   # in this order"""
HINGE_CODE: Final = """\
y = 2.0 * y - 1.0                                     # 0, 1 -> -1, 1: before your line, which stays as it is"""
UNSHIFTED_CODE: Final = """\
offset = 0
for graph in graphs:
    edges.append(graph.edges + offset)                # all node numbers: both ends of each edge
    offset += len(graph.nodes)"""
REDRAWN_CODE: Final = """\
# actions: those that were taken, stored with their results
log_prob = tf.gather(tf.nn.log_softmax(logits), actions, batch_dims=1)
loss = -tf.reduce_mean(log_prob * advantages)"""
UNENDED_CODE: Final = """\
# {name}: 1 where this step ended the episode, else 0
target = reward + gamma * (1.0 - tf.cast({name}, tf.float32)) * value_of_next"""
WIDENED_CODE: Final = """\
kl = -0.5 * tf.reduce_sum(1 + log_variance - tf.square(mean) - tf.exp(log_variance), axis=-1)
loss = reconstruction + beta * tf.reduce_mean(kl)"""
UNREAD_END_CODE: Final = """\
# {name}: 1 where this step ended the episode, else 0
target = reward + gamma * (1.0 - {name}) * value_of_next"""
BACKWARDS_CODE: Final = """\
# Bidirectional reverses the backward output again and joins both (GRU: your own layer):
h = tf.keras.layers.Bidirectional(tf.keras.layers.GRU(units, return_sequences=True))(h)
# Or by hand, before the two are joined; time is the second axis:
backward = tf.keras.ops.flip(backward, axis=1)"""


def tell_misshaped(lead: Misshaped, scene: Scene) -> Finding:
    """The finding of one slip."""
    title, text, hypothesis = _WORDS[lead.what](lead)
    return tell(
        lead,
        scene,
        title=title,
        layer=lead.slip.get("layer") or None,
        source=dict(lead.slip["source"]) if lead.slip.get("source") else None,
        evidence=scene.evidence(text),
        hypotheses=[hypothesis],
        subject=str(lead.slip["name"]),
    )


def _say_crossing(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    source = lead.slip["source"]
    column, vector, table = say_crossing(lead.slip)
    if lead.slip.get("square"):
        return (
            f"Two tables of pairs meet with one axis too many on the way to the loss{say_line(source)}",
            (
                f"In the compiled step, `{source['code']}` combines a tensor of shape {column} with one of shape "
                f"{vector}. The result has shape {table}: each pair meets other pairs."
            ),
            advise_crossing(lead.slip),
        )
    return (
        f"A column and a vector make a table of all pairs on the way to the loss{say_line(source)}",
        (
            f"In the compiled step, `{source['code']}` combines a tensor of shape {column}, such as a layer's output, "
            f"with one of shape {vector}, such as targets. The result has shape {table}. Nothing in the step asks for "
            "a comparison of all pairs."
        ),
        advise_crossing(lead.slip),
    )


def _say_mask(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    source = lead.slip.get("source")
    place = say_line(source)
    code = f"`{source['code']}`" if source else "A comparison with 0"
    return (
        f"The attention sees the padding alone: its mask is inverted{place}",
        (
            f"{code} is true where a value is 0, as padding is. The attention's softmax gets only the scores of these "
            "positions; all others are ignored."
            if lead.slip["type"] == "Equal"
            else f"{code} is true where a value is not 0. Exactly these positions are hidden from the attention's "
            "softmax. Only positions that are 0, as padding is, are left."
        ),
        advise_mask(lead.slip),
    )


def _say_reshape(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    before, after = lead.slip["input_shape"], lead.slip["output_shape"]
    is_layer = not lead.slip.get("source")
    place = say_line(lead.slip.get("source"))
    by = "A Reshape layer" if is_layer else f"A reshape{place}"
    if len(before) != len(after):
        return _say_fold(before, after, by, place)
    return (
        f"{by} makes {_say(after)} of {_say(before)}: that exchanges no axes",
        (
            f"{by} turns {_say(before)} into {_say(after)}: the same lengths in another order. A reshape reads the "
            "numbers row by row and splits them into new rows; it does not transpose."
        ),
        Hypothesis(
            f"A reshape where axes should change places{place}",
            0.9,
            f"An axis of {_say(after)} mixes two axes of {_say(before)}: it separates numbers of the same time, place "
            "or channel.",
            "Transpose instead, unless the numbers are meant to be regrouped.",
            (LAYER_CODE if is_layer else TURN_CODE).format(
                axes=order_of_axes(before, after), places=order_of_axes(before, after)[1:], after=tuple(after[1:])
            ),
        ),
    )


def _say_fold(before: Sequence[int], after: Sequence[int], by: str, place: str) -> tuple[str, str, Hypothesis]:
    """Of an axis that becomes part of the batch's, or comes out of it, across another one."""
    is_in = len(before) > len(after)
    few, many = sorted((before[1:], after[1:]), key=len)
    moved = next(place for place in range(len(many)) if [*many[:place], *many[place + 1 :]] == [*few])
    front = [0, moved + 1, *(axis for axis in range(1, len(many) + 1) if axis != moved + 1)]
    back = [front.index(axis) for axis in range(len(front))]
    way = "into the batch's" if is_in else "out of the batch's"
    return (
        f"{by} makes {_say(after)} of {_say(before)}: that mixes axes",
        (
            f"{by} takes the axis of {many[moved]} {way}, past the axis of {many[0]} in front of it. A reshape keeps "
            "the numbers in their order and moves none of them, so these two axes are mixed."
        ),
        Hypothesis(
            f"A transpose is missing {'before' if is_in else 'after'} the reshape{place}",
            0.92,
            f"Each row of the result holds numbers of different entries of the axis of {many[moved]}, as if they were "
            f"one series along the axis of {many[0]}.",
            f"Move the axis of {many[moved]} next to the batch's {'first' if is_in else 'last'}, with a transpose.",
            FOLD_CODE.format(axes=tuple(front), shape=tuple(few))
            if is_in
            else UNFOLD_CODE.format(axes=tuple(back), n=many[moved], shape=", ".join(map(str, few))),
        ),
    )


def _say_made(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    kind, name = lead.slip["class"], lead.slip["name"]
    place = say_line(lead.slip.get("source"))
    return (
        f"Every call of the model creates a new {kind} layer, which never learns{place}",
        (
            f"{name} was first called inside the model, in the first step. After that step it is not part of the "
            "model: no attribute of the model holds it, and no optimizer is given its weights."
        ),
        Hypothesis(
            f"A {kind} layer is made where the model is called{place}",
            0.95,
            "Each call creates new random weights, uses them once and drops them. The rest of the model learns to fit "
            "weights that are gone at the next step.",
            "Create the layer once, in `__init__`, and call it in `call`.",
            MADE_CODE.format(kind=kind),
        ),
    )


def _say_cut(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    source, layer = lead.slip["source"], lead.slip["layer"]
    return (
        f"The gradient of a recurrence is cut at each call{say_line(source)}",
        (
            f"`{source['code']}` lies between calls of {layer} in one step: the output of {layer} goes to its next "
            "call without a gradient."
        ),
        Hypothesis(
            f"A stop_gradient on the state of {layer}{say_line(source)}",
            0.9,
            "The loss trains only the last call: nothing that must be remembered from an earlier call gets a gradient.",
            "Keep the gradient of the state within a step. Cut it only for states that are carried from one step to "
            "the next.",
            CUT_CODE,
        ),
    )


def _say_repeated(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    layer, n = lead.slip["layer"], int(lead.slip["n"])
    return (
        f"{layer} is called {n} times on the same tensor: these outputs are all the same",
        (
            f"In the compiled step, the {n} calls of {layer} use the same tensor and the same weights. Their outputs "
            "are the same, whatever the target of each is."
        ),
        Hypothesis(
            f"The same layer, {layer}, is used in {n} places",
            0.95,
            "A multiplied list, `[layer] * n`, holds one layer n times. Using a name again does the same. One set of "
            "weights can give only one answer, which ends up between the targets.",
            "Create one layer per output.",
            REPEATED_CODE.format(n=n),
        ),
    )


def _say_apart(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    source, layer = lead.slip["source"], lead.slip["layer"]
    place = say_source(source)
    how = (
        "Images and masks are turned each by a draw of its own"
        if lead.slip["n"] > 1
        else "Images are turned, and their masks stay as they are"
    )
    whose = "what the model is given" if layer else "one of the two that are fed as a pair"
    return (
        f"{how} ({place})",
        (
            f"`{source['code']}` changes the positions in {whose}. The targets have one number per position of the "
            "input, so they must be moved with it."
        ),
        Hypothesis(
            f"Images and masks do not lie upon one another ({place})",
            0.9,
            "Two separate random flips agree in half of the samples, two of each in a quarter. The same holds where "
            "only the image is flipped, or only its copy. In all other samples the mask describes other positions.",
            ("Take it out of the model, and transform both" if layer else "Transform both")
            + " by the same draw: concatenate them, transform the result, and split it again.",
            APART_CODE,
        ),
    )


def _say_gathered(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    source = lead.slip["source"]
    place = say_source(source)
    return (
        f"A gather takes the columns of all samples from each: [n, n] meets [n] on the way to the loss ({place})",
        (
            f"`{source['code']}` returns a table: row i holds the values of sample i in the columns of all samples. It "
            "is combined with one number per sample, and the loss is a mean over all pairs."
        ),
        Hypothesis(
            f"`batch_dims` is missing in a gather ({place})",
            0.9,
            "Each sample is also compared with the targets of all others. The best fit is then the same for all: the "
            "mean of the targets.",
            "Take only each sample's own column.",
            GATHERED_CODE,
        ),
    )


def _say_redrawn(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    source = lead.slip.get("source")
    place = say_line(source)
    what = f"`{source['code']}`" if source else "An operation"
    return (
        f"The step draws actions anew, and learns from what came of others{place}",
        (
            f"{what} draws from the model's output inside the training step. The log-probability of this draw is "
            "multiplied by numbers that were passed to the step. Nothing else in the step makes them depend on the "
            "draw."
        ),
        Hypothesis(
            f"What is rewarded is not the action that was taken{place}",
            0.9,
            "The reward or advantage says how good the action was that was taken before. The step uses the "
            "log-probability of another, newly drawn action. On average this gradient carries no information.",
            "Pass the actions that were taken to the step, and use their log-probability.",
            REDRAWN_CODE,
        ),
    )


def _say_unended(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    source, unread = lead.slip.get("source"), [f"`{name}`" for name in lead.slip["unread"]]
    place = say_line(source)
    what = f"`{source['code']}`" if source else "An operation"
    is_line = lead.slip["type"] == "Line"
    reader, seen = ("target", "No line there reads") if is_line else ("step", "Nothing in the step reads its input")
    return (
        f"What comes after an episode's end is counted on{place}: the {reader} does not read {', '.join(unread)}",
        (
            f"{what} adds a discounted value of what is next to {'the reward' if is_line else 'an input of the step'}"
            f", for every sample alike. {seen} {', '.join(unread)}."
        ),
        Hypothesis(
            f"The target goes on beyond the end of an episode{place}",
            0.85,
            "Where an episode has ended there is no next state, and the future reward is 0. If it is counted anyway, "
            "an end costs nothing: what leads to it is worth as much as what does not. The loss falls as usual.",
            "Multiply the value of the next state by 0 where the episode ended (not where it was only truncated).",
            (UNREAD_END_CODE if is_line else UNENDED_CODE).format(name=lead.slip["unread"][0]),
        ),
    )


def _say_straight(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, function = say_line(lead.slip.get("source")), str(lead.slip["function"]).lower()
    return (
        f"The loss asks for the second derivative of a network of {function}s, which is 0 everywhere{place}",
        (
            "In the compiled step, a derivative is differentiated again on the way to the loss. No function there is "
            f"curved: the only activation functions are {function}s."
        ),
        Hypothesis(
            f"A {function} has no second derivative",
            0.95,
            f"A {function} is piecewise linear. Its slope is constant on each piece, so the second derivative of "
            "anything built from it is exactly 0. Any weights meet what the loss demands of this derivative, however "
            "low the loss gets.",
            "Use an activation function that can be differentiated twice.",
            STRAIGHT_CODE,
        ),
    )


def _say_doubled(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, function = say_line(lead.slip.get("source")), str(lead.slip["function"]).lower()
    if function == "softmax":
        return (
            f"The loss takes the softmax of what is one already{place}",
            "In the compiled step, the output of a softmax goes into an operation that takes the softmax of its input.",
            Hypothesis(
                f"A softmax is applied twice{place}",
                0.95,
                "The loss expects logits of any size. Probabilities lie between 0 and 1, and the softmax of such "
                "numbers is nearly uniform: no class can become likely, and the gradient is small.",
                "Remove the softmax from the last layer, and apply it when you predict.",
                SCORES_CODE,
            ),
        )
    return (
        f"The loss expects the logarithm of a rate, and is given the rate{place}",
        (
            "In the compiled step, the loss is exp(s) - s * targets: that of a Poisson distribution with rate exp(s). "
            f"Here s is the output of a {function}, which makes a number positive."
        ),
        Hypothesis(
            f"The Poisson loss is given a rate in place of its logarithm{place}",
            0.95,
            f"The number is made positive twice: by the {function}, and by the exponential in the loss. The model "
            "outputs the logarithm of the rate that it has learned, so every prediction is far too small.",
            "Let the last layer output the logarithm, without an activation function. Take the exponential when you "
            "predict.",
            RATE_CODE,
        ),
    )


def _say_twice(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, first = say_line(lead.slip.get("source")), str(lead.slip["twice"]).lower()
    of_layer = f" of {lead.slip['of']}" if lead.slip.get("of") else ""
    return (
        f"The output of a {first} goes through a sigmoid{place}",
        f"The {first}{of_layer} gives numbers from 0 to 1. The sigmoid of such a number lies between 0.5 and 0.73.",
        Hypothesis(
            f"An activation function is applied twice, so outputs stay between 0.5 and 0.73{place}",
            0.95,
            "No other value can be reached, whatever the model learns.",
            f"Remove one of the two: the {first}{of_layer}, or the sigmoid after it.",
            ONCE_CODE,
        ),
    )


def _say_improbable(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, layer, name = say_line(lead.slip.get("source")), str(lead.slip["layer"]), _function_of(lead.slip)
    of_layer = f" of {layer}" if layer else ""
    reach = "above 1" if name == "relu" else "below 0" if name == "tanh" else "below 0 and above 1"
    return (
        f"The loss takes the output of a {name} for probabilities{place}",
        f"The {name}{of_layer} also gives numbers {reach}. The loss clips them to 0 and 1, and takes logarithms.",
        advise_improbable(lead.slip),
    )


def _function_of(slip: Mapping[str, Any]) -> str:
    return FUNCTIONS.get(str(slip["improbable"]), str(slip["improbable"]).lower())


def advise_improbable(slip: Mapping[str, Any], *, is_broken: bool = False) -> Hypothesis:
    """A function whose output a cross-entropy takes for probabilities; ``is_broken``: which is NaN of it."""
    name = _function_of(slip)
    return Hypothesis(
        f"The last layer ends in a {name} where the loss expects a sigmoid or a softmax{say_line(slip.get('source'))}",
        0.95,
        f"The loss divides what the {name} gives for all classes by its sum. Where all are 0, that is 0 / 0."
        if is_broken
        else "What is clipped has no gradient: a sample whose output lies at or beyond 0 or 1 teaches nothing, however "
        "wrong it is.",
        f"Put a sigmoid in place of the {name}, or a softmax for several classes of which one is right. Or use no "
        "activation, with from_logits=True in the loss.",
        SHARES_CODE,
    )


def _say_towers(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, share = say_line(lead.slip.get("source")), f"{lead.slip['towers']:.0%}"
    return (
        f"The two sides of the pairs go through networks that share no weights{place}",
        (
            "The networks have kernels of the same shapes, both are trained, and the distance is between their "
            f"outputs. {share} of the rows of one input are rows of the other as well."
        ),
        Hypothesis(
            f"The network is made twice, once for each input, where one is to be called twice{place}",
            0.9,
            "Both inputs hold samples of the same kind, but two networks map them, each in its own way. So a sample "
            "has a distance from itself, which both must learn away, and each learns from half of the data.",
            "Make the network once, and call it on both inputs.",
            TOWERS_CODE,
        ),
    )


def _say_tempered(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, whose = say_line(lead.slip.get("source")), str(lead.slip["whose"])
    number, other = say_number(float(lead.slip["tempered"])), "teacher" if whose == "student" else "student"
    size = "large" if whose == "student" else "small"
    becomes = "too sure of itself" if whose == "student" else "less sure than the teacher"
    return (
        f"Only the {whose} is divided by the temperature of {number}, not the {other}{place}",
        (
            f"The scores of the {whose} are divided by {number} before their softmax, those of the {other} are not. "
            "The loss compares the two."
        ),
        Hypothesis(
            f"The temperature is missing in the softmax of the {other}{place}",
            0.9,
            f"The student can match only with scores that are {number} times as {size} as the teacher's. Used "
            f"without a temperature, it is {becomes}; a loss of hard labels beside it pulls the other way.",
            f"Divide the scores of the {other} by {number} too.",
            TEMPERED_CODE,
        ),
    )


def _say_taught(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, teacher, student = (say_line(lead.slip.get("source")), *(lead.slip[key] for key in ("layer", "taught")))
    named, other = (f" ({layer})" if layer else "" for layer in (teacher, student))
    return (
        f"The teacher{named} is trained as well, to be like its student{place}",
        (
            f"The loss compares two networks, and asks labels only of one{other}. The weights of the other{named} are "
            "given to the optimizer too, and get their gradient from that comparison alone."
        ),
        Hypothesis(
            f"The weights of the teacher are among those that are trained{place}",
            0.9,
            "The two can also agree by the teacher becoming as the student is: it forgets what it knew. A model that "
            "holds its teacher as an attribute has the teacher's weights among its `trainable_variables`.",
            "Set `teacher.trainable = False` before `compile`, or give the optimizer only the student's variables.",
            TAUGHT_CODE,
        ),
    )


def _say_over_batch(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, n = say_line(lead.slip.get("source")), int(lead.slip["over_batch"])
    return (
        f"The softmax of the loss runs over the batch, not over the {n:,} classes{place}",
        (
            f"The scores have the shape (batch, {n:,}). The softmax adds up to 1 along their first axis, and labels "
            "pick from its logarithm."
        ),
        Hypothesis(
            f"The probabilities of a sample do not add up to 1: those of a class do, over the batch{place}",
            0.95,
            "Samples compete for each class, and classes do not compete for a sample. What a sample's probabilities "
            "are depends on which others are in its batch.",
            "Leave `axis` out of the softmax, or set it to -1.",
            OVER_BATCH_CODE,
        ),
    )


def _say_heads(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, n_heads = say_line(lead.slip.get("source")), lead.slip["heads"]
    is_split = bool(lead.slip["splits"])
    done = "split into heads" if is_split else "put together from heads"
    return (
        f"The features are {done} by a reshape without a transpose{place}",
        (
            f"A reshape {'puts an axis of' if is_split else 'removes the axis of'} {n_heads} heads before the axis of "
            "the steps. It keeps the numbers in their order, and moves none of them."
        ),
        Hypothesis(
            f"The {n_heads} heads hold slices of the sequence, not slices of the features{place}",
            0.95,
            "Each head gets all features of a few steps, cut into pieces and counted as steps of their own."
            if is_split
            else "Each step's vector is put together from outputs of one head at several steps.",
            "Split the last axis alone, then move the axis of heads with a transpose."
            if is_split
            else "Transpose first, then put the last two axes together.",
            (SPLIT_CODE if is_split else JOIN_CODE).format(heads=n_heads),
        ),
    )


def _say_least(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"A minimum includes entries that a mask has set to 0, so it is always 0{place}",
        "A mask sets some entries to 0. The others are 0 or more, so the minimum of all is one of the masked ones.",
        Hypothesis(
            f"The masked entries win the minimum{place}",
            0.95,
            "The result is 0 whatever the network outputs, and no gradient comes back through it. In a triplet loss, "
            "no negative sample is pushed away.",
            "Set masked entries to a large number, not to 0, before the minimum.",
            LEAST_CODE,
        ),
    )


def _say_exchanged(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"The loss gets targets and predictions in the wrong order{place}",
        "The loss takes the logarithm of the targets and multiplies it by the model's output.",
        Hypothesis(
            f"The arguments of the loss are exchanged{place}",
            0.95,
            "Losses of Keras take the targets first and the predictions second, and the logarithm of the predictions. "
            "With the two exchanged, the model's output is only a factor: the loss falls without a limit, or is best "
            "at a useless answer.",
            "Exchange the two arguments.",
            EXCHANGED_CODE,
        ),
    )


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


def _say_backwards(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    who = lead.slip["layer"] or f"A layer{say_line(lead.slip.get('source'))}"
    return (
        f"{who} reads the sequence backwards, and is joined step by step with a sequence in the usual order",
        (
            f"In the compiled step, {who} reads the sequence from its end, and its output begins with the last step. "
            "Nothing reverses this output before it is joined with a sequence in the usual order."
        ),
        Hypothesis(
            "A sequence that was read backwards is not turned round again",
            0.9,
            "What was read from the end up to a step belongs to that step, but is at the opposite end. Only in the "
            "middle do both halves describe the same step.",
            "Wrap the layer in `Bidirectional`, or reverse its output along the time axis before the two are joined.",
            BACKWARDS_CODE,
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


def _say_attracted(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    source = lead.slip.get("source")
    place = say_line(source)
    what = f"`{source['code']}`" if source else "The loss"
    return (
        f"The loss only pulls two outputs of one network together, and the gradient flows through both{place}",
        (
            f"{what} compares two outputs of the same network, and the gradient reaches the network through both. "
            "There is no other term in the loss."
        ),
        Hypothesis(
            f"The outputs collapse: nothing in the loss holds different samples apart{place}",
            0.95,
            "The easiest way to make two views of a sample agree is to give the same output for every input. With the "
            "gradient flowing through both, the network does that: the loss reaches its lowest value, and the output "
            "says nothing about the input.",
            "Let the gradient flow through only one of the two: wrap the other in `tf.stop_gradient` (in SimSiam the "
            "encoder's output, not the predictor's). Or add a term that keeps the outputs apart: a contrast with other "
            "samples, or a variance term.",
            ATTRACTED_CODE,
        ),
    )


def _say_undetached(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    source = lead.slip.get("source")
    place = say_line(source)
    what = f"`{source['code']}`" if source else "The loss"
    return (
        f"The policy loss also trains the value: the advantage is not wrapped in `tf.stop_gradient`{place}",
        (
            f"{what} multiplies a log-probability by a target minus the predicted value. There is no `stop_gradient` "
            "on that difference here, and the same difference is squared elsewhere in this loss."
        ),
        Hypothesis(
            f"The advantage needs `tf.stop_gradient` in the policy loss{place}",
            0.9,
            "In the policy loss the advantage should be a fixed factor. With its gradient left in, the predicted value "
            "is changed to make the policy loss small, against what the squared error teaches it, so the advantage no "
            "longer shows which actions were good.",
            "Wrap the advantage in `tf.stop_gradient` in the policy loss only; the squared error keeps its gradient.",
            UNDETACHED_CODE,
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


def _say_sole(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"A cross-entropy over classes gets one number per sample{place}",
        "Its softmax is always 1, and so the loss is always 0.",
        advise_sole(),
    )


def _say_same_batch(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    n = int(lead.slip["batches"])
    place = say_line(lead.slip.get("source"))
    return (
        f"Every step gets the same batch: the {n:,} batches of an epoch are all one{place}",
        (
            "In all steps looked at, wherever in an epoch, inputs and targets had exactly the mean, deviation and "
            f"range that they had at the first of them. `fit` takes {n:,} batches for an epoch."
        ),
        Hypothesis(
            "What makes a batch begins anew at each: with the same seed, or at the same rows",
            0.85,
            "The few samples of one batch are learned by heart, and nothing else is ever seen: the loss falls, and on "
            "other data nothing is gained.",
            "Make the random generator once, outside what makes a batch, or seed it with the batch's number too. Take "
            "the rows by that number. Where one batch was meant, as a test, there is nothing to do.",
            BATCH_CODE,
        ),
    )


def _say_lone(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    layer = lead.slip["layer"]
    place = _say_place(lead, layer or "the loss")
    if lead.slip["lone"] == "length":
        return (
            f"Vectors of a single number are scaled to length 1: only its sign is left{place}",
            "The axis along which the squares are summed has length 1, so each number is divided by its own size.",
            Hypothesis(
                f"A cosine or a unit length of one number is 1 or -1{place}",
                0.9,
                "How large a prediction or a feature is no longer counts, and its sign has no gradient: next to "
                "nothing is learned.",
                "For one number per sample use a loss of its size, such as a mean squared error. A vector's length "
                "is taken along its features.",
                LONE_LENGTH_CODE,
            ),
        )
    what = layer or "A layer"
    return (
        f"{what} normalises a single number by itself: what it gives is the same for every input{place}",
        "The axis along which mean and variance are taken has length 1. A number minus its own mean is 0.",
        Hypothesis(
            f"{what} normalises along an axis of one element",
            0.95,
            "Whatever comes in, 0 comes out, plus the layer's own bias. Nothing of the input passes, and no gradient "
            "comes back.",
            "Normalise along an axis with several features, put the layer behind one that makes several, or scale the "
            "data once with the mean and the deviation of the training set.",
            LONE_MEAN_CODE,
        ),
    )


def _say_focal(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, power = say_line(lead.slip.get("source")), float(lead.slip["focal"])
    turn = math.exp(-1.0 / power)
    return (
        f"A focal loss weighs easy samples most, and hard ones hardly at all{place}",
        f"The logarithm of a probability is multiplied by the same probability to the power {power:g}.",
        Hypothesis(
            f"The weight of a focal loss is `p`, not `1 - p`{place}",
            0.95,
            "The focal weight makes samples that are right already count less: (1 - p)^gamma. With p^gamma they count "
            f"most. Where a sample's class has a probability below {turn:.2f}, the loss even pushes it further down.",
            "Weigh log(p) by 1 - p, and log(1 - p) by p.",
            FOCAL_CODE,
        ),
    )


def _say_linear(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    n, layer = int(lead.slip["n_kernels"]), lead.slip["layer"]
    last = f", of which {layer} is the last," if layer else ""
    return (
        f"There is no activation function between the model's {n} layers with weights: up to its output it is linear",
        f"Between these {n} layers{last} there are only normalisations, averages, dropouts and sums.",
        Hypothesis(
            "The layers have no activation function",
            0.85,
            "Several linear layers in a row can do no more than one. The model cannot learn anything that is not a "
            "weighted sum of its inputs.",
            "Add an activation (ReLU, for example) after each layer except the last; after the normalisation, if there "
            "is one.",
            LINEAR_CODE,
        ),
    )


def _say_unshifted(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    used = f" They are used{place}." if place else ""
    if lead.n_first:
        return (
            "No edge of a batch touches its first graph: the edges lie one graph too far",
            (
                f"The first nodes of each batch, about {lead.n_first} of {lead.n_nodes}, have no edges; those of the "
                f"last graph land beyond it.{used} What is wrong is where graphs are joined into a batch."
            ),
            Hypothesis(
                "Each graph's node ids are shifted by one graph too many",
                0.9,
                "A cumulative sum of the sizes gives where each graph ends. It begins where the graph before ends.",
                "Where the batch is put together, shift each graph's edges by the number of nodes before it.",
                OFFSET_CODE,
            ),
        )
    return (
        f"The edges of a batch use {lead.n_reached} of its {lead.n_nodes} nodes: each graph numbers its own from 0",
        (
            f"Each batch joins several graphs into one of at least {lead.n_nodes} nodes. No node number in its edges "
            f"is above {lead.n_reached - 1}.{used}"
        ),
        Hypothesis(
            "The node numbers in the edges are not shifted by the nodes of the graphs before",
            0.9,
            "Each graph numbers its nodes from 0. Joined into one, the numbers of the second graph must continue where "
            "the first ends. As they are, all messages go to the nodes of the first graphs, and the others get none.",
            "Where the batch is put together, add to each graph's edges the number of nodes before it.",
            UNSHIFTED_CODE,
        ),
    )


def _say_hinge(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"A hinge loss gets labels of 0 and 1: those of 0 have no gradient{place}",
        (
            f"So far all targets were 0 or 1. Where y is 0, `relu({lead.slip['hinge']:g} - y * score)` is the same for "
            "any score."
        ),
        Hypothesis(
            f"The labels of a hinge must be -1 and 1{place}",
            0.95,
            "With a label of 0 the score drops out of the loss. The model only learns to give every sample a score of "
            "1 or more.",
            "Turn the labels into -1 and 1; `tf.keras.losses.Hinge` and `SquaredHinge` do that by themselves.",
            HINGE_CODE,
        ),
    )


def _say_marginals(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, n = say_line(lead.slip.get("source")), int(lead.slip["marginals"])
    return (
        f"The mixture is summed for each of {n:,} coordinates by itself, before these are joined{place}",
        (
            "The log-sum-exp over the components runs on each coordinate's own density. So each coordinate may come "
            "from another component."
        ),
        Hypothesis(
            f"The coordinates' log-densities are summed after the log-sum-exp, not before it{place}",
            0.9,
            "A point of a component has all its coordinates from that one. As it is, every combination of the "
            "components' coordinates is as likely, and the weights cannot tell which go together.",
            "Sum over the coordinates first, then add the weight's logarithm, then take the log-sum-exp.",
            MARGINALS_CODE,
        ),
    )


def _say_unpenalised(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    n, name = int(lead.slip["unpenalised"]), lead.slip["name"]
    others = "" if n == 1 else f" and {n - 1:,} more"
    return (
        f"The regularizer of {name}{others} has no effect: the loss of your loop leaves it out",
        (
            f"{name}{others} {'was' if n == 1 else 'were'} made with a regularizer. `fit` adds it to the loss; the "
            "loss that this step differentiates does not contain it."
        ),
        Hypothesis(
            "`model.losses` is missing in the loss",
            0.95,
            "A layer's regularizer is a term of the loss that Keras keeps in `model.losses`. In a loop of your own "
            "nothing is added by itself, so the weights are not regularised at all.",
            "Add the sum of `model.losses`, within the tape.",
            UNPENALISED_CODE,
        ),
    )


def _say_replaced(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, keeps = say_line(lead.slip.get("source")), float(lead.slip.get("keeps", 0))
    if lead.slip.get("recopied"):
        return (
            f"The target network is made a copy of the trained one after each step{place}",
            "The line runs as often as a training step does, and takes over all weights: the two never differ.",
            Hypothesis(
                f"The target network is copied at every step{place}",
                0.85,
                "It is there to hold the targets still for some hundred steps. As it is, each step moves the targets "
                "it learns from, as if there were no target network: values may drift or blow up.",
                "Copy the weights once in many steps, or let the target follow slowly.",
                COPIED_CODE,
            ),
        )
    return (
        f"A slow copy of a network keeps only {keeps:.2%} of its own value at each update{place}",
        (
            f"The line gives it {keeps:.3g} of what it was and {1 - keeps:.3g} of the network that is trained. An "
            "average of weights has its large share on its own side."
        ),
        Hypothesis(
            f"The two shares of the average are swapped{place}",
            0.9,
            "A target network or a teacher is to change slowly. As it is, it follows the trained network at once: "
            "targets move with each step, and nothing is averaged.",
            "Give the copy the large share of its own value, and the small one of the trained network.",
            REPLACED_CODE.format(taken=keeps),
        ),
    )


def _say_lost(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, name = say_line(lead.slip.get("source")), lead.slip["lost"]
    return (
        f"The update of the weights of {name} is lost: `get_weights()` gives copies{place}",
        f"The arrays that `{name}.get_weights()` gives are changed, and nothing gives them back to {name}.",
        Hypothesis(
            f"Copies of weights are changed, not the weights{place}",
            0.95,
            f"Each call of `get_weights()` makes new arrays. {name} itself keeps its weights, however often this line "
            "runs.",
            f"Assign to the variables of {name}, or collect the arrays and hand them to `set_weights`.",
            LOST_CODE.format(name=name),
        ),
    )


def _say_past(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"Each step's return sums the rewards before it, not those that follow{place}",
        "The loop goes over the rewards from the first to the last, and nothing is turned round before or after.",
        Hypothesis(
            f"The returns are summed from the wrong end{place}",
            0.9,
            "The return of a step is its reward and the discounted ones behind it. Summed from the start, each action "
            "is credited with what was gained before it, and what it leads to counts for nothing.",
            "Sum from the last reward to the first, then turn the list round.",
            PAST_CODE,
        ),
    )


EXPLORED: Final[Mapping[str, tuple[str, str, str, str, str]]] = {
    "inverted": (
        "The agent tries random actions more and more often, as `{name}` falls",
        "The action is random where the draw lies above `{name}`, and `{name}` is lowered while it learns.",
        "The agent begins with its untrained guesses and ends with random actions: the comparison is turned round.",
        "Draw the action where the random number is below `{name}`.",
        "if np.random.rand() < {name}:\n    action = env.action_space.sample()",
    ),
    "lowest": (
        "`{name}` falls to its least value at the first update: `min` stands where `max` is meant",
        "The line takes the lesser of the lowered `{name}` and its lower end, which is the lower end from then on.",
        "The agent stops exploring before it has learned anything, and repeats its first guesses.",
        "Take the larger of the two.",
        "{name} = max({name}_min, {name} * decay)",
    ),
    "highest": (
        "`{name}` never falls: `max` holds it where it began",
        "The line takes the larger of the lowered `{name}` and a number that is not below its first value.",
        "The agent goes on with as many random actions as at first, and hardly sees what its own choices lead to.",
        "Bound `{name}` by its least value.",
        "{name} = max({name}_min, {name} * decay)",
    ),
    "always": (
        "`{name}` never falls: nothing reads `{by}`",
        "`{name}` is given one value, and the action is random with that chance. No line reads `{by}`.",
        "The agent goes on with as many random actions as at first, and hardly sees what its own choices lead to.",
        "Lower `{name}` while the agent learns.",
        "{name} = max({name}_min, {name} * {by})          # after each episode, or step",
    ),
}
"""How an exploration goes wrong: in the title, what was seen, why it is a trouble, and what to change."""


def _say_explored(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    known = {"name": str(lead.slip["name"]), "by": str(lead.slip.get("by", ""))}
    title, seen, why, fix, code = (part.format(**known) for part in EXPLORED[str(lead.slip["explores"])])
    title += say_line(lead.slip.get("source"))
    return title, seen, Hypothesis(title, 0.95, why, fix, code)


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


def _say_grown(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, name = say_line(lead.slip.get("source")), str(lead.slip["name"])
    return (
        f"`{name}` holds the rewards of all episodes so far, and is summed as one{place}",
        f"`{name}` begins as an empty list, is filled at each step, and no line empties it, cuts it or makes it anew.",
        Hypothesis(
            f"`{name}` is not emptied between episodes{place}",
            0.95,
            "The returns of an episode's last steps go on with the rewards of the next one. The policy is trained on "
            "what earlier policies did, as if it had done so itself, and each update takes longer than the last.",
            f"Empty `{name}`, and the lists of states, actions and log-probabilities beside it, after each update.",
            f"{name}.clear()                    # after the update, and likewise the lists beside it",
        ),
    )


def _say_unpriced(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    n, place = int(lead.slip["unpriced"]), say_line(lead.slip["source"])
    weights = "A weight of the loss is" if n == 1 else f"The {n:,} weights of the loss's terms are"
    return (
        f"{weights} trained, and nothing keeps {'it' if n == 1 else 'them'} above 0{place}",
        (
            "The loss is a sum of errors, each times a variable that the same step trains, and has come below 0: of "
            "errors alone it could not."
        ),
        Hypothesis(
            f"The training makes the weights of the errors negative{place}",
            0.95,
            "An error times a weight is made smaller by a smaller weight, and nothing in the loss makes that cost "
            "anything. Once a weight is below 0, a larger error makes the loss smaller, without an end.",
            "Give the weights a price (`exp(-s) * error + s`), make them shares by a softmax, or hold them fixed.",
            UNPRICED_CODE,
        ),
    )


def _say_undropped(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    n, name, place = int(lead.slip["undropped"]), lead.slip["name"], say_line(lead.slip["source"])
    others = "" if n == 1 else f" and {n - 1:,} more"
    best, newest = map(say_number, lead.validation)
    is_untold = "untold" in lead.slip
    where = "`fit`" if is_untold else "your loop"
    return (
        f"{name}{others} {'drops' if n == 1 else 'drop'} nothing in {where}, and the validation loss rises{place}",
        (
            "No random number is drawn in any layer of the step, so no dropout is active. The validation loss was "
            f"{best} at its best and is {newest} now, while the training loss has come down to {say_number(lead.loss)}."
        ),
        Hypothesis(
            f"`call` of the model has no argument `training`{place}",
            0.9,
            "Keras 3 tells a model that it is trained by this argument. Where `call` does not take it, its layers run "
            "as in evaluation: no dropout drops anything, and nothing keeps the model from learning the training "
            "samples by heart.",
            "Give `call` an argument `training`, and pass it on.",
            UNTOLD_CODE,
        )
        if is_untold
        else Hypothesis(
            f"The model is called as in evaluation: without `training=True`{place}",
            0.9,
            "`model.fit` passes it for you; a custom loop must pass it itself. Without it no dropout drops anything, "
            "and nothing keeps the model from learning the training samples by heart.",
            "Call the model with `training=True` in the training step. Pass `training` on in custom layers.",
            UNDROPPED_CODE,
            (Change("call", given=(("training", "True"),)),),
        ),
    )


def _say_across(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    n, layer, place = int(lead.slip["n"]), lead.slip["layer"], say_line(lead.slip["source"])
    what = "row" if lead.slip["across"] == 1 else "column"
    others = "" if n == 1 else f" and {n - 1:,} more"
    return (
        f"{layer}{others} {'normalises' if n == 1 else 'normalise'} each {what} of the maps, not each channel{place}",
        (
            f"The convolution before {layer} gives [batch, height, width, channels]. Its `axis={lead.slip['across']}` "
            f"is the {'height' if what == 'row' else 'width'}."
        ),
        Hypothesis(
            f"The axis of the batch normalisation is not that of the channels{place}",
            0.93,
            "`axis=1` is for channels that come first. As it is, all channels share one scale, which may leave some "
            f"with next to nothing, and each {what} of the image gets a scale and an offset of its own.",
            "Leave `axis` at its default, the last axis.",
            ACROSS_CODE,
            (Change("layer", str(layer), without=("axis",)),),
        ),
    )


def _say_ahead(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"The attention sees only later positions: its causal mask is inverted{place}",
        (
            "At each position the mask hides that position and all earlier ones, and shows the later ones. The last "
            "position sees nothing."
        ),
        Hypothesis(
            f"The causal mask is the wrong way round{place}",
            0.95,
            "A Keras `attention_mask` is true where attention is allowed; a mask that is multiplied by -1e9 and added "
            "is 1 where it is not. Inverted, a model of the next token reads it off the input: the loss falls, but "
            "nothing can be generated.",
            "Allow the lower triangle with its diagonal: each position sees itself and what came before.",
            AHEAD_CODE,
        ),
    )


def _say_itself(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    layer, kind, place = lead.slip["layer"], lead.slip["itself"], say_line(lead.slip.get("source"))
    what = {
        "add": "Twice that tensor comes out",
        "subtract": "Nothing but zeros come out",
        "concatenate": "The same features come out twice",
    }.get(kind, "That tensor comes out as it was")
    return (
        f"{layer or f'`{kind}`'} gets the same tensor twice: the other one, such as a skip connection, is lost{place}",
        f"In the training step both inputs of {layer or f'`{kind}`'} are one tensor. {what}.",
        Hypothesis(
            f"`{kind}` is given one tensor in place of two{place}",
            0.95,
            "A skip connection joins what entered a block with what the block made. Here a name stands twice, or was "
            "assigned anew before it was used, and nothing skips the block.",
            "Give it the tensor that is to skip the block, under a name of its own.",
            ITSELF_CODE.format(kind=kind),
        ),
    )


def _say_timed(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    n, layer = int(lead.slip["times"]), lead.slip["layer"]
    place, times = say_line(lead.slip.get("source")), f"each of {n:,} time steps" if n > 0 else "each time step"
    return (
        f"{layer} predicts a number for {times}, but a sample has one target{place}",
        (
            f"{layer} gives [n, {n if n > 0 else 'time'}, 1], the target is one number per sample. The loss broadcasts "
            "the two without a word, so each time step is compared with a target."
        ),
        Hypothesis(
            f"The last recurrent layer returns all its steps: `return_sequences=True`{place}",
            0.9,
            "Every step, the first one too, has to predict what only the end of the sequence tells, and most of the "
            "loss comes from steps that cannot know it. With targets of shape [n] they even meet those of other "
            "samples. `predict` gives a sequence where one number is expected.",
            f"Let the last layer before {layer} give its last step alone, or average over the steps. If each step has "
            "a target of its own, give targets of shape [n, time, 1].",
            TIMED_CODE,
        ),
    )


def _say_unadded(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    n, layer, place = int(lead.slip["unadded"]), lead.slip["layer"], say_line(lead.slip.get("source"))
    others = "" if n == 1 else f", and {n - 1:,} more like it,"
    return (
        f"What {layer} adds to the loss{others} has no effect: the loss of your loop leaves it out{place}",
        (
            f"{layer} adds a term by `add_loss` or an `activity_regularizer`{place}. `fit` puts it into the loss; the "
            "loss that this step differentiates does not contain it."
        ),
        Hypothesis(
            f"`model.losses` is missing in the loss{place}",
            0.95,
            "Keras keeps such terms in `model.losses`; a loop of your own has to add them. Without them nothing pulls "
            "at what they are about: a latent code's distribution, a codebook, the load of experts, sparse outputs.",
            "Add the sum of `model.losses`, within the tape.",
            UNPENALISED_CODE,
        ),
    )


def _say_overlap(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"The overlap with the targets is minimised, not maximised{place}",
        (
            "What the output and the target share is divided by what both have: 1 where they agree, 0 where they have "
            "nothing in common. It goes into the loss with a plus sign."
        ),
        Hypothesis(
            f"A Dice coefficient or IoU is used as the loss itself{place}",
            0.95,
            "The optimizer makes the loss small. A falling loss then means masks that miss their targets ever more "
            "completely, an empty mask in the end.",
            "Subtract it from 1.",
            OVERLAP_CODE,
        ),
    )


def _say_repelled(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, of_target = say_line(lead.slip.get("source")), lead.slip["repels"] == "target"
    both = "the output and its target" if of_target else "the two outputs"
    return (
        f"The loss makes {both} point in opposite directions: the cosine similarity is minimised{place}",
        (
            f"The loss contains the cosine of {both} with a plus sign"
            + (", and none with a minus." if of_target else ", and nothing else.")
            + " It is 1 for the same direction and -1 for opposite ones."
        ),
        Hypothesis(
            f"The cosine similarity has the wrong sign{place}",
            0.95,
            "A loss is made small, so the cosine has to be subtracted. `keras.losses.CosineSimilarity` and "
            "`keras.losses.cosine_similarity` give minus the cosine already: another minus turns it round.",
            "Use Keras' loss as it is, or subtract a cosine of your own.",
            REPELLED_CODE,
        ),
    )


def _say_averse(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, gain = say_line(lead.slip.get("source")), lead.slip["averse"]
    return (
        f"The policy learns to avoid what paid off: the loss has the wrong sign{place}",
        (
            f"The log-probability of the action times `{gain}` goes into the loss with a plus sign. Where `{gain}` is "
            "large, the optimizer makes the action less probable."
        ),
        Hypothesis(
            f"The policy gradient's minus is missing{place}",
            0.95,
            "A policy gradient goes up, and an optimizer goes down. A cross-entropy is minus the log-probability, "
            "and takes no further minus.",
            f"Minimise minus the log-probability times `{gain}`.",
            AVERSE_CODE.format(gain=gain),
        ),
    )


def _say_quantile(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, asked = say_line(lead.slip.get("source")), float(lead.slip["quantile"])
    learned = say_number(1 - asked)
    return (
        f"The quantile loss learns the {learned} quantile, not {say_number(asked)}: its error is negated{place}",
        "The error is the prediction less the target. The loss is written for the target less the prediction.",
        Hypothesis(
            f"Target and prediction change places in the quantile loss{place}",
            0.93,
            f"A prediction that is too low should cost {say_number(asked)} a unit, and one that is too high {learned}. "
            "It is the other way round. The loss falls all the same.",
            "Subtract the prediction from the target.",
            QUANTILE_CODE,
        ),
    )


def _say_unstopped(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"The bootstrapped target is moved by its own loss: nothing stops its gradient{place}",
        (
            "The target is a reward plus a discounted value of the next state, by the network that is trained on it "
            "and within the tape. The gradient goes through both sides of the error."
        ),
        Hypothesis(
            f"`tf.stop_gradient` is missing around the target{place}",
            0.85,
            "The error also becomes small if the next state's value moves towards this one's. Values are pulled "
            "together from both ends, against the direction in which rewards travel, and learning is slow or ends "
            "elsewhere.",
            "Stop the gradient at the target, or take the next state's value from a target network.",
            UNSTOPPED_CODE,
        ),
    )


def _say_tiled(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, n = say_line(lead.slip.get("source")), int(lead.slip["tiled"])
    return (
        f"A tile lays each sample beside the items of other samples{place}",
        (
            f"`tf.tile` repeats the whole list of samples {n:,} times: a, b, c, a, b, c. The reshape that it is joined "
            f"with lists all {n:,} items of the first sample first, then those of the second."
        ),
        Hypothesis(
            f"`tf.tile` where `tf.repeat` is meant{place}",
            0.95,
            "Only where both orders happen to agree does a sample meet its own items. For all others the step learns "
            "from pairs that do not exist.",
            "Repeat each sample as many times as it has items: a, a, b, b.",
            TILED_CODE.format(n=n),
        ),
    )


def _say_strangers(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, n, name = say_line(lead.slip.get("source")), int(lead.slip["strangers"]), lead.slip["name"]
    others = "" if n == 1 else f" and {n - 1:,} more"
    return (
        f"{name}{others} {'is' if n == 1 else 'are'} updated with the gradients of other variables{place}",
        (
            "One tape was asked for the gradients of all of them, and here they are applied in another order. Where "
            "shapes agree, TensorFlow does not notice."
        ),
        Hypothesis(
            f"Gradients and variables are paired in another order than the tape was asked{place}",
            0.95,
            "Each variable is moved the way another one should go: the loss wanders, or runs away.",
            "Unpack the gradients in the order of the variables that `tape.gradient` was given.",
            STRANGERS_CODE,
        ),
    )


def _say_relative(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, bound = say_line(lead.slip.get("source")), float(lead.slip["relative"])
    times = say_number(1 / bound)
    if any(lead.reach):
        low, high = map(say_number, lead.reach)
        return (
            f"Errors are divided by the target, and the targets go from {low} to {high}, through 0{place}",
            (
                f"The loss divides each error by the size of its target, which is held from 0 by {bound:g}: the nearer "
                "a target is to 0, the more its error counts, without a limit."
            ),
            Hypothesis(
                f"A relative error, such as MAPE, of targets of both signs{place}",
                0.85,
                "The few samples whose target is near 0 count more than all others together, so the model learns to "
                "predict 0 for all. An error of 1 % of nothing means nothing.",
                "Use an absolute error (MAE, MSE), or an error relative to a typical size.",
                RELATIVE_CODE,
                (Change("loss", kind="MeanSquaredError"),),
            ),
        )
    return (
        f"Errors are divided by the target, and {lead.zero_share:.1%} of the targets are exactly 0{place}",
        (
            f"The loss divides each error by the size of its target, which is held from 0 by {bound:g}: where a target "
            f"is 0, the error counts {times} times."
        ),
        Hypothesis(
            f"A relative error, such as MAPE, of targets that can be 0{place}",
            0.9,
            "Only the samples whose target is 0 count, so the model learns to predict 0 for all. The loss falls by "
            "orders of magnitude while it does.",
            "Use an absolute error (MAE, MSE), a Poisson loss for counts, or an error relative to a typical size.",
            RELATIVE_CODE,
            (Change("loss", kind="MeanSquaredError"),),
        ),
    )


def _say_rounded(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"A variance is the difference of two large numbers, and nothing but rounding is left of it{place}",
        (
            "It is computed as the mean of the squares less the square of the mean. In most places the two agree in "
            "all the digits that float32 has, so that their difference says nothing."
        ),
        Hypothesis(
            f"The variance is computed as mean(x²) - mean(x)², of numbers far from 0{place}",
            0.92,
            "float32 holds seven digits. Where the mean is a thousand times the deviation or more, the squares agree "
            "in the first six and more, and what is left is rounding: 0, far too large, or below 0.",
            "Subtract the mean before you square, as `tf.math.reduce_variance` and `tf.nn.moments` do.",
            ROUNDED_CODE,
        ),
    )


def _say_place(lead: Misshaped, scope: str) -> str:
    """The user's line, or else the layer that a slip is in."""
    return say_line(lead.slip.get("source")) or (f" ({scope})" if scope else "")


def _say_truncated(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    layer, rows = lead.slip["layer"], lead.slip["rows"]
    place = _say_place(lead, layer)
    return (
        f"Ids are cut to whole numbers after they were scaled: nearly all become 0{place}",
        (
            f"Ids that tell {rows} rows apart are made of floating-point numbers. In each batch checked most of these "
            "had a fraction, and all were above -2 and below 2: without the fraction nothing but -1, 0 and 1 is left."
        ),
        Hypothesis(
            f"The ids were scaled together with the measured columns{place}",
            0.93,
            "A scaler brings every column to between 0 and 1, or to a deviation of 1. The cast to whole numbers cuts "
            "that off, so that nearly all ids read the same row, and what belongs to each id cannot be learned.",
            "Scale the measured columns only, and leave the ids the whole numbers they were.",
            TRUNCATED_CODE,
        ),
    )


def _say_by_sample(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    layer, n = lead.slip["layer"], lead.slip["by_sample"]
    place = _say_place(lead, layer)
    return (
        f"The table of positions is added along the samples, not along their {n} positions{place}",
        (
            f"A table is cut to as many rows as the batch has samples, and added to [batch, {n}, width] as "
            "[batch, 1, width]. So each sample gets one row for all its positions: that of its place in the batch."
        ),
        Hypothesis(
            f"The positions are taken from axis 0, which is the batch, instead of axis 1{place}",
            0.93,
            "All positions of a sample get the same numbers, so the model cannot tell their order, and a sample gets "
            "others each time. Code of models whose first axis is the time looks like this.",
            "Cut the table by the length of axis 1, and let it broadcast over the batch.",
            BY_SAMPLE_CODE.format(n=n),
        ),
    )


def _say_crosswise(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    axis, shape = lead.slip["axis"], lead.slip["crosswise"]
    scope = str(lead.slip["name"]).rpartition("/")[0]  # a layer without weights is known by it alone
    place = _say_place(lead, scope)
    form = ", ".join(["n", *("?" if length < 0 else str(length) for length in shape[1:])])
    bypassed = (
        " Keras takes the loss of the scores before this softmax, so that the loss falls and the outputs do not follow."
        if lead.slip.get("bypassed")
        else ""
    )
    over = "the samples of the batch" if axis == 0 else f"axis {axis}"
    return (
        f"The softmax of the outputs runs over {over}, not over the classes{place}",
        (
            f"The outputs have the shape [{form}], and the cross-entropy takes the last axis for the classes. The "
            f"softmax makes them add up to 1 along axis {axis}."
        ),
        Hypothesis(
            f"The softmax is taken along axis {axis}, not along the last one{place}",
            0.92,
            "The probabilities of each class add up to 1 along that axis. So no class can be likely in all its places, "
            "and one that is nowhere cannot be unlikely in all of them." + bypassed,
            "Take the softmax along the last axis, that of the classes.",
            CROSSWISE_CODE,
        ),
    )


PEEKING_WORDS: Final = {
    "Conv2D": ("a convolution that is padded on both sides", 'Use `padding="causal"` in the convolutions.'),
    "ReverseV2": ("a layer that reads the sequence from its end", "Leave out `Bidirectional` and `go_backwards`."),
    "Softmax": ("an attention without a causal mask", "Give the attention a causal mask: `use_causal_mask=True`."),
}


def _say_peeking(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    what, fix = PEEKING_WORDS.get(lead.slip["peeks"], PEEKING_WORDS["Softmax"])
    place = say_line(lead.slip.get("source"))
    of_layer = f" ({lead.slip['layer']})" if lead.slip["layer"] else ""
    return (
        f"The model sees what it is to predict: each time's target is the next value of its own input{place}",
        (
            "Input and target are cut from one sequence, the target one step later, and the loss compares them with "
            f"the output time by time. On the way, {what}{of_layer} lets each time see the ones after it."
        ),
        Hypothesis(
            f"The model looks at the times to come, through {what}{of_layer}",
            0.9,
            "The loss falls because the model learns to hand the next value on. It learns little that helps where that "
            "is not known yet: at the last time, which is the only one that forecasts.",
            f"{fix} Or let the model give the last time alone. Then judge it by values that it has not been given.",
            MASK_CODE,
        ),
    )


def _say_contrast(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    of_inputs, of_outputs = lead.contrast
    is_of_labels = lead.slip["contrasts"] == "labels"
    outcome = (
        f"hardly farther ({say_number(of_outputs)})" if of_outputs > 0 else f"nearer still ({say_number(-of_outputs)})"
    )
    return (
        f"The loss draws together the pairs that are less alike, and pushes apart those that are more alike{place}",
        (
            "As they enter the network, the pairs that the loss pushes apart lie nearer to one another than those that "
            f"it draws together, by {say_number(-of_inputs)} standard deviations of the distance. As the network "
            f"describes them they lie {outcome}."
        ),
        Hypothesis(
            (
                f"The labels of the pairs are the other way round: what is the same is pushed apart{place}"
                if is_of_labels
                else f"The positive and the negative sample are exchanged, or a sign is: what is the same is pushed "
                f"apart{place}"
            ),
            0.85,
            "What belongs together is, as a rule, more alike already as it enters, and here it is the other way round. "
            "The loss comes down by whatever tells the two kinds apart, and descriptions of the same thing end up no "
            "nearer than those of different ones.",
            (
                "See which label stands for `the same` where the pairs are made, and multiply the squared distance by "
                "that: some texts write 0 for it, others 1."
                if is_of_labels
                else "See in which order the samples are handed over, and that the distance to the positive one is the "
                "one that is to be small."
            ),
            CONTRAST_LABELS_CODE if is_of_labels else CONTRAST_ROLES_CODE,
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


def _say_positives(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    n_rows, asked, partner = (int(one) for one in lead.slip["positives"])
    return (
        f"The loss takes rows of other samples for the other view of each{place}",
        (
            f"In a table of {n_rows:,} rows, as the step lays them, the other view of row 0 is row {partner:,}. The "
            f"loss asks for row {asked:,}, which is another sample, and so for most rows."
        ),
        Hypothesis(
            f"The rows are laid in another order than the places of the positives are counted for{place}",
            0.9,
            "Views that are concatenated lie n rows apart; views that are stacked along axis 1 and reshaped lie side "
            "by side. With the places of the one order in the other, each row is drawn to a sample that has nothing to "
            "do with it: the loss stays at that of guessing, and the descriptions say nothing or become one point.",
            "Concatenate the views along axis 0, or ask each row for its neighbour.",
            POSITIVES_CODE,
        ),
    )


def _say_bounded(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, bound = say_line(lead.slip.get("source")), float(lead.slip["bounds"])
    return (
        f"Errors are clipped to {bound:g} before the loss is taken of them: beyond, they have no gradient{place}",
        (
            f"In the compiled step, the difference of prediction and target is clipped to -{bound:g} and {bound:g}, "
            "and only then squared or made positive."
        ),
        Hypothesis(
            f"The error is clipped in the loss, instead of its gradient{place}",
            0.85,
            f"Where a prediction is further off than {bound:g}, the clipped error no longer depends on it: the sample "
            "teaches nothing, though it is the one that is most wrong. What clipping errors is meant to do, to bound "
            "how hard one sample can pull, is what the Huber loss does.",
            "Use the Huber loss, or clip the gradient norm.",
            BOUNDED_CODE.format(bound=f"{bound:g}"),
        ),
    )


def _say_twins(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, drawn = say_line(lead.slip.get("source")), lead.slip.get("drawn")
    seeded, cause, fix = "", "Neither view is augmented", "Augment each view by random numbers of its own."
    if drawn:
        seeded = f" The random numbers of both come from one seed{say_line(drawn)}."
        cause = f"Both views are drawn with the same random seed{say_line(drawn)}"
        fix = "Where the two views are made, give each a seed of its own."
    return (
        f"The two views of each sample are identical{place}",
        (
            f"The step compares what the network makes of each sample with what it makes of it again.{seeded} Both are "
            "computed in exactly the same way, so they are always equal."
        ),
        advise_views(cause, fix),
    )


def _say_normed(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    is_all = lead.slip["squares"] == "all"
    of = "the whole batch" if is_all else "each feature over the batch,"
    return (
        f"A norm is computed over {of} instead of per sample{place}",
        (
            "The squares of all samples of a batch go into one sum, and its square root is used for every sample."
            if is_all
            else "The squares of each feature are summed over the samples of the batch. The samples' vectors are "
            "divided by the square roots, and then multiplied with each other."
        ),
        Hypothesis(
            f"The axis of a norm is {'missing' if is_all else 'the batch'}{place}",
            0.9,
            "Without an axis, `tf.norm` and `tf.math.l2_normalize` treat the whole batch as a single vector. A vector "
            "that is normalised so in a batch of n samples has a length of about 1 / sqrt(n), not 1, and the samples "
            "still have different lengths."
            if is_all
            else "The samples' vectors do not get length 1, and each depends on the other samples in the batch.",
            "Give the norm `axis=-1`, wherever this line takes one.",
            NORMED_CODE,
        ),
    )


def _say_dotted(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"A dot product is summed over the whole batch instead of per sample{place}",
        (
            "The products of two tensors are summed over all samples of the batch, and the one number that this gives "
            "is used for each sample."
        ),
        Hypothesis(
            f"The dot product is taken along the batch too{place}",
            0.95,
            "`tf.tensordot(a, b, 2)` sums over both axes of `[n, k]`, as does a sum without `axis`. What the two "
            "vectors of a sample say about that sample is lost: all predictions of a batch get the same number, and "
            "it depends on which samples happen to be in the batch.",
            "Multiply the vectors of each sample, and sum over the last axis only.",
            DOTTED_CODE,
        ),
    )


def _say_summed(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    n = lead.slip["columns"]
    return (
        f"The derivatives of {n} outputs are added up, and their sum is compared with each of them{place}",
        (
            f"A gradient of {n} columns was taken at once. It has one number per sample, which is broadcast against "
            f"{n} columns."
        ),
        Hypothesis(
            f"`tape.gradient` of {n} columns is the gradient of their sum{place}",
            0.95,
            "A gradient of several numbers is the gradient of their sum: the derivative of each output alone is lost. "
            "The loss asks for something that no solution satisfies.",
            "Take the derivative of each output on its own, or all of them with `batch_jacobian`.",
            SUMMED_CODE,
        ),
    )


def _say_diverging(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    scores = lead.slip["scores"]
    is_of_logarithms = scores == "LogSoftmax"
    if scores in FUNCTIONS_OF_EACH:
        return _say_unshared(scores.lower(), place)
    what = "log-probabilities" if is_of_logarithms else "logits"
    given = "the logarithm of a softmax" if is_of_logarithms else "the raw output of a last layer"
    return (
        f"KL divergence gets {what} instead of probabilities{place}",
        f"The loss clips both inputs to [0, 1] before it takes log(p / q). One of them is {given}.",
        Hypothesis(
            (
                f"KL divergence takes probabilities, and is given their logarithms{place}"
                if is_of_logarithms
                else f"Missing softmax before the KL divergence{place}"
            ),
            0.95,
            "Values outside [0, 1] are clipped and get no gradient, so those classes stop learning. The loss can go "
            "negative.",
            "Apply softmax to both inputs.",
            DIVERGING_CODE,
        ),
    )


def _say_unshared(function: str, place: str) -> tuple[str, str, Hypothesis]:
    return (
        f"KL divergence gets numbers that need not add up to 1: each is the {function} of one score{place}",
        f"The loss is sum(p * log(p / q)), and q is the {function} of each score by itself, not a softmax of all.",
        Hypothesis(
            f"{function} in place of a softmax before the KL divergence{place}",
            0.9,
            "Each share that grows lowers this loss, whatever the target is, as nothing takes from the others: all "
            "outputs go up.",
            "Take a softmax over the classes.",
            SOFTMAX_CODE,
        ),
    )


def _say_cooled(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, factor = say_line(lead.slip.get("source")), float(lead.slip["cosines"])
    number = say_number(factor)
    return (
        f"Cosines are scaled by {number} before the softmax, so the loss can barely fall{place}",
        (
            f"Cosines lie in [-1, 1]; times {number}, in [-{number}, {number}]. So the right match can be at most "
            f"{say_number(math.exp(2 * factor))} times as likely as any other."
        ),
        Hypothesis(
            f"The cosines are multiplied by the temperature, not divided by it{place}",
            0.93,
            "Dividing by a temperature below 1 spreads the cosines, so that the right match can win. Multiplying makes "
            "them nearly equal, and the softmax can't pick one.",
            "Divide the cosines by the temperature.",
            COOLED_CODE,
        ),
    )


def _say_negated(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, code = say_line(lead.slip.get("source")), str((lead.slip.get("source") or {}).get("code", ""))
    changed = with_added_loss(code, "cosine_similarity")
    return (
        f"`1 - cosine_similarity` has the wrong sign: Keras' function gives minus the cosine{place}",
        (
            "As a loss it is -1 for vectors of the same direction and 1 for opposite ones. 1 minus it is 2 where they "
            "are alike, and 0 where they are opposite."
        ),
        Hypothesis(
            f"`keras.losses.cosine_similarity` is the negative of the cosine{place}",
            0.95,
            "Taken for a distance, it is largest between vectors that are the same. What is to come together is driven "
            "apart, and the loss falls all the same.",
            "Add it to 1, or subtract the cosine itself.",
            NEGATED_CODE if changed is None else say_change(code, changed),
        ),
    )


def _say_emptying(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, rate = say_line(lead.slip.get("source")), float(lead.slip["rate"])
    return (
        f"A dropout drops {rate:.0%} of what it is given{place}",
        f"Its rate is {rate:g}. One element in {1 / (1 - rate):.0f} is left, times {1 / (1 - rate):.3g}.",
        Hypothesis(
            f"The share to keep is given as the rate{place}",
            0.85,
            "The rate is the share that is set to 0. In TensorFlow 1 the same place took the share to keep.",
            f"If {rate:g} was to be kept, the rate is {1 - rate:.2g}.",
            EMPTYING_CODE.format(rate=f"{1 - rate:.2g}"),
        ),
    )


def _say_left(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"Cox loss: the risk sets hold earlier times instead of later ones{place}",
        (
            "The batch is sorted by a column of the targets, and the predictions are summed from the first row up to "
            "each sample. Those have shorter times; a risk set needs the longer ones."
        ),
        Hypothesis(
            f"The sort or the cumulative sum runs the wrong way{place}",
            0.85,
            "Each event is compared with samples that are already gone, not with those still at risk, so who stays "
            "long gets a high risk.",
            "Sort by time, latest first, or sum from the end. Not both.",
            LEFT_CODE,
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


def _say_inverse(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"The policy ratio is inverted: old / new instead of new / old{place}",
        (
            "The ratio is exp(old log-probability - new log-probability), and the loss pushes it up where the "
            "advantage is positive."
        ),
        Hypothesis(
            f"Old and new log-probabilities are swapped{place}",
            0.93,
            "Raising this ratio makes the action less likely, so the policy unlearns good actions.",
            "Use new minus old.",
            INVERSE_CODE,
        ),
    )


def _say_climbing(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"The clipped policy objective is minimised: the minus sign is missing{place}",
        (
            "The smaller of ratio * advantage with and without clipping is a lower bound that should grow. It goes "
            "into the loss with a plus, so training makes it smaller."
        ),
        Hypothesis(
            f"The policy's loss has the wrong sign{place}",
            0.93,
            "Making the objective smaller makes good actions less likely and bad ones more likely.",
            "Put a minus before the objective.",
            CLIMBING_CODE,
        ),
    )


def _say_larger(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"The policy's clipping bounds no gain: of the two objectives the larger one counts{place}",
        (
            "Of ratio * advantage with and without clipping, the larger one goes into the loss with a minus. Whenever "
            "the ratio leaves its bounds in the direction that pays, the unclipped one is the larger."
        ),
        Hypothesis(
            f"`tf.maximum` stands in place of `tf.minimum`{place}",
            0.95,
            "The smaller of both is a lower bound: it gives no reward for moving the ratio beyond the clip. The larger "
            "one rewards just that, so a few batches can ruin the policy. (Of the negatives, as some write the loss, "
            "the larger one is right.)",
            "Take the minimum.",
            LARGER_CODE,
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


def _say_belittled(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, gain = say_line(lead.slip.get("source")), lead.slip["belittles"]
    return (
        f"The actor learns the worst actions: the critic's value goes into its loss with a plus{place}",
        (
            f"The critic learns returns of `{gain}`: the higher its value, the better the action. The actor's loss is "
            "the mean of that value of its own actions, and the optimizer makes it small."
        ),
        Hypothesis(
            f"The minus sign is missing in the actor's loss{place}",
            0.95,
            "The actor is to find the action with the highest value, and an optimizer goes down. A falling actor loss "
            "here means ever worse actions.",
            "Minimise minus the mean of the critic's value.",
            BELITTLED_CODE,
        ),
    )


def _say_certain(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"The entropy bonus is a penalty: its sign makes the policy stop exploring{place}",
        (
            "The entropy of the policy goes into the loss with a plus. The optimizer makes it small, beside what the "
            "policy gains."
        ),
        Hypothesis(
            f"The entropy has the wrong sign in the loss{place}",
            0.93,
            "Entropy is `-sum(p * log(p))`: large while all actions are tried. With a plus in the loss, the policy is "
            "pushed towards one action before it knows which is best.",
            "Subtract the entropy, times a small weight.",
            CERTAIN_CODE,
        ),
    )


def _say_unfollowed(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, name = say_line(lead.slip.get("source")), lead.slip["unfollowed"]
    return (
        f"The target bootstraps from another state than `{name}`, which the step does not read{place}",
        (
            f"The step adds a reward to what a network gives, and has two arguments of a state's shape. It never reads "
            f"`{name}`."
        ),
        Hypothesis(
            f"The next state is not used: the target is made of the state itself{place}",
            0.85,
            "A target counts on from where the action leads. Made of the state itself it says the same whatever the "
            "action did, so that only the immediate reward tells actions apart.",
            f"Give the network that makes the target `{name}`.",
            UNFOLLOWED_CODE,
        ),
    )


def _say_greedy(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"The loss trains the largest action value, not that of the action taken{place}",
        (
            "The target for the action taken is compared with the largest value of the state, and the gradient goes "
            "through that maximum."
        ),
        Hypothesis(
            f"max Q(s) is used in place of Q(s, action taken){place}",
            0.9,
            "Each outcome is credited to the network's favourite action, not to the one taken, so it can't learn which "
            "is better.",
            "Use the value of the action taken; keep the maximum in the target only.",
            GREEDY_CODE,
        ),
    )


def _say_returned(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"The messages of a graph go back to the nodes that sent them{place}",
        (
            "The features of nodes are gathered with one index, and the messages made of them are summed with the same "
            "index."
        ),
        Hypothesis(
            f"Messages are summed at the sender instead of the receiver{place}",
            0.9,
            "Each edge has two ends: the message is made from the node at one end and must be added up at the other. "
            "Here every node gets only its own message back, as often as it has edges, and learns nothing from its "
            "neighbours.",
            "Sum the messages with the index of the other end of each edge.",
            RETURNED_CODE,
        ),
    )


def _say_waves(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    layer, turns = lead.slip["layer"] or "a kernel", say_number(abs(lead.slip["turns"]))
    spread = say_number(lead.spread)
    return (
        f"The initial weights of {layer} are too large for a sine: its input varies by {spread} radians{place}",
        (
            f"{layer} gets sines, multiplies them by its kernel, scales the result by {turns} and takes the sine "
            f"again. Estimated from the initial weights, the input of that sine has a standard deviation of {spread} "
            f"radians ({say_number(lead.spread / (2 * math.pi))} full turns); about 1 is usual."
        ),
        Hypothesis(
            f"The initial weights are too large for a sine{place}",
            0.85,
            "When the input of a sine spans many turns, inputs that lie close together get unrelated outputs. The "
            "network starts as noise that usual learning rates cannot train.",
            f"Where the kernel of this layer and of others like it is initialised, divide the range by {turns}; the "
            "first sine layer keeps 1 / fan_in (Sitzmann et al. 2020).",
            WAVES_CODE.format(turns=turns),
        ),
    )


def _say_unordered(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    layer, n = lead.slip["layer"] or "the embedding", lead.slip["n_places"]
    return (
        f"The attention cannot see the order of its {n} tokens: the model has no position information",
        (
            f"The output of {layer} feeds an attention. Nothing between it and the model's output depends on the "
            "position: no position embedding, no causal mask, no convolution or recurrence, no per-position weights."
        ),
        Hypothesis(
            "The model has no position embedding",
            0.6,
            "Without positions an attention treats its tokens as a set: the same tokens in another order give the same "
            "output. If the answer depends on the order, the model cannot learn it.",
            "Add an embedding of the positions to the output of the token embedding, once, before the first attention. "
            "Ignore this if the order does not matter for your task.",
            UNORDERED_CODE.format(n=n),
        ),
    )


def _say_misweighed(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    of_batch = lead.slip["along"] == "batch"
    over = "the batch" if of_batch else "the queries instead of the keys"
    return (
        f"The softmax of an attention runs over {over}{place}",
        (
            "The weighted sum that follows runs over another axis, and along that axis the weights do not add up to 1."
            if of_batch
            else "The weighted sum that follows runs over the keys, but the weights of one query over the keys do not "
            "add up to 1: the softmax was taken along the other axis of the scores."
        ),
        Hypothesis(
            f"The softmax of an attention runs over the wrong axis{place}",
            0.9,
            (
                "Each sample's weights depend on the other samples of the batch. "
                if of_batch
                else "Each query should split its attention among the keys. Here each key is split among the queries. "
                "If the mean over the queries is taken afterwards, the attention cancels out. "
            )
            + "The output is not a weighted average of the values, and a mask may hide the wrong positions.",
            "Take the softmax along the axis that is summed over afterwards."
            if of_batch
            else "Take the softmax over the keys: the last axis if the scores are [..., queries, keys]. If the scores "
            "are [..., keys, queries], swap the two where they are computed.",
            MISWEIGHED_BATCH_CODE if of_batch else MISWEIGHED_CODE,
        ),
    )


def _say(shape: Sequence[int]) -> str:
    return f"[{', '.join('n' if length == -1 else str(length) for length in shape)}]"


_WORDS: Final[Mapping[SlipKind, Callable[[Misshaped], tuple[str, str, Hypothesis]]]] = {
    **FED,
    **BUILT,
    SlipKind.UNUSED: say_unused,
    SlipKind.LATE: say_late,
    SlipKind.UNTAPED: say_untaped,
    SlipKind.ALIASED: say_aliased,
    SlipKind.CROSSING: _say_crossing,
    SlipKind.RESHAPE: _say_reshape,
    SlipKind.MADE: _say_made,
    SlipKind.BACKWARDS: _say_backwards,
    SlipKind.REPEATED: _say_repeated,
    SlipKind.REDRAWN: _say_redrawn,
    SlipKind.UNENDED: _say_unended,
    SlipKind.STRAIGHT: _say_straight,
    SlipKind.DOUBLED: _say_doubled,
    SlipKind.APART: _say_apart,
    SlipKind.GATHERED: _say_gathered,
    SlipKind.HINGE: _say_hinge,
    SlipKind.STRANGERS: _say_strangers,
    SlipKind.REPLACED: _say_replaced,
    SlipKind.PAST: _say_past,
    SlipKind.UNPRICED: _say_unpriced,
    SlipKind.EXPLORED: _say_explored,
    SlipKind.GROWN: _say_grown,
    SlipKind.WIDENED: _say_widened,
    SlipKind.LOST: _say_lost,
    SlipKind.ACROSS: _say_across,
    SlipKind.UNDROPPED: _say_undropped,
    SlipKind.UNADDED: _say_unadded,
    SlipKind.TIMED: _say_timed,
    SlipKind.UNSTOPPED: _say_unstopped,
    SlipKind.OVERLAP: _say_overlap,
    SlipKind.REPELLED: _say_repelled,
    SlipKind.AVERSE: _say_averse,
    SlipKind.QUANTILE: _say_quantile,
    SlipKind.SPREAD: _say_spread,
    SlipKind.UNVARIED: _say_unvaried,
    SlipKind.BELITTLED: _say_belittled,
    SlipKind.LARGER: _say_larger,
    SlipKind.CERTAIN: _say_certain,
    SlipKind.AHEAD: _say_ahead,
    SlipKind.ITSELF: _say_itself,
    SlipKind.TILED: _say_tiled,
    SlipKind.UNPENALISED: _say_unpenalised,
    SlipKind.MARGINALS: _say_marginals,
    SlipKind.UNSHOWN: _say_unshown,
    SlipKind.ATTRACTED: _say_attracted,
    SlipKind.UNDETACHED: _say_undetached,
    SlipKind.CANCELLED: _say_cancelled,
    SlipKind.SWAPPED: _say_swapped,
    SlipKind.FOCAL: _say_focal,
    SlipKind.SOLE: _say_sole,
    SlipKind.LONE: _say_lone,
    SlipKind.SAME_BATCH: _say_same_batch,
    SlipKind.LINEAR: _say_linear,
    SlipKind.NORMED: _say_normed,
    SlipKind.DOTTED: _say_dotted,
    SlipKind.SUMMED: _say_summed,
    SlipKind.DIVERGING: _say_diverging,
    SlipKind.COOLED: _say_cooled,
    SlipKind.NEGATED: _say_negated,
    SlipKind.EMPTYING: _say_emptying,
    SlipKind.LEFT: _say_left,
    SlipKind.ONE_SIDED: _say_one_sided,
    SlipKind.INVERSE: _say_inverse,
    SlipKind.HEADS: _say_heads,
    SlipKind.TWICE: _say_twice,
    SlipKind.OVER_BATCH: _say_over_batch,
    SlipKind.TAUGHT: _say_taught,
    SlipKind.TEMPERED: _say_tempered,
    SlipKind.TOWERS: _say_towers,
    SlipKind.IMPROBABLE: _say_improbable,
    SlipKind.LEAST: _say_least,
    SlipKind.EXCHANGED: _say_exchanged,
    SlipKind.UNPASSED: _say_unpassed,
    SlipKind.FAINT: _say_faint,
    SlipKind.TWINS: _say_twins,
    SlipKind.RELATIVE: _say_relative,
    SlipKind.ROUNDED: _say_rounded,
    SlipKind.TRUNCATED: _say_truncated,
    SlipKind.PEEKING: _say_peeking,
    SlipKind.BY_SAMPLE: _say_by_sample,
    SlipKind.CROSSWISE: _say_crosswise,
    SlipKind.CONDITION: _say_condition,
    SlipKind.POSITIVES: _say_positives,
    SlipKind.BOUNDED: _say_bounded,
    SlipKind.CONTRAST: _say_contrast,
    SlipKind.GREEDY: _say_greedy,
    SlipKind.UNFOLLOWED: _say_unfollowed,
    SlipKind.CLIMBING: _say_climbing,
    SlipKind.RETURNED: _say_returned,
    SlipKind.WAVES: _say_waves,
    SlipKind.UNORDERED: _say_unordered,
    SlipKind.MISWEIGHED: _say_misweighed,
    SlipKind.UNSHIFTED: _say_unshifted,
    SlipKind.MASK: _say_mask,
    SlipKind.CUT: _say_cut,
}
