"""The answers about a run's cadence and controls, as the page's tests read them."""

from tests.contract.snapshots_io import check
from tests.serving import Server, wait_until
from tests.synthetic import SyntheticHook, SyntheticRun

RUN_ID = "20260921-161320-live"
PATH = f"/api/runs/{RUN_ID}"
KINDS = ["gradient", "weight", "update"]
CHANGES = [
    {"step": 0, "period": 1, "every": 0, "kinds": KINDS, "until_step": None, "cost": None, "reason": "budget"},
    {"step": 412, "period": 8, "every": 0, "kinds": KINDS, "until_step": None, "cost": 0.016, "reason": "budget"},
    {"step": 900, "period": 1, "every": 0, "kinds": KINDS, "until_step": 951, "cost": 0.128, "reason": "control"},
    {"step": 951, "period": 8, "every": 0, "kinds": KINDS, "until_step": None, "cost": 0.016, "reason": "control"},
    {
        "step": 1200,
        "period": 10,
        "every": 10,
        "kinds": KINDS[:2],
        "until_step": None,
        "cost": 0.01,
        "reason": "control",
    },
]


def test_answers_about_controls(tmp_path) -> None:
    run = SyntheticRun("healthy", 2, 8, run_id=RUN_ID)
    with Server(tmp_path) as server:
        with SyntheticHook(server.url, run) as hook:
            hook.greet()
            hook.send(next(run.log()))
            for seq, change in enumerate(CHANGES, start=1):
                hook.send({"type": "capture", "seq": seq, **change})
            hook.wait_for_ack(len(CHANGES))
            check("capture", server.get(f"{PATH}/capture"))
            accepted = server.request("POST", f"{PATH}/controls", json={"kinds": ["weight", "activation"]})
            assert accepted.status_code == 202
            check("control_accepted", {**accepted.json(), "id": "0123456789abcdef"})
            refused = server.request("POST", f"{PATH}/controls", json={"kinds": ["activation"]})
            check("error_kinds_not_captured", refused.json())

        def ask():
            answer = server.request("POST", f"{PATH}/controls", json={"stop": "enough"})
            return answer if answer.status_code == 409 else None

        check("error_not_connected", wait_until(ask, what="the hook to be gone").json())
