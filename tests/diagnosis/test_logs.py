"""Logs as they come: colours, time stamps, many processes, other encodings, old formats, and no error at all."""

from __future__ import annotations

import textwrap

import pytest

from graphward.diagnosis.explain import diagnose
from graphward.diagnosis.lines import decode

ERROR = textwrap.dedent("""\
    Traceback (most recent call last):
      File "/home/me/train.py", line 21, in <module>
        Net()(Tensor(np.ones((2, 3)), ms.float32))
      File "/opt/venv/lib/python3.11/site-packages/mindspore/nn/cell.py", line 1409, in __call__
        out = self.compile_and_run(*args, **kwargs)
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      File "/opt/venv/lib/python3.11/site-packages/mindspore/graph/api.py", line 2354, in compile
        result = self._graph_executor.compile(
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    RuntimeError: Unsupported statement 'Try'.
    More details please refer to syntax support at https://www.mindspore.cn

    ----------------------------------------------------
    - C++ Call Stack: (For framework developers)
    ----------------------------------------------------
    mindspore/ccsrc/frontend/jit/ps/parse/parse.cc:999 ParseStatement

    ----------------------------------------------------
    - The Traceback of Net Construct Code:
    ----------------------------------------------------
    # 0 In file /home/me/net.py:18, 12~22
            y = self.inner(x)
                ^~~~~~~~~~
    # 1 In file /opt/venv/lib/python3.11/site-packages/mindspore/nn/layer/basic.py:12, 8~10
            x = 1
     (See file '/home/me/rank_0/om/analyze_fail.ir' for more details. Get instructions about it at https://www.mindspore.cn)
    """)
STEPS = [f"epoch: 1 step: {i}, loss is {1 / (i + 1):.4f}" for i in range(3000)]


def each(mark: str) -> str:
    """The error with a mark before each line."""
    return "".join(f"{mark}{line}\n" for line in ERROR.splitlines())


LOGS = {
    "as it is": ERROR,
    "in a training log": "\n".join([*STEPS, ERROR, *STEPS]),
    "after a progress bar": "\r".join(f"{i}%|###   |" for i in range(100)) + "\n" + ERROR,
    "with CRLF": ERROR.replace("\n", "\r\n"),
    "in colours": "".join(f"\x1b[31m{line}\x1b[0m\n" for line in ERROR.splitlines()),
    "mpirun": each("[1,0]<stderr>:"),
    "torchrun": each("[rank0]: "),
    "srun": each("0: "),
    "docker compose": each("trainer-1  | "),
    "kubectl": each("[pod/train-0/main] "),
    "time stamps": each("2026-05-01T10:00:00.123456Z "),
    "kubernetes files": each("2026-05-01T10:00:00.123456789+08:00 stderr F "),
    "logging": each("2026-05-01 10:00:00,123 - root - ERROR - "),
    "logging with brackets": each("[2026-05-01 10:00:00,123] [ERROR] "),
    "a quotation": each("> "),
    "indented": textwrap.indent(ERROR, "    "),
    "pytest": "".join(f"E   {line}\n" for line in ERROR.splitlines()[9:]),
    "chinese around it": "训练时报错如下,请问怎么解决?\n\n" + ERROR + "\n谢谢!\n",
}


@pytest.mark.parametrize("name", LOGS)
def test_the_error_is_found_whatever_is_around_it(name: str):
    (diagnosis,) = diagnose(LOGS[name])
    assert (diagnosis.entry, diagnosis.exception) == ("ME101", "RuntimeError")
    assert (diagnosis.file, diagnosis.line) == ("/home/me/net.py", 18)
    assert diagnosis.place is not None and diagnosis.place.code == "y = self.inner(x)"
    assert diagnosis.message == "Unsupported statement 'Try'."
    assert diagnosis.rules == ("GW301",) and diagnosis.command.startswith("graphward fix /home/me/net.py")
    assert "ME101" not in diagnosis.title and diagnosis.cause and diagnosis.cure


def test_the_line_of_the_log():
    (diagnosis,) = diagnose(LOGS["in a training log"])
    assert diagnosis.log_line == len(STEPS) + 1


@pytest.mark.parametrize("mark", ["[1,{}]<stderr>:", "[rank{}]: ", "{}: ", "worker_{}.log: ", "Rank {}| "])
def test_processes_that_write_into_one_another(mark: str):
    """Four processes raise the same error, their lines mixed; one raises another besides."""
    other = ['File "/home/me/data.py", line 3, in load', "ValueError: The key b does not exist in the dict:{}"]
    queues = [[(rank, line) for line in ERROR.splitlines()] for rank in range(4)]
    queues[2] = [(2, "Traceback (most recent call last):"), *((2, f"  {other[0]}"), (2, other[1])), *queues[2]]
    mixed = []
    while any(queues):
        for queue in queues:
            if queue:
                mixed.append(queue.pop(0))
    found = diagnose("".join(f"{mark.format(rank)}{line}\n" for rank, line in mixed))
    by_entry = {d.entry: d for d in found}
    assert set(by_entry) == {"ME101", "ME505"}
    assert sorted(by_entry["ME101"].ranks) == ["0", "1", "2", "3"] and by_entry["ME101"].count == 4
    assert by_entry["ME505"].ranks == ("2",)
    assert by_entry["ME505"].place is not None and by_entry["ME505"].file == "/home/me/data.py"


def test_logs_of_many_processes_shown_by_tail():
    log = "".join(f"==> log/worker_{rank}.log <==\n{ERROR}\n" for rank in range(3))
    (diagnosis,) = diagnose(log)
    assert diagnosis.ranks == ("0", "1", "2")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_encodings(encoding: str):
    (diagnosis,) = diagnose(decode(LOGS["chinese around it"].encode(encoding)))
    assert diagnosis.entry == "ME101"


def test_bytes_that_are_no_text_at_all():
    assert diagnose(decode(b"\xff\xfe\x00\xd8\x81\x30" + bytes(range(256)))) is not None


@pytest.mark.parametrize(
    ("text", "entry", "line"),
    [
        # MindSpore 1.x: numbers in brackets, the innermost place last.
        ("RuntimeError: mindspore/ccsrc/pipeline/jit/parse/parse.cc:499 ParseExprNode] Unsupported expression 'Set'.\n"
         "The function call stack (See file '/home/me/rank_0/om/analyze_fail.dat' for more details):\n"
         "# 0 In file /home/me/net.py(25)\n        y = self.inner(x)\n            ^\n"
         "# 1 In file /home/me/inner.py(7)\n        a = {1, 2}\n            ^\n", "ME111", 7),
        ("TypeError: mindspore/ccsrc/frontend/operator/x.cc:1 Infer] For 'make_range', the 0th input should be a int "
         "scalar but got AbstractTensor(shape: ())\nIn file C:\\work\\net.py:12, 8~20\n", "ME404", 12),
        ("ValueError: The key b does not exist in the dict:{}\nThe function call stack:\n"
         "In file net.py(3)/ x = d['b']/", "ME505", 3),
    ],
)  # fmt: skip
def test_old_formats_and_other_systems(text: str, entry: str, line: int):
    (diagnosis,) = diagnose(text)
    assert (diagnosis.entry, diagnosis.line) == (entry, line)


def test_a_notebook():
    text = textwrap.dedent("""\
        ---------------------------------------------------------------------------
        TypeError                                 Traceback (most recent call last)
        Cell In[3], line 5
              2 net = Net()
        ----> 5 net(x)

        File ~/envs/ms/lib/python3.11/site-packages/mindspore/nn/cell.py:1409, in Cell.__call__(self, *args)
           1407 def __call__(self):
        -> 1409     out = self.compile_and_run(*args)

        TypeError: Unsupported Constant type : 2j
        """)
    (diagnosis,) = diagnose(text)
    assert diagnosis.entry == "ME114" and diagnosis.exception == "TypeError" and diagnosis.line == 5
    assert diagnosis.place is not None and diagnosis.place.code == "net(x)"


def test_an_old_notebook():
    text = textwrap.dedent("""\
        ---------------------------------------------------------------------------
        TypeError                                 Traceback (most recent call last)
        /tmp/ipykernel_1841/2954476418.py in <module>
              9 for epoch in range(20):
        ---> 11     loss = train_network(x)
             12     print(loss)

        /usr/local/lib/python3.7/site-packages/mindspore/nn/cell.py in __call__(self, *args, **kwargs)
            577                 logger.warning("no")
        --> 578             out = self.compile_and_run(*args)

        TypeError: Unsupported Constant type : 2j
        """)
    (diagnosis,) = diagnose(text)
    assert (diagnosis.entry, diagnosis.file, diagnosis.line) == ("ME114", "/tmp/ipykernel_1841/2954476418.py", 11)
    assert diagnosis.place is not None and diagnosis.place.code == "loss = train_network(x)"


def test_an_error_that_caused_another_comes_first():
    text = (
        "Traceback (most recent call last):\n"
        '  File "/home/me/a.py", line 1, in f\n'
        "OSError: could not get source code\n\n"
        "The above exception was the direct cause of the following exception:\n\n"
        "Traceback (most recent call last):\n"
        '  File "/home/me/a.py", line 9, in g\n'
        "RuntimeError: my own trainer failed\n"
    )
    first, second = diagnose(text)
    assert first.entry == "ME117" and first.line == 1
    assert not second.known and second.message == "my own trainer failed" and second.line == 9


def test_what_the_framework_logs_besides_is_no_error_of_its_own():
    record = (
        "[ERROR] ANALYZER(17025,7f6d8f86bb80,python):2026-12-02-09:07:28.778.112 [mindspore/ccsrc/frontend/jit/ps/"
        "async_eval_result.cc:74] HandleException] Exception happened, check the information as below.\n"
    )
    warning = (
        "[WARNING] ME(17025:140108536134528,MainProcess):2026-12-02-09:07:28.761.000 [mindspore/context.py:1549] For "
        "'context.set_context', 'enable_sparse' parameter is deprecated, and will be removed in the next version.\n"
    )
    (diagnosis,) = diagnose(warning + record + ERROR)
    assert diagnosis.entry == "ME101" and diagnosis.log_line == 3


def test_a_record_of_the_framework_alone_is_diagnosed():
    text = (
        "[ERROR] ANALYZER(1,7f,python):2026-01-01-00:00:00.000.000 [mindspore/ccsrc/x.cc:74] Eval] For 'make_range', "
        "the 0th input should be a int scalar but got AbstractTensor(shape: ())\n"
    )
    (diagnosis,) = diagnose(text)
    assert diagnosis.entry == "ME404" and diagnosis.exception == ""


def test_lines_that_are_no_exception():
    log = "\n".join([*STEPS, "Segmentation fault (core dumped)", *STEPS])
    (diagnosis,) = diagnose(log)
    assert diagnosis.entry == "ME811" and diagnosis.log_line == len(STEPS) + 1 and diagnosis.file is None


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "\n".join(STEPS), "[WARNING] ME(1:2,MainProcess):2026-01-01-00:00:00.0 [x.py:1] something odd\n" * 80],
)
def test_a_log_without_errors(text: str):
    assert diagnose(text) == []


def test_words_of_a_program_are_no_errors():
    """A training log may speak of errors; only exceptions and known messages are diagnosed."""
    log = "\n".join([*STEPS[:100], "validation error: 0.031", "mean absolute error 0.2", "Errors: 0", *STEPS[:100]])
    assert diagnose(log) == []


def test_an_unknown_message_names_what_is_near_and_says_that_it_is_unknown():
    said = "For 'make_range', the 3rd number must be an int scalar and the Tensor was given"
    text = f"TypeError: {said}\nIn file net.py:3, 1~2"
    (diagnosis,) = diagnose(text)
    assert not diagnosis.known and "not in the registry" in diagnosis.title
    assert "ME404" in [near.entry for near in diagnosis.nearest] and diagnosis.line == 3
    assert diagnosis.rules == () and diagnosis.command == ""


def test_an_error_of_something_else_is_called_so():
    frame = '  File "/home/me/data.py", line 3, in load\n'
    text = f"Traceback (most recent call last):\n{frame}ZipImportError: bad magic qqq\n"
    (diagnosis,) = diagnose(text)
    assert not diagnosis.known and diagnosis.nearest == () and "not MindSpore's" in diagnosis.title


@pytest.mark.parametrize(
    "message",
    ["ZeroDivisionError: division by zero", "AttributeError: 'NoneType' object has no attribute 'shape'",
     "KeyError: 'lr'", "AssertionError", "FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'"],
)  # fmt: skip
def test_errors_of_python_are_not_taken_for_the_compilers(message: str):
    text = f'Traceback (most recent call last):\n  File "/home/me/data.py", line 3, in load\n    a = 1\n{message}\n'
    (diagnosis,) = diagnose(text)
    assert not diagnosis.known and diagnosis.line == 3 and diagnosis.exception == message.partition(":")[0]


@pytest.mark.parametrize(
    ("text", "entry", "near"),
    [
        ("Could not infer shape", "ME901", {"ME401", "ME701"}),
        ("RuntimeError: Could not infer shape of the output", "ME901", {"ME401", "ME701"}),
        ("Graph execution failed", "ME902", {"ME706"}),
        ("TypeError: Unsupported type", "ME903", {"ME114", "ME119"}),
    ],
)  # fmt: skip
def test_messages_that_nobody_raises(text: str, entry: str, near: set[str]):
    (diagnosis,) = diagnose(text)
    assert diagnosis.entry == entry and near <= {n.entry for n in diagnosis.nearest}
    assert "never raises" in diagnosis.title or "not raise" in diagnosis.title


def test_a_long_log():
    """Of 90,000 lines: a pass over them for each line would never end."""
    (diagnosis,) = diagnose("\n".join(STEPS * 20) + "\n" + ERROR + "\n".join(STEPS * 10))
    assert diagnosis.entry == "ME101" and diagnosis.log_line == 20 * len(STEPS) + 1


def test_the_same_error_many_times_is_one():
    (diagnosis,) = diagnose(ERROR * 50)
    assert diagnosis.count == 50 and diagnosis.log_line == 1


def test_chinese():
    (diagnosis,) = diagnose(ERROR, language="zh")
    assert diagnosis.entry == "ME101" and "无法编译" in diagnosis.title and "原因" not in diagnosis.cause
    (unknown,) = diagnose("RuntimeError: 不支持的语句 try,图模式无法编译", language="zh")
    assert not unknown.known and "ME101" in [near.entry for near in unknown.nearest]
    (wide,) = diagnose("报错信息：RuntimeError：Unsupported statement 'Try'.", language="zh")  # noqa: RUF001
    assert wide.entry == "ME101" and wide.exception == "RuntimeError"


QUIET = "[WARNING] PRE_ACT(1,7f,python):2026-01-01-00:00:00.000.000 [mindspore/ccsrc/x.cc:1] Run] x can not be y\n"


@pytest.mark.parametrize("text", ["[0. 0. 0.]", "loss: 0.31\ndone\n", "训练完成\n", QUIET, QUIET + "[1. 2.]\n"])
def test_what_a_run_without_an_error_prints(text: str):
    assert diagnose(text) == []


def test_what_is_given_as_a_message_is_one():
    (diagnosis,) = diagnose("it stops at once", message=True)
    assert not diagnosis.known and diagnosis.message == "it stops at once"


@pytest.mark.parametrize(
    ("code", "rules"),
    [
        ("return x * math.exp(x.sum())", ("GW103",)),
        ("return Tensor([x.sum(), np.mean(x)])", ("GW101", "GW105")),
        ("return helper(x)", None),
    ],
)
def test_the_line_of_code_narrows_the_rules(code: str, rules: tuple[str, ...] | None):
    text = (
        "ValueError: When handling script '__call_func_str__(__input_0__,) in graph mode', the inputs should be "
        f"constant, but found variable '__input_0__' to be nonconstant.\n# 0 In file net.py:3, 8~20\n        {code}\n"
    )
    (diagnosis,) = diagnose(text)
    assert diagnosis.entry == "ME307"
    if rules is None:
        assert len(diagnosis.rules) > 8
    else:
        assert diagnosis.rules == rules and f"--select {','.join(rules)} " in diagnosis.command
