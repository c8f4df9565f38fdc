"""Terms of a loss that a step reports and does not differentiate are told; what only measures, or waits, is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gradwatch.slips.script.reported import find_reported

KL = "kl = tf.reduce_mean(-0.5 * tf.reduce_sum(1 + log_var - tf.square(mu) - tf.exp(log_var), -1))"
KL_POWER = "kl = -0.5 * tf.reduce_mean(log_var + 1 - mu ** 2 - tf.exp(log_var))"
CODER = """
class Coder(keras.Model):
    def train_step(self, data):
        with tf.GradientTape() as tape:
            mu, log_var = self.enc(data)
            z = mu + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mu))
            recon = tf.reduce_mean(tf.square(data - self.dec(z)))
            {kl}
            {loss}
        grads = tape.gradient({of}, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.kl_tracker.update_state(kl)
        {more}
        return {{"loss": {of}, "kl": kl}}
"""
LOOP = """
for epoch in range(5):
    for x, y in data:
        with tf.GradientTape() as tape:
            pred, code = model(x, training=True)
            mse = tf.reduce_mean(tf.square(y - pred))
            {lines}
        grads = tape.gradient({of}, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        {after}
    print(epoch, float(mse))
"""
TOTAL = "total = mse + penalty"
L2 = "l2 = 1e-4 * tf.add_n([tf.nn.l2_loss(v) for v in model.trainable_variables])"
PENALTY = "penalty = beta * tf.reduce_mean(tf.abs(code))"
Find = Callable[[str], list[tuple[str, str, str]]]


@pytest.fixture
def find(tmp_path: Path) -> Find:
    """What is left out, of what, and the line, in a file that is not run."""

    def read(text: str) -> list[tuple[str, str, str]]:
        path = tmp_path / f"train_{len(list(tmp_path.iterdir()))}.py"  # a file is read once
        path.write_text(text)
        found = find_reported([str(path)])
        assert all((one["type"], one["unused"]) == ("Line", "reported") for one in found)
        return [(one["missing"], one["of"], one["source"]["code"]) for one in found]

    return read


def coder(kl: str = KL, loss: str = "loss = recon", of: str = "loss", more: str = "") -> str:
    return CODER.format(kl=kl, loss=loss, of=of, more=more)


def loop(*lines: str, of: str = "mse", after: str = "") -> str:
    return LOOP.format(lines="\n            ".join(lines), of=of, after=after)


@pytest.mark.parametrize("kl", [KL, KL_POWER])
def test_a_divergence_of_codes_that_is_only_a_metric(find: Find, kl: str) -> None:
    assert find(coder(kl)) == [("kl", "loss", kl)]
    assert find(coder(kl, loss="pass", of="recon")) == [("kl", "recon", kl)]


@pytest.mark.parametrize(
    "text",
    [
        coder(loss="loss = recon + kl"),
        coder(loss="loss = recon\n            loss += self.beta * kl"),
        coder(loss="loss = recon + 0.1 * self.mmd(z)"),  # another one in its place
        coder(loss="loss = recon\n            self.add_loss(kl)"),
        coder(loss="terms = [recon]\n            terms.append(kl)\n            loss = tf.add_n(terms)"),
        coder(loss="loss = recon if self.epoch < 3 else recon + kl"),
        coder(loss="loss = recon\n            if kl < 3.0: loss = 2 * loss"),
        coder(kl="kl = tf.reduce_mean(log_var - old)"),  # how far a policy has moved
        coder().replace("tf.random.normal(tf.shape(mu))", "1.0"),  # nothing is drawn
        coder(loss="loss = vae_loss(data, self.dec(z), mu, log_var)"),  # it may be in there
        coder(loss="loss = -tf.reduce_mean(tf.reduce_logsumexp(log_px - log_q, axis=0))"),  # a bound of several draws
        coder(loss="loss = bound(self, data)") + "def bound(m, x): return log_normal_pdf(z, mu, log_var)",
        coder(more="other = tape.gradient(recon + kl, self.enc.trainable_variables)"),
        coder(of="recon") + "    def later(self, tape, recon, kl):\n        with tf.GradientTape() as tape:\n"
        "            full = recon + kl\n        self.optimizer.apply(tape.gradient(full, self.weights))\n",
    ],
)
def test_a_divergence_that_is_differentiated_or_may_be_looked_at(find: Find, text: str) -> None:
    assert find(text) == []


@pytest.mark.parametrize(
    "after", ["", "history.append(float(total))", "print(f'{total:.3f}')", "seen += total.numpy()"]
)
def test_a_sum_of_the_loss_and_a_penalty_that_nothing_differentiates(find: Find, after: str) -> None:
    assert find(loop("penalty = tf.add_n(norms)", TOTAL, after=after)) == [("penalty", "mse", TOTAL)]


def test_a_sum_whose_term_has_no_name(find: Find) -> None:
    line = "total_loss = mse + 0.01 * tf.add_n(norms)"
    assert find(loop(line, after="print(total_loss)")) == [("total_loss", "mse", line)]
    line = "total_loss = mse + 1e-8"
    assert find(loop(line, after="print(total_loss)")) == []


def test_a_sum_of_an_alias(find: Find) -> None:
    lines = ("penalty = tf.add_n(norms)", "loss = mse", "total = loss + lam * penalty")
    assert find(loop(*lines, of="loss", after="print(total)")) == [("penalty", "loss", lines[2])]


def test_a_term_with_a_weight_of_its_own(find: Find) -> None:
    assert find(loop(PENALTY, after="bar.set(penalty)")) == [("penalty", "mse", PENALTY)]
    assert find(loop(L2, after="l2_metric.update_state(l2)")) == [("l2", "mse", L2)]
    assert find(loop(L2, after="t.assign(0.9 * t + 0.1 * w); print(l2)")) != []  # a slow copy


def test_what_layers_add(find: Find) -> None:
    line = "extra = tf.add_n(model.losses)"
    assert find(loop(line, after="m(extra)")) == [("extra", "mse", line)]
    assert find(loop(line, "other = sum(model.losses)", "mse += other", after="m(extra)")) == []
    assert find(loop(line, "mse = model.compute_loss(x, y, pred)", after="m(extra)")) == []
    layer = "layer = Dense(4, {}_regularizer='l2')"
    assert find(layer.format("kernel") + loop(line, after="m(extra)")) == []  # told by what its variables are
    assert find(layer.format("activity") + loop(line, after="m(extra)")) != []
    assert find(loop("extra = keras.losses.mae(y, pred)", after="m(extra)")) == []


@pytest.mark.parametrize(
    "text",
    [
        loop("penalty = tf.add_n(norms)", TOTAL, of="total", after="print(mse)"),
        loop("penalty = tf.add_n(norms)", TOTAL, of="mse, x)\n        more = tape.gradient(total"),
        loop("penalty = tf.add_n(norms)", TOTAL, after="if total > worst: break"),
        loop("penalty = tf.add_n(norms)", TOTAL, after="self.total = total"),
        loop("offset = tf.reduce_max(code)", "score = mse + offset", after="print(score)"),  # no loss by its name
        loop("penalty = tf.add_n(norms)", TOTAL).replace("optimizer", "AdamW(1e-3)"),  # it is applied beside
        loop("penalty = tf.reduce_mean(tf.abs(code))", after="print(penalty)"),  # looked at
        loop("kl = 0.5 * tf.reduce_mean((new - old) ** 2)", after="print(kl)"),
        loop("cost = sigma * tf.reduce_mean(tf.abs(y - pred))", after="print(cost)"),  # in the targets' unit
        loop("psnr_loss = beta * mse", after="print(psnr_loss)"),  # of the loss
        loop(PENALTY, "def full(): return mse + penalty", after="print(penalty)"),
        loop(PENALTY, after="print(penalty)").replace("with tf.GradientTape() as tape", "if True"),
        loop(PENALTY, of="loss_of(mse, penalty)", after="print(penalty)"),
        loop(PENALTY, after="print(penalty)").replace("optimizer.apply_gradients", "print"),  # its caller's step
        loop(TOTAL, after="print(total)"),  # a penalty from before the tape
        loop("l1_cm = 0.1 * tf.reduce_mean(tf.abs(pred - y))", after="print(l1_cm)"),  # in another unit
        loop("total_kwh = 0.001 * tf.reduce_sum(pred)", after="print(total_kwh)"),
        loop("energy_cost = price_coef * tf.reduce_sum(pred)", after="print(energy_cost)"),
        loop("scaled_loss = y_weight * tf.reduce_mean(tf.abs(pred - y))", after="print(scaled_loss)"),
        loop(L2, after="[w.assign(w * (1 - 1e-4)) for w in model.weights]; print(l2)"),  # made smaller by hand
        loop(L2, after="w.assign_sub(rate * 1e-4 * w); print(l2)"),
        loop(L2, after="print(l2); grads = [g + 1e-4 * w for g, w in zip(grads, model.trainable_variables)]"),
        loop("critic_loss = td(y)", "total_loss = mse + critic_loss", after="critic.fit(x, y); print(total_loss)"),
        loop("icm_loss = self.icm.loss(x)", "total = mse + icm_loss", after="self.icm.update(x); print(total)"),
    ],
)
def test_what_measures_or_is_differentiated(find: Find, text: str) -> None:
    assert find(text) == []


APART = """
def losses_of(x, y):
    pred, code = model(x, training=True)
    mse = tf.reduce_mean(tf.square(y - pred))
    sparsity = beta * tf.reduce_mean(tf.abs(code))
    return mse, sparsity

def step(x, y):
    with tf.GradientTape() as tape:
        {line}
        loss = {loss}
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss, sparsity
"""


@pytest.mark.parametrize(("loss", "is_told"), [("mse", True), ("mse + sparsity", False)])
def test_a_term_that_a_function_gives(find: Find, loss: str, is_told: bool) -> None:
    line = "mse, sparsity = losses_of(x, y)"
    assert find(APART.format(line=line, loss=loss)) == ([("sparsity", "loss", line)] if is_told else [])


TOGETHER = """
def losses_of(x):
    mu, log_var = encode(x)
    out = decode(mu + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mu)))
    recon = tf.reduce_mean(tf.square(x - out))
    {kl}
    {line}
    return loss, recon, kl

def step(x):
    with tf.GradientTape() as tape:
        loss, recon, kl = losses_of(x)
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss, recon, kl
"""


@pytest.mark.parametrize(
    ("line", "is_told"),
    [("loss = recon", True), ("loss = recon + kl", False), ("loss = recon\n    loss += 0.1 * kl", False)],
)
@pytest.mark.parametrize("kl", [KL, "kl = beta * tf.reduce_mean(tf.square(mu))"])
def test_a_function_that_gives_the_sum_and_its_terms(find: Find, kl: str, line: str, *, is_told: bool) -> None:
    taken = "loss, recon, kl = losses_of(x)"
    assert find(TOGETHER.format(kl=kl, line=line)) == ([("kl", "loss", taken)] if is_told else [])
