"""Names for new attributes of a Cell: telling, and used by nobody yet."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from weakref import WeakKeyDictionary

from graphward.analysis.module import ClassInfo, Module
from graphward.analysis.names import dotted
from graphward.analysis.project import Project

# Public attributes of `nn.Cell` itself, of MindSpore 2.7 and 2.10.
_CELL_ATTRIBUTES = frozenset(
    """add_flags add_flags_recursive apply arguments_key auto_parallel_compile_and_run auto_prefix bprop_debug
    buffers cast_inputs cast_param cell_init_args cell_type cells cells_and_names check_names
    check_names_and_refresh_name cls_name compile compile_and_run compile_cache compile_phase compiled construct
    create_time enable_backward_hook exec_checkpoint_graph exist_names exist_objs extend_repr flatten_weights
    forward generate_scope get_attr get_buffer get_extra_state get_flags get_func_graph_proto get_inputs
    get_mixed_precision_type get_parameters get_scope get_sub_cell global_cells grad_ops_label has_bprop
    infer_param_pipeline_stage init_parameters_data insert_child_to_cell insert_param_to_cell is_top_cell
    jit_config_dict load_parameter_slice load_state_dict mixed_precision_type name name_cells named_buffers
    offload parallel_parameter_merge_net_dict parallel_parameter_name_list param_prefix parameter_layout_dict
    parameters_and_names parameters_broadcast_dict parameters_dict phase phase_cache pipeline_segment
    pipeline_stage place recompute register_backward_hook register_backward_pre_hook register_buffer
    register_forward_hook register_forward_pre_hook register_load_state_dict_post_hook
    register_load_state_dict_pre_hook register_parameter_forward_hook register_saved_tensors_hooks
    register_state_dict_post_hook register_state_dict_pre_hook remove_redundant_parameters requires_grad
    run_construct set_acc set_auto_parallel set_boost set_broadcast_flag set_comm_fusion set_data_parallel
    set_extra_state set_grad set_inputs set_jit_config set_mixed_precision_type set_parallel_input_with_inputs
    set_param_fl set_param_ps set_train shard state_dict to to_empty to_float total_instance_count
    trainable_params training untrainable_params update_cell_prefix update_cell_type
    update_parameters_name""".split()  # noqa: SIM905
)
_AFTER_A_DOT = re.compile(rb"\.\s*([A-Za-z_]\w*)")
_DEFINED = re.compile(rb"\b(?:def|class)\s+(\w+)")
# getattr(self, "name") and its like
_BY_NAME = re.compile(rb"attr\(\s*[\w.]+\s*,\s*[\"'](\w+)[\"']")
_SET = re.compile(rb"\.([A-Za-z_]\w*)[ \t]*[-+*/%|&^@]?=(?!=)")
_class_names: WeakKeyDictionary[ClassInfo, frozenset[str]] = WeakKeyDictionary()
_module_names: WeakKeyDictionary[Module, frozenset[str]] = WeakKeyDictionary()
_subclasses: WeakKeyDictionary[Project, dict[str, list[ClassInfo]]] = WeakKeyDictionary()


def subclasses(project: Project, cell: ClassInfo) -> list[ClassInfo]:
    """The classes in sight that inherit from `cell`, itself left out."""
    known = _subclasses.get(project)
    if known is None:
        # By name first: to resolve every base would read modules that nobody asked for.
        known = _subclasses[project] = {}
        for module in list(project.modules.values()):
            for info in module.classes:
                for name in filter(None, map(dotted, info.node.bases)):
                    last = (info.names.qualify(name) or name).rpartition(".")[2]
                    known.setdefault(last, []).append(info)
    found: list[ClassInfo] = []
    stack = [cell]
    while stack:
        for info in known.get(stack.pop().name, ()):
            if info not in found and info is not cell and cell in project.mro(info):
                found.append(info)
                stack.append(info)
    return found


def taken_names(project: Project, cell: ClassInfo) -> set[str]:
    """Every attribute name that the class, its bases or its subclasses use on anything, and every one that their
    modules set from outside a class."""
    found = set(_CELL_ATTRIBUTES)
    for info in [*project.mro(cell), *subclasses(project, cell)]:
        if info not in _class_names:
            _class_names[info] = frozenset(_used_in(info))
        if info.module not in _module_names:
            _module_names[info.module] = frozenset(_set_in(info.module))
        found |= _class_names[info] | _module_names[info.module]
    return found


def _used_in(info: ClassInfo) -> Iterator[str]:
    """Read off the text, which is quicker than a walk; a word too many only makes a name a little longer."""
    module = info.module
    text = module.source.utf8[module.start(info.node) : module.end(info.node)]
    for pattern in (_AFTER_A_DOT, _DEFINED, _BY_NAME):
        yield from (name.decode() for name in pattern.findall(text))
    for node in info.node.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        yield from (t.id for t in targets if isinstance(t, ast.Name))


def _set_in(module: Module) -> Iterator[str]:
    """What the module sets on anything but self: `net.head = ...`."""
    text = module.source.utf8
    return (m[1].decode() for m in _SET.finditer(text) if text[max(0, m.start() - 4) : m.start()] != b"self")


def is_cell_attribute(name: str) -> bool:
    """Whether every Cell has an attribute of that name; a CellDict refuses it as a key."""
    return name in _CELL_ATTRIBUTES or name in ("keys", "values", "items", "pop", "clear", "update")


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """`wanted`, or `wanted_2`, `wanted_3`... when it is taken."""
    if wanted not in taken:
        return wanted
    stem = re.sub(r"_\d+$", "", wanted)
    number = 2
    while f"{stem}_{number}" in taken:
        number += 1
    return f"{stem}_{number}"


def snake_case(name: str) -> str:
    """`LayerNorm` to `layer_norm`, `ReLU6` to `relu6`, `BatchNorm2d` to `batch_norm2d`."""
    name = name.strip("_")
    for written, plain in (
        ("ReLU", "Relu"),
        ("SeLU", "Selu"),
        ("SiLU", "Silu"),
        ("HSwish", "Hswish"),
        ("RReLU", "Rrelu"),
    ):
        name = name.replace(written, plain)
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return words.lower()


def plural(name: str) -> str:
    """`dense` to `denses`, `batch` to `batches`, `embedding_table` to `embedding_tables`."""
    if name.endswith("s") and not name.endswith("ss"):
        return f"{name}_list"
    if name.endswith(("ss", "x", "ch", "sh")):
        return name + "es"
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        return name[:-1] + "ies"
    return name + "s"
