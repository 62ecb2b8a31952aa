"""Command-line flags: `tf.flags`, those of absl."""
# ruff: noqa: F401, I001
from absl import flags as _absl
from absl.flags import (
    ArgumentParser, ArgumentSerializer, BaseListParser, BooleanFlag, BooleanParser, CantOpenFlagFileError,
    CsvListSerializer, DEFINE, DEFINE_alias, DEFINE_flag, DEFINE_multi, DuplicateFlagError, EnumClassFlag,
    EnumClassListSerializer,
    EnumClassParser, EnumClassSerializer, EnumFlag, EnumParser, Error, Flag, FlagHolder,
    FlagNameConflictsWithMethodError, FlagValues, FloatParser, IllegalFlagValueError, IntegerParser, ListParser,
    ListSerializer, MultiEnumClassFlag, MultiFlag, UnparsedFlagAccessError, UnrecognizedFlagError, ValidationError,
    WhitespaceSeparatedListParser, adopt_module_key_flags, declare_key_flag, disclaim_key_flags, doc_to_help,
    flag_dict_to_args, get_help_width, mark_bool_flags_as_mutual_exclusive, mark_flag_as_required,
    mark_flags_as_mutual_exclusive, mark_flags_as_required, multi_flags_validator, override_value,
    register_multi_flags_validator, register_validator, set_default, text_wrap, validator,
)
from tfnb.core.absent import explain as _explain
from tfnb.core.program.flags import FLAGS, definition as _definition

DEFINE_bool = _definition(_absl.DEFINE_bool)
DEFINE_boolean = _definition(_absl.DEFINE_boolean)
DEFINE_enum = _definition(_absl.DEFINE_enum)
DEFINE_enum_class = _definition(_absl.DEFINE_enum_class)
DEFINE_float = _definition(_absl.DEFINE_float)
DEFINE_integer = _definition(_absl.DEFINE_integer)
DEFINE_list = _definition(_absl.DEFINE_list)
DEFINE_multi_enum = _definition(_absl.DEFINE_multi_enum)
DEFINE_multi_enum_class = _definition(_absl.DEFINE_multi_enum_class)
DEFINE_multi_float = _definition(_absl.DEFINE_multi_float)
DEFINE_multi_integer = _definition(_absl.DEFINE_multi_integer)
DEFINE_multi_string = _definition(_absl.DEFINE_multi_string)
DEFINE_spaceseplist = _definition(_absl.DEFINE_spaceseplist)
DEFINE_string = _definition(_absl.DEFINE_string)

_explain(__name__)
