"""Debian's chromium, driven by selenium: `make test-browser` installs it and runs these tests."""

import shutil
import warnings
from pathlib import Path

import pytest

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
    "--force-device-scale-factor=1",
)  # fmt: skip
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A browser with a fresh profile, whose console messages are kept."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    assert chromium and driver, "chromium or chromedriver is missing; make test-browser installs them."
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}", "--window-size=1200,900"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # selenium's own, about sockets
        started = webdriver.Chrome(options=options, service=Service(driver))
    started.set_page_load_timeout(60)
    yield started
    started.quit()


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """Solutions of a line, a plane with a known solution, and a space, each with its page."""
    from jumpnet.files import read_file

    folder = tmp_path_factory.mktemp("reports")
    made = {}
    for name in ("wall", "star", "sphere"):
        read = read_file(EXAMPLES / f"{name}.toml")
        solution = read.solve(progress=False)
        solution.write_report(folder / f"{name}.html", title=read.title)
        made[name] = solution, folder / f"{name}.html"
    return made


class Page:
    """One report in the browser: what a person does to it, and what it answers."""

    def __init__(self, browser, path):
        self.browser = browser
        browser.get_log("browser")
        browser.get(path.as_uri())
        self.wait("return document.querySelector('[data-is=viewer]').dataset.ready === 'yes'")

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def wait(self, script):
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.browser, 20).until(lambda _: self.run(script))

    def find(self, name):
        return self.browser.find_element("css selector", f"[data-is={name}]")

    def pixel(self, x, y=0.0):
        """Where a point of the world is, counted from the middle of the canvas."""
        px, py = self.run("return jumpnet.viewer.current.toPixel(arguments[0], arguments[1])", x, y)
        size = self.find("canvas").size
        return round(px - size["width"] / 2), round(py - size["height"] / 2)

    def mouse(self, x, y=0.0):
        from selenium.webdriver.common.action_chains import ActionChains

        canvas = self.find("canvas")
        self.run("arguments[0].scrollIntoView({block: 'center'})", canvas)
        return ActionChains(self.browser).move_to_element_with_offset(canvas, *self.pixel(x, y))

    def click(self, x, y=0.0):
        self.mouse(x, y).click().perform()

    def keys(self, *keys):
        self.find("canvas").send_keys(*keys)

    def readout(self):
        return self.find("readout").text

    def table(self):
        rows = self.find("probes").find_elements("css selector", "tr")
        return [[cell.text for cell in row.find_elements("css selector", "th, td")] for row in rows]

    def errors(self):
        return [entry for entry in self.browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


@pytest.fixture
def opened(browser, reports):
    """opened("star", width=375): the solution and its page."""

    def open_(name, width=1200, height=900):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        solution, path = reports[name]
        return solution, Page(browser, path)

    return open_
