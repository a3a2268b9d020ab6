"""Pages in headless Chromium: what was heard while one was open, and what an accessibility checker finds."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

SERIOUS = ("serious", "critical")


@dataclass
class Tab:
    """One open page."""

    page: Any
    """Playwright's page."""
    heard: list[str] = field(default_factory=list)
    """What it said on the console, threw, asked of a network, or tried to ask a person."""

    def open_details(self) -> None:
        """Unfold everything, so that it is checked, too."""
        self.page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")

    def width(self) -> int:
        """Give the width that the page needs, in pixels: more than the window has means scrolling sideways."""
        return int(self.page.evaluate("document.documentElement.scrollWidth"))

    def accessibility(self, *rules: str) -> list[str]:
        """Name what axe finds serious or critical, with the first element that has it; by all rules, or by these."""
        from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415

        options: dict[str, Any] = {"resultTypes": ["violations"], "preload": False} | (
            {"runOnly": list(rules)} if rules else {}
        )
        violations = Axe().run(self.page, options=options).response["violations"]
        return [
            f"{one['id']}: {one['help']} ({len(one['nodes'])}, first {one['nodes'][0]['html'][:200]})"
            for one in violations
            if one["impact"] in SERIOUS
        ]


@dataclass(frozen=True)
class Browser:
    """A running Chromium."""

    engine: Any
    """Playwright's browser."""

    @contextmanager
    def tab(self, path: Path, width: int = 1280, height: int = 900, **options: Any) -> Iterator[Tab]:  # noqa: ANN401
        """Open a page from disk; ``options`` are those of a browser context, such as ``color_scheme``."""
        context = self.engine.new_context(viewport={"width": width, "height": height}, **options)
        tab = Tab(context.new_page())
        tab.page.on("console", lambda message: tab.heard.append(f"console: {message.text}"))
        tab.page.on("pageerror", lambda error: tab.heard.append(f"error: {error}"))
        tab.page.on("dialog", lambda dialog: tab.heard.append(f"dialog: {dialog.message}"))
        tab.page.on("request", lambda request: tab.heard.append(f"request: {request.url[:99]}"))
        tab.page.goto(path.as_uri())
        try:
            yield tab
        finally:
            context.close()
        own = (f"request: {path.as_uri()[:99]}", "request: data:image/jpeg;base64,")
        tab.heard[:] = [line for line in tab.heard if not line.startswith(own)]


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium, or skip the test where there is none."""
    playwright = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium") or shutil.which("google-chrome")
    with playwright.sync_playwright() as driver:
        try:
            engine = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        except playwright.Error:
            pytest.skip("no Chromium on this machine")
        yield Browser(engine)
        engine.close()
