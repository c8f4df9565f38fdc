"""What can be watched, and the words for what cannot."""

import keras
import pytest
import tensorflow as tf

import gradwatch
from gradwatch import interception
from gradwatch.errors import ConfigurationError, TargetError
from tests.hook import training


def nothing_watched():
    return not interception.active_observers() and not hasattr(keras.optimizers.Optimizer.apply, "__gradwatch__")


MISTAKES = {
    "none": (
        (),
        "found 'no target', expected a Keras model, layer or optimizer, a tf.Module, or variables, e.g. gradwatch",
    ),
    "None": ((None,), "NoneType None"),
    "text": (("model",), "str 'model'"),
    "list": (([training.sequential],), "list ["),
    "class of a model": ((keras.Sequential,), "the class Sequential (an instance of it is needed)"),
    "class of an optimizer": ((keras.optimizers.Adam,), "the class Adam (an instance of it is needed)"),
    "what trains nothing": ((keras.losses.MeanSquaredError(),), "MeanSquaredError"),
}


@pytest.mark.parametrize(("targets", "words"), MISTAKES.values(), ids=MISTAKES)
def test_wrong_targets(collectors, targets, words):
    with pytest.raises(TargetError) as caught:
        gradwatch.watch(*targets)
    assert words in str(caught.value)
    assert str(caught.value).startswith("watch(): found ")
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ValueError)
    assert not collectors
    assert nothing_watched()


def test_one_wrong_among_good_ones(collectors):
    with pytest.raises(TargetError, match="int 3"):
        gradwatch.watch(training.sequential(), 3)
    assert nothing_watched()


class Stacked(keras.Model):
    """Its ``build`` is that of Keras, which makes no weights, and marks it as built all the same."""

    def __init__(self):
        super().__init__(name="stacked")
        self.parts = [(keras.layers.BatchNormalization(name="norm"), keras.layers.Dense(3, name="dense"))]

    def call(self, x, training=None):
        for norm, dense in self.parts:
            x = dense(norm(x, training=training))
        return x


@pytest.mark.filterwarnings("ignore:.*does not have a `build.*method implemented")
def test_a_model_that_is_built_by_name_alone(watch, read):
    model, optimizer = Stacked(), keras.optimizers.SGD(0.1)
    model.build((None, 4))
    assert model.built
    assert not model.variables
    watched = watch(model)
    x = tf.ones([2, 4])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    step()
    recording = read(watched)
    assert recording.tensors("activation") == ["stacked/norm", "stacked/dense"]
    assert "stacked/dense/kernel" in recording.tensors("gradient")


def test_model_with_nothing_to_train(collectors):
    model = training.sequential()
    model.trainable = False
    with pytest.raises(TargetError) as caught:
        gradwatch.watch(model)
    assert "model 'sequential_model' without trainable weights" in str(caught.value)
    assert "is every layer frozen (layer.trainable = False)?" in str(caught.value)
    assert nothing_watched()


def test_one_of_several_models_may_be_frozen_for_the_moment(watch, read):
    generator, discriminator = training.sequential(), training.sequential()
    discriminator.trainable = False
    watched = watch(generator, discriminator)
    discriminator.trainable = True
    discriminator.compile("sgd", "mse", jit_compile=False)
    discriminator.train_on_batch(
        *(tf.zeros([2, *shape[1:]]) for shape in (discriminator.input_shape, discriminator.output_shape))
    )
    assert len(read(watched).tensors("gradient")) == len(discriminator.trainable_variables)


@pytest.mark.parametrize(
    "arguments",
    [{"every": 0}, {"url": "nonsense"}, {"on_nonfinite": "explode"}, {"capture": "everything"}, {"token": "é"}],
    ids=str,
)
def test_wrong_arguments_leave_nothing_behind(arguments):
    """The real sender is asked too: an address or a token that it cannot use is a mistake of the call."""
    with pytest.raises(ConfigurationError) as caught:
        gradwatch.watch(training.sequential(), **arguments)
    assert caught.value.name == next(iter(arguments))
    assert nothing_watched()


def test_another_backend(monkeypatch):
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    with pytest.raises(ConfigurationError, match=r"the Keras backend: found 'jax', expected 'tensorflow'"):
        gradwatch.watch(training.sequential())


def test_unknown_argument():
    with pytest.raises(TypeError, match="evry"):
        gradwatch.watch(training.sequential(), evry=3)


def test_public_names():
    assert set(gradwatch.__all__) >= {"watch", "Watch", "GradwatchError", "TargetError", "NonFiniteError"}
    for name in gradwatch.__all__:
        assert getattr(gradwatch, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'unwatch'"):
        _ = gradwatch.unwatch
