"""From the bytes of an answer to a message. Pure: no I/O, no clock, no exception but ``ModelError``.

``reply`` is the entrance. Below it: ``sse`` (events), ``chunks`` (one chunk, whatever its types),
``assembly`` (the whole message) with ``call_slots`` and ``arguments`` for calls, ``reasoning_details``
for what goes back, and ``reply_text`` for the words, which pass ``repeats``, ``thoughts`` and
``leaked`` (with ``markup`` and ``code_context``).
"""
