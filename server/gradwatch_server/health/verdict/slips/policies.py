"""Words for slips of policies and returns: signs, bounds, ends of episodes, copies of networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gradwatch_server.health.episode import Misshaped
from gradwatch_server.health.finding import Hypothesis
from gradwatch_server.health.slip import SlipKind
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.slips.line import Words

__all__ = ["POLICIES"]

UNDETACHED_CODE: Final = """\
advantage = returns - value
policy_loss = -tf.reduce_mean(log_prob * tf.stop_gradient(advantage))
value_loss = tf.reduce_mean(tf.square(advantage))"""
INVERSE_CODE: Final = """\
ratio = tf.exp(new_log_prob - old_log_prob)"""
LARGER_CODE: Final = """\
- loss = -tf.reduce_mean(tf.maximum(ratio * advantage, clipped_ratio * advantage))
+ loss = -tf.reduce_mean(tf.minimum(ratio * advantage, clipped_ratio * advantage))"""
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
PAST_CODE: Final = """\
returns, total = [], 0.0
for reward in reversed(rewards):              # from the last reward to the first
    total = reward + gamma * total
    returns.append(total)
returns.reverse()                             # in the order of the steps again"""
AVERSE_CODE: Final = """\
loss = -tf.reduce_mean(log_prob * {gain})      # or: the cross-entropy of the actions, times {gain}"""
UNSTOPPED_CODE: Final = """\
best = tf.reduce_max(target_network(next_state), axis=1)       # a slow copy of the network
target = tf.stop_gradient(reward + discount * (1.0 - done) * best)"""
STRANGERS_CODE: Final = """\
first_gradients, second_gradients = tape.gradient(loss, [first_variables, second_variables])   # in this order"""
REDRAWN_CODE: Final = """\
# actions: those that were taken, stored with their results
log_prob = tf.gather(tf.nn.log_softmax(logits), actions, batch_dims=1)
loss = -tf.reduce_mean(log_prob * advantages)"""
UNENDED_CODE: Final = """\
# {name}: 1 where this step ended the episode, else 0
target = reward + gamma * (1.0 - tf.cast({name}, tf.float32)) * value_of_next"""
UNREAD_END_CODE: Final = """\
# {name}: 1 where this step ended the episode, else 0
target = reward + gamma * (1.0 - {name}) * value_of_next"""
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


def _say_explored(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    known = {"name": str(lead.slip["name"]), "by": str(lead.slip.get("by", ""))}
    title, seen, why, fix, code = (part.format(**known) for part in EXPLORED[str(lead.slip["explores"])])
    title += say_line(lead.slip.get("source"))
    return title, seen, Hypothesis(title, 0.95, why, fix, code)


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


POLICIES: Final[Words] = {
    SlipKind.REDRAWN: _say_redrawn,
    SlipKind.UNENDED: _say_unended,
    SlipKind.STRANGERS: _say_strangers,
    SlipKind.REPLACED: _say_replaced,
    SlipKind.PAST: _say_past,
    SlipKind.EXPLORED: _say_explored,
    SlipKind.GROWN: _say_grown,
    SlipKind.LOST: _say_lost,
    SlipKind.UNSTOPPED: _say_unstopped,
    SlipKind.AVERSE: _say_averse,
    SlipKind.BELITTLED: _say_belittled,
    SlipKind.LARGER: _say_larger,
    SlipKind.CERTAIN: _say_certain,
    SlipKind.UNDETACHED: _say_undetached,
    SlipKind.INVERSE: _say_inverse,
    SlipKind.GREEDY: _say_greedy,
    SlipKind.UNFOLLOWED: _say_unfollowed,
    SlipKind.CLIMBING: _say_climbing,
}
"""What each tells: a title, what was seen, and the cause."""
