import pytest

from transformer_lib.models import MODELS, create_model, describe_model, restore_model
from transformer_lib.transformer import make_model


def size(model):
    return sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_the_tiny_transformers_parameters(name):
    tiny = size(make_model(785, 1912, "tiny", tie_weights="target"))
    assert size(create_model(name, 785, 1912)) == pytest.approx(tiny, rel=0.01)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_restored_from_its_description_has_its_weights_by_name_and_shape(name):
    model = create_model(name, 11, 13, dropout=0.3)
    again = restore_model(**describe_model(model))
    assert type(again) is type(model)
    assert again.config == model.config
    shapes = [{n: p.shape for n, p in m.state_dict().items()} for m in (model, again)]
    assert shapes[0] == shapes[1]


def test_an_unknown_name_and_an_unknown_class_are_refused():
    with pytest.raises(ValueError, match="model='lstm' is none of gru, bahdanau, luong-dot"):
        create_model("lstm", 11, 13)
    with pytest.raises(ValueError, match="Encoder is no class of models.MODELS"):
        describe_model(create_model("transformer", 11, 13).encoder)


def test_what_version_0_1_called_luong_is_still_found():
    config = describe_model(create_model("luong-concat", 11, 13))["config"]
    assert restore_model("luong", config).config.score == "concat"
