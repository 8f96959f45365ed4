import os

from mnemic import Settings, build_engine
from mnemic.agents.litellm_proxy import MnemicHook

if not os.environ.get("OPENAI_API_KEY"):
    raise SystemExit("OPENAI_API_KEY is not set: the proxy's model needs it. mnemic itself needs no key.")

hook = MnemicHook(build_engine(Settings.load(store="memory.db")))
