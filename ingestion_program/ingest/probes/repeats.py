"""Choose the altered copies to ask again, in a process that has not seen their clips otherwise.

The copy is identical, so a model that uses only the copy gives the same answer; a model that remembers the clip may
not give it.
"""

import math
from collections.abc import Collection, Mapping, Sequence

from ingest.media.altered.draws import Draws
from ingest.probes.plan import Call, askings

SHARE = 0.05
FEWEST = 4
MOST = 20


def choose_repeats(plan: Mapping[str, Sequence[Call]], answered: Collection[Call], draws: Draws) -> list[Call]:
    """Return the calls to ask again, in the order in which they are asked.

    These are 5 % of the plan's calls, at least 4 and at most 20, but only one of each clip: at a second one, the model
    could remember the first. Every other one is a cue edit if the clip has one, because memory pays most there.

    `plan`: the calls of every clip in the order in which they were asked. The first one of a clip is never chosen,
    because there was nothing to remember when it was asked.
    """
    count = min(MOST, max(FEWEST, math.ceil(SHARE * sum(map(len, plan.values())))))
    chosen: list[Call] = []
    for clip_id in draws.order(plan, "repeats"):
        later = [calls[0] for calls in askings(plan[clip_id])[1:] if calls[0] in answered]
        edits = [call for call in later if call.kind == "cue"]
        if later and len(chosen) < count:
            chosen.append(draws.choice(later if len(chosen) % 2 else edits or later, "repeat", clip_id))
    return chosen
