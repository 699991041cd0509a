"""An agent of Strands, which speaks A2A 0.3 and not 1.0: Witan says so, and does not call it."""
import sys

from strands import Agent
from strands.models import Model
from strands.multiagent.a2a import A2AServer

port = int(sys.argv[1]) if len(sys.argv) > 1 else 9005


class Script(Model):
    def update_config(self, **model_config):
        pass

    def get_config(self):
        return {}

    async def stream(self, messages, *args, **kwargs):
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockDelta": {"delta": {"text": "Hello."}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}

    async def structured_output(self, output_model, prompt, *args, **kwargs):
        yield {"output": None}


def greeter(context_id):
    return Agent(model=Script(), name="Greeter", description="Greets.", callback_handler=None)


A2AServer(agent_factory=greeter, host="127.0.0.1", port=port).serve()
