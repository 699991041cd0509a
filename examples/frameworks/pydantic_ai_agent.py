"""An agent of Pydantic AI, served by FastA2A. A function stands in for its model."""
import sys

import uvicorn
from fasta2a.pydantic_ai import agent_to_a2a
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.models.function import FunctionModel

port = int(sys.argv[1]) if len(sys.argv) > 1 else 9004


def script(messages, info):
    said = messages[-1].parts[-1].content
    words = said if isinstance(said, str) else " ".join(str(one) for one in said)
    return ModelResponse(parts=[TextPart(f"In German: {words} heißt Zug.")])


agent = Agent(FunctionModel(script), name="translator", instructions="Translate into German.")
app = agent_to_a2a(agent, name="Translator", url=f"http://127.0.0.1:{port}", description="Translates into German.")
uvicorn.run(app, port=port, log_level="warning")
