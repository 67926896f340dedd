from functools import partial

import pytest

from transformer_lib.schedules import paper_peak, warmup_cosine, warmup_inverse_sqrt


def test_the_papers_schedule_by_hand():
    rate = lambda step: warmup_inverse_sqrt(step, peak=paper_peak(512, 4000), warmup=4000)
    for step in (1, 2000, 4000, 16000):
        assert rate(step) == pytest.approx(512**-0.5 * min(step**-0.5, step * 4000**-1.5))


def test_the_cosine_rises_to_its_peak_and_falls_to_zero():
    rate = lambda step: warmup_cosine(step, peak=2.0, warmup=10, steps=110)
    assert [rate(5), rate(10), rate(60), rate(110)] == pytest.approx([1.0, 2.0, 1.0, 0.0])


@pytest.mark.parametrize("schedule", [warmup_inverse_sqrt, partial(warmup_cosine, steps=9)])
def test_schedules_say_from_where_they_count(schedule):
    with pytest.raises(ValueError, match=r"step=0, but steps count from 1.* schedule\(step \+ 1\)"):
        schedule(0, peak=1.0, warmup=3)
