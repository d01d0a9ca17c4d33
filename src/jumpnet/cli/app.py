"""The commands and their options; each command's work is in a file of its own, imported when it is called."""

from typing import Annotated

import typer

from jumpnet.cli.group import Commands
from jumpnet.cli.options import (
    LARGEST_SEED,
    Again,
    Allow,
    Cluster,
    Directory,
    File,
    FileRequest,
    Gigabytes,
    Jobs,
    Json,
    Output,
    Seconds,
    Seed,
    Set,
    Steps,
    Tolerance,
    budget_of,
    positive,
    whole,
)
from jumpnet.cli.session import Session, speaking
from jumpnet.guard import interrupts

app = typer.Typer(
    cls=Commands,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=(
        "Elliptic interface problems: materials, layers, inclusions, images and drawings, solved to a tolerance by "
        "Trefftz functions, finite elements or one shallow network that is allowed to jump, with a judged error."
    ),
    epilog="Exit codes: 0 solved, 1 not converged, 2 wrong input, 3 a fault of jumpnet's own, 130 interrupted.",
)


def _example_names(incomplete: str) -> list[str]:
    """For the shell's completion."""
    from jumpnet.experiments.examples import EXAMPLES

    return [name for name in EXAMPLES if name.startswith(incomplete)]


@app.callback(invoke_without_command=True)
def start(
    ctx: typer.Context,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Results only: no progress, no warnings.")] = False,
    verbose: Annotated[int, typer.Option("--verbose", "-v", count=True, help="Say more; twice for all.")] = 0,
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,
) -> None:
    """Set up what every command needs."""
    ctx.obj = Session(quiet=quiet, verbose=verbose > 0)
    interrupts.keeps(lambda: ctx.obj.written)
    if version:
        from jumpnet import __version__

        ctx.obj.say(f"jumpnet {__version__}")
        raise typer.Exit()
    if ctx.invoked_subcommand is None:
        ctx.obj.say(ctx.get_help())
        raise typer.Exit()
    ctx.with_resource(speaking(ctx.obj, verbose))


@app.command(epilog="Example: jumpnet demo -o demo-output")
def demo(ctx: typer.Context, output: Directory = "demo-output", seed: Seed = 0, steps: Steps = 1000) -> None:
    """Solve a drawing and a problem of the paper; write reports and pictures of both."""
    from jumpnet.cli.demo import run

    raise typer.Exit(run(ctx.obj, output, seed, steps))


@app.command(epilog="Example: jumpnet examples pde4 -o out")
def examples(
    ctx: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(help="The example to solve; without one they are listed.", autocompletion=_example_names),
    ] = None,
    output: Output = None,
    seed: Seed = 0,
    steps: Steps = 1000,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint", metavar="FILE", help="Keep the training in this file; the same command continues."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List the built-in problems, or solve one of them."""
    from jumpnet.cli.examples import listed, run

    if name is None:
        raise typer.Exit(listed(ctx.obj, json))
    raise typer.Exit(run(ctx.obj, name, output, seed, steps, checkpoint, json))


def _kinds(incomplete: str) -> list[str]:
    """For the shell's completion."""
    from jumpnet.files.starting import KINDS

    return [kind for kind in KINDS if kind.startswith(incomplete)]


@app.command(epilog="Example: jumpnet new drawing floor.toml")
def new(
    ctx: typer.Context,
    kind: Annotated[
        str | None,
        typer.Argument(
            help="A kind (without one they are listed), or your drawing, image or STL file.", autocompletion=_kinds
        ),
    ] = None,
    file: Annotated[
        str | None,
        typer.Argument(metavar="[FILE.toml]", help="Where to write; by default KIND.toml, or beside your data."),
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Write the JSON schema beside it, by which editors complete the keys.")
    ] = False,
) -> None:
    """Write a commented problem file to start from, with the data it names."""
    from jumpnet.cli.new import listed, run

    raise typer.Exit(listed(ctx.obj) if kind is None else run(ctx.obj, kind, file, schema))


@app.command(epilog="Example: jumpnet check plate.toml --picture plate.png")
def check(
    ctx: typer.Context,
    file: Annotated[str | None, typer.Argument(metavar="FILE.toml", help="A problem file.")] = None,
    set_: Set = None,
    picture: Annotated[
        str | None, typer.Option("--picture", metavar="FILE.png", help="Draw the domain and its pieces.")
    ] = None,
    json: Json = False,
    allow: Allow = None,
    seconds: Seconds = None,
    gigabytes: Gigabytes = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON schema of problem files and leave.")] = False,
) -> None:
    """Read a problem file and say what it states: pieces, interfaces, conditions."""
    from jumpnet.cli.check import run
    from jumpnet.cli.check import schema as print_schema

    if schema:
        raise typer.Exit(print_schema(ctx.obj))
    if file is None:
        raise typer.BadParameter("give the problem file to check, or --schema")
    raise typer.Exit(run(ctx.obj, FileRequest.of(file, set_, allow, seconds, gigabytes), picture, json))


@app.command(epilog="Example: jumpnet solve plate.toml -o out --set k=10")
def solve(
    ctx: typer.Context,
    file: File,
    output: Output = None,
    set_: Set = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", parser=whole(0, LARGEST_SEED), metavar="N", help="Instead of the file's seed."),
    ] = None,
    tol: Tolerance = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            parser=positive,
            metavar="SECONDS",
            help="For the solve, then the best so far is taken; by default the file's, else none.",
        ),
    ] = None,
    json: Json = False,
    allow: Allow = None,
    seconds: Seconds = None,
    gigabytes: Gigabytes = None,
) -> None:
    """Solve a problem file; write the solution, a report, pictures, probes and quantities."""
    from jumpnet.cli.solve import run

    if tol is not None and tol > 1:
        raise typer.BadParameter(f"--tol is {tol:g}; an error relative to the variation of u is wanted, such as 1e-3")
    options = {"seed": seed, "tol": tol, "time_limit": time_limit}
    raise typer.Exit(run(ctx.obj, FileRequest.of(file, set_, allow, seconds, gigabytes), options, output, json))


@app.command(epilog="Example: jumpnet sweep plate.toml --vary k=1e-3:1e4:50 -o out")
def sweep(
    ctx: typer.Context,
    file: File,
    vary: Annotated[
        list[str],
        typer.Option(
            "--vary",
            metavar="NAME=LOW:HIGH:COUNT",
            help="A constant of the file and its values, or NAME=A,B,C; repeatable: all combinations. Equal ratios "
            "where the ends differ by a factor of 100 or with :log, else equal steps.",
        ),
    ],
    samples: Annotated[
        int | None,
        typer.Option(
            "--samples",
            parser=whole(1, 10**6),
            metavar="N",
            help="Low-discrepancy points instead of all combinations.",
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    cluster: Cluster = None,
    again: Again = False,
    tol: Tolerance = None,
    output: Directory = "sweep-output",
    set_: Set = None,
    json: Json = False,
    allow: Allow = None,
    seconds: Seconds = None,
    gigabytes: Gigabytes = None,
) -> None:
    """Solve a problem file for many values of its constants; a table of its quantities with errors, and a picture.

    Each result is kept in the directory: the same command continues where it was interrupted.
    """
    from jumpnet.cli.sweep import Options, run

    options = Options(vary, samples, seed, jobs, cluster, again, tol)
    raise typer.Exit(run(ctx.obj, FileRequest.of(file, set_, allow, seconds, gigabytes), options, output, json))


@app.command(epilog="Example: jumpnet fit plate.toml --unknown k=1:1e-3:1e3 -o out")
def fit(
    ctx: typer.Context,
    file: File,
    unknown: Annotated[
        list[str] | None,
        typer.Option(
            "--unknown",
            metavar="NAME=START:LOW:HIGH",
            help="A constant to find, instead of those of the table fit; repeatable.",
        ),
    ] = None,
    noise: Annotated[
        float | None,
        typer.Option(
            "--noise",
            parser=positive,
            metavar="S",
            help="The standard deviation of a measured value; by default the file's, else estimated.",
        ),
    ] = None,
    starts: Annotated[
        int | None,
        typer.Option(
            "--starts",
            parser=whole(1, 1000),
            metavar="N",
            help="The number of starting points; by default the file's, else 1.",
        ),
    ] = None,
    output: Output = None,
    set_: Set = None,
    json: Json = False,
    allow: Allow = None,
    seconds: Seconds = None,
    gigabytes: Gigabytes = None,
) -> None:
    """Find constants of a problem file from the values that it measured; with standard deviations."""
    from jumpnet.cli.fit import run

    options = {"noise": noise, "starts": starts}
    request = FileRequest.of(file, set_, allow, seconds, gigabytes)
    raise typer.Exit(run(ctx.obj, request, unknown or [], options, output, json))


@app.command(epilog="Example: jumpnet report out/plate.jumpnet -o plate.html")
def report(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE.jumpnet", help="A saved solution.")],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="OUT.html", help="Where to write; by default beside the solution."),
    ] = None,
    json: Json = False,
    seconds: Seconds = None,
    gigabytes: Gigabytes = None,
) -> None:
    """Say how far a saved solution can be trusted, and write a page about it."""
    from jumpnet.cli.report import run

    raise typer.Exit(run(ctx.obj, file, output, json, budget_of(seconds, gigabytes)))


@app.command(epilog="Example: jumpnet reproduce pde4 --trials 3 --models CE")
def reproduce(
    ctx: typer.Context,
    tables: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[EXPERIMENT]...",
            help="fa1, fa2, pde1 to pde5, optimizers, maps, embedding, or all.",
            show_default="all",
        ),
    ] = None,
    trials: Annotated[
        int, typer.Option("--trials", parser=whole(1), metavar="N", help="How many seeds, from 0 on.")
    ] = 10,
    setting: Annotated[
        str, typer.Option("--setting", help="default, faithful (the paper's charts, weights and stops) or both.")
    ] = "default",
    models: Annotated[
        str, typer.Option("--models", help="Those of CE, SE, OH, separate, plain, solve, FEM, FVM to run, with commas.")
    ] = "",
    jobs: Jobs = None,
    cluster: Cluster = None,
    quick: Annotated[bool, typer.Option("--quick", help="Both settings, reduced: a few minutes.")] = False,
    again: Again = False,
    stored: Annotated[
        bool,
        typer.Option("--stored", help="Compute nothing: write the page about the directory's and the recorded trials."),
    ] = False,
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Count trials as done that came with the package, and compute the rest.")
    ] = False,
    output: Directory = "results",
    steps: Annotated[
        int | None,
        typer.Option(
            "--steps", parser=whole(1), metavar="N", help="The most steps of a training; by default the plan's."
        ),
    ] = None,
) -> None:
    """Compute the paper's tables and figures beside the paper's numbers; continues where it was interrupted."""
    from jumpnet.cli.reproduce import Options, run

    options = Options(trials, setting, models, steps, jobs, cluster, quick, again, stored, recorded)
    raise typer.Exit(run(ctx.obj, tables or ["all"], options, output))


@app.command(epilog="Example: jumpnet bench --quick --only assembly,step")
def bench(
    ctx: typer.Context,
    output: Directory = "bench-output",
    only: Annotated[
        str,
        typer.Option(
            "--only",
            metavar="NAME,...",
            help="Those of training, assembly, step, onehot, pieces, growth, accuracy, evaluation, latency to measure.",
        ),
    ] = "",
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes: about two minutes.")] = False,
    seeds: Annotated[
        int,
        typer.Option("--seeds", parser=whole(0), metavar="N", help="Trainings of each kind; 0: ten, quickly one."),
    ] = 0,
) -> None:
    """Measure time and accuracy beside other ways to the same numbers, as ratios."""
    from jumpnet.cli.bench import run

    raise typer.Exit(run(ctx.obj, output, only, quick, seeds))


@app.command(epilog="Example: jumpnet info --json")
def info(ctx: typer.Context, json: Json = False) -> None:
    """Versions, devices, threads and cache: what to put into a bug report."""
    from jumpnet.cli.info import run

    raise typer.Exit(run(ctx.obj, json))
