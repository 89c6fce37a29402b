"""A report: plain data in, one page out that needs no network and no script but for stepping."""

from kafkalearn.views.report.page import page

__all__ = ["page"]
