"""A report: plain data in, one page out that needs no network and no script but the Stepper's."""

from kafkalearn.views.report.page import page

__all__ = ["page"]
