"""The report in a real browser: it renders, probes say what Python says, and keys and a phone will do."""

import numpy as np
import pytest

pytestmark = pytest.mark.browser


def number(text: str) -> float:
    return float(text.replace("−", "-"))


@pytest.mark.parametrize("name", ["wall", "star", "sphere"])
def test_it_renders_without_a_word_on_the_console(opened, name):
    _, page = opened(name)
    assert page.errors() == []
    drawn = page.run(
        """const c = document.querySelector('[data-is=canvas]'), seen = new Set();
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i+1] << 8 | d[i+2]);
        return seen.size"""
    )
    assert drawn > 20
    loaded = page.run("return performance.getEntriesByType('resource').map((e) => e.name)")
    assert [entry for entry in loaded if not entry.startswith("data:")] == []
    assert page.run("return [...document.images].every((i) => i.complete && i.naturalWidth > 100)")


def test_a_click_shows_the_values_that_python_gives(opened):
    solution, page = opened("star")
    for x in ([0.05, 0.1], [-0.7, 0.5], [0.6, -0.6]):
        page.click(*x)
        heads, *rows = page.table()
        at = np.array([[number(rows[-1][1]), number(rows[-1][2])]])
        assert np.abs(at - x).max() < 0.01
        names = solution.partition.names
        piece = names.index(rows[-1][heads.index("piece")])
        assert solution.partition.label(at)[0] == piece
        # Six digits of the place are shown, seven of the value.
        assert number(rows[-1][heads.index("u")]) == pytest.approx(solution(at)[0], abs=2e-5)
        flux = np.linalg.norm(solution.flux(at))
        assert number(rows[-1][heads.index("|A∇u|")]) == pytest.approx(flux, rel=1e-4)
    assert page.errors() == []


def test_a_click_on_an_interface_reads_both_sides_and_the_jump(opened):
    solution, page = opened("star")
    interface, _ = solution.partition.sample_interface((0, 1), 5, seed=3)
    for x in interface.tolist():
        page.click(*x)
        heads, *rows = page.table()
        low, high, jump = rows[-3:]
        at = np.array([[number(low[1]), number(low[2])]])
        assert np.abs(at - x).max() < 0.03 and jump[heads.index("piece")] == "jump"
        u = heads.index("u")
        expected = solution.side(at, 0)[0], solution.side(at, 1)[0]
        assert number(low[u]) == pytest.approx(expected[0], abs=1e-5)
        assert number(high[u]) == pytest.approx(expected[1], abs=1e-5)
        assert number(jump[u]) == pytest.approx(expected[0] - expected[1], abs=1e-5)
    assert "[u] = " in page.readout()


@pytest.mark.parametrize("name", ["star", "sphere"])
def test_values_between_grid_points_are_those_of_python(opened, name):
    """Everywhere, from the right piece, to within the error that the page itself states."""
    solution, page = opened(name)
    rng = np.random.default_rng(5)
    bounds = np.array(solution.partition.bounds)[:, :2]
    flat = rng.uniform(*bounds, (400, 2))
    found = page.run("return arguments[0].map(([x, y]) => jumpnet.probe(x, y))", flat.tolist())
    fixed = page.run("return Object.values(jumpnet.viewer.current.view.fixed)")
    x = np.column_stack([flat, np.tile(fixed, (len(flat), 1))]) if fixed else flat
    label, piece = solution.partition.label(x), np.array([f["piece"] for f in found])
    assert (label != piece).mean() < 0.01  # within a hundredth of a cell of an interface
    same = (label == piece) & (label >= 0)
    u = np.array([f["values"].get("u", np.nan) for f in found])[same]
    stated = page.run("return jumpnet.viewer.scene.interpolation")
    assert np.abs(u - solution(x[same])).max() < max(10 * stated, 1e-9)
    assert stated < 1e-5


def test_samples_of_interfaces_are_exact(opened):
    solution, page = opened("sphere")
    for index in (0, 40, 200):
        sides = page.run("return jumpnet.sides(0, arguments[0])", index)
        x = [[sides["x"], sides["y"], *page.run("return Object.values(jumpnet.viewer.current.view.fixed)")]]
        assert sides["u"] == pytest.approx([solution.side(x, 0)[0], solution.side(x, 1)[0]], abs=1e-13)
        assert sides["fluxJump"] == pytest.approx(solution.flux_jump(x)[0], abs=1e-9)


def test_hovering_tells_the_value(opened):
    solution, page = opened("star")
    page.mouse(0.0, 0.3).perform()
    said = page.readout()
    assert "starfish" in said and "u = " in said
    value = number(said.split("u = ")[1].split(",")[0])
    assert value == pytest.approx(solution([[0.0, 0.3]])[0], abs=0.05)
    page.mouse(-0.99, 0.99).perform()
    assert "outside" in page.readout()


def test_dragging_moves_and_the_wheel_zooms(opened):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.actions.wheel_input import ScrollOrigin

    _, page = opened("star")
    box = page.run("return jumpnet.viewer.current.box")
    page.mouse(0.0, 0.0).click_and_hold().move_by_offset(60, 30).release().perform()
    moved = page.run("return jumpnet.viewer.current.box")
    assert moved[0] < box[0] and moved[1] > box[1]
    assert page.run("return jumpnet.viewer.current.probes.length") == 0  # a drag is not a probe
    scroll = page.run("return scrollY")
    page.run("document.querySelector('[data-is=canvas]').focus({preventScroll: true})")
    ActionChains(page.browser).scroll_from_origin(ScrollOrigin.from_element(page.find("canvas")), 0, -300).perform()
    zoomed = page.run("return jumpnet.viewer.current.box")
    assert zoomed[2] - zoomed[0] < 0.8 * (moved[2] - moved[0]) and page.run("return scrollY") == scroll
    page.find("home").click()
    assert page.run("return jumpnet.viewer.current.box") == pytest.approx(box)


def test_the_interface_stays_sharp_however_far_one_zooms(opened):
    """Two neighbouring pixels across the interface have the colours of its two sides."""
    _, page = opened("star")
    page.run(
        """const v = jumpnet.viewer; v.step(1);
        const c = v.current.cursor; v.current.zoom(40, ...v.current.toPixel(c.x, c.y))"""
    )
    colours = page.run(
        """const c = document.querySelector('[data-is=canvas]'), v = jumpnet.viewer.current, inner = v.inner;
        const d = c.getContext('2d').getImageData(inner.x, inner.y, inner.w, inner.h).data, seen = {};
        for (let i = 0; i < d.length; i += 4) { const k = [d[i], d[i+1], d[i+2]].join(); seen[k] = (seen[k] || 0) + 1; }
        return Object.values(seen).sort((a, b) => b - a)"""
    )
    assert sum(colours[:40]) > 0.9 * sum(colours)  # two narrow bands of colour and a line, no ramp between them


def test_everything_works_from_the_keyboard(opened):
    from selenium.webdriver.common.keys import Keys

    solution, page = opened("star")
    for _ in range(30):
        page.browser.switch_to.active_element.send_keys(Keys.TAB)
        if page.run("return document.activeElement.dataset.is") == "canvas":
            break
    assert page.run("return document.activeElement.dataset.is") == "canvas"
    page.keys(Keys.ARROW_RIGHT, Keys.ARROW_UP)
    assert "x₁ = " in page.readout() and "starfish" in page.readout()
    page.keys(Keys.ENTER)
    heads, row = page.table()
    assert number(row[heads.index("u")]) == pytest.approx(solution([[number(row[1]), number(row[2])]])[0], abs=2e-5)
    page.keys("n")
    assert "[u] = " in page.readout() and page.table()[-1][heads.index("piece")] == "jump"
    first = page.readout()
    page.keys("n")
    assert page.readout() != first
    page.keys("p")
    assert page.readout() == first
    width = page.run("const b = jumpnet.viewer.current.box; return b[2] - b[0]")
    page.keys("+")
    assert page.run("const b = jumpnet.viewer.current.box; return b[2] - b[0]") < width
    page.keys(Keys.SHIFT, Keys.ARROW_LEFT)
    page.keys("0", Keys.ESCAPE)
    assert page.run("return jumpnet.viewer.current.probes.length") == 0
    assert page.errors() == []


@pytest.mark.parametrize("name", ["wall", "star", "sphere"])
def test_it_fits_a_phone(opened, name):
    _, page = opened(name, width=375, height=740)
    assert page.run("return document.documentElement.scrollWidth") <= 375
    assert page.run("return innerWidth") == 375
    small = page.run(
        """return [...document.querySelectorAll('button, select')].filter((e) => e.offsetParent)
        .filter((e) => e.getBoundingClientRect().height < 40).map((e) => e.textContent)"""
    )
    assert small == []
    page.find("next").click()
    assert page.table()[-1][-1] != "" and page.run("return document.documentElement.scrollWidth") <= 375
    canvas = page.find("canvas").size
    assert canvas["width"] > 330 and canvas["height"] < 740
    assert page.errors() == []


def test_quantities_and_planes_can_be_chosen(opened):
    from selenium.webdriver.support.ui import Select

    solution, page = opened("sphere")
    Select(page.find("quantity")).select_by_value("flux")
    assert page.find("shown").text == "|A∇u|"
    Select(page.find("plane")).select_by_index(1)
    page.click(0.0, 0.0)
    heads, row = page.table()
    assert heads[1:3] == ["x₁", "x₃"]
    x = [[number(row[1]), 0.0, number(row[2])]]
    assert number(row[heads.index("|A∇u|")]) == pytest.approx(np.linalg.norm(solution.flux(x)), rel=1e-4)
    assert page.errors() == []


def test_a_line_is_probed_too(opened):
    solution, page = opened("wall")
    page.click(0.15)
    heads, row = page.table()
    x = [[number(row[1])]]
    assert number(row[heads.index("u")]) == pytest.approx(solution(x)[0], abs=1e-4)
    page.click(0.38)
    jump = page.table()[-1]
    assert number(jump[heads.index("u")]) == pytest.approx(0.5, abs=1e-6)
    assert page.errors() == []


def test_the_snippet_can_be_copied(opened):
    _, page = opened("star")
    button = page.browser.find_element("css selector", "[data-copies]")
    page.run("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    page.wait("return document.querySelector('[data-copies]').textContent !== 'copy'")
    assert page.errors() == []


CONTRAST = """
const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
                     return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05; };
const behind = e => {
  for (; e; e = e.parentElement) {
    const c = numbers(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c.slice(0, 3);
  }
  return [255, 255, 255];
};
return [...document.body.querySelectorAll("*")]
  .filter(e => e.checkVisibility() && [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()))
  .map(e => { const a = light(numbers(getComputedStyle(e).color).slice(0, 3)), b = light(behind(e));
              return [Math.max(a, b) / Math.min(a, b), e.tagName + " " + e.textContent.trim().slice(0, 40)]; });
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_the_contrast_of_wcag_aa(opened, browser, scheme):
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    try:
        _, page = opened("star")
        paper = page.run("return getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
        found = page.run(CONTRAST)
        assert len(found) > 50 and [each for each in found if each[0] < 4.5] == []
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_the_map_keeps_its_size_when_the_window_changes(opened, browser):
    _, page = opened("star")
    boxes = []
    for width, height in ((1200, 900), (500, 900), (900, 500), (1200, 900)):
        browser.set_window_size(width, height)
        page.run("window.dispatchEvent(new Event('resize'))")
        boxes.append(page.run("return jumpnet.viewer.current.box"))
    assert boxes[0] == pytest.approx(boxes[-1])
