"""``python -m tests.health.catalogue``."""

from tests.health.catalogue.table import main

if __name__ == "__main__":
    main()
