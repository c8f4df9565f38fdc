"""A run as one thing to hand on: everything that its page shows, gathered once.

archive     the run, its findings and the numbers that show them, as the REST interface would answer
document    the archive and the page's own modules in one HTML file, which draws them without a server
"""

from gradwatch_server.report.archive import make_archive
from gradwatch_server.report.document import MARK, render_document

__all__ = ["MARK", "make_archive", "render_document"]
