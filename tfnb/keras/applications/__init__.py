"""`tf.keras.applications`: architectures, with weights from files."""
from tfnb.core.lazy import lazy_module as _lazy_module
from tfnb.core.lazy import lazy_names as _lazy_names

densenet = _lazy_module("tfnb.keras.applications.densenet")
imagenet_utils = _lazy_module("tfnb.keras.applications.imagenet_utils")
inception_resnet_v2 = _lazy_module("tfnb.keras.applications.inception_resnet_v2")
inception_v3 = _lazy_module("tfnb.keras.applications.inception_v3")
mobilenet = _lazy_module("tfnb.keras.applications.mobilenet")
mobilenet_v2 = _lazy_module("tfnb.keras.applications.mobilenet_v2")
nasnet = _lazy_module("tfnb.keras.applications.nasnet")
resnet = _lazy_module("tfnb.keras.applications.resnet")
resnet50 = _lazy_module("tfnb.keras.applications.resnet50")
resnet_v2 = _lazy_module("tfnb.keras.applications.resnet_v2")
vgg16 = _lazy_module("tfnb.keras.applications.vgg16")
vgg19 = _lazy_module("tfnb.keras.applications.vgg19")
xception = _lazy_module("tfnb.keras.applications.xception")

_PLACES = {
    "tfnb.keras.applications.nets.dense": "DenseNet121 DenseNet169 DenseNet201",
    "tfnb.keras.applications.nets.inception": "InceptionResNetV2 InceptionV3",
    "tfnb.keras.applications.nets.mobile": "MobileNet MobileNetV2",
    "tfnb.keras.applications.nets.nasnet": "NASNetLarge NASNetMobile",
    "tfnb.keras.applications.nets.residual": "ResNet101 ResNet101V2 ResNet152 ResNet152V2 ResNet50 ResNet50V2",
    "tfnb.keras.applications.nets.separable": "Xception",
    "tfnb.keras.applications.nets.vgg": "VGG16 VGG19",
}
__getattr__ = _lazy_names(__name__, {name: module for module, names in _PLACES.items() for name in names.split()})
