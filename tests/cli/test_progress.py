"""Progress: a bar on a terminal, a few plain lines elsewhere, counted over all random starts."""

import io

import pytest
from rich.console import Console

from jumpnet.engines.progress import bar, shown
from jumpnet.optim import Record


def steps(update, *numbers: int, best: float = 1e-3) -> None:
    for number in numbers:
        update(Record(number, 1.0, (), 1.0, 1.0, 0.0), best)


def text_of(terminal: bool, total: int, *starts: range) -> str:
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=80)
    with bar("disk", total, console) as update:
        for k, start in enumerate(starts):
            steps(update, *start, best=10.0 ** -(5 - k))
    return file.getvalue()


def test_plain_lines_are_few_and_plain():
    text = text_of(False, 1000, range(1, 901))
    assert text.count("\n") == 4 and "\x1b" not in text and "\r" not in text
    assert text.startswith("disk: step 250 of at most 1000") and "900 steps" in text


def test_random_starts_are_counted_together_and_the_best_of_them_is_shown():
    text = text_of(False, 1000, range(1, 61), range(1, 61), range(1, 61), range(61, 101))
    assert "disk: 220 steps" in text and "best loss 1.0e-05" in text


def test_a_bar_that_ends_early_is_full():
    text = text_of(True, 1000, range(1, 31))
    assert "30/30" in text and "best loss 1.0e-05" in text


def test_no_steps_at_all():
    assert "0 steps" in text_of(False, 10)


def test_the_users_own_function_and_none():
    calls = []
    with shown(lambda record, best: calls.append(record.step), 10) as update:
        assert update is not None
        steps(update, 1, 2)
    assert calls == [1, 2]
    with shown(False, 10) as update:
        assert update is None


def test_an_exception_passes_through():
    with pytest.raises(KeyboardInterrupt), bar("disk", 10, Console(file=io.StringIO())) as update:
        steps(update, 1)
        raise KeyboardInterrupt


def test_a_direct_solve_counts_levels(capsys):
    with shown(True, 20) as update:
        assert update is not None
        steps(update, 1, 2)
    assert capsys.readouterr().err.startswith("Trefftz method: 2 levels in")


def test_the_live_view_shows_the_loss_of_each_kind_and_the_damping():
    from jumpnet.engines.progress import with_names

    file = io.StringIO()
    with bar("disk", 100, Console(file=file, force_terminal=True, width=120)) as update:
        told = with_names(update, ("pde 0", "pde 1", "jump 0-1"))
        told(Record(1, 6.0, (1.0, 2.0, 3.0), 0.5, 1.0, 0.0), 6.0)
    text = file.getvalue()
    assert "pde 3.0e+00" in text and "jump 3.0e+00" in text and "damping 5.0e-01" in text and "left" in text
    assert with_names(None, ()) is None
