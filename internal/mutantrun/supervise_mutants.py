"""Runs tests on mutants in one process of pytest, which collects once and forks for every run.

job.json says what to do. The step "look" runs every test alone, and records which functions it
enters and which mutants a run can switch. The step "run" runs tests on mutants: it writes the
mutant into its file, and replaces the code of its functions in the fork. What a test imports or
starts later has the mutant as well.
"""

import base64
import dis
import gc
import json
import os
import signal
import sys
import threading
import time
import types

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))

with open(os.path.join(HERE, "job.json"), encoding="utf-8") as f:
    JOB = json.load(f)

FILES = {os.path.realpath(f["path"]): base64.b64decode(f["text"]) for f in JOB["files"]}
NAMES = {}  # of files in code objects: the real path, if it is one of FILES
ENTERED = set()  # functions that were entered
MESSAGE = 20000  # characters of a message that are kept
FUNCTION = 0x1  # CO_OPTIMIZED: code that is not that of a module or class


def target(name):
    if name not in NAMES:
        real = os.path.realpath(name)
        NAMES[name] = real if real in FILES else None
    return NAMES[name]


def key(path, code):
    return "%s:%d:%s" % (path, code.co_firstlineno, code.co_name)


def enter(code, *_):
    path = target(code.co_filename)
    if path is not None:
        ENTERED.add(key(path, code))
    return DISABLE


def profile(frame, event, _):
    if event == "call":
        enter(frame.f_code)


def watch(on):
    """Starts or stops the recording of the functions that are entered."""
    if DISABLE is None:
        sys.setprofile(profile if on else None)
        threading.setprofile(profile if on else None)
    elif on:
        sys.monitoring.restart_events()
        sys.monitoring.set_events(TOOL, sys.monitoring.events.PY_START)
    else:
        sys.monitoring.set_events(TOOL, 0)


def is_watching():
    return DISABLE is not None or sys.getprofile() is profile


DISABLE = None
if hasattr(sys, "monitoring"):
    TOOL = 4
    DISABLE = sys.monitoring.DISABLE
    sys.monitoring.use_tool_id(TOOL, "supervise")
    sys.monitoring.register_callback(TOOL, sys.monitoring.events.PY_START, enter)
# Files that are loaded already: what was entered then is unknown.
EARLY = {target(m.__file__) for m in list(sys.modules.values()) if isinstance(getattr(m, "__file__", None), str)}
if JOB["step"] == "look":
    watch(True)


def children(code):
    return [c for c in code.co_consts if isinstance(c, types.CodeType)]


def attributes(code):
    """Returns the names of attributes that Python 3.13 keeps with a class, and that do nothing."""
    last = nothing = object()
    for i in dis.get_instructions(code) if "__static_attributes__" in code.co_names else ():
        if i.opname == "STORE_NAME" and i.argval == "__static_attributes__":
            return last
        last = i.argval
    return nothing


def own(code):
    """Returns what a code object does, without the code objects in it and its lines."""
    ignored = attributes(code)
    consts = [(type(c), repr(c)) for c in code.co_consts if c is not ignored and not isinstance(c, types.CodeType)]
    return (
        code.co_code, consts, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags,
        code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount, getattr(code, "co_exceptiontable", None),
    )


def differences(old, new, path=()):
    """Returns the paths of code objects that differ, as chains of pairs from the module on."""
    path = path + ((old, new),)
    a, b = children(old), children(new)
    if [c.co_name for c in a] != [c.co_name for c in b]:
        return [path]
    out = [path] if own(old) != own(new) else []
    for c, d in zip(a, b):
        out += differences(c, d, path)
    return out


def identity(code):
    return (code.co_name, code.co_firstlineno, code.co_code, code.co_names)


def below(code):
    for c in children(code):
        yield c
        yield from below(c)


def functions(path):
    """Returns the live functions of a file."""
    return [f for f in gc.get_objects() if type(f) is types.FunctionType and target(f.__code__.co_filename) == path]


class Mutant:
    """A mutant, and how the code of its functions is replaced."""

    def __init__(self, job):
        self.number, self.path = job["number"], os.path.realpath(job["file"])
        self.text = base64.b64decode(job["text"])
        self.state, self.entered, self.pairs = "alone", [], []
        try:
            old = compile(FILES[self.path], self.path, "exec", dont_inherit=True)
            new = compile(self.text, self.path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            self.state = "unbuilt"
            return
        paths = differences(old, new)
        if not paths:
            self.state = "equivalent"
            return
        known = [identity(c) for c in below(old)]
        for path in paths:
            chain = [(a, b) for a, b in path if a.co_flags & FUNCTION]
            if not chain:
                return  # code of a module or class, which runs when it is imported
            for a, b in chain:
                if a.co_freevars != b.co_freevars or known.count(identity(a)) != 1:
                    return
            self.entered.append(key(self.path, chain[-1][0]))
            self.pairs += chain
        self.state = "ready"

    def fits(self, live, imported):
        """Reports whether replacing code has the effect of an import."""
        if self.path in EARLY or any(k in imported for k in self.entered):
            return False
        if not live:
            return True  # it is not imported yet
        codes = {identity(f.__code__) for f in live}
        outer = {identity(a) for a, _ in self.pairs}
        for a, b in self.pairs:
            if [c.co_name for c in children(a)] != [c.co_name for c in children(b)]:
                if any(identity(c) in codes for c in below(a)):
                    return False
        return bool(codes & outer)

    def apply(self):
        new = {identity(a): b for a, b in self.pairs}
        for f in functions(self.path):
            code = new.get(identity(f.__code__))
            if code is not None:
                f.__code__ = code.replace(co_filename=f.__code__.co_filename)


class Recorder:
    """Records whether a report of the current test is a failure."""

    failed, message = False, ""

    def pytest_runtest_logreport(self, report):
        if report.failed and not self.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            lines = [getattr(crash, "message", ""), str(report.longrepr)]
            self.failed, self.message = True, "\n".join(lines)[-MESSAGE:]


class Runs:
    """Runs tests in forks of a session that has collected them."""

    def __init__(self, session, out):
        self.session, self.out, self.stamp = session, out, time.time()

    def write(self, **line):
        os.write(self.out, (json.dumps(line) + "\n").encode())

    def child(self, number, items, first, prepare):
        os.setpgid(0, 0)
        reporter = self.session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter._tw._file = open(os.devnull, "w")
        recorder = Recorder()
        self.session.config.pluginmanager.register(recorder)
        self.session.config.option.tbstyle = "native"  # many times as fast as the others
        prepare()
        for i, item in enumerate(items):
            recorder.failed, recorder.message, started = False, "", time.monotonic()
            following = items[i + 1] if i + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            took = time.monotonic() - started
            entered = sorted(ENTERED) if number < 0 and is_watching() else None
            self.write(
                run=number, item=self.session.items.index(item), failed=recorder.failed, message=recorder.message,
                took=took, entered=entered,
            )
            if first and recorder.failed:
                self.session._setupstate.teardown_exact(None)
                break

    def fork(self, number, items, limit, first=False, prepare=lambda: None):
        """Runs tests in a fork. It returns how that ended, and the time."""
        started = time.monotonic()
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                self.child(number, items, first, prepare)
                status = 0
            finally:
                os._exit(status)
        ended, pause = 0, 0.001
        while ended == 0:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended == 0 and limit and time.monotonic() - started > limit:
                self.kill(pid)
                os.waitpid(pid, 0)
                return "stopped", time.monotonic() - started
            if ended == 0:
                time.sleep(pause)
                pause = min(pause * 1.2, 0.02)
        self.kill(pid)  # what its tests left running
        return "done" if status == 0 else "crashed", time.monotonic() - started

    def kill(self, pid):
        for send in (os.killpg, os.kill):
            try:
                send(pid, signal.SIGKILL)
                return
            except OSError:
                pass

    def save(self, path, text):
        """Writes a file with a later time than before, by which imports notice the change."""
        with open(path, "wb") as f:
            f.write(text)
        self.stamp += 1
        os.utime(path, (self.stamp, self.stamp))

    def look(self, mutants, imported):
        live = {path: functions(path) for path in FILES}
        for m in mutants:
            if m.state == "ready" and not m.fits(live[m.path], imported):
                m.state = "alone"
            self.write(mutant=m.number, state=m.state, entered=m.entered)
        live.clear()
        end = time.monotonic() + JOB["limit"]

        def prepare():
            ENTERED.clear()
            watch(True)

        for item in self.session.items:
            left = end - time.monotonic()
            if left > 0:
                self.fork(-1, [item], left, prepare=prepare)

    def run(self, mutants):
        by_number = {m.number: m for m in mutants}
        for job in JOB["runs"]:
            items = [self.session.items[i] for i in job["items"]]
            m, limit = by_number.get(job["number"]), job["limit"]
            if m is None:  # no mutant
                self.write(run=0, ended=self.fork(0, items, None)[0])
                continue
            while True:
                self.save(m.path, m.text)
                try:
                    ended = self.fork(m.number, items, limit, JOB["first"], m.apply)[0]
                finally:
                    self.save(m.path, FILES[m.path])
                if ended != "stopped":
                    break
                took = self.fork(-2, items, None)[1]
                if JOB["factor"] * took + JOB["slack"] <= limit * 1.25:
                    break  # the machine is not busier than before
                limit = JOB["factor"] * took + JOB["slack"]
                self.write(run=m.number, again=True)
            self.write(run=m.number, ended=ended)


def refusal(session):
    option = session.config.option
    if not hasattr(os, "fork") or sys.version_info < (3, 8):
        return "this Python cannot fork"
    if getattr(option, "numprocesses", None) or getattr(option, "dist", "no") != "no":
        return "pytest-xdist runs the tests"
    if session.testsfailed:
        return "tests cannot be collected"
    if threading.active_count() > 1:
        return "threads run after the collection"
    return ""


def name_items(session):
    """Reports each test as passed, with its number as the time, so that the report names them."""
    for i, item in enumerate(session.items):
        for when in ("setup", "call", "teardown"):
            report = pytest.TestReport(
                nodeid=item.nodeid, location=item.location, keywords={}, outcome="passed", longrepr=None,
                when=when, duration=float(i + 1) if when == "call" else 0.0,
            )
            item.ihook.pytest_runtest_logreport(report=report)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    early_config.known_args_namespace.no_cov = True  # pytest-cov


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    if JOB["step"] == "look":
        watch(False)
    imported = set(ENTERED)
    out = os.open(os.path.join(HERE, "results.jsonl"), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_TRUNC, 0o600)
    runs = Runs(session, out)
    why = refusal(session)
    if why:
        runs.write(refused=why)
        return True
    factory = getattr(session.config, "_tmp_path_factory", None)
    if factory is not None:
        factory.getbasetemp()  # one for all forks
    sys.stdout.flush()
    sys.stderr.flush()
    mutants = [Mutant(m) for m in JOB["mutants"]]
    if JOB["step"] == "look":
        runs.look(mutants, imported)
        name_items(session)
    else:
        runs.run(mutants)
    os.close(out)
    return True
