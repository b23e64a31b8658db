"""GW703: keys of `set_context` that have gone, or are going."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from graphward.knowledge.renames import version
from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext, Use
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._context_calls import CannotMove, context_keys, prepared, take_out
from .debug_leftovers import LEFTOVERS

# What `runtime.set_memory` calls them; it can be called once only.
_MEMORY = {
    "max_device_memory": "max_size", "mempool_block_size": "increase_size", "memory_optimize_level": "optimize_level",
}  # fmt: skip
_FUNCTIONS = {
    "max_call_depth": "mindspore.set_recursion_limit",
    "inter_op_parallel_num": "mindspore.runtime.dispatch_threads_num",
    "runtime_num_threads": "mindspore.device_context.cpu.op_tuning.threads_num",
    "op_timeout": "mindspore.device_context.ascend.op_debug.execute_timeout",
    "aoe_tune_mode": "mindspore.device_context.ascend.op_tuning.aoe_tune_mode",
    "op_debug_option": "mindspore.device_context.ascend.op_debug.debug_option",
}  # fmt: skip
# What a dictionary sets, a function for each.
_PARTS = {
    "ascend_config": {
        "precision_mode": "mindspore.device_context.ascend.op_precision.precision_mode",
        "op_precision_mode": "mindspore.device_context.ascend.op_precision.op_precision_mode",
        "matmul_allow_hf32": "mindspore.device_context.ascend.op_precision.matmul_allow_hf32",
        "conv_allow_hf32": "mindspore.device_context.ascend.op_precision.conv_allow_hf32",
        "jit_compile": "mindspore.device_context.ascend.op_tuning.op_compile",
        "op_debug_option": "mindspore.device_context.ascend.op_debug.debug_option",
    },
    "gpu_config": {
        "matmul_allow_tf32": "mindspore.device_context.gpu.op_precision.matmul_allow_tf32",
        "conv_allow_tf32": "mindspore.device_context.gpu.op_precision.conv_allow_tf32",
        "conv_fprop_algo": "mindspore.device_context.gpu.op_tuning.conv_fprop_algo",
        "conv_dgrad_algo": "mindspore.device_context.gpu.op_tuning.conv_dgrad_algo",
        "conv_wgrad_algo": "mindspore.device_context.gpu.op_tuning.conv_wgrad_algo",
    },
    "aoe_config": {"job_type": "mindspore.device_context.ascend.op_tuning.aoe_job_type"},
}  # fmt: skip
_VARIABLES = {
    "enable_compile_cache": "MS_COMPILER_CACHE_ENABLE", "compile_cache_path": "MS_COMPILER_CACHE_PATH",
    "graph_kernel_flags": "MS_DEV_GRAPH_KERNEL_FLAGS", "precompile_only": "MS_DEV_PRECOMPILE_ONLY",
}  # fmt: skip
# Why a person has to move them.
_BY_HAND = {
    "variable_memory_max_size": "the limit of mindspore.runtime.set_memory(max_size=...) is that of all memory",
    "exception_dump": "mindspore.device_context.ascend.op_debug.aclinit_config(config) takes all settings of ACL",
}
# They do nothing any more.
_IDLE = frozenset(
    {"enable_sparse", "auto_tune_mode", "enable_auto_mixed_precision", "reserve_class_name_in_scope", "debug_level",
     "enable_reduce_precision", "grad_for_scalar", "enable_task_sink", "enable_loop_sink", "enable_mem_reuse",
     "save_compile_cache", "load_compile_cache", "memory_offload", "enable_data_sync", "disable_view_op",
     "env_config_path", "jit_enable_inplace_ops", "enable_auto_mixed_precision_flag"}
)  # fmt: skip


class ContextKeys(Rule):
    """`set_context` is given a key that the target version has removed, or warns of.

    ## What it finds

    Every key of `set_context` of which the wheel of the target version says that it has been removed, is not recognised
    or will go; of `ascend_config`, `gpu_config` and `aoe_config` each setting in its dictionary. The device is
    GW702's, what helps to debug GW704's. A branch that asks for the version of MindSpore, or with `hasattr`, is left
    alone.

    ## Why

        ValueError: For 'context.set_context', the parameter 'grad_for_scalar' has been removed since MindSpore 2.10
        ValueError: For 'context.set_context', the keyword argument enable_mem_reuse is not recognized!
        [WARNING] For 'context.set_context', the parameter 'max_call_depth' will be deprecated and removed in a future
        version. Please use the api mindspore.set_recursion_limit() instead.

    ## Example

        ms.set_context(mode=ms.GRAPH_MODE, max_call_depth=2000, deterministic="ON")

    becomes

        ms.set_context(mode=ms.GRAPH_MODE)
        ms.set_recursion_limit(2000)
        ms.set_deterministic(True)

    ## What the rewrite assumes

    That the call comes before anything is computed: so want both the old call and the new ones.

    ## When it is unsafe

    Where a key is taken out, where an environment variable takes its place, and where several keys become one call.

    ## References

    What `set_context` of each wheel says of each key, asked by `scripts/generate_renames.py` and kept in
    `knowledge/renames_<version>.json`.
    """

    code = "GW703"
    name = "context-keys"
    consequence = Consequence.DEPRECATED
    triggers = (b"set_context",)

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        known = version(context.options.target_version)
        for use, call, keyword in context_keys(context):
            key = keyword.arg or ""
            status, advice = known.context_key(key)
            if status == "ok" or key in LEFTOVERS or _is_device(call, keyword) or prepared(context, call):
                continue
            removed = status == "removed"
            message = f"set_context takes no {key} any more" if removed else f"set_context: {key} is going away"
            if advice:
                message += f": use the {advice}"
            yield context.finding(self, keyword, message, fixes=tuple(_fixes(context, use, call, keyword)),
                                  consequence=Consequence.ERROR if removed else None)  # fmt: skip


def _is_device(call: ast.Call, keyword: ast.keyword) -> bool:
    """What GW702 answers for: a literal device, and the number beside it."""
    if keyword.arg not in ("device_target", "device_id"):
        return False
    target = next((k.value for k in call.keywords if k.arg == "device_target"), None)
    return isinstance(target, ast.Constant)


def _fixes(context: ModuleContext, use: Use, call: ast.Call, keyword: ast.keyword) -> Iterable[Fix]:
    rewrite = context.rewrite(use.names)
    key = keyword.arg or ""
    try:
        for known, make in _WAYS:
            if key in known:
                yield make(rewrite, context, call, keyword)
                return
        if key in _BY_HAND:
            raise CannotMove(_BY_HAND[key])
    except CannotMove as reason:
        yield context.rewrite().manual(f"Move {key} out of set_context", f"to be done by hand: {reason}")


def _idle(rewrite: Rewrite, context: ModuleContext, call: ast.Call, keyword: ast.keyword) -> Fix:
    take_out(rewrite, context, call, [keyword], [])
    return rewrite.unsafe(f"Take {keyword.arg} out", "older versions of MindSpore did something with it")


def _function(rewrite: Rewrite, context: ModuleContext, call: ast.Call, keyword: ast.keyword) -> Fix:
    function = rewrite.spell(_FUNCTIONS[keyword.arg or ""])
    take_out(rewrite, context, call, [keyword], [f"{function}({context.text(keyword.value)})"])
    return rewrite.safe(f"Call {function}")


def _deterministic(rewrite: Rewrite, context: ModuleContext, call: ast.Call, keyword: ast.keyword) -> Fix:
    value = keyword.value
    function = rewrite.spell("mindspore.set_deterministic")
    literal = isinstance(value, ast.Constant) and value.value in ("ON", "OFF")
    text = str(value.value == "ON") if literal else f'{context.text(value)} == "ON"'  # type: ignore[attr-defined]
    take_out(rewrite, context, call, [keyword], [f"{function}({text})"])
    return rewrite.safe(f"Call {function}")


def _synchronous(rewrite: Rewrite, context: ModuleContext, call: ast.Call, keyword: ast.keyword) -> Fix:
    value = keyword.value
    if not isinstance(value, ast.Constant):
        raise CannotMove("it is decided at run time: call mindspore.runtime.launch_blocking() where it is true")
    if not value.value:
        take_out(rewrite, context, call, [keyword], [])
        return rewrite.unsafe("Take pynative_synchronize out", "what an earlier call switched on stays on")
    function = rewrite.spell("mindspore.runtime.launch_blocking")
    take_out(rewrite, context, call, [keyword], [f"{function}()"])
    return rewrite.safe(f"Call {function}")


def _memory(rewrite: Rewrite, context: ModuleContext, call: ast.Call, keyword: ast.keyword) -> Fix:
    together = [k for k in call.keywords if k.arg in _MEMORY]
    function = rewrite.spell("mindspore.runtime.set_memory")
    given = ", ".join(f"{_MEMORY[k.arg or '']}={context.text(k.value)}" for k in together)
    take_out(rewrite, context, call, together, [f"{function}({given})"])
    return rewrite.unsafe(f"Call {function}", "set_memory can be called once only: nothing else may call it")


def _variable(rewrite: Rewrite, context: ModuleContext, call: ast.Call, keyword: ast.keyword) -> Fix:
    environ = rewrite.spell("os.environ")
    name = _VARIABLES[keyword.arg or ""]
    value = keyword.value
    if keyword.arg in ("compile_cache_path", "graph_kernel_flags"):
        text = context.text(value)
    elif isinstance(value, ast.Constant):
        text = f'"{int(bool(value.value))}"'
    else:
        text = f"str(int({context.text(value)}))"
    take_out(rewrite, context, call, [keyword], [f'{environ}["{name}"] = {text}'])
    return rewrite.unsafe(f"Set {name}", "it is read at each compilation, by child processes too")


def _parts(rewrite: Rewrite, context: ModuleContext, call: ast.Call, keyword: ast.keyword) -> Fix:
    known = _PARTS[keyword.arg or ""]
    settings = keyword.value
    if not isinstance(settings, ast.Dict) or "#" in context.text(settings):
        raise CannotMove(f"its settings are not spelled out: each has a function, {', '.join(known.values())}")
    names = (key.value if isinstance(key, ast.Constant) else None for key in settings.keys)
    given = list(zip(names, settings.values))
    lacking = next((str(name) for name, _ in given if name not in known), None)
    if lacking is not None:
        raise CannotMove(f"nothing takes the place of {lacking}")
    calls = [f"{rewrite.spell(known[str(name)])}({context.text(value)})" for name, value in given]
    take_out(rewrite, context, call, [keyword], calls)
    reason = "each can be called once only, and before anything runs; on other devices it says that it is not for them"
    return rewrite.unsafe("Call a function for each setting", reason)


def _graph_kernel(rewrite: Rewrite, context: ModuleContext, call: ast.Call, keyword: ast.keyword) -> Fix:
    value = keyword.value
    if any(k.arg in ("jit_config", "jit_level") for k in call.keywords) or not isinstance(value, ast.Constant):
        raise CannotMove("say jit_level='O1' in jit_config")
    if not value.value:
        take_out(rewrite, context, call, [keyword], [])
        return rewrite.safe("Take enable_graph_kernel out")
    start, end = context.module.start(keyword), context.module.end(keyword)
    rewrite.replace_span(start, end, 'jit_config={"jit_level": "O1"}')
    return rewrite.unsafe("Say jit_level O1", "O1 does a little more than fuse kernels")


def _device(rewrite: Rewrite, context: ModuleContext, call: ast.Call, keyword: ast.keyword) -> Fix:
    target = next((k for k in call.keywords if k.arg == "device_target"), None)
    number = next((k for k in call.keywords if k.arg == "device_id"), None)
    if target is None:
        raise CannotMove("mindspore.set_device(kind, number) wants the kind of device too")
    function = rewrite.spell("mindspore.set_device")
    moved = [k for k in (target, number) if k is not None]
    take_out(rewrite, context, call, moved, [f"{function}({', '.join(context.text(k.value) for k in moved)})"])
    return rewrite.safe(f"Call {function}")


Way = Callable[[Rewrite, ModuleContext, ast.Call, ast.keyword], Fix]
_WAYS: tuple[tuple[Iterable[str], Way], ...] = (
    (_IDLE, _idle), (frozenset(_FUNCTIONS), _function), (("deterministic",), _deterministic),
    (("pynative_synchronize",), _synchronous), (frozenset(_MEMORY), _memory), (frozenset(_VARIABLES), _variable),
    (("enable_graph_kernel",), _graph_kernel), (frozenset(_PARTS), _parts), (("device_target", "device_id"), _device),
)  # fmt: skip
