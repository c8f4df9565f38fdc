"""The demo: real trainings on real data, one healthy and others sick or cured, watched live.

`SCENARIOS` is the catalogue, `run` plays one or the tour. The trainings in ``scripts`` are plain user scripts that
know nothing of the demo; it runs them as processes of their own and follows them over the server's public interface.
"""

from gradwatch_server.demo.scenario import SCENARIOS, TOUR, Scenario
from gradwatch_server.demo.show import run, show_catalogue

__all__ = ["SCENARIOS", "TOUR", "Scenario", "run", "show_catalogue"]
