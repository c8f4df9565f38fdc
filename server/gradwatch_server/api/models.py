"""The shapes of answers, for OpenAPI and for the tests that hold answers against them. Owns no behaviour."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from gradwatch_server.messages import Kind

__all__ = [
    "CaptureHistory",
    "Comparison",
    "ControlAccepted",
    "ControlWishes",
    "ErrorAnswer",
    "FigureSpecification",
    "Finding",
    "FindingList",
    "ForecastList",
    "Health",
    "Heatmap",
    "InputColumns",
    "Login",
    "Nonfinite",
    "Report",
    "ReviewWish",
    "RunChange",
    "RunDetail",
    "RunList",
    "Sequel",
    "Series",
    "TensorTable",
]

PLAN_LIMIT = 2**31 - 1
Level = Literal["healthy", "warning", "critical"]
RunState = Literal["live", "finished", "crashed", "lost_contact"]
ReviewState = Literal["acknowledged", "dismissed"]
ScalarState = Literal["nan", "+inf", "-inf"] | None
Numbers = list[float | None]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ErrorAnswer(_Shape):
    """Every error."""

    code: str = Field(examples=["unknown_run"])
    message: str = Field(examples=["There is no run 'k3x9'; it may have been deleted."])
    detail: Any = Field(examples=[{"run_id": "k3x9"}])


class Health(_Shape):
    """A run's health at a glance."""

    level: Level = Field(description="Of all findings that nobody dismissed.")
    n_findings: int = Field(description="Findings that nobody dismissed.")
    n_open: int = Field(description="Of these, those that nobody has acknowledged either.")
    title: str | None = Field(description="The leading finding's title.")


class Sparkline(_Shape):
    """A run in at most 60 points."""

    loss: Numbers
    loss_state: list[ScalarState]
    gradient_norm: Numbers


class RunSummary(_Shape):
    """A run as lists show it."""

    id: str = Field(examples=["20260321-101500-k3x9"])
    name: str = Field(examples=["digits-cnn"])
    project: str = Field(examples=["default"])
    state: RunState
    started_at: str = Field(examples=["2026-03-21T10:15:00.000Z"])
    ended_at: str | None
    last_step: int | None = Field(description="The newest step, null before the first.", examples=[811])
    tags: list[str]
    config: dict[str, Any] = Field(examples=[{"learning_rate": 0.001}])
    environment: dict[str, Any] = Field(examples=[{"tensorflow": "2.21.0"}])
    n_rows_lost: int = Field(description="Rows that the hook could not read in time.")
    n_skipped: int = Field(description='Steps not applied by on_nonfinite="skip".')
    cost: float | None = Field(description="The hook's newest share of wall time.", examples=[0.012])
    url: str = Field(examples=["/runs/20260321-101500-k3x9"])
    health: Health


class ListedRun(RunSummary):
    """A run in the list."""

    sparkline: Sparkline


class RunList(_Shape):
    """Runs, newest first."""

    runs: list[ListedRun]
    total: int = Field(description="How many there are without limit and offset.")


class Stream(_Shape):
    """One optimizer's sequence of rows."""

    stream: int
    optimizer: str
    n_tensors: int
    worker: int
    replica: int | None = Field(description="Whose own gradients these are; null: what is applied.")


class RunWorker(_Shape):
    """One of the processes that train together."""

    worker: int
    state: Literal["live", "finished", "crashed"] = Field(description="What it said last.")
    last_step: int | None


class RunDetail(RunSummary):
    """One run."""

    error: str | None = Field(description="What a crashed training said last.")
    streams: list[Stream]
    workers: list[RunWorker]


class RunChange(_Shape):
    """What may be changed of a run; what is left out stays."""

    name: str | None = Field(None, min_length=1, max_length=1000, examples=["digits-cnn, smaller rate"])
    project: str | None = Field(None, min_length=1, max_length=1000)
    tags: list[str] | None = Field(None, max_length=100)


class Cadence(_Shape):
    """How often full statistics are taken from a step on, and of which kinds."""

    step: int
    period: int = Field(description="Full rows at every so many steps.", examples=[8])
    every: int = Field(description="What a person asked for, 0 for as the budget allows.", examples=[0])
    kinds: list[str] = Field(examples=[["gradient", "weight", "update"]])
    until_step: int | None = Field(description="The end of everything at each step, exclusive.")
    cost: float | None = Field(description="The share of step time that full rows cost, null until measured.")
    reason: Literal["budget", "control"]
    worker: int


class CaptureHistory(_Shape):
    """How the cadence of full statistics changed, each worker's oldest change first."""

    capture: list[Cadence]


class ControlWishes(_Shape):
    """What a running training is asked for; at least one of these."""

    every: int | None = Field(
        None, ge=0, le=PLAN_LIMIT, description="Full rows at every so many steps; 0: as the budget allows."
    )
    kinds: list[Kind] | None = Field(
        None, min_length=1, max_length=20, description="Full statistics of these only; gradients stay."
    )
    everything_for: int | None = Field(None, ge=1, le=PLAN_LIMIT, description="Everything for so many steps.")
    stop: str | None = Field(
        None, min_length=1, max_length=1000, description="End the training, for this reason.", examples=["loss is NaN"]
    )


class ControlAccepted(_Shape):
    """A control was sent to the training, which answers with a change of its cadence, or with its end."""

    id: str
    run_id: str
    not_captured: list[str] = Field(description="Kinds that were asked for and that the training cannot give.")


class Tensor(_Shape):
    """One variable and what is captured of it."""

    tensor: str = Field(examples=["digits/conv/kernel"])
    layer: str
    variable: str
    kinds: list[str] = Field(examples=[["gradient", "weight", "update"]])
    shape: list[int | None]
    dtype: str
    n_elements: int | None
    optimizer: str
    depth: int = Field(description="The layer's place, counted from the input.")


class TensorTable(_Shape):
    """What a run captures."""

    tensors: list[Tensor]
    scalars: list[str] = Field(examples=[["loss", "learning_rate", "gradient_norm"]])


class Series(_Shape):
    """One line with its band. With `downsampled_by` above 1 a point stands for that many steps."""

    tensor: str
    kind: str
    statistic: str | None
    steps: list[int] = Field(description="The first captured step of each point.", examples=[[0, 1, 2]])
    min: Numbers
    mean: Numbers
    max: Numbers
    n_nonfinite: Numbers = Field(description="The largest count at one step; for a scalar the number of such steps.")
    times: Numbers = Field(description="Unix seconds.")
    state: list[ScalarState] | None = Field(None, description="For scalars only: what is not finite, and how.")
    downsampled_by: int


class Heatmap(_Shape):
    """All tensors of a kind over steps. A column begins at its step and ends where the next begins."""

    kind: str
    statistic: str
    tensors: list[str]
    steps: list[int]
    step_end: int
    values: list[Numbers]
    n_nonfinite: list[Numbers]
    missing: list[list[int]] = Field(description="1 where a gradient was None.")
    downsampled_by: int


class Nonfinite(_Shape):
    """The lane: in each column the largest number of non-finite elements of one tensor at one step."""

    steps: list[int]
    step_end: int
    gradient: Numbers = Field(description="Null where no gradient was captured; so with the other kinds.")
    weight: Numbers
    update: Numbers
    loss: list[int]
    downsampled_by: int


class BadRows(_Shape):
    """The rows of one batch that were not finite."""

    step: int
    worker: int
    rows: list[int] = Field(description="The first of them.", examples=[[3, 17]])
    n_rows: int = Field(description="How many there were.")


class InputColumns(_Shape):
    """An input's feature columns over the steps at which they were captured."""

    tensor: str = Field(examples=["input"])
    n_columns: int = Field(description="0 where there are too many, or none.")
    n_steps: int = Field(description="Steps captured: those with full statistics or a non-finite element.")
    n_lost: int = Field(description="Steps that the hook could not read in time.")
    first_step: int | None
    last_step: int | None
    n_nonfinite: list[int]
    n_steps_nonfinite: list[int]
    min: Numbers
    max: Numbers
    rows: list[BadRows] = Field(description="The newest steps with bad rows, the newest first.")


class Operation(_Shape):
    """An operation of the graph."""

    type: str
    name: str


class Excerpt(_Shape):
    """Lines of the user's program, as they stand in the file."""

    first: int = Field(ge=1, description="The number of the first line.", examples=[45])
    lines: list[str]


class Source(_Shape):
    """A line of the user's program."""

    file: str
    line: int | None
    code: str | None
    excerpt: Excerpt | None = Field(None, description="The lines around it, where the hook could read them.")


class Hypothesis(_Shape):
    """A possible cause and its cure."""

    cause: str
    confidence: float
    why: str
    fix: str
    code: str | None


class Review(_Shape):
    """What a person said of a finding."""

    state: ReviewState
    note: str = Field(examples=["The teacher is meant to be frozen."])
    at: str = Field(examples=["2026-03-21T10:21:07.000Z"])


class ReviewWish(_Shape):
    """What a person says of a finding. It is said of the finding as it is: one that grows more severe is open again."""

    state: ReviewState = Field(description="acknowledged: it is true and known; dismissed: it is none, or meant.")
    note: str = Field(
        "",
        max_length=2000,
        description="Why, for others.",
        examples=["The teacher is meant to be frozen."],
    )


class View(_Shape):
    """Where on the Run page a finding is seen: the heatmap's kind and statistic, and the steps around its onset."""

    kind: str = Field(examples=["gradient"])
    statistic: str = Field(examples=["norm"])
    from_: int | None = Field(alias="from", examples=[772])
    to: int | None = Field(examples=[833])


class Finding(_Shape):
    """What went wrong, since when, where, and why."""

    id: str
    kind: str = Field(examples=["nonfinite_gradient"])
    severity: Literal["warning", "critical"]
    first_step: int
    last_step: int | None
    title: str
    layer: str | None
    tensor: str | None
    operation: Operation | None
    source: Source | None
    evidence: dict[str, Any]
    hypotheses: list[Hypothesis]
    worker: int | None
    review: Review | None = Field(description="What a person said of it; null: it is open.")
    view: View = Field(description="Where on the Run page it is seen.")


class FindingList(_Shape):
    """Findings, the leading one first, dismissed ones last."""

    findings: list[Finding]


class ForecastRun(_Shape):
    """The run of a forecast."""

    id: str
    name: str
    project: str


class ForecastFinding(_Shape):
    """The finding that told a forecast."""

    id: str
    kind: str
    title: str
    source: Source | None


class Forecast(_Shape):
    """A trend towards the end of numbers, told before anything was NaN, and what became of it."""

    run: ForecastRun
    finding: ForecastFinding
    what: str = Field(description="What moves.", examples=["Log's smallest input"])
    from_: float | None = Field(alias="from")
    to: float | None
    from_step: int
    known_step: int = Field(description="The step at which it was told.")
    n_steps: int
    slope: float | None = Field(description="Per step, of its logarithm (of an exponential's headroom: itself).")
    limit: float | None
    at_step: int = Field(description="When the limit should be reached.")
    at_step_low: int
    at_step_high: int
    outcome: Literal["came_true", "did_not", "pending"]
    outcome_step: int | None
    lead_steps: int | None = Field(description="How many steps before it came true it was told.")


class ForecastCounts(_Shape):
    """What became of forecasts."""

    came_true: int
    did_not: int
    pending: int


class ForecastList(_Shape):
    """Forecasts, those of the newest run first."""

    forecasts: list[Forecast]
    total: int
    counts: ForecastCounts = Field(description="Of all, not only of those listed.")


class Again(_Shape):
    """The finding of a later run that is of the same sort."""

    id: str
    kind: str
    first_step: int
    title: str


class Outcome(_Shape):
    """What became of a finding in the next run."""

    id: str = Field(description="The finding, of the earlier run.")
    outcome: Literal["came_back", "not_seen", "too_short"] = Field(
        description="too_short: the next run has not got as far as the step at which it began."
    )
    n_steps: int = Field(description="Steps of the next run.")
    again: Again | None


class Sequel(_Shape):
    """The next run by the same script or name in the project, else of its model in a named project; null: none."""

    run: RunSummary | None
    findings: list[Outcome]


class OtherSetting(_Shape):
    """A setting that is not the same in two runs; null where a run has none."""

    key: str = Field(examples=["optimizer.learning_rate"])
    there: Any
    here: Any


class OtherValue(_Shape):
    """A scalar of two runs: the median over the 20 steps before a step."""

    name: str = Field(examples=["gradient_norm"])
    there: float
    here: float


class Baseline(_Shape):
    """The last healthy run before a run: of the same script or name, else model in a named project; null: none."""

    run: RunSummary | None
    config: list[OtherSetting] = Field(description="What was set otherwise there.")
    step: int | None = Field(description="The first step of the leading finding, or the last step that both have.")
    values: list[OtherValue] = Field(description="The loss, the gradient norm and the learning rate before that step.")


class ReportView(View):
    """What a report draws: the whole run, or a finding."""

    finding: str | None = Field(description="The finding's id; null: the whole run.")
    tensor: str | None = Field(description="Whose lines are drawn beside the heatmap.")


class Report(_Shape):
    """A run to hand on."""

    gradwatch_report: Literal[1]
    gradwatch: str = Field(description="The version that made it.")
    made_at: str
    run: RunDetail
    findings: list[Finding]
    next: Sequel
    baseline: Baseline
    capture: list[Cadence]
    tensors: list[Tensor]
    scalars: list[str]
    views: list[ReportView]
    answers: dict[str, Any] = Field(description="The numbers of the views: what a GET of each address answered.")


class ConfigRow(_Shape):
    """One setting over all runs compared."""

    key: str = Field(examples=["optimizer.learning_rate"])
    values: list[Any]
    differs: bool


class ComparedSeries(_Shape):
    """The scalars laid over each other."""

    loss: list[Series]
    gradient_norm: list[Series]


class Comparison(_Shape):
    """Two to eight runs side by side."""

    runs: list[RunSummary]
    config: list[ConfigRow]
    tensors: list[str] = Field(description="Tensors that all of them have.")
    series: ComparedSeries


class FigureSpecification(_Shape):
    """A Plotly figure without data."""

    data: list[dict[str, Any]]
    layout: dict[str, Any]


class Login(_Shape):
    """What the login page sends."""

    token: str
