"""``python -m gradwatch_server`` is ``gradwatch``."""

from gradwatch_server.entry import main

main()
