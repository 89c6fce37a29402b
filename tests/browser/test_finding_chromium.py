"""Where no Chromium is found, a learner's desk skips and says how to get one; CI fails."""

import pytest

from tests.browser.chromium import find_chromium
from tests.browser.conftest import no_chromium


def test_a_named_chromium_wins_over_the_path():
    """KAFKALEARN_CHROMIUM first, then the usual names, then none."""
    on_path = {"chromium-browser": "/bin/chromium-browser"}.get
    assert find_chromium({"KAFKALEARN_CHROMIUM": "/opt/mine"}, on_path) == "/opt/mine"
    assert find_chromium({}, on_path) == "/bin/chromium-browser"
    assert find_chromium({}, {}.get) is None


def test_without_one_the_test_is_skipped_with_a_way_out():
    """The sentence says what to install, or what to set."""
    with pytest.raises(
        pytest.skip.Exception, match=r"apt-get install chromium.*KAFKALEARN_CHROMIUM"
    ):
        no_chromium({})


def test_under_ci_it_fails():
    """There, a browser test that did not run is no success."""
    with pytest.raises(pytest.fail.Exception, match="no Chromium was found"):
        no_chromium({"CI": "true"})
